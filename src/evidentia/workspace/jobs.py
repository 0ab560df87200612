"""The jobs' part: long work that is asked for, looked at and cancelled; `evidentia.jobs` does it.

A job acts as the user who asked for it, within the scopes of the token they came with: each step
passes the guard again. Who may read in the tenant sees which jobs there are and how far they are;
what came of one sees who asked for it, and who could have.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from evidentia.access.guard import TABLE
from evidentia.errors import AccessError, InputError, NotFoundError
from evidentia.store.database import is_storable
from evidentia.store.job_files import JobFiles
from evidentia.store.sql import jobs as rows
from evidentia.store.sql.jobs import CANCELLED, QUEUED, STATES, Change, JobEvent, JobRow
from evidentia.workspace.acting import OWNER, Acting
from evidentia.workspace.part import Part

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "audit": "whole.audit",
        "check": "ledgers.check",
        "checks": "ledgers.check_many",
        "ingest": "documents.add",
        "ledger_export": "ledgers.export",
        "pack_export": "packs.export",
        "sweep": "packs.sweep",
        "traces": "spans.receive",
    }
)
"""What a job may be, and the row of the guard's table that asking for it takes."""
_ID_BYTES: Final = 8
_EVENTS_AT_ONCE: Final = 500
Rows = list["Job"]
Events = list[JobEvent]


