"""What Word, Excel and PowerPoint files have in common: relationships of parts, and properties."""

from collections.abc import Mapping
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from evidentia.documents.reading.archive import Archive, Attributes, parse_part
from evidentia.documents.reading.contents import iso_date

OFF: Final = frozenset({"0", "false", "off", "none"})
"""How a file says no."""
_CORE: Final = "docProps/core.xml"


class Related(NamedTuple):
    """A part that another refers to: its name, and the last word of the relationship's type."""

    part: str
    type: str


class Properties(NamedTuple):
    """What a file says about itself, dates in ISO's form."""

    title: str | None
    created: str | None
    modified: str | None
    language: str | None


def read_relationships(archive: Archive, part: str) -> Mapping[str, Related]:
    """Return the parts that a part refers to, by the ids that it uses for them."""
    reader = _Relationships(dirname(part))
    parse_part(archive, join(dirname(part), "_rels", f"{part.rpartition('/')[2]}.rels"), reader)
    return reader.found


def related_part(related: Mapping[str, Related], kind: str) -> str | None:
    """Return the first part of a type, or None."""
    return next((item.part for item in related.values() if item.type == kind), None)


def read_properties(archive: Archive) -> Properties:
    """Return a file's core properties."""
    reader = _Core()
    parse_part(archive, _CORE, reader)
    found = reader.found
    return Properties(
        title=found.get("title"),
        created=iso_date(found.get("created")),
        modified=iso_date(found.get("modified")),
        language=found.get("language"),
    )


def inside(folder: str, target: str) -> str:
    """Return the name in its archive of what a part in a folder calls `target`.

    One that leads out of the archive is the name of no part.
    """
    return normpath(join("/", folder, target)).lstrip("/")


class _Relationships:
    """Reads a part's relationships; those that lead out of the file are left out."""

    def __init__(self, folder: str) -> None:
        self.found: dict[str, Related] = {}
        self._folder = folder

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            self.found[attributes.get("Id", "")] = Related(
                inside(self._folder, attributes.get("Target", "")),
                attributes.get("Type", "").rpartition("/")[2],
            )

    def end(self, _tag: str) -> None:
        """Take the end of an element, which says nothing here."""

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""


class _Core:
    """Reads the core properties: title, dates, language."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._tag = ""

    def start(self, tag: str, _attributes: Attributes) -> None:
        self._tag = tag

    def end(self, _tag: str) -> None:
        self._tag = ""

    def text(self, text: str) -> None:
        if self._tag and text.strip():
            self.found[self._tag] = self.found.get(self._tag, "") + text.strip()
