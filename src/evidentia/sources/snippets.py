"""Snippets: the beginning of a text, or the window of it that answers a query best.

A cut falls between what a reader sees as characters. A window consists of whole sentences where
they fit, with its white space collapsed, and says where the query's words stand in it.
"""

import re
from dataclasses import dataclass
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.graphemes import boundary_before
from evidentia.language.lexicon import ARABIC_QUERY_WORDS, QUERY_WORDS
from evidentia.language.sentences import sentence_spans
from evidentia.language.tokens import tokenize

_LONGEST_QUERY: Final = 2_000
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:[.,'\u2019][^\W_]+)*%?")
_FRAMING: Final = 0.3
"""Which part of a window may stand before its first match, where a sentence must be cut."""
_COMMON: Final = QUERY_WORDS | ARABIC_QUERY_WORDS
"""Words of a query that tell nothing of what is asked for."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text: from `start` to `end` of it, as it is shown, and where matches stand."""

    start: int
    end: int
    shown: str
    matches: tuple[Span, ...] = ()


def beginning(text: str, limit: int) -> Window:
    """Return the beginning of a text, as it is, cut to `limit` code points."""
    start = len(text) - len(text.lstrip())
    end = boundary_before(text, min(len(text), start + limit), start)
    shown = text[start:end].rstrip()
    return Window(start, start + len(shown), shown)


def query_terms(query: str) -> frozenset[str]:
    """Return the terms of a query that tell something; all of them if none does."""
    terms = frozenset(tokenize(query[:_LONGEST_QUERY]))
    return terms - _COMMON or terms


def best_windows(text: str, terms: frozenset[str], limit: int, count: int) -> list[Window]:
    """Return up to `count` windows that answer a query best, none of them overlapping.

    The best comes first. If no term is in the text, its beginning is the only one.
    """
    free = [
        _Sentence(span, frozenset(tokenize(text[slice(*span)])) & terms)
        for span in sentence_spans(text)
    ]
    windows: list[Window] = []
    while len(windows) < count:
        best = _best_run(text, free, limit)
        if best is None:
            break
        best = _grown(text, free, best, limit)
        windows.append(_shown(text, best, terms, limit))
        free = [item for item in free if item.span[1] <= best[0] or best[1] <= item.span[0]]
    return windows or [_shown(text, (0, len(text)), terms, limit)]


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    found: frozenset[str]


def _best_run(text: str, sentences: list[_Sentence], limit: int) -> Span | None:
    """Return the run of sentences that fits with the most terms; of equal ones the shortest."""
    best: tuple[int, int, int] | None = None
    chosen: Span | None = None
    for first, opening in enumerate(sentences):
        if not opening.found:
            continue
        found: frozenset[str] = frozenset()
        for last in range(first, len(sentences)):
            span = opening.span[0], sentences[last].span[1]
            if last > first and (
                _length(text, span) > limit or _gap(text, sentences[last - 1], sentences[last])
            ):
                break
            found |= sentences[last].found
            rank = (len(found), first - last, -opening.span[0])
            if best is None or rank > best:
                best, chosen = rank, span
    return chosen


def _grown(text: str, sentences: list[_Sentence], run: Span, limit: int) -> Span:
    """Return the run with the sentences after and before it that still fit: a reader's context."""
    start, end = run
    for after in (item.span for item in sentences if item.span[0] >= run[1]):
        if text[end : after[0]].strip() or _length(text, (start, after[1])) > limit:
            break
        end = after[1]
    for before in (item.span for item in reversed(sentences) if item.span[1] <= run[0]):
        if text[before[1] : start].strip() or _length(text, (before[0], end)) > limit:
            break
        start = before[0]
    return start, end


def _gap(text: str, before: _Sentence, after: _Sentence) -> bool:
    """Whether something stands between two sentences that is in neither."""
    return bool(text[before.span[1] : after.span[0]].strip())


def _length(text: str, span: Span) -> int:
    return len(_SPACES.sub(" ", text[span[0] : span[1]]).strip())


def _shown(text: str, span: Span, terms: frozenset[str], limit: int) -> Window:
    """Return a span as it is shown: white space collapsed, cut around its matches if too long."""
    shown, places = _collapsed(text, span)
    matches = _matches(shown, terms)
    start, end = 0, len(shown)
    if end > limit:
        start, end = _cut(shown, matches, limit)
    while start < end and shown[start] == " ":
        start += 1
    while end > start and shown[end - 1] == " ":
        end -= 1
    if start == end:
        return Window(span[0], span[0], "")
    inside = tuple(
        (low - start, high - start) for low, high in matches if start <= low and high <= end
    )
    return Window(places[start], places[end - 1] + 1, shown[start:end], inside)


def _collapsed(text: str, span: Span) -> tuple[str, list[int]]:
    """Return a span with each run of white space as one space, and where each character stood."""
    characters: list[str] = []
    places: list[int] = []
    for at in range(*span):
        character = text[at]
        if character.isspace():
            if not characters or characters[-1] == " ":
                continue
            character = " "
        characters.append(character)
        places.append(at)
    return "".join(characters), places


def _matches(shown: str, terms: frozenset[str]) -> list[Span]:
    found: list[Span] = []
    for word in _WORD.finditer(shown):
        own = tokenize(word[0])
        if len(own) > 1 and not word[0].isascii():
            found += _parts(word, terms)
        elif not terms.isdisjoint(own):
            found.append(word.span())
    return found


def _parts(word: re.Match[str], terms: frozenset[str]) -> list[Span]:
    """Return where terms stand in a run of a script that is written without spaces."""
    start, text = word.start(), word[0]
    spans: list[Span] = []
    for at in range(len(text) - 1):
        if text[at : at + 2] in terms:
            low, high = start + at, start + at + 2
            if spans and low < spans[-1][1]:
                spans[-1] = spans[-1][0], high
            else:
                spans.append((low, high))
    return spans


def _cut(shown: str, matches: list[Span], limit: int) -> Span:
    """Return where to cut a text that is too long: around the most matches, between words."""
    first = max(
        (low for low, _ in matches),
        key=lambda low: (sum(low <= other[0] < low + limit for other in matches), -low),
        default=0,
    )
    start = max(0, min(first - int(limit * _FRAMING), len(shown) - limit))
    if start:
        space = shown.find(" ", start, first)
        start = space + 1 if space >= 0 else first
    start = boundary_before(shown, start)
    end = min(len(shown), start + limit)
    if end < len(shown):
        space = shown.rfind(" ", start + 1, end + 1)
        end = space if space > first else boundary_before(shown, end, start)
    return start, end
