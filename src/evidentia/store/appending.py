"""Appending: a log that is held in a transaction, and signed before the transaction ends.

Whatever is appended ends in a checkpoint by the log's own key, which is durable with it. A log
whose newest entries no key has signed is not appended to: what is signed next would vouch for
them. The checkpoint kept apart from the database follows each commit, without waiting for the disk.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from evidentia.errors import (
    ConflictError,
    EnvironmentProblem,
    EvidentiaError,
    IntegrityError,
    UsageError,
)
from evidentia.language.counting import agreed, counted, ranged
from evidentia.logs import get_logger
from evidentia.proof.authority import BEGINS, Authority, Place, begin_body, signed_body
from evidentia.proof.keys import SigningKey
from evidentia.proof.rotation import announced_key
from evidentia.store.authority import KnownAuthority
from evidentia.store.elsewhere import Elsewhere
from evidentia.store.home import Home
from evidentia.store.keys import KeyPlace, Keys
from evidentia.store.known import Basis, Known
from evidentia.store.lookups import Lookups, deciding
from evidentia.store.signing import RemoteSigner, SigningTime
from evidentia.store.sql import log
from evidentia.store.sql.log import Head, NewOrigin, Receipt
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.deciding import About, Said
from evidentia.trail.entry import SALT_BYTES, Entry, EntryKind, StoredEntry
from evidentia.trail.merkle import EMPTY_ROOT
from evidentia.trail.note import VerifierKey
from evidentia.trail.posting import posting_secret
from evidentia.trail.tiles import TiledTree
from evidentia.trail.waiting import Waiting, waiting

_NOT_HERE: Final = frozenset({KeyPlace.ELSEWHERE, KeyPlace.UNREACHABLE})
"""Where a key is that nothing here speaks for: what could not be asked least of all."""
_log = get_logger("store")


Announced = tuple[int, str, bytes]
"""A key that a log announces: the number of the entry, the key's id, and the public key."""


class _Signed(NamedTuple):
    """What a process knows to be signed of a log: it signed it itself, or verified it."""

    origin: str
    size: int
    root: bytes


