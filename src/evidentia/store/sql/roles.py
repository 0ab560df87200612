"""Roles of PostgreSQL: what each may do with which table, and the SQL that makes it so.

The owner has the tables and migrates them. The application reads and writes rows of the tenant that
its transaction named. The sequencer is who it becomes in a transaction that appends to a log: no
one else writes entries, heads, checkpoints and receipts, or erases. The auditor reads all tenants.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Final, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.store import listing
from evidentia.store.database import fetch, run
from evidentia.store.sql import log
from evidentia.store.tables import BUNDLE_SCHEMA

JOBS: Final = "evidentia_jobs"
"""The schema of the queue of jobs."""
_APPENDED: Final = frozenset({*log.TABLES, "trail_heads", "trail_receipts"})
_POSTED: Final = "trail_inbox"
_AUDITORS: Final = ("trail_strays()", "trail_tenants()")
_NOT_ALLOWED: Final = "42501"
_INHERIT_FROM: Final = 160_000
_NAME: Final = re.compile(r"[^\x00%]+")
_MOST_BYTES: Final = 63
_MOVED: Final = """
    SELECT format('ALTER %%s %%s OWNER TO', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN
    'VIEW' ELSE 'TABLE' END, c.oid::regclass) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'S', 'v') AND c.relowner IS DISTINCT FROM to_regrole(?)::oid
    AND (n.nspname = ? OR (n.nspname IN (current_schema(), ?) AND c.relname = ANY(?)))
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i')
    AND c.relkind = 'S') ORDER BY 1"""
_MOVED_FUNCTIONS: Final = r"""
    SELECT format('ALTER ROUTINE %%s OWNER TO', p.oid::regprocedure) FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.proowner IS DISTINCT FROM to_regrole(?)::oid
    AND (n.nspname = ? OR (n.nspname = current_schema() AND p.proname LIKE 'trail\_%%'))
    ORDER BY 1"""


@dataclass(frozen=True, slots=True)
class Roles:
    """What the roles are called."""

    owner: str = "evidentia_owner"
    application: str = "evidentia_app"
    sequencer: str = "evidentia_sequencer"
    auditor: str = "evidentia_auditor"

    def as_json(self) -> dict[str, str]:
        """Return the names, by what each role is."""
        return asdict(self)

    def __post_init__(self) -> None:
        names = list(asdict(self).values())
        for name in names:
            if not _NAME.fullmatch(name) or len(name.encode()) > _MOST_BYTES:
                raise InputError(f"{name[:80]!r} can't be a role: it has 1 to 63 bytes, no '%'")
        if len({*names}) < len(names):
            raise InputError(f"four roles need four names: {', '.join(names)}")


class Step(NamedTuple):
    """Statements that belong together, and what they are for."""

    what: str
    statements: Sequence[str]


def noted(connection: Connection) -> Roles | None:
    """Return the roles that were set up for this database; None if none were."""
    sql = "SELECT obj_description('trail_heads'::regclass, 'pg_class')"
    try:
        return Roles(**json.loads(fetch(connection, sql)[0][0]))
    except (TypeError, ValueError):  # no comment, or another one
        return None


def owner(connection: Connection) -> tuple[str, bool]:
    """Return who owns the tables, and whether that is a superuser."""
    sql = (
        "SELECT r.rolname, r.rolsuper FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner "
        "WHERE c.oid = 'alembic_version'::regclass"
    )
    ((name, is_super),) = fetch(connection, sql)
    return name, is_super


def wanted(connection: Connection, given: dict[str, str | None]) -> Roles:
    """Return what the roles are to be called: as given, as they are, or as they usually are.

    Whoever owns the tables goes on doing so, unless that is a superuser.
    """
    known = noted(connection) or Roles()
    name, is_super = owner(connection)
    if not is_super:
        known = replace(known, owner=name)
    return replace(known, **{of: one for of, one in given.items() if one is not None})


def steps(connection: Connection, roles: Roles) -> list[Step]:
    """Return what sets the roles up, or brings them up to date; it may be run again.

    Raise `EnvironmentProblem` where row-level security would not hold for one of them.
    """
    _refuse_unheld(connection, roles)
    return [
        Step("the roles; passwords are yours to set, as by \\password in psql", _made(roles)),
        Step(
            "the application may become the sequencer, and is not by itself",
            _member(connection, roles),
        ),
        Step(
            "the owner has the tables and functions, and may make others", _owned(connection, roles)
        ),
        Step("what each role may do", [*_rights(connection, roles)]),
        Step("the auditor reads the rows of all tenants", [*_policies(connection, roles.auditor)]),
        Step("what the next upgrade goes by", [_note(roles)]),
    ]


def place(connection: Connection) -> str:
    """Return the schema that the tables are in, as SQL writes it."""
    return str(fetch(connection, "SELECT quote_ident(current_schema())")[0][0])


def script(place: str, given: Sequence[Step]) -> str:
    """Return steps as psql runs them, all or none."""
    lines = ["BEGIN;", f"SET LOCAL search_path = {place}, pg_temp;"]
    for step in given:
        if step.statements:
            lines += ["", f"-- {step.what[0].upper()}{step.what[1:]}."]
            lines += [f"{sql};" for sql in step.statements]
    return "\n".join([*lines, "", "COMMIT;"])


def do(connection: Connection, given: Sequence[Step]) -> None:
    """Do what steps say, for who may make roles and owns the tables, or is a superuser."""
    try:
        for step in given:
            for sql in step.statements:
                run(connection, sql)
    except DBAPIError as error:
        if not _is_of_rights(error.orig):
            raise
        raise EnvironmentProblem(
            f"roles are set up by a superuser, or by who owns the tables and may make roles: "
            f"{str(error.orig).splitlines()[0]}"
        ) from error


def lacks_rights(error: EnvironmentProblem) -> bool:
    """Whether the database failed as the role that connects may not do what it was to do."""
    cause = error.__cause__
    return _is_of_rights(cause.orig if isinstance(cause, DBAPIError) else cause)


def act_as_owner(connection: Connection) -> None:
    """Do what follows in a transaction as who owns the tables, where roles were set up.

    So what a superuser makes is its as well.
    """
    if noted(connection) is not None:
        sql = (
            "SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class "
            "WHERE oid = 'trail_heads'::regclass AND pg_has_role(relowner, 'MEMBER')"
        )
        for (name,) in fetch(connection, sql):
            run(connection, f"SET LOCAL ROLE {name}")


def renew(connection: Connection) -> None:
    """Give the roles that were set up what new tables need; the tables' owner may."""
    roles = noted(connection)
    if roles is not None:
        for sql in (*_rights(connection, roles), *_policies(connection, roles.auditor)):
            run(connection, sql)


