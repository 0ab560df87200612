"""Contexts: the passages that an application gave its model, as a ledger keeps them.

They are kept whole, so that whoever has the ledger sees that each passage it cites stands in its
context.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from pydantic import Field

from evidentia.bundles.model import bundle_id_of
from evidentia.canonical import sha256_hex
from evidentia.frozen import FrozenItems, FrozenModel, FrozenObject, LaterFields
from evidentia.ledger.model import EvidenceLedger, LedgerEntry, Passage

MAX_ID_CHARS: Final = 200
_HASH: Final = r"^[0-9a-f]{64}$"


class CheckedContext(LaterFields):
    """A passage that a model was given: its id, its text to the last character, and where from.

    `metadata_left_out` names what of its metadata is not kept: it is too large, or not JSON.
    """

    later: ClassVar[tuple[str, ...]] = ("title", "page", "metadata", "metadata_left_out")

    id: str = Field(min_length=1, max_length=MAX_ID_CHARS)
    text: str
    sha256: str = Field(pattern=_HASH)
    title: str | None = None
    page: int | None = Field(None, ge=1)
    metadata: FrozenObject | None = None
    metadata_left_out: FrozenItems[str] | None = None

    def name(self, number: int) -> str:
        """Return what a reader knows it by: `context 3 (kb-17), HR_Policy.pdf`."""
        named = "" if self.id == numbered(number) else f" ({self.id})"
        title = f", {self.title}" if self.title and self.title != self.id else ""
        return f"context {number}{named}{title}"


class CheckedBundle(FrozenModel):
    """The bundle whose items the contexts are: its id, and the digest that the id follows from."""

    id: str
    sha256: str = Field(pattern=_HASH)


def numbered(number: int) -> str:
    """Return the id of a context that was given none."""
    return f"context-{number}"


def wrong_contexts(
    contexts: Iterable[CheckedContext], bundle: CheckedBundle | None, ledger: EvidenceLedger
) -> Iterator[str]:
    """Say what does not hold of contexts, and of the passages that a ledger cites of them."""
    known: dict[str, tuple[int, CheckedContext]] = {}
    for number, context in enumerate(contexts, 1):
        if context.id in known:
            yield f"two of its contexts are called {context.id}"
        known[context.id] = number, context
        if sha256_hex(context.text.encode()) != context.sha256:
            yield f"the text of context {context.id} is not what its digest says"
    if bundle is not None and bundle_id_of(bundle.sha256) != bundle.id:
        yield "the id of its bundle does not follow from the digest"
    for entry in ledger.entries:
        for passage in shown_passages(entry):
            found = known.get(passage.source.id)
            if found is not None:
                yield from _wrong_passage(passage, *found)
        yield from _wrong_quotes(entry)


def shown_passages(entry: LedgerEntry) -> list[Passage]:
    """Return the passages that an entry shows: its evidence, and what came nearest."""
    found = [match.passage for match in entry.evidence]
    return [passage for passage in (*found, entry.nearest) if passage]


def _wrong_passage(passage: Passage, number: int, context: CheckedContext) -> Iterator[str]:
    source = passage.source
    if context.text[passage.start : passage.end] != passage.snippet:
        yield f"a passage of context {context.id} is not what stands at its place"
    shown = (source.filename, source.page_number, passage.page, source.heading_path)
    if shown != (context.name(number), context.page, context.page or 1, None):
        yield f"a passage of context {context.id} is said to stand elsewhere"


def _wrong_quotes(entry: LedgerEntry) -> Iterator[str]:
    for match in entry.evidence:
        if match.passage and match.snippet not in match.passage.snippet:
            yield f"entry {entry.id} quotes what is not in its passage"
    if entry.evidence_snippet not in {"", *(match.snippet for match in entry.evidence)}:
        yield f"entry {entry.id} shows what is not in its evidence"
