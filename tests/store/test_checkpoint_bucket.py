"""Checkpoints kept in a real bucket: they follow, never go back, and are compared with."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore

from evidentia.errors import ConflictError, EnvironmentProblem, IntegrityError
from evidentia.logs import configure
from evidentia.proof.keys import SigningKey, TrustedKey
from evidentia.store.backup_places import BackupPlace
from evidentia.store.checkpoint_bucket import CheckpointBucket
from evidentia.store.elsewhere import Elsewhere, newest_known
from evidentia.store.following import Following
from evidentia.store.home import Home
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.backups import Target, make_backup, restore_backup
from forking import Child
from places import Place, record
from seaweed import Bucket

KEY = SigningKey.from_seed("evidentia/aa/default", bytes([1]) * 32)
Open = Callable[..., Workspace]


def checkpoint(size: int, root: int = 0, log: str = "aa") -> Checkpoint:
    return Checkpoint(f"evidentia/{log}/default", size, bytes([root]) * 32)


def keep(bucket: CheckpointBucket, one: Checkpoint) -> str:
    note = one.sign(KEY.private_key)
    bucket.keep(one, note)
    return note


def size_in(address: str) -> int:
    found = CheckpointBucket(address).newest("default")
    return 0 if found is None else read_checkpoint(found[1])[0].size


@pytest.fixture
def address(bucket: Bucket) -> str:
    """Give where checkpoints are kept in a fresh bucket."""
    return f"s3://{bucket.name}/checkpoints"


@pytest.fixture
def opening(tmp_path: Path, address: str) -> Iterator[Open]:
    """Open a home whose checkpoints follow to the bucket."""
    opened: list[Workspace] = []

    def call(home: str = "home", checkpoints: str | None = address) -> Workspace:
        workspace = open_workspace(tmp_path / home, checkpoints=checkpoints)
        opened.append(workspace)
        return workspace

    yield call
    for one in opened:
        one.close()


class TestBucket:
    def test_the_newest_is_the_largest_in_whatever_order_they_came(self, address: str) -> None:
        bucket = CheckpointBucket(address)
        assert bucket.newest("default") is None
        keep(bucket, checkpoint(9))
        large = keep(bucket, checkpoint(1_000))
        keep(bucket, checkpoint(10))
        found = bucket.newest("default")
        assert found is not None
        place, note = found
        assert note == large
        assert place.startswith(f"{address}/default/")
        assert place.endswith("-1000-aa.txt")
        assert bucket.newest("another") is None

    def test_the_same_one_may_be_kept_by_several_servers(self, address: str) -> None:
        keep(CheckpointBucket(address), checkpoint(9))
        keep(CheckpointBucket(address), checkpoint(9))
        assert size_in(address) == 9

    def test_another_one_of_the_same_size_is_a_fork(self, address: str) -> None:
        keep(CheckpointBucket(address), checkpoint(9))
        with pytest.raises(
            IntegrityError, match=r"signs other 9 entries than this log has: it was"
        ):
            keep(CheckpointBucket(address), checkpoint(9, root=1))
        assert size_in(address) == 9

    def test_a_log_begun_anew_does_not_hide_the_one_before(self, address: str) -> None:
        keep(CheckpointBucket(address), checkpoint(9))
        keep(CheckpointBucket(address), checkpoint(3, log="bb"))
        assert size_in(address) == 9

    def test_what_is_no_checkpoint_is_passed_over(self, address: str, bucket: Bucket) -> None:
        found = CheckpointBucket(address)
        keep(found, checkpoint(9))
        for name, body in (("0000", b"x"), ("0001", b"y" * 70_000)):
            key = f"checkpoints/default/{name}.txt"
            bucket.client().put_object(Bucket=bucket.name, Key=key, Body=body)
        moved = found.where(checkpoint(10)).removeprefix(f"s3://{bucket.name}/")
        body = checkpoint(9).sign(KEY.private_key).encode()
        bucket.client().put_object(Bucket=bucket.name, Key=moved, Body=body)
        assert size_in(address) == 9
        key = found.where(checkpoint(12)).removeprefix(f"s3://{bucket.name}/")
        bucket.client().put_object(Bucket=bucket.name, Key=key, Body=b"nothing")
        with pytest.raises(EnvironmentProblem, match="is no checkpoint of this log: see who can"):
            keep(found, checkpoint(12))

    @pytest.mark.parametrize("how", ["hidden", "written over"])
    def test_nothing_hides_one_in_a_bucket_with_versions(
        self, locked_bucket: Bucket, how: str
    ) -> None:
        address = f"s3://{locked_bucket.name}/checkpoints"
        found = CheckpointBucket(address)
        keep(found, checkpoint(3))
        keep(found, checkpoint(9))
        at = {
            "Bucket": locked_bucket.name,
            "Key": found.where(checkpoint(9)).removeprefix(f"s3://{locked_bucket.name}/"),
        }
        if how == "hidden":
            locked_bucket.client().delete_object(**at)
        else:
            locked_bucket.client().put_object(**at, Body=b"nothing")
        assert size_in(address) == 9
        with suppress(IntegrityError):  # a marker lets another one be written, which hides nothing
            keep(found, checkpoint(9, root=1))
        newest = found.newest("default")
        assert newest is not None
        assert read_checkpoint(newest[1])[0] == checkpoint(9)

    def test_a_bucket_that_is_not_there_is_told(
        self, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        missing = CheckpointBucket("s3://not-there/checkpoints")
        with pytest.raises(EnvironmentProblem, match="no such bucket: make it, or correct EVID"):
            keep(missing, checkpoint(1))
        with pytest.raises(EnvironmentProblem, match="there is no bucket 'not-there': make it"):
            missing.newest("default")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(EnvironmentProblem, match="the object storage does not allow it"):
            keep(CheckpointBucket(f"s3://{bucket.name}/checkpoints"), checkpoint(1))


def test_a_service_without_versions_keeps_them_too() -> None:
    bucket = CheckpointBucket("gs://any/prefix")
    bucket._objects.__dict__["store"] = MemoryStore()
    assert bucket.newest("default") is None
    for size in (3, 1_000, 20):
        keep(bucket, checkpoint(size))
        keep(bucket, checkpoint(size))
    found = bucket.newest("default")
    assert found is not None
    assert read_checkpoint(found[1])[0].size == 1_000
    with pytest.raises(IntegrityError, match="signs other 20 entries"):
        keep(bucket, checkpoint(20, root=1))


class TestFollowing:
    def test_only_the_newest_of_what_grew_meanwhile_goes(self) -> None:
        may_go, brought = threading.Event(), []

        def bring(one: Checkpoint, _: str) -> None:
            may_go.wait(10)
            brought.append(one.size)

        following = Following(bring, pace=0.01)
        for size in range(1, 50):
            following.grew(checkpoint(size), "note")
        may_go.set()
        following.close()
        assert brought[-1] == 49
        assert len(brought) <= 3
        following.grew(checkpoint(7), "an older one")
        following.close()
        assert brought[-1] == 49

    def test_what_failed_is_tried_again(self) -> None:
        tried: list[int] = []
        done = threading.Event()

        def bring(one: Checkpoint, _: str) -> None:
            tried.append(one.size)
            if len(tried) == 1:
                raise OSError(5, "the network is gone")
            if len(tried) == 2:
                raise KeyError("something no one thought of")
            done.set()

        following = Following(bring, pace=0.01)
        following.grew(checkpoint(3), "note")
        assert done.wait(10)
        following.close()
        assert tried == [3, 3, 3]

    def test_a_fork_is_an_alarm_and_is_not_tried_again(self) -> None:
        tried: list[int] = []

        def bring(one: Checkpoint, _: str) -> None:
            tried.append(one.size)
            raise IntegrityError("forked")

        following = Following(bring, pace=0.01)
        following.grew(checkpoint(3), "note")
        following.close()
        following.grew(checkpoint(4), "note")
        following.close()
        assert tried == [3]
        assert str(following.alarm("default")) == "forked"
        assert following.alarm("another") is None

    def test_what_hangs_keeps_no_process_from_ending(self) -> None:
        following = Following(lambda *_: time.sleep(60), closing=0.05)
        following.grew(checkpoint(3), "note")
        following.close()
        assert following.alarm("default") is None

    def test_a_forked_process_follows_by_itself(self, tmp_path: Path) -> None:
        file = tmp_path / "brought"

        def bring(one: Checkpoint, _: str) -> None:
            file.write_text(str(one.size))

        following = Following(bring)
        following.grew(checkpoint(1), "note")
        following.close()

        def child() -> None:
            following.grew(checkpoint(1), "note")
            following.close()

        file.unlink()
        with Child(child) as forked:
            forked.end()
        assert file.read_text() == "1"


class TestWorkspace:
    def test_the_bucket_follows_what_is_acknowledged(self, opening: Open, address: str) -> None:
        workspace = opening()
        for number in range(3):
            workspace.append(record(number))
        workspace.close()
        assert size_in(address) == 4
        again = opening()
        compared = again.trail.audit().compared_with
        assert compared[-1].startswith(f"checkpoint kept in {address}/default/")
        assert again.trail.audit().holds

    def test_a_log_that_was_cut_back_is_refused_on_another_machine(
        self, opening: Open, tmp_path: Path
    ) -> None:
        with opening() as workspace:
            workspace.append(record(1))
        shutil.copytree(tmp_path / "home", tmp_path / "monday")
        with opening() as workspace:
            workspace.append(record(2))
        with opening("monday") as restored:
            with pytest.raises(
                IntegrityError, match=r"2 entries do not continue the 3 that .* kept in s3://"
            ):
                restored.append(record(3))
            with pytest.raises(
                IntegrityError, match="name another prefix in EVIDENTIA_CHECKPOINTS"
            ):
                restored.append(record(3))
            report = restored.trail.audit()
            assert not report.holds
            assert "s3://" in str(report.findings[0])

    def test_a_log_that_is_gone_is_not_begun_anew(self, opening: Open, address: str) -> None:
        with opening() as workspace:
            workspace.append(record(1))
        with pytest.raises(IntegrityError, match=r"^the log that s3://.* signs is gone: bring"):
            opening("elsewhere").append(record(1))
        with opening("elsewhere", f"{address}-2") as begun:
            begun.append(record(1))
        with pytest.raises(IntegrityError, match="is of another log"):
            opening("elsewhere").append(record(2))

    def test_two_that_write_one_past_each_their_own_way_are_stopped(
        self, opening: Open, tmp_path: Path
    ) -> None:
        with opening() as workspace:
            workspace.append(record(1))
        shutil.copytree(tmp_path / "home", tmp_path / "copy")
        one, other = opening(), opening("copy")
        one.append(record(2))
        one.close()
        other.opened.continuing.put("default", value=True)  # it began before the first one wrote
        other.append(record(3))
        limit = time.monotonic() + 20
        while time.monotonic() < limit:
            try:
                other.append(record(4))
            except IntegrityError as error:
                assert "forked" in str(error) or "do not continue" in str(error)  # noqa: PT017 - when is not known
                break
            time.sleep(0.05)
        else:
            pytest.fail("the fork was not found")

    def test_what_did_not_follow_before_a_crash_does_at_the_next_start(
        self, opening: Open, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(Following, "grew", lambda *_: None)
            with opening() as workspace:
                workspace.append(record(1))
        assert size_in(address) == 0
        with opening() as workspace:
            workspace._acting.refuse_to_fork()
        assert size_in(address) == 2

    def test_a_bucket_that_cannot_be_asked_stops_the_first_append_and_no_later_one(
        self, opening: Open, bucket: Bucket, address: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        workspace = opening()
        workspace.append(record(1))
        assert workspace.opened.elsewhere is not None
        workspace.opened.elsewhere.close()
        configure("warning", "json")
        elsewhere = workspace.opened.elsewhere
        elsewhere._following._bring = _unreachable
        workspace.append(record(2))
        _until(lambda: "checkpoint_not_followed" in capsys.readouterr().err)
        elsewhere._following._bring = CheckpointBucket(address).keep
        workspace.close()
        assert size_in(address) == 3
        for one in bucket.client().list_objects_v2(Bucket=bucket.name)["Contents"]:
            bucket.client().delete_object(Bucket=bucket.name, Key=one["Key"])
        with pytest.raises(EnvironmentProblem, match="there is no bucket"):
            opening(checkpoints="s3://not-there/checkpoints").append(record(3))

    def test_several_know_of_one_log_and_the_largest_counts(
        self, opening: Open, address: str
    ) -> None:
        workspace = opening()
        home = workspace.opened.home
        elsewhere = Elsewhere(address)
        assert newest_known(home, "default", elsewhere) is None
        workspace.append(record(1))
        workspace.close()
        known = newest_known(home, "default", elsewhere)
        assert known is not None
        assert known.checkpoint.size == 2
        home.checkpoint_file("default").unlink()
        known = newest_known(home, "default", elsewhere)
        assert known is not None
        assert known.place.startswith(address)
        assert newest_known(home, "default") is None


def test_a_backup_is_compared_with_the_bucket_when_it_is_restored(
    opening: Open, address: str, tmp_path: Path
) -> None:
    store = BackupPlace(str(tmp_path / "backups"))
    with opening() as workspace:
        workspace.append(record(1))
        make_backup(workspace.opened, store)
        workspace.append(record(2))
        key = TrustedKey.parse(str(workspace.trail.public_key()))
    home = Home(tmp_path / "restored")
    report = restore_backup(
        store, Target(home, checkpoints=address), trusted=[key], anyway=True
    )
    assert [(lost.tenant, lost.size, lost.kept) for lost in report.lost] == [("default", 2, 3)]
    with opening("restored") as restored:
        with pytest.raises(IntegrityError, match="do not continue"):
            restored.append(record(3))
        with pytest.raises(ConflictError, match="name another prefix in EVIDENTIA_CHECKPOINTS"):
            restored.trail.accept_loss(reason="the disk is gone")
    shutil.copytree(tmp_path / "home" / "keys", home.folder / "keys")
    with opening("restored", f"{address}-after-the-loss") as restored:
        restored.trail.accept_loss(reason="the disk is gone")
        restored.append(record(3))


def test_no_call_is_made_while_the_log_is_held(
    postgres_place: Place, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    real = CheckpointBucket.keep
    others: list[Workspace] = []

    def slow(self: CheckpointBucket, one: Checkpoint, note: str) -> None:
        # while this goes on, another one appends to the same log
        if not held:
            held.append(True)
            others[0].append(record(2))
            held.append(False)
        real(self, one, note)

    monkeypatch.setattr(CheckpointBucket, "keep", slow)
    url, home = postgres_place.url, postgres_place.home.folder
    with (
        open_workspace(url, home=home, checkpoints=address) as workspace,
        open_workspace(url, home=home) as other,
    ):
        others.append(other)
        other.append(record(0))
        workspace.append(record(1))
        _until(lambda: held == [True, False])
    assert size_in(address) >= 3


def _unreachable(*_: Any) -> None:
    raise EnvironmentProblem("the object storage cannot be reached")


def _until(done: Callable[[], bool]) -> None:
    limit = time.monotonic() + 20
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.02)
