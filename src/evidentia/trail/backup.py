"""The form of a backup: a manifest that names parts by their digests, and rows as lines of JSON.

Values only: a manifest or a line that is not what it should be raises `ProofError`, which says
where. Nothing here believes a part: whoever reads one compares it with its digest.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

import orjson
from pydantic import Field, ValidationError, model_validator

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError, InputError, ProofError
from evidentia.frozen import FrozenItems, FrozenModel, first_problem
from evidentia.trail.entry import check_tenant

FORMAT: Final = "evidentia-backup"
VERSION: Final = 1
MAX_LINE_BYTES: Final = 64 * 2**20
"""The longest line of a part: a row with the largest pack there can be, and room."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^(llm\.)?[a-z][a-z0-9_]{0,62}$")]
Column = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,120}\.(pem|json|key)$")]


class ColumnKind(StrEnum):
    """What a column holds, whatever its database calls that."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    TRUTH = "truth"
    TIME = "time"
    BYTES = "bytes"
    TEXTS = "texts"


class BackupColumn(FrozenModel):
    """A column of a table: its name, and what it holds."""

    name: Column
    kind: ColumnKind


class BackupPart(FrozenModel):
    """A part of a backup: a file named by its digest, with so many bytes and lines."""

    sha256: Digest
    bytes: Count
    rows: Count


class BackupTable(FrozenModel):
    """A table: its columns, and the parts in which its rows are, in order."""

    name: Name
    columns: FrozenItems[BackupColumn]
    parts: FrozenItems[BackupPart]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(part.rows for part in self.parts)

    @property
    def kinds(self) -> list[ColumnKind]:
        """What the columns hold, in their order."""
        return [one.kind for one in self.columns]


class BackupLog(FrozenModel):
    """A log as it was: its origin, size and root, and the newest checkpoint that was signed."""

    origin: Annotated[str, Field(min_length=1, max_length=200)]
    size: Count
    root: Digest
    checkpoint: Annotated[str, Field(max_length=65_536)] | None


class BackupFiles(FrozenModel):
    """The files of the lake: the parts that list their digests, in order."""

    parts: FrozenItems[BackupPart]

    @property
    def count(self) -> int:
        """How many files there are."""
        return sum(part.rows for part in self.parts)


class MissingFile(FrozenModel):
    """A file that rows refer to and the backup does not have, and why.

    `erased`: by law, while the backup was made. `gone`, `changed`: the lake was damaged.
    """

    sha256: Digest
    why: Literal["erased", "gone", "changed"]


class KeyFile(FrozenModel):
    """A file of private keys, by its name in the folder of a tenant's keys."""

    name: FileName
    sha256: Digest


class TenantBackup(FrozenModel):
    """All that a backup has of one tenant."""

    tenant: str
    log: BackupLog | None
    kept: Annotated[str, Field(max_length=65_536)] | None
    tables: FrozenItems[BackupTable]
    files: BackupFiles
    missing: FrozenItems[MissingFile]
    keys: FrozenItems[KeyFile]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        try:
            check_tenant(self.tenant)
        except InputError as error:
            raise ValueError(str(error)) from None
        names = [table.name for table in self.tables]
        if len(set(names)) < len(names):
            raise ValueError("it lists a table twice")
        return self

    def table(self, name: str) -> BackupTable | None:
        """Return a table by its name; None if it is not in the backup."""
        return next((table for table in self.tables if table.name == name), None)

    def digests(self) -> Iterator[str]:
        """Give the digests of parts and keys; those of the lake's files are in `files.parts`."""
        for table in self.tables:
            yield from (part.sha256 for part in table.parts)
        yield from (part.sha256 for part in self.files.parts)
        yield from (key.sha256 for key in self.keys)


class BackupManifest(FrozenModel):
    """What one backup is made of; everything in it is named by digest."""

    format: Literal["evidentia-backup"]
    v: Literal[1]
    created_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")]
    program: Annotated[str, Field(max_length=200)]
    revision: Annotated[str, Field(pattern=r"^[0-9]{4}$")]
    tenants: FrozenItems[TenantBackup]

    @model_validator(mode="after")
    def _has_each_once(self) -> Self:
        names = [one.tenant for one in self.tenants]
        if len(set(names)) < len(names):
            raise ValueError("it lists a tenant twice")
        return self

    def encode(self) -> bytes:
        """Return the manifest as it is kept: canonical JSON, and a line feed."""
        return canonical_json(self.model_dump(mode="json")) + b"\n"

    @classmethod
    def decode(cls, data: bytes, named: str = "the manifest") -> Self:
        """Read a manifest; raise `ProofError` if it is none, or one of a later version."""
        try:
            found = parse_json(data)
        except CanonicalError as error:
            raise ProofError(f"{named}: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ProofError(f"{named}: it is no manifest of a backup")
        version = found.get("v")
        if type(version) is not int:
            raise ProofError(f"{named}: it has no version")
        if version > VERSION:
            raise ProofError(
                f"{named}: it has version {version}, and this program reads {VERSION}: upgrade "
                "evidentia"
            )
        try:
            return cls.model_validate(found)
        except ValidationError as error:
            raise ProofError(first_problem(error, cls, named)) from None


def encode_row(row: Sequence[Any], kinds: Sequence[ColumnKind]) -> bytes:
    """Return a row as a line of JSON: an array of its values, bytes in base64."""
    values = [
        value if value is None else _written(value, kind)
        for value, kind in zip(row, kinds, strict=True)
    ]
    return orjson.dumps(values) + b"\n"


def decode_row(line: bytes, kinds: Sequence[ColumnKind]) -> list[Any]:
    """Return the values of a line; raise `ProofError` if they are not of their kinds."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ProofError(f"a line is no JSON: {error}") from None
    if not isinstance(found, list) or len(found) != len(kinds):
        raise ProofError(f"a line is no array of {len(kinds)} values")
    return [
        value if value is None else _read(value, kind)
        for value, kind in zip(found, kinds, strict=True)
    ]


def encode_file(digest: str) -> bytes:
    """Return the line of a file of the lake."""
    return orjson.dumps(digest) + b"\n"


def decode_file(line: bytes) -> str:
    """Return the digest that a line names a file of the lake by."""
    digest = line[1:-2].decode("ascii", "replace")
    if not _DIGEST.fullmatch(digest) or line != encode_file(digest):
        raise ProofError("a line names no file by its digest")
    return digest


_DIGEST: Final = re.compile("[0-9a-f]{64}")
_PLAIN: Final = {
    ColumnKind.TEXT: str,
    ColumnKind.INTEGER: int,
    ColumnKind.TRUTH: bool,
    ColumnKind.TIME: str,
}


def _written(value: Any, kind: ColumnKind) -> Any:
    if kind is ColumnKind.BYTES:
        return base64.b64encode(value).decode()
    if kind is ColumnKind.TRUTH:
        return bool(value)
    return list(value) if kind is ColumnKind.TEXTS else value


def _read(value: Any, kind: ColumnKind) -> Any:
    if kind is ColumnKind.BYTES and isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise ProofError("a line has bytes that are no base64") from None
    if kind is ColumnKind.REAL and type(value) in {int, float}:
        return float(value)
    if kind is ColumnKind.TEXTS and isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return value
    elif type(value) is _PLAIN.get(kind):
        return value
    raise ProofError(f"a line has {type(value).__name__} where {kind} should be")
