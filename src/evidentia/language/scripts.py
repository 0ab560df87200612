"""Scripts: which way a field runs by its letters, and what inside it runs the other way.

Hyphens, slashes and signs have no direction of their own: inside Arabic, `1010-445-221` would be
shown as `221-445-1010`. So every stretch that runs against its field stands between isolates:

- in a field from right to left: identifiers (numbers with signs or separators in them, dates in
  digits, codes, e-mail addresses, URIs, paths), and phrases of Latin words with the numbers that
  belong to them ("ISO 27001", "15 MB");
- in a field from left to right: phrases of Arabic words, with the numbers and identifiers among
  and behind them, and with isolates of their own around what runs the other way in them.

The full stop or comma after such a stretch is its field's. Plain numbers, and Arabic-Indic ones
with their signs, are left to the bidirectional algorithm, which shows them as Arabic writes them.
Nothing but isolates is ever added.
"""

# ruff: noqa: RUF001 - the digits, dashes and quotation marks of other scripts are what is read here

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.digits import ANY_DIGIT
from evidentia.language.direction import END, LEFT_TO_RIGHT, RIGHT_TO_LEFT, Direction

_Joins = Callable[[str, Span, Span], bool]

_latin: Final = (
    r"A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02b8\u02bb-\u02c1\u0370-\u0373"
    r"\u0376-\u037d\u037f-\u03f5\u03f7-\u0482\u048a-\u058f\u1e00-\u1fbc\u2113\u2126\ufb00-\ufb06"
)
_arabic: Final = (
    r"\u05d0-\u05f4\u0608\u060b\u060d\u061b-\u064a\u066d-\u066f\u0671-\u06d5\u06e5\u06e6\u06ee\u06ef"
    r"\u06fa-\u070d\u0750-\u077f\u0860-\u088e\u08a0-\u08c9\ufb1d-\ufd3d\ufd50-\ufdc7\ufdf0-\ufdfc"
    r"\ufe70-\ufefc"
)
"""Letters that run from left to right and from right to left, as far as fonts have them."""
_arabic_digits: Final = r"\u0600-\u0605\u0660-\u0669\u066b\u066c\u06dd\u0890\u0891\u08e2"
MARKS: Final = (
    r"\u0300-\u036f\u0483-\u0489\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    r"\u06ea-\u06ed\u0897-\u089f\u08ca-\u08e1\u08e3-\u08ff\u20d0-\u20f0\U00010efd-\U00010eff"
)
_word: Final = rf"[{_latin}{ANY_DIGIT}][{_latin}{ANY_DIGIT}{MARKS}]*+"
_inside: Final = r"[-‐‑–−_.~:/?\#@!$&'’*+,;=%\\|^·×]"
_uri: Final = (
    r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|(?<![A-Za-z0-9])(?:www\.|mailto:|urn:|doi:))"
    r"""[^\s"<>«»“”،؛]+(?<![.,;:!?'’)\]}…])"""
)
_time: Final = (
    r"(?<![A-Za-z0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}[\ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
    r"(?:Z|\ ?UTC|[+-][0-9]{2}:?[0-9]{2})?(?![A-Za-z0-9])"
)
_phone: Final = r"\+[0-9]{1,3}(?:[\ -]?\(?[0-9]{1,4}\)?){2,6}(?![0-9])"
_atom: Final = rf"""(?=[-+−±\#@$€£¥§~/\\.\[{_latin}{ANY_DIGIT}])(?:
      {_uri} | {_time} | {_phone} | \[U\+[0-9A-F]{{4,6}}\]
    | (?:(?<![{_latin}{_arabic}{ANY_DIGIT}{MARKS}])[-+−±\#@$€£¥§~/\\.]{{1,4}}
        |[\#@$€£¥§]|(?<=(?<![{_latin}{_arabic}{MARKS}])[وفبلك])[-+−±~/\\]{{1,4}})?
      {_word}(?>(?:{_inside}{{1,4}}{_word})*)
      (?:[%‰°+\#_]{{1,2}}|/(?=\s|$))?)"""
