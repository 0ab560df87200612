import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.errors import InputError, ProofError
from evidentia.trail.checkpoint import Checkpoint, log_origin, read_checkpoint
from evidentia.trail.note import VerifierKey

# The example of the C2SP tlog-checkpoint specification.
SPECIFIED = """\
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa \
Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""
KEY = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
ROOT = bytes(range(32))
ENCODED = base64.b64encode(ROOT).decode()


def test_the_specifications_example_is_read() -> None:
    checkpoint, note = read_checkpoint(SPECIFIED)
    assert checkpoint.origin == "example.com/behind-the-sofa"
    assert checkpoint.size == 20852163
    assert base64.b64encode(checkpoint.root) == b"CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    assert note.signatures[0].key_id == "033de0ae"
    assert checkpoint.text == note.text


def test_a_signed_checkpoint_reads_back_and_verifies_under_its_origin() -> None:
    checkpoint = Checkpoint("evidentia/abc/acme", 5, ROOT)
    read, note = read_checkpoint(checkpoint.sign(KEY))
    key = VerifierKey("evidentia/abc/acme", KEY.public_key().public_bytes_raw())
    assert read == checkpoint
    assert note.signed_by([key]) == key


@settings(max_examples=40)
@given(st.integers(0, 10**18 - 1), st.binary(min_size=32, max_size=32))
def test_every_checkpoint_reads_back(size: int, root: bytes) -> None:
    checkpoint = Checkpoint("example.com/log", size, root)
    assert Checkpoint.parse(checkpoint.text) == checkpoint


def test_the_tenant_is_the_last_part_of_the_origin() -> None:
    origin = log_origin("0123abcd", "acme")
    assert origin == "evidentia/0123abcd/acme"
    assert Checkpoint(origin, 0, ROOT).tenant == "acme"
    assert Checkpoint("plain", 0, ROOT).tenant == "plain"


def test_extension_lines_are_left_alone() -> None:
    text = f"example.com/log\n7\n{ENCODED}\nan extension\nanother\n"
    assert Checkpoint.parse(text) == Checkpoint("example.com/log", 7, ROOT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "example.com/log\n",
        "example.com/log\n7\n",
        f"example.com/log\n7\n{ENCODED}",
        f"\n7\n{ENCODED}\n",
        f"example.com/log\n\n{ENCODED}\n",
        f"example.com/log\n7\n{ENCODED}\n\nafter an empty line\n",
        f"example.com/log\n7\n{ENCODED}\n\n",
        f"example.com/log\n7\n{ENCODED}\nan extension without its end",
    ],
)
def test_text_without_the_three_lines_is_no_checkpoint(text: str) -> None:
    with pytest.raises(ProofError, match="no origin, size and root lines"):
        Checkpoint.parse(text)


@tiers.one_test
@pytest.mark.parametrize(
    ("size", "root"),
    [
        ("07", ENCODED),
        ("-7", ENCODED),
        ("+7", ENCODED),
        (" 7", ENCODED),
        ("7.0", ENCODED),
        ("1_0", ENCODED),
        ("\u0667", ENCODED),
        ("1\u0667", ENCODED),
        ("9" * 19, ENCODED),
        ("seven", ENCODED),
        ("7", ENCODED[:-1]),
        ("7", ENCODED + "="),
        ("7", f" {ENCODED}"),
        ("7", ENCODED[:-2] + "9="),
        ("7", base64.b64encode(ROOT[:31]).decode()),
        ("7", base64.b64encode(ROOT + b"\x00").decode()),
        ("7", ROOT.hex()),
        ("7", "?"),
    ],
)
def test_a_malformed_size_or_root_is_refused(size: str, root: str) -> None:
    with pytest.raises(ProofError, match="its size or its root is malformed"):
        Checkpoint.parse(f"example.com/log\n{size}\n{root}\n")


def test_a_note_that_is_no_checkpoint_is_refused() -> None:
    with pytest.raises(ProofError, match="not a signed note"):
        read_checkpoint(Checkpoint("example.com/log", 7, ROOT).text)


def test_an_origin_that_cannot_be_a_name_cannot_sign() -> None:
    with pytest.raises(InputError, match="no name to sign under"):
        Checkpoint("example.com/two words", 7, ROOT).sign(KEY)
