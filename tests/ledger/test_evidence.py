import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from evidentia.documents.model import DocumentChunk
from evidentia.errors import NotFoundError
from evidentia.ledger import evidence
from evidentia.ledger.evidence import CHUNKS, PASSAGES, PLACES, Corpus, find_passages, sentences_of
from evidentia.ledger.model import Claim, Passage
from ledger.corpora import (
    HR_POLICY,
    chunks_in,
    corpus_of,
    document_id,
    documents_in,
    leave_corpus,
    make_corpus,
)


def claim(text: str) -> Claim:
    return Claim(id="clm_1", text=text)


def snippets(text: str, corpus: Corpus) -> list[str]:
    return [passage.snippet for passage in find_passages(claim(text), corpus)]


def one_page(text: str) -> Corpus:
    return make_corpus({"a.pdf": [text]})


def test_a_passage_is_the_sentence_that_shares_most_verbatim_with_its_place() -> None:
    corpus = leave_corpus()
    best = find_passages(claim("Unused leave can be carried over"), corpus)[0]
    page = HR_POLICY[1]
    assert page[best.start : best.end] == best.snippet
    assert best.snippet.startswith("Unused annual leave may be carried over")
    assert best.page == best.source.page_number == 2
    assert best.source.filename == "HR_Policy.pdf"
    assert best.source.heading_path == ["4. Leave", "4.2 Carrying leave over"]


def test_every_passage_is_the_pages_text_at_its_place() -> None:
    corpus = leave_corpus()
    pages = {(chunk.document_id, chunk.page): chunk for chunk in chunks_in(corpus)}
    for passage in find_passages(claim("Employees submit leave receipts within days"), corpus):
        chunk = pages[passage.source.id, passage.page]
        inside = chunk.text[passage.start - chunk.start : passage.end - chunk.start]
        assert inside == passage.snippet


def test_a_sentence_that_points_back_is_quoted_with_the_one_before() -> None:
    corpus = one_page("Annual leave is granted in January. It amounts to 15 days. Hotels are paid.")
    assert snippets("Annual leave amounts to 15 days", corpus)[0] == (
        "Annual leave is granted in January. It amounts to 15 days."
    )


def test_a_list_item_is_given_the_line_that_leads_it_in() -> None:
    corpus = one_page(
        "Employees do not get:\n- annual leave\n- sick leave\n\nHotels:\n\nLeave is paid."
    )
    found = find_passages(claim("Employees get sick leave"), corpus)
    context = {passage.snippet: passage.context for passage in found}
    assert context["- sick leave"] == "Employees do not get:"
    assert context["Leave is paid."] == ""


def test_what_stands_in_a_comment_is_no_evidence_also_over_several_chunks() -> None:
    hidden = "Employees get 30 days of leave. " * 60
    corpus = one_page(f"Employees get 15 days of leave. <!-- {hidden}--> Leave is paid. <!-- open")
    assert len(chunks_in(corpus)) > 1
    found = snippets("Employees get 30 days of leave", corpus)
    assert found
    assert not any("30" in snippet for snippet in found)


def test_the_visible_texts_of_a_document_are_those_of_its_corpus() -> None:
    corpus = one_page("Leave <!-- is 99 days --> is 15 days.")
    chunks = chunks_in(corpus)
    texts = evidence.visible_texts(chunks)
    assert texts == [corpus.visible(chunk) for chunk in chunks]
    assert "99" not in "".join(texts)
    assert "15 days" in "".join(texts)


def test_a_comment_is_left_out_of_the_chunk_that_it_stands_in_and_of_no_other() -> None:
    corpus = one_page("Leave <!-- is 99 days --> is 15 days.\n\n" + "Travel is paid. " * 200)
    texts = evidence.visible_texts(chunks_in(corpus))
    assert len(texts) > 1
    assert "99" not in "".join(texts)
    assert texts[-1] == chunks_in(corpus)[-1].text


def test_an_arrow_or_an_open_comment_hides_nothing() -> None:
    corpus = one_page("Leave --> is paid. Leave <!-- is taxed. Leave is short.")
    assert len(snippets("Leave is paid and taxed and short", corpus)) == 3


