"""The ledgers' SQL: sessions, claims, ledgers and their entries, as rows to search by.

What a ledger says is its statement, which is kept in the lake and named in the trail; these rows
follow from it.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import IntegrityError, NotFoundError
from evidentia.ledger.session import LedgerSession
from evidentia.store.database import erase_rows, fetch, insert_rows, texts
from evidentia.store.sql import log
from evidentia.store.sql.ledger_pages import remove_pages
from evidentia.store.sql.library import WORKSPACE
from evidentia.store.sql.newest import find_newest, in_order

_LISTED: Final = (
    "SELECT l.id, l.session_id, l.previous_id, s.title, s.query, s.answer_name, l.summary, "
    "l.statement_sha256, l.trail_seq, l.created_at FROM ledgers l "
    "JOIN sessions s ON s.tenant = l.tenant AND s.id = l.session_id WHERE l.tenant = ?"
)
_LIKE_MARKS: Final = re.compile(r"[!%_]")


@dataclass(frozen=True, slots=True)
class ListedLedger:
    """A ledger in a list: whose, of which answer, how it came out, and where in the trail it is."""

    id: str
    session_id: str
    previous_id: str | None
    title: str
    query: str | None
    answer_name: str
    summary: dict[str, Any]
    statement_sha256: str
    entry: int
    created_at: str

    @property
    def file_sha256(self) -> str:
        """The digest of its file in the lake, which is its statement."""
        return self.statement_sha256

    def as_json(self) -> dict[str, Any]:
        """Return the ledger's row as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def insert_session(
    connection: Connection, tenant: str, session: LedgerSession, created_at: str
) -> None:
    """Insert a session and its claims, as far as they are not there."""
    known = fetch(
        connection, "SELECT 1 FROM sessions WHERE tenant = ? AND id = ?", (tenant, session.id)
    )
    if not known:
        values = {"tenant": tenant, **_session_row(session), "created_at": created_at}
        insert_rows(connection, "sessions", tuple(values), [tuple(values.values())])
    sql = "SELECT id FROM claims WHERE tenant = ? AND session_id = ?"
    there = {row[0] for row in fetch(connection, sql, (tenant, session.id))}
    insert_rows(
        connection,
        "claims",
        ("tenant", "session_id", *_CLAIM, "created_at"),
        [
            (tenant, session.id, *row, created_at)
            for row in _claim_rows(session)
            if row[0] not in there
        ],
    )


def insert_ledger(
    connection: Connection, tenant: str, session: LedgerSession, statement_sha256: str, entry: int
) -> None:
    """Insert a ledger and its entries; its session is there already."""
    values = {
        "tenant": tenant,
        **_ledger_row(session),
        "statement_sha256": statement_sha256,
        "trail_seq": entry,
    }
    insert_rows(connection, "ledgers", tuple(values), [tuple(values.values())])
    insert_rows(
        connection,
        "evidence_ledger",
        ("tenant", "ledger_id", *_VERDICT, "chunk_ids"),
        [
            (tenant, session.ledger.id, *row, texts(connection, chunk_ids))
            for *row, chunk_ids in _verdict_rows(session)
        ],
    )


_CLAIM: Final = (
    "id",
    "claim_text",
    "claim_type",
    "importance",
    "requires_citation",
    "start_offset",
    "end_offset",
)
_VERDICT: Final = (
    "id",
    "session_id",
    "claim_id",
    "verdict",
    "confidence_score",
    "evidence_snippet",
    "notes",
    "created_at",
)


def _session_row(session: LedgerSession) -> dict[str, Any]:
    """Return what of a session's row follows from it; when it was made, its first ledger says."""
    return {
        "id": session.id,
        "workspace_id": WORKSPACE,
        "title": session.title,
        "query": session.query,
        "mode": session.mode,
        "answer_name": session.answer_name,
        "answer": session.answer,
        "answer_sha256": sha256_hex(session.answer.encode()),
    }


def _claim_rows(session: LedgerSession) -> list[tuple[Any, ...]]:
    return [
        (
            claim.id,
            claim.text,
            claim.type.value,
            claim.importance.value,
            claim.requires_citation,
            claim.start,
            claim.end,
        )
        for claim in session.claims
    ]


