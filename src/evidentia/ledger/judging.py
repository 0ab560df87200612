"""Judging: the protocol that judges keep, and how their opinions combine.

Judges are asked in order, the cheap and certain ones first. For each passage the first certain
opinion decides; if none is certain, the last one given does, unless it finds nothing where another
found something and is itself in doubt. Passages that each settle a part
of a claim support it together if nothing is left over. A claim about "you" is compared with a
passage about employees as one about them, and the reason says so. A claim that begins with a
condition is supported in part by what supports it in full without the condition. A judge that
fails says so: its failure is a value, and a claim that no judge was certain about is then
`not_judged`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from traceback import format_exception_only
from typing import Final, Protocol, runtime_checkable

from evidentia.errors import EvidentiaError
from evidentia.language.clauses import main_clause
from evidentia.ledger.addressing import Addressed, addressed_by, addresses_reader, with_reader
from evidentia.ledger.model import Claim, Comparison, EvidenceMatch, Passage, SupportLevel

TOGETHER: Final = 0.87
"""The similarity of passages that support a claim together, and none of them alone."""
READ_AS: Final = 0.87
"""The most that a passage is similar to a claim about "you" whose reader it names."""
DOUBT: Final = (0.3, 0.5)
"""From and below which probability of support a judge that finds nothing is in doubt."""
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge says of a passage; `certain` means that no other judge need be asked.

    `settles` names the parts of the claim that the passage supports, of as many as `parts` says.
    `support` is how likely it is that this and the passages judged with it support the claim.
    """

    match: EvidenceMatch
    certain: bool = False
    settles: frozenset[int] = frozenset()
    parts: int = 0
    support: float | None = None


class Judge(Protocol):
    """Says of passages whether they support a claim or contradict it.

    Deterministic: the same claim and passages give the same opinions. A judge that asks a model
    has its SHA-256 as an attribute `digest`. One that is slow and never certain says so by an
    attribute `never_certain`: it is asked about claims that no other is certain are supported.
    """

    name: str

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        """Return one opinion per passage, or None where the judge has none."""
        ...


@runtime_checkable
class WideJudge(Judge, Protocol):
    """A judge that reads passages with what stands around them."""

    def judge_within(
        self, claim: Claim, passages: Sequence[Passage], around: Sequence[str]
    ) -> Sequence[Opinion | None]:
        """Return one opinion per passage; `around` has the text in which each stands."""
        ...


Around = Callable[[Passage], str]
"""Gives the text in which a passage stands."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A judge that could not judge a claim, and why."""

    judge: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What all judges together said of a claim's passages."""

    matches: tuple[EvidenceMatch, ...]
    failures: tuple[Failure, ...] = ()
    certain: bool = False
    passages: int = 0
    judges: tuple[str, ...] = ()
    support: float | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    nearest: Passage | None = None
    """The passage that was found first, whether or not it says anything about the claim."""
    sure: tuple[Passage, ...] = ()
    """The passages by which a judge is certain that the claim is supported in full."""


def ask_judges(
    claim: Claim,
    passages: Sequence[Passage],
    judges: Sequence[Judge],
    around: Around = lambda passage: passage.snippet,
) -> Judged:
    """Ask the judges in order; return what bears on the claim, and which judges failed."""
    addresses = addresses_reader(claim.text)
    questions = [
        _Question(passage, around(passage), addressed_by(passage) if addresses else None)
        for passage in passages
    ]
    decided: list[Opinion | None] = [None] * len(passages)
    failures: list[Failure] = []
    models: dict[str, str] = {}
    for judge in judges:
        open_places = [
            place for place, opinion in enumerate(decided) if opinion is None or not opinion.certain
        ]
        if not open_places:
            break
        try:
            opinions = _on_claim(judge, claim, [questions[place] for place in open_places])
        except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes a reason
            failures.append(Failure(judge.name, failure_reason(error)))
            continue
        if digest := getattr(judge, "digest", ""):
            models[judge.name] = digest
        for place, opinion in zip(open_places, opinions, strict=True):
            decided[place] = _later(decided[place], opinion)
    bearing = _of_one_reader(questions, decided)
    return Judged(
        tuple(_together(bearing)),
        tuple(failures),
        any(opinion.certain for opinion in bearing),
        len(passages),
        tuple(judge.name for judge in judges),
        _support([opinion for opinion in decided if opinion], bearing),
        models,
        passages[0] if passages else None,
        tuple(
            passage for passage, opinion in zip(passages, decided, strict=True) if _is_sure(opinion)
        ),
    )


