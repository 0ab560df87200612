# ruff: noqa: RUF001 - Arabic is what is tested
import hmac
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bundles.redaction.making import JWT, PEM, VALUES
from evidentia.bundles.redaction.model import PLACEHOLDER, RedactedText, SensitiveSpan
from evidentia.bundles.redaction.redactor import BUILT_IN, Redactor
from evidentia.errors import InputError

KEY = b"a key for tests only"
FRAGMENTS = st.one_of(
    *VALUES.values(),
    st.sampled_from(
        [
            *(
                "password=",
                "token: ",
                "Bearer ",
                "://",
                "@",
                ":",
                "'",
                '"',
                "[",
                "]",
                "(0)",
                "+",
                "00",
            ),
            *(
                "-----BEGIN PRIVATE KEY-----",
                "-----END ",
                "eyJ",
                "${",
                "a@b.com",
                "[EMAIL_1]",
                "_",
                ".",
            ),
            *(
                "4111 1111 1111 1111",
                "0 ",
                "1.2.3.4",
                "::",
                " ",
                "\n",
                "و",
                "٠٥",
                "é",
                "😀",
                "%",
                "-",
            ),
            *(
                JWT,
                PEM[:50],
                "pwd:ab",
                "password=a@b.com",
                "token='x1234567'",
                "://a:b@c",
                "secret='",
                "\\",
                "sk-",
                "version ",
            ),
        ]
    ),
    st.text(max_size=5),
)
TEXTS = st.lists(FRAGMENTS, max_size=8).flatmap(
    lambda parts: st.sampled_from([" ", ", ", "\n", "; "]).map(lambda between: between.join(parts))
)
HARMLESS = st.lists(
    st.sampled_from(
        [
            *(
                "The delivery ",
                "was late. ",
                "on 2026-11-16 ",
                "at 03:28:41 ",
                "version 1.2.3.4 ",
                "12 345 ",
            ),
            *(
                "order 20261116-17 ",
                "€ 1,234.56 ",
                "التسليم ",
                "متأخر، ",
                "٣٠ يوماً ",
                "[x] ",
                "100% ",
                "a/b ",
            ),
        ]
    )
).map("".join)


def check_places(result: RedactedText) -> None:
    last = 0
    for one in result.redactions:
        assert last <= one.start
        assert result.text[one.start : one.end] == one.placeholder
        assert one.placeholder.startswith(f"[{one.kind}_")
        assert len(one.digest) == 64
        last = one.end


def restored(result: RedactedText, text: str) -> bool:
    """Whether what stands between the placeholders is the text's own, in its order."""
    place = done = 0
    for one in result.redactions:
        kept = result.text[done : one.start]
        place = text.index(kept, place) + len(kept)
        done = one.end
    return text[place:].endswith(result.text[done:])


@given(TEXTS)
@example("password=a@b.com")
@example("001-01-0001 5")
@example("password=[EMAIL_1]]")
def test_redacting_twice_changes_nothing_more_and_places_are_exact(text: str) -> None:
    redactor = Redactor(KEY)
    once = redactor.redact(text)
    check_places(once)
    assert restored(once, text)
    counts = redactor.counts
    assert redactor.redact(once.text) == RedactedText(once.text, ())
    assert redactor.counts == counts


@given(TEXTS, st.floats(0, 1))
@example("card 4111 1111 1111 1111, mail a@example.com", 0.3)
@example("password=a@b.com", 0.75)
def test_two_parts_are_redacted_as_the_whole_is(text: str, share: float) -> None:
    redactor = Redactor(KEY)
    whole = redactor.redact(text)
    at = round(share * len(text))
    left, right = redactor.redact(text, end=at), redactor.redact(text, start=at, end=len(text))
    check_places(left)
    check_places(right)
    if len(left.redactions) + len(right.redactions) == len(whole.redactions):
        assert left.text + right.text == whole.text
        return
    last, first = left.redactions[-1], right.redactions[0]  # of a value that was cut in two
    assert (last.placeholder, last.digest) == (first.placeholder, first.digest)
    assert left.text.endswith(last.placeholder)
    assert right.text.startswith(first.placeholder)
    assert left.text + right.text.removeprefix(first.placeholder) == whole.text


def test_a_part_within_a_value_is_its_placeholder_alone() -> None:
    text = "card 4111 1111 1111 1111, mail a@example.com"
    redactor = Redactor(KEY)
    assert redactor.redact(text, start=8, end=12).text == "[CARD_1]"
    assert redactor.redact(text, start=0, end=5) == RedactedText("card ", ())
    assert redactor.redact(text, start=24, end=31) == RedactedText(", mail ", ())
    assert redactor.counts == {"CARD": 1}  # what is not in a part is not numbered
    assert redactor.redact(text, start=20, end=32).text == "[CARD_1], mail [EMAIL_1]"


@given(HARMLESS)
def test_text_without_values_comes_back_unchanged(text: str) -> None:
    redactor = Redactor(KEY)
    assert redactor.redact(text) == RedactedText(text, ())
    assert redactor.counts == {}


