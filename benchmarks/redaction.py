"""Redaction: how fast all classes are found in mixed text, in hard text, and against Presidio."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    cpu_seconds_of,
    interleaved,
    number,
    ratios,
    tidy,
)
from benchmarks.workload import SEED

from evidentia.bundles.redaction.redactor import Redactor

KEY = b"a key for benchmarks only"
RATE = 30.0
AGAINST_PRESIDIO = 20.0
HARD = ("a", "1", "1.", "a@", "-----BEGIN ", "eyJ", ":")
SHARED = {
    "EMAIL": "EMAIL_ADDRESS",
    "PHONE": "PHONE_NUMBER",
    "IBAN": "IBAN_CODE",
    "CARD": "CREDIT_CARD",
    "IPV4": "IP_ADDRESS",
    "IPV6": "IP_ADDRESS",
    "US_SSN": "US_SSN",
}
"""Our classes that Presidio has too, by its names."""
_LETTER = (
    "The delivery was late again, and the invoice does not agree with what was delivered in the "
    "last quarter of the year. "
)
_CLAUSE = "The supplier shall deliver the services within thirty (30) days, as of version 2.4.1. "
_ARABIC = "يلتزم المورد بتسليم الأعمال خلال ثلاثين يوماً من تاريخ السريان ولا يجوز تمديد المدة. "


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: rounds, bytes of mixed, hard and Presidio's text."""

    rounds: int
    mixed: int
    hard: int
    compared: int


SIZES = {
    "full": Size(9, 8_000_000, 1_000_000, 100_000),
    "quick": Size(5, 2_000_000, 1_000_000, 20_000),
    "tiny": Size(1, 20_000, 20_000, 2_000),
}


def measure_mixed(size: Size) -> Section:
    """Redact logs, mails, JSON and prose in two languages."""
    text = mixed_text(size.mixed)
    volume = len(text.encode())
    found = len(Redactor(KEY).redact(text).redactions)
    tidy()
    rates = [
        volume / 1e6 / cpu_seconds_of(lambda: Redactor(KEY).redact(text))
        for _ in range(size.rounds)
    ]
    return Section(
        "mixed",
        "Redacting mixed text",
        f"Logs, mails, JSON, and prose in English and Arabic: {number(volume / 1e6)} MB with "
        f"{number(found / volume * 1000)} values in each KB, all built-in classes, one thread, "
        "processor time.",
        [_rate("all classes", rates)],
    )


