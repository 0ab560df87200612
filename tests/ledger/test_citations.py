from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError
from evidentia.ledger.citations import (
    CitationMark,
    CitationResolution,
    GivenCitation,
    citation_definitions,
    find_citations,
    issue_anchor,
    read_citations,
    resolve_citation,
    without_citations,
)


def chunk(chunk_hash: str, *, document: str = "doc_1", start: int = 0) -> DocumentChunk:
    return DocumentChunk(
        chunk_id=f"chunk_{document}_{start}_{chunk_hash[:12]}",
        document_id=document,
        index=0,
        text="text",
        page=1,
        heading_path=("A",),
        start=start,
        end=start + 4,
        chunk_hash=chunk_hash.ljust(64, "0"),
    )


def test_anchors_numbers_and_footnotes_are_found_with_their_places() -> None:
    text = "A [cite:a1b2c3d4]. B [cite: x, y]. C [1]. D [2, 4-5]. E [^n]. "
    text += "F ![3] [4](x) [5]: [^6]: [2024]"
    assert [(mark.label, mark.style) for mark in find_citations(text)] == [
        ("a1b2c3d4", "anchor"),
        ("x", "anchor"),
        ("y", "anchor"),
        ("1", "number"),
        ("2", "number"),
        ("4", "number"),
        ("5", "number"),
        ("^n", "footnote"),
    ]
    first = find_citations(text)[0]
    assert first == CitationMark("a1b2c3d4", "anchor", 2, 17)
    assert text[first.start : first.end] == "[cite:a1b2c3d4]"


def test_names_in_brackets_are_citations_where_they_are_known() -> None:
    names = {"kb-17", "kb18", "a, b", "7"}
    text = "A [kb-17]. B [kb18; kb-17]. C [a, b] [7]. D [kb-19] [kb18, 4 weeks] ![kb18] [kb18](x)."
    assert [(mark.label, mark.style) for mark in find_citations(text, names)] == [
        ("kb-17", "name"),
        ("kb18", "name"),
        ("kb-17", "name"),
        ("a, b", "name"),
        ("7", "number"),
    ]
    assert [mark.label for mark in find_citations(text)] == ["7"]
    bare = "A. B. C. D [kb-19] [kb18, 4 weeks] ![kb18] [kb18](x)."
    assert without_citations(text, names) == bare


def test_citations_that_are_said_beside_an_answer_are_read() -> None:
    given: list[Any] = [
        {"source": " Policy.pdf ", "start": 0, "end": 4, "quote": "is left out"},
        {"source": "without a place", "start": None, "end": 4},
        GivenCitation("kb17", 1, 5),
    ]
    read = (GivenCitation("Policy.pdf", 0, 4), GivenCitation("kb17", 1, 5))
    assert read_citations(given, "12345") == read
    assert read_citations((), "") == ()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("kb17", "give a list"),
        ({"source": "kb17"}, "give a list"),
        (7, "give a list"),
        (["kb17"], "citation 1: give it a source"),
        ([{"source": " ", "start": 0, "end": 1}], "citation 1: give it a source"),
        ([{"source": "x", "start": "0", "end": 1}], "citation 1: give it a source"),
        ([{"source": "x", "start": 0, "end": 6}], "citation 1: 0 to 6 is no place in the answer"),
        ([{"source": "x", "start": 3, "end": 2}], "which has 5 characters"),
    ],
)
def test_what_is_no_citation_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_citations(given, "12345")


def test_a_range_of_numbers_has_an_end() -> None:
    assert [mark.label for mark in find_citations("[4\u20136]")] == ["4", "5", "6"]
    assert len(find_citations("[1-999]")) == 101
    assert find_citations("[9-1]") == []


def test_marks_are_taken_out_with_the_space_before_them() -> None:
    assert (
        without_citations("Leave is paid [1] [cite:a1b2c3d4], see\t[^2].") == "Leave is paid, see."
    )
    assert without_citations("a [2024] [link](x)") == "a [2024] [link](x)"


