import pytest

from evidentia.errors import InputError
from evidentia.judges import JUDGES, available_judges, make_judges


def test_all_judges_that_can_be_asked_are_asked_in_their_order_by_default() -> None:
    assert list(JUDGES) == ["quote", "numbers", "nli"]
    assert [judge.name for judge in make_judges()] == available_judges()


def test_named_judges_are_asked_in_the_same_order_however_they_are_named() -> None:
    assert [judge.name for judge in make_judges(["numbers", "quote", "quote"])] == [
        "quote",
        "numbers",
    ]
    assert [judge.name for judge in make_judges(["numbers"])] == ["numbers"]
    assert make_judges([]) == []


def test_an_unknown_judge_is_refused_with_the_names_that_are_known() -> None:
    with pytest.raises(
        InputError, match="judge 'oracle' is unknown: use one of quote, numbers, nli"
    ):
        make_judges(["quote", "oracle"])
