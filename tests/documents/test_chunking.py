from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from evidentia.documents.chunking import Unit, chunk_document, join_chunks
from evidentia.documents.hashing import generate_chunk_hash
from evidentia.documents.model import DocumentChunk, Heading, Page, ReadDocument
from evidentia.documents.reading.document import read_document
from evidentia.errors import InputError

TEXT = st.lists(
    st.sampled_from(
        [
            *(
                "word ",
                "A sentence. ",
                "Longer words here, yes! ",
                "\n\n",
                "\n",
                "\r\n",
                "- item\n",
            ),
            *(
                "e\u0301",
                "👨\u200d👩\u200d👧",
                "🇸🇦",
                "\u0301",
                " \u0301",
                "\u0600 ",
                "क्षि",
                "年假。",
            ),
            *("إجازة ", "x" * 50, "   ", "\u00a0", "# Head\n", "\ud800", "?", "ـ"),
        ]
    ),
    max_size=60,
).map("".join)
SIZES = st.integers(1, 120).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def document(*texts: str, headings: tuple[Heading, ...] = ()) -> ReadDocument:
    pages = tuple(Page(number, text) for number, text in enumerate(texts, 1))
    return ReadDocument(
        "a.txt", "text/plain", "0" * 64, pages, headings, None, "ltr", None, None, None
    )


def clusters(text: str) -> set[int]:
    return {0, *(found.end() for found in regex.finditer(r"\X", text))}


MEASURES: dict[Unit, Callable[[str], int]] = {
    "code points": len,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}


@pytest.mark.parametrize("unit", MEASURES)
@given(texts=st.lists(TEXT, min_size=1, max_size=3), sizes=SIZES, data=st.data())
def test_chunks_are_exact_cover_all_and_respect_characters(
    unit: Unit, texts: list[str], sizes: tuple[int, int], data: st.DataObject
) -> None:
    measure = MEASURES[unit]
    size, overlap = sizes
    headings = tuple(
        data.draw(
            st.lists(
                st.builds(
                    Heading,
                    st.integers(1, 3),
                    st.sampled_from(["", "Head", "A sentence"]),
                    st.integers(1, len(texts)),
                    st.integers(0, 200),
                ),
                max_size=4,
            )
        )
    )
    read = document(*texts, headings=headings)
    cut = partial(chunk_document, read, "doc", chunk_size=size, chunk_overlap=overlap, unit=unit)
    chunks = cut()
    covered = [set[int]() for _ in texts]
    for index, chunk in enumerate(chunks):
        text = texts[chunk.page - 1]
        borders = clusters(text)
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert chunk.index == index
        assert chunk.start in borders
        assert chunk.end in borders
        assert measure(chunk.text) <= size or is_one_character(chunk.text)
        covered[chunk.page - 1].update(range(chunk.start, chunk.end))
    for text, places in zip(texts, covered, strict=True):
        assert all(at in places for at, one in enumerate(text) if not one.isspace())
    check_overlaps(texts, chunks, overlap, measure)
    assert cut() == chunks
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


def is_one_character(text: str) -> bool:
    return len(regex.findall(r"\X", text.strip())) <= 1 or "\u094d" in text


def check_overlaps(
    texts: list[str],
    chunks: tuple[DocumentChunk, ...],
    overlap: int,
    measure: Callable[[str], int],
) -> None:
    for before, after in pairwise(chunks):
        if before.page == after.page:
            assert before.start < after.start
            assert before.end < after.end
            shared = texts[before.page - 1][after.start : before.end]
            assert measure(shared) <= overlap


def test_a_short_page_is_one_chunk_without_the_space_around_it() -> None:
    (chunk,) = chunk_document(document("\n  All get leave.\n"), "doc-1")
    assert (chunk.text, chunk.start, chunk.end, chunk.page) == ("All get leave.", 3, 17, 1)
    assert chunk.document_id == "doc-1"
    assert chunk.chunk_hash == generate_chunk_hash("all get  LEAVE.", 64)
    assert chunk.chunk_id.startswith("chunk_")


def test_blank_pages_have_no_chunks() -> None:
    assert chunk_document(document("", " \n "), "doc") == ()


