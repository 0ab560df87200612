"""The shapes in which transcripts come: JSON, lines of JSON, WebVTT, SRT, and plain text."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final, NamedTuple

from evidentia.bundles.texts import JsonNumber, decode_text, parse_recorded_json, problem
from evidentia.errors import InputError


class Spoken(NamedTuple):
    """What was said, by whom and when, as far as it is known; times read `HH:MM:SS.mmm`."""

    speaker: str | None
    start: str | None
    end: str | None
    text: str


_JSON_START = re.compile(r"\{\s*[\"}]|\[\s*[\[{\]]")
_MAX_SECONDS: Final = 360_000_000
_SEXAGESIMAL: Final = 60
_PRECISE: Final = 4
_SPEAKER_KEYS: Final = ("speaker", "speaker_label")
_START_KEYS: Final = ("start", "from", "begin")
_END_KEYS: Final = ("end", "to")

_TIME: Final = r"(?:\d{1,5}:)?\d{1,3}:\d{2}(?:[.,]\d{1,9})?"
_TIME_PARTS = re.compile(r"(?:(?:(\d{1,5}):)?(\d{1,3}):)?(\d{1,9})(?:[.,](\d{1,9}))?s?")
_RANGE: Final = rf"(?P<start>{_TIME})(?:\s*(?:-->|[-\u2013\u2014])\s*(?P<end>{_TIME}))?"
_NAME: Final = r"(?P<speaker>[^\W\d_][^:\uff1a\[\]()<>?!;\"]{0,59}?)"
_NAME_AND_ROLE: Final = r"(?P<speaker>[^\W\d_][^:\uff1a\[\]<>?!;\"]{0,59}?)"
_TIMED_LINE = re.compile(rf"\s*[\[(]\s*{_RANGE}\s*[\])]\s*(?P<rest>.*)")
_CLOCKED_LINE = re.compile(rf"\s*{_RANGE}\s+(?:[-\u2013\u2014]\s+)?(?P<rest>\S.*)")
_SPEAKER_AND_TIME = re.compile(
    rf"\s*{_NAME}\s*[\[(]\s*{_RANGE}\s*[\])]\s*(?:[:\uff1a]|\Z)\s*(?P<rest>.*)"
)
_SPEAKER = re.compile(rf"\s*{_NAME_AND_ROLE}\s*(?::(?=\s|\Z)|\uff1a)\s*(?P<rest>.*)")
_MOST_NAMES: Final = 6
_PARTICLES: Final = frozenset(
    {"de", "del", "da", "di", "la", "le", "van", "von", "der", "den", "bin", "ibn", "bint", "al"}
    | {"el", "of", "the", "and", "y"}
)
"""What a name may have in small letters; other small words tell a sentence from a name."""

_TIMING = re.compile(rf"\s*(?P<start>{_TIME})\s*-->\s*(?P<end>{_TIME})(?:\s.*)?")
_LIKE_TIMING = re.compile(r"\s*\d+:[\d:.,]*\s*-->")
_SRT_START = re.compile(rf"\s*(?:\d+[^\S\n]*\n)?[^\S\n]*{_TIME}[^\S\n]*-->")
_VTT_START = re.compile(r"WEBVTT(?=\s|\Z)")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?=\s|\Z)")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]*)>")
_TAG = re.compile(r"</?[A-Za-z\d][^<>]*>|\{\\[^{}]*\}")


def read_spoken(data: bytes, name: str) -> list[Spoken]:
    """Read a transcript in any of the shapes; only what has text is given back."""
    text = decode_text(data, name).replace("\r\n", "\n").replace("\r", "\n")
    stripped = text.lstrip()
    found: Iterator[Spoken]
    if _JSON_START.match(stripped):
        found = _from_json(stripped, name)
    elif _VTT_START.match(stripped):
        found = _from_cues(text, name, is_vtt=True)
    elif _SRT_START.match(stripped):
        found = _from_cues(text, name, is_vtt=False)
    else:
        found = _from_lines(text)
    return [spoken for spoken in found if spoken.text]


def _from_json(text: str, name: str) -> Iterator[Spoken]:
    values, kind = _json_values(text, name)
    for number, value in enumerate(values, 1):
        place = f"{kind} {number}"
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise problem(name, f'{place} has no text: it must read {{"text": "…"}}')
        times = value.get("timestamps")
        timed = times if isinstance(times, dict) else value
        yield Spoken(
            _speaker(_first(value, _SPEAKER_KEYS), place, name),
            _json_time(_first(timed, _START_KEYS), place, name),
            _json_time(_first(timed, _END_KEYS), place, name),
            value["text"].strip(),
        )


def _json_values(text: str, name: str) -> tuple[list[Any], str]:
    """Return the segments of one JSON value, or of one on each line, and what to call them."""
    try:
        value = parse_recorded_json(text, name)
    except InputError as error:
        return _json_lines(text, name, error), "line"
    if isinstance(value, list):
        return value, "segment"
    for key in ("segments", "transcription"):
        if isinstance(value.get(key), list):
            return value[key], "segment"
    return [value], "segment"


def _json_lines(text: str, name: str, error: InputError) -> list[Any]:
    """Return the value of each line; raise the error that is given if the first has none."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        parse_recorded_json(lines[0][1], name)
    except InputError:
        raise error from None
    return [parse_recorded_json(line, f"{name}, line {number}") for number, line in lines]


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _speaker(value: Any, place: str, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise problem(name, f"the speaker of {place} must be text")
    return " ".join(value.split()) or None


def _json_time(value: Any, place: str, name: str) -> str | None:
    """Return a time that is given in seconds, or as text."""
    if value is None:
        return None
    time = None
    if isinstance(value, JsonNumber):
        seconds = float(value)
        time = _clock(int(seconds * 1000 + 0.5)) if 0 <= seconds < _MAX_SECONDS else None
    elif isinstance(value, str):
        time = read_time(value)
    if time is None:
        raise problem(name, f"a time of {place} is none: give seconds, or `00:01:02.500`")
    return time


def read_time(text: str) -> str | None:
    """Return a time as `HH:MM:SS.mmm`, rounded to milliseconds, or None if it is none.

    >>> read_time("1:02,5"), read_time("62.5"), read_time("00:75:00")
    ('00:01:02.500', '00:01:02.500', None)
    """
    found = _TIME_PARTS.fullmatch(text.strip())
    if not found:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.group(1, 2, 3))
    too_many = (found[1] and minutes >= _SEXAGESIMAL) or (found[2] and seconds >= _SEXAGESIMAL)
    if too_many or seconds >= _MAX_SECONDS:
        return None
    fraction = int((found[4] or "").ljust(_PRECISE, "0")[:_PRECISE])
    return _clock(((hours * 60 + minutes) * 60 + seconds) * 1000 + (fraction + 5) // 10)


def _clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}.{rest:03}"


