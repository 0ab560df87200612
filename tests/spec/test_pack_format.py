"""The format of packs: vectors, schemas and the page agree with each other and with the code."""

import copy
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import evidentia
import tiers
from evidentia.access.actions import Role
from evidentia.canonical import canonical_json, derived_id, parse_json, sha256_hex
from evidentia.errors import CanonicalError, EvidentiaError
from evidentia.packs import model
from evidentia.packs.actions import Basis
from evidentia.packs.decision import (
    ApprovalClass,
    DecisionOutput,
    Requirement,
    ReversibilityClass,
    SensitivityClass,
    Tier,
    pack_requirement,
)
from evidentia.packs.memo import MAX_BODY_WORDS, MAX_SUMMARY_WORDS, BilingualMemo
from evidentia.packs.model import EvidencePack, ReviewOutcome
from evidentia.packs.retention import DEFAULT_RETENTION, RetentionPolicy
from evidentia.packs.statement import PREDICATE_TYPES, from_statement, statement_bytes
from evidentia.packs.tools import (
    SECOND_FORM_STATUSES,
    ToolCallRecord,
    ToolOutcome,
    VerificationStatus,
)
from evidentia.packs.versions import check_chain
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import Statement
from evidentia.proof.verification import STATEMENT_DIGEST
from spec.stranger import RefusedError, check_pack, required
from spec.test_spec import (
    BODY_BEFORE,
    BODY_NOW,
    SPEC,
    VECTORS,
    load,
    mutations,
    schema,
    valid,
)

PACKS: list[dict[str, Any]] = load("packs.json")
PAGE = (SPEC / "pack.md").read_text(encoding="utf-8")
WHOLE = load("pack/statement.json")["predicate"]
SMALL_PROOF = load("pack/holds/small.json")
SMALL = json.loads(b64decode(SMALL_PROOF["envelope"]["payload"]))["predicate"]
ENTRIES = (
    *("access-grant", "access-own", "access-revoke", "decision", "export", "export-approved"),
    *("hold", "pack", "pack-removed", "retention", "tool-call", "tool-call-failed", "tool-offered"),
)
ENTRIES_NOW = (
    *("decision-by", "tool-call-by", "tool-offered-by", "export-own", "export-superseded"),
    *("later", "later-none", "later-one", "token", "token-revoked"),
)
"""The proofs of entries whose bodies pack.md describes, and those of later forms."""
KINDS = {"decision", "tool_call", "pack", "review", "export", "access", "retention"}


# The vectors, by the code


@tiers.one_test
@pytest.mark.parametrize("vector", PACKS, ids=lambda vector: f"{vector['file']}, {vector['key']}")
def test_an_exported_pack_gets_its_verdict(vector: dict[str, Any]) -> None:
    key = None
    if vector["key"]:
        key = TrustedKey.parse((VECTORS / vector["key"]).read_text(encoding="utf-8"))
    report = evidentia.verify((VECTORS / vector["file"]).read_bytes(), key=key)
    assert report.verdict == vector["verdict"], vector["why"]
    assert [check.name for check in report.checks if check.holds is False] == vector["fails"]


def test_the_vectors_fail_by_every_check_of_the_page() -> None:
    named = {name for vector in PACKS for name in vector["fails"]}
    assert named == {"format", "file", "pack", "plain", "later", "statement", "attachment"}
    assert all(f"`{name}`" in PAGE for name in named)


def test_the_statement_is_the_packs_and_the_decision_what_it_names() -> None:
    data = (VECTORS / "pack/statement.json").read_bytes()
    pack = from_statement(Statement.parse(data))
    assert statement_bytes(pack) == data
    assert load("proofs/holds/pack.json")["body"][STATEMENT_DIGEST] == sha256_hex(data)
    decision = DecisionOutput.model_validate(load("pack/decision.json"))
    assert decision.as_json() == load("pack/decision.json")
    assert pack.decision
    assert pack.decision.decision_sha256 == decision.sha256
    assert model.DecisionSummary.of(decision) == pack.decision
    body = load("proofs/holds/decision.json")["body"]
    assert body["decision_sha256"] == decision.sha256
    assert body["summary_sha256"] == sha256_hex(canonical_json(WHOLE["decision"]))
    assert body.items() >= pack_requirement(decision).model_dump(mode="json").items()


def test_the_review_is_a_newer_version_of_the_pack() -> None:
    payloads = [
        b64decode(load(f"pack/holds/{name}.json")["envelope"]["payload"])
        for name in ("exported", "reviewed")
    ]
    first, again = (from_statement(Statement.parse(payload)) for payload in payloads)
    check_chain([first, again])
    assert not first.is_resolved
    assert again.is_resolved
    assert first.contradictions
    assert first.stale_sources == [2]


