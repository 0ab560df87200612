"""The search index: finds chunks by their words among millions, on disk, by tantivy.

It is an index and never believed: what it finds is read from the database and verified, and it is
built anew when it is gone, damaged, or of another version. It is fed the product's own terms, and
what it gives is scored again by the product's own formula (`documents.scoring`), so that neither
the engine's formula nor the order in which chunks were added decides what comes first. One folder
has the index of one tenant; several processes may share it, and one at a time changes it.
"""

import fcntl
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import tantivy

from evidentia.documents.scoring import Chunks, score, worths
from evidentia.errors import EnvironmentProblem, EvidentiaError, environment_problem
from evidentia.language.tokens import TOKENS_VERSION, tokenize
from evidentia.store.files import make_folder, sync_folder, write_durably

FORMAT_VERSION: Final = 2
ENGINE: Final = f"tantivy {version('tantivy')}"
_STATE: Final = "state.json"
_META: Final = "meta.json"
_FILES: Final = "index"
_WORDS: Final = "words"
_HEAP: Final = 64 * 2**20
_MARGIN: Final = 64
"""How many candidates more than are asked for are scored again, beside twice as many."""
_OFTEN: Final = 4_096


@lru_cache(maxsize=1)
def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("document", "collection", "name"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("word", tokenizer_name=_WORDS, index_option="basic")
    builder.add_text_field("terms", tokenizer_name=_WORDS, index_option="freq")
    builder.add_unsigned_field("length", fast=True)
    builder.add_bytes_field("kept", stored=True)
    return builder.build()


class IndexedChunk(NamedTuple):
    """What the index is told of a chunk: where it stands, and its terms."""

    sha256: str
    chunk_hash: str
    place: int
    page: int
    start: int
    terms: Sequence[str]
    reader: int = 0


class IndexedDocument(NamedTuple):
    """What the index is told of a document: its names, and the chunks of all its bytes.

    `collection` is the collection's id.
    """

    id: str
    collection: str
    names: Sequence[str]
    chunks: Iterable[IndexedChunk]


class Candidate(NamedTuple):
    """A chunk that was found: where it stands, and its score by the product's own formula."""

    score: float
    document_id: str
    sha256: str
    chunk_hash: str
    place: int
    page: int
    start: int
    reader: int


class Within(NamedTuple):
    """Where is looked: in some documents, in some collections; None is everywhere."""

    documents: frozenset[str] | None = None
    collections: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """What an index was built of: document entries up to one, by which program, in which files.

    `leaf` is that entry's hash in the log: an index of another log, or of another past of it, has
    another one.
    """

    entry: int = -1
    leaf: str = ""
    format: int = FORMAT_VERSION
    tokens: int = TOKENS_VERSION
    engine: str = ENGINE
    opstamp: int = 0
    files: Mapping[str, str] = field(default_factory=dict)

    def is_current(self) -> bool:
        """Whether this program can read it, and would have written the same."""
        return (self.format, self.tokens, self.engine) == (FORMAT_VERSION, TOKENS_VERSION, ENGINE)


class SearchIndex:
    """The index of one tenant's library in a folder; threads may share one.

    One in a folder that can't be written is read all the same.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._state: IndexState | None = None
        self._opened: tantivy.Index | None = None
        self._reader: IndexReader | None = None
        self._unlink: Callable[[], object] = lambda: None

    @property
    def state(self) -> IndexState | None:
        """What the index was built of, as far as this process has looked; None if there is none."""
        return self._state

    @property
    def is_there(self) -> bool:
        """Whether an index was written, of whatever program, and damaged or not."""
        return (self._folder / _STATE).exists()

    def look(self) -> IndexState | None:
        """See what others made of the index since; None if there is none that can be used."""
        with self._lock:
            found = _read_state(self._folder / _STATE)
            if found is None:
                self._forget()
            elif found != self._state:
                try:
                    self._open(found)
                except (ValueError, OSError):  # damaged, or made anew by another process just now
                    self._forget()
            return self._state

    @contextmanager
    def changing(self) -> Iterator["SearchIndex"]:
        """Let no other process change the index meanwhile; what others did until then is seen."""
        with self._lock:
            make_folder(self._folder)
            with _locked(self._folder / ".lock"):
                self.look()
                yield self

    def update(
        self,
        documents: Iterable[IndexedDocument],
        removed: Iterable[str],
        entry: int,
        *,
        leaf: str = "",
        anew: bool = False,
    ) -> None:
        """Put documents in, in place of what the index has of them; take others out.

        Inside `changing`. `entry` is the document entry that the index is then up to, and `leaf`
        its hash. `anew` begins with an empty index. Durable when it returns.
        """
        try:
            self._update(documents, removed, IndexState(entry, leaf), anew=anew)
        except EvidentiaError:  # of what gives the documents
            self._forget()
            raise
        except (ValueError, OSError) as error:  # the engine has no other errors
            self._forget()
            raise EnvironmentProblem(
                f"{self._folder}: the search index can't be written ({error}); what was recorded "
                "is kept, and the index is made anew with the next check"
            ) from error

    def _update(
        self,
        documents: Iterable[IndexedDocument],
        removed: Iterable[str],
        upto: IndexState,
        *,
        anew: bool,
    ) -> None:
        files = self._folder / _FILES
        if anew or self._opened is None:
            self._forget()
            (self._folder / _STATE).unlink(missing_ok=True)
            shutil.rmtree(files, ignore_errors=True)
            make_folder(files)
            self._opened = _registered(tantivy.Index(_schema(), str(files)))
        writer = self._opened.writer(_HEAP, 1)
        for identity in removed:
            writer.delete_documents_by_term("document", identity)
        for document in documents:
            if not anew:
                writer.delete_documents_by_term("document", document.id)
            _add(writer, document)
        # from here to the next state there is none: who is killed between leaves no index behind,
        # and not one whose files are not what its state says, as if someone had changed them
        (self._folder / _STATE).unlink(missing_ok=True)
        sync_folder(self._folder)
        opstamp = writer.commit()
        writer.wait_merging_threads()
        state = replace(upto, opstamp=opstamp, files=_digests(files, self._state))
        write_durably(self._folder / _STATE, json.dumps(asdict(state)).encode(), mode=0o600)
        self._open(state)

    def drop(self) -> None:
        """Remove the index; inside `changing`."""
        self._forget()
        (self._folder / _STATE).unlink(missing_ok=True)
        shutil.rmtree(self._folder / _FILES, ignore_errors=True)

    def opened(self) -> "tuple[IndexState, IndexReader]":
        """Return what the index was built of with what it is searched by, of one moment."""
        with self._lock:
            return self._state or IndexState(), self.reader()

    def reader(self) -> "IndexReader":
        """Return what is searched by, as of the last look or update."""
        if self._reader is None:
            raise EnvironmentProblem(f"{self._folder}: there is no index to search by")
        return self._reader

    def _open(self, state: IndexState) -> None:
        files = self._folder / _FILES
        known = self._state.files if self._state else {}
        for name, digest in state.files.items():
            if (name == _META or known.get(name) != digest) and _digest(files / name) != digest:
                raise ValueError(f"{name} is damaged")
        meta = json.loads((files / _META).read_bytes())
        if meta["opstamp"] != state.opstamp:
            raise ValueError("it was changed and not finished")
        if self._opened is None:
            self._opened = _registered(tantivy.Index.open(str(self._writable(files))))
        self._opened.reload()
        deleted = any(segment["deletes"] for segment in meta["segments"])
        self._reader = IndexReader(self._opened.searcher(), has_deleted=deleted)
        self._state = state

    def _writable(self, files: Path) -> Path:
        """Return where the engine can put its locks: the folder itself, or one of links to it."""
        if os.access(files, os.W_OK, effective_ids=True):
            return files
        linked = Path(tempfile.mkdtemp(prefix="evidentia-search-"))
        # when it is forgotten, and whenever this object is: nobody has to close an index
        self._unlink = weakref.finalize(self, shutil.rmtree, linked, ignore_errors=True)
        for path in files.iterdir():
            if not path.name.endswith(".lock"):
                (linked / path.name).symlink_to(path.resolve())
        return linked

    def _forget(self) -> None:
        self._state = self._opened = self._reader = None
        self._unlink()


class IndexReader:
    """The index as it is at one time."""

    def __init__(self, searcher: tantivy.Searcher, *, has_deleted: bool) -> None:
        self._searcher = searcher
        self._has_deleted = has_deleted
        sums = searcher.aggregate(
            tantivy.Query.all_query(),
            {
                "chunks": {"value_count": {"field": "length"}},
                "terms": {"sum": {"field": "length"}},
            },
        )
        self.known = Chunks(int(sums["chunks"]["value"]), int(sums["terms"]["value"]))
        self._having = lru_cache(maxsize=_OFTEN)(self._count)

    def search(self, text: str, limit: int, within: Within) -> list[Candidate]:
        """Return the `limit` best chunks that have a term of a text, the best first.

        More than are asked for are taken by the engine's own score and scored again; of those that
        the engine scores alike either all or none are taken, so that the order in which they were
        added decides nothing.
        """
        if limit <= 0 or not self.known.count:
            return []
        worth = worths(text, self.known, self._having)
        if not worth:
            return []
        query = _query(Counter(term for term in tokenize(text) if term in worth), within)
        taken = 2 * limit + _MARGIN
        while True:
            hits = self._searcher.search(query, limit=taken, count=False).hits
            complete = len(hits) < taken
            if not complete:
                least = hits[-1][0]
                hits = [hit for hit in hits if hit[0] > least]
            if complete or len(hits) >= limit or taken >= self.known.count:
                break
            taken *= 4
        wanted = [(f" {term} ", value) for term, value in worth.items()]
        scored = [self._scored(address, wanted) for _, address in hits]
        scored.sort(key=lambda one: (-one.score, *one[1:]))
        return scored[:limit]

    def named(self, names: Sequence[str], words: Sequence[str], most: int) -> list[str]:
        """Return the ids of documents that go by one of the names, or share most words with one.

        The latter are `most` at the most.
        """
        found: dict[str, None] = {}
        for field_name, values in (("name", names), ("word", words)):
            if values:
                query = tantivy.Query.boolean_query(
                    [
                        (tantivy.Occur.Should, tantivy.Query.term_query(_schema(), field_name, one))
                        for one in values
                    ]
                )
                hits = self._searcher.search(query, limit=most, count=False).hits
                for _, address in hits:
                    found[self._kept(address)[0]] = None
        return list(found)

    def terms(self) -> dict[str, int]:
        """Return all terms, with in how many chunks each stands."""
        return dict(self._searcher.terms_with_prefix("terms", "", tantivy.Query.all_query()))

    def has(self, document_id: str, chunk: IndexedChunk) -> bool:
        """Whether a chunk is found by its document and every one of its terms, as it is."""
        clauses = [tantivy.Query.term_query(_schema(), "document", document_id)]
        clauses += [
            tantivy.Query.term_query(_schema(), "terms", term) for term in sorted(set(chunk.terms))
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, one) for one in clauses])
        hits = self._searcher.search(query, limit=_OFTEN, count=False).hits
        expected = _kept(document_id, chunk)
        return any(bytes(self._stored(address)) == expected for _, address in hits)

    def documents(self) -> int:
        """Return how many documents the index has the names of."""
        return int(self._searcher.num_docs) - self.known.count

    def _count(self, term: str) -> int:
        if not self._has_deleted:
            return int(self._searcher.doc_freq("terms", term))
        query = tantivy.Query.term_query(_schema(), "terms", term)
        found: Any = self._searcher.search(query, limit=1, count=True)
        return int(found.count)

    def _scored(
        self, address: tantivy.DocAddress, wanted: Sequence[tuple[str, float]]
    ) -> Candidate:
        document, sha256, chunk_hash, *numbers, terms = self._kept(address)
        place, page, start, reader, length = map(int, numbers)
        shared = [(value, times) for term, value in wanted if (times := terms.count(term))]
        points = score(shared, length, self.known)
        return Candidate(points, document, sha256, chunk_hash, place, page, start, reader)

    def _kept(self, address: tantivy.DocAddress) -> list[str]:
        return bytes(self._stored(address)).decode().split("\t")

    def _stored(self, address: tantivy.DocAddress) -> Any:
        return self._searcher.doc(address).get_first("kept")


def _kept(document_id: str, chunk: IndexedChunk) -> bytes:
    """Return what is kept of a chunk: each of its terms stands between two spaces of its own."""
    values = (
        document_id,
        chunk.sha256,
        chunk.chunk_hash,
        chunk.place,
        chunk.page,
        chunk.start,
        chunk.reader,
        len(chunk.terms),
        f" {'  '.join(chunk.terms)} ",
    )
    return "\t".join(map(str, values)).encode(errors="replace")


def _add(writer: tantivy.IndexWriter, document: IndexedDocument) -> None:
    named = tantivy.Document()
    named.add_text("document", document.id)
    for name in document.names:
        named.add_text("name", _storable(name))
        named.add_text("word", _storable(name))
    named.add_bytes("kept", document.id.encode())
    writer.add_document(named)
    for chunk in document.chunks:
        made = tantivy.Document()
        made.add_text("document", document.id)
        made.add_text("collection", _storable(document.collection))
        made.add_text("terms", _storable("  ".join(chunk.terms)))
        made.add_unsigned("length", len(chunk.terms))
        made.add_bytes("kept", _kept(document.id, chunk))
        writer.add_document(made)


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _query(terms: Mapping[str, int], within: Within) -> tantivy.Query:
    """Return what the engine is asked: a term that a text has twice counts twice."""
    schema, occur = _schema(), tantivy.Occur
    words = tantivy.Query.boolean_query(
        [
            (occur.Should, query if times == 1 else tantivy.Query.boost_query(query, times))
            for query, times in (
                (tantivy.Query.term_query(schema, "terms", term), times)
                for term, times in terms.items()
            )
        ]
    )
    clauses = [(occur.Must, words)]
    for name, values in (("document", within.documents), ("collection", within.collections)):
        if values is not None:
            some = tantivy.Query.term_set_query(schema, name, sorted(map(_storable, values)))
            clauses.append((occur.Must, tantivy.Query.const_score_query(some, 0.0)))
    return words if len(clauses) == 1 else tantivy.Query.boolean_query(clauses)


def _registered(index: tantivy.Index) -> tantivy.Index:
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_WORDS, analyzer)
    index.config_reader(reload_policy="manual")
    return index


def _read_state(path: Path) -> IndexState | None:
    """Return the state that a file has; None if there is none that this program can use."""
    try:
        found = IndexState(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.is_current() and isinstance(found.files, dict) else None


def _digests(folder: Path, before: IndexState | None) -> dict[str, str]:
    """Return the digests of the index's files; those that were there before have not changed."""
    known = before.files if before else {}
    return {
        path.name: (path.name != _META and known.get(path.name)) or _digest(path)
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".")
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise environment_problem(error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
