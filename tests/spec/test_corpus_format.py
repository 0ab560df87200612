"""The third form of ledgers, and the file that proves a document in their corpus or out of it."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import evidentia
import tiers
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.documents.scoring import FORMULA
from evidentia.errors import ProofError
from evidentia.export.jsonform import to_json
from evidentia.language.tokens import TOKENS_VERSION
from evidentia.ledger.commitment import CorpusCommitment, CorpusFilter, NamedCorpus
from evidentia.ledger.membership import CORPUS_PROOF_FORMAT, CorpusProof
from evidentia.ledger.session import LedgerSession, SearchedBy
from evidentia.proof.statement import Statement
from evidentia.store.search import ENGINE
from evidentia.verifying import verify
from spec import stranger
from spec.stranger import RefusedError, check_ledger, read_envelope, read_proof, verify_corpus
from spec.test_spec import SPEC, VECTORS, load, schema, valid

CORPORA: list[dict[str, Any]] = load("corpora.json")
FILES = {path.name: path.read_bytes() for path in (VECTORS / "ledger/documents").iterdir()}
THIRD: dict[str, type[BaseModel]] = {
    "corpus": CorpusCommitment,
    "namedCorpus": NamedCorpus,
    "filter": CorpusFilter,
    "search": SearchedBy,
}
"""What the parts of the schema are called in the code."""


def stranger_keys(name: str | None) -> list[stranger.Key]:
    return [stranger.read_key((VECTORS / name).read_text(encoding="utf-8"))] if name else []


# The file


@tiers.one_test
@pytest.mark.parametrize("vector", CORPORA, ids=lambda vector: vector["file"])
def test_a_proof_about_a_corpus_gets_its_verdict(vector: dict[str, Any]) -> None:
    path, key = VECTORS / vector["file"], vector["key"]
    report = verify(path, key=VECTORS / key if key else None)
    assert report.verdict == vector["verdict"], vector["why"]
    assert [check.name for check in report.checks if check.holds is False] == vector["fails"]
    found = report.shows and report.shows["membership"]
    assert found == vector["membership"]
    assert ("shows" in report.as_json()) == (found is not None)


@tiers.one_test
@pytest.mark.parametrize("vector", CORPORA, ids=lambda vector: vector["file"])
def test_a_stranger_comes_to_the_same(vector: dict[str, Any]) -> None:
    data = (VECTORS / vector["file"]).read_bytes()
    found = verify_corpus(data, stranger_keys(vector["key"]))
    assert found == (vector["verdict"], vector["fails"], vector["membership"]), vector["why"]


@tiers.one_test
@pytest.mark.parametrize("vector", CORPORA, ids=lambda vector: vector["file"])
def test_the_schema_takes_what_is_well_formed_and_no_more(vector: dict[str, Any]) -> None:
    data = (VECTORS / vector["file"]).read_bytes()
    if vector["file"].endswith("/cut.json"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(data)
        return
    document = json.loads(data)
    of_ledger = "envelope" in document
    assert valid("corpus-proof", document) == (vector["fails"] != ["format"] and not of_ledger)
    if not vector["fails"]:
        assert valid("ledger-body.v4", document["ledger"]["body"])
        assert CorpusProof.parse(data).as_json() == document


def test_the_files_have_every_membership_and_the_page_every_field() -> None:
    assert {one["membership"] for one in CORPORA} == {"used", "left_out", "absent", None}
    page = (SPEC / "corpus.md").read_text(encoding="utf-8")
    found = schema("corpus-proof")
    assert found["properties"]["format"]["const"] == CORPUS_PROOF_FORMAT
    for name in found["properties"]:
        assert f"| `{name}` |" in page


# The third form


def third(name: str = "") -> LedgerSession:
    data = (VECTORS / f"ledger/statement-third{name}.json").read_bytes()
    return LedgerSession.from_statement(Statement.parse(data))


def test_a_ledger_of_the_third_form_is_read_and_written_as_it_is() -> None:
    made, data = third(), (VECTORS / "ledger/statement-third.json").read_bytes()
    assert made.to_statement().encode() == data
    assert to_json(made) == load("ledger/export-third.json")
    proof = load("proofs/holds/ledger-third.json")
    assert proof["body"]["statement_sha256"] == sha256_hex(data)
    assert valid("ledger.v3", load("ledger/statement-third.json")["predicate"])
    assert not valid("ledger.v2", load("ledger/statement-third.json")["predicate"])
    assert valid("ledger-body.v4", proof["body"])
    assert valid("ledger-export", load("ledger/export-third.json"))
    assert valid("document-body.v2", load("proofs/holds/document-second.json")["body"])
    assert made.corpus
    assert proof["body"]["corpus"] == made.corpus.named().model_dump(mode="json")
    some = third("-some")
    assert some.corpus
    assert (made.document_count, some.document_count) == (made.corpus.documents, 2)


@tiers.one_test
@pytest.mark.parametrize(
    "vector", load("ledger/refused-third.json"), ids=lambda vector: vector["why"]
)
def test_what_is_not_of_the_third_form_is_refused(vector: dict[str, Any]) -> None:
    statement = vector["statement"]
    with pytest.raises(ProofError):
        LedgerSession.from_statement(Statement.parse(canonical_json(statement)))
    name = statement["predicateType"].rpartition(":")[2]
    assert valid(name, statement["predicate"]) == vector["well_formed"]
    proof = load("proofs/holds/ledger-third.json")
    proof["envelope"]["payload"] = b64encode(canonical_json(statement)).decode()
    with pytest.raises((RefusedError, KeyError, TypeError)):
        check_ledger(proof, FILES)


def test_a_ledger_of_the_third_form_can_be_checked_by_hand() -> None:
    data = (VECTORS / "proofs/holds/ledger-third.json").read_bytes()
    assert verify_corpus(data, stranger_keys("keys/third-log.pub")) == ("holds", [], None)
    proof, _ = read_proof(data)
    payload = read_envelope(proof["envelope"]).payload
    assert payload == (VECTORS / "ledger/statement-third.json").read_bytes()
    assert len(check_ledger(proof, FILES)["documents"]) == 2


@pytest.mark.parametrize("name", THIRD)
def test_the_schema_of_the_third_form_has_the_fields_of_the_code(name: str) -> None:
    part = schema("ledger.v3")["$defs"][name]
    assert set(part["properties"]) == set(THIRD[name].model_fields)
    assert set(schema("ledger.v3")["properties"]) == set(LedgerSession.model_fields)


def test_what_the_program_makes_holds_before_a_stranger(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    other = tmp_path / "other.txt"
    other.write_text("Parking is free.\n", encoding="utf-8")
    answer = (VECTORS / "ledger/answer.md").read_text(encoding="utf-8")
    with evidentia.open(tmp_path / "home") as workspace:
        workspace.ingest(other)
        ledger = workspace.check(answer, against=folder)
        search = ledger.session.search
        assert search == SearchedBy(engine=ENGINE, terms=TOKENS_VERSION, formula=FORMULA)
        key = stranger.read_key(str(workspace.trail.public_key()))
        proof = canonical_json(workspace.ledgers.prove(ledger.id).as_json())
        assert verify_corpus(proof, [key]) == ("holds", [], None)
        check_ledger(json.loads(proof), FILES)
        ids = {one.filename: one.id for one in workspace.documents.list()}
        for document, membership in (
            (ids["HR_Policy.md"], "used"),
            (f"{ids['HR_Policy.md']}@1", "used"),
            (f"{ids['HR_Policy.md']}@2", "absent"),
            (ids["other.txt"], "left_out"),
            ("doc_0000000000000000", "absent"),
        ):
            made = workspace.ledgers.prove_corpus(ledger.id, document).as_json()
            assert valid("corpus-proof", made)
            assert verify_corpus(canonical_json(made), [key]) == ("holds", [], membership)
