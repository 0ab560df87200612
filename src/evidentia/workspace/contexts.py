"""Checking against what a model was given: passages that are handed in, or the items of a bundle.

Nothing of them is kept but with the ledger: no document, no index, no embedding.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evidentia.bundles.model import EvidenceBundle
from evidentia.errors import InputError, NotFoundError
from evidentia.judges.nli.meaning import with_meaning
from evidentia.ledger.citations import issue_anchor
from evidentia.ledger.contexts import CheckedBundle, CheckedContext
from evidentia.ledger.evidence import Corpus
from evidentia.ledger.given import context_corpus, contexts_of_bundle, read_contexts
from evidentia.ledger.judging import Judge
from evidentia.store.sql.library import IssuedAnchors
from evidentia.workspace.acting import Acting
from evidentia.workspace.bundles import BUNDLES
from evidentia.workspace.corpora import Shelf
from evidentia.workspace.recorded import Progress

_ASKED_BY: Final = ("invoke", "retrieve", "run")
"""What asks a retriever of LangChain, LlamaIndex, Haystack; a function is asked by calling it."""


@dataclass(frozen=True, slots=True)
class Given:
    """The contexts of a check, and the bundle that they are the items of, if they are."""

    contexts: tuple[CheckedContext, ...]
    bundle: CheckedBundle | None = None

    @property
    def ids(self) -> frozenset[str]:
        """What the contexts are called."""
        return frozenset(context.id for context in self.contexts)

    def corpus(self, shelf: Shelf, judges: Sequence[Judge], progress: Progress) -> Corpus:
        """Return the contexts as judges need them; embeddings are looked up, and never kept."""
        return with_meaning(
            context_corpus(self.contexts), judges, look_up=shelf.look_up, progress=progress
        )

    def refuse_shared_ids(self, library: Corpus) -> None:
        """Raise `InputError` if a context goes by the id of a document: which is meant is lost."""
        for identity in sorted(library.held.documents(self.ids)):
            raise InputError(
                f"context {identity!r} has the id of a document of the library: give it another "
                "id, so that the ledger can tell the two apart"
            )


def given_contexts(
    acting: Acting,
    contexts: Iterable[Any] | Callable[[str], Any] | None,
    bundle: str | EvidenceBundle | None,
    query: str | None,
) -> Given | None:
    """Return what the model was given, as the caller has it or as a bundle keeps it; or None.

    A retriever is asked for it by the question.
    """
    if contexts is not None and bundle is not None:
        raise InputError("give contexts or a bundle, not both: a bundle's items are the contexts")
    if contexts is not None:
        return Given(read_contexts(_retrieved(contexts, query)))
    if bundle is None:
        return None
    name = bundle.bundle_id if isinstance(bundle, EvidenceBundle) else bundle
    found = EvidenceBundle.parse(BUNDLES.file(acting, BUNDLES.named(acting, name)))
    named = CheckedBundle(id=found.bundle_id, sha256=found.bundle_sha256)
    return Given(contexts_of_bundle(found), named)


def _retrieved(contexts: Any, query: str | None) -> Any:
    """Return what a retriever gives for a question; contexts that are no retriever as they are."""
    asks = next(
        (
            found
            for name in _ASKED_BY
            if not isinstance(contexts, type) and callable(found := getattr(contexts, name, None))
        ),
        contexts if callable(contexts) else None,
    )
    if asks is None:
        return contexts
    if not query:
        raise InputError(
            "contexts: a retriever is asked by the question: give it as query, or give the "
            "passages themselves"
        )
    given = asks(query)
    return _awaited(given) if isinstance(given, Awaitable) else given


def _awaited(given: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await given

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    if isinstance(given, Coroutine):
        given.close()
    raise InputError(
        "contexts: an event loop runs here, so a retriever that is async cannot be waited for: "
        "await it, and give the passages that it returns"
    )


class ContextAnchors:
    """Anchors of passages, also of those that are in no library and have none issued."""

    def __init__(self, issued: IssuedAnchors) -> None:
        self._issued = issued

    def of(self, chunk_hash: str) -> str:
        """Return the anchor that is bound to a hash, or else the one that it would be given."""
        try:
            return self._issued.of(chunk_hash)
        except NotFoundError:
            return issue_anchor(chunk_hash, self._issued)
