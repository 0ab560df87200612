"""The access log to be handed out: entries of a range, proved, in a file that is signed."""

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from evidentia.errors import InputError
from evidentia.proof.access_log import ACCESS_KINDS, MAX_LINES, Line, Range, write_access_log
from evidentia.store.proving import prove_entry
from evidentia.store.sql import log
from evidentia.times import Time
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import Entry
from evidentia.workspace.acting import Acting
from evidentia.workspace.signing import checkpoint, current_key

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    Moment = str | datetime | None


def export_log(
    acting: Acting, first: int, last: int | None, since: "Moment", until: "Moment"
) -> bytes:
    """Return the file of the entries of a range; raise `InputError` if they are too many."""
    key, note = current_key(acting), checkpoint(acting)
    size = read_checkpoint(note)[0].size
    end = size - 1 if last is None else min(last, size - 1)
    asked = Range(first, end, _moment(since, "since"), _moment(until, "until"))
    with acting.database.read() as connection:
        rows = log.entries_of_kinds(connection, acting.tenant, ACCESS_KINDS, (first, end))
        found = [seq for seq, data in rows if asked.has(Entry.decode(data))]
        if len(found) > MAX_LINES:
            raise InputError(
                f"the range has {len(found):,} entries, {MAX_LINES:,} at most in a file: ask for "
                f"it in parts; the first could end with entry {found[MAX_LINES - 1]}"
            )
        lines = [_line(acting, connection, note, seq) for seq in found]
    return write_access_log(lines, asked, note, key)


def _line(acting: Acting, connection: "Connection", note: str, seq: int) -> Line:
    tiles = acting.opened.tiles
    proof = prove_entry(connection, acting.tenant, note, seq, tiles, disclose=True)
    return Line(proof.entry, proof.inclusion, proof.disclosure)


def _moment(given: "Moment", name: str) -> str | None:
    try:
        return TypeAdapter[str | None](Time | None).validate_python(given)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{name}: {problem}") from None
