import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError, NotFoundError
from evidentia.loading import workers
from evidentia.store import ranges
from evidentia.store.database import run
from evidentia.store.home import Home
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from places import Place, record


def problems(workspace: Workspace) -> list[str]:
    return [str(finding) for finding in workspace.trail.audit().findings]


def without_guards(workspace: Workspace, *statements: str) -> None:
    """Run statements on SQLite with no trigger in the way; the triggers come back."""
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        triggers = run(
            connection, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            run(connection, f"DROP TRIGGER {name}")
        for statement in statements:
            run(connection, statement)
        for _, sql in triggers:
            run(connection, sql)


def test_a_report_says_what_was_audited(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(3)])
    note = workspace.trail.checkpoint()
    report = workspace.trail.audit()
    assert report.holds
    assert note.startswith(f"{report.origin}\n4\n")
    assert report.as_json() == {
        "holds": True,
        "tenant": "default",
        "origin": report.origin,
        "size": 4,
        "root": report.root,
        "checkpoints": 1,
        "compared_with": list(report.compared_with),
        "findings": [],
        "notes": [],
        "trusted": [
            {
                "key_id": workspace.trail.public_key().key_id,
                "reason": "its private key is in this home",
            }
        ],
        "unknown": None,
        "unjudged": None,
    }


def test_a_finding_says_what_where_and_how(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(3)])
    without_guards(workspace, "UPDATE trail_bodies SET body = x'00' WHERE seq = 1")
    problem = "its body or salt is not what it commits to"
    report = workspace.trail.audit()
    assert [str(finding) for finding in report.findings] == [f"entry 1: {problem}"]
    finding = {"entry": 1, "what": "entry 1", "problem": problem}
    assert report.as_json()["findings"] == [finding]


def test_a_log_that_does_not_hold_gets_no_checkpoint(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    without_guards(workspace, "DELETE FROM trail_bodies")
    with pytest.raises(IntegrityError, match="gets no checkpoint"):
        workspace.trail.keep_checkpoint(workspace.trail.audit())


def test_an_empty_place_has_nothing_to_audit(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="there is no log here yet"):
        workspace.trail.audit()


def test_a_log_without_its_head_is_found_by_its_rows(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    without_guards(workspace, "DELETE FROM trail_heads")
    workspace.opened.home.checkpoint_file("default").unlink()
    assert problems(workspace) == [
        f"head: is missing, and table trail_{table} has rows of tenant 'default'"
        for table in ("bodies", "checkpoints", "entries", "keys")
    ]


@pytest.mark.as_owner
def test_rows_of_a_tenant_without_a_log_are_named(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, "INSERT INTO trail_idempotency (tenant, key, seq) VALUES ('a', 'b', 0)")
    assert problems(workspace) == [
        "table trail_idempotency: has rows of tenant 'a', which has no log"
    ]


def test_a_key_that_is_announced_without_words_cannot_be_read(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    key = workspace.trail.public_key()
    without_guards(workspace, "DELETE FROM trail_bodies")
    said = problems(workspace)
    assert "entry 0: announces a key that cannot be read" in said
    assert f"key {key.key_id}: is stored, and entry 0 does not announce it" in said


def test_a_key_for_another_log_is_named(place: Place) -> None:
    workspace, other = place.open(), place.open("other")
    foreign = other.trail.public_key()
    with workspace._acting.writing() as connection:
        workspace._acting.append_within(
            connection, EntryKind.KEY, foreign.key_id, {"key": str(foreign)}
        )
    assert any(
        f"key {foreign.key_id}: is for another log: {foreign.name}" in problem
        for problem in problems(workspace)
    )


def test_a_key_signs_no_size_after_its_successor_was_announced(workspace: Workspace) -> None:
    old = workspace.trail.public_key()
    signing = workspace.opened.home.keys.load("default", old.key_id, old.name)
    assert signing is not None
    workspace.trail.rotate_key()
    workspace.append(record(1))
    current, _ = read_checkpoint(workspace.trail.checkpoint())
    stale = current.sign(signing.private_key)
    (finding,) = workspace.trail.audit(since=stale).findings
    assert finding.what == "checkpoint given with --since"
    assert finding.problem == f"is signed by key {old.key_id}, which could not sign this size"


# Shared out to workers


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "RANGE", 256)


def test_ranges_shared_out_give_the_same_report(workspace: Workspace, small_ranges: None) -> None:
    workspace.trail.append_many([record(number) for number in range(900)])
    workspace.trail.checkpoint()
    workspace.trail.erase(300, reason="law", by="counsel")
    seen: list[int] = []
    report = workspace.trail.audit(workers=2, progress=seen.append)
    assert report.findings == ()
    assert seen == [256, 512, 768, 902]
    assert workspace.trail.audit(workers=1) == report


def test_a_body_erased_while_workers_read_is_not_missed(
    workspace: Workspace, small_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.trail.append_many([record(number) for number in range(600)])
    start = workers.Workers.__enter__

    def erase_first(self: workers.Workers) -> workers.Workers:
        workspace.trail.erase(500, reason="law", by="counsel")
        return start(self)

    with monkeypatch.context() as patched:
        patched.setattr(workers.Workers, "__enter__", erase_first)
        report = workspace.trail.audit(workers=2)
    assert report.findings == ()
    assert report.size == 601
    assert workspace.trail.audit(workers=2).findings == ()
    assert workspace.trail.size == 602


def test_a_body_that_is_gone_is_found_by_workers_too(
    sqlite_place: Place, small_ranges: None
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(600)])
    without_guards(workspace, "DELETE FROM trail_bodies WHERE seq = 500")
    (finding,) = workspace.trail.audit(workers=2).findings
    assert str(finding) == "entry 500: its body is gone, and no erasure says why"


def test_text_that_is_not_utf_8_is_found_by_workers_too(
    sqlite_place: Place, small_ranges: None
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(600)])
    without_guards(workspace, "UPDATE trail_entries SET kind = CAST(x'ff' AS TEXT) WHERE seq = 400")
    (finding,) = workspace.trail.audit(workers=2).findings
    assert finding.what == "entry 400"


@pytest.mark.parametrize("program", ["/bin/false", "/bin/true"])
def test_a_worker_that_ends_unexpectedly_is_said_to_have(
    workspace: Workspace, small_ranges: None, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    workspace.trail.append_many([record(number) for number in range(600)])
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(EnvironmentProblem, match="audit worker ended unexpectedly"):
        workspace.trail.audit(workers=2)


def test_what_a_worker_cannot_do_is_said_as_it_says_it(
    sqlite_place: Place, small_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(600)])
    absent = str(sqlite_place.home.folder / "absent.db")
    monkeypatch.setattr(type(workspace.opened.database), "address", property(lambda _: absent))
    with pytest.raises(EvidentiaError, match=r"absent\.db failed: unable to open"):
        workspace.trail.audit(workers=2)


# Files that hold what no column can hold


@pytest.mark.parametrize(
    ("needle", "changed"),
    [
        pytest.param(b"evidence_recordob-0001", b"evidence_recordob\xff0001", id="text"),
        pytest.param(b'{"at":"', b'{"xt":"', id="entry"),
    ],
)
def test_a_value_changed_in_the_file_is_named(
    sqlite_place: Place, needle: bytes, changed: bytes
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(1), record(2)])
    sqlite_place.close()
    data = bytearray(sqlite_place.home.database.read_bytes())
    at = bytes(data).index(needle)
    data[at : at + len(changed)] = changed
    sqlite_place.home.database.write_bytes(data)
    assert any(problem.startswith("entry ") for problem in problems(sqlite_place.open()))


