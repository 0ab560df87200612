# ruff: noqa: RUF001 - Arabic, its digits and its punctuation are what these tests are about

import regex
from hypothesis import given
from hypothesis import strategies as st

from evidentia.export.pdf.breaking import BREAK, breakable
from evidentia.export.pdf.printing import printable
from evidentia.language.direction import END
from evidentia.language.scripts import with_isolates

SHA_256 = "0123456789abcdef" * 4
PIECES = st.sampled_from(
    [
        *(f"sha256:{SHA_256}", "https://x.example/a-1/(b)?c=2", "HR_Policy_2024.pdf"),
        *("شركة", "Gulf", "Co.", "و", "٢٠٢٦-١١-٠١"),
        *"()[]{}«»“”\"'.,;:!?-–/%،؛؟٪٥ \n",
    ]
)
TEXTS = (
    st.lists(PIECES | st.text(max_size=3))
    .map("".join)
    .map(lambda text: printable(text, lines=True))
)


def test_long_names_can_break_behind_their_signs() -> None:
    name = "https://intranet.nakhla.example/policies/BP-07-2024?v=3"
    assert breakable(name).split(BREAK) == [
        *("https://", "intranet.", "nakhla.", "example/", "policies/"),
        *("BP-", "07-", "2024?", "v=", "3"),
    ]


def test_hashes_and_endless_words_can_break_anywhere() -> None:
    assert breakable(f"The hash {SHA_256}.").split(BREAK) == [
        "The hash 01234567",
        *["89abcdef", "01234567"] * 3,
        "89abcdef.",
    ]
    assert breakable("abcdef", longest=5, piece=4) == f"abcd{BREAK}ef"


def test_short_words_and_marks_are_not_parted() -> None:
    assert (
        breakable("ولاستخداماتهما pack_0123456789abcdef") == "ولاستخداماتهما pack_0123456789abcdef"
    )
    marked = breakable("بً" * 40)
    assert all(part == "بً" * 8 for part in marked.split(BREAK))


@given(TEXTS.map(lambda text: with_isolates(text * 3, "rtl")))
def test_breaks_change_nothing_else_and_leave_no_long_word(text: str) -> None:
    made = breakable(text, longest=10, piece=4)
    assert made.replace(BREAK, "") == text
    assert breakable(made, longest=10, piece=4) == made
    assert not regex.search(rf"[^\s{BREAK}\p{{M}}\u200c\u200d\u2066-\u2069]{{15,}}", made)
    assert not regex.search(rf"{BREAK}(?:\p{{M}}|{BREAK}|{END})", made)
