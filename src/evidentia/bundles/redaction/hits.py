"""Hits: where values stand in a text, checked, in code points, and none over another."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from evidentia.bundles.redaction.model import KIND, PLACEHOLDER, Detector, SensitiveSpan
from evidentia.errors import InputError


def in_code_points(
    spans: Sequence[SensitiveSpan], text: str, data: bytes
) -> Sequence[SensitiveSpan]:
    """Return spans of bytes as spans of the text that the bytes are, in one pass over it.

    The spans must be in order, and none over another.
    """
    if len(text) == len(data):
        return spans
    counted: list[SensitiveSpan] = []
    last = count = 0
    for kind, start, end in spans:
        first = count + len(data[last:start].decode())
        count = first + len(data[start:end].decode())
        counted.append(SensitiveSpan(kind, first, count))
        last = end
    return counted


def detected(name: str, detector: Detector, text: str) -> list[SensitiveSpan]:
    """Return what a detector finds; an InputError that names it if it fails or finds nonsense.

    No error says anything of the text, nor does what it was raised in place of.
    """
    failure = ""
    try:
        found = list(detector(text))
    except Exception as problem:  # noqa: BLE001 - whatever a detector raises may quote the text
        failure = type(problem).__name__
    if failure:
        raise InputError(
            f"the detector {name!r} failed with {failure}: correct it, or leave it out"
        )
    for place, span in enumerate(found, 1):
        if not _is_span(span, len(text)):
            raise InputError(
                f"the detector {name!r} gave a bad span (number {place}): give a kind in capital "
                "letters, and whole numbers with 0 <= start < end <= the length of the text"
            )
    return [SensitiveSpan(*span) for span in found]


def _is_span(span: object, length: int) -> bool:
    if not isinstance(span, tuple) or len(span) != len(SensitiveSpan._fields):
        return False
    kind, start, end = span
    if not isinstance(kind, str) or not KIND.fullmatch(kind):
        return False
    if not (_is_whole(start) and _is_whole(end)):
        return False
    return bool(0 <= start < end <= length)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def outside_placeholders(spans: Iterable[SensitiveSpan], text: str) -> list[SensitiveSpan]:
    """Return the spans that are not within a placeholder: it stands for a value already."""
    standing = [match.span() for match in PLACEHOLDER.finditer(text)]
    starts = [start for start, _ in standing]

    def is_outside(span: SensitiveSpan) -> bool:
        place = bisect_right(starts, span.start) - 1
        return place < 0 or span.end > standing[place][1]

    return [span for span in spans if is_outside(span)]


def apart(spans: Iterable[SensitiveSpan]) -> list[SensitiveSpan]:
    """Return spans in order, none over another: the leftmost, then the longest, then the first.

    Of a span that goes on beyond one before it, the rest stays.
    """
    chosen: list[SensitiveSpan] = []
    done = 0
    longest_first = sorted(spans, key=itemgetter(2), reverse=True)
    for span in sorted(longest_first, key=itemgetter(1)):
        kind, start, end = span
        if end > done:
            chosen.append(span if start >= done else SensitiveSpan(kind, done, end))
            done = end
    return chosen
