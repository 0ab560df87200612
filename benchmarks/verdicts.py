"""Verdicts on claims as assistants word them: how many get the right one, and which go wrong.

Run it with `python -m benchmarks.verdicts [--quick] [--split calibrate] [--json FILE]`. The claims
are those of `training/claims`: of its test part, judged by the passage they were written about and
by the whole document; and those of whole answers, taken out of the answer, found and judged by the
product's own path. Only the test part and the answers count; the other part is for choosing.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Line, Section, Spread, Table, machine, options, parser, report
from benchmarks.measuring import table as markdown_table
from training.alignment import aligned
from training.claims_set import FOLDER, ClaimPair, MarkedAnswer, read_answers, read_pairs

import evidentia as ev
from evidentia.judges.measuring import Label, Outcome, auroc, support_probability
from evidentia.language.markup import one_line
from evidentia.language.words import content_stems, coverage, words
from evidentia.ledger.judging import Judge
from evidentia.ledger.model import LedgerEntry, Verdict, WeakSupport
from evidentia.workspace.evaluating import check_pair, chosen_judges

ENGLISH = "en"
RULES = ("quote", "numbers")
BY_VALUES = ("number", "unit", "date", "name", "negation")
"""The ways of being false that rules can see without knowing what words mean."""
WORST = 20
_PAIRS_TO_AN_ANSWER = 8
"""How many pairs there are to each answer where not all are measured."""
_SHOWN = 220
_KNOWN = {
    "test": "Neither this part nor the answers were trained on, chosen by, or read before they "
    "were measured.",
    "calibrate": "This part is for choosing and mending: rules for Arabic were mended by what they "
    "got wrong here.",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its label, and the verdict that it got; `notes` say why it got it."""

    outcome: Outcome
    kind: str
    genre: str
    evidence: str
    claim: str
    notes: str

    @property
    def is_likely(self) -> bool:
        """Whether it is called supported, or weak because the judge is not sure enough."""
        found = self.outcome
        return found.verdict is Verdict.SUPPORTED or found.support is WeakSupport.PROBABLE

    @property
    def harm(self) -> float:
        """How wrong the verdict is: the probability that was given to what is not so."""
        chance = self.outcome.probability or 0.0
        match self.outcome.label:
            case Label.SUPPORTED:
                against = self.outcome.verdict is Verdict.CONTRADICTED
                return 1 - chance if against else 0.0
            case _:
                return chance if self.is_likely else 0.0


@dataclass(frozen=True, slots=True)
class Goal:
    """A share of the claims of a label that get a verdict, with what it must reach and aims at."""

    what: str
    label: Label
    counts: Callable[[Judged], bool]
    floor: float
    aim: float
    at_most: bool = False


GOALS = (
    Goal(
        "true claims supported", Label.SUPPORTED, lambda one: _is(one, Verdict.SUPPORTED), 0.3, 0.6
    ),
    Goal(
        "true claims supported or probable", Label.SUPPORTED, lambda one: one.is_likely, 0.75, 0.88
    ),
    Goal(
        "false claims contradicted",
        Label.CONTRADICTED,
        lambda one: _is(one, Verdict.CONTRADICTED),
        0.4,
        0.65,
    ),
    Goal(
        "false claims supported or probable",
        Label.CONTRADICTED,
        lambda one: one.is_likely,
        0.15,
        0.08,
        at_most=True,
    ),
    Goal(
        "true claims contradicted",
        Label.SUPPORTED,
        lambda one: _is(one, Verdict.CONTRADICTED),
        0.03,
        0.01,
        at_most=True,
    ),
    Goal(
        "absent claims not found",
        Label.NOT_FOUND,
        lambda one: _is(one, Verdict.NOT_FOUND),
        0.88,
        0.93,
    ),
)
AUROC_FLOOR, AUROC_AIM = 0.8, 0.9
PRECISION_FLOOR = 0.95
ARABIC = (
    Goal(
        "Arabic, rules alone: false claims contradicted",
        Label.CONTRADICTED,
        lambda one: _is(one, Verdict.CONTRADICTED),
        0.4,
        0.6,
    ),
    Goal(
        "Arabic, rules alone: true claims contradicted",
        Label.SUPPORTED,
        lambda one: _is(one, Verdict.CONTRADICTED),
        0.03,
        0.01,
        at_most=True,
    ),
)


def _is(one: Judged, verdict: Verdict) -> bool:
    return one.outcome.verdict is verdict


def by_passage(pairs: Iterable[ClaimPair], judges: Sequence[Judge]) -> Iterator[Judged]:
    """Judge each claim by the passage it was written about."""
    for pair in pairs:
        entry = check_pair(pair.evidence, pair.claim, judges)
        yield _judged(entry, pair.label, pair.kind, pair.genre, pair.evidence)


