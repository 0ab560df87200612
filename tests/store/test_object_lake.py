"""A lake in a bucket, on a real object storage."""

import io
import os
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

import tiers
from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, GoneError, InputError, IntegrityError
from evidentia.store import objects
from evidentia.store.backup_places import BackupPlace
from evidentia.store.home import Home
from evidentia.store.lake import FileLake, MovedLake, Placed
from evidentia.store.lakes import open_lake
from evidentia.store.objects import ObjectLake, is_bucket, parts_of, problem
from seaweed import Bucket, environment

DATA = "Leave is 30 days — «ثلاثون يوما».".encode()
DIGEST = sha256_hex(DATA)


@pytest.fixture
def lake(bucket: Bucket) -> ObjectLake:
    return ObjectLake(bucket.url).of("acme")


def key_of(digest: str = DIGEST, tenant: str = "acme") -> str:
    return f"evidence/{tenant}/sha256/{digest[:2]}/{digest[2:4]}/{digest}"


def keys(bucket: Bucket) -> list[str]:
    found = bucket.client().list_objects_v2(Bucket=bucket.name)
    return [one["Key"] for one in found.get("Contents", ())]


def test_what_was_put_is_given_back_under_its_digest(lake: ObjectLake, bucket: Bucket) -> None:
    assert lake.put(DATA) == DIGEST
    assert keys(bucket) == [key_of()]
    assert lake.get(DIGEST) == DATA
    assert lake.check(DIGEST) == len(DATA)
    assert lake.holds(DIGEST)
    with lake.open(DIGEST) as file:
        assert isinstance(file, io.BufferedReader)
        assert file.read() == DATA


def test_several_are_kept_at_once_and_listed_in_order(lake: ObjectLake) -> None:
    data = [f"document {number}".encode() for number in range(30)]
    assert lake.put_all(data) == [sha256_hex(one) for one in data]
    assert list(lake.digests()) == sorted(sha256_hex(one) for one in data)


def test_a_tenant_finds_nothing_of_another_one(lake: ObjectLake, bucket: Bucket) -> None:
    lake.put(DATA)
    other = ObjectLake(bucket.url).of("other")
    assert not other.holds(DIGEST)
    assert list(other.digests()) == []
    with pytest.raises(GoneError, match=r"gone from the lake; bring it back from a copy"):
        other.get(DIGEST)
    other.put(DATA)
    lake.remove(DIGEST)
    assert other.get(DIGEST) == DATA


def test_bytes_are_written_once(locked_bucket: Bucket) -> None:
    lake = ObjectLake(locked_bucket.url).of("acme")
    for _ in range(3):
        lake.put(DATA)
    assert len(lake.locks.versions(key_of())) == 1


