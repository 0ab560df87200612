"""The judge of a folder: a classifier reads each passage beside the claim, and all together.

Evidence that is longer than what the model reads is split, between sentences where that can be;
nothing is cut off. What is said is the most that a passage, or the passages together, make likely.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, isfinite
from typing import Final, Protocol

from evidentia.errors import InputError
from evidentia.judges.checkpoint.calibration import Calibration, Scale
from evidentia.judges.checkpoint.labels import Reading
from evidentia.judges.nli.reading import evidence_text
from evidentia.language.sentences import sentence_spans
from evidentia.ledger.confidence import percent
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel
from evidentia.ledger.verdicts import LIKELY
from evidentia.ledger.voting import Answer, Question

_SAME: Final = Scale()


class Classifier(Protocol):
    """Reads evidence and claim, and gives a number for each label."""

    def fits(self, evidence: str, claim: str) -> bool:
        """Whether both together are no longer than what it reads."""

    def logits(self, evidence: str, claim: str) -> Sequence[float]:
        """Return a number for each label, the larger the likelier."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely a piece of evidence supports and contradicts a claim."""

    support: float
    contradiction: float


@dataclass(frozen=True, slots=True)
class Read:
    """What was found about a claim: by each passage alone, and by the passages together."""

    alone: tuple[Chances, ...]
    together: Chances | None

    @property
    def support(self) -> float:
        """The most that any of it makes support likely."""
        return max(one.support for one in self._all)

    @property
    def contradiction(self) -> float:
        """The most that a passage alone makes a contradiction likely."""
        return max(one.contradiction for one in self.alone)

    @property
    def _all(self) -> Sequence[Chances]:
        return self.alone if self.together is None else (*self.alone, self.together)


class CheckpointJudge:
    """Judges by a classifier out of a folder, about what the others are in doubt of."""

    def __init__(
        self,
        name: str,
        digest: str,
        reading: Reading,
        classifier: Classifier,
        *,
        calibration: Calibration | None = None,
        reads_meaning: bool = False,
    ) -> None:
        self.name = name
        self.digest = digest
        self.reads_meaning = reads_meaning
        self._reading = reading
        self._classifier = classifier
        self._scale = calibration.support if calibration else _SAME
        self._against = (calibration.contradiction if calibration else None) or _SAME

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Return an opinion on the passage that decides; raise for a claim that is too long."""
        if not passages:
            return []
        opinion = self._opinion(claim, passages)
        return [opinion if passage == opinion.match.passage else None for passage in passages]

    def judge_all(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Give an answer to each question."""
        for question in questions:
            if not question.passages:
                yield Answer(reason="no passage was found to judge it by")
                continue
            try:
                opinion = self._opinion(question.claim, question.passages)
            except InputError as error:
                yield Answer(failure=str(error))
            else:
                yield Answer((opinion,), reason=opinion.match.reason)

    def read(self, claim: str, passages: Sequence[Passage]) -> Read:
        """Return what the model makes of a claim and passages, on its scales."""
        if not self._classifier.fits("", claim):
            most = self._reading.max_tokens
            raise InputError(f"the claim is longer than the {most} tokens that the model reads")
        texts = [evidence_text(passage) for passage in passages]
        alone = tuple(self._best(text, claim) for text in texts)
        gathered = self._gathered(claim, passages, texts)
        together = self._chances(gathered, claim) if gathered else None
        return Read(alone, together)

    def _best(self, text: str, claim: str) -> Chances:
        """Return what the pieces of a text say: the most of each."""
        found = [
            self._chances(piece, claim)
            for piece in split_to_fit(text, lambda piece: self._classifier.fits(piece, claim))
        ]
        return Chances(
            max((one.support for one in found), default=0.0),
            max((one.contradiction for one in found), default=0.0),
        )

    def _gathered(self, claim: str, passages: Sequence[Passage], texts: Sequence[str]) -> str:
        """Return the best passages as one text in the order they stand in; nothing if it is one."""
        taken: list[int] = []
        for place in range(len(texts)):
            tried = sorted([*taken, place], key=lambda at: _where(passages[at]))
            if texts[place] and self._classifier.fits(_joined(texts, tried), claim):
                taken = tried
        return _joined(texts, taken) if len(taken) > 1 else ""

    def _chances(self, evidence: str, claim: str) -> Chances:
        logits = self._classifier.logits(evidence, claim)
        if len(logits) != len(self._reading.roles) or not all(map(isfinite, logits)):
            raise InputError("the model gave no number for each of its labels")
        highest = max(logits)
        raised = [exp(one - highest) for one in logits]
        total = sum(raised)
        of = {"supported": 0.0, "contradicted": 0.0}
        for role, one in zip(self._reading.roles, raised, strict=True):
            if role in of:
                of[role] += one / total
        against = (
            self._against.apply(of["contradicted"]) if self._reading.tells_contradictions else 0.0
        )
        return Chances(self._scale.apply(of["supported"]), against)

    def _opinion(self, claim: Claim, passages: Sequence[Passage]) -> Opinion:
        found = self.read(claim.text, passages)
        support, against = found.support, found.contradiction
        level, contradicts = SupportLevel.NONE, False
        chances = [one.support for one in found.alone]
        sure, why = support, "the model finds nothing that supports or contradicts it"
        if support >= max(LIKELY, against):
            level = SupportLevel.FULL
            why = f"the model finds it supported, {percent(support)} likely"
        elif against >= LIKELY:
            contradicts, sure = True, against
            chances = [one.contradiction for one in found.alone]
            why = f"the model finds a contradiction, {percent(against)} likely"
        passage = passages[chances.index(max(chances))]
        match = EvidenceMatch(
            similarity=sure,
            support_level=level,
            contradicts=contradicts,
            snippet=passage.snippet,
            passage=passage,
            judge=self.name,
            reason=why,
        )
        return Opinion(match, support=min(support, 1 - against) if contradicts else support)


def split_to_fit(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Give a text in pieces that fit: of whole sentences, of words where one is too long."""
    if not text or fits(text):
        yield from [text] if text else []
        return
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    if len(sentences) > 1:
        yield from _packed(sentences, fits)
        return
    words = text.split()
    if len(words) < 2:  # noqa: PLR2004 - one word cannot be split
        raise InputError("a word of the evidence is longer than what the model reads")
    half = len(words) // 2
    for part in (words[:half], words[half:]):
        yield from split_to_fit(" ".join(part), fits)


def _packed(sentences: Sequence[str], fits: Callable[[str], bool]) -> Iterator[str]:
    piece = ""
    for sentence in sentences:
        longer = f"{piece} {sentence}" if piece else sentence
        if fits(longer):
            piece = longer
            continue
        if piece:
            yield piece
        piece = sentence
        if not fits(sentence):
            yield from split_to_fit(sentence, fits)
            piece = ""
    if piece:
        yield piece


def _joined(texts: Sequence[str], places: Sequence[int]) -> str:
    return " ".join(texts[place] for place in places)


def _where(passage: Passage) -> tuple[str, int, int]:
    return passage.source.id, passage.page, passage.start