def unheld(connection: Connection) -> str | None:
    """Say why row-level security doesn't bind the role that connects; None if it does."""
    sql = (
        "SELECT r.rolname, r.rolsuper, r.rolbypassrls, pg_has_role(c.relowner, 'USAGE') "
        "FROM pg_roles r, pg_class c WHERE r.rolname = current_user "
        "AND c.oid = 'alembic_version'::regclass"
    )
    ((name, is_super, bypasses, owns),) = fetch(connection, sql)
    why = (
        "is a superuser"
        if is_super
        else "has BYPASSRLS"
        if bypasses
        else "owns the tables, and may change that"
        if owns
        else None
    )
    return why and f"row-level security doesn't bind the role {name}, which {why}"


def _is_of_rights(error: BaseException | None) -> bool:
    return getattr(error, "sqlstate", None) == _NOT_ALLOWED


def _refuse_unheld(connection: Connection, roles: Roles) -> None:
    sql = "SELECT rolname FROM pg_roles WHERE rolname = ANY(?) AND (rolsuper OR rolbypassrls)"
    wanted = [roles.application, roles.sequencer, roles.auditor]
    for (name,) in fetch(connection, sql, (wanted,)):
        raise EnvironmentProblem(
            f"role {name} is a superuser or has BYPASSRLS, and would see all tenants: name another"
        )


def _made(roles: Roles) -> list[str]:
    logins = {roles.application, roles.auditor}
    return [
        f"DO $$ BEGIN IF to_regrole({_text(_quote(name))}) IS NULL THEN CREATE ROLE {_quote(name)} "
        f"{'LOGIN' if name in logins else 'NOLOGIN'}; END IF; END $$"
        for name in asdict(roles).values()
    ]


def _member(connection: Connection, roles: Roles) -> list[str]:
    sequencer, application = _quote(roles.sequencer), _quote(roles.application)
    ((version,),) = fetch(connection, "SELECT current_setting('server_version_num')::int")
    if version >= _INHERIT_FROM:
        return [f"GRANT {sequencer} TO {application} WITH INHERIT FALSE, SET TRUE"]
    return [f"ALTER ROLE {application} NOINHERIT", f"GRANT {sequencer} TO {application}"]


