# ruff: noqa: RUF001 - digits and marks of other scripts are what some of these tests are about

import json
import random
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.bundles.transcripts import (
    Segment,
    TranscriptChunk,
    chunk_transcript,
    read_transcript,
    transcript_text,
)
from evidentia.errors import InputError


def read(source: str) -> list[tuple[str | None, str | None, str | None, str]]:
    segments = read_transcript(source.encode(), "call.txt")
    assert [segment.index for segment in segments] == list(range(len(segments)))
    return [(each.speaker, each.start, each.end, each.text) for each in segments]


ALICE = ("Alice", "00:01:02.000", "00:01:05.500", "Hello there.")
BOB = ("Bob", "00:01:06.000", "00:01:07.000", "Hi.")


@pytest.mark.parametrize(
    "source",
    [
        """{"segments": [
            {"speaker": "Alice", "start": 62, "end": 65.5, "text": " Hello there. "},
            {"speaker": "Bob", "start": 66.0, "end": 6.7e1, "text": "Hi."}]}""",
        """[{"speaker_label": "Alice", "from": "00:01:02,000", "to": "1:05.5", "text":
            "Hello there."}, {"text": ""},
            {"speaker": "Bob", "begin": "66", "end": "67s", "text": "Hi."}]""",
        (
            '{"speaker": "Alice", "start": 62, "end": 65.4996, "text": "Hello there."}\n\n'
            '{"speaker": " Bob ", "start": 66, "end": "01:06.9995", "text": "Hi."}\n'
        ),
        """{"transcription": [
            {"speaker": "Alice", "timestamps": {"from": "00:01:02,000", "to": "00:01:05,500"},
             "offsets": {"from": 62000, "to": 65500}, "text": " Hello there."},
            {"speaker": "Bob", "start": 66, "end": 67, "text": " Hi."}]}""",
        (
            "WEBVTT - A call\nKind: captions\n\nNOTE made by hand\n00:01 --> never\n\n"
            "STYLE\n::cue { color: red }\n\nintro\n00:01:02.000 --> 00:01:05.500 align:start\n"
            "<v.loud Alice>Hello <b>there</b>.</v>\n\n2\n01:06.000 --> 01:07.000\n<v Bob>Hi.\n\n"
            "NOTE the end\n"
        ),
        (
            "1\n00:01:02,000 --> 00:01:05,500\nAlice: <i>Hello there.</i>\n\n"
            "2\n00:01:06,000 --> 00:01:07,000 X1:1 X2:2\n{\\an8}Bob: Hi.\n\n"
        ),
        "[00:01:02.000–00:01:05.500] Alice: Hello there.\n[1:06 - 1:07] Bob: Hi.",
        "(00:01:02 --> 00:01:05,5)  Alice : Hello there.\n00:01:06-00:01:07 Bob: Hi.",
        "Alice (00:01:02–00:01:05.5): Hello there.\nBob [00:01:06–00:01:07]\nHi.",
    ],
)
def test_every_shape_is_read(source: str) -> None:
    assert read(source) == [ALICE, BOB]
    assert read("\ufeff" + source.replace("\n", "\r\n")) == [ALICE, BOB]


def test_text_without_marks_has_a_segment_for_each_paragraph() -> None:
    source = "One line\nand another.\n\n\nA second paragraph, at 10:30 in the morning.\n"
    assert read(source) == [
        (None, None, None, "One line\nand another."),
        (None, None, None, "A second paragraph, at 10:30 in the morning."),
    ]