_ATOM = re.compile(_atom, re.VERBOSE)
"""What stands together and runs from left to right: a number, a word, an identifier."""
_NUMBER = re.compile(
    r"[0-9]+(?:[.,:][0-9]+)*|[-+−]?[٠-٩]+(?:[.,:٫٬][٠-٩]+)*(?:–[٠-٩]+(?:[.,٫٬][٠-٩]+)*)?"
)
"""A number that the bidirectional algorithm shows rightly inside Arabic."""
_LETTER = re.compile(rf"[{_latin}]")
_UNIT = re.compile(
    r"(?:[kKMGT]i?B|[KMGT]?bps|[AQS]AR|[AE]ED|[KB][WH]D|OMR|EUR|USD|GBP|EGP|JOD|CHF|JPY|CNY|INR"
    r"|[munk]?[ms]|[ck]m|[km]?g|min|hrs?|h|days?|k?Wh?|MWh?|[ap]m|[AP]M|UTC|GMT)(?![A-Za-z0-9])"
)
"""Units, with which the number before them stands together."""
_BESIDE = re.compile(r"[\ \u00a0]?[-–/&+]?[\ \u00a0]?|\S+")
"""What stands between a word and the number that belongs to it."""
_SPACE: Final = ("", " ", "\u00a0")
_brackets: Final = r"()\[\]{}«»“”"
_LATIN_MARKS = re.compile(rf"[{_brackets}]|[{_arabic}\n،٪][^{_brackets}]*+")
"""Brackets, and what ends a phrase of Latin words, with all up to the next bracket."""
_ARABIC_WORD = re.compile(
    rf"[{_arabic}{_arabic_digits}][{_arabic}{_arabic_digits}{MARKS}\u200c\u200d٪]*+"
)
_ARABIC_MARKS = re.compile(rf"[{_brackets}]|[{_latin}\n][^{_brackets}]*+")
"""Brackets, and what ends a phrase of Arabic words."""
_BEFORE = re.compile(rf"[{_arabic}{MARKS}][\ \u00a0]$")
_AFTER = re.compile(rf"[\ \u00a0،]{{1,2}}[{_arabic}]")
"""What stands around an identifier among Arabic words."""
_TO_NUMBER = re.compile(r":?[\ \u00a0]")
_QUOTES: Final = {"“": "”", "«": "»", '"': '"'}
_FAR: Final = 400
"""How far the end of a quotation is looked for."""
_PHRASE_END = re.compile(r"[\ \u00a0]*(?:\Z|[\n.,;:!?…)\]}»”\"'’،؛؟])")
"""What stands before and behind the number or name that ends an Arabic phrase."""
_URI = re.compile(_uri, re.VERBOSE)
_NOT_ARABIC = re.compile(rf"[^{_arabic}]")
_ABBREVIATION = re.compile(
    r"\b(?:(?:Co|Corp|Inc|Ltd|Bros|Jr|Sr|[A-Z](?:\.[A-Z])+)\.(?!\.)"
    r"|(?:Nos?|St|Dr|Mrs?|Ms|Prof|vs|Art|Sec|pp?|Vol)\.(?=[^.]))"
)
"""An abbreviation and its full stop, which belong together; some of them can end a sentence."""
_LONGEST_ABBREVIATION: Final = 8
_CLOSERS: Final = {")": "(", "]": "[", "}": "{", "»": "«", "”": "“"}
_OPENERS: Final = frozenset(_CLOSERS.values())
_TELLING = re.compile(rf"(?P<arabic>[{_arabic}]) | {_atom}", re.VERBOSE)
_FIRST_LETTER = re.compile(rf"(?P<latin>[{_latin}])|[{_arabic}]")
_NAMING = re.compile(rf"[{ANY_DIGIT}@:/\\_]|^\[")


def direction(text: str, default: Direction = "ltr") -> Direction:
    """Return the way a text runs: that of its first letter which is not in an identifier.

    "INV-2026/0042 مدفوعة" runs from right to left. Without such a letter the first of any counts,
    and without any, the default.
    """
    for found in _TELLING.finditer(text):
        if found["arabic"]:
            return "rtl"
        if _LETTER.search(found[0]) and not _NAMING.search(found[0]):
            return "ltr"
    first = _FIRST_LETTER.search(text)
    if first is None:
        return default
    return "ltr" if first["latin"] else "rtl"


def with_isolates(text: str, around: Direction) -> str:
    """Return a field's text with isolates around what runs against the field's direction."""
    if around == "ltr":
        return _replaced(text, arabic_spans(text), _arabic_phrase)
    return _replaced(text, latin_spans(text), _latin_phrase)


def _arabic_phrase(phrase: str) -> str:
    return f"{RIGHT_TO_LEFT}{with_isolates(phrase, 'rtl')}{END}"


def _latin_phrase(phrase: str) -> str:
    # Arabic words and digits within a name stand one by one, in the order of the name.
    apart = _ARABIC_WORD.sub(rf"{RIGHT_TO_LEFT}\g<0>{END}", phrase)
    return f"{LEFT_TO_RIGHT}{apart}{END}"


