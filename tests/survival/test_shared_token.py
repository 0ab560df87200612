"""Several servers with homes of their own, one token, one bucket, and one log on PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import tiers
from evidentia.store.checkpoint_bucket import CheckpointBucket
from evidentia.store.keys import KeyPlace
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.signing import AnnouncedKey
from places import Place
from seaweed import Bucket
from softhsm import SoftToken

_SERVER = """
import sys
from evidentia.workspace import open_workspace
from places import record

url, home, keys, checkpoints, name = sys.argv[1:]
with open_workspace(url, home=home, keys=keys, checkpoints=checkpoints) as workspace:
    print("ready", flush=True)
    for number, line in enumerate(sys.stdin):
        if line == "rotate\\n":
            print(workspace.trail.rotate_key(), flush=True)
        elif line == "secret\\n":
            print(workspace.opened.keys.secret("default").hex(), flush=True)
        else:
            named = record(number, obligation_id=f"{name}-{number}")
            print(workspace.append(named).seq, flush=True)
"""


@dataclass
class Server:
    """A process that appends as it is told; what it said is what it acknowledged."""

    name: str
    process: "subprocess.Popen[str]"
    acknowledged: dict[str, int] = field(default_factory=dict)
    asked: int = 0

    def tell(self, what: str) -> str:
        """Tell it to do something, and return what it says of it."""
        stdin, stdout = _pipe(self.process.stdin), _pipe(self.process.stdout)
        stdin.write(f"{what}\n")
        stdin.flush()
        self.asked += 1
        said = stdout.readline().strip()
        assert said, f"server {self.name} ended: {self.process.poll()}"
        return said

    def append(self) -> None:
        """Have it append one record."""
        name = f"{self.name}-{self.asked}"
        self.acknowledged[name] = int(self.tell("append"))


def _pipe(found: "IO[str] | None") -> "IO[str]":
    assert found is not None
    return found


@contextmanager
def serving(
    name: str, place: Place, home: Path, token: SoftToken, checkpoints: str
) -> Iterator[Server]:
    """Run a server with a home of its own."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(place.url), str(home), token.uri, checkpoints, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | token.environment | {"PYTHONPATH": path},
    )
    try:
        assert _pipe(process.stdout).readline() == "ready\n"
        yield Server(name, process)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()


def test_servers_with_one_token_append_to_one_log_through_rotations_and_kills(
    postgres_place: Place, token: SoftToken, bucket: Bucket, tmp_path: Path
) -> None:
    rounds = tiers.count(30, short=1)
    checkpoints = f"s3://{bucket.name}/checkpoints"
    acknowledged: dict[str, int] = {}
    place = postgres_place
    with serving("a", place, tmp_path / "a", token, checkpoints) as a:
        a.append()
        for number in range(rounds):
            with serving(f"b{number}", place, tmp_path / "b", token, checkpoints) as b:
                b.append()
                a.append()
                new = a.tell("rotate")
                b.append()
                assert b.tell("secret") == a.tell("secret")
                # it is killed with a record on its way, which is there once or not at all
                stdin = _pipe(b.process.stdin)
                stdin.write("append\n")
                stdin.flush()
                b.process.send_signal(signal.SIGKILL)
                b.process.wait()
                a.append()
                acknowledged |= b.acknowledged
        acknowledged |= a.acknowledged
    assert not list(tmp_path.rglob("*.pem"))
    with open_workspace(place.url, home=tmp_path / "auditor") as auditor:
        report = auditor.trail.audit(keys=[new])
        assert report.holds, report.findings
        assert {key.place for key in _keys(auditor)} == {KeyPlace.ELSEWHERE}
        found = [
            (logged.entry.subject, logged.entry.seq)
            for logged in auditor._acting.entries(EntryKind.EVIDENCE_RECORD)
        ]
        assert len(found) == len(dict(found))
        assert acknowledged.items() <= dict(found).items()
        size = auditor.trail.size
        proof = json.dumps(auditor.prove(size - 1).as_json()).encode()
        assert verify(proof, key=new).holds
    newest = CheckpointBucket(checkpoints).newest("default")
    assert newest is not None
    assert read_checkpoint(newest[1])[0].size == size


def _keys(workspace: Workspace) -> list[AnnouncedKey]:
    return workspace.trail.keys()
