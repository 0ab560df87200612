from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import Quantity, compare

DAY = 86_400.0


def only(text: str) -> Quantity:
    (quantity,) = find_quantities(text)
    return quantity


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "dimension", "value", "written"),
    [
        ("15 days", "time", 15 * DAY, "15 days"),
        ("two weeks", "time", 14 * DAY, "two weeks"),
        ("a fortnight of 1 fortnight", "time", 14 * DAY, "1 fortnight"),
        ("fifteen (15) days", "time", 15 * DAY, "fifteen (15) days"),
        ("twenty-one days", "time", 21 * DAY, "twenty-one days"),
        ("a hundred and five days", "time", 105 * DAY, "a hundred and five days"),
        ("10 business days", "working time", 10 * DAY, "10 business days"),
        ("10 full calendar days", "time", 10 * DAY, "10 full calendar days"),
        ("20 vacation days", "time", 20 * DAY, "20 vacation days"),
        ("14-day period", "time", 14 * DAY, "14-day"),
        ("18 months", "months", 18.0, "18 months"),
        ("two years", "months", 24.0, "two years"),
        ("one thousand two hundred staff", "number", 1200.0, "one thousand two hundred"),
        ("a million users", "number", 1e6, "a million"),
        ("1,500.50 euros", "money eur", 1500.5, "1,500.50 euros"),
        ("$5 million", "money usd", 5e6, "$5 million"),
        ("$5m", "money usd", 5e6, "$5m"),
        ("SAR 1,000", "money sar", 1000.0, "SAR 1,000"),
        ("500 €", "money eur", 500.0, "500 €"),
        ("3.5%", "percent", 3.5, "3.5%"),
        ("ten percent", "percent", 10.0, "ten percent"),
        ("50 basis points", "percent", 0.5, "50 basis points"),
        ("5kg", "mass", 5000.0, "5kg"),
        ("5 °C", "celsius", 5.0, "5 °C"),
        ("it is -5 degrees celsius", "celsius", -5.0, "-5 degrees celsius"),
        ("٢٠ يوما", "time", 20 * DAY, "٢٠ يوما"),
        ("in 2019", "year", 2019.0, "2019"),
        ("2000 employees", "number", 2000.0, "2000"),
        ("within a week", "time", 7 * DAY, "a week"),
        ("on 1 January 2024", "date", 738886.0, "1 January 2024"),
        ("on January 1st, 2024", "date", 738886.0, "January 1st, 2024"),
        ("on 2024-01-01", "date", 738886.0, "2024-01-01"),
        ("on 31.12.2023", "date", 738885.0, "31.12.2023"),
        ("on 12/31/2023", "date", 738885.0, "12/31/2023"),
        ("on 5/5/2024", "date", 739011.0, "5/5/2024"),
        ("in March 2024", "calendar month", 24291.0, "March 2024"),
        ("by 31 March", "day of the year", 730210.0, "31 March"),
        ("at 17:30", "clock", 1050.0, "17:30"),
        ("at 5:30 p.m.", "clock", 1050.0, "5:30 p.m."),
        ("at 12 am", "clock", 0.0, "12 am"),
    ],
)
def test_quantities_are_read_as_values(
    text: str, dimension: str, value: float, written: str
) -> None:
    quantity = only(text)
    assert (quantity.dimension, quantity.value, quantity.text) == (dimension, value, written)
    assert text[quantity.start : quantity.end] == quantity.text


@tiers.one_test
@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "ISO 27001",
        "the ISO 27001 certification",
        "Article 3.2",
        "Section 4 (2)",
        "Windows 11 is new",
        "B2B and 5G and H1N1",
        "24/7",
        "version 2.1",
        "Step 1",
        "#4",
        "Room 101",
        "call 555 123 4567",
        "order 00123",
        "id 12345678901",
        "1.000 euros",
        "01/02/2024",
        "31 February 2024",
        "31.02.2024",
        "2½ days",
        "2,5 %",
        "one and a half years",
        "three quarters of the staff",
        "5 m",
        "one of them",
        "a second opinion",
        "13:30 pm",
        "the ratio 3:1",
        "10 days-3 kg",
    ],
)
def test_names_and_what_can_be_read_in_two_ways_are_no_quantities(text: str) -> None:
    assert find_quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10-15 days", 10, 15),
        ("10 to 15 days", 10, 15),
        ("10 days to 15 days", 10, 15),
        ("between 10 and 15 days", 10, 15),
        ("between 10 days and 15 days", 10, 15),
        ("reduced from 15 to 10 days", 10, 15),
    ],
)
def test_a_range_has_two_ends(text: str, low: int, high: int) -> None:
    quantity = only(text)
    assert quantity.interval == (low * DAY, high * DAY)
    assert text[quantity.start : quantity.end] == quantity.text


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("15 days", "exact"),
        ("at least 15 days", "at_least"),
        ("no less than 15 days", "at_least"),
        ("a minimum of 15 days", "at_least"),
        ("15 days or more", "at_least"),
        ("15 days minimum", "at_least"),
        ("the minimum notice is 15 days", "at_least"),
        ("more than 15 days", "more_than"),
        ("up to 15 days", "at_most"),
        ("no more than 15 days", "at_most"),
        ("must not exceed 15 days", "at_most"),
        ("within 15 days", "at_most"),
        ("15 days at most", "at_most"),
        ("15 days or less", "at_most"),
        ("maximum carryover is 15 days", "at_most"),
        ("fewer than 15 days", "less_than"),
        ("about 15 days", "about"),
        ("by 31 March", "at_most"),
        ("before 31 March", "less_than"),
        ("after 31 March", "more_than"),
    ],
)
def test_a_bound_is_part_of_a_quantity(text: str, bound: str) -> None:
    assert only(text).bound == bound


