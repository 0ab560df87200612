"""What a claim says that its evidence has nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.judges.nli.lacking import lacking

NOTHING = {"words nowhere": 0.0, "figures nowhere": 0.0, "names nowhere": 0.0}


@pytest.mark.parametrize(
    ("part", "evidence"),
    [
        ("The fee is 1,200 euros.", "Fees of 1200 euros apply."),
        ("It has 3 seats.", "There are three seats."),
        ("It was the 2nd such fire", "the second such fire, it was said, that ends in 2nd place"),
        ("He moved to Boston.", "He has moved, to BOSTON."),
        ("", "Anything"),
        ("of the", ""),
    ],
)
def test_what_is_written_otherwise_is_not_missing(part: str, evidence: str) -> None:
    assert lacking(part, evidence) == NOTHING


@pytest.mark.parametrize(
    ("part", "what", "expected"),
    [
        ("The fee is 1,300 euros.", "figures nowhere", 1.0),
        ("Fees: 1, 2, 3, 4 and 5 euros", "figures nowhere", 3.0),
        ("The fee is set by Ada Byron.", "names nowhere", 2.0),
        ("Kepler sets the fee.", "names nowhere", 0.0),
        ("The fee is waived", "words nowhere", 0.5),
    ],
)
def test_what_is_missing_is_counted(part: str, what: str, expected: float) -> None:
    assert lacking(part, "A fee of 1,200 euros.")[what] == expected


@given(st.text(), st.text())
def test_any_text_is_answered(part: str, evidence: str) -> None:
    assert set(lacking(part, evidence)) == set(NOTHING)


@given(st.text(), st.text(), st.text())
def test_more_evidence_never_lacks_more_names(part: str, evidence: str, more: str) -> None:
    less = lacking(part, evidence)["names nowhere"]
    assert lacking(part, f"{evidence} {more}")["names nowhere"] <= less
