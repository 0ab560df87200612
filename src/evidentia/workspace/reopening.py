"""Opening the same workspace in another process of ours, in the same user's name."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evidentia.errors import UsageError
from evidentia.store.keys import FileKeys
from evidentia.store.pkcs11_keys import Pkcs11Keys
from evidentia.workspace.acting import Acting
from evidentia.workspace.opened import open_all

if TYPE_CHECKING:
    from evidentia.access.actions import Authorizer
    from evidentia.store.database import ServerOptions


@dataclass(frozen=True, slots=True)
class Reopening:
    """What another process needs to act as this one does; it goes there through a pipe alone.

    `address` is the database's, and may hold a password, None for the one in the folder.
    """

    folder: str
    tenant: str
    user: str | None
    address: str | None = field(repr=False)
    passphrase: bytes | None = field(repr=False)
    authorizer: "Authorizer | None"
    lake: str | None = None
    keys: str | None = None
    checkpoints: str | None = None
    server: "ServerOptions | None" = None

    def open(self) -> Acting:
        """Open the workspace."""
        opened = open_all(
            self.address,
            home=self.folder,
            create=False,
            passphrase=self.passphrase,
            authorizer=self.authorizer,
            lake=self.lake,
            keys=self.keys,
            checkpoints=self.checkpoints,
            server=self.server,
        )
        return Acting(opened, self.tenant, self.user)


def reopening(acting: Acting) -> Reopening:
    """Say how another process opens a workspace; raise `UsageError` if it can't."""
    opened, keys = acting.opened, acting.opened.keys
    if not isinstance(keys, FileKeys | Pkcs11Keys) or opened.has_own_keys or opened.has_own_lake:
        raise UsageError(
            "keys or a lake of your own are in this process alone: check with workers=0, here"
        )
    return Reopening(
        folder=str(opened.home.folder.absolute()),
        tenant=acting.tenant,
        user=acting.user,
        address=None if acting.database.is_sqlite else acting.database.address,
        passphrase=keys.for_worker(acting.tenant),
        authorizer=opened.authorizer,
        lake=opened.lake_address,
        keys=opened.keys_address,
        checkpoints=opened.checkpoints_address,
        server=acting.database.worker_options,
    )
