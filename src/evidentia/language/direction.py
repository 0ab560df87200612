"""Language and direction of a text, offline: scripts decide where they can, small words elsewhere.

A guess that is not clear is None: a wrong language is worse than none. Isolates keep the direction
of a text to itself.
"""

# ruff: noqa: RUF001 - the words of other scripts are what this module is made of

import re
import string
import unicodedata
from collections import Counter
from typing import Final, Literal

from evidentia.language.characters import ARABIC_VOWELS, TATWEEL, strip_invisible

Direction = Literal["ltr", "rtl"]

LEFT_TO_RIGHT: Final = "\u2066"
RIGHT_TO_LEFT: Final = "\u2067"
END: Final = "\u2069"
"""The isolates: a stretch from left to right, one from right to left, and the end of either."""
SAMPLE_SIZE: Final = 20_000
"""Code points looked at; more change neither answer."""

_MIN_LETTERS: Final = 12
_MIN_HITS: Final = 3
_MIN_SHARE: Final = 0.08
"""Small words make up a third of running text, and next to nothing of tables and lists of names."""
_MIN_LEAD: Final = 1.25
"""How many times the hits of the second language the first one needs."""
_MAIN_SHARE: Final = 0.5
_KANA_SHARE: Final = 0.05

_WORD = re.compile(r"[^\W\d_]+")
_ARABIC_MARKS = re.compile(f"[{TATWEEL}{ARABIC_VOWELS}]")

_RTL_CLASSES: Final = frozenset({"R", "AL"})

_SCRIPT_LANGUAGE: Final = {
    "HEBREW": "he",
    "GREEK": "el",
    "HANGUL": "ko",
    "THAI": "th",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
}

_SMALL_WORDS: Final = {
    "LATIN": {
        "en": "the of and to in is that for it was with as on are be this by or not have from "
        "which shall will may must any all their has an been at you we they a i he she his her "
        "its my our your but who when what had were would could can do does did there than into "
        "about if so",
        "fr": "le la les des et en un une du est que pour dans par sur au avec ne pas qui ce "
        "aux sont ou plus être leur cette ses il elle nous vous",
        "de": "der die das und in den von zu mit ist des für auf nicht ein eine dem sich als "
        "auch werden wird sind oder bei nach einer durch aus wenn kann zum zur",
        "es": "el la los las de y en que un una es por con para del se no al como más su sus "
        "lo este esta son o pero fue ser entre cuando",
        "it": "il la di che e per un una in non è con del della dei le gli si sono da al alla "
        "nel come anche più o ma questo essere delle",
        "pt": "o a os as de e em que um uma do da dos das para com não por se no na ao mais é "
        "são como ou pelo sua foi ser também",
        "nl": "de het een en van in is dat op te zijn met voor niet aan er ook als bij door of "
        "naar worden wordt uit deze dit kan om maar",
        "sv": "och i att det som en på är av för med den till inte ett om har de var ska kan "
        "från eller vid så men efter",
        "da": "og i at det som en på er af for med den til ikke et om har de var skal kan fra "
        "eller ved så men efter blev",
        "pl": "i w na z do nie się że jest to o jak po dla od przez są oraz za być ale lub "
        "który która które ich jego",
        "tr": "ve bir bu da de için ile olarak olan gibi daha çok ne en o ya veya kadar ancak "
        "sonra göre değil ise her",
        "id": "yang dan di ini itu dengan untuk dari pada dalam adalah tidak akan oleh atau "
        "sebagai juga karena dapat ke telah",
    },
    "ARABIC": {
        "ar": "في من على إلى أن التي الذي هذا هذه عن مع ما لا كان أو كل بعد قبل غير ذلك بين "
        "هو هي إذا حيث يجب يجوز وفي ومن خلال تم لم",
        "fa": "و در به از که این را با است برای آن یک خود تا بر هم نیز می شود شده باید های "
        "اند ما یا هر",
        "ur": "کے کی میں ہے اور سے کا کو اس نے پر یہ ہیں کہ بھی تو ایک کر جو تھا ہو نہیں لیے "
        "گیا وہ",
    },
    "CYRILLIC": {
        "ru": "и в не на что с по как это из у за к от для при или его но все также был быть "
        "они если может",
        "uk": "і в не на що з та до як це від за у для при або його але також був бути вони "
        "якщо може є",
        "bg": "и в не на че с за от да се е по като са при или със това към до който която",
    },
}
_ASCII_LETTERS: Final = string.ascii_letters.encode()
_VOTES: Final = {
    script: {language: frozenset(words.split()) for language, words in languages.items()}
    for script, languages in _SMALL_WORDS.items()
}


def detect_direction(text: str) -> Direction:
    """Return the direction most letters are written in, by their Unicode class; ties are ltr."""
    if text.isascii():
        return "ltr"
    balance = 0
    for character, count in Counter(text[:SAMPLE_SIZE]).items():
        kind = unicodedata.bidirectional(character)
        if kind in _RTL_CLASSES:
            balance += count
        elif kind == "L":
            balance -= count
    return "rtl" if balance > 0 else "ltr"


def isolated(text: str) -> str:
    """Return a text between marks that keep its direction to itself, wherever it is put.

    It runs from left to right, unless its first letter is of a script that runs the other way.
    """
    seen = strip_invisible(text)[0]
    directions = (unicodedata.bidirectional(each) for each in seen)
    first = next((found for found in directions if found in _RTL_CLASSES | {"L"}), "L")
    return f"{LEFT_TO_RIGHT if first == 'L' else RIGHT_TO_LEFT}{seen}{END}"


def runs_leftwards(text: str) -> bool:
    """Whether any letter of a text is of a script that runs from right to left."""
    return any(unicodedata.bidirectional(each) in _RTL_CLASSES for each in text)


def detect_language(text: str) -> str | None:
    """Return the language's ISO 639-1 code, or None if the text does not show it clearly."""
    sample = text[:SAMPLE_SIZE]
    scripts = _scripts(sample)
    letters = scripts.total()
    if letters < _MIN_LETTERS:
        return None
    script, count = scripts.most_common(1)[0]
    if scripts["KANA"] >= _KANA_SHARE * letters:
        return "ja"  # few letters of Japanese are kana in a formal text, none of Chinese are
    if count <= _MAIN_SHARE * letters:
        return None
    if script == "CJK":
        return "zh"
    if script in _SCRIPT_LANGUAGE:
        return _SCRIPT_LANGUAGE[script]
    return _voted(sample, _VOTES[script]) if script in _VOTES else None


def _scripts(text: str) -> Counter[str]:
    """Count the letters of each script, by the first word of the letters' Unicode names."""
    if text.isascii():
        data = text.encode()
        return Counter({"LATIN": len(data) - len(data.translate(None, _ASCII_LETTERS))})
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").partition(" ")[0]
            scripts["KANA" if script in {"HIRAGANA", "KATAKANA"} else script] += count
    return scripts


def _voted(text: str, languages: dict[str, frozenset[str]]) -> str | None:
    lower = text.lower()
    words = Counter(_WORD.findall(lower if text.isascii() else _ARABIC_MARKS.sub("", lower)))
    hits = {
        language: sum(words[word] for word in small_words & words.keys())
        for language, small_words in languages.items()
    }
    (best, first), (_, second) = sorted(hits.items(), key=lambda item: -item[1])[:2]
    clear = first >= max(_MIN_HITS, _MIN_SHARE * words.total()) and first >= _MIN_LEAD * second
    return best if clear else None