def changed_on_disk(place: Place, change: Callable[[bytearray], None]) -> list[str]:
    """Return what an audit says of forty entries in whose file something was changed."""
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(40)])
    place.close()
    data = bytearray(place.home.database.read_bytes())
    change(data)
    place.home.database.write_bytes(data)
    return problems(place.open())


@pytest.mark.parametrize(
    ("behind", "problem"),
    [
        pytest.param(b"evidence_recordob-0017", "entry 17: is missing", id="an entry's"),
        pytest.param(
            b'n_id":"ob-0017"', "entry 17: its body is gone, and no erasure says why", id="a body's"
        ),
    ],
)
def test_a_row_whose_tenant_was_changed_on_disk_is_not_taken_for_ours(
    sqlite_place: Place, behind: bytes, problem: str
) -> None:
    def change(data: bytearray) -> None:
        tenant = b"default"
        at = data.rindex(tenant, 0, data.index(behind))
        data[at : at + len(tenant)] = b"defaulT"

    assert problem in changed_on_disk(sqlite_place, change)


@pytest.mark.parametrize("within", [b"evidence_recordob-0005", b'n_id":"ob-0005"'])
def test_a_row_that_was_counted_twice_on_disk_is_seen(sqlite_place: Place, within: bytes) -> None:
    def change(data: bytearray) -> None:
        page = data.index(within) // 4096 * 4096
        assert data[page] == 10, "not a leaf of a table without row ids"
        cells = int.from_bytes(data[page + 3 : page + 5], "big")
        pointers = page + 8
        data[page + 3 : page + 5] = (cells + 1).to_bytes(2, "big")
        last = data[pointers + 2 * (cells - 1) : pointers + 2 * cells]
        data[pointers + 2 * cells : pointers + 2 * (cells + 1)] = last

    assert any("stands twice" in problem for problem in changed_on_disk(sqlite_place, change))


@pytest.mark.parametrize("within", [b"evidence_recordob-0005", b'n_id":"ob-0005"'])
def test_a_row_without_values_on_disk_is_seen(sqlite_place: Place, within: bytes) -> None:
    def change(data: bytearray) -> None:
        page = data.index(within) // 4096 * 4096
        cells = int.from_bytes(data[page + 3 : page + 5], "big")
        data[page + 3 : page + 5] = (cells + 2).to_bytes(2, "big")

    assert changed_on_disk(sqlite_place, change)


def test_a_column_that_changed_its_type_is_reported_as_damage(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    workspace.trail.public_key()
    sqlite_place.close()
    # A row's header gives each column's type and length: text of 7, the number 1, text of 8, ...
    header, without_number = bytes([27, 9, 29, 76]), bytes([27, 0, 29, 76])
    data = sqlite_place.home.database.read_bytes()
    assert data.count(header) == 1
    sqlite_place.home.database.write_bytes(data.replace(header, without_number))
    with pytest.raises(IntegrityError, match="the database file is damaged: NULL value in trail_k"):
        sqlite_place.open().trail.audit()


Attempt = Callable[[Workspace], object]


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda workspace: workspace.trail.audit(), id="audit"),
        pytest.param(lambda workspace: workspace.trail.entries(), id="entries"),
        pytest.param(lambda workspace: workspace.append(record(1)), id="append"),
        pytest.param(lambda workspace: workspace.prove(0), id="prove"),
    ],
)
def test_an_error_of_the_driver_never_leaks(
    sqlite_place: Place, tmp_path: Path, attempt: Attempt
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(300)])
    sqlite_place.close()
    file = sqlite_place.home.database
    data = bytearray(file.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    file.write_bytes(data)
    with pytest.raises(EvidentiaError):
        attempt(Opened(sqlite_place.open().opened.database, Home(tmp_path / "other")).for_())
