"""Who may sign what in the logs of a database, read from their entries of kind key."""

from collections.abc import Callable, Sequence

from evidentia.canonical import parse_json
from evidentia.errors import IntegrityError
from evidentia.proof.authority import Authority
from evidentia.proof.revocation import Revocation
from evidentia.trail.entry import Entry, StoredEntry, body_commitment

_MOST_KNOWN = 100_000
"""How many good signatures are remembered."""


class KnownAuthority:
    """What is known of who may sign what, tenant by tenant; threads may share one.

    Entries of kind key are few. All of them are read again where there is a new one.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Authority]] = {}
        self._good: dict[str, bool] = {}

    def has_begun(self, tenant: str, origin: str) -> bool:
        """Whether a log is known to say that authority is signed; what it once said, it says."""
        _, known = self._known.get(tenant, (-1, Authority("")))
        return known.origin == origin and known.since is not None

    def of(
        self, tenant: str, origin: str, entries: Callable[[int], Sequence[StoredEntry]]
    ) -> Authority:
        """Return what a log says; `entries` gives its entries of kind key behind a number.

        Raise `IntegrityError` if the body of such an entry is not what the entry commits to.
        """
        last, known = self._known.get(tenant, (-1, Authority("")))
        if known.origin != origin:
            last, known = -1, Authority(origin)
        if entries(last):
            rows = entries(-1)
            known = Authority.read(origin, [_committed(row) for row in rows])
            self._known[tenant] = rows[-1][0], known
        return known

    def problem(
        self, authority: Authority, entry: Entry, leaf: str, body: object
    ) -> str | Revocation | None:
        """Say why an entry decides nothing, or return what revokes its signer; None if it counts.

        `leaf` is the entry's hash: a signature that was good once is not verified again.
        """
        if leaf not in self._good:
            problem = authority.problem(entry, body)
            if problem is not None:
                return problem
            if len(self._good) >= _MOST_KNOWN:
                self._good.clear()
            if authority.since is not None:
                self._good[leaf] = True
        return authority.distrusted(entry, body)


def _committed(row: StoredEntry) -> tuple[Entry, object]:
    entry, salt, body = Entry.decode(row[3]), row[4], row[5]
    if body is None or body_commitment(salt or b"", body) != entry.body:
        raise IntegrityError(
            f"entry {entry.seq}: its body is not what it commits to; run 'evidentia trail verify'"
        )
    return entry, parse_json(body)
