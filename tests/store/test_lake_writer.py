import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidentia.errors import EnvironmentProblem
from evidentia.store.lake import FileLake


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    return FileLake(tmp_path / "lake")


def kept(lake: FileLake) -> list[Path]:
    return sorted(path for path in lake._folder.rglob("*") if path.is_file())


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=50), max_size=5))
def test_pieces_are_kept_as_if_they_were_put_at_once(lake: FileLake, pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    with lake.writer() as writer:
        for piece in pieces:
            writer.write(piece)
        digest = writer.keep()
        assert writer.byte_count == len(whole)
        assert lake.get(digest) == whole
    assert digest == sha256(whole).hexdigest()
    path = lake._path(digest)
    written = path.stat()
    assert written.st_mode & 0o777 == 0o600
    assert lake.put(whole) == digest
    assert path.stat() == written, "what is there is not written again"
    assert not [file for file in kept(lake) if file.name.startswith(".")]


def test_what_is_not_kept_is_gone(lake: FileLake) -> None:
    with lake.writer() as writer:
        writer.write(b"draft")
        assert len(kept(lake)) == 1
    assert kept(lake) == []
    with pytest.raises(TypeError), lake.writer() as writer:
        writer.write("no bytes")  # type: ignore[arg-type]
    assert kept(lake) == []


def test_the_same_bytes_are_not_written_again_and_damaged_ones_are_healed(lake: FileLake) -> None:
    digest = lake.put(b"data")
    before = lake._path(digest).stat()
    with lake.writer() as writer:
        writer.write(b"data")
        assert writer.keep() == digest
    after = lake._path(digest).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    lake._path(digest).write_bytes(b"other")
    with lake.writer() as writer:
        writer.write(b"data")
        writer.keep()
    assert lake.get(digest) == b"data"
    assert kept(lake) == [lake._path(digest)]


def test_a_full_disk_leaves_nothing_behind(lake: FileLake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.put(b"something")
    before = kept(lake)

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with lake.writer() as writer:
        writer.write(b"data")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentProblem, match="No space left on device"):
            writer.keep()
    assert kept(lake) == before


def test_bytes_are_synchronised_before_they_are_in_their_place(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.put(b"first")
    done: list[str] = []
    fsync, move = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        done.append("folder" if Path(f"/proc/self/fd/{handle}").is_dir() else "file")
        fsync(handle)

    def noted_move(source: Path, target: Path) -> Path:
        assert source.read_bytes() == b"data"
        done.append("moved")
        return move(source, target)

    with lake.writer() as writer:
        writer.write(b"data")
        monkeypatch.setattr(os, "fsync", noted_fsync)
        monkeypatch.setattr(Path, "replace", noted_move)
        writer.keep()
    assert [step for step in done if step != "folder"] == ["file", "moved"]
    assert set(done[done.index("moved") + 1 :]) == {"folder"}
