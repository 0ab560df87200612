"""Tenants on PostgreSQL don't see each other: every query of the store is asked as another one.

What the store is asked for while a tenant works with everything there is, is written down, call by
call. Each call is made again in a transaction of another tenant: it must give what it gives in an
empty database, and change nothing. A query that nothing here calls fails the tests.
"""

import inspect
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import CodeType, FrameType
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, event, make_url
from sqlalchemy.exc import SQLAlchemyError

import evidentia.store.sql
from evidentia.errors import EnvironmentProblem, EvidentiaError, NotFoundError
from evidentia.store import listing
from evidentia.store.database import Database, run
from evidentia.store.lake import Placed
from evidentia.store.sql import (
    across,
    bundles,
    copying,
    corpus_nodes,
    embeddings,
    idempotency,
    inbox,
    jobs,
    ledger_pages,
    ledgers,
    library,
    log,
    objects,
    openfga,
    packs,
    snapshots,
    spans,
    statistics,
    timeline,
    uses,
)
from evidentia.store.sql.jobs import JobRow
from evidentia.store.sql.library import Reading
from evidentia.store.sql.spans import Closing, WaitingSpan
from evidentia.store.tables import metadata
from evidentia.trail.posting import Posted
from evidentia.trail.waiting import waiting
from evidentia.workspace import Workspace, open_workspace
from postgres import ROLES, PostgresServer
from workspace.one_of_everything import fill
from workspace.policies import read_here

THEIRS, OURS = "default", "acme"
_MOST_CALLS = 12
_FIRST_STEPS = 8
APART = {
    "across": "all tenants: each question is a function, tried below",
    "activity": "which programs are connected",
    "integrity": "the schema, and what is asked across",
    "roles": "the roles, which are all tenants'",
}
"""Modules whose queries are of no tenant, and what they are of."""
ALIKE = {
    "embeddings.forget_contents": "what it removes is remembered to be there by no one",
    "jobs.leave": "runners are of no tenant",
    "jobs.living": "runners are of no tenant",
    "jobs.may_make_schema": "it asks of the role",
    "jobs.renew": "runners are of no tenant",
    "jobs.seconds_now": "it asks the clock",
    "copying.columns_there": "the schema's",
    "copying.first_filled": "it looks at runners, too, who are of no tenant",
    "copying.tenants": "which tenants there are, as `across` says",
    "library.lock_library": "a lock by the tenant's name",
    "uses.hold_lake": "a lock by the tenant's name",
}
"""Queries that no tenant's rows make a difference to."""
SOUND = frozenset(
    {"library.other_rows", "library.wrong_anchors", "log.erased_since", "log.stray_rows"}
)
"""Queries that find nothing where nothing is wrong or erased."""


def queries() -> dict[str, Callable[..., Any]]:
    """Return the functions of the store that ask the database something, by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for package in pkgutil.iter_modules(evidentia.store.sql.__path__):
        if package.name in APART:
            continue
        module = import_module(f"evidentia.store.sql.{package.name}")
        for name, one in vars(module).items():
            if inspect.isfunction(one) and one.__module__ == module.__name__ and name[0] != "_":
                first = next(iter(inspect.signature(one).parameters.values()), None)
                if first is not None and first.annotation is Connection:
                    found[f"{package.name}.{name}"] = one
    return found


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call gives, or how it is refused."""
    try:
        found = call()
        if isinstance(found, Iterator):
            found = list(found)
    except (EvidentiaError, LookupError, SQLAlchemyError) as error:
        return type(error), getattr(getattr(error.__cause__, "orig", None), "sqlstate", None)
    return found