@tiers.one_test
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[00:01:02] Alice: Hi.", ("Alice", "00:01:02.000", None, "Hi.")),
        ("Alice (00:01:02): Hi.", ("Alice", "00:01:02.000", None, "Hi.")),
        ("Alice: Hi.", ("Alice", None, None, "Hi.")),
        ("00:01:02 Alice: Hi.", ("Alice", "00:01:02.000", None, "Hi.")),
        ("[00:01:02] Hi.", (None, "00:01:02.000", None, "Hi.")),
        ("[1:02] Hi.", (None, "00:01:02.000", None, "Hi.")),
        ("00:01:02 Hi.", (None, "00:01:02.000", None, "Hi.")),
        ("1:02 Alice: Hi.", ("Alice", "00:01:02.000", None, "Hi.")),
        ("75:02 - Alice: Hi.", ("Alice", "01:15:02.000", None, "Hi.")),
        ("[٠٠:٠١:٠٢] أحمد علي: سلام", ("أحمد علي", "00:01:02.000", None, "سلام")),
        (
            "Dr. Ana de la Cruz (HR): Hi.",
            ("Dr. Ana de la Cruz (HR)", None, None, "Hi."),
        ),
        ("李：你好", ("李", None, None, "你好")),
        ("SPEAKER_01: Hi.", ("SPEAKER_01", None, None, "Hi.")),
        ("[123:01:02] Hi.", (None, "123:01:02.000", None, "Hi.")),
        *(
            (line, (None, None, None, line))
            for line in (
                "10:30 is when we meet.",
                "[00:75:00] Hi.",
                "[00:01:02 - 00:75:00] Hi.",
                "the thing is this (00:01:02): we go",
                "[Music]",
                "The thing is this: we go.",
                "https://example.com/a is the page",
                "At 10:30",
                "A B C D E F G: too many",
                "{laughs} and goes",
            )
        ),
    ],
)
def test_plain_lines_are_read_with_what_they_say(line: str, expected: object) -> None:
    assert read(line) == [expected]


def test_a_line_without_a_mark_goes_on_the_one_before() -> None:
    source = "Minutes\nAlice:\n\nHello\nthere.\n\nA pause.\nBob: Hi.\nAgain."
    assert read(source) == [
        (None, None, None, "Minutes"),
        ("Alice", None, None, "Hello\nthere."),
        (None, None, None, "A pause."),
        ("Bob", None, None, "Hi.\nAgain."),
    ]


def test_a_cue_may_have_several_voices() -> None:
    times = ("00:00:00.000", "00:00:02.000")
    vtt = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\nOh. <v Alice &amp; Co>Hi &lt;all&gt;"
        "<00:00:01.000> now</v> <v>Yes</v>\n<v Bob>Hello\n\nNOTE\nno speech\n\nworld &lrm;\n"
    )
    assert read(vtt) == [
        (None, *times, "Oh."),
        ("Alice & Co", *times, "Hi <all> now Yes"),
        ("Bob", *times, "Hello\n\n\nworld \u200e"),
    ]
    srt = (
        "00:00:00,000 --> 00:00:02,000\nAlice: Hi\nthere &amp; here\nBob: Hello\n\n\n"
        "00:00:00,000 --> 00:00:02,000\n42\n7\n00:00:00,000 --> 00:00:02,000\nYes\nBob: quoted\n"
    )
    assert read(srt) == [
        ("Alice", *times, "Hi\nthere &amp; here"),
        ("Bob", *times, "Hello"),
        (None, *times, "42"),
        (None, *times, "Yes\nBob: quoted"),
    ]


def test_an_unnamed_voice_has_no_speaker() -> None:
    assert read("WEBVTT\n\n00:00.000 --> 00:02.000\n<v  >Hi")[0][0] is None


def test_speakers_may_be_numbers_and_times_unknown() -> None:
    source = '{"text": "all", "segments": [{"speaker": 0, "start": null, "text": "Hi", "p": NaN}]}'
    assert read(source) == [("0", None, None, "Hi")]
    assert read('{"speaker": " ", "text": "Hi"}') == [(None, None, None, "Hi")]


