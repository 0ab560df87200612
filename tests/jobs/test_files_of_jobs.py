"""Files of jobs are where the lake is: every server finds them, and they go with their job."""

from pathlib import Path

import pytest

from evidentia.canonical import sha256_hex
from evidentia.errors import GoneError, InputError
from evidentia.store.home import Home
from evidentia.store.job_files import FolderJobFiles, JobFiles, open_job_files
from evidentia.store.objects import ObjectLake
from seaweed import Bucket


@pytest.fixture(params=["home", "folder", "bucket"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    if request.param == "home":
        return None
    if request.param == "folder":
        return str(tmp_path / "shared")
    found: Bucket = request.getfixturevalue("bucket")
    return found.url


@pytest.fixture
def servers(lake: str | None, tmp_path: Path) -> tuple[JobFiles, JobFiles]:
    """Two servers: with a home each, unless the files are in it."""
    homes = Home(tmp_path / "one"), Home(tmp_path / ("one" if lake is None else "two"))
    return open_job_files(lake, homes[0]), open_job_files(lake, homes[1])


def test_what_one_server_keeps_another_finds_until_it_goes_with_its_job(
    servers: tuple[JobFiles, JobFiles],
) -> None:
    one, two = servers
    kept = [one.put("acme", "job_1", data) for data in (b"asked", b"made")]
    beside = one.put("acme", "job_2", b"asked")
    assert kept == [sha256_hex(b"asked"), sha256_hex(b"made")]
    assert [two.get("acme", "job_1", digest) for digest in kept] == [b"asked", b"made"]
    two.remove("acme", "job_1")
    for digest in kept:
        with pytest.raises(GoneError):
            one.get("acme", "job_1", digest)
    assert two.get("acme", "job_2", beside) == b"asked"
    two.remove("acme", "job_1")


def test_a_place_is_begun_until_something_is_in_it(servers: tuple[JobFiles, JobFiles]) -> None:
    one, two = servers
    assert (two.only("acme", "file_1"), two.is_begun("acme", "file_1", 300)) == (None, False)
    one.begin("acme", "file_1")
    assert (two.only("acme", "file_1"), two.is_begun("acme", "file_1", 300)) == (None, True)
    assert not two.is_begun("acme", "file_1", -300)
    one.put("acme", "file_1", b"made")
    assert (two.only("acme", "file_1"), two.is_begun("acme", "file_1", 300)) == (b"made", False)


def test_old_places_are_told_of_every_tenant(servers: tuple[JobFiles, JobFiles]) -> None:
    one, two = servers
    one.put("acme", "job_1", b"asked")
    one.put("globex", "job_2", b"asked")
    assert two.older(300) == []
    assert two.older(-300) == [("acme", "job_1"), ("globex", "job_2")]


@pytest.mark.parametrize("name", ["..", "a/b", "", "A"])
def test_a_name_leads_nowhere_else(servers: tuple[JobFiles, JobFiles], name: str) -> None:
    for place in ((name, "job_1"), ("acme", name)):
        with pytest.raises(InputError, match="names no job"):
            servers[0].put(*place, b"asked")


def test_what_was_begun_in_the_home_is_still_found(bucket: Bucket, tmp_path: Path) -> None:
    home = Home(tmp_path / "one")
    digest = FolderJobFiles(home.jobs).put("acme", "job_1", b"asked")
    now = open_job_files(bucket.url, home)
    assert now.get("acme", "job_1", digest) == b"asked"
    assert now.older(-300) == [("acme", "job_1")]
    now.remove("acme", "job_1")
    with pytest.raises(GoneError):
        now.get("acme", "job_1", digest)


def test_they_are_no_part_of_a_tenants_lake(bucket: Bucket, tmp_path: Path) -> None:
    open_job_files(bucket.url, Home(tmp_path)).put("acme", "job_1", b"asked")
    lake = ObjectLake(bucket.url)
    assert [*lake.digests(), *lake.of("acme").digests(), *lake.of("jobs").digests()] == []
