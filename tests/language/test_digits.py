# ruff: noqa: RUF001 - the digits and marks of Arabic are what these tests are about

from unicodedata import decimal

import regex

from evidentia.language.digits import (
    ANY_DIGIT,
    ARABIC_INDIC,
    DIGITS_TO_WESTERN,
    PERSIAN,
    TO_ARABIC,
    TO_WESTERN,
    WESTERN,
    in_groups,
)


def test_every_digit_has_the_value_that_unicode_gives_it() -> None:
    for digits in (WESTERN, ARABIC_INDIC, PERSIAN):
        assert [decimal(digit) for digit in digits] == list(range(10))
        assert regex.fullmatch(f"[{ANY_DIGIT}]{{10}}", digits)
        assert digits.translate(DIGITS_TO_WESTERN) == WESTERN


def test_numbers_with_their_marks_go_both_ways() -> None:
    assert "1,234.5% 6‰".translate(TO_ARABIC) == "١٬٢٣٤٫٥٪ ٦؉"
    assert "١٬٢٣٤٫٥٪ ٦؉ ۷".translate(TO_WESTERN) == "1,234.5% 6‰ 7"


def test_many_digits_are_read_in_groups_of_four() -> None:
    assert in_groups("0a1b2c3d4e") == ["0a1b", "2c3d", "4e"]
    assert in_groups("") == []
    assert "".join(in_groups("f" * 64)) == "f" * 64
