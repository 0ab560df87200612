"""Bounds in Arabic: words around a quantity that make it the most, the least, or about so much."""

from collections.abc import Collection, Sequence
from itertools import product
from typing import Final

from evidentia.language.arabic.words import Token
from evidentia.language.lexicon import word_list
from evidentia.language.quantities import Bound

_PARTICLES: Final = ("", "ال", "لل", "بال", "وال", "و", "ب", "ل", "ف", "ك", "فب", "وب", "ول")
_Phrase = tuple[str, ...]


def _phrases(text: str) -> tuple[_Phrase, ...]:
    """Return phrases that commas part, each as its words."""
    return tuple(tuple(phrase.split()) for phrase in text.split(","))


def _denied(verbs: str) -> tuple[_Phrase, ...]:
    """Return verbs behind a "not", with and without the preposition that they take."""
    return tuple(
        (no, verb, *over)
        for no, verb, over in product(("لا", "الا"), word_list(verbs), ((), ("علي",), ("عن",)))
    )


_BEFORE: Final[tuple[tuple[Bound, tuple[_Phrase, ...]], ...]] = (
    (
        "at_most",
        _denied("يتجاوز تتجاوز يزيد تزيد يتعدي تتعدي يتخطي تتخطي")
        + _phrases(
            "لم يتجاوز,بحد اقصي,كحد اقصي,اقصاه,اقصاها,حتي,الحد الاقصي,الحد الاعلي,سقف,اقصي,اطول,"
            "اكبر,يصل الي,تصل الي,لا تتاخر"
        ),
    ),
    (
        "at_least",
        _denied("يقل تقل ينقص تنقص")
        + _phrases("بحد ادني,كحد ادني,الحد الادني,ادناه,ادني,اقصر,اصغر"),
    ),
    (
        "more_than",
        _phrases("اكثر من,يزيد علي,تزيد علي,يزيد عن,تزيد عن,زاد علي,زادت علي,فوق,يتجاوز,تتجاوز"),
    ),
    ("less_than", _phrases("اقل من,يقل عن,تقل عن,دون,تحت")),
    ("about", _phrases("نحو,حوالي,قرابه,زهاء,ما يقارب")),
)
_BEHIND: Final[tuple[tuple[Bound, tuple[_Phrase, ...]], ...]] = (
    ("at_least", _phrases("علي الاقل,كحد ادني,بحد ادني,فاكثر,او اكثر,فما فوق,وما فوق")),
    ("at_most", _phrases("علي الاكثر,كحد اقصي,بحد اقصي,فاقل,او اقل,فما دون")),
    ("about", _phrases("تقريبا")),
)
_TURNED: Final[dict[str, Bound]] = {"more_than": "at_most", "less_than": "at_least"}
_NOT: Final = frozenset(word_list("لا ولا فلا الا لن ولن لم ولم"))
_BREAKS: Final = frozenset("،؛.|:")
_LOOK_BACK: Final = 7
_LOOK_AHEAD: Final = 7


def without_particles(word: str, names: Collection[str]) -> str | None:
    """Return which of the names a word is, without the article and particles before it."""
    for before in _PARTICLES:
        name = word.removeprefix(before)
        if before + name == word and name in names:
            return name
    return None


def bound_around(found: Sequence[Token], first: int, end: int) -> Bound:
    """Return the bound of the quantity from one token to another; the nearest words count."""
    behind = [token.text for token in found[end : end + _LOOK_AHEAD]]
    for bound, phrases in _BEHIND:
        if any(_last(phrase, behind) >= 0 for phrase in phrases):
            return bound
    before = _of_clause([token.text for token in found[max(0, first - _LOOK_BACK) : first]])
    ranked = [
        (_last(phrase, before) + len(phrase), len(phrase), bound)
        for bound, phrases in _BEFORE
        for phrase in phrases
        if _last(phrase, before) >= 0
    ]
    if not ranked:
        return "exact"
    place, length, bound = max(ranked, key=lambda one: one[:2])
    denied = not _NOT.isdisjoint(before[: place - length])
    return _TURNED[bound] if denied and bound in _TURNED else bound


def _of_clause(before: list[str]) -> list[str]:
    """Return the words behind the last mark or number."""
    breaks = [at for at, word in enumerate(before) if word in _BREAKS or word.isdigit()]
    return before[breaks[-1] + 1 :] if breaks else before


def _last(phrase: _Phrase, there: Sequence[str]) -> int:
    """Return where a phrase stands last, with particles before its first word; -1 if nowhere."""
    for at in range(len(there) - len(phrase), -1, -1):
        head, *rest = there[at : at + len(phrase)]
        if rest == list(phrase[1:]) and without_particles(head, (phrase[0],)):
            return at
    return -1
