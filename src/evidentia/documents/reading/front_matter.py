"""Front matter, YAML or TOML at the head of a file: data about it, which is of no passage."""

import re
from typing import Final, NamedTuple

from evidentia.documents.effective import EVER, Effective
from evidentia.documents.reading.contents import iso_date

_YAML = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_YAML_LINE = re.compile(r"[ \t#\]}\-]|[^\s:#][^:\n]{0,100}:(?:\s|\Z)|\s*\Z")
"""How a line of YAML begins: a name, or what goes on with the one before."""
_TOML_LINE = re.compile(r"[ \t#\[\]}\"']|[\w.\"'-]{1,100}\s*=|\s*\Z")
_NAME = re.compile(r"[^\s:#=\[-][^:=\n]{0,100}[:=]|\[")
"""How the first line begins that is neither blank nor a comment."""
_FIELD: Final = r"^(?:{})[ \t]*[:=](.*)$"
_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_TITLE = re.compile(_FIELD.format("title"), _FLAGS)
_CREATED = re.compile(_FIELD.format("date|created|published"), _FLAGS)
_MODIFIED = re.compile(_FIELD.format("modified|updated|lastmod|last_modified"), _FLAGS)
_FIRST = re.compile(_FIELD.format("effective|effective_from|valid_from"), _FLAGS)
_LAST = re.compile(_FIELD.format("effective_until|valid_until|expires"), _FLAGS)
_LANGUAGE = re.compile(_FIELD.format("lang|language"), _FLAGS)


class FrontMatter(NamedTuple):
    """Where front matter ends, and what it says of the file; dates in ISO's form."""

    end: int = 0
    title: str | None = None
    created: str | None = None
    modified: str | None = None
    language: str | None = None
    effective: Effective = EVER
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Return what the front matter of a text says; it ends at 0 if there is none.

    Text between two rules is none: each line must be one of data, and the first must name a field.
    """
    for pattern, line_form in ((_YAML, _YAML_LINE), (_TOML, _TOML_LINE)):
        found = pattern.match(text)
        if found:
            lines = found[1].splitlines()
            first = next((line for line in lines if line.strip() and line[0] != "#"), "")
            if not found[1].strip() or (_NAME.match(first) and all(map(line_form.match, lines))):
                return read_fields(found[1], found.end())
    return FrontMatter()


def read_fields(fields: str, end: int = 0) -> FrontMatter:
    """Return what lines of fields say, each a name, a colon or an equals sign, and a value."""
    effective = Effective(*(iso_date(_field(pattern, fields)) for pattern in (_FIRST, _LAST)))
    said = f"it says that it holds from {effective.first} until {effective.last}, which is before"
    return FrontMatter(
        end,
        title=_field(_TITLE, fields),
        created=iso_date(_field(_CREATED, fields)),
        modified=iso_date(_field(_MODIFIED, fields)),
        language=_field(_LANGUAGE, fields),
        effective=effective if effective.is_possible else EVER,
        warnings=() if effective.is_possible else (f"{said}: taken as saying neither",),
    )


def _field(pattern: re.Pattern[str], fields: str) -> str | None:
    found = pattern.search(fields)
    return found[1].strip(" \t\r\"'") or None if found else None
