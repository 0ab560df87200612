"""`evidentia db`: the database behind the workspace."""

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, server_options, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evidentia.store.database import Database

app = typer.Typer(rich_markup_mode=None)


def _database(home: "Path | None", *, create: bool = False) -> "Database":
    found = settings(home)
    from evidentia.store.opening import open_database

    server = replace(server_options(found), read_url=None)
    return open_database(found.database_url, home=found.home, create=create, server=server)[0]


@app.command()
def upgrade(
    grant: Annotated[
        str | None,
        typer.Option(
            "--grant",
            metavar="ROLE",
            help="PostgreSQL: let this role append and read, and nothing else.",
        ),
    ] = None,
    contract: Annotated[
        bool,
        typer.Option("--contract", help="Take away, too, what only older programs need."),
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be done, and do nothing.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create or upgrade the schema of the database.

    EVIDENTIA_DATABASE_URL names it.

    On PostgreSQL run it as the role that owns the tables, and let the application connect as
    another one (--grant). The embedded database is upgraded by itself.

    Programs of the version before go on working meanwhile and behind it, until --contract.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.store import schema

    with closing(_database(home, create=not plan)) as database:
        now, later = schema.planned(database, contract=contract)
        done = False
        if not plan:
            tell: Callable[[str], None] = (lambda _: None) if as_json else partial(say, aside=True)
            done = schema.upgrade(database, contract=contract, tell=tell)
            if grant is not None:
                _grant(database, grant)
            if not database.is_sqlite:
                _upgrade_jobs(database, grant)
        with database.read() as connection:
            found = schema.state(connection)
    if as_json:
        print_json(
            {
                "revision": found.revision,
                "changed": done,
                "granted": None if plan else grant,
                "planned": [step._asdict() for step in now],
                "left": [step._asdict() for step in later],
            }
        )
        return
    if plan and found.revision is None:
        say(f"would make schema {now[-1].revision}")
    for step in now if plan and found.revision is not None else ():
        say(f"would apply {step}")
    if found.revision is None:
        say(f"{database.where}: has no schema yet")
    else:
        at = "upgraded to" if done else "is at"
        say(f"{database.where}: {at} schema {found.revision}", None if plan else "good")
    for step in later:
        say(f"left for 'evidentia db upgrade --contract': {step}", "unknown")
    if grant is not None and not plan:
        say(f"role {grant} may append and read", "good")


def _grant(database: "Database", role: str) -> None:
    """Give a role what appending takes; one that 'db roles' set up gets no more than it had."""
    from evidentia.store import listing
    from evidentia.store.sql import roles as rows

    if not database.is_sqlite:
        with database.write() as connection:
            found = rows.noted(connection)
            if found is not None and role == found.application:
                rows.renew(connection)
                return
    listing.grant(database, role)


def _upgrade_jobs(database: "Database", role: str | None) -> None:
    """Make the tables of the queue of jobs, where the server is installed, whose it is."""
    from importlib.util import find_spec

    if find_spec("dbos") is not None:
        from evidentia.jobs.queue import migrate
        from evidentia.store.sql import roles as rows

        migrate(database, role)
        with database.write() as connection:
            rows.renew_queue(connection)


@app.command()
def roles(
    run: Annotated[
        bool, typer.Option("--run", help="Run the SQL, instead of printing it.")
    ] = False,
    owner: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="Who has the tables, and upgrades them."),
    ] = None,
    application: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="Whom servers and programs connect as."),
    ] = None,
    sequencer: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="Whom the application becomes to append to a log."),
    ] = None,
    auditor: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="Who reads all tenants, and writes nothing."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set up PostgreSQL's roles, each with no more rights than it needs.

    Prints the SQL, of a database that has the tables ('evidentia db upgrade' makes them); with
    --run, runs it, and makes the tables if there are none. EVIDENTIA_DATABASE_URL names the
    database: connect as a superuser, or as a role with CREATEROLE that owns the tables.

    The owner has the tables; connect 'evidentia db upgrade' as it, or as a superuser. The
    application sees and writes the rows of one tenant in each transaction, the one that it named,
    and has no other right. The sequencer is who it becomes where it appends to a log or erases.
    The auditor reads all tenants: connect 'evidentia trail verify' as it.

    Roles are named evidentia_owner, evidentia_app, evidentia_sequencer and evidentia_auditor if
    you don't name them. A role that is not there is made, without a password: give the application
    and the auditor one. Roles that are there keep theirs. It may be run again at any time.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.errors import EnvironmentProblem
    from evidentia.store import schema
    from evidentia.store.sql import roles as rows

    if settings(home).database_url is None:
        raise EnvironmentProblem(
            "SQLite has no roles: set EVIDENTIA_DATABASE_URL to a postgresql:// URL"
        )
    given = {
        "owner": owner,
        "application": application,
        "sequencer": sequencer,
        "auditor": auditor,
    }
    with closing(_database(None)) as database:
        with database.read() as connection:
            is_fresh = schema.revision(connection) is None
        if run and is_fresh:
            schema.upgrade(database)
        schema.require_current(database)
        if run:
            _upgrade_jobs(database, None)
        with database.write() if run else database.read() as connection:
            names = rows.wanted(connection, given)
            steps = rows.steps(connection, names)
            where = rows.place(connection)
            if run:
                rows.do(connection, steps)
    if as_json:
        statements = [sql for step in steps for sql in step.statements]
        print_json({"roles": names.as_json(), "statements": statements, "run": run})
        return
    if not run:
        say(rows.script(where, steps))
        return
    say(f"{database.where}: the roles are set up", "good")
    for of, name in names.as_json().items():
        say(f"{of}: {name}", under=True)
    say("give the application and the auditor passwords, as by \\password in psql", aside=True)


