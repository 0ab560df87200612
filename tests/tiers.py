"""The short form of what is slow, and the whole one.

`./test` runs the short form, `./test --all` the whole. Every rule is tested in both: the short form
takes fewer examples and fewer cases of a long list, the same ones in every run. A test marked
`whole` has another beside it that guards the same rule in less time, and runs in the whole form.
"""

from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")


class _Form:
    whole = False


def choose(*, whole: bool) -> None:
    """Say which form this run takes; conftest.py does, before any test is collected."""
    _Form.whole = whole


def is_whole() -> bool:
    """Say whether this run takes the whole form."""
    return _Form.whole


def sample(cases: Sequence[Case], short: int) -> list[Case]:
    """Return all cases, or in the short form so many of them, evenly spread, the first always."""
    if _Form.whole or len(cases) <= short:
        return list(cases)
    return [cases[place * len(cases) // short] for place in range(short)]


def count(whole: int, *, short: int) -> int:
    """Return how often to do something, by the form of this run."""
    return whole if _Form.whole else short
