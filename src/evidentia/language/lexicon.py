"""The lexicon: closed classes of words and what each word in them says, each table once.

Words are in lower case and as they stand; what is compared by stems is made of them elsewhere.
"""

import re
from collections.abc import Iterable
from typing import Final


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


def word_list(text: str) -> tuple[str, ...]:
    """Return the words of a list that is written as one text, in their order."""
    return tuple(text.split())


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for one of the names, the longer ones first."""
    return "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))


MODALS: Final = word_set("can could may might must shall should will would")
IS: Final = word_set("is are was were")
BE: Final = IS | word_set("be been being")
HAVE: Final = word_set("has have had")
DO: Final = word_set("do does did")
"""The verbs that stand before others."""

QUERY_WORDS: Final = (
    MODALS - word_set("may might must")
    | BE - {"being"}
    | HAVE
    | DO
    | word_set(
        "a an and any as at by for from how i if in it its me my no not of on or our so than that "
        "the their them then there these they this those to we what when where which who whom why "
        "with you your"
    )
)
"""English words of a query that tell nothing of what is asked for."""
ARABIC_QUERY_WORDS: Final = word_set("في من على عن الى ما هل هو هي ان او كم كيف متى اين لا هذا هذه")
"""The same in Arabic, in the spelling that search terms have."""
STOP_WORDS: Final = (
    QUERY_WORDS
    | MODALS
    | BE
    | word_set(
        "but am he she his her us having here whose all each every some such nor only own same too "
        "very also into about over under up down out off per via within during between both more "
        "most other another just s t upon unless until while because cannot whether least less "
        "fewer في من إلى على عن أن إن هذا هذه التي الذي كان ما لا أو و ثم قد"
    )
)
"""Words that carry no meaning by themselves."""
ENGLISH: Final = word_set(
    "the of and to is are must shall may be for with by from this that their not has have can "
    "should were get gets receive receives it they you we which who or if than these those its "
    "employees employee staff company policy days weeks months year years leave work paid time"
)
"""Words by which a text is taken for English, of which alone it is known how it limits."""

POINTING: Final = word_set("it they he she this these those such its their")
"""Words that stand for something said before."""

DETERMINERS: Final = word_set("the a an this that its their his her our your my each every any no")
"""How a noun's phrase begins."""
PREPOSITIONS: Final = word_set(
    "of in on at for by with from to under over into onto within without before after during per "
    "about between among against through via upon since until as than like behind beside above "
    "below across along around near outside inside off towards toward despite except including "
    "throughout"
)
"""Words that tie a noun's phrase to what stands before it."""
TIMES: Final = word_set(
    "second seconds minute minutes hour hours day days week weeks month months quarter year years "
    "time times percent"
)
"""What time and shares are counted in; "they" hardly ever stands for it."""

NOT: Final = word_set("not never")
NONE: Final = word_set("no none neither nor without nothing nobody nowhere non")
NEGATIONS: Final = (
    NOT
    | NONE
    | word_set(
        "cannot hardly scarcely false untrue nicht kein keine keinen keinem keiner nie niemals "
        "ohne pas jamais sans aucun aucune nunca sin não niet geen inte ingen нет не без "
        "لا ليس ليست لم لن غير بدون 不 没 沒 无 無 非 未 勿"
    )
)
"""Words that turn a statement round."""

MORE: Final = word_list("more greater longer later larger higher")
LESS: Final = word_list("less fewer earlier sooner shorter smaller lower")
NO: Final = r"(?:no|(?:not|cannot|can't|never)(?: to)?(?: be)?)"
"""What stands before "more than" in a turn of phrase that sets a bound, for a pattern."""
EXCEED: Final = r"(?:not|cannot|can't|never)(?: to)? exceed(?:ing)?"
BOUNDING: Final = rf"(?:{NO} (?:{'|'.join((*MORE, *LESS))}) than|{EXCEED})"
"""A turn of phrase with a negation in it that sets a bound and denies nothing, for a pattern."""

