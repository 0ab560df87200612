"""What a clause denies with all that belongs to it, and a claim that says just that.

"The operator does not see the content of calls" is against "the operator sees the calls of its
customers", however little else the two share: what is denied is told by the words behind the "not".
A duty that is lifted ("no stamp is needed") is against a claim that demands it, and "without a
stamp" against a sentence that has the stamp.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from evidentia.judges.arabic.cases import is_case, is_conditional, takes_back
from evidentia.judges.arabic.facts import Facts, Telling, share
from evidentia.judges.arabic.polarity import (
    clauses_of,
    demands,
    denied,
    denies_by_meaning,
    has_values,
    is_limited,
)
from evidentia.language.arabic.words import tokens
from evidentia.language.lexicon import word_set

_LONGEST: Final = 4
_PART: Final = 0.6
_LEAST: Final = 2
_NEAR: Final = 3
_SIGNS = re.compile(r"[،؛.;:!؟?()|]|,\s")
_FREE: Final = word_set("يشترط تشترط يلزم تلزم حاجه يحتاج تحتاج يتطلب تتطلب داعي لزوم ضروره")
_OF_ADJECTIVES: Final = word_set("غير وغير يمنع ويمنع ممنوع")
_EVEN: Final = word_set("حتي ولو even")
_WITHOUT: Final = word_set("دون بدون بلا ودون وبدون وبلا without")
_NEEDLESS: Final = word_set("حاجه الحاجه ان اي any")
_NOT: Final = _WITHOUT | word_set("لا لم لن ليس غير عدم ولا no not")
_WITHOUT_PART: Final = 0.5


@dataclass(frozen=True, slots=True)
class Scope:
    """The sentence that is against a claim, and the words it is about."""

    said: Facts
    words: tuple[str, ...]


def denied_scope(claim: Facts, sentences: tuple[Facts, ...]) -> Scope | None:
    """Return the clause that denies what a claim says, or has what the claim says is lacking."""
    if takes_back(claim) or denies_by_meaning(claim):
        return None
    lacking = _lacking(claim)
    if len(lacking) == 1 >= len(denied(claim)):
        found = _lacking_here(claim, lacking[0], sentences)
    elif not denied(claim):
        found = chain(_plainly_denied(claim, sentences), _lacking_there(claim, sentences))
    else:
        return None
    return next(found, None)


def _plainly_denied(claim: Facts, sentences: tuple[Facts, ...]) -> Iterator[Scope]:
    """Give the clauses that deny what a claim says, by all the words behind the "not"."""
    pairs = [(said, one) for said in sentences if not takes_back(said) for one in clauses_of(said)]
    for said, clause in pairs:
        if is_conditional(clause) or denies_by_meaning(clause) or not has_values(claim, clause):
            continue
        for place in sorted(denied(clause)):
            words = _scope(clause, place)
            shared = [one for one in words if not one.keys.isdisjoint(claim.keys)]
            before = [token.text for token in tokens(clause.text) if token.start < place][-_NEAR:]
            if words[0] not in shared or not _OF_ADJECTIVES.isdisjoint(before[-1:]):
                continue
            lifted = not _FREE.isdisjoint(before) and demands(claim)
            part = 1.0 if demands(claim) else _PART  # who must register may do so for nobody else
            enough = len(shared) >= _LEAST and len(shared) / len(words) >= part
            if (enough and not is_case(claim) and not is_limited(clause, claim)) or (
                lifted and len(shared) == len(words)
            ):
                yield Scope(said, tuple(one.text for one in shared))


def _scope(clause: Facts, place: int) -> list[Telling]:
    """Return the words from a denied one on, up to the next sign."""
    end = _SIGNS.search(clause.text, place)
    until = end.start() if end else len(clause.text)
    return [word for word in clause.telling if place <= word.start < until][:_LONGEST]


def _lacking_there(claim: Facts, sentences: tuple[Facts, ...]) -> Iterator[Scope]:
    """Give the sentences that say "without" something that the claim has."""
    for said in sentences:
        for word in _lacking(said) if len(denied(said)) == 1 else ():
            if word.keys.isdisjoint(claim.keys) or not has_values(claim, said):
                continue
            rest = [one for one in claim.telling if one.keys.isdisjoint(word.keys)]
            if _covered(rest, said) >= _WITHOUT_PART and not is_case(claim):
                yield Scope(said, (word.text,))


def _lacking_here(claim: Facts, lacking: Telling, sentences: tuple[Facts, ...]) -> Iterator[Scope]:
    """Give the sentences that have what the claim says "without"."""
    for said in sentences:
        there = [one for one in said.telling if not one.keys.isdisjoint(lacking.keys)]
        if not there or not has_values(claim, said) or share(claim, said.keys) < _WITHOUT_PART:
            continue
        before = [token.text for token in tokens(said.text) if token.start < there[0].start]
        if _NOT.isdisjoint(before[-_NEAR:]) or "الا" in before[-_NEAR:]:
            yield Scope(said, (lacking.text,))


def _lacking(facts: Facts) -> list[Telling]:
    """Return the words right behind a "without"."""
    telling = {word.start: word for word in facts.telling}
    found = tokens(facts.text)
    lacking = []
    for at, token in enumerate(found):
        if token.text in _WITHOUT and not (at and found[at - 1].text in _EVEN):
            behind = [one for one in found[at + 1 : at + 1 + _NEAR] if one.text not in _NEEDLESS]
            word = next((telling[one.start] for one in behind if one.start in telling), None)
            lacking += [word] if word else []
    return lacking


def _covered(words: list[Telling], said: Facts) -> float:
    found = sum(not word.keys.isdisjoint(said.keys) for word in words)
    return found / len(words) if words else 0.0