def test_a_text_in_many_places_is_looked_at_in_a_few_current_ones_first() -> None:
    text = ["Employees get 15 days of leave."]
    files = {f"{name}.pdf": text for name in "abcdefgh"}
    corpus = make_corpus(files, superseded=["a.pdf", "b.pdf"])
    found = find_passages(claim("Employees get 15 days of leave"), corpus)
    assert [passage.source.filename for passage in found] == ["c.pdf", "d.pdf", "e.pdf"]


def test_copies_do_not_crowd_out_what_says_otherwise() -> None:
    files = {f"{number:03}.pdf": ["Employees get 15 days of leave."] for number in range(200)}
    files["other.pdf"] = ["Employees get 10 days of leave in all."]
    found = snippets("Employees get 15 days of leave", make_corpus(files))
    assert "Employees get 10 days of leave in all." in found
    assert len(found) == PLACES + 1


def test_the_order_of_documents_and_chunks_makes_no_difference() -> None:
    generator = random.Random(7)
    files = {
        f"{number}.pdf": [
            f"Employees get {number % 5} days of leave. Leave number {number} is paid."
        ]
        for number in range(400)
    }
    corpus = make_corpus(files)
    expected = find_passages(claim("Employees get 3 days of paid leave"), corpus)
    assert PASSAGES <= len(expected) <= PASSAGES * PLACES
    for _ in range(5):
        chunks = list(chunks_in(corpus))
        generator.shuffle(chunks)
        documents = dict(reversed(list(documents_in(corpus).items())))
        shuffled = corpus_of(documents, chunks)
        assert find_passages(claim("Employees get 3 days of paid leave"), shuffled) == expected


def test_the_same_passage_in_two_overlapping_chunks_is_one() -> None:
    text = " ".join(f"Sentence number {number} speaks of travel costs." for number in range(60))
    corpus = one_page(text)
    found = find_passages(claim("Sentence number 25 speaks of travel costs"), corpus)
    places = [(passage.start, passage.end) for passage in found]
    assert len(places) == len(set(places))
    assert found[0].snippet == "Sentence number 25 speaks of travel costs."


def test_a_cited_chunk_is_looked_at_even_if_others_share_more() -> None:
    files = {
        f"{number:02}.pdf": [f"Employees get {number} days of annual leave."]
        for number in range(40)
    }
    files["cited.pdf"] = ["Hotels are paid, and leave is short. Staff travel."]
    corpus = make_corpus(files)
    cited = [chunk for chunk in chunks_in(corpus) if chunk.document_id == document_id("cited.pdf")]
    statement = claim("Employees get 99 days of annual leave")

    def has_cited(found: list[Passage]) -> bool:
        return any(passage.source.filename == "cited.pdf" for passage in found)

    assert not has_cited(find_passages(statement, corpus))
    assert has_cited(find_passages(statement, corpus, also=cited))


def test_chunks_of_named_documents_are_found_among_many() -> None:
    files = {f"{number:03}.pdf": ["Annual leave is paid in full."] for number in range(100)}
    files["rare.pdf"] = ["Leave is long and hotels are dear and trains are slow and so on."]
    corpus = make_corpus(files)
    rare = frozenset({document_id("rare.pdf")})
    assert [chunk.document_id for chunk in corpus.nearest("annual leave", 3, among=rare)] == list(
        rare
    )
    assert len(corpus.nearest("annual leave", CHUNKS)) == PLACES + 1


def test_nothing_is_found_where_no_word_is_shared() -> None:
    assert snippets("Zebras graze", leave_corpus()) == []
    assert snippets("It is so", leave_corpus()) == []
    assert snippets("Leave is paid", make_corpus({})) == []


def test_documents_without_pages_have_no_page_number() -> None:
    corpus = one_page("Leave is paid.")
    unpaged = {
        name: replace(document, paged=False) for name, document in documents_in(corpus).items()
    }
    (found,) = find_passages(claim("Leave is paid"), corpus_of(unpaged, chunks_in(corpus)))
    assert found.source.page_number is None
    assert found.page == 1
    assert found.source.heading_path is None


