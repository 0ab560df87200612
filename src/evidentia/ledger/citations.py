"""Citations: anchors that name a passage by its hash, and what they resolve to.

An anchor is the beginning of a chunk's hash, at least eight characters. It grows until it is
unique in its workspace, and once issued it stays bound to its hash. The same text in two places
is one anchor with several places. Numbers and footnotes name what the answer's own references say.
What the passages are called that a model was given may stand in brackets as it is: `[kb-17]`.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from evidentia.documents.hashing import ANCHOR_LENGTH
from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel
from evidentia.ledger.blocks import find_blocks

CitationStyle = Literal["anchor", "number", "footnote", "name"]

_ANCHOR = re.compile(r"\[cite:\s*(?P<inside>[^\]\[\n]{1,300})\]")
_NUMBERED = re.compile(r"(?<!!)\[(?P<inside>\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3})*)\](?![(:])")
_FOOTNOTE = re.compile(r"\[\^(?P<inside>[^\]\s]{1,64})\](?!:)")
_STYLES: Final[tuple[tuple[CitationStyle, re.Pattern[str]], ...]] = (
    ("anchor", _ANCHOR),
    ("number", _NUMBERED),
    ("footnote", _FOOTNOTE),
)
_ALL = re.compile(
    "[ \t]*(?:"
    + "|".join(re.sub(r"\?P<inside>", "?:", style.pattern) for _, style in _STYLES)
    + ")"
)
_BRACKETS = re.compile(r"(?<!!)\[(?P<inside>[^\]\[\n]{1,300})\](?![(:])")
_ANY_BRACKETS = re.compile(rf"[ \t]*{_BRACKETS.pattern}")
_DEFINITION = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\[(?P<label>\^?[^\]\s]{1,64})\]:?|(?P<number>\d{1,3})[.)])"
    r"[ \t]+(?P<text>\S.*)"
)
_RANGE = re.compile(r"[\u2013-]")
_LONGEST_RANGE: Final = 100
_LONGEST_SOURCE: Final = 300


class CitationResolution(FrozenModel):
    """What an anchor leads to: a chunk (and all places with the same text), or why to none."""

    chunk_hash: str
    resolved: bool
    chunk: DocumentChunk | None = None
    places: FrozenItems[DocumentChunk] = FrozenList()
    candidates: FrozenItems[str] = FrozenList()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A citation as it stands in an answer: what it names, and where it stands.

    A footnote's label keeps its `^`, so that `[^1]` and `[1]` are two.
    """

    label: str
    style: CitationStyle
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GivenCitation:
    """A citation that is said beside an answer: what it names, and of which characters."""

    source: str
    start: int
    end: int


def read_citations(given: Any, answer: str) -> tuple[GivenCitation, ...]:
    """Read citations given as objects with `source`, `start` and `end`; `InputError` says why not.

    One without a place cannot be of any claim: it is left out.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError("citations: give a list of objects with a source, a start and an end")
    found = [
        one if isinstance(one, GivenCitation) else _read_citation(number, one)
        for number, one in enumerate(given, 1)
    ]
    for number, one in enumerate(found, 1):
        if one is not None and not 0 <= one.start <= one.end <= len(answer):
            raise InputError(
                f"citation {number}: {one.start} to {one.end} is no place in the answer, which has "
                f"{len(answer):,} characters"
            )
    return tuple(one for one in found if one is not None)


def _read_citation(number: int, one: Any) -> GivenCitation | None:
    match one:
        case {"source": str(source), "start": int(start), "end": int(end)} if source.strip():
            return GivenCitation(source.strip()[:_LONGEST_SOURCE], start, end)
        case {"source": str(source)} if source.strip() and None in (
            one.get("start"),
            one.get("end"),
        ):
            return None
    raise InputError(f"citation {number}: give it a source (text), a start and an end (numbers)")


def find_citations(text: str, names: Collection[str] = ()) -> list[CitationMark]:
    """Find `[cite:…]`, `[1]`, `[2, 3]`, `[4-6]` and `[^note]` marks, in order.

    `names` are found in brackets too, alone or several: `[kb-17, kb-18]`.
    """
    marks = [
        CitationMark(label, style, match.start(), match.end())
        for style, pattern in _STYLES
        for match in pattern.finditer(text)
        for label in _labels(style, match["inside"])
    ]
    if names:
        known = {mark.start for mark in marks}
        marks += [
            CitationMark(label, "name", match.start(), match.end())
            for match in _BRACKETS.finditer(text)
            if match.start() not in known
            for label in _named(match["inside"], names)
        ]
    return sorted(marks, key=lambda mark: (mark.start, mark.end))


def citation_definitions(answer: str) -> dict[str, str]:
    """Return what the answer's references say: `[^a]: Policy.pdf`, or a list of its sources."""
    found: dict[str, str] = {}
    for block in find_blocks(answer):
        if block.kind == "reference":
            begins = answer.rfind("\n", 0, block.start) + 1
            for line in answer[begins : block.end].split("\n"):
                match = _DEFINITION.match(line)
                if match:
                    found.setdefault(match["label"] or match["number"], match["text"].strip())
    return found


