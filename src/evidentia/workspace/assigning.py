"""Who is to review which pack, and by when: entries of the trail, and the queue they make."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from evidentia.errors import InputError
from evidentia.store.sql import log, packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.packs import ListedPack
from evidentia.times import Time
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting, check_name
from evidentia.workspace.holds import recorded
from evidentia.workspace.sealing import PACKS
from evidentia.workspace.seeing import seen

_TIME: Final[TypeAdapter[str | None]] = TypeAdapter(Time | None)
_READ_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class AwaitedReview:
    """A pack that awaits a review: who is to make it, by when, who said so, and if it is late."""

    pack: ListedPack
    assignee: str | None = None
    due: str | None = None
    assigned_by: str | None = None
    overdue: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "pack": self.pack.as_json()
        }


def assign(acting: Acting, name: str, assignee: str | None, due: str | datetime | None) -> Receipt:
    """Record who is to review a pack and by when; None takes an assignment back."""
    if assignee is not None:
        check_name(assignee, "an assignee")
    try:
        until = _TIME.validate_python(due)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"by when a pack is to be reviewed: {problem}") from None
    if assignee is None and until is not None:
        raise InputError("a time without an assignee: name who is to review the pack")
    with acting.database.read() as connection:
        listed = recorded(acting, connection, PACKS.named(acting, name))
    if listed.resolved:
        raise InputError(f"pack {listed.id} awaits no review")
    body = {
        "decision_id": listed.decision_id,
        "assignee": assignee,
        "due": until,
        "by": acting.actor,
    }
    return acting.record(EntryKind.ASSIGNMENT, listed.id, body)


def queue(
    acting: Acting,
    *,
    assignee: str | None,
    overdue: bool,
    before: int | None,
    limit: int | None,
) -> list[AwaitedReview]:
    """Return the packs that await a review, newest first, with their newest assignments."""
    assigned, found = _assigned(acting), []
    for listed in _awaiting(acting, before):
        told = assigned.get(listed.decision_id, {})
        due = told.get("due")
        one = AwaitedReview(
            pack=listed,
            assignee=told.get("assignee"),
            due=due,
            assigned_by=told.get("by"),
            overdue=due is not None and due < acting.now,
        )
        if (overdue and not one.overdue) or (assignee is not None and one.assignee != assignee):
            continue
        found.append(one)
        if limit is not None and len(found) == limit:
            break
    return found


def _awaiting(acting: Acting, before: int | None) -> Iterator[ListedPack]:
    """Give the packs whose review is awaited, the newest first."""
    while True:
        page = acting.read(packs.list_packs, before=before, limit=_READ_AT_ONCE, unresolved=True)
        allowed = seen(acting, [one.id for one in page])
        yield from (one for one in page if one.id in allowed)
        if len(page) < _READ_AT_ONCE:
            return
        before = page[-1].entry


def _assigned(acting: Acting) -> dict[str, dict[str, Any]]:
    """Return the newest assignments by the ids of their decisions, each entry proved."""
    with acting.database.read() as connection:
        rows = log.find_entries(connection, acting.tenant, kind=EntryKind.ASSIGNMENT)
        logged = [acting.entry_within(connection, row[0]) for row in rows]
    bodies = [one.body for one in logged if isinstance(one.body, dict)]
    found = {body.get("decision_id", ""): body for body in bodies}
    return {name: body for name, body in found.items() if body.get("assignee") is not None}
