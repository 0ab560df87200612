import base64
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from evidentia.errors import InputError, ProofError
from evidentia.trail.note import (
    MAX_NOTE_BYTES,
    Note,
    VerifierKey,
    decode_base64,
    sign_note,
)

# The example of the C2SP signed-note specification.
SPECIFIED = """\
Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore \
NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
"""
# The key pair and note that Go's golang.org/x/mod/sumdb/note is tested with.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
GO_TEXT = """\
If you think cryptography is the answer to your problem,
then you don't know what your problem is.
"""
GO_NOTE = f"""\
{GO_TEXT}
— PeterNeumann \
x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
"""

ALICE = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
BOB = Ed25519PrivateKey.from_private_bytes(bytes([2]) * 32)
TEXT = "a line\n\nanother\n"


def public(name: str, key: Ed25519PrivateKey) -> VerifierKey:
    return VerifierKey(name, key.public_key().public_bytes_raw())


def signature_line(note: str) -> str:
    return note.rpartition("\n\n")[2]


def signed(*signers: tuple[str, Ed25519PrivateKey], text: str = TEXT) -> str:
    lines = [signature_line(sign_note(text, name, key)) for name, key in signers]
    return f"{text}\n{''.join(lines)}"


class TestParsing:
    def test_the_specifications_example_is_read(self) -> None:
        note = Note.parse(SPECIFIED)
        assert note.text == SPECIFIED.partition("— ")[0][:-1]
        assert note.text.endswith("ed è subito sera.\n")
        assert [(line.name, line.key_id) for line in note.signatures] == [
            ("quasimodo.example/salvatore", "367ba04b")
        ]
        assert len(note.signatures[0].signature) == 64

    def test_text_and_signatures_part_at_the_last_blank_line(self) -> None:
        note = Note.parse(signed(("alice", ALICE), ("bob", BOB)))
        assert note.text == TEXT
        assert [line.name for line in note.signatures] == ["alice", "bob"]

    def test_sixteen_signatures_are_accepted(self) -> None:
        note = Note.parse(signed(*[(f"signer-{number}", ALICE) for number in range(16)]))
        assert len(note.signatures) == 16

    def test_a_note_cut_short_is_none(self) -> None:
        for end in range(len(GO_NOTE)):
            with pytest.raises(ProofError):
                Note.parse(GO_NOTE[:end])

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (lambda note: note.replace("a line", "a\tline"), "control characters"),
            (lambda note: note.replace("\n", "\r\n"), "control characters"),
            (lambda note: note.replace("a line", "a\x00line"), "control characters"),
            (lambda note: note.replace("a line", "a \ud800 line"), "control characters"),
            (lambda note: "x" * MAX_NOTE_BYTES + note, "too long"),
            (lambda note: note.replace("\n\n—", "\n—"), "not a signature line"),
            (lambda note: note.replace("— ", "- "), "not a signature line"),
            (lambda note: note.replace("— ", "—"), "not a signature line"),
            (lambda note: note.replace("— alice", "— al+ice"), "not a signature line"),
            (lambda note: note.replace("— alice", "— al\u00a0ice"), "not a signature line"),
            (lambda note: note.replace("— alice", "— "), "not a signature line"),
            (lambda note: note + "trailing\n", "not a signature line"),
            (lambda note: note[:-2] + "!\n", "not a signature line"),
            (lambda note: note.rpartition(" ")[0] + " AAAAAA==\n", "not a signature line"),
            (lambda _: "", "no signatures"),
            (lambda _: "text\n", "no signatures"),
            (lambda _: "text\n\n", "no signatures"),
        ],
    )
    def test_what_is_no_signed_note_is_refused(
        self, change: Callable[[str], str], problem: str
    ) -> None:
        with pytest.raises(ProofError, match=problem):
            Note.parse(change(signed(("alice", ALICE))))

    @pytest.mark.parametrize("text", ["YQ==", "YWI=", "YWJj", ""])
    def test_base64_is_read(self, text: str) -> None:
        data = decode_base64(text)
        assert data is not None
        assert base64.b64encode(data).decode() == text

    @pytest.mark.parametrize("text", ["YR==", "YWJ=", "YQ", "YQ=", "YQ===", "Y Q==", "YQ==\n", "é"])
    def test_base64_written_any_other_way_is_none(self, text: str) -> None:
        assert decode_base64(text) is None


