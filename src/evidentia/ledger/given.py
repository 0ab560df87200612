"""What an answer's model was given: read from texts, dicts, retrievers or a bundle, as a corpus.

A context is cut into chunks as plain text is; its id is the source of its passages.
"""

from collections.abc import Iterable, Mapping
from itertools import count, islice
from typing import Any, Final

from evidentia.bundles.model import EvidenceBundle, source_name
from evidentia.canonical import parse_json, sha256_hex
from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import DocumentChunk, Page, ReadDocument
from evidentia.errors import CanonicalError, InputError
from evidentia.frozen import thaw
from evidentia.ledger.contexts import MAX_ID_CHARS, CheckedContext, numbered
from evidentia.ledger.corpus import InMemory
from evidentia.ledger.evidence import Corpus, CorpusDocument
from evidentia.ledger.retrieved import bounded_metadata, read_retrieved, short_title

MAX_CONTEXTS: Final = 1_000
MAX_CONTEXT_BYTES: Final = 4 * 2**20
"""How many bytes of UTF-8 all contexts of a check have together: they are part of its ledger."""
MAX_CONTEXT_FILE: Final = 64 * 2**20
"""The size of a file of contexts, whose metadata may be much more than is kept."""
_LONGEST_NUMBER: Final = 3
"""The digits of a number by which an answer cites something."""


def read_contexts(given: Any) -> tuple[CheckedContext, ...]:
    """Return contexts of texts, dicts, or what retrievers give; `InputError` says what is none.

    One without an id gets `context-3`, by its place. Each is kept, one with an empty text too; a
    passage that is given again goes by `kb-3 (2)`, so that the numbers of the others stay.
    """
    given = _results(given)
    is_table = hasattr(given, "columns")  # which would give the names of its columns
    if isinstance(given, str | bytes | Mapping) or is_table or not isinstance(given, Iterable):
        raise InputError(
            f"contexts: give a list of passages, not {type(given).__name__}: texts, dicts with a "
            "text, or what a retriever gives"
        )
    listed = list(islice(given, MAX_CONTEXTS + 1))
    if len(listed) > MAX_CONTEXTS:
        raise InputError(
            f"more than {MAX_CONTEXTS:,} contexts: give those that the model was given"
        )
    found = [_context(number, value) for number, value in enumerate(listed, 1)]
    return _checked(_told_apart(found), "contexts")


def contexts_of_bundle(bundle: EvidenceBundle) -> tuple[CheckedContext, ...]:
    """Return a bundle's items as contexts: their content as the model saw it, cut and redacted."""
    found = []
    for item in bundle.items:
        about = {
            "evidence_type": item.evidence_type.value,
            "source_ref": thaw(item.source_ref),
        }
        kept, left_out = bounded_metadata(about)
        found.append(
            CheckedContext(
                id=item.evidence_id,
                text=item.content,
                sha256=item.content_sha256,
                title=short_title(source_name(item.source_ref)),
                metadata=kept or None,
                metadata_left_out=left_out or None,
            )
        )
    return _checked(found, f"bundle {bundle.bundle_id}")