class Heard:
    """The calls of queries that were made, each with what it was given."""

    def __init__(self) -> None:
        self.queries = queries()
        self.calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}
        self._codes: dict[CodeType, str] = {
            one.__code__: name for name, one in self.queries.items()
        }

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear what is called, in any thread."""
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _hear(self, frame: FrameType, what: str, _: object) -> None:
        name = self._codes.get(frame.f_code) if what == "call" else None
        goes_on = frame.f_code.co_flags & inspect.CO_GENERATOR and frame.f_lasti > _FIRST_STEPS
        if name is None or goes_on:
            return
        calls = self.calls.setdefault(name, [])
        if len(calls) >= _MOST_CALLS:
            return
        given = dict(frame.f_locals)
        if any(isinstance(one, Iterator) for one in given.values()):
            return
        positional, named = [], {}
        for parameter in list(inspect.signature(self.queries[name]).parameters.values())[1:]:
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = given[parameter.name]
            else:
                positional.append(given[parameter.name])
        calls.append((tuple(positional), named))


def ask_the_rest(workspace: Workspace) -> None:  # noqa: PLR0915 - a list
    """Ask what no work of a workspace asks by itself, with what is there to be found."""
    now, tenant = "2026-11-01T09:00:00.000000Z", workspace.tenant
    later = "2099-01-01T00:00:00.000000Z"
    bundle, pack = workspace.bundles.list()[0], workspace.packs.list()[0]
    ledger = workspace.ledgers.list()[0]
    chunk = next(iter(workspace.documents.list()))
    database = workspace.opened.database.of(tenant)
    with database.write(sequencing=True) as c:
        (artifact,) = list(bundles.artifacts_of(c, tenant, bundle.bundle_id))[:1] or ["0" * 64]
        bundles.bundles_of_run(c, tenant, "run-1")
        bundles.items_of(c, tenant, bundle.bundle_id)
        bundles.list_bundles(c, tenant)
        bundles.runs_of_artifact(c, tenant, artifact)
        bundles.runs_of_bundle(c, tenant, bundle.bundle_id)
        bundles.shows_artifact(c, tenant, artifact)
        run(c, "INSERT INTO trail_idempotency VALUES ('default', 'key', 0)")
        embeddings.store_embeddings(c, tenant, "m" * 64, {"c" * 64: b"there"})
        embeddings.stored_embeddings(c, tenant, "m" * 64, ["c" * 64])
        embeddings.forget_contents(c, tenant, ["d" * 64])
        embeddings.remove_embeddings(c, tenant, "m" * 64, ["d" * 64])
        key = (tenant, "ann", "key")
        idempotency.claim(c, key, "request", "0" * 64, now)
        idempotency.find(c, key)
        idempotency.answer(c, key, "request", (200, "{}", b"said"))
        idempotency.claim(c, (tenant, "ann", "left"), "request", "0" * 64, now)
        idempotency.take_over(c, (tenant, "ann", "left"), "request", "request", now)
        idempotency.forget(c, tenant, "2000")
        inbox.post(c, [Posted(tenant, "ticket", later, 1, b"content", b"code")])
        inbox.waits(c, tenant, "ticket")
        inbox.withdraw(c, tenant, ["none"])
        inbox.answer(c, [(tenant, "answered", later, "{}")])
        inbox.said(c, tenant, ["answered"])
        inbox.forget(c, tenant, "2000")
        job = jobs.insert(
            c,
            JobRow(
                tenant,
                "job",
                0,
                "audit",
                "ann",
                "{}",
                "queued",
                0,
                1,
                1,
                0,
                None,
                None,
                None,
                now,
                now,
                None,
            ),
        )
        named = (tenant, "job")
        job = jobs.change(c, job, jobs.Change(state="running"), now)
        jobs.ask_to_cancel(c, job, now)
        jobs.give_to(c, job, "run_1")
        jobs.note_entry(c, named, 1, 3)
        jobs.note_outcome(c, named, 1, "{}")
        for ask in (jobs.find, jobs.items):
            ask(c, named)
        jobs.item(c, named, 1)
        jobs.events(c, named, 0, 10)
        jobs.page(c, tenant, state=None, kind=None, before=None, limit=None)
        jobs.insert(c, replace(job, id="old", state="queued", events=1))
        jobs.renew(c, "run_1")
        jobs.living(c, 60)
        jobs.leave(c, "run_2")
        jobs.seconds_now(c)
        jobs.may_make_schema(c, "evidentia_jobs")
        ledger_pages.keep_pages(c, tenant, "a ledger", [(b"page", b"path")])
        answer = str(run(c, "SELECT min(answer) FROM sessions").scalar())
        ledgers.ledgers_of_answer(c, tenant, answer, since=0, limit=9)
        ledgers.list_ledgers(c, tenant)
        ledgers.find_ledger(c, tenant, "latest")
        document = library.newest_version(c, tenant, chunk.id)
        assert document is not None
        library.documents_in(c, tenant, {chunk.id})
        library.texts_of(
            c, tenant, [str(run(c, "SELECT min(content) FROM document_chunks").scalar())]
        )
        anchor = run(c, "SELECT min(anchor) FROM citation_anchors").scalar()
        library.anchored_chunks(c, tenant, str(anchor))
        library.resolve_anchor(c, tenant, str(anchor))
        size = log.require_head(c, tenant).size
        log.checkpoint_of(c, tenant, size)
        (key_id,) = log.notes(c, tenant, size)
        log.checkpoint_note(c, tenant, size, key_id)
        log.entries_about(c, tenant, "key", [row[2] for row in log.find_entries(c, tenant)])
        log.entries_of_kinds(c, tenant, ["key"], (0, size))
        list(log.entry_bytes(c, tenant, 0, size))
        log.last_signed(c, tenant, size)
        list(log.newest_checkpoints(c, tenant, size))
        log.tables_with(c, tenant)
        run(c, "INSERT INTO trail_tiles VALUES ('default', 0, 0, 'tile')")
        log.tile_data(c, tenant, 0, 0)
        log.stray_tiles(c, tenant, 0)
        list(log.tiles_between(c, tenant, 0, 0, 1))
        run(c, "INSERT INTO trail_tiles VALUES ('default', 1, 0, 'tile')")
        list(log.tiles_above(c, tenant))
        _, kind, subject, *_ = log.find_entries(c, tenant)[1]
        log.unexplained(c, tenant, [kind], subject)
        objects.place(c, tenant, [Placed("d" * 64, "key", "version")])
        found = objects.find(c, tenant, "d" * 64)
        assert found is not None
        objects.lock(c, tenant, replace(found, mode="GOVERNANCE"))
        objects.forget(c, tenant, ["e" * 64])
        ask_openfga(c, tenant)
        ask_copying(c, tenant)
        uses.condemn(c, tenant, ["8" * 64])
        packs.created_before(c, tenant, later)
        digest = str(run(c, "SELECT min(digest) FROM pack_attachments").scalar())
        packs.having_attached(c, tenant, digest)
        packs.list_packs(c, tenant)
        snapshots.keep_nodes(c, tenant, {b"hash": b"node"})
        snapshots.keep_snapshot(c, tenant, "note")
        snapshots.node_data(c, tenant, b"hash")
        snapshots.remove_nodes(c, tenant, [b"none"])
        left = [WaitingSpan("open", "span", "0" * 64, b"{}", is_root=True)]
        spans.put_down(c, (tenant, "ann", None), left, Closing(now, now))
        left = [WaitingSpan("left", "span", "0" * 64, b"{}", is_root=True)]
        spans.put_down(c, (tenant, "ann", None), left, Closing(now, now))
        given = [WaitingSpan("trace", "span", "0" * 64, b"{}", is_root=True)]
        spans.put_down(c, (tenant, "ann", None), given, Closing(now, now))
        spans.find(c, (tenant, "trace"))
        spans.open_traces(c, tenant, 9)
        kept = spans.of_trace(c, tenant, "trace")
        spans.take(c, tenant, ["trace"], "job")
        spans.give_back(c, tenant, now)
        spans.put_off(c, (tenant, "trace"), now, "a problem")
        spans.settle(c, (tenant, "trace"), kept, None, now)
        spans.forget(c, tenant, "2000")
        spans.take(c, tenant, ["left"], "no job")
        statistics.ledgers_by_day(c, tenant, "2000-01-01", "2099-01-01")
        timeline.first_since(c, tenant, size, "2000-01-01T00:00:00.000000Z")
        timeline.numbers(c, tenant, limit=9, newest_first=False)
        timeline.subjects_about(c, tenant, "dec_1")
        uses.hold_lake(c, tenant)
        uses.condemn(c, tenant, ["f" * 64])
        uses.copies(c, tenant, ["f" * 64])
        uses.removed(c, tenant, {"f" * 64: 0})
        uses.removals(c, tenant, ["f" * 64])
        uses.condemn(c, tenant, ["9" * 64])
        uses.is_used(c, tenant, document.sha256)
        list(uses.used(c, tenant))
    with database.read() as c:
        head = log.require_head(c, tenant)
        spans.open_traces(c, tenant, 9)
        uses.condemned(c, tenant)
        corpus_nodes.node_data(c, tenant, next(iter(corpus_nodes.nodes(c, tenant)))[0])
        ledger_pages.pages(c, tenant, "a ledger")
        library.documents_in(c, tenant, {document.collection_id or ""})
    for change in (
        lambda c: openfga.go_on(c, (tenant, "store"), "holder", 2),
        lambda c: openfga.told_all(c, (tenant, "store"), 99),
        lambda c: uses.settle_removals(c, tenant, ["8" * 64]),
        lambda c: jobs.forget(c, (tenant, "job")),
        lambda c: embeddings.remove_embeddings(c, tenant, "m" * 64, ["c" * 64]),
        lambda c: idempotency.forget(c, tenant, later),
        lambda c: inbox.forget(c, tenant, "3"),
        lambda c: inbox.withdraw(c, tenant, ["ticket"]),
        lambda c: objects.forget(c, tenant, ["d" * 64]),
        lambda c: snapshots.remove_nodes(c, tenant, [b"hash"]),
        lambda c: spans.forget(c, tenant, later),
        lambda c: spans.give_back(c, tenant, now),
        lambda c: spans.take(c, tenant, ["open"], "job"),
        lambda c: log.move_head(c, head, head._replace(size=head.size + 1)),
        lambda c: ledger_pages.remove_pages(c, tenant, "a ledger"),
        lambda c: corpus_nodes.remove_nodes(c, tenant),
        lambda c: bundles.erase_bundle(c, tenant, bundle.entry),
        lambda c: bundles.erase_run(c, tenant, bundle.entry + 1),
        lambda c: ledgers.erase_ledger(c, tenant, ledger.entry),
        lambda c: packs.erase_pack(c, tenant, pack.entry),
        lambda c: log.erase_body(c, tenant, 0),
        lambda c: library.erase_chunks(c, tenant, Reading(document.id, document.sha256, 1)),
        lambda c: library.erase_title(c, tenant, document.id, document.version),
        lambda c: log.append_each(c, head, [[waiting("evidence", "ob", {}, now, bytes(16))]]),
        lambda c: log.append(c, head, [waiting("evidence", "ob", {}, now, bytes(16))]),
    ):  # which the guards refuse, or is given up: they are asked all the same
        with suppress(EvidentiaError), database.write(sequencing=True) as c:
            change(c)
            c.rollback()


def ask_openfga(c: Connection, tenant: str) -> None:
    """Ask what is asked of what is on its way to OpenFGA."""
    of, now, later = (tenant, "store"), "2026-11-01T09:00:00Z", "2099-01-01T00:00:00Z"
    first, second, third = (openfga.Pending(name, 1, 0, None) for name in "abc")
    openfga.claim(c, of, "holder", now, later)
    openfga.go_on(c, of, "holder", 1)
    openfga.followed(c, *of)
    openfga.changed(c, tenant, (0, 99), 99)
    openfga.put(c, of, [first, second, third], now)
    openfga.due(c, of, later, 9)
    openfga.waiting(c, of)
    openfga.put_off(c, of, first, later, "a problem")
    openfga.told(c, of, [second])
    openfga.told_all(c, of, 0)
    openfga.put(c, of, [second], now)
    openfga.claim(c, of, "holder", later, "2999-01-01T00:00:00Z")
    pack = openfga.all_packs(c, tenant)[0]
    openfga.chain_of(c, tenant, pack[0])


def ask_copying(c: Connection, tenant: str) -> None:
    """Ask what a backup asks, and what restoring one does."""
    copying.tenants(c)
    copying.first_filled(c)
    copying.columns_there(c, "jobs")
    for table in copying.copied():
        found = list(copying.rows(c, tenant, table))
        if table.name == "ledger_pages":
            copying.write(c, tenant, table, [["another ledger", *row[1:]] for row in found[:1]])


@contextmanager
def counting(connection: Connection) -> Iterator[list[int]]:
    """Give how many rows each statement found or touched."""
    counts: list[int] = []

    def count(_: Connection, cursor: Any, *__: object) -> None:
        counts.append(cursor.rowcount)

    event.listen(connection, "after_cursor_execute", count)
    try:
        yield counts
    finally:
        event.remove(connection, "after_cursor_execute", count)


def asked(database: Database, tenant: str, call: Callable[[Connection], Any]) -> Any:
    """Return what a call gives in a transaction of a tenant that is given up: rows counted, too."""
    counts: list[int] = []

    def ask() -> Any:
        nonlocal counts
        with database.of(tenant).write(sequencing=True) as connection:
            with counting(connection) as counts:
                found = call(connection)
                found = list(found) if isinstance(found, Iterator) else found
            connection.rollback()
            return found

    return outcome(ask), counts


@dataclass(frozen=True)
class Filled:
    """A database with everything of one tenant, an empty one, and what was asked of the first."""

    server: PostgresServer
    name: str
    full: Database
    empty: Database
    heard: Heard

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """Return a table's rows, as a superuser sees them."""
        with psycopg.connect(self.server.url(self.name)) as connection:
            return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2".encode()).fetchall()


