"""Witnesses: their keys, what is posted to them, and what their cosignatures show."""

import base64

import pytest

from evidentia.errors import InputError, ProofError
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.note import MAX_NOTE_BYTES, Note
from evidentia.trail.witness import (
    WitnessKey,
    cosignatures,
    merged,
    request,
    told_size,
    with_cosignatures,
)
from proofs import KEY, ORIGIN
from witnessing import Witness

NOTE = Checkpoint(ORIGIN, 5, bytes(32)).sign(KEY.private_key)
TEXT = Note.parse(NOTE).text
ONE, TWO = Witness(), Witness("witness.test/w2", 8)
KEYS = [WitnessKey.parse(ONE.key), WitnessKey.parse(TWO.key)]


def test_a_key_is_read_and_written_in_one_line() -> None:
    assert [str(key) for key in KEYS] == [ONE.key, TWO.key]
    # a key of litewitness 0.9
    text = "example.test/witness+1e157027+BHUXnJrX1iu8cyOWstVik3l/qfpyIx+NUzglkOx4L6D3"
    assert WitnessKey.parse(f" {text}\n").key_id == "1e157027"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not the public key of a witness"),
        ("a b+00000000+BHUX", "not the public key of a witness"),
        (str(KEY.verifier), "is of type 1, and a witness's is of type 4"),
        (ONE.key.replace(ONE.key_hash.hex(), "00000000"), "says its id is '00000000', but it is"),
    ],
)
def test_what_is_no_key_of_a_witness_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        WitnessKey.parse(text)


def test_a_cosignature_counts_and_those_of_others_do_not() -> None:
    note = Note.parse(NOTE + ONE.cosign(TEXT))
    assert cosignatures(note, KEYS) == {KEYS[0]: ONE.now}
    assert cosignatures(note, KEYS[1:]) == {}
    assert note.signed_by([KEY.verifier]) == KEY.verifier


def test_the_newest_of_two_cosignatures_by_one_witness_is_told() -> None:
    later = Witness(now=ONE.now + 5)
    for lines in (ONE.cosign(TEXT) + later.cosign(TEXT), later.cosign(TEXT) + ONE.cosign(TEXT)):
        assert cosignatures(Note.parse(NOTE + lines), KEYS) == {KEYS[0]: later.now}


@pytest.mark.parametrize(
    "line",
    [
        ONE.cosign(f"{TEXT}more\n"),
        Witness(now=300_000_000_000).cosign(TEXT),
        f"— {ONE.name} {base64.b64encode(ONE.key_hash + bytes(64)).decode()}\n",
    ],
    ids=["of another text", "of no time", "too short"],
)
def test_a_wrong_cosignature_by_a_known_witness_is_an_error(line: str) -> None:
    with pytest.raises(
        ProofError, match=r"the cosignature by witness witness\.test/w1 .* does not"
    ):
        cosignatures(Note.parse(NOTE + line), KEYS)


def test_a_request_has_the_size_the_hashes_and_the_checkpoint() -> None:
    assert request(0, [], NOTE) == f"old 0\n\n{NOTE}".encode()
    two = base64.b64encode(bytes([2]) * 32).decode()
    assert request(3, [bytes([2]) * 32] * 2, NOTE) == f"old 3\n{two}\n{two}\n\n{NOTE}".encode()


def test_a_size_is_told_as_a_number_and_nothing_else() -> None:
    assert (told_size(b"0\n"), told_size(b"17"), told_size(b"17\n")) == (0, 17, 17)
    for reply in (b"", b"\n", b"017\n", b"-1\n", b"17\n\n", b"9" * 19, b"\xd9\xa1"):
        assert told_size(reply) is None


def test_an_answer_becomes_a_line_of_the_checkpoint_in_place_of_an_older() -> None:
    once = with_cosignatures(NOTE, ONE.cosign(TEXT), KEYS[0])
    assert once == NOTE + ONE.cosign(TEXT)
    both = with_cosignatures(once, ONE.cosign(TEXT) + TWO.cosign(TEXT), KEYS[1])
    assert both == once + TWO.cosign(TEXT)
    later = Witness(now=ONE.now + 5)
    again = with_cosignatures(both, later.cosign(TEXT) + ONE.cosign(TEXT), KEYS[0])
    assert again == NOTE + TWO.cosign(TEXT) + later.cosign(TEXT)


@pytest.mark.parametrize("answer", ["", "hello\n", TWO.cosign(TEXT), ONE.cosign("x\n"), "— a b"])
def test_an_answer_without_the_witness_own_cosignature_is_none(answer: str) -> None:
    with pytest.raises(ProofError):
        with_cosignatures(NOTE, answer, KEYS[0])


def test_lines_of_a_note_of_the_same_text_are_taken_over() -> None:
    assert merged(NOTE, NOTE + ONE.cosign(TEXT)) == NOTE + ONE.cosign(TEXT)
    assert merged(NOTE + ONE.cosign(TEXT), NOTE + ONE.cosign(TEXT)) == NOTE + ONE.cosign(TEXT)
    other = Checkpoint(ORIGIN, 6, bytes(32)).sign(KEY.private_key)
    assert merged(NOTE, other) == NOTE
    many = "".join(Witness(f"{'w' * 60_000}.test/{n}", n).cosign(TEXT) for n in (1,))
    assert len(NOTE + many) < MAX_NOTE_BYTES
    long = NOTE + Witness("v" * 60_000, 3).cosign(TEXT)
    assert merged(long, NOTE + many) == long
