# ruff: noqa: RUF001 - other scripts are what these tests are about

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.characters import strip_invisible
from evidentia.language.graphemes import boundary_after, boundary_before

CONDITIONAL = "\u200c\u200d\ufe0e\ufe0f"
IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
REORDERING = regex.compile(r"\p{Bidi_Control}")
CONTROLS = regex.compile(r"[\p{Cc}\p{Cs}--[\n\t]]", regex.VERSION1)
NONCHARACTERS = regex.compile(r"\p{Noncharacter_Code_Point}")
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

HOSTILE = st.lists(
    st.sampled_from(
        [
            *CONDITIONAL,
            *"\u200b\u202e\u2066\u2069\ufeff\x00\x1b\r\n\t \u00ad\u3164\U000e0041\U000e0100\ue000",
            *(
                "a",
                "1",
                "#",
                "\u20e3",
                "م",
                "ی",
                "क",
                "\u094d",
                "ക",
                "👩",
                "🏽",
                "❤",
                "⬛",
                "🇸",
                "©",
            ),
        ]
    )
    | st.characters(codec=None),
    max_size=30,
).map("".join)


def removed(before: str, after: str) -> int:
    plain = before.replace("\r\n", "\n")
    return len(plain) - len(after)


@given(HOSTILE)
def test_stripping_again_changes_nothing(text: str) -> None:
    stripped, _ = strip_invisible(text)
    assert strip_invisible(stripped) == (stripped, {})


@given(HOSTILE)
def test_nothing_is_left_that_hides_or_reorders(text: str) -> None:
    stripped, _ = strip_invisible(text)
    left = stripped.translate(dict.fromkeys(map(ord, CONDITIONAL)))
    for hidden in (IGNORABLE, REORDERING, CONTROLS, NONCHARACTERS):
        assert not hidden.search(left)
    assert not regex.search(rf"[{CONDITIONAL}]{{3}}", stripped)
    stripped.encode()


@given(HOSTILE)
def test_what_is_counted_is_what_is_gone(text: str) -> None:
    stripped, counts = strip_invisible(text)
    breaks = {"U+000B", "U+000C", "U+0085", "U+2028", "U+2029"}
    gone = sum(count for name, count in counts.items() if name not in breaks)
    assert removed(text, stripped) == gone
    for name, count in counts.items():
        character = chr(int(name.removeprefix("U+"), 16))
        assert text.count(character) - stripped.count(character) == count
    assert all(count > 0 for count in counts.values())


@given(HOSTILE)
def test_what_can_be_seen_stays_in_its_order(text: str) -> None:
    def seen(of: str) -> str:
        for hidden in (IGNORABLE, NONCHARACTERS):
            of = hidden.sub("", of)
        return "".join(each for each in of if each.isprintable() and not each.isspace())

    assert seen(strip_invisible(text)[0]) == seen(text)


