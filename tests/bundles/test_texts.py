import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.bundles.texts import decode_text, json_text, parse_recorded_json
from evidentia.errors import InputError


@pytest.mark.parametrize(
    "data",
    [
        "é, سلام".encode(),
        "é, سلام".encode("utf-8-sig"),
        "é, سلام".encode("utf-16"),
        codecs.BOM_UTF16_BE + "é, سلام".encode("utf-16-be"),
        "é, سلام".encode("utf-32"),
    ],
)
def test_unicode_is_read_without_its_mark(data: bytes) -> None:
    assert decode_text(data, "a.txt") == "é, سلام"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"caf\xe9 12", "not UTF-8 text (byte 0xE9 at position 3): save it as UTF-8"),
        (b"ab\x00cd", "(a zero byte at position 2, as binary files have)"),
        (b"ab\x00\xff", "(a zero byte at position 2, as binary files have)"),
        (b"%PDF-1.7\n", "a PDF file: reference it under `documents` instead"),
        (b"PK\x03\x04\x14\x00", "if a document, reference it under `documents` instead"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as DOCX and reference it under `documents`"),
        (b"\x89PNG\r\n\x1a\n\x00", "not text but a PNG picture"),
        (b"\x1f\x8b\x08\x00", "not text but a gzip archive: unpack it first"),
        (b"SQLite format 3\x00", "not text but a SQLite database"),
    ],
)
def test_what_is_no_text_is_named_with_what_to_do(data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        decode_text(data, "notes/a.txt")
    assert str(caught.value).startswith("notes/a.txt: not ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_byte_after_a_mark_is_not_taken_for_a_binary_file() -> None:
    with pytest.raises(InputError, match="not UTF-16 text") as caught:
        decode_text(codecs.BOM_UTF16_LE + b"a\x00\x00\xd8", "a.txt")
    assert "zero byte" not in str(caught.value)


def test_a_name_that_does_not_print_is_escaped() -> None:
    with pytest.raises(InputError, match=r"^'a\\nb': not"):
        decode_text(b"\xff", "a\nb")


@given(st.binary(max_size=60) | st.text(max_size=30).map(str.encode))
def test_any_bytes_are_text_or_an_input_error(data: bytes) -> None:
    try:
        text = decode_text(data, "a")
    except InputError:
        return
    assert text.encode() or not data.strip(codecs.BOM_UTF8 + codecs.BOM_UTF16)


def test_values_are_kept_as_they_are_and_numbers_digit_by_digit() -> None:
    source = '{"id": 12345678901234567890, "sum": [1.10, -0, 1e400, NaN], "a": {}, "b": []}'
    assert json_text(parse_recorded_json(source, "a"), "a") == source
    plain = '["é", true, null]'
    assert json_text(parse_recorded_json(plain, "a"), "a") == plain
    long = "1" * 5_000
    assert json_text(parse_recorded_json(long, "a"), "a") == long


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('aé"', max_size=3), inner),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_is_written_as_it_was(value: object) -> None:
    source = json.dumps(value, ensure_ascii=False)
    assert json_text(parse_recorded_json(source, "a"), "a") == source


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('{"a": s3cret}', "not JSON at line 1 column 7"),
        ('{"s3cret": 1, "s3cret": 2}', "the same key twice"),
        ('"\\ud83d"', "half of a character"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_json_that_is_refused_is_not_quoted(source: str, says: str) -> None:
    with pytest.raises(InputError, match=f"^a.json: .*{says}") as caught:
        parse_recorded_json(source, "a.json")
    assert "s3cret" not in str(caught.value)


def test_what_nests_too_deep_is_not_written() -> None:
    deep = parse_recorded_json("[" * 101 + "]" * 101, "a")
    with pytest.raises(InputError, match="nested more than 100 levels"):
        json_text(deep, "a")


def test_a_whole_character_may_be_escaped() -> None:
    assert parse_recorded_json('"\\ud83d\\ude00"', "a") == "😀"
