"""Typesetting: a template, data and attachments in, the bytes of a PDF out.

The rules kept here:

1. A template reads its data from inputs as JSON: no text of the data is ever read as Typst.
2. Nothing outside this package is read: no system fonts, no packages, no file but the templates.
3. The same arguments give the same bytes: the time is given, and the fonts and templates are named
   by their digest.
"""

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from evidentia.errors import EnvironmentProblem, InputError

STANDARDS: Final = ("a-3a", "ua-1")
_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
_TEMPLATES: Final = _HERE / "templates"
_FONTS: Final = _HERE / "fonts"
_BORROWED: Final = tuple(
    f"language/{name}.py"
    for name in ("characters", "digits", "direction", "lexicon", "scripts", "wording")
)
"""The modules elsewhere by which texts and numbers are written."""
_CALENDAR: Final = "hijridate"
_NO_PAGES: Final = "reading.py"
"""The one module here that has no part in what is printed."""
_FAILURES: Final = frozenset({"TypstError", "PanicException"})
"""What Typst raises; the latter, for a fault of its own, is not even an `Exception`."""
_CATALOGUE: Final = b"/Type/Catalog"
"""The last object of a file, behind all that is embedded."""
_PAGE_ORDER: Final = (b"/Direction/R2L", b"/Direction/L2R")
_setting = threading.Lock()
_began_in: list[int] = []
"""The process that Typst's threads were started in: one that is forked from it has none of them."""


def typeset(
    template: str,
    data: Mapping[str, Any],
    attachments: Mapping[str, bytes],
    *,
    at: datetime,
) -> bytes:
    """Return the PDF/A-3a and PDF/UA-1 file that a template makes of data, with its attachments.

    `template` is the name of one of the templates, `at` the time that the file says it was made.
    Attachments are UTF-8 texts, by their names. Raises `InputError` in one line if it cannot be
    set, `EnvironmentProblem` in a process that was forked from one that set pages.
    """
    inputs = {"data": json.dumps(data, ensure_ascii=False)}
    for name, content in attachments.items():
        try:
            inputs[name] = content.decode()
        except UnicodeDecodeError:
            raise InputError(f"the attachment {name} is not text in UTF-8") from None
    source = _TEMPLATES / f"{template}.typ"
    if _began_in and _began_in[0] != os.getpid():
        raise EnvironmentProblem(
            "no PDF can be made in a process that was forked from one which made PDFs: start it "
            "anew (multiprocessing: 'spawn')"
        )
    with _setting:
        try:
            made = _compiler().compile(
                input=str(source),
                format="pdf",
                sys_inputs=inputs,
                pdf_standards=list(STANDARDS),
                timestamp=int(at.astimezone(UTC).timestamp()),
            )
        except BaseException as error:
            if type(error).__name__ not in _FAILURES:
                raise
            _compiler.cache_clear()
            raise InputError(f"the pages could not be set: {_first_line(error)}") from None
    return _copied_in_order(bytes(made))


def _copied_in_order(pdf: bytes) -> bytes:
    """Return a PDF whose catalogue does not call it a document from right to left.

    Typst says so of one in Arabic. It is about pages side by side; but PDFium, and so Chrome and
    Edge, then copies every Latin name and number with its parts in reverse.
    """
    at = pdf.rindex(_CATALOGUE)
    return pdf[:at] + pdf[at:].replace(*_PAGE_ORDER)


@lru_cache(maxsize=1)
def template_digest() -> str:
    """Return the SHA-256 over all that pages are made by: templates, fonts, and what fills them.

    The calendar of Hijri dates is a package, and counts by its version.
    """
    made_by = [
        *_TEMPLATES.glob("*.typ"),
        *_FONTS.glob("*.ttf"),
        *_FONTS.glob("*.json"),
        *(path for path in _HERE.glob("*.py") if path.name != _NO_PAGES),
        *(_ROOT / name for name in _BORROWED),
    ]
    whole = sha256(f"{_CALENDAR} {_calendar_version()}\n".encode())
    for name, path in sorted((path.name, path) for path in made_by):
        whole.update(f"{name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def typst_version() -> str:
    """Return the version of Typst that is installed; raise `InputError` if none is."""
    return str(_typst().__version__)


@lru_cache(maxsize=1)
def _compiler() -> Any:
    """Return the compiler that a process keeps warm."""
    typst = _typst()
    _began_in[:] = [os.getpid()]
    fonts = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(_FONTS)]
    )
    return typst.Compiler(root=str(_TEMPLATES), font_paths=fonts)


def _typst() -> Any:
    try:
        import typst  # noqa: PLC0415 - an extra, and 70 MB
    except ImportError:
        raise InputError("PDFs need Typst: pip install 'evidentia[pdf]'") from None
    return typst


def _calendar_version() -> str:
    try:
        return version(_CALENDAR)
    except PackageNotFoundError:
        raise InputError(f"PDFs need {_CALENDAR}: pip install 'evidentia[pdf]'") from None


def _first_line(error: BaseException) -> str:
    return str(getattr(error, "message", error)).partition("\n")[0]
