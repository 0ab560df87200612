"""Towns and countries by their Arabic and English names, where the two are certain."""

from typing import Final

from evidentia.language.arabic.words import bare_forms, folded, tokens

_TOWNS: Final = """
Riyadh الرياض, Jeddah جدة, Dammam الدمام, Mecca مكة, Taif الطائف, Tabuk تبوك, Abha أبها,
Buraidah بريدة, Jubail الجبيل, Yanbu ينبع, Khobar الخبر, Dubai دبي, Sharjah الشارقة, Ajman
عجمان, Fujairah الفجيرة, Doha الدوحة, Manama المنامة, Muharraq المحرق, Salalah صلالة, Sohar
صحار, Nizwa نزوى, Amman عمّان, Irbid إربد, Aqaba العقبة, Zarqa الزرقاء, Beirut بيروت, Tripoli
طرابلس, Sidon صيدا, Baalbek بعلبك, Byblos جبيل, Zahle زحلة, Damascus دمشق, Aleppo حلب, Homs حمص,
Latakia اللاذقية, Tartus طرطوس, Baghdad بغداد, Basra البصرة, Mosul الموصل, Erbil أربيل, Kirkuk
كركوك, Najaf النجف, Karbala كربلاء, Cairo القاهرة, Alexandria الإسكندرية, Giza الجيزة, Luxor
الأقصر, Aswan أسوان, Suez السويس, Ismailia الإسماعيلية, Tanta طنطا, Mansoura المنصورة, Damietta
دمياط, Hurghada الغردقة, Benghazi بنغازي, Misrata مصراتة, Sabha سبها, Sfax صفاقس, Sousse سوسة,
Monastir المنستير, Mahdia المهدية, Kairouan القيروان, Bizerte بنزرت, Gabes قابس, Oran وهران,
Constantine قسنطينة, Annaba عنابة, Rabat الرباط, Casablanca الدارالبيضاء, Fez فاس, Marrakesh
مراكش, Marrakech مراكش, Tangier طنجة, Agadir أكادير, Meknes مكناس, Oujda وجدة, Tetouan تطوان,
Khartoum الخرطوم, Omdurman أمدرمان, Sanaa صنعاء, Aden عدن, Taiz تعز, Gaza غزة, Jerusalem القدس,
Ramallah رامالله, Nablus نابلس, Hebron الخليل, Salmiya السالمية, Jahra الجهراء, Hawalli حولي,
London لندن, Manchester مانشستر, Birmingham برمنغهام, Glasgow غلاسكو, Edinburgh إدنبرة, Dublin
دبلن, Paris باريس, Lyon ليون, Marseille مرسيليا, Berlin برلين, Munich ميونخ, Munich ميونيخ,
Hamburg هامبورغ, Frankfurt فرانكفورت, Madrid مدريد, Barcelona برشلونة, Lisbon لشبونة, Rome روما,
Milan ميلانو, Istanbul إسطنبول, Ankara أنقرة, Geneva جنيف, Zurich زيورخ, Vienna فيينا, Brussels
بروكسل, Amsterdam أمستردام, Stockholm ستوكهولم, Oslo أوسلو, Copenhagen كوبنهاغن, Warsaw وارسو,
Athens أثينا, Moscow موسكو, Tehran طهران, Karachi كراتشي, Delhi دلهي, Mumbai مومباي, Tokyo
طوكيو, Osaka أوساكا, Seoul سيول, Beijing بكين, Shanghai شنغهاي, Bangkok بانكوك, Jakarta جاكرتا,
Sydney سيدني, Melbourne ملبورن, Toronto تورونتو, Montreal مونتريال, Vancouver فانكوفر, Ottawa
أوتاوا, Boston بوسطن, Chicago شيكاغو, Houston هيوستن, Nairobi نيروبي, Lagos لاغوس, Rotterdam
روتردام, Leeds ليدز, Bristol بريستول
"""
_COUNTRIES: Final = """
Egypt مصر, Jordan الأردن, Lebanon لبنان, Syria سوريا, Syria سورية, Iraq العراق, Morocco المغرب,
Algeria الجزائر, Libya ليبيا, Sudan السودان, Yemen اليمن, Qatar قطر, Bahrain البحرين, Kuwait
الكويت, Palestine فلسطين, Turkey تركيا, Iran إيران, India الهند, Pakistan باكستان, China الصين,
Japan اليابان, Germany ألمانيا, France فرنسا, Spain إسبانيا, Italy إيطاليا, Britain بريطانيا,
Ireland إيرلندا, Canada كندا, Russia روسيا, Switzerland سويسرا, Austria النمسا, Belgium بلجيكا,
Netherlands هولندا, Sweden السويد, Norway النرويج, Denmark الدنمارك, Greece اليونان, Portugal
البرتغال, Poland بولندا, Brazil البرازيل, Mexico المكسيك, Australia أستراليا, Indonesia
إندونيسيا, Malaysia ماليزيا, Kenya كينيا, Nigeria نيجيريا, Ethiopia إثيوبيا
"""
_OTHER_WORDS: Final = frozenset(
    map(folded, ("فاس", "حلب", "عدن", "الخليل", "قطر", "الخبر", "ليون"))
)
"""Names that are other words as well, and are read only in their own spelling with a capital."""


def _table() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for kind, listed in (("town", _TOWNS), ("country", _COUNTRIES)):
        for pair in listed.split(","):
            english, arabic = pair.split()
            found[english.lower()] = (kind, english)
            name = folded(arabic)
            if name not in _OTHER_WORDS:
                found[name] = found[name.removeprefix("ال")] = (kind, english)
    return found


_PLACES: Final = _table()


def places_of(text: str) -> frozenset[tuple[str, str]]:
    """Return the towns and countries that a text names, each with its kind, by English names."""
    return frozenset(
        _PLACES[form]
        for token in tokens(text)
        if token.kind in {"word", "other"}
        for form in (bare_forms(token.text) if token.kind == "word" else (token.text,))
        if form in _PLACES
    )
