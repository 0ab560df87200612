import pytest

import tiers
from evidentia.judges.arabic.facts import read_facts
from evidentia.judges.arabic.values import (
    are_alike,
    are_same,
    is_beside,
    may_follow,
    other_unit,
    shares_a_part,
)
from evidentia.language.quantities import Quantity


def value(text: str) -> Quantity:
    return read_facts(text).quantities[0]


@tiers.one_test
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("14 يومًا", "two weeks"),
        ("شهر واحد", "30 days"),
        ("نصف", "50%"),
        ("75 في المئة", "ثلاثة أرباع"),
        ("أسبوعي عمل", "10 working days"),
        ("two working weeks", "10 أيام عمل"),
        ("5 أيام", "five working days"),
        ("1 رمضان 1446", "1 March 2025"),
        ("1 رمضان 1446", "2 March 2025"),
        ("5 رمضان 1446", "رمضان 1446"),
        ("5 رمضان", "5 رمضان 1446"),
        ("في مارس 2024", "5 March 2024"),
        ("5 مارس", "5 March 2024"),
        ("الساعة الثالثة", "15:00"),
        ("700 جنيه", "£700"),
        ("700 جنيه مصري", "EGP 700"),
        ("700 درهم", "700 units"),
        ("700 وحدة", "700 درهم"),
        ("عام 2024", "5 March 2024"),
        ("ساعة وخمسون دقيقة", "1:50"),
    ],
)
def test_values_that_may_be_the_same(one: str, other: str) -> None:
    assert are_same(value(one), value(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("14 يومًا", "15 days"),
        ("1 رمضان 1446", "5 March 2025"),
        ("5 مارس 2024", "عام 2024"),
        ("400 درهم شهريًا", "400 درهم سنويًا"),
        ("700 جنيه مصري", "£700"),
        ("ستمئة", "10:00"),
        ("5 أيام", "5 kg"),
    ],
)
def test_values_that_are_not(one: str, other: str) -> None:
    assert not are_same(value(one), value(other))


def test_dates_of_two_calendars_are_alike() -> None:
    assert are_alike(value("1 رمضان 1446"), value("5 March 2025"))
    assert not are_alike(value("رمضان 1446"), value("March 2025"))


def test_one_number_with_two_units() -> None:
    assert other_unit(value("10 ساعات"), value("10 days"))
    assert not other_unit(value("10 ساعات"), value("10 kg"))
    assert not other_unit(value("ساعة وعشر دقائق"), value("70 days"))


def test_dates_that_share_a_day_or_stand_side_by_side() -> None:
    assert shares_a_part(value("5 مارس 2024"), value("5 June 2024"))
    assert not shares_a_part(value("5 أيام"), value("5 June 2024"))
    assert is_beside(value("5 مارس 2024"), value("6 March 2024"))
    assert is_beside(value("5 مارس 2024"), value("عام 2024"))
    assert not is_beside(value("في مارس"), value("في مايو"))


@tiers.one_test
@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("700 درهم", "400 درهم و300 درهم"),
        ("100 درهم", "400 درهم و300 درهم"),
        ("900 درهم", "400 درهم و300 درهم و200 درهم"),
        ("30 قرصا", "ثلاثة أشرطة في كل منها عشرة أقراص"),
        ("200 درهم", "400 درهم بين 2 من الشركاء"),
        ("40 درهما", "10% من 400 درهم"),
        ("4,800 درهم في السنة", "400 درهم شهريًا"),
        ("40%", "60%"),
        ("50%", "200 درهم من 400 درهم"),
        ("مرتين", "200 درهم و400 درهم"),
        ("36 شهرا", "1 يناير 2024 و31 ديسمبر 2026"),
        ("24 شهرا", "2022 و2024"),
        ("3 أشهر", "في مارس 2024 وفي يونيو 2024"),
        ("10 أيام", "1 يناير 2024 و11 يناير 2024"),
        ("5 ساعات", "10:00 و15:00"),
        ("الساعة 9:45", "10:00 و15 دقيقة"),
        ("31 ديسمبر 2028", "1 يناير 2024 و5 سنوات"),
        ("11 يناير 2024", "1 يناير 2024 و10 أيام"),
        ("67 ريالا في اليوم", "6,000 ريال عن 90 يوما"),
        ("ست مرات في السنة", "كل شهرين"),
        ("75%", "بتخفيض ربع"),
        ("440 درهما", "400 درهم بزيادة 10%"),
        ("40 ساعة في الأسبوع", "16 ساعة و24 ساعة"),
    ],
)
def test_a_value_that_may_be_worked_out(claimed: str, said: str) -> None:
    assert may_follow(value(claimed), [read_facts(said).quantities])


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("750 درهم", "400 درهم و0 درهم و300 درهم"),
        ("الأحد", "الخميس"),
        ("5 يناير 2024", "1 يناير 2020 و10,000 سنة"),
        ("17 شهرا", "1 يناير 2024 و31 ديسمبر 2026"),
        ("700 درهم", "0 طلب و300 درهم"),
        ("90 درجة", "60 درجة و30 درجة"),
        ("5 أيام", "7 أيام ويومين"),
        ("90 يوما", "45 يوما"),
        ("سبع مرات في السنة", "كل شهرين"),
        ("سبع مرات في الفصل", "كل شهرين"),
        ("600 متطوع", "الثلاثاء والأحد"),
    ],
)
def test_a_value_that_does_not_follow(claimed: str, said: str) -> None:
    assert not may_follow(value(claimed), [read_facts(said).quantities])


def test_sums_are_made_of_what_belongs_together() -> None:
    first, second = read_facts("400 درهم").quantities, read_facts("300 درهم").quantities
    assert may_follow(value("700 درهم"), [[*first, *second]])
    assert not may_follow(value("700 درهم"), [first, second])
    assert may_follow(value("800 درهم"), [first, read_facts("2 من الشركاء").quantities])


def test_parts_of_units_and_days_of_every_month_are_read_in_english() -> None:
    assert are_same(value("half a day"), value("12 ساعة"))
    assert are_same(value("three quarters of an hour"), value("45 دقيقة"))
    assert are_same(value("the 3rd of each month"), value("اليوم الثالث من كل شهر"))
    assert not read_facts("Call at once.").quantities
    assert value("once a week").dimension == "times"


def test_hijri_dates_are_read_in_english() -> None:
    found = read_facts("From 12 Safar to Dhu al-Qi'dah 1446, not 31 Rajab 1446.").quantities
    assert [one.dimension for one in found if one.dimension.startswith("hijri")] == [
        "hijri day of the year",
        "hijri calendar month",
    ]


def test_words_of_another_script_stand_among_arabic_ones() -> None:
    assert any(word.text == "ledgerly" for word in read_facts("رموز Ledgerly الجديدة").telling)
