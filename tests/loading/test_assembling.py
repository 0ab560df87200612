"""Bundles without a workspace: what is built, what is kept beside it, and the secret key."""

import contextlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.model import SensitiveSpan
from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.assembling import build_evidence_bundle
from evidentia.store.keys import secret_key
from forking import Child

SEED_EXAMPLE = """
from evidentia import build_evidence_bundle
from evidentia import EvidencePolicy

# Define policy
policy = EvidencePolicy(
    max_items=30,
    max_total_bytes=75000,
    max_sql_rows=50,
    enable_redaction=False
)

# Job input with inline evidence
job_input = {
    "entity_type": "character",
    "entity_id": "luke_skywalker",
    "extra_params": {
        "evidence": [
            {"text": "Luke Skywalker is a Jedi...", "source_uri": "wookieepedia"}
        ]
    }
}

# Evidence references
evidence_refs = {
    "lake_text": ["docs/character_bio.md"],
    "sql_results": [
        {
            "lake_uri": "results/character_facts.json",
            "query_key": "character_facts"
        }
    ]
}

# Build bundle
bundle = build_evidence_bundle(
    job_input=job_input,
    evidence_refs=evidence_refs,
    policy=policy,
    lake_root="lake"
)

# Bundle ready for LLM interrogation
print(f"Bundle {bundle.bundle_id} with {len(bundle.items)} items")
"""
JOB = {"extra_params": {"evidence": ["one", "two", "three"]}}
CARD = "4111 1111 1111 1111"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    (folder / "docs").mkdir(parents=True)
    (folder / "results").mkdir()
    (folder / "docs" / "character_bio.md").write_text("# Luke\n\nLuke is a Jedi.\n")
    facts = [{"id": number, "fact": f"Fact {number}"} for number in range(80)]
    (folder / "results" / "character_facts.json").write_text(json.dumps(facts))
    return folder


def kept(root: Path) -> dict[str, bytes]:
    """Return what the lake keeps by its digest."""
    return {path.name: path.read_bytes() for path in (root / "sha256").rglob("*") if path.is_file()}


# The bundle


def test_the_seeds_example_runs_as_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root.parent)
    names: dict[str, Any] = {}
    exec(SEED_EXAMPLE, names)
    bundle = names["bundle"]
    assert capsys.readouterr().out == f"Bundle {bundle.bundle_id} with 3 items\n"
    assert [item.evidence_id.partition(":")[0] for item in bundle.items] == [
        "inline",
        "lake",
        "sql",
    ]
    assert bundle.items[0].source_ref == {"source_uri": "wookieepedia"}
    assert "Rows 1 to 25 and 56 to 80 of 80 shown (first_last)." in bundle.items[2].content
    assert EvidenceBundle.parse((root / bundle.lake_uri).read_bytes()) == bundle


def test_a_bundle_is_kept_under_the_digest_of_its_bytes(root: Path) -> None:
    bundle = build_evidence_bundle(job_input=JOB, lake_root=str(root))
    (one,) = kept(root).items()
    assert one == (sha256_hex(bundle.encode()), bundle.encode())
    assert bundle.lake_uri.endswith(one[0])


def test_two_builds_differ_in_their_clock_alone(root: Path) -> None:
    refs = {"lake_text": ["docs/character_bio.md"], "documents": [{"folder": "docs"}]}
    first, second = (
        build_evidence_bundle(job_input=JOB, evidence_refs=refs, lake_root=root).as_json()
        for _ in range(2)
    )
    assert first.pop("created_utc") < second.pop("created_utc")
    assert first == second


def test_a_job_without_evidence_is_an_empty_bundle(tmp_path: Path) -> None:
    bundle = build_evidence_bundle(lake_root=tmp_path / "new" / "lake")
    assert (bundle.items, bundle.accounting.inputs) == ([], 0)
    assert (tmp_path / "new" / "lake" / bundle.lake_uri).is_file()