@pytest.fixture(scope="module")
def filled(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder, heard = tmp_path_factory.mktemp("theirs"), Heard()
    with postgres.fresh_database() as url, postgres.fresh_database() as other:
        theirs = postgres.as_application(url)
        with pytest.MonkeyPatch.context() as patched:
            read_here(patched)
            with (
                open_workspace(theirs, tenant=THEIRS, home=folder / "home") as workspace,
                heard.listening(),
            ):
                fill(workspace, folder / "docs")
                workspace.whole.audit()
                ask_the_rest(workspace)
        full, empty = Database.server(theirs), Database.server(postgres.as_application(other))
        yield Filled(postgres, str(make_url(url).database), full, empty, heard)
        full.close()
        empty.close()


def test_every_query_of_the_store_was_asked(filled: Filled) -> None:
    missing = sorted(filled.heard.queries.keys() - filled.heard.calls.keys())
    assert missing == [], "ask it in `ask_the_rest`, or say in `APART` why it is of no tenant"


def test_a_tenant_asks_anothers_every_query_as_in_an_empty_database(filled: Filled) -> None:
    before = {table: filled.rows(table) for table in metadata.tables}
    seen: set[str] = set()
    for name, calls in filled.heard.calls.items():
        for given, named in calls:
            query = partial(_called, filled.heard.queries[name], given, named)
            ours = asked(filled.full, OURS, query)
            if name not in ALIKE:
                assert ours == asked(filled.empty, OURS, query), (name, given)
            if ours != asked(filled.full, THEIRS, query):
                seen.add(name)
    assert (
        sorted(filled.heard.calls.keys() - seen - ALIKE.keys() - SOUND) == []
    )  # each finds something
    assert {table: filled.rows(table) for table in metadata.tables} == before


def _called(
    query: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], connection: Connection
) -> Any:
    return query(connection, *given, **named)


