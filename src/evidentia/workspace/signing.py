"""Signing a log: its keys, one after the other, and the checkpoints that they sign."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from evidentia.errors import ConflictError, EnvironmentProblem, UsageError
from evidentia.logs import get_logger
from evidentia.proof.keys import SEED_BYTES, SigningKey
from evidentia.store.checkpoints import sign_checkpoint, sign_within
from evidentia.store.keys import KeyPlace
from evidentia.store.signing import PROBE, CommandSigner
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.trail.note import VerifierKey
from evidentia.workspace.acting import Acting

_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class AnnouncedKey:
    """A signing key of the log: since which entry, until which one, and where its secret is."""

    key: VerifierKey
    since: int
    replaced_at: int | None
    place: KeyPlace

    @property
    def held(self) -> bool:
        """Whether the private key itself is here, plain or encrypted."""
        return self.place in {KeyPlace.PLAIN, KeyPlace.ENCRYPTED}

    def as_json(self) -> dict[str, Any]:
        """Return the key as a JSON object."""
        return {
            "key_id": self.key.key_id,
            "public_key": str(self.key),
            "since_entry": self.since,
            "replaced_at_entry": self.replaced_at,
            "private_key_here": self.held,
            "private_key": self.place.value,
        }


def announced_keys(acting: Acting) -> list[AnnouncedKey]:
    """Return the log's signing keys, oldest first; the last one signs now."""
    head, found = acting.read(log.signing_state)
    if head is None:
        return []
    ends: list[int | None] = [seq for seq, _, _ in found[1:]]
    return [
        AnnouncedKey(
            VerifierKey(head.origin, public_key),
            seq,
            end,
            acting.opened.keys.place(acting.tenant, key_id),
        )
        for (seq, key_id, public_key), end in zip(found, [*ends, None], strict=False)
    ]


def current_key(acting: Acting) -> SigningKey:
    """Return the key that signs now; make the log's first one if it has none."""
    key, key_id = _held_key(acting)
    return _here(acting, key, key_id)


def checkpoint(acting: Acting) -> str:
    """Sign the log as it is now, by the key that signs now; return the note, which is kept."""
    opened = acting.opened
    if not acting.read(log.keys):
        current_key(acting)

    def signer(key_id: str, origin: str) -> SigningKey:
        return _here(acting, opened.keys.load(acting.tenant, key_id, origin), key_id)

    return sign_checkpoint(acting.database, acting.tenant, signer, opened.home, opened.tiles)


def _here(acting: Acting, key: SigningKey | None, key_id: str) -> SigningKey:
    """Return a key; raise `EnvironmentProblem` if its private half is not here."""
    if key is None:
        where = acting.opened.keys.where(acting.tenant, key_id)
        raise EnvironmentProblem(
            f"the private key {key_id} is not in {where}: copy it there, or make a new one with "
            "'evidentia keys rotate'"
        )
    return key


def rotate(acting: Acting) -> VerifierKey:
    """Announce a new key in the log; the old one signs last the log with that announcement."""
    acting.refuse_to_fork()
    replaced = _held_key(acting)
    passphrase = acting.opened.keys.new_passphrase(acting.tenant)
    return _replace(acting, replaced, lambda origin: _new_key(acting, origin), passphrase)


def use_command(
    acting: Acting, public_key: bytes, command: Sequence[str], timeout: float
) -> VerifierKey:
    """Announce a key that a command signs with, in place of the one there is, if any."""
    acting.refuse_to_fork()
    signer = CommandSigner.of(public_key, command, timeout)
    signer.sign(PROBE)
    head, announced = acting.read(log.signing_state)
    replaced: tuple[SigningKey | None, str | None] = (None, None)
    if head is not None and announced:
        key_id = announced[-1][1]
        replaced = acting.opened.keys.load(acting.tenant, key_id, head.origin), key_id
    return _replace(acting, replaced, lambda origin: SigningKey(origin, signer))


def _held_key(acting: Acting) -> tuple[SigningKey | None, str]:
    """Return the key that signs now, or None if its private half is not here, and its id."""
    keys = acting.opened.keys
    head, announced = acting.read(log.signing_state)
    if head is None or not announced:
        passphrase = keys.new_passphrase(acting.tenant)  # may ask: before the lock
        with acting.writing() as connection:
            head = log.require_head(connection, acting.tenant)
            announced = log.keys(connection, acting.tenant)
            if not announced:
                key, _ = _announce(
                    acting, connection, lambda origin: _new_key(acting, origin), passphrase
                )
                return key, key.verifier.key_id
    key_id = announced[-1][1]
    return keys.load(acting.tenant, key_id, head.origin), key_id


def _new_key(acting: Acting, origin: str) -> SigningKey:
    return SigningKey.from_seed(origin, acting.opened.randomness(SEED_BYTES))


def _replace(
    acting: Acting,
    replaced: tuple[SigningKey | None, str | None],
    make: Callable[[str], SigningKey],
    passphrase: bytes | None = None,
) -> VerifierKey:
    """Announce a key and have the old one, if it is here, sign last the log with it.

    All in one transaction, in which the old one is still the log's key: so two processes that
    replace it at once can't both do so.
    """
    old, old_id = replaced
    if old is not None:
        old.private_key.sign(PROBE)  # one that can't vouch for the new one is found out now
    with acting.writing() as connection:
        announced = log.keys(connection, acting.tenant)
        if (announced[-1][1] if announced else None) != old_id:
            raise ConflictError(
                f"the key was replaced meanwhile, by {announced[-1][1]}: nothing is changed; look "
                "at 'evidentia keys list', and try again if it is to be replaced once more"
            )
        new, receipt = _announce(acting, connection, make, passphrase)
        if old is not None:
            sign_within(connection, acting.tenant, old)
    checkpoint(acting)
    _log.info("key_rotated", tenant=acting.tenant, key_id=new.verifier.key_id, entry=receipt.seq)
    return new.verifier


def _announce(
    acting: Acting,
    connection: Connection,
    make: Callable[[str], SigningKey],
    passphrase: bytes | None,
) -> tuple[SigningKey, Receipt]:
    """Make a key, keep its private half, and announce its public half in the log."""
    head = log.require_head(connection, acting.tenant)
    before = log.keys(connection, acting.tenant)
    key = make(head.origin)
    public = key.verifier
    if any(public.key_id == known for _, known, _ in before):
        raise UsageError(f"key {public.key_id} is one of this log's keys already: make another")
    acting.opened.keys.save(acting.tenant, key, passphrase)
    body = {
        "key": str(public),
        "replaces": before[-1][1] if before else None,
        "by": acting.actor,
    }
    receipt = acting.append_within(connection, EntryKind.KEY, public.key_id, body)
    log.insert_key(connection, acting.tenant, receipt.seq, public.key_id, public.public_key)
    return key, receipt
