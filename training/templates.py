"""Pairs from templates: what a small model does not pick up from running text alone.

Who does what to whom, active and passive; which of two is more; the same span of time or amount in
another unit; what "may", "must" and "need not", "all", "some" and "no" leave open. Every sentence
is built from its parts, so the label of any two of them follows from the parts.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from training.data import Pair

_PARTIES: Final = (
    "manager",
    "employee",
    "supplier",
    "buyer",
    "tenant",
    "landlord",
    "client",
    "contractor",
    "bank",
    "customer",
    "insurer",
    "patient",
    "doctor",
    "teacher",
    "student",
    "seller",
    "agency",
    "hospital",
    "council",
    "museum",
    "airline",
    "passenger",
    "publisher",
    "author",
    "trainer",
    "player",
    "director",
    "auditor",
    "broker",
    "carrier",
    "owner",
    "neighbour",
    "lawyer",
    "witness",
    "editor",
    "reporter",
    "company",
    "ministry",
    "university",
    "laboratory",
    "committee",
    "board",
    "operator",
    "guest",
    "host",
    "nurse",
    "pilot",
)
_ADJECTIVES: Final = ("", "", "", "new ", "local ", "former ", "regional ", "senior ")
_DEEDS: Final = (
    ("notifies", "notified"),
    ("pays", "paid"),
    ("reimburses", "reimbursed"),
    ("supervises", "supervised"),
    ("invoices", "invoiced"),
    ("informs", "informed"),
    ("trains", "trained"),
    ("audits", "audited"),
    ("evaluates", "evaluated"),
    ("compensates", "compensated"),
    ("hires", "hired"),
    ("represents", "represented"),
    ("advises", "advised"),
    ("insures", "insured"),
    ("follows", "followed"),
    ("blames", "blamed"),
    ("sues", "sued"),
    ("visits", "visited"),
    ("defeats", "defeated"),
    ("owns", "owned"),
)
_WHEN: Final = (
    "",
    "",
    " in writing",
    " every year",
    " within ten days",
    " before the end of May",
    " at the main office",
    " in most cases",
    " on request",
)
_MORE: Final = (
    ("faster", "slower"),
    ("older", "younger"),
    ("larger", "smaller"),
    ("cheaper", "more expensive"),
    ("heavier", "lighter"),
    ("longer", "shorter"),
    ("more common", "less common"),
    ("more reliable", "less reliable"),
    ("stronger", "weaker"),
    ("higher", "lower"),
    ("earlier", "later"),
    ("better", "worse"),
)
_THINGS: Final = (
    "bridge",
    "engine",
    "route",
    "phone",
    "printer",
    "contract",
    "tower",
    "vaccine",
    "battery",
    "cable",
    "ship",
    "model",
    "motor",
    "drug",
    "lamp",
    "river",
    "train",
    "material",
    "camera",
    "network",
    "plan",
    "version",
    "device",
    "method",
    "warehouse",
    "plant",
)
_KINDS: Final = (
    "first",
    "second",
    "old",
    "new",
    "northern",
    "southern",
    "red",
    "blue",
    "smaller-scale",
)
_SAME: Final[tuple[tuple[str, Callable[[int], str]], ...]] = (
    ("{n} weeks", lambda n: f"{7 * n} days"),
    ("{n} hours", lambda n: f"{60 * n} minutes"),
    ("{n} days", lambda n: f"{24 * n} hours"),
    ("{n} minutes", lambda n: f"{60 * n} seconds"),
    ("{n} years", lambda n: f"{12 * n} months"),
    ("{n} kg", lambda n: f"{n},000 grams"),
    ("{n} km", lambda n: f"{n},000 metres"),
    ("{n} litres", lambda n: f"{n},000 millilitres"),
    ("{n} grams", lambda n: f"{n},000 mg"),
    ("{n} metres", lambda n: f"{100 * n} centimetres"),
    ("{n} million euros", lambda n: f"{n},000,000 euros"),
    ("{n} dozen", lambda n: f"{12 * n}"),
    ("{n},000 dollars", lambda n: f"${n},000"),
    ("{n} percent", lambda n: f"{n} %"),
)
_MEASURED: Final = (
    "The {thing} lasts {value}.",
    "Members of the {party} may wait up to {value}.",
    "The {party} allows {value} for the {thing}.",
    "A {thing} of {value} was ordered by the {party}.",
    "The {thing} needs {value} in all.",
    "At most {value} are granted to the {party}.",
)
_ACTS: Final = (
    "use the {thing}",
    "enter the site",
    "work from home",
    "share the report",
    "bring a guest",
    "copy the {thing}",
    "sign for the {party}",
    "cancel the order",
    "carry over leave",
    "contact the {party}",
)
_MODALS: Final = {
    "must": ("must", "is required to", "has to", "is obliged to"),
    "may": ("may", "is allowed to", "can", "is permitted to"),
    "must not": ("must not", "is forbidden to", "may not", "is not allowed to"),
    "need not": ("need not", "does not have to", "is not required to"),
}
_MODAL_LABELS: Final = {
    ("must", "may"): "supported",
    ("must", "must not"): "contradicted",
    ("must", "need not"): "contradicted",
    ("may", "must"): "not_found",
    ("may", "must not"): "contradicted",
    ("must not", "must"): "contradicted",
    ("must not", "may"): "contradicted",
    ("need not", "must"): "contradicted",
}
"""What the second is, given the first; pairs that are arguable are left out."""
_AMOUNTS: Final = {"all": "All", "most": "Most", "some": "Some", "no": "No"}
_AMOUNT_LABELS: Final = {
    ("all", "most"): "supported",
    ("all", "some"): "supported",
    ("all", "no"): "contradicted",
    ("most", "some"): "supported",
    ("most", "all"): "not_found",
    ("most", "no"): "contradicted",
    ("some", "all"): "not_found",
    ("some", "most"): "not_found",
    ("some", "no"): "contradicted",
    ("no", "some"): "contradicted",
    ("no", "most"): "contradicted",
    ("no", "all"): "contradicted",
}
_GROUPS: Final = (
    "offices",
    "schools",
    "patients",
    "vehicles",
    "members",
    "samples",
    "branches",
    "teams",
)
_STATES: Final = (
    "were inspected last year",
    "have a fire alarm",
    "use the new system",
    "arrived on time",
    "received the letter",
    "are open on Sundays",
    "passed the test",
)


@dataclass(frozen=True, slots=True)
class _Said:
    """Evidence, a claim and its label."""

    evidence: str
    claim: str
    label: str


def template_pairs(count: int, seed: int) -> Iterator[Pair]:
    """Give pairs from the templates in turn; the same seed gives the same pairs."""
    source = random.Random(seed)
    makers: tuple[tuple[str, Callable[[random.Random], _Said]], ...] = (
        ("role", _roles),
        ("comparative", _comparatives),
        ("unit", _units),
        ("modality", _modals),
        ("quantifier", _amounts),
    )
    for place in range(count):
        kind, make = makers[place % len(makers)]
        said = make(source)
        yield Pair(said.evidence, said.claim, said.label, f"template:{kind}")


def _roles(source: random.Random) -> _Said:
    """Say who does what to whom, and the same or the reverse, each active or passive."""
    one, other = (f"the {source.choice(_ADJECTIVES)}{name}" for name in source.sample(_PARTIES, 2))
    deed = source.choice(_DEEDS)
    when = source.choice(_WHEN)
    evidence = _deed(one, other, deed, when, passive=source.random() < 0.4)
    is_same = source.random() < 0.5
    who, whom = (one, other) if is_same else (other, one)
    claim = _deed(who, whom, deed, source.choice(("", when)), passive=source.random() < 0.5)
    return _Said(evidence, claim, "supported" if is_same else "contradicted")


def _deed(one: str, other: str, deed: tuple[str, str], when: str, *, passive: bool) -> str:
    active, participle = deed
    text = (
        f"{other} is {participle} by {one}{when}." if passive else f"{one} {active} {other}{when}."
    )
    return text[0].upper() + text[1:]


def _comparatives(source: random.Random) -> _Said:
    """Say which of two is more, and the same or the reverse from either side."""
    thing = source.choice(_THINGS)
    one, other = (f"the {kind} {thing}" for kind in source.sample(_KINDS, 2))
    words = source.choice(_MORE)
    more, less = words if source.random() < 0.5 else words[::-1]
    is_same = source.random() < 0.5
    turned = source.random() < 0.5
    word = (less if turned else more) if is_same else (more if turned else less)
    first, second = (other, one) if turned else (one, other)
    evidence = f"{one[0].upper()}{one[1:]} is {more} than {other}."
    claim = f"{first[0].upper()}{first[1:]} is {word} than {second}."
    return _Said(evidence, claim, "supported" if is_same else "contradicted")


def _units(source: random.Random) -> _Said:
    """Say an amount, and the same in another unit, or another amount."""
    written, converted = source.choice(_SAME)
    number = source.randint(2, 12)
    wrong = source.choice([n for n in range(2, 14) if n != number])
    words = {"thing": source.choice(_THINGS), "party": source.choice(_PARTIES)}
    sentence = source.choice(_MEASURED)
    value, same = written.format(n=number), converted(number)
    claimed, label = source.choice(
        (
            (same, "supported"),
            (value, "supported"),
            (converted(wrong), "contradicted"),
            (written.format(n=wrong), "contradicted"),
        )
    )
    if source.random() < 0.4:
        value, same = same, value
    evidence = sentence.format(value=value, **words)
    return _Said(evidence, sentence.format(value=claimed, **words), label)


def _modals(source: random.Random) -> _Said:
    """Say what someone may or must do, and the same or something else in other words."""
    act = source.choice(_ACTS).format(thing=source.choice(_THINGS), party=source.choice(_PARTIES))
    who = f"The {source.choice(_PARTIES)}"
    first, second = source.choice(list(_MODAL_LABELS))
    label = _MODAL_LABELS[first, second]
    if source.random() < 0.45:
        second, label = first, "supported"
    evidence = f"{who} {source.choice(_MODALS[first])} {act}."
    return _Said(evidence, f"{who} {source.choice(_MODALS[second])} {act}.", label)


def _amounts(source: random.Random) -> _Said:
    """Say how many of a group something holds for, and the same or something else."""
    group, state = source.choice(_GROUPS), source.choice(_STATES)
    first, second = source.choice(list(_AMOUNT_LABELS))
    label = _AMOUNT_LABELS[first, second]
    if source.random() < 0.35:
        second, label = first, "supported"
    evidence = f"{_AMOUNTS[first]} {group} {state}."
    return _Said(evidence, f"{_AMOUNTS[second]} {group} {state}.", label)
