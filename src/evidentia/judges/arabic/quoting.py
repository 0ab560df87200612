"""Whether an Arabic sentence says an Arabic claim in the same words, values and polarity.

Vowel signs, the spelling of letters, the article and an "and" before a word make no difference, nor
does a number in digits or in words. One word may stand elsewhere, as the verb may stand before its
subject or behind it. All else is as it was said: prepositions tell who does what to whom.
"""

from functools import lru_cache

from evidentia.judges.arabic.cases import is_conditional, takes_back
from evidentia.judges.arabic.facts import read_facts
from evidentia.language.arabic.quantities import find_arabic_quantities
from evidentia.language.arabic.words import is_arabic, tokens
from evidentia.language.lexicon import word_set
from evidentia.language.quantities import Quantity

_LEAST_WORDS = 3
_BREAKS = frozenset("،؛:;")
_FILLERS = word_set("قد ان لقد")


def says_the_same(claim: str, said: str) -> bool:
    """Whether a sentence, or a clause of one that limits nothing, says a claim."""
    if not (is_arabic(claim) and is_arabic(said)):
        return False
    wanted = _forms(claim)
    if len(wanted) < _LEAST_WORDS:
        return False
    if _is_moved(wanted, _forms(said)):
        return True
    facts = read_facts(said)
    if takes_back(facts) or is_conditional(facts):
        return False
    return any(_is_moved(wanted, _forms(clause)) for clause in _clauses(said))


def _clauses(said: str) -> list[str]:
    places = [token.start for token in tokens(said) if token.text in _BREAKS]
    return [said[start:end] for start, end in zip([0, *places], [*places, len(said)], strict=True)]


@lru_cache(maxsize=4_096)
def _forms(text: str) -> tuple[str, ...]:
    """Return a text's words as they are compared, each quantity as its value."""
    quantities = find_arabic_quantities(text)
    found: list[str] = []
    for token in tokens(text):
        inside = next((one for one in quantities if one.start <= token.start < one.end), None)
        if inside:
            value = _value(inside)
            if token.start == inside.start:
                found.append(value)
        elif token.kind != "sign" and token.text not in _FILLERS:
            found.append(_plain(token.text))
    return tuple(found)


def _value(quantity: Quantity) -> str:
    return f"{quantity.dimension} {quantity.value:.9g} {quantity.bound} {quantity.per}"


def _plain(word: str) -> str:
    """Return a word without the article and an "and" or "so" before it."""
    for before in ("وال", "فال", "ال"):
        if word.startswith(before) and len(word) > len(before) + 1:
            return word[len(before) :]
    return word[1:] if word[0] in "وف" and len(word) > _LEAST_WORDS else word


def _is_moved(wanted: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether two are the same words in the same order, but for one that may stand elsewhere."""
    if wanted == there:
        return True
    if sorted(wanted) != sorted(there):
        return False
    return any(
        _without(wanted, at) == _without(there, place)
        for at, word in enumerate(wanted)
        for place, other in enumerate(there)
        if word == other
    )


def _without(words: tuple[str, ...], at: int) -> tuple[str, ...]:
    return words[:at] + words[at + 1 :]