def _from_cues(text: str, name: str, *, is_vtt: bool) -> Iterator[Spoken]:
    """Give what is in cues: all lines after a timing, but for the next cue's name."""
    start = end = None
    lines: list[str] = []
    after_blank = aside = False
    for number, line in enumerate(text.split("\n"), 1):
        blank = not line.strip()
        begins_aside = is_vtt and after_blank and _ASIDE.match(line) is not None
        aside = not blank and (aside or begins_aside)
        after_blank = blank
        if aside:
            continue
        timing = _TIMING.fullmatch(line)
        times = [read_time(time) for time in timing.group("start", "end")] if timing else []
        if None in times or (not timing and _LIKE_TIMING.match(line)):
            raise problem(name, f"line {number} must read `00:01:02.000 --> 00:01:04.500`")
        if timing:
            yield from _cue(start, end, _without_cue_name(lines, is_vtt=is_vtt), is_vtt=is_vtt)
            (start, end), lines = times, []
        else:
            lines.append(line)
    yield from _cue(start, end, lines, is_vtt=is_vtt)


def _without_cue_name(lines: list[str], *, is_vtt: bool) -> list[str]:
    """Return a cue's lines without a last one that is the number or name of the next cue."""
    alone = len(lines) > 1 and not lines[-2].strip()
    if lines and (lines[-1].strip().isdecimal() or (is_vtt and alone)):
        return lines[:-1]
    return lines


