"""Corpora: what answers are checked against, loaded once and remembered by the process."""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from evidentia.judges.nli.meaning import with_meaning
from evidentia.judges.nli.model import encoder_digest
from evidentia.ledger.evidence import Corpus
from evidentia.ledger.judging import Judge
from evidentia.store.sql import embeddings, library
from evidentia.store.sql.corpus import load_corpus
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.library import Recordings
from evidentia.workspace.recorded import Progress


@dataclass(slots=True)
class Shelf:
    """A corpus of a tenant, and the embeddings that were made of it and are not kept yet."""

    acting: Acting
    corpus: Corpus
    made: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def for_judges(self, judges: Sequence[Judge], progress: Progress) -> Corpus:
        """Return the corpus as judges need it: with what its passages mean if one asks for that."""
        corpus = with_meaning(
            self.corpus, judges, look_up=self._look_up, keep=self._take, progress=progress
        )
        if corpus.meaning is not None:
            self.corpus = corpus
        return corpus

    def keep_embeddings(self) -> None:
        """Keep the embeddings that were made since the last time."""
        with self.lock:
            made, self.made = self.made, {}
        if made:
            digest, tenant = encoder_digest(), self.acting.tenant
            with self.acting.database.write() as connection:
                # one that is kept, and was made anew all the same, is damaged
                embeddings.remove_embeddings(connection, tenant, digest, made)
                embeddings.store_embeddings(connection, tenant, digest, made)

    def _look_up(self, contents: Collection[str]) -> dict[str, bytes]:
        with self.acting.database.read() as connection:
            return embeddings.stored_embeddings(
                connection, self.acting.tenant, encoder_digest(), contents
            )

    def _take(self, made: Mapping[str, bytes]) -> None:
        with self.lock:
            self.made.update(made)


def shelf_of(acting: Acting, versions: Sequence[StoredDocument]) -> Shelf:
    """Return the corpus of some versions; the ones that were asked for last are remembered."""
    known = tuple((version.id, version.sha256, version.is_newest) for version in versions)
    key = (acting.tenant, known)
    shelf = acting.opened.shelves.get(key)
    if shelf is None:
        recorded = Recordings.all(acting)
        for version in versions:
            recorded.require(version)
        recorded.prove(acting, versions)
        loaded = acting.read(load_corpus, versions, recorded.require)
        if loaded.rebuilt:
            with acting.database.write() as connection:
                for of, data in loaded.rebuilt:
                    library.store_index(connection, acting.tenant, of, data)
        shelf = Shelf(acting, loaded.corpus)
        acting.opened.shelves.put(key, shelf)
    return shelf
