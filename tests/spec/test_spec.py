"""The formats in `spec/v1`: vectors, schemas and pages agree with each other and with the code."""

import copy
import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError
from referencing import Registry, Resource

import evidentia
import tiers
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import MAX_DEPTH, MAX_SAFE_INTEGER, canonical_json, parse_json
from evidentia.documents.chunking import chunk_document
from evidentia.documents.hashing import ANCHOR_LENGTH, FULL_LENGTH, generate_chunk_hash
from evidentia.documents.model import DocumentChunk
from evidentia.documents.reading.document import read_document
from evidentia.errors import CanonicalError, EvidentiaError, InputError, ProofError
from evidentia.export.jsonform import to_json
from evidentia.export.pdf.reading import MAX_PDF_BYTES
from evidentia.ledger import model, session
from evidentia.ledger.citations import find_citations, issue_anchor, resolve_citation
from evidentia.ledger.confidence import ConfidenceBand, calculate_confidence, confidence_band
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, RiskType, Verdict
from evidentia.ledger.risks import LOW_CONFIDENCE, OUTDATED_AFTER_DAYS
from evidentia.ledger.session import (
    PREDICATE_TYPE,
    SECOND_TYPE,
    LedgerSession,
)
from evidentia.ledger.verdicts import SUPPORTED_ABOVE, WEAK_FACTOR, assign_verdict
from evidentia.ledger.votes import Asked, AskedService, Decides, Judging, JudgingPolicy, Vote
from evidentia.ledger.voting import Answer, Question
from evidentia.packs.fields import MAX_ACTION, MAX_EXCERPT
from evidentia.proof.document import MAX_PROOF_BYTES, Proof
from evidentia.proof.envelope import PAYLOAD_TYPE, Envelope, signed_bytes
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import MAX_STATEMENT_BYTES, STATEMENT_TYPE, Statement
from evidentia.proof.verification import STATEMENT_DIGEST, verify_proof
from evidentia.proof.witnessed import Demand
from evidentia.sources.metadata import MAX_ASKED_CHARS
from evidentia.sources.model import SourceItem, SourceSnippet
from evidentia.sources.packing import MAX_URL_CHARS, DefaultEvidencePacker
from evidentia.sources.wire import rag_sources
from evidentia.store.sql.library import document_id
from evidentia.trail.adoption import Adoption
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import (
    KINDS,
    MAX_BODY_BYTES,
    MAX_SUBJECT_BYTES,
    SALT_BYTES,
    Entry,
    EntryKind,
    body_commitment,
    encode_subject,
    genesis_prev,
)
from evidentia.trail.merkle import leaf_hash, root_hash, verify_consistency, verify_inclusion
from evidentia.trail.note import MAX_NOTE_BYTES, VerifierKey
from evidentia.trail.record import EvidenceRecord, VerificationResult
from evidentia.trail.tiles import Frontier, decode_bundle, tile_path
from evidentia.trail.validation import validate_evidence_chain
from evidentia.trail.witness import WitnessKey
from evidentia.workspace.bundles import MAX_RUN_ID
from evidentia.workspace.sealing import MAX_ATTACHMENT_BYTES, MAX_PACK_BYTES

SPEC = Path(__file__).parents[2] / "spec" / "v1"
VECTORS = SPEC / "vectors"
PAGES = sorted([*SPEC.glob("*.md"), VECTORS / "README.md"])
SCHEMAS = (
    "access-body",
    "access-body.v2",
    "access-body.v3",
    "access-body.v4",
    "access-log",
    "assignment-body",
    "authority",
    "backup",
    "bundle-body",
    "bundle-body.v2",
    "bundle",
    "chunk",
    "corpus-proof",
    "decision-body",
    "decision-body.v2",
    "document-body",
    "document-body.v2",
    "document-removal",
    "entry",
    "erasure",
    "erasure.v2",
    "erasure.v3",
    "export-body",
    "export-body.v2",
    "export-body.v3",
    "key-adoption",
    "key-adoption.v2",
    "key-announcement",
    "key-announcement.v2",
    "key-announcement.v3",
    "key-announcement.v4",
    "key-authority",
    "key-revocation",
    "key-user",
    "ledger-body",
    "ledger-body.v2",
    "ledger-body.v3",
    "ledger-body.v4",
    "ledger-export",
    "ledger",
    "ledger.v2",
    "ledger.v3",
    "pack-body",
    "pack-body.v2",
    "pack-body.v3",
    "pack-body.v4",
    "pack",
    "pack.v2",
    "parts",
    "proof",
    "proof.v2",
    "proof.v3",
    "record-body.v2",
    "record",
    "rendering",
    "request-body",
    "retention-body",
    "retention-body.v2",
    "run-body",
    "run-body.v2",
    "sources",
    "statement",
    "tool-call-body",
    "tool-call-body.v2",
    "tool-call-body.v3",
    "verdict-body",
)


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


LOG = load("log.json")
ENTRIES: list[dict[str, Any]] = LOG["entries"]
LEAVES = [bytes.fromhex(item["leaf"]) for item in ENTRIES]
ROOTS = [bytes.fromhex(root) for root in LOG["roots"]]


def key_file(name: str) -> VerifierKey:
    return VerifierKey.parse((VECTORS / name).read_text(encoding="utf-8"))


