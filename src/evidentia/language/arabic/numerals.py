"""Arabic numbers in words: "ثلاثة وعشرون", "مئة وخمسون ألفًا", "نصف مليون", "الخامسة والعشرون".

Words are folded. Both genders and all cases are read. What follows with an "and" belongs to a
number only where it makes one number of the two: "ثلاثة وأربعة" are two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from evidentia.language.arabic.words import Token
from evidentia.language.lexicon import word_list


def _table(text: str) -> dict[str, float]:
    """Return the number of each word; a line has a number and its words."""
    lines = (line.split() for line in text.strip().splitlines())
    return {word: float(number) for number, *names in lines for word in names}


_ONES: Final = _table("""
1 واحد واحده واحدا
2 اثنان اثنين اثنتان اثنتين اثنا اثني اثنتا اثنتي
3 ثلاث ثلاثه ثلاثا
4 اربع اربعه اربعا
5 خمس خمسه خمسا
6 ست سته ستا
7 سبع سبعه سبعا
8 ثمان ثماني ثمانيه ثمانيا
9 تسع تسعه تسعا
""")
_TEN: Final = _table("10 عشر عشره عشرا")
_ONE_AND_TEN: Final = word_list("احد احدي")
_TENS: Final = _table("""
20 عشرون عشرين
30 ثلاثون ثلاثين
40 اربعون اربعين
50 خمسون خمسين
60 ستون ستين
70 سبعون سبعين
80 ثمانون ثمانين
90 تسعون تسعين
""")
_HUNDREDS: Final = _table("""
100 ميه مايه
200 ميتان ميتين ميتا ميتي مايتان مايتين مايتا مايتي
""") | {
    one + hundred: value * 100
    for (one, value), hundred in product(
        zip(
            word_list("ثلاث اربع خمس ست سبع ثمان ثماني تسع"), (3, 4, 5, 6, 7, 8, 8, 9), strict=True
        ),
        ("ميه", "مايه"),
    )
}
_SCALES: Final = _table("""
1000 الف الفا الاف
1000000 مليون مليونا ملايين
1000000000 مليار مليارا مليارات بليون
1000000000000 تريليون
""")
_DUAL_SCALES: Final = _table("""
2000 الفان الفين الفا الفي
2000000 مليونان مليونين مليوني
2000000000 ملياران مليارين
""")
FRACTIONS: Final = _table("""
0.5 نصف نصفا
0.25 ربع ربعا
""") | {"ثلث": 1 / 3, "ثلثا": 2 / 3, "ثلثي": 2 / 3, "ثلثين": 2 / 3, "ثلثان": 2 / 3, "خمسي": 0.4}
"""Parts of a whole; a fifth is written like a five and is read as one."""
_PARTS: Final = {"ارباع": 4, "اخماس": 5, "اثلاث": 3, "اعشار": 10, "اثمان": 8}
ORDINALS: Final = _table("""
1 اول اولي واحده
2 ثاني ثانيه ثان
3 ثالث ثالثه
4 رابع رابعه
5 خامس خامسه
6 سادس سادسه
7 سابع سابعه
8 ثامن ثامنه
9 تاسع تاسعه
10 عاشر عاشره
11 حادي حاديه
""")
_FIFTHS: Final = "خمسا"
"""Two fifths of something, or a five that tens follow."""
_ELEVEN: Final = 11
_HUNDRED: Final = 100
_BEFORE: Final = ("ال", "لل", "بال", "كال", "وال", "فال", "ولل", "وبال", "و", "ف", "ب", "ل", "ك")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in words: its value, how many tokens it takes, and whether it is a rank."""

    value: float
    length: int
    ordinal: bool = False


def looked_up(word: str, *tables: Mapping[str, float], joined: bool | None = None) -> float | None:
    """Return a word's number, without article and particles; `joined` asks for an "and" before it.

    >>> looked_up("والعشرين", {"عشرين": 20.0}, joined=True)
    20.0
    """
    for before in ("", *_BEFORE):
        name = word.removeprefix(before)
        if len(name) + len(before) != len(word) or (
            joined is not None and before.startswith("و") != joined
        ):
            continue
        for table in tables:
            if name in table:
                return table[name]
    return None


def read_number(found: Sequence[Token], at: int) -> Number | None:
    """Return the number in words that begins at a place, the longest there is."""
    group = _group(found, at, joined=None)
    if group is None:
        return _ordinal(found, at)
    value, end = group
    scale = _scale(found, end)
    if scale:
        total, end = value * scale, end + 1
        more = _joined_number(found, end, scale)
        return Number(total + more[0], more[1] - at) if more else Number(total, end - at)
    return Number(value, end - at)