def test_a_decision_asks_for_a_pack_as_the_page_says() -> None:
    given = load("pack/decision.json") | {"conflicted": False, "evidence": []}
    for approval in ApprovalClass:
        for reversibility in ReversibilityClass:
            for sensitivity in SensitivityClass:
                for confidence, stakes in ((0.69, True), (0.7, True), (0.69, False)):
                    decision = DecisionOutput.model_validate(
                        given
                        | {
                            "approval_class": approval.value,
                            "reversibility_class": reversibility.value,
                            "sensitivity_class": sensitivity.value,
                            "confidence": confidence,
                            "high_stakes": stakes,
                        }
                    )
                    found = pack_requirement(decision)
                    assert (found.requirement, found.tier) == required(decision.as_json())


# The schemas

MODELS: dict[str, type[BaseModel]] = {
    "": EvidencePack,
    "decision": model.DecisionSummary,
    "source": model.EvidenceSource,
    "toolCall": ToolCallRecord,
    "prompt": model.PromptRecord,
    "bundle": model.BundleReference,
    "ledger": model.LedgerReference,
    "attachment": model.Attachment,
    "memo": BilingualMemo,
}
"""What the parts of the pack's schema are called in the code."""


@pytest.mark.parametrize("name", MODELS)
def test_the_pack_schema_has_the_fields_of_the_code(name: str) -> None:
    whole = schema("pack")
    part = whole["$defs"][name] if name else whole
    assert list(part["properties"]) == list(MODELS[name].model_fields)
    assert part["required"] == list(part["properties"])
    assert part["additionalProperties"] is False


def test_the_schemas_have_the_values_of_the_code() -> None:
    whole = schema("pack")
    parts = whole["$defs"]
    call = parts["toolCall"]["properties"]
    for form, name in ((model.FIRST_FORM, ""), (model.SECOND_FORM, ".v2")):
        assert schema(f"pack{name}")["$id"] == PREDICATE_TYPES[form]
        assert schema(f"pack{name}")["properties"]["v"]["const"] == form
        told = schema(f"pack-body{name}")["properties"]["predicate_type"]["const"]
        assert told == PREDICATE_TYPES[form]
    assert parts["approvalClass"]["enum"] == list(ApprovalClass)
    assert parts["reversibilityClass"]["enum"] == list(ReversibilityClass)
    assert parts["sensitivityClass"]["enum"] == list(SensitivityClass)
    assert parts["requirement"]["enum"] == list(Requirement)
    assert call["outcome"]["enum"] == list(ToolOutcome)
    first = [one for one in VerificationStatus if one not in SECOND_FORM_STATUSES]
    assert call["verification_status"]["enum"] == first
    second = schema("pack.v2")["$defs"]["toolCall"]["properties"]
    assert second["verification_status"]["enum"] == list(VerificationStatus)
    assert call["contradiction_basis"]["enum"] == list(Basis)
    assert whole["properties"]["review_outcome"]["enum"] == [*ReviewOutcome, None]
    assert schema("decision-body")["properties"]["tier"]["enum"] == [*Tier, None]
    assert schema("access-body")["$defs"]["role"]["enum"] == list(Role)


def test_the_schemas_fit_the_vectors_that_hold() -> None:
    assert valid("pack", WHOLE)
    assert valid("pack", SMALL)
    for names, form in (
        (ENTRIES, BODY_BEFORE),
        (ENTRIES_NOW, BODY_NOW | {"review": "pack-body.v3"}),
    ):
        for name in names:
            proof = load(f"proofs/holds/{name}.json")
            assert valid(form[proof["entry"]["kind"]], proof["body"]), name
    assert valid("pack-body", load("pack/holds/reviewed.json")["body"])
    for name in ("superseded", "approved-then-rejected"):
        proof = load(f"pack/holds/{name}.json")
        assert valid("proof.v3", proof)
        assert not valid("proof.v2", proof)
        assert all(valid("pack-body.v3", one["body"]) for one in (proof, *proof["later"]))


def test_the_vectors_say_who_reviewed_what_they_made() -> None:
    key = (VECTORS / "keys/pack-log.pub").read_text(encoding="utf-8")
    for name, is_own in (("self-reviewed", True), ("modified", False)):
        data = (VECTORS / f"pack/holds/{name}.json").read_bytes()
        assert valid("pack-body.v4", load(f"pack/holds/{name}.json")["body"])
        assert not valid("pack-body.v3", load(f"pack/holds/{name}.json")["body"])
        report = evidentia.verify(data, key=key)
        (said,) = [one.says for one in report.checks if one.name == "pack"]
        assert ("a self-review" in said) == is_own


