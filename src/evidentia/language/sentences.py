"""Sentences with exact offsets, for any text: rules over punctuation and lines, no model.

A sentence never crosses a blank line, a list item, a heading, a table row or a code fence. A full
stop ends one unless it belongs to an abbreviation, an initial, a number, an ellipsis or a list
number, or the text goes on in lower case. Arabic, Urdu, Devanagari and CJK marks are known.
"""

# ruff: noqa: RUF001 - the marks of other scripts are what these rules are about

import re
from collections.abc import Iterator
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.lexicon import DAYS, SHORT_MONTHS, word_set

_BLANK = re.compile(r"\n[^\S\n]*(?:\r?\n[^\S\n]*)+|[\x0c\x1c-\x1e\u2029]")
"""What parts blocks: blank lines, form feeds and other separators."""

_MARKER: Final = (
    r"(?:[-*+•‣◦▪●○–—·][^\S\n]|(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)][^\S\n]"
    r"|\((?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})\)[^\S\n]|\d{1,3}(?:\.\d{1,3}){1,4}\.?[^\S\n])"
)
"""A bullet or a list number: `-`, `1.`, `a)`, `(iv)`, `4.2`."""
LIST_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪]|\d{1,3}[.)]|\(?[a-z]\))\s+")
"""How an item of a list surely begins."""
_LINE_START = re.compile(rf"[^\S\n]*(?:{_MARKER}|#{{1,6}}[^\S\n]|>|\||```|~~~|\[\^?\w+\]:?[^\S\n])")
"""How a line begins that stands for itself."""
_LINE_WHOLE = re.compile(r"[^\S\n]*(?:\|[^\n]*|```[^\n]*|~~~[^\n]*|[=\-*_]{3,}[^\S\n]*)")
"""A line that is a sentence by itself: a table row, a fence, a rule."""
_HEADING = re.compile(r"[^\S\n]*#{1,6}[^\S\n]")
"""How a Markdown heading begins; where lines were lost, its text goes on on the same one."""
_CELLS: Final = " | "
_LEADING_MARKER = re.compile(rf"[^\S\n]*(?:(?:>|#{{1,6}})[^\S\n]*)*{_MARKER}")
_NUMBERED: Final = re.compile(
    r"[^\S\n]*(?:section|article|clause|chapter|part|annex|appendix|table|figure|§|المادة|البند)?"
    r"[^\S\n]*\(?\d{1,3}(?:\.\d{1,3}){0,4}\)?",
    re.IGNORECASE,
)
"""What stands before the full stop of a numbered heading: `Article 4.2.`"""

_CLOSERS: Final = "\"'”’»›)\\]）」』】〉》"
_CITATION: Final = (
    r"(?:[^\S\n]?\[(?:\d{1,3}(?:\s?[,–-]\s?\d{1,3})*|cite:[^\]\s]{1,80}|\^[^\]\s]{1,40})\])*"
)
_END = re.compile(
    rf"(?:(?P<wide>[。！？｡]+)|[.…]*+[!?؟۔।॥‼⁇-⁉][.!?…؟]*|\.(?>(?:[^\S\n]?\.)+)|…+|(?P<stop>\.))"
    rf"[{_CLOSERS}*_]*[⁰¹²³⁴-⁹]*{_CITATION}"
)
_AFTER = re.compile(r"\s*[\"'“‘«‹(\[（「『【¿¡*_]*")
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«/—–]+\Z")
_WORD_AFTER = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LOOK_BACK: Final = 24

_TITLES: Final = word_set(
    "Mr Mrs Ms Mx Dr Prof St Mt Gen Col Maj Capt Lt Sgt Sen Rep Rev Hon Pres Gov Amb Messrs Mme "
    "Mlle Sra Srta Dott Hr Fr"
)
_NEVER_END: Final = word_set(
    "vs cf viz approx ca incl excl resp e.g i.e z.b d.h u.a bzw vgl ggf ziff bspw sog p.ex"
)
_BEFORE_NUMBERS: Final = word_set(
    "no nos nr n° fig figs eq eqs ref refs art arts sec secs ch chap para paras vol p pp abs"
)
_MAY_END: Final = word_set(
    "inc ltd co corp llc plc bros dept est ave blvd rd jr sr etc al ext tel dist univ assn usw "
    "ph.d gmbh s.a s.p.a b.v الخ"
)
_DATES: Final = frozenset(name.capitalize() for name in (*SHORT_MONTHS, *(day[:3] for day in DAYS)))
_STARTERS: Final = word_set(
    "the this that these those a an it its he she they we you i in on at if when while where "
    "however there here what who why how but and so for from with as after before all any each "
    "no not our their his her did do does is are was were can will would should der "
    "die das ein eine es wir sie le la les il elle un une el los las"
)
_GERMAN_MONTHS: Final = word_set(
    "januar februar märz april mai juni juli august september oktober november dezember"
)
_SHORT_LINE: Final = 0.5
"""A line at most this part of its block's longest that stops without a mark was meant to stop."""
_MIN_LONGEST: Final = 40


