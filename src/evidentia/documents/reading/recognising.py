"""OCR, by RapidOCR with the models in its package; Arabic by Tesseract where it is installed.

Both compute in one thread and ask no network, so the same picture gives the same text. They are
there with the extra `ocr`.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from evidentia.documents.reading.seen import SeenLine
from evidentia.language.direction import detect_direction

Recogniser = Callable[[Any], list[SeenLine]]
"""Sees the lines of a picture: an array of rows of pixels, each red, green and blue."""

EXTRA: Final = "pip install 'evidentia[ocr]'"
_PAGE_SECONDS: Final = 30
"""How much longer a reader may compute for each page that it sees."""
_SURE: Final = 0.9
"""RapidOCR is less sure of what is in a script that it does not know, such as Arabic."""
_READABLE: Final = 0.5
"""What RapidOCR is less sure of is no text."""
_TESSERACT_SECONDS: Final = 60
_WORD_LEVEL: Final = "5"
_COLUMNS: Final = 12


def recogniser() -> Recogniser | None:
    """Return what sees the lines of a picture, or None if the extra is not installed."""
    return _recognise if find_spec("rapidocr") is not None else None


def _recognise(picture: Any) -> list[SeenLine]:
    _take_more_time()
    lines = _rapid(picture)
    sure = sum(line.confidence for line in lines) / len(lines) if lines else 0.0
    if sure < _SURE and _reads_arabic():
        others = _tesseract(picture)
        if detect_direction("\n".join(line.text for line in others)) == "rtl":
            return others
    return [line for line in lines if line.confidence >= _READABLE]


@lru_cache(maxsize=1)
def _engine() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - an extra, and slow to load

    threads = "EngineConfig.onnxruntime.{}_op_num_threads"
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": 0.0,  # lines in a script that it cannot read are to be seen, too
            threads.format("intra"): 1,
            threads.format("inter"): 1,
        }
    )


def _rapid(picture: Any) -> list[SeenLine]:
    seen = _engine()(picture, use_cls=False)
    if seen.boxes is None or seen.txts is None:
        return []
    return [
        SeenLine(
            text,
            round(float(score), 4),
            *(float(edge) for edge in box.min(axis=0)),
            *(float(edge) for edge in box.max(axis=0)),
        )
        for text, score, box in zip(seen.txts, seen.scores, seen.boxes, strict=True)
    ]


@lru_cache(maxsize=1)
def _reads_arabic() -> bool:
    program = shutil.which("tesseract")
    if program is None:
        return False
    try:
        listed = subprocess.run(  # noqa: S603 - the system's own program
            [program, "--list-langs"], capture_output=True, timeout=_TESSERACT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return b"ara" in listed.stdout.split()


def _tesseract(picture: Any) -> list[SeenLine]:
    height, width, _ = picture.shape
    try:
        done = subprocess.run(  # noqa: S603 - the same
            [shutil.which("tesseract") or "", "stdin", "stdout", "-l", "ara", "tsv"],
            input=b"P6 %d %d 255\n" % (width, height) + picture.tobytes(),
            capture_output=True,
            timeout=_TESSERACT_SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return list(_tesseract_lines(done.stdout.decode("utf-8", "replace")))


def _tesseract_lines(table: str) -> Iterator[SeenLine]:
    """Give the lines of Tesseract's table of words, each with the mean of its words."""
    lines: dict[tuple[str, ...], list[tuple[str, float, tuple[float, ...]]]] = {}
    for row in table.splitlines()[1:]:
        fields = row.split("\t")
        if len(fields) == _COLUMNS and fields[0] == _WORD_LEVEL and fields[11].strip():
            left, top, width, height = map(float, fields[6:10])
            box = (left, top, left + width, top + height)
            words = lines.setdefault(tuple(fields[1:5]), [])
            words.append((fields[11].strip(), float(fields[10]) / 100, box))
    for words in lines.values():
        confidence = sum(sure for _, sure, _ in words) / len(words)
        boxes = [box for *_, box in words]
        yield SeenLine(
            " ".join(text for text, *_ in words),
            round(max(0.0, confidence), 4),
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )


def _take_more_time() -> None:
    """Let a worker compute for another page, where its time is limited."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
        if soft != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_CPU, (soft + _PAGE_SECONDS, hard))
