"""The nli judge: a small trained model, held to account by rules, for what words alone don't tell.

It reads a claim against the passages found for it, one by one and together, and says how likely it
is that they support the claim, as a calibrated probability. A contradiction is said only where a
passage is about the same thing and conflicts with the claim.
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
    SUPPORTED,
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
from evidentia.ledger.verdicts import LIKELY

_FULL: Final = SupportLevel.FULL
HINTS: Final = 0.2
"""How likely a passage alone must support a claim to be named among several that do together."""


@dataclass(frozen=True, slots=True)
class PartReading:
    """What was found about a part of a claim."""

    question: Question
    scores: PartScores
    checks: tuple[Check, ...]
    features: dict[str, float]
    support: float
    contradiction: float
    is_whole: bool
    """Whether the model read all the evidence at once."""


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
        """Return an opinion on each passage; all say how likely the claim is supported."""
        if not passages:
            return []
        if not is_readable(claim.text):
            raise InputError("the claim is not English, which is all that this judge reads")
        parts = self.read(claim.text, passages)
        if not parts:
            return [None] * len(passages)
        weakest = min(parts, key=lambda part: part.support)
        support = weakest.support
        against = max(parts, key=lambda part: part.contradiction)
        borne_out = [part for part in parts if part.support >= LIKELY and _finds(part, SUPPORTED)]
        said: dict[int, EvidenceMatch] = {}
        if len(borne_out) == len(parts):
            said = _in_favour(claim.text, parts, passages)
        elif against.contradiction >= LIKELY and _has_conflict(against):
            said = _against(claim.text, against, passages)
        elif borne_out:
            said = _in_part(claim.text, borne_out, support, passages)
        return [
            Opinion(
                said.get(place) or _nothing(passage, support),
                support=min(support, 1 - against.contradiction) if support < LIKELY else support,
            )
            for place, passage in enumerate(passages)
        ]

    def read(self, claim: str, passages: Sequence[Passage]) -> list[PartReading]:
        """Return what is found about each part of a claim; the passages come best first."""
        asked = questions(claim, passages)
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
            found.append(_part(question, scores, some[-1][0], texts))
        return found


def _pairs(question: Question, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return what the model is asked: of each passage alone, and last of all together.

    The model does not calculate: it reads each value as the passage writes it.
    """
    together = " ".join(texts[place] for place in question.together)
    evidence = [*(texts[place] for place in question.alone), together]
    return [(text, retold(question.part, text)) for text in evidence]


def _part(
    question: Question, scores: PartScores, together: str, texts: Sequence[str]
) -> PartReading:
    part = question.part
    checks = typed_checks(part, together)
    everything = " ".join(texts)
    features = part_features(scores, checks, lacking(retold(part, everything), everything))
    formulas = combination()
    is_whole = len(question.together) == len(texts)
    support = (formulas.whole if is_whole else formulas.pieces).probability(features)
    conflict = formulas.contradiction.probability(features)
    return PartReading(
        question, scores, checks, features, support, (1 - support) * conflict, is_whole=is_whole
    )


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
    claim: str, part: PartReading, passages: Sequence[Passage]
) -> dict[int, EvidenceMatch]:
    """Return the passage that contradicts a claim most."""
    alone = part.scores.alone[:, CONTRADICTED]
    place = part.question.alone[int(alone.argmax())]
    checks = typed_checks(part.question.part, passages[place].snippet)
    conflicts = [check.reason for check in checks if check.conflict and check.evidence]
    why = conflicts[0] if conflicts else f'it conflicts with "{part.question.part}"'
    reason = f"the model finds a contradiction, {percent(part.contradiction)} likely: {why}"
    return {
        place: EvidenceMatch(
            similarity=part.contradiction,
            support_level=SupportLevel.NONE,
            contradicts=True,
            snippet=passages[place].snippet,
            passage=passages[place],
            judge=NliJudge.name,
            reason=reason,
            compared=_compared(claim, part, passages[place]),
        )
    }


def _finds(part: PartReading, label: int) -> bool:
    """Whether the model finds this rather than all else, in some passage or in all together."""
    read = [*part.scores.alone, part.scores.together]
    return any(int(row.argmax()) == label for row in read)


def _has_conflict(part: PartReading) -> bool:
    return _finds(part, CONTRADICTED) or any(
        check.conflict and check.evidence for check in part.checks
    )


def _in_part(
    claim: str, parts: Sequence[PartReading], support: float, passages: Sequence[Passage]
) -> dict[int, EvidenceMatch]:
    """Return the passage that supports a part of a claim, given the parts that are supported."""
    part = max(parts, key=lambda part: part.support)
    place = part.question.alone[int(part.scores.alone[:, SUPPORTED].argmax())]
    missing = [check.reason for check in part.checks if check.conflict]
    why = f": {missing[0]}" if missing else ""
    reason = f"the model finds it supported in part at most, {percent(support)} likely{why}"
    return {
        place: EvidenceMatch(
            similarity=support,
            support_level=SupportLevel.PARTIAL,
            snippet=passages[place].snippet,
            passage=passages[place],
            judge=NliJudge.name,
            reason=reason,
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