def _joined_number(found: Sequence[Token], at: int, below: float) -> tuple[float, int] | None:
    """Return the smaller number that an "and" adds to thousands or millions."""
    group = _group(found, at, joined=True)
    if group is None:
        return None
    value, end = group
    scale = _scale(found, end)
    if scale:
        value, end = value * scale, end + 1
        more = _joined_number(found, end, scale)
        if more:
            value, end = value + more[0], more[1]
    return (value, end) if value < below else None


def _scale(found: Sequence[Token], at: int) -> float | None:
    return looked_up(found[at].text, _SCALES, joined=False) if _is_word(found, at) else None


def _is_word(found: Sequence[Token], at: int) -> bool:
    return at < len(found) and found[at].kind == "word"


def _group(found: Sequence[Token], at: int, *, joined: bool | None) -> tuple[float, int] | None:
    """Return a number below a thousand, a scale alone, or a part, and where it ends."""
    if not _is_word(found, at):
        return None
    word = found[at].text
    scale = looked_up(word, _DUAL_SCALES, _SCALES, joined=joined)
    if scale is not None:
        return _below(found, at, scale)
    hundreds = looked_up(word, _HUNDREDS, joined=joined)
    if hundreds is not None:
        more = _tens(found, at + 1, joined=True)
        return (hundreds + more[0], more[1]) if more else (hundreds, at + 1)
    part = looked_up(word, FRACTIONS, joined=joined)
    return _tens(found, at, joined=joined) if part is None else (part, at + 1)


def _below(found: Sequence[Token], at: int, value: float) -> tuple[float, int]:
    """Return a scale that stands alone, "ألف", with what an "and" adds to it."""
    more = _joined_number(found, at + 1, value)
    return (value + more[0], more[1]) if more else (value, at + 1)


def _tens(found: Sequence[Token], at: int, *, joined: bool | None) -> tuple[float, int] | None:
    """Return a number below a thousand that ones or tens begin, and where it ends."""
    if not _is_word(found, at):
        return None
    tens = looked_up(found[at].text, _TENS, _TEN, joined=joined)
    if tens is not None:
        return tens, at + 1
    ones = looked_up(found[at].text, _ONES, joined=joined)
    if ones is None:
        return _eleven(found, at, joined=joined)
    longer = _with_ones(found, ones, at + 1) if _is_word(found, at + 1) else None
    if longer is None and found[at].text == _FIFTHS:
        return None
    return longer or (ones, at + 1)


def _with_ones(found: Sequence[Token], ones: float, at: int) -> tuple[float, int] | None:
    """Return what ones make with the word behind them: teens, parts, tens, hundreds."""
    following = found[at].text
    if following in _TEN:
        return ones + 10, at + 1
    parts = _PARTS.get(following.removeprefix("ال"))
    if parts:
        return ones / parts, at + 1
    tens = looked_up(following, _TENS, joined=True)
    if tens is not None:
        return ones + tens, at + 1
    if _HUNDREDS.get(following) != _HUNDRED:
        return None
    more = _tens(found, at + 1, joined=True)  # "ثلاث مئة"
    return (ones * _HUNDRED + more[0], more[1]) if more else (ones * _HUNDRED, at + 1)


def _eleven(found: Sequence[Token], at: int, *, joined: bool | None) -> tuple[float, int] | None:
    """Return eleven, whose "one" means "one of" where it stands alone."""
    one = looked_up(found[at].text, dict.fromkeys(_ONE_AND_TEN, 1.0), joined=joined)
    is_eleven = one and _is_word(found, at + 1) and found[at + 1].text in _TEN
    return (float(_ELEVEN), at + 2) if is_eleven else None


def _ordinal(found: Sequence[Token], at: int) -> Number | None:
    """Return the rank that begins at a place: "الرابع عشر", "السابعة والعشرين"."""
    if not _is_word(found, at):
        return None
    value = looked_up(found[at].text, ORDINALS)
    if value is None:
        return None
    if _is_word(found, at + 1):
        following = found[at + 1].text
        if following in _TEN:
            return Number(value % 10 + 10, 2, ordinal=True)
        tens = looked_up(following, _TENS, joined=True)
        if tens is not None:
            return Number(value % 10 + tens, 2, ordinal=True)
    return None if value == _ELEVEN else Number(value, 1, ordinal=True)