def _ledger_row(session: LedgerSession) -> dict[str, Any]:
    ledger = session.ledger
    return {
        "id": ledger.id,
        "session_id": ledger.session_id,
        "previous_id": ledger.previous_ledger_id,
        "summary": ledger.summary.model_dump_json(),
        "risk_flags": _json([flag.model_dump(mode="json") for flag in ledger.risk_flags]),
        "follow_up_questions": _json(list(ledger.follow_up_questions)),
        "created_at": ledger.created_at,
    }


def _verdict_rows(session: LedgerSession) -> list[tuple[Any, ...]]:
    ledger = session.ledger
    return [
        (
            judged.id,
            ledger.session_id,
            judged.claim_id,
            judged.verdict.value,
            judged.confidence_score,
            _storable(judged.evidence_snippet),
            _storable(judged.notes),
            ledger.created_at,
            tuple(judged.evidence_chunk_ids),
        )
        for judged in ledger.entries
    ]


_JSON_COLUMNS: Final = ("summary", "risk_flags", "follow_up_questions")


def differing_rows(connection: Connection, tenant: str, session: LedgerSession) -> str | None:
    """Say which rows of a ledger are not those that follow from it; None if all are."""
    ledger = session.ledger
    found = _row(connection, tenant, "sessions", _session_row(session))
    if found != _session_row(session):
        return "session"
    sql = f"SELECT {', '.join(_CLAIM)} FROM claims WHERE tenant = ? AND session_id = ?"  # noqa: S608 - names are ours
    there = {tuple(row) for row in fetch(connection, sql, (tenant, session.id))}
    if not set(_claim_rows(session)) <= there:  # another ledger of it may judge others
        return "claims"
    wanted = _ledger_row(session)
    kept = _row(connection, tenant, "ledgers", wanted)
    for row in (wanted, kept):
        row |= {name: _ordered(row[name]) for name in _JSON_COLUMNS if name in row}
    if wanted != kept:
        return "ledger"
    sql = (
        f"SELECT {', '.join(_VERDICT)}, chunk_ids FROM evidence_ledger "  # noqa: S608 - names are ours
        "WHERE tenant = ? AND ledger_id = ?"
    )
    rows = fetch(connection, sql, (tenant, ledger.id))
    said = {(*row, _as_texts(chunk_ids)) for *row, chunk_ids in rows}
    is_same = said == set(_verdict_rows(session)) and len(said) == len(rows)
    return None if is_same else "verdicts"


def _row(
    connection: Connection, tenant: str, table: str, expected: dict[str, Any]
) -> dict[str, Any]:
    """Return the columns of a row that are expected; empty if the row is not there."""
    columns = ", ".join(f'"{name}"' for name in expected)
    sql = f"SELECT {columns} FROM {table} WHERE tenant = ? AND id = ?"  # noqa: S608 - names are ours
    for row in fetch(connection, sql, (tenant, expected["id"])):
        return dict(zip(expected, row, strict=True))
    return {}


def _as_texts(stored: Any) -> Any:
    """Return a column of texts as they were given; what is something else as one text."""
    try:
        found = json.loads(stored) if isinstance(stored, str) else stored
    except ValueError:
        return str(stored)
    is_texts = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return tuple(found) if is_texts else str(stored)


def _ordered(written: str) -> str:
    """Return JSON with its keys in order; what is none stays as it is."""
    try:
        return json.dumps(json.loads(written), sort_keys=True)
    except ValueError:
        return written


_WITHOUT = "AND NOT EXISTS (SELECT 1 FROM ledgers WHERE tenant = ? AND session_id = ?)"
"""Where a session has no ledger left."""


def erase_ledger(connection: Connection, tenant: str, entry: int) -> None:
    """Remove the rows of the ledger that an entry records.

    Its session and claims go with the last ledger of them. The database refuses unless the trail
    says that the entry was erased.
    """
    sql = "SELECT id, session_id FROM ledgers WHERE tenant = ? AND trail_seq = ?"
    for ledger, session in fetch(connection, sql, (tenant, entry)):
        remove_pages(connection, tenant, ledger)
        of = (tenant, session)
        deletions = [
            ("DELETE FROM evidence_ledger WHERE tenant = ? AND ledger_id = ?", (tenant, ledger)),
            ("DELETE FROM ledgers WHERE tenant = ? AND id = ?", (tenant, ledger)),
            (f"DELETE FROM claims WHERE tenant = ? AND session_id = ? {_WITHOUT}", 2 * of),  # noqa: S608 - the constant above
            (f"DELETE FROM sessions WHERE tenant = ? AND id = ? {_WITHOUT}", 2 * of),  # noqa: S608 - the same
        ]
        erase_rows(connection, "trail_erase_ledger", (tenant, entry), deletions)


