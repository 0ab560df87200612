"""What the pages of a pack print: the pack's own texts, and nothing that is not in it."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from evidentia.export.pdf.fields import (
    code,
    count,
    date,
    day,
    english,
    field,
    plain,
    prose,
    reference,
    share,
    short,
    size,
    spoken,
)
from evidentia.language.wording import Lang, duration
from evidentia.ledger.model import Verdict
from evidentia.packs.actions import Basis
from evidentia.packs.model import Attachment, EvidencePack, EvidenceSource, ReviewOutcome
from evidentia.packs.tools import ToolCallRecord
from evidentia.proof.succession import Succession

_SECTIONS: Final = (
    "summary",
    "rationale",
    "weight",
    "evidence",
    "attachments",
    "calls",
    "claims-checked",
    "review",
    "versions",
    "provenance",
)
_HEADING: Final = 100
_HEADING_WORDS: Final = 8
_SENTENCE_ENDS: Final = tuple(".!?:;,،؛؟…")
_SMALL: Final = 900
"""The characters up to which a row of a table stays on one page."""
_FACTS: Final = 1_500
"""The characters up to which a list of facts stays on one page."""


def pages(
    pack: EvidencePack,
    held: Collection[str] = (),
    later: Sequence[Succession] = (),
    *,
    self_review: bool = False,
) -> dict[str, Any]:
    """Return the data of a pack's pages.

    `held` are the names of the attachments in the file, `later` the versions that came after it,
    the oldest first.
    """
    memo, decision = pack.memo, pack.decision
    return {
        "kind": "pack",
        "title": " / ".join(map(plain, (memo.title_ar, memo.title_en))),
        "author": plain(pack.tenant_id or ""),
        "description": f"Evidence pack {pack.pack_id}",
        "sections": _sections(pack),
        "compact": _is_compact(pack),
        "id": code(pack.pack_id),
        "running": {"ar": short(memo.title_ar, "ar"), "en": short(memo.title_en, "en")},
        "classification": decision.sensitivity_class.value if decision else "unclassified",
        "titles": {"ar": prose(memo.title_ar, "ar"), "en": prose(memo.title_en, "en")},
        "decision": {
            "ar": prose(decision.decision_ar if decision else "", "ar"),
            "en": prose(decision.decision if decision else "", "en"),
        },
        "entity": field(pack.entity_id),
        "decision_id": code(pack.decision_id),
        "decided": day(decision.decided_at) if decision else None,
        "agent": field(pack.agent_name),
        "model": field(" ".join(filter(None, (pack.model, pack.model_version)))),
        "weight": _weight(pack),
        "summary": {
            "ar": [prose(line, "ar") for line in _lines(memo.executive_summary_ar)],
            "en": [prose(line, "en") for line in _lines(memo.executive_summary_en)],
        },
        "body": _body(memo.body_ar, memo.body_en),
        "sources": [
            _source(number, source, stale=number in pack.stale_sources)
            for number, source in enumerate(pack.sources, start=1)
        ],
        "window": _window(pack.data_freshness_window_hours),
        "calls": [_call(number, call) for number, call in enumerate(pack.tool_calls, start=1)],
        "offered": [code(name) for name in pack.tools_offered],
        "ledger": _ledger(pack),
        "review": _review(pack) | ({"own": True} if self_review else {}),
        "versions": _versions(pack),
        "superseded": _superseded(later),
        "files": [_file(one, held) for one in pack.attachments],
        "all_here": all(one.name in held for one in pack.attachments),
    }


def _sections(pack: EvidencePack) -> list[str]:
    """Return the sections that the pages of a pack have, in their order."""
    there = {
        "weight": pack.decision is not None,
        "attachments": bool(pack.attachments),
        "claims-checked": pack.ledger is not None,
    }
    return [name for name in _SECTIONS if there.get(name, True)]


def _is_compact(pack: EvidencePack) -> bool:
    """Whether the names in a pack are so short that a list of facts fits on a page."""
    names = (
        pack.entity_id,
        pack.agent_name,
        pack.model,
        pack.model_version or "",
        pack.decision_id,
        pack.review_note,
        pack.reviewer_id or "",
        *(one.template_name + one.template_version for one in pack.prompts),
        *(one.bundle_id + one.bundle_sha256 for one in pack.bundles),
    )
    return sum(map(len, names)) < _FACTS


def _weight(pack: EvidencePack) -> dict[str, Any] | None:
    decision = pack.decision
    if decision is None:
        return None
    return {
        "approval": decision.approval_class.value,
        "reversibility": decision.reversibility_class.value,
        "sensitivity": decision.sensitivity_class.value,
        "confidence": share(decision.confidence),
        "high_stakes": decision.high_stakes,
        "conflicted": decision.conflicted,
    }


def _body(arabic: str, english: str) -> list[dict[str, Any]]:
    """Return the paragraphs of a memo in pairs; where their numbers differ, all in one pair."""
    ar = [_paragraph(text, "ar") for text in _paragraphs(arabic)]
    en = [_paragraph(text, "en") for text in _paragraphs(english)]
    if len(ar) != len(en):
        return [{"ar": ar, "en": en}]
    return [{"ar": [one], "en": [other]} for one, other in zip(ar, en, strict=True)]


def _paragraphs(text: str) -> list[list[str]]:
    """Part a text at its blank lines; each part is its lines."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _paragraph(lines: list[str], lang: Lang) -> dict[str, Any]:
    """Return a paragraph; a short first line that ends as no sentence does is its heading."""
    first, *rest = lines
    is_heading = (
        bool(rest)
        and len(first) <= _HEADING
        and len(first.split()) <= _HEADING_WORDS
        and not first.rstrip().endswith(_SENTENCE_ENDS)
    )
    return {
        "heading": prose(first, lang) if is_heading else None,
        "lines": [prose(line, lang) for line in (rest if is_heading else lines)],
    }


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _source(number: int, source: EvidenceSource, *, stale: bool) -> dict[str, Any]:
    return {
        "number": reference(number),
        "name": field(source.source),
        "excerpt": field(source.excerpt),
        "addresses": [code(one) for one in (source.uri, source.reference) if one is not None],
        "digest": _digest(source.content_hash),
        "retrieved": None if source.retrieved_at is None else date(source.retrieved_at),
        "confidence": None if source.confidence is None else share(source.confidence),
        "stale": stale,
        "keep": len(source.excerpt) + len(source.source) + len(source.uri or "") < _SMALL,
    }


