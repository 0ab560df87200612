import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

import tiers
from evidentia.errors import InputError
from evidentia.judges import make_judges
from evidentia.ledger.checking import CheckContext, _quality, check_claims
from evidentia.ledger.citations import GivenCitation
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.evidence import Corpus
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import (
    CitationCheck,
    Claim,
    EvidenceLedger,
    EvidenceMatch,
    LedgerEntry,
    Passage,
    RiskType,
    SourceDocument,
    SupportLevel,
    Verdict,
    WeakSupport,
)
from ledger.corpora import (
    NOW,
    TODAY,
    anchors,
    check,
    check_context,
    chunks_in,
    corpus_of,
    documents_in,
    leave_corpus,
    make_corpus,
)
from ledger.stubs import Says, StubJudge, broken

FIFTEEN = "Employees receive 15 days of annual leave."
PLANNED = "Employees plan their annual leave."
OF_WORDS = make_judges(["quote", "numbers"])


def only(ledger: EvidenceLedger) -> LedgerEntry:
    (entry,) = ledger.entries
    return entry


def citations(answer: str, corpus: Corpus) -> list[tuple[str, bool, bool, str | None]]:
    return [
        (found.label, found.resolved, found.bears, found.problem)
        for found in check(answer, corpus).citations
    ]


def test_a_ledger_says_what_it_was_made_of() -> None:
    ledger = check("Employees get 15 days of annual leave.", leave_corpus())
    assert ledger.session_id == "ses_1"
    assert ledger.created_at == ledger.updated_at == NOW
    assert ledger.summary.total_claims == len(ledger.entries) == 1
    assert ledger.previous_ledger_id is None
    assert EvidenceLedger.model_validate_json(ledger.model_dump_json()) == ledger


# Judges that are never certain


def unsure() -> StubJudge:
    judge = StubJudge("unsure", lambda _, passages: [None] * len(passages))
    judge.never_certain = True
    return judge


@pytest.mark.parametrize(
    ("claim", "files", "superseded", "asked"),
    [
        (FIFTEEN, {"a.md": [FIFTEEN], "b.md": [PLANNED]}, [], False),
        ("Contractors may bring pets.", {"a.md": ["Pets are pets."]}, [], True),
        (FIFTEEN, {"a.md": [FIFTEEN], "b.md": [PLANNED]}, ["a.md"], True),
        (FIFTEEN, {"a.md": [FIFTEEN], "b.md": [FIFTEEN.replace("15", "20"), PLANNED]}, [], True),
    ],
)
def test_who_is_never_certain_is_asked_only_about_what_is_open(
    claim: str,
    files: dict[str, list[str]],
    superseded: list[str],
    asked: bool,  # noqa: FBT001 - a column of the table
) -> None:
    judge = unsure()
    corpus = make_corpus(files, superseded=superseded)
    check(claim, corpus, [*OF_WORDS, judge])
    assert bool(judge.asked) is asked
    alone = unsure()
    check(claim, corpus, [alone])
    assert alone.asked


def test_every_verdict_explains_itself_and_names_its_judge() -> None:
    answer = "Employees are entitled to 15 days of annual leave."
    entry = only(check(answer, leave_corpus(), OF_WORDS))
    assert entry.notes == (
        'Directly supported by: "All permanent employees shall receive 15 days of paid annual '
        'leave per calendar year." (numbers judge: the values agree ("15 days"), about the same '
        "thing). A passage that says otherwise would change this."
    )
    assert entry.judge == "numbers"
    missing = only(check("Zebras graze in herds.", leave_corpus(), OF_WORDS))
    assert missing.verdict is Verdict.NOT_FOUND
    assert missing.notes == (
        "No matching evidence found in provided documents (0 passages were read by quote and "
        "numbers). A document that says it, or that says otherwise, would change this."
    )
    assert missing.judge == ""
    unread = only(check("Employees get 15 days of annual leave.", leave_corpus(), judges=[]))
    assert "passages were read by no judge" in unread.notes