def _is_sure(opinion: Opinion | None) -> bool:
    full = SupportLevel.FULL
    return opinion is not None and opinion.certain and opinion.match.support_level is full


def _later(known: Opinion | None, opinion: Opinion | None) -> Opinion | None:
    """Return which of two opinions on a passage holds, the one known or the one given later."""
    if not (known and opinion):
        return opinion or known
    low, high = DOUBT
    doubts = opinion.support is not None and low <= opinion.support < high
    if known.match.bears and not opinion.match.bears and doubts:
        return replace(known, support=opinion.support)
    return opinion


def _support(opinions: Sequence[Opinion], bearing: Sequence[Opinion]) -> float | None:
    """Return how likely it is that the passages support the claim; None if no judge says.

    It agrees with the verdict: a contradiction that counts goes before all else, and then what a
    judge is certain of, or passages say together, before what another thinks likely.
    """
    against = [
        min(1 - one.match.similarity, 1.0 if one.support is None else one.support)
        for one in bearing
        if one.match.contradicts and (one.certain or one.support is not None)
    ]
    if against:
        return min(against)
    certain = [
        one.match.similarity for one in opinions if one.certain and not one.match.contradicts
    ]
    if _settle_all(bearing):
        certain.append(TOGETHER)
    thought = [one.support for one in opinions if one.support is not None]
    return max([*certain, *thought], default=None)


@dataclass(frozen=True, slots=True)
class _Question:
    """A passage to judge, where it stands, and whom it speaks of if the claim says "you"."""

    passage: Passage
    around: str
    persons: Addressed | None


def _on_claim(
    judge: Judge, claim: Claim, questions: Sequence[_Question]
) -> Sequence[Opinion | None]:
    """Ask a judge about a claim, and again without its condition where there is no opinion."""
    opinions = _opinions(judge, claim, questions)
    rest = main_clause(claim.text)
    places = [place for place, opinion in enumerate(opinions) if opinion is None]
    if rest == claim.text or not places:
        return opinions
    proviso = f'without the claim\'s condition ("{claim.text[: -len(rest)].rstrip(", ")}")'
    bare = claim.model_copy(update={"text": rest[0].upper() + rest[1:]})
    given = _opinions(judge, bare, [questions[place] for place in places])
    for place, opinion in zip(places, given, strict=True):
        if opinion and opinion.match.support_level is SupportLevel.FULL:
            opinions[place] = _in_part(_placed(opinion, bare, claim), proviso)
    return opinions


def _opinions(judge: Judge, claim: Claim, questions: Sequence[_Question]) -> list[Opinion | None]:
    """Ask a judge about passages: together, but for those that name whom the claim addresses."""
    opinions: list[Opinion | None] = [None] * len(questions)
    for persons in dict.fromkeys(question.persons for question in questions):
        places = [place for place, asked in enumerate(questions) if asked.persons == persons]
        read = claim
        if persons and persons.is_reader:
            read = claim.model_copy(update={"text": with_reader(claim.text, persons.name)})
        given = _asked(judge, read, [questions[place] for place in places])
        for place, opinion in zip(places, given, strict=True):
            opinions[place] = opinion
            if opinion and persons:
                opinions[place] = _of_you(_placed(opinion, read, claim), persons)
    return opinions


def _placed(opinion: Opinion, read: Claim, claim: Claim) -> Opinion:
    """Return an opinion on a claim that was read in other words, with its places in the claim.

    What does not stand there, or stands there twice, has no place.
    """
    compared: list[Comparison] = []
    for one in opinion.match.compared:
        said = read.text[one.claim_start : one.claim_end]
        if claim.text.count(said) == 1:
            at = claim.text.index(said)
            place = {"claim_start": at, "claim_end": at + len(said)}
            compared.append(one.model_copy(update=place))
    return replace(opinion, match=opinion.match.model_copy(update={"compared": tuple(compared)}))


