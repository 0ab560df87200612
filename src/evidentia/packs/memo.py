"""The memo of a pack in Arabic and in English, how its words are counted, and what it refers to.

What counts as a word:

- Text is parted at white space, at dashes as long as an em dash, `--`, ellipses, and at a comma or
  semicolon with no space and no digit beside it. A part with a letter or a digit in it is a word.
- So `0.84` is one word, `[1]` is one, `(Tier A)` are two; a dash or a bullet by itself is none.
- What is joined by a hyphen, an en dash or a slash is one word, as word processors count it:
  `well-known`, `2025/2026`, `and/or`, an address.
- Arabic particles that are written together with a word (و، ف، ب، ل) are part of it. Tatweel and
  diacritics make no word.
- Marks that a reader cannot see, U+200B among them, neither make nor part words.
"""

# ruff: noqa: RUF001 - the marks and digits of both scripts are what is read here

import re
from typing import Annotated, Final

from pydantic import AfterValidator, ValidationError, ValidationInfo

from evidentia.frozen import FrozenModel
from evidentia.language.characters import strip_invisible
from evidentia.language.digits import ANY_DIGIT
from evidentia.packs.fields import is_recorded

MAX_SUMMARY_WORDS: Final = 120
MAX_BODY_WORDS: Final = 600
TOP_ITEMS: Final = 3
"""How many of the evidence items, from the first, a memo must refer to in both languages."""

_SEEN = re.compile(r"[0-9A-Za-zء-غف-ي]")
_MARK = re.compile(r"[—―⸺⸻…⠀.,;،؛-]")
_BREAK = re.compile(r"[—―⸺⸻…⠀]|-{2,}|\.{2,}|(?<=[^\s\d])[,;،؛](?=[^\s\d])")
_WORD = re.compile(r"(?<!\S)(?>(?:(?![^\W_ـ])\S)*)[^\W_ـ]\S*+")
"""A part with a letter or a digit in it; none is looked for but from the beginning of a part."""
_ARABIC_LETTER = re.compile(r"[ء-غف-ي]")
_LATIN_LETTER = re.compile(r"[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER: Final = rf"[{ANY_DIGIT}]{{1,4}}"
_NUMBERS: Final = rf"{_NUMBER}(?:\s*[-‐‑–—−]\s*{_NUMBER})?"
_REFERENCE = re.compile(rf"\[\s*({_NUMBERS}(?:\s*[,،;؛]\s*{_NUMBERS})*)\s*\]")
_FROM_TO = re.compile(rf"({_NUMBER})(?:\s*[-‐‑–—−]\s*({_NUMBER}))?")


def word_count(text: str) -> int:
    """Return how many words a text has; the rules are those of the module.

    >>> word_count("Company matches our ICP at 0.84 (Tier A)...")
    8
    """
    return len(_WORD.findall(_parted(strip_invisible(text)[0])))


def first_words(text: str, limit: int) -> str:
    """Return the text up to its last allowed word, without the marks that a reader cannot see."""
    seen = strip_invisible(text)[0]
    spans = _word_spans(seen)
    if len(spans) <= limit:
        return seen
    return seen[: spans[limit - 1][1]] if limit > 0 else ""


def inline_references(text: str) -> tuple[int, ...]:
    """Return the numbers of the evidence items that a text refers to, each once, in its order.

    They are written `[1]`, `[1, 3]` or `[1-3]`, in the digits of either language, with up to four.
    """
    found: dict[int, None] = {}
    for reference in _REFERENCE.findall(strip_invisible(text)[0]):
        for start, end in _FROM_TO.findall(reference):
            low, high = sorted((int(start), int(end or start)))
            found.update(dict.fromkeys(range(low, high + 1)))
    return tuple(found)


def _there(text: str, info: ValidationInfo) -> str:
    if _SEEN.search(text):
        return text
    seen = text if is_recorded(info) else strip_invisible(text)[0]
    if not seen.strip():
        raise ValueError("must not be blank: a memo has both languages")
    return text


def _at_most(limit: int) -> AfterValidator:
    """Return what refuses a longer text, unless it was recorded: words may be counted anew."""

    def check(text: str, info: ValidationInfo) -> str:
        if is_recorded(info) or _most_words(text) <= limit:
            return text
        if (count := word_count(text)) > limit:
            raise ValueError(f"has {count} words, and {limit} at most are allowed: shorten it")
        return text

    return AfterValidator(check)


Title = Annotated[str, AfterValidator(_there)]
Summary = Annotated[Title, _at_most(MAX_SUMMARY_WORDS)]
Body = Annotated[Title, _at_most(MAX_BODY_WORDS)]


class BilingualMemo(FrozenModel):
    """What a person reads of a decision, in Arabic and in English, within its limits of words."""

    title_ar: Title
    title_en: Title
    body_ar: Body
    body_en: Body
    executive_summary_ar: Summary
    executive_summary_en: Summary


def unmet_limits(memo: BilingualMemo) -> list[str]:
    """Say which texts of a memo would not be taken if it were made now: blank, or too long."""
    try:
        BilingualMemo.model_validate(memo.model_dump())
    except ValidationError as error:
        return [
            f"{found['loc'][0]}: {found['msg'].removeprefix('Value error, ')}"
            for found in error.errors()
        ]
    return []


def unmet_references(memo: BilingualMemo, evidence_count: int) -> list[str]:
    """Say which of the top items a language does not refer to, and what it refers to in vain."""
    return [
        *_unmet("Arabic", "ar", f"{memo.executive_summary_ar}\n{memo.body_ar}", evidence_count),
        *_unmet("English", "en", f"{memo.executive_summary_en}\n{memo.body_en}", evidence_count),
    ]


def unmet_languages(memo: BilingualMemo) -> list[str]:
    """Say which texts of a memo have letters, and none of the language they are meant to be in."""
    texts = memo.model_dump()
    return [
        f"{name}: there is no {language} in it"
        for name, text in texts.items()
        for language, letter in (("Arabic", _ARABIC_LETTER), ("English", _LATIN_LETTER))
        if name.endswith(language[:2].lower()) and _LETTER.search(text) and not letter.search(text)
    ]


def _unmet(language: str, suffix: str, text: str, evidence_count: int) -> list[str]:
    referred = inline_references(text)
    missing = [
        f"{language}: evidence item {number} is not referred to: write [{number}] in "
        f"executive_summary_{suffix} or body_{suffix}"
        for number in range(1, min(evidence_count, TOP_ITEMS) + 1)
        if number not in referred
    ]
    beyond = [
        f"{language}: [{number}] refers to no evidence item: there are {evidence_count}"
        for number in referred
        if not 1 <= number <= evidence_count
    ]
    return missing + beyond


def _word_spans(seen: str) -> list[tuple[int, int]]:
    """Return where the words of a text without invisible marks stand."""
    return [word.span() for word in _WORD.finditer(_parted(seen))]


def _most_words(text: str) -> int:
    """Return a count that the words of a text do not exceed, in a tenth of the time of counting."""
    return len(text.split()) + len(_MARK.findall(text))


def _parted(seen: str) -> str:
    return _BREAK.sub(lambda found: " " * len(found[0]), seen)
