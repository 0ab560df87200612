"""Names of a claim that no passage has, where a passage has another in their place.

What is a name is told by how it stands: in quotation marks, in the list of towns and countries,
behind a word such as "branch" or "ministry", or behind "is" in a sentence that says who or what
something is. Nothing else is taken for one: Arabic has no capitals. A name that ends an English
sentence is looked for by its sound.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evidentia.judges.arabic.cases import is_case, takes_back
from evidentia.judges.arabic.facts import Facts, Telling, share
from evidentia.judges.arabic.values import are_same
from evidentia.language.arabic.concepts import english_keys
from evidentia.language.arabic.places import places_of
from evidentia.language.arabic.sounds import latin_sound, may_be_one
from evidentia.language.arabic.words import Token, folded, tokens
from evidentia.language.lexicon import word_set

_QUOTED = re.compile(r"«([^»]{2,40})»|“([^”]{2,40})”|\"([^\"]{2,40})\"")
_HEADS: Final = frozenset(
    map(
        folded,
        word_set(
            "مدير مديرة رئيس وزير وزارة لجنة محكمة شركة بنك مصرف هيئة مركز فرع فرعي بوابة منصة "
            "شارع مدينة قسم إدارة مؤشر برنامج باقة الدكتور السيد السيدة مستودع محطة مستشفى "
            "جامعة مدرسة منظومة ميناء مطار حقل محافظة ولاية منطقة حي"
        ),
    )
)
"""Words that a name stands behind."""
_PERSONS: Final = word_set("مدير مديره رييس وزير")
_PARTICLES: Final = ("ب", "ل", "و", "ف", "ك")
_IS: Final = word_set("هو هي")
_IDENTIFIED: Final = 0.6
_LONGEST_NAME: Final = 3
_LEAST_WORDS: Final = 2
_LEAST_SOUNDS: Final = 3
_ENOUGH: Final = 0.5
_LAST_NAME = re.compile(
    r"\b(?:is|are|was|were|in|at|from|to|by|with)\s+(?:an?\s+|the\s+)?"
    r"(?P<name>[A-Z][\w'\u2019-]*(?:\s+[A-Z][\w'\u2019-]*)*)(?:\s+\w+)?\.?$"
)
"""A name with capitals at the end of an English sentence, be it with one word behind it."""
_LATIN_WORD = re.compile(r"[A-Za-z][\w'\u2019]*")
_FURTHER = re.compile(r"\b(?:also|another|other|further|too)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OtherName:
    """A name of the claim, and the sentence that has another in its place."""

    name: str
    said: Facts
    share: float


def other_name(
    claim: Facts, sentences: tuple[Facts, ...], keys: frozenset[str], least: float
) -> OtherName | None:
    """Return a name of the claim that no sentence has, if the nearest has another instead."""
    said = [quantity for sentence in sentences for quantity in sentence.quantities]
    if (
        not sentences
        or is_case(claim)
        or takes_back(claim)
        or not all(any(are_same(one, other) for other in said) for one in claim.quantities)
    ):
        return None
    nearest = max(sentences, key=lambda sentence: share(claim, sentence.keys))
    part = share(claim, nearest.keys)
    name = ""
    if part >= least:
        name = _quoted(claim, nearest, sentences) or _place(claim, nearest, sentences)
        if not name and claim.is_arabic and nearest.is_arabic:
            name = next(_behind_heads(claim, nearest, keys), "")
    if not name and claim.is_arabic and nearest.is_arabic:
        name = _identified(claim, nearest, keys)
    if not name and not claim.is_arabic:
        name, nearest = _by_sound(claim, sentences) or ("", nearest)
    return OtherName(name, nearest, part) if name else None


def _quotes(text: str) -> set[str]:
    return {" ".join(folded("".join(found)).split()) for found in _QUOTED.findall(text)}


def _quoted(claim: Facts, nearest: Facts, sentences: tuple[Facts, ...]) -> str:
    """Return the claim's name in quotation marks if no sentence has it and the nearest another."""
    names = _quotes(claim.text)
    everything = folded(" ".join(sentence.text for sentence in sentences))
    missing = {name for name in names if name not in everything}
    return min(missing) if missing == names and names and _quotes(nearest.text) else ""


