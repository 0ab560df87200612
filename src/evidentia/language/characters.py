"""Characters: which of them a reader sees, and where text may be cut between them.

What a reader sees as one character is a Unicode grapheme cluster; a cut falls between two. What a
reader cannot see and a model can is taken out by `strip_invisible`. Its tables are fixed, so that a
text comes out alike under every version of Unicode. Taken out are:

- control characters; the line breaks among them, and U+2028 and U+2029, become line feeds;
- what is drawn as nothing: zero-width and word-joining characters, soft hyphens, fillers, tags
  (with them the flags of England, Scotland and Wales, which turn black), and variation selectors;
- marks, embeddings, overrides and isolates of direction: letters know their own;
- lone surrogates and noncharacters.

Zero-width joiners and non-joiners stay between two characters of a script that needs them, and
after a virama; joiners also between two emoji. U+FE0E and U+FE0F stay after an emoji. There is one
of each at most, so that no message fits in between. Private use stays: it is drawn, as a glyph or
as a box, and many PDFs have their bullets there. So do spaces of every width.
"""

import re
from collections import Counter
from typing import Final

from evidentia.language.digits import DIGITS_TO_WESTERN, WESTERN

Span = tuple[int, int]
"""A stretch of a text: where it begins, and where what is behind it begins, in code points."""

DENSE: Final = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Thai, Lao, kana and Han, which have no spaces between words, for a class of a pattern."""
ARABIC_LETTERS: Final = r"\u0620-\u06d3"
ARABIC_VOWELS: Final = r"\u064b-\u0652\u0670"
"""The vowel marks of Arabic, which may be left out."""
TATWEEL: Final = r"\u0640"
"""What stretches an Arabic word and says nothing."""
LOOK_ALIKES: Final = {
    **DIGITS_TO_WESTERN,
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x00A0, 0x2007, 0x2008, 0x2009, 0x200A, 0x202F, 0x3000), ord(" ")),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), ord("-")),
}
"""Digits, full-width characters, and typesetters' spaces and hyphens, each with its ASCII."""

_BREAKS: Final = "\x0b\x0c\x85\u2028\u2029"
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(map(chr, (plane << 16 | last for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))))
    + "]"
)
_CONDITIONAL: Final = "\u200c\u200d\ufe0e\ufe0f"
_RUN = re.compile(f"[{_CONDITIONAL}]+")
_JOINER, _NON_JOINER = "\u200d", "\u200c"
_JOINED = re.compile(
    "["
    "\u0600-\u08ff"  # Arabic, Syriac, Thaana, N'Ko, Samaritan, Mandaic
    "\u0900-\u0dff"  # Devanagari to Sinhala
    "\u1000-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff"  # Myanmar, Khmer, Mongolian, Balinese …
    "\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9ff\uaa60-\uaa7f\uabc0-\uabff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010d00-\U00010d3f\U00011000-\U000119ff\U0001e900-\U0001e95f"
    "]"
)
_VIRAMAS: Final = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_KEYS: Final = frozenset(f"{WESTERN}#*")
_KEYCAP: Final = "\u20e3"


def strip_invisible(text: str) -> tuple[str, dict[str, int]]:
    r"""Return the text without them, and how often each was taken out, by its code point.

    `\r\n` and `\r` become `\n` too; those are ordinary line ends, and not counted.

    >>> strip_invisible("pay\u202e 10\u200b0")
    ('pay 100', {'U+200B': 1, 'U+202E': 1})
    """
    used = "".join(set(text))
    if "\r" in used:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    counts: Counter[str] = Counter()
    if _HIDDEN.search(used):
        counts.update(_HIDDEN.findall(text))
        text = text.translate({ord(each): "\n" if each in _BREAKS else None for each in counts})
    if _RUN.search(used):
        stripped = _RUN.sub(_needed, text)
        counts.update({each: text.count(each) - stripped.count(each) for each in _CONDITIONAL})
        text = stripped
    named = ((f"U+{ord(each):04X}", count) for each, count in counts.items() if count)
    return text, dict(sorted(named))


def _needed(run: re.Match[str]) -> str:
    """Return what of joiners and selectors in a row is needed where they stand."""
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    joiner = next((each for each in run[0] if each in {_JOINER, _NON_JOINER}), "")
    return _selector(run[0][0], before, after) + _joiner(joiner, before, after)


def _selector(first: str, before: str, after: str) -> str:
    wanted = _EMOJI.match(before) or (before in _KEYS and after == _KEYCAP)
    return first if wanted and first not in {_JOINER, _NON_JOINER} else ""


def _joiner(joiner: str, before: str, after: str) -> str:
    shapes = before in _VIRAMAS or (_JOINED.match(before) and _JOINED.match(after))
    sequence = joiner == _JOINER and _EMOJI.match(before) and _EMOJI.match(after)
    return joiner if shapes or sequence else ""