def test_a_claim_that_begins_with_a_condition_is_found_without_it_too() -> None:
    condition = "If an employee falls ill abroad during a holiday with the family"
    files = {
        f"{number:02}.pdf": [
            f"Trip {number}: an employee falls ill abroad during a holiday with the family."
        ]
        for number in range(40)
    }
    files["rule.pdf"] = ["A certificate is required after 3 days."]
    corpus = make_corpus(files)
    found = snippets(f"{condition}, a certificate is required after 3 days", corpus)
    assert found[0] == "A certificate is required after 3 days."
    assert any("falls ill abroad" in snippet for snippet in found)


def test_text_that_no_json_can_hold_is_made_readable_in_its_place() -> None:
    corpus = one_page("Leave is paid.")
    name = next(iter(documents_in(corpus)))
    document = replace(documents_in(corpus)[name], filename="\udcff.pdf", dated=date(2025, 1, 1))
    chunk: DocumentChunk = replace(
        chunks_in(corpus)[0], text="Leave \ud800 is paid.", end=16, heading_path=("\udfff",)
    )
    (found,) = find_passages(claim("Leave is paid"), corpus_of({name: document}, [chunk]))
    assert found.snippet == "Leave \ufffd is paid."
    assert found.source.filename == "\ufffd.pdf"
    assert Passage.model_validate_json(found.model_dump_json()) == found


def test_numbers_and_headings_help_to_choose_between_like_sentences() -> None:
    corpus = make_corpus(
        {
            "a.pdf": [
                "## Annual leave\n\nStaff get 15 days.\n\n## Sick leave\n\nStaff get 10 days.\n"
            ],
        }
    )
    assert snippets("Staff get 10 days of annual leave", corpus)[0] == "Staff get 15 days."
    plain = one_page("Staff get 15 days. Staff get 10 days.")
    assert snippets("Staff get 10 days", plain)[0] == "Staff get 10 days."


class NearPets:
    """Takes sentences about animals for near to everything."""

    def __init__(self, chunks: Sequence[DocumentChunk]) -> None:
        self._chunks = chunks

    def nearest(self, text: str, limit: int) -> list[DocumentChunk]:
        del text
        return list(self._chunks[1:2])[:limit]

    def nearness(self, text: str, passages: Sequence[str]) -> list[list[float]]:
        del text
        return [
            [0.9 if "Dogs" in passage[low:high] else 0.1 for low, high in sentences_of(passage)]
            for passage in passages
        ]


def test_a_passage_is_found_by_its_meaning_though_it_shares_no_word() -> None:
    corpus = make_corpus(
        {"a.pdf": ["Hotels are paid."], "b.pdf": ["Dogs stay outside. Cats are welcome."]}
    )
    text = "No pet may enter"
    assert snippets(text, corpus) == []
    assert snippets(text, replace(corpus, meaning=NearPets(chunks_in(corpus)))) == [
        "Dogs stay outside."
    ]


def test_a_claim_is_looked_for_in_documents_of_the_other_language() -> None:
    english = one_page("Hotels are paid. The tenant pays the rent every month.")
    assert snippets("يدفع المستأجر الأجرة", english)[0] == "The tenant pays the rent every month."
    arabic = one_page("الفنادق مدفوعة. يسدد المستأجر الأجرة كل شهر.")
    assert snippets("The tenant pays the rent", arabic)[0] == "يسدد المستأجر الأجرة كل شهر."


def test_of_very_many_copies_of_a_text_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "_MOST_LOOKED_AT", 48)
    files = {f"{number:03}.pdf": ["Leave is paid."] for number in range(60)}
    found = make_corpus({**files, "other.pdf": ["Leave ends."]}).nearest("Leave is paid", 2)
    assert {chunk.text for chunk in found} == {"Leave is paid."}


def test_a_passage_of_another_corpus_is_not_there() -> None:
    (passage,) = find_passages(claim("Leave is paid"), one_page("Leave is paid."))
    with pytest.raises(NotFoundError, match="the corpus has no passage"):
        one_page("Hotels are paid.").around(passage)
