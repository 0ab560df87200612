"""The access log: what was asked of a server in someone's name, as entries of the trail.

Programs that use a workspace in their own process are not in it. It is written by the server,
before an answer leaves, together with whoever else appends.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from evidentia.store.database import is_storable
from evidentia.store.sql import log
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting

if TYPE_CHECKING:
    from evidentia.workspace.logged import LoggedEntry
    from evidentia.workspace.opened import Opened

Outcome = Literal["done", "refused", "not_found"]


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """What was asked: a row of the guard's table, or `sign_in`; how it came out; where, by what."""

    did: str
    outcome: Outcome
    path: str
    request_id: str
    trace_id: str
    token_id: str | None = None


def record_request(
    opened: "Opened", tenant: str, user: str | None, asked: AskedRequest, *, begins: bool = False
) -> int | None:
    """Record a request in its tenant's log; return the entry's number.

    Where there is no log, one is begun only if asked to; else nothing is recorded.
    """
    acting = Acting(opened, tenant, user)
    if not begins and acting.read(log.read_head) is None:
        return None
    body = {**asdict(asked), "by": acting.actor}
    return acting.record(EntryKind.REQUEST, f"user/{acting.actor}", body).seq


def requests(
    acting: Acting,
    user: str | None,
    *,
    before: int | None,
    after: int | None,
    limit: int | None,
    oldest_first: bool,
) -> "list[LoggedEntry]":
    """Return the requests that were recorded, of one user or of all, each proved."""
    if user is not None and not is_storable(user):
        return []
    with acting.database.read() as connection:
        rows = log.find_entries(
            connection,
            acting.tenant,
            kind=EntryKind.REQUEST,
            subject=None if user is None else f"user/{user}",
            before=before,
            after=after,
            limit=limit,
            newest_first=not oldest_first,
        )
        return [acting.entry_within(connection, row[0]) for row in rows]


def as_json(logged: "LoggedEntry") -> dict[str, Any]:
    """Return a recorded request as a JSON object."""
    body = logged.body if isinstance(logged.body, dict) else {}
    return {"entry": logged.entry.seq, "at": logged.entry.at, **body}
