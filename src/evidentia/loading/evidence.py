"""Loading what a bundle is made of: files of the lake, documents, and results of queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Engine

from evidentia.bundles.candidates import Candidate
from evidentia.bundles.loading import (
    CONTEXT,
    document_candidates,
    failed_candidate,
    inline_candidate,
    lake_ref,
    query_candidate,
    response_candidates,
    result_candidate,
    text_candidate,
    transcript_candidates,
)
from evidentia.bundles.model import artifact_uri
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.model import Redaction
from evidentia.bundles.references import (
    DocumentReference,
    FileReference,
    InlineReference,
    LakeHttpReference,
    LakeTextReference,
    QueryReference,
    Reference,
    ResultReference,
    TranscriptReference,
)
from evidentia.canonical import derived_id
from evidentia.documents.model import ReadFile
from evidentia.errors import EvidentiaError, InputError, NotFoundError
from evidentia.loading.originals import Originals
from evidentia.loading.reading import Asked, read_files
from evidentia.store.lake import Lake

if TYPE_CHECKING:  # loading it takes a while, and not every bundle is redacted
    from evidentia.bundles.redaction.redactor import Redactor

OnError = Literal["raise", "record"]
Connections = Mapping[str, Engine | str]
"""Databases by the name that references know them by: engines, or URLs."""


@dataclass(frozen=True, slots=True)
class LibraryDocument:
    """A document of a workspace's library: its name, and the bytes that its lake keeps."""

    document_id: str
    filename: str
    sha256: str


FindDocument = Callable[[str], LibraryDocument]


@dataclass(slots=True, eq=False)
class _Part:
    """One thing to load: a reference, or one file of the folder that it names."""

    reference: Reference | InlineReference
    locator: str
    error: EvidentiaError | None = None


@dataclass(slots=True)
class _Document:
    """A document that is being read, or why it could not be opened."""

    document_id: str = ""
    filename: str = ""
    original: Mapping[str, Any] = field(default_factory=dict)
    read: ReadFile | InputError | None = None
    error: EvidentiaError | None = None


