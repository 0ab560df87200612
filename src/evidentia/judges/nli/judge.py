"""The nli judge: a small trained model, held to account by rules, for what words alone don't tell.

It reads a claim against the passages found for it, one by one, and together with what stands around
the best of them, and says how likely it is that they support the claim, contradict it, or support
it in part: three calibrated probabilities, from which one decision follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from evidentia.errors import InputError
from evidentia.judges.checks import Check, retold, typed_checks
from evidentia.judges.nli.combining import (
    CONTRADICTED,
    PARTLY,
    SUPPORTED,
    Chances,
    Floats,
    PartScores,
    part_features,
)
from evidentia.judges.nli.lacking import lacking
from evidentia.judges.nli.model import combination, model_digest, pair_model
from evidentia.judges.nli.reading import PARTS, Question, evidence_text, is_readable, questions
from evidentia.ledger.confidence import percent
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, Comparison, EvidenceMatch, Passage, SupportLevel
from evidentia.ledger.verdicts import LIKELY, SUPPORTED_ABOVE

_FULL: Final = SupportLevel.FULL
CONTRADICTS: Final = 0.72
"""How likely a contradiction must be to be called one."""
PLAINLY: Final = 0.8
"""How likely one passage alone must contradict the claim by the model, for it to be called so."""
HINTS: Final = 0.2
"""How likely a passage alone must support a claim to be named among several that do together."""


@dataclass(frozen=True, slots=True)
class PartReading:
    """What was found about a part of a claim."""

    question: Question
    scores: PartScores
    checks: tuple[Check, ...]
    features: dict[str, float]
    chances: Chances
    is_whole: bool
    """Whether the model read all the evidence at once."""

    @property
    def support(self) -> float:
        """How likely it is supported; never surely, where the model read pieces of the evidence.

        What it has not read may say otherwise, and on whole documents it was too sure of itself.
        Nor surely where a figure of the claim stands nowhere in what it read.
        """
        supported = self.chances.supported
        has_figures = not self.features["figures nowhere"]
        return supported if self.is_whole and has_figures else min(supported, SUPPORTED_ABOVE)

    @property
    def is_in_part(self) -> bool:
        """Whether it is rather supported, in part or in full, than not."""
        return self.chances.supported + self.chances.weak >= LIKELY

    @property
    def is_contradicted(self) -> bool:
        """Whether a contradiction is likely enough, and a passage alone contradicts plainly."""
        plainly = float(self.scores.alone[:, CONTRADICTED].max()) >= PLAINLY
        return plainly and self.chances.contradicted >= CONTRADICTS


class NliJudge:
    """Judges by a trained model of evidence and claim, beside typed checks of what they say."""

    name = "nli"
    never_certain = True
    """It is asked last, and not about what the others are certain of."""
    reads_meaning = True
    """The corpus is to know what its passages mean, so that this judge is given the right ones."""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the model."""
        return model_digest()

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Return an opinion on each passage, read without what stands around it."""
        return self.judge_within(claim, passages, [passage.snippet for passage in passages])

    def judge_within(
        self, claim: Claim, passages: Sequence[Passage], around: Sequence[str]
    ) -> list[Opinion | None]:
        """Return an opinion on each passage; all say how likely the claim is supported."""
        if not passages:
            return []
        if not is_readable(claim.text):
            raise InputError(
                "the model reads English only; word the claim in English, or ask a judge that "
                "reads its language (llm, model:FOLDER)"
            )
        parts = self.read(claim.text, passages, around)
        if not parts:
            return [None] * len(passages)
        support = min(part.support for part in parts)
        against = [part for part in parts if part.is_contradicted]
        in_part = [part for part in parts if part.is_in_part]
        said: dict[int, EvidenceMatch] = {}
        if support >= LIKELY:
            said = _in_favour(claim.text, parts, passages)
        elif against:
            said = _against(claim.text, against, passages)
        elif in_part:
            said = _in_part(claim.text, in_part, len(parts), passages)
        return [
            Opinion(said.get(place) or _nothing(passage, support), support=support)
            for place, passage in enumerate(passages)
        ]

    def read(
        self, claim: str, passages: Sequence[Passage], around: Sequence[str]
    ) -> list[PartReading]:
        """Return what is found about each part of a claim; the passages come best first."""
        asked = questions(claim, passages, around)
        if len(asked) > PARTS:
            raise InputError(f"the claim has {len(asked)} parts, {PARTS} at most: it is a text")
        texts = [evidence_text(passage) for passage in passages]
        pairs = [_pairs(question, texts) for question in asked]
        different = list(dict.fromkeys(pair for some in pairs for pair in some))
        chances = dict(zip(different, _chances(pair_model().scores(different)), strict=True))
        found: list[PartReading] = []
        for question, some in zip(asked, pairs, strict=True):
            *alone, together = (chances[pair] for pair in some)
            scores = PartScores(np.array(alone), together)
            found.append(_part(question, scores, texts))
        return found


def _pairs(question: Question, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return what the model is asked: of each passage alone, and last of all together.

    The model does not calculate: it reads each value as the passage writes it.
    """
    evidence = [*(texts[place] for place in question.alone), question.gathered]
    return [(text, retold(question.part, text)) for text in evidence]


