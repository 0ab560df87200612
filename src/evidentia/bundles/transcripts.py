"""Transcripts: who said what and when, as text with a line for each segment, and as chunks of it.

A chunk ends between segments where it can, else between sentences, else between words, and never
inside a character. Sizes are bytes of UTF-8, offsets are code points of the transcript's text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evidentia.bundles.texts import problem
from evidentia.bundles.transcript_formats import read_spoken
from evidentia.errors import InputError
from evidentia.language.characters import Span
from evidentia.language.graphemes import boundary_after, boundary_before
from evidentia.language.sentences import sentence_spans


@dataclass(frozen=True, slots=True)
class Segment:
    """What one speaker said in one go; times read `HH:MM:SS.mmm`, what is not known is None."""

    index: int
    speaker: str | None
    start: str | None
    end: str | None
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """A passage of a transcript's text, from `start_offset` to `end_offset` of it.

    `first_segment` and `last_segment` are the indexes of the segments that it touches; `speakers`
    are theirs in order, `start` the earliest of their times and `end` the latest.
    """

    index: int
    text: str
    start_offset: int
    end_offset: int
    first_segment: int
    last_segment: int
    speakers: tuple[str, ...]
    start: str | None
    end: str | None


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut: a sentence, or a piece of one that is too long. Bytes count the text's."""

    segment: int
    start: int
    end: int
    start_byte: int
    end_byte: int
    is_sentence: bool


def read_transcript(data: bytes, name: str) -> tuple[Segment, ...]:
    """Read a transcript: JSON, lines of JSON, WebVTT, SRT, or plain text with or without names.

    Raises `InputError`, which names the file and says what to do, for whatever cannot be read.
    """
    segments = tuple(
        Segment(index, *spoken) for index, spoken in enumerate(read_spoken(data, name))
    )
    if not segments:
        raise problem(name, "an empty transcript: nothing is said in it")
    return segments


def transcript_text(segments: Sequence[Segment]) -> str:
    """Return a transcript as text, a line for each segment, with what is known of it.

    Times stand in brackets with a dash between them, then the speaker and a colon. Line breaks
    within a segment become spaces.
    """
    return "\n".join(map(_line, segments))


def chunk_transcript(
    segments: Sequence[Segment], *, chunk_size: int, chunk_overlap: int
) -> tuple[TranscriptChunk, ...]:
    """Cut a transcript into chunks of at most `chunk_size` bytes, in order.

    Neighbours share at most `chunk_overlap` bytes, of whole segments, else of whole sentences.
    Only a single character of more bytes than `chunk_size` makes a larger chunk.
    """
    if not 0 <= chunk_overlap < chunk_size:
        raise InputError(
            f"chunks of {chunk_size} bytes cannot overlap by {chunk_overlap}: "
            "the overlap must be 0 or more and less than the size"
        )
    text = transcript_text(segments)
    try:
        units = list(_units(segments, chunk_size))
    except UnicodeEncodeError:
        raise InputError("a segment has half of a character (a lone surrogate)") from None
    return tuple(
        _chunk(index, text, segments, units[first:end])
        for index, (first, end) in enumerate(_packed(units, chunk_size, chunk_overlap))
    )


def _line(segment: Segment) -> str:
    """Return a segment on one line, with what is known of it."""
    times = "\u2013".join(
        [segment.start or "", segment.end] if segment.end else [segment.start or ""]
    )
    known = [f"[{times}]"] if times else []
    known += [f"{segment.speaker}:"] if segment.speaker else []
    parts = (part.strip() for each in [*known, segment.text] for part in each.splitlines())
    return " ".join(part for part in parts if part)


def _chunk(
    index: int, text: str, segments: Sequence[Segment], units: Sequence[_Unit]
) -> TranscriptChunk:
    start, end = units[0].start, units[-1].end
    touched = segments[units[0].segment : units[-1].segment + 1]
    return TranscriptChunk(
        index=index,
        text=text[start:end],
        start_offset=start,
        end_offset=end,
        first_segment=touched[0].index,
        last_segment=touched[-1].index,
        speakers=tuple(dict.fromkeys(each.speaker for each in touched if each.speaker)),
        start=min((each.start for each in touched if each.start), key=_in_time, default=None),
        end=max((each.end for each in touched if each.end), key=_in_time, default=None),
    )


def _in_time(time: str) -> tuple[int, str]:
    """Return what to sort times by: hours may have more than two digits."""
    return len(time), time


