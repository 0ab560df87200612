import json
import math
import random
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from es6_numbers import EXPECTED, sequence_digest
from evidentia.canonical import (
    MAX_DEPTH,
    MAX_SAFE_INTEGER,
    canonical_json,
    canonical_row,
    derived_id,
    digest,
    parse_json,
    sha256_hex,
)
from evidentia.errors import CanonicalError, EvidentiaError
from vectors import vector_files

SEED = 8785
TEXT = (
    "abcXYZ09 _-./"
    '"\\\b\f\n\r\t\x00\x01\x1f\x7f'
    "é߀\u2028\ufeff"
    "\ue000\ufb33\uffff"  # sorted after the next line by UTF-16, before it by code point
    "\U00010000\U0001f600\U0010ffff"
)


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Document:
    """Random JSON values with everything in them that canonical forms differ over."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def document(self) -> dict[str, Any]:
        return {self.text(): self.value() for _ in range(self.random.randrange(1, 8))}

    def value(self, depth: int = 1) -> Any:
        kind = self.random.randrange(6 if depth >= 3 else 9)
        match kind:
            case 0:
                return self.random.choice([None, True, False])
            case 1 | 2:
                return self.text()
            case 3:
                return self.integer()
            case 4 | 5:
                return self.number()
            case 6:
                return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
            case _:
                return {self.text(): self.value(depth + 1) for _ in range(self.random.randrange(5))}

    def text(self) -> str:
        letters = TEXT[:13] if self.random.random() < 0.5 else TEXT
        return "".join(self.random.choices(letters, k=self.random.randrange(6)))

    def integer(self) -> int:
        bits = self.random.randrange(1, 54)
        return self.random.choice([-1, 1]) * self.random.getrandbits(bits)

    def number(self) -> float:
        match self.random.randrange(4):
            case 0:  # every magnitude a double can have
                bits = self.random.getrandbits(64)
                number = float(struct.unpack("<d", struct.pack("<Q", bits))[0])
                return number if math.isfinite(number) else 0.5
            case 1:  # around the places where notations change
                exponent = self.random.choice([-8, -7, -6, -5, -4, 14, 15, 16, 17, 20, 21, 22])
                return self.random.uniform(-10, 10) * 10.0**exponent
            case 2:
                return float(self.integer())
            case _:
                return round(self.random.uniform(-1000, 1000), self.random.randrange(6))


def nested(levels: int, wrap: Callable[[Any], Any] = lambda inner: [inner]) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = wrap(value)
    return value


class TestWriting:
    @pytest.mark.parametrize("path", vector_files("rfc8785/testdata/input/*.json"))
    def test_public_vectors_come_out_as_published(self, path: Path) -> None:
        published = path.parents[1]
        written = canonical_json(parse_json(path.read_bytes()))
        assert written == (published / "output" / path.name).read_bytes()
        as_hex = (published / "outhex" / f"{path.stem}.txt").read_text()
        assert written == bytes.fromhex(as_hex)

    @pytest.mark.parametrize("part", range(10))
    def test_random_documents_are_byte_for_byte_the_reference_implementations(
        self, part: int
    ) -> None:
        documents = Document(SEED + part)
        for number in range(tiers.count(5_200, short=300)):
            value = documents.document()
            written = canonical_json(value)
            assert written == rfc8785.dumps(value), f"document {number} of part {part}: {value!r}"
            assert canonical_json(parse_json(written)) == written, f"document {number}: {value!r}"

    @pytest.mark.parametrize("count", tiers.sample([1_000, 10_000, 100_000], 2))
    def test_numbers_are_printed_as_ecmascript_prints_them(self, count: int) -> None:
        assert sequence_digest(count) == EXPECTED[count]

    @pytest.mark.parametrize(
        ("number", "printed"),
        [
            (0.0, b"0"),
            (-0.0, b"0"),
            (1.0, b"1"),
            (-1.5, b"-1.5"),
            (1e-6, b"0.000001"),
            (1e-7, b"1e-7"),
            (0.00001, b"0.00001"),
            (1e15, b"1000000000000000"),
            (1e16, b"10000000000000000"),
            (123456789012345680.0, b"123456789012345680"),
            (1e20, b"100000000000000000000"),
            (1e21, b"1e+21"),
            (5e-324, b"5e-324"),
            (sys.float_info.max, b"1.7976931348623157e+308"),
            (float(MAX_SAFE_INTEGER), b"9007199254740991"),
            (2.0**53, b"9007199254740992"),
        ],
    )
    def test_a_number_has_one_form(self, number: float, printed: bytes) -> None:
        assert canonical_json(number) == printed
        assert canonical_json([number]) == b"[%b]" % printed

    def test_integers_up_to_the_limit_are_written_exactly(self) -> None:
        assert canonical_json([MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER]) == (
            b"[9007199254740991,-9007199254740991]"
        )

    def test_keys_are_ordered_by_utf16_and_not_by_code_point(self) -> None:
        beyond, private = "\U0001f600", "\ue000"
        assert beyond > private  # as Python orders text
        written = canonical_json({private: 1, beyond: 2, "z": 3})
        assert written == '{"z":3,"\U0001f600":2,"\ue000":1}'.encode()

    def test_equal_values_have_equal_bytes_whatever_their_order_and_types(self) -> None:
        plain = {"b": [1, 2.0, "x"], "a": {"red": True}}
        other = MappingProxyType(
            OrderedDict([("a", {Colour.RED: True}), ("b", (1.0, 2, Text("x")))])
        )
        assert canonical_json(other) == canonical_json(plain) == b'{"a":{"red":true},"b":[1,2,"x"]}'

    def test_subclasses_are_written_as_what_they_are(self) -> None:
        class Ratio(float):
            def __repr__(self) -> str:
                return "half"

        values = [Colour.RED, Level.HIGH, Text("text"), Ratio(0.5), True, None]
        assert canonical_json(values) == b'["red",3,"text",0.5,true,null]'
        assert canonical_json({Text("key"): 1}) == b'{"key":1}'

    @settings(max_examples=60)
    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters(exclude_categories=["Cs"])),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4
                )
            ),
            max_leaves=8,
        )
    )
    def test_what_is_written_reads_back_as_the_same_value_and_bytes(self, value: Any) -> None:
        written = canonical_json(value)
        assert parse_json(written) == value
        assert canonical_json(parse_json(written)) == written


class TestRefusing:
    @pytest.mark.parametrize(
        "value", [math.nan, math.inf, -math.inf, [math.nan], {"a": math.inf}, {"é": math.nan}]
    )
    def test_numbers_that_json_has_not(self, value: Any) -> None:
        with pytest.raises(CanonicalError, match="not representable"):
            canonical_json(value)

    @pytest.mark.parametrize(
        "value",
        [
            "\ud800",
            ["fine", "bad \udfff"],
            {"a": "\udc00\ud800"},
            {"\ud800": 1},
            {"\ud800": 1, "b": 2},
            {"é": "\ud800"},
        ],
    )
    def test_lone_surrogates_in_values_and_in_keys(self, value: Any) -> None:
        with pytest.raises(CanonicalError, match=r"surrogate|UTF-8"):
            canonical_json(value)

    @pytest.mark.parametrize("value", [2**53, -(2**53), 10**30, {"a": [2**53]}, {"é": 2**53}])
    def test_integers_past_what_a_double_can_hold(self, value: Any) -> None:
        with pytest.raises(CanonicalError, match="past 2\\^53: give it as text"):
            canonical_json(value)

    def test_integers_that_python_itself_refuses_to_print(self) -> None:
        for value in (10**5000, [-(10**5000)], {"é": 10**5000}):
            with pytest.raises(CanonicalError, match="integer of 16610 bits"):
                canonical_json(value)

    @pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",), b"a"])
    def test_keys_that_are_not_text(self, key: Any) -> None:
        with pytest.raises(CanonicalError, match="a key must be text"):
            canonical_json({"fine": 1, key: 2})

    @pytest.mark.parametrize(
        "value",
        [
            b"bytes",
            {1, 2},
            object(),
            Decimal("1.5"),
            datetime(2026, 1, 1, tzinfo=UTC),
            1j,
            range(3),
        ],
    )
    def test_other_types_are_named(self, value: Any) -> None:
        with pytest.raises(CanonicalError, match=f"{type(value).__name__} is not a JSON value"):
            canonical_json({"a": [value]})

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda inner: [inner],
            lambda inner: (inner,),
            lambda inner: {"a": inner},
            lambda inner: {"é": inner},
            lambda inner: MappingProxyType({"a": inner}),
        ],
    )
    def test_nesting_is_limited_the_same_on_every_path(self, wrap: Callable[[Any], Any]) -> None:
        assert canonical_json(nested(MAX_DEPTH, wrap))
        with pytest.raises(CanonicalError, match="nested more than 100 levels"):
            canonical_json(nested(MAX_DEPTH + 1, wrap))

    def test_a_value_that_contains_itself(self) -> None:
        value: list[Any] = []
        value.append(value)
        with pytest.raises(CanonicalError, match="nested more than"):
            canonical_json(value)

    def test_refusals_can_be_caught_as_ours_and_as_value_errors(self) -> None:
        for kind in (EvidentiaError, ValueError):
            with pytest.raises(kind):
                canonical_json(math.nan)


class TestParsing:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (b' {"a" : [1, 2.5, "x", null, true]}\n', {"a": [1, 2.5, "x", None, True]}),
            (b"-0", 0),
            (b"9007199254740991", MAX_SAFE_INTEGER),
            (b"1E2", 100.0),
            ('"é😀"'.encode(), "é😀"),
            (rb'"\ud83d\ude00"', "\U0001f600"),
            (rb'"\\ud800"', r"\ud800"),
            (b"1e-400", 0.0),
        ],
    )
    def test_json_is_read(self, text: bytes, value: Any) -> None:
        assert parse_json(text) == value

    @pytest.mark.parametrize("number", [2**53, 2**60, 10**22, 2**1023, -(2**70)])
    def test_a_large_integer_is_read_as_the_double_it_equals(self, number: int) -> None:
        value = parse_json(str(number).encode())
        assert isinstance(value, float)
        assert value == number

    def test_a_large_number_is_read_back_from_its_canonical_form(self) -> None:
        number = 4.065250141640554e16
        assert int(number) != 40652501416405540
        assert parse_json(b"40652501416405540") == number

    @pytest.mark.parametrize(
        "text",
        ["9007199254740993", "-9007199254740993", "1" * 399, "1" * 400, "9" * 5000, str(2**1024)],
    )
    def test_an_integer_that_no_double_equals_is_refused(self, text: str) -> None:
        with pytest.raises(CanonicalError, match="past 2\\^53") as caught:
            parse_json(text.encode())
        assert len(str(caught.value)) < 100

    @pytest.mark.parametrize("text", [b"1e400", b"-1e309", b"[1.0e999999]"])
    def test_a_number_too_large_for_a_double_is_refused(self, text: bytes) -> None:
        with pytest.raises(CanonicalError, match="too large"):
            parse_json(text)

    @pytest.mark.parametrize("text", [b"NaN", b"[Infinity]", b'{"a":-Infinity}'])
    def test_constants_that_json_has_not_are_refused(self, text: bytes) -> None:
        with pytest.raises(CanonicalError, match="is not a number that JSON has"):
            parse_json(text)

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            (b'{"a":1,"a":1}', "a"),
            (b'{"x":{"b":1,"c":2,"b":3}}', "b"),
            (rb'{"a":1,"\u0061":2}', "a"),
        ],
    )
    def test_a_key_that_stands_twice_is_named(self, text: bytes, key: str) -> None:
        with pytest.raises(CanonicalError, match=f"key '{key}' stands twice"):
            parse_json(text)

    @pytest.mark.parametrize(
        ("text", "byte"),
        [(b'"\xff"', 1), (b'"a\xc3"', 2), (b'"\xed\xa0\x80"', 1), (b"\xfe\xff", 0)],
    )
    def test_what_is_not_utf8_is_refused_with_its_place(self, text: bytes, byte: int) -> None:
        with pytest.raises(CanonicalError, match=f"not UTF-8: .* at byte {byte}"):
            parse_json(text)

    @pytest.mark.parametrize(
        "text",
        [
            rb'"\ud800"',
            rb'["\udfff"]',
            rb'{"\ud83d":1}',
            rb'"\ude00\ud83d"',
            rb'{"\u00e9":"\ud800"}',
        ],
    )
    def test_escaped_lone_surrogates_are_refused(self, text: bytes) -> None:
        with pytest.raises(CanonicalError, match=r"surrogate|UTF-8"):
            parse_json(text)

    @pytest.mark.parametrize(
        "text", [b"", b"{", b"[1,]", b"{'a':1}", b"1 2", b'"\n"', b"01", b"tru", b"\xef\xbb\xbf1"]
    )
    def test_what_is_not_json_is_refused_with_its_place(self, text: bytes) -> None:
        with pytest.raises(CanonicalError, match=r"not JSON: .* at line \d+ column \d+"):
            parse_json(text)

    @pytest.mark.parametrize("opening", [b"[", b'{"a":'])
    def test_deep_nesting_is_refused_and_never_a_crash(self, opening: bytes) -> None:
        closing = b"]" if opening == b"[" else b"}"
        assert parse_json(opening * MAX_DEPTH + b"0" + closing * MAX_DEPTH)
        for levels in (MAX_DEPTH + 1, 2_000, 100_000):
            with pytest.raises(CanonicalError, match="nested more than 100 levels"):
                parse_json(opening * levels + b"0" + closing * levels)

    def test_many_brackets_side_by_side_are_no_nesting(self) -> None:
        assert parse_json(json.dumps([[]] * 500).encode()) == [[]] * 500

    @settings(max_examples=100)
    @given(st.binary(max_size=40) | st.text('[]{}",:0123456789.eE-+ntuf\\ud8', max_size=40))
    def test_whatever_comes_is_read_canonically_or_refused(self, data: bytes | str) -> None:
        try:
            value = parse_json(data if isinstance(data, bytes) else data.encode())
        except CanonicalError:
            return
        assert parse_json(canonical_json(value)) == value


class TestDigests:
    def test_a_digest_is_of_the_canonical_bytes(self) -> None:
        assert sha256_hex(b"abc") == sha256(b"abc").hexdigest()
        assert digest({"b": 1.0, "a": 2}) == sha256(b'{"a":2,"b":1}').hexdigest()

    def test_an_id_follows_from_the_content_alone(self) -> None:
        assert derived_id("pack", {"a": 1, "b": 2}) == derived_id("pack", {"b": 2, "a": 1})
        assert derived_id("pack", {"a": 1}) == "pack_015abd7f5cc57a2d"
        assert derived_id("pack", {"a": 2}) != derived_id("pack", {"a": 1})
        assert derived_id("x", None, length=8) == f"x_{sha256(b'null').hexdigest()[:8]}"


ROWS = st.dictionaries(
    st.text(st.characters(max_codepoint=127), max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=5,
)


@given(ROWS)
def test_a_row_of_text_and_integers_has_the_bytes_of_any_object(row: dict[str, Any]) -> None:
    try:
        expected = canonical_json(row)
    except CanonicalError:
        with pytest.raises(CanonicalError):
            canonical_row(row)
    else:
        assert canonical_row(row) == expected


@pytest.mark.parametrize("value", ["half \ud83d", MAX_SAFE_INTEGER + 2, 10**400, {1}])
def test_a_row_that_has_no_canonical_json_is_refused_like_any_object(value: Any) -> None:
    with pytest.raises(CanonicalError) as of_a_row:
        canonical_row({"a": value})
    with pytest.raises(CanonicalError) as of_an_object:
        canonical_json({"a": value})
    assert str(of_a_row.value) == str(of_an_object.value)