def _part(question: Question, scores: PartScores, texts: Sequence[str]) -> PartReading:
    part = question.part
    checks = typed_checks(part, question.gathered)
    is_whole = len(question.together) == len(texts)
    everything = question.gathered if is_whole else " ".join([question.gathered, *texts])
    features = part_features(scores, checks, lacking(retold(part, everything), everything))
    formulas = combination()
    chances = (formulas.whole if is_whole else formulas.pieces).chances(features)
    return PartReading(question, scores, checks, features, chances, is_whole=is_whole)


def _chances(logits: Floats) -> Floats:
    """Return the probabilities of each row of logits."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=1, keepdims=True)
    return chances


def _in_favour(
    claim: str, parts: Sequence[PartReading], passages: Sequence[Passage]
) -> dict[int, EvidenceMatch]:
    """Return the passages that support a claim: each part's best, or several that do together."""
    support = min(part.support for part in parts)
    said: dict[int, EvidenceMatch] = {}
    for part in parts:
        alone = dict(
            zip(part.question.alone, part.scores.alone[:, SUPPORTED].tolist(), strict=True)
        )
        best = max(alone, key=lambda place: (alone[place], -place))
        by = ""
        full = {place for place, chance in alone.items() if chance >= LIKELY}
        hints = set[int]()
        if not full:
            full = {best}
            hints = {place for place in part.question.together if alone.get(place, 0.0) >= HINTS}
            by = " by several passages" if hints - full else ""
        reason = f"the model finds it supported{by}, {percent(support)} likely"
        if len(parts) > 1:
            reason = f"{reason}, each of its {len(parts)} parts"
        for place in sorted(full | hints):
            known = said.get(place)
            is_full = place in full or (known is not None and known.support_level is _FULL)
            said[place] = EvidenceMatch(
                similarity=support if is_full else min(alone[place], support),
                support_level=_FULL if is_full else SupportLevel.PARTIAL,
                snippet=passages[place].snippet,
                passage=passages[place],
                judge=NliJudge.name,
                reason=reason,
                compared=(
                    *(known.compared if known else ()),
                    *_compared(claim, part, passages[place]),
                ),
            )
    return said


def _against(
    claim: str, parts: Sequence[PartReading], passages: Sequence[Passage]
) -> dict[int, EvidenceMatch]:
    """Return the passage that contradicts a claim most, given the parts that are contradicted."""
    part = max(parts, key=lambda part: part.chances.contradicted)
    alone = part.scores.alone[:, CONTRADICTED]
    place = part.question.alone[int(alone.argmax())]
    checks = typed_checks(part.question.part, passages[place].snippet)
    conflicts = [check.reason for check in checks if check.conflict and check.evidence]
    why = conflicts[0] if conflicts else f'it conflicts with "{part.question.part}"'
    likely = part.chances.contradicted
    reason = f"the model finds a contradiction, {percent(likely)} likely: {why}"
    return {
        place: EvidenceMatch(
            similarity=likely,
            support_level=SupportLevel.NONE,
            contradicts=True,
            snippet=passages[place].snippet,
            passage=passages[place],
            judge=NliJudge.name,
            reason=reason,
            compared=_compared(claim, part, passages[place]),
        )
    }


def _in_part(
    claim: str, parts: Sequence[PartReading], of: int, passages: Sequence[Passage]
) -> dict[int, EvidenceMatch]:
    """Return the passage that supports a claim in part, given what of it is supported so far.

    What is missing is named: other parts of the claim, or what the rules found.
    """
    part = max(parts, key=lambda part: part.chances.supported + part.chances.weak)
    alone = part.scores.alone
    place = part.question.alone[int((alone[:, SUPPORTED] + alone[:, PARTLY]).argmax())]
    likely = min(part.chances.supported + part.chances.weak, 1.0)
    missing = [check.reason for check in part.checks if check.conflict]
    if len(parts) < of:
        missing.insert(0, f"{len(parts)} of its {of} parts")
    why = f": {missing[0]}" if missing else ""
    return {
        place: EvidenceMatch(
            similarity=likely,
            support_level=SupportLevel.PARTIAL,
            snippet=passages[place].snippet,
            passage=passages[place],
            judge=NliJudge.name,
            reason=f"the model finds it supported in part, {percent(likely)} likely{why}",
            compared=_compared(claim, part, passages[place]),
        )
    }


def _nothing(passage: Passage, support: float) -> EvidenceMatch:
    return EvidenceMatch(
        similarity=support,
        support_level=SupportLevel.NONE,
        snippet=passage.snippet,
        passage=passage,
        judge=NliJudge.name,
        reason="the model finds nothing about it",
    )


def _compared(claim: str, part: PartReading, passage: Passage) -> tuple[Comparison, ...]:
    """Return what the rules compared, by its places in the claim's text and in the snippet."""
    begins = claim.find(part.question.part)
    if begins < 0:
        return ()  # markup stands within it: there is no place to point to
    return tuple(
        Comparison(
            kind=check.kind.value,
            conflict=check.conflict,
            claim_start=begins + check.claim[0],
            claim_end=begins + check.claim[1],
            start=check.evidence[0] if check.evidence else None,
            end=check.evidence[1] if check.evidence else None,
        )
        for check in typed_checks(part.question.part, passage.snippet)
    )
