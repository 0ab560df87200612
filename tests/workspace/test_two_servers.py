"""Several servers, each with a home of its own, on one database and one bucket: one library."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evidentia.canonical import sha256_hex
from evidentia.store.job_files import BucketJobFiles
from evidentia.workspace import Workspace, open_workspace
from pdf_writing import Line, pdf_bytes
from places import Place
from seaweed import Bucket
from workspace.policies import LEAVE, read_here

CLAIM = "Employees receive 15 days of paid annual leave."
OTHER = "Gifts above $50 must be reported within 10 working days."
GIFTS = f"# Gifts\n\n{OTHER}\n"


@pytest.fixture
def url(postgres_place: Place) -> str:
    assert postgres_place.url is not None
    return postgres_place.url


@pytest.fixture
def server(
    url: str, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workspace]:
    """One of the servers: this process."""
    read_here(monkeypatch)
    with open_workspace(url, home=tmp_path / "one", lake=bucket.url) as found:
        yield found


@pytest.fixture
def another(
    server: Workspace, url: str, bucket: Bucket, tmp_path: Path
) -> Iterator[Callable[[dict[str, Any]], Any]]:
    """Ask another one, which has the same keys and nothing else of the first one's folder."""
    server.trail.checkpoint()
    shutil.copytree(tmp_path / "one" / "keys", tmp_path / "two" / "keys")
    script = Path(__file__).with_name("another_server.py")
    command = [sys.executable, str(script), str(tmp_path / "two"), url, bucket.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(asked: dict[str, Any]) -> Any:
            process.stdin.write(f"{json.dumps(asked)}\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return json.loads(process.stdout.readline())  # type: ignore[union-attr]

        yield ask
        process.stdin.close()
        assert process.wait(60) == 0


def files_with(folder: Path, word: bytes) -> list[str]:
    return [str(one) for one in folder.rglob("*") if one.is_file() and word in one.read_bytes()]


def test_what_one_server_ingests_another_finds_at_once_until_it_is_gone(
    server: Workspace, another: Callable[[dict[str, Any]], Any], tmp_path: Path
) -> None:
    """Its index is brought up to date from the database before it is searched."""
    server.documents.add({"leave.md": LEAVE.encode()})
    assert another({"check": CLAIM}) == ["supported"]
    assert another({"check": OTHER}) == ["not_found"]
    added = server.documents.add({"gifts.md": GIFTS.encode()})
    document = added.results[0].document
    assert another({"check": OTHER}) == ["supported"]
    assert any("Gifts above" in text for text in another({"search": "gifts reported"}))
    assert "Gifts above $50" in another({"page": document.id})
    pdf = server.documents.add({"a.pdf": pdf_bytes([[Line("Employees travel in economy class.")]])})
    assert not pdf.problems
    is_png = another({"image": pdf.results[0].document.id}) == b"\x89PNG".hex()
    assert is_png, "the original is in the bucket"
    assert not (tmp_path / "two" / "lake").exists()

    server.documents.remove(document.id, reason="law", erase=True)
    assert another({"check": OTHER}) == ["not_found"]
    assert not any("Gifts above" in text for text in another({"search": "gifts reported"}))
    assert "NotFoundError" in another({"page": document.id})
    assert files_with(tmp_path / "two" / "search", b"gifts") == []
    assert another({"check": CLAIM}) == ["supported"]
    assert server.audit().holds


def test_what_a_check_on_another_server_records_is_seen_here(
    server: Workspace, another: Callable[[dict[str, Any]], Any]
) -> None:
    server.documents.add({"leave.md": LEAVE.encode()})
    another({"check": CLAIM})
    (listed,) = server.ledgers.list()
    assert server.ledgers.get(listed.id).session.answer == CLAIM
    assert server.documents.search("leave")


def test_a_job_finds_on_any_server_what_it_was_given(
    server: Workspace, url: str, bucket: Bucket, tmp_path: Path
) -> None:
    job = server.jobs.start("ingest", {"names": ["a"]}, files=[b"asked"])
    with open_workspace(url, home=tmp_path / "two", lake=bucket.url) as other:
        files = other.opened.job_files
        assert files.get("default", job.id, sha256_hex(b"asked")) == b"asked"
        made = files.put("default", job.id, b"made")
    assert server.jobs.file(job.id, made) == b"made"
    assert BucketJobFiles(bucket.url).older(-300) == [("default", job.id)]
    assert not any((tmp_path / name / "jobs").exists() for name in ("one", "two"))