@app.command()
def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Compare the schema with what it should be, and say which programs are connected.

    A line that begins with - should be there and isn't; one with + is there and shouldn't be. Exits
    with 1 if this program can't work with the schema, or something differs.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.store import listing, schema
    from evidentia.store.sql import activity

    database = _database(home)
    with database.read() as connection:
        found, needed = schema.state(connection), schema.head(database)
        compared = listing.compared(connection) if found.revision else None
        connected = activity.programs(connection)
    refused = schema.refusal(database)
    database.close()
    different = [] if compared is None else [*compared.wrong, *compared.unjudged]
    good = refused is None and compared is not None and not compared.wrong
    good = good and compared is not None and compared.newer is None
    if as_json:
        print_json(
            {
                "revision": found.revision,
                "serves_from": found.serves,
                "needed": needed,
                "differences": different,
                "connected": [one._asdict() for one in connected],
            }
        )
        raise typer.Exit(0 if good else 1)
    if refused is not None:
        say(refused, "bad")
        compared = None  # with another schema's listing: all of it would differ
    else:
        say(
            f"{database.where}: schema {found.revision}, this program needs {needed}",
            "good" if found.revision == needed else "unknown",
        )
    if found.serves not in {None, found.revision}:
        say(f"programs from schema {found.serves} on can use it", under=True)
    for note in () if compared is None else compared.notes:
        say(note, "unknown", under=True)
    for line in () if compared is None else compared.wrong:
        say(visible(line), "bad", under=True)
    if compared is not None and compared.left is not None:
        say(visible(compared.left), "unknown", under=True)
    for one in connected:
        say(f"connected: {visible(one)}", under=True)
    raise typer.Exit(0 if good else 1)


@app.command()
def describe(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Print the schema, a line for each table, index and guard."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.store import listing

    database = _database(home)
    with database.read() as connection:
        lines = listing.describe(connection)
    database.close()
    if as_json:
        print_json({"schema": lines})
        return
    for line in lines:
        say(visible(line))
