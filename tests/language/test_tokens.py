# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.language import tokens
from evidentia.language.tokens import tokenize


@tiers.one_test
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


_PIECES = [
    *(
        "a",
        "The",
        "ies",
        "s",
        "'s",
        "'",
        "%",
        " ",
        "1",
        "2.5",
        "1,500",
        "12,34",
        ".",
        ",",
        "_",
        "-",
    ),
    *("percent", "per cent", "percentage points", "X9", "9x", "\u00e9", "\n", "policies", "boxes"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_PIECES), max_size=10).map("".join))
def test_plain_text_gives_the_terms_that_all_text_gives(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        found = tokenize(text)
        patched.setattr(tokens, "_TOGETHER", ("",))
        assert tokenize(text) == found


def test_terms_are_made_again_where_too_many_were_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "_MOST_TERMS", 2)
    for _ in range(2):
        assert tokenize("Policies, boxes and 1,500 days") == ["policy", "box", "and", "1500", "day"]


def test_terms_that_are_remembered_are_forgotten_when_they_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "_MOST_TERMS", 2)
    words = [f"word{number}s" for number in range(5)]
    for _ in range(2):
        assert [term for word in words for term in tokens.tokenize(word)] == [
            f"word{number}" for number in range(5)
        ]
    assert len(tokens._ASCII_TERMS) <= 2