NONE = (NotFoundError, None)


def test_what_keeps_a_connection_and_asks_later_sees_no_other_tenant_either(
    filled: Filled,
) -> None:
    kept = {
        one
        for package in pkgutil.iter_modules(evidentia.store.sql.__path__)
        for one in vars(import_module(f"evidentia.store.sql.{package.name}")).values()
        if inspect.isclass(one) and one.__module__.startswith(evidentia.store.sql.__name__)
        if any(
            parameter.annotation is Connection
            for parameter in inspect.signature(one).parameters.values()
        )
    }
    assert kept == {library.IssuedAnchors}, "ask what it asks, below"
    rows = filled.rows("citation_anchors")
    columns = list(metadata.tables["citation_anchors"].columns.keys())
    found = dict(zip(columns, rows[0], strict=True))
    anchor, chunk = found["anchor"], found["chunk_hash"]
    for tenant, is_there in ((THEIRS, True), (OURS, False)):
        with filled.full.of(tenant).read() as connection:
            issued = library.IssuedAnchors(connection, THEIRS)
            assert (issued.get(anchor) == chunk) == is_there
            assert outcome(partial(issued.of, chunk)) == (anchor if is_there else NONE)
            assert (anchor in list(issued)) == is_there
            assert bool(len(issued)) == is_there


