"""The bundled example: every document reads as it should, and the answers get the verdicts told."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import DocumentChunk, ReadDocument
from evidentia.documents.reading.document import read_document
from evidentia.ledger.evidence import Corpus, CorpusDocument
from evidentia.ledger.model import EvidenceLedger, LedgerEntry, RiskType, Verdict
from evidentia.workspace import open_workspace
from ledger.corpora import check, corpus_of, document_id

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = (EXAMPLES / "README.md").read_text(encoding="utf-8")

HR = "HR_Policy.pdf"
GUIDELINES = "Leave_Guidelines.docx"
TRAVEL = "Travel_and_Expenses.html"
FURNITURE = {
    HR: (
        (
            "32 lines of page furniture (running heads, footers, page numbers) are left out, such "
            "as “Meridian Instruments HR Policy”, "
            "“Version 4.0, in force from 1 January 2026 Page 2 of 17”"
        ),
    ),
    GUIDELINES: (
        "2 headers or footers of the pages are left out, such as “Page”, “Meridian Instruments”",
    ),
    TRAVEL: ("3 pieces of page furniture (menus, footers and the like) are left out",),
}
REMOTE = "Remote_Work.md"
ATTENDANCE = "سياسة_الحضور.md"

Row = tuple[str, str, str, int | None, str, str]


@cache
def documents() -> dict[str, ReadDocument]:
    files = sorted((EXAMPLES / "policies").iterdir())
    return {path.name: read_document(path.read_bytes(), path.name) for path in files}


def corpus() -> Corpus:
    chunks: list[DocumentChunk] = []
    listed = {}
    for filename, document in documents().items():
        name = document_id(filename)
        chunks += chunk_document(document, name)
        listed[name] = CorpusDocument(id=name, filename=filename, dated=None)
    return corpus_of(listed, chunks)


@cache
def ledger() -> EvidenceLedger:
    return check((EXAMPLES / "copied.md").read_text(encoding="utf-8"), corpus())


@pytest.fixture(scope="module")
def in_other_words(tmp_path_factory: pytest.TempPathFactory) -> EvidenceLedger:
    """Check the answer as `evidentia check` does: passages are found by their meaning, too."""
    answer = (EXAMPLES / "answer.md").read_text(encoding="utf-8")
    with open_workspace(tmp_path_factory.mktemp("answer") / "home") as workspace:
        return workspace.check(answer, against=EXAMPLES / "policies")


def told() -> list[list[str]]:
    """Return the table of the examples' page: number, claim, truth, what documents say, verdict."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if re.match(r"\| \d", line)
    ]


def verdict(entry: LedgerEntry) -> str:
    return entry.support.value if entry.support else entry.verdict.value.replace("_", " ")


def headings(filename: str, page: int) -> list[str]:
    return [heading.text for heading in documents()[filename].headings if heading.page == page]


@pytest.mark.parametrize(
    ("filename", "title", "pages", "written", "created"),
    [
        (HR, "HR Policy", 17, ("en", "ltr"), "2025-11-03"),
        (GUIDELINES, "Leave Guidelines", 1, ("en", "ltr"), "2025-11-10"),
        (TRAVEL, "Travel and Expenses", 1, ("en", "ltr"), "2025-03-17"),
        (REMOTE, "Remote Work Policy", 1, ("en", "ltr"), "2025-06-16"),
        (ATTENDANCE, "سياسة الحضور والانصراف", 1, ("ar", "rtl"), "2025-08-24"),
    ],
)
def test_a_document_is_read_as_it_is(
    filename: str, title: str, pages: int, written: tuple[str, str], created: str
) -> None:
    document = documents()[filename]
    assert document.title == title
    assert len(document.pages) == pages
    assert (document.language, document.direction) == written
    assert document.created == created
    assert document.warnings == FURNITURE.get(filename, ())


def test_the_furniture_of_a_page_is_no_part_of_it() -> None:
    (page,) = documents()[TRAVEL].pages
    assert page.text.startswith("Travel and Expenses\n\nThis page says")
    assert page.text.endswith("- Upgrades, lounges and loyalty cards")