def measure_hard(size: Size) -> Section:
    """Redact what makes other engines slow."""
    lines = []
    for piece in HARD:
        text = piece * (size.hard // len(piece))
        rates = [
            len(text) / 1e6 / cpu_seconds_of(lambda text=text: Redactor(KEY).redact(text))  # type: ignore[misc]
            for _ in range(size.rounds)
        ]
        lines.append(_rate(f"`{piece}` again and again", rates))
    return Section(
        "hard",
        "Redacting hard text",
        f"{number(size.hard / 1e6)} MB of one piece repeated, all built-in classes: a beginning of "
        "a value at every place, and no value.",
        lines,
    )


def measure_presidio(size: Size) -> Section:
    """Redact the same classes of the same text with Presidio's patterns."""
    section = Section(
        "presidio",
        "Redacting against Presidio",
        "The classes that both have, on the same mixed text. Presidio runs its own recognisers of "
        "these classes on a blank spaCy pipeline, which is its fastest form, and finds only.",
    )
    try:
        analyze = _presidio()
    except ImportError:
        section.notes.append("Presidio was not measured: `presidio-analyzer` is not installed.")
        return section
    text = mixed_text(size.compared)
    analyze(text[:1000])
    volume = len(text.encode()) / 1e6
    redactor = Redactor(KEY, classes=tuple(SHARED))
    redactor.redact(text)
    tidy()
    taken = interleaved(
        min(3, size.rounds),
        {
            "ours": lambda: cpu_seconds_of(lambda: redactor.redact(text)),
            "theirs": lambda: cpu_seconds_of(lambda: analyze(text)),
        },
    )
    section.lines.append(
        Line(
            f"{len(SHARED)} classes",
            "Presidio",
            f"{number(volume / Spread.of(taken['ours']).median)} MB/s",
            f"{number(volume / Spread.of(taken['theirs']).median)} MB/s",
            ratios(taken["theirs"], taken["ours"]),
            "times",
            target=AGAINST_PRESIDIO,
        )
    )
    return section


def _presidio() -> Callable[[str], Any]:
    """Return what finds the shared classes with Presidio; an ImportError if it is missing."""
    package = import_module("presidio_analyzer")
    engine = import_module("presidio_analyzer.nlp_engine").SpacyNlpEngine(
        models=[{"lang_code": "en", "model_name": "blank"}]
    )
    blank = import_module("spacy").blank("en")
    blank.max_length = 10**9
    engine.nlp = {"en": blank}
    registry = package.RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    analyzer = package.AnalyzerEngine(nlp_engine=engine, registry=registry)
    entities = sorted(set(SHARED.values()))
    return lambda text: analyzer.analyze(text=text, language="en", entities=entities)


def mixed_text(size: int) -> str:
    """Return text of about so many bytes, always the same."""
    chance = random.Random(SEED)
    parts: list[str] = []
    volume = 0
    while volume < size:
        parts.append(chance.choice((_log, _mail, _json, _prose_in_arabic, _prose))(chance))
        volume += len(parts[-1].encode()) + 1
    return "\n".join(parts)


def _log(chance: random.Random) -> str:
    lines = [
        f"2026-11-{chance.randrange(10, 29)}T03:28:{chance.randrange(10, 59)}."
        f"{chance.randrange(10**6):06d}Z INFO worker-{chance.randrange(9)} "
        f"request_id={chance.getrandbits(128):032x} path=/api/v1/orders/{chance.randrange(10**8)} "
        f"status=200 took_ms={chance.random() * 100:.3f} bytes={chance.randrange(10**6)}"
        for _ in range(5)
    ]
    address = ".".join(str(chance.randrange(1, 255)) for _ in range(4))
    return "\n".join(lines) + f" client={address} token=ghp_{chance.getrandbits(160):040x}"


def _mail(chance: random.Random) -> str:
    return (
        f"From: Someone <{_address(chance)}>\nTo: Team <team@example.org>\n"
        f"Subject: Order {chance.randrange(10**9)}\n\nPlease call +966 5"
        f"{chance.randrange(10**7, 10**8)} about the order of 2026-11-16. {_LETTER * 7}"
    )


def _json(chance: random.Random) -> str:
    items = ", ".join(
        f'{{"sku": "SKU-{chance.randrange(10**6):06d}", "qty": {chance.randrange(9)}, '
        f'"price": {chance.random() * 100:.2f}}}'
        for _ in range(12)
    )
    return (
        f'{{"order": {chance.randrange(10**8)}, "created": {1763264000 + chance.randrange(10**5)}, '
        f'"uuid": "550e8400-e29b-41d4-a716-{chance.getrandbits(48):012x}", "items": [{items}], '
        f'"card": "{_card(chance)}", "email": "{_address(chance)}"}}'
    )


def _prose_in_arabic(chance: random.Random) -> str:
    return f"{_ARABIC * 6}للتواصل: 05{chance.randrange(10**7, 10**8)} أو {_address(chance)}"


def _prose(chance: random.Random) -> str:
    return f"{_CLAUSE * 10}The card is {_card(chance)}."


def _address(chance: random.Random) -> str:
    return f"user{chance.randrange(999)}@example{chance.randrange(99)}.com"


def _card(chance: random.Random) -> str:
    digits = [4, *(chance.randrange(10) for _ in range(14))]
    doubled = [sum(divmod(digit * 2, 10)) for digit in digits[::2]]
    check = -(sum(doubled) + sum(digits[1::2])) % 10
    return "".join(str(digit) for digit in [*digits, check])


def _rate(what: str, rates: list[float]) -> Line:
    spread = Spread.of(rates)
    return Line(what, "none", f"{number(spread.median)} MB/s", "", spread, "MB/s", target=RATE)
