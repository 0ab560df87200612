"""Building a bundle: redact, bound each item, bound the whole, and account for every input.

Values in, values out: what has to be persisted because it was cut is given back as bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidentia.bundles.accounting import Accounting, InputFate, Outcome, Step, gravest
from evidentia.bundles.bounding import cut_to_bytes, kept_places
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.ids import evidence_ids
from evidentia.bundles.inputs import Input, begin_input
from evidentia.bundles.model import (
    BYTES_PER_TOKEN,
    BundleBounding,
    BundleSummary,
    EvidenceBundle,
    EvidenceItem,
    TokenCounts,
    artifact_uri,
    make_bundle,
    redaction_counts,
    source_name,
    type_counts,
)
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redacting import placed, redact_input
from evidentia.bundles.rendering import NONCE_DIGITS, fenced
from evidentia.bundles.sampling import runs
from evidentia.bundles.tables import SampledTable, fit_table, table_text
from evidentia.bundles.tokens import cut_to_tokens
from evidentia.canonical import canonical_row, sha256_hex
from evidentia.language.characters import strip_invisible

if TYPE_CHECKING:  # loading it takes a while, and not every bundle is redacted
    from evidentia.bundles.redaction.redactor import Redactor

Count = Callable[[str], int]
_ANY_NONCE: Final = "0" * NONCE_DIGITS
_COUNTED: Final = {"max_item_bytes": "byte", "max_item_tokens": "token"}


@dataclass(frozen=True, slots=True)
class BuiltBundle:
    """A bundle, its bytes, and the artifacts it refers to that are not in the lake yet.

    `there` are digests of what was in the lake when it was built.
    """

    bundle: EvidenceBundle
    data: bytes
    artifacts: tuple[bytes, ...] = ()
    there: tuple[str, ...] = ()


def build_bundle(
    candidates: Sequence[Candidate],
    policy: EvidencePolicy,
    *,
    created_utc: str,
    redactor: "Redactor | None" = None,
    count_tokens: Count | None = None,
) -> BuiltBundle:
    """Make a bundle of what was loaded; nothing in it is over a limit of the policy.

    `redactor` is needed where the policy redacts, `count_tokens` where it names a tokenizer.
    """
    inputs = [begin_input(candidate) for candidate in candidates]
    for one in inputs:
        if redactor is not None:
            redact_input(one, redactor)
        _bound(one, policy, count_tokens)
    named = [_with_part(one) for one in inputs]
    for one, evidence_id in zip(inputs, evidence_ids(named), strict=True):
        one.evidence_id = evidence_id
    stayed = _bound_whole(inputs, policy, count_tokens)
    artifacts: dict[str, bytes] = {}
    items = [_item(inputs[place], artifacts) for place in stayed]
    kept = set(stayed)
    dropped = [one for place, one in enumerate(inputs) if place not in kept]
    bundle, data = make_bundle(
        policy,
        items,
        _summary(items, dropped, _keep_dropped(dropped, artifacts), policy, count_tokens),
        Accounting.of([_decision(one) for one in inputs]),
        created_utc=created_utc,
    )
    return BuiltBundle(bundle, data, tuple(artifacts.values()))


def _bound(one: Input, policy: EvidencePolicy, count_tokens: Count | None) -> None:
    """Bring one input within the limits of an item."""
    limit = policy.max_item_bytes
    if one.table is not None:
        _bound_table(one, policy, count_tokens)
    if one.size > limit:
        one.take(Outcome.TRUNCATED, f"max_item_bytes: {limit:,}", cut_to_bytes(one.content, limit))
    if (tokens := policy.max_item_tokens) is not None and count_tokens is not None:
        shorter = cut_to_tokens(one.content, tokens, count_tokens)
        if shorter != one.content:
            one.take(Outcome.TRUNCATED, f"max_item_tokens: {tokens:,}", shorter)


def _bound_table(one: Input, policy: EvidencePolicy, count_tokens: Count | None) -> None:
    """Show less of a table before its text is cut: fewer rows, and no long cells."""
    _show_less(one, policy.max_item_bytes, f"max_item_bytes: {policy.max_item_bytes:,}")
    tokens = policy.max_item_tokens
    if tokens is None or count_tokens is None:
        return
    while (count := count_tokens(one.content)) > tokens:
        fewer = one.size * tokens // (count + 1)  # bytes that have about as many tokens
        if not _show_less(one, fewer, f"max_item_tokens: {tokens:,}"):
            return


def _show_less(one: Input, max_bytes: int, limit: str) -> bool:
    """Bring a table's text within some bytes, and say whether less of it is shown now."""
    table, title = one.table, one.title
    if table is None or one.size <= max_bytes:
        return False
    fitted = fit_table(table, title, max_bytes)
    if fitted == table:
        return False
    reasons = []
    if len(fitted.rows) < len(table.rows):
        reasons.append(f"{len(fitted.rows):,} of {len(table.rows):,} sampled rows")
    if fitted.trimmed_cells:
        reasons.append(f"{fitted.trimmed_cells:,} long cells trimmed")
    one.table = fitted
    one.take(Outcome.SAMPLED, f"{limit}, {', '.join(reasons)}", table_text(fitted, title))
    if one.hits:
        elsewhere = (hit for hit in one.redactions if hit["field"] != "content")
        one.redactions = (*placed(one.hits, one.content), *elsewhere)
    return True


