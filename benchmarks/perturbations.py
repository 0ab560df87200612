"""Changed sentences: how many changes of a number, a name, a negation and the like are found.

Run it with `python -m benchmarks.perturbations [--quick] [--data DIR] [--json FILE]`. The sentences
are those of the evidence under `dev/` of the folder that the training sets do not have; the quick
form changes a few of its own. Swaps written by hand are measured beside them.
"""

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import sqrt
from pathlib import Path

from benchmarks.judge import ROOT, SHARED_WORDS, run_on_pairs
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    Table,
    number,
    shown,
)
from training.perturb import Names, changes, names_in

from evidentia.judges.measuring import Label
from evidentia.language.sentences import sentence_spans
from evidentia.language.words import content_stems, coverage, words
from evidentia.ledger.judging import Judge
from evidentia.ledger.verdicts import LIKELY
from evidentia.workspace.evaluating import Pair, chosen_judges, evaluate, read_pairs

SETS = ("fever_symmetric", "wice")
SEED = 11
ALLOWED = 0.02
"""Which part of the controls may be taken for unsupported."""
TARGET = 0.95
ENOUGH = 50
"""How many controls there must be to tell that share."""
VERBATIM = "the sentence itself"
_WORDS = re.compile(r"\w+")
_IN_A_ROW = 5

