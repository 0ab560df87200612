"""Bundles and what they are made of. A bundle whose parts do not agree cannot be made or loaded.

Sizes are UTF-8 bytes, offsets are code points. `bundle_sha256` covers everything but the clock
and itself; the id follows from it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha1
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import Field, ValidationError, model_validator

from evidentia.bundles.accounting import (
    Accounting,
    EvidenceId,
    EvidenceType,
    InputFate,
    Outcome,
    Size,
)
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import canonical_json, join_members, parse_json, sha256_hex
from evidentia.errors import CanonicalError, IntegrityError
from evidentia.frozen import FrozenDict, FrozenItems, FrozenList, FrozenModel, FrozenObject, thaw
from evidentia.times import TimeText

if TYPE_CHECKING:
    from evidentia.bundles.rendering import Rendered, RenderFormat

BUILD_VERSION: Final = "2.1"
"""Of the rules by which bundles are built: other rules, other bytes, another version.

`2.0` wrote notes with thousands separators, took one response from a file and found fewer phone
numbers. Its bundles hold as they are.
"""
BYTES_PER_TOKEN: Final = 4
"""What `approx_tokens` takes a token for."""
_NAMESPACE: Final = bytes.fromhex("646f4a3a50f653da8c5dc44f87b2a83b")
"""The UUID (version 5) of `urn:evidentia:spec:v1:bundle` among URLs."""
_TIME: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$"

_DIGEST = re.compile(r"[0-9a-f]{64}")

_KEPT = re.compile(r"sha256/[0-9a-f]{2}/[0-9a-f]{2}/([0-9a-f]{64})")


class EvidenceItem(FrozenModel):
    """A piece of evidence as the model gets it, with where it is from and what was done to it.

    `full_ref` leads to the whole of what was cut.
    """

    evidence_id: EvidenceId
    evidence_type: EvidenceType
    source_ref: FrozenObject
    content: str
    content_sha256: str
    byte_count: Size
    metadata: FrozenObject = Field(default_factory=FrozenDict)
    full_ref: FrozenObject | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the item as a JSON object; what is not cut has no `full_ref`."""
        written = {
            "evidence_id": self.evidence_id,
            "evidence_type": self.evidence_type.value,
            "source_ref": thaw(self.source_ref),
            "content": self.content,
            "content_sha256": self.content_sha256,
            "byte_count": self.byte_count,
            "metadata": thaw(self.metadata),
        }
        return written if self.full_ref is None else {**written, "full_ref": thaw(self.full_ref)}


class BundleBounding(FrozenModel):
    """What was dropped so that the bundle keeps its limits.

    `dropped_ref` leads to the dropped texts that are nowhere else in the lake.
    """

    applied: bool
    original_count: Size
    final_count: Size
    items_dropped: Size
    total_bytes: Size
    note: str
    dropped_ref: FrozenObject | None = None


class TokenCounts(FrozenModel):
    """Exact tokens of what `render` writes, and how many of them are not the items' content."""

    tokenizer: str
    rendered: Size
    overhead: Size


class BundleSummary(FrozenModel):
    """A bundle in numbers."""

    item_count: Size
    type_counts: FrozenObject
    total_bytes: Size
    approx_tokens: Size
    tokens: TokenCounts | None = None
    redactions: FrozenObject = Field(default_factory=FrozenDict)
    bundle_bounding: BundleBounding


