"""References: what the citations of an answer lead to among the documents, and if that holds.

An anchor leads to the places of its chunk. A number or a footnote leads to the documents that its
reference names. A citation holds if a passage at such a place bears the claim out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.documents.model import DocumentChunk
from evidentia.ledger.citations import citation_definitions, resolve_citation
from evidentia.ledger.evidence import Corpus
from evidentia.ledger.judging import Judged
from evidentia.ledger.model import CitationCheck, Claim, Passage

_NUMBER = re.compile(r"\d{1,3}")
_JOINTS = re.compile(r"[\W_]+")
_EXTENSION = re.compile(r"\.\w{1,8}$")
_CHUNKS_OF_DOCUMENT: Final = 3
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class _Target:
    """What a citation leads to: chunks, or whole documents, or why to nothing."""

    chunks: tuple[DocumentChunk, ...] = ()
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


class References:
    """The citations of one answer, resolved among the documents it is checked against."""

    def __init__(self, answer: str, corpus: Corpus, issued: Mapping[str, str]) -> None:
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
        """Say of each citation whether it resolves, and whether it bears the claim out."""
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
                problem = "The cited passage does not bear the claim out"
        return CitationCheck(
            claim_id=claim.id,
            label=label,
            resolved=target.problem is None,
            bears=bears,
            problem=problem,
        )

    def _target(self, label: str) -> _Target:
        if label not in self._targets:
            refers = label.startswith("^") or _NUMBER.fullmatch(label)
            self._targets[label] = self._documents(label) if refers else self._anchor(label)
        return self._targets[label]

    def _anchor(self, label: str) -> _Target:
        resolution = resolve_citation(label, self._issued, self._corpus.chunks)
        if resolution.candidates:
            shown = ", ".join(hash_[: len(label) + 8] for hash_ in resolution.candidates[:5])
            return _Target(problem=f"{resolution.error} ({shown})")
        return _Target(chunks=resolution.places, problem=resolution.error)

    def _documents(self, label: str) -> _Target:
        text = self._definitions.get(label)
        if text is None:
            return _Target(problem="Citation has no reference in the answer")
        said = _named(text)
        lengths = {
            document.id: len(name)
            for document in self._corpus.documents.values()
            if (name := _named(_EXTENSION.sub("", document.filename)))
            and f" {name} " in f" {said} "
        }
        if not lengths:
            shown = text[:_LONGEST_SHOWN]
            return _Target(problem=f'Citation\'s reference names none of the documents: "{shown}"')
        longest = max(lengths.values())
        return _Target(
            documents=frozenset(name for name, size in lengths.items() if size == longest)
        )


def _named(text: str) -> str:
    """Return a name in the form that names are compared in: "HR_Policy" is "hr policy"."""
    return _JOINTS.sub(" ", text.casefold()).strip()


def problems(checks: Sequence[CitationCheck]) -> str:
    """Return what is wrong with a claim's citations, as sentences; "" if nothing is."""
    return " ".join(
        f"Its citation [{check.label}]: {check.problem}." for check in checks if check.problem
    )