def test_of_all_of_unicode_no_ignorable_character_passes() -> None:
    everything = "".join(f"{chr(code)}|" for code in range(0x110000))
    stripped, counts = strip_invisible(everything)
    for hidden in (IGNORABLE, REORDERING, CONTROLS, NONCHARACTERS):
        assert not hidden.search(stripped)
    assert len(counts) > 6_000
    for kept in "é漢 \u00a0\u3000\u2800\u0301\ue000\U000f0000\ufffd\ufffc\u0600":
        assert f"|{kept}|" in stripped


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian: the prefix does not join
        "क्\u200dष, क्\u200cष",  # Devanagari: half form, and a visible virama
        "ක්\u200dර",  # Sinhala
        "അവന്\u200d പോയി",  # Malayalam as it was written before it had chillus: at a word's end
        "👩🏽\u200d🚀 👨\u200d👩\u200d👧 🐈\u200d⬛ 🙂\u200d↔\ufe0f",
        "❤\ufe0f\u200d🔥 ☎\ufe0e ©\ufe0f",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "🇸🇦 naïve e\u0301 \u0627\u064e",
        "plain\ttext\nof lines",
        "",
    ],
)
def test_what_writing_needs_stays(text: str) -> None:
    assert strip_invisible(text) == (text, {})


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "stripped", "counts"),
    [
        ("ig\u200bnore", "ignore", {"U+200B": 1}),
        ("\u202egnp.exe\u202c", "gnp.exe", {"U+202C": 1, "U+202E": 1}),
        ("\u2067\u200f\u061cab\u2069", "ab", {"U+061C": 1, "U+200F": 1, "U+2067": 1, "U+2069": 1}),
        ("a\u200cb\u200dc", "abc", {"U+200C": 1, "U+200D": 1}),
        ("\u200dم\u200d", "م", {"U+200D": 2}),
        ("م\u200c\u200c\u200d\u200cی", "م\u200cی", {"U+200C": 2, "U+200D": 1}),
        ("م\u200b\u200c\u200bی", "م\u200cی", {"U+200B": 2}),
        ("م\u200ca", "مa", {"U+200C": 1}),
        ("👩\u200c🚀", "👩🚀", {"U+200C": 1}),
        ("👩\u200dx", "👩x", {"U+200D": 1}),
        ("❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f", {"U+FE0E": 1, "U+FE0F": 1}),
        ("a\ufe0f1\ufe0f", "a1", {"U+FE0F": 2}),
        ("漢\ufe00\U000e0100", "漢", {"U+FE00": 1, "U+E0100": 1}),
        (ENGLAND, "🏴", {f"U+E00{n}": 1 for n in (62, 65, 67, "6E", "7F")} | {"U+E0067": 2}),
        ("a\x00\x1b[2Jb\x7f\x9b", "a[2Jb", {"U+0000": 1, "U+001B": 1, "U+007F": 1, "U+009B": 1}),
        ("a\r\nb\rc", "a\nb\nc", {}),
        (
            "a\u2028b\u2029c\x85d\x0ce",
            "a\nb\nc\nd\ne",
            {"U+000C": 1, "U+0085": 1, "U+2028": 1, "U+2029": 1},
        ),
        ("\u3164\u115f\u1160\uffa0x\u00ad\ufeff", "x", {}),
        ("\ud800x\ufffe\U0010ffff", "x", {"U+D800": 1, "U+FFFE": 1, "U+10FFFF": 1}),
    ],
)
def test_what_hides_or_reorders_goes(text: str, stripped: str, counts: dict[str, int]) -> None:
    found, counted = strip_invisible(text)
    assert found == stripped
    assert not counts or counted == counts


def test_counts_are_sorted_by_their_names() -> None:
    assert list(strip_invisible("\ufeff\u200d\x00\U000e0041\u200b\u200b")[1].items()) == [
        ("U+0000", 1),
        ("U+200B", 2),
        ("U+200D", 1),
        ("U+E0041", 1),
        ("U+FEFF", 1),
    ]


CLUSTERS = (
    *("a", "é", "e\u0301", "\r\n", "👨\u200d👩\u200d👧", "🇸🇦", "🇫🇷", "한", "\u1112\u1161\u11ab"),
    *("क्षि", "क\u093f", "ش\u064e", "ـ", " ", "\n", "👍🏽", "1\ufe0f\u20e3", "\u0600\u0661"),
)


@given(st.lists(st.sampled_from(CLUSTERS), max_size=30), st.integers(0, 200))
def test_boundaries_never_fall_inside_a_character(clusters: list[str], index: int) -> None:
    text = "".join(clusters)
    index = min(index, len(text))
    allowed = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    before, after = boundary_before(text, index), boundary_after(text, index)
    assert before <= index <= after
    assert before in allowed
    assert after in allowed


@given(st.text(max_size=40), st.integers(0, 60))
def test_any_text_has_boundaries(text: str, index: int) -> None:
    index = min(index, len(text))
    assert 0 <= boundary_before(text, index) <= index <= boundary_after(text, index) <= len(text)


@tiers.one_test
@pytest.mark.parametrize("cluster", [c for c in CLUSTERS if len(c) > 1])
def test_a_character_of_several_code_points_is_kept_whole(cluster: str) -> None:
    text = f"x{cluster}y"
    for inside in range(2, 1 + len(cluster)):
        assert boundary_before(text, inside) == 1
        assert boundary_after(text, inside) == 1 + len(cluster)


def test_a_text_that_ends_in_a_character_of_several_code_points_ends_there() -> None:
    text = "x👨\u200d👩"
    assert boundary_after(text, 2) == len(text)
    assert boundary_before(text, len(text)) == len(text)


def test_flags_in_a_row_are_pairs_from_the_first() -> None:
    flags = "🇸🇦" * 200_000
    assert boundary_before(flags, 399_999) == 399_998
    assert boundary_after(f"x{flags}", 200_000) == 200_001
    assert boundary_before("\u0600🇸🇦🇫🇷", 2) == 0


def test_the_search_need_not_go_back_further_than_its_start() -> None:
    flags = "🇸🇦" * 5
    assert boundary_before(flags, 3, start=2) == 2
    assert boundary_after(flags, 3, start=2) == 4
