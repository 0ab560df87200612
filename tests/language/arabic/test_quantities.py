# ruff: noqa: RUF001 - Arabic numbers and dates are what is read here
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.arabic.quantities import find_arabic_quantities
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import Quantity, compare

DAY = 86_400.0
HOUR = 3_600.0


def only(text: str) -> Quantity:
    (quantity,) = find_arabic_quantities(text)
    return quantity


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ثلاثة وعشرون", 23),
        ("ثلاثٌ وعشرون", 23),
        ("مئة وخمسون ألفًا", 150_000),
        ("ألف وخمسمئة", 1_500),
        ("ألفان وخمسمائة", 2_500),
        ("ألفان", 2_000),
        ("ألف", 1_000),
        ("ثلاثة ملايين ومئتا ألف وخمسون", 3_200_050),
        ("مليون ومئة ألف وخمسة", 1_100_005),
        ("نصف مليون", 500_000),
        ("خمسة عشر", 15),
        ("اثنتي عشرة", 12),
        ("أحد عشر", 11),
        ("ثماني", 8),
        ("سبعمئة وعشرين", 720),
        ("ثلاث مئة", 300),
        ("خمس مئة وعشرة", 510),
        ("ستة آلاف", 6_000),
        ("ثلاثة أرباع", 0.75),
        ("ثلثي", 2 / 3),
        ("ربع", 0.25),
        ("مئتين", 200),
        ("مئة", 100),
        ("ثلاثة وربع", 3.25),
        ("عشرين", 20),
        ("٣٫٥", 3.5),
        ("١٬٥٠٠", 1_500),
        ("1,500.50", 1_500.5),
        ("45 ألف", 45_000),
        ("4.2 مليون", 4_200_000),
        ("7 ونصف", 7.5),
        ("مليونان ومئة ألف", 2_100_000),
    ],
)
def test_numbers_are_read_in_words_and_digits(text: str, value: float) -> None:
    found = only(text)
    assert found.dimension == "number"
    assert found.value == pytest.approx(value)


def test_two_numbers_with_an_and_are_two() -> None:
    assert [found.value for found in find_arabic_quantities("ثلاثة وأربعة")] == [3, 4]
    assert [found.value for found in find_arabic_quantities("خمسة آلاف وستة ملايين")] == [5e3, 6e6]


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "dimension", "value", "written"),
    [
        ("يومان", "time", 2 * DAY, "يومان"),
        ("لمدة يومين", "time", 2 * DAY, "يومين"),
        ("شهرين", "months", 2, "شهرين"),
        ("مرتين", "times", 2, "مرتين"),
        ("يومي عمل", "working time", 2 * DAY, "يومي عمل"),
        ("أسبوعي عمل", "working time", 10 * DAY, "أسبوعي عمل"),
        ("3 أسابيع عمل", "working time", 15 * DAY, "3 أسابيع عمل"),
        ("يوم عمل واحد", "working time", DAY, "يوم عمل واحد"),
        ("الثامنة والثالثة", "ordinal", 8, "الثامنة"),
        ("يومين عمل", "working time", 2 * DAY, "يومين عمل"),
        ("درهمين", "money aed", 2, "درهمين"),
        ("دينارين كويتيين", "money dinar", 2, "دينارين"),
        ("سنتين ونصف", "months", 30, "سنتين ونصف"),
        ("أربعة عشر يومًا", "time", 14 * DAY, "أربعة عشر يومًا"),
        ("١٤ يوماً", "time", 14 * DAY, "١٤ يوماً"),
        ("10 أيام عمل", "working time", 10 * DAY, "10 أيام عمل"),
        ("ثلاثة أسابيع", "time", 21 * DAY, "ثلاثة أسابيع"),
        ("سنة ونصف", "months", 18, "سنة ونصف"),
        ("نصف سنة", "months", 6, "نصف سنة"),
        ("ثلث ساعة", "time", 1_200, "ثلث ساعة"),
        ("أسبوعان ويوم", "time", 15 * DAY, "أسبوعان ويوم"),
        ("ساعة وعشرون دقيقة", "time", 4_800, "ساعة وعشرون دقيقة"),
        ("ساعتان وعشر دقائق", "time", 2 * HOUR + 600, "ساعتان وعشر دقائق"),
        ("خلال أسبوع", "time", 7 * DAY, "أسبوع"),
        ("بأسبوع", "time", 7 * DAY, "بأسبوع"),
        ("يُحتجز أسبوعًا", "time", 7 * DAY, "أسبوعًا"),
        ("دقيقة كاملة", "time", 60, "دقيقة"),
        ("شهر واحد", "months", 1, "شهر واحد"),
        ("الأيام الخمسة", "time", 5 * DAY, "الأيام الخمسة"),
        ("مرة كل أسبوع", "times", 1, "مرة"),
        ("مرة في السنة", "times", 1, "مرة"),
        ("800 ريال", "money sar", 800, "800 ريال"),
        ("800 ريال قطري", "money qar", 800, "800 ريال قطري"),
        ("خمسة دنانير", "money dinar", 5, "خمسة دنانير"),
        ("١٥٬٠٠٠ دينار عراقي", "money iqd", 15_000, "١٥٬٠٠٠ دينار عراقي"),
        ("تسعة جنيهات إسترلينية ونصف", "money gbp", 9.5, "تسعة جنيهات إسترلينية ونصف"),
        ("$ 50 فقط لا غير", "money usd", 50, "$ 50"),
        ("50 USD للطلب", "money usd", 50, "50 USD"),
        ("خمسة عشر في المئة", "percent", 15, "خمسة عشر في المئة"),
        ("15 بالمئة", "percent", 15, "15 بالمئة"),
        ("٩٫٥٪", "percent", 9.5, "٩٫٥٪"),
        ("3 نقاط مئوية", "points", 3, "3 نقاط مئوية"),
        ("30 درجة مئوية", "celsius", 30, "30 درجة مئوية"),
        ("٣٠ مئوية", "celsius", 30, "٣٠ مئوية"),
        ("90 درجة", "celsius", 90, "90 درجة"),
        ("5 كغ", "mass", 5_000, "5 كغ"),
        ("خمسة كيلومترات", "length", 5_000, "خمسة كيلومترات"),
        ("240 متراً مربعاً", "area", 240, "240 متراً مربعاً"),
        ("240 م²", "area", 240, "240 م²"),
        ("3 أمتار مكعبة", "volume", 3_000, "3 أمتار مكعبة"),
        ("20 GB للطالب الواحد", "bytes", 2e10, "20 GB"),
        ("سن الستين", "months", 720, "الستين"),
        ("دون الثامنة عشرة", "months", 216, "الثامنة عشرة"),
        ("العشرين من عمره", "months", 240, "العشرين"),
        ("العاشر من كل شهر", "day of the month", 10, "العاشر"),
        ("المرة الثالثة", "ordinal", 3, "الثالثة"),
        ("السابع والعشرين", "ordinal", 27, "السابع والعشرين"),
        ("الثانية عشرة", "ordinal", 12, "الثانية عشرة"),
    ],
)
def test_a_quantity_has_its_unit(text: str, dimension: str, value: float, written: str) -> None:
    found = [one for one in find_arabic_quantities(text) if one.dimension != "number"]
    assert [(one.dimension, one.text) for one in found[:1]] == [(dimension, written)]
    assert found[0].value == pytest.approx(value)