def _place(claim: Facts, nearest: Facts, sentences: tuple[Facts, ...]) -> str:
    """Return the claim's town or country if no sentence names it and the nearest another."""
    named = places_of(claim.text)
    there = frozenset[tuple[str, str]]().union(*(places_of(one.text) for one in sentences))
    missing = named - there
    if len(missing) != 1:
        return ""
    ((kind, name),) = missing
    others = {other for other_kind, other in places_of(nearest.text) if other_kind == kind}
    return name if others - {other for _, other in named} else ""


def _behind_heads(claim: Facts, nearest: Facts, keys: frozenset[str]) -> Iterator[str]:
    """Give the names behind a word such as "branch" that has another name behind it there."""
    there = list(_named(nearest))
    for head, word in _named(claim):
        if not word.keys.isdisjoint(keys):
            continue
        for other_head, other in there:
            if head == other_head and (head in _PERSONS or other.keys.isdisjoint(claim.keys)):
                yield f"{head} {word.text}"


def _named(facts: Facts) -> Iterator[tuple[str, Telling]]:
    """Give the heads of a text with the word behind each, quotation marks aside."""
    telling = {word.start: word for word in facts.telling}
    found = [token for token in tokens(facts.text) if token.text not in '«"“']
    for head, behind in pairwise(found):
        plain = _head(head)
        word = telling.get(behind.start)
        if plain and word and not (behind.text[0] in _PARTICLES and behind.text[1:3] == "ال"):
            yield plain, word


def _head(token: Token) -> str:
    for before in ("", *_PARTICLES):
        name = token.text.removeprefix(before)
        if before + name == token.text and name in _HEADS:
            return name
    person = token.text.removeprefix("ال")
    return person if person in _PERSONS else ""


def _by_sound(claim: Facts, sentences: tuple[Facts, ...]) -> tuple[str, Facts] | None:
    """Return the name that ends an English claim if none in the Arabic sentences sounds like it.

    The sentence that has most of what stands before the name goes with it.
    """
    found = _LAST_NAME.search(claim.text)
    if found is None or places_of(found["name"]) or _FURTHER.search(claim.text):
        return None
    if any(found.start("name") < one.end for one in claim.quantities):
        return None
    before = [word for word in claim.telling if word.start < found.start("name")]
    nearest = max(sentences, key=lambda said: _shared(before, said))
    if len(before) < _LEAST_WORDS or _shared(before, nearest) / len(before) < _ENOUGH:
        return None
    names = _LATIN_WORD.findall(found["name"])
    if any(_is_said(name, said) for name in names for said in sentences):
        return None
    return found["name"].strip(), nearest


def _shared(words: Sequence[Telling], said: Facts) -> int:
    return sum(not word.keys.isdisjoint(said.keys) for word in words)


def _is_said(name: str, said: Facts) -> bool:
    """Whether a sentence has a name: in its letters, in other words, or by its sound."""
    if not english_keys(name.lower()).isdisjoint(said.keys):
        return True
    sounds = len(latin_sound(name)) >= _LEAST_SOUNDS
    return any(
        token.text == name.casefold()
        or (sounds and token.kind == "word" and may_be_one(name, token.text))
        for token in tokens(said.text)
    )


def _identified(claim: Facts, nearest: Facts, keys: frozenset[str]) -> str:
    """Return what the claim says that something is, if no sentence has a word of it."""
    places = [token.start for token in tokens(claim.text) if token.text in _IS]
    if len(places) != 1 or any(found.start > places[0] for found in claim.quantities):
        return ""
    subject = [word for word in claim.telling if word.start < places[0]]
    name = [word for word in claim.telling if word.start > places[0]]
    if (
        len(subject) < _LEAST_WORDS
        or _shared(subject, nearest) / len(subject) < _IDENTIFIED
        or not 1 <= len(name) <= _LONGEST_NAME
        or any(not word.keys.isdisjoint(keys) for word in name)
    ):
        return ""
    return " ".join(word.text for word in name)
