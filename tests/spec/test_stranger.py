"""The stranger's verifier accepts and refuses what the vectors say.

What the program itself hands out must hold before it.
"""

import json
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import tiers
from spec import stranger
from spec.stranger import (
    Key,
    RefusedError,
    announced_keys,
    assign_verdict,
    audit,
    band,
    canonical,
    check_artifacts,
    check_body,
    check_bundle_proof,
    check_chain,
    check_consistency,
    check_cosignatures,
    check_inclusion,
    check_ledger,
    check_pack,
    check_pack_body,
    check_run,
    check_signature,
    check_statement,
    check_versions,
    chunk_hash,
    citations,
    commitment,
    confidence,
    evidence_ids,
    fence_nonce,
    issue,
    kept,
    keys_for,
    leaf_hash,
    named,
    read_checkpoint,
    read_entry,
    read_envelope,
    read_json,
    read_key,
    read_proof,
    read_statement,
    read_witness,
    redaction_digest,
    render,
    resolve,
    root_hash,
    sampled_rows,
    signed_bytes,
    tile_path,
    tiles_of,
    verify,
    verify_bundle,
    verify_pack,
)

VECTORS = Path(__file__).parents[2] / "spec" / "v1" / "vectors"


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def key_file(name: str) -> Key:
    return read_key((VECTORS / name).read_text(encoding="utf-8"))


LOG = load("log.json")
KEYS = [key_file(key["file"]) for key in LOG["keys"]]
ENTRIES: list[bytes] = [item["bytes"].encode() for item in LOG["entries"]]
LEAVES = [leaf_hash(data) for data in ENTRIES]
ROOTS = [bytes.fromhex(root) for root in LOG["roots"]]


def announcements() -> list[tuple[dict[str, Any], Any]]:
    return [
        (item["entry"], item["body"])
        for item in LOG["entries"]
        if item["entry"]["kind"] == "key"
        and commitment(item["salt"], item["body"]) == item["entry"]["body"]
    ]


def test_the_stranger_has_not_looked_at_the_code() -> None:
    source = Path(stranger.__file__).read_text(encoding="utf-8")
    assert not re.search(r"^\s*(from|import) evidentia", source, re.MULTILINE)


@tiers.one_test
@pytest.mark.parametrize("vector", load("proofs.json"), ids=lambda vector: vector["file"])
def test_a_proof_file_gets_its_verdict(vector: dict[str, Any]) -> None:
    keys = [key_file(vector["key"])] if vector["key"] else []
    verdict, failed = verify((VECTORS / vector["file"]).read_bytes(), keys)
    assert (verdict, failed) == (vector["verdict"], vector["fails"]), vector["why"]


def test_a_proof_file_past_the_limit_is_refused() -> None:
    good = (VECTORS / "proofs/holds/record.json").read_bytes()
    assert verify(good.ljust(67_108_864), KEYS)[0] == "holds"
    assert verify(good.ljust(67_108_865), KEYS) == ("does not hold", ["format"])


def test_json_has_one_canonical_form_or_is_refused() -> None:
    for vector in load("canonical.json")["canonical"]:
        assert canonical(read_json(vector["json"].encode())).decode() == vector["bytes"]
    for vector in load("canonical.json")["refused"]:
        with pytest.raises(RefusedError):
            read_json(vector["json"].encode())


def test_the_log_is_what_its_entries_say() -> None:
    for item, data, leaf in zip(LOG["entries"], ENTRIES, LEAVES, strict=True):
        assert read_entry(data) == item["entry"]
        assert leaf.hex() == item["leaf"]
        if "body" in item:
            assert canonical(item["body"]).decode() == item["body_bytes"]
            assert commitment(item["salt"], item["body"]) == item["entry"]["body"]
    assert [root_hash(LEAVES[:size]) for size in range(len(ROOTS))] == ROOTS
    assert check_chain(LOG["origin"], ENTRIES) == ROOTS[-1]


@tiers.one_test
@pytest.mark.parametrize("vector", load("entries-refused.json"), ids=lambda vector: vector["why"])
def test_what_is_no_entry_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        read_entry(vector["bytes"].encode())