class EvidenceBundle(FrozenModel):
    """Exactly what a model saw: items within a policy, and what became of every input.

    Equal inputs and policies give equal bundles but for `created_utc`.
    """

    bundle_id: str
    bundle_sha256: str
    created_utc: Annotated[TimeText, Field(pattern=_TIME)]
    build_version: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")]
    policy: EvidencePolicy
    items: FrozenItems[EvidenceItem]
    summary: BundleSummary
    accounting: Accounting

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        for problem in _contradictions(self):
            raise ValueError(f"the bundle's parts do not agree: {problem}")
        return self

    def as_json(self) -> dict[str, Any]:
        """Return the bundle as a JSON object."""
        return parse_json(self.encode())  # type: ignore[no-any-return]  # an object, by its bytes

    def encode(self) -> bytes:
        """Return the bundle's canonical JSON: the bytes that are persisted."""
        parts = _parts(self.policy, self.items, self.summary, self.accounting, self.build_version)
        return _encoded(parts, self.bundle_id, self.bundle_sha256, self.created_utc)

    @property
    def lake_uri(self) -> str:
        """Where in its lake the bundle is persisted."""
        return artifact_uri(sha256_hex(self.encode()))

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a persisted bundle; raise `IntegrityError` unless its parts agree."""
        try:
            return cls.from_json(parse_json(data))
        except CanonicalError as error:
            raise IntegrityError(f"the bundle cannot be read: {error}") from None

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Take a bundle from a JSON object; raise `IntegrityError` unless its parts agree."""
        try:
            bundle = cls.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            message = first["msg"].removeprefix("Value error, ")
            raise IntegrityError(
                f"not a bundle that holds: {where}: {message}" if where else message
            ) from None
        try:
            written = canonical_json(value)
        except CanonicalError as error:
            raise IntegrityError(f"not a bundle that holds: {error}") from None
        if bundle.encode() != written:
            raise IntegrityError("not a bundle that holds: it is not written as bundles are")
        return bundle

    def item(self, evidence_id: str) -> EvidenceItem | None:
        """Return the item of an id, or None if the bundle has none."""
        return next((item for item in self.items if item.evidence_id == evidence_id), None)

    def render(self, format: "RenderFormat" = "text", *, key: bytes = b"") -> "Rendered":  # noqa: A002 - the name that callers know
        """Return the bundle as a model is given it; see `evidentia.bundles.rendering`.

        `key` makes the fence's nonce one that nobody without it can foresee.
        """
        from evidentia.bundles.rendering import render  # noqa: PLC0415 - it imports this module

        return render(self, format, key=key)


def source_name(source_ref: Mapping[str, Any]) -> str:
    """Return the name that a reader knows a source by; empty if it has none."""
    for name in ("filename", "source_uri", "query_key", "lake_uri", "locator"):
        if (found := source_ref.get(name)) and isinstance(found, str):
            return found
    return ""


def artifact_uri(digest: str) -> str:
    """Return where in a lake the bytes of a digest are."""
    return f"sha256/{digest[:2]}/{digest[2:4]}/{digest}"