def test_the_components_of_a_confidence_are_kept() -> None:
    quoted = make_corpus({"a.pdf": [FIFTEEN], "b.pdf": [FIFTEEN]}, dated={"a.pdf": TODAY})
    entry = only(check("Employees receive 15 days of annual leave.", quoted))
    assert entry.confidence_score == 0.99
    components = entry.confidence_components
    assert components is not None
    assert components.model_dump() == {
        "semantic_similarity": 0.99,
        "evidence_count": 2,
        "directness": 1.0,
        "source_quality": 1.0,
    }
    assert entry.component_confidence == pytest.approx(0.99 * 0.6 + 0.05 + 0.15 + 0.1)
    alone = make_corpus({"a.pdf": [FIFTEEN]})
    undated = only(check("Employees get 15 days of annual leave in all.", alone, OF_WORDS))
    assert undated.confidence_components is not None
    assert undated.confidence_components.source_quality == 0.5
    assert undated.confidence_components.directness == 0.5


def test_a_source_that_was_read_by_ocr_is_rated_by_how_sure_its_reading_is() -> None:
    written = make_corpus({"a.pdf": [FIFTEEN]}, dated={"a.pdf": TODAY})
    chunks = [replace(chunk, ocr=0.8) for chunk in chunks_in(written)]
    entry = only(
        check(
            "Employees receive 15 days of annual leave.", corpus_of(documents_in(written), chunks)
        )
    )
    assert entry.confidence_components is not None
    assert entry.confidence_components.source_quality == 0.8
    assert "The passage was read by OCR, 80% sure." in entry.notes


def test_what_names_no_passage_is_rated_as_the_least_source() -> None:
    assert _quality(None, leave_corpus()) == 0.2


def test_evidence_is_named_by_its_anchors() -> None:
    corpus = leave_corpus()
    entry = only(check("Employees get 15 days of annual leave.", corpus))
    (anchor,) = entry.evidence_chunk_ids
    assert len(anchor) == 8
    assert anchors(corpus)[anchor].startswith(anchor)


def test_a_claim_that_rests_on_two_passages_names_both() -> None:
    corpus = make_corpus(
        {"a.pdf": [FIFTEEN], "b.pdf": ["Employees receive 10 days of sick leave."]}
    )
    answer = "Employees receive 15 days of annual leave and 10 days of sick leave."
    entry = only(check(answer, corpus, OF_WORDS))
    assert entry.verdict is Verdict.SUPPORTED
    assert len(entry.evidence_chunk_ids) == 2
    assert entry.confidence_components is not None
    assert entry.confidence_components.evidence_count == 2


