"""Several corpora as one: each is searched and judged by itself, and all that is found counts.

So what an answer's contexts say of a claim is the same whether or not the library is asked too.
"""

from collections.abc import Iterable, Mapping, Sequence

from evidentia.documents.model import DocumentChunk
from evidentia.ledger.evidence import Corpus, CorpusDocument, Hit, Holdings
from evidentia.ledger.judging import Judged


class JoinedHoldings:
    """The documents of several corpora, which share no id; keeps `ledger.evidence.Holdings`."""

    def __init__(self, parts: Sequence[Holdings]) -> None:
        self._parts = tuple(parts)

    def search(self, text: str, limit: int, among: frozenset[str] | None) -> list[Hit]:
        """Return the best chunks of each corpus, by their scores there."""
        hits = [hit for part in self._parts for hit in part.search(text, limit, among)]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def documents(self, identities: Iterable[str]) -> Mapping[str, CorpusDocument]:
        """Return those of the named documents that are here."""
        wanted = list(identities)
        return {key: one for part in self._parts for key, one in part.documents(wanted).items()}

    def chunks(self, identity: str) -> Sequence[DocumentChunk]:
        """Return a document's chunks."""
        return [chunk for part in self._parts for chunk in part.chunks(identity)]

    def anchored(self, anchor: str) -> Sequence[DocumentChunk]:
        """Return the chunks that an anchor may mean, of each corpus."""
        return [chunk for part in self._parts for chunk in part.anchored(anchor)]

    def called(self, text: str) -> Iterable[CorpusDocument]:
        """Return the documents of each corpus whose names may stand in a text."""
        return [document for part in self._parts for document in part.called(text)]

    def few(self, most: int) -> Sequence[DocumentChunk] | None:
        """Return all chunks, unless they are more."""
        found: list[DocumentChunk] = []
        for part in self._parts:
            some = part.few(most - len(found))
            if some is None:
                return None
            found += some
        return found


def join_corpora(corpora: Sequence[Corpus]) -> Corpus:
    """Return corpora as one that is searched and judged part by part; one alone stays as it is."""
    if len(corpora) == 1:
        return corpora[0]
    labels = {label: named for part in reversed(corpora) for label, named in part.labels.items()}
    held = JoinedHoldings([part.held for part in corpora])
    return Corpus(held, labels=labels, parts=tuple(corpora))


def joined(found: Iterable[Judged]) -> Judged:
    """Return what was judged in parts as one: all of it counts, as within one part.

    Where a judge is certain that a claim is supported, one that is not certain contradicts nothing.
    """
    parts = list(found)
    if len(parts) == 1:
        return parts[0]
    sure = tuple(passage for part in parts for passage in part.sure)
    counted = [
        [match for match in part.matches if not (match.contradicts and sure and not part.certain)]
        for part in parts
    ]
    failures = dict.fromkeys(failure for part in parts for failure in part.failures)
    return Judged(
        matches=tuple(match for matches in counted for match in matches),
        failures=tuple(failures),
        certain=any(part.certain for part in parts),
        passages=sum(part.passages for part in parts),
        judges=parts[0].judges,
        support=_support(
            (part.support, any(match.contradicts for match in matches))
            for part, matches in zip(parts, counted, strict=True)
        ),
        models={name: digest for part in parts for name, digest in part.models.items()},
        nearest=next((part.nearest for part in parts if part.nearest), None),
        sure=sure,
    )


def _support(said: Iterable[tuple[float | None, bool]]) -> float | None:
    """Return how likely a claim is supported: where a part contradicts it, what that part says."""
    known = [(support, against) for support, against in said if support is not None]
    against = [support for support, is_against in known if is_against]
    return min(against) if against else max((support for support, _ in known), default=None)
