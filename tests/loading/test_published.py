"""Published logs from folders and web servers: verified whole, within limits, nowhere else."""

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import evidentia as ev
import tiers
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.web import Web, is_url, web_url
from evidentia.trail.note import VerifierKey
from places import record
from web_server import Answer, serving


def folder_answers(folder: Path, prefix: str = "") -> Callable[[str, bytes], Answer]:
    def answer(path: str, _: bytes) -> Answer:
        file = folder / path.removeprefix(f"/{prefix}").lstrip("/")
        return (200, {}, file.read_bytes()) if file.is_file() else (404, {}, b"")

    return answer


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VerifierKey, str]:
    """Give a published log of 600 entries, its key, and a checkpoint of 300 of them."""
    folder = tmp_path_factory.mktemp("log")
    with ev.open(folder / "home") as workspace:
        workspace.trail.public_key()
        workspace.trail.append_many([record(number) for number in range(299)])
        kept = workspace.trail.checkpoint()
        workspace.trail.append_many([record(number) for number in range(300)])
        workspace.trail.publish(folder / "public", versions=True)
        return folder / "public", workspace.trail.public_key(), kept


def test_a_log_in_a_folder_and_on_a_server_holds(log: tuple[Path, VerifierKey, str]) -> None:
    folder, key, kept = log
    seen: list[tuple[int, int]] = []
    report = ev.verify(
        folder, key=key, since=kept, progress=lambda done, total: seen.append((done, total))
    )
    assert report.holds
    assert seen == [(256, 600), (512, 600), (600, 600)]
    with serving(folder_answers(folder, "acme/log")) as url:
        assert ev.verify(f"{url}/acme/log/", key=key, since=kept).holds
        with pytest.raises(NotFoundError, match="there is no published log here"):
            ev.verify(f"{url}/elsewhere", key=key)


def test_every_change_of_a_published_file_is_found(
    log: tuple[Path, VerifierKey, str], tmp_path: Path
) -> None:
    folder, key, kept = log
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    copy = tmp_path / "copy"
    for file in files:
        data = (folder / file).read_bytes()
        for at in tiers.sample(list(range(0, len(data), max(1, len(data) // 40))), 2):
            shutil.copytree(folder, copy)
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            (copy / file).write_bytes(changed)
            assert not ev.verify(copy, key=key, since=kept).holds, (file, at)
            shutil.rmtree(copy)
        shutil.copytree(folder, copy)
        (copy / file).unlink()
        if str(file) == "checkpoint":
            with pytest.raises(NotFoundError):
                ev.verify(copy, key=key)
        else:
            # a body that is not published is no loss
            assert ev.verify(copy, key=key).holds == str(file).startswith("body/")
        shutil.rmtree(copy)


def memory_to_follow(home: Path, public: Path) -> int:
    """Publish a log, verify what was published, and return how much memory that took at most."""
    with ev.open(home) as workspace:
        workspace.trail.publish(public)
        key = workspace.trail.public_key()
    tracemalloc.start()
    try:
        assert ev.verify(public, key=key).holds
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_log_four_times_as_long_takes_little_more_memory_to_follow(tmp_path: Path) -> None:
    taken = []
    for size in (1_024, 4_096):
        with ev.open(tmp_path / f"{size}") as workspace:
            workspace.trail.append_many([record(0)] * size)
        taken.append(memory_to_follow(tmp_path / f"{size}", tmp_path / f"public-{size}"))
    assert taken[1] < taken[0] + 400_000 < 8_000_000


@pytest.mark.whole
def test_a_log_of_70_001_entries_is_followed_in_little_memory(
    large_home: Path, tmp_path: Path
) -> None:
    shutil.copytree(large_home, tmp_path / "home")
    assert memory_to_follow(tmp_path / "home", tmp_path / "public") < 8_000_000


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((302, {"location": "/public/checkpoint"}, b""), "sends elsewhere .* no redirect is"),
        ((500, {}, b""), "the server answered 500"),
        ((403, {}, b""), "the server answered 403"),
        ((200, {"content-encoding": "gzip"}, b"x"), "packs its files, and was asked not to"),
        ((200, {}, b"x" * 100_000), "larger than the 65,536 bytes that are read"),
    ],
)
def test_what_a_server_answers_beside_files_is_said(answer: Answer, says: str) -> None:
    with (
        serving(lambda *_: answer) as url,
        pytest.raises((EnvironmentProblem, InputError), match=says),
    ):
        ev.verify(url)


def test_a_server_that_is_slow_or_not_there_is_said() -> None:
    times = iter([0.0, 100.0, 100.0])
    with (
        serving(lambda *_: (200, {}, b"x")) as url,
        Web(url, clock=lambda: next(times)) as slow,
        pytest.raises(EnvironmentProblem, match="no answer within 30 seconds"),
    ):
        slow.get("checkpoint", 10)
    with pytest.raises(EnvironmentProblem, match="no connection"):
        ev.verify(url)


def test_urls_of_web_servers_and_nothing_else_are_taken() -> None:
    assert web_url("HTTP://LocalHost:80/a/") == "http://localhost/a"
    assert web_url("https://[::1]:8443") == "https://[::1]:8443"
    assert is_url("ftp://x")
    assert not is_url("C:/x")
    assert not is_url("folder/file")
    for url in (
        "ftp://x.test",
        "file:///etc",
        "http://",
        "http://a b",
        "http://x:99999",
        "http://é",
    ):
        with pytest.raises(InputError, match="is no URL of a web server"):
            ev.verify(url)
    with pytest.raises(InputError, match="a name or a password in it") as found:
        ev.verify("http://user:secret@x.test")
    assert "secret" not in str(found.value)
    with pytest.raises(InputError, match="leave out what stands behind the path"):
        ev.verify("http://x.test/?a=b")