def test_ids_follow_the_document_its_bytes_and_the_place() -> None:
    first = read_document(b"All get leave.", "a.txt")
    again = read_document(b"All get leave.", "renamed.txt")
    changed = read_document(b"All get leave. Now.", "a.txt")
    ids = [chunk_document(read, "doc")[0].chunk_id for read in (first, again, changed)]
    assert ids[0] == ids[1] != ids[2]
    assert chunk_document(first, "other")[0].chunk_id != ids[0]


def test_a_chunk_ends_at_a_paragraph_then_a_sentence_then_a_word() -> None:
    text = "One two three. Four five six.\n\nSeven eight nine ten eleven twelve thirteen fourteen."
    pieces = [c.text for c in chunk_document(document(text), "d", chunk_size=40, chunk_overlap=0)]
    assert pieces == [
        "One two three. Four five six.",
        "Seven eight nine ten eleven twelve",
        "thirteen fourteen.",
    ]
    pieces = [c.text for c in chunk_document(document(text), "d", chunk_size=20, chunk_overlap=0)]
    assert pieces[:2] == ["One two three.", "Four five six."]


def test_an_overlap_repeats_whole_sentences_and_else_words() -> None:
    text = "First sentence here. Second one. Third one. Fourth sentence is here."
    pieces = [c.text for c in chunk_document(document(text), "d", chunk_size=45, chunk_overlap=12)]
    assert pieces == [
        "First sentence here. Second one. Third one.",
        "Third one. Fourth sentence is here.",
    ]
    text = "one two three four five six seven eight nine ten"
    pieces = [c.text for c in chunk_document(document(text), "d", chunk_size=20, chunk_overlap=8)]
    assert pieces == ["one two three four", "four five six seven", "seven eight nine ten"]


def test_what_follows_an_overlap_is_cut_without_it_where_that_is_better() -> None:
    text = "one two threethreethree four"
    pieces = [c.text for c in chunk_document(document(text), "d", chunk_size=15, chunk_overlap=6)]
    assert pieces == ["one two", "threethreethree", "four"]


def test_sizes_may_be_in_bytes() -> None:
    cut = partial(chunk_document, document_id="d", chunk_size=12, chunk_overlap=5, unit="bytes")
    assert [c.text for c in cut(document("é é é é é é é"))] == ["é é é é", "é é é é", "é é é"]
    assert [c.text for c in cut(document("e e e e e e e"))] == ["e e e e e e", "e e e e"]


def test_text_without_spaces_overlaps_by_characters() -> None:
    pieces = [
        c.text for c in chunk_document(document("x" * 25), "d", chunk_size=10, chunk_overlap=4)
    ]
    assert [len(piece) for piece in pieces] == [10, 10, 10, 7]


def test_a_character_that_is_too_long_is_kept_whole() -> None:
    zalgo = "e" + "\u0301" * 30
    pieces = [
        c.text
        for c in chunk_document(document(f"ab {zalgo} cd"), "d", chunk_size=5, chunk_overlap=2)
    ]
    assert zalgo in pieces
    assert pieces[0] == "ab"


def test_a_paragraph_that_ends_inside_a_character_is_not_cut_there() -> None:
    text = "Seven words are on this line \u0600 \n\nand more words follow on the next line of it"
    first = chunk_document(document(text), "d", chunk_size=40, chunk_overlap=0)[0]
    assert first.text.endswith("\u0600 \n\nand")


def test_a_chunk_lies_under_one_heading_and_headings_in_a_row_head_one() -> None:
    source = (
        "Preface.\n\n# Policy\n\n## Leave\n\nAll get it.\n\n## Travel\n\nBy train.\n\n"
        "Title\n=====\n\nSub\n---\n\nEnd.\n"
    )
    chunks = chunk_document(read_document(source.encode(), "a.md"), "doc")
    assert [(c.heading_path, c.text) for c in chunks] == [
        ((), "Preface."),
        (("Policy", "Leave"), "# Policy\n\n## Leave\n\nAll get it."),
        (("Policy", "Travel"), "## Travel\n\nBy train."),
        (("Title", "Sub"), "Title\n=====\n\nSub\n---\n\nEnd."),
    ]