@pytest.mark.parametrize(
    ("level", "support", "why"),
    [
        (SupportLevel.FULL, WeakSupport.PROBABLE, "Probable: the passage says all of it, but"),
        (SupportLevel.PARTIAL, WeakSupport.PARTIAL, "Partial: the passage leaves out something"),
    ],
)
def test_a_weak_claim_says_why_it_is_weak(
    level: SupportLevel, support: WeakSupport, why: str
) -> None:
    def says(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        return [
            Opinion(
                EvidenceMatch(similarity=0.7, support_level=level, snippet=one.snippet, passage=one)
            )
            for one in passages
        ]

    ledger = check(FIFTEEN, leave_corpus(), [StubJudge("stub", says)])
    entry = only(ledger)
    assert (entry.verdict, entry.support) == (Verdict.WEAK, support)
    assert why in entry.notes
    assert ledger.summary.by_support == {
        "probable": int(support is WeakSupport.PROBABLE),
        "partial": int(support is WeakSupport.PARTIAL),
    }
    assert entry.nearest is None


def test_a_claim_that_is_not_found_names_the_nearest_passage_where_one_was_read() -> None:
    def says(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        return [None for _ in passages]

    entry = only(check(FIFTEEN, leave_corpus(), [StubJudge("stub", says)]))
    assert (entry.verdict, entry.support) == (Verdict.NOT_FOUND, None)
    assert entry.nearest
    assert "15 days of paid annual leave" in entry.nearest.snippet
    assert (entry.evidence, entry.evidence_snippet, entry.source_document) == ([], "", None)
    nothing = only(check("Zebras graze in herds.", leave_corpus(), [StubJudge("stub", says)]))
    assert (nothing.verdict, nothing.nearest) == (Verdict.NOT_FOUND, None)


def test_a_judge_that_fails_leaves_claims_not_judged_with_the_reason() -> None:
    ledger = check(
        "Employees get 15 days of annual leave. Zebras graze in herds.", leave_corpus(), [broken()]
    )
    first, second = ledger.entries
    assert first.verdict is Verdict.NOT_JUDGED
    assert first.confidence_score == 0
    assert first.notes == (
        "Not judged by the broken judge: RuntimeError: no model at hand. "
        "A person can judge it, or another judge."
    )
    assert second.verdict is Verdict.NOT_FOUND
    assert ledger.summary.by_verdict["not_judged"] == 1
    assert ledger.summary.unsupported_rate == 1


def test_a_judge_that_cannot_read_a_claim_says_so_and_is_not_said_to_fail() -> None:
    cannot = broken(InputError("the claim is not English, which is all that this judge reads"))
    entry = only(check(FIFTEEN, leave_corpus(), [cannot]))
    assert entry.notes == (
        "Not judged by the broken judge: the claim is not English, which is all that this judge "
        "reads. A person can judge it, or another judge."
    )


def test_a_certain_verdict_stands_though_another_judge_failed_and_says_so() -> None:
    entry = only(
        check(
            "Employees receive 15 days of annual leave.",
            make_corpus({"a.pdf": [FIFTEEN]}),
            [*make_judges(), broken()],
        )
    )
    assert entry.verdict is Verdict.SUPPORTED
    assert "broken" not in entry.notes
    other = make_corpus({"a.pdf": [FIFTEEN], "b.pdf": ["Employees may get leave on Fridays."]})
    entry = only(
        check("Employees receive 15 days of annual leave.", other, [*make_judges(), broken()])
    )
    assert entry.verdict is Verdict.SUPPORTED
    assert "Decided without the broken judge: RuntimeError: no model at hand." in entry.notes


def test_a_hint_does_not_outweigh_a_judge_that_failed() -> None:
    judges = [*make_judges(["quote"]), broken()]
    answer = "Unused leave can be carried forward to next year."
    assert only(check(answer, leave_corpus(), judges[:1])).verdict is Verdict.WEAK
    assert only(check(answer, leave_corpus(), judges)).verdict is Verdict.NOT_JUDGED


def test_an_older_version_does_not_contradict_what_the_current_one_says() -> None:
    files = {"v1.pdf": ["Employees receive 10 days of annual leave."], "v2.pdf": [FIFTEEN]}
    corpus = make_corpus(files, superseded=["v1.pdf"])
    ledger = check("Employees receive 15 days of annual leave.", corpus)
    assert only(ledger).verdict is Verdict.SUPPORTED
    assert only(ledger).notes.endswith("Left aside: 1 passage of an older version.")
    assert only(ledger).support_probability is None
    assert ledger.risk_flags == []
    old = check("Employees receive 10 days of annual leave.", corpus)
    assert only(old).verdict is Verdict.CONTRADICTED
    both = check("Employees receive 15 days of annual leave.", make_corpus(files))
    assert only(both).verdict is Verdict.CONTRADICTED
    assert RiskType.CONFLICTING_SOURCES in {flag.type for flag in both.risk_flags}


def test_a_claim_that_only_an_older_version_bears_out_is_flagged() -> None:
    corpus = make_corpus(
        {"v1.pdf": [FIFTEEN], "v2.pdf": ["Hotels are paid."]}, superseded=["v1.pdf"]
    )
    ledger = check("Employees receive 15 days of annual leave.", corpus)
    assert only(ledger).verdict is Verdict.WEAK
    assert "but only in an older version of the document" in only(ledger).notes
    assert RiskType.OUTDATED_SOURCE in {flag.type for flag in ledger.risk_flags}
    other = check("Employees receive 20 days of annual leave.", corpus)
    assert only(other).verdict is Verdict.NOT_FOUND
    assert "Left aside: 1 passage of an older version." in only(other).notes
    assert only(ledger).confidence_components is not None
    assert only(ledger).confidence_components.source_quality == 0.2  # type: ignore[union-attr]


def test_old_documents_are_flagged_by_their_date() -> None:
    corpus = make_corpus({"a.pdf": [FIFTEEN]}, dated={"a.pdf": date(2020, 1, 1)})
    (flag,) = check("Employees receive 15 days of annual leave.", corpus).risk_flags
    assert flag.type is RiskType.OUTDATED_SOURCE
    assert flag.description == "a.pdf is of 2020-01-01, more than 730 days ago"


def test_a_judge_that_quotes_what_is_not_in_the_passage_is_not_believed() -> None:
    elsewhere = SourceDocument(id="doc_elsewhere", filename="elsewhere.pdf")

    def remembers(asked: Passage, **changes: object) -> Opinion:
        match = EvidenceMatch(
            similarity=0.9, support_level=SupportLevel.FULL, snippet=asked.snippet, judge="quote"
        )
        return Opinion(match.model_copy(update=changes))

    def verdict_of(says: Says) -> LedgerEntry:
        judge = StubJudge("memory", says)
        return only(check("Employees receive annual leave.", leave_corpus(), [judge]))

    for entry in (
        verdict_of(lambda _, asked: [remembers(one, snippet="from memory") for one in asked]),
        verdict_of(
            lambda _, asked: [
                remembers(one, passage=one.model_copy(update={"source": elsewhere}))
                for one in asked
            ]
        ),
    ):
        assert entry.verdict is Verdict.NOT_JUDGED
        assert "memory judge: ValueError: quoted what is not in the passage" in entry.notes
    honest = verdict_of(lambda _, asked: [remembers(one) for one in asked])
    assert (honest.verdict, honest.judge) == (Verdict.SUPPORTED, "memory")
    assert honest.source_document is not None


def test_an_anchor_that_holds_is_reported_as_such() -> None:
    corpus = leave_corpus()
    by_text = {
        chunk.heading_path[-1]: anchor
        for anchor, full in anchors(corpus).items()
        for chunk in chunks_in(corpus)
        if chunk.chunk_hash == full
    }
    good, wrong = by_text["4.1 Annual leave"], by_text["Travel"]
    answer = f"Employees get 15 days of annual leave [cite:{good}] [cite:{wrong}] [cite:deadbeef]."
    assert citations(answer, corpus) == [
        (good, True, True, None),
        (wrong, True, False, "The cited passage does not support the claim"),
        ("deadbeef", False, False, "Citation references deleted or unavailable chunk"),
    ]
    entry = only(check(answer, corpus))
    assert entry.verdict is Verdict.SUPPORTED
    assert entry.notes.endswith(
        f"Its citation [{wrong}]: The cited passage does not support the claim. "
        "Its citation [deadbeef]: Citation references deleted or unavailable chunk."
    )


def test_a_citation_to_what_contradicts_the_claim_says_so() -> None:
    corpus = make_corpus({"a.pdf": [FIFTEEN]})
    (anchor,) = anchors(corpus)
    assert citations(f"Employees receive 20 days of annual leave [cite:{anchor}].", corpus) == [
        (anchor, True, False, "The cited passage contradicts the claim")
    ]


def test_a_citation_that_could_not_be_judged_is_not_blamed() -> None:
    corpus = make_corpus({"a.pdf": [FIFTEEN]})
    (anchor,) = anchors(corpus)
    answer = f"Employees receive 20 days of annual leave [cite:{anchor}]."
    (found,) = check(answer, corpus, [broken()]).citations
    assert found.problem == "The cited passage could not be judged"


def test_a_source_that_is_said_beside_the_answer_is_looked_for_by_its_name() -> None:
    corpus = make_corpus({"a.pdf": [FIFTEEN]})
    answer = "Employees receive 15 days of annual leave."
    cited = [GivenCitation(source, 0, len(answer)) for source in ("a.pdf", "b.pdf")]
    context = replace(check_context(anchors(corpus)), cited=frozenset(one.source for one in cited))
    extracted = extract_claims(answer, cited=cited)
    found = check_claims(answer, extracted, corpus, make_judges(), context).citations
    assert [(one.label, one.resolved) for one in found] == [("a.pdf", True), ("b.pdf", False)]


def test_an_ambiguous_anchor_names_its_candidates() -> None:
    corpus = leave_corpus()
    chunks = [
        replace(chunk, chunk_hash=f"abcdef01{number}".ljust(64, "0"))
        for number, chunk in enumerate(chunks_in(corpus))
    ]
    shared = corpus_of(documents_in(corpus), chunks)
    answer = "Employees get 15 days of annual leave [cite:abcdef01]."
    context = CheckContext("ses_1", NOW, TODAY, {}, lambda full: full[:12])
    (found,) = check_claims(
        answer, extract_claims(answer), shared, make_judges(), context
    ).citations
    assert not found.resolved
    assert found.problem == (
        "Citation is ambiguous: 4 passages begin with it (abcdef0100000000, abcdef0110000000, "
        "abcdef0120000000, abcdef0130000000)"
    )


def test_numbers_and_footnotes_lead_to_the_documents_that_their_references_name() -> None:
    answer = (
        "Employees get 15 days of annual leave [1][2][^a][7].\n\n"
        "[^a]: the handbook\n\n"
        "## Sources\n"
        "1. HR Policy, p. 12\n"
        "2. Travel_Policy.pdf\n"
    )
    assert citations(answer, leave_corpus()) == [
        ("1", True, True, None),
        ("2", True, False, "The cited passage does not support the claim"),
        ("^a", False, False, 'Citation\'s reference names none of the documents: "the handbook"'),
        ("7", False, False, "The answer's list of sources does not say what it stands for"),
    ]


def test_a_reference_leads_to_the_document_with_the_longest_name_in_it() -> None:
    files = {"Policy.pdf": ["Hotels are paid."], "Leave Policy.pdf": [FIFTEEN], "-.pdf": ["x is y"]}
    answer = "Employees receive 15 days of annual leave [1].\n\n[1]: Leave Policy, page 3\n"
    assert citations(answer, make_corpus(files)) == [("1", True, True, None)]


def cited(source: str, *names: str) -> tuple[str, bool, bool, str | None]:
    """Return what becomes of a citation of a source, among documents that all say the same."""
    answer = f"Employees receive 15 days of annual leave [1].\n\nSources:\n[1] {source}\n"
    (found,) = citations(answer, make_corpus({name: [FIFTEEN] for name in names}))
    return found


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("leave.md", ["hr/2024/leave.md"]),
        ("leave.md, p. 3", ["hr/2024/leave.md", "hr/travel.md"]),
        ("Leave", ["hr/2024/leave.md"]),
        ("hr/leave.md", ["hr/2024/leave.md"]),
        ("2024/leave.md", ["hr/2024/leave.md", "hr/2023/leave.md"]),
        ("policies/hr/leave.md", ["hr/leave.md", "it/leave.md"]),
        ("leave.md", ["leave.md", "hr/leave.md"]),
        ("leave.md", ["hr/leave.md", "leave.pdf"]),
        ("sick-leave.md", ["hr/leave.md", "hr/sick leave.md"]),
    ],
)
def test_a_reference_finds_the_only_file_of_that_name_wherever_it_lies(
    source: str, names: list[str]
) -> None:
    assert cited(source, *names) == ("1", True, True, None)


