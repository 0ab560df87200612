"""Signing a log: its keys, one after the other, and the checkpoints that they sign."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import ConflictError, EvidentiaError, InputError, UsageError
from evidentia.logs import get_logger
from evidentia.proof.keys import SigningKey
from evidentia.store.checkpoints import newest_checkpoint
from evidentia.store.database import Result
from evidentia.store.elsewhere import KnownCheckpoint
from evidentia.store.keys import KeyPlace
from evidentia.store.pkcs11_keys import Pkcs11Keys
from evidentia.store.signing import PROBE, CommandSigner
from evidentia.store.sql import log
from evidentia.trail.note import VerifierKey
from evidentia.workspace.acting import Acting

MAX_REASON: Final = 1_000
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class AnnouncedKey:
    """A signing key of the log: since which entry, until which one, and where its secret is."""

    key: VerifierKey
    since: int
    replaced_at: int | None
    place: KeyPlace
    vouched: bool = True

    @property
    def held(self) -> bool:
        """Whether the private key itself is here, plain or encrypted."""
        return self.place in {KeyPlace.PLAIN, KeyPlace.ENCRYPTED}

    @property
    def is_here(self) -> bool:
        """Whether it signs from here: its private half is here, or what signs with it."""
        return self.held or self.place in {KeyPlace.COMMAND, KeyPlace.TOKEN}

    def as_json(self) -> dict[str, Any]:
        """Return the key as a JSON object."""
        return {
            "key_id": self.key.key_id,
            "public_key": str(self.key),
            "since_entry": self.since,
            "replaced_at_entry": self.replaced_at,
            "private_key_here": self.held,
            "private_key": self.place.value,
            "vouched": self.vouched,
        }


def announced_keys(acting: Acting) -> list[AnnouncedKey]:
    """Return the log's signing keys, oldest first; the last one signs now.

    `vouched` says that proved entries announce it, and the key before it, or this home, vouches.
    """
    state = acting.read(log.state)
    if state is None:
        return []
    head, found, _ = state
    counting = _counting(acting)
    ends: list[int | None] = [seq for seq, _, _ in found[1:]]
    return [
        AnnouncedKey(
            VerifierKey(head.origin, public_key),
            seq,
            end,
            acting.opened.keys.place(acting.tenant, key_id),
            vouched=(seq, key_id, public_key) in counting,
        )
        for (seq, key_id, public_key), end in zip(found, [*ends, None], strict=False)
    ]


def _counting(acting: Acting) -> list[tuple[int, str, bytes]]:
    """Return the keys that count; in a log that is damaged nothing vouches for any."""
    try:
        with acting.database.read() as connection:
            return acting.opened.appending.counting_keys(connection, acting.tenant)
    except (EvidentiaError, TypeError):  # a damaged row may have no values at all
        return []


def current_key(acting: Acting) -> SigningKey:
    """Return the key that signs now; the log is begun with its first one if there is none."""
    state = acting.read(log.state)
    if state is None or not state.keys:
        with acting.writing() as connection:
            held = acting.opened.appending.held(connection)
            if not held.key_ids:
                origin = held.head.origin
                key = acting.opened.appending.new_key(acting.tenant, origin)
                held.announce(key, at=acting.now)
            key_id, origin = held.key_ids[-1], held.head.origin
        return acting.opened.appending.key(acting.tenant, key_id, origin)
    return acting.opened.appending.key(acting.tenant, state.keys[-1][1], state.head.origin)


def checkpoint(acting: Acting) -> str:
    """Return the newest checkpoint, verified; a log is begun with its key if there is none."""
    return under_newest(acting, lambda _connection, _head, note: note)


def under_newest(acting: Acting, make: Callable[[Connection, log.Head, str], Result]) -> Result:
    """Return what is made under the newest checkpoint, in one view of the log with it."""
    opened = acting.opened
    home, note = opened.home, opened.home.kept_checkpoint(acting.tenant)  # before the log grows
    kept = None if note is None else KnownCheckpoint(str(home.checkpoint_file(acting.tenant)), note)
    with acting.database.read() as connection:
        state = log.state(connection, acting.tenant)
        if state is not None and state.head.size:
            note = newest_checkpoint(connection, state, kept, opened.tiles)
            made = make(connection, state.head, note)
        else:
            note = None
    if note is None:
        current_key(acting)  # begins the log
        return under_newest(acting, make)
    opened.home.keep_checkpoint(acting.tenant, note)
    return made


def rotate(acting: Acting, lost: str | None) -> VerifierKey:
    """Announce a new key in the log; the old one signs last the log with that announcement.

    `lost` says why it can't. The announcement has it, and every audit shows the break.
    """
    acting.refuse_rollback()
    if lost is None:
        replaced = _held_key(acting)
    else:
        check_lost(acting, lost)
        replaced = None, acting.read(log.keys)[-1][1]
    passphrase = acting.opened.keys.new_passphrase(acting.tenant)

    def make(origin: str) -> SigningKey:
        return new_key(acting, origin, passphrase)

    return _replace(acting, replaced, make, lost=lost)


def check_lost(acting: Acting, reason: str) -> None:
    """Raise `InputError` unless the log's key may be lost, and a reason says how."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"a lost key needs a reason, of at most {MAX_REASON:,} characters")
    announced = acting.read(log.keys)
    if not announced:
        raise InputError("the log has no key that could be lost")
    key_id = announced[-1][1]
    if acting.opened.keys.place(acting.tenant, key_id) in {KeyPlace.PLAIN, KeyPlace.TOKEN}:
        where = acting.opened.keys.where(acting.tenant, key_id)
        raise InputError(
            f"key {key_id} is not lost: it is in {where}. 'evidentia keys rotate' replaces it, and "
            "has it vouch for the new one; where it is damaged, move it away first"
        )


