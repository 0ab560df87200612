"""Names by their sound: whether an Arabic word may be the spelling of a Latin one.

Vowels are written in one script and not in the other, and many consonants have several spellings.
What is compared are classes of consonants, so that two names that may be one are taken for one.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from evidentia.language.arabic.words import bare_forms

_LATIN: Final = (
    ("sch", "s"), ("ch", "s"), ("sh", "s"), ("ph", "f"), ("kh", "k"), ("gh", "k"), ("th", "t"),
    ("dh", "t"), ("ck", "k"), ("ce", "s"), ("ci", "s"), ("cy", "s"), ("x", "ks"),
)  # fmt: skip
"""What two letters stand for, before single ones are read."""
_CLASSES: Final = {
    letter: name
    for name, letters in (
        ("b", "bpبپ"), ("f", "fvفڤ"), ("t", "tdتطدضذظث"), ("s", "szسصزش"), ("k", "kqcgjجغقكخگ"),
        ("r", "rر"), ("l", "lل"), ("m", "mم"), ("n", "nن"),
    )
    for letter in letters
}  # fmt: skip
_REPEATED = re.compile(r"(.)\1+")
_LONG: Final = 4


@lru_cache(maxsize=16_384)
def latin_sound(word: str) -> str:
    """Return the consonants of a word in Latin letters.

    >>> latin_sound("Frankfurt")
    'frnkfrt'
    """
    plain = unicodedata.normalize("NFKD", word.casefold())
    for letters, sound in _LATIN:
        plain = plain.replace(letters, sound)
    return _sound(plain)


@lru_cache(maxsize=16_384)
def arabic_sounds(word: str) -> frozenset[str]:
    """Return the consonants of a folded Arabic word, with and without what is written onto it."""
    return frozenset(_sound(form) for form in bare_forms(word))


def _sound(letters: str) -> str:
    return _REPEATED.sub(r"\1", "".join(_CLASSES.get(letter, "") for letter in letters))


def may_be_one(latin: str, arabic: str) -> bool:
    """Whether a word in Latin letters and a folded Arabic one may be one name.

    >>> may_be_one("Whitford", "ويتفورد")
    True
    >>> may_be_one("Sportage", "توسان")
    False
    """
    wanted = latin_sound(latin)
    return any(_are_near(wanted, sound) for sound in arabic_sounds(arabic))


def _are_near(first: str, second: str) -> bool:
    """Whether two are the same, or of long ones one letter is another, missing or more."""
    if first == second:
        return True
    if max(len(first), len(second)) < _LONG or abs(len(first) - len(second)) > 1:
        return False
    same = next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    rest, other = first[same:], second[same:]
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:]