@pytest.mark.parametrize("large", [False, True], ids=["at once", "in parts"])
def test_damaged_bytes_are_never_given_and_mended_when_they_are_kept_again(
    locked_bucket: Bucket, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    if large:
        monkeypatch.setattr(objects, "LARGE", len(DATA))
    lake = ObjectLake(locked_bucket.url).of("acme")
    client, name = locked_bucket.client(), locked_bucket.name
    lake.put(DATA)
    for damage in (DATA[:-1], DATA[:-1] + b"!"):
        for version in lake.locks.versions(key_of()):  # of which any would be found
            client.delete_object(Bucket=name, Key=key_of(), VersionId=version.version)
        client.put_object(Bucket=name, Key=key_of(), Body=damage)
        for read in (lake.get, lake.check):
            with pytest.raises(IntegrityError, match=r"its bytes were changed since they were"):
                read(DIGEST)
        with pytest.raises(IntegrityError, match=r"changed"), lake.open(DIGEST):
            pass
        with lake.writer() as writer:
            writer.write(DATA)
            assert writer.keep() == DIGEST
        assert lake.get(DIGEST) == DATA
        placed = lake.placed(DIGEST)
        assert placed is not None
        mended = client.get_object(Bucket=name, Key=key_of(), VersionId=placed.version)
        assert mended["Body"].read() == DATA  # which is the version that is locked
        assert (lake.put(DATA), lake.placed(DIGEST)) == (DIGEST, placed)
        assert len(lake.locks.versions(key_of())) == 2  # the damaged one, and no third


def test_what_is_gone_says_so(lake: ObjectLake) -> None:
    for read in (lake.get, lake.check):
        with pytest.raises(GoneError, match=rf"{DIGEST}: gone from the lake"):
            read(DIGEST)
    with pytest.raises(GoneError, match=r"gone"), lake.open(DIGEST):
        pass
    lake.remove(DIGEST)
    assert lake.placed(DIGEST) is None
    assert lake.presigned(DIGEST, 60) is None


@pytest.mark.parametrize("name", ["", "../../etc/passwd", DIGEST.upper(), f"{DIGEST}.1"])
def test_what_is_no_digest_is_refused(lake: ObjectLake, name: str) -> None:
    with pytest.raises(InputError, match=r"is not a SHA-256 digest"):
        lake.get(name)


def test_pieces_are_kept_as_if_they_were_put_at_once(lake: ObjectLake, bucket: Bucket) -> None:
    with lake.writer() as writer:
        for number in range(0, len(DATA), 7):
            writer.write(DATA[number : number + 7])
        assert writer.byte_count == len(DATA)
        assert writer.keep() == DIGEST
    assert lake.get(DIGEST) == DATA
    with lake.writer() as writer:
        writer.write(b"not kept")
    assert keys(bucket) == [key_of()]


def test_large_bytes_go_and_come_in_parts(
    locked_bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = ObjectLake(locked_bucket.url).of("acme")
    data = os.urandom(1 << 20) * 20
    digest = sha256(data).hexdigest()
    assert len(data) > objects.LARGE
    with lake.writer() as writer:
        writer.write(data)
        assert writer.keep() == digest
    assert lake.put(data) == digest
    (version,) = lake.locks.versions(key_of(digest))
    tag = locked_bucket.client().head_object(Bucket=locked_bucket.name, Key=version.key)["ETag"]
    assert "-" in tag  # which is how S3 marks what was sent in parts
    assert lake.check(digest) == len(data)
    assert lake.get(digest) == data


def test_a_marker_and_a_later_version_hide_nothing(locked_bucket: Bucket) -> None:
    lake = ObjectLake(locked_bucket.url).of("acme")
    lake.put(DATA)
    client, name = locked_bucket.client(), locked_bucket.name
    client.delete_object(Bucket=name, Key=key_of())
    assert lake.get(DIGEST) == DATA
    client.put_object(Bucket=name, Key=key_of(), Body=b"another")
    assert lake.get(DIGEST) == DATA
    assert lake.check(DIGEST) == len(DATA)


def test_removing_takes_every_version_and_marker(locked_bucket: Bucket) -> None:
    lake = ObjectLake(locked_bucket.url).of("acme")
    lake.put(DATA)
    locked_bucket.client().delete_object(Bucket=locked_bucket.name, Key=key_of())
    lake.put(DATA)
    assert len(lake.locks.versions(key_of())) == 3
    lake.remove(DIGEST)
    assert lake.locks.versions(key_of()) == []


def test_what_was_kept_before_the_bucket_had_versions_is_removed_too(
    lake: ObjectLake, bucket: Bucket
) -> None:
    lake.put(DATA)
    lake.put(b"another")
    client, name = bucket.client(), bucket.name
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    lake.remove(DIGEST)
    assert lake.locks.versions(key_of()) == []
    assert list(lake.digests()) == [sha256_hex(b"another")]


def test_a_later_copy_is_safe_from_the_removal_of_the_first(lake: ObjectLake) -> None:
    lake.put(DATA)
    lake.put(DATA, copy=1)
    lake.remove(DIGEST)
    assert lake.get(DIGEST) == DATA
    assert list(lake.digests()) == [DIGEST]
    lake.remove(DIGEST, through=1)
    assert not lake.holds(DIGEST)


def test_a_presigned_address_gives_the_bytes_to_anyone(lake: ObjectLake, bucket: Bucket) -> None:
    from urllib.request import urlopen  # noqa: PLC0415 - a client that has no keys

    lake.put(DATA)
    for one in (lake, ObjectLake(bucket.url).of("acme")):
        address = one.presigned(DIGEST, 60)
        assert address is not None
        assert "X-Amz-Expires=60" in address
        with urlopen(address) as response:
            assert response.read() == DATA


def test_it_says_what_stands_in_the_way(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ObjectLake("s3://no-such-bucket/x").of("acme")
    for ask in (missing.put, lambda _: missing.get(DIGEST), lambda _: list(missing.digests())):
        with pytest.raises(
            EnvironmentProblem, match=r"'no-such-bucket': make it, or correct its name"
        ):
            ask(DATA)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    denied = ObjectLake(bucket.url).of("acme")
    for ask in (denied.put, lambda _: denied.get(DIGEST), lambda _: list(denied.digests())):
        with pytest.raises(EnvironmentProblem, match=r"does not allow it: look at the keys"):
            ask(DATA)
    with pytest.raises(
        EnvironmentProblem, match=r"does not allow it \(GetObjectLockConfiguration\)"
    ):
        _ = denied.locks.is_on
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setitem(objects._RETRIES, "max_retries", 0)
    away = ObjectLake(bucket.url).of("acme")
    for ask in (away.put, lambda _: away.get(DIGEST), lambda _: list(away.digests())):
        with pytest.raises(EnvironmentProblem, match=r"cannot be reached: is its address right"):
            ask(DATA)


def test_both_clients_ask_the_same_service_in_the_same_region(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", bucket.endpoint)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    lake = ObjectLake(bucket.url).of("acme")
    lake.put(DATA)
    assert len(lake.locks.versions(key_of())) == 1
    for region, default, found in (
        ("eu-west-1", "eu-north-1", "eu-west-1"),
        (None, "eu-north-1", "eu-north-1"),
        (None, None, "us-east-1"),
    ):
        for name, value in {"AWS_REGION": region, "AWS_DEFAULT_REGION": default}.items():
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        there = ObjectLake(bucket.url).of("acme")
        link = there.locks.presigned(Placed(DIGEST, key_of(), "1"), 60)
        for one in (link, str(there.presigned(DIGEST, 60))):
            assert f"%2F{found}%2Fs3%2Faws4_request" in one


def test_without_its_packages_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[s3\]'"):
        ObjectLake("s3://bucket").of("acme").put(DATA)


def test_an_address_names_the_service_the_bucket_and_a_prefix(tmp_path: Path) -> None:
    assert parts_of("s3://bucket") == ("s3", "bucket", "")
    assert parts_of("gs://my.bucket/a/b/") == ("gs", "my.bucket", "a/b")
    for wrong in ("http://bucket/a", "s3://", "s3://b/../c", "s3://bucket//a", "bucket"):
        with pytest.raises(EnvironmentProblem, match=r"is no address of a bucket: write it as s3:"):
            parts_of(wrong)
    with pytest.raises(
        EnvironmentProblem, match=r"'s3://\*\*\*@bucket/a' is no address"
    ) as refused:
        parts_of("s3://KEY:s3c/r3t@bucket/a")
    assert "r3t" not in str(refused.value)


def test_what_begins_like_an_address_and_is_none_is_no_folder(tmp_path: Path) -> None:
    assert is_bucket("s3://bucket/prefix")
    assert not any(
        is_bucket(folder) for folder in ("/data", "data/lake", "./a:b", "lake.d", "s3/x")
    )
    for wrong in ("s3:/bucket", "S3:bucket", "s3//bucket", "gs:bucket/x"):
        with pytest.raises(InputError, match="is neither a bucket nor a folder: write a bucket as"):
            is_bucket(wrong)
        with pytest.raises(InputError, match="is neither"):
            open_lake(wrong, Home(tmp_path), by_tenant=True)
        with pytest.raises(InputError, match="is neither"):
            BackupPlace(wrong)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AWS_ENDPOINT_URL", "localhost:8334", "is no address of a web server"),
        ("AWS_ENDPOINT_URL", "http://localhost:83x3", "is no address of a web server"),
        ("AWS_ENDPOINT", "http:/localhost", "is no address of a web server"),
        ("AWS_ENDPOINT_URL_S3", "http://é.example", "is no address of a web server"),
        ("AWS_ENDPOINT_URL", "http://localhost:8334\n", "has a space or a line break"),
        ("AWS_ACCESS_KEY_ID", "a-key\n", "has a space or a line break"),
        ("AWS_REGION", "eu central", "has a space or a line break"),
    ],
)
def test_a_variable_that_would_end_the_process_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentProblem, match=f"^{name} {said}") as refused:
        ObjectLake("s3://bucket").of("acme").put(DATA)
    assert value.strip() not in str(refused.value)


def test_what_the_service_says_is_wrong_is_said() -> None:
    error = Exception(
        'Server returned 400: <?xml version="1.0"?>\n<Error><Code>InvalidBucketName</Code>'
        "<Message>The specified bucket is not valid.</Message></Error>"
    )
    assert str(problem("s3://b/x", error)) == (
        "s3://b/x: the object storage failed: The specified bucket is not valid."
    )


@pytest.fixture
def moved(tmp_path: Path, lake: ObjectLake) -> MovedLake:
    return MovedLake(lake, FileLake(tmp_path / "lake"))


def test_a_lake_that_moved_reads_what_the_older_one_has(moved: MovedLake, bucket: Bucket) -> None:
    old = moved.before.put(b"from before")
    new = moved.put(DATA)
    assert keys(bucket) == [key_of()]
    assert [moved.get(old), moved.get(new)] == [b"from before", DATA]
    assert moved.check(old) == len(b"from before")
    with moved.open(old) as file:
        assert file.read() == b"from before"
    assert list(moved.digests()) == sorted([old, new])
    assert moved.holds(old)
    moved.remove(old)
    assert moved.before.holds(old)  # who else refers to it is not this lake's to say
    moved.remove(new)
    with pytest.raises(GoneError, match=r"s3://.*gone from the lake"):
        moved.get(new)


class AsAmazon(BaseHTTPRequestHandler):
    """Answers as Amazon's S3 does for a bucket with a default retention: no bytes without a digest.

    SeaweedFS asks for none.
    """

    protocol_version = "HTTP/1.1"
    parts: ClassVar[list[bytes]] = []

    def do_HEAD(self) -> None:
        self.answer(404)

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        said = self.headers.get("x-amz-checksum-sha256", "")
        if said != b64encode(sha256(data).digest()).decode():
            self.answer(400, b"<Error><Code>InvalidRequest</Code></Error>")
        else:
            self.parts.append(data)
            self.answer(200, b"", {"ETag": '"tag"', "x-amz-checksum-sha256": said})

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("content-length", "0")))
        if "uploads" in self.path:
            assert self.headers["x-amz-checksum-algorithm"] == "SHA256"
            begun = b"<UploadId>1</UploadId>"
            body = b"<InitiateMultipartUploadResult>%b</InitiateMultipartUploadResult>" % begun
        else:  # what it refuses of parts that were sent with digests
            assert asked.count(b"<ChecksumSHA256>") == asked.count(b"<Part>") > 1
            body = (
                b'<CompleteMultipartUploadResult><ETag>"tag"</ETag></CompleteMultipartUploadResult>'
            )
        self.answer(200, body)

    def answer(self, code: int, body: bytes = b"", headers: Mapping[str, str] = {}) -> None:
        self.send_response(code)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_what_is_sent_has_its_digest_which_a_default_retention_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), AsAmazon) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, value in environment(f"http://127.0.0.1:{server.server_port}").items():
            monkeypatch.setenv(name, value)
        lake, large = ObjectLake("s3://bucket/x").of("acme"), bytes(objects.LARGE + 1)
        assert lake.put(DATA) == DIGEST
        assert lake.put(large) == sha256_hex(large)
        server.shutdown()
    assert sum(map(len, AsAmazon.parts)) == len(DATA) + len(large)