UNIVERSAL: Final = word_set("all every each any")
AMOUNTS: Final = {
    "no": 0, "none": 0, "neither": 0, "few": 1, "some": 2, "several": 2, "certain": 2, "many": 3,
    "most": 4, "all": 5, "every": 5, "each": 5, "both": 5,
}  # fmt: skip
FREQUENCIES: Final = {
    "never": 0, "rarely": 1, "seldom": 1, "sometimes": 2, "occasionally": 2, "often": 3,
    "frequently": 3, "usually": 3, "generally": 3, "mostly": 3, "always": 5,
}  # fmt: skip
"""Words that say how many and how often, the more the higher the number."""
ONLY: Final = word_set("only solely exclusively sole")

ALLOWED, ADVISED, REQUIRED = 1, 2, 3
FORCES: Final = {
    "may": ALLOWED, "might": ALLOWED, "could": ALLOWED, "can": ALLOWED, "cannot": ALLOWED,
    "allowed": ALLOWED, "permitted": ALLOWED, "prohibited": ALLOWED, "forbidden": ALLOWED,
    "banned": ALLOWED, "should": ADVISED, "must": REQUIRED, "shall": REQUIRED,
    "required": REQUIRED, "obliged": REQUIRED,
}  # fmt: skip
"""Words that say with what force something is so; some of them deny it."""
DENIED_FORCES: Final = word_set("cannot prohibited forbidden banned")
UNSURE: Final = word_set("may might could possibly perhaps probably")

CARDINALS: Final = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
"""The numbers up to nineteen, each at its own place."""
ONES: Final = CARDINALS[1:10]
TENS: Final = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
SMALL_NUMBERS: Final = {word: value for value, word in enumerate(CARDINALS)} | {
    word: value * 10 for value, word in enumerate(TENS, 2)
}
"""The numbers of one word below a hundred."""
LARGE_NUMBERS: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        word_list(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
        ),
        1,
    )
}
MULTIPLES: Final = {"once": 1, "twice": 2, "thrice": 3}
COUNTS: Final = MULTIPLES | {
    "double": 2, "triple": 3, "dozen": 12, "single": 1, "pair": 2, "couple": 2, "both": 2, "duo": 2,
    "trio": 3, "quartet": 4, "half": 0.5, "decade": 10, "century": 100,
}  # fmt: skip
"""Words that say a number without being one."""
ARABIC_WITH_FEMININE: Final = word_list("ثلاث أربع خمس ست سبع ثماني تسع عشر")
ARABIC_WITH_MASCULINE: Final = word_list("ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة")
"""The Arabic numbers from three to ten, as they stand with a feminine and a masculine noun."""

MONTH_NAMES: Final = word_list(
    "January February March April May June July August September October November December"
)
ARABIC_MONTH_NAMES: Final = word_list(
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"
)
HIJRI_MONTH_NAMES: Final = (
    "Muharram",
    "Safar",
    "Rabi' al-Awwal",
    "Rabi' al-Thani",
    "Jumada al-Ula",
    "Jumada al-Akhirah",
    "Rajab",
    "Sha'ban",
    "Ramadan",
    "Shawwal",
    "Dhu al-Qa'dah",
    "Dhu al-Hijjah",
)
ARABIC_HIJRI_MONTH_NAMES: Final = (
    "محرم",
    "صفر",
    "ربيع الأول",
    "ربيع الآخر",
    "جمادى الأولى",
    "جمادى الآخرة",
    "رجب",
    "شعبان",
    "رمضان",
    "شوال",
    "ذو القعدة",
    "ذو الحجة",
)
SHORT_MONTHS: Final = {
    name[:3].lower(): number for number, name in enumerate(MONTH_NAMES, 1) if len(name) > len("may")
} | {"sept": 9}
MONTHS: Final = {name.lower(): number for number, name in enumerate(MONTH_NAMES, 1)} | SHORT_MONTHS
"""The number of each month, by its name and by what is short for it."""
DAYS: Final = word_list("monday tuesday wednesday thursday friday saturday sunday")
PERIODS: Final = {
    "hour": "hour", "day": "day", "week": "week", "month": "month", "quarter": "quarter",
    "year": "year", "annum": "year", "hourly": "hour", "daily": "day", "weekly": "week",
    "monthly": "month", "quarterly": "quarter", "yearly": "year", "annually": "year",
}  # fmt: skip
"""What a rate is per, by the words that say so."""