@tiers.one_test
@pytest.mark.parametrize(
    "text",
    [
        "المادة (٤) من العقد",
        "الوحدة رقم 305",
        "على الرقم 800 62772",
        "الوحدة GT-1",
        "الخط 12 أيام الأسبوع",
        "9.100 درهم",
        "007",
        "12,34",
        "في المئة",
        "أحد الموظفين",
        "يوم العمل",
        "خُمسا القسط",
        "الحادي",
        "مرة أخرى",
        "اليومي",
        "$ السعر",
        "$ 9.100 للطلب",
        "#5",
    ],
)
def test_names_and_what_reads_in_two_ways_are_no_quantities(text: str) -> None:
    assert not find_arabic_quantities(text)


def test_a_unit_is_shared_by_the_numbers_before_it() -> None:
    found = find_arabic_quantities("المدد 3 و6 و12 شهرًا")
    assert [(one.dimension, one.value) for one in found] == [("months", n) for n in (3, 6, 12)]
    found = find_arabic_quantities("بين ٣٠ - ٤٤ مل")
    assert [one.dimension for one in found] == ["volume", "volume"]


def test_months_and_days_are_not_added_up() -> None:
    found = find_arabic_quantities("أربعة أشهر وعشرة أيام")
    assert [one.dimension for one in found] == ["months", "time"]


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("لا يتجاوز 10 أيام", "at_most"),
        ("على ألا تزيد على 10 أيام", "at_most"),
        ("لا يقل عن 10 أيام", "at_least"),
        ("10 أيام على الأقل", "at_least"),
        ("10 أيام على الأكثر", "at_most"),
        ("بحد أقصى 10 أيام", "at_most"),
        ("الحد الأدنى 10 أيام", "at_least"),
        ("أكثر من 10 أيام", "more_than"),
        ("لا يجوز العمل أكثر من 10 أيام", "at_most"),
        ("لا يجوز العمل أقل من 10 أيام", "at_least"),
        ("نحو 10 أيام", "about"),
        ("10 أيام تقريبا", "about"),
        ("لا يتجاوز السعر، وهو 10 أيام", "exact"),
        ("10 أيام", "exact"),
    ],
)
def test_bounds_are_read_before_and_behind(text: str, bound: str) -> None:
    assert find_arabic_quantities(text)[-1].bound == bound


