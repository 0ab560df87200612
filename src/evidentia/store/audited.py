"""Auditing the signed snapshot of the entries that decide: its signature, its map, every node."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sqlalchemy import Connection

from evidentia.errors import EvidentiaError
from evidentia.language.counting import agreed, counted
from evidentia.store.sql import snapshots
from evidentia.store.sql.log import Head
from evidentia.trail.audit import Finding
from evidentia.trail.deciding import Said, Snapshot, map_of, read_snapshot
from evidentia.trail.note import VerifierKey

_NAME: Final = "snapshot of what decides"


def audit_snapshot(
    connection: Connection,
    head: Head,
    may_sign: Callable[[int], Sequence[VerifierKey]],
    is_root: Callable[[int, bytes], bool],
    said: Sequence[Said] | None,
) -> Iterator[Finding]:
    """Give what is wrong with a log's snapshot; there may be none, and that is not wrong.

    `may_sign` gives the keys that may sign a size, `is_root` says whether a root is the log's at a
    size. `said` are the log's entries that decide; None leaves the map alone.
    """
    note = snapshots.snapshot_note(connection, head.tenant)
    if note is None:
        if said is not None and next(snapshots.nodes(connection, head.tenant), None) is not None:
            yield Finding(-1, _NAME, "is missing, and nodes of its map are there")
        return
    try:
        found, parsed = read_snapshot(note)
        signer = parsed.signed_by(may_sign(found.size))
    except EvidentiaError as error:
        yield Finding(-1, _NAME, str(error))
        return
    if found.origin != head.origin:
        yield Finding(-1, _NAME, f"is of another log: {found.origin}, not {head.origin}")
    elif found.size > head.size:
        entries = counted(found.size, "entry", "entries")
        yield Finding(head.size, _NAME, f"covers {entries}, and the log has {head.size:,}")
    elif signer is None:
        named = ", ".join(line.key_id for line in parsed.signatures)
        yield Finding(
            found.size, _NAME, f"is signed by key {named}, which could not sign this size"
        )
    elif not is_root(found.size, found.root):
        yield Finding(found.size, _NAME, "does not match: the entries that it covers changed")
    elif said is not None:
        yield from _audit_map(connection, head.tenant, found, said)


def _audit_map(
    connection: Connection, tenant: str, found: Snapshot, said: Sequence[Said]
) -> Iterator[Finding]:
    """Compare the map with the entries, and its stored nodes with what they should be."""
    expected = map_of(one for one in said if one[1].seq < found.size)
    if expected.root != found.entries:
        yield Finding(found.size, _NAME, "its map is not that of the entries")
        return
    wanted = dict(expected.added)
    altered = strange = 0
    for name, data in snapshots.nodes(connection, tenant):
        node = wanted.pop(name, None)
        strange += node is None
        altered += node is not None and node != data
    for count, problem in (
        (altered, agreed(altered, "was altered", "were altered")),
        (strange, "should not be there"),
        (len(wanted), agreed(len(wanted), "is missing", "are missing")),
    ):
        if count:
            yield Finding(-1, _NAME, f"{counted(count, 'node')} of its map {problem}")
