"""What a process opens once, and all of its workspaces share."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from evidentia.errors import environment_problem
from evidentia.store.database import Database, ServerOptions
from evidentia.store.elsewhere import Elsewhere
from evidentia.store.following import Following
from evidentia.store.home import Home
from evidentia.store.job_files import open_job_files
from evidentia.store.keyrings import open_keys
from evidentia.store.keys import Keys, Passphrase
from evidentia.store.lake import Lake
from evidentia.store.lakes import open_lake
from evidentia.store.opening import Store, open_current
from evidentia.store.pkcs11_keys import Pkcs11Keys
from evidentia.store.sql import across
from evidentia.trail.checkpoint import log_origin
from evidentia.workspace.remembered import Remembered

if TYPE_CHECKING:
    from evidentia.access.actions import Authorizer
    from evidentia.access.openfga_client import OpenFgaClient
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.pages import JudgedClaim, LedgerHead
    from evidentia.loading.workers import Apart, Bulk
    from evidentia.store.search import SearchIndex
    from evidentia.trail.adoption import Adoption
    from evidentia.workspace import Workspace
    from evidentia.workspace.access import Access
    from evidentia.workspace.acting import Asked
    from evidentia.workspace.corpora import Shelf
    from evidentia.workspace.holds import Holds

DEFAULT_TENANT = "default"
_LOG_ID_BYTES = 8
_MOST_SHELVES = 8
"""Of how many tenants' libraries the passages are remembered that were read last."""
_MOST_TENANTS = 1_000
_MOST_PAGES = 200
"""How many pictures of pages, and texts with places, are remembered: 10 MB, 40 at most."""

_MOST_HEADS = 32
"""How many heads of long ledgers are remembered, by the roots that prove them."""
_MOST_CLAIMS = 32
"""How many pages of their claims are, of a hundred each."""

Clock = Callable[[], datetime]
ProvedPage = tuple[str, int, int]
"""A page of a ledger: the root that proves it, how many claims it is over, which page it is."""
Randomness = Callable[[int], bytes]


class Observer(Protocol):
    """Is told of some of what is done, while it is: an integration implements it."""

    rows: frozenset[str]
    """Of the guard's table: what it wants to be told of."""

    def __call__(self, row: str, tenant: str, call: Callable[[], Any], /) -> Any:
        """Return what the call gives, or raise what it raises."""


