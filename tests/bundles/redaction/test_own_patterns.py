# ruff: noqa: RUF001 - Arabic is what is tested
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.bundles.redaction.model import SensitiveSpan
from evidentia.bundles.redaction.redactor import Redactor, check_pattern
from evidentia.errors import InputError

KEY = b"a key for tests only"


def test_a_pattern_of_ones_own_is_found_in_any_script() -> None:
    redactor = Redactor(KEY, patterns={"EMPLOYEE": r"EMP-\d{4}", "FILE": r"ملف [١-٣]+"})
    found = redactor.redact("é EMP-1234, ملف ١٢٣ and a@example.com, EMP-1234")
    assert found.text == "é [EMPLOYEE_1], [FILE_1] and [EMAIL_1], [EMPLOYEE_1]"
    assert redactor.redact(found.text).redactions == ()


def test_a_pattern_finds_nothing_within_a_placeholder() -> None:
    redactor = Redactor(KEY, patterns={"WORD": r"[A-Z]+|\d"})
    found = redactor.redact("x a@example.com B 7")
    assert found.text == "x [EMAIL_1] [WORD_1] [WORD_2]"
    assert redactor.redact(found.text).text == found.text


def test_a_built_in_class_goes_before_a_pattern_with_the_same_span() -> None:
    redactor = Redactor(KEY, patterns={"MAIL": r"\S+@\S+"})
    assert redactor.redact("a@example.com x@y").text == "[EMAIL_1] [MAIL_1]"


@pytest.mark.parametrize("name", ["", "lower", "1A", "A-B", "A B", "A\n", "É"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="begin with a capital letter"):
        check_pattern(name, "a")


def test_the_name_of_a_built_in_class_is_refused() -> None:
    with pytest.raises(InputError, match="the pattern EMAIL has the name of a built-in class"):
        check_pattern("EMAIL", "a")


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", "(?=a)b", "(?<!a)b", "(", "a{2000}", r"(?:\pL{1,900}x){900}", "[", "\ud800"],
)
def test_a_pattern_that_is_not_linear_or_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"the pattern MINE cannot be used .*RE2") as caught:
        Redactor(KEY, patterns={"MINE": pattern})
    assert "\n" not in str(caught.value)


@tiers.one_test
@pytest.mark.parametrize(
    "pattern",
    ["", "a*", "a?|b", r"\b", r"\B", "^", "$", "(?m)^", "(?m)$", r"\b|x", "(?m)^$", r"\A", r"a|\z"],
)
def test_a_pattern_that_matches_nothing_at_all_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="the pattern MINE matches the empty string"):
        check_pattern("MINE", pattern)


def test_a_pattern_that_cuts_characters_is_refused() -> None:
    with pytest.raises(InputError, match=r"the pattern MINE uses \\C"):
        check_pattern("MINE", r"a\C")
    check_pattern("MINE", r"a\\C")


@given(
    st.text("ab1 é٣\n[]_", max_size=40), st.sampled_from(["a+", "é.", "(?s).b", r"\d", "[^a]b?"])
)
def test_a_pattern_of_ones_own_has_exact_places(text: str, pattern: str) -> None:
    for one in (result := Redactor(KEY, patterns={"MINE": pattern}).redact(text)).redactions:
        assert result.text[one.start : one.end] == one.placeholder


def test_a_detector_finds_in_code_points() -> None:
    def names(text: str) -> list[SensitiveSpan]:
        return [SensitiveSpan("PERSON", text.index("علي"), text.index("علي") + 3)]

    redactor = Redactor(KEY, detectors={"names": names})
    assert redactor.redact("é علي a@example.com").text == "é [PERSON_1] [EMAIL_1]"


def test_a_detector_may_find_values_of_a_built_in_class() -> None:
    found = {"mine": lambda _: [SensitiveSpan("EMAIL", 0, 3), SensitiveSpan("IPV6", 4, 5)]}
    redactor = Redactor(KEY, detectors=found)
    assert redactor.redact("A@b x").text == "[EMAIL_1] [IPV6_1]"
    assert redactor.redact("a@B y").text == "[EMAIL_1] [IPV6_2]"


@tiers.one_test
@pytest.mark.parametrize(
    "span",
    [
        ("A", 0, 99),
        ("A", -1, 2),
        ("A", 2, 2),
        ("A", 3, 2),
        ("a", 0, 1),
        (1, 0, 1),
        ("A", 0.0, 1),
        ("A", 0, True),
        ("A", "0", 1),
        ("A", 0),
        "abc",
        None,
    ],
)
def test_a_bad_span_is_refused_by_the_name_of_its_detector(span: object) -> None:
    redactor = Redactor(KEY, detectors={"mine": lambda _: [SensitiveSpan("A", 0, 1), span]})  # type: ignore[list-item]
    with pytest.raises(
        InputError, match=r"the detector 'mine' gave a bad span \(number 2\)"
    ) as caught:
        redactor.redact("confidential")
    assert "confidential" not in str(caught.value)


def test_a_detector_that_fails_is_named_and_the_text_is_not_quoted() -> None:
    def failing(text: str) -> list[SensitiveSpan]:
        raise RuntimeError(text)

    with pytest.raises(InputError, match="the detector 'mine' failed with RuntimeError") as caught:
        Redactor(KEY, detectors={"mine": failing}).redact("confidential")
    assert "confidential" not in str(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None
