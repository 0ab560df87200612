"""The two forms of bodies: the second says who acted, and the first is read for good."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import evidentia
import tiers
from evidentia.packs.decision import DecisionOutput
from evidentia.trail.record import EvidenceRecord
from evidentia.trail.waiting import recorded
from evidentia.workspace import Workspace
from evidentia.workspace.acting import OWNER
from spec import stranger
from spec.stranger import (
    RefusedError,
    announced_keys,
    check_body,
    check_bundle_proof,
    check_erasure,
    check_ledger,
    check_record,
    check_run,
    is_name,
    keys_for,
    read_key,
    verify,
)
from spec.test_spec import (
    BODY_BEFORE,
    BODY_NOW,
    FIRST_FORM,
    SECOND_FORM,
    SPEC,
    VECTORS,
    load,
    mutations,
    schema,
    valid,
)
from unpacking import unpack

PROOFS = {
    "record": ("evidence_record", "record-by"),
    "record-before-by": ("evidence_record", "record-by"),
    "status-change": ("status_change", "status-change-by"),
    "key-before-by": ("key", "rotation-by"),
    "rotation": ("key", "rotation-by"),
    "ledger": ("ledger", "ledger-by"),
    "ledger-not-judged": ("ledger", "ledger-by"),
    "bundle": ("bundle", "bundle-by"),
    "run": ("run", "run-by"),
    "decision": ("decision", "decision-by"),
    "tool-call": ("tool_call", "tool-call-by"),
    "tool-call-failed": ("tool_call", "tool-call-by"),
    "tool-offered": ("tool_call", "tool-offered-by"),
}
"""The vectors of the first form, each with its kind and the vector of the second form beside it."""
STATUS_CHANGE = 4
"""The number of the status change in `log.json`, which has no proof file of its own."""
LEDGER_FILES = {path.name: path.read_bytes() for path in (VECTORS / "ledger/documents").iterdir()}
POLICIES = Path(__file__).parents[2] / "examples" / "policies"
OLD_WORKSPACE = Path(__file__).parents[1] / "old" / "v0.1.0" / "workspace.tar.gz"


def proof_of(name: str) -> dict[str, Any]:
    """Return a proof file; for the first form of a status change, what a proof file would have."""
    if name == "status-change":
        entry: dict[str, Any] = load("log.json")["entries"][STATUS_CHANGE]
        return entry
    proof: dict[str, Any] = load(f"proofs/holds/{name}.json")
    return proof


def without_by(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "by"}


def check(proof: dict[str, Any]) -> None:
    """Check an entry and its body as its page says, by the stranger's verifier."""
    kind, body = proof["entry"]["kind"], proof["body"]
    if kind in {"evidence_record", "status_change"}:
        check_record(proof)
    elif kind == "key":
        firsts = (proof_of(name) for name in ("first", "key-before-by"))
        chain = [one for one in firsts if one["entry"]["subject"] == body["replaces"]] + [proof]
        announced_keys(read_key(body["key"]).name, [(one["entry"], one["body"]) for one in chain])
    elif kind == "ledger":
        check_ledger(proof, LEDGER_FILES)
    elif kind == "bundle":
        check_bundle_proof(proof)
    elif kind == "run":
        check_run(proof, load("bundle/holds/every-type.json"))
    else:
        check_body(proof)


def stranger_reads(proof: dict[str, Any]) -> bool:
    try:
        check(proof)
    except RefusedError:
        return False
    return True


# The schemas


FORMS = sorted({(first, SECOND_FORM[kind]) for kind, first in FIRST_FORM.items()})


@pytest.mark.parametrize(("first", "second"), FORMS)
def test_the_second_form_is_the_first_and_who_acted(first: str, second: str) -> None:
    old, new = schema(first), copy.deepcopy(schema(second))
    parts = [new["$defs"]["record"]] if first == "record" else new.get("oneOf", [new])
    for part in parts:
        assert part["properties"].pop("by")["$ref"] == "urn:evidentia:spec:v1:pack#/$defs/name"
        part["required"].remove("by")
    named = ("$id", "title", "description")
    assert {key: value for key, value in new.items() if key not in named} == {
        key: value for key, value in old.items() if key not in named
    }