def use_command(
    acting: Acting, public_key: bytes, command: Sequence[str], timeout: float
) -> VerifierKey:
    """Announce a key that a command signs with, in place of the one there is, if any."""
    acting.refuse_rollback()
    signer = CommandSigner.of(public_key, command, timeout)
    signer.sign(PROBE)

    def keep(key: SigningKey) -> None:
        acting.opened.keys.save(acting.tenant, key)

    return _replace(acting, _held_key(acting), lambda origin: SigningKey(origin, signer), keep)


def use_token(acting: Acting, public_key: bytes) -> VerifierKey:
    """Announce a key that the token has, in place of the one there is, if any."""
    acting.refuse_rollback()
    keys = acting.opened.keys
    if not isinstance(keys, Pkcs11Keys):
        raise UsageError(
            "keys are in files here, and not in a token: name one in EVIDENTIA_KEYS, such as "
            "pkcs11:token=evidentia?module-path=/usr/lib/softhsm/libsofthsm2.so"
        )
    signer = keys.signer(public_key)

    def keep(key: SigningKey) -> None:
        keys.save(acting.tenant, key)

    return _replace(acting, _held_key(acting), lambda origin: SigningKey(origin, signer), keep)


def _held_key(acting: Acting) -> tuple[SigningKey | None, str | None]:
    """Return the key that signs now and its id, or None of a log that has none.

    Raise `EnvironmentProblem` if its private half is not here: it could not vouch for another.
    """
    state = acting.read(log.state)
    if state is None or not state.keys:
        return None, None
    key_id = state.keys[-1][1]
    return acting.opened.appending.key(acting.tenant, key_id, state.head.origin), key_id


def new_key(acting: Acting, origin: str, passphrase: bytes | None) -> SigningKey:
    """Make a key for a log, and keep it."""
    opened = acting.opened
    return opened.keys.make(acting.tenant, origin, opened.randomness, passphrase)


def _replace(
    acting: Acting,
    replaced: tuple[SigningKey | None, str | None],
    make: Callable[[str], SigningKey],
    keep: Callable[[SigningKey], None] | None = None,
    *,
    lost: str | None = None,
) -> VerifierKey:
    """Announce a key and have the old one, unless it is lost, sign last the log with it.

    All in one transaction, in which the old one is still the log's key: so two processes that
    replace it at once can't both do so.
    """
    old, old_id = replaced
    if old is not None:
        old.private_key.sign(PROBE)  # one that can't vouch for the new one is found out now
    with acting.writing(by_another_key=True) as connection:
        held = acting.opened.appending.held(connection)
        if (held.key_ids[-1] if held.key_ids else None) != old_id:
            raise ConflictError(
                f"the key was replaced meanwhile, by {held.key_ids[-1]}: nothing is changed; look "
                "at 'evidentia keys list', and try again if it is to be replaced once more"
            )
        new = make(held.head.origin)
        if new.verifier.key_id in held.key_ids:
            known = new.verifier.key_id
            raise UsageError(f"key {known} is one of this log's keys already: make another")
        if keep is not None:
            keep(new)
        receipt = held.announce(new, at=acting.now, replaced=old, lost=lost)
    _log.info("key_rotated", tenant=acting.tenant, key_id=new.verifier.key_id, entry=receipt.seq)
    return new.verifier
