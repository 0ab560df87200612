"""Brings the viewer's catalogues up to date: the texts of its pages, for translators.

    .venv/bin/python scripts/catalogues.py

Each page has a catalogue of its own (`server/locale/ar/LC_MESSAGES/packs.po` has the texts of
`templates/packs/` and `pages/packs*.py`), and what they share is in `shared.po`. New texts are
added without a translation, texts that are gone are taken out, and the `.mo` files that the
program reads are made anew. It ends with 1 if something is not translated.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

SERVER: Final = Path(__file__).resolve().parent.parent / "src" / "evidentia" / "server"
LOCALES: Final = ("ar",)
SHARED: Final = "shared"
_KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "N_": None,
}
_OPTIONS: Final = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}
_PLURALS: Final = {
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5);"
}
"""Zero, one, two, few (3-10), many (11-99), other (100): the order that translators know."""
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)  # so that a catalogue changes with its texts


def folder(locale: str) -> Path:
    """Return where the catalogues of a language are."""
    return SERVER / "locale" / locale / "LC_MESSAGES"


def sources() -> dict[str, list[Path]]:
    """Return the files whose texts are in each catalogue, by its name."""
    found: dict[str, list[Path]] = {
        SHARED: [
            *sorted((SERVER / "templates").glob("*.html")),
            *(SERVER / name for name in ("labels.py", "problems.py", "viewing.py")),
        ]
    }
    for file in sorted((SERVER / "templates").glob("*/**/*.html")):
        found.setdefault(file.relative_to(SERVER / "templates").parts[0], []).append(file)
    for file in sorted((SERVER / "pages").glob("[a-z]*.py")):
        found.setdefault(file.stem.partition("_")[0], []).append(file)
    return found


def texts(files: list[Path]) -> Iterator[tuple[str | tuple[str, ...], str | None, str]]:
    """Give the texts of files: each with its plural, its context, and the file it is in."""
    for file in files:
        is_template = file.suffix == ".html"
        keywords = _KEYWORDS | ({"Problem": (3,)} if file.name == "problems.py" else {})
        method = "jinja2.ext:babel_extract" if is_template else "python"
        options = _OPTIONS if is_template else {}
        place = file.relative_to(SERVER).as_posix()
        for _, said, _, context in extract_from_file(
            method, file, keywords=keywords, options=options
        ):
            yield said, context, place


def extracted(locale: str) -> dict[str, Catalog]:
    """Return the catalogues as the files say; what is shared is in no other one."""
    found: dict[str, Catalog] = {}
    for name, files in sources().items():
        catalogue = Catalog(locale=locale)
        catalogue.mime_headers = [("Plural-Forms", _PLURALS[locale])]
        for said, context, place in texts(files):
            key = said if isinstance(said, str) else said[0]
            if name == SHARED or found[SHARED].get(key, context) is None:
                catalogue.add(said, locations=[(place, 0)], context=context)
        if name == SHARED or len(catalogue):
            found[name] = catalogue
    return found


def brought_up_to_date(name: str, locale: str, fresh: Catalog) -> Catalog:
    """Return a catalogue with all texts there are, and the translations there were."""
    file = folder(locale) / f"{name}.po"
    known = Catalog(locale=locale)
    if file.exists():
        with file.open("rb") as opened:
            known = read_po(opened, locale=locale)
    known.update(fresh, no_fuzzy_matching=True)
    known.obsolete.clear()
    known.header_comment = f"# Texts of the viewer: {name}."
    known.project, known.version = "evidentia", "1"
    known.mime_headers = [("Plural-Forms", _PLURALS[locale])]
    known.creation_date = known.revision_date = _ANY_DAY
    known.fuzzy = False
    return known


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as its `.po` file has it."""
    file = BytesIO()
    write_po(file, catalogue, width=100, include_lineno=False, sort_output=True)
    return file.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """Return a catalogue as its `.mo` file has it."""
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def untranslated(catalogue: Catalog) -> list[Message]:
    """Return the texts that a catalogue has no whole translation of."""
    return [
        one
        for one in catalogue
        if one.id and not (all(one.string) if isinstance(one.string, tuple) else one.string)
    ]


def main() -> int:
    """Write the catalogues of every language; say what is not translated."""
    missing = 0
    for locale in LOCALES:
        fresh = extracted(locale)
        folder(locale).mkdir(parents=True, exist_ok=True)
        for name, one in fresh.items():
            catalogue = brought_up_to_date(name, locale, one)
            (folder(locale) / f"{name}.po").write_bytes(written(catalogue))
            (folder(locale) / f"{name}.mo").write_bytes(compiled(catalogue))
            for message in untranslated(catalogue):
                missing += 1
                print(f"{locale}/{name}.po: {message.id!r} is not translated")  # noqa: T201 - a script
        for file in folder(locale).glob("*.[pm]o"):
            if file.stem not in fresh:
                file.unlink()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