@tiers.one_test
@pytest.mark.parametrize("name", PROOFS)
def test_a_body_fits_the_schema_of_its_form_and_no_other(name: str) -> None:
    kind, beside = PROOFS[name]
    first, second = proof_of(name), proof_of(beside)
    assert first["entry"]["kind"] == second["entry"]["kind"] == kind
    assert valid(BODY_BEFORE[kind], first["body"])
    assert not valid(SECOND_FORM[kind], first["body"])
    assert valid(SECOND_FORM[kind], second["body"])
    assert not valid(BODY_BEFORE[kind], second["body"])
    assert set(second["body"]) == {*first["body"], "by"}


def test_there_is_a_vector_of_both_forms_of_every_kind_that_has_two() -> None:
    assert {kind for kind, _ in PROOFS.values()} == set(FIRST_FORM) == set(SECOND_FORM)


NAMES: list[Any] = ["owner", "ليلى", "n" * 1000, "n" * 1001, "", " ", "\n", None, 1, True, [], {}]


@pytest.mark.parametrize("name", sorted({beside for _, beside in PROOFS.values()}))
def test_schema_and_stranger_agree_on_every_change_of_a_body(name: str) -> None:
    proof = proof_of(name)
    kind = proof["entry"]["kind"]
    whole = kind in {"decision", "tool_call"}
    for by in NAMES:
        changed = {**proof, "body": {**proof["body"], "by": by}}
        assert valid(SECOND_FORM[kind], changed["body"]) == stranger_reads(changed) == is_name(by)
    for body in mutations(proof["body"]):
        rest = without_by(body)
        fits = "by" in body and is_name(body["by"]) and valid(BODY_BEFORE[kind], rest)
        assert valid(SECOND_FORM[kind], body) == fits, body
        if whole:
            either = valid(SECOND_FORM[kind], body) or valid(BODY_BEFORE[kind], body)
            assert stranger_reads({**proof, "body": body}) == either, body


# Both forms, by the stranger and by the program


@tiers.one_test
@pytest.mark.parametrize("name", PROOFS)
def test_a_stranger_reads_both_forms(name: str) -> None:
    for proof in (proof_of(name), proof_of(PROOFS[name][1])):
        check(proof)
        assert not stranger_reads({**proof, "body": {**proof["body"], "by": ""}})
        assert not stranger_reads({**proof, "body": {**proof["body"], "note_to_self": 1}})


def test_a_log_goes_on_in_the_second_form() -> None:
    first, second = (proof_of(name) for name in ("key-before-by", "rotation-by"))
    origin = read_key(first["body"]["key"]).name
    announced = announced_keys(origin, [(one["entry"], one["body"]) for one in (first, second)])
    old, new = (
        read_key((VECTORS / f"keys/second-form-{number}.pub").read_text(encoding="utf-8"))
        for number in (1, 2)
    )
    seq = second["entry"]["seq"]
    assert keys_for(seq, announced) == [old]
    assert keys_for(seq + 1, announced) == [old, new]
    assert keys_for(seq + 2, announced) == [new]


def test_the_record_is_the_same_in_both_forms() -> None:
    for before, now in (("record-before-by", "record-by"), ("status-change", "status-change-by")):
        first, second = proof_of(before), proof_of(now)
        assert check_record(first) == check_record(second) == first["body"]
        assert recorded(first["body"]) == recorded(second["body"])
        assert recorded(second["body"]) == EvidenceRecord.model_validate(first["body"])


# What the program writes


