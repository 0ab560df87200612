"""Exported access logs: every file of the published vectors gets its verdict, and its reasons."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidentia.proof.access_log import Line, Range, is_access_log, write_access_log
from evidentia.proof.keys import SigningKey
from evidentia.verifying import verify

VECTORS = Path(__file__).resolve().parents[2] / "spec/v1/vectors"
FILES: list[dict[str, Any]] = json.loads((VECTORS / "access-logs.json").read_bytes())


@pytest.mark.parametrize("vector", FILES, ids=lambda vector: vector["file"])
def test_an_exported_log_gets_its_verdict(vector: dict[str, Any]) -> None:
    key = vector["key"]
    data = (VECTORS / vector["file"]).read_bytes()
    report = verify(data, key=VECTORS / key if key else None)
    assert report.verdict == vector["verdict"], report.checks
    assert [check.name for check in report.checks if check.holds is False] == vector["fails"]


def test_other_files_are_no_access_logs() -> None:
    assert not is_access_log(b"")
    assert not is_access_log(b'{"entry": 1}\n')


def test_entries_are_written_as_one_file_signed_by_a_key() -> None:
    head, *lines = (VECTORS / "access-logs/holds/whole.ndjson").read_bytes().splitlines()
    entries = [Line.parse(line, number) for number, line in enumerate(lines, 2)]
    asked = Range(entries[0].entry.seq, entries[-1].entry.seq)
    key = SigningKey.from_seed("evidentia/ffff/acme", bytes([7]) * 32)
    data = write_access_log(entries, asked, json.loads(head)["checkpoint"], key)
    assert data.splitlines()[1:] == lines
    assert is_access_log(data)
    statement = verify(data).statement
    assert statement is not None
    assert statement.predicate["range"] == asked.as_json()
    assert statement.predicate["count"] == len(lines)
