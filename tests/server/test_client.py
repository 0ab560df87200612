"""A client that was made of the API's description by a program of others, and a started server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from server.house import House, listening

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".venv" / "client" / "bin"

pytestmark = pytest.mark.skipif(
    not (PROGRAMS.parent / "installed").exists(),
    reason="NO GENERATED CLIENT IS TESTED: ./test installs what makes one into .venv/client",
)

SETTINGS = """
post_hooks: []
content_type_overrides:
  application/x-ndjson: application/octet-stream
  application/x-protobuf: application/octet-stream
  application/pdf: application/octet-stream
  image/png: application/octet-stream
  text/markdown: text/plain
"""
DRIVER = """
import io, pkgutil, importlib, sys
import evidence_client
for one in pkgutil.walk_packages(evidence_client.__path__, "evidence_client."):
    importlib.import_module(one.name)
from evidence_client import AuthenticatedClient
from evidence_client.api.documents import upload_documents
from evidence_client.api.ledgers import list_ledgers, read_ledger
from evidence_client.api.sessions import submit_answer
from evidence_client.api.trail import append_records, list_entries, prove_trail_entry
from evidence_client.models import (
    AppendedAnswer, BodyUploadDocuments, EvidenceRecord, LedgerAnswer, Problem, SubmittedAnswer,
    TrailPage, UploadAnswer,
)
from evidence_client.types import File

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
text = b"# Travel\\n\\nTravel by train is paid in second class.\\n"
document = File(io.BytesIO(text), "travel.md")
uploaded = upload_documents.sync(
    client=client, body=BodyUploadDocuments(files=[document], collection="rules"),
    idempotency_key="upload-1",
)
assert isinstance(uploaded, UploadAnswer), uploaded
assert [one.filename for one in uploaded.documents] == ["travel.md"]

checked = submit_answer.sync(client=client, body=SubmittedAnswer(
    answer="Travel by train is paid in second class.", query="How?", collections=["rules"],
))
assert isinstance(checked, LedgerAnswer), checked
assert [one.verdict.value for one in checked.ledger.entries] == ["supported"]
read = read_ledger.sync(client=client, session_id=checked.session.id)
assert isinstance(read, LedgerAnswer), read
assert read.to_dict() == checked.to_dict()

record = EvidenceRecord(
    obligation_id="obl-1", doc_id="doc_1", doc_filename="loan.pdf", source_clause="Report.",
    extraction_model="a", verification_model="b", verification_result="CONFIRMED", confidence=0.9,
)
first = append_records.sync(client=client, body=record, idempotency_key="record-1")
again = append_records.sync_detailed(client=client, body=record, idempotency_key="record-1")
assert isinstance(first, AppendedAnswer), first
assert again.parsed == first and again.headers["idempotency-replayed"] == "true"
proof = prove_trail_entry.sync_detailed(client=client, seq=first.entries[0].seq)
assert (proof.status_code, proof.headers["content-type"]) == (200, "application/json")

page = list_entries.sync_detailed(client=client, limit=2)
assert isinstance(page.parsed, TrailPage), page
following = page.headers["link"].partition("cursor=")[2].partition(">")[0]
after = list_entries.sync(client=client, limit=2, cursor=following)
assert isinstance(after, TrailPage), after
seqs = [one.entry["seq"] for one in page.parsed.entries + after.entries]
assert seqs == list(range(seqs[0], seqs[0] - 4, -1)), seqs

missing = read_ledger.sync(client=client, session_id="ses_0000000000000000")
assert isinstance(missing, Problem) and missing.type_ == "/problems/not-found", missing
wrong = AuthenticatedClient(base_url=sys.argv[1], token="none")
refused = list_ledgers.sync(client=wrong)
assert isinstance(refused, Problem) and refused.status == 401, refused
print("all of it")
"""


def generated(house: House, folder: Path) -> str:
    """Make the client; return what was said meanwhile."""
    (folder / "openapi.json").write_text(json.dumps(house.app.openapi()))
    (folder / "settings.yaml").write_text(SETTINGS)
    (folder / "driver.py").write_text(DRIVER)
    options: list[Any] = ["--meta", "none", "--config", folder / "settings.yaml"]
    return run(
        *("openapi-python-client", "generate", "--path", folder / "openapi.json", *options),
        *("--output-path", folder / "evidence_client"),
        folder=folder,
    )


def run(program: str, *arguments: Any, folder: Path) -> str:
    done = subprocess.run(
        [PROGRAMS / program, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_generated_client_drives_the_server(sqlite_house: House, tmp_path: Path) -> None:
    said = generated(sqlite_house, tmp_path)
    assert "WARNING" not in said.upper(), said
    with listening(sqlite_house.app) as url:
        token = sqlite_house.tokens["approver"]
        assert "all of it" in run("python", "driver.py", url, token, folder=tmp_path)


@pytest.mark.whole
def test_a_program_that_uses_the_client_type_checks(sqlite_house: House, tmp_path: Path) -> None:
    generated(sqlite_house, tmp_path)
    said = run("mypy", "--check-untyped-defs", "driver.py", "evidence_client", folder=tmp_path)
    assert "no issues" in said
