import json
from typing import Any

import pytest

from evidentia.canonical import parse_json
from evidentia.errors import ProofError
from evidentia.proof.document import MAX_PROOF_BYTES, Proof
from proofs import BODY, SALT, make_proof, proof_bytes

PROOF = make_proof()
DOCUMENT: dict[str, Any] = PROOF.as_json()


def changed(**fields: Any) -> bytes:
    return json.dumps({**DOCUMENT, **fields}).encode()


def without(*names: str) -> bytes:
    return json.dumps({name: DOCUMENT[name] for name in DOCUMENT if name not in names}).encode()


def test_a_proof_is_one_json_object() -> None:
    assert {
        "format": "evidentia/proof",
        "v": 1,
        "entry": PROOF.entry.as_json(),
        "inclusion": [item.hex() for item in PROOF.inclusion],
        "checkpoint": PROOF.checkpoint,
        "body": BODY,
        "salt": SALT.hex(),
    } == DOCUMENT


@pytest.mark.parametrize("disclosed", [True, False])
@pytest.mark.parametrize(("seq", "size"), [(0, 1), (0, 2), (2, 5), (6, 7)])
def test_a_proof_reads_back(seq: int, size: int, *, disclosed: bool) -> None:
    proof = make_proof(seq, size, disclosed=disclosed)
    assert Proof.parse(proof_bytes(proof)) == proof
    assert Proof.parse(json.dumps(proof.as_json(), indent=2).encode()) == proof


def test_a_body_may_be_null() -> None:
    proof = make_proof(body=None)
    again = Proof.parse(proof_bytes(proof))
    assert again == proof
    assert again.disclosure is not None


def test_a_proof_without_its_body_says_nothing_of_it() -> None:
    document = parse_json(proof_bytes(make_proof(disclosed=False)))
    assert "body" not in document
    assert "salt" not in document


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the proof cannot be read: not JSON"),
        (b"\xff", "the proof cannot be read: not UTF-8"),
        (proof_bytes(PROOF)[:-1], "the proof cannot be read: not JSON"),
        (b'{"format":"evidentia/proof","format":"x"}', "key 'format' stands twice"),
        (changed(body={"a": "\ud800"}), "the proof cannot be read: text with a lone surrogate"),
        (changed(body=float("nan")), "NaN is not a number"),
        (changed(body=2**53 + 1), "past 2\\^53"),
        (b"[" * 100_000, "the proof cannot be read: nested"),
        (b" " * (MAX_PROOF_BYTES + 1), "the proof is larger than 67108864 bytes"),
        (b"[]", "not a proof: its format is not 'evidentia/proof'"),
        (b"null", "not a proof"),
        (b"{}", "not a proof"),
        (changed(format="in-toto"), "not a proof"),
        (changed(v=4), "has format version 4, this program reads 1 to 3: upgrade evidentia"),
        (changed(v=4, added_later=1), "upgrade evidentia"),
        (changed(v=2), "the proof is cut short: it has no envelope, predicate"),
        (changed(predicate={}), "fields that are unknown: predicate"),
        (changed(v=0), "the proof's v must be from 1 to 3, not 0"),
        (changed(v=True), "the proof's v must be from 1 to 3, not True"),
        (changed(v=1.0), "the proof's v must be from 1 to 3, not 1.0"),
        (changed(v="1"), "the proof's v must be from 1 to 3, not '1'"),
        (without("v"), "it has no v"),
        (without("entry", "checkpoint"), "the proof is cut short: it has no checkpoint, entry"),
        (without("inclusion"), "it has no inclusion"),
        (changed(extra=1, more=2), "fields that are unknown: extra, more"),
        (changed(checkpoint=None), "the proof's checkpoint is not text"),
        (changed(checkpoint=["x"]), "the proof's checkpoint is not text"),
        (changed(entry=None), "the entry is not a JSON object"),
        (changed(entry={}), "the entry must have exactly the fields"),
        (changed(entry={**DOCUMENT["entry"], "seq": -1}), "the entry's seq"),
        (changed(inclusion=None), "inclusion is not a list of SHA-256 hashes"),
        (changed(inclusion="ab" * 32), "inclusion is not a list"),
        (changed(inclusion=[1]), "inclusion is not a list"),
        (changed(inclusion=["ab" * 31]), "inclusion is not a list"),
        (changed(inclusion=["ab" * 33]), "inclusion is not a list"),
        (changed(inclusion=["AB" * 32]), "inclusion is not a list"),
        (changed(inclusion=["zz" * 32]), "inclusion is not a list"),
        (changed(inclusion=["ab" * 31 + "  "]), "inclusion is not a list"),
        (changed(inclusion=["ab" * 32, None]), "inclusion is not a list"),
        (without("salt"), "a body must come with its salt of 32 bytes"),
        (without("body"), "a body must come with its salt"),
        (changed(salt=None), "a body must come with its salt"),
        (changed(salt=SALT.hex()[:-2]), "a body must come with its salt"),
        (changed(salt=SALT.hex().upper()), "a body must come with its salt"),
        (changed(salt=SALT.hex()[:-1] + "\n"), "a body must come with its salt"),
    ],
)
def test_what_is_wrong_with_a_proof_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(ProofError, match=problem):
        Proof.parse(data)
