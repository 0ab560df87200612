# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.language.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Employees' policies", ["the", "employee", "policy"]),
        ("the employee’s boxes, classes, dishes", ["the", "employee", "box", "class", "dish"]),
        ("gas bus status analysis loss", ["gas", "bus", "status", "analysis", "loss"]),
        ("1,500 days; 1,50 or 2.5.", ["1500", "day", "1,50", "or", "2.5"]),
        ("2.5% 2.5 % 2.5 percent 2.5 per cent", ["2.5%", "2.5"] * 4),
        ("١٬٥٠٠ يوم ١٥٫٥٪", ["1500", "يوم", "15.5%", "15.5"]),
        ("وَالإِجـــازة", ["اجازه"]),
        ("إجازة أجازة اجازة", ["اجازه"] * 3),
        ("البيت للموظفين الى", ["بيت", "موظفين", "الي"]),
        ("ＦＵＬＬ ﬁle Straße İstanbul", ["full", "file", "strasse", "istanbul"]),
        ("co\u00adoper\u200bate", ["cooperate"]),
        ("员工有年假 中", ["员工", "工有", "有年", "年假", "中"]),
        ("कर्मचारी को।", ["कर्मचारी", "को"]),
        ("l'employé COVID-19 x86_64", ["l", "employé", "covid", "19", "x86", "64"]),
        ("", []),
        ("— !? \ud800", []),
    ],
)
def test_terms_are_what_texts_have_in_common(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@given(st.text())
def test_any_text_has_terms_that_can_be_stored(text: str) -> None:
    for term in tokenize(text):
        assert term
        assert "\n" not in term
        assert term.encode()
