"""How many phone numbers redaction finds, as people write them, and what else it takes for one."""

import sys
from collections import Counter
from pathlib import Path

import phonenumbers
from benchmarks.measuring import Line, Section, Spread, Table

from evidentia.bundles.redaction.redactor import Redactor

KEY = b"a key for benchmarks only"
SENTENCE = "Ask for {} today."
WHOLE, PART, MISSED = "found whole", "in part", "missed"
NOTHING = "told by nothing"
FOUND = 0.95
BEFORE = """\
The rules were mended with the list of people's ways of writing in view, so expect less on other
numbers; the examples show it. Nearly all that are missed lack any sign of a phone: no +, no 0, no
brackets. The rules before these (`build_version` 2.0) found whole, in part and not, in the order of
the table: 471, 0, 18; 174, 2, 313; 195, 16, 19; 55, 3, 69; 0, 0, 19; 0, 0, 12. They took 3 of the
other numbers for phones."""


def measure_phones() -> Section:
    """Redact phone numbers of many countries one by one, and numbers that are something else."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from bundles.redaction import phones  # noqa: PLC0415 - the data of a test

    forms = {
        "an example of every country, with its prefix": _examples("INTERNATIONAL"),
        "an example of every country, as dialled there": _examples("NATIONAL"),
        "with the prefix of a country": _asked(phones.INTERNATIONAL),
        "as dialled within a country": _asked(phones.NATIONAL),
        "told by a word alone": [(sentence, number) for sentence, number in phones.NAMED.values()],
        NOTHING: [(SENTENCE, number) for number in phones.UNTOLD],
    }
    found = {what: Counter(map(_outcome, asked)) for what, asked in forms.items()}
    countries = {*phones.INTERNATIONAL, *phones.NATIONAL, *phones.NAMED}
    section = Section(
        "phones",
        "Finding phone numbers",
        f"Phone numbers of {len(countries)} countries as people write them, each in a sentence; an "
        "example of a fixed and a mobile phone of every country, as `phonenumbers` writes it; and "
        f"{sum(map(len, phones.OTHERS.values()))} numbers that are something else. A number is "
        "found whole if the placeholder stands for all of it, and for nothing beside it.",
    )
    for what, counts in found.items():
        if what == NOTHING:
            continue
        share = counts[WHOLE] / counts.total()
        section.lines.append(
            Line(
                what,
                "none",
                f"{counts[WHOLE]} of {counts.total()}",
                "",
                Spread.of([share]),
                "%",
                target=None if "example" in what else FOUND,
            )
        )
    outcomes = (WHOLE, PART, MISSED)
    section.tables += [
        Table(
            "Phone numbers",
            ["Written", *outcomes],
            [[what, *(str(counts[one]) for one in outcomes)] for what, counts in found.items()],
        ),
        Table(
            "What is no phone number",
            ["What it is", "Numbers", "Taken for a phone number"],
            [
                [what, str(len(texts)), str(sum(map(_is_taken, texts)))]
                for what, texts in phones.OTHERS.items()
            ],
        ),
    ]
    section.notes.append(BEFORE)
    return section


def _examples(form: str) -> list[tuple[str, str]]:
    """Return examples of every country, written by the package that knows their plans."""
    kinds = (phonenumbers.PhoneNumberType.FIXED_LINE, phonenumbers.PhoneNumberType.MOBILE)
    made = [
        phonenumbers.example_number_for_type(region, kind)
        for region in sorted(phonenumbers.SUPPORTED_REGIONS)
        for kind in kinds
    ]
    written = getattr(phonenumbers.PhoneNumberFormat, form)
    return [(SENTENCE, phonenumbers.format_number(one, written)) for one in made if one]


def _asked(numbers: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(SENTENCE, number) for country in numbers.values() for number in country]


def _outcome(asked: tuple[str, str]) -> str:
    sentence, value = asked
    text = Redactor(KEY).redact(sentence.format(value)).text
    if text == sentence.format("[PHONE_1]"):
        return WHOLE
    return MISSED if text == sentence.format(value) else PART


def _is_taken(text: str) -> bool:
    found = Redactor(KEY).redact(SENTENCE.format(text)).redactions
    return any(one.kind == "PHONE" for one in found)
