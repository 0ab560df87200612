"""Spans that wait for their trace to be closed: each once, however often it comes.

Whoever adds to a trace, or takes it to record it, holds its row first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection

from evidentia.store.database import fetch, row_lock, run, run_many

_COLUMNS: Final = (
    "tenant, trace_id, actor, scopes, spans, root, closes_at, job_id, recorded, recorded_at, "
    "run_id, problem"
)
MOST_IN_TRACE: Final = 20_000
"""Spans: what is more is not taken."""
MOST_BYTES_IN_TRACE: Final = 128 * 2**20
"""Of its spans as they are kept: a trace is read whole, to be recorded."""


class WaitingSpan(NamedTuple):
    """A span as it is put down: where it belongs, its digest, whether it is its trace's root."""

    trace_id: str
    span_id: str
    sha256: str
    span: bytes
    is_root: bool


class KeptSpan(NamedTuple):
    """A span that is there, and whether it is recorded already."""

    span_id: str
    sha256: str
    recorded: bool
    span: bytes


class Closing(NamedTuple):
    """When traces are closed: times as the trail writes them; `root` if their root is there."""

    root: str
    idle: str


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A trace as the database has it: who sent it, how many spans of it are there and recorded.

    `closes_at` is None while nothing more is to be recorded of it, or a job (`job_id`) does so.
    """

    tenant: str
    trace_id: str
    actor: str
    scopes: str | None
    spans: int
    root: int
    closes_at: str | None
    job_id: str | None
    recorded: int
    recorded_at: str | None
    run_id: str | None
    problem: str | None


def put_down(
    connection: Connection,
    sender: tuple[str, str, str | None],
    given: Sequence[WaitingSpan],
    closing: Closing,
) -> list[WaitingSpan]:
    """Add spans to their traces, each once; return those that a trace has no more room for.

    `sender` is a tenant, who sends in it, and within which scopes. A trace is closed some time
    after its root came, whatever comes meanwhile; without one, after nothing came for long.
    """
    tenant, actor, scopes = sender
    traces: defaultdict[str, dict[tuple[str, str], WaitingSpan]] = defaultdict(dict)
    for one in given:
        traces[one.trace_id][one.span_id, one.sha256] = one
    run_many(
        connection,
        "INSERT INTO waiting_traces (tenant, trace_id, actor, scopes, spans, root, recorded) "
        "VALUES (?, ?, ?, ?, 0, 0, 0) ON CONFLICT (tenant, trace_id) DO NOTHING",
        [(tenant, trace_id, actor, scopes) for trace_id in sorted(traces)],
    )
    refused: list[WaitingSpan] = []
    added: list[tuple[str, str, str, str, bytes]] = []
    changed: list[tuple[int, int, str | None, str, str]] = []
    for trace_id in sorted(traces):  # in order, so that no two wait for each other
        row = find(connection, (tenant, trace_id), held=True)
        if row is None:
            raise LookupError("a row that was just written is not there")
        known = _sizes(connection, tenant, trace_id) if row.spans else {}
        new = [one for key, one in sorted(traces[trace_id].items()) if key not in known]
        taken = _fitting(new, MOST_IN_TRACE - row.spans, MOST_BYTES_IN_TRACE - sum(known.values()))
        refused += new[len(taken) :]
        if not taken:
            continue
        added += [(tenant, trace_id, one.span_id, one.sha256, one.span) for one in taken]
        root = int(row.root or any(one.is_root for one in taken))
        closes_at = closing.root if root and not row.root else row.closes_at
        if closes_at is None or not root:
            closes_at = closing.root if root else closing.idle
        changed.append((row.spans + len(taken), root, closes_at, tenant, trace_id))
    run_many(
        connection,
        "INSERT INTO waiting_spans (tenant, trace_id, span_id, sha256, recorded, span) "
        "VALUES (?, ?, ?, ?, 0, ?)",
        added,
    )
    run_many(
        connection,
        "UPDATE waiting_traces SET spans = ?, root = ?, closes_at = ? "
        "WHERE tenant = ? AND trace_id = ?",
        changed,
    )
    return refused


def _sizes(connection: Connection, tenant: str, trace_id: str) -> dict[tuple[str, str], int]:
    """Return how many bytes each span of a trace has, by its id and digest."""
    sql = (
        "SELECT span_id, sha256, length(span) FROM waiting_spans WHERE tenant = ? AND trace_id = ?"
    )
    rows = fetch(connection, sql, (tenant, trace_id))
    return {(span_id, sha256): size for span_id, sha256, size in rows}


def _fitting(new: Sequence[WaitingSpan], spans: int, size: int) -> Sequence[WaitingSpan]:
    """Return the first of some spans, for which a trace has room."""
    for number, one in enumerate(new):
        size -= len(one.span)
        if number >= spans or size < 0:
            return new[:number]
    return new


def find(connection: Connection, named: tuple[str, str], *, held: bool = False) -> TraceRow | None:
    """Return a trace; `held` lets no one else change it before the transaction ends."""
    lock = row_lock(connection) if held else ""
    sql = f"SELECT {_COLUMNS} FROM waiting_traces WHERE tenant = ? AND trace_id = ?{lock}"  # noqa: S608 - of this module
    for row in fetch(connection, sql, named):
        return TraceRow(*row)
    return None


def of_trace(connection: Connection, tenant: str, trace_id: str) -> list[KeptSpan]:
    """Return the spans of a trace that are there, by their ids and digests."""
    sql = (
        "SELECT span_id, sha256, recorded, span FROM waiting_spans "
        "WHERE tenant = ? AND trace_id = ? ORDER BY span_id, sha256"
    )
    rows = fetch(connection, sql, (tenant, trace_id))
    return [
        KeptSpan(span_id, sha256, bool(recorded), bytes(span))
        for span_id, sha256, recorded, span in rows
    ]


def open_traces(connection: Connection, tenant: str, most: int) -> list[TraceRow]:
    """Return traces of a tenant of which something is still to be recorded."""
    sql = (
        f"SELECT {_COLUMNS} FROM waiting_traces WHERE tenant = ? AND recorded < spans "  # noqa: S608 - the same
        "ORDER BY trace_id LIMIT ?"
    )
    return [TraceRow(*row) for row in fetch(connection, sql, (tenant, most))]


def take(connection: Connection, tenant: str, trace_ids: Sequence[str], job_id: str) -> list[str]:
    """Note that a job records traces that are to be closed; return those that no other one has."""
    taken = []
    for trace_id in sorted(trace_ids):
        row = find(connection, (tenant, trace_id), held=True)
        if row is not None and row.closes_at is not None:
            sql = (
                "UPDATE waiting_traces SET closes_at = NULL, job_id = ? "
                "WHERE tenant = ? AND trace_id = ?"
            )
            run(connection, sql, (job_id, tenant, trace_id))
            taken.append(trace_id)
    return taken


def settle(
    connection: Connection,
    named: tuple[str, str],
    spans: Sequence[KeptSpan],
    run_id: str | None,
    at: str,
) -> None:
    """Note which spans of a trace are recorded, and as which run; what came meanwhile waits."""
    row = find(connection, named, held=True)
    if row is None:
        return
    run_many(
        connection,
        "UPDATE waiting_spans SET recorded = 1 "
        "WHERE tenant = ? AND trace_id = ? AND span_id = ? AND sha256 = ?",
        [(*named, one.span_id, one.sha256) for one in spans if not one.recorded],
    )
    sql = (
        "UPDATE waiting_traces SET recorded = ?, recorded_at = ?, run_id = ?, problem = NULL, "
        "closes_at = ?, job_id = NULL WHERE tenant = ? AND trace_id = ?"
    )
    closes_at = row.closes_at if row.spans > len(spans) else None
    run(connection, sql, (len(spans), at, row.run_id or run_id, closes_at, *named))


_LEFT: Final = (
    "job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs "
    "WHERE jobs.tenant = waiting_traces.tenant AND jobs.id = waiting_traces.job_id "
    "AND jobs.state IN ('queued', 'running'))"
)


def give_back(connection: Connection, tenant: str, again_at: str) -> None:
    """Let traces be recorded again whose job ended without them."""
    sql = f"UPDATE waiting_traces SET job_id = NULL, closes_at = ? WHERE tenant = ? AND {_LEFT}"  # noqa: S608 - of this module
    run(connection, sql, (again_at, tenant))


def put_off(connection: Connection, named: tuple[str, str], until: str, problem: str) -> None:
    """Let a trace be tried again later, and say why it could not be recorded now."""
    sql = (
        "UPDATE waiting_traces SET closes_at = ?, problem = ?, job_id = NULL "
        "WHERE tenant = ? AND trace_id = ?"
    )
    run(connection, sql, (until, problem, *named))


def forget(connection: Connection, tenant: str, before: str) -> None:
    """Remove traces of which everything was recorded before a time, with their spans."""
    gone = (
        "t.tenant = ? AND recorded >= spans AND closes_at IS NULL AND job_id IS NULL "
        "AND recorded_at < ?"
    )
    run(
        connection,
        "DELETE FROM waiting_spans WHERE EXISTS (SELECT 1 FROM waiting_traces AS t WHERE "  # noqa: S608 - of this function
        f"t.tenant = waiting_spans.tenant AND t.trace_id = waiting_spans.trace_id AND {gone})",
        (tenant, before),
    )
    run(connection, f"DELETE FROM waiting_traces AS t WHERE {gone}", (tenant, before))  # noqa: S608 - the same
