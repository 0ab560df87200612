# ruff: noqa: RUF001 - Arabic dates are what these tests are about

import sys
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import InputError
from evidentia.export.pdf.dates import gregorian, gregorian_time, hijri
from evidentia.language.wording import Lang

AT = "2026-11-15T09:30:00.000000Z"


def test_a_day_is_written_as_each_language_writes_it() -> None:
    assert gregorian(AT, "en") == "15 November 2026"
    assert gregorian(AT, "ar") == "١٥ نوفمبر ٢٠٢٦م"


def test_a_time_of_day_says_its_zone() -> None:
    assert gregorian_time(AT, "en") == "15 November 2026, 09:30 UTC"
    expected = "١٥ نوفمبر ٢٠٢٦م، الساعة ٠٩:٣٠ بالتوقيت العالمي المنسق (UTC)"
    assert gregorian_time(AT, "ar") == expected


def test_a_hijri_day_is_written_as_each_language_writes_it() -> None:
    assert hijri(AT, "en") == "5 Jumada al-Akhirah 1448 AH"
    assert hijri(AT, "ar") == "٥ جمادى الآخرة ١٤٤٨هـ"


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("1992-03-01", "27 Sha'ban 1412 AH"),  # the Basic Law of Governance, A/90
        ("2021-09-16", "9 Safar 1443 AH"),  # the Personal Data Protection Law, M/19
        ("2024-03-11", "1 Ramadan 1445 AH"),
        ("2024-04-10", "1 Shawwal 1445 AH"),  # Eid al-Fitr
        ("2024-06-16", "10 Dhu al-Hijjah 1445 AH"),  # Eid al-Adha
        ("2024-07-07", "1 Muharram 1446 AH"),
        ("2025-03-01", "1 Ramadan 1446 AH"),
        ("2025-03-30", "1 Shawwal 1446 AH"),
        ("2025-06-06", "10 Dhu al-Hijjah 1446 AH"),
    ],
)
def test_known_days_have_their_hijri_dates(day: str, expected: str) -> None:
    assert hijri(day, "en") == expected


def test_times_are_told_in_utc() -> None:
    assert gregorian_time("2026-11-16T01:00:00+03:00", "en") == "15 November 2026, 22:00 UTC"
    assert hijri("2026-11-16T01:00:00+03:00", "en") == hijri(AT, "en")
    assert gregorian_time("2026-11-15T09:30:00", "en") == "15 November 2026, 09:30 UTC"


@pytest.mark.parametrize("told", [gregorian, gregorian_time])
@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+05:00"])
def test_what_is_no_time_is_returned_as_it_is(told: Callable[[str, Lang], str], text: str) -> None:
    assert told(text, "en") == text
    assert hijri(text, "ar") == ""


def test_the_calendar_ends_where_umm_al_qura_does() -> None:
    assert hijri("1924-07-31", "en") == hijri("2077-11-17", "ar") == ""
    assert hijri("1924-08-01", "en") == "1 Muharram 1343 AH"
    assert hijri("2077-11-16", "en") == "30 Dhu al-Hijjah 1500 AH"


@given(st.dates(date(1946, 1, 1), date(2077, 11, 15)))  # before, the calendar had odd months
def test_days_follow_each_other(day: date) -> None:
    today, tomorrow = (
        int(hijri(each.isoformat(), "en").split()[0]) for each in (day, day + timedelta(days=1))
    )
    assert tomorrow == today + 1 or (tomorrow == 1 and today in {29, 30})


@given(st.text() | st.datetimes().map(str))
def test_no_text_raises(text: str) -> None:
    assert gregorian(text, "ar") + gregorian_time(text, "en") or not text
    assert hijri(text, "ar").endswith("هـ") == hijri(text, "en").endswith("AH")


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hijridate", None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[pdf\]'$"):
        hijri(AT, "ar")