def test_the_vectors_say_what_superseded_a_pack() -> None:
    for name, versions in (("superseded", [2, 3]), ("approved-then-rejected", [3])):
        data = (VECTORS / f"pack/holds/{name}.json").read_bytes()
        key = (VECTORS / "keys/later-log.pub").read_text(encoding="utf-8")
        later = evidentia.verify(data, key=key).later
        assert [one.version for one in later] == versions
        assert later[-1].outcome == "rejected"


@tiers.one_test
@pytest.mark.parametrize(
    "name",
    [vector["file"] for vector in PACKS if "/refused/later-" in vector["file"]],
)
def test_the_schema_of_version_3_refuses_what_the_format_check_refuses(name: str) -> None:
    (vector,) = [one for one in PACKS if one["file"] == name]
    assert valid("proof.v3", load(name)) == (vector["fails"] == ["later"])


def test_the_second_form_is_the_first_with_the_statuses_that_it_lacks(tmp_path: Path) -> None:
    given = load("pack/decision.json") | {"tenant_id": "default", "conflicted": False}
    decision = DecisionOutput.model_validate(given)
    bodies = []
    with evidentia.open(tmp_path / "home") as workspace:
        for status in sorted(SECOND_FORM_STATUSES):
            made = WHOLE["tool_calls"][0] | {"verification_status": status}
            workspace.tools.record(decision.decision_id, ToolCallRecord.recorded(made))
        second = workspace.assemble(decision).as_json()
        bodies = [
            logged.body
            for kind in ("tool_call", "pack")
            for logged in workspace.trail.entries(kind=kind)
        ]
    assert valid("pack.v2", second)
    assert not valid("pack", second)
    assert not valid("pack", {**second, "v": 1})
    assert not valid("pack.v2", {**second, "tool_calls": []})
    assert not valid("pack.v2", WHOLE)
    *calls, recorded = bodies
    for body in calls:
        assert valid("tool-call-body.v3", body)
        assert not valid("tool-call-body.v2", body)
    assert valid("pack-body.v3", recorded)
    assert not valid("pack-body", recorded)
    old = copy.deepcopy(schema("pack.v2"))
    old["properties"]["tool_calls"].pop("contains")
    statuses = old["$defs"]["toolCall"]["properties"]["verification_status"]["enum"]
    for status in SECOND_FORM_STATUSES:
        statuses.remove(status)
    old["properties"]["v"]["const"] = 1
    old |= {name: schema("pack")[name] for name in ("$id", "title")}
    assert old == schema("pack")


def test_the_schemas_fit_what_the_code_makes(tmp_path: Path) -> None:
    given = load("pack/decision.json") | {"tenant_id": "default", "conflicted": False}
    decision = DecisionOutput.model_validate(given)
    with evidentia.open(tmp_path / "home") as workspace:
        workspace.access.grant("layla", "approver")
        workspace.access.grant("noor", "auditor", expires_at="2999-01-01T00:00:00Z")
        workspace.access.own_agent("omar", "quality_desk")
        tools = workspace.tools
        tools.offer(decision.decision_id, "mail")
        with evidentia.recorded_tool(
            "mail", intended="send", decision_id=decision.decision_id, tool_ledger=tools
        ) as call:
            call.caused("sent a message")
        pack = workspace.assemble(decision, attachments={"a.txt": b"a"})
        again = workspace.acting_as("layla").packs.review(pack.pack_id, "approved", note="Fine.")
        workspace.packs.hold(again.pack_id, reason="a claim")
        workspace.packs.release(again.pack_id, reason="settled")
        workspace.packs.set_retention(RetentionPolicy(years=10, basis="law"))
        approval = workspace.acting_as("layla").packs.approve_export(again.pack_id)
        for name, by in (("approved", approval), ("own", None)):
            file = tmp_path / f"{name}.json"
            workspace.packs.export(again.pack_id, file, approval=by)
            assert valid("proof.v2", json.loads(file.read_bytes()))
        workspace.access.revoke("layla", "approver")
        entries = workspace.trail.entries()
    assert valid("pack", again.as_json())
    for logged in entries:
        assert valid(BODY_NOW[logged.entry.kind], logged.body), logged.body
    assert {logged.entry.kind for logged in entries} == KINDS | {"key"}


# Code, schema and stranger