def test_a_chain_with_an_entry_changed_missing_or_moved_is_refused() -> None:
    changed = ENTRIES[2].replace(b"OBL-002", b"OBL-003")
    for chain in (
        [*ENTRIES[:2], changed, *ENTRIES[3:]],
        ENTRIES[1:],
        [*ENTRIES[:4], *ENTRIES[5:]],
        [ENTRIES[1], ENTRIES[0], *ENTRIES[2:]],
        [*ENTRIES, ENTRIES[-1]],
    ):
        with pytest.raises(RefusedError):
            check_chain(LOG["origin"], chain)
    with pytest.raises(RefusedError):
        check_chain("evidentia/00c0ffee00c0ffee/acme", ENTRIES)


def test_every_path_of_the_tree_holds() -> None:
    for vector in load("inclusion.json"):
        index, size = vector["index"], vector["size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        check_inclusion(LEAVES[index], index, size, path, ROOTS[size])
        with pytest.raises(RefusedError):
            check_inclusion(LEAVES[index], index, size, path, ROOTS[size - 1])


def test_consistency_proofs_hold_or_are_refused() -> None:
    for vector in load("consistency.json"):
        old, new = vector["old_size"], vector["new_size"]
        given = (old, ROOTS[old], new, ROOTS[new], [bytes.fromhex(h) for h in vector["hashes"]])
        if vector["holds"]:
            check_consistency(*given)
        else:
            with pytest.raises(RefusedError):
                check_consistency(*given)


@pytest.mark.parametrize("vector", load("checkpoints.json"), ids=lambda vector: vector["why"])
def test_a_checkpoint_is_signed_by_a_key_that_may_sign_its_size(vector: dict[str, Any]) -> None:
    announced = announced_keys(LOG["origin"], announcements())
    checkpoint = read_checkpoint(vector["note"])
    allowed = keys_for(checkpoint.size, announced)
    if vector["holds"]:
        check_signature(checkpoint, allowed)
        assert checkpoint.root == ROOTS[checkpoint.size]
    else:
        with pytest.raises(RefusedError):
            check_signature(checkpoint, allowed)


COSIGNED = load("cosignatures.json")


@tiers.one_test
@pytest.mark.parametrize("vector", COSIGNED["checkpoints"], ids=lambda vector: vector["why"])
def test_witnesses_cosigned_or_did_not(vector: dict[str, Any]) -> None:
    known = {key.name: key for key in map(read_witness, COSIGNED["witnesses"])}
    checkpoint = read_checkpoint(vector["note"])
    check_signature(checkpoint, [key_file(COSIGNED["log_key"])])
    asked = [known[name] for name in vector["witnesses"]]
    if vector["holds"]:
        check_cosignatures(checkpoint, asked, vector["quorum"])
    else:
        with pytest.raises(RefusedError):
            check_cosignatures(checkpoint, asked, vector["quorum"])


@pytest.mark.parametrize("vector", COSIGNED["keys_refused"], ids=lambda vector: vector["why"])
def test_what_is_no_key_of_a_witness_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        read_witness(vector["key"])


def test_a_trusted_key_leads_to_its_successor() -> None:
    old, new = KEYS
    data = (VECTORS / "proofs/holds/rotation.json").read_bytes()
    assert verify(data, [old])[0] == "holds"
    proof, checkpoint = read_proof(data)
    entry, body = proof["entry"], proof["body"]
    assert entry["kind"] == "key"
    assert read_key(body["key"]) == new
    assert (new.name, new.key_id) == (checkpoint.origin, entry["subject"])
    assert body["replaces"] == old.key_id
    assert checkpoint.size <= entry["seq"] + 1


def test_an_erasure_names_the_entry_it_is_about() -> None:
    proof, _ = read_proof((VECTORS / "proofs/holds/erasure.json").read_bytes())
    erased, _ = read_proof((VECTORS / "proofs/holds/erased.json").read_bytes())
    entry, body = proof["entry"], proof["body"]
    assert entry["kind"] == "erasure"
    assert set(body) == {"entry", "leaf", "reason", "by"}
    assert entry["subject"] == f"entry/{body['entry']}"
    assert body["entry"] < entry["seq"]
    assert body["entry"] == erased["entry"]["seq"]
    assert body["leaf"] == leaf_hash(canonical(erased["entry"])).hex()
    assert "body" not in erased


def test_the_published_log_is_whole() -> None:
    assert audit(VECTORS / "publication", KEYS[1:]) == ENTRIES
    with pytest.raises(RefusedError):
        audit(VECTORS / "publication", KEYS[:1])


def test_tiles_of_a_large_tree_are_where_and_what_they_should_be() -> None:
    vectors = load("tiles.json")
    for vector in vectors["paths"]:
        assert tile_path(vector["level"], vector["index"], vector["width"]) == vector["path"]
    tree = vectors["tree"]
    leaves = [leaf_hash(str(index).encode()) for index in range(tree["size"])]
    assert root_hash(leaves).hex() == tree["root"]
    tiles = tiles_of(leaves)
    for tile in tree["tiles"]:
        assert len(tiles[tile["path"]]) == 32 * tile["width"]
        assert sha256(tiles[tile["path"]]).hexdigest() == tile["sha256"]


def test_statements_have_their_bytes_and_signatures_or_are_refused() -> None:
    vectors = load("statements.json")
    key = key_file(vectors["key"])
    for vector in vectors["statements"]:
        payload = vector["bytes"].encode()
        assert read_statement(payload) == vector["statement"]
        assert canonical(vector["statement"]) == payload
        assert signed_bytes(payload) == vector["signed"].encode()
        proof = {"envelope": vector["envelope"], "body": {"statement_sha256": vector["sha256"]}}
        check_statement(proof, key.name, [key])
        with pytest.raises(RefusedError):
            check_statement(proof, key.name, KEYS)
    for vector in vectors["refused"]:
        with pytest.raises(RefusedError):
            read_statement(vector["bytes"].encode())


def test_texts_have_their_hashes_and_places_their_ids() -> None:
    vectors = load("chunks.json")
    for vector in vectors["hashes"]:
        assert chunk_hash(vector["text"]) == vector["hash"], vector["why"]
    digests = {}
    for document in vectors["documents"]:
        content = {name: document[name] for name in ("collection", "filename")}
        assert named("doc", content, 16) == document["id"]
        file = (VECTORS / "ledger/documents" / document["filename"]).read_bytes()
        digests[document["id"]] = document["sha256"]
        assert sha256(file).hexdigest() == document["sha256"]
        for chunk in vectors["chunks"]:
            if chunk["document_id"] == document["id"]:
                assert file.decode()[chunk["start"] : chunk["end"]] == chunk["text"]
    for chunk in vectors["chunks"]:
        identity, start, end = chunk["document_id"], chunk["start"], chunk["end"]
        place = [identity, digests[identity], chunk["page"], start, end]
        assert named("chunk", place, 32) == chunk["chunk_id"]
        assert chunk_hash(chunk["text"]) == chunk["chunk_hash"]


def test_anchors_grow_and_stay_bound_and_lead_where_they_should() -> None:
    vectors = load("chunks.json")
    issued: dict[str, str] = {}
    for vector in vectors["anchors"]:
        assert chunk_hash(vector["text"]) == vector["hash"]
        assert issue(vector["hash"], issued) == vector["anchor"]
        issued[vector["anchor"]] = vector["hash"]
    hashes = sorted(set(issued.values()))
    for vector in vectors["resolved"]:
        found = resolve(vector["anchor"], vector["issued"], hashes)
        assert found == vector["leads_to"], vector["why"]
    for vector in vectors["citations"]:
        marks = [tuple(mark.values()) for mark in vector["marks"]]
        assert citations(vector["text"]) == marks


def test_evidence_has_its_verdict_and_confidence() -> None:
    vectors = load("verdicts.json")
    for vector in vectors["verdicts"]:
        expected = (vector["verdict"], vector["confidence"])
        assert assign_verdict(vector["evidence"]) == expected, vector["why"]
        assert assign_verdict(vector["evidence"][::-1]) == expected
    for vector in vectors["confidence"]:
        assert confidence(vector) == vector["confidence"]
    for vector in vectors["bands"]:
        assert band(vector["score"]) == vector["band"]


FILES = {path.name: path.read_bytes() for path in (VECTORS / "ledger/documents").iterdir()}


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("", ["supported", "contradicted", "weak", "not_found"]),
        ("-not-judged", ["supported", "contradicted", "not_judged", "not_judged"]),
    ],
)
def test_a_ledger_can_be_checked_by_hand(name: str, verdicts: list[str]) -> None:
    data = (VECTORS / f"proofs/holds/ledger{name}.json").read_bytes()
    assert verify(data, [key_file("keys/ledger-log.pub")]) == ("holds", [])
    proof, _ = read_proof(data)
    payload = read_envelope(proof["envelope"]).payload
    assert payload == (VECTORS / f"ledger/statement{name}.json").read_bytes()
    assert payload == canonical(read_json(payload))
    session = check_ledger(proof, FILES)
    assert session["answer"].encode() == (VECTORS / "ledger/answer.md").read_bytes()
    assert [entry["verdict"] for entry in session["ledger"]["entries"]] == verdicts
    export = load(f"ledger/export{name}.json")
    assert [entry["verdict"] for entry in export["entries"]] == verdicts
    places = [(entry["start"], entry["end"]) for entry in export["entries"]]
    assert places == [(claim["start"], claim["end"]) for claim in session["claims"]]


