"""What exporting packs and ledgers shares: the options of a PDF, and several files at once."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal, TypedDict

import typer

Language = Literal["ar", "en", "both"]
Typeface = Literal["plex", "amiri"]


class Rendering(TypedDict, total=False):
    """How a PDF is made, as far as it was said."""

    lang: Language
    typeface: Typeface


LangOption = Annotated[
    Language | None, typer.Option("--lang", help="The language of the PDF's pages [both].")
]
TypefaceOption = Annotated[
    Typeface | None, typer.Option("--typeface", help="The typeface of the PDF [plex].")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


HtmlOption = Annotated[
    bool, typer.Option("--html", help="The same as --format html: a page that verifies itself.")
]


def rendering(lang: Language | None, typeface: Typeface | None, *, pdf: bool) -> Rendering:
    """Return how a PDF is to be made; raise `InputError` if none is asked for."""
    from evidentia.errors import InputError

    how: Rendering = {}
    if lang is not None:
        how["lang"] = lang
    if typeface is not None:
        how["typeface"] = typeface
    if how and not pdf:
        raise InputError(f"--{min(how)} is for a PDF: give --format pdf too")
    return how


def refuse_pdf(output: Path | None) -> None:
    """Raise `InputError` if a PDF or a page is wanted, by its name, and something else written."""
    from evidentia.errors import InputError

    if output is not None and output.suffix.lower() == ".pdf":
        raise InputError(f"{output} is called a PDF: give --format pdf too, or another name")
    if output is not None and output.suffix.lower() in {".html", ".htm"}:
        raise InputError(f"{output} is called an HTML page: give --html too, or another name")


def refuse_two_forms(given: str | None, *, html: bool) -> None:
    """Raise `InputError` if `--html` and another form are asked for at once."""
    from evidentia.errors import InputError

    if html and given not in {None, "html"}:
        raise InputError(f"--html and --format {given} ask for two forms: give one of them")


def export_each(
    ids: Sequence[str],
    place: Path,
    suffix: str,
    write: Callable[[str, Path], Path],
    *,
    force: bool = False,
    many: Callable[[Mapping[str, Path], Callable[[int, int], None]], list[Path]] | None = None,
) -> list[Path]:
    """Write one file for each id: the file that is named, or by their ids into a folder.

    A folder is made if several are written and it is not there. All places are looked at first.
    `many` writes several at once, where there is a way.
    """
    from evidentia.cli.output import counting_bar
    from evidentia.errors import InputError
    from evidentia.store.files import check_name, check_writable, make_folder

    unique = list(dict.fromkeys(ids))
    check_name(place)
    if len(unique) == 1 and not place.is_dir():
        return [write(unique[0], place)]
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file: name a folder for several")
    files = {one: place / f"{one}{suffix}" for one in unique}
    make_folder(place)
    for file in files.values():
        check_writable(file, overwrite=force)
    done = []
    with counting_bar("Exporting") as progress:
        if many is not None:
            return many(files, progress)
        for one, file in files.items():
            done.append(write(one, file))
            progress(len(done), len(files))
    return done


def say_exported(
    what: str,
    many: str,
    files: Sequence[Path],
    key: str,
    *,
    as_json: bool,
    superseded: Mapping[str, Any] | None = None,
) -> None:
    """Say where what was exported is, and how whoever gets it verifies it.

    `superseded` are the later versions of what was exported, by its name, for programs.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.language.counting import counted

    if as_json:
        found = {"file": str(files[0])} if len(files) == 1 else {"files": [*map(str, files)]}
        old = {} if superseded is None else {"superseded": dict(superseded)}
        print_json({**found, "public_key": key, **old})
        return
    if len(files) == 1:
        where, each = f"The {what} is in {files[0]}.", "it"
    else:
        where, each = f"{counted(len(files), what, many)} are in {files[0].parent}.", "each of them"
    say(f"{where} Whoever trusts the key verifies {each} with:", "good")
    say(f"evidentia verify {quote(str(files[0]))} --key {key}", under=True)
