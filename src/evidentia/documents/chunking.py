"""Chunks: passages of a page that begin and end where a reader would, with exact offsets.

A chunk lies on one page and under one heading. It ends at a paragraph if one ends in its second
half, else at a sentence, else between words, and never inside a character. All that is not white
space is in a chunk, but for the front matter of a page.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, Literal

from evidentia.canonical import derived_id
from evidentia.documents.hashing import FULL_LENGTH, generate_chunk_hash
from evidentia.documents.model import DocumentChunk, Heading, Page, ReadDocument
from evidentia.errors import InputError
from evidentia.language.characters import Span
from evidentia.language.graphemes import boundary_after, boundary_before
from evidentia.language.sentences import paragraph_spans, sentence_spans

Unit = Literal["code points", "bytes"]
CHUNK_SIZE: Final = 1_200
CHUNK_OVERLAP: Final = 200
_ID_DIGITS: Final = 32
_NO_BODY: Final = " \t\r\n=-"
"""What may stand between two headings in a row: space, and the lines under Markdown headings."""


def chunk_document(
    document: ReadDocument,
    document_id: str,
    *,
    chunk_size: int = CHUNK_SIZE,
    chunk_overlap: int = CHUNK_OVERLAP,
    unit: Unit = "code points",
) -> tuple[DocumentChunk, ...]:
    """Cut a document into chunks of at most `chunk_size` code points, in reading order.

    Neighbours under the same heading share at most `chunk_overlap` code points: the whole
    sentences that fit, else the words. Only a single character longer than `chunk_size` makes a
    longer chunk. The same document and sizes always give the same chunks. With `unit="bytes"`
    both sizes are of UTF-8; places are code points all the same.
    """
    if not 0 <= chunk_overlap < chunk_size:
        raise InputError(
            f"chunks of {chunk_size} {unit} cannot overlap by {chunk_overlap}: "
            "the overlap must be 0 or more and less than the size"
        )
    measure = _ByteRuler if unit == "bytes" else _Ruler
    headings: defaultdict[int, list[Heading]] = defaultdict(list)
    for heading in document.headings:
        headings[heading.page].append(heading)
    chunks: list[DocumentChunk] = []
    path: list[Heading] = []
    for page in document.pages:
        ruler = measure(page.text, chunk_size, chunk_overlap)
        for start, end, under in _sections(page, headings[page.number], path):
            for low, high in _spans(page.text, start, end, ruler):
                chunks.append(
                    _chunk((document, document_id), len(chunks), page, (low, high), under)
                )
    return tuple(chunks)


def join_chunks(
    document: ReadDocument, chunks: Sequence[DocumentChunk], *, chunk_size: int
) -> tuple[DocumentChunk, ...]:
    """Join neighbours on a page into chunks of at most `chunk_size` bytes of UTF-8.

    A joined chunk is the page's text from the first to the last, under the heading of the first.
    """
    pages = {page.number: page for page in document.pages}
    joined: list[tuple[Page, int, int, tuple[str, ...]]] = []
    for chunk in chunks:
        page = pages[chunk.page]
        if joined and joined[-1][0] is page:
            _, start, _, under = joined[-1]
            if len(page.text[start : chunk.end].encode("utf-8", "surrogatepass")) <= chunk_size:
                joined[-1] = (page, start, chunk.end, under)
                continue
        joined.append((page, chunk.start, chunk.end, chunk.heading_path))
    return tuple(
        _chunk((document, chunks[0].document_id), index, page, (start, end), under)
        for index, (page, start, end, under) in enumerate(joined)
    )


def chunk_id(document_id: str, sha256: str, place: tuple[int, int, int]) -> str:
    """Return the id of the chunk at a place, its page, start and end, of a document's bytes."""
    return derived_id("chunk", [document_id, sha256, *place], length=_ID_DIGITS)


def _chunk(
    of: tuple[ReadDocument, str], index: int, page: Page, span: Span, under: tuple[str, ...]
) -> DocumentChunk:
    (document, document_id), (start, end) = of, span
    text = page.text[start:end]
    return DocumentChunk(
        chunk_id=chunk_id(document_id, document.sha256, (page.number, start, end)),
        document_id=document_id,
        index=index,
        text=text,
        page=page.number,
        heading_path=under,
        start=start,
        end=end,
        chunk_hash=generate_chunk_hash(text, FULL_LENGTH),
        ocr=_confidence(page, start, end),
    )


def _confidence(page: Page, start: int, end: int) -> float | None:
    """Return how sure the reading of a passage is, by its characters; None if none was by OCR."""
    shares = [
        (min(end, seen.end) - max(start, seen.start), seen.confidence)
        for seen in page.seen
        if seen.start < end and start < seen.end
    ]
    count = sum(share for share, _ in shares)
    if not count:
        return None
    return round(sum(share * confidence for share, confidence in shares) / count, 2)