def test_the_second_ledger_points_to_the_first() -> None:
    first, second = (load(f"proofs/holds/ledger{name}.json") for name in ("", "-not-judged"))
    assert second["body"]["previous_ledger_id"] == first["entry"]["subject"]


def set_at(value: Any, path: str, new: Any) -> None:
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in steps:
        value = value[step]
    value[last] = new


@tiers.one_test
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("answer", "Employees are entitled to 16 days."),
        ("answer_name", "other.md"),
        ("id", "ses_0"),
        ("claims.0.start", 11),
        ("claims.1.end", 131),
        ("claims.2.text", "Unused leave is carried forward"),
        ("left_out.1.start", 8),
        ("documents.0.sha256", "0" * 64),
        ("ledger.id", "led_0"),
        ("ledger.previous_ledger_id", "led_0"),
        ("ledger.entries.0.claim_id", "clm_0"),
        ("ledger.entries.0.verdict", "weak"),
        ("ledger.entries.0.confidence_score", 0.96),
        ("ledger.entries.0.evidence_snippet", "Leave is unlimited."),
        ("ledger.entries.0.evidence_chunk_ids", ["00000000"]),
        ("ledger.entries.0.source_document", None),
        ("ledger.entries.0.component_confidence", 0.9),
        ("ledger.entries.0.evidence", []),
        ("ledger.entries.0.evidence.0.passage.start", 74),
        ("ledger.entries.0.evidence.0.snippet", "Leave is unlimited."),
        ("ledger.entries.1.evidence.0.contradicts", False),
        ("ledger.entries.2.evidence.0.compared.0.claim_end", 36),
        ("ledger.entries.2.evidence.0.compared.0.start", None),
        ("ledger.entries.2.evidence.0.compared.0.end", 82),
        ("ledger.entries.2.models", {"llm": "00"}),
        ("ledger.entries.3.verdict", "not_judged"),
        ("ledger.summary.evidence_coverage", 1),
        ("ledger.risk_flags", []),
        ("ledger.risk_flags.0.severity", "low"),
        ("ledger.citations", []),
    ],
)
def test_a_ledger_that_contradicts_itself_is_found_out(path: str, value: Any) -> None:
    """Give statements that are signed and recorded as they are, and are wrong in themselves."""
    proof = load("proofs/holds/ledger.json")
    statement = read_json(b64decode(proof["envelope"]["payload"]))
    check_ledger(proof, FILES)
    set_at(statement["predicate"], path, value)
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    with pytest.raises(RefusedError):
        check_ledger(proof, FILES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", None),
        ("judging.votes.0.claim_id", "clm_0000000000000000"),
        ("judging.votes.0.judges", ["oracle"]),
        ("judging.votes.0.verdict", "contradicted"),
    ],
)
def test_a_ledger_with_votes_can_be_checked_by_hand(path: str, value: Any) -> None:
    data = (VECTORS / "proofs/holds/ledger-voted.json").read_bytes()
    assert verify(data, [key_file("keys/voted-log.pub")]) == ("holds", [])
    proof, _ = read_proof(data)
    payload = read_envelope(proof["envelope"]).payload
    assert payload == (VECTORS / "ledger/statement-voted.json").read_bytes()
    if not path:
        assert len(check_ledger(proof, FILES)["judging"]["votes"]) == 5
        return
    statement = read_json(payload)
    set_at(statement["predicate"], path, value)
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    with pytest.raises(RefusedError):
        check_ledger(proof, FILES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", None),
        ("judging", None),
        ("ledger.entries.0.support", "probable"),
        ("ledger.entries.1.support", "partial"),
        ("ledger.entries.2.support", None),
        ("ledger.entries.3.nearest", None),
        ("ledger.entries.3.nearest.start", 1),
        ("ledger.summary.by_support", {"probable": 2, "partial": 0}),
    ],
)
def test_why_claims_are_weak_can_be_checked_by_hand(path: str, value: Any) -> None:
    data = (VECTORS / "proofs/holds/ledger-second.json").read_bytes()
    assert verify(data, [key_file("keys/voted-log.pub")]) == ("holds", [])
    proof, _ = read_proof(data)
    payload = read_envelope(proof["envelope"]).payload
    assert payload == (VECTORS / "ledger/statement-second.json").read_bytes()
    if not path:
        assert check_ledger(proof, FILES)["ledger"]["entries"][0]["support"] == "partial"
        return
    statement = read_json(payload)
    set_at(statement["predicate"], path, value)
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    with pytest.raises(RefusedError):
        check_ledger(proof, FILES)


