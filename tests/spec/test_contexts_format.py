"""Ledgers with contexts, as the page, the schemas, the vectors and the code have them."""

import copy
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

import evidentia
import tiers
from evidentia.canonical import canonical_json
from evidentia.errors import ProofError
from evidentia.export.jsonform import to_json
from evidentia.ledger.commitment import CorpusCommitment, CorpusFilter
from evidentia.ledger.contexts import CheckedBundle, CheckedContext
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.statement import Statement
from spec.stranger import (
    RefusedError,
    canonical,
    check_ledger,
    read_envelope,
    read_json,
    read_key,
    read_proof,
    verify,
)
from spec.test_spec import VECTORS, load, schema, valid
from spec.test_stranger import FILES, key_file, set_at

NAMES = ("contexts", "bundle")
REFUSED = load("ledger/refused-contexts.json")


@pytest.mark.parametrize("name", NAMES)
def test_a_ledger_with_contexts_is_read_and_written_as_it_is(name: str) -> None:
    data = (VECTORS / f"ledger/statement-{name}.json").read_bytes()
    session = LedgerSession.from_statement(Statement.parse(data))
    assert session.to_statement().encode() == data
    assert session.predicate_type == THIRD_TYPE
    assert valid("ledger.v3", session.to_statement().as_json()["predicate"])
    assert not valid("ledger.v2", session.to_statement().as_json()["predicate"])
    assert valid("ledger-export", to_json(session))
    proof = load(f"proofs/holds/ledger-{name}.json")
    assert valid("ledger-body.v4", proof["body"])


def test_the_export_of_a_ledger_with_contexts_is_the_vector() -> None:
    data = (VECTORS / "ledger/statement-contexts.json").read_bytes()
    session = LedgerSession.from_statement(Statement.parse(data))
    assert to_json(session) == load("ledger/export-contexts.json")


@tiers.one_test
@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector["why"])
def test_contexts_that_do_not_hold_are_refused(vector: dict[str, Any]) -> None:
    statement = vector["statement"]
    with pytest.raises(ProofError):
        LedgerSession.from_statement(Statement.parse(canonical_json(statement)))
    name = statement["predicateType"].rpartition(":")[2]
    assert valid(name, statement["predicate"]) == vector["schema_takes_it"]
    name = "bundle" if "bundle" in statement["predicate"] else "contexts"
    proof = load(f"proofs/holds/ledger-{name}.json")
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    proof["body"]["predicate_type"] = statement["predicateType"]
    with pytest.raises((RefusedError, ValueError)):  # the latter where no document is the one
        check_ledger(proof, FILES)


def test_the_schema_has_the_fields_of_the_code() -> None:
    whole = schema("ledger.v3")
    assert list(whole["properties"]) == list(LedgerSession.model_fields)
    for name, model in (
        ("context", CheckedContext),
        ("bundle", CheckedBundle),
        ("corpus", CorpusCommitment),
        ("filter", CorpusFilter),
    ):
        part = whole["$defs"][name]
        assert list(part["properties"]) == list(model.model_fields)
        assert part["additionalProperties"] is False
    told = set(whole["$defs"]["context"]["properties"]) - set(CheckedContext.later)
    assert set(whole["$defs"]["context"]["required"]) == told


@pytest.mark.parametrize("name", NAMES)
def test_a_stranger_checks_a_ledger_with_contexts(name: str) -> None:
    data = (VECTORS / f"proofs/holds/ledger-{name}.json").read_bytes()
    assert verify(data, [key_file("keys/contexts-log.pub")]) == ("holds", [])
    session = check_ledger(read_proof(data)[0], {})  # no document is needed
    if name == "bundle":
        items = load("bundle/holds/every-type.json")["items"]
        assert [(it["id"], it["text"], it["sha256"]) for it in session["contexts"]] == [
            (it["evidence_id"], it["content"], it["content_sha256"]) for it in items
        ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("contexts.0.text", "Leave is unlimited."),
        ("contexts.2.sha256", "0" * 64),
        ("contexts.0.page", 2),
        ("ledger.entries.0.evidence.0.passage.start", 1),
        ("ledger.entries.0.evidence.0.passage.source.filename", "HR_Policy.md"),
        ("ledger.entries.3.nearest.source.id", "context-2"),
    ],
)
def test_a_stranger_finds_out_what_was_altered(path: str, value: Any) -> None:
    proof = load("proofs/holds/ledger-contexts.json")
    check_ledger(copy.deepcopy(proof), {})
    statement = read_json(b64decode(proof["envelope"]["payload"]))
    set_at(statement["predicate"], path, value)
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    with pytest.raises(RefusedError):
        check_ledger(proof, {})
    with pytest.raises(ProofError, match="contradicts itself"):
        LedgerSession.from_statement(Statement.parse(canonical(statement)))


def test_what_the_program_makes_holds_before_a_stranger(tmp_path: Path) -> None:
    answer = (VECTORS / "ledger/answer.md").read_text(encoding="utf-8")
    texts = [data.decode() for data in FILES.values()]
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    with evidentia.open(tmp_path / "home") as workspace:
        alone = workspace.check(answer, contexts=[{"id": "kb-1", "text": texts[0]}, texts[1]])
        both = workspace.check(answer, contexts=texts[:1], against=folder)
        bundle = workspace.bundle({"extra_params": {"evidence": texts}})
        seen = workspace.check(answer, bundle=bundle)
        proofs = [workspace.prove(ledger).as_json() for ledger in (alone, both, seen)]
        key = read_key(str(workspace.trail.public_key()))
    for proof in proofs:
        data = canonical(proof)
        assert verify(data, [key]) == ("holds", [])
        session = check_ledger(read_proof(data)[0], FILES)
        assert valid("ledger.v3", session)
        assert session["contexts"]
    statement = read_json(read_envelope(proofs[1]["envelope"]).payload)
    assert {"corpus", "contexts"} <= set(statement["predicate"])
    assert valid("ledger-export", to_json(both.session))