class Opened:
    """A database, a lake and keys, with what is remembered of them; threads may share one.

    A lake is one of your own, or where it is: a folder, or a bucket (`s3://bucket/prefix`). So are
    keys: yours, or where they are, a folder or a token (`pkcs11:…`). `checkpoints` is the bucket
    that each log's newest checkpoint follows to.

    `for_` gives a workspace of one tenant in one user's name, at the cost of an object, so that a
    program makes one for each request: all of them append in the same group commits. `judging` and
    `reading` are the processes in which answers are judged and files read, where a server has some;
    `bulk` are the workers of a cluster that many answers and long audits go to, where one is set;
    `judge_named` gives the judge that a request names, where its operator has set one up. An
    `observer` is told of what is done, if someone has set one.
    """

    def __init__(
        self,
        database: Database,
        home: Home,
        *,
        lake: Lake | str | None = None,
        keys: Keys | str | None = None,
        authorizer: "Authorizer | None" = None,
        clock: Clock = lambda: datetime.now(UTC),  # noqa: TID251 - the shell brings the clock
        randomness: Randomness = os.urandom,
        checkpoints: str | None = None,
    ) -> None:
        self.database = database
        self.home = home
        self.lake_address = lake if isinstance(lake, str) else None
        self.has_own_lake = lake is not None and self.lake_address is None
        if lake is None or isinstance(lake, str):
            lake = open_lake(lake, home, by_tenant=not database.is_sqlite)
        self.lake = lake
        self.job_files = open_job_files(self.lake_address, home)
        self.keys_address = keys if isinstance(keys, str) else None
        self.has_own_keys = keys is not None and self.keys_address is None
        self.keys = open_keys(keys, home) if keys is None or isinstance(keys, str) else keys
        self.randomness = randomness
        self._clock = clock
        self.checkpoints_address = checkpoints
        self.elsewhere = Elsewhere(checkpoints) if checkpoints is not None else None
        store = Store(
            database,
            home,
            self.lake,
            self.keys,
            self.new_origin,
            randomness,
            self.now,
            self.elsewhere,
        )
        self.appending = store.appending
        self.sequencer = store.sequencer
        self.tiles = store.tiles
        self.authorizer = authorizer
        self.shelves: Remembered[str, Shelf] = Remembered(_MOST_SHELVES)
        self.searches: Remembered[str, SearchIndex] = Remembered(_MOST_TENANTS)
        self.roles: Remembered[str, Access] = Remembered(_MOST_TENANTS)
        self.holds: Remembered[str, Holds] = Remembered(_MOST_TENANTS)
        self.adopted: Remembered[str, tuple[int, tuple[Adoption, ...]]] = Remembered(_MOST_TENANTS)
        self.continuing: Remembered[str, bool] = Remembered(_MOST_TENANTS)
        self.ready: Remembered[str, bool] = Remembered(_MOST_TENANTS)
        self.heads: Remembered[str, LedgerHead] = Remembered(_MOST_HEADS)
        self.claims: Remembered[ProvedPage, list[JudgedClaim]] = Remembered(_MOST_CLAIMS)
        self.pages: Remembered[Any, Any] = Remembered(_MOST_PAGES)
        self.judge_named: Callable[[str], str | LanguageModel] = str
        self.judging: Apart | None = None
        self.reading: Apart | None = None
        self.bulk: Bulk | None = None
        self.observer: Observer | None = None
        self._witnessing: Following | None = None

    def __enter__(self) -> Self:
        self.database.require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def for_(
        self, tenant: str = DEFAULT_TENANT, user: str | None = None, asked: "Asked | None" = None
    ) -> "Workspace":
        """Return a tenant's workspace in the name of a user; None is the workspace's owner."""
        from evidentia.workspace import Workspace  # noqa: PLC0415 - it knows this module

        self.database.require_open()
        return Workspace(self, tenant, user, *(() if asked is None else (asked,)))

    def ask_witnesses(self, seconds: float) -> None:
        """Have each log that grew cosigned by its witnesses, at most once in so many seconds."""
        from evidentia.workspace.witnessing import follow  # noqa: PLC0415 - it knows this module

        self._witnessing = Following(lambda checkpoint, _: follow(self, checkpoint), seconds)
        self.appending.followers.append(self._witnessing.grew)

    @property
    def openfga(self) -> "OpenFgaClient | None":
        """The OpenFGA server that decides too, and is kept in step with the trail; None if none."""
        from evidentia.access.openfga import OpenFgaAuthorizer  # noqa: PLC0415 - not all have one
        from evidentia.access.openfga_client import OpenFgaClient  # noqa: PLC0415 - the same

        found = self.authorizer.check if isinstance(self.authorizer, OpenFgaAuthorizer) else None
        return found if isinstance(found, OpenFgaClient) else None

    def tenants(self) -> list[str]:
        """Return the tenants that have a log in this database."""
        return self.database.ask(across.tenants)

    def close(self) -> None:
        """Close the database's connections; what is asked of a workspace then, it refuses."""
        self.sequencer.close()
        for follows in (self.elsewhere, self._witnessing):
            if follows is not None:
                follows.close()
        self.database.close()
        if isinstance(self.keys, Pkcs11Keys):
            self.keys.close()
        if self.authorizer is not None and self.openfga is not None:
            self.openfga.close()
        self.home.close()

    def now(self) -> str:
        """Return the time, as the trail writes it."""
        return self._clock().astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"

    def new_origin(self, tenant: str) -> str:
        """Return the origin of a log that begins now."""
        return log_origin(self.randomness(_LOG_ID_BYTES).hex(), tenant)


def open_all(
    target: str | Path | None = None,
    *,
    home: str | Path | None = None,
    create: bool = True,
    read_only: bool = False,
    passphrase: Passphrase | None = None,
    authorizer: "Authorizer | None" = None,
    lake: Lake | str | None = None,
    keys: Keys | str | None = None,
    checkpoints: str | None = None,
    server: ServerOptions | None = None,
) -> Opened:
    """Open a folder (`./.evidentia` by default) or a `postgresql://` URL, for all its tenants.

    The arguments are those of `open_workspace`.
    """
    try:
        database, place = open_current(
            target,
            home=home,
            create=create,
            read_only=read_only,
            passphrase=passphrase,
            server=server,
        )
    except OSError as error:
        raise environment_problem(error) from error
    try:
        return Opened(
            database,
            place,
            lake=lake,
            keys=keys,
            authorizer=authorizer,
            checkpoints=checkpoints,
        )
    except BaseException:
        database.close()
        raise
