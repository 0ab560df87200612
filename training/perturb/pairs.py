"""Groups of pairs, in which each text stands both as evidence and as claim."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.data import EVIDENCE_WORDS, Pair, sentences
from training.perturb.change import CONTRADICTED, NOT_FOUND, SUPPORTED, Change, put
from training.perturb.changing import BY_VALUE, HARMLESS, RESTATING, changes, made
from training.perturb.names import Names, names_in
from training.perturb.patterns import HEDGED, SPEECH, keeps_phrases

LARGEST_SHARE: Final = 0.13
"""Which part of all pairs may be of one kind."""
_SHORTEST, _LONGEST = 5, 45
"""How many words a sentence has that is changed."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of the corpus with those around it."""

    before: str
    sentence: str
    after: str

    def around(self, sentence: str) -> str:
        return " ".join(part for part in (self.before, sentence, self.after) if part)


def synthetic_pairs(pairs: Sequence[Pair], count: int, seed: int) -> Iterator[Pair]:
    """Yield up to so many pairs made from others, the same ones for the same seed.

    About half are supported; no kind takes more than its share. There are fewer than asked for if
    the texts give no more.
    """
    source = random.Random(seed)
    names = names_in(dict.fromkeys(pair.evidence for pair in pairs))
    counts: Counter[str] = Counter()
    labels: Counter[bool] = Counter()
    given: set[tuple[str, str]] = set()
    total = 0
    for group in _groups(pairs, names, source, counts):
        kind = group[0].source.removeprefix("synthetic:")
        plenty = labels[True] > labels[False] + 20
        if plenty and all(pair.label == SUPPORTED for pair in group):
            continue
        for pair in group:
            if counts[kind] >= LARGEST_SHARE * count or (pair.evidence, pair.claim) in given:
                continue
            given.add((pair.evidence, pair.claim))
            counts[kind] += 1
            labels[pair.label == SUPPORTED] += 1
            total += 1
            yield pair
            if total == count:
                return


def _groups(
    pairs: Sequence[Pair], names: Names, source: random.Random, counts: Counter[str]
) -> Iterator[list[Pair]]:
    places = _places(pairs, source)
    claimed = [pair for pair in pairs if pair.label == SUPPORTED]
    source.shuffle(claimed)
    for number, place in enumerate(places):
        found = changes(place.sentence, names, source)
        others = [change for change in found if not change.kind.startswith("harmless")]
        plain = [change for change in found if change.kind.startswith("harmless")]
        for change in sorted(others, key=lambda one: counts[one.kind])[:1]:
            yield _group(place, change, plain, names, source)
        for change in sorted(plain, key=lambda one: counts[one.kind])[:1]:
            yield _harmless_group(place, change, names, source)
        if number < len(claimed):
            yield from _claim_groups(claimed[number], names, source, counts)


def _places(pairs: Sequence[Pair], source: random.Random) -> list[_Place]:
    """Return the sentences of all evidence that can be changed, shuffled, some with neighbours."""
    found: list[_Place] = []
    for text in dict.fromkeys(pair.evidence for pair in pairs):
        said = sentences(text)
        for number, sentence in enumerate(said):
            size = len(sentence.split())
            if not _SHORTEST <= size <= _LONGEST or not re.match(r"^[A-Z].*[.]$", sentence):
                continue
            before = said[number - 1] if number and source.random() < 0.4 else ""
            after = said[number + 1] if number + 1 < len(said) and source.random() < 0.4 else ""
            if size + len(before.split()) + len(after.split()) > EVIDENCE_WORDS - 5:
                before = after = ""
            found.append(_Place(before, sentence, after))
    unique = list({place.sentence: place for place in found}.values())
    source.shuffle(unique)
    return [_with_company(place, source.choice(unique), source) for place in unique]


def _with_company(place: _Place, other: _Place, source: random.Random) -> _Place:
    """Return a lone sentence, more often than not, with one from elsewhere before or after it."""
    size = len(place.sentence.split()) + len(other.sentence.split())
    if place.before or place.after or other == place or size > EVIDENCE_WORDS - 5:
        return place
    if source.random() < 0.4:
        return place
    if source.random() < 0.5:
        return _Place(other.sentence, place.sentence, "")
    return _Place("", place.sentence, other.sentence)


