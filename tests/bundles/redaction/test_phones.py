"""Phone numbers are found whole, however people write them, and little else is taken for one."""

import pytest

import tiers
from bundles.redaction.phones import (
    INTERNATIONAL,
    MISSED,
    NAMED,
    NATIONAL,
    OTHERS,
    TAKEN,
    UNTOLD,
)
from evidentia.bundles.redaction.numbers import calling_code
from evidentia.bundles.redaction.phones import international_phone
from evidentia.bundles.redaction.redactor import Redactor

KEY = b"a key for tests only"
SENTENCES = [
    "{}",
    "Ask for {} today.",
    "({}),",
    '{{"contact": "{}", "n": 1}}',
    "Tel.: {}",
    "للتواصل {}، شكرا",
    "a\n{}\nb",
    "{}, 12 November",
]
HALF_BRACKETED = "02) 555-0142"


def redacted(text: str, *classes: str) -> str:
    return Redactor(KEY, classes=classes or None).redact(text).text


def check_whole(number: str) -> None:
    for sentence in SENTENCES:
        text = sentence.format(number)
        assert redacted(text) == redacted(text, "PHONE") == sentence.format("[PHONE_1]")


@pytest.mark.parametrize("number", ["+61 (02) 9332 3633", "+91 0124 39883988", "+44 0131 315 3300"])
def test_a_number_with_the_zero_of_its_country_is_replaced_whole(number: str) -> None:
    check_whole(number)


@tiers.one_test
@pytest.mark.parametrize("country", INTERNATIONAL)
def test_numbers_with_a_countrys_prefix_are_replaced_whole(country: str) -> None:
    for number in INTERNATIONAL[country]:
        check_whole(number)


@tiers.one_test
@pytest.mark.parametrize("country", NATIONAL)
def test_numbers_as_dialled_within_a_country_are_replaced_whole(country: str) -> None:
    for number in NATIONAL[country]:
        if number not in (*MISSED, HALF_BRACKETED):
            check_whole(number)


def test_a_bracket_that_only_closes_is_a_part_of_a_number() -> None:
    assert redacted(f"Ask for {HALF_BRACKETED} today.") == "Ask for [PHONE_1] today."


@tiers.one_test
@pytest.mark.parametrize("country", NAMED)
def test_numbers_after_a_word_for_them_are_replaced_whole(country: str) -> None:
    sentence, number = NAMED[country]
    assert redacted(sentence.format(number)) == sentence.format("[PHONE_1]")
    assert redacted(f"({sentence.format(number)})") == f"({sentence.format('[PHONE_1]')})"


@tiers.one_test
@pytest.mark.parametrize("number", [*UNTOLD, *MISSED])
def test_what_nothing_tells_from_other_numbers_is_left(number: str) -> None:
    assert redacted(f"Ask for {number} today.") == f"Ask for {number} today."


@tiers.one_test
@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_phone_number_is_left(kind: str) -> None:
    for text in OTHERS[kind]:
        for sentence in ("{}", "see {} here", "انظر {} هنا"):
            taken = "[PHONE" in redacted(sentence.format(text))
            assert taken == (text in TAKEN), text


def test_there_are_formats_of_many_countries() -> None:
    assert len({*INTERNATIONAL, *NATIONAL, *NAMED}) >= 30


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+353 1 234 5678 12 boxes", "[PHONE_1] 12 boxes"),
        ("+44 0131 496 0142 2026", "[PHONE_1] 2026"),
        ("+61 (02) 5550 1234 / +61 0491 570 156", "[PHONE_1] / [PHONE_2]"),
        ("020 7946 0958 20 boxes", "[PHONE_1] 20 boxes"),
        ("03 5555 0142 12", "[PHONE_1] 12"),
        ("01 99 00 12 34 - 06 39 98 12 34", "[PHONE_1] - [PHONE_2]"),
        ("+1 212 555 0142, ext. 12, floor 3", "[PHONE_1], floor 3"),
        ("+1 212 555 0142 x 12 pieces", "[PHONE_1] x 12 pieces"),
        ("+1 212 555 0142 تحويلة ١٢ شكرا", "[PHONE_1] شكرا"),
        ("Tel. 030 23125 014 DW 14.", "Tel. [PHONE_1]."),
        ("phone: 4111 1111 1111 1111", "phone: [CARD_1]"),
        ("phone: 123-45-6789", "phone: [US_SSN_1]"),
        ("phone: 192.168.10.20", "phone: [IPV4_1]"),
        ("phone: 10.0.0.0.1.2.3.4", "phone: 10.0.0.0.1.2.3.4"),
        ("phone: 1234567.89", "phone: 1234567.89"),
        ("phone: (2255 0142)", "phone: ([PHONE_1])"),
        ("phone: 2255 0142 or 2255 0143", "phone: [PHONE_1] or 2255 0143"),
        ("+20 000 000 000", "+20 000 000 000"),
        ("01.02.2026 10", "01.02.2026 10"),
        ("01 2 34 5 67 8 90", "01 2 34 5 67 8 90"),
        ("0 306 40615 2", "0 306 40615 2"),
    ],
)
def test_a_number_ends_where_it_ends(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ("+61 (02) 5550 1234", "+61 2 5550 1234", "+61 02 5550 1234", "0011 61 2 5550 1234"),
        ("+44 0131 496 0142", "+44 (0)131 496 0142", "(+44) 131 496 0142", "00441314960142"),
        ("011 44 20 7946 0958", "+44 (020) 7946 0958"),
        ("+39 06 5555 0142", "0039 06 55550142"),
        ("+1 212 555 0142 ext. 12", "+1 (212) 555-0142 x12"),
        ("011 555 0142", "(011) 555-0142"),
        ("212-555-0142 ext. 12", "(212) 555-0142 #12"),
    ],
)
def test_one_number_has_one_placeholder_however_it_is_written(forms: tuple[str, ...]) -> None:
    redactor = Redactor(KEY)
    for form in forms:
        assert redactor.redact(f"at {form}.").text == "at [PHONE_1]."


def test_numbers_of_two_places_and_two_extensions_are_not_the_same() -> None:
    forms = ("+1 212 555 0142", "+1 212 555 0142 x1", "+1 212 555 0142 x2", "+39 06 5555 0142")
    text = redacted("; ".join((*forms, "+39 6 5555 0142")))
    assert text == "[PHONE_1]; [PHONE_2]; [PHONE_3]; [PHONE_4]; [PHONE_5]"


def test_what_begins_with_no_prefix_is_not_international() -> None:
    assert international_phone("212 555 0142") == 0
    assert calling_code("999") is None


def test_a_row_of_digits_after_a_prefix_is_tried_a_few_times_only() -> None:
    assert redacted("+49 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 end").endswith("end")