def test_references_are_read_where_they_are_listed() -> None:
    answer = (
        "Leave is paid [1]. [2] is no reference here.\n\n"
        "[^n]: Leave_Guidelines.pdf, p. 3\n\n"
        "## References\n"
        "[1] HR_Policy.pdf, page 12\n"
        "[2]: second\n"
        "no label\n\n"
        "3. Travel.pdf\n"
        "- [^4] Fourth.pdf\n"
        "[1] twice\n"
    )
    assert citation_definitions(answer) == {
        "^n": "Leave_Guidelines.pdf, p. 3",
        "1": "HR_Policy.pdf, page 12",
        "2": "second",
        "3": "Travel.pdf",
        "^4": "Fourth.pdf",
    }


def test_an_anchor_has_eight_characters_and_grows_until_it_is_unique() -> None:
    first, second, third = "a" * 64, "a" * 8 + "b" * 56, "a" * 8 + "b" + "c" * 55
    issued: dict[str, str] = {}
    for full in (first, second, third, first):
        issued[issue_anchor(full, issued)] = full
    assert issued == {"a" * 8: first, "a" * 8 + "b": second, "a" * 8 + "bc": third}


def test_an_anchor_once_issued_stays_bound_whatever_comes_later() -> None:
    first, second = "a" * 64, "a" * 8 + "b" * 56
    issued = {issue_anchor(first, {}): first}
    issued[issue_anchor(second, issued)] = second
    chunks = [chunk(second), chunk(first)]
    bound = resolve_citation("a" * 8, issued, chunks)
    assert bound.chunk == chunk(first)
    assert issue_anchor(first, issued) == "a" * 8


def test_an_anchor_is_no_beginning_of_another_hash() -> None:
    first, second = "a" * 64, "a" * 20 + "b" * 44
    issued = {issue_anchor(first, {}): first}
    assert issue_anchor(second, issued) == "a" * 20 + "b"


def test_the_full_hash_is_an_anchor_of_last_resort() -> None:
    taken = {("a" * 64)[:length]: "b" * 64 for length in range(8, 64)}
    assert issue_anchor("a" * 64, taken) == "a" * 64


@given(st.lists(st.text(alphabet="ab", min_size=12, max_size=12), max_size=40))
def test_every_issued_anchor_leads_to_its_own_hash(hashes: list[str]) -> None:
    issued: dict[str, str] = {}
    names: dict[str, str] = {}
    for full in hashes:
        anchor = issue_anchor(full, issued)
        issued[anchor] = full
        assert names.setdefault(full, anchor) == anchor
    for full, anchor in names.items():
        assert issued[anchor] == full
        assert full.startswith(anchor)


def test_a_citation_resolves_to_all_places_of_its_text_in_order() -> None:
    places = [
        chunk("abcdef0123", document="doc_2"),
        chunk("abcdef0123", start=9),
        chunk("abcdef0123"),
    ]
    resolution = resolve_citation(" ABCDEF01 ", {}, places)
    assert resolution.resolved
    assert resolution.chunk == places[2]
    assert resolution.places == [places[2], places[1], places[0]]
    assert resolution.error is None


@pytest.mark.parametrize(
    ("anchor", "error"),
    [
        ("abcdef0", "Citation is shorter than 8 characters"),
        ("ffffffff", "Citation references deleted or unavailable chunk"),
        ("not-hex!", "Citation references deleted or unavailable chunk"),
    ],
)
def test_what_does_not_resolve_says_why(anchor: str, error: str) -> None:
    resolution = resolve_citation(anchor, {}, [chunk("abcdef0123")])
    assert not resolution.resolved
    assert resolution.chunk is None
    assert resolution.chunk_hash == anchor
    assert resolution.error == error


def test_an_issued_anchor_whose_text_is_gone_does_not_lead_to_another() -> None:
    resolution = resolve_citation(
        "abcdef01", {"abcdef01": "abcdef01" + "9" * 56}, [chunk("abcdef0123")]
    )
    assert not resolution.resolved


def test_an_ambiguous_citation_names_its_candidates() -> None:
    chunks = [chunk("abcdef01ff"), chunk("abcdef01aa")]
    resolution = resolve_citation("abcdef01", {}, chunks)
    assert not resolution.resolved
    assert resolution.candidates == sorted(item.chunk_hash for item in chunks)
    assert resolution.error == "Citation is ambiguous: 2 passages begin with it"


def test_a_resolution_survives_json() -> None:
    resolution = resolve_citation("abcdef01", {}, [replace(chunk("abcdef0123"), heading_path=())])
    assert CitationResolution.model_validate_json(resolution.model_dump_json()) == resolution