def stated(pack: dict[str, Any]) -> tuple[dict[str, Any], Statement] | None:
    """Return a proof of a pack whose id is right, and its statement; None if it has no bytes."""
    content = {name: pack[name] for name in pack if name != "pack_id"}
    try:
        whole = {"pack_id": derived_id("pack", content), **content}
        parse_json(data := canonical_json(whole))
    except CanonicalError:
        return None
    files = whole.get("attachments")
    subjects = [(f"pack/{whole['pack_id']}", sha256_hex(data))]
    if isinstance(files, list) and all(isinstance(file, dict) for file in files):
        subjects += [(f"attachment/{file.get('name')}", str(file.get("sha256"))) for file in files]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects],
        "predicateType": PREDICATE_TYPES[2 if whole.get("v") == 2 else 1],
        "predicate": whole,
    }
    try:
        parsed = Statement.parse(canonical_json(statement))
    except EvidentiaError:
        return None
    return statement, parsed


def code_reads(statement: Statement) -> bool:
    try:
        return from_statement(statement).tenant_id == "acme"
    except EvidentiaError:
        return False


def stranger_reads(statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> bool:
    pack = statement["predicate"]
    kind = "pack" if pack.get("reviewer_id") is None else "review"
    entry = {"subject": pack["pack_id"], "tenant": "acme", "kind": kind}
    monkeypatch.setattr("spec.stranger.read_envelope", lambda _: SimplePayload(statement))
    try:
        check_pack({"envelope": None, "entry": entry, "body": pack})
    except RefusedError:
        return False
    return True


class SimplePayload:
    """Stands for an envelope that was looked at already."""

    def __init__(self, statement: dict[str, Any]) -> None:
        self.payload = canonical_json(statement)


CALL = WHOLE["tool_calls"][0]
FILE = WHOLE["attachments"][0]
RICH = {
    **SMALL,
    "decision": WHOLE["decision"],
    "tool_calls": [CALL],
    "tools_offered": ["mail"],
    "prompts": WHOLE["prompts"],
    "bundles": WHOLE["bundles"],
    "ledger": WHOLE["ledger"],
    "attachments": [FILE],
    "data_freshness_window_hours": 24,
    "reviewer_id": "layla",
    "reviewed_at": SMALL["created_at"],
    "review_outcome": "approved",
    "version": 2,
    "replaces": WHOLE["pack_id"],
}
PATHS: dict[str, tuple[Any, ...]] = {
    "pack": (),
    "decision": ("decision",),
    "source": ("sources", 0),
    "call": ("tool_calls", 0),
    "prompt": ("prompts", 0),
    "bundle": ("bundles", 0),
    "ledger": ("ledger",),
    "attachment": ("attachments", 0),
    "memo": ("memo",),
}


def packs_with(path: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Give the pack with the object at a path changed."""
    place: Any = RICH
    for step in path:
        place = place[step]
    for changed in mutations(place):
        document = copy.deepcopy(RICH)
        outer: Any = document
        for step in path[:-1]:
            outer = outer[step]
        if path:
            outer[path[-1]] = changed
        else:
            document = changed
        yield document


@pytest.mark.parametrize("name", PATHS)
def test_code_schema_and_stranger_agree_on_every_change(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0
    for document in tiers.sample([*packs_with(PATHS[name])], 25):
        if name == "ledger" and document["ledger"].get("summary") != WHOLE["ledger"]["summary"]:
            continue  # ledger.md describes it
        if not (made := stated(document)):
            continue
        seen += 1
        statement, parsed = made
        read, holds = code_reads(parsed), stranger_reads(statement, monkeypatch)
        assert read == holds, document
        assert not read or valid("pack", statement["predicate"]), document
    assert seen > tiers.count(60, short=5)


# The page


def test_the_page_names_every_field_and_value() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"\w+", row)}
    assert named >= {field for part in MODELS.values() for field in part.model_fields}
    for kind in KINDS:
        whole = schema(BODY_NOW[kind])
        for part in whole.get("oneOf", [whole]):
            assert named | {"call", "offered"} >= set(part["properties"])
    for value in (
        *(*ApprovalClass, *ReversibilityClass, *SensitivityClass, *Requirement, *Basis),
        *(*Role, *ToolOutcome, *VerificationStatus, *ReviewOutcome),
    ):
        assert f"`{value}`" in PAGE


def test_the_page_has_the_limits_of_the_code() -> None:
    assert f"| {MAX_SUMMARY_WORDS} words |" in PAGE
    assert f"| {MAX_BODY_WORDS} words |" in PAGE
    assert f"packs are kept for {DEFAULT_RETENTION.years} years" in PAGE