def test_nothing_else_lies_in_the_folder() -> None:
    assert set(documents()) == {HR, GUIDELINES, TRAVEL, REMOTE, ATTENDANCE}
    assert (EXAMPLES / "policies" / HR).stat().st_size < 300_000


def test_the_headings_of_each_format_are_found() -> None:
    assert headings(HR, 12) == [
        "4 Leave",
        "4.1 Annual leave",
        "4.1.1 Entitlement",
        "4.1.2 Joining and leaving during the year",
        "4.1.3 Part-time employees",
    ]
    assert headings(HR, 14) == [
        "4.2 Carrying leave over",
        "4.3 Sick leave",
        "4.4 Parental and family leave",
    ]
    assert headings(GUIDELINES, 1)[3:7] == [
        "3 Applying for leave",
        "3.1 How to apply",
        "3.2 When to apply",
        "3.3 Half days",
    ]
    assert headings(TRAVEL, 1)[:3] == ["Travel and Expenses", "Before you travel", "Transport"]
    assert headings(REMOTE, 1)[4] == "4. Working from abroad"
    assert headings(ATTENDANCE, 1)[4] == "4. الغياب"


def test_running_heads_and_page_numbers_of_the_pdf_are_in_no_passage() -> None:
    for page in documents()[HR].pages[1:]:
        assert f"Page {page.number} of 17" not in page.text
        assert not page.text.startswith("Meridian Instruments HR Policy")


def test_tables_of_the_pdf_are_read_row_by_row() -> None:
    text = documents()[HR].pages[11].text
    assert (
        "\nEmployment begins on or before: 1 May | Full months: 8 | Entitlement: 10 days\n" in text
    )


def row(entry: LedgerEntry) -> Row:
    source = entry.source_document
    return (
        entry.claim_text,
        entry.verdict.value,
        source.filename if source else "",
        source.page_number if source else None,
        source.heading_path[-1] if source and source.heading_path else "",
        " ".join(entry.evidence_snippet.split()),
    )


def test_the_page_tells_the_verdicts_of_the_answer_in_other_words(
    in_other_words: EvidenceLedger,
) -> None:
    found = [
        [str(number), entry.claim_text, verdict(entry)]
        for number, entry in enumerate(in_other_words.entries, 1)
    ]
    assert [[number, claim, given] for number, claim, _, _, given in told()] == found


def test_the_page_and_the_demo_count_how_often_the_verdicts_err() -> None:
    counted = Counter((truth == "true", given) for _, _, truth, _, given in told())
    assert counted == {
        (True, "supported"): 1,
        (True, "probable"): 7,
        (False, "probable"): 4,
        (False, "partial"): 3,
        (False, "not found"): 1,
    }
    demo = (EXAMPLES.parent / "demo").read_text(encoding="utf-8")
    for said in (
        "Of 8 true claims they call 1 supported and 7 probable; of the 8 that don't hold,",
        "4 probable, 3 partial, 1 not found, none contradicted.",
    ):
        assert said in demo
    assert (
        "of eight true claims one is supported and seven are probable. Of the eight that don't "
        "hold, four are probable, three partial, one not found. "
        "**None is contradicted**"
    ) in " ".join(PAGE.split())


