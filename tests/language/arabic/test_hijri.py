from datetime import date

import pytest
from hijridate import Hijri

from evidentia.language.arabic.hijri import FIRST_YEAR, LAST_YEAR, hijri_date, hijri_day


def test_every_month_begins_where_the_umm_al_qura_calendar_has_it() -> None:
    for year in range(FIRST_YEAR, LAST_YEAR + 1):
        for month in range(1, 13):
            known = Hijri(year, month, 1).to_gregorian()
            ordinal = date(known.year, known.month, known.day).toordinal()
            assert hijri_day(year, month, 1) == ordinal
            assert hijri_date(ordinal) == (year, month, 1)


@pytest.mark.parametrize(
    ("year", "month", "day"),
    [(FIRST_YEAR - 1, 1, 1), (LAST_YEAR + 1, 1, 1), (1446, 0, 1), (1446, 13, 1), (1446, 9, 31)],
)
def test_a_day_that_is_not_in_the_table_is_refused(year: int, month: int, day: int) -> None:
    with pytest.raises(ValueError, match="no such"):
        hijri_day(year, month, day)


def test_a_day_before_the_table_has_no_hijri_date() -> None:
    with pytest.raises(ValueError, match="not in the table"):
        hijri_date(date(1900, 1, 1).toordinal())