@pytest.mark.parametrize(
    ("text", "measured", "per"),
    [
        ("15 days of the paid annual leave per calendar year", "paid annual leave", "year"),
        ("15 days annual leave", "annual leave", ""),
        ("14 days' notice", "notice", ""),
        ("14 days before the start", "", ""),
        ("15 annual leave days", "annual leave", ""),
        ("120 permanent employees", "permanent employees", ""),
        ("2 days a month", "", "month"),
        ("$50/month", "", "month"),
        ("8 hours daily", "", "day"),
        ("120 employees per day", "employees", "day"),
        ("20 employees last year", "employees last year", ""),
    ],
)
def test_a_quantity_knows_what_it_is_of_and_what_it_is_per(
    text: str, measured: str, per: str
) -> None:
    quantity = only(text)
    assert (quantity.measured, quantity.per) == (measured, per)
    if per:
        assert per[:2] in text[slice(*quantity.per_span)].lower()


def test_a_rate_is_looked_for_within_its_own_clause() -> None:
    first, second = find_quantities("15 days of leave and 2 days per month")
    assert (first.per, second.per) == ("", "month")


@tiers.one_test
@pytest.mark.parametrize(
    ("claimed", "said", "expected"),
    [
        ("2 weeks", "14 calendar days", "same"),
        ("2 weeks", "at least 14 days", "same"),
        ("at least 2 weeks", "14 days", "same"),
        ("about 100 km", "100 km", "same"),
        ("20 days", "15 days", "differs"),
        ("20 days", "at least 15 days", "open"),
        ("10 days", "at least 15 days", "differs"),
        ("20 days", "up to 15 days", "differs"),
        ("10 days", "up to 15 days", "open"),
        ("at least 10 days", "15 days", "within"),
        ("over 100 km", "120 km", "within"),
        ("about 100 km", "103 km", "within"),
        ("103 km", "about 100 km", "open"),
        ("about 100 km", "120 km", "differs"),
        ("within 14 days", "within 30 days", "differs"),
        ("at least 10 days", "at least 15 days", "differs"),
        ("more than 15 days", "15 days", "open"),
        ("at most 15 days", "at least 15 days", "open"),
        ("12 days", "10-15 days", "open"),
        ("10-15 days", "12 days", "within"),
        ("20 days", "10-15 days", "differs"),
        ("10-15 days", "10 to 15 days", "same"),
        ("10 business days", "14 calendar days", "unlike"),
        ("12 months", "365 days", "unlike"),
        ("5 euros", "5 dollars", "unlike"),
        ("2 days per month", "2 days per year", "unlike"),
        ("2 days", "2 days per month", "open"),
        ("15 days", "15 days per year", "same"),
        ("12 months", "1 year", "same"),
        ("0 days", "0 weeks", "same"),
    ],
)
def test_values_are_compared_with_their_bounds(claimed: str, said: str, expected: str) -> None:
    assert compare(only(claimed), only(said)) == expected


@given(
    st.text(alphabet=st.sampled_from(list("0123456789.,-\u2013%$€ adiosyekntw/:()٣")), max_size=40)
)
def test_any_text_has_quantities_with_exact_slices_in_order(text: str) -> None:
    found = find_quantities(text)
    for quantity in found:
        assert text[quantity.start : quantity.end] == quantity.text != ""
        assert compare(quantity, quantity) == "same" or quantity.value == float("inf")
    assert list(found) == sorted(found, key=lambda quantity: quantity.start)


def test_only_the_beginning_of_an_endless_text_is_read() -> None:
    found: Any = find_quantities("15 days, " * 100_000)
    assert 0 < len(found) < 1_000