@tiers.one_test
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "call.txt: an empty transcript"),
        ("[]", "an empty transcript"),
        ("WEBVTT\n\nNOTE nothing\n", "an empty transcript"),
        ('{"segments": [{"text": "a"}, {"start": 1}]}', "segment 2 has no text"),
        ('{"segments": 5}', "segment 1 has no text"),
        ("[[1]]", "segment 1 has no text"),
        ('{"text": "a"}\n5', "line 2 has no text"),
        ('{"text": "a"}\n\n{"text": }', "call.txt, line 3: not JSON"),
        ('{"text": }', "not JSON at line 1 column 10"),
        ('{"text": "\\ud800"}', "half of a character"),
        ('{"text": "a", "start": -1}', "a time of segment 1 is none: give seconds"),
        ('{"text": "a", "start": 1e999}', "a time of segment 1"),
        ('{"text": "a", "end": NaN}', "a time of segment 1"),
        ('{"text": "a", "end": "00:75:00"}', "a time of segment 1"),
        ('{"text": "a", "end": "999999999"}', "a time of segment 1"),
        ('{"text": "a", "end": []}', "a time of segment 1"),
        ('{"text": "a", "speaker": {}}', "the speaker of segment 1 must be text"),
        ("WEBVTT\n\n00:75:00.000 --> 00:80:00.000\nHi", "line 3 must read"),
        ("1\n00:00:00,000 --> 00:00:01,000\nHi\n\n2\n00:00:02 --> x\nHi", "line 6 must read"),
    ],
)
def test_what_is_no_transcript_is_refused_with_what_to_do(source: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read(source)
    assert str(caught.value).startswith("call.txt")


def test_a_transcript_is_a_line_for_each_segment() -> None:
    segments = (
        Segment(0, "Alice", "00:01:02.000", "00:01:05.500", "Hello\r\n  there.\u2028Yes."),
        Segment(1, None, "00:01:06.000", None, "Hi."),
        Segment(2, "Bob\nB.", None, "00:01:07.000", "Hm."),
        Segment(3, None, None, None, "So."),
        Segment(4, None, None, None, " "),
        Segment(5, "Bob", None, None, ""),
    )
    assert transcript_text(segments) == (
        "[00:01:02.000\u201300:01:05.500] Alice: Hello there. Yes.\n"
        "[00:01:06.000] Hi.\n[\u201300:01:07.000] Bob B.: Hm.\nSo.\n\nBob:"
    )


def said(*texts: str) -> tuple[Segment, ...]:
    return tuple(Segment(index, None, None, None, text) for index, text in enumerate(texts))


def chunk_texts(segments: tuple[Segment, ...], size: int, overlap: int = 0) -> list[str]:
    chunks = chunk_transcript(segments, chunk_size=size, chunk_overlap=overlap)
    return [chunk.text for chunk in chunks]


def test_chunks_end_between_segments_where_they_can() -> None:
    segments = said("One. Two.", "Three. Four.", "Five.")
    assert chunk_texts(segments, 16) == ["One. Two.", "Three. Four.", "Five."]
    assert chunk_texts(segments, 22) == ["One. Two.\nThree. Four.", "Five."]
    assert chunk_texts(segments, 28) == ["One. Two.\nThree. Four.\nFive."]


def test_a_long_segment_is_cut_between_sentences_then_words_then_characters() -> None:
    segments = said("Hi.", "One two. Three four. Five.", "So.")
    assert chunk_texts(segments, 21) == ["Hi.", "One two. Three four.", "Five.\nSo."]
    assert chunk_texts(segments, 9) == ["Hi.", "One two.", "Three", "four.", "Five.\nSo."]
    assert chunk_texts(said("aaaabbbbcc"), 4) == ["aaaa", "bbbb", "cc"]
    assert chunk_texts(said("👨\u200d👩\u200d👧e\u0301e\u0301"), 4) == [
        "👨\u200d👩\u200d👧",
        "e\u0301",
        "e\u0301",
    ]
    assert chunk_texts(said("aa e\u0301\u0301\u0301"), 4) == ["aa", "e\u0301\u0301\u0301"]


def test_space_that_carries_a_mark_is_kept_with_it() -> None:
    assert chunk_texts(said("One. \u0301Two. Three."), 12) == ["One. \u0301Two.", "Three."]
    assert chunk_texts(said("aaa  bbb \u0301cc"), 5) == ["aaa", "bbb", " \u0301cc"]


def test_neighbours_share_whole_segments_else_whole_sentences() -> None:
    segments = said("One.", "Two.", "Three.", "Four.")
    assert chunk_texts(segments, 11, 6) == ["One.\nTwo.", "Two.\nThree.", "Four."]
    assert chunk_texts(segments, 12, 6) == ["One.\nTwo.", "Two.\nThree.", "Three.\nFour."]
    assert chunk_texts(segments, 12, 3) == ["One.\nTwo.", "Three.\nFour."]
    long = said("Alpha beta. Gamma.", "Delta. Epsilon.")
    assert chunk_texts(long, 22, 8) == ["Alpha beta. Gamma.", "Gamma.\nDelta. Epsilon."]
    assert chunk_texts(long, 21, 8) == ["Alpha beta. Gamma.", "Delta. Epsilon."]
    one = said("One. Two. Three. Four.")
    assert chunk_texts(one, 11, 4) == ["One. Two.", "Two. Three.", "Four."]
    assert chunk_texts(one, 10, 4) == ["One. Two.", "Three.", "Four."]


def test_a_chunk_says_who_speaks_and_when() -> None:
    segments = (
        Segment(7, "Bob", "00:00:05.000", "00:00:09.000", "Aa."),
        Segment(8, "Alice", "00:00:04.000", "100:00:00.000", "Bb."),
        Segment(9, "Bob", None, None, "Cc."),
        Segment(10, None, None, None, "Dd."),
    )
    first, last = chunk_transcript(segments, chunk_size=90, chunk_overlap=0)
    assert first == TranscriptChunk(
        0,
        transcript_text(segments[:3]),
        0,
        85,
        7,
        9,
        ("Bob", "Alice"),
        "00:00:04.000",
        "100:00:00.000",
    )
    assert (last.text, last.speakers, last.start, last.end) == ("Dd.", (), None, None)
    assert (last.index, last.first_segment, last.last_segment) == (1, 10, 10)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, 6), (5, -1)])