def everything(workspace: Workspace, folder: Path, decision_id: str) -> None:
    """Have a workspace record an entry of each kind that has two forms."""
    record = EvidenceRecord.model_validate(proof_of("record")["body"])
    workspace.append(record)
    workspace.append(evidentia.create_status_change_record("OBL-001", "current", "gone", "new"))
    answer = (VECTORS / "ledger/answer.md").read_text(encoding="utf-8")
    workspace.check(answer, against=folder)
    texts = [{"title": "Leave", "text": f"There are 15 days, says {decision_id}."}]
    bundle = workspace.bundle({"extra_params": {"evidence": texts}})
    workspace.bundles.record_run(f"run of {decision_id}", bundle.bundle_id)
    workspace.tools.offer(decision_id, "mail")
    with evidentia.recorded_tool(
        "mail", intended="send", decision_id=decision_id, tool_ledger=workspace.tools
    ) as call:
        call.caused("sent a message")
    given = load("pack/decision.json") | {"tenant_id": "default", "decision_id": decision_id}
    workspace.packs.record_decision(DecisionOutput.model_validate(given))
    workspace.trail.public_key()
    workspace.trail.rotate_key()


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, data in LEDGER_FILES.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("user", [None, "ليلى"])
def test_the_program_says_of_every_entry_who_acted(
    tmp_path: Path, documents: Path, user: str | None
) -> None:
    with evidentia.open(tmp_path / "home") as workspace:
        if user:
            workspace.access.grant(user, "admin")
        begun = workspace.trail.size
        everything(workspace.acting_as(user) if user else workspace, documents, "dec_1")
        entries = workspace.trail.entries()[begun:]
    assert {logged.entry.kind for logged in entries} == {*SECOND_FORM, "document"}
    for logged in entries:
        assert logged.body["by"] == (user or OWNER), logged.entry.kind
        assert valid(BODY_NOW[logged.entry.kind], logged.body), logged.body


@contextmanager
def opened_old_workspace(folder: Path) -> Iterator[Workspace]:
    """Open a workspace that the program wrote when bodies had one form."""
    unpack(OLD_WORKSPACE, folder)
    with evidentia.open(folder / ".evidentia") as workspace:
        yield workspace


def test_the_program_reads_a_log_of_the_first_form_and_goes_on_in_the_second(
    tmp_path: Path, documents: Path
) -> None:
    with opened_old_workspace(tmp_path / "old") as workspace:
        begun = workspace.trail.size
        before = workspace.trail.entries()
        everything(workspace, documents, "dec_new")
        entries = workspace.trail.entries()
        assert entries[:begun] == before
        assert workspace.trail.audit().holds
        assert not workspace.ledgers.audit()
        assert not workspace.bundles.audit(lake_root=POLICIES)  # which lay elsewhere then
        assert not workspace.packs.audit().problems
        assert {record.obligation_id for record in workspace.trail.records()} >= {
            "ob-001",
            "OBL-001",
        }
        assert workspace.tools.calls("dec_leave_answer")
        proofs = [workspace.prove(logged.entry.seq) for logged in entries]
        key = workspace.trail.public_key()
    assert {logged.entry.kind for logged in before} >= set(FIRST_FORM)
    for logged in before:
        assert logged.erased or valid(BODY_BEFORE[logged.entry.kind], logged.body), logged.body
    begins = next(one for one in entries if one.entry.subject == "authority")
    assert valid("key-authority", begins.body)
    for logged in entries[begun:]:
        assert logged == begins or valid(BODY_NOW[logged.entry.kind], logged.body), logged.body
    for logged, proof in zip(entries, proofs, strict=True):
        data = json.dumps(proof.as_json()).encode()
        is_pack = logged.entry.kind in {"pack", "review"} and not logged.erased
        verdict = "consistent, the pack is not here" if is_pack else "holds"
        assert evidentia.verify(data, key=key).verdict.value == verdict
        assert verify(data, [read_key(str(key))]) == ("holds", [])
    announced = [
        (logged.entry.as_json(), logged.body) for logged in entries if logged.entry.kind == "key"
    ]
    found = announced_keys(key.name, announced)
    assert found[-1].key == read_key(str(key))
    for logged in entries:
        shown = {"entry": logged.entry.as_json(), "body": logged.body}
        if logged.entry.kind in {"evidence_record", "status_change"} and not logged.erased:
            check_record(shown)
        elif logged.entry.kind in stranger.BODIES:
            check_body(shown)