def test_a_name_that_is_not_in_the_text_begins_a_chunk_where_it_stands() -> None:
    text = "Days: 15\nDays: 20 | Note: row 2\n\nDays: 30"
    headings = (
        Heading(1, "Rates", 1, 0, written=False),
        Heading(2, "Rates, row 2", 1, 0, written=False),
        Heading(2, "Rates, row 3", 1, 9, written=False),
        Heading(2, "Rates, row 5", 1, text.index("Days: 30"), written=False),
    )
    chunks = chunk_document(document(text, headings=headings), "doc_1")
    assert [(chunk.text, chunk.heading_path[1:]) for chunk in chunks] == [
        ("Days: 15", ("Rates, row 2",)),
        ("Days: 20 | Note: row 2", ("Rates, row 3",)),
        ("Days: 30", ("Rates, row 5",)),
    ]
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_headings_stay_in_force_on_the_next_page() -> None:
    headings = (Heading(1, "Policy", 1, 0), Heading(2, "Leave", 2, 6))
    chunks = chunk_document(
        document("Policy\n\nOne.", "Two.\n\nLeave\n\n3", headings=headings), "d"
    )
    assert [(c.page, c.heading_path) for c in chunks] == [
        (1, ("Policy",)),
        (2, ("Policy",)),
        (2, ("Policy", "Leave")),
    ]


SECTIONS = "Preface.\n\n# Leave\n\n25 days.\n\n# Travel\n\nBy train.\n\n# إجازة\n\nEnd.\n"


def test_small_neighbours_are_joined_under_the_heading_of_the_first() -> None:
    read = read_document(SECTIONS.encode(), "a.md")
    chunks = chunk_document(read, "doc")
    assert len(chunks) == 4
    (whole,) = join_chunks(read, chunks, chunk_size=5_000)
    assert (whole.text, whole.heading_path) == (SECTIONS.strip(), ())
    joined = join_chunks(read, chunks, chunk_size=30)
    assert [(one.heading_path, one.text) for one in joined] == [
        ((), "Preface.\n\n# Leave\n\n25 days."),
        (("Travel",), "# Travel\n\nBy train."),
        (("إجازة",), "# إجازة\n\nEnd."),
    ]


def test_joining_is_measured_in_bytes() -> None:
    read = document("ééé\n\nééé", headings=(Heading(1, "", 1, 5),))
    chunks = chunk_document(read, "doc")
    assert [one.text for one in chunks] == ["ééé", "ééé"]
    assert join_chunks(read, chunks, chunk_size=13) == chunks
    (joined,) = join_chunks(read, chunks, chunk_size=14)
    assert joined.text == "ééé\n\nééé"
    assert joined.chunk_hash == generate_chunk_hash(joined.text, 64)


def test_nothing_is_joined_across_pages() -> None:
    read = document("One.", "Two.")
    chunks = chunk_document(read, "doc")
    assert join_chunks(read, chunks, chunk_size=5_000) == chunks
    assert join_chunks(read, (), chunk_size=5_000) == ()


@given(texts=st.lists(TEXT, min_size=1, max_size=3), sizes=SIZES, size=st.integers(1, 300))
def test_joined_chunks_show_what_the_chunks_show_and_could_not_be_fewer(
    texts: list[str], sizes: tuple[int, int], size: int
) -> None:
    measure = MEASURES["bytes"]
    read = document(*texts)
    chunks = chunk_document(read, "doc", chunk_size=sizes[0], chunk_overlap=sizes[1], unit="bytes")
    joined = join_chunks(read, chunks, chunk_size=size)
    starts = {(one.page, one.start): one for one in chunks}
    ends = {(one.page, one.end) for one in chunks}
    for index, one in enumerate(joined):
        first = starts[one.page, one.start]
        assert (one.page, one.end) in ends
        assert one.text == texts[one.page - 1][one.start : one.end]
        assert (one.index, one.heading_path) == (index, first.heading_path)
        assert measure(one.text) <= size or one.text == first.text
    for chunk in chunks:
        assert any(
            one.page == chunk.page and one.start <= chunk.start and chunk.end <= one.end
            for one in joined
        )
    for before, after in pairwise(joined):
        if before.page == after.page:
            next_end = starts[after.page, after.start].end
            assert measure(texts[before.page - 1][before.start : next_end]) > size
    assert join_chunks(read, chunks, chunk_size=size) == joined


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1), (-5, 0)])
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match="the overlap must be 0 or more and less than the size"):
        chunk_document(document("text"), "d", chunk_size=size, chunk_overlap=overlap)


@pytest.mark.parametrize(
    "text",
    ["x" * 300_000, "🇸🇦" * 50_000, "e" + "\u0301" * 100_000, "a. " * 100_000, "\n" * 300_000],
)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    chunk_document(document(text), "d")
