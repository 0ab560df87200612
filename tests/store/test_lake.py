"""The lake: the same bytes once, whole or not at all, and never others than were kept."""

import os
import signal
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.store.lake import FileLake

DATA = b"All permanent employees shall receive 15 days of paid annual leave."
DIGEST = sha256(DATA).hexdigest()


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    return FileLake(tmp_path / "lake")


def kept(lake: FileLake) -> list[Path]:
    """Return all files of a lake, hidden ones too."""
    return sorted(path for path in lake._folder.rglob("*") if path.is_file())


def place(lake: FileLake, digest: str = DIGEST) -> Path:
    return lake._folder / "sha256" / digest[:2] / digest[2:4] / digest


def test_what_was_put_is_given_back_under_its_digest(lake: FileLake) -> None:
    assert lake.put(DATA) == DIGEST
    assert lake.get(DIGEST) == DATA
    assert kept(lake) == [place(lake)]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_come_back_as_they_were(lake: FileLake, data: bytes) -> None:
    digest = lake.put(data)
    assert digest == sha256(data).hexdigest()
    assert lake.get(digest) == data


def test_the_same_bytes_are_kept_once_and_not_written_again(lake: FileLake) -> None:
    lake.put(DATA)
    written = place(lake).stat()
    assert lake.put(DATA) == DIGEST
    again = place(lake).stat()  # the time of access is another: it was read to be compared
    assert (again.st_ino, again.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert len(kept(lake)) == 1


def test_other_bytes_are_kept_beside_them(lake: FileLake) -> None:
    digests = {lake.put(bytes([number])) for number in range(20)}
    assert len(digests) == len(kept(lake)) == 20


def test_bytes_that_are_put_together_are_kept_as_those_put_alone(lake: FileLake) -> None:
    some = [DATA, b"", bytes(70_000), DATA]
    lake.put(b"there before")
    place(lake).parent.mkdir(parents=True)
    place(lake).write_bytes(DATA[:-1])  # damaged, and mended
    assert lake.put_all(some) == [sha256(one).hexdigest() for one in some]
    assert [lake.get(sha256(one).hexdigest()) for one in some] == some
    assert len(kept(lake)) == 4
    assert place(lake).stat().st_mode & 0o777 == 0o600
    assert lake.put_all([]) == []


def test_bytes_that_are_put_together_are_synchronised_before_any_is_moved(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Path | str] = []
    fsync, move = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        synced = Path(f"/proc/self/fd/{handle}").readlink()
        done.append(synced if synced.is_dir() else "file")
        fsync(handle)

    def noted_move(source: Path, target: Path) -> Path:
        done.append("moved")
        return move(source, target)

    lake.put(b"so that there is a folder")
    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_move)
    digests = lake.put_all([DATA, b"other"])
    steps = [step for step in done if isinstance(step, str)]
    assert steps == ["file", "file", "moved", "moved"]
    after = done[len(done) - done[::-1].index("moved") :]
    leading = {folder for digest in digests for folder in place(lake, digest).parents[:4]}
    assert set(after) == leading
    assert len(after) == len(leading)
    done.clear()
    lake.put_all([DATA, b"other"])  # who put them first may have been killed before that
    assert set(done) == leading


def test_a_file_is_readable_by_its_owner_alone(lake: FileLake) -> None:
    lake.put(DATA)
    assert place(lake).stat().st_mode & 0o777 == 0o600
    assert place(lake).parent.stat().st_mode & 0o777 == 0o700