def _group(
    place: _Place, change: Change, plain: Sequence[Change], names: Names, source: random.Random
) -> list[Pair]:
    """Return the original and the changed sentence, each as evidence and as claim."""
    original, changed = place.sentence, change.text
    old, _ = _difference(original, changed)
    if old and any(word in place.before + place.after for word in re.findall(r"\w{3,}", old)):
        # What is said twice and changed once would make evidence that is at odds with itself.
        place = _Place("", original, "")
    named = f"synthetic:{change.kind}"
    group = [Pair(place.around(original), _restated(changed, names, source), change.label, named)]
    if change.reverse:
        group.append(
            Pair(place.around(changed), _restated(original, names, source), change.reverse, named)
        )
    if change.label != SUPPORTED:
        group.append(
            Pair(
                place.around(changed),
                _restated(changed, names, source, drop=True),
                SUPPORTED,
                named,
            )
        )
    if change.reverse and change.reverse != SUPPORTED and not plain:
        group.append(Pair(place.around(original), original, SUPPORTED, named))
    return group


def _restated(sentence: str, names: Names, source: random.Random, *, drop: bool = False) -> str:
    """Return the sentence, half of the time with one harmless change."""
    if source.random() < 0.4:
        return sentence
    found = [
        change.text
        for way in (HARMLESS if drop else RESTATING)
        for change in made(way, sentence, names, source)
        if change.text != sentence
    ]
    return source.choice(found) if found else sentence


def _harmless_group(
    place: _Place, change: Change, names: Names, source: random.Random
) -> list[Pair]:
    named = f"synthetic:{change.kind}"
    original = place.sentence
    twice = _restated(change.text, names, source)
    claim = change.text if twice == original else twice
    group = [Pair(place.around(original), claim, change.label, named)]
    if change.reverse:
        group.append(Pair(place.around(change.text), original, change.reverse, named))
    if change.reverse == NOT_FOUND:
        claim = _restated(original, names, source)
        group.append(Pair(place.around(original), claim, SUPPORTED, named))
    return group


def _claim_groups(
    pair: Pair, names: Names, source: random.Random, counts: Counter[str]
) -> Iterator[list[Pair]]:
    """Change a value that a claim and its evidence share: in one of the two, then in both."""
    if (
        HEDGED.search(pair.claim)
        or SPEECH.search(pair.claim)
        or len(pair.evidence.split()) > EVIDENCE_WORDS
    ):
        return
    options: list[tuple[Change, str, str]] = []
    for way in BY_VALUE:
        for change in made(way, pair.claim, names, source):
            if change.label != CONTRADICTED:
                continue
            old, new = _difference(pair.claim, change.text)
            there = re.findall(rf"(?<![\w-]){re.escape(old)}(?![\w-])", pair.evidence)
            if (
                old
                and new
                and len(there) == 1
                and new not in pair.evidence
                and pair.claim.count(old) == 1
            ):
                options.append((change, old, new))
    for change, old, new in sorted(options, key=lambda one: counts[one[0].kind])[:1]:
        match = re.search(rf"(?<![\w-]){re.escape(old)}(?![\w-])", pair.evidence)
        if not match or HEDGED.search(pair.evidence[max(0, match.start() - 40) : match.end() + 40]):
            continue
        evidence = put(pair.evidence, match.start(), match.end(), new)
        if not keeps_phrases(pair.evidence, evidence):
            continue
        named = f"synthetic:{change.kind}"
        yield [
            Pair(pair.evidence, change.text, CONTRADICTED, named),
            Pair(evidence, pair.claim, CONTRADICTED, named),
            Pair(evidence, change.text, SUPPORTED, named),
        ]


def _difference(one: str, other: str) -> tuple[str, str]:
    """Return the words that stand in one of two texts in the place of the other's."""
    mine, yours = (
        re.findall(r"[\w'\u2019-]+|[^\w\s]", one),
        re.findall(r"[\w'\u2019-]+|[^\w\s]", other),
    )
    start = 0
    while start < min(len(mine), len(yours)) and mine[start] == yours[start]:
        start += 1
    end = 0
    while end < min(len(mine), len(yours)) - start and mine[-1 - end] == yours[-1 - end]:
        end += 1
    mine, yours = mine[start : len(mine) - end], yours[start : len(yours) - end]
    if mine[:1] in (["a"], ["an"]):
        mine, yours = mine[1:], yours[1:]
    return " ".join(mine), " ".join(yours)