class Appending:
    """What signs the logs of a database as they are written; threads may share one."""

    def __init__(
        self,
        home: Home,
        keys: Keys,
        tiles: TileCache,
        new_origin: NewOrigin,
        randomness: Callable[[int], bytes],
        *,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._home = home
        self._elsewhere = elsewhere
        self.followers = [elsewhere.grew] if elsewhere is not None else []
        """What is told of each log that grew, once that is durable; none may keep it waiting."""
        self._keys = keys
        self._tiles = tiles
        self._new_origin = new_origin
        self._randomness = randomness
        self._signed: dict[str, _Signed] = {}
        self._announced: dict[str, tuple[_Signed, Sequence[Announced]]] = {}
        self._trusted: set[tuple[str, str]] = set()
        self._passphrases: dict[str, bytes | None] = {}
        self.lookups = Lookups(tiles)
        # By the connection's id: a held log has its connection, and whoever writes has the log.
        self._held: WeakValueDictionary[int, HeldLog] = WeakValueDictionary()
        self._remote: set[str] = set()
        self._posting: dict[tuple[str, str], bytes | None] = {}
        self.known = KnownAuthority()

    def prepare(self, tenant: str, origin: str, key_ids: Sequence[str]) -> None:
        """Open the key that will sign, before a lock is held: it may ask for a passphrase."""
        if key_ids:
            self.key(tenant, key_ids[-1], origin)
        elif tenant not in self._passphrases:
            self._passphrases[tenant] = self._keys.new_passphrase(tenant)

    def hold(
        self, connection: Connection, tenant: str, *, by: str, adopting: bool = False
    ) -> "HeldLog":
        """Hold a log to the end of a transaction; it is begun if there is none.

        Raise `IntegrityError` where its newest entries are not signed, unless they are adopted.
        """
        if self._elsewhere is not None:
            self._elsewhere.refuse(tenant)
        head = log.lock_head(connection, tenant, self._new_origin)
        announced = self._keys_of(connection, head)
        if not adopting:
            self._require_signed(connection, head, announced)
        held = HeldLog(self, connection, head, announced, by)
        self._held[id(connection)] = held
        return held

    def held(self, connection: Connection) -> "HeldLog":
        """Return the log that a transaction holds."""
        found = self._held.get(id(connection))
        if found is None:
            raise UsageError("entries are appended in a transaction that holds their log")
        return found

    def said(self, connection: Connection) -> Sequence[Said]:
        """Return what decides of the entries that a transaction appended; none without a log."""
        found = self._held.get(id(connection))
        return () if found is None else found.said

    def authority(self, connection: Connection, tenant: str) -> Authority:
        """Return who may sign what in a log, by what was there before this transaction."""
        head = log.read_head(connection, tenant)
        if head is None:
            return Authority("")
        of = EntryKind.KEY.value, ""
        return self.known.of(
            tenant, head.origin, lambda after: self.decided(connection, tenant, of, after=after)
        )

    def committed(self, held: "HeldLog") -> None:
        """Remember what was signed, now that it is durable, and keep it apart from the database.

        What is durable has been appended: where the file can't be written, that is only logged.
        """
        if held.note is None or held.checkpoint is None:
            return
        self._remember(held.head)
        tenant, origin, size, root, _ = held.head
        self._announced[tenant] = _Signed(origin, size, root), held.announced
        self.lookups.committed(held.heads, held.said, held.snapshot)
        try:
            self._home.kept(tenant).keep(held.checkpoint, held.note, durably=False)
        except (EvidentiaError, OSError) as error:
            _log.warning("checkpoint_not_kept", tenant=tenant, reason=str(error))
        for grew in self.followers:
            grew(held.checkpoint, held.note)

    def key(self, tenant: str, key_id: str, origin: str) -> SigningKey:
        """Return a log's private key; raise `EnvironmentProblem` if it is not here."""
        key = self._keys.load(tenant, key_id, origin)
        if key is None:
            raise EnvironmentProblem(
                f"the private key {key_id} is not in {self._keys.where(tenant, key_id)}, and "
                "nothing is written that it does not sign: copy it there, or say in "
                "EVIDENTIA_KEYS where it is; if it is lost, 'evidentia keys rotate --lost --reason "
                "TEXT' makes a new one"
            )
        if isinstance(key.private_key, RemoteSigner):
            self._remote.add(tenant)
        return key

    def signs_elsewhere(self, tenant: str) -> bool:
        """Whether a command or a token signs a tenant's log, by what this process saw of it."""
        return tenant in self._remote

    def posting_secret(self, tenant: str, origin: str, key_ids: Sequence[str]) -> bytes | None:
        """Return what postings to a log are coded with, by the last of its keys.

        None where it has none, or where its signer never signs the same twice.
        """
        if not key_ids:
            return None
        named = origin, key_ids[-1]
        if named not in self._posting:
            key = self.key(tenant, key_ids[-1], origin)
            self._posting[named] = posting_secret(key.private_key.sign, origin)
        return self._posting[named]

    def new_key(self, tenant: str, origin: str) -> SigningKey:
        """Make a log's first key and keep it; it is durable before the log names it."""
        passphrase = (
            self._passphrases[tenant]
            if tenant in self._passphrases
            else self._keys.new_passphrase(tenant)
        )
        return self._keys.make(tenant, origin, self._randomness, passphrase)

    def salt(self) -> bytes:
        """Return what one body is salted with."""
        return self._randomness(SALT_BYTES)

    def _require_signed(
        self, connection: Connection, head: Head, announced: Sequence[Announced]
    ) -> None:
        known = self._signed.get(head.tenant)
        if head.size == 0 or known == (head.origin, head.size, head.root):
            return
        if known is not None and known.origin == head.origin and known.size > head.size:
            raise IntegrityError(
                f"the log has {counted(head.size, 'entry', 'entries')}, and {known.size:,} of it "
                "were signed before: it was cut back while it was open; run 'evidentia trail "
                "verify'"
            )
        notes = log.notes(connection, head.tenant, head.size)
        counting = self._counting(connection, head, announced)
        signed_note(connection, log.State(head, counting, notes))
        self._remember(head)

    def signed_size(self, connection: Connection, tenant: str) -> tuple[int, int]:
        """Return how much of a log is signed, and its size: what is behind decides nothing."""
        head = log.read_head(connection, tenant)
        return (0, 0) if head is None else (self._signed_root(connection, head)[0], head.size)

    def basis(self, connection: Connection, head: Head) -> Basis:
        """Return what a log is believed for: its newest signed root, and the keys that count."""
        announced = self._counting(connection, head, log.keys(connection, head.tenant))

        def may(size: int) -> list[VerifierKey]:
            # the newest key alone, which signs a snapshot as it begins: an older one may be stolen
            newest = [key for key in may_sign(announced, size) if key == announced[-1]]
            return [VerifierKey(head.origin, key[2]) for key in newest]

        return Basis(*self._signed_root(connection, head, announced), may)

    def decided(
        self, connection: Connection, tenant: str, of: About, *, after: int = -1
    ) -> list[StoredEntry]:
        """Return the entries of a kind about a subject that decide, behind a number, each proved.

        They are those of the log as it was before this transaction.
        """
        head = log.read_head(connection, tenant)
        if head is None:
            return []
        return self.lookups.entries(
            connection, head, lambda: self.basis(connection, head), of, after=after
        )

    def counting_keys(self, connection: Connection, tenant: str) -> list[Announced]:
        """Return the keys of a log that count: each was vouched for by the one before, or is here.

        The first one is what the log itself announces; whoever trusts it has it from elsewhere.
        """
        head = log.read_head(connection, tenant)
        if head is None:
            return []
        of = EntryKind.KEY.value, ""
        said = {
            found.seq: found.key_id
            for row in self.decided(connection, tenant, of)
            if (found := announced_key(Entry.decode(row[3]))) is not None
        }
        return [
            (seq, key_id, public)
            for seq, key_id, public in self._counting(
                connection, head, log.keys(connection, tenant)
            )
            if said.get(seq) == key_id == VerifierKey(head.origin, public).key_id
        ]

    def proved(self, connection: Connection, tenant: str, seq: int) -> StoredEntry:
        """Return one entry of a log, proved; raise `NotFoundError` if there is none."""
        head = log.require_head(connection, tenant)
        return self.lookups.proved(connection, head, self._signed_root(connection, head), seq)

    def read_ahead(self, connection: Connection, head: Head | None) -> None:
        """Read what decides in a log before it is held, where that takes a while."""
        if head is not None:
            self.lookups.prepare(connection, head, lambda: self.basis(connection, head))

    def _signed_root(
        self, connection: Connection, head: Head, announced: Sequence[Announced] | None = None
    ) -> tuple[int, bytes]:
        """Return the largest size of a log that a key signed that counts, and the root there."""
        if self._signed.get(head.tenant) == (head.origin, head.size, head.root):
            return head.size, head.root
        if announced is None:
            announced = self._counting(connection, head, log.keys(connection, head.tenant))
        tree = stored_tree(connection, head, self._tiles)
        for size, key_id, note in log.newest_checkpoints(connection, head.tenant, head.size):
            root = head.root if size == head.size else tree.root_at(size)
            if any(
                key[1] == key_id and is_signed(note, Checkpoint(head.origin, size, root), key[2])
                for key in may_sign(announced, size)
            ):
                if size == head.size:
                    self._remember(head)
                return size, root
        return 0, EMPTY_ROOT

    def _counting(
        self, connection: Connection, head: Head, announced: Sequence[Announced]
    ) -> list[Announced]:
        """Return the keys that count: each was vouched for by the one before, or is here."""
        counting: list[Announced] = []
        for key in announced:
            named = head.origin, key[1]
            if counting and named not in self._trusted:
                tree = stored_tree(connection, head, self._tiles)
                is_here = self._keys.place(head.tenant, key[1]) not in _NOT_HERE
                if not is_here and not vouched(connection, head, [counting[-1], key], tree)[1]:
                    break
            self._trusted.add(named)
            counting.append(key)
        return counting

    def _keys_of(self, connection: Connection, head: Head) -> Sequence[Announced]:
        """Return the keys that a log announces: with the same entries, they are the same."""
        signed, announced = self._announced.get(head.tenant, (None, ()))
        if signed == (head.origin, head.size, head.root):
            return announced
        return log.keys(connection, head.tenant)

    def _remember(self, head: Head) -> None:
        # Without a lock: where two threads do so at once, the smaller one costs a verification.
        known = self._signed.get(head.tenant)
        if known is None or known.origin != head.origin or known.size <= head.size:
            self._signed[head.tenant] = _Signed(head.origin, head.size, head.root)


class HeldLog:
    """A log that one transaction holds: no one else appends to it meanwhile.

    `sign` ends what was appended; what is not signed must not be committed.
    """

    def __init__(
        self,
        appending: Appending,
        connection: Connection,
        head: Head,
        announced: Sequence[Announced],
        by: str,
    ) -> None:
        self.head = head
        self.announced = list(announced)
        self.checkpoint: Checkpoint | None = None
        self.note: str | None = None
        self.said: list[Said] = []
        self.snapshot: Known | None = None
        self._appending = appending
        self._connection = connection
        self._first = head
        self._by = by
        self._at = ""
        self._signers: list[SigningKey] = []
        self._first_key: SigningKey | None = None
        self._says_signed = False
        self._time = SigningTime()

    @property
    def first_size(self) -> int:
        """How many entries there were when the log was taken hold of."""
        return self._first.size

    def signing_key(self) -> SigningKey:
        """Return the key that signs now; the log's first one is made if it has none."""
        tenant, origin, *_ = self.head
        if self._signers:
            return self._signers[-1]
        if self.key_ids:
            return self._appending.key(tenant, self.key_ids[-1], origin)
        if self._first_key is None:
            self._first_key = self._appending.new_key(tenant, origin)
        return self._first_key

    @property
    def key_ids(self) -> list[str]:
        """The ids of the keys that the log announces, oldest first."""
        return [key_id for _, key_id, _ in self.announced]

    @property
    def heads(self) -> tuple[Head, Head]:
        """Where the log was when it was held, and where it is now."""
        return self._first, self.head

    def append(self, items: Sequence[Waiting]) -> list[Receipt]:
        """Append entries; one whose idempotency key is known gives that one's receipt."""
        (outcome,) = self.append_each([items])
        if isinstance(outcome, ConflictError):
            raise outcome
        return outcome

    def append_each(
        self, groups: Sequence[Sequence[Waiting]]
    ) -> list[list[Receipt] | ConflictError]:
        """Append the entries of several callers at once; of one with a conflict, none."""
        self.head, outcomes = log.append_each(self._connection, self.head, groups)
        for items, outcome in zip(groups, outcomes, strict=True):
            if not isinstance(outcome, ConflictError):
                self._at = items[-1].at
                self.said += deciding(items, outcome)
        return outcomes

    def append_signed(
        self, kind: str, subject: str, body: dict[str, Any], *, at: str, key: SigningKey
    ) -> Receipt:
        """Append an entry with a signature of its own over what it says, and where it stands."""
        tenant, origin, size, *_ = self.head
        place = Place(origin, tenant, size, kind, subject, at)
        signed = signed_body(place, body, self._time.limited(key))
        self._says_signed |= kind == EntryKind.KEY
        return self.append([waiting(kind, subject, signed, at, self._appending.salt())])[0]

    def announce(
        self,
        key: SigningKey,
        *,
        at: str,
        replaced: SigningKey | None = None,
        lost: str | None = None,
    ) -> Receipt:
        """Announce a key, which signs from here on; the one it replaces signs entry and size, too.

        `lost` says why the one it replaces does not: a break that is shown for good.
        """
        public = key.verifier
        replaces = self.announced[-1][1] if self.announced else None
        body = {"key": str(public), "replaces": replaces, "by": self._by}
        if lost is not None:
            body["lost"] = lost
        signer = replaced or key
        receipt = self.append_signed(EntryKind.KEY, public.key_id, body, at=at, key=signer)
        tenant = self.head.tenant
        log.insert_key(self._connection, tenant, receipt.seq, public.key_id, public.public_key)
        self.announced.append((receipt.seq, public.key_id, public.public_key))
        self._signers = [key] if replaced is None else [replaced, key]
        return receipt

    def sign(self) -> None:
        """Move the log's head to what was appended, and sign it; its first key is made with it."""
        if self.head.size == self._first.size:
            return
        if not self.announced:  # behind what is appended first, so that its numbers begin with 0
            self.announce(self.signing_key(), at=self._at)
        self._say_signed()
        _, origin, size, root, _ = self.head
        signers = self._signers or [self.signing_key()]
        checkpoint = self.checkpoint = Checkpoint(origin, size, root)
        notes = []
        for key in signers:
            limited = self._time.limited(key)
            self.note = checkpoint.sign(limited.private_key, key.verifier.public_key)
            notes.append((key.verifier.key_id, self.note))
        log.move_head(self._connection, self._first, self.head, notes)
        self.snapshot = self._appending.lookups.sign(
            self._connection,
            self.heads,
            self.said,
            self._basis,
            limited,
            now=bool(self._signers) and len(self.announced) > 1,
        )

    def _basis(self) -> Basis:
        return self._appending.basis(self._connection, self._first)

    def _say_signed(self) -> None:
        """Have a log of an older version say that authority is signed from here on."""
        tenant, origin, *_ = self.head
        known = self._appending.known
        if self._says_signed or known.has_begun(tenant, origin):
            return
        try:
            said = self._appending.authority(self._connection, tenant)
        except IntegrityError as error:  # what asks of such a log is told
            _log.warning("log_not_read", tenant=tenant, reason=str(error))
            return
        if said.since is None:
            key, body = self.signing_key(), begin_body(self._by)
            self.append_signed(EntryKind.KEY, BEGINS, body, at=self._at, key=key)


def is_signed(note: str, checkpoint: Checkpoint, public: bytes) -> bool:
    """Whether a note is a checkpoint, and signed by a key."""
    try:
        found, parsed = read_checkpoint(note)
        signer = parsed.signed_by([VerifierKey(checkpoint.origin, public)])
    except EvidentiaError:
        return False
    return found == checkpoint and signer is not None


def signed_note(connection: Connection, state: log.State) -> str:
    """Return the checkpoint of a log as it is; raise `IntegrityError` if no key of it signed it."""
    head, announced, notes = state
    wrong = None
    for seq, key_id, public in reversed(may_sign(announced, head.size)):
        note = notes.get(key_id)
        if note is None:
            continue
        try:
            checkpoint, parsed = read_checkpoint(note)
            if (
                checkpoint == Checkpoint(head.origin, head.size, head.root)
                and parsed.signed_by([VerifierKey(head.origin, public)]) is not None
            ):
                return note
            wrong = f"is not of these entries, or not signed by key {key_id} of entry {seq}"
        except EvidentiaError as error:
            wrong = str(error)
    if wrong is not None:
        said = f"the checkpoint of the log's {counted(head.size, 'entry', 'entries')}: {wrong}"
    else:
        said = unsigned(log.last_signed(connection, head.tenant, head.size), head.size)
    raise IntegrityError(f"{said}. {WHAT_TO_DO}")


WHAT_TO_DO = (
    "Look at them, and at what 'evidentia trail verify' says; if an older version of this program "
    "wrote them, 'evidentia trail adopt --reason TEXT' takes them over"
)


def unsigned(signed: int, size: int) -> str:
    """Say which entries no checkpoint covers, or that the one of all is by no key that counts."""
    if signed >= size:
        of = counted(size, "entry", "entries")
        return f"the checkpoint of the log's {of} is signed by no key that counts"
    which = ranged(signed, size - 1, "entry", "entries")
    return f"{which} {agreed(size - signed, 'is', 'are')} not signed"


def may_sign(announced: Sequence[Announced], size: int) -> list[Announced]:
    """Return the keys that may sign a size, of all that a log announces, oldest first.

    A key signs from its announcement on, and last the size that includes its successor's.
    """
    ends = [*(seq for seq, _, _ in announced[1:]), None]
    return [
        key
        for key, end in zip(announced, ends, strict=False)
        if key[0] < size and (end is None or size <= end + 1)
    ]


def vouched(
    connection: Connection, head: Head, announced: Sequence[Announced], tree: TiledTree
) -> list[bool]:
    """Say of each key that a log announces whether the one before it signed its announcement.

    Of the first one there is nothing to say: it is trusted for a reason from outside, or not.
    """
    found = [True] * min(1, len(announced))
    for (_, key_id, public), (seq, _, _) in pairwise(announced):
        note = log.checkpoint_note(connection, head.tenant, seq + 1, key_id)
        try:
            checkpoint = Checkpoint(head.origin, seq + 1, tree.root_at(seq + 1))
            found.append(is_signed(note or "", checkpoint, public))
        except (IntegrityError, IndexError):  # the tree is damaged, which an audit says
            found.append(False)
    return found