def by_document(pairs: Sequence[ClaimPair], judges: Sequence[Judge]) -> Iterator[Judged]:
    """Judge each claim by all the passages of its document, as one text."""
    passages: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pair in pairs:
        passages[pair.document][pair.evidence] = None
    texts = {name: "\n\n".join(found) for name, found in passages.items()}
    for pair in pairs:
        entry = check_pair(texts[pair.document], pair.claim, judges)
        yield _judged(entry, pair.label, pair.kind, pair.genre, pair.evidence)


def by_answers(answers: Sequence[MarkedAnswer], folder: Path) -> tuple[list[Judged], str]:
    """Check whole answers; return their claims as judged, and what is to be said of them."""
    found: list[Judged] = []
    several = held = 0
    with tempfile.TemporaryDirectory() as home, ev.open(home) as workspace:
        for answer in answers:
            documents = [
                document
                for name in answer.documents
                for document in workspace.ingest(folder / "documents" / name).documents
            ]
            checked = workspace.check(answer.answer, against=documents)
            entries = {entry.claim_id: entry for entry in checked.entries}
            for one in aligned(answer, checked.session.claims):
                entry = entries[one.claim.id]
                told = entry.evidence_snippet
                found.append(_judged(entry, one.label, one.kind, "answer", told))
                several += one.marked > 1
                held += one.marked
    marked = sum(len(answer.claims) for answer in answers)
    return found, (
        f"Of {marked} claims marked in English answers {marked - held} were not taken out as "
        f"claims; they are in no figure. {several} of the {len(found)} that were hold several "
        "marked ones: such a claim counts as false if one of these is false, and as true only if "
        "all are."
    )


def _judged(entry: LedgerEntry, label: str, kind: str, genre: str, evidence: str) -> Judged:
    outcome = Outcome(Label(label), entry.verdict, support_probability(entry), entry.support)
    return Judged(outcome, kind, genre, evidence, entry.claim_text, entry.notes)


def lines_of(way: str, found: Sequence[Judged], goals: Sequence[Goal] = GOALS) -> list[Line]:
    """Return the figures of one way of reading, each with what it must reach."""
    lines = [_goal_line(way, goal, found) for goal in goals]
    if goals is GOALS:
        lines[:0] = [_auroc_line(way, found)]
        lines.insert(2, _precision_line(way, found))
    return lines


def _auroc_line(way: str, found: Sequence[Judged]) -> Line:
    decided = [one for one in found if one.outcome.label in (Label.SUPPORTED, Label.CONTRADICTED)]
    truth = [one.outcome.is_supported for one in decided]
    ours = auroc(truth, [one.outcome.probability or 0.0 for one in decided]) or 0.0
    theirs = auroc(truth, [_words_shared(one) for one in decided]) or 0.0
    return Line(
        f"{way}: AUROC, true against false",
        "shared words",
        f"{ours:.3f}",
        f"{theirs:.3f}",
        Spread.of([ours]),
        "%",
        target=AUROC_FLOOR,
        aim=AUROC_AIM,
    )


def _words_shared(one: Judged) -> float:
    return coverage(content_stems(words(one.claim)), content_stems(words(one.evidence)))


def _precision_line(way: str, found: Sequence[Judged]) -> Line:
    called = [one for one in found if _is(one, Verdict.SUPPORTED)]
    right = sum(one.outcome.is_supported for one in called)
    return Line(
        f"{way}: precision of supported",
        "all called supported",
        f"{right}",
        f"{len(called)}",
        Spread.of([right / len(called) if called else 0.0]),
        "%",
        target=PRECISION_FLOOR,
    )


def _goal_line(way: str, goal: Goal, found: Sequence[Judged]) -> Line:
    asked = [one for one in found if one.outcome.label is goal.label]
    hits = sum(map(goal.counts, asked))
    return Line(
        f"{way}: {goal.what}",
        "all such claims",
        f"{hits}",
        f"{len(asked)}",
        Spread.of([hits / len(asked) if asked else 0.0]),
        "%",
        target=goal.floor,
        aim=goal.aim,
        at_most=goal.at_most,
    )