def _units(segments: Sequence[Segment], size: int) -> Iterator[_Unit]:
    """Give what the transcript's text consists of, but for white space."""
    at = at_byte = 0
    for number, segment in enumerate(segments):
        line = _line(segment)
        done = done_byte = 0
        for start, end, is_sentence in _line_parts(line, size):
            start_byte = done_byte + len(line[done:start].encode())
            end_byte = start_byte + len(line[start:end].encode())
            yield _Unit(
                number, at + start, at + end, at_byte + start_byte, at_byte + end_byte, is_sentence
            )
            done, done_byte = end, end_byte
        at += len(line) + 1
        at_byte += done_byte + len(line[done:].encode()) + 1


def _line_parts(line: str, size: int) -> Iterator[tuple[int, int, bool]]:
    """Give the sentences of a line, and the pieces of those that are larger than the size."""
    for start, end in _whole_sentences(line):
        if len(line[start:end].encode()) <= size:
            yield start, end, True
        else:
            for low, high in _pieces(line, start, end, size):
                yield low, high, False


def _whole_sentences(line: str) -> Iterator[Span]:
    """Give a line's sentences; two are one if a character reaches from one into the other."""
    spans = sentence_spans(line)
    begin = 0
    for (_, end), (start, _) in pairwise(spans):
        if boundary_before(line, end, begin) == end and boundary_before(line, start, end) == start:
            yield begin, end
            begin = start
    if spans:
        yield begin, spans[-1][1]


def _pieces(line: str, start: int, end: int, size: int) -> Iterator[Span]:
    """Give a sentence in pieces of at most the size: of whole words where one fits."""
    at = start
    while len(line[at : min(end, at + size + 1)].encode()) > size:
        fits = line[at : at + size].encode()[:size].decode(errors="ignore")
        cut = _last_space(line, at, at + len(fits))
        if cut is None:
            cut = boundary_before(line, at + len(fits), at)
        if cut <= at:
            cut = boundary_after(line, at + 1, at)
        yield at, _text_end(line, at, cut)
        at = _text_start(line, cut, end)
    if at < end:
        yield at, end


def _last_space(line: str, at: int, limit: int) -> int | None:
    """Return the last white space up to the limit at which a character ends, if there is one."""
    for place in range(limit, at, -1):
        if line[place].isspace() and boundary_before(line, place, at) == place:
            return place
    return None


def _text_start(line: str, start: int, end: int) -> int:
    """Return where text begins after white space, on a character's boundary."""
    at = start
    while at < end and line[at].isspace():
        at += 1
    return boundary_before(line, at, start)


def _text_end(line: str, start: int, end: int) -> int:
    """Return where text ends before white space, on a character's boundary."""
    at = end
    while line[at - 1].isspace():
        at -= 1
    return boundary_after(line, at, start)


def _packed(units: Sequence[_Unit], size: int, overlap: int) -> Iterator[Span]:
    """Give which units make up each chunk, from the first up to before the end."""
    first = new = 0
    while new < len(units):
        end = new + 1
        while end < len(units) and units[end].end_byte - units[first].start_byte <= size:
            end += 1
        end = _segment_start(units, new, end)
        yield first, end
        first, new = _overlap_start(units, first, end, size, overlap), end


def _segment_start(units: Sequence[_Unit], new: int, end: int) -> int:
    """Return the last end of a segment after the unit that is new, up to the end; else the end."""
    if end == len(units):
        return end
    for place in range(end, new, -1):
        if units[place - 1].segment != units[place].segment:
            return place
    return end


def _overlap_start(units: Sequence[_Unit], first: int, end: int, size: int, overlap: int) -> int:
    """Return the unit that the next chunk begins with, to repeat what is before the end.

    It repeats no more than lets the next segment fit in whole, if that fits in a chunk at all.
    """
    if end == len(units):
        return end
    fits = units[end]
    for place in range(end, len(units)):
        if units[place].segment != fits.segment:
            break
        if units[place].end_byte - units[end].start_byte > size:
            fits = units[end]
            break
        fits = units[place]
    least = max(fits.end_byte - size, units[end - 1].end_byte - overlap)
    sentence = segment = end
    for place in range(end - 1, first, -1):
        if not units[place].is_sentence or units[place].start_byte < least:
            break
        sentence = place
        if units[place - 1].segment != units[place].segment:
            segment = place
    return segment if segment < end else sentence