# The generator


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    found = importlib.util.spec_from_file_location("generate", VECTORS / "generate.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_generator_gives_the_files_byte_for_byte(generator: ModuleType) -> None:
    made = generator.files()
    assert sorted(made) == generator.owned(VECTORS)
    assert [path for path, data in made.items() if (VECTORS / path).read_bytes() != data] == []


def test_the_generator_writes_them_anew_and_removes_what_is_stale(
    generator: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "stale.json").write_text("{}", encoding="utf-8")
    generator.write(tmp_path)
    assert generator.owned(tmp_path) == generator.owned(VECTORS)


# The vectors, by the code


@tiers.one_test
@pytest.mark.parametrize("vector", load("proofs.json"), ids=lambda vector: vector["file"])
def test_a_proof_file_gets_its_verdict(vector: dict[str, Any]) -> None:
    keys = []
    if vector["key"]:
        key = key_file(vector["key"])
        keys = [TrustedKey(key.public_key, key.name)]
    report = verify_proof((VECTORS / vector["file"]).read_bytes(), keys)
    assert report.verdict == vector["verdict"], vector["why"]
    assert [check.name for check in report.checks if check.holds is False] == vector["fails"]


def test_a_proof_file_past_the_limit_is_refused() -> None:
    good = (VECTORS / "proofs/holds/record.json").read_bytes()
    Proof.parse(good.ljust(MAX_PROOF_BYTES))
    with pytest.raises(ProofError):
        Proof.parse(good.ljust(MAX_PROOF_BYTES + 1))


def test_json_has_one_canonical_form_or_is_refused() -> None:
    for vector in load("canonical.json")["canonical"]:
        assert canonical_json(parse_json(vector["json"].encode())).decode() == vector["bytes"]
    for vector in load("canonical.json")["refused"]:
        with pytest.raises(CanonicalError):
            canonical_json(parse_json(vector["json"].encode()))


def test_the_log_is_what_its_entries_say() -> None:
    prev = genesis_prev(LOG["origin"])
    for item in ENTRIES:
        entry = Entry.decode(item["bytes"].encode())
        assert entry.as_json() == item["entry"]
        assert entry.prev == prev
        prev = leaf_hash(entry.encode()).hex()
        assert prev == item["leaf"]
        if "body" in item:
            assert canonical_json(item["body"]) == item["body_bytes"].encode()
            salt = bytes.fromhex(item["salt"])
            assert body_commitment(salt, item["body_bytes"].encode()) == entry.body
    assert [root_hash(LEAVES[:size]) for size in range(len(ROOTS))] == ROOTS


def test_there_is_an_entry_of_every_kind() -> None:
    others = ("run", "decision", "tool-call", "retention", "document", "request", "verdict")
    names = (*others, "assignment")
    kinds = {load(f"proofs/holds/{name}.json")["entry"]["kind"] for name in names}
    assert {item["entry"]["kind"] for item in ENTRIES} | kinds == KINDS


def test_the_keys_are_what_the_log_announces() -> None:
    for key in LOG["keys"]:
        public = key_file(key["file"])
        announcement = ENTRIES[key["announced_in"]]
        assert announcement["body"]["key"] == str(public)
        assert announcement["entry"]["subject"] == public.key_id == key["key_id"]


@tiers.one_test
@pytest.mark.parametrize("vector", load("entries-refused.json"), ids=lambda vector: vector["why"])
def test_what_is_no_entry_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(ProofError):
        Entry.decode(vector["bytes"].encode())


def test_inclusion_and_consistency_proofs_hold_or_are_refused() -> None:
    for vector in load("inclusion.json"):
        index, size = vector["index"], vector["size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        verify_inclusion(LEAVES[index], index, size, path, ROOTS[size])
    for vector in load("consistency.json"):
        old, new = vector["old_size"], vector["new_size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        if vector["holds"]:
            verify_consistency(old, ROOTS[old], new, ROOTS[new], path)
        else:
            with pytest.raises(ProofError):
                verify_consistency(old, ROOTS[old], new, ROOTS[new], path)


@pytest.mark.parametrize("vector", load("checkpoints.json"), ids=lambda vector: vector["why"])
def test_a_checkpoint_is_signed_by_a_key_that_may_sign_its_size(vector: dict[str, Any]) -> None:
    checkpoint, note = read_checkpoint(vector["note"])
    allowed = [
        key_file(key["file"])
        for key in LOG["keys"]
        if key["signs_from"] <= checkpoint.size
        and (key["signs_until"] is None or checkpoint.size <= key["signs_until"])
    ]
    try:
        signed = note.signed_by(allowed) is not None
    except ProofError:
        signed = False
    assert signed == vector["holds"]


COSIGNED = load("cosignatures.json")


@tiers.one_test
@pytest.mark.parametrize("vector", COSIGNED["checkpoints"], ids=lambda vector: vector["why"])
def test_witnesses_cosigned_or_did_not(vector: dict[str, Any]) -> None:
    known = {key.name: key for key in map(WitnessKey.parse, COSIGNED["witnesses"])}
    demand = Demand.of(tuple(known[name] for name in vector["witnesses"]), vector["quorum"])
    assert demand
    _, note = read_checkpoint(vector["note"])
    assert note.signed_by([key_file(COSIGNED["log_key"])])
    assert demand.check(note).holds == vector["holds"]


@pytest.mark.parametrize("vector", COSIGNED["keys_refused"], ids=lambda vector: vector["why"])
def test_what_is_no_key_of_a_witness_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        WitnessKey.parse(vector["key"])


def test_a_log_is_audited_by_the_rotation_rule_of_the_page(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        workspace.trail.public_key()
        workspace.trail.rotate_key()
        workspace._acting.record(EntryKind.ACCESS, "page", {"by": "someone"})
        old, _ = workspace.trail.keys()
        assert old.replaced_at is not None
        private = workspace.opened.home.keys.load(workspace.tenant, old.key.key_id, old.key.name)
        assert private
        leaves = [bytes.fromhex(logged.leaf) for logged in workspace.trail.entries()]
        last = old.replaced_at + 1
        for size, holds in ((last, True), (last + 1, False)):
            checkpoint = Checkpoint(old.key.name, size, root_hash(leaves[:size]))
            report = workspace.trail.audit(since=checkpoint.sign(private.private_key))
            assert report.holds == holds


def test_the_publication_is_the_log() -> None:
    size = len(ENTRIES)
    folder = VECTORS / "publication"
    bundle = (folder / tile_path("entries", 0, size)).read_bytes()
    assert decode_bundle(bundle) == [item["bytes"].encode() for item in ENTRIES]
    assert (folder / tile_path(0, 0, size)).read_bytes() == b"".join(LEAVES)
    note = (folder / "checkpoint").read_text(encoding="utf-8")
    checkpoint, parsed = read_checkpoint(note)
    assert (checkpoint.size, checkpoint.root) == (size, ROOTS[-1])
    assert parsed.signed_by([key_file("keys/key-2.pub")])
    assert note == (VECTORS / "checkpoint.txt").read_text(encoding="utf-8")


def test_tiles_of_a_large_tree_are_where_and_what_they_should_be() -> None:
    vectors = load("tiles.json")
    for vector in vectors["paths"]:
        assert tile_path(vector["level"], vector["index"], vector["width"]) == vector["path"]
    tree = vectors["tree"]
    frontier = Frontier()
    tiles = frontier.extend(leaf_hash(str(index).encode()) for index in range(tree["size"]))
    tiles += frontier.partial_tiles()
    digests = {
        tile_path(tile.level, tile.index, tile.width): sha256(tile.data).hexdigest()
        for tile in tiles
    }
    assert frontier.root().hex() == tree["root"]
    assert {tile["path"]: tile["sha256"] for tile in tree["tiles"]}.items() <= digests.items()


def test_statements_have_their_bytes_and_signatures_or_are_refused() -> None:
    vectors = load("statements.json")
    key = key_file(vectors["key"])
    for vector in vectors["statements"]:
        payload = vector["bytes"].encode()
        statement = Statement.parse(payload)
        assert statement.as_json() == vector["statement"]
        assert statement.encode() == payload
        assert sha256(payload).hexdigest() == vector["sha256"]
        assert signed_bytes(payload) == vector["signed"].encode()
        assert Envelope.from_json(vector["envelope"]).signed_by([key]) == key
    for vector in vectors["refused"]:
        with pytest.raises(ProofError):
            Statement.parse(vector["bytes"].encode())


LEDGERS = ("", "-not-judged")


def ledger_vector(name: str) -> LedgerSession:
    data = (VECTORS / f"ledger/statement{name}.json").read_bytes()
    return LedgerSession.from_statement(Statement.parse(data))


@pytest.mark.parametrize("name", [*LEDGERS, "-second"])
def test_a_ledger_is_read_and_written_as_it_is(name: str) -> None:
    read = ledger_vector(name)
    data = (VECTORS / f"ledger/statement{name}.json").read_bytes()
    assert read.to_statement().encode() == data
    assert to_json(read) == load(f"ledger/export{name}.json")
    proof = load(f"proofs/holds/ledger{name}.json")
    assert proof["body"][STATEMENT_DIGEST] == sha256(data).hexdigest()
    assert proof["entry"]["subject"] == read.ledger.id


def test_the_ledgers_have_every_verdict() -> None:
    found = {entry.verdict for name in LEDGERS for entry in ledger_vector(name).ledger.entries}
    assert found == set(Verdict)


def test_evidence_has_its_verdict_and_confidence() -> None:
    vectors = load("verdicts.json")
    claim = ledger_vector("").claims[0]
    for vector in vectors["verdicts"]:
        given = assign_verdict(claim, [EvidenceMatch(**match) for match in vector["evidence"]])
        assert given.model_dump(mode="json").items() <= vector.items()
    for vector in vectors["confidence"]:
        score = vector.pop("confidence")
        assert calculate_confidence(model.ConfidenceComponents(**vector)) == score
    assert {vector["band"] for vector in vectors["bands"]} == set(ConfidenceBand)
    for vector in vectors["bands"]:
        assert confidence_band(vector["score"]) == vector["band"]


def test_texts_have_their_hashes_and_documents_their_ids() -> None:
    vectors = load("chunks.json")
    for vector in vectors["hashes"]:
        assert generate_chunk_hash(vector["text"], FULL_LENGTH) == vector["hash"], vector["why"]
        assert generate_chunk_hash(vector["text"]) == vector["hash"][:ANCHOR_LENGTH]
    for vector in vectors["documents"]:
        assert document_id(vector["collection"], vector["filename"]) == vector["id"]


def test_the_chunks_that_the_code_makes_are_what_the_page_says() -> None:
    vectors = load("chunks.json")
    for document in vectors["documents"]:
        name = document["filename"]
        data = (VECTORS / "ledger/documents" / name).read_bytes()
        for chunk in chunk_document(
            read_document(data, name), document["id"], chunk_size=60, chunk_overlap=10
        ):
            place = [document["id"], sha256(data).hexdigest(), chunk.page, chunk.start, chunk.end]
            digits = sha256(canonical_json(place)).hexdigest()[:32]
            assert chunk.chunk_id == f"chunk_{digits}"
            assert chunk.text == data.decode()[chunk.start : chunk.end]
            assert chunk.chunk_hash == generate_chunk_hash(chunk.text, FULL_LENGTH)
            shown = chunk.as_json()
            assert valid("chunk", {**shown, "heading_path": list(chunk.heading_path)})
    assert all(valid("chunk", chunk) for chunk in vectors["chunks"])


def test_anchors_grow_and_stay_bound_and_lead_where_they_should() -> None:
    vectors = load("chunks.json")
    issued: dict[str, str] = {}
    for vector in vectors["anchors"]:
        assert issue_anchor(vector["hash"], issued) == vector["anchor"]
        issued[vector["anchor"]] = vector["hash"]
    chunks = [
        DocumentChunk("chunk", "doc", 0, "", 1, (), 0, 0, chunk_hash)
        for chunk_hash in set(issued.values())
    ]
    for vector in vectors["resolved"]:
        found = resolve_citation(vector["anchor"], vector["issued"], chunks).chunk
        assert (found.chunk_hash if found else None) == vector["leads_to"], vector["why"]
    for vector in vectors["citations"]:
        marks = [
            {"label": mark.label, "style": mark.style, "start": mark.start, "end": mark.end}
            for mark in find_citations(vector["text"])
        ]
        assert marks == vector["marks"]


# The schemas


def schema(name: str) -> dict[str, Any]:
    text = (SPEC / f"{name}.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


REGISTRY: Registry[Any] = Registry().with_resources(
    [(schema(name)["$id"], Resource.from_contents(schema(name))) for name in SCHEMAS]
)


def valid(name: str, document: Any) -> bool:
    """Whether a document fits a schema, or a part of one (`record#/$defs/record`)."""
    asked = {"$ref": f"urn:evidentia:spec:v1:{name}"}
    return Draft202012Validator(asked, registry=REGISTRY).is_valid(document)


def valid_proof(document: Any) -> bool:
    """Whether a document fits the schema of a proof file, of any version."""
    return any(valid(name, document) for name in ("proof", "proof.v2", "proof.v3"))


@tiers.one_test
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_names_itself(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema(name)["$id"] == f"urn:evidentia:spec:v1:{name}"


def test_there_is_no_schema_that_is_not_tested() -> None:
    assert sorted(path.name for path in SPEC.glob("*.schema.json")) == [
        f"{name}.schema.json" for name in SCHEMAS
    ]


ONE_FORM = {
    "document": "document-body",
    "pack": "pack-body",
    "review": "pack-body",
    "export": "export-body",
    "access": "access-body",
    "retention": "retention-body",
    "request": "request-body",
    "verdict": "verdict-body",
    "assignment": "assignment-body",
}
FIRST_FORM = {
    "evidence_record": "record",
    "status_change": "record",
    "key": "key-announcement",
    "ledger": "ledger-body",
    "bundle": "bundle-body",
    "run": "run-body",
    "decision": "decision-body",
    "tool_call": "tool-call-body",
}
SECOND_FORM = {
    kind: "record-body.v2" if name == "record" else f"{name}.v2"
    for kind, name in FIRST_FORM.items()
}
BODY_BEFORE = ONE_FORM | FIRST_FORM | {"erasure": "erasure"}
BODY_NOW = (
    ONE_FORM
    | SECOND_FORM
    | {"document": "document-body.v2"}
    | {"ledger": "ledger-body.v4", "export": "export-body.v2"}
    | {"access": "access-body.v4", "retention": "retention-body.v2"}
    | {"erasure": "erasure.v3", "key": "key-announcement.v4"}
    | {"pack": "pack-body.v3", "review": "pack-body.v4"}
)
"""The schemas of bodies by kind: as they once were written, and as the program writes them."""


def test_every_kind_has_a_schema_for_its_body() -> None:
    assert set(BODY_BEFORE) == set(BODY_NOW) == KINDS


def test_the_schemas_fit_what_the_code_makes(tmp_path: Path) -> None:
    with evidentia.open(tmp_path, tenant="a.b_c-9") as workspace:
        record = EvidenceRecord.model_validate(ENTRIES[1]["body"])
        workspace.append(record)
        workspace.append(
            evidentia.create_status_change_record("OBL-001", "current", "superseded", "new")
        )
        workspace.trail.public_key()
        workspace.trail.rotate_key()
        workspace.trail.erase(0, reason="asked for", by="the person")
        proofs = [workspace.prove(seq).as_json() for seq in range(workspace.trail.size)]
        entries = workspace.trail.entries()
    kinds = {"evidence_record", "status_change", "key", "erasure"}
    assert {logged.entry.kind for logged in entries} == kinds
    for logged in entries:
        assert valid("entry", logged.entry.as_json())
        assert logged.erased or valid(BODY_NOW[logged.entry.kind], logged.body)
    assert all(valid("proof", proof) for proof in proofs)
    assert ["body" in proof for proof in proofs] == [not logged.erased for logged in entries]


def test_the_schema_of_an_adoption_fits_what_the_code_makes() -> None:
    body = Adoption(3, 5, "0" * 64, "left unsigned", "owner").body()
    assert valid("key-adoption", body)
    assert not valid("key-announcement.v2", body)
    assert not valid("key-adoption", body | {"adopts": body["adopts"] | {"more": 1}})
    assert valid("key-adoption", load("proofs/holds/adoption.json")["body"])


def test_the_schema_of_a_lost_key_fits_what_the_code_makes(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        key = workspace.trail.public_key()
        workspace.opened.home.keys.file("default", key.key_id).unlink()
        workspace.trail.rotate_key(lost="the disk failed")
        body = workspace.trail.entry(1).body
    assert valid("key-announcement.v4", body)
    assert not valid("key-announcement.v4", body | {"replaces": None})
    del body["signature"]
    assert valid("key-announcement.v3", body)
    assert not valid("key-announcement.v2", body)
    assert not valid("key-announcement.v3", body | {"replaces": None})
    assert valid("key-announcement.v3", load("proofs/holds/key-lost.json")["body"])


class FailingJudge:
    """A judge that cannot judge."""

    name = "failing"

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        raise ConnectionError(f"no connection for {claim.id} and {len(passages)} passages")


def test_the_schemas_fit_the_ledgers_that_the_code_makes(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    for path in (VECTORS / "ledger" / "documents").iterdir():
        (documents / path.name).write_bytes(path.read_bytes())
    (documents / "broken.pdf").write_bytes(b"no PDF file")
    answer = (VECTORS / "ledger" / "answer.md").read_text(encoding="utf-8")
    with evidentia.open(tmp_path / "home") as workspace:
        first = workspace.check(answer, against=documents)
        (documents / "HR_Policy.md").write_text("# Leave\n\nThere is none.\n", encoding="utf-8")
        again = workspace.check(answer, against=documents, judges=["numbers", FailingJudge()])
        sessions = [workspace.ledgers.get(ledger.id).session for ledger in (first, again)]
        proofs = [workspace.ledgers.prove(ledger.id) for ledger in (first, again)]
    assert sessions[0].unread
    assert sessions[1].document_count == sessions[0].document_count + 1  # the older version, too
    assert Verdict.NOT_JUDGED in {entry.verdict for entry in again.entries}
    for made, proof in zip(sessions, proofs, strict=True):
        statement = made.to_statement().as_json()
        assert valid("statement", statement)
        assert valid("ledger.v3", statement["predicate"])
        assert valid("ledger-export", to_json(made))
        assert valid("proof", proof.as_json())
        assert proof.disclosure
        assert valid("ledger-body.v4", proof.disclosure.body)


@pytest.mark.parametrize("name", LEDGERS)
def test_the_schemas_fit_the_ledgers_of_the_vectors(name: str) -> None:
    statement = load(f"ledger/statement{name}.json")
    assert valid("statement", statement)
    assert valid("ledger", statement["predicate"])
    assert valid("ledger-export", load(f"ledger/export{name}.json"))
    assert valid("ledger-body", load(f"proofs/holds/ledger{name}.json")["body"])


def test_the_schemas_fit_a_ledger_of_the_second_form() -> None:
    proof = load("proofs/holds/ledger-by.json")
    assert valid("proof", proof)
    assert valid("ledger-body.v2", proof["body"])
    first = load("proofs/holds/ledger.json")["body"]
    assert proof["body"] == {**first, "by": proof["body"]["by"]}


def test_the_statement_schema_refuses_what_is_no_statement() -> None:
    vectors = load("statements.json")
    for vector in vectors["statements"]:
        assert valid("statement", vector["statement"])
        assert valid("proof#/$defs/envelope", vector["envelope"])
    for vector in vectors["refused"]:
        try:
            document = parse_json(vector["bytes"].encode())
        except CanonicalError:
            continue
        assert not valid("statement", document), vector["why"]


def test_the_schemas_fit_the_vectors_that_hold() -> None:
    for item in ENTRIES:
        assert valid("entry", item["entry"])
        kind = item["entry"]["kind"]
        if kind in {"evidence_record", "status_change", "key", "erasure"} and "body" in item:
            assert valid(BODY_BEFORE[kind], item["body"])
    for vector in load("proofs.json"):
        if not vector["fails"]:
            assert valid_proof(json.loads((VECTORS / vector["file"]).read_bytes()))


SCHEMA_CANNOT_SAY = {
    "proofs/refused/checkpoint-base64.json",
    "proofs/refused/entry-long-subject.json",
    "proofs/refused/envelope-second-spelling.json",
    "proofs/refused/statement-duplicate-key.json",
    "proofs/refused/statement-empty.json",
    "proofs/refused/statement-not-json.json",
    "proofs/refused/statement-other-version.json",
    "proofs/refused/statement-unknown-field.json",
    "proofs/refused/statement-without-digest.json",
}
"""Refused by their form, for a reason that is about bytes, or about what the payload holds."""


def test_the_proof_schema_refuses_the_vectors_that_are_malformed() -> None:
    refused = set()
    for vector in load("proofs.json"):
        try:
            document = parse_json((VECTORS / vector["file"]).read_bytes())
        except CanonicalError:
            continue  # no JSON that a schema could be asked about
        if not valid_proof(document):
            refused.add(vector["file"])
            assert vector["fails"] == ["format"]
        elif vector["fails"] == ["format"]:
            assert vector["file"] in SCHEMA_CANNOT_SAY
    assert len(refused) > 30


HASH = "0f" * 32
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, -1, 0.5, 1.5, MAX_SAFE_INTEGER, MAX_SAFE_INTEGER + 1),
    *("", " ", "x", "1", "x\n", "x\0y", HASH, HASH.upper(), HASH + "\n", HASH[1:], "0f" * 33, "é"),
    *("Acme", "acme\n", "-a", "a-", "a.b", "a" * 64, "a" * 65, "ä"),
    *("2026-01-05T09:00:00.000000Z", "2026-01-05T09:00:00.000000Z\n", "2026-01-05T09:00:00Z"),
    *("2026-13-05T09:00:00.000000Z", "2026-01-32T09:00:00.000000Z"),
    *("2026-01-05T24:00:00.000000Z", "2026-01-05T09:60:00.000000Z", "٢٠٢٦-01-05T09:00:00.000000Z"),
    *("s" * (MAX_SUBJECT_BYTES - 2), "s" * (MAX_SUBJECT_BYTES - 1)),
    *(*sorted(KINDS), "KEY", "opinion", "status_change", "CONFIRMED", "confirmed"),
    *([], [HASH], [HASH.upper()], [HASH, 1], {}, {"a": 1}, [{}], [{"doc_id": 1}]),
    [{"doc_id": "d", "clause": "c", "status": "s", "more": None}],
    [{"old_status": "a", "new_status": "b", "reason": "c", "changed_by_doc_id": None}],
]
"""What is put into every field: of each kind of value one that fits somewhere, and one beside."""


def mutations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the document with each field missing or replaced, and with one field more."""
    yield {**document, "more": 1}
    for name in document:
        yield {key: value for key, value in document.items() if key != name}
        for value in VALUES:
            yield {**document, name: copy.deepcopy(value)}


def code_reads_entry(document: Any) -> bool:
    try:
        Entry.from_json(parse_json(json.dumps(document).encode()))
    except EvidentiaError:
        return False
    return True


def code_reads_proof(document: Any) -> bool:
    try:
        read_checkpoint(Proof.parse(json.dumps(document).encode()).checkpoint)
    except EvidentiaError:
        return False
    return document.get("body", "none") is not None  # no body is null, whatever a reader bears


def code_reads_record(document: Any) -> EvidenceRecord | None:
    try:
        record = EvidenceRecord.model_validate_json(json.dumps(document), strict=True)
        canonical_json(record.model_dump())
        encode_subject(record.obligation_id)
    except (ValidationError, CanonicalError, InputError):
        return None
    return record


def test_the_entry_schema_refuses_what_the_code_refuses() -> None:
    for document in mutations(ENTRIES[1]["entry"]):
        assert valid("entry", document) == code_reads_entry(document), document


def test_the_proof_schema_refuses_what_the_code_refuses() -> None:
    proof = load("proofs/holds/record.json")
    note = proof["checkpoint"]
    notes = [
        *(note[:-1], note + "\n", note.replace("\n\n", "\n"), note.replace("\n13\n", "\n013\n")),
        *(note.replace("\n13\n", f"\n{digits}\n") for digits in ("9" * 18, "9" * 19, "0", "-1")),
        *(note.replace("=\n\n", "=\nextension\n\n"), note.replace("=\n\n", "=\n\nextension\n\n")),
        *(note.replace("— ", "- "), note + note.rpartition("\n\n")[2], "\n" + note, note * 2),
        *(note.replace("acme\n", "acme\r\n"), note.replace("acme\n", "ac\tme\n")),
    ]
    signed = load("proofs/holds/statement.json")
    envelope = signed["envelope"]
    (signature,) = envelope["signatures"]
    envelopes = [
        *mutations(envelope),
        *(
            {**envelope, "payload": text}
            for text in ("e30=", "e30=\n", "e3 0", "e30", "ew==", "====")
        ),
        *({**envelope, "signatures": [other]} for other in mutations(signature)),
        *({**envelope, "signatures": [signature, other]} for other in (signature, None)),
    ]
    packed = load("proofs/holds/pack.json")
    (file,) = packed["attachments"]
    attached: list[list[Any]] = [[other] for other in mutations(file)]
    attached += [[], [file, file], [file, None], [{**file, "data": "ew="}]]
    cases = [
        *mutations(proof),
        *mutations(signed),
        *mutations({name: packed[name] for name in packed if name != "envelope"}),
        *({**packed, "attachments": other} for other in attached),
        *({**proof, "checkpoint": other} for other in notes),
        *({**signed, "envelope": other} for other in envelopes),
        *mutations(load("proofs/holds/pack-plain.json")),
    ]
    for document in cases:
        assert valid_proof(document) == code_reads_proof(document), document
    assert sum(code_reads_proof({**proof, "checkpoint": other}) for other in notes) >= 3


@pytest.mark.parametrize("seq", [1, 4])
def test_the_record_schema_refuses_what_the_code_refuses(seq: int) -> None:
    for document in tiers.sample([*mutations(ENTRIES[seq]["body"])], 150):
        record = code_reads_record(document)
        assert valid("record#/$defs/record", document) == (record is not None), document
        whole = record is not None and validate_evidence_chain([record])["valid"]
        assert valid("record", document) == whole, document


MODELS: dict[str, type[BaseModel]] = {
    "": LedgerSession,
    "claim": Claim,
    "leftOut": session.LeftOutText,
    "document": session.CheckedDocument,
    "unread": session.UnreadFile,
    "ledger": model.EvidenceLedger,
    "entry": model.LedgerEntry,
    "source": model.SourceDocument,
    "match": EvidenceMatch,
    "comparison": model.Comparison,
    "passage": Passage,
    "components": model.ConfidenceComponents,
    "summary": model.LedgerSummary,
    "riskFlag": model.RiskFlag,
    "citationCheck": model.CitationCheck,
}
"""What the parts of the ledger's schema are called in the code."""
SECOND: dict[str, type[BaseModel]] = {
    "": LedgerSession,
    "ledger": model.EvidenceLedger,
    "entry": model.LedgerEntry,
    "summary": model.LedgerSummary,
    "judging": Judging,
    "policy": JudgingPolicy,
    "vote": Vote,
    "service": AskedService,
}
"""What the parts of its second form's schema are called."""
ACCESS = ("proofs/holds/access-grant.json", "proofs/holds/access-own.json")
ALLOWING = ("proofs/holds/judge-allowed.json", "proofs/holds/judge-disallowed.json")
ENUMS = {
    "verdict": Verdict,
    "claimType": model.ClaimType,
    "importance": model.Importance,
    "supportLevel": model.SupportLevel,
    "riskType": RiskType,
    "severity": model.Severity,
}


@tiers.one_test
@pytest.mark.parametrize("name", MODELS)
def test_the_ledger_schema_has_the_fields_of_the_code(name: str) -> None:
    whole = schema("ledger")
    part = whole["$defs"][name] if name else whole
    later = getattr(MODELS[name], "later", ())
    assert list(part["properties"]) == [
        field for field in MODELS[name].model_fields if field not in later
    ]
    assert part["required"] == list(part["properties"])
    assert part["additionalProperties"] is False


@pytest.mark.parametrize("name", SECOND)
def test_the_schema_of_the_second_form_has_the_fields_of_the_code(name: str) -> None:
    whole = schema("ledger.v2")
    part = whole["$defs"][name] if name else whole
    third = {"corpus", "search", "contexts", "bundle"}
    fields = [field for field in SECOND[name].model_fields if field not in third]
    assert list(part["properties"]) == fields
    optional = {"judging", "support", "nearest"}
    assert part["required"] == [field for field in part["properties"] if field not in optional]
    assert part["additionalProperties"] is False


@tiers.one_test
@pytest.mark.parametrize("vector", load("ledger/refused.json"), ids=lambda vector: vector["why"])
def test_what_is_of_neither_form_is_refused(vector: dict[str, Any]) -> None:
    statement = vector["statement"]
    with pytest.raises(ProofError):
        LedgerSession.from_statement(Statement.parse(canonical_json(statement)))
    name = statement["predicateType"].rpartition(":")[2]
    assert valid(name, statement["predicate"]) == (vector["why"] == "the reasons do not count")


def test_the_second_form_says_why_weak_claims_are_weak() -> None:
    made = ledger_vector("-second")
    assert [entry.support for entry in made.ledger.entries] == ["partial", None, "probable", None]
    assert made.ledger.entries[3].nearest
    assert made.judging is None
    predicate = load("ledger/statement-second.json")["predicate"]
    assert valid("ledger.v2", predicate)
    assert not valid("ledger", predicate)
    assert valid("ledger-body.v3", load("proofs/holds/ledger-second.json")["body"])
    assert valid("ledger-export", load("ledger/export-second.json"))
    parts = schema("ledger.v2")["$defs"]
    assert parts["support"]["enum"] == [why.value for why in model.WeakSupport]
    assert list(parts["bySupport"]["properties"]) == parts["support"]["enum"]


def test_the_second_form_is_what_the_code_makes_where_a_judge_votes(tmp_path: Path) -> None:
    class Voting(FailingJudge):
        name = "voting"

        def judge_all(self, questions: Sequence[Question]) -> list[Answer]:
            return [Answer(failure="no answer", runs=("run-1",))] * len(questions)

    for path in (VECTORS / "ledger" / "documents").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    answer = (VECTORS / "ledger" / "answer.md").read_text(encoding="utf-8")
    with evidentia.open(tmp_path / "home") as workspace:
        workspace.judges.allow("http://localhost:11434/v1")
        workspace.judges.disallow("http://localhost:11434/v1")
        ledger = workspace.check(answer, against=tmp_path, judges=["quote", Voting()])
        proof = workspace.prove(ledger)
        access = [one.body for one in workspace.trail.entries(kind=EntryKind.ACCESS)]
    assert proof.envelope
    assert proof.disclosure
    predicate = Statement.parse(proof.envelope.payload).predicate
    assert valid("ledger.v3", predicate)
    assert not valid("ledger.v2", predicate)
    assert valid("ledger-body.v4", proof.disclosure.body)
    assert not valid("ledger-body.v3", proof.disclosure.body)
    assert len(access) == 2
    assert all(valid("access-body.v3", body) for body in access)
    assert not any(valid("access-body.v2", body) for body in access)
    for body in (one["body"] for one in map(load, (*ACCESS, *ALLOWING))):
        assert valid("access-body.v2", body)
    assert not any(valid("access-body", load(name)["body"]) for name in ALLOWING)
    assert ledger_vector("-voted").judging is not None
    voted = load("ledger/statement-voted.json")["predicate"]
    assert valid("ledger.v2", voted)
    assert not valid("ledger", voted)
    assert valid("ledger-body.v3", load("proofs/holds/ledger-voted.json")["body"])
    assert not valid("ledger.v2", PREDICATE)
    service = AskedService(
        judge="llm", digest="d", url="u", api="openai", model="m", prompt_sha256="p"
    )
    assert valid("ledger.v2#/$defs/service", service.model_dump(mode="json"))
    enums = schema("ledger.v2")["$defs"]["policy"]["properties"]
    assert enums["asked"]["enum"] == list(get_args(Asked))
    assert enums["decides"]["enum"] == list(get_args(Decides))


def test_the_ledger_schema_has_the_values_of_the_code() -> None:
    parts = schema("ledger")["$defs"]
    for name, values in ENUMS.items():
        assert parts[name]["enum"] == [value.value for value in values]
    assert set(parts) == {*MODELS, *ENUMS, "score", "offset", "count", "page"} - {""}
    counts = parts["summary"]["properties"]
    assert list(counts["by_verdict"]["properties"]) == parts["verdict"]["enum"]
    assert list(counts["by_importance"]["properties"]) == parts["importance"]["enum"]
    assert list(schema("chunk")["properties"]) == list(DocumentChunk.__slots__)
    assert schema("ledger-body")["properties"]["predicate_type"]["const"] == PREDICATE_TYPE
    assert STATEMENT_DIGEST in schema("ledger-body")["properties"]
    assert schema("ledger")["$id"] == PREDICATE_TYPE
    assert schema("ledger.v2")["$id"] == SECOND_TYPE
    assert schema("ledger-body.v3")["properties"]["predicate_type"]["const"] == SECOND_TYPE
    assert schema("statement")["properties"]["_type"]["const"] == STATEMENT_TYPE
    envelope = schema("proof")["$defs"]["envelope"]
    assert envelope["properties"]["payloadType"]["const"] == PAYLOAD_TYPE


PREDICATE = load("ledger/statement.json")["predicate"]
JUDGED = PREDICATE["ledger"]["entries"][0]
LEDGER = {**PREDICATE["ledger"], "entries": [], "risk_flags": [], "citations": []}
PARTS = {
    "": {**PREDICATE, "ledger": LEDGER},
    "claim": PREDICATE["claims"][0],
    "leftOut": PREDICATE["left_out"][0],
    "document": PREDICATE["documents"][0],
    "unread": PREDICATE["unread"][0],
    "ledger": LEDGER,
    "entry": JUDGED,
    "source": JUDGED["source_document"],
    "match": JUDGED["evidence"][0],
    "comparison": PREDICATE["ledger"]["entries"][2]["evidence"][0]["compared"][0],
    "passage": JUDGED["evidence"][0]["passage"],
    "components": JUDGED["confidence_components"],
    "summary": LEDGER["summary"],
    "riskFlag": PREDICATE["ledger"]["risk_flags"][0],
    "citationCheck": PREDICATE["ledger"]["citations"][0],
}


@tiers.one_test
@pytest.mark.parametrize("name", MODELS)
def test_what_the_ledger_schema_takes_the_code_reads(name: str) -> None:
    part = PARTS[name]
    asked = f"ledger#/$defs/{name}" if name else "ledger"
    assert valid(asked, part)
    for document in tiers.sample([*mutations(part)], 60):
        if valid(asked, document):
            assert set(document) == set(part)
            MODELS[name].model_validate_json(json.dumps(document), strict=True)


def is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_SAFE_INTEGER


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def is_said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


@pytest.mark.parametrize(
    ("name", "seq", "rules"),
    [
        ("key-announcement", 0, {"key": lambda _: False, "replaces": lambda value: value is None}),
        ("erasure", 7, {"entry": is_number, "leaf": is_hash, "reason": is_said, "by": is_said}),
    ],
)
def test_the_schema_of_a_body_refuses_other_fields_and_values(
    name: str, seq: int, rules: dict[str, Callable[[Any], bool]]
) -> None:
    good = ENTRIES[seq]["body"]
    assert valid(name, good)
    for document in mutations(good):
        fits = set(document) == set(rules) and all(
            document[field] is good[field] or rule(document[field]) for field, rule in rules.items()
        )
        assert valid(name, document) == fits, document


@pytest.mark.parametrize(
    "key",
    [
        ENTRIES[0]["body"]["key"] + "\n",
        ENTRIES[0]["body"]["key"].replace("+A", "+B"),
        ENTRIES[0]["body"]["key"].replace("+Ab", "+Ag"),
        ENTRIES[0]["body"]["key"][:-1],
        ENTRIES[0]["body"]["key"].replace("evidentia/", "other/"),
        ENTRIES[0]["body"]["key"].replace("/acme", "/Acme"),
        ENTRIES[0]["body"]["key"].replace("+", " "),
    ],
)
def test_a_key_that_is_none_is_refused_by_its_schema(key: str) -> None:
    assert not valid("key-announcement", {"key": key, "replaces": None})


def test_the_schemas_have_the_limits_and_names_of_the_code() -> None:
    entry, proof, record = schema("entry"), schema("proof"), schema("record")
    assert set(entry["properties"]) == set(entry["required"]) == set(Entry.FIELDS)
    assert set(entry["properties"]["kind"]["enum"]) == KINDS
    assert entry["$defs"]["seq"]["maximum"] == MAX_SAFE_INTEGER
    assert entry["$defs"]["subject"]["maxLength"] == MAX_SUBJECT_BYTES - len('""')
    assert proof["properties"]["checkpoint"]["maxLength"] == MAX_NOTE_BYTES
    assert proof["properties"]["salt"]["maxLength"] == 2 * SALT_BYTES
    assert proof["properties"]["inclusion"]["maxItems"] == (10**18 - 1).bit_length()
    fields = record["$defs"]["record"]
    assert list(fields["properties"]) == list(EvidenceRecord.model_fields)
    assert fields["required"] == [
        name for name, field in EvidenceRecord.model_fields.items() if field.is_required()
    ]
    results = [result.value for result in VerificationResult]
    assert fields["properties"]["verification_result"]["enum"] == results


# The pages

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (page.name, info.split(), text)
    for page in PAGES
    for info, text in FENCE.findall(page.read_text(encoding="utf-8"))
]


def pointed_at(reference: str) -> Any:
    """Return a file's text, or the value in it that a JSON pointer leads to."""
    path, _, pointer = reference.partition("#")
    text = (SPEC / path).read_text(encoding="utf-8")
    if not path.endswith(".json"):
        return text
    value = json.loads(text)
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@tiers.one_test
@pytest.mark.parametrize(
    ("info", "text"), [(info, text) for _, info, text in BLOCKS if info[:1] != ["python"]]
)
def test_an_example_is_what_the_vectors_have(info: list[str], text: str) -> None:
    language, reference = info  # an example without a reference is an error
    if language == "json":
        assert json.loads(text) == pointed_at(reference)
    else:
        assert language == "text"
        assert text == pointed_at(reference).rstrip("\n") + "\n"


def run_blocks(page: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a page's Python, in order; return the names it defines."""
    monkeypatch.chdir(SPEC)
    names: dict[str, Any] = {}
    for name, info, text in BLOCKS:
        if (name, info) == (page, ["python"]):
            exec(compile(text, page, "exec"), names)
    return names


@pytest.mark.parametrize("page", sorted({name for name, info, _ in BLOCKS if info == ["python"]}))
def test_the_python_of_a_page_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_blocks(page, monkeypatch)


def test_the_functions_of_the_pages_agree_with_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    root = run_blocks("README.md", monkeypatch)["root_hash"]
    included = run_blocks("proof.md", monkeypatch)["inclusion_holds"]
    consistent = run_blocks("checkpoint.md", monkeypatch)["consistency_holds"]
    publication = run_blocks("publication.md", monkeypatch)
    ledger = run_blocks("ledger.md", monkeypatch)
    chunks = run_blocks("chunk.md", monkeypatch)
    payload = run_blocks("statement.md", monkeypatch)["signed_bytes"]
    for vector in load("verdicts.json")["verdicts"]:
        given = ledger["assign_verdict"](vector["evidence"])
        assert given == (vector["verdict"], vector["confidence"])
    for vector in load("verdicts.json")["confidence"]:
        assert ledger["calculate_confidence"](vector) == vector["confidence"]
    for vector in load("chunks.json")["hashes"]:
        assert chunks["chunk_hash"](vector["text"]) == vector["hash"]
    for vector in load("chunks.json")["documents"]:
        assert chunks["document_id"](vector["collection"], vector["filename"]) == vector["id"]
    for vector in load("statements.json")["statements"]:
        assert payload(vector["bytes"].encode()) == vector["signed"].encode()
    assert [root(LEAVES[:size]) for size in range(len(ROOTS))] == ROOTS
    for vector in load("inclusion.json"):
        index, size = vector["index"], vector["size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        assert included(LEAVES[index], index, size, path, ROOTS[size])
        assert not included(LEAVES[index], index, size, [*path, ROOTS[0]], ROOTS[size])
        assert not included(LEAVES[index], index, size, path, ROOTS[size - 1])
    for vector in load("consistency.json"):
        old, new = vector["old_size"], vector["new_size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        assert consistent(old, ROOTS[old], new, ROOTS[new], path) == vector["holds"]
    for vector in load("tiles.json")["paths"]:
        path = publication["tile_path"](vector["level"], vector["index"], vector["width"])
        assert path == vector["path"]


def test_every_value_on_the_pages_is_in_the_vectors() -> None:
    known = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in VECTORS.rglob("*")
        if path.is_file() and path.suffix not in {".md", ".py", ".pyc"}
    )
    known += "\n".join(path.relative_to(SPEC).as_posix() for path in VECTORS.rglob("*"))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for value in re.findall(r"\b[0-9a-f]{16,}\b|[A-Za-z0-9+/]{43,}=*", text):
            assert value in known, f"{page.name}: {value}"


def test_the_pages_have_the_limits_of_the_code() -> None:
    text = (SPEC / "README.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    assert table["entry's number"].startswith(f"0 to {MAX_SAFE_INTEGER:,} ")
    for what, unit, limit in (
        ("subject, as canonical JSON with its quotes", "bytes", MAX_SUBJECT_BYTES),
        ("salt", "bytes", SALT_BYTES),
        ("body, as canonical JSON", "bytes", MAX_BODY_BYTES),
        ("nesting of JSON", "levels", MAX_DEPTH),
        ("checkpoint", "characters", MAX_NOTE_BYTES),
        ("proof file", "bytes", MAX_PROOF_BYTES),
        ("PDF", "bytes", MAX_PDF_BYTES),
        ("pack, as a statement", "bytes", MAX_PACK_BYTES),
        ("attachment of a pack", "bytes", MAX_ATTACHMENT_BYTES),
        ("excerpt of a source in a pack", "characters", MAX_EXCERPT),
        ("action of a tool call", "characters", MAX_ACTION),
        ("run's id", "characters", MAX_RUN_ID),
        ("URL of a source", "characters", MAX_URL_CHARS),
        ("metadata of a source that was asked for", "characters", MAX_ASKED_CHARS),
    ):
        assert table[what] == f"{limit:,} {unit}"
    assert table["statement"].startswith(f"{MAX_STATEMENT_BYTES:,} bytes")
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d{1,3}(?:,\d{3})+", text)]
    defaults = {value for value in EvidencePolicy().model_dump().values() if type(value) is int}
    for page in PAGES:
        for number in re.findall(r"\b\d{1,3}(?:,\d{3})+\b", page.read_text(encoding="utf-8")):
            known = {*numbers, *defaults, 70_000}
            assert int(number.replace(",", "")) in known, f"{page.name}: {number}"


def test_the_ledger_page_has_the_numbers_and_bands_of_the_code() -> None:
    text = (SPEC / "ledger.md").read_text(encoding="utf-8")
    assert f'best["similarity"] > {SUPPORTED_ABOVE}' in text
    assert f'best["similarity"] * {WEAK_FACTOR}' in text
    assert f"more than {OUTDATED_AFTER_DAYS} days" in text
    assert f"is below {LOW_CONFIDENCE}" in text
    bands = re.findall(r"^\| ([a-z ]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert [band.replace(" ", "_") for band, _, _ in bands] == list(ConfidenceBand)
    for band, low, high in bands:
        assert confidence_band(float(low)) == band.replace(" ", "_")
        assert high == "1" or confidence_band(float(high)) != band.replace(" ", "_")
    risks = re.findall(r"^\| `(\w+)` \| `(high|medium|low)` \|", text, re.MULTILINE)
    assert [risk for risk, _ in risks] == list(RiskType)
    for verdict in Verdict:
        assert f"| `{verdict}` | " in text


def test_the_pages_name_every_field_kind_schema_and_vector() -> None:
    text = {page.stem: page.read_text(encoding="utf-8") for page in SPEC.glob("*.md")}
    rows = {
        name: set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) for name, page in text.items()
    }
    assert rows["entry"] >= set(Entry.FIELDS)
    assert rows["record"] >= set(schema("record-body.v2")["$defs"]["record"]["properties"])
    assert rows["proof"] >= set(schema("proof.v3")["properties"])
    assert rows["checkpoint"] >= set(schema("key-announcement.v2")["properties"])
    assert rows["checkpoint"] >= set(schema("key-announcement.v3")["properties"])
    assert rows["checkpoint"] >= set(schema("key-adoption")["properties"])
    for name in ("authority", "key-authority", "key-revocation"):
        assert rows["authority"] >= set(schema(name)["properties"])
    for part in schema("key-user")["oneOf"]:
        assert rows["authority"] >= set(part["properties"])
    assert rows["erasure"] >= set(schema("erasure.v2")["properties"])
    assert rows["chunk"] >= set(schema("chunk")["properties"])
    models = [*MODELS.values(), *SECOND.values()]
    assert rows["ledger"] >= {name for part in models for name in part.model_fields}
    assert rows["ledger"] >= set(schema("ledger-body.v2")["properties"])
    assert rows["pdf"] >= set(schema("rendering")["properties"])
    assert rows["sources"] >= set(SourceItem.model_fields) - {"snippets"}
    export = schema("ledger-export")
    assert rows["ledger"] >= {*export["properties"], *export["$defs"]["entry"]["properties"]}
    statement = schema("statement")
    assert rows["statement"] >= {*statement["properties"], "name", "digest"}
    for part in ("envelope", "signature"):
        assert rows["statement"] >= set(schema("proof")["$defs"][part]["properties"])
    assert all(f"`{kind}`" in text["entry"] for kind in KINDS)
    assert all(f"({name}.schema.json)" in text["README"] for name in SCHEMAS)
    assert all(f"({name}.md)" in text["README"] for name in text if name != "README")
    listed = (VECTORS / "README.md").read_text(encoding="utf-8")
    for path in VECTORS.iterdir():
        if path.suffix in {".json", ".txt"} or (path.is_dir() and path.name != "__pycache__"):
            assert f"`{path.name}" in listed


@pytest.mark.parametrize(("part", "model"), [("source", SourceItem), ("snippet", SourceSnippet)])
def test_the_sources_schema_has_the_fields_of_the_code(part: str, model: type[BaseModel]) -> None:
    assert set(schema("sources")["$defs"][part]["properties"]) == set(model.model_fields)


def test_sources_are_packed_as_the_vectors_say() -> None:
    validator = Draft202012Validator(schema("sources"))
    for case in json.loads((VECTORS / "sources.json").read_text(encoding="utf-8"))["cases"]:
        packed = DefaultEvidencePacker().pack(case["candidates"], case["chunks"], case["options"])
        assert rag_sources(packed) == case["event"], case["why"]
        validator.validate(case["event"])


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@tiers.one_test
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SPEC)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target
