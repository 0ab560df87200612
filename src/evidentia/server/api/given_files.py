"""Files that come inside a request's JSON: a name and bytes in Base64, never a path."""

import base64
import binascii
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from evidentia.errors import InputError
from evidentia.loading.uploads import safe_filename

MOST_FILES: Final = 20


def _is_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the bytes of a file are written in Base64") from None
    return text


class GivenFile(BaseModel):
    """A file to attach to a pack: what it is called, and its bytes."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "inspection.txt", "data": "U2Vlbi4K"}]},
    )

    name: str = Field(max_length=200, description="What the file is called; no folder.")
    data: Annotated[str, AfterValidator(_is_base64)] = Field(description="Its bytes, in Base64.")


GivenFiles = Annotated[list[GivenFile], Field(max_length=MOST_FILES)]


def by_name(files: Iterable[GivenFile]) -> dict[str, bytes] | None:
    """Return files by their names; raise `InputError` for a name that is none, or is there twice.

    None is returned where there are no files.
    """
    return named((one.name, base64.b64decode(one.data)) for one in files)


def named(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes] | None:
    """Return the bytes of files by their names, as `by_name` does."""
    found: dict[str, bytes] = {}
    for given, data in files:
        name = safe_filename(given)
        if name in found:
            raise InputError(f"two files are called {name!r}")
        found[name] = data
    return found or None
