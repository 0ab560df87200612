"""Small corpora for tests: documents as pages of text, chunked and indexed as in the product."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import DocumentChunk, Heading, Page, ReadDocument
from evidentia.judges import make_judges
from evidentia.ledger.checking import CheckContext, check_claims
from evidentia.ledger.citations import issue_anchor
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.corpus import InMemory
from evidentia.ledger.corpus import make_corpus as made_of
from evidentia.ledger.evidence import Corpus, CorpusDocument
from evidentia.ledger.judging import Judge
from evidentia.ledger.model import EvidenceLedger

TODAY = date(2026, 1, 3)
NOW = "2026-01-03T14:30:00Z"

HR_POLICY = (
    (
        "# 4. Leave\n\n"
        "## 4.1 Annual leave\n\n"
        "All permanent employees shall receive 15 days of paid annual leave per calendar year. "
        "Sick leave is separate from annual leave.\n"
    ),
    (
        "## 4.2 Carrying leave over\n\n"
        "Unused annual leave may be carried over at the discretion of the department head, subject "
        "to operational requirements.\n"
    ),
)
LEAVE_GUIDELINES = (
    (
        "# Guidelines\n\n"
        "## Section 3.2\n\n"
        "Leave applications must be submitted at least 14 calendar days before the intended start "
        "date. The department head decides within five working days.\n"
    ),
)
TRAVEL_POLICY = (
    (
        "# Travel\n\n"
        "Employees travel in economy class. Hotel costs are refunded up to $150 per night. "
        "Receipts must be submitted within 30 days.\n"
    ),
)


def read(filename: str, pages: Sequence[str]) -> ReadDocument:
    """Return pages of text as a document that was read; `#` lines are its headings."""
    headings = [
        Heading(len(match[1]), match[2], number, match.start())
        for number, text in enumerate(pages, 1)
        for match in re.finditer(r"^(#{1,6}) +(.+)$", text, re.MULTILINE)
    ]
    return ReadDocument(
        filename=filename,
        media_type="application/pdf",
        sha256=sha256("\f".join(pages).encode()).hexdigest(),
        pages=tuple(Page(number, text) for number, text in enumerate(pages, 1)),
        headings=tuple(headings),
        language="en",
        direction="ltr",
        title=None,
        created=None,
        modified=None,
    )


def document_id(filename: str) -> str:
    return f"doc_{sha256(filename.encode()).hexdigest()[:8]}"


def make_corpus(
    files: Mapping[str, Sequence[str]],
    *,
    dated: Mapping[str, date] | None = None,
    superseded: Sequence[str] = (),
) -> Corpus:
    """Return the documents, which go by their filenames, as a corpus to check against."""
    documents = {}
    chunks: list[DocumentChunk] = []
    for filename, pages in files.items():
        name = document_id(filename)
        chunks += chunk_document(read(filename, pages), name)
        documents[name] = CorpusDocument(
            id=name,
            filename=filename,
            dated=(dated or {}).get(filename),
            superseded=filename in superseded,
        )
    return corpus_of(documents, chunks)


def corpus_of(documents: Mapping[str, CorpusDocument], chunks: Sequence[DocumentChunk]) -> Corpus:
    """Return documents and chunks as a corpus, with a new index."""
    return made_of(documents.values(), chunks)


def chunks_in(corpus: Corpus) -> Sequence[DocumentChunk]:
    """Return the chunks of a corpus that is in memory, or whose parts are."""
    if corpus.parts:
        return [chunk for part in corpus.parts for chunk in chunks_in(part)]
    assert isinstance(corpus.held, InMemory)
    return corpus.held.all_chunks


def documents_in(corpus: Corpus) -> Mapping[str, CorpusDocument]:
    """Return the documents of a corpus that is in memory."""
    assert isinstance(corpus.held, InMemory)
    return corpus.held.all_documents


def leave_corpus() -> Corpus:
    """Return three documents on leave and travel."""
    return make_corpus(
        {
            "HR_Policy.pdf": HR_POLICY,
            "Leave_Guidelines.pdf": LEAVE_GUIDELINES,
            "Travel_Policy.pdf": TRAVEL_POLICY,
        },
        dated={"HR_Policy.pdf": date(2025, 6, 1), "Leave_Guidelines.pdf": date(2025, 3, 1)},
    )


def anchors(corpus: Corpus) -> dict[str, str]:
    """Return an anchor for every chunk, as a workspace issues them."""
    issued: dict[str, str] = {}
    for chunk in chunks_in(corpus):
        issued[issue_anchor(chunk.chunk_hash, issued)] = chunk.chunk_hash
    return issued


def check_context(issued: Mapping[str, str]) -> CheckContext:
    by_hash = {full: anchor for anchor, full in issued.items()}
    return CheckContext(
        session_id="ses_1",
        created_at=NOW,
        today=TODAY,
        issued_anchors=issued,
        anchor_of=by_hash.__getitem__,
    )


def check(answer: str, corpus: Corpus, judges: Sequence[Judge] | None = None) -> EvidenceLedger:
    """Return the ledger of an answer against a corpus."""
    return check_claims(
        answer,
        extract_claims(answer),
        corpus,
        make_judges() if judges is None else judges,
        check_context(anchors(corpus)),
    )