# Each table, whatever is asked of it

WITH_TENANT = [name for name, table in metadata.tables.items() if "tenant" in table.columns]


def refused(database: Database, tenant: str | None, sql: str, values: tuple[Any, ...] = ()) -> str:
    """Return why a statement is refused, or '' if it touches no row."""
    one = database.unbound if tenant is None else database.of(tenant)
    try:
        with one.write(sequencing=True) as connection:
            counted = connection.exec_driver_sql(sql, values).rowcount
            connection.rollback()
    except EvidentiaError as error:
        return str(getattr(getattr(error.__cause__, "orig", None), "sqlstate", error))
    assert counted == 0
    return ""


def test_nobodys_rows_and_no_others_are_seen_or_touched_in_any_table(filled: Filled) -> None:
    for table in WITH_TENANT:
        rows = filled.rows(table)
        if table != "chunk_embeddings":
            assert rows, f"{table}: nothing is in it that could be seen"
        for tenant in (OURS, None):
            one = filled.full.unbound if tenant is None else filled.full.of(tenant)
            with one.read() as connection:
                assert run(connection, f"SELECT count(*) FROM {table}").scalar() == 0, table
                with connection.connection.cursor().copy(f"COPY {table} TO STDOUT") as copied:
                    assert list(copied) == [], table
            for sql in (f"UPDATE {table} SET tenant = '{OURS}'", f"DELETE FROM {table}"):
                assert refused(filled.full, tenant, sql) in {"", "42501"}, sql
            for row in rows[:1]:
                marks = ", ".join("%s" for _ in row)
                sql = f"INSERT INTO {table} VALUES ({marks})"
                assert refused(filled.full, tenant, sql, row) == "42501", sql
            assert refused(filled.full, tenant, f"TRUNCATE {table}") == "42501"
            assert refused(filled.full, tenant, f"COPY {table} FROM STDIN") in {"42501", "0A000"}


