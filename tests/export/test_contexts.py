"""How ledgers with contexts are shown: each by its number and id, and where evidence is from."""

import pytest

from evidentia.export.forms import export_ledger
from evidentia.export.jsonform import to_json
from evidentia.export.markdown import to_markdown
from evidentia.export.pdf.ledger_pages import pages
from evidentia.export.shown import checked_against, origin
from evidentia.export.told import ledger_told
from evidentia.ledger.commitment import CorpusCommitment, CorpusFilter
from evidentia.ledger.contexts import CheckedBundle
from evidentia.ledger.session import LedgerSession
from export.sessions import leave_session
from ledger.test_contexts import GIVEN

BUNDLE = CheckedBundle(id="b-1", sha256="0" * 64)
CORPUS = CorpusCommitment(root="0" * 64, documents=12, used=12, filter=CorpusFilter(all=True))
OF_BUNDLE = GIVEN.model_copy(update={"bundle": BUNDLE})
BOTH = GIVEN.model_copy(update={"bundle": BUNDLE, "corpus": CORPUS})


@pytest.mark.parametrize(
    ("session", "against", "told"),
    [
        (GIVEN, "3 contexts", "3 contexts, whole"),
        (
            OF_BUNDLE,
            "3 contexts of bundle b-1",
            "3 contexts, whole (the items of bundle b-1)",
        ),
        (
            BOTH,
            "3 contexts of bundle b-1 and 12 documents",
            "3 contexts, whole (the items of bundle b-1), and 12 documents, by digest",
        ),
        (leave_session(), "0 documents", "0 documents, by digest"),
    ],
)
def test_what_an_answer_was_checked_against_is_said(
    session: LedgerSession, against: str, told: str
) -> None:
    assert checked_against(session) == against
    assert str(ledger_told(session)[1]).count(told) == 1


def test_where_evidence_is_from_is_said_where_there_are_two() -> None:
    first, last = BOTH.ledger.entries[0], BOTH.ledger.entries[3]
    assert origin(BOTH, first) == "what the model was given"
    assert (origin(BOTH, last), origin(GIVEN, first)) == ("", "")
    assert origin(leave_session(), leave_session().ledger.entries[0]) == ""
    elsewhere = {"contexts": [GIVEN.contexts[0]] if GIVEN.contexts else []}
    library = BOTH.model_copy(update=elsewhere)
    assert origin(library, library.ledger.entries[1]) == "the library"


def test_a_markdown_page_names_contexts() -> None:
    page = to_markdown(BOTH)
    assert "**Checked against:** 3 contexts of bundle b-1 and 12 documents" in page
    assert "- **Source:** context 2 (kb-17), Travel.pdf" in page
    assert "- **Evidence from:** what the model was given" in page
    assert "Checked against" not in to_markdown(leave_session())
    assert "Evidence from" not in to_markdown(GIVEN)


def test_json_lists_the_contexts_without_their_texts() -> None:
    made = to_json(OF_BUNDLE)
    assert [sorted(one) for one in made["contexts"]] == [
        ["id", "metadata", "page", "sha256"],
        ["id", "metadata", "sha256", "title"],
        ["id", "sha256"],
    ]
    assert made["bundle"] == {"id": "b-1", "sha256": "0" * 64}
    assert [entry["evidence_from"] for entry in made["entries"]] == [
        ["contexts"],
        ["contexts"],
        [],
        [],
    ]
    assert made["entries"][1]["evidence"]["source"] == {
        "document_id": "kb-17",
        "filename": "context 2 (kb-17), Travel.pdf",
    }
    assert {"contexts", "bundle"} & set(to_json(leave_session())) == set()
    assert "bundle" not in to_json(GIVEN)


def test_sarif_and_junit_name_the_context() -> None:
    for form in ("sarif", "junit"):
        assert "context 2 (kb-17), Travel.pdf" in export_ledger(GIVEN, form)


def test_the_pages_of_a_pdf_list_the_contexts_with_their_digests() -> None:
    made = pages(BOTH)
    assert [one["name"]["t"] for one in made["documents"][::2]] == ["context 1", "context 3 (kb-9)"]
    assert len(made["documents"]) == 3
    assert made["document_count"]["en"] == "15"
