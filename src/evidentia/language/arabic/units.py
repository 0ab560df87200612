"""Arabic units, currencies and periods, in folded words."""

from typing import Final

from evidentia.language.lexicon import word_list

_DAY: Final = 86_400.0

UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (dimension, factor)
    for dimension, factor, names in (
        ("time", 1.0, "ثانيه ثواني ثوان"),
        ("time", 60.0, "دقيقه دقايق"),
        ("time", 3_600.0, "ساعه ساعات"),
        ("time", _DAY, "يوم يوما ايام ليله ليال ليالي"),
        ("time", 7 * _DAY, "اسبوع اسبوعا اسابيع"),
        ("months", 1.0, "شهر شهرا اشهر شهور"),
        ("months", 12.0, "سنه سنوات سنين عام عاما اعوام"),
        ("length", 0.001, "ملم مم مليمتر مليمترا مليمترات ملليمتر"),
        ("length", 0.01, "سم سنتيمتر سنتيمترا سنتيمترات سنتمتر"),
        ("length", 1.0, "متر مترا امتار"),
        ("length", 1_000.0, "كم كيلومتر كيلومترا كيلومترات"),
        ("length", 1_609.344, "ميل ميلا اميال"),
        ("mass", 0.000_001, "ميكروغرام ميكروغراما ميكروغرامات ميكروجرام"),
        ("mass", 0.001, "ملغ ملغم مجم مليغرام مليغراما مليغرامات ملليغرام ملليجرام"),
        ("mass", 1.0, "غرام غراما غرامات جرام جراما جرامات"),
        ("mass", 1_000.0, "كغ كجم كغم كيلوغرام كيلوغراما كيلوغرامات كيلوجرام كيلوجراما كيلوجرامات"),
        ("mass", 1_000_000.0, "طن طنا اطنان"),
        ("volume", 0.001, "مل مليلتر ملليلتر مليلترا"),
        ("volume", 1.0, "لتر لترا لترات ليتر ليترا ليترات"),
        ("bytes", 1e3, "كيلوبايت"),
        ("bytes", 1e6, "ميغابايت ميجابايت"),
        ("bytes", 1e9, "غيغابايت جيجابايت غيغا جيجا"),
        ("bytes", 1e12, "تيرابايت"),
        ("bits", 1e3, "كيلوبت"),
        ("bits", 1e6, "ميغابت ميجابت"),
        ("bits", 1e9, "غيغابت جيجابت"),
        ("pressure", 1.0, "بار بارا"),
        ("voltage", 1.0, "فولت فولتا"),
        ("power", 1.0, "واط واطا"),
        ("power", 1e3, "كيلوواط كيلووات"),
        ("power", 1e6, "ميغاواط ميجاواط ميغاوات"),
        ("percent", 1.0, "% ‰"),
        ("times", 1.0, "مره مرات"),
    )
    for name in names.split()
}
"""Each unit's dimension and its factor to the dimension's base, as in `language.units`."""
DUALS: Final[dict[str, tuple[str, float]]] = {
    name: (dimension, 2 * factor)
    for dimension, factor, names in (
        ("time", 1.0, "ثانيتان ثانيتين"),
        ("time", 60.0, "دقيقتان دقيقتين"),
        ("time", 3_600.0, "ساعتان ساعتين ساعتي"),
        ("time", _DAY, "يومان يومين يومي ليلتان ليلتين"),
        ("time", 7 * _DAY, "اسبوعان اسبوعين اسبوعي"),
        ("months", 1.0, "شهران شهرين"),
        ("months", 12.0, "سنتان سنتين عامان عامين"),
        ("length", 1.0, "متران مترين"),
        ("length", 1_000.0, "كيلومتران كيلومترين"),
        ("mass", 1_000.0, "كيلوغرامان كيلوغرامين"),
        ("volume", 1.0, "لتران لترين"),
        ("times", 1.0, "مرتان مرتين"),
    )
    for name in names.split()
}
"""What is two by its ending alone."""
PLURALS: Final = frozenset(
    word_list("ثواني ثوان دقايق ساعات ايام ليال ليالي اسابيع اشهر شهور سنوات سنين اعوام مرات")
)
CURRENCIES: Final = {
    name: currency
    for currency, names in (
        ("usd", "دولار دولارا دولارات دولاران دولارين"),
        ("eur", "يورو"),
        ("sar", "ريال ريالا ريالات ريالان ريالين"),
        ("aed", "درهم درهما دراهم درهمان درهمين"),
        ("dinar", "دينار دينارا دنانير ديناران دينارين"),
        ("pound", "جنيه جنيها جنيهات جنيهان جنيهين"),
        ("lira", "ليره ليرات"),
        ("fils", "فلس فلسا فلوس"),
        ("halala", "هلله هللات"),
        ("piastre", "قرش قرشا قروش"),
    )
    for name in names.split()
}
DUAL_MONEY: Final = frozenset(name for name in CURRENCIES if name.endswith(("ان", "ين")))
NATIONS: Final = {
    (currency, nation): code
    for currency, nation, code in (
        ("sar", "سعودي", "sar"), ("sar", "قطري", "qar"), ("sar", "عماني", "omr"),
        ("sar", "يمني", "yer"), ("aed", "اماراتي", "aed"), ("aed", "مغربي", "mad"),
        ("dinar", "كويتي", "kwd"), ("dinar", "اردني", "jod"), ("dinar", "عراقي", "iqd"),
        ("dinar", "بحريني", "bhd"), ("dinar", "تونسي", "tnd"), ("dinar", "جزايري", "dzd"),
        ("dinar", "ليبي", "lyd"), ("pound", "مصري", "egp"), ("pound", "استرليني", "gbp"),
        ("pound", "سوداني", "sdg"), ("lira", "لبناني", "lbp"), ("lira", "سوري", "syp"),
        ("lira", "تركي", "try"), ("usd", "كندي", "cad"), ("usd", "امريكي", "usd"),
        ("usd", "استرالي", "aud"),
    )
}  # fmt: skip
"""Which currency it is, by the nation behind it; without one it is the nearest at hand."""
FAMILIES: Final = {
    "dinar": frozenset({"kwd", "jod", "iqd", "bhd", "tnd", "dzd", "lyd"}),
    "pound": frozenset({"egp", "gbp", "sdg"}),
    "lira": frozenset({"lbp", "syp", "try"}),
    "sar": frozenset({"qar", "omr", "yer"}),
    "aed": frozenset({"mad"}),
    "usd": frozenset({"cad", "aud"}),
}
"""The currencies that a name without a nation may stand for, besides itself."""
PERIODS: Final = {
    name: period
    for period, names in (
        ("hour", "ساعه"),
        ("day", "يوم يوميا يومي يوميه ليله"),
        ("week", "اسبوع اسبوعيا اسبوعيه"),
        ("month", "شهر شهريا شهري شهريه"),
        ("quarter", "فصل فصليا"),
        ("year", "سنه عام سنويا سنوي سنويه"),
    )
    for name in names.split()
}
"""What a rate is per, by the words that say so."""
ADVERBS: Final = frozenset(
    word_list("يوميا اسبوعيا شهريا سنويا فصليا شهريه شهري سنوي سنويه يومي يوميه اسبوعيه")
)