def _with_part(one: Input) -> Candidate:
    """Return the candidate with the part of its id: a result's says which rows it shows."""
    table = one.table
    if table is None:
        return one.candidate
    found = runs(table.row_numbers)
    part = one.candidate.part
    if len(found) == 1 and len(table.row_numbers) < table.row_count:
        part = f"{part}:{found[0].start}-{found[0].stop}"
    return one.candidate._replace(part=part)


def _bound_whole(
    inputs: Sequence[Input], policy: EvidencePolicy, count_tokens: Count | None
) -> list[int]:
    """Drop what does not fit into the bundle; return the places of what stays."""
    alive = []
    for place, one in enumerate(inputs):
        if reason := _why_nothing_is_left(one, policy):
            one.take(Outcome.DROPPED, reason, "")
        else:
            alive.append(place)
    limit = policy.max_total_tokens

    def fits(places: Sequence[int]) -> bool:
        items = [_item(inputs[alive[place]], {}) for place in places]
        return (
            count_tokens is None
            or limit is None
            or count_tokens(fenced(items, _ANY_NONCE)) <= limit
        )

    stayed = kept_places(
        [inputs[place].size for place in alive],
        [inputs[place].candidate.priority for place in alive],
        max_items=policy.max_items,
        max_total_bytes=policy.max_total_bytes,
        fits=None if limit is None else fits,
    )
    kept = {alive[place] for place in stayed}
    total = sum(inputs[place].size for place in kept)
    dropped = [inputs[place] for place in alive if place not in kept]
    if dropped:
        first = max(dropped, key=lambda one: one.candidate.priority)
        reason = _why_dropped(policy, len(kept), total + first.size)
        for one in dropped:
            one.take(Outcome.DROPPED, reason, "")
    return sorted(kept)


def _rendered_tokens(items: Sequence[EvidenceItem], count_tokens: Count | None) -> int:
    """Count what `render` writes; every nonce has as many tokens as any other."""
    return 0 if count_tokens is None else count_tokens(fenced(items, _ANY_NONCE))


def _why_nothing_is_left(one: Input, policy: EvidencePolicy) -> str | None:
    if policy.max_item_bytes == 0 or policy.max_item_tokens == 0:
        return "max_item_bytes: 0" if policy.max_item_bytes == 0 else "max_item_tokens: 0"
    if one.candidate.table is not None and one.candidate.error is None:
        if policy.max_sql_rows == 0:
            return "max_sql_rows: 0"
        if policy.max_sql_cols == 0:
            return "max_sql_cols: 0"
    if not one.content and one.steps and one.steps[-1].done is Outcome.TRUNCATED:
        return f"not one character is within {one.steps[-1].reason}"
    return None


def _why_dropped(policy: EvidencePolicy, count: int, total: int) -> str:
    """Name the limit that the first of the dropped would have been over, with it counted in."""
    if count >= policy.max_items:
        return f"max_items: {policy.max_items:,}"
    if total > policy.max_total_bytes or policy.max_total_bytes == 0:
        return f"max_total_bytes: {policy.max_total_bytes:,}"
    return f"max_total_tokens: {policy.max_total_tokens:,}"