SENDING = """
import sys
from pathlib import Path
from evidentia.store.objects import ObjectLake

def peak():  # of this program alone: what getrusage says begins with what started it
    told = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in told if line.startswith("VmHWM")).split()[1]) // 1024

lake = ObjectLake(sys.argv[1]).of("acme")
lake.holds("0" * 64)
before = peak()
with lake.writer() as writer:
    for number in range(int(sys.argv[2])):
        writer.write(number.to_bytes(4, "big") * 2**18)
    print("sending", flush=True)
    digest = writer.keep()
with lake.open(digest) as file:
    while file.read(2**20):
        pass
print(digest, lake.check(digest), peak() - before)
"""


def test_large_bytes_take_little_memory_both_ways(bucket: Bucket) -> None:
    megabytes = tiers.count(600, short=170)
    ran = subprocess.run(
        [sys.executable, "-c", SENDING, bucket.url, str(megabytes)],
        capture_output=True,
        text=True,
        check=True,
    )
    _, size, grown = ran.stdout.split()[1:]
    assert int(size) == megabytes * 2**20
    assert int(grown) < 120  # eight parts of 8 MiB are on their way at once


def test_what_a_killed_process_was_sending_is_not_there_and_can_be_sent_again(
    locked_bucket: Bucket,
) -> None:
    client, name = locked_bucket.client(), locked_bucket.name
    command = [sys.executable, "-c", SENDING, locked_bucket.url, "120"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"sending\n"
        limit = time.monotonic() + 20
        while not client.list_multipart_uploads(Bucket=name).get("Uploads"):
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.kill()
    lake = ObjectLake(locked_bucket.url).of("acme")
    assert list(lake.digests()) == []
    (left,) = client.list_multipart_uploads(Bucket=name)["Uploads"]  # which a rule removes
    assert not lake.holds(left["Key"].rpartition("/")[2])
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    digest = ran.stdout.split()[1]
    assert left["Key"] == key_of(digest)
    assert len(lake.locks.versions(key_of(digest))) == 1