@dataclass(frozen=True)
class Job:
    """Long work: what was asked for and by whom, how far it is, and what came of it.

    `state` is `queued`, `running`, `done`, `failed` or `cancelled`. `done` of `total` things are
    behind it; `cancelled` says that it was asked to end.
    """

    row: JobRow

    @property
    def id(self) -> str:
        """What it is called."""
        return self.row.id

    @property
    def number(self) -> int:
        """Which of its tenant's it is, from 1."""
        return self.row.number

    @property
    def kind(self) -> str:
        """What it does."""
        return self.row.kind

    @property
    def state(self) -> str:
        """Where it is."""
        return self.row.state

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is done for it."""
        return self.row.has_ended

    @property
    def user(self) -> str | None:
        """Who asked for it; None for the owner."""
        return None if self.row.actor == OWNER else self.row.actor

    @cached_property
    def asked(self) -> dict[str, Any]:
        """What was asked for; texts and files are named by their digests."""
        found: dict[str, Any] = json.loads(self.row.asked)
        return found

    @cached_property
    def result(self) -> Any:
        """What came of it; None until it is done."""
        return None if self.row.result is None else json.loads(self.row.result)

    @cached_property
    def problem(self) -> dict[str, str] | None:
        """Why it failed: the kind of error, and what it says."""
        return None if self.row.problem is None else json.loads(self.row.problem)

    def as_json(self) -> dict[str, Any]:
        """Return the job as a JSON object."""
        row = self.row
        return {
            "id": row.id,
            "kind": row.kind,
            "state": row.state,
            "done": row.done,
            "total": row.total,
            "cancelled": bool(row.cancelled),
            "asked_by": row.actor,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "ended_at": row.ended_at,
            "result": self.result,
            "problem": self.problem,
        }


class Jobs(Part, name="jobs"):
    """A tenant's jobs, as far as the user may see them."""

    def start(
        self,
        kind: str,
        asked: Mapping[str, Any],
        *,
        total: int = 1,
        files: Sequence[bytes] = (),
        job_id: str | None = None,
        runner: str | None = None,
    ) -> Job:
        """Write down a job, durably; a server of this workspace does it, at once or later.

        `asked` is small and holds no text of a document: such things are `files`, which are kept
        until the job ended, and named in `asked["files"]`. `runner` is who does it already.
        """
        acting = self._acting
        row = KINDS.get(kind)
        if row is None:
            raise InputError(f"there is no job {kind[:40]!r}: it is one of {', '.join(KINDS)}")
        _admit(acting, row, asked)
        identity = job_id or new_id(acting)
        kept = files_of(acting)
        digests = [kept.put(acting.tenant, identity, one) for one in files]
        scopes = acting.asked.scopes
        said = {
            **asked,
            "files": digests,
            "scopes": None if scopes is None else sorted(one.value for one in scopes),
        }
        now = acting.now
        made = JobRow(
            tenant=acting.tenant,
            id=identity,
            number=0,
            kind=kind,
            actor=acting.actor,
            asked=json.dumps(said, ensure_ascii=False),
            state=QUEUED if runner is None else rows.RUNNING,
            done=0,
            total=total,
            events=1,
            cancelled=0,
            runner=runner,
            result=None,
            problem=None,
            created_at=now,
            updated_at=now,
            ended_at=None,
        )
        with acting.database.write() as connection:
            if acting.asked.within is not None:
                acting.asked.within(connection)
            if runner is not None:
                rows.renew(connection, runner)
            made = rows.insert(connection, made)
        return Job(made)

    def list(
        self,
        *,
        state: str | None = None,
        kind: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> Rows:
        """Return the jobs, the newest first; of a state or a kind, if one is given.

        `before` is the number of a job: those behind it are given.
        """
        for given, known in ((state, STATES), (kind, tuple(KINDS))):
            if given is not None and given not in known:
                raise InputError(f"{given[:40]!r} is none of {', '.join(known)}")
        acting = self._acting
        found = acting.read(rows.page, state=state, kind=kind, before=before, limit=limit)
        return [_shown(acting, one) for one in found]

    def get(self, job_id: str) -> Job:
        """Return a job; `NotFoundError` is raised for one that is not there."""
        return _seen(self._acting, job_id)

    def events(self, job_id: str, *, after: int = 0) -> Events:
        """Return the events of a job behind a number, the oldest first, some hundreds at most."""
        acting = self._acting
        job = _seen(acting, job_id)
        return acting.database.ask(rows.events, (acting.tenant, job.id), after, _EVENTS_AT_ONCE)

    def file(self, job_id: str, digest: str) -> bytes:
        """Return a file that a job made; `GoneError` is raised if it is kept no longer."""
        acting = self._acting
        job = _seen(acting, job_id)
        if not _sees_result(acting, job.row):
            raise AccessError(f"what job {job.id} made is for who asked for it")
        return files_of(acting).get(acting.tenant, job.id, digest)

    def cancel(self, job_id: str) -> Job:
        """Ask a job to end: one that waits ends now, one that runs before its next step.

        One's own, or anyone's for who may remove evidence. What it has recorded stays recorded.
        """
        acting = self._acting
        seen = _seen(acting, job_id)
        if seen.row.actor != acting.actor:
            _admit(acting, "packs.sweep", {})
        with acting.database.write() as connection:
            row = rows.find(connection, (acting.tenant, seen.id), held=True)
            if row is None:
                raise _not_there(job_id)
            if not row.has_ended:
                rows.ask_to_cancel(connection, row, acting.now)
                if row.state == QUEUED:
                    rows.change(connection, row, Change(state=CANCELLED), acting.now)
        return _seen(acting, job_id)


def new_id(acting: Acting) -> str:
    """Return an id that no job has."""
    return f"job_{acting.opened.randomness(_ID_BYTES).hex()}"


def files_of(acting: Acting) -> JobFiles:
    """Return where the files of jobs are."""
    return acting.opened.job_files


def _admit(acting: Acting, row: str, asked: Mapping[str, Any]) -> None:
    """Raise unless the user may do what a job of theirs would do."""
    if acting.is_owner:
        return
    named = asked.get("pack_id")
    acting.guard.admit(row, None if named is None else str(named))


def _sees_result(acting: Acting, row: JobRow) -> bool:
    """Whether what came of a job is for the user: they asked for it, or could have."""
    if acting.is_owner or row.actor == acting.actor:
        return True
    try:
        _admit(acting, KINDS[row.kind], Job(row).asked)
    except (AccessError, NotFoundError):
        return False
    return True


def _shown(acting: Acting, row: JobRow) -> Job:
    """Return a job as the user may see it."""
    is_told = row.result is not None or row.problem is not None
    if is_told and not _sees_result(acting, row):
        row = replace(row, result=None, problem=None)
    return Job(row)


def _seen(acting: Acting, job_id: str) -> Job:
    row = acting.database.ask(rows.find, (acting.tenant, job_id)) if is_storable(job_id) else None
    if row is None:
        raise _not_there(job_id)
    return _shown(acting, row)


def _not_there(job_id: str) -> NotFoundError:
    return NotFoundError(f"there is no job {job_id[:80]!r}: 'evidentia jobs' lists them")


assert set(KINDS.values()) <= set(TABLE)  # noqa: S101 - a row that is not there would refuse all
