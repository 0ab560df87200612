import pytest

import tiers
from evidentia.ledger.model import Verdict
from judges.asking import verdict

CLINICS = (
    "العيادة | الأيام | السعر | الطبيب",
    "القلب | الأحد والثلاثاء | 90 | د. هناء الحربي",
    "العظام | الاثنين | 70 | د. وائل صبري",
    "الجلدية | الأربعاء والخميس | 60 | د. مي العتيبي",
)
FLEET = (
    "المستودع | حافلات عادية | خارج الخدمة",
    "سوسة | 84 | 13",
    "المنستير | 61 | 9",
)
INCOME = ("المؤشر | 2023 | 2024", "المداخيل (مليون دينار) | 37.5 | 39", "السفرات الملغاة | 6% | 4%")
OUTAGES = ("الوحدة | السبب | المدة", "GT-1 | فحص دوري | 36", "GT-3 | نقص وقود | 11")


@pytest.mark.parametrize(
    ("claim", "rows"),
    [
        ("سعر الكشف في عيادة العظام 90 ريالاً.", CLINICS),
        ("سعر الكشف في عيادة العظام 75 ريالاً.", CLINICS),
        ("تعمل عيادة الجلدية يوم الأحد.", CLINICS),
        ("يعمل الدكتور وائل صبري في عيادة الجلدية.", CLINICS),
        ("خرجت من الخدمة في سوسة ثلاثون حافلة.", FLEET),
        ("في المستودع بمدينة المنستير 84 حافلة.", FLEET),
        ("The fuel shortage occurred on unit GT-1.", OUTAGES),
    ],
)
def test_what_another_row_has_contradicts_a_claim_about_a_row(
    claim: str, rows: tuple[str, ...]
) -> None:
    assert verdict(claim, *rows) is Verdict.CONTRADICTED


@tiers.one_test
@pytest.mark.parametrize(
    ("claim", "rows"),
    [
        ("سعر الكشف في عيادة العظام 70 ريالاً.", CLINICS),
        ("يعمل الدكتور وائل صبري في عيادة العظام.", CLINICS),
        ("عيادة القلب وعيادة العظام تعملان يوم الأحد.", CLINICS),
        ("سعر العيادة الجديدة 20 ريالاً.", CLINICS),
        ("سعر الكشفين في عيادة العظام 140 ريالاً لشخصين.", (*CLINICS, "لكل مريض 2 من المرافقين.")),
        ("المداخيل في 2024 كانت 39 مليون دينار.", INCOME),
        ("سعر الكشف في عيادة العظام 75 ريالاً.", CLINICS[1:]),
        ("في سوسة 3 محطات.", FLEET),
        ("في سوسة 5 لترات من زيت الحافلات العادية خارج الخدمة.", ("| |", "سوسة | زيت | ماء")),
        ("الكشف في عيادة العظام.", ("عيادة",)),
        ("حالة المستودع في سوسة 3 أيام.", ("المستودع | 2024", "سوسة | 9 محطات")),
        ("رقم الخط في سوسة 9 ريالات.", ("المستودع | السعر", "سوسة | مجاني")),
        ("في عيادة العظام 65 مقعداً.", CLINICS),
    ],
)
def test_a_row_that_may_be_meant_contradicts_nothing(claim: str, rows: tuple[str, ...]) -> None:
    assert verdict(claim, *rows) is not Verdict.CONTRADICTED
