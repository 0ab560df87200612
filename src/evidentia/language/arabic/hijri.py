"""Hijri dates as days: the Umm al-Qura calendar from 1365 to 1500, by a table of its months.

Where the moon is watched for, a month may begin a day earlier or later than it is printed.
"""

from bisect import bisect_right
from datetime import date
from itertools import accumulate
from typing import Final

FIRST_YEAR: Final = 1365
_FIRST_DAY: Final = date(1945, 12, 5).toordinal()
_MONTHS_A_YEAR: Final = 12
_LONG, _SHORT = 30, 29
_LONG_MONTHS: Final = (
    "aabaaaaaaaabab6aaaa5754b555ab3aa64ea95baaa555aaab4ab655aaaaab2ecab2ab6aaaabab4aab2ab"
    "a2baa6b4aba55aaab5556d2b54aea57526e936aaad555aa5b52ba95b49ba4db25d52daa5ad4aea56d4bd"
    "23d91da95b4ab5a56d2b693b49b6556a9754b6a56caad555b29b92ba95d4ada55aaab595749764baa5b5"
    "2b6a56d2ae9572a75535a95d49ba4dd26d535aaaad4b6a57527a95b4ab5536c9ae4b6a96b4ada55d25d9"
    "2dc96d4ad6556d2b693749b64d72ab54b6a5752b6956b2ad94dc95d4aea56caad5556c97"
)
"""For each year three hexadecimal digits, of which each bit is a month of 30 days."""
_STARTS: Final = tuple(
    accumulate(
        (
            _LONG if int(_LONG_MONTHS[at : at + 3], 16) >> (11 - month) & 1 else _SHORT
            for at in range(0, len(_LONG_MONTHS), 3)
            for month in range(_MONTHS_A_YEAR)
        ),
        initial=_FIRST_DAY,
    )
)
LAST_YEAR: Final = FIRST_YEAR + len(_LONG_MONTHS) // 3 - 1


def hijri_day(year: int, month: int, day: int) -> int:
    """Return the ordinal of a Hijri day; raise `ValueError` if the table has no such day.

    >>> date.fromordinal(hijri_day(1446, 9, 1)).isoformat()
    '2025-03-01'
    """
    at = (year - FIRST_YEAR) * _MONTHS_A_YEAR + month - 1
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= _MONTHS_A_YEAR):
        raise ValueError("there is no such month in the table")
    if not 1 <= day <= _STARTS[at + 1] - _STARTS[at]:
        raise ValueError("there is no such day in the month")
    return _STARTS[at] + day - 1


def hijri_date(ordinal: int) -> tuple[int, int, int]:
    """Return the year, month and day of an ordinal; raise `ValueError` if it is not in the table.

    >>> hijri_date(date(2025, 3, 1).toordinal())
    (1446, 9, 1)
    """
    if not _STARTS[0] <= ordinal < _STARTS[-1]:
        raise ValueError("the day is not in the table")
    at = bisect_right(_STARTS, ordinal) - 1
    year, month = divmod(at, _MONTHS_A_YEAR)
    return FIRST_YEAR + year, month + 1, ordinal - _STARTS[at] + 1