def _replaced(text: str, spans: Iterable[Span], phrase: Callable[[str], str]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += text[done:start], phrase(text[start:end])
        done = end
    return "".join((*parts, text[done:]))


def enclosed(text: str, default: Direction = "ltr") -> str:
    """Return a text for use in a sentence of either direction: isolated as a whole, and inside."""
    way = direction(text, default)
    return f"{LEFT_TO_RIGHT if way == 'ltr' else RIGHT_TO_LEFT}{with_isolates(text, way)}{END}"


def latin_spans(text: str) -> Iterator[Span]:
    """Find what runs from left to right inside Arabic: identifiers, and phrases of Latin words."""
    atoms = [match.span() for match in _ATOM.finditer(text)]
    for run in _runs(text, atoms, _LATIN_MARKS, _joins_latin):
        if not _NUMBER.fullmatch(text, *run):
            yield run[0], _with_full_stop(text, *run)


def arabic_spans(text: str) -> Iterator[Span]:
    """Find what runs from right to left inside Latin text: phrases of Arabic words or digits."""
    if not _ARABIC_WORD.search(text):
        return iter(())
    # The words of a URI stand alone, in the order of the URI: a letter keeps them apart.
    apart = _URI.sub(lambda match: _NOT_ARABIC.sub("x", match[0]), text)
    apart = _ATOM.sub(lambda match: _joined(match, text), apart)
    atoms = [match.span() for match in _ARABIC_WORD.finditer(apart)]
    runs = _runs(apart, atoms, _ARABIC_MARKS, lambda *_: True)
    return _whole_quotes(text, runs)


def _whole_quotes(text: str, runs: Iterable[Span]) -> Iterator[Span]:
    """Give runs with the numbers behind them; one that begins a quotation is all of it."""
    done = 0
    for start, end in runs:
        if start < done:
            continue
        line = text[end : end + _FAR].partition("\n")[0]
        inside = line.find(_QUOTES.get(text[start - 1 : start], "\n"))
        done = _with_number(text, end) if inside < 0 else end + inside
        yield start, done


def _joined(atom: re.Match[str], text: str) -> str:
    """Return an atom as digits if it names something among Arabic words, so that they stay one."""
    start, end = atom.span()
    among = _BEFORE.search(text, max(0, start - 2), start) and _AFTER.match(text, end)
    named = _NAMING.search(text, start, end) and not _ARABIC_WORD.search(text, start, end)
    return "0" * (end - start) if among and named else atom[0]


def _with_number(text: str, end: int) -> int:
    """Return the end of an Arabic phrase, behind the number or name that it ends with."""
    gap = _TO_NUMBER.match(text, end)
    atom = gap and _ATOM.match(text, gap.end())
    if not atom or not _PHRASE_END.match(text, atom.end()):
        return end
    if _LETTER.search(atom[0]) and not _NAMING.search(atom[0]):
        return end
    return atom.end()


def _runs(
    text: str, atoms: Sequence[Span], marks: re.Pattern[str], joins: _Joins
) -> Iterator[Span]:
    """Join atoms to runs, as `joins` says; a run has both brackets of a pair, or none."""
    edges = (*(start for start, _ in atoms), len(text))
    gaps = [(end, edge) for (_, end), edge in zip(atoms, edges[1:], strict=True)]
    pairs = _pairs(text, gaps, marks)
    start = closing = -1
    for place, (atom, gap) in enumerate(zip(atoms, gaps, strict=True), start=1):
        if start < 0:
            start, closing = atom[0], -1
        inside = gap[1] < closing
        end, clean = atom[1], True
        for mark in (found.start() for found in marks.finditer(text, *gap)):
            partner = pairs.get(mark, -1)
            if start <= partner < mark:
                end = mark + 1
            elif partner > mark:
                closing = max(closing, partner)
            elif mark > closing:
                clean = False
                break
        following = atoms[place : place + 1]
        if inside or (clean and following and joins(text, (start, atom[1]), following[0])):
            continue
        yield start, end
        start = -1


def _pairs(text: str, gaps: Sequence[Span], marks: re.Pattern[str]) -> dict[int, int]:
    """Find the partner of each bracket, by place; what ends a run parts brackets too."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for mark in (found for gap in gaps for found in marks.finditer(text, *gap)):
        if mark[0] in _OPENERS:
            opened.append(mark.start())
        elif mark[0] not in _CLOSERS:
            opened.clear()
        elif opened and text[opened[-1]] == _CLOSERS[mark[0]]:
            partner = opened.pop()
            pairs |= {partner: mark.start(), mark.start(): partner}
    return pairs


def _joins_latin(text: str, run: Span, following: Span) -> bool:
    """Whether a phrase goes on: from word to word, to the number beside it, or to a unit."""
    between = text[run[1] : following[0]]
    if _LETTER.search(text, *run):
        return bool(_LETTER.search(text, *following) or _BESIDE.fullmatch(between))
    return between in _SPACE and bool(_UNIT.match(text, following[0]))


def _with_full_stop(text: str, start: int, end: int) -> int:
    """Return the end of a phrase, behind the full stop if it ends with an abbreviation."""
    last = _ABBREVIATION.search(text, max(start, end - _LONGEST_ABBREVIATION), end + 2)
    return end + 1 if last and last.end() == end + 1 else end