@pytest.mark.parametrize(
    ("text", "per"),
    [
        ("400 درهم شهريًا", "month"),
        ("400 درهم في السنة", "year"),
        ("400 درهم عن كل يوم", "day"),
        ("400 درهم لكل ساعة", "hour"),
        ("400 درهم / شهر", "month"),
        ("400 درهم / طلب", ""),
        ("400 درهم كل طلب", ""),
        ("400 درهم في الطلب الواحد كل", ""),
        ("400 درهم، شهريًا", ""),
        ("400 درهم عن كل", ""),
        ("400 درهم /", ""),
    ],
)
def test_a_rate_knows_its_period(text: str, per: str) -> None:
    assert find_arabic_quantities(text)[0].per == per


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("في 14 يناير 2024", "date", date(2024, 1, 14).toordinal()),
        ("في الرابع عشر من شهر كانون الثاني 2024", "date", date(2024, 1, 14).toordinal()),
        ("أول فبراير 2024", "date", date(2024, 2, 1).toordinal()),
        ("11 غشت 2025م", "date", date(2025, 8, 11).toordinal()),
        ("15/9/2025", "date", date(2025, 9, 15).toordinal()),
        ("2025-09-15", "date", date(2025, 9, 15).toordinal()),
        ("1 رمضان 1446هـ", "hijri date", date(2025, 3, 1).toordinal()),
        ("1/9/1446", "hijri date", date(2025, 3, 1).toordinal()),
        ("رمضان 1446", "hijri calendar month", 1446 * 12 + 9),
        ("5 ذي الحجة", "hijri day of the year", 1205),
        ("في رمضان", "hijri month of the year", 9),
        ("تشرين الثاني ٢٠٢٤", "calendar month", 2024 * 12 + 11),
        ("في أكتوبر من عام 2024", "calendar month", 2024 * 12 + 10),
        ("31 مارس", "day of the year", date(2000, 3, 31).toordinal()),
        ("في مارس", "month of the year", 3),
        ("عام 2024", "year", 2024),
        ("من عام 2024", "year", 2024),
        ("في 2023", "year", 2023),
        ("1446هـ", "hijri year", 1446),
        ("يوم الأحد", "weekday", 6),
        ("كل جمعة", "weekday", 4),
        ("الساعة 17:30", "clock", 1_050),
        ("17:30", "clock", 1_050),
        ("الثامنة صباحًا", "clock", 480),
        ("التاسعة والنصف صباحا", "clock", 570),
        ("الثامنة إلا ربعًا مساءً", "clock", 1_185),
        ("الثامنة إلا خمس دقائق", "clock", 475),
        ("السابعة وخمس وأربعين دقيقة", "clock", 465),
        ("الواحدة ظهرا", "clock", 780),
        ("الثانية عشرة ظهرا", "clock", 720),
        ("العاشرة ليلا", "clock", 1_320),
        ("الخامسة بعد الظهر", "clock", 1_020),
        ("العاشرة قبل الظهر", "clock", 600),
        ("5 مساء", "clock", 1_020),
        ("الساعة الثالثة", "clock of twelve", 180),
    ],
)
def test_dates_and_times_are_read_in_both_calendars(
    text: str, dimension: str, value: float
) -> None:
    found = only(text)
    assert (found.dimension, found.value) == (dimension, value)


@pytest.mark.parametrize(
    "text",
    [
        "31 فبراير 2024",
        "31/2/2024",
        "2/خ/2024",
        "في آب وما بعده",
        "أحد أيامه",
        "الساعة",
        "الساعة المعلقة",
        "1446",
    ],
)
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert not any(
        found.dimension not in {"number", "time"} for found in find_arabic_quantities(text)
    )


@pytest.mark.parametrize(
    "text",
    [
        "5 رمضان 2024",
        "الساعة 25",
        "17:75",
        "الثامنة إلا",
        "الثامنة إلا قليلا",
        "الثامنة وستون دقيقة",
        "الثامنة وخمس ساعات",
        "الثامنة والثالثة",
    ],
)
def test_what_reads_in_part_is_no_whole_date(text: str) -> None:
    assert not any(found.dimension in {"date", "clock"} for found in find_arabic_quantities(text))


def test_a_number_with_a_unit_is_no_year() -> None:
    assert only("٢٠٠٠ ملغ").dimension == "mass"


def test_the_same_values_are_the_same_in_digits_and_words() -> None:
    (words,) = find_quantities("مئة وعشرون يومًا")
    (digits,) = find_quantities("١٢٠ يوماً")
    assert compare(words, digits) == "same"


def test_ranks_and_weekdays_are_no_quantities_of_a_statement() -> None:
    assert not find_quantities("المرة الأولى يوم الأحد")


@given(st.text(alphabet="ابتثلاوعشرونميهخمس ٠١٢٣٫٬/:-%،.", max_size=60))
def test_any_text_gives_quantities_in_order_that_quote_it(text: str) -> None:
    found = find_arabic_quantities(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
