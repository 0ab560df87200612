import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from evidentia.errors import InputError, UsageError
from evidentia.proof import keys
from evidentia.proof.keys import (
    PROTECTION_BYTES,
    SEED_BYTES,
    SigningKey,
    TrustedKey,
    is_encrypted,
)
from evidentia.trail.note import VerifierKey
from proofs import KEY, ORIGIN

SEED = bytes([1]) * SEED_BYTES
PUBLIC = KEY.verifier.public_key
PASSPHRASE = b"seven plain words, said slowly"
ENCRYPTED = KEY.to_encrypted_pem(PASSPHRASE, bytes(range(PROTECTION_BYTES)))


def pem_of(key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class TestSigningKeys:
    def test_a_key_follows_from_its_seed(self) -> None:
        same = SigningKey.from_seed(ORIGIN, SEED)
        assert same.verifier == KEY.verifier
        assert SigningKey.from_seed(ORIGIN, bytes(32)).verifier != KEY.verifier

    def test_the_public_half_verifies_what_the_key_signs(self) -> None:
        assert KEY.verifier.name == ORIGIN
        assert KEY.verifier.verifies(KEY.private_key.sign(b"text\n"), "text\n")

    def test_a_key_reads_back_from_its_pem(self) -> None:
        pem = KEY.to_pem()
        assert pem.startswith(b"-----BEGIN PRIVATE KEY-----")
        assert SigningKey.from_pem(ORIGIN, pem).verifier == KEY.verifier

    def test_a_keys_repr_does_not_show_the_key(self) -> None:
        assert repr(KEY) == f"SigningKey(name='{ORIGIN}')"
        assert SEED.hex() not in repr(KEY)

    @pytest.mark.parametrize(
        "pem",
        [
            b"",
            b"junk",
            KEY.to_pem()[:-30],
            KEY.to_pem().replace(b"MC4C", b"MC5C"),
            KEY.to_pem().replace(b" PRIVATE", b" ENCRYPTED PRIVATE"),
            ENCRYPTED[:-60],
            ENCRYPTED.replace(b"MIG", b"MIH"),
        ],
    )
    def test_what_is_no_private_key_is_refused(self, pem: bytes) -> None:
        with pytest.raises(InputError, match="not a private key in PEM form"):
            SigningKey.from_pem(ORIGIN, pem, PASSPHRASE)

    def test_a_private_key_of_another_kind_is_refused(self) -> None:
        other = ec.generate_private_key(ec.SECP256R1())
        pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with pytest.raises(InputError, match="not an Ed25519 key"):
            SigningKey.from_pem(ORIGIN, pem)

    def test_an_encrypted_key_opens_with_its_passphrase(self) -> None:
        assert ENCRYPTED.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
        assert max(map(len, ENCRYPTED.splitlines())) <= 64
        assert SigningKey.from_pem(ORIGIN, ENCRYPTED, PASSPHRASE).verifier == KEY.verifier
        assert is_encrypted(ENCRYPTED)
        assert not is_encrypted(KEY.to_pem())

    def test_each_encryption_of_a_key_is_another(self) -> None:
        again = KEY.to_encrypted_pem(PASSPHRASE, bytes(range(1, PROTECTION_BYTES + 1)))
        assert len(set(again.splitlines()) & set(ENCRYPTED.splitlines())) == 2
        assert SigningKey.from_pem(ORIGIN, again, PASSPHRASE).verifier == KEY.verifier

    def test_a_wrong_passphrase_is_said_and_not_shown(self) -> None:
        with pytest.raises(InputError) as caught:
            SigningKey.from_pem(ORIGIN, ENCRYPTED, b"a wrong passphrase")
        assert str(caught.value) == "the passphrase does not open the private key"

    def test_an_encrypted_key_without_a_passphrase_says_what_it_lacks(self) -> None:
        with pytest.raises(InputError, match="encrypted, and no passphrase"):
            SigningKey.from_pem(ORIGIN, ENCRYPTED)

    def test_a_key_that_another_program_encrypted_opens_too(self) -> None:
        key = ed25519.Ed25519PrivateKey.from_private_bytes(SEED)
        pem = key.private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSPHRASE)
        )
        assert SigningKey.from_pem(ORIGIN, pem, PASSPHRASE).verifier == KEY.verifier

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
    def test_another_program_opens_an_encrypted_key(self, tmp_path: Path) -> None:
        (tmp_path / "key.pem").write_bytes(ENCRYPTED)
        (tmp_path / "passphrase").write_bytes(PASSPHRASE)
        read = subprocess.run(
            ["openssl", "pkey", "-in", "key.pem", "-passin", "file:passphrase", "-pubout"],
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        assert TrustedKey.parse(read.stdout.decode()).public_key == PUBLIC

    def test_a_key_that_is_held_elsewhere_can_not_be_written(self) -> None:
        class Token:
            def sign(self, data: bytes, /) -> bytes:
                return KEY.private_key.sign(data)

            def public_key(self) -> ed25519.Ed25519PublicKey:
                return KEY.private_key.public_key()

        key = SigningKey(ORIGIN, Token())
        assert key.verifier == KEY.verifier
        assert key.verifier.verifies(key.private_key.sign(b"text\n"), "text\n")
        with pytest.raises(UsageError, match="the private key is not here"):
            key.to_pem()
        with pytest.raises(UsageError, match="the private key is not here"):
            key.to_encrypted_pem(PASSPHRASE, bytes(PROTECTION_BYTES))

    def test_a_key_that_the_library_does_not_support_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise UnsupportedAlgorithm("an odd curve")

        monkeypatch.setattr(keys, "load_pem_private_key", refuse)
        monkeypatch.setattr(keys, "load_pem_public_key", refuse)
        for pem in (KEY.to_pem(), ENCRYPTED):
            with pytest.raises(InputError, match="an odd curve"):
                SigningKey.from_pem(ORIGIN, pem, PASSPHRASE)
        with pytest.raises(InputError, match="holds no Ed25519 public key"):
            TrustedKey.parse(pem_of(KEY.private_key.public_key()))


class TestTrustedKeys:
    def test_a_key_is_read_from_its_line_and_knows_its_log(self) -> None:
        assert TrustedKey.parse(str(KEY.verifier)) == TrustedKey(PUBLIC, ORIGIN)
        assert TrustedKey.parse(f"\n  {KEY.verifier}  \n") == TrustedKey(PUBLIC, ORIGIN)

    @pytest.mark.parametrize("text", [PUBLIC.hex(), PUBLIC.hex().upper(), f" {PUBLIC.hex()}\n"])
    def test_a_key_is_read_from_hexadecimal(self, text: str) -> None:
        assert TrustedKey.parse(text) == TrustedKey(PUBLIC)

    def test_a_key_is_read_from_pem(self) -> None:
        pem = pem_of(KEY.private_key.public_key())
        assert TrustedKey.parse(pem) == TrustedKey(PUBLIC)
        assert TrustedKey.parse(pem.replace("\n", "\r\n")) == TrustedKey(PUBLIC)

    @pytest.mark.parametrize(
        "text",
        [
            pem_of(ec.generate_private_key(ec.SECP256R1()).public_key()),
            pem_of(KEY.private_key.public_key())[:-40],
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\n\udcff",
            KEY.to_pem().decode(),
        ],
    )
    def test_a_pem_without_an_ed25519_public_key_is_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="the PEM file holds no Ed25519 public key"):
            TrustedKey.parse(text)

    @pytest.mark.parametrize(
        "text", ["", "key.pub", PUBLIC.hex()[:-1], PUBLIC.hex() + "0", "g" * 64, "\u0663" * 64]
    )
    def test_anything_else_is_no_key(self, text: str) -> None:
        with pytest.raises(InputError, match="not a public key of the form"):
            TrustedKey.parse(text)

    def test_a_key_vouches_for_the_log_it_was_given_for(self) -> None:
        assert TrustedKey(PUBLIC).is_for(ORIGIN)
        assert TrustedKey(PUBLIC, ORIGIN).is_for(ORIGIN)
        assert not TrustedKey(PUBLIC, "evidentia/ffff/acme").is_for(ORIGIN)
        assert str(VerifierKey(ORIGIN, PUBLIC)) == str(KEY.verifier)