def sentence_spans(text: str) -> list[Span]:
    """Return where each sentence begins and ends, in order, without the space around it.

    Spans do not overlap, and all that is not white space is in one of them.
    """
    spans: list[Span] = []
    for start, end in _blocks(text):
        spans += [(start, end)] if _is_whole(text[start:end]) else _sentences(text, start, end)
    return spans


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> split_sentences("Dr. Amal earns 3.5% more. Is that so? Yes.")
    ['Dr. Amal earns 3.5% more.', 'Is that so?', 'Yes.']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def paragraph_spans(text: str) -> list[Span]:
    """Return where each paragraph begins and ends: what blank lines part, without the space."""
    spans: list[Span] = []
    at = 0
    for gap in _BLANK.finditer(text):
        spans += _trimmed(text, at, gap.start())
        at = gap.end()
    spans += _trimmed(text, at, len(text))
    return spans


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    """Return the span without the space around it, or nothing if there is only space."""
    piece = text[start:end]
    begin = len(piece) - len(piece.lstrip())
    return [(start + begin, start + len(piece.rstrip()))] if begin < len(piece) else []


def _blocks(text: str) -> Iterator[Span]:
    """Give runs of lines that read on from one to the next."""
    for start, end in paragraph_spans(text):
        if text.find("\n", start, end) < 0:
            yield start, end
            continue
        at = start
        for cut in _line_cuts(text, start, end):
            yield from _trimmed(text, at, cut)
            at = cut
        yield from _trimmed(text, at, end)


def _line_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Give the line starts within a paragraph before which a sentence must end."""
    lines = text[start:end].split("\n")
    longest = max(map(len, lines))
    short = longest * _SHORT_LINE if longest >= _MIN_LONGEST else 0
    at = start
    alone = False
    for number, line in enumerate(lines):
        begins_anew = _LINE_START.match(line) is not None
        whole = _is_whole(line)
        before = lines[number - 1]
        stopped = len(before) <= short and _stops(before, line)
        if number and (alone or begins_anew or whole or stopped):
            yield at
        alone = whole or _HEADING.match(line) is not None
        at += len(line) + 1


def _is_whole(line: str) -> bool:
    """Whether a line is a sentence by itself, whatever marks are in it."""
    return "\n" not in line and (_CELLS in line or _LINE_WHOLE.fullmatch(line) is not None)


def _stops(line: str, following: str) -> bool:
    """Whether a short line looks meant to stop: no comma at its end, a capital on the next."""
    last = line.rstrip()[-1:]
    first = following.lstrip()[:1]
    return last not in ",;-–—،؛&/(" and not first.islower() and first not in ",;.)"


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """Give the sentences of one block."""
    marker = _LEADING_MARKER.match(text, start, end)
    begin = start
    for found in _END.finditer(text, marker.end() if marker else start, end):
        if found.end() >= end:
            break
        if _ends(text, start, end, found):
            yield begin, found.end()
            begin = found.end()
            while text[begin].isspace():
                begin += 1
    yield begin, end


def _ends(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    """Decide whether a mark ends its sentence; something follows it in the block."""
    if found["wide"]:
        return True
    if not text[found.end()].isspace():
        return False
    after = _AFTER.match(text, found.end(), end)
    at = after.end() if after else end
    following = text[at : at + 1]
    if following.islower():
        return False
    if not found["stop"]:
        return True
    return not _stop_belongs_to_word(text, start, found.start(), text[at : at + _LOOK_BACK])


def _stop_belongs_to_word(text: str, start: int, stop: int, following: str) -> bool:
    """Whether a full stop is part of the word before it, and the sentence goes on."""
    if stop - start <= _LOOK_BACK and _NUMBERED.fullmatch(text, start, stop):
        return True
    before = _WORD_BEFORE.search(text, max(start, stop - _LOOK_BACK), stop)
    word = before[0] if before else ""
    lower = word.lower()
    next_word = _WORD_AFTER.match(following)
    starter = next_word[0].lower() if next_word else ""
    if lower in _BEFORE_NUMBERS:
        return following[:1].isdigit()
    if word in _TITLES or lower in _NEVER_END:
        return True
    if word.isdigit():
        return starter in _GERMAN_MONTHS
    may_end = word in _DATES or lower in _MAY_END or (len(word) == 1 and word.isalpha())
    return (may_end or _DOTTED.fullmatch(word) is not None) and starter not in _STARTERS