def _cue(start: str | None, end: str | None, lines: list[str], *, is_vtt: bool) -> Iterator[Spoken]:
    """Give what is said in a cue, by each voice; what stands before the first cue is no speech."""
    if start is None:
        return
    first, *voices = _VOICE.split("\n".join(lines))
    for speaker, text in _turns(_plain_cue(first, is_vtt=is_vtt)):
        yield Spoken(speaker, start, end, text)
    for voice, said in zip(voices[::2], voices[1::2], strict=True):
        speaker = " ".join(_plain_cue(voice, is_vtt=is_vtt).split())
        yield Spoken(speaker or None, start, end, _plain_cue(said, is_vtt=is_vtt))


def _plain_cue(text: str, *, is_vtt: bool) -> str:
    plain = _TAG.sub("", text)
    return (unescape(plain) if is_vtt else plain).strip()


def _turns(text: str) -> Iterator[tuple[str | None, str]]:
    """Give who says what in a cue without voices, if its first line begins with a name."""
    speaker: str | None = None
    said: list[str] = []
    for number, line in enumerate(text.split("\n")):
        found = _SPEAKER.fullmatch(line)
        if found and _is_name(found["speaker"]) and (speaker or not number):
            yield speaker, "\n".join(said).strip()
            speaker, said = " ".join(found["speaker"].split()), [found["rest"]]
        else:
            said.append(line)
    yield speaker, "\n".join(said).strip()


def _from_lines(text: str) -> Iterator[Spoken]:
    """Give a segment for each line with a name or a time, and for each paragraph without."""
    begun = Spoken(None, None, None, "")
    said: list[str] = []
    after_blank = False
    for line in text.split("\n"):
        blank = not line.strip()
        marked = _marked(line)
        if marked or (after_blank and said and not blank):
            yield begun._replace(text="\n".join(said))
            begun, said = marked or Spoken(None, None, None, line), []
            line = begun.text  # noqa: PLW2901 - what is left of it
        if line.strip():
            said.append(line.strip())
        after_blank = blank
    yield begun._replace(text="\n".join(said))


def _marked(line: str) -> Spoken | None:
    """Return what a line says after a speaker, a time, or both; None if it has neither."""
    for pattern in (_SPEAKER_AND_TIME, _TIMED_LINE, _CLOCKED_LINE):
        found = pattern.fullmatch(line)
        parts = found.groupdict() if found else {}
        start, end = read_time(parts.get("start") or "-"), read_time(parts.get("end") or "-")
        if start is None or (parts["end"] and end is None):
            continue
        named = _named(parts["rest"])
        if "speaker" in parts:
            if _is_name(parts["speaker"]):
                return Spoken(" ".join(parts["speaker"].split()), start, end, parts["rest"].strip())
        elif named:
            return named._replace(start=start, end=end)
        elif pattern is _TIMED_LINE or parts["start"].count(":") > 1:
            return Spoken(None, start, end, parts["rest"].strip())
    return _named(line)


def _named(line: str) -> Spoken | None:
    found = _SPEAKER.fullmatch(line)
    if not found or not _is_name(found["speaker"]):
        return None
    return Spoken(" ".join(found["speaker"].split()), None, None, found["rest"].strip())


def _is_name(text: str) -> bool:
    """Whether words may be a name: one, or a few without other small ones than particles."""
    words = text.split()
    if len(words) == 1:
        return True
    return len(words) <= _MOST_NAMES and not any(
        word[0].islower() and word not in _PARTICLES for word in words
    )
