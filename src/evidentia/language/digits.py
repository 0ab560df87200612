"""Digits, and the marks that stand in and behind numbers, as Western and Arabic texts have them."""

# ruff: noqa: RUF001 - the digits and marks of Arabic are what these tables are made of

from typing import Final

WESTERN: Final = "0123456789"
ARABIC_INDIC: Final = "٠١٢٣٤٥٦٧٨٩"
PERSIAN: Final = "۰۱۲۳۴۵۶۷۸۹"
ANY_DIGIT: Final = "0-9٠-٩۰-۹"
"""All of them, as they stand in a pattern's class of characters."""
_WESTERN_MARKS, _ARABIC_MARKS = ".,%‰", "٫٬٪؉"

DIGITS_TO_WESTERN: Final = str.maketrans(ARABIC_INDIC + PERSIAN, WESTERN * 2)
TO_WESTERN: Final = DIGITS_TO_WESTERN | str.maketrans(_ARABIC_MARKS, _WESTERN_MARKS)
TO_ARABIC: Final = str.maketrans(WESTERN + _WESTERN_MARKS, ARABIC_INDIC + _ARABIC_MARKS)
"""For `str.translate`: one character for one, so that offsets stay."""
_GROUP: Final = 4


def in_groups(digits: str) -> list[str]:
    """Return many digits in groups of four, which people can compare.

    >>> in_groups("0a1b2c3d4e")
    ['0a1b', '2c3d', '4e']
    """
    return [digits[at : at + _GROUP] for at in range(0, len(digits), _GROUP)]
