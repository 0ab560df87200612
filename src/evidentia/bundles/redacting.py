"""Redacting inputs: their content, the cells of their tables, and what says where they are from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evidentia.bundles.accounting import Outcome
from evidentia.bundles.inputs import Input
from evidentia.bundles.redaction.model import Redaction
from evidentia.bundles.tables import map_cells, table_text

if TYPE_CHECKING:  # loading it takes a while, and not every bundle is redacted
    from evidentia.bundles.redaction.redactor import Redactor

_LOCATORS: Final = frozenset(
    (
        "lake_uri",
        "sha256",
        "document_id",
        "transcript_id",
        "chunk_hash",
        "chunk_hashes",
    )
)
"""What leads to a source is kept as it is: redacted, it would lead nowhere."""


def redact_input(one: Input, redactor: "Redactor") -> None:
    """Replace the values in an input, and note what was replaced where."""
    before = one.content
    if one.table is not None:
        hits: list[Redaction] = []
        one.title = _collected(redactor, one.title, hits)
        one.table = map_cells(one.table, lambda cell: _collected(redactor, cell, hits))
        one.hits = {**one.candidate.redacted, **{hit.placeholder: hit for hit in hits}}
        content = table_text(one.table, one.title)
        one.redactions = placed(one.hits, content)
    else:
        around, behind = one.candidate.before, one.candidate.after
        redacted = redactor.redact(
            f"{around}{before}{behind}", start=len(around), end=len(around) + len(before)
        )
        content = redacted.text
        one.redactions = tuple(_place(hit, hit.start) for hit in redacted.redactions)
    if one.redactions:
        kinds = Counter(hit["kind"] for hit in one.redactions)
        reason = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        one.take(Outcome.REDACTED, reason, content)
        one.whole = content
    if one.candidate.error is not None:
        told = redactor.redact(one.candidate.error).text
        one.steps = tuple(
            replace(step, reason=told) if step.done is Outcome.FAILED else step
            for step in one.steps
        )
    one.source_ref = _redacted_values(one.source_ref, "source_ref", one, redactor)
    one.metadata = _redacted_values(one.metadata, "metadata", one, redactor)


def _collected(redactor: "Redactor", cell: str, hits: list[Redaction]) -> str:
    redacted = redactor.redact(cell)
    hits.extend(redacted.redactions)
    return redacted.text


def placed(hits: Mapping[str, Redaction], content: str) -> tuple[dict[str, Any], ...]:
    """Return what was redacted in a table's text, with its places there."""
    return tuple(_place(hits[found], start) for start, found in _occurrences(content, hits))


def _occurrences(content: str, placeholders: Iterable[str]) -> list[tuple[int, str]]:
    """Return where placeholders stand in a text, in order."""
    found = []
    for placeholder in placeholders:
        at = content.find(placeholder)
        while at >= 0:
            found.append((at, placeholder))
            at = content.find(placeholder, at + 1)
    return sorted(found)


def _place(hit: Redaction, start: int) -> dict[str, Any]:
    return {
        "kind": hit.kind,
        "placeholder": hit.placeholder,
        "digest": hit.digest,
        "field": "content",
        "start": start,
        "end": start + len(hit.placeholder),
    }


def _redacted_values(value: Any, where: str, one: Input, redactor: "Redactor") -> Any:
    """Return a JSON value with its texts redacted, and note each hit with its field."""
    if isinstance(value, str):
        redacted = redactor.redact(value)
        one.redactions += tuple(
            {**_place(hit, hit.start), "field": where} for hit in redacted.redactions
        )
        return redacted.text
    if isinstance(value, Mapping):
        return {
            key: item
            if key in _LOCATORS
            else _redacted_values(item, f"{where}.{key}", one, redactor)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            _redacted_values(item, f"{where}[{index}]", one, redactor)
            for index, item in enumerate(value)
        ]
    return value
