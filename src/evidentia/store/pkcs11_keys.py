"""Keys in a PKCS #11 token: made in it, used in it, and never outside of it.

An object is found by its label, `evidentia TENANT KEY-ID`, so that every machine that reaches the
token signs with the same keys. Two things are elsewhere: keys that a home had before, which it
still signs with, and commands that sign.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError, NotFoundError
from evidentia.logs import get_logger
from evidentia.proof.keys import SigningKey
from evidentia.store.keys import SECRET_BYTES, FileKeys, KeyPlace, Keys, Passphrase, as_bytes
from evidentia.store.pkcs11_token import TOKEN_SECONDS, Pkcs11Token
from evidentia.store.pkcs11_uri import Pkcs11Uri
from evidentia.store.signing import PROBE, RemoteSigner
from evidentia.trail.note import PUBLIC_KEY_BYTES

if TYPE_CHECKING:
    from pkcs11 import Session, SignMixin

_ED25519: Final = (
    bytes.fromhex("06032b6570"),  # id-Ed25519, of RFC 8410
    b"\x13\x0cedwards25519",  # the curve's name, as PKCS #11 2.4 had it
)
_REFUSED: Final = (
    "AttributeValueInvalid",
    "DomainParamsInvalid",
    "MechanismParamInvalid",
    "TemplateInconsistent",
    "FunctionFailed",
    "CurveNotSupported",
)
"""What a token says of a curve under a name that it doesn't know."""
_SHARED: Final = "evidentia secret {}"
_DERIVED_FROM: Final = b"evidentia: a secret for redacted values, and no checkpoint\n"
_SETTLED_SECONDS: Final = 0.3
"""How long another machine may take between looking for a secret and making one."""
_MOST_PIN: Final = 1_024
_log = get_logger("store")


class _NoSecretsError(EnvironmentProblem):
    """A token signs, and can do nothing else that a secret could follow from."""


@dataclass(frozen=True, slots=True)
class Pkcs11Signer(RemoteSigner):
    """A private key in a token."""

    public: bytes
    token: Pkcs11Token = field(repr=False)
    seconds: float

    @property
    def what(self) -> str:
        """What signs, in messages."""
        return str(self.token.uri)

    def within(self, seconds: float) -> "Pkcs11Signer":
        """Return what signs with the same key in so many seconds."""
        return replace(self, seconds=seconds)

    def public_key(self) -> Ed25519PublicKey:
        """Return the public half."""
        return Ed25519PublicKey.from_public_bytes(self.public)

    def sign(self, data: bytes, /) -> bytes:
        """Have the token sign; raise `EnvironmentProblem` unless the key's signature comes."""

        def signed(session: "Session") -> bytes:
            from pkcs11 import Mechanism  # noqa: PLC0415 - an extra

            key = self.token.found.get(self.public) or _private(self.token, session, self.public)
            if key is None:
                raise EnvironmentProblem(
                    f"{self.token.uri} has no private key of {self.public.hex()[:16]}… any more: "
                    "bring it back from the token's own backup; if it is lost, 'evidentia keys "
                    "rotate --lost --reason TEXT' makes a new one"
                )
            self.token.found[self.public] = key
            return bytes(key.sign(data, mechanism=Mechanism.EDDSA))

        signature = self.token.ask(signed, self.seconds)
        try:
            self.public_key().verify(signature, data)
        except InvalidSignature:
            raise EnvironmentProblem(
                f"{self.token.uri} gave a signature that is not by its key: look whether it "
                "signs by plain Ed25519 (CKM_EDDSA), and whether it is sound"
            ) from None
        return signature


