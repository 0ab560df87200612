"""References: what the citations of an answer lead to among the documents, and if that holds.

An anchor leads to the places of its chunk. A number or a footnote leads to the documents that its
reference names: by its whole path, or by as much of the path's end as tells which one is meant. A
citation holds if a passage at such a place supports the claim.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from evidentia.documents.model import DocumentChunk
from evidentia.ledger.citations import citation_definitions, resolve_citation
from evidentia.ledger.evidence import Corpus, CorpusDocument
from evidentia.ledger.judging import Judged
from evidentia.ledger.model import CitationCheck, Claim, Passage

_NUMBER = re.compile(r"\d{1,3}")
_JOINTS = re.compile(r"[\W_]+")
_EXTENSION = re.compile(r"\.\w{1,8}$")
_FILE = re.compile(r"[^\s,;:()\[\]\"']+\.\w{1,8}(?!\w)")
_CHUNKS_OF_DOCUMENT: Final = 3
_LONGEST_SHOWN: Final = 80
_MOST_LISTED: Final = 5
_MOST_NEAREST: Final = 3
_SHORTEST_BARE: Final = 5


@dataclass(frozen=True, slots=True)
class _Target:
    """What a citation leads to: chunks, or whole documents, or why to nothing."""

    chunks: Sequence[DocumentChunk] = ()
    documents: frozenset[str] = frozenset()
    problem: str | None = None

    def has(self, passage: Passage) -> bool:
        """Whether a passage stands where the citation leads."""
        return passage.source.id in self.documents or any(
            chunk.document_id == passage.source.id
            and chunk.page == passage.page
            and chunk.start <= passage.start
            and passage.end <= chunk.end
            for chunk in self.chunks
        )


@dataclass(frozen=True, slots=True)
class _Called:
    """What a reference may call a document: its path, or the end of it, as names are compared."""

    name: str
    is_path: bool
    document: str
    filename: str


class References:
    """The citations of one answer, resolved among the documents it is checked against."""

    def __init__(
        self,
        answer: str,
        corpus: Corpus,
        issued: Mapping[str, str],
        named: Collection[str] = (),
    ) -> None:
        """`named` are citations that were said beside the answer: each says itself what it is."""
        self._named = named
        self._corpus = corpus
        self._issued = issued
        self._definitions = citation_definitions(answer)
        self._targets: dict[str, _Target] = {}

    def chunks(self, claim: Claim) -> list[DocumentChunk]:
        """Return the chunks to look at because the claim cites them."""
        found: list[DocumentChunk] = []
        for label in claim.citations:
            target = self._target(label)
            found += target.chunks
            if target.documents:
                found += self._corpus.nearest(
                    claim.text, _CHUNKS_OF_DOCUMENT, among=target.documents
                )
        return found

    def check(self, claim: Claim, judged: Judged) -> list[CitationCheck]:
        """Say of each citation whether it resolves, and whether it supports the claim."""
        return [self._check(claim, label, judged) for label in claim.citations]

    def _check(self, claim: Claim, label: str, judged: Judged) -> CitationCheck:
        target = self._target(label)
        there = [match for match in judged.matches if match.passage and target.has(match.passage)]
        bears = any(not match.contradicts for match in there)
        problem = target.problem
        if problem is None and not bears:
            if there:
                problem = "The cited passage contradicts the claim"
            elif judged.failures:
                problem = "The cited passage could not be judged"
            else:
                problem = "The cited passage does not support the claim"
        return CitationCheck(
            claim_id=claim.id,
            label=label,
            resolved=target.problem is None,
            bears=bears,
            problem=problem,
        )

    def _target(self, label: str) -> _Target:
        if label not in self._targets:
            self._targets[label] = self._found(label)
        return self._targets[label]

    def _found(self, label: str) -> _Target:
        known = self._corpus.labels.get(label)
        if known is not None and label not in self._definitions:
            return _Target(documents=frozenset({known}))
        if label in self._named:
            return self._documents(label)
        refers = label.startswith("^") or _NUMBER.fullmatch(label)
        if not refers:
            return self._anchor(label)
        return self._documents(self._definitions.get(label))

    def _anchor(self, label: str) -> _Target:
        resolution = resolve_citation(label, self._issued, self._corpus.held.anchored(label))
        if resolution.candidates:
            shown = ", ".join(hash_[: len(label) + 8] for hash_ in resolution.candidates[:5])
            return _Target(problem=f"{resolution.error} ({shown})")
        return _Target(chunks=resolution.places, problem=resolution.error)

    def _documents(self, text: str | None) -> _Target:
        if text is None:
            return _Target(problem="The answer's list of sources does not say what it stands for")
        said = f" {named(text)} "
        known = _called(self._corpus.held.called(text))
        found = [called for called in known if f" {called.name} " in said]
        shown = text[:_LONGEST_SHOWN]
        if not found:
            nearest = _nearest(text, known)
            more = f". The nearest: {', '.join(nearest)}" if nearest else ""
            none = "Citation's reference names none of the documents"
            return _Target(problem=f'{none}: "{shown}"{more}')
        most = max((len(called.name), called.is_path) for called in found)
        meant = [called for called in found if (len(called.name), called.is_path) == most]
        files = sorted({called.filename for called in meant})
        if len(files) > 1 and not meant[0].is_path:
            return _Target(
                problem=f'Citation\'s reference "{shown}" could be {_listed(files)}: '
                f"name the folder too, as in {files[0]}"
            )
        return _Target(documents=frozenset(called.document for called in meant))


def _called(documents: Iterable[CorpusDocument]) -> list[_Called]:
    return [
        _Called(name, is_path, document.id, document.filename)
        for document in documents
        for name, is_path in names_of(document.filename)
        if name
    ]


def _nearest(text: str, known: Iterable[_Called]) -> list[str]:
    """Return the files whose names are most like what a reference says."""
    file = _FILE.search(text)
    said = named(_EXTENSION.sub("", file[0] if file else text))
    names: dict[str, set[str]] = {}
    for called in known:
        names.setdefault(called.name, set()).add(called.filename)
    near = get_close_matches(said, names, n=_MOST_NEAREST)
    files = dict.fromkeys(file for name in near for file in sorted(names[name]))
    return [*files][:_MOST_NEAREST]


def names_of(filename: str) -> Iterator[tuple[str, bool]]:
    """Give what a file may be called, with its ending and without, and if it is the whole path.

    A short name in a folder goes by its ending only: a year or "a" may stand in any reference.
    """
    folders = filename.split("/")
    for first in range(len(folders)):
        path = "/".join(folders[first:])
        bare = named(_EXTENSION.sub("", path))
        if bare:
            yield named(path), first == 0
        if first == 0 or len(bare) >= _SHORTEST_BARE:
            yield bare, first == 0


def _listed(files: Sequence[str]) -> str:
    """Return names in a row, the first few and how many more there are."""
    shown = [*files[:_MOST_LISTED]]
    if len(files) > len(shown):
        shown.append(f"{len(files) - len(shown)} more")
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


def named(text: str) -> str:
    """Return a name in the form that names are compared in: "HR_Policy" is "hr policy"."""
    return _JOINTS.sub(" ", text.casefold()).strip()


def problems(checks: Sequence[CitationCheck]) -> str:
    """Return what is wrong with a claim's citations, as sentences; "" if nothing is."""
    return " ".join(
        f"Its citation [{check.label}]: {check.problem}." for check in checks if check.problem
    )