def test_whoever_is_no_sequencer_writes_no_log_and_erases_nothing(filled: Filled) -> None:
    theirs = filled.full.of(THEIRS)
    with theirs.read() as connection:
        assert log.require_head(connection, THEIRS).size
    for sql in (
        "INSERT INTO trail_entries SELECT tenant, 999, kind, subject, entry FROM trail_entries",
        "UPDATE trail_heads SET size = size + 1",
        "DELETE FROM trail_inbox",
        "INSERT INTO trail_receipts VALUES ('default', 't', 'u', 's')",
        "INSERT INTO trail_checkpoints VALUES ('default', 1, 'k', 'n')",
        f"SELECT trail_erase_body('{THEIRS}', 0)",
        "ALTER TABLE trail_entries DISABLE TRIGGER USER",
        "ALTER TABLE trail_entries NO FORCE ROW LEVEL SECURITY",
        "CREATE TABLE mine ()",
        f"SET LOCAL ROLE {ROLES.owner}",
        f"SET LOCAL ROLE {ROLES.auditor}",
    ):
        with (
            pytest.raises(EnvironmentProblem, match=r"permission denied|must be owner"),
            theirs.write() as connection,
        ):
            run(connection, sql)


@pytest.mark.parametrize("everyone", ["on", ""])
def test_what_erases_asks_whose_transaction_it_is_in(filled: Filled, everyone: str) -> None:
    for call in (
        "trail_erase_body('default', 0)",
        "trail_erase_bundle('default', 0)",
        "trail_erase_chunks('default', '', '', 0)",
        "trail_erase_ledger('default', 0)",
        "trail_erase_pack('default', 0)",
        "trail_erase_run('default', 0)",
        "trail_erase_title('default', '', 0)",
    ):
        for one in (filled.full.of(OURS), filled.full):
            with (
                pytest.raises(EnvironmentProblem, match="rows of tenant default are none of this"),
                one.write(sequencing=True) as connection,
            ):
                run(
                    connection, f"SELECT set_config('evidentia.across', '{everyone}', true), {call}"
                )
    with psycopg.connect(filled.server.url(filled.name)) as superuser:
        sql = "SELECT proname::text FROM pg_proc WHERE prosecdef AND proname LIKE 'trail\\_%%'"
        found = {name for (name,) in superuser.execute(sql).fetchall()}
    known = {one.partition("(")[0] for one in (*listing.ERASING, *listing.ASKING)}
    assert found == known


