"""Signatures of entries that permit or forbid: vectors, schemas, code and stranger agree."""

import copy
from pathlib import Path
from typing import Any

import pytest

import evidentia
import tiers
from evidentia.canonical import canonical_json
from evidentia.proof.authority import PAYLOAD_TYPE, Authority, Place, is_the_logs
from evidentia.proof.envelope import signed_bytes
from evidentia.trail.entry import Entry, body_commitment
from evidentia.workspace.requests import AskedRequest, record_request
from spec.stranger import SignedLog, authority_bytes, commitment
from spec.test_spec import load, schema, valid

VECTORS = load("authority.json")
ENTRIES: list[dict[str, Any]] = VECTORS["entries"]
ORIGIN: str = VECTORS["origin"]
SIGNED_FORM = {
    "access-body.v3": ("access-body", "access-body.v2"),
    "retention-body.v2": ("retention-body",),
    "erasure.v3": ("erasure.v2",),
    "key-announcement.v4": ("key-announcement.v2", "key-announcement.v3"),
    "key-adoption.v2": ("key-adoption",),
}
"""The signed form of bodies, and the forms that it has a signature beside."""


def said() -> list[tuple[Entry, Any]]:
    return [(Entry.from_json(one["entry"]), one["body"]) for one in ENTRIES]


def test_the_code_counts_what_the_vectors_say() -> None:
    authority = Authority.read(ORIGIN, [one for one in said() if one[0].kind == "key"])
    assert authority.since == VECTORS["since"]
    for vector, (entry, body) in zip(ENTRIES, said(), strict=True):
        revoked = None if is_the_logs(body) else authority.distrusted(entry, body)
        counts = authority.problem(entry, body) is None and revoked is None
        assert counts is vector["counts"], vector["why"]
        salt = bytes.fromhex(vector["salt"])
        assert body_commitment(salt, canonical_json(body)) == entry.body


def test_so_does_the_stranger() -> None:
    log = SignedLog(ORIGIN)
    for vector in ENTRIES:
        assert commitment(vector["salt"], vector["body"]) == vector["entry"]["body"]
        if vector["entry"]["kind"] == "key":
            log.see(vector["entry"], vector["body"])
    assert log.since == VECTORS["since"]
    for vector in ENTRIES:
        assert log.counts(vector["entry"], vector["body"]) is vector["counts"], vector["why"]


def test_both_sign_the_same_bytes() -> None:
    vector = ENTRIES[3]
    entry, body = said()[3]
    payload = VECTORS["payload"].encode()
    assert authority_bytes(ORIGIN, vector["entry"], body) == VECTORS["signed"].encode()
    assert signed_bytes(payload, PAYLOAD_TYPE) == VECTORS["signed"].encode()
    plain = {name: value for name, value in body.items() if name != "signature"}
    whole = {**Place.of(ORIGIN, entry)._asdict(), "body": plain}
    assert canonical_json(whole) == payload
    assert valid("authority", whole)
    assert not valid("authority", whole | {"body": body})
    assert not valid("authority", whole | {"more": 1})


def schema_of(entry: dict[str, Any]) -> str:
    subject = entry["subject"]
    if entry["kind"] != "key":
        return {"access": "access-body.v4", "retention": "retention-body.v2"}[entry["kind"]]
    if subject == "authority":
        return "key-authority"
    for begins, name in (("user/", "key-user"), ("revoked/", "key-revocation")):
        if subject.startswith(begins):
            return name
    return "key-announcement.v4"


@tiers.one_test
@pytest.mark.parametrize("number", range(len(ENTRIES)))
def test_the_schemas_fit_the_vectors(number: int) -> None:
    vector = ENTRIES[number]
    name, body = schema_of(vector["entry"]), vector["body"]
    assert valid(name, body) is ("signature" in body)
    if "signature" not in body:
        return
    for change in ({"more": 1}, {"signature": None}, {"signature": {"keyid": "x", "sig": ""}}):
        assert not valid(name, body | change)
    short = copy.deepcopy(body)
    short["signature"]["sig"] = short["signature"]["sig"][4:]
    assert not valid(name, short)


@pytest.mark.parametrize("name", SIGNED_FORM)
def test_the_signed_form_is_the_form_before_and_a_signature(name: str) -> None:
    def parts(of: str) -> list[dict[str, Any]]:
        whole = schema(of)
        return [part for part in whole.get("oneOf", [whole]) if "properties" in part]

    before = [part for form in SIGNED_FORM[name] for part in parts(form)]
    for old, new in zip(before, parts(name), strict=True):
        assert set(new["properties"]) == {*old["properties"], "signature"}
        assert sorted(new["required"]) == sorted([*old["required"], "signature"])
        assert new["additionalProperties"] is False


def test_the_schemas_fit_what_the_code_makes(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        workspace.access.grant("noor", "viewer")
        workspace.access.own_agent("noor", "desk")
        made = workspace.access.new_token("noor", scopes=["list"])
        workspace.access.revoke_token(made.token.token_id)
        workspace.judges.allow("https://models.example/v1")
        workspace.packs.set_retention(evidentia.RetentionPolicy(years=10, basis="law"))
        old = workspace.trail.public_key().key_id
        workspace.trail.enroll("noor", workspace.trail.new_user_key())
        workspace.trail.withdraw("noor")
        workspace.trail.rotate_key()
        workspace.trail.revoke_key(old, from_size=8, reason="a copy was found")
        entries = workspace.trail.entries()
    for logged in entries:
        assert valid(schema_of(logged.entry.as_json()), logged.body), logged.body


def test_only_the_fourth_form_of_access_has_tokens(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        workspace.access.new_token("noor", name="report", expires_at="2099-01-01T00:00:00Z")
        body = workspace.trail.entry(0).body
    assert valid("access-body.v4", body)
    assert not valid("access-body.v3", body)
    wrong: list[dict[str, Any]] = [{"scopes": []}, {"scopes": ["fly"]}, {"token_id": "x"}]
    for change in (*wrong, {"secret_sha256": "x"}, {"more": 1}):
        assert not valid("access-body.v4", body | change)


def test_the_schema_of_a_request_fits_what_the_code_makes(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        asked = AskedRequest("packs.get", "done", "/api/v1/packs/x", "0" * 16, "1" * 32)
        record_request(workspace.opened, "default", "noor", asked, begins=True)
        logged = workspace.trail.entry(0)
        assert workspace.audit().holds
    assert (logged.entry.kind, logged.entry.subject) == ("request", "user/noor")
    assert valid("entry", logged.entry.as_json())
    assert valid("request-body", logged.body)
    for change in ({"outcome": "lost"}, {"did": "x y"}, {"trace_id": "x"}, {"by": ""}, {"more": 1}):
        assert not valid("request-body", logged.body | change)
