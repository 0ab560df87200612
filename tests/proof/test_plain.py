import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from evidentia.canonical import canonical_json, parse_json, sha256_hex
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.plain import differences, reordered
from evidentia.proof.statement import Statement, Subject
from evidentia.proof.verification import verify_proof
from proofs import KEY, make_proof, proof_bytes

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
STATEMENT = Statement("urn:test", (Subject("thing/1", "0" * 64),), {"b": [{"d": 1, "c": 2}]})
PROOF = replace(
    make_proof(body={"statement_sha256": sha256_hex(STATEMENT.encode())}),
    envelope=Envelope.sign(STATEMENT.encode(), KEY),
)


def test_a_proof_in_plain_reads_back_and_holds() -> None:
    proof = PROOF.in_plain()
    assert (PROOF.version, proof.version, proof.predicate) == (1, 2, STATEMENT.predicate)
    assert Proof.parse(proof_bytes(proof)) == proof
    report = verify_proof(proof_bytes(proof), [TrustedKey(KEY.verifier.public_key)])
    assert report.holds
    assert report.checks[0].says == "a proof of version 2, whole and well-formed"


def test_whatever_a_statement_can_hold_can_stand_in_plain() -> None:
    deepest: dict[str, object] = {}
    for _ in range(98):  # a statement is one level, its predicate the second
        deepest = {"a": deepest}
    statement = replace(STATEMENT, predicate=deepest).encode()
    proof = replace(PROOF, envelope=Envelope.sign(statement, KEY)).in_plain()
    assert Proof.parse(proof_bytes(proof)).predicate == deepest


def test_a_proof_without_a_statement_has_nothing_to_show_in_plain() -> None:
    assert make_proof().in_plain() == make_proof()


@given(VALUES, VALUES)
def test_there_are_differences_where_values_differ_and_nowhere_else(
    one: object, two: object
) -> None:
    alike = canonical_json(one) == canonical_json(two)
    assert (list(differences(one, two)) == []) == alike


@given(VALUES)
def test_the_order_of_fields_is_no_difference_and_is_seen_by_itself(value: object) -> None:
    ordered = parse_json(canonical_json(value))
    assert reordered(ordered) is None
    assert list(differences(value, ordered)) == []
    assert (reordered(value) is None) == (json.dumps(value) == json.dumps(ordered))


def test_the_object_whose_fields_are_in_another_order_is_named() -> None:
    assert reordered({"b": 1, "a": 2}) == "the file"
    assert reordered({"a": [1, {"c": {"e": 1, "d": 2}}]}) == "a[1].c"
