"""Provisos: what keeps a sentence from bearing a claim out though it has the claim's words.

A sentence may deny what it says ("it is false that", "no longer"), speak of another time, ask it,
or tell its reader what to think: then it supports nothing. Or it may limit it: to a condition, to
some, to a place, a group or a case, to what someone believes, to what may be where the claim says
what is. Only what the claim does not say itself counts. The turns of phrase are English ones; in
other languages the judges ask for the same words and no others.
"""

from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from evidentia.language.lexicon import GROUPS, UNIVERSAL, word_set
from evidentia.language.measures import HARMLESS, read_measures
from evidentia.language.phrases import cases_of, does_otherwise, times_of
from evidentia.language.statements import Sentence, Statement
from evidentia.language.turns import DENIALS, LIMITS, PAST, Turns, read_turns
from evidentia.language.words import Word, stem

_GROUPS: Final = frozenset(map(stem, GROUPS))
_STRONG: Final = UNIVERSAL | word_set(
    "always only automatically solely exclusively additional another extra further"
)
_NO_WORD: Final = Word("", "", 0, 0)


@dataclass(frozen=True, slots=True)
class Provisos:
    """What a sentence does to what it says: denies it, limits it, says it with another force."""

    denies: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    forces: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the sentence does not support the claim in full, though it may in part."""
        return (*self.limits, *(f'with another force ("{force}")' for force in self.forces))


def find_provisos(claim: Statement, sentence: Sentence) -> Provisos:
    """Return what a sentence says beyond or beside the claim."""
    said = sentence.said
    claimed, there = read_turns(claim.text), read_turns(said.text)
    denies = [
        kind
        for (kind, _), known, found in zip(DENIALS, claimed.denials, there.denials, strict=True)
        if found - known
    ]
    if there.asks:
        denies.append("asks")
    if (there.is_past and claimed.is_now) or (claimed.is_past and there.is_now):
        denies.append(PAST)
    limits = [
        f"{kind} ({', '.join(sorted(found - known))})"
        for (kind, _), known, found in zip(LIMITS, claimed.limits, there.limits, strict=True)
        if found - known
    ]
    named = frozenset[str]().union(*there.limits)
    limits += [
        f"of a place or group ({name})"
        for name in cases_of(said, claim)
        if name.lower() not in named
    ]
    limits += [f"at a time ({time})" for time in times_of(said, claim)]
    if there.is_told and not claimed.is_told:
        limits.append("as what someone says")
    other = does_otherwise(said, claim)
    if other:
        limits.append(f"with another verb ({other})")
    if sentence.limited:
        limits.append("limited by what follows")
    if heading_kind(claim, sentence) in _GROUPS:
        limits.append(f"of a group ({sentence.heading.text})")
    return Provisos(
        tuple(dict.fromkeys(denies)),
        (*limits, *_strength(claim, said)),
        tuple(_forces(claimed, there)),
    )


def heading_kind(claim: Statement, sentence: Sentence) -> str:
    """Return the claim's subject if the heading names but a kind of it: "Sick leave"."""
    names = [word.stem for word in sentence.heading.words if word.is_content]
    subject = read_measures(claim.text).subject
    is_kind = subject == frozenset(names[-1:]) and not set(names) <= claim.stems | HARMLESS
    return names[-1] if is_kind else ""


def understood_bounds(claim: Statement) -> frozenset[str]:
    """Return the bounds that need no words: "must give 15 days" is at least, "may take" at most."""
    forces = read_turns(claim.text).forces
    most = {"at_most"} if forces & {"must", "may"} else set()
    return frozenset(most | ({"at_least"} if "must" in forces else set()))


def _forces(claimed: Turns, there: Turns) -> list[str]:
    """Return where one says what must be, and the other what may, should or might be."""
    missing = claimed.forces - there.forces - ({"may"} if there.entitles else set())
    added = there.forces - claimed.forces
    if not claimed.forces:
        added -= {"must"}  # what must be so is so
    return sorted(missing | added)


def _strength(claim: Statement, said: Statement) -> list[str]:
    """Return the words by which the claim says more than the sentence does: "always", "all"."""
    there = {word.text for word in said.words}
    claimed = _strong_words(claim)
    universal = _of_all(said)
    return [
        f'without the claim\'s "{word}"'
        for word, following in sorted(claimed.items())
        if (following not in universal if word in UNIVERSAL else word not in there)
    ]


def _strong_words(claim: Statement) -> dict[str, str]:
    """Return the claim's strong words, each with the stem of the next one."""
    rates = [quantity.per_span for quantity in claim.quantities]
    return {
        word.text: following.stem
        for word, following in zip_longest(claim.words, claim.words[1:], fillvalue=_NO_WORD)
        if word.text in _STRONG and not any(low <= word.start < high for low, high in rates)
    }


def _of_all(said: Statement) -> set[str]:
    """Return the stems of the words that follow an "all" or "every"."""
    return {following.stem for word, following in pairwise(said.words) if word.text in UNIVERSAL}
