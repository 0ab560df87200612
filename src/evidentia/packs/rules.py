"""What a pack must have before it is sealed, and the five ways of making one that are refused."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Final

from evidentia.bundles.redaction.redactor import Redactor
from evidentia.errors import SealingError
from evidentia.packs.fields import is_content_hash
from evidentia.packs.memo import unmet_languages, unmet_limits, unmet_references
from evidentia.packs.model import EvidencePack, EvidenceSource
from evidentia.packs.tools import ToolCallRecord

_LOOKING: Final = b"what is found here is counted, and never kept"
_OWN_SCHEMES: Final = ("llm", "model", "prompt", "completion", "assistant")
_MEMO_TEXTS: Final = (
    "title_ar",
    "title_en",
    "body_ar",
    "body_en",
    "executive_summary_ar",
    "executive_summary_en",
)


class AntiPattern(StrEnum):
    """The ways of making a pack that are refused, by the names that errors have for them."""

    PROSE_ONLY = "prose_only"
    """Nothing is cited but what the model itself wrote."""
    SUCCESSES_ONLY = "successes_only"
    """Calls of tools that were made for the decision are left out."""
    ONE_LANGUAGE = "one_language"
    """The memo is not there in both languages."""
    EDITED_IN_PLACE = "edited_in_place"
    """A pack was changed instead of being replaced by a newer version."""
    PERSONAL_DATA_IN_MEMO = "personal_data_in_memo"
    """The memo holds personal data instead of pointing to it."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """Something that a pack lacks: where, and what to do about it."""

    where: str
    says: str
    anti_pattern: AntiPattern | None = None

    def __str__(self) -> str:
        name = f" ({self.anti_pattern.value})" if self.anti_pattern else ""
        return f"{self.where}: {self.says}{name}"


def unmet(
    pack: EvidencePack,
    recorded: Sequence[ToolCallRecord] = (),
    *,
    replaced: EvidencePack | None = None,
) -> list[Unmet]:
    """Return what a pack lacks before it can be sealed; `recorded` are the calls of its decision.

    An empty answer means that it can. What calls say that are recorded, or are in the pack that is
    `replaced`, was worked out by the rules of their time and stays.
    """
    known = (*recorded, *(replaced.tool_calls if replaced else ()))
    found = (
        _identity(pack),
        _sources(pack),
        _tools(pack, recorded),
        _told(pack, known),
        _memo(pack),
    )
    return list(chain.from_iterable(found))


def check_sealable(
    pack: EvidencePack,
    recorded: Sequence[ToolCallRecord] = (),
    *,
    replaced: EvidencePack | None = None,
) -> None:
    """Raise `SealingError` that says all that a pack lacks, if it lacks anything."""
    missing = unmet(pack, recorded, replaced=replaced)
    if missing:
        raise SealingError(
            f"{pack.pack_id} cannot be sealed: {'; '.join(map(str, missing))}",
            tuple(map(str, missing)),
        )


def _identity(pack: EvidencePack) -> Iterator[Unmet]:
    if pack.pack_id != pack.derived_id():
        yield Unmet(
            "pack_id",
            "the pack was changed after it was made: make a newer version",
            AntiPattern.EDITED_IN_PLACE,
        )
    if pack.tenant_id is None:
        yield Unmet("tenant_id", "say which tenant the pack belongs to")
    decision = pack.decision
    asked = decision is not None and decision.approval_class.needs_review
    if asked and not pack.needs_review and pack.replaces is None:
        yield Unmet("decision.needs_review", "the approval class asks for a review: set it to true")
    if pack.reviewer_id is not None and pack.review_outcome is None:
        yield Unmet("review_outcome", "say what the review came to: approved or rejected")
    for number, prompt in enumerate(pack.prompts, start=1):
        if prompt.content_hash is not None and not is_content_hash(prompt.content_hash):
            yield Unmet(f"prompts[{number}].content_hash", _NO_HASH)


_NO_HASH: Final = "not a SHA-256 digest: write sha256: and 64 hexadecimal digits, or leave it out"


def _sources(pack: EvidencePack) -> Iterator[Unmet]:
    for number, source in enumerate(pack.sources, start=1):
        where = f"sources[{number}]"
        if source.confidence is None:
            yield Unmet(f"{where}.confidence", "say how far it is relied on, from 0 to 1")
        if source.retrieved_at is None:
            yield Unmet(f"{where}.retrieved_at", "say when it was retrieved")
        if source.content_hash is not None and not is_content_hash(source.content_hash):
            yield Unmet(f"{where}.content_hash", _NO_HASH)
    if all(_is_own_prose(source, pack) for source in pack.sources):
        yield Unmet(
            "sources",
            "nothing is cited but the model's own prose: cite what it read",
            AntiPattern.PROSE_ONLY,
        )


def _is_own_prose(source: EvidenceSource, pack: EvidencePack) -> bool:
    scheme = (source.uri or source.reference or "").partition(":")[0].casefold()
    own = {name.casefold() for name in (pack.agent_name, pack.model)}
    return source.source.casefold() in own or scheme in _OWN_SCHEMES


def left_out(pack: EvidencePack, recorded: Iterable[ToolCallRecord]) -> list[ToolCallRecord]:
    """Return the calls that are recorded for a pack's decision and are not in it."""
    return _beyond(recorded, pack.tool_calls)


def unrecorded(pack: EvidencePack, recorded: Iterable[ToolCallRecord]) -> list[ToolCallRecord]:
    """Return the calls that a pack has and that are not recorded for its decision."""
    return _beyond(pack.tool_calls, recorded)


def _beyond(
    calls: Iterable[ToolCallRecord], others: Iterable[ToolCallRecord]
) -> list[ToolCallRecord]:
    known = Counter(call.sha256 for call in others)
    beyond: list[ToolCallRecord] = []
    for call in calls:
        if known[call.sha256] > 0:
            known[call.sha256] -= 1
        else:
            beyond.append(call)
    return beyond


def _tools(pack: EvidencePack, recorded: Sequence[ToolCallRecord]) -> Iterator[Unmet]:
    for call in left_out(pack, recorded):
        yield Unmet(
            "tool_calls",
            f"a call of {call.tool_name} that {call.outcome.value} is recorded for "
            f"{pack.decision_id} and not in the pack: add it",
            AntiPattern.SUCCESSES_ONLY,
        )


def _told(pack: EvidencePack, known: Sequence[ToolCallRecord]) -> Iterator[Unmet]:
    for number, call in enumerate(pack.tool_calls, start=1):
        if call not in known and (problem := call.departure()):
            yield Unmet(f"tool_calls[{number}]", problem)


def _memo(pack: EvidencePack) -> Iterator[Unmet]:
    for message in unmet_limits(pack.memo):
        yield Unmet("memo", message)
    for message in unmet_references(pack.memo, len(pack.sources)):
        yield Unmet("memo", message)
    for message in unmet_languages(pack.memo):
        yield Unmet("memo", message, AntiPattern.ONE_LANGUAGE)
    redactor = Redactor(_LOOKING)
    for name in _MEMO_TEXTS:
        found = redactor.redact(getattr(pack.memo, name)).redactions
        if found:
            kinds = ", ".join(sorted({one.kind for one in found}))
            yield Unmet(
                f"memo.{name}",
                f"holds personal data ({kinds}): point to its source instead",
                AntiPattern.PERSONAL_DATA_IN_MEMO,
            )