BUNDLES = load("bundles.json")


@tiers.one_test
@pytest.mark.parametrize("vector", BUNDLES["bundles"], ids=lambda vector: vector["file"])
def test_a_bundle_holds_or_fails_its_checks(vector: dict[str, Any]) -> None:
    assert verify_bundle((VECTORS / vector["file"]).read_bytes()) == vector["fails"], vector["why"]


def test_the_rules_of_bundles_give_what_the_tables_have() -> None:
    given = BUNDLES["ids"]["given"]
    assert evidence_ids(given) == [one["evidence_id"] for one in given]
    for one in BUNDLES["sampled_rows"]:
        assert sampled_rows(one["total"], one["limit"], one["strategy"]) == one["rows"]
    for one in BUNDLES["kept"]:
        limits = (one["max_items"], one["max_total_bytes"])
        assert kept(one["sizes"], one["priorities"], *limits) == one["kept"]
    for one in BUNDLES["cuts"]:
        assert one["text"].startswith(one["cut"])
        assert len(one["cut"].encode()) <= one["limit"]
    key = bytes.fromhex(BUNDLES["redactions"]["key"])
    for one in BUNDLES["redactions"]["values"]:
        assert redaction_digest(key, one["kind"], one["normalised"]) == one["digest"]
    for one in BUNDLES["nonces"]:
        nonce = fence_nonce(one["bundle_sha256"], one["texts"], bytes.fromhex(one["key"]))
        assert nonce == one["nonce"], one["why"]