def bundle_id_of(bundle_sha256: str) -> str:
    """Return the UUID (version 5) that follows from a bundle's digest."""
    raw = bytearray(sha1(_NAMESPACE + bundle_sha256.encode(), usedforsecurity=False).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def make_bundle(
    policy: EvidencePolicy,
    items: Sequence[EvidenceItem],
    summary: BundleSummary,
    accounting: Accounting,
    *,
    created_utc: str,
) -> tuple[EvidenceBundle, bytes]:
    """Make a bundle of its parts, and its bytes; its digest and id follow from them.

    It is checked like one that is loaded; only what was computed here is not computed again.
    """
    parts = _parts(policy, items, summary, accounting, BUILD_VERSION)
    found = sha256_hex(join_members(parts))
    if not re.fullmatch(_TIME.strip("^$"), created_utc):
        raise IntegrityError(f"not a time in UTC with six digits of a second: {created_utc[:40]!r}")
    bundle = EvidenceBundle.model_construct(
        bundle_id=bundle_id_of(found),
        bundle_sha256=found,
        created_utc=created_utc,
        build_version=BUILD_VERSION,
        policy=policy,
        items=FrozenList(items),
        summary=summary,
        accounting=accounting,
    )
    for problem in chain(_wrong_items(bundle), _wrong_accounts(bundle), _wrong_records(bundle)):
        raise IntegrityError(f"the bundle's parts do not agree: {problem}")
    return bundle, _encoded(parts, bundle.bundle_id, found, created_utc)


def _parts(
    policy: EvidencePolicy,
    items: Sequence[EvidenceItem],
    summary: BundleSummary,
    accounting: Accounting,
    build_version: str,
) -> dict[str, bytes]:
    """Return the canonical JSON of each part that a bundle's digest covers."""
    return {
        "accounting": accounting.encode(),
        "build_version": canonical_json(build_version),
        "items": canonical_json([item.as_json() for item in items]),
        "policy": canonical_json(policy.model_dump(mode="json")),
        "summary": canonical_json(summary.model_dump(mode="json", exclude_none=True)),
    }


def _encoded(parts: Mapping[str, bytes], bundle_id: str, sha256: str, created_utc: str) -> bytes:
    told = {"bundle_id": bundle_id, "bundle_sha256": sha256, "created_utc": created_utc}
    return join_members({**parts, **{name: canonical_json(value) for name, value in told.items()}})


def type_counts(items: Sequence[EvidenceItem]) -> dict[str, int]:
    """Count items by their type."""
    return dict(sorted(Counter(item.evidence_type.value for item in items).items()))


def redaction_counts(items: Sequence[EvidenceItem]) -> dict[str, int]:
    """Count what was redacted in items, by its kind."""
    kinds: Counter[str] = Counter()
    for item in items:
        found = item.metadata.get("redactions")
        if isinstance(found, list):
            kinds.update(str(hit.get("kind")) for hit in found if isinstance(hit, Mapping))
    return dict(sorted(kinds.items()))


def _contradictions(bundle: EvidenceBundle) -> Iterator[str]:
    """Say what in a bundle cannot be so, given the rest of it."""
    parts = _parts(
        bundle.policy, bundle.items, bundle.summary, bundle.accounting, bundle.build_version
    )
    if sha256_hex(join_members(parts)) != bundle.bundle_sha256:
        yield "its content is not what bundle_sha256 says"
    if bundle_id_of(bundle.bundle_sha256) != bundle.bundle_id:
        yield "bundle_id does not follow from bundle_sha256"
    yield from _wrong_items(bundle)
    yield from _wrong_accounts(bundle)
    yield from _wrong_records(bundle)


def _wrong_items(bundle: EvidenceBundle) -> Iterator[str]:
    policy, items = bundle.policy, bundle.items
    if len({item.evidence_id for item in items}) < len(items):
        yield "two items have the same id"
    for item in items:
        data = item.content.encode()
        if len(data) != item.byte_count or sha256_hex(data) != item.content_sha256:
            yield f"{item.evidence_id}: its content is not what its size and digest say"
        if item.byte_count > policy.max_item_bytes:
            yield f"{item.evidence_id}: {item.byte_count:,} bytes, over max_item_bytes"
    total = sum(item.byte_count for item in items)
    if len(items) > policy.max_items:
        yield f"{len(items):,} items, over max_items"
    if total > policy.max_total_bytes:
        yield f"{total:,} bytes, over max_total_bytes"


def _wrong_accounts(bundle: EvidenceBundle) -> Iterator[str]:
    items, summary, accounting = bundle.items, bundle.summary, bundle.accounting
    if accounting != Accounting.of(accounting.decisions):
        yield "its accounting does not count its decisions"
    for decision in accounting.decisions:
        if problem := decision.problem():
            yield f"{decision.evidence_id}: {problem}"
    if len({decision.evidence_id for decision in accounting.decisions}) < accounting.inputs:
        yield "two decisions have the same id"
    stayed = [item for item in accounting.decisions if item.outcome is not Outcome.DROPPED]
    if [(item.evidence_id, item.evidence_type, item.byte_count) for item in items] != [
        (decision.evidence_id, decision.evidence_type, decision.bundle_bytes) for decision in stayed
    ]:
        yield "its items are not those that its accounting kept"
    bounding = summary.bundle_bounding
    total = sum(item.byte_count for item in items)
    counted = (
        summary.item_count,
        summary.total_bytes,
        summary.approx_tokens,
        canonical_json(thaw(summary.type_counts)),  # where true is not 1
        canonical_json(thaw(summary.redactions)),
        bounding.final_count,
        bounding.total_bytes,
        bounding.original_count,
        bounding.items_dropped,
        bounding.applied,
    )
    if counted != (
        len(items),
        total,
        total // BYTES_PER_TOKEN,
        canonical_json(type_counts(items)),
        canonical_json(redaction_counts(items)),
        len(items),
        total,
        accounting.inputs,
        accounting.dropped,
        accounting.dropped > 0,
    ):
        yield "its summary does not count its items"


def _wrong_records(bundle: EvidenceBundle) -> Iterator[str]:
    """Say what the records of cuts say that the items, the policy or the accounting deny."""
    policy, tokens = bundle.policy, bundle.summary.tokens
    if (tokens.tokenizer if tokens else None) != policy.tokenizer:
        yield "its tokens are not counted by the policy's tokenizer"
    most = policy.max_total_tokens
    if tokens and bundle.items and most is not None and tokens.rendered > most:
        yield f"{tokens.rendered:,} tokens, over max_total_tokens"
    if bundle.summary.redactions and not policy.enable_redaction:
        yield "something is redacted, which the policy does not ask for"
    came = {one.evidence_id: one for one in bundle.accounting.decisions}
    for item in bundle.items:
        for problem in _wrong_record(item, came[item.evidence_id], policy):
            yield f"{item.evidence_id}: {problem}"
    refs: list[tuple[Any, Any]] = [
        (one.artifact_uri, one.artifact_sha256)
        for one in came.values()
        if one.artifact_uri is not None
    ]
    wholes = [*(item.full_ref for item in bundle.items), bundle.summary.bundle_bounding.dropped_ref]
    refs += [(whole.get("lake_uri"), whole.get("sha256")) for whole in wholes if whole is not None]
    for lake_uri, digest in refs:
        kept = _KEPT.fullmatch(str(lake_uri))
        named = isinstance(lake_uri, str) and lake_uri and _DIGEST.fullmatch(str(digest))
        if not named or (kept and kept[1] != digest):
            yield f"{lake_uri}: its digest is not what its place says"
    for item in bundle.items:
        one = came[item.evidence_id]
        told = {ref["sha256"] for ref in (item.source_ref, item.full_ref or {}) if "sha256" in ref}
        if one.artifact_uri is not None and told - {one.artifact_sha256}:
            yield f"{item.evidence_id}: it names another digest than its accounting"


def _wrong_record(item: EvidenceItem, came: InputFate, policy: EvidencePolicy) -> Iterator[str]:
    bounding, sampling = item.metadata.get("bounding"), item.metadata.get("sampling")
    cut = any(step.done in (Outcome.SAMPLED, Outcome.TRUNCATED) for step in came.steps)
    if cut is not isinstance(bounding, Mapping) or cut is not (item.full_ref is not None):
        yield "its bounding and full_ref do not follow from whether it was cut"
    elif isinstance(bounding, Mapping):
        sizes = bounding.get("original_size"), bounding.get("bounded_size")
        if sizes != (came.input_bytes, item.byte_count):
            yield "its bounding gives other sizes than its accounting"
    if isinstance(sampling, Mapping):
        rows: Any = sampling.get("rows")
        columns = sampling.get("columns")
        if not _are_runs(rows) or sum(run[1] - run[0] for run in rows) > policy.max_sql_rows:
            yield "it shows more rows than max_sql_rows"
        if not isinstance(columns, list) or len(columns) > policy.max_sql_cols:
            yield "it shows more columns than max_sql_cols"


def _are_runs(rows: object) -> bool:
    return isinstance(rows, list) and all(
        isinstance(run, list)
        and len(run) == 2  # noqa: PLR2004 - from and to
        and all(type(place) is int for place in run)
        and 0 <= run[0] < run[1]
        for run in rows
    )