def _item(one: Input, artifacts: dict[str, bytes]) -> EvidenceItem:
    """Make the item of an input that stays; its whole is noted where it is not in the lake."""
    metadata = dict(one.metadata)
    if one.table is not None:
        metadata["sampling"] = _sampling(one.table)
    if seen := [hit for hit in one.redactions if _is_seen(hit, one.content)]:
        metadata["redactions"] = seen
    cut = one.is_cut()
    if cut:
        metadata["bounding"] = _bounding(one)
    full_ref = one.candidate.original
    if cut and full_ref is None:
        data = one.whole.encode()
        full_ref = _keep(data, artifacts)
    data = one.content.encode()
    return EvidenceItem(
        evidence_id=one.evidence_id,
        evidence_type=one.candidate.evidence_type,
        source_ref=one.source_ref,
        content=one.content,
        content_sha256=sha256_hex(data),
        byte_count=len(data),
        metadata=metadata,
        full_ref=full_ref if cut else None,
    )


def _is_seen(hit: Mapping[str, Any], content: str) -> bool:
    """Whether a placeholder is in what is left of the content; those of other fields always are."""
    return hit["field"] != "content" or bool(hit["end"] <= len(content))


def _sampling(table: SampledTable) -> dict[str, Any]:
    return {
        "strategy": table.strategy,
        "row_count": table.row_count,
        "rows": [[run.start, run.stop] for run in runs(table.row_numbers)],
        "columns": list(table.columns),
        "left_out_columns": list(table.left_out_columns),
        "trimmed_cells": table.trimmed_cells,
    }


def _bounding(one: Input) -> dict[str, Any]:
    """Return an item's bounding in the shape that readers of bundles know."""
    truncated = one.steps[-1].done is Outcome.TRUNCATED
    cuts = [step for step in one.steps if step.done in (Outcome.SAMPLED, Outcome.TRUNCATED)]
    return {
        "applied": True,
        "original_size": one.input_bytes,
        "bounded_size": one.size,
        "truncation_point": len(one.content) if truncated else None,
        "note": "; ".join(map(_note, cuts)),
    }


def _note(step: Step) -> str:
    """Say how an item was cut, in the words of the bundles' first specification."""
    if step.done is Outcome.SAMPLED:
        return f"Sampled: {step.reason}"
    limit, _, number = step.reason.partition(": ")
    return f"Truncated to {number.replace(',', '')} {_COUNTED[limit]} limit"


def _keep(data: bytes, artifacts: dict[str, bytes]) -> dict[str, Any]:
    digest = sha256_hex(data)
    artifacts[digest] = data
    return {"lake_uri": artifact_uri(digest), "sha256": digest, "byte_count": len(data)}


def _keep_dropped(dropped: Sequence[Input], artifacts: dict[str, bytes]) -> dict[str, Any] | None:
    """Note the dropped texts that are nowhere in the lake, as one artifact: a line for each."""
    lines = [
        canonical_row({"evidence_id": one.evidence_id, "content": one.whole})
        for one in dropped
        if one.candidate.original is None and one.candidate.error is None
    ]
    return _keep(b"\n".join([*lines, b""]), artifacts) if lines else None


def _decision(one: Input) -> InputFate:
    original = one.candidate.original
    return InputFate(
        one.evidence_id,
        one.candidate.evidence_type,
        one.candidate.origin,
        source_name(one.source_ref),
        gravest(one.steps),
        one.input_bytes,
        one.size,
        one.steps,
        None if original is None else original["lake_uri"],
        None if original is None else original["sha256"],
    )


def _dropped_note(count: int) -> str:
    return f"Dropped {count} {'item' if count == 1 else 'items'} to meet bundle limits"


def _summary(
    items: Sequence[EvidenceItem],
    dropped: Sequence[Input],
    dropped_ref: Mapping[str, Any] | None,
    policy: EvidencePolicy,
    count_tokens: Count | None,
) -> BundleSummary:
    total = sum(item.byte_count for item in items)
    note = _dropped_note(len(dropped)) if dropped else ""
    tokens = None
    if policy.tokenizer is not None and count_tokens is not None:
        rendered = _rendered_tokens(items, count_tokens)
        content = sum(count_tokens(strip_invisible(item.content)[0]) for item in items)
        tokens = TokenCounts(
            tokenizer=policy.tokenizer, rendered=rendered, overhead=max(0, rendered - content)
        )
    return BundleSummary(
        item_count=len(items),
        type_counts=type_counts(items),
        total_bytes=total,
        approx_tokens=total // BYTES_PER_TOKEN,
        tokens=tokens,
        redactions=redaction_counts(items),
        bundle_bounding=BundleBounding(
            applied=bool(dropped),
            original_count=len(items) + len(dropped),
            final_count=len(items),
            items_dropped=len(dropped),
            total_bytes=total,
            note=note,
            dropped_ref=dropped_ref,
        ),
    )
