"""Opposites in Arabic and English, of which at most one is so in the same place."""

from typing import Final

from evidentia.language.arabic.words import folded

_TABLE: Final = """
مجاني مجانا مجانية free | مدفوع مدفوعة بمقابل paid; إلزامي إلزامية إجباري إجبارية وجوبا
mandatory compulsory obligatory | اختياري اختيارية طوعي مستحسن optional voluntary; مسموح مسموحة
يسمح allowed permitted | ممنوع ممنوعة محظور محظورة يمنع يحظر prohibited forbidden banned; علني
علنية | سري سرية; شمالي شمالية northern | جنوبي جنوبية southern; شرقي شرقية eastern | غربي غربية
western; يرتفع ترتفع يزداد تزداد ارتفاع زيادة increase increases increased rise rises rose |
ينخفض تنخفض يخفف يتراجع انخفاض نقص decrease decreases decreased fall falls fell; كتابي كتابية
مكتوب خطي خطية written | شفهي شفوي شفهية oral verbal; مؤقت مؤقتة temporary | دائم دائمة
permanent; كامل كاملة full | جزئي جزئية partial; محلي محلية domestic | دولي دولية international;
يومي يومية يوميا daily | أسبوعي أسبوعية أسبوعيا weekly; يومي يومية يوميا daily | شهري شهرية
شهريا monthly; يومي يومية يوميا daily | سنوي سنوية سنويا annual annually yearly; أسبوعي أسبوعية
أسبوعيا weekly | شهري شهرية شهريا monthly; أسبوعي أسبوعية أسبوعيا weekly | سنوي سنوية سنويا
annual annually yearly; شهري شهرية شهريا monthly | سنوي سنوية سنويا annual annually yearly;
صباحا صباح morning | مساء evening; أعلى أكبر أكثر أطول أسرع higher more longer larger faster |
أقل أدنى أصغر أقصر أبطأ lower less shorter smaller slower; يفتح تفتح مفتوح مفتوحة open opens |
يغلق تغلق مغلق مغلقة يقفل closed closes; ساخن ساخنة hot | بارد باردة cold; يقبل تقبل مقبول
accepted | يرفض ترفض مرفوض rejected refused; متاح متاحة available | غير_متاح unavailable; منفرد
منفردا وحده alone | معا together; شامل شاملة شاملا يشمل تشمل include includes included including
contains | exclude excludes excluded excluding مستثنى مستثناة; يحتفظ يحفظ تحفظ محفوظ محفوظة keep
keeps kept | يرمى ترمى رمي يتلف تتلف discarded thrown; مجاني مجانية مجانا free | يدفع تدفع
يدفعون أجرة pay pays
"""
OPPOSITES: Final = tuple(
    (frozenset(map(folded, first.split())), frozenset(map(folded, second.split())))
    for first, second in (pair.split("|") for pair in _TABLE.split(";"))
)
"""The two sides of each pair, as folded words."""
