import itertools

from hypothesis import given
from hypothesis import strategies as st

from evidentia.ledger.blocks import Block, cells, find_blocks


def kinds(answer: str) -> list[tuple[str, str]]:
    return [(block.kind, answer[block.start : block.end]) for block in find_blocks(answer)]


def test_the_blocks_of_markdown_are_found_with_their_exact_slices() -> None:
    answer = (
        "# Title #\r\n"
        "A paragraph\nof two lines.\n"
        "\n"
        "- [x] an item\n  that goes on\n"
        "2) another\n"
        "***\n"
        "> quoted text\n> on two lines\n"
        "\n"
        "Short title\n"
        "===========\n"
        "A full sentence.\n"
        "---\n"
        "[^1]: a note\n"
        "<!-- a comment -->\n"
    )
    assert kinds(answer) == [
        ("heading", "Title"),
        ("paragraph", "A paragraph\nof two lines."),
        ("item", "an item\n  that goes on"),
        ("item", "another"),
        ("paragraph", "quoted text\n> on two lines"),
        ("heading", "Short title"),
        ("paragraph", "A full sentence."),
        ("reference", "[^1]: a note"),
        ("comment", "<!-- a comment -->"),
    ]


def test_fences_hold_code_to_their_end_or_to_the_end_of_the_answer() -> None:
    assert kinds("a\n~~~~\n# b\n~~~\n```\n~~~~\nc") == [
        ("paragraph", "a"),
        ("code", "~~~~\n# b\n~~~\n```\n~~~~"),
        ("paragraph", "c"),
    ]
    assert kinds("```\n- a") == [("code", "```\n- a")]
    assert kinds("- a\n\n    ```sh\n    b\n    ```\n") == [
        ("item", "a"),
        ("code", "    ```sh\n    b\n    ```"),
    ]


def test_tables_may_lack_their_outer_bars() -> None:
    assert kinds("a | b\n--|--\n1 | 2\n\nc | d") == [
        ("header", "a | b"),
        ("row", "1 | 2"),
        ("paragraph", "c | d"),
    ]
    assert kinds("| a |\n|---|\n| 1 |\ntext")[1:] == [("row", "| 1 |"), ("paragraph", "text")]


def test_a_row_knows_its_columns_and_an_item_its_indent() -> None:
    rows = [block for block in find_blocks("| a | b |\n|--|--|\n| 1 | 2 |") if block.kind == "row"]
    assert rows == [Block("row", 18, 27, ("a", "b"))]
    assert [block.indent for block in find_blocks("- a\n  - b\n")] == [0, 2]
    lone = find_blocks("| 1 | 2 |")
    assert lone == [Block("row", 0, 9)]


def test_a_rows_cells_are_parted_by_bars_that_are_not_escaped() -> None:
    assert cells(r" | a \| b | **c** | |") == ("a | b", "c", "")
    assert cells("a | b") == ("a", "b")
    assert cells(r"| a \|") == (r"a |",)


def test_what_stands_under_sources_is_a_reference_until_the_next_heading() -> None:
    answer = "a\n\n## Sources\n[1] x\n\n1. y\n\n## Next\nb"
    assert kinds(answer)[1:] == [
        ("heading", "Sources"),
        ("reference", "[1] x"),
        ("reference", "y"),
        ("heading", "Next"),
        ("paragraph", "b"),
    ]


@given(st.text(alphabet=st.sampled_from(list("ab.:|-*#>`~[]^\n \t1=_<!")), max_size=60))
def test_blocks_are_in_order_and_do_not_overlap(answer: str) -> None:
    blocks = [block for block in find_blocks(answer) if block.kind != "comment"]
    for block in blocks:
        assert 0 <= block.start < block.end <= len(answer)
    for before, after in itertools.pairwise(blocks):
        assert before.end <= after.start