def parse_contexts(data: bytes, named: str) -> list[Any]:
    """Return what a file of contexts has: a JSON list, or JSONL with one context a line.

    `InputError` says what is wrong, and where in the file, which goes by `named`.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    try:
        if text.startswith(b"["):
            listed: list[Any] = parse_json(text)
            return listed
    except CanonicalError as error:
        raise InputError(f"{named}: {error}") from None
    found = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            try:
                found.append(parse_json(line))
            except CanonicalError as error:
                said = str(error).replace(" at line 1 column", " at column")
                raise InputError(
                    f"{named}: line {number}: {said}; contexts are a JSON list, or JSONL with one "
                    "a line"
                ) from None
    return found


def _results(given: Any) -> Any:
    """Return the passages in what a framework answers with: Haystack's, or LlamaIndex's nodes."""
    if isinstance(given, Mapping) and isinstance(given.get("documents"), list | tuple):
        return given["documents"]
    nodes = getattr(given, "source_nodes", None)
    return nodes if isinstance(nodes, list | tuple) else given


def _told_apart(found: list[CheckedContext]) -> list[CheckedContext]:
    """Name a passage that is given again, with the same id and text, by how often it was."""
    known = {one.id for one in found}
    first: dict[str, str] = {}
    told = []
    for context in found:
        is_again = first.get(context.id) == context.sha256
        first.setdefault(context.id, context.sha256)
        names = (f"{context.id} ({time})" for time in count(2))
        name = next(one for one in names if one not in known) if is_again else context.id
        is_named = is_again and len(name) <= MAX_ID_CHARS
        known.add(name)
        told.append(context.model_copy(update={"id": name}) if is_named else context)
    return told


def _context(number: int, value: Any) -> CheckedContext:
    if isinstance(value, CheckedContext):  # of an earlier ledger
        if sha256_hex(value.text.encode()) != value.sha256:
            raise InputError(f"context {number}: its text is not what its digest says")
        return value
    read = read_retrieved(number, value)
    try:
        digest = sha256_hex(read.text.encode())
    except UnicodeEncodeError as error:
        raise InputError(f"context {number} is not text: {error.reason}") from None
    return CheckedContext(
        id=read.id or numbered(number),
        text=read.text,
        sha256=digest,
        title=read.title,
        page=read.page,
        metadata=read.metadata or None,
        metadata_left_out=read.left_out or None,
    )


def _checked(found: list[CheckedContext], named: str) -> tuple[CheckedContext, ...]:
    places: dict[str, int] = {}
    for number, context in enumerate(found, 1):
        first = places.setdefault(context.id, number)
        if first != number:
            raise InputError(
                f"contexts {first} and {number} have the same id {context.id!r}: give each passage "
                "an id of its own, or leave the ids out"
            )
    if not any(context.text.strip() for context in found):
        raise InputError(f"{named}: there is no text in them to check against")
    size = sum(len(context.text.encode()) for context in found)
    if size > MAX_CONTEXT_BYTES:
        raise InputError(
            f"{named}: {size:,} bytes of text, {MAX_CONTEXT_BYTES:,} at most, for they are kept "
            "whole with the ledger: give only what the model was given, or ingest the documents "
            "and check against those"
        )
    return tuple(found)


# What is checked against


class ContextHoldings(InMemory):
    """Contexts as documents of a corpus; keeps `ledger.evidence.Holdings`."""

    def __init__(self, contexts: Iterable[CheckedContext]) -> None:
        given = tuple(contexts)
        documents = [_document(number, one) for number, one in enumerate(given, 1)]
        super().__init__(documents, [chunk for one in given for chunk in context_chunks(one)])
        self._called = [
            CorpusDocument(one.id, name)
            for one in given
            for name in dict.fromkeys((one.title, one.id))
            if name
        ]

    def called(self, text: str) -> Iterable[CorpusDocument]:
        """Return all contexts by their ids, and by the titles of what they are from."""
        del text
        return self._called


def context_corpus(contexts: Iterable[CheckedContext]) -> Corpus:
    """Return contexts as a corpus to check against.

    An answer may cite them by their ids, and by their numbers if no id is a number.
    """
    given = tuple(contexts)
    labels = {one.id: one.id for one in given}
    if not any(one.isdecimal() and len(one) <= _LONGEST_NUMBER for one in labels):
        labels |= {str(number): one.id for number, one in enumerate(given, 1)}
    return Corpus(ContextHoldings(given), labels=labels)


def context_chunks(context: CheckedContext) -> tuple[DocumentChunk, ...]:
    """Return the chunks of a context, cut as plain text is."""
    read = ReadDocument(
        filename=context.id,
        media_type="text/plain",
        sha256=context.sha256,
        pages=(Page(context.page or 1, context.text),),
        headings=(),
        language=None,
        direction="ltr",
        title=context.title,
        created=None,
        modified=None,
    )
    return chunk_document(read, context.id)


def _document(number: int, context: CheckedContext) -> CorpusDocument:
    return CorpusDocument(context.id, context.name(number), paged=context.page is not None)