def _owned(connection: Connection, roles: Roles) -> list[str]:
    to = _quote(roles.owner)
    ((schema, database),) = fetch(
        connection, "SELECT quote_ident(current_schema()), quote_ident(current_database())"
    )
    sql = "SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname = ANY(?) ORDER BY 1"
    others = [name for (name,) in fetch(connection, sql, ([BUNDLE_SCHEMA, JOBS],))]
    names = [*(table.rpartition(".")[2] for table in listing.TABLES), "alembic_version"]
    moved = fetch(connection, _MOVED, (to, JOBS, BUNDLE_SCHEMA, names))
    moved += fetch(connection, _MOVED_FUNCTIONS, (to, JOBS))
    return [
        f"GRANT CREATE ON DATABASE {database} TO {to}",
        f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC",
        f"GRANT CREATE, USAGE ON SCHEMA {schema} TO {to}",
        *(f"ALTER SCHEMA {name} OWNER TO {to}" for name in others),
        *(f"{begin} {to}" for (begin,) in moved),
        *(
            f"ALTER POLICY across_tenants ON {table} TO {to}"
            for table in _without(connection, "across_tenants", roles.owner)
        ),
    ]


def _rights(connection: Connection, roles: Roles) -> Iterator[str]:
    ((schema,),) = fetch(connection, "SELECT quote_ident(current_schema())")
    of = {one.name: _quote(getattr(roles, one.name)) for one in fields(Roles)}
    others = ", ".join((of["application"], of["sequencer"], of["auditor"]))
    yield f"GRANT USAGE ON SCHEMA {schema}, {BUNDLE_SCHEMA} TO {others}"
    yield f"GRANT SELECT ON alembic_version TO {others}"
    for table in listing.TABLES:
        yield f"REVOKE ALL ON {table} FROM PUBLIC, {others}"
        whole = listing.rights(table)
        own = "SELECT" if table in _APPENDED else "SELECT, INSERT" if table == _POSTED else whole
        yield f"GRANT {own} ON {table} TO {of['application']}"
        yield f"GRANT {whole} ON {table} TO {of['sequencer']}"
        yield f"GRANT SELECT ON {table} TO {of['auditor']}"
    yield f"GRANT {listing.HEADS_MOVE} ON trail_heads TO {of['sequencer']}"
    for function in listing.ERASING:
        yield f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC, {others}"
        yield f"GRANT EXECUTE ON FUNCTION {function} TO {of['sequencer']}"
    for function in listing.ASKING:
        also = f", {of['auditor']}" if function in _AUDITORS else ""
        yield f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC, {others}"
        yield (
            f"GRANT EXECUTE ON FUNCTION {function} TO {of['application']}, {of['sequencer']}{also}"
        )
    if fetch(connection, "SELECT FROM pg_namespace WHERE nspname = ?", (JOBS,)):
        application, jobs = of["application"], _quote(JOBS)
        yield f"GRANT USAGE ON SCHEMA {jobs} TO {application}"
        rights = "SELECT, INSERT, UPDATE, DELETE"
        yield f"REVOKE ALL ON ALL TABLES IN SCHEMA {jobs} FROM {application}"
        yield f"GRANT {rights} ON ALL TABLES IN SCHEMA {jobs} TO {application}"
        yield f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {jobs} TO {application}"
        yield f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {jobs} TO {application}"


def _policies(connection: Connection, auditor: str) -> Iterator[str]:
    for table in _without(connection, "all_tenants", auditor):
        yield f"DROP POLICY IF EXISTS all_tenants ON {table}"
        yield f"CREATE POLICY all_tenants ON {table} FOR SELECT TO {_quote(auditor)} USING (true)"


def _without(connection: Connection, policy: str, role: str) -> Iterable[str]:
    """Return the tables of tenants where a policy is not there for a role, or for others too.

    To change one waits for all who use its table: those that are as they should be stay.
    """
    sql = (
        "SELECT c.oid::regclass::text FROM pg_policy y JOIN pg_class c ON c.oid = y.polrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN (current_schema(), ?) "
        "WHERE y.polname = 'of_tenant' AND NOT EXISTS (SELECT FROM pg_policy o "
        "WHERE o.polrelid = c.oid AND o.polname = ? "
        "AND o.polroles = ARRAY[to_regrole(?)::oid]) ORDER BY 1"
    )
    return [name for (name,) in fetch(connection, sql, (BUNDLE_SCHEMA, policy, _quote(role)))]


def _note(roles: Roles) -> str:
    return f"COMMENT ON TABLE trail_heads IS {_text(json.dumps(asdict(roles)))}"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