def proved_bundle() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the proofs of the bundle and of the run, once they hold."""
    found = []
    for name in ("bundle", "run"):
        data = (VECTORS / f"proofs/holds/{name}.json").read_bytes()
        assert verify(data, [key_file("keys/bundle-log.pub")]) == ("holds", [])
        found.append(read_proof(data)[0])
    return found[0], found[1]


def test_a_bundle_can_be_checked_from_its_proof_to_its_artifacts(tmp_path: Path) -> None:
    proof, run = proved_bundle()
    bundle = check_bundle_proof(proof)
    assert canonical(bundle) == (VECTORS / "bundle/holds/every-type.json").read_bytes()
    assert check_run(run, bundle) == "answer/2026-01-05/7"
    assert render(bundle).encode() == (VECTORS / "bundle/rendered.txt").read_bytes()
    assert render(load("bundle/holds/empty.json")) == "There is no evidence.\n"
    lake = VECTORS / "bundle/lake"
    assert check_artifacts(bundle, lake, lake) == 4
    copytree(lake, tmp_path, dirs_exist_ok=True)
    file = tmp_path / bundle["items"][3]["full_ref"]["lake_uri"]
    file.write_bytes(file.read_bytes().replace(b"Monday", b"Friday"))
    with pytest.raises(RefusedError):
        check_artifacts(bundle, lake, tmp_path)


@tiers.one_test
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("entry.kind", "ledger"),
        ("entry.subject", "bundle/1"),
        ("body.predicate_type", "urn:evidentia:spec:v1:ledger"),
        ("body.bundle_sha256", "0" * 64),
        ("body.summary.total_bytes", 1),
        ("body.note", "x"),
        ("statement.predicateType", "urn:evidentia:spec:v1:ledger"),
        ("statement.subject.0.name", "bundle/1"),
        ("statement.subject.0.digest.sha256", "0" * 64),
        ("statement.predicate.created_utc", "2026-01-05T09:00:31.000000Z"),
        ("statement.predicate.items.0.content", "Something else."),
        ("statement.predicate.bundle_id", "734453a7-5052-53ff-b017-e1c19a7d7d20"),
    ],
)
def test_a_proof_about_another_bundle_is_found_out(path: str, value: Any) -> None:
    proof, _ = proved_bundle()
    statement = read_json(b64decode(proof["envelope"]["payload"]))
    set_at({**proof, "statement": statement}, path, value)
    proof["envelope"]["payload"] = b64encode(canonical(statement)).decode()
    with pytest.raises(RefusedError):
        check_bundle_proof(proof)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("entry.kind", "bundle"),
        ("entry.subject", "run/other"),
        ("body.run_id", " "),
        ("body.run_id", "r" * 201),
        ("body.bundle_id", "734453a7-5052-53ff-b017-e1c19a7d7d20"),
        ("body.bundle_sha256", "0" * 64),
        ("body.note", "x"),
    ],
)
def test_a_proof_of_another_run_is_found_out(path: str, value: Any) -> None:
    proof, run = proved_bundle()
    bundle = check_bundle_proof(proof)
    set_at(run, path, value)
    with pytest.raises(RefusedError):
        check_run(run, bundle)


PACKS = load("packs.json")
PACK_KEY = key_file("keys/pack-log.pub")


@tiers.one_test
@pytest.mark.parametrize("vector", PACKS, ids=lambda vector: f"{vector['file']}, {vector['key']}")
def test_an_exported_pack_gets_its_verdict(vector: dict[str, Any]) -> None:
    keys = [key_file(vector["key"])] if vector["key"] else []
    found = verify_pack((VECTORS / vector["file"]).read_bytes(), keys)
    assert found == (vector["verdict"], vector["fails"]), vector["why"]


def test_every_version_of_a_pack_and_its_entry_can_be_checked() -> None:
    packs = []
    for name in ("exported", "reviewed"):
        proof, _ = read_proof((VECTORS / f"pack/holds/{name}.json").read_bytes())
        packs.append(check_pack(proof))
        check_pack_body(proof["body"])
    check_versions(packs)
    for name in ("superseded", "approved-then-rejected"):
        proof, _ = read_proof((VECTORS / f"pack/holds/{name}.json").read_bytes())
        for one in (proof, *proof["later"]):
            check_pack_body(one["body"])
    for chain in (packs[::-1], [packs[0], {**packs[1], "decision_id": "dec_other"}]):
        with pytest.raises(RefusedError):
            check_versions(chain)
    decision = load("pack/decision.json")
    assert sha256(canonical(decision)).hexdigest() == packs[0]["decision"]["decision_sha256"]
    file = (VECTORS / "pack/inspection.txt").read_bytes()
    (attachment,) = packs[0]["attachments"]
    assert (sha256(file).hexdigest(), len(file)) == (attachment["sha256"], attachment["bytes"])


@tiers.one_test
@pytest.mark.parametrize(
    "name",
    [
        *("access-grant", "access-own", "access-revoke", "decision", "export", "export-approved"),
        *("hold", "pack-removed", "retention", "tool-call", "tool-call-failed", "tool-offered"),
        *("export-superseded", "export-own"),
    ],
)
def test_the_entries_around_a_pack_have_their_bodies(name: str) -> None:
    data = (VECTORS / f"proofs/holds/{name}.json").read_bytes()
    assert verify(data, [PACK_KEY, key_file("keys/later-log.pub")]) == ("holds", [])
    proof, _ = read_proof(data)
    check_body(proof)
    with pytest.raises(RefusedError):
        check_body({**proof, "body": {**proof["body"], "note_to_self": 1}})
    with pytest.raises(RefusedError):
        check_body({**proof, "entry": {**proof["entry"], "subject": "something"}})


def test_no_byte_of_an_exported_pack_can_be_changed_unseen() -> None:
    data = (VECTORS / "pack/holds/small.json").read_bytes()
    assert verify_pack(data, [PACK_KEY]) == ("holds", [])
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1
        assert verify_pack(bytes(changed), [PACK_KEY])[0] == "does not hold", place
    assert verify_pack(data + b"\n", [PACK_KEY])[1] == ["file"]


# What the program hands out


def test_a_pack_that_the_program_exports_holds_before_a_stranger(tmp_path: Path) -> None:
    decision = load("pack/decision.json") | {"tenant_id": "default"}
    (tmp_path / "decision.json").write_text(json.dumps(decision), encoding="utf-8")
    script = (
        "import json, sys, pathlib; import evidentia as e; out = pathlib.Path(sys.argv[1])\n"
        "given = json.loads((out / 'decision.json').read_text(encoding='utf-8'))\n"
        "decision = e.DecisionOutput.model_validate(given)\n"
        "with e.open(out / 'home') as w:\n"
        "    with e.deciding(decision.decision_id, w.tools):\n"
        "        with e.recorded_tool('erp', intended='block lot L-2617') as call:\n"
        "            call.caused('blocked lot L-2617')\n"
        "    pack = w.assemble(decision, attachments={'a.txt': b'a', 'b.bin': bytes(99)})\n"
        "    again = w.packs.review(pack.pack_id, 'approved', reviewer='layla')\n"
        "    for one, name in ((pack, 'first'), (again, 'again')):\n"
        "        w.packs.export(one.pack_id, out / name)\n"
        "    w.packs.export(again.pack_id, out / 'bare', attachments=False)\n"
        "    for logged in w.trail.entries():\n"
        "        proof = w.prove(logged.entry.seq).as_json()\n"
        "        (out / f'{logged.entry.seq}.proof').write_text(json.dumps(proof))\n"
        "    print(w.trail.public_key())\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    key = read_key(made.stdout)
    packs = []
    for name in ("first", "again", "bare"):
        data = (tmp_path / name).read_bytes()
        assert verify_pack(data, [key]) == ("holds", [])
        assert verify_pack(data, []) == ("consistent, signer unknown", [])
        assert verify_pack(data, [PACK_KEY]) == ("does not hold", ["signature", "statement"])
        proof, _ = read_proof(data)
        packs.append(check_pack(proof))
        check_pack_body(proof["body"])
    check_versions(packs[:2])
    assert packs[1] == packs[2]
    assert (packs[1]["reviewer_id"], packs[1]["review_outcome"]) == ("layla", "approved")
    assert [call["outcome"] for call in packs[0]["tool_calls"]] == ["succeeded"]
    kinds = []
    for file in sorted(tmp_path.glob("*.proof"), key=lambda path: int(path.stem)):
        proof, _ = read_proof(file.read_bytes())
        assert verify(file.read_bytes(), [key]) == ("holds", [])
        kinds.append(proof["entry"]["kind"])
        if kinds[-1] in ("decision", "tool_call", "export"):
            check_body(proof)
    assert kinds == [*("tool_call", "key", "decision", "pack", "review"), *["export"] * 3]


def test_a_bundle_that_the_program_makes_holds_before_a_stranger(tmp_path: Path) -> None:
    job = load("bundle/job.json")
    files = tmp_path / "files"
    copytree(VECTORS / "bundle/lake", files, ignore=lambda *_: {"sha256"})
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    script = (
        "import json, sys, pathlib; import evidentia as e; out, files = sys.argv[1:]\n"
        "from evidentia.bundles.policy import EvidencePolicy\n"
        "job = json.loads(pathlib.Path(out, 'job.json').read_text(encoding='utf-8'))\n"
        "with e.open(pathlib.Path(out, 'home')) as w:\n"
        "    bundle = w.bundle(job['job_input'], job['evidence_refs'],\n"
        "        EvidencePolicy(**job['policy']), lake_root=files, on_error='record')\n"
        "    print(json.dumps(str(w.bundles.render(bundle.bundle_id))))\n"
        "    run = w.prove(w.bundles.record_run('run 1', bundle.bundle_id).seq)\n"
        "    for name, proof in (('bundle', w.bundles.prove(bundle.bundle_id)), ('run', run)):\n"
        "        text = json.dumps(proof.as_json())\n"
        "        pathlib.Path(out, name).write_text(text, encoding='utf-8')\n"
        "    print(w.opened.home.lake)\n"
        "    print(w.trail.public_key())\n"
        "    print(w.opened.keys.secret(w.tenant).hex())\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(files)],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    rendered, lake, key, secret = made.stdout.split("\n")[:4]
    proofs = []
    for name in ("bundle", "run"):
        data = (tmp_path / name).read_bytes()
        assert verify(data, [read_key(key)]) == ("holds", [])
        proofs.append(read_proof(data)[0])
    bundle = check_bundle_proof(proofs[0])
    assert check_run(proofs[1], bundle) == "run 1"
    assert check_artifacts(bundle, Path(lake), files) == 4
    assert render(bundle, bytes.fromhex(secret)) == json.loads(rendered)
    vector = load("bundle/holds/every-type.json")
    assert [item["content"] for item in bundle["items"]] == [
        item["content"] for item in vector["items"]
    ]


def test_a_ledger_that_the_program_makes_holds_before_a_stranger(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    answer = VECTORS / "ledger/answer.md"
    script = (
        "import json, sys, pathlib; import evidentia as e; home, docs, answer, out = sys.argv[1:]\n"
        "with e.open(home) as w:\n"
        "    text = pathlib.Path(answer).read_text(encoding='utf-8')\n"
        "    ledger = w.check(text, against=docs, answer_name='answer.md')\n"
        "    again = w.check(text, against=docs, answer_name='answer.md')\n"
        "    for name, made in (('first', ledger), ('second', again)):\n"
        "        proof = json.dumps(w.ledgers.prove(made.id).as_json())\n"
        "        pathlib.Path(out, name).write_text(proof, encoding='utf-8')\n"
        "    print(w.trail.public_key())\n"
    )
    arguments = [str(tmp_path / "home"), str(folder), str(answer), str(tmp_path)]
    made = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    key = read_key(made.stdout)
    ledgers = []
    for name in ("first", "second"):
        data = (tmp_path / name).read_bytes()
        assert verify(data, [key]) == ("holds", [])
        assert verify(data, KEYS) == ("does not hold", ["signature", "statement"])
        proof, _ = read_proof(data)
        ledgers.append(check_ledger(proof, FILES)["ledger"])
    assert ledgers[1]["previous_ledger_id"] == ledgers[0]["id"]
    assert ledgers[0]["entries"]


def test_what_the_program_hands_out_holds_before_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "DATABASE_URL", "TENANT", "LOG_LEVEL", "LOG_FORMAT"):
        monkeypatch.delenv(f"EVIDENTIA_{name}", raising=False)

    def evidentia(*arguments: str) -> str:
        command = [str(Path(sys.executable).with_name("evidentia")), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
        ).stdout

    record = LOG["entries"][1]["body"]
    lines = [json.dumps({**record, "obligation_id": f"OBL-{number}"}) for number in range(300)]
    (tmp_path / "records.ndjson").write_text("\n".join(lines), encoding="utf-8")
    evidentia("trail", "append", "records.ndjson", "--tenant", "acme")
    evidentia("trail", "prove", "259", "-o", "proof.json", "--tenant", "acme")
    evidentia("trail", "publish", "published", "--tenant", "acme")
    listed = json.loads(evidentia("keys", "list", "--json", "--tenant", "acme"))
    key = read_key(listed["keys"][-1]["public_key"])

    data = (tmp_path / "proof.json").read_bytes()
    assert verify(data, [key]) == ("holds", [])
    assert verify(data, KEYS)[1] == ["signature"]
    assert verify(data.replace(b"72 hours", b"73 hours"), [key])[1] == ["content"]
    entries = audit(tmp_path / "published", [key])
    assert len(entries) >= 300
    assert canonical(read_proof(data)[0]["entry"]) == entries[259]