OWN = (
    "The bridge over the Arle has 14 arches and was opened by Mary Stone on 5 March 1931.",
    "The mill was founded by Paul Reed in 1884. It stands on the northern bank of the river.",
    "Employees must report an accident before the end of the day. They often forget two forms.",
    "All members pay a yearly fee of 40 euros. Some members receive a monthly magazine.",
    "The journey takes 3 weeks. The tower is higher than the church. Guests stay for 48 hours.",
    "The company sold 1.5 million bottles in 2004. Prices increased by 12 percent in 2010.",
    "Paul Reed defeated Carl Dent in 1999. He did not win the next race. He trained for 2 years.",
    "Ines Falk, a retired teacher, was elected mayor of Brightwell in 1987.",
    "A guest may bring a dog. The museum is not open in winter. It was constructed in 1902.",
    "The council accepted the plan and praised the architect. Most visitors arrive by train.",
    "The Fall is a 1999 American film directed by Ines Falk and written by Jon Hale.",
    "In 1962, the family purchased a large farm near Corran. The fund has at least 200 members.",
    "Nora Pell ( a nurse ) was born in Dunvale on 9 May 1948. She has not visited the island.",
    "The hall seats 2,500 people. The garden is located in Aldermoor and was enlarged in 1990.",
)
OWN_NAMES = Names(
    people=("Ada Brook", "Carl Dent", "Ines Falk", "Jon Hale", "Nora Pell"),
    places=("Aldermoor", "Brightwell", "Corran", "Dunvale"),
    others=(),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How many pairs are made and judged; whether of the sets' sentences, or of a few own ones."""

    swaps: int
    controls: int
    by_hand: int | None
    own: bool


SIZES = {
    "full": Size(1_500, 700, None, own=False),
    "quick": Size(60, 60, None, own=True),
    "tiny": Size(12, 8, 12, own=True),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence, and itself with those around it."""

    sentence: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A pair to judge, and what was done to its evidence to make the claim."""

    kind: str
    pair: Pair

    @property
    def is_control(self) -> bool:
        """Whether the evidence says what the claim says."""
        return self.pair.label is Label.SUPPORTED


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, and how probable it is that its evidence supports the claim; None if not judged."""

    asked: Asked
    probability: float | None

    def is_flagged(self, threshold: float) -> bool:
        """Whether it is taken for unsupported; what was not judged is taken for what it is not."""
        if self.probability is None:
            return self.asked.is_control
        return self.probability < threshold


def measure_perturbations(size: Size, data: Path) -> Section:
    """Measure how many swaps are found, and how many controls are taken for swaps."""
    section = Section(
        "perturbations",
        "Changed sentences",
        "A sentence with its neighbours is the evidence; the claim is the sentence with one change "
        "that makes it untrue or unfounded, or a control: the sentence itself, or the same said "
        "otherwise. They are judged as `evidentia check` does. A swap is found if support is less "
        f"likely than a threshold: the one at which {shown(ALLOWED, '%')} of the controls are "
        f"false alarms, and the product's own, {LIKELY}. The yardstick is the share of the "
        "claim's words that are in the evidence, with its own threshold for "
        f"{shown(ALLOWED, '%')}.",
    )
    judges = chosen_judges()
    made = _of_own(size) if size.own else _of_sets(size, ROOT / data)
    if made:
        _add(section, "swaps made by rules", made, judges)
    else:
        section.notes.append(f"Only by hand: there are no labelled pairs in `{data}/dev`.")
    _add(section, "swaps written by hand", _by_hand(size.by_hand), judges)
    return section


def _add(section: Section, title: str, asked: Sequence[Asked], judges: Sequence[Judge]) -> None:
    evaluation = evaluate("", [one.pair for one in asked], judges)
    judged = [
        Judged(one, found.outcome.probability)
        for one, found in zip(asked, evaluation.judged, strict=True)
    ]
    by_words = [Judged(one, _share(one.pair)) for one in asked]
    controls = [one for one in judged if one.asked.is_control]
    thresholds = [LIKELY]
    if len(controls) >= ENOUGH:
        at_allowed = threshold_for(controls, ALLOWED)
        thresholds.insert(0, at_allowed)
        theirs = threshold_for([one for one in by_words if one.asked.is_control], ALLOWED)
        section.lines.append(
            _line(
                f"{title}, {shown(ALLOWED, '%')} false alarms",
                judged,
                at_allowed,
                by_words=by_words,
                their_threshold=theirs,
                target=TARGET,
            )
        )
    section.lines.append(
        _line(
            f"{title}, threshold {LIKELY}",
            judged,
            LIKELY,
            by_words=by_words,
            their_threshold=LIKELY,
        )
    )
    for name, control in (("found", False), ("false alarms", True)):
        rows = _rows([one for one in judged if one.asked.is_control is control], thresholds)
        header = ["Kind", "Pairs", *(f"At {threshold:.2f}" for threshold in thresholds)]
        section.tables.append(Table(f"{title.capitalize()}, {name}", header, rows))
    rate = number(evaluation.pairs_per_second or 0.0)
    section.notes.append(f"{title.capitalize()}: {len(asked):,} pairs, {rate} a second.")


def threshold_for(controls: Sequence[Judged], allowed: float) -> float:
    """Return the highest threshold at which no more than a share of the controls is flagged."""
    ranked = sorted(one.probability or 0.0 for one in controls)
    return ranked[int(len(ranked) * allowed)]


def _line(
    what: str,
    judged: Sequence[Judged],
    threshold: float,
    *,
    by_words: Sequence[Judged],
    their_threshold: float,
    target: float | None = None,
) -> Line:
    swaps = [one for one in judged if not one.asked.is_control]
    return Line(
        what,
        SHARED_WORDS,
        _rate([one for one in judged if one.asked.is_control], threshold) + " false alarms",
        _rate([one for one in by_words if not one.asked.is_control], their_threshold),
        _interval(sum(one.is_flagged(threshold) for one in swaps), len(swaps)),
        "%",
        target=target,
    )


def _rows(judged: Sequence[Judged], thresholds: Sequence[float]) -> list[list[str]]:
    """Return the shares flagged, kind by kind and of all together."""
    kinds: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        kinds[one.asked.kind].append(one)
    return [
        [kind, f"{len(found):,}", *(_rate(found, threshold) for threshold in thresholds)]
        for kind, found in [*sorted(kinds.items()), ("**all**", list(judged))]
    ]


def _rate(judged: Sequence[Judged], threshold: float) -> str:
    flagged = sum(one.is_flagged(threshold) for one in judged)
    return f"{100 * flagged / len(judged):.1f} %" if judged else "-"


def _interval(hits: int, of: int) -> Spread:
    """Return a share with the interval that holds it in 95 % of samples, after Wilson."""
    z = 1.96
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return Spread(share, max(0.0, middle - reach), min(1.0, middle + reach))


def _share(pair: Pair) -> float:
    """Return which part of the claim's content words is in the evidence."""
    return coverage(content_stems(words(pair.claim)), content_stems(words(pair.evidence)))


def _of_own(size: Size) -> list[Asked]:
    return made_pairs(places_in(OWN), OWN_NAMES, size, rounds=12)


def _of_sets(size: Size, data: Path) -> list[Asked]:
    """Return pairs made of sentences that the training sets do not have."""
    files = [file for name in SETS for file in sorted((data / "dev").glob(f"{name}.jsonl*"))]
    texts = dict.fromkeys(pair.evidence for file in files for pair in read_pairs(file))
    places = places_in(texts)
    known = known_sentences([place.sentence for place in places], _training_texts(data / "train"))
    new = [place for place in places if place.sentence not in known]
    return made_pairs(new, names_in(texts), size, rounds=1)


def _training_texts(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.jsonl*")):
        pairs = read_pairs(file)
        yield from dict.fromkeys(text for pair in pairs for text in (pair.evidence, pair.claim))


def places_in(texts: Iterable[str]) -> list[Place]:
    """Return the plain sentences of texts, each once, with one neighbour before and after."""
    found: dict[str, Place] = {}
    for text in texts:
        spans = sentence_spans(text)
        for place, (start, end) in enumerate(spans):
            sentence = text[start:end]
            if 5 <= len(sentence.split()) <= 45 and re.match(r"[A-Z].*\.$", sentence):
                around = spans[max(0, place - 1) : place + 2]
                evidence = text[around[0][0] : around[-1][1]]
                found.setdefault(sentence, Place(sentence, evidence))
    return list(found.values())


def known_sentences(wanted: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Return the sentences that stand in a text, in whatever case and punctuation."""
    by_start: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for sentence in wanted:
        said = _WORDS.findall(sentence.lower())
        by_start[tuple(said[:_IN_A_ROW])].append((sentence, " ".join(said)))
    known: set[str] = set()
    for text in texts:
        said = _WORDS.findall(text.lower())
        starts = zip(*(said[place:] for place in range(_IN_A_ROW)), strict=False)
        for start in by_start.keys() & set(starts):
            whole = " ".join(said)
            known.update(sentence for sentence, plain in by_start[start] if plain in whole)
    return known


def made_pairs(places: Sequence[Place], names: Names, size: Size, rounds: int) -> list[Asked]:
    """Return swaps and controls, as evenly of all kinds as the sentences give them."""
    source = random.Random(SEED)
    order = list(places)
    source.shuffle(order)
    swaps: defaultdict[str, dict[Asked, None]] = defaultdict(dict)
    controls: defaultdict[str, dict[Asked, None]] = defaultdict(dict)
    for _ in range(rounds):
        for place in order:
            controls[VERBATIM][_asked(VERBATIM, place, place.sentence, Label.SUPPORTED)] = None
            for change in changes(place.sentence, names, source):
                label = Label(change.label)
                if change.text in place.evidence:
                    continue
                if change.kind.startswith("harmless:") and label is Label.SUPPORTED:
                    controls[change.kind][_asked(change.kind, place, change.text, label)] = None
                elif label is not Label.SUPPORTED:
                    swaps[change.kind][_asked(change.kind, place, change.text, label)] = None
    return [*_evenly(swaps, size.swaps), *_evenly(controls, size.controls)]


def _asked(kind: str, place: Place, claim: str, label: Label) -> Asked:
    return Asked(kind.removeprefix("harmless:"), Pair(place.evidence, claim, label))


def _evenly(kinds: dict[str, dict[Asked, None]], count: int) -> list[Asked]:
    """Return the first of each kind, then the second of each, and so on."""
    turns = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return [one for turn in turns for one in turn if one][:count]


def _by_hand(limit: int | None) -> list[Asked]:
    """Return the swaps written by hand, all or the first few."""
    sys.path.insert(0, str(ROOT / "tests"))
    from judges.nli.swaps import SWAPS  # noqa: PLC0415 - the data of a test

    return [
        Asked(swap.kind, Pair(swap.evidence, swap.claim, Label(swap.label)))
        for swap in SWAPS[:limit]
    ]


def main() -> None:
    run_on_pairs(
        "perturbations",
        "Measures how many changes of a sentence the judges find.",
        lambda size, data: measure_perturbations(SIZES[size], data),
    )


if __name__ == "__main__":
    main()
