"""Envelopes: DSSE's encoding of what is signed, and signatures that count for just that."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import ProofError
from evidentia.proof.document import Proof
from evidentia.proof.envelope import PAYLOAD_TYPE, Envelope, Signature, signed_bytes
from evidentia.proof.keys import SigningKey
from proofs import KEY, OTHER_KEY, make_proof, proof_bytes

PAYLOAD = b'{"a":1}'
ENVELOPE = Envelope.sign(PAYLOAD, KEY)
DOCUMENT: dict[str, Any] = ENVELOPE.as_json()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


# What is signed


def test_the_encoding_is_that_of_the_protocols_own_example() -> None:
    """The example of the DSSE protocol (secure-systems-lab/dsse, protocol.md)."""
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert signed_bytes(b"hello world", "http://example.com/HelloWorld") == expected


def test_what_is_signed_names_the_type_of_statements() -> None:
    assert PAYLOAD_TYPE == "application/vnd.in-toto+json"
    assert signed_bytes(PAYLOAD) == b'DSSEv1 28 application/vnd.in-toto+json 7 {"a":1}'
    assert signed_bytes(b"") == b"DSSEv1 28 application/vnd.in-toto+json 0 "


@given(st.binary(max_size=300))
def test_lengths_count_bytes_so_that_no_two_payloads_are_signed_alike(payload: bytes) -> None:
    head, _, rest = signed_bytes(payload).partition(f" {PAYLOAD_TYPE} ".encode())
    assert head == b"DSSEv1 28"
    length, _, body = rest.partition(b" ")
    assert int(length) == len(body) == len(payload)
    assert body == payload


def test_a_signature_is_ed25519_over_these_bytes_and_not_over_the_payload_alone() -> None:
    (signature,) = ENVELOPE.signatures
    assert signature.key_id == KEY.verifier.key_id
    public = Ed25519PublicKey.from_public_bytes(KEY.verifier.public_key)
    public.verify(signature.value, signed_bytes(PAYLOAD))
    bare = Envelope(PAYLOAD, (Signature(KEY.verifier.key_id, KEY.private_key.sign(PAYLOAD)),))
    with pytest.raises(ProofError, match="signature is not by key"):
        bare.signed_by([KEY.verifier])


# Who signed


def test_the_signer_is_found_among_the_keys() -> None:
    assert ENVELOPE.signed_by([KEY.verifier]) == KEY.verifier
    assert ENVELOPE.signed_by([OTHER_KEY.verifier, KEY.verifier]) == KEY.verifier
    assert ENVELOPE.signed_by(iter([KEY.verifier])) == KEY.verifier


def test_who_is_not_named_did_not_sign() -> None:
    assert ENVELOPE.signed_by([]) is None
    assert ENVELOPE.signed_by([OTHER_KEY.verifier]) is None
    other_log = SigningKey.from_seed("evidentia/ffff/acme", bytes([1]) * 32).verifier
    assert other_log.public_key == KEY.verifier.public_key
    assert ENVELOPE.signed_by([other_log]) is None


def test_a_strangers_signature_beside_the_right_one_does_no_harm() -> None:
    stranger = Signature("00000000", b"anything")
    both = replace(ENVELOPE, signatures=(stranger, *ENVELOPE.signatures))
    assert both.signed_by([KEY.verifier]) == KEY.verifier


@pytest.mark.parametrize(
    "envelope",
    [
        replace(ENVELOPE, payload=b'{"a":2}'),
        replace(ENVELOPE, payload=PAYLOAD + b" "),
        replace(ENVELOPE, signatures=(Signature(KEY.verifier.key_id, bytes(64)),)),
        replace(ENVELOPE, signatures=(Signature(KEY.verifier.key_id, b""),)),
        replace(
            ENVELOPE,
            signatures=(
                Signature(KEY.verifier.key_id, OTHER_KEY.private_key.sign(signed_bytes(PAYLOAD))),
            ),
        ),
    ],
)
def test_a_signature_under_a_keys_name_must_be_by_that_key(envelope: Envelope) -> None:
    with pytest.raises(
        ProofError, match=f"the statement's signature is not by key {KEY.verifier.key_id}"
    ):
        envelope.signed_by([KEY.verifier])
    assert envelope.signed_by([OTHER_KEY.verifier]) is None


def test_every_signature_under_a_keys_name_must_be_by_that_key() -> None:
    wrong = Signature(KEY.verifier.key_id, bytes(64))
    for signatures in ((wrong, *ENVELOPE.signatures), (*ENVELOPE.signatures, wrong)):
        with pytest.raises(ProofError, match="signature is not by key"):
            replace(ENVELOPE, signatures=signatures).signed_by([KEY.verifier])


# As JSON


def test_an_envelope_has_the_form_of_dsse() -> None:
    (signature,) = ENVELOPE.signatures
    assert {
        "payloadType": "application/vnd.in-toto+json",
        "payload": "eyJhIjoxfQ==",
        "signatures": [{"keyid": KEY.verifier.key_id, "sig": encoded(signature.value)}],
    } == DOCUMENT


@given(st.binary(max_size=100), st.lists(st.tuples(st.text(max_size=8), st.binary()), min_size=1))
def test_an_envelope_reads_back(payload: bytes, signatures: list[tuple[str, bytes]]) -> None:
    envelope = Envelope(payload, tuple(Signature(*pair) for pair in signatures))
    assert Envelope.from_json(json.loads(json.dumps(envelope.as_json()))) == envelope


NO_ENVELOPE = "the envelope is not a signed in-toto payload"
NO_SIGNATURE = "a signature of the envelope is not a key's id with a Base64 signature"
SIGNATURE = DOCUMENT["signatures"][0]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, NO_ENVELOPE),
        ([], NO_ENVELOPE),
        ("text", NO_ENVELOPE),
        ({}, NO_ENVELOPE),
        ({**DOCUMENT, "payloadType": "text/plain"}, NO_ENVELOPE),
        ({**DOCUMENT, "payloadType": None}, NO_ENVELOPE),
        ({**DOCUMENT, "payload": None}, NO_ENVELOPE),
        ({**DOCUMENT, "payload": {"a": 1}}, NO_ENVELOPE),
        ({**DOCUMENT, "extra": 1}, NO_ENVELOPE),
        ({**DOCUMENT, "signatures": None}, NO_ENVELOPE),
        ({**DOCUMENT, "signatures": {}}, NO_ENVELOPE),
        ({**DOCUMENT, "signatures": []}, NO_ENVELOPE),
        ({name: DOCUMENT[name] for name in ("payload", "signatures")}, NO_ENVELOPE),
        ({**DOCUMENT, "payload": "not base64!"}, "the envelope's payload is not Base64"),
        ({**DOCUMENT, "payload": "eyJhIjoxfQ"}, "the envelope's payload is not Base64"),
        ({**DOCUMENT, "payload": "eyJhIjoxfR=="}, "the envelope's payload is not Base64"),
        ({**DOCUMENT, "payload": "eyJh\nIjoxfQ=="}, "the envelope's payload is not Base64"),
        ({**DOCUMENT, "signatures": [None]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [SIGNATURE, {}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{"sig": "AAAA"}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{"keyid": "x"}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{**SIGNATURE, "keyid": 1}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{**SIGNATURE, "sig": "!"}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{**SIGNATURE, "sig": None}]}, NO_SIGNATURE),
        ({**DOCUMENT, "signatures": [{**SIGNATURE, "cert": "x"}]}, NO_SIGNATURE),
    ],
)
def test_what_is_wrong_with_an_envelope_is_said(value: Any, problem: str) -> None:
    with pytest.raises(ProofError, match=problem):
        Envelope.from_json(value)


# In a proof


def test_a_proof_with_an_envelope_reads_back() -> None:
    proof = replace(make_proof(), envelope=ENVELOPE)
    assert Proof.parse(proof_bytes(proof)) == proof
    assert proof.as_json()["envelope"] == DOCUMENT
    assert "envelope" not in make_proof().as_json()


def test_an_envelope_comes_with_the_body_that_names_it() -> None:
    proof = replace(make_proof(disclosed=False), envelope=ENVELOPE)
    with pytest.raises(ProofError, match="an envelope must come with the entry's body"):
        Proof.parse(proof_bytes(proof))


def test_an_envelope_that_is_none_spoils_its_proof() -> None:
    document = {**make_proof().as_json(), "envelope": None}
    with pytest.raises(ProofError, match=NO_ENVELOPE):
        Proof.parse(json.dumps(document).encode())
