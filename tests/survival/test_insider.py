"""An insider with the database and no key changes, hides and adds nothing without being seen."""

import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evidentia.cli.main import run as run_command
from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.packs.retention import RetentionPolicy
from evidentia.proof.keys import SigningKey
from evidentia.store.database import run
from evidentia.store.home import Home
from evidentia.store.sql import log
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from insider import AT, append_unsigned, cut_back, without_guards
from places import Place, record

pytestmark = pytest.mark.as_owner

if TYPE_CHECKING:
    from collections.abc import Callable

GRANT = {
    "action": "grant",
    "user": "mallory",
    "tenant_id": "default",
    "role": "admin",
    "granted_by": "owner",
    "granted_at": AT,
    "expires_at": None,
}
FORGED = (
    (EntryKind.ACCESS, "user/mallory", GRANT),
    (EntryKind.RETENTION, "pack-1", {"action": "release", "reason": "done", "by": "owner"}),
    (EntryKind.RETENTION, "retention", {"years": 1, "basis": "none", "by": "owner"}),
)


def problems(workspace: Workspace) -> str:
    return "\n".join(map(str, workspace.trail.audit().findings))


def newest_size(workspace: Workspace) -> int:
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        sizes = [size for size, _, _ in log.checkpoints(connection, workspace.tenant)]
    return max(sizes, default=0)


def without_kept(workspace: Workspace, folder: Path) -> Workspace:
    """Return the same log, audited by someone who kept no checkpoint."""
    return Opened(workspace.opened.database, Home(folder)).for_()


# Signed as written


def test_whatever_is_acknowledged_is_signed_and_kept_apart(place: Place) -> None:
    workspace = place.open()
    steps: list[Callable[[], Any]] = [
        lambda: workspace.append(record(1)),
        lambda: workspace.trail.append_many([record(2), record(3)]),
        lambda: workspace.access.grant("noor", "approver"),
        lambda: workspace.trail.erase(0, reason="law", by="counsel"),
        workspace.trail.rotate_key,
        lambda: workspace.append(record(4)),
    ]
    for step in steps:
        step()
        assert newest_size(workspace) == workspace.trail.size
        kept = workspace.opened.home.kept_checkpoint("default")
        assert kept is not None
        assert read_checkpoint(kept)[0].size == workspace.trail.size
    assert workspace.trail.audit(signatures=True).holds


def test_the_key_is_made_with_the_log_and_announced_behind_its_first_entries(place: Place) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(1), record(2)])
    (key,) = workspace.trail.keys()
    assert (key.since, key.held) == (2, True)
    assert [one.entry.kind for one in workspace.trail.entries()][2] == "key"


def test_a_tail_that_was_replaced_is_reported_and_nobody_signs_it(
    sqlite_place: Place,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = sqlite_place.open()
    for number in range(24):
        workspace.append(record(number))
    cut_back(workspace, 4, *FORGED)
    for opened in (workspace, sqlite_place.open(), without_kept(workspace, tmp_path / "other")):
        assert "entries 4 to 6: are not signed" in problems(opened)
        attempts: list[Callable[[], Any]] = [
            opened.trail.checkpoint,
            partial(opened.trail.prove, 0),
            partial(opened.append, record(99)),
            partial(opened.trail.keep_checkpoint, opened.trail.audit()),
            partial(opened.access.grant, "noor", "approver"),
            opened.trail.rotate_key,
        ]
        for attempt in attempts:
            with pytest.raises((IntegrityError, EnvironmentProblem)):
                attempt()
    assert newest_size(workspace) == 4
    assert workspace.trail.size == 7
    for opened in (workspace, sqlite_place.open()):
        assert opened.access.grants() == []
        assert opened.packs.retention().years == 7
    arguments = ["evidentia", "trail", "verify", "--home", str(sqlite_place.home.folder)]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match="1"):
        run_command()
    assert "entries 4 to 6: are not signed" in capsys.readouterr().out
    assert newest_size(workspace) == 4


