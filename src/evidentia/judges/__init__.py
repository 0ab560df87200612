"""Judges: by name, each with one job; they keep the protocol in `ledger.judging`."""

from collections.abc import Callable, Sequence

from evidentia.errors import InputError
from evidentia.judges.numbers import NumbersJudge
from evidentia.judges.quote import QuoteJudge
from evidentia.ledger.judging import Judge

JUDGES: dict[str, Callable[[], Judge]] = {
    "quote": QuoteJudge,
    "numbers": NumbersJudge,
}
"""Every judge by its name, in the order they are asked: the cheap and certain ones first."""


def make_judges(names: Sequence[str] | None = None) -> list[Judge]:
    """Return the named judges, or all, in their order; raise `InputError` for an unknown name."""
    wanted = list(JUDGES) if names is None else names
    for name in wanted:
        if name not in JUDGES:
            raise InputError(f"judge {name!r} is unknown: use one of {', '.join(JUDGES)}")
    return [make() for name, make in JUDGES.items() if name in wanted]