def test_bytes_are_written_beside_their_place_synchronised_and_then_moved(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, move = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        synced = Path(f"/proc/self/fd/{handle}").readlink()
        done.append("folder" if synced.is_dir() else "file")
        assert synced != place(lake), "the place itself is never written to"
        fsync(handle)

    def noted_move(source: Path, target: Path) -> Path:
        assert source.parent == lake._folder
        assert source.read_bytes() == DATA
        assert not target.exists()
        done.append("moved")
        return move(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_move)
    lake.put(DATA)
    made = [step for step in done if step != "folder"]
    assert made == ["file", "moved"]
    assert set(done[done.index("moved") + 1 :]) == {"folder"}
    assert done[0] == "folder", "the new folders are synchronised too"


def test_bytes_that_are_there_are_durable_too_when_they_are_put_again(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever put them first may have been killed between moving them and synchronising."""
    lake.put(DATA)
    synced: list[Path] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink())
    )
    lake.put(DATA)
    folder = place(lake).parent
    assert synced == [folder, folder.parent, folder.parent.parent, lake._folder]
    synced.clear()
    with lake.writer() as writer:
        writer.write(DATA)
        writer.keep()
    assert synced[-1] == lake._folder
    assert folder in synced


def test_what_a_killed_process_left_in_a_lake_is_removed_by_the_next_that_writes(
    tmp_path: Path,
) -> None:
    def write_until_killed() -> None:
        with FileLake(tmp_path / "lake").writer() as writer:
            writer.write(DATA)
            os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        write_until_killed()
    os.waitpid(pid, 0)
    left = [path.name for path in (tmp_path / "lake").iterdir()]
    assert [name for name in left if name.startswith(".")]
    with FileLake(tmp_path / "lake").writer() as being_written:
        being_written.write(DATA)
        FileLake(tmp_path / "lake").put(b"other")
        (alive,) = [path for path in (tmp_path / "lake").iterdir() if path.name.startswith(".")]
        assert alive.name not in left
        being_written.keep()
    assert [path.name for path in (tmp_path / "lake").iterdir()] == ["sha256"]


def test_a_write_that_fails_leaves_nothing_behind(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentProblem, match=r"cannot be (written|made) .*No space left"):
            lake.put(DATA)
    assert kept(lake) == []
    with pytest.raises(IntegrityError, match="gone from the lake"):
        lake.get(DIGEST)
    lake.put(DATA)
    assert lake.get(DIGEST) == DATA


@pytest.mark.parametrize(
    "damaged", [b"", DATA[:-1], DATA + b"\n", DATA.replace(b"15", b"25"), bytes(len(DATA))]
)
def test_a_damaged_file_is_found_and_healed_by_its_bytes(lake: FileLake, damaged: bytes) -> None:
    lake.put(DATA)
    place(lake).write_bytes(damaged)
    with pytest.raises(IntegrityError, match=f"{DIGEST}: its bytes were changed"):
        lake.get(DIGEST)
    assert lake.put(DATA) == DIGEST
    assert lake.get(DIGEST) == DATA
    assert kept(lake) == [place(lake)]


def test_a_file_under_the_name_of_another_is_found(lake: FileLake) -> None:
    other = lake.put(b"other")
    lake.put(DATA)
    place(lake, other).replace(place(lake))
    with pytest.raises(IntegrityError, match="changed since they were kept"):
        lake.get(DIGEST)


def test_a_missing_file_is_said_to_be_missing_and_where(lake: FileLake) -> None:
    with pytest.raises(IntegrityError, match=f"{place(lake)}: gone from the lake; bring it back"):
        lake.get(DIGEST)


def test_a_file_that_cannot_be_read_says_why(lake: FileLake) -> None:
    place(lake).mkdir(parents=True)
    with pytest.raises(EnvironmentProblem, match=r"cannot be read .Is a directory"):
        lake.get(DIGEST)
    with pytest.raises(EnvironmentProblem, match="cannot be written"):
        lake.put(DATA)


@pytest.mark.parametrize(
    "digest",
    [
        "",
        DIGEST[:-1],
        f"{DIGEST}0",
        DIGEST.upper(),
        f"{DIGEST}\n",
        f"{DIGEST[:-1]}g",
        "../" * 21 + "x",
        "/etc/passwd",
        f"{DIGEST[:-1]}\0",
        "٣" * 64,
        "x" * 10_000,
    ],
)
def test_what_is_no_digest_leads_to_no_file(lake: FileLake, digest: str) -> None:
    with pytest.raises(InputError, match="is not a SHA-256 digest in hexadecimal") as refused:
        lake.get(digest)
    assert len(str(refused.value)) < 400


def test_bytes_are_removed_where_the_law_wants_it(lake: FileLake) -> None:
    lake.put(DATA)
    lake.remove(DIGEST)
    lake.remove(DIGEST)
    assert kept(lake) == []
    place(lake).mkdir()
    with pytest.raises(EnvironmentProblem, match="cannot be removed"):
        lake.remove(DIGEST)