def test_the_same_value_keeps_its_number_over_several_texts() -> None:
    redactor = Redactor(KEY)
    first = redactor.redact("a@example.com, b@example.com, A@Example.com")
    second = redactor.redact("c@example.com and b@example.com")
    assert first.text == "[EMAIL_1], [EMAIL_2], [EMAIL_1]"
    assert second.text == "[EMAIL_3] and [EMAIL_2]"
    assert redactor.counts == {"EMAIL": 3}
    assert first.redactions[1].digest == second.redactions[1].digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4111 1111 1111 1111", "4111111111111111"),
        ("SA03 8000 0000 6080 1016 7519", "sa0380000000608010167519"),
        ("123-45-6789", "123 45 6789"),
        ("+966 50 123 4567", "00966501234567"),
        ("+44 (0)20 7946 0958", "+442079460958"),
        ("1012345672", "١٠١٢٣٤٥٦٧٢"),
        ("fe80::1", "FE80:0:0:0:0:0:0:1"),
        ("10.0.0.1", "١٠.٠.٠.١"),
    ],
)
def test_two_ways_to_write_a_value_are_one_value(one: str, other: str) -> None:
    first, second = Redactor(KEY).redact(f"{one} {other}").redactions
    assert (first.placeholder, first.digest) == (second.placeholder, second.digest)


def test_a_digest_is_keyed_and_covers_kind_and_value() -> None:
    (found,) = Redactor(KEY).redact("A@Example.com").redactions
    expected = hmac.digest(KEY, b"EMAIL\0a@example.com", "sha256").hex()
    assert found.digest == expected
    assert Redactor(KEY + b"2").redact("a@example.com").redactions[0].digest != expected
    for long in (KEY * 4, KEY * 9):
        (found,) = Redactor(long).redact("A@Example.com").redactions
        assert found.digest == hmac.digest(long, b"EMAIL\0a@example.com", "sha256").hex()


def test_no_value_is_kept_or_shown() -> None:
    redactor = Redactor(KEY)
    result = redactor.redact("mail ali@example.com, card 4111 1111 1111 1111")
    held = repr(result) + repr(redactor) + repr([getattr(redactor, n) for n in redactor.__slots__])
    for part in ("ali", "4111", KEY.decode()):
        assert part not in held


def test_what_is_redacted_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from evidentia.bundles.redaction.redactor import Redactor\n"
        "text = 'a@b.com 0501234567 4111111111111111 token=abcd12345 10.0.0.1 ' * 3\n"
        "print(Redactor(b'k' * 16, detectors={'d': lambda t: [('X', 0, 3)]}).redact(text))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1


def test_text_that_is_no_unicode_is_refused_and_not_quoted() -> None:
    with pytest.raises(InputError, match="surrogate pair at character 4") as caught:
        Redactor(KEY).redact("abc \ud800")
    assert "abc" not in str(caught.value)
    assert caught.value.__context__ is None


@given(st.text())
def test_any_text_can_be_redacted(text: str) -> None:
    check_places(Redactor(KEY).redact(text))


@pytest.mark.parametrize("key", [b"short", "a key that is no bytes", b""])
def test_a_key_that_is_too_short_is_refused(key: bytes) -> None:
    with pytest.raises(InputError, match="at least 16 bytes") as caught:
        Redactor(key)
    assert "short" not in str(caught.value)


def test_an_unknown_class_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="no class 'NAME' to redact: choose of EMAIL, PHONE"):
        Redactor(KEY, classes=["EMAIL", "NAME"])


def test_only_the_chosen_classes_are_redacted() -> None:
    text = "a@example.com 10.0.0.1"
    assert Redactor(KEY, classes=["IPV4"]).redact(text).text == "a@example.com [IPV4_1]"
    assert Redactor(KEY, classes=[]).redact(text).text == text
    assert len(BUILT_IN) == len(set(BUILT_IN)) == 12


@given(
    st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 29), st.integers(1, 10)), max_size=6)
)
def test_hits_never_overlap_and_cover_all_that_was_found(found: list[tuple[str, int, int]]) -> None:
    text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
    spans = [SensitiveSpan(kind, start, start + size) for kind, start, size in found]
    result = Redactor(KEY, detectors={"d": lambda _: spans}).redact(text)
    check_places(result)
    covered = {place for _, start, end in spans for place in range(start, end)}
    assert PLACEHOLDER.sub("", result.text) == "".join(
        sign for place, sign in enumerate(text) if place not in covered
    )


def test_the_leftmost_then_the_longest_then_the_first_is_taken() -> None:
    spans = [
        SensitiveSpan("A", 1, 3),
        SensitiveSpan("B", 0, 3),
        SensitiveSpan("C", 0, 4),
        SensitiveSpan("D", 0, 4),
        SensitiveSpan("E", 2, 6),
    ]
    result = Redactor(KEY, detectors={"d": lambda _: spans}).redact("abcdefgh")
    assert result.text == "[C_1][E_1]gh"
