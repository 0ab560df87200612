"""`evidentia db`: the database behind the workspace."""

from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, settings

if TYPE_CHECKING:
    from pathlib import Path

    from evidentia.store.database import Database

app = typer.Typer(rich_markup_mode=None)


def _database(home: "Path | None", *, create: bool = False) -> "Database":
    found = settings()
    from evidentia.store.opening import open_database

    url = found.database_url if home is None else None
    return open_database(url, home=home or found.home, create=create)[0]


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
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create or upgrade the schema of the database.

    EVIDENTIA_DATABASE_URL names it.

    On PostgreSQL run it as the role that owns the tables, and let the application connect as
    another one (--grant). The embedded database is upgraded by itself.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.store import listing, schema

    database = _database(home, create=True)
    done, needed = schema.upgrade(database), schema.head(database)
    if grant is not None:
        listing.grant(database, grant)
    if not database.is_sqlite:
        _upgrade_jobs(database, grant)
    database.close()
    if as_json:
        print_json({"revision": needed, "changed": done, "granted": grant})
        return
    say(f"{database.where}: {'upgraded to' if done else 'is at'} schema {needed}", "good")
    if grant is not None:
        say(f"role {grant} may append and read", "good")


def _upgrade_jobs(database: "Database", role: str | None) -> None:
    """Make the tables of the queue of jobs, where the server is installed, whose it is."""
    from importlib.util import find_spec

    if find_spec("dbos") is not None:
        from evidentia.jobs.queue import migrate

        migrate(database, role)


@app.command()
def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Compare the schema with what it should be."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.store import listing, schema

    database = _database(home)
    with database.read() as connection:
        found, needed = schema.revision(connection), schema.head(database)
        different = listing.differences(connection) if found else []
    database.close()
    good = found == needed and not different
    if as_json:
        print_json({"revision": found, "needed": needed, "differences": different})
        raise typer.Exit(0 if good else 1)
    say(
        f"{database.where}: schema {found or 'none'}, this program needs {needed}",
        "good" if found == needed else "bad",
    )
    for line in different:
        say(visible(line), "bad", under=True)
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