# Erasures, whose `by` is who asked


def test_the_second_form_of_an_erasure_is_the_first_and_who_carried_it_out() -> None:
    old, new = schema("erasure"), copy.deepcopy(schema("erasure.v2"))
    name = new["properties"].pop("carried_out_by")
    assert name["$ref"] == "urn:evidentia:spec:v1:pack#/$defs/name"
    new["required"].remove("carried_out_by")
    for part in ("type", "required", "additionalProperties"):
        assert new[part] == old[part]
    assert set(new["properties"]) == set(old["properties"])


def test_the_vectors_of_erasures_fit_their_forms_and_no_other() -> None:
    first, second = proof_of("erasure")["body"], proof_of("erasure-carried-out")["body"]
    assert set(second) == {*first, "carried_out_by"}
    assert valid("erasure", first)
    assert valid("erasure.v2", second)
    assert not valid("erasure", second)
    assert not valid("erasure.v2", first)
    for name in NAMES:
        assert valid("erasure.v2", {**second, "carried_out_by": name}) == is_name(name)
    for body in mutations(second):
        rest = {key: value for key, value in body.items() if key != "carried_out_by"}
        fits = is_name(body.get("carried_out_by")) and valid("erasure", rest)
        assert valid("erasure.v2", body) == fits, body


def test_a_stranger_reads_both_forms_of_an_erasure() -> None:
    for name, erased in (("erasure", "erased"), ("erasure-carried-out", "record-by")):
        proof = proof_of(name)
        check_erasure(proof, proof_of(erased)["entry"])
        for field, value in (("carried_out_by", ""), ("by", " "), ("entry", 3), ("more", 1)):
            with pytest.raises(RefusedError):
                check_erasure({**proof, "body": {**proof["body"], field: value}})
        with pytest.raises(RefusedError):
            check_erasure(proof, proof_of("rotation-by")["entry"])


@pytest.mark.parametrize("user", [None, "ليلى"])
def test_an_erasure_says_who_asked_and_who_carried_it_out(tmp_path: Path, user: str | None) -> None:
    record = EvidenceRecord.model_validate(proof_of("record")["body"])
    with evidentia.open(tmp_path) as workspace:
        if user:
            workspace.access.grant(user, "admin")
        erased = workspace.append(record).seq
        acting = workspace.acting_as(user) if user else workspace
        receipt = acting.trail.erase(erased, reason="asked for", by="the person")
        logged, gone = (workspace.trail.entry(seq) for seq in (receipt.seq, erased))
        assert workspace.trail.audit().holds
    assert {name: value for name, value in logged.body.items() if name != "signature"} == {
        "entry": erased,
        "leaf": gone.leaf,
        "reason": "asked for",
        "by": "the person",
        "carried_out_by": user or OWNER,
    }
    assert valid(BODY_NOW["erasure"], logged.body)
    check_erasure({"entry": logged.entry.as_json(), "body": logged.body}, gone.entry.as_json())


# The pages


def test_the_pages_say_that_a_reader_takes_both_forms() -> None:
    for name in ("entry", "record", "checkpoint", "ledger", "bundle", "pack", "erasure"):
        text = (SPEC / f"{name}.md").read_text(encoding="utf-8")
        assert "a reader takes both" in text.lower()
        assert "`by`" in text
    text = (SPEC / "entry.md").read_text(encoding="utf-8")
    section = text.partition("### Who acted")[2].partition("\n## ")[0]
    assert all(f"`{kind}`" in section for kind in FIRST_FORM)
    assert f"`{OWNER}`" in section
