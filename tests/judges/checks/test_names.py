"""Names: found in any of their forms, absent, exchanged, or in each other's role."""

import pytest

from evidentia.judges.checks import CheckKind, typed_checks


def names(claim: str, said: str) -> list[tuple[bool, str, str | None]]:
    return [
        (
            check.conflict,
            claim[slice(*check.claim)],
            said[slice(*check.evidence)] if check.evidence else None,
        )
        for check in typed_checks(claim, said)
        if check.kind is CheckKind.NAME
    ]


@pytest.mark.parametrize(
    ("claim", "said", "second"),
    [
        ("The book is by Mira Holt.", "The novelist Mira Holt wrote it.", "Mira"),
        ("The book is by Holt.", "The novelist Mira Holt wrote it.", "Holt"),
        ("The book is Holt's.", "the novelist mira holt wrote it.", "holt"),
        ("He works for the World Bank Group.", "He works for the WBG today.", "WBG"),
        ("He works for the WBG.", "He works for the World Bank Group.", "World"),
        ("He lives in France.", "He is a French painter.", "French"),
        ("He lives in the United States.", "He is an American painter.", "American"),
        ("He lives in Paris.", "He is a Parisian painter.", "Parisian"),
    ],
)
def test_a_name_agrees_in_any_of_its_forms(claim: str, said: str, second: str) -> None:
    ((conflict, _, found),) = names(claim, said)
    assert (conflict, found) == (False, second)


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The song was written by Ada Long in winter.",
            "The song was written by Tom Reed in winter.",
            "Ada Long",
            "Tom Reed",
        ),
        ("The song was written by Ada Long in winter.", "The song is old.", "Ada Long", None),
        ("The song was written by Ada Long.", "A poem by Tom Reed is old.", "Ada Long", None),
    ],
)
def test_a_name_that_is_nowhere_is_absent_or_exchanged(
    claim: str, said: str, first: str, second: str | None
) -> None:
    assert names(claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Songs are sung.", "People sing."),
        ("A TV is on.", "A set is on."),
        ("The song is by Ada Long.", "The song is by Ada."),
        ("It began on a Monday in April.", "It began."),
    ],
)
def test_what_may_be_no_name_or_is_named_in_part_is_left_alone(claim: str, said: str) -> None:
    assert not names(claim, said)


@pytest.mark.parametrize(
    ("claim", "said", "swapped"),
    [
        ("Then Holt beat Reed.", "Then Reed beat Holt.", True),
        ("Then Holt beat Reed.", "Then Holt beat Reed.", False),
        ("Then Holt attacked Reed.", "Then Reed was attacked by Holt.", False),
        ("Then Holt attacked Reed.", "Then Holt was attacked by Reed.", True),
        ("Then Holt met Reed.", "Then Reed met Holt.", False),
        ("Then Holt beat Reed.", "Then Reed saw Holt.", False),
        ("Then Holt beat Reed.", "Then Reed left. Holt stayed.", False),
        ("Then Holt beat Reed.", "Then Reed, beaten, saw Holt.", False),
        ("Then Holt beat Reed.", "Then Reed beat Long. It was Holt.", False),
    ],
)
def test_two_names_exchanged_around_a_verb_are_a_conflict(
    claim: str, said: str, *, swapped: bool
) -> None:
    found = names(claim, said)
    assert any(conflict for conflict, _, _ in found) == swapped
