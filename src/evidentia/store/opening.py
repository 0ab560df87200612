"""Opening a store: a database with its home, and what all who use them share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from evidentia.errors import NotFoundError
from evidentia.store import schema
from evidentia.store.appending import Appending
from evidentia.store.database import Database, ServerOptions
from evidentia.store.elsewhere import Elsewhere
from evidentia.store.home import Home
from evidentia.store.keys import Keys, Passphrase
from evidentia.store.lake import Lake
from evidentia.store.sequencer import Sequencer
from evidentia.store.tree import TileCache

DEFAULT_HOME = ".evidentia"


@dataclass(slots=True)
class Store:
    """A database, a home, a lake and keys, with the sequencer and the tiles of all logs in it."""

    database: Database
    home: Home
    lake: Lake
    keys: Keys
    new_origin: Callable[[str], str]
    randomness: Callable[[int], bytes]
    now: Callable[[], str]
    elsewhere: Elsewhere | None = None
    appending: Appending = field(init=False)
    sequencer: Sequencer = field(init=False)
    tiles: TileCache = field(default_factory=TileCache)

    def __post_init__(self) -> None:
        self.appending = Appending(
            self.home,
            self.keys,
            self.tiles,
            self.new_origin,
            self.randomness,
            elsewhere=self.elsewhere,
        )
        self.sequencer = Sequencer(self.database, self.appending, self.now, self.randomness)


def open_current(
    target: str | Path | None,
    *,
    home: str | Path | None,
    create: bool,
    read_only: bool,
    passphrase: Passphrase | None,
    server: ServerOptions | None = None,
) -> tuple[Database, Home]:
    """Open a database and its home; a folder's database is brought up to date first.

    Where it is only read, it stays as it is: what is read is a copy that is brought up to date.
    """
    database, place = open_database(
        target,
        home=home,
        create=create,
        read_only=read_only,
        passphrase=passphrase,
        server=server,
    )
    try:
        if create and not read_only and database.is_sqlite:
            schema.upgrade(database)
        elif read_only and database.is_sqlite and schema.is_older(database):
            database.close()
            database = Database.copied(place.database)
            schema.upgrade(database)
        schema.require_current(database)
        database.explain = schema.explained
    except BaseException:
        database.close()
        raise
    return database, place


def open_database(
    target: str | Path | None = None,
    *,
    home: str | Path | None = None,
    create: bool = True,
    read_only: bool = False,
    passphrase: Passphrase | None = None,
    server: ServerOptions | None = None,
) -> tuple[Database, Home]:
    """Open a workspace's database as it is, whatever its schema, and its home folder."""
    if isinstance(target, str) and "://" in target:
        place = Home(Path(home or DEFAULT_HOME), passphrase)
        if not read_only:
            place.tidy()
        options = replace(server or ServerOptions(), schema=schema.HEAD)
        return Database.server(target, options), place
    place = Home(Path(target or home or DEFAULT_HOME), passphrase)
    if create and not read_only:
        place.create()
    elif not place.database.exists():
        raise NotFoundError(
            f"{place.folder}: there is no workspace yet; 'evidentia check', 'evidentia ingest', "
            "'evidentia bundle build' and 'evidentia trail append' make one"
        )
    if not read_only:
        place.tidy()
    return Database.sqlite(place.database, read_only=read_only), place