def issue_anchor(chunk_hash: str, issued: Mapping[str, str]) -> str:
    """Return the shortest anchor for a full hash that no other hash in the workspace has.

    `issued` maps every anchor of the workspace to the full hash it is bound to.
    """
    length = ANCHOR_LENGTH
    while length < len(chunk_hash):
        other = issued.get(chunk_hash[:length], chunk_hash)
        if other == chunk_hash:
            return chunk_hash[:length]
        # longer than what the two share: it is then no beginning of the other either
        length += 1
        while length < len(chunk_hash) and other.startswith(chunk_hash[:length]):
            length += 1
    return chunk_hash


def resolve_citation(
    anchor: str, issued: Mapping[str, str], chunks: Iterable[DocumentChunk]
) -> CitationResolution:
    """Resolve an anchor: as issued, else as the beginning of exactly one chunk's hash."""
    name = anchor.strip().lower()
    if len(name) < ANCHOR_LENGTH:
        return CitationResolution(
            chunk_hash=anchor,
            resolved=False,
            error=f"Citation is shorter than {ANCHOR_LENGTH} characters",
        )
    bound = issued.get(name)
    found = [
        chunk
        for chunk in chunks
        if (chunk.chunk_hash == bound if bound else chunk.chunk_hash.startswith(name))
    ]
    hashes = sorted({chunk.chunk_hash for chunk in found})
    if len(hashes) > 1:
        return CitationResolution(
            chunk_hash=anchor,
            resolved=False,
            candidates=tuple(hashes),
            error=f"Citation is ambiguous: {len(hashes)} passages begin with it",
        )
    if not found:
        return CitationResolution(
            chunk_hash=anchor,
            resolved=False,
            error="Citation references deleted or unavailable chunk",
        )
    places = tuple(sorted(found, key=lambda chunk: (chunk.document_id, chunk.page, chunk.start)))
    return CitationResolution(chunk_hash=anchor, resolved=True, chunk=places[0], places=places)


def without_citations(text: str, names: Collection[str] = ()) -> str:
    """Return the text without its citation marks, and without the space before them."""
    bare = _ALL.sub("", text)
    if not names:
        return bare
    return _ANY_BRACKETS.sub(lambda match: "" if _named(match["inside"], names) else match[0], bare)


def _named(inside: str, names: Collection[str]) -> list[str]:
    """Return the names that stand in brackets; none if anything else does."""
    whole = inside.strip()
    if whole in names:
        return [whole]
    listed = [name.strip() for name in re.split(r"[,;]", whole)]
    return listed if all(name in names for name in listed) else []


def _labels(style: CitationStyle, inside: str) -> list[str]:
    if style == "footnote":
        return [f"^{inside}"]
    if style == "anchor":
        return [label for label in re.split(r"[,;\s]+", inside) if label]
    labels: list[str] = []
    for part in re.split(r"[,;]", inside):
        ends = [int(number) for number in _RANGE.split(part)]
        labels += map(str, range(ends[0], min(ends[-1], ends[0] + _LONGEST_RANGE) + 1))
    return labels
