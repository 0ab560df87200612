"""What the model is shown: claims and passages as a bundle, fenced; split where there is too much.

What it answered becomes a bundle as well. Both are evidence: whoever keeps them can show what the
judge saw, and what it made of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.building import BuiltBundle, build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.language.graphemes import boundary_before
from evidentia.language.sentences import sentence_spans
from evidentia.ledger.model import Claim, Passage

_WHOLE: Final = 10**12
_POLICY: Final = EvidencePolicy(max_items=_WHOLE, max_total_bytes=_WHOLE, max_item_bytes=_WHOLE)
"""Nothing is cut here: what is too much was split before."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage as the model sees it, behind the line that leads it in; or a piece of it."""

    passage: Passage
    text: str

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.text.encode())

    def as_json(self) -> dict[str, Any]:
        """Return what tells it from others, for a digest."""
        source = self.passage.source
        headings = list(source.heading_path or ())
        return {
            "text": self.text,
            "filename": source.filename,
            "page": source.page_number,
            "headings": headings,
        }


def as_shown(passage: Passage) -> Shown:
    """Return a passage as the model sees it."""
    lead = f"{passage.context}\n" if passage.context else ""
    return Shown(passage, lead + passage.snippet)


def shown_in_parts(shown: Sequence[Shown], most_bytes: int) -> list[tuple[Shown, ...]]:
    """Return what is shown in parts of so many bytes; nothing is left out."""
    parts: list[list[Shown]] = []
    room = 0
    for whole in shown:
        for piece in pieces(whole.text, most_bytes):
            one = Shown(whole.passage, piece)
            if not parts or one.size > room:
                parts.append([])
                room = most_bytes
            parts[-1].append(one)
            room -= one.size
    return [tuple(part) for part in parts]


def pieces(text: str, most_bytes: int) -> Iterator[str]:
    """Give a text in pieces of so many bytes, between sentences where that can be."""
    rest = text
    while len(rest.encode()) > most_bytes:
        ends = [end for _, end in sentence_spans(rest) if len(rest[:end].encode()) <= most_bytes]
        cut = ends[-1] if ends else _fitting(rest, most_bytes)
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


def shown_bundle(claims: Sequence[Claim], shown: Sequence[Shown], at: str) -> BuiltBundle:
    """Return what the model is shown as a bundle: the passages, then the claims by number."""
    candidates = [_passage(one, number) for number, one in enumerate(shown)]
    candidates += [
        _inline(f"claim[{number}]", claim.text, number) for number, claim in enumerate(claims)
    ]
    return build_bundle(candidates, _POLICY, created_utc=at)


def answer_bundle(request: Mapping[str, Any], reply: str, at: str) -> BuiltBundle:
    """Return what was posted, the key left out, and what came back, as a bundle."""
    posted = canonical_json(dict(request)).decode()
    candidates = [_inline("request", posted, 0), _inline("reply", reply, 1)]
    return build_bundle(candidates, _POLICY, created_utc=at)


def claim_name(number: int) -> str:
    """Return how the model is told to name a claim: the id of its item."""
    return f"inline:{number}"


def _inline(origin: str, text: str, number: int) -> Candidate:
    return Candidate(
        EvidenceType.INLINE_TEXT,
        origin,
        text,
        digest="",
        part=str(number),
        source_ref={"locator": origin},
    )


def _passage(one: Shown, number: int) -> Candidate:
    passage, source = one.passage, one.passage.source
    place = {
        "page": source.page_number,
        "heading_path": list(source.heading_path or ()),
        "chunk_hashes": [passage.chunk_hash],
        "start": passage.start,
        "end": passage.end,
    }
    return Candidate(
        EvidenceType.DOC_CHUNK,
        f"passage[{number}]",
        one.text,
        digest=sha256_hex(source.id.encode()),
        part=str(number),
        source_ref={"document_id": source.id, "filename": source.filename},
        metadata={"chunk": {name: value for name, value in place.items() if value is not None}},
    )


def _fitting(text: str, most_bytes: int) -> int:
    """Return where to cut a text that has no sentence short enough: between two characters."""
    cut = len(text.encode()[:most_bytes].decode(errors="ignore"))
    return boundary_before(text, cut) or cut