def _sections(
    page: Page, headings: Sequence[Heading], path: list[Heading]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Give the page's sections with their heading paths; headings in a row head one section.

    `path` holds the headings in force and goes on from page to page.
    """
    text = page.text
    start = title_end = page.start
    for heading in sorted(headings, key=lambda item: item.start):
        if text[title_end : heading.start].strip(_NO_BODY):
            cut = boundary_before(text, min(heading.start, len(text)))
            yield start, cut, tuple(item.text for item in path)
            start = cut
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        title_end = _line_end(text, heading) if heading.written else heading.start
    yield start, len(text), tuple(item.text for item in path)


def _line_end(text: str, heading: Heading) -> int:
    """Return where a heading's own text ends, be it on several lines."""
    at = heading.start
    written = sum(map(str.isalnum, heading.text))
    while at < len(text) and written > 0:
        written -= text[at].isalnum()
        at += 1
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class _Ruler:
    """How far a chunk reaches in a page's text, in code points."""

    def __init__(self, text: str, size: int, overlap: int) -> None:
        self.text, self.size, self.overlap = text, size, overlap

    def reach(self, at: int) -> int:
        """Return where a chunk that begins here ends at the latest."""
        return at + self.size

    def repeated_from(self, cut: int) -> int:
        """Return where what is repeated after a cut begins at the earliest."""
        return cut - self.overlap


class _ByteRuler(_Ruler):
    """How far a chunk reaches in a page's text, in bytes of UTF-8."""

    def __init__(self, text: str, size: int, overlap: int) -> None:
        super().__init__(text, size, overlap)
        widths = (len(character.encode("utf-8", "surrogatepass")) for character in text)
        self.offsets = None if text.isascii() else list(accumulate(widths, initial=0))

    def reach(self, at: int) -> int:
        if self.offsets is None:
            return super().reach(at)
        return bisect_right(self.offsets, self.offsets[at] + self.size) - 1

    def repeated_from(self, cut: int) -> int:
        if self.offsets is None:
            return super().repeated_from(cut)
        return bisect_left(self.offsets, self.offsets[cut] - self.overlap)


def _spans(text: str, start: int, end: int, ruler: _Ruler) -> Iterator[Span]:
    """Give where the chunks of a section begin and end."""
    at = done = _text_start(text, start, end)
    end = _text_end(text, at, end)
    if at < end and end > ruler.reach(at):
        breaks = _Breaks(text, at, end)
        while end > (limit := ruler.reach(at)):
            cut = breaks.cut(at, done, limit)
            if cut is None:  # what follows the overlap is better cut without one
                at = done
                continue
            yield at, _text_end(text, at, cut)
            done = _text_start(text, cut, end)
            least = max(at + 1, ruler.repeated_from(cut))
            at = breaks.overlap_start(at, least, cut, done) if least < cut else done
    if at < end:
        yield at, end


def _text_start(text: str, start: int, end: int) -> int:
    """Return where text begins after white space, on a character's boundary."""
    at = start
    while at < end and text[at].isspace():
        at += 1
    return max(start, boundary_before(text, at, start))


def _text_end(text: str, start: int, end: int) -> int:
    """Return where text ends before white space, on a character's boundary."""
    at = end
    while at > start and text[at - 1].isspace():
        at -= 1
    return min(end, boundary_after(text, at, start))


class _Breaks:
    """Where a section may be cut, by rank.

    Sentences are looked for in the paragraphs alone in which a cut or an overlap falls.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.paragraphs = [
            (start + low, start + high) for low, high in paragraph_spans(text[start:end])
        ]
        self.paragraph_ends = [high for _, high in self.paragraphs]
        self._known: dict[int, list[Span]] = {}

    def _sentences(self, low: int, high: int) -> list[Span]:
        """Return the sentences of the paragraphs that reach from `low` to `high`, in order."""
        found: list[Span] = []
        for place in range(bisect_left(self.paragraph_ends, low), len(self.paragraphs)):
            start, end = self.paragraphs[place]
            if start > high:
                break
            if place not in self._known:
                self._known[place] = [
                    (start + first, start + last)
                    for first, last in sentence_spans(self.text[start:end])
                ]
            found += self._known[place]
        return found

    def cut(self, at: int, done: int, limit: int) -> int | None:
        """Return the best place after `done` to end a chunk that begins at `at`.

        None if a chunk that begins at `done` can end better. The place is past the limit only if a
        single character is.
        """
        found = self._natural(at, done, limit)
        if found is not None:
            return found
        place = boundary_before(self.text, limit, at)
        if at == done:
            return place if place > done else boundary_after(self.text, max(limit, at + 1), at)
        in_a_word = not self.text[done - 1].isspace()  # text without spaces is cut as it comes
        return place if in_a_word and place > done else None

    def _natural(self, at: int, done: int, limit: int) -> int | None:
        """Return the last end of a paragraph, sentence or word after `done` and up to the limit."""
        found = self._last(self.paragraph_ends, max(done, (at + limit) // 2), at, limit)
        if found is None:
            ends = [end for _, end in self._sentences(done, limit)]
            found = self._last(ends, done, at, limit)
        if found is not None:
            return found
        for place in range(limit, done, -1):
            if self.text[place].isspace() and boundary_before(self.text, place, at) == place:
                return place
        return None

    def _last(self, ends: Sequence[int], least: int, at: int, limit: int) -> int | None:
        """Return the last of some ends after `least` and up to the limit, if it is a boundary."""
        found = bisect_right(ends, limit)
        while found and ends[found - 1] > least:
            if boundary_before(self.text, ends[found - 1], at) == ends[found - 1]:
                return ends[found - 1]
            found -= 1
        return None

    def overlap_start(self, at: int, least: int, cut: int, done: int) -> int:
        """Return where the chunk after the one at `at` begins, to repeat what is before the cut."""
        starts = [start for start, _ in self._sentences(least, cut)]
        found = bisect_left(starts, least)
        if found < len(starts) and starts[found] < cut:
            return boundary_after(self.text, starts[found], at)
        for place in range(least, cut):
            if self.text[place - 1].isspace() and not self.text[place].isspace():
                return boundary_after(self.text, place, at)
        return done if cut < done else min(cut, boundary_after(self.text, least, at))
