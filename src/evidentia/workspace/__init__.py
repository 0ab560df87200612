"""The workspace: the one object a user holds, and the shell around the deciding code.

It brings the clock, the randomness, the database and the files; what it returns are values.
"""

from pathlib import Path

from evidentia.errors import NotFoundError
from evidentia.store import schema
from evidentia.store.database import Database
from evidentia.store.home import Home, Passphrase
from evidentia.trail.entry import check_tenant
from evidentia.workspace.packs import PacksShell
from evidentia.workspace.trail import DEFAULT_TENANT

DEFAULT_HOME = ".evidentia"


class Workspace(PacksShell):
    """A tenant's evidence: documents, bundles, answers, packs, and the trail that records them.

    Any number of threads and processes may hold one on the same data. Use it as a context manager,
    or call `close`.
    """


def open_workspace(
    target: str | Path | None = None,
    *,
    tenant: str = DEFAULT_TENANT,
    home: str | Path | None = None,
    create: bool = True,
    read_only: bool = False,
    passphrase: Passphrase | None = None,
) -> Workspace:
    """Open a workspace: a folder (`./.evidentia` by default) or a `postgresql://` URL.

    A folder's database is made and brought up to date by itself; a server's by
    `evidentia db upgrade`. With a server, `home` is where keys and checkpoints are kept.
    `create=False` opens only what is there; `read_only` moreover leaves the database's file alone.
    `passphrase` opens encrypted signing keys, and new ones are encrypted with it; a function is
    called when a key has to be opened or made.
    """
    check_tenant(tenant)
    database, place = open_database(
        target, home=home, create=create, read_only=read_only, passphrase=passphrase
    )
    try:
        if create and not read_only and database.is_sqlite:
            schema.upgrade(database)
        schema.require_current(database)
    except BaseException:
        database.close()
        raise
    return Workspace(database, place, tenant)


def open_database(
    target: str | Path | None = None,
    *,
    home: str | Path | None = None,
    create: bool = True,
    read_only: bool = False,
    passphrase: Passphrase | None = None,
) -> tuple[Database, Home]:
    """Open a workspace's database as it is, whatever its schema, and its home folder."""
    if isinstance(target, str) and "://" in target:
        return Database.server(target), Home(Path(home or DEFAULT_HOME), passphrase)
    place = Home(Path(target or home or DEFAULT_HOME), passphrase)
    if create and not read_only:
        place.create()
    elif not place.database.exists():
        raise NotFoundError(
            f"{place.folder}: there is no workspace yet; 'evidentia check', 'evidentia ingest', "
            "'evidentia bundle build' and 'evidentia trail append' make one"
        )
    return Database.sqlite(place.database, read_only=read_only), place