@dataclass(frozen=True, slots=True)
class EvidenceLoader:
    """Loads candidates. `originals` are the files that references name; `lake` keeps what is new.

    With `on_error="record"`, what cannot be loaded becomes a candidate that says why. `there` gets
    the digests of what the lake has, or was given.
    """

    originals: Originals
    lake: Lake
    policy: EvidencePolicy
    on_error: OnError = "raise"
    connections: Connections = field(default_factory=dict)
    find_document: FindDocument | None = None
    redactor: "Redactor | None" = None
    there: list[str] = field(default_factory=list)

    def load(
        self,
        references: Sequence[Reference | InlineReference],
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Candidate]:
        """Load all references, in their order; the first that fails raises, or is recorded."""
        parts = list(self._parts(references))
        read = self._read_documents(parts)
        loaded: list[Candidate] = []
        for done, part in enumerate(parts, 1):
            try:
                if isinstance(part, InlineReference):
                    loaded.append(inline_candidate(part, done - 1))
                else:
                    loaded += self._load(part, read)
            except EvidentiaError as error:
                reference, locator = (
                    (part, part.origin)
                    if isinstance(part, InlineReference)
                    else (part.reference, part.locator)
                )
                named = _naming(error, reference.origin)
                if self.on_error == "raise":
                    raise named from None
                loaded.append(failed_candidate(reference, locator, done - 1, named))
            if progress is not None:
                progress(done, len(parts))
        return loaded

    def _parts(
        self, references: Sequence[Reference | InlineReference]
    ) -> Iterator["_Part | InlineReference"]:
        """Give what references stand for: themselves, or each file of a folder."""
        for reference in references:
            if isinstance(reference, InlineReference):
                yield reference
            else:
                yield from self._parts_of(reference)

    def _parts_of(self, reference: Reference) -> Iterator[_Part]:
        match reference:
            case ResultReference() | QueryReference():
                yield _Part(reference, reference.query_key)
            case DocumentReference(document_id=str(document_id)):
                yield _Part(reference, document_id)
            case FileReference(folder=str(folder)):
                try:
                    found = self.originals.within(folder, reference.pattern, reference.origin)
                except InputError as error:
                    yield _Part(reference, folder, error)
                    return
                for lake_uri in found:
                    yield _Part(reference, lake_uri)
            case FileReference(lake_uri=str(lake_uri)):
                yield _Part(reference, lake_uri)

    def _load(self, part: _Part, read: Mapping[_Part, _Document]) -> list[Candidate]:
        if part.error is not None:
            raise part.error
        match part.reference:
            case QueryReference() as reference:
                return [query_candidate(reference)]
            case ResultReference() as reference:
                return [self._result(reference)]
            case DocumentReference() as reference:
                return _document(reference, read[part])
            case FileReference() as reference:
                return self._file(reference, part.locator)
        raise AssertionError(part)

    def _file(self, reference: FileReference, lake_uri: str) -> list[Candidate]:
        data = self.originals.read(lake_uri, reference.origin)
        if isinstance(reference, LakeTextReference):
            return [text_candidate(reference, lake_uri, data)]
        if isinstance(reference, LakeHttpReference):
            return response_candidates(reference, lake_uri, data)
        assert isinstance(reference, TranscriptReference)  # noqa: S101 - the only one left
        return transcript_candidates(
            reference,
            lake_uri,
            data,
            chunk_size=self.policy.chunk_size,
            chunk_overlap=self.policy.chunk_overlap,
        )

    def _read_documents(self, parts: Sequence[_Part | InlineReference]) -> dict[_Part, _Document]:
        """Read all documents, several at once, and cut them as the policy says."""
        cut = (self.policy.chunk_size, self.policy.chunk_overlap)
        wanted = [
            part
            for part in parts
            if isinstance(part, _Part)
            and isinstance(part.reference, DocumentReference)
            and part.error is None
        ]
        found: dict[_Part, _Document] = {}

        def asked() -> Iterator[Asked]:
            for part in wanted:
                try:
                    document, data = self._open_document(part)
                except EvidentiaError as error:
                    found[part] = _Document(error=error)
                else:
                    found[part] = document
                    opened.append(document)
                    context = 0 if self.redactor is None else CONTEXT
                    yield Asked(document.document_id, document.filename, data, cut, context)

        opened: list[_Document] = []
        if wanted:
            for place, read in enumerate(read_files(asked(), count=len(wanted))):
                opened[place].read = read
        return found

    def _open_document(self, part: _Part) -> tuple[_Document, bytes]:
        reference = part.reference
        assert isinstance(reference, DocumentReference)  # noqa: S101 - the caller looked
        if reference.document_id is None:
            data = self.originals.read(part.locator, reference.origin)
            name = PurePosixPath(part.locator).name
            original = lake_ref(part.locator, data)
            return _Document(derived_id("doc", part.locator), name, original), data
        if self.find_document is None:
            raise InputError(
                f"{reference.origin}: document_id names a document of a workspace's library; "
                "without a workspace, give lake_uri"
            )
        try:
            named = self.find_document(reference.document_id)
        except NotFoundError as error:
            raise InputError(f"{reference.origin}: {error}") from None
        data = self.lake.get(named.sha256)
        self.there.append(named.sha256)
        original = lake_ref(artifact_uri(named.sha256), data)
        return _Document(named.document_id, named.filename, original), data

    def _result(self, reference: ResultReference) -> Candidate:
        from evidentia.loading.results.reading import Shown, read_kept, read_result  # noqa: PLC0415 - not all need it

        origin, form, lake_uri = reference.origin, reference.form, reference.lake_uri
        redacted: dict[str, Redaction] = {}
        name = f"{origin} ({reference.lake_uri or reference.query_key})"
        shown = Shown(
            self.policy.max_sql_rows,
            self.policy.max_sql_cols,
            self.policy.sampling_strategy,
            reference.rows,
        )
        if lake_uri is not None:
            read = read_result(self.originals.path(lake_uri, origin), name, shown, form=form)
        else:
            digest = self._query(reference, redacted)
            self.there.append(digest)
            lake_uri = artifact_uri(digest)
            with self.lake.open(digest) as kept:
                read = read_kept(kept, name, shown)
        found = result_candidate(reference, lake_uri, read.sha256, read.byte_count, read.table)
        return found._replace(redacted=redacted)

    def _query(self, reference: ResultReference, redacted: dict[str, Redaction]) -> str:
        """Run a query and keep its result; return the digest that the lake has it by.

        What is redacted on the way is noted by its placeholder.
        """
        from evidentia.loading.queries.running import (  # noqa: PLC0415 - the same
            keep_duckdb_result,
            keep_query_result,
        )

        origin, sql = reference.origin, reference.sql or ""
        redact = None if self.redactor is None else _noting(self.redactor, redacted)
        if reference.connection is None:
            files = {
                name: self.originals.path(path, origin) for name, path in reference.files.items()
            }
            return keep_duckdb_result(sql, files, self.lake, origin, redact=redact).sha256
        source = self.connections.get(reference.connection)
        if source is None:
            known = ", ".join(sorted(self.connections)) or "none were given"
            raise InputError(f"{origin}: there is no connection {reference.connection!r} ({known})")
        return keep_query_result(
            source,
            sql,
            self.lake,
            origin,
            parameters=reference.parameters or None,  # without any, a colon means nothing
            redact=redact,
        ).sha256


def _naming(error: EvidentiaError, origin: str) -> EvidentiaError:
    """Return an error whose message names the reference, on one line."""
    said = " ".join(str(error).split("\n"))
    return error if said.startswith(origin) else type(error)(f"{origin}: {said}")


def _noting(redactor: "Redactor", noted: dict[str, Redaction]) -> Callable[[str], str]:
    def redact(text: str) -> str:
        found = redactor.redact(text)
        noted.update((hit.placeholder, hit) for hit in found.redactions)
        return found.text

    return redact


def _document(reference: DocumentReference, document: _Document) -> list[Candidate]:
    if document.error is not None:
        raise document.error
    read = document.read
    if not isinstance(read, ReadFile):
        raise InputError(f"{reference.origin}: {read}")
    return document_candidates(
        reference,
        document_id=document.document_id,
        filename=document.filename,
        original=document.original,
        pieces=read.pieces,
        passages=read.chunks,
        around=read.around,
    )