def test_a_tail_that_is_cut_off_with_its_checkpoints_is_seen_at_once(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    for number in range(10):
        workspace.append(record(number))
    cut_back(workspace, 4)
    with pytest.raises(IntegrityError, match="cut back while it was open"):
        workspace.append(record(99))
    other = sqlite_place.open()
    with pytest.raises(IntegrityError, match="do not continue the 11"):
        other.append(record(99))
    assert "the log has 4: entries 4 to 10 are gone" in problems(other)


def test_a_checkpoint_by_another_key_signs_nothing(sqlite_place: Place, tmp_path: Path) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    workspace.append(record(2))
    stranger = Place(tmp_path / "stranger")
    stranger.open().append(record(1))
    note = stranger.open().trail.checkpoint()
    stranger.close()
    without_guards(
        workspace,
        lambda connection: run(
            connection, "UPDATE trail_checkpoints SET note = ? WHERE size = 3", (note,)
        ),
    )
    with pytest.raises(IntegrityError, match="the checkpoint of the log's 3 entries"):
        sqlite_place.open().append(record(3))
    assert "checkpoint 3" in problems(workspace)


def test_without_its_key_nothing_is_appended_to_a_log(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.append(record(1))
    elsewhere = place.open(home=tmp_path / "elsewhere")
    attempts: list[Callable[[], Any]] = [
        partial(elsewhere.append, record(2)),
        partial(elsewhere.access.grant, "mallory", "admin"),
        partial(elsewhere.packs.set_retention, RetentionPolicy(years=1, basis="none")),
    ]
    for attempt in attempts:
        with pytest.raises(EnvironmentProblem, match=r"private key .* is not in .*elsewhere"):
            attempt()
    assert workspace.trail.size == 2
    assert workspace.access.grants() == []


def test_a_tenant_without_its_key_does_not_keep_others_from_appending(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    one.append(record(1))
    other.append(record(1))
    both = place.open("one").opened
    mine, theirs = both.for_("one"), both.for_("other")
    theirs.append(record(2))
    for file in (place.home.folder / "keys" / "one").iterdir():
        file.unlink()
    items = threading.Barrier(2)
    failures: list[Exception] = []

    def work() -> None:
        items.wait()
        try:
            mine.append(record(2))
        except EnvironmentProblem as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    items.wait()
    theirs.append(record(3))
    thread.join()
    assert len(failures) == 1
    assert [len(one.trail.records()), len(other.trail.records())] == [1, 3]


def test_an_append_that_is_durable_does_not_fail_where_its_checkpoint_cannot_be_kept(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    folder = sqlite_place.home.checkpoint_file("default").parent
    kept = sqlite_place.home.kept_checkpoint("default")
    workspace.opened.home.close()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    assert workspace.append(record(2)).seq == 2
    folder.unlink()
    assert workspace.append(record(3)).seq == 3
    assert workspace.opened.home.kept_checkpoint("default") not in {None, kept}
    assert workspace.trail.audit().holds


# Logs of older versions


def test_an_older_log_is_appended_to_once_its_unsigned_tail_is_adopted(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    append_unsigned(workspace, *FORGED[2:], (EntryKind.PACK, "pack-1", {"pack": 1}))
    refused = r"entries 2 to 3 are not signed.*trail verify.*trail adopt"
    for opened in (workspace, place.open()):
        with pytest.raises(IntegrityError, match=refused):
            opened.append(record(2))
    assert workspace.trail.adopt(reason="written by 0.1").seq == 4
    report = workspace.trail.audit()
    assert report.holds
    note = "entries 2 to 3 were adopted unsigned by owner: written by 0.1 (entry 4)"
    assert report.notes == (note,)
    assert workspace.append(record(2)).seq == 5
    workspace.trail.rotate_key()
    assert place.open().trail.audit().notes == (note,)
    with pytest.raises(InputError, match="nothing to adopt"):
        workspace.trail.adopt(reason="again")


def test_a_log_that_never_had_a_key_gets_one_when_it_is_adopted(place: Place) -> None:
    workspace = place.open()
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        log.lock_head(connection, "default", workspace.opened.new_origin)
    append_unsigned(workspace, (EntryKind.PACK, "pack-1", {"pack": 1}))
    assert "entry 0: is not signed" in problems(workspace)
    with pytest.raises(IntegrityError, match="entry 0 is not signed"):
        workspace.trail.checkpoint()
    workspace.trail.adopt(reason="written by 0.1")
    assert workspace.trail.audit().holds
    assert len(workspace.trail.keys()) == 1


def test_of_adopted_entries_holds_count_and_grants_releases_and_retention_do_not(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    workspace.access.grant("noor", "approver")
    hold = {"action": "hold", "reason": "a case", "by": "owner"}
    held = (EntryKind.RETENTION, "pack-1", hold)
    append_unsigned(workspace, held, *FORGED)
    for step in (lambda: None, lambda: workspace.trail.adopt(reason="written by 0.1")):
        step()
        for opened in (workspace, sqlite_place.open()):
            assert [one.user for one in opened.access.grants()] == ["noor"]
            assert opened.packs.retention().years == 7
            assert "pack-1" in opened.packs.held()
    workspace.access.grant("sami", "admin")
    assert [one.user for one in workspace.access.grants()] == ["noor", "sami"]


def test_what_is_damaged_is_not_adopted(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    append_unsigned(workspace, (EntryKind.PACK, "pack-1", {"pack": 1}))
    without_guards(workspace, lambda connection: run(connection, "DELETE FROM trail_bodies"))
    with pytest.raises(IntegrityError, match="nothing is adopted"):
        workspace.trail.adopt(reason="why not")


# Keys


def forge_rotation(place: Place, folder: Path, body: dict[str, Any] | None = None) -> Workspace:
    """Announce a key of one's own, and sign by it, with the database alone."""
    mallory = place.open(home=folder)
    with mallory.opened.database.of(mallory.tenant).write(sequencing=True) as connection:
        held = mallory.opened.appending.hold(connection, "default", by="owner")
        key = SigningKey.from_seed(held.head.origin, bytes(range(32)))
        mallory.opened.home.keys.save("default", key)
        held.announce(key, at=AT, **(body or {}))
        held.sign()
    return mallory


@pytest.mark.parametrize("body", [None, {"lost": "the disk failed"}])
def test_a_key_that_nothing_vouches_for_does_not_take_a_log_over(
    place: Place, tmp_path: Path, body: dict[str, Any] | None
) -> None:
    workspace = place.open()
    workspace.append(record(1))
    workspace.append(record(2))
    key = workspace.trail.public_key().key_id
    mallory = forge_rotation(place, tmp_path / "mallory", body)
    mallory.access.grant("mallory", "admin")
    for opened in (workspace, place.open()):
        assert f"took the place of key {key} without its signature" in problems(opened)
        for attempt in (opened.trail.checkpoint, partial(opened.append, record(3))):
            with pytest.raises(
                (IntegrityError, EnvironmentProblem), match=r"no key that counts|not signed|without"
            ):
                attempt()
        assert opened.access.grants() == []
    kept = workspace.opened.home.kept_checkpoint("default")
    assert "without its signature" in str(mallory.trail.audit(since=kept).findings) or body


def test_a_key_is_not_lost_that_is_here(place: Place) -> None:
    workspace = place.open()
    with pytest.raises(InputError, match="no key that could be lost"):
        workspace.trail.rotate_key(lost="by mistake")
    workspace.append(record(1))
    with pytest.raises(InputError, match="is not lost: it is in"):
        workspace.trail.rotate_key(lost="by mistake")
    with pytest.raises(InputError, match="needs a reason"):
        workspace.trail.rotate_key(lost=" ")
    assert len(workspace.trail.keys()) == 1


def test_without_the_old_key_no_new_one_is_announced(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.append(record(1))
    elsewhere = place.open(home=tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match=r"private key .* is not in .*elsewhere"):
        elsewhere.trail.rotate_key()
    assert workspace.trail.size == 2