_SAME: Final = (
    "before advance prior, employee staff worker personnel, request application, leave vacation, "
    "annual yearly annually, buy purchase, get obtain receive, allow permit, carryover carryforward"
)
SAME_WORDS: Final = {
    word: first
    for first, *others in (words.split() for words in _SAME.split(","))
    for word in others
}
"""Words taken for the same, with the one that stands for them; policies use each for one thing."""

_NATIONS: Final = """
afghanistan afghan, albania albanian, algeria algerian, america american us usa, argentina
argentine argentinian, armenia armenian, australia australian, austria austrian, bangladesh
bangladeshi, belgium belgian, bolivia bolivian, brazil brazilian, britain british briton england
english uk, bulgaria bulgarian, canada canadian, chile chilean, china chinese, colombia colombian,
croatia croatian, cuba cuban, czechia czech, denmark danish dane, egypt egyptian, estonia
estonian, ethiopia ethiopian, europe european, finland finnish finn, france french, germany
german, greece greek, hungary hungarian, iceland icelandic, india indian, indonesia indonesian,
iran iranian persian, iraq iraqi, ireland irish, israel israeli, italy italian, jamaica jamaican,
japan japanese, jordan jordanian, kenya kenyan, korea korean, kuwait kuwaiti, latvia latvian,
lebanon lebanese, libya libyan, lithuania lithuanian, malaysia malaysian, malta maltese, mexico
mexican, mongolia mongolian, morocco moroccan, nepal nepalese nepali, netherlands dutch holland,
nigeria nigerian, norway norwegian, pakistan pakistani, peru peruvian, philippines filipino
philippine, poland polish, portugal portuguese, qatar qatari, romania romanian, russia russian,
scotland scottish scots, senegal senegalese, serbia serbian, singapore singaporean, slovakia
slovak, slovenia slovenian, somalia somali, spain spanish spaniard, sudan sudanese, sweden swedish
swede, switzerland swiss, syria syrian, taiwan taiwanese, thailand thai, tunisia tunisian, turkey
turkish turk, uganda ugandan, ukraine ukrainian, venezuela venezuelan, vietnam vietnamese, wales
welsh, yemen yemeni
"""
NATIONS: Final = {
    name: number for number, names in enumerate(_NATIONS.split(",")) for name in names.split()
}
"""By a name of a country or its people, a number that is the same for all of its names."""

PERSONS: Final = word_set(
    "employee manager worker contractor customer client tenant landlord user student teacher "
    "patient doctor director officer supplier applicant candidate member owner buyer seller "
    "supervisor chair chairman president lawyer judge citizen resident person parent spouse"
)
"""What persons are called whom rules speak of, in the singular."""
READERS: Final = word_set(
    "employee staff worker personnel member customer user student resident participant people "
    "everyone everybody anyone"
)
"""Those whom rules are for, and who are not the other side of another's right or duty."""
GROUPS: Final = word_set(
    "employee staff worker manager contractor trainee intern customer client member student pupil "
    "teacher patient child children adult tenant user visitor applicant passenger driver person "
    "people parent"
)
"""Those whom a heading names as a group of their own."""
PLURALS: Final = word_set("people staff children personnel police women men")
"""Plurals without an -s."""