class TestVerifying:
    def test_a_note_that_another_implementation_signed_verifies(self) -> None:
        key = VerifierKey.parse(GO_KEY)
        assert Note.parse(GO_NOTE).signed_by([key]) == key

    def test_our_signature_is_byte_for_byte_that_implementations(self) -> None:
        key = Ed25519PrivateKey.from_private_bytes(GO_SEED)
        assert sign_note(GO_TEXT, "PeterNeumann", key) == GO_NOTE

    @settings(max_examples=40)
    @given(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"), max_size=60),
        st.text("abcé/.-_0", min_size=1, max_size=20),
    )
    def test_whatever_is_signed_verifies(self, text: str, name: str) -> None:
        key = public(name, ALICE)
        note = Note.parse(sign_note(text + "\n", name, ALICE))
        assert note.text == text + "\n"
        assert note.signed_by([key]) == key

    def test_signatures_by_unknown_keys_are_ignored(self) -> None:
        note = Note.parse(signed(("stranger", BOB), ("alice", ALICE)))
        assert note.signed_by([public("alice", ALICE)]) == public("alice", ALICE)
        assert note.signed_by([public("carol", ALICE)]) is None
        assert note.signed_by([]) is None

    def test_a_known_name_with_another_key_is_an_unknown_key(self) -> None:
        note = Note.parse(signed(("alice", BOB)))
        assert note.signed_by([public("alice", ALICE)]) is None

    def test_a_known_id_under_another_name_is_an_unknown_key(self) -> None:
        note = Note.parse(signed(("alice", ALICE)).replace("— alice", "— mallory"))
        assert note.signed_by([public("alice", ALICE), public("mallory", ALICE)]) is None

    def test_a_wrong_signature_by_a_known_key_is_refused(self) -> None:
        note = Note.parse(signed(("alice", ALICE)).replace("a line", "a lie"))
        with pytest.raises(ProofError, match=f"key {public('alice', ALICE).key_id} does not match"):
            note.signed_by([public("alice", ALICE)])

    def test_one_wrong_signature_by_a_known_key_spoils_the_note(self) -> None:
        forged = signature_line(sign_note("another text\n", "bob", BOB))
        note = Note.parse(signed(("alice", ALICE)) + forged)
        keys = [public("alice", ALICE), public("bob", BOB)]
        assert note.signed_by(keys[:1]) == keys[0]
        with pytest.raises(ProofError, match="does not match the text"):
            note.signed_by(keys)

    def test_the_first_signer_in_the_note_is_given(self) -> None:
        note = Note.parse(signed(("bob", BOB), ("alice", ALICE)))
        assert note.signed_by([public("alice", ALICE), public("bob", BOB)]) == public("bob", BOB)

    def test_a_signature_of_a_wrong_length_does_not_verify(self) -> None:
        key = public("alice", ALICE)
        assert not key.verifies(b"short", TEXT)
        assert key.verifies(ALICE.sign(TEXT.encode()), TEXT)
        assert not VerifierKey("alice", b"short").verifies(bytes(64), TEXT)


class TestSigning:
    @pytest.mark.parametrize("text", ["", "no newline", "tab\t\n", "\x7f\x00\n", "\ud800\n"])
    def test_text_that_a_note_cannot_hold_is_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="a note's text must end in a newline"):
            sign_note(text, "alice", ALICE)

    @pytest.mark.parametrize("name", ["", "two words", "a+b", "a\nb", "a\u2003b", "\ud800"])
    def test_a_name_that_a_note_cannot_hold_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match="is no name to sign under"):
            sign_note(TEXT, name, ALICE)


class TestVerifierKeys:
    def test_a_key_has_one_line_and_reads_back(self) -> None:
        key = VerifierKey.parse(GO_KEY)
        assert str(key) == GO_KEY
        assert key.name == "PeterNeumann"
        assert key.key_id == "c74f20a3"
        assert VerifierKey.parse(f"  {GO_KEY}\n") == key

    def test_the_id_depends_on_the_name(self) -> None:
        assert public("alice", ALICE).key_id != public("bob", ALICE).key_id

    def test_any_part_of_a_key_is_no_key(self) -> None:
        for start in range(len(GO_KEY)):
            for end in range(start, len(GO_KEY)):
                with pytest.raises(InputError):
                    VerifierKey.parse(GO_KEY[start:end])

    def test_a_key_with_any_character_changed_is_refused(self) -> None:
        for at, letter in enumerate(GO_KEY):
            changed = GO_KEY[:at] + chr(ord(letter) + 1) + GO_KEY[at + 1 :]
            with pytest.raises(InputError):
                VerifierKey.parse(changed)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (
                "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
                "not a public key of the form",
            ),
            (
                "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                "is of type 101, and only Ed25519",
            ),
            (GO_KEY.replace("c74f20a3", "c74f20a4"), "says its id is 'c74f20a4', but it is c74f"),
            (GO_KEY.replace("c74f20a3", "C74F20A3"), "says its id is 'C74F20A3'"),
            (GO_KEY.replace("PeterNeumann", "Peter Neumann"), "not a public key of the form"),
            (GO_KEY.replace("PeterNeumann", "\udcff"), "not a public key of the form"),
            ("", "not a public key of the form"),
        ],
    )
    def test_what_is_wrong_with_a_key_is_said(self, text: str, problem: str) -> None:
        with pytest.raises(InputError, match=problem):
            VerifierKey.parse(text)