def _call(number: int, call: ToolCallRecord) -> dict[str, Any]:
    undecided = call.contradiction_basis is Basis.UNDECIDED
    told = [call.intended_action, call.actual_action, *call.side_effects, call.error or ""]
    return {
        "number": count(number),
        "tool": code(call.tool_name),
        "intended": field(call.intended_action),
        "actual": field(call.actual_action),
        "effects": [field(effect) for effect in call.side_effects],
        "error": field(call.error or ""),
        "outcome": call.outcome.value,
        "verification": f"verification-{call.verification_status.value}",
        "contradicts": call.contradiction_flag,
        "kind": "undecided" if undecided else "contradiction",
        "reason": english(call.contradiction_reason),
        "called": None if call.called_at is None else code(f"{call.called_at[:19]}Z"),
        "keep": sum(map(len, told)) < _SMALL,
    }


def _ledger(pack: EvidencePack) -> dict[str, Any] | None:
    if pack.ledger is None:
        return None
    summary = pack.ledger.summary
    return {
        "id": code(pack.ledger.ledger_id),
        "digest": code(pack.ledger.statement_sha256),
        "total": count(summary.total_claims),
        "coverage": share(summary.evidence_coverage),
        "counts": [
            {"verdict": verdict.value, "count": count(found)}
            for verdict in Verdict
            if isinstance(found := summary.by_verdict.get(verdict.value), int) and found
        ],
    }


def _review(pack: EvidencePack) -> dict[str, Any]:
    if pack.review_outcome is None:
        state = "pending" if pack.needs_review else "not-needed"
        why = state if pack.decision else "unasked"
        return {"state": state, "why": why, "reviewer": None, "at": None, "note": []}
    return {
        "state": pack.review_outcome.value,
        "reviewer": field(pack.reviewer_id or ""),
        "at": day(pack.reviewed_at or ""),
        "day": date(pack.reviewed_at or ""),
        "note": [field(line) for line in _lines(pack.review_note)],
    }


def _window(hours: float | None) -> dict[str, str] | None:
    """Return how old data may be, if that was said."""
    return None if hours is None else spoken(lambda lang: duration(3_600 * hours, lang))


def _versions(pack: EvidencePack) -> dict[str, Any]:
    return {
        "version": count(pack.version),
        "replaces": None if pack.replaces is None else code(pack.replaces),
        "created": day(pack.created_at),
        "tenant": code(pack.tenant_id or ""),
        "trace": None if pack.trace_id is None else code(pack.trace_id),
        "prompts": [code(f"{one.template_name} {one.template_version}") for one in pack.prompts],
        "bundles": [code(f"{one.bundle_id} {one.bundle_sha256}") for one in pack.bundles],
    }


def _superseded(later: Sequence[Succession]) -> dict[str, Any] | None:
    """Return what the cover says of the newest version, if this is not it."""
    if not later:
        return None
    newest = later[-1]
    outcomes = {one.value for one in ReviewOutcome}
    return {
        "id": code(newest.subject),
        "version": count(newest.version),
        "day": date(newest.at),
        "state": newest.outcome if newest.outcome in outcomes else None,
    }


def _file(one: Attachment, held: Collection[str]) -> dict[str, Any]:
    return {
        "name": code(one.name),
        "type": code(one.media_type),
        "size": size(one.bytes),
        "digest": code(one.sha256),
        "source": None if one.source is None else reference(one.source),
        "here": one.name in held,
    }


def _digest(content_hash: str | None) -> dict[str, str] | None:
    return None if content_hash is None else code(content_hash.removeprefix("sha256:"))