def test_sizes_that_make_no_chunks_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match="the overlap must be 0 or more and less than the size"):
        chunk_transcript(said("a"), chunk_size=size, chunk_overlap=overlap)


def test_half_of_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        chunk_transcript(said("a\ud800"), chunk_size=9, chunk_overlap=0)


def test_nothing_said_makes_no_chunks() -> None:
    assert chunk_transcript((), chunk_size=9, chunk_overlap=0) == ()
    assert chunk_texts(said(" ", ""), 9) == []


PIECES = st.sampled_from(
    [
        *("word ", "A sentence. ", "Longer words here, yes! ", "\n", "\r\n", "Dr. No. ", "x" * 40),
        *(
            "e\u0301",
            "👨\u200d👩\u200d👧",
            "🇸🇦",
            "\u0301",
            " \u0301",
            "\u0600 ",
            "क्षि",
            "年假。",
            "\u200f",
        ),
        *("إجازة سنوية. ", "هل نعم؟ ", "שלום. ", "   ", "\u00a0", "\x1f", "?", "ـ", "\u2066"),
        *("z\u0300\u0301\u0302\u0303\u0304", ". \u0301B. ", "e\u0301. "),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
TIMES = st.none() | st.sampled_from(["00:00:01.000", "00:01:02.500", "100:00:00.000"])
SEGMENTS = st.lists(
    st.builds(
        Segment,
        st.integers(0, 9),
        st.none() | st.sampled_from(["Alice", "أحمد", "Bob B.", "👩🏽"]),
        TIMES,
        TIMES,
        TEXTS,
    ),
    max_size=8,
)
SIZES = st.integers(1, 90).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def is_one_character(text: str) -> bool:
    return len(regex.findall(r"\X", text)) <= 1 or "\u094d" in text


@given(SEGMENTS, SIZES)
def test_chunks_are_exact_cover_all_and_keep_to_their_size(
    segments: list[Segment], sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    text = transcript_text(segments)
    assert text.count("\n") == max(0, len(segments) - 1)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    borders = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    chunks = chunk_transcript(segments, chunk_size=size, chunk_overlap=overlap)
    covered = set[int]()
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert text[chunk.start_offset : chunk.end_offset] == chunk.text
        assert {chunk.start_offset, chunk.end_offset} <= borders
        assert len(chunk.text.encode()) <= size or is_one_character(chunk.text)
        covered.update(range(chunk.start_offset, chunk.end_offset))
        touched = [
            segment
            for segment, (start, end) in zip(segments, pairwise(starts), strict=False)
            if start < chunk.end_offset and chunk.start_offset < end - 1
        ]
        assert set(chunk.speakers) == {each.speaker for each in touched if each.speaker}
        assert (chunk.first_segment, chunk.last_segment) == (touched[0].index, touched[-1].index)
        assert chunk.start in {None, *(each.start for each in touched)}
        assert chunk.end in {None, *(each.end for each in touched)}
        assert (chunk.start is None) == all(each.start is None for each in touched)
    assert all(at in covered for at, each in enumerate(text) if not each.isspace())
    for before, after in pairwise(chunks):
        assert before.start_offset < after.start_offset
        assert before.end_offset < after.end_offset
        assert len(text[after.start_offset : before.end_offset].encode()) <= overlap


@given(SEGMENTS, st.integers(60, 400))
def test_a_segment_that_fits_is_never_cut(segments: list[Segment], size: int) -> None:
    chunks = chunk_transcript(segments, chunk_size=size, chunk_overlap=size // 3)
    done = 0
    for segment in segments:
        line = transcript_text([segment])
        if line and len(line.encode()) <= size:
            assert any(
                chunk.start_offset <= done and done + len(line) <= chunk.end_offset
                for chunk in chunks
            )
        done += len(line) + 1


@given(
    st.binary(max_size=80), st.sampled_from([b"", b"WEBVTT\n\n", b"1\n00:00:01,000 --> ", b"[{"])
)
def test_any_bytes_are_a_transcript_or_an_input_error(data: bytes, start: bytes) -> None:
    only_input_errors(start + data)


MARKS = st.sampled_from(
    [
        *("WEBVTT", "\n", "\n\n", "00:00:01.000", " --> ", "00:00:02,5", "<v Bob>", "</v>", "1\n"),
        *(
            "NOTE x",
            "Alice: ",
            "[00:01:02] ",
            "(1:02)",
            "[",
            "]",
            "{",
            '"text": "a"',
            "}",
            ",",
            "&",
        ),
        *("&lt;", "<", ">", "Bob (00:75)", "99:99:99", "é", "\u2028", "{\\an8}", ":", "STYLE"),
    ]
)


@given(st.lists(MARKS, max_size=16).map("".join))
def test_any_marks_are_a_transcript_or_an_input_error(source: str) -> None:
    only_input_errors(source.encode())


def test_broken_transcripts_are_transcripts_or_input_errors() -> None:
    segments = [{"speaker": "Alice", "start": 1.5, "end": "00:00:02", "text": "Hello."}] * 3
    whole = [
        json.dumps({"segments": segments}).encode(),
        "\n".join(map(json.dumps, segments)).encode(),
        b"WEBVTT\n\n1\n00:00.000 --> 00:02.000\n<v Bob>Hi &amp; so</v>\n\nNOTE x\n",
        b"1\n00:00:00,000 --> 00:00:02,000\nAlice: Hi\n\n2\n00:00:03,000 --> 00:00:04,000\nYes\n",
        b"[00:01:02] Alice: Hi\nBob (00:01:03): Yes\n00:01:04 Alice: No\n",
    ]
    chance = random.Random(20260101)
    for _ in range(1_500):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 2))
        only_input_errors(bytes(data))


def only_input_errors(data: bytes) -> None:
    try:
        segments = read_transcript(data, "t")
    except InputError:
        return
    assert all(segment.text.strip() for segment in segments)
    assert chunk_transcript(segments, chunk_size=20, chunk_overlap=5)
    assert read_transcript(data, "t") == segments