def test_references_need_a_lake_that_is_there(tmp_path: Path) -> None:
    refs = {"lake_text": ["a.md"]}
    with pytest.raises(NotFoundError, match=r"lake_root .*none: no such folder"):
        build_evidence_bundle(evidence_refs=refs, lake_root=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_policy_may_be_given_by_its_fields(root: Path) -> None:
    named = build_evidence_bundle(job_input=JOB, policy={"max_items": 1}, lake_root=root)
    made = build_evidence_bundle(job_input=JOB, policy=EvidencePolicy(max_items=1), lake_root=root)
    assert named.bundle_sha256 == made.bundle_sha256
    with pytest.raises(InputError, match=r"policy.max_itms"):
        build_evidence_bundle(job_input=JOB, policy={"max_itms": 1}, lake_root=root)


def test_what_may_be_done_about_errors_is_said_in_words_that_are_known(root: Path) -> None:
    with pytest.raises(InputError, match="on_error must be 'raise' or 'record', not 'ignore'"):
        build_evidence_bundle(job_input=JOB, lake_root=root, on_error="ignore")  # type: ignore[arg-type]
    assert not kept(root)


def test_detectors_need_a_policy_that_redacts(root: Path) -> None:
    with pytest.raises(InputError, match="the policy does not set enable_redaction"):
        build_evidence_bundle(job_input=JOB, lake_root=root, detectors={"names": lambda _: []})


def test_a_document_of_a_library_needs_a_workspace(root: Path) -> None:
    refs = {"documents": [{"document_id": "doc-1"}]}
    with pytest.raises(InputError, match=r"documents\[0\]: .* without a workspace, give lake_uri"):
        build_evidence_bundle(evidence_refs=refs, lake_root=root)


# What is kept beside it


def test_the_whole_of_what_was_cut_is_kept(root: Path) -> None:
    whole = "Luke is a Jedi. " * 100
    bundle = build_evidence_bundle(
        job_input={"extra_params": {"evidence": [whole]}},
        policy=EvidencePolicy(max_item_bytes=50),
        lake_root=root,
    )
    (item,) = bundle.items
    assert item.full_ref is not None
    assert item.full_ref["sha256"] == sha256_hex(whole.encode())
    assert (root / item.full_ref["lake_uri"]).read_text() == whole
    assert item.full_ref["byte_count"] == len(whole)
    assert whole.startswith(item.content)


def test_what_was_dropped_and_is_nowhere_else_is_kept(root: Path) -> None:
    bundle = build_evidence_bundle(
        job_input=JOB,
        evidence_refs={"lake_text": ["docs/character_bio.md"]},
        policy=EvidencePolicy(max_items=1),
        lake_root=root,
    )
    dropped = bundle.summary.bundle_bounding.dropped_ref
    assert dropped is not None
    lines = (root / dropped["lake_uri"]).read_bytes().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"content": "two", "evidence_id": "inline:1"},
        {"content": "three", "evidence_id": "inline:2"},
    ]


def test_a_file_of_the_lake_is_not_kept_twice(root: Path) -> None:
    refs = {
        "lake_text": ["docs/character_bio.md"],
        "documents": ["docs/character_bio.md"],
        "sql_results": ["results/character_facts.json"],
    }
    policy = EvidencePolicy(max_item_bytes=10)
    bundle = build_evidence_bundle(evidence_refs=refs, policy=policy, lake_root=root)
    assert len(bundle.items) == 3
    for item in bundle.items:
        assert item.full_ref is not None
        original = (root / item.full_ref["lake_uri"]).read_bytes()
        assert sha256_hex(original) == item.full_ref["sha256"]
        assert len(original) == item.full_ref["byte_count"]
    assert list(kept(root)) == [sha256_hex(bundle.encode())]


def test_what_is_kept_is_kept_after_redaction(root: Path, tmp_path: Path) -> None:
    text = f"Pay with {CARD}. " + "And so on. " * 100
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE cards (name TEXT, card TEXT)")
        connection.executemany("INSERT INTO cards VALUES (?, ?)", [("Luke", CARD)] * 30)
    bundle = build_evidence_bundle(
        job_input={"extra_params": {"evidence": [text, f"Dropped: {CARD}"]}},
        evidence_refs={
            "sql_results": [
                {
                    "sql": "SELECT * FROM cards",
                    "query_key": "cards",
                    "connection": "crm",
                    "priority": 1,
                }
            ]
        },
        policy=EvidencePolicy(enable_redaction=True, max_item_bytes=200, max_items=2),
        connections={"crm": f"sqlite:///{tmp_path}/crm.db"},
        lake_root=root,
    )
    assert bundle.accounting.dropped == 1
    assert len(kept(root)) == 4  # the text, the dropped one, the rows, and the bundle
    for data in kept(root).values():
        assert CARD.encode() not in data
    (rows,) = [data for data in kept(root).values() if data.startswith(b'{"name":"Luke"')]
    assert len(rows.splitlines()) == 30


def test_a_detector_of_ones_own_is_asked(root: Path) -> None:
    def names(text: str) -> list[SensitiveSpan]:
        at = text.find("Luke")
        return [] if at < 0 else [SensitiveSpan("PERSON", at, at + 4)]

    bundle = build_evidence_bundle(
        job_input={"extra_params": {"evidence": ["Luke is a Jedi."]}},
        policy=EvidencePolicy(enable_redaction=True),
        detectors={"names": names},
        lake_root=root,
    )
    assert "Luke" not in bundle.items[0].content
    assert bundle.summary.redactions


def test_a_build_that_fails_keeps_no_bundle(root: Path) -> None:
    with pytest.raises(InputError):
        build_evidence_bundle(job_input=JOB, evidence_refs={"lake_text": ["no"]}, lake_root=root)
    assert not kept(root)


# Its secret key


