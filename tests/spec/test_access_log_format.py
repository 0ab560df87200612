"""The exported access log as its page and its schema describe it."""

import json
from base64 import b64decode
from typing import Any

import pytest

import tiers
from evidentia.proof.access_log import ACCESS_KINDS, is_access_log
from evidentia.verifying import verify
from spec.test_spec import SPEC, VECTORS, load, schema, valid

FILES: list[dict[str, Any]] = load("access-logs.json")


@tiers.one_test
@pytest.mark.parametrize("vector", FILES, ids=lambda vector: vector["file"])
def test_the_schema_takes_every_line_of_what_is_well_formed(vector: dict[str, Any]) -> None:
    if vector["fails"] == ["format"]:
        return
    for line in (VECTORS / vector["file"]).read_bytes().splitlines():
        assert valid("access-log", json.loads(line)), line


def test_the_page_and_the_schema_have_the_kinds_of_the_code() -> None:
    found = schema("access-log")["$defs"]["predicate"]["properties"]["kinds"]["const"]
    assert found == list(ACCESS_KINDS)
    page = (SPEC / "access-log.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in page for kind in ACCESS_KINDS)


def test_a_verifier_says_what_the_statement_is_about() -> None:
    data = (VECTORS / "access-logs/holds/whole.ndjson").read_bytes()
    assert is_access_log(data)
    payload = json.loads(data.partition(b"\n")[0])["envelope"]["payload"]
    statement = json.loads(b64decode(payload))
    report = verify(data, key=VECTORS / "keys/access-log.pub")
    assert report.statement is not None
    assert report.statement.as_json() == statement
    assert "whether entries of the range were left out" in report.cannot_know[0]