def test_what_asks_of_all_tenants_tells_names_alone_and_leaves_no_door_open(filled: Filled) -> None:
    for one in (filled.full, filled.full.of(OURS)):
        with one.write() as connection:
            assert across.tenants(connection) == [THEIRS]
            assert [job.id for job in across.open_jobs(connection)] == ["job", "old"]
            assert across.jobs_ended(connection, "2000") == []
            assert [due.trace_id for due in across.traces_due(connection, "2099", 1)] == ["open"]
            assert across.traces_left(connection) == [THEIRS]
            assert across.traces_recorded(connection, "2099") == [THEIRS]
            assert across.requests_answered(connection, "2099") == [THEIRS]
            assert across.strays(connection) == []
            assert across.waiting(connection) == []
            assert run(connection, "SELECT count(*) FROM trail_heads").scalar() == 0
            run(connection, "SET LOCAL evidentia.across = 'on'")  # which is the owner's alone
            assert run(connection, "SELECT count(*) FROM trail_heads").scalar() == 0


def test_the_auditor_reads_all_tenants_and_writes_nothing(filled: Filled) -> None:
    database = Database.server(filled.server.url(filled.name, ROLES.auditor))
    with database.read() as connection:
        assert run(connection, "SELECT DISTINCT tenant FROM trail_entries").scalar() == THEIRS
        assert across.tenants(connection) == [THEIRS]
    for table in WITH_TENANT:
        with (
            pytest.raises(EnvironmentProblem, match="permission denied"),
            database.of(THEIRS).write(sequencing=True) as connection,
        ):
            run(connection, f"DELETE FROM {table}")
    database.close()


def test_a_reference_to_anothers_row_is_refused(filled: Filled) -> None:
    sql = (
        "INSERT INTO claims (tenant, session_id, id, claim_text, claim_type, importance, "
        "start_offset, end_offset) VALUES ('acme', 'none', 'c', 'text', 'fact', 'minor', 0, 1)"
    )
    assert refused(filled.full, OURS, sql) == "23503"  # as for a session that is nowhere
