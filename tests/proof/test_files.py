import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from evidentia import ProofReport
from evidentia.errors import InputError, NotFoundError
from evidentia.proof.document import MAX_PROOF_BYTES
from evidentia.proof.files import MAX_KEY_BYTES, read_bytes, read_key
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import Verdict
from evidentia.verifying import verify
from proofs import KEY, ORIGIN, make_proof, proof_bytes

PUBLIC = KEY.verifier.public_key
PEM = KEY.private_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture
def proof_file(tmp_path: Path) -> Path:
    path = tmp_path / "proof.json"
    path.write_bytes(proof_bytes(make_proof()))
    return path


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "log.pub"
    path.write_text(f"{KEY.verifier}\n")
    return path


class TestVerifying:
    def test_a_proof_file_holds_with_its_key(self, proof_file: Path, key_file: Path) -> None:
        report = verify(proof_file, key=key_file)
        assert isinstance(report, ProofReport)
        assert report.holds
        assert verify(str(proof_file), key=str(key_file)).holds

    def test_bytes_are_taken_as_the_proof_itself(self) -> None:
        assert verify(proof_bytes(make_proof()), key=KEY.verifier).holds

    def test_without_a_key_the_signer_is_unknown(self, proof_file: Path) -> None:
        assert verify(proof_file).verdict is Verdict.SIGNER_UNKNOWN

    def test_a_file_that_is_no_proof_is_a_report(self, key_file: Path) -> None:
        assert verify(key_file).verdict is Verdict.DOES_NOT_HOLD

    @pytest.mark.parametrize("name", ["absent.json", "no\x00such", "absent/proof.json"])
    def test_a_proof_that_is_not_there_is_named(self, tmp_path: Path, name: str) -> None:
        path = f"{tmp_path}/{name}"
        with pytest.raises(NotFoundError, match="no such file"):
            verify(path)

    def test_a_folder_is_no_proof(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError, match="there is no published log here, which has a file"):
            verify(tmp_path)

    def test_a_file_too_large_to_be_a_proof_is_not_read_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "huge.json"
        with path.open("wb") as file:
            os.truncate(file.fileno(), 10 * MAX_PROOF_BYTES)
        with pytest.raises(InputError, match="larger than the 67108864 bytes that are read"):
            verify(path)

    def test_a_file_of_just_the_limit_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"12345")
        assert read_bytes(path, 5) == b"12345"
        with pytest.raises(InputError, match="larger than the 4 bytes"):
            read_bytes(path, 4)


class TestKeys:
    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            (str(KEY.verifier), TrustedKey(PUBLIC, ORIGIN)),
            (KEY.verifier, TrustedKey(PUBLIC, ORIGIN)),
            (TrustedKey(PUBLIC), TrustedKey(PUBLIC)),
            (PUBLIC.hex(), TrustedKey(PUBLIC)),
            (PEM.decode(), TrustedKey(PUBLIC)),
        ],
    )
    def test_a_key_is_read_from_what_it_is_given_as(
        self, key: str | TrustedKey, expected: TrustedKey
    ) -> None:
        assert read_key(key) == expected

    @pytest.mark.parametrize("content", [str(KEY.verifier).encode(), PUBLIC.hex().encode(), PEM])
    def test_a_key_is_read_from_a_file_in_each_form(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "key"
        path.write_bytes(content + b"\n")
        assert read_key(path).public_key == PUBLIC
        assert read_key(str(path)).public_key == PUBLIC

    @pytest.mark.parametrize(
        "text", ["nonsense", "a+b+c", "x" * 5_000, "two\nlines", "nul\x00", "", "\udcff"]
    )
    def test_text_that_is_neither_a_key_nor_a_file_is_said_to_be_no_key(self, text: str) -> None:
        with pytest.raises(InputError, match="not a public key of the form name\\+id\\+base64"):
            read_key(text)

    def test_a_key_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError, match=r"absent\.pub: no such file"):
            read_key(tmp_path / "absent.pub")

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"junk", "not a public key of the form"),
            (b"\xff\xfe", "not a public key, and not even text"),
            (b"-----BEGIN PUBLIC KEY-----\n", "holds no Ed25519 public key"),
            (b" " * (MAX_KEY_BYTES + 1), "larger than the 65536 bytes"),
        ],
    )
    def test_a_key_file_that_holds_none_is_named_once(
        self, tmp_path: Path, content: bytes, problem: str
    ) -> None:
        path = tmp_path / "key.pub"
        path.write_bytes(content)
        for given in (path, str(path)):
            with pytest.raises(InputError, match=problem) as caught:
                read_key(given)
            assert str(caught.value).count("key.pub") == 1

    def test_a_folder_is_no_key(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="Is a directory"):
            read_key(str(tmp_path))