class Pkcs11Keys(Keys):
    """Keys in a token, which every machine that reaches it shares; `files` has what a home had."""

    def __init__(
        self,
        uri: Pkcs11Uri,
        files: FileKeys,
        passphrase: Passphrase | None = None,
    ) -> None:
        self.uri = uri
        self.files = files
        self._passphrase = passphrase
        self._pin: str | None = None
        self.token = Pkcs11Token(uri, self._ask_pin, uri.seconds or TOKEN_SECONDS)
        self._opened: dict[tuple[str, str], SigningKey] = {}
        self._here: set[tuple[str, str]] = set()
        self._secrets: dict[str, bytes] = {}
        self._told: str | None = None
        """Why the token could not be asked, once the log has it."""

    def make(
        self,
        tenant: str,
        name: str,
        randomness: Callable[[int], bytes],
        passphrase: bytes | None = None,  # noqa: ARG002 - nothing of it is in a file
    ) -> SigningKey:
        """Make a key in the token: its private half can't be read from there."""
        identity = randomness(16)
        public = self.token.ask(lambda session: _made(self.token, session, identity))
        key = self._key(name, public)
        self._label(tenant, key)
        return key

    def signer(self, public: bytes) -> Pkcs11Signer:
        """Return what signs with a key of the token; raise `NotFoundError` if it is not there."""
        if self.token.ask(lambda session: _private(self.token, session, public)) is None:
            raise NotFoundError(
                f"{self.uri} has no private key of this public key: list what it has with its own "
                "tool; both halves must be there, under one id"
            )
        signer = Pkcs11Signer(public, self.token, self.token.seconds)
        signer.sign(PROBE)
        return signer

    def save(self, tenant: str, key: SigningKey, passphrase: bytes | None = None) -> None:
        """Have a key of the token found by all who reach it; keep the command that has another."""
        if isinstance(key.private_key, Pkcs11Signer):
            self._label(tenant, key)
        else:
            self.files.save(tenant, key, passphrase)

    def load(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        """Return what signs with a key; None if it is neither in the token nor in the home."""
        opened = self._opened.get((name, key_id))
        if opened is not None:
            return opened
        # what this machine has by itself is looked for first: nobody has to be reached for it
        found = self.files.load(tenant, key_id, name)
        if found is not None:
            return found
        public = self._public(tenant, key_id)
        if public is None:
            return None
        key = self._key(name, public)
        if key.verifier.key_id != key_id:
            raise InputError(
                f"{self.where(tenant, key_id)} holds another key, {key.verifier.key_id}, under "
                f"the label {_label(tenant, key_id)!r}"
            )
        self._opened[name, key_id] = key
        return key

    def place(self, tenant: str, key_id: str) -> KeyPlace:
        """Say where the private half of a key is, as far as can be seen from here."""
        if (tenant, key_id) in self._here:
            return KeyPlace.TOKEN
        at_home = self.files.place(tenant, key_id)
        if at_home is not KeyPlace.ELSEWHERE:
            return at_home
        try:
            found = self._public(tenant, key_id)
        except EvidentiaError as error:
            if str(error) != self._told:
                self._told = str(error)
                _log.warning("token_not_asked", token=str(self.uri), reason=self._told)
            return KeyPlace.UNREACHABLE
        self._told = None
        return KeyPlace.ELSEWHERE if found is None else KeyPlace.TOKEN

    def where(self, tenant: str, key_id: str) -> str:
        """Say where a private key is looked for."""
        if (tenant, key_id) in self._here:
            return str(self.uri)
        return f"{self.uri}, nor in {self.files.where(tenant, key_id)}"

    def new_passphrase(self, tenant: str) -> bytes | None:  # noqa: ARG002 - the same for all
        """Return None: a new key is in the token, which has its PIN; that is asked for here."""
        self.token.ask(lambda _session: None)
        return None

    @property
    def needs_pin(self) -> bool:
        """Whether its PIN has to be given, as its address names no file that has it."""
        return self.uri.pin_file is None

    def for_worker(self, tenant: str) -> bytes | None:
        """Return the PIN for a process of ours that signs too, unless it reads that itself."""
        if self.uri.pin_file is not None:
            return self.files.for_worker(tenant)
        return self._ask_pin().encode()

    def secret(self, tenant: str) -> bytes:
        """Return the secret behind digests of redacted values; the first call makes it.

        It follows from a key in the token. What a home has in a file is made to follow from it;
        where that is another one than the token's, it is refused: digests would not be the same.
        """
        known = self._secrets.get(tenant)
        if known is None:
            file = self.files.secret_file(tenant)
            kept = self.files.secret(tenant) if file.exists() else None
            try:
                known = self._shared_secret(tenant, kept)
            except _NoSecretsError:
                if kept is None:
                    raise
                known = kept  # as it was before there was a token
            if kept not in {None, known}:
                raise EnvironmentProblem(
                    f"{file}: is another secret than {self.uri} has for this tenant, and redacted "
                    "values would have two digests: if other machines made what counts, move the "
                    "file away"
                )
            self._secrets[tenant] = known
        return known

    def close(self) -> None:
        """Let go of the token's session; it may be asked again."""
        self.token.close()

    def _key(self, name: str, public: bytes) -> SigningKey:
        return SigningKey(name, Pkcs11Signer(public, self.token, self.token.seconds))

    def _label(self, tenant: str, key: SigningKey) -> None:
        public, label = key.verifier.public_key, _label(tenant, key.verifier.key_id)
        self.token.ask(lambda session: _labelled(self.token, session, public, label))
        self._opened[key.name, key.verifier.key_id] = key
        self._here.add((tenant, key.verifier.key_id))

    def _public(self, tenant: str, key_id: str) -> bytes | None:
        """Return the public half of a key whose private one is in the token under its label."""
        label = _label(tenant, key_id)
        found = self.token.ask(lambda session: _public_of(self.token, session, label))
        if found is not None:
            self._here.add((tenant, key_id))
        return found

    def _shared_secret(self, tenant: str, kept: bytes | None) -> bytes:
        label = _SHARED.format(tenant)
        found = self.token.ask(lambda session: _secrets(self.token, session, label))
        if not found:
            self.token.ask(lambda session: _new_secret(self.token, session, label, kept))
            time.sleep(_SETTLED_SECONDS)  # a token can't be asked to make it only where none is
            found = self.token.ask(lambda session: _secrets(self.token, session, label))
        return min(found)[1]

    def _ask_pin(self) -> str:
        """Return the PIN: of the file that the address names, or what opens private keys."""
        if self._pin is not None:
            return self._pin
        if self.uri.pin_file is not None:
            return _read_pin(self.uri.pin_file)
        given = self._passphrase
        if given is None:
            raise EnvironmentProblem(
                f"{self.uri} needs its PIN: name a file that has it by pin-source=file:/… in "
                "EVIDENTIA_KEYS, or in EVIDENTIA_KEY_PASSPHRASE_FILE (in Python: passphrase=)"
            )
        self._pin = as_bytes(given() if callable(given) else given).decode(errors="replace")
        return self._pin


def _label(tenant: str, key_id: str) -> str:
    return f"evidentia {tenant} {key_id}"


def _made(token: Pkcs11Token, session: "Session", identity: bytes) -> bytes:
    """Make a pair of keys in a token; return the public half."""
    from pkcs11 import Attribute, KeyType, Mechanism, PKCS11Error  # noqa: PLC0415 - an extra

    can = session.token.slot.get_mechanisms()
    if not {Mechanism.EDDSA, Mechanism.EC_EDWARDS_KEY_PAIR_GEN} <= set(can):
        raise EnvironmentProblem(
            f"{token.uri} can't sign by Ed25519 (CKM_EDDSA), which is what logs are signed by: use "
            "another token, a newer version of it, or a signer command ('evidentia keys "
            "use-command')"
        )
    for curve in _ED25519:
        parameters = session.create_domain_parameters(
            KeyType.EC_EDWARDS, {Attribute.EC_PARAMS: curve}, local=True
        )
        try:
            public, _ = parameters.generate_keypair(
                mechanism=Mechanism.EC_EDWARDS_KEY_PAIR_GEN,
                store=True,
                id=identity,
                label="evidentia new",
                public_template={Attribute.VERIFY: True},
                private_template={
                    Attribute.SENSITIVE: True,
                    Attribute.EXTRACTABLE: False,
                    Attribute.SIGN: True,
                },
            )
        except PKCS11Error as error:
            if curve == _ED25519[-1] or type(error).__name__ not in _REFUSED:
                raise
        else:
            break
    point = _point(public[Attribute.EC_POINT])
    if point is None:
        raise EnvironmentProblem(
            f"{token.uri} gave a public key that is none of Ed25519: use another token, or a "
            "signer command ('evidentia keys use-command')"
        )
    return point


def _labelled(token: Pkcs11Token, session: "Session", public: bytes, label: str) -> None:
    """Give both halves of a key a label; the private half last, by which it is found."""
    from pkcs11 import Attribute, ObjectClass, PKCS11Error  # noqa: PLC0415 - an extra

    private = _private(token, session, public)
    if private is None:
        raise EnvironmentProblem(f"{token.uri} has lost the key that was just made: is it sound?")
    pair = {Attribute.CLASS: ObjectClass.PUBLIC_KEY, Attribute.ID: private[Attribute.ID]}
    try:
        for one in (*token.search(session, pair), private):
            one[Attribute.LABEL] = label
    except PKCS11Error as error:
        raise EnvironmentProblem(
            f"{token.uri} does not let a key be labelled ({type(error).__name__}): label both "
            f"halves {label!r} with the token's own tool"
        ) from None


def _private(token: Pkcs11Token, session: "Session", public: bytes) -> "SignMixin | None":
    """Return the private half of a key; None if it is not in the token."""
    from pkcs11 import Attribute, KeyType, ObjectClass  # noqa: PLC0415 - an extra

    wanted = {Attribute.CLASS: ObjectClass.PUBLIC_KEY, Attribute.KEY_TYPE: KeyType.EC_EDWARDS}
    for half in token.search(session, wanted):
        if _point(half[Attribute.EC_POINT]) == public:
            pair = {
                Attribute.CLASS: ObjectClass.PRIVATE_KEY,
                Attribute.KEY_TYPE: KeyType.EC_EDWARDS,
                Attribute.ID: half[Attribute.ID],
            }
            found: list[SignMixin] = token.search(session, pair)
            if found:
                return found[0]
    return None


def _public_of(token: Pkcs11Token, session: "Session", label: str) -> bytes | None:
    """Return the public half of the private key that has a label."""
    from pkcs11 import Attribute, ObjectClass  # noqa: PLC0415 - an extra

    wanted = {Attribute.CLASS: ObjectClass.PRIVATE_KEY, Attribute.LABEL: label}
    for private in token.search(session, wanted):
        pair = {Attribute.CLASS: ObjectClass.PUBLIC_KEY, Attribute.ID: private[Attribute.ID]}
        for half in token.search(session, pair):
            point = _point(half[Attribute.EC_POINT])
            if point is not None:
                token.found[point] = private
                return point
    return None


def _secrets(token: Pkcs11Token, session: "Session", label: str) -> list[tuple[bytes, bytes]]:
    """Return what each key under a label leads to, with what it is told apart by."""
    from pkcs11 import Attribute, ObjectClass  # noqa: PLC0415 - an extra

    wanted = {Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.LABEL: label}
    return [
        (mask, _masked(_derived(key), mask))
        for key in token.search(session, wanted)
        if len(mask := bytes(key[Attribute.ID])) == SECRET_BYTES
    ]


def _new_secret(token: Pkcs11Token, session: "Session", label: str, kept: bytes | None) -> None:
    """Make a key that a secret follows from; `kept` is what it has to be, where it is known.

    The key can't be read. What makes the secret of it the one that a home had is its id.
    """
    from pkcs11 import Attribute, KeyType, Mechanism, MechanismFlag  # noqa: PLC0415 - an extra

    can = session.token.slot.get_mechanisms()
    if not {Mechanism.SHA256_HMAC, Mechanism.GENERIC_SECRET_KEY_GEN} <= set(can):
        raise _NoSecretsError(
            f"{token.uri} can keep no secret (CKM_SHA256_HMAC), and redacted values need one: copy "
            "one redaction.key into keys/TENANT of every machine's home"
        )
    key = session.generate_key(
        KeyType.GENERIC_SECRET,
        8 * SECRET_BYTES,
        store=True,
        label=f"{label} (new)",
        capabilities=MechanismFlag.SIGN | MechanismFlag.VERIFY,
        template={Attribute.SENSITIVE: True, Attribute.EXTRACTABLE: False},
    )
    mask = os.urandom(SECRET_BYTES) if kept is None else _masked(_derived(key), kept)
    key[Attribute.ID] = mask
    key[Attribute.LABEL] = label


def _derived(key: Any) -> bytes:
    from pkcs11 import Mechanism  # noqa: PLC0415 - an extra

    return bytes(key.sign(_DERIVED_FROM, mechanism=Mechanism.SHA256_HMAC))


def _masked(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _point(encoded: bytes) -> bytes | None:
    """Return the 32 bytes of a public key: as they are, or in a string of ASN.1."""
    for begins in (b"", b"\x04\x20", b"\x03\x21\x00"):
        if len(encoded) == len(begins) + PUBLIC_KEY_BYTES and encoded.startswith(begins):
            return bytes(encoded[len(begins) :])
    return None


def _read_pin(file: Path) -> str:
    """Read a PIN from a file; a line break at its end is not part of it."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_PIN + 1)
        pin = data.removesuffix(b"\n").removesuffix(b"\r").decode()
    except OSError as error:
        raise EnvironmentProblem(
            f"{file}: the PIN of the token cannot be read ({error.strerror})"
        ) from None
    except UnicodeDecodeError:
        pin = ""
    if not pin or len(data) > _MOST_PIN:
        raise EnvironmentProblem(f"{file}: holds no PIN: it is empty, too long, or no text")
    return pin