def test_a_reference_leads_to_the_file_it_names_and_to_no_other() -> None:
    files = {"hr/leave.md": [FIFTEEN], "leave.pdf": ["Employees receive 20 days of annual leave."]}
    answer = "Employees receive 15 days of annual leave [1].\n\nSources:\n[1] {}\n"
    assert citations(answer.format("leave.md"), make_corpus(files))[0][2]
    assert not citations(answer.format("leave.pdf"), make_corpus(files))[0][2]


def test_a_reference_that_several_files_answer_to_lists_them_with_their_folders() -> None:
    names = ["it/leave.md", "hr/leave.md", "hr/travel.md"]
    problem = (
        'Citation\'s reference "leave.md" could be hr/leave.md or it/leave.md: '
        "name the folder too, as in hr/leave.md"
    )
    assert cited("leave.md", *names) == ("1", False, False, problem)
    many = [f"{number}/leave.md" for number in range(1, 9)]
    problem = cited("leave.md", *many)[3] or ""
    assert "1/leave.md, 2/leave.md, 3/leave.md, 4/leave.md, 5/leave.md or 3 more" in problem


def test_an_older_version_is_no_second_file_of_that_name() -> None:
    corpus = make_corpus({"hr/leave.md": [FIFTEEN], "old": [FIFTEEN]}, superseded=["old"])
    documents = {
        name: replace(document, filename="hr/leave.md")
        for name, document in documents_in(corpus).items()
    }
    answer = "Employees receive 15 days of annual leave [1].\n\nSources:\n[1] leave.md\n"
    found = citations(answer, corpus_of(documents, chunks_in(corpus)))
    assert found == [("1", True, True, None)]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("leaves.md", '"leaves.md". The nearest: hr/leave.md, it/leave.md'),
        ("See handbok.pdf, page 3", '"See handbok.pdf, page 3". The nearest: handbook.pdf'),
        ("the zoo", '"the zoo"'),
        ("A walk in 1984", '"A walk in 1984"'),
    ],
)
def test_a_reference_to_no_document_says_which_names_are_nearest(source: str, problem: str) -> None:
    names = ("it/leave.md", "hr/leave.md", "handbook.pdf", "-.md", "hr/a.md", "hr/1984.md")
    said = f"Citation's reference names none of the documents: {problem}"
    assert cited(source, *names) == ("1", False, False, said)


