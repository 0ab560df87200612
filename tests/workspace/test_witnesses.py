"""Witnesses: checkpoints are sent to them, what they cosign is kept, and proofs carry it."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.canonical import canonical_json
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.store.witnesses import Witnesses
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.workspace import Workspace, signing
from evidentia.workspace.witnessing import follow
from places import Place, record
from witnessing import Witness, served


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    found = sqlite_place.open()
    found.trail.append_many([record(number) for number in range(5)])
    found.trail.checkpoint()
    return found


@pytest.fixture
def witness(workspace: Workspace) -> Witness:
    found = Witness()
    found.trust(str(workspace.trail.public_key()))
    return found


def proof_of(workspace: Workspace, seq: int = 1) -> bytes:
    return canonical_json(workspace.prove(seq).as_json())


def test_a_witness_cosigns_as_the_log_grows_and_proofs_carry_it(
    workspace: Workspace, witness: Witness
) -> None:
    key = workspace.trail.public_key()
    with served(witness) as url:
        added = workspace.trail.add_witness(f"{url}/", witness.key)
        assert (added.url, added.name, added.size) == (url, witness.name, 0)
        for _ in range(3):
            (answer,) = workspace.trail.send_to_witnesses()
            assert (answer.problem, answer.size) == (None, workspace.trail.size)
            assert answer.at == "2026-09-21T14:13:20Z"
            report = ev.verify(proof_of(workspace), key=key, witnesses=[witness.key])
            assert report.holds
            assert report.checks[-1].says == (
                "1 witness cosigned, of the 1 given, and 1 is demanded: witness.test/w1 at "
                "2026-09-21T14:13:20Z"
            )
            workspace.append(record(9))
    assert [post.partition(b"\n")[0] for post in witness.posts] == [b"old 0", b"old 6", b"old 7"]
    report = ev.verify(proof_of(workspace), key=key, witnesses=[witness.key])
    assert not report.holds  # of the last entry no witness knows
    assert report.checks[-1].says == "0 witnesses cosigned, of the 1 given, and 1 is demanded"


def test_a_log_that_grew_is_sent_by_itself(workspace: Workspace, witness: Witness) -> None:
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        workspace.opened.ask_witnesses(3_600)
        for number in range(3):
            workspace.append(record(number))
        workspace.close()
    assert 1 <= len(witness.posts) <= 2
    assert witness.known[read_checkpoint(_newest(workspace))[0].origin][0] == 9


def test_what_a_witness_has_not_cosigned_is_sent_again(
    workspace: Workspace, witness: Witness
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    workspace.trail.add_witness(nowhere, witness.key)
    checkpoint = read_checkpoint(_newest(workspace))[0]
    with pytest.raises(EnvironmentProblem, match="no connection"):
        follow(workspace.opened, checkpoint)
    workspace.trail.remove_witness(nowhere)
    follow(workspace.opened, checkpoint)  # there is none any more, and nothing to be done


def test_a_witness_that_another_server_sent_more_is_no_alarm(
    workspace: Workspace, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        older = workspace.trail.checkpoint()
        workspace.append(record(9))
        workspace.trail.send_to_witnesses()
        monkeypatch.setattr(signing, "checkpoint", lambda _: older)
        (answer,) = workspace.trail.send_to_witnesses()
    assert answer.problem == "witness.test/w1 was sent a newer checkpoint meanwhile"
    assert not answer.alarming


def _newest(workspace: Workspace) -> str:
    kept = workspace.opened.home.kept_checkpoint("default")
    assert kept is not None
    return kept


def test_the_size_that_a_witness_tells_is_taken_up(workspace: Workspace, witness: Witness) -> None:
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        workspace.trail.send_to_witnesses()
        workspace.trail.remove_witness(url)
        workspace.trail.add_witness(url, witness.key)
        workspace.append(record(9))
        (answer,) = workspace.trail.send_to_witnesses()
    assert answer.cosigned
    assert [post.partition(b"\n")[0] for post in witness.posts] == [b"old 0", b"old 0", b"old 6"]


def test_a_witness_that_is_down_stops_nothing_and_is_told(
    workspace: Workspace, witness: Witness
) -> None:
    other = Witness("witness.test/down", 3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    workspace.trail.add_witness(closed, other.key)
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        down, up = workspace.trail.send_to_witnesses()
    assert (down.cosigned, up.cosigned, down.alarming) == (False, True, False)
    assert down.problem is not None
    assert f"{closed}/add-checkpoint: no connection" in down.problem
    assert workspace.append(record(10)).seq == 6
    demanded = [witness.key, other.key]
    proof = canonical_json(workspace.trail.prove_under(_cosigned(workspace, 6), 1).as_json())
    key = workspace.trail.public_key()
    assert ev.verify(proof, key=key, witnesses=demanded, quorum=1).holds
    assert not ev.verify(proof, key=key, witnesses=demanded, quorum=2).holds
    assert not ev.verify(proof, key=key, witnesses=demanded).holds


def _cosigned(workspace: Workspace, size: int) -> str:
    folder = Witnesses(workspace.opened.home, workspace.tenant).file.parent
    return (folder / f"{size}.txt").read_text()


def test_a_slow_witness_is_given_up(workspace: Workspace, witness: Witness) -> None:
    class Slow:
        def answer(self, _path: str, _body: bytes) -> tuple[int, str, bytes]:
            time.sleep(2)
            return 200, "text/plain", b""

    with served(Slow()) as url:
        workspace.trail.add_witness(url, witness.key)
        began = time.monotonic()
        (answer,) = workspace.trail.send_to_witnesses(timeout=0.2)
        assert time.monotonic() - began < 2
    assert answer.problem is not None
    assert "no answer within 0.2 seconds" in answer.problem


@pytest.mark.parametrize(
    ("answered", "says", "alarming"),
    [
        ((404, "text/plain", b"unknown"), "does not know this log: ask its operator", False),
        ((403, "text/plain", b""), "does not take this log's key", False),
        ((422, "text/plain", b""), "was rewritten or forked", True),
        ((400, "text/plain", b"?"), "calls the request malformed", False),
        ((500, "text/plain", b"\x1b[31m"), "does not cosign now \\(status 500", False),
        ((302, "text/plain", b""), "does not cosign now \\(status 302", False),
        ((409, "text/x.tlog.size", b"99\n"), "cosigned 99 entries .* it was cut back", True),
        ((409, "text/x.tlog.size", b"0\n"), "cosigned other 0 entries", True),
        ((409, "text/plain", b"?"), "409 without the size that it knows", False),
        ((200, "text/plain", b""), "answered what is no cosignature", False),
        ((200, "text/plain", Witness(seed=4).cosign("x\n").encode()), "no cosignature", False),
        ((200, "text/plain", b"x" * 70_000), "larger than the 65,536 bytes that are read", False),
    ],
)
def test_whatever_a_witness_answers_is_told(
    workspace: Workspace,
    witness: Witness,
    answered: tuple[int, str, bytes],
    says: str,
    *,
    alarming: bool,
) -> None:
    class Answering:
        def answer(self, _path: str, _body: bytes) -> tuple[int, str, bytes]:
            return answered

    with served(Answering()) as url:
        workspace.trail.add_witness(url, witness.key)
        (answer,) = workspace.trail.send_to_witnesses()
    assert not answer.cosigned
    assert answer.alarming == alarming
    assert answer.problem is not None
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(answer.problem)


def test_a_log_that_was_cut_back_and_grown_anew_gets_no_cosignature(
    workspace: Workspace, witness: Witness, tmp_path: Path
) -> None:
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        shutil.copytree(workspace.opened.home.folder, tmp_path / "before")
        workspace.trail.append_many([record(1), record(2)])
        assert workspace.trail.send_to_witnesses()[0].cosigned
        with ev.open(tmp_path / "before") as forked:  # as an insider would who has all of it
            forked.trail.append_many([record(3), record(4)])
            (same,) = forked.trail.send_to_witnesses()
            forked.append(record(5))
            (longer,) = forked.trail.send_to_witnesses()
    assert (same.cosigned, same.alarming, longer.cosigned, longer.alarming) == (
        *(False, True),
        *(False, True),
    )


def test_what_is_no_witness_is_refused_and_lists_are_kept(
    workspace: Workspace, witness: Witness
) -> None:
    trail = workspace.trail
    for url in ("ftp://w.test", "w.test", "http://a:b@w.test", "http://w.test/?a", "http://"):
        with pytest.raises(InputError):
            trail.add_witness(url, witness.key)
    with pytest.raises(InputError, match="not the public key of a witness"):
        trail.add_witness("http://w.test", "nonsense")
    assert trail.witnesses() == []
    assert trail.send_to_witnesses() == []
    trail.add_witness("http://w.test", witness.key)
    with pytest.raises(InputError, match="is there already: remove it first"):
        trail.add_witness("http://other.test", witness.key)
    assert [one.name for one in trail.witnesses()] == [witness.name]
    with pytest.raises(NotFoundError, match="there is no witness 'x'"):
        trail.remove_witness("x")
    trail.remove_witness(witness.name)
    assert trail.witnesses() == []


def test_a_damaged_list_of_witnesses_is_said(workspace: Workspace, witness: Witness) -> None:
    workspace.trail.add_witness("http://w.test", witness.key)
    file = Witnesses(workspace.opened.home, workspace.tenant).file
    for text in ("", "{}x", '[{"url": 1}]', "[1]", '[{"url": "u", "key": "k", "size": 0}]'):
        file.write_text(text)
        with pytest.raises(EnvironmentProblem, match=r"does not list witnesses"):
            workspace.trail.witnesses()


def test_a_published_checkpoint_has_the_cosignatures_also_those_that_come_later(
    workspace: Workspace, witness: Witness, tmp_path: Path
) -> None:
    key = workspace.trail.public_key()
    workspace.trail.publish(tmp_path / "public")
    assert not ev.verify(tmp_path / "public", key=key, witnesses=[witness.key]).holds
    with served(witness) as url:
        workspace.trail.add_witness(url, witness.key)
        workspace.trail.send_to_witnesses()
    assert workspace.trail.publish(tmp_path / "public").files == 1
    assert ev.verify(tmp_path / "public", key=key, witnesses=[witness.key]).holds
    assert workspace.trail.publish(tmp_path / "public").files == 0


@pytest.fixture
def litewitness(tmp_path: Path, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Give the URL and the key of a real witness, which knows the workspace's log."""
    if shutil.which("litewitness") is None:
        pytest.skip("litewitness is not installed (Debian's package torchwood)")
    if shutil.which("ssh-agent") is None:
        pytest.skip("ssh-agent is not installed, which litewitness takes its key from")
    agent_socket, database = tmp_path / "agent", tmp_path / "witness.db"
    key = workspace.trail.public_key()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env={"SSH_AUTH_SOCK": str(agent_socket), "PATH": "/usr/bin:/bin"},
        )
        return done.stdout

    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", agent_socket], stdout=subprocess.DEVNULL)
    log = (tmp_path / "litewitness.log").open("w+")
    server = None
    try:
        _wait(agent_socket.exists)
        run("ssh-add", "-q", tmp_path / "key")
        fingerprint = run("ssh-keygen", "-lf", tmp_path / "key.pub").split()[1]
        run("witnessctl", "add-log", "-db", database, "-origin", key.name)
        run("witnessctl", "add-key", "-db", database, "-origin", key.name, "-key", str(key))
        named = ["-name", "example.test/witness", "-key", fingerprint, "-listen", address]
        server = subprocess.Popen(
            ["litewitness", "-db", database, "-ssh-agent", agent_socket, *named],
            stdout=log,
            stderr=log,
        )
        said = tmp_path / "litewitness.log"
        _wait(lambda: "msg=listening" in said.read_text())
        verifier = said.read_text().partition("vkey=")[2].split()[0]
        yield f"http://{address}", verifier
    finally:
        for process in (server, agent):
            if process is not None:
                process.terminate()
                process.wait()
        log.close()


def _wait(ready: object) -> None:
    until = time.monotonic() + 20
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < until, "it did not start"
        time.sleep(0.05)


def test_litewitness_cosigns_a_log_as_it_grows(
    workspace: Workspace, litewitness: tuple[str, str], tmp_path: Path
) -> None:
    url, key = litewitness
    workspace.trail.add_witness(url, key)
    for number in range(3):
        (answer,) = workspace.trail.send_to_witnesses()
        assert answer.cosigned, answer.problem
        public = workspace.trail.public_key()
        assert ev.verify(proof_of(workspace), key=public, witnesses=[key]).holds
        workspace.trail.append_many([record(number), record(number)])
    workspace.trail.send_to_witnesses()
    workspace.trail.publish(tmp_path / "public")
    assert ev.verify(tmp_path / "public", key=public, witnesses=[key]).holds
    workspace.trail.remove_witness(url)
    workspace.trail.add_witness(url, key)  # it has forgotten which size litewitness knows
    workspace.append(record(7))
    assert workspace.trail.send_to_witnesses()[0].cosigned