def previous_ledger(connection: Connection, tenant: str, answer: str) -> str | None:
    """Return the id of the newest ledger of the same answer, whatever its session was called."""
    sql = (
        "SELECT l.id FROM ledgers l JOIN sessions s ON s.tenant = l.tenant AND s.id = l.session_id "
        "WHERE l.tenant = ? AND s.answer_sha256 = ? ORDER BY l.trail_seq DESC LIMIT 1"
    )
    rows = fetch(connection, sql, (tenant, sha256_hex(answer.encode())))
    return str(rows[0][0]) if rows else None


def ledgers_of_answer(
    connection: Connection, tenant: str, answer: str, *, since: int, limit: int
) -> list[ListedLedger]:
    """Return the newest ledgers of an answer that entries from a number on record."""
    sql = (
        f"{_LISTED} AND s.answer_sha256 = ? AND l.trail_seq >= ? ORDER BY l.trail_seq DESC LIMIT ?"
    )
    values = (tenant, sha256_hex(answer.encode()), since, limit)
    return [_listed(row) for row in fetch(connection, sql, values)]


def find_ledger(connection: Connection, tenant: str, name: str) -> ListedLedger:
    """Return the ledger of this id, the newest of a session, or `latest`, `latest~1` and so on."""
    if newest := find_newest(connection, tenant, _LISTED, "ledger", name):
        return _listed(newest)
    if name.isascii() and name.isprintable():  # as all ids are; others may not be text
        for column in ("l.id", "l.session_id"):
            sql = f"{_LISTED} AND {column} = ? ORDER BY l.trail_seq DESC LIMIT 1"
            for row in fetch(connection, sql, (tenant, name)):
                return _listed(row)
        if known := log.unexplained(connection, tenant, ("ledger",), name):
            entry, erased = known
            if erased:
                raise NotFoundError(f"ledger {name} (entry {entry}) was erased")
            raise IntegrityError(
                f"ledger {name}: entry {entry} of the trail records it, and the database does not "
                "have it; run 'evidentia ledger verify'"
            )
    raise NotFoundError(
        f"there is no ledger {name[:80]!r} of tenant {tenant!r}; 'evidentia ledger list' shows them"
    )


def recorded_ledgers(connection: Connection, tenant: str) -> list[tuple[str, int]]:
    """Return the ids of all ledgers and their entries, newest first, whatever else the rows say."""
    sql = "SELECT id, trail_seq FROM ledgers WHERE tenant = ? ORDER BY trail_seq DESC"
    return [tuple(row) for row in fetch(connection, sql, (tenant,))]


def list_ledgers(
    connection: Connection,
    tenant: str,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
    session: str | None = None,
    title: str | None = None,
) -> list[ListedLedger]:
    """Return ledgers, newest first if not asked otherwise, before or after an entry.

    `session` gives those of a session alone, `title` those in whose title a text stands.
    """
    sql = _LISTED
    values: list[str | int] = [tenant]
    if session is not None:
        sql += " AND l.session_id = ?"
        values.append(session)
    if title is not None:
        sql += " AND LOWER(s.title) LIKE LOWER(?) ESCAPE '!'"
        literal = _LIKE_MARKS.sub(r"!\g<0>", title)
        values.append(f"%{literal}%")
    end, places = in_order(before=before, after=after, limit=limit, oldest_first=oldest_first)
    return [_listed(row) for row in fetch(connection, sql + end, [*values, *places])]


def _listed(row: Any) -> ListedLedger:
    values = dict(zip(ListedLedger.__slots__, row, strict=True))
    try:
        summary = json.loads(values["summary"])
    except (TypeError, ValueError):
        raise IntegrityError(
            f"ledger {values['id']}: its row in the database is damaged; run 'evidentia ledger "
            "verify'"
        ) from None
    return ListedLedger(**{**values, "summary": summary})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _storable(text: str) -> str:
    """Return what a judge said as text to search by: PostgreSQL's has no NUL."""
    return text.replace("\0", "\ufffd")
