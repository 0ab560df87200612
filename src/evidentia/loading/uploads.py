"""Documents that come as bytes: what they may be called, and a private folder while they are read.

What someone calls a file is never a path here: in the folder, files go by their numbers.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from evidentia.errors import InputError
from evidentia.loading.reading import FoundFile, FoundFiles

MAX_NAME_BYTES: Final = 200
_SEPARATORS: Final = ("/", "\\")
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def safe_filename(given: str) -> str:
    """Return a file's name as it is kept, composed (NFC); raise `InputError` for what is none."""
    name = unicodedata.normalize("NFC", given)
    if not name.strip() or name.strip(". ") == "":
        raise InputError("a file has no name: give it one, such as policy.pdf")
    compatible = unicodedata.normalize("NFKC", given)  # a full-width slash looks like one, too
    if any(mark in text for text in (name, compatible) for mark in _SEPARATORS):
        raise InputError(f"{given[:80]!r}: a file's name has no folders in it: give the last part")
    if not name.isprintable():
        raise InputError(f"{given[:80]!r}: a file's name has only characters that can be seen")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise InputError(f"{given[:80]!r}…: a file's name has {MAX_NAME_BYTES} bytes at most")
    if name.startswith((".", "~$")) or name != name.strip() or name.endswith("."):
        raise InputError(
            f"{given[:80]!r}: a file's name begins with no dot and ends with none, nor with a space"
        )
    if _RESERVED.fullmatch(name):
        raise InputError(f"{given[:80]!r} is a name that some systems keep for devices")
    return name


@contextmanager
def kept_for_now(files: Mapping[str, bytes]) -> Iterator[FoundFiles]:
    """Give files as they are read, in a private folder that is gone when the block ends.

    Raise `InputError` for a name that is none, and for two that are the same.
    """
    if not files:
        raise InputError("no file was given: give one or several")
    named: dict[str, bytes] = {}
    for given, data in files.items():
        name = safe_filename(given)
        if name in named:
            raise InputError(f"two files are called {name!r}: give them one after the other")
        named[name] = data
    with TemporaryDirectory(prefix="evidentia-") as folder:
        root, found = Path(folder), []
        for number, (name, data) in enumerate(named.items()):
            path = root / str(number)
            path.write_bytes(data)
            found.append(FoundFile(path, "uploads", name, root))
        yield FoundFiles(tuple(found))