def test_an_answer_without_claims_gives_an_empty_ledger() -> None:
    ledger = check("Hello!", leave_corpus())
    assert ledger.entries == []
    assert ledger.summary.evidence_coverage == 0
    assert ledger.risk_flags == []
    assert ledger.follow_up_questions == []


def test_a_claim_without_documents_is_not_found() -> None:
    entry = only(check("Employees get 15 days of annual leave.", make_corpus({})))
    assert entry.verdict is Verdict.NOT_FOUND


def test_progress_is_told_and_a_new_run_points_to_the_old_one() -> None:
    corpus = leave_corpus()
    done: list[int] = []
    context = replace(
        check_context(anchors(corpus)), previous_ledger_id="led_0", progress=done.append
    )
    answer = "Leave is paid. Hotels are refunded."
    ledger = check_claims(answer, extract_claims(answer), corpus, make_judges(), context)
    assert done == [1, 2]
    assert ledger.previous_ledger_id == "led_0"
    assert ledger.id != check(answer, corpus).id


def test_the_same_check_gives_the_same_ledger_to_the_letter() -> None:
    answer = "Employees get 15 days of annual leave. Hotel costs are refunded up to $200 per night."
    assert (
        check(answer, leave_corpus()).model_dump_json()
        == check(answer, leave_corpus()).model_dump_json()
    )