def _asked(judge: Judge, claim: Claim, questions: Sequence[_Question]) -> Sequence[Opinion | None]:
    passages = [question.passage for question in questions]
    if isinstance(judge, WideJudge):
        around = [question.around for question in questions]
        opinions = list(judge.judge_within(claim, passages, around))
    else:
        opinions = list(judge.judge(claim, passages))
    if len(opinions) != len(passages):
        raise ValueError(f"gave {len(opinions)} opinions on {len(passages)} passages")
    return [
        None if opinion is None else _checked(judge.name, passage, opinion)
        for passage, opinion in zip(passages, opinions, strict=True)
    ]


def _checked(name: str, passage: Passage, opinion: Opinion) -> Opinion:
    """Return an opinion under its judge's name, about the passage asked about and nothing else."""
    if not isinstance(opinion, Opinion):
        raise TypeError(f"gave a {type(opinion).__name__} and no opinion")
    match = opinion.match
    if match.passage not in (None, passage) or match.snippet not in passage.snippet:
        raise ValueError("quoted what is not in the passage")
    if (match.passage, match.judge) == (passage, name):
        return opinion
    return replace(opinion, match=match.model_copy(update={"passage": passage, "judge": name}))


def _of_you(opinion: Opinion, persons: Addressed) -> Opinion | None:
    """Return what an opinion on a passage about persons says of "you", and that it is so read."""
    match = opinion.match
    if persons.is_reader:
        update = {
            "similarity": min(match.similarity, READ_AS),
            "reason": f'{match.reason}, with "you" read as "{persons.name}"',
        }
        return replace(opinion, match=match.model_copy(update=update))
    return _in_part(opinion, f'of "{persons.name}", who may not be "you"')


def _in_part(opinion: Opinion, proviso: str) -> Opinion | None:
    """Return what is left of an opinion under a proviso: support in part, and no contradiction."""
    match = opinion.match
    if not match.bears or match.contradicts:
        return None
    update = {"support_level": SupportLevel.PARTIAL, "reason": f"{match.reason}, but {proviso}"}
    return Opinion(match.model_copy(update=update))


def _of_one_reader(
    questions: Sequence[_Question], decided: Sequence[Opinion | None]
) -> list[Opinion]:
    """Return the opinions that bear on the claim.

    Where "you" as one kind of reader is supported, what is said against it as another is not meant.
    Where a judge is certain that a claim is supported, one that is not certain contradicts nothing.
    """
    bearing = [
        (opinion, question.persons.kind if question.persons else None)
        for question, opinion in zip(questions, decided, strict=True)
        if opinion and opinion.match.bears
    ]
    kinds = {
        kind for opinion, kind in bearing if opinion.match.support_level is SupportLevel.FULL
    } - {None}
    sure = any(_is_sure(opinion) for opinion, _ in bearing)
    return [
        opinion
        for opinion, kind in bearing
        if not opinion.match.contradicts
        or ((opinion.certain or not sure) and (not kinds or not kind or kind in kinds))
    ]


def _together(opinions: Sequence[Opinion]) -> list[EvidenceMatch]:
    """Return the matches; those that settle all parts between them become full ones."""
    if not _settle_all(opinions):
        return [opinion.match for opinion in opinions]
    return [_as_full(opinion.match) if opinion.settles else opinion.match for opinion in opinions]


def _settle_all(opinions: Sequence[Opinion]) -> bool:
    """Whether passages support all parts of a claim between them, and none alone does."""
    matches = [opinion.match for opinion in opinions]
    alone = any(match.contradicts or match.support_level is SupportLevel.FULL for match in matches)
    settled = frozenset[int]().union(*(opinion.settles for opinion in opinions))
    parts = max((opinion.parts for opinion in opinions), default=0)
    return not alone and bool(settled) and len(settled) >= parts


def _as_full(match: EvidenceMatch) -> EvidenceMatch:
    return match.model_copy(
        update={
            "similarity": TOGETHER,
            "support_level": SupportLevel.FULL,
            "reason": f"{match.reason}; other passages support the rest",
        }
    )


def failure_reason(error: Exception) -> str:
    """Return what was raised, on one line; an exception that cannot be printed says so.

    Errors of ours are sentences, and need no name.
    """
    said = [str(error)] if isinstance(error, EvidentiaError) else format_exception_only(error)
    text = "".join(said).encode(errors="replace").decode()
    return " ".join(text.split())[:_LONGEST_REASON]
