"""When a document holds, and which of its versions held on a day."""

from dataclasses import dataclass
from datetime import date

import pytest

from evidentia.documents.effective import EVER, Effective, parse_effective, version_on
from evidentia.errors import InputError


@dataclass(frozen=True, eq=False)
class Version:
    read: str
    effective: Effective = EVER

    @property
    def created_at(self) -> str:
        return f"{self.read}T09:00:00.000000Z"


def on(day: str, *versions: Version) -> int | None:
    """Return the number of the version that held on a day, from 1."""
    found = version_on(date.fromisoformat(day), versions)
    return None if found is None else versions.index(found) + 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-01-01..2026-12-31", Effective("2026-01-01", "2026-12-31")),
        (" 2026-01-01 .. ", Effective("2026-01-01")),
        ("..2026-12-31", Effective(None, "2026-12-31")),
        ("2026-01-01..2026-01-01", Effective("2026-01-01", "2026-01-01")),
    ],
)
def test_days_are_given_from_and_until(text: str, found: Effective) -> None:
    assert parse_effective(text) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2026-01-01", "is not from when until when"),
        ("..", "is not from when until when"),
        ("", "is not from when until when"),
        ("2026-13-01..", "has what is no day"),
        ("2026-01-01..soon", "has what is no day"),
        ("2026-02-01..2026-01-01", "ends before it begins"),
    ],
)
def test_what_are_no_days_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_effective(text)


def test_both_days_are_within() -> None:
    year = Effective("2026-01-01", "2026-12-31")
    held = [year.holds_on(day) for day in ("2025-12-31", "2026-01-01", "2026-12-31", "2027-01-01")]
    assert held == [False, True, True, False]
    assert EVER.holds_on("0001-01-01")


def test_a_document_without_days_has_always_held_and_a_later_version_since_it_was_read() -> None:
    versions = Version("2026-03-01"), Version("2026-05-01"), Version("2026-05-01")
    assert on("2020-01-01", *versions) == 1
    assert on("2026-04-30", *versions) == 1
    assert on("2026-05-01", *versions) == 3
    assert on("2020-01-01") is None


def test_the_version_that_began_last_by_the_day_held() -> None:
    versions = (
        Version("2026-03-01", Effective("2025-01-01", "2025-12-31")),
        Version("2026-03-02", Effective("2026-01-01", "2026-06-30")),
        Version("2026-03-03", Effective("2024-01-01")),
    )
    days = ("2023-01-01", "2024-06-01", "2025-06-01", "2026-06-30", "2026-07-01")
    assert [on(day, *versions) for day in days] == [None, 3, 1, 2, None]


def test_no_version_comes_back_when_a_later_one_ends() -> None:
    versions = Version("2026-01-01"), Version("2026-02-01", Effective(None, "2026-03-31"))
    assert [on(day, *versions) for day in ("2026-01-15", "2026-03-31", "2026-04-01")] == [
        1,
        2,
        None,
    ]