def test_the_order_of_documents_and_chunks_does_not_change_the_ledger() -> None:
    answer = (
        "Employees are entitled to 15 days of annual leave. Leave requests must be submitted 2 "
        "weeks in advance. Unused leave can be carried forward to next year. Hotel costs are "
        "refunded up to $200 per night. Maximum carryover is 5 days."
    )
    corpus = leave_corpus()
    expected = check(answer, corpus)
    generator = random.Random(3)
    for _ in range(tiers.count(6, short=2)):
        chunks, documents = list(chunks_in(corpus)), list(documents_in(corpus).items())
        generator.shuffle(chunks)
        generator.shuffle(documents)
        assert check(answer, corpus_of(dict(documents), chunks)) == expected


def test_citations_are_part_of_the_ledger_as_values() -> None:
    ledger = check("Leave is paid [1].", leave_corpus())
    assert ledger.citations == [
        CitationCheck(
            claim_id=only(ledger).claim_id,
            label="1",
            resolved=False,
            bears=False,
            problem="The answer's list of sources does not say what it stands for",
        ),
    ]


def test_line_breaks_of_a_document_stay_in_its_quotes_and_in_no_sentence_about_them() -> None:
    corpus = make_corpus(
        {
            "a.pdf": ["Employees get\n15 days\tof annual leave."],
            "b.pdf": ["Employees get\n12 days\tof annual leave."],
        }
    )
    ledger = check("Employees get 20 days of annual leave.", corpus)
    entry = only(ledger)
    assert entry.verdict is Verdict.CONTRADICTED
    assert "\n" in entry.evidence_snippet
    told = [entry.notes, *ledger.follow_up_questions, *(f.description for f in ledger.risk_flags)]
    assert any("Employees get 12 days of annual leave." in text for text in told)
    assert all(text == " ".join(text.split()) for text in told)
    supported = check("Employees get 15 days of annual leave.", make_corpus({"a.pdf": [FIFTEEN]}))
    assert "\n" not in only(supported).notes


def test_a_document_without_pages_is_named_by_its_heading_and_never_by_a_page() -> None:
    paged = leave_corpus()
    documents = {name: replace(known, paged=False) for name, known in documents_in(paged).items()}
    made = check("Employees get 20 days of annual leave.", corpus_of(documents, chunks_in(paged)))
    entry = only(made)
    assert entry.source_document is not None
    assert entry.source_document.page_number is None
    assert entry.source_document.heading_path == ["4. Leave", "4.1 Annual leave"]
    told = [entry.notes, *made.follow_up_questions, *(f.description for f in made.risk_flags)]
    assert not any("page" in text.lower() for text in told)