def tables_of(way: str, found: Sequence[Judged]) -> list[Table]:
    """Return what became of claims: by label and verdict, by kind, by genre."""
    return [
        Table(
            f"{way}, by label", ["Label", *_COLUMNS], _rows(found, lambda one: one.outcome.label)
        ),
        Table(
            f"{way}, by label and kind",
            ["Kind", *_COLUMNS],
            _rows(found, lambda one: f"{one.outcome.label.value}: {one.kind}"),
        ),
        Table(
            f"{way}, by kind of document",
            ["Document, label", *_COLUMNS],
            _rows(
                [
                    one
                    for one in found
                    if one.outcome.label in (Label.SUPPORTED, Label.CONTRADICTED)
                ],
                lambda one: f"{one.genre}, {one.outcome.label.value}",
            ),
        ),
    ]


_COLUMNS = ("Claims", "supported", "probable", "partial", "contradicted", "not found", "not judged")


def _rows(found: Iterable[Judged], named: Callable[[Judged], str]) -> list[list[str]]:
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in found:
        groups[str(named(one))].append(one)
    return [[name, *_counts(group)] for name, group in sorted(groups.items())]


def _counts(group: Sequence[Judged]) -> list[str]:
    weak = [one for one in group if _is(one, Verdict.WEAK)]
    probable = sum(one.outcome.support is WeakSupport.PROBABLE for one in weak)
    counts = (
        len(group),
        sum(_is(one, Verdict.SUPPORTED) for one in group),
        probable,
        len(weak) - probable,
        *(
            sum(_is(one, verdict) for one in group)
            for verdict in (Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.NOT_JUDGED)
        ),
    )
    return [f"{count:,}" for count in counts]


def worst(found: Sequence[Judged]) -> Table:
    """Return the worst errors: false claims that are called likely, true ones contradicted."""
    ranked = sorted(found, key=lambda one: (-one.harm, one.claim))[:WORST]
    return Table(
        f"The {WORST} worst errors by passage",
        ["Label, kind", "Verdict", "Probability", "Claim", "Passage"],
        [
            [
                f"{one.outcome.label.value}, {one.kind}",
                one.outcome.verdict.value.replace("_", " "),
                f"{one.outcome.probability or 0.0:.2f}",
                _cell(one.claim),
                _cell(one.evidence),
            ]
            for one in ranked
            if one.harm
        ],
    )


def _cell(text: str) -> str:
    said = one_line(text).replace("|", "¦")
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]} …"


def measure_verdicts(split: str, limit: int | None) -> Section:
    """Measure the verdicts of the judges that a check asks by default."""
    section = Section(
        "verdicts",
        "Verdicts on claims as assistants word them",
        f"Claims of `training/claims`, part `{split}`, and of its whole answers, with the judges "
        "that a check asks by default. *By passage*: each claim with the passage it was written "
        "about. *By document*: with all the passages of its document. *Answers*: each claim as it "
        "is taken out of an answer and looked for in the documents. *True* claims are labelled "
        "supported, *false* ones contradicted, *absent* ones not found. *Probable* is weak because "
        "the judge is not sure enough. " + _KNOWN[split],
    )
    pairs = read_pairs(split)[:limit]
    english = [pair for pair in pairs if pair.language == ENGLISH]
    judges = chosen_judges()
    passage = list(by_passage(english, judges))
    section.lines += lines_of("by passage", passage)
    section.tables += tables_of("By passage", passage)
    document = list(by_document(english, judges))
    section.lines += lines_of("by document", document)
    section.tables += tables_of("By document", document)[:1]
    arabic = [
        pair
        for pair in pairs
        if pair.language != ENGLISH and (pair.label == Label.SUPPORTED or pair.kind in BY_VALUES)
    ]
    by_rules = list(by_passage(arabic, chosen_judges(RULES)))
    section.lines += lines_of("by passage", by_rules, ARABIC)
    section.tables += tables_of("Arabic and across languages, rules alone", by_rules)[1:2]
    told = [answer for answer in read_answers(split) if answer.language == ENGLISH]
    told = told if limit is None else told[: max(1, limit // _PAIRS_TO_AN_ANSWER)]
    answers, note = by_answers(told, FOLDER)
    section.lines += lines_of("answers", answers)
    section.tables += tables_of("Answers", answers)[:2]
    section.notes.append(note)
    section.tables.append(worst(passage))
    return section


def main() -> None:
    names = ["verdicts"]
    arguments = parser("Measures the verdicts on claims as assistants word them.", names)
    arguments.add_argument("--split", default="test", choices=["calibrate", "test"])
    parsed = arguments.parse_args()
    asked = options(parsed, names)
    with asked.workplace() as folder:
        described = machine(folder)
        print(markdown_table(["Machine", ""], list(described.items())), end="\n\n", flush=True)
        section = measure_verdicts(parsed.split, {"full": None, "quick": 64}.get(asked.size, 4))
        print(section.markdown(), flush=True)
    report(asked, described, [section])


if __name__ == "__main__":
    main()
