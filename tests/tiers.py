"""The short form of what is slow, and the whole one.

`./test` runs the short form, `./test --all` the whole. Every rule is tested in both: the short form
takes fewer examples and fewer cases of a long list, the same ones in every run. A test marked
`whole` has another beside it that guards the same rule in less time, and runs in the whole form.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeVar, cast

from _pytest.mark import ParameterSet

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., None])


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


def one_test(test: Test) -> Test:
    """In the short form, ask all cases of a quick table in one test: pytest costs more than they.

    It stands above the parametrisation, which must give all arguments. The case that fails is noted
    beside the error. In the whole form each case is a test of its own.
    """
    if _Form.whole:
        return test
    marks = [mark for mark in vars(test)["pytestmark"] if mark.name == "parametrize"]
    tables = [[_case(mark.args[0], values) for values in mark.args[1]] for mark in marks]

    def looped() -> None:
        for parts in product(*tables):
            case = {name: value for part in parts for name, value in part.items()}
            try:
                test(**case)
            except BaseException as error:
                error.add_note(f"in the case {case!r}")
                raise

    looped.__name__, looped.__doc__ = test.__name__, test.__doc__
    others = [mark for mark in getattr(test, "pytestmark", []) if mark.name != "parametrize"]
    vars(looped)["pytestmark"] = others
    return cast("Test", looped)


def _case(names: str | Sequence[str], values: Any) -> dict[str, Any]:
    """Return the arguments of one case, by name."""
    known = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    if isinstance(values, ParameterSet):
        if values.marks:
            raise TypeError(f"a case with a mark of its own is a test of its own: {values}")
        return dict(zip(known, values.values, strict=True))
    given = [values] if isinstance(names, str) and len(known) == 1 else values
    return dict(zip(known, given, strict=True))