def redacted(root: Path, key: bytes | None = None) -> str:
    bundle = build_evidence_bundle(
        job_input={"extra_params": {"evidence": [f"Pay with {CARD}"]}},
        policy=EvidencePolicy(enable_redaction=True),
        lake_root=root,
        redaction_key=key,
    )
    digest: str = bundle.items[0].metadata["redactions"][0]["digest"]
    return digest


def test_a_lakes_key_is_made_once_for_its_owner_alone_and_used_again(root: Path) -> None:
    first = redacted(root)
    path = root / ".evidentia" / "redaction.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    made = path.read_text()
    assert len(bytes.fromhex(made)) == 32
    assert redacted(root) == first
    assert path.read_text() == made
    assert [each.name for each in path.parent.iterdir()] == ["redaction.key"]
    path.unlink()
    assert redacted(root) != first


def test_a_key_that_is_given_is_used_and_none_is_made(root: Path) -> None:
    assert redacted(root, b"k" * 32) == redacted(root, b"k" * 32) != redacted(root, b"l" * 32)
    assert not (root / ".evidentia").exists()


def test_a_policy_that_does_not_redact_makes_no_key(root: Path) -> None:
    build_evidence_bundle(job_input=JOB, lake_root=root)
    assert not (root / ".evidentia").exists()


NO_KEY = r"redaction\.key: not a key of 32 bytes in hexadecimal; bring it back"


def test_a_key_that_was_damaged_is_not_replaced(root: Path) -> None:
    path = root / ".evidentia" / "redaction.key"
    path.parent.mkdir()
    for damaged in (b"not a key", b"\xff\xfe"):
        path.write_bytes(damaged)
        with pytest.raises(
            EnvironmentProblem,
            match=NO_KEY,
        ):
            redacted(root)
        assert path.read_bytes() == damaged


@pytest.mark.parametrize("cut", [b"", b"ab\n", b"00" * 31, b"00" * 33, b"00" * 31 + b"0"])
def test_a_key_that_was_cut_is_not_used(root: Path, cut: bytes) -> None:
    path = root / ".evidentia" / "redaction.key"
    path.parent.mkdir()
    path.write_bytes(cut)
    with pytest.raises(
        EnvironmentProblem,
        match=NO_KEY,
    ):
        redacted(root)


def test_a_key_that_cannot_be_read_is_said_to(root: Path) -> None:
    (root / ".evidentia" / "redaction.key").mkdir(parents=True)
    with pytest.raises(EnvironmentProblem, match=r"redaction.key: cannot be read"):
        redacted(root)


def test_processes_that_make_a_key_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "redaction.key"
    ready, go = os.pipe()

    def work(number: int) -> Callable[[], None]:
        def make() -> None:
            os.read(ready, 1)  # all begin when the first byte is written
            (tmp_path / str(number)).write_bytes(secret_key(path, os.urandom))

        return make

    children = [Child(work(number)) for number in range(8)]
    os.write(go, b"x" * 8)
    for child in children:
        child.end()
    os.close(ready)
    os.close(go)
    made = {(tmp_path / str(number)).read_bytes() for number in range(8)}
    assert made == {secret_key(path, os.urandom)}
    assert [each.name for each in path.parent.iterdir()] == ["redaction.key"]


def test_threads_that_make_a_key_at_once_agree(tmp_path: Path) -> None:
    for attempt in range(20):
        path = tmp_path / str(attempt) / "redaction.key"
        barrier = threading.Barrier(6)
        made: list[bytes] = []

        def make(path: Path = path, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            with contextlib.suppress(OSError):
                made.append(secret_key(path, os.urandom))  # noqa: B023 - joined below

        threads = [threading.Thread(target=make) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [secret_key(path, os.urandom)] * 6


# In constant memory

STREAMED = """
import sys
from evidentia import EvidencePolicy, build_evidence_bundle
bundle = build_evidence_bundle(
    evidence_refs={
        "sql_results": [{"sql": "SELECT * FROM orders", "query_key": "all", "connection": "crm"}]
    },
    policy=EvidencePolicy(enable_redaction=sys.argv[3] == "redacted"),
    connections={"crm": sys.argv[1]},
    lake_root=sys.argv[2],
)
assert bundle.items[0].metadata["sampling"]["row_count"] == 100_000
status = open("/proc/self/status").read()
print(int(status.partition("VmHWM:")[2].split()[0]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for its memory")
@pytest.mark.parametrize("how", ["plain", "redacted"])
def test_a_large_result_is_never_in_memory_as_a_whole(tmp_path: Path, how: str) -> None:
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER, name TEXT, note TEXT)")
        rows = ((number, f"name {number}", "x" * 200) for number in range(100_000))
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    (tmp_path / "lake").mkdir()
    url, folder = f"sqlite:///{tmp_path}/crm.db", str(tmp_path / "lake")
    command = [sys.executable, "-c", STREAMED, url, folder, how]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 120 * 1024  # in KiB; the rows alone are 22 MB as they are kept
    assert sum(map(len, kept(tmp_path / "lake").values())) > 22_000_000