def test_each_copied_claim_has_its_verdict_its_quote_and_its_place() -> None:
    assert [row(entry) for entry in ledger().entries] == [
        (
            "All permanent employees shall receive 15 days of paid annual leave per calendar year",
            "supported",
            HR,
            12,
            "4.1.1 Entitlement",
            "All permanent employees shall receive 15 days of paid annual leave per calendar year.",
        ),
        (
            "Part-time employees receive annual leave in proportion to their weekly working days",
            "supported",
            HR,
            12,
            "4.1.3 Part-time employees",
            "Part-time employees receive annual leave in proportion to their weekly working days.",
        ),
        (
            (
                "Public holidays that fall within a period of annual leave are not counted as "
                "days of leave"
            ),
            "supported",
            GUIDELINES,
            1,
            "6 Public holidays",
            (
                "Public holidays that fall within a period of annual leave are not counted as "
                "days of leave."
            ),
        ),
        (
            "Annual leave is approved by the line manager",
            "supported",
            HR,
            13,
            "4.1.4 Planning and approval",
            "Annual leave is approved by the line manager.",
        ),
        (
            "Leave requests must be submitted 2 weeks in advance",
            "supported",
            GUIDELINES,
            1,
            "3.2 When to apply",
            (
                "Leave applications must be submitted at least 14 calendar days before the "
                "intended start date."
            ),
        ),
        (
            "Annual leave may be taken in full days or half days",
            "supported",
            GUIDELINES,
            1,
            "3.3 Half days",
            "Annual leave may be taken in full days or half days.",
        ),
        (
            "Employees can cancel approved leave up to 2 working days before it begins",
            "supported",
            GUIDELINES,
            1,
            "4.3 Changing or cancelling leave",
            "Employees may cancel approved leave up to two working days before it begins.",
        ),
        (
            "A medical certificate is required for any absence of more than 5 calendar days",
            "contradicted",
            HR,
            14,
            "4.3 Sick leave",
            "A medical certificate is required for any absence of more than three calendar days.",
        ),
        (
            "Unused leave can be carried forward to the next year",
            "weak",
            HR,
            14,
            "4.2 Carrying leave over",
            (
                "Unused annual leave may be carried over at the discretion of the department head, "
                "subject to operational requirements."
            ),
        ),
        ("The maximum carry-over is 5 days", "not_found", "", None, "", ""),
    ]


def test_every_kind_of_verdict_occurs_in_the_answer_that_copies() -> None:
    counts = ledger().summary.by_verdict
    judged = [verdict.value for verdict in Verdict if verdict is not Verdict.NOT_JUDGED]
    assert all(counts[verdict] for verdict in judged)
    assert counts[Verdict.NOT_JUDGED.value] == 0


def test_every_quote_opens_at_its_place(in_other_words: EvidenceLedger) -> None:
    entries = [*ledger().entries, *in_other_words.entries]
    quoted = [match.passage for entry in entries for match in entry.evidence]
    assert quoted
    for passage in quoted:
        assert passage is not None
        page = documents()[passage.source.filename].pages[passage.page - 1]
        assert page.text[passage.start : passage.end] == passage.snippet


def test_some_citations_hold_and_some_do_not() -> None:
    checks = ledger().citations
    assert all(found.resolved for found in checks)
    assert [(found.label, found.problem) for found in checks] == [
        ("1", None),
        ("1", None),
        ("3", "The cited passage does not support the claim"),
        ("1", None),
        ("2", None),
        ("2", None),
        ("2", None),
        ("1", "The cited passage contradicts the claim"),
        ("1", None),
        ("1", "The cited passage does not support the claim"),
    ]
    assert all(found.bears == (found.problem is None) for found in checks)


def test_the_risks_are_what_is_wrong_and_what_is_missing() -> None:
    texts = {entry.claim_id: entry.claim_text for entry in ledger().entries}
    flagged = {
        flag.type: [texts[name] for name in flag.affected_claim_ids] for flag in ledger().risk_flags
    }
    assert flagged == {
        RiskType.MISSING_EVIDENCE: ["The maximum carry-over is 5 days"],
        RiskType.CONTRADICTION: [
            "A medical certificate is required for any absence of more than 5 calendar days"
        ],
    }


def test_the_right_to_left_document_bears_claims_out() -> None:
    claim = "يجب على كل موظف تسجيل وقت حضوره وانصرافه في نظام الحضور الإلكتروني"
    (entry,) = check(f"{claim}.", corpus()).entries
    assert row(entry) == (claim, "supported", ATTENDANCE, 1, "2. تسجيل الحضور", f"{claim}.")
