"""Signer commands: real programs that sign, and that fail in every way a program can."""

import json
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from evidentia.errors import EnvironmentProblem, InputError, NotFoundError, UsageError
from evidentia.proof.keys import SigningKey
from evidentia.store.home import Home
from evidentia.store.keys import KeyPlace
from evidentia.store.sequencer import Sequencer
from evidentia.store.signing import CommandSigner, SigningTime
from evidentia.trail.note import VerifierKey
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace
from places import Place, record
from signer_programs import SEED, signer_program

PUBLIC = SigningKey.from_seed("any", SEED).verifier.public_key
DATA = "what is signed — «هنا»\n".encode()

Program = Callable[..., CommandSigner]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Give a signer that runs a shell script, or a Python one that holds the key."""

    def make(script: str | None = None, seconds: float = 20) -> CommandSigner:
        if script is None:
            return CommandSigner(PUBLIC, signer_program(tmp_path), seconds)
        return CommandSigner(PUBLIC, ("/bin/sh", "-c", script), seconds)

    return make


def printing(signature: bytes) -> str:
    return "cat >/dev/null; printf '" + "".join(f"\\{byte:03o}" for byte in signature) + "'"


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


GOOD = Ed25519PrivateKey.from_private_bytes(SEED).sign(DATA)


class TestSigning:
    def test_a_program_that_holds_a_key_signs_with_it(self, program: Program) -> None:
        signer = program()
        assert signer.sign(DATA) == GOOD
        assert signer.public_key().public_bytes_raw() == PUBLIC

    @pytest.mark.parametrize(
        "printed",
        [
            GOOD,
            GOOD.hex().encode(),
            GOOD.hex().upper().encode() + b"\n",
            b64encode(GOOD) + b"\r\n",
            b64encode(GOOD)[:76] + b"\n" + b64encode(GOOD)[76:] + b"\n",
        ],
        ids=["bytes", "hexadecimal", "capitals", "base64", "base64 in lines"],
    )
    def test_a_signature_is_read_in_each_form(self, program: Program, printed: bytes) -> None:
        assert program(printing(printed)).sign(DATA) == GOOD

    @pytest.mark.parametrize(
        ("script", "says"),
        [
            (printing(bytes(64)), "printed a signature that is not by its key"),
            (printing(GOOD[:-1] + b"!"), "printed a signature that is not by its key"),
            (printing(b"x"), "printed 1 byte that is no signature"),
            (printing(b"no signature at all"), "printed 19 bytes that are no signature"),
            (printing(GOOD[:-1]), "printed 63 bytes that are no signature"),
            (printing(b"x" * 128), "printed 128 bytes that are no signature"),
            (printing("é".encode() * 64), "printed 128 bytes that are no signature"),
            ("cat >/dev/null", "printed nothing, and no signature"),
            ("true", "printed nothing, and no signature"),
            ("exit 1", "ended with code 1"),
            ("kill -9 $$", "ended by signal 9"),
        ],
    )
    def test_what_is_no_signature_by_the_key_is_refused(
        self, program: Program, script: str, says: str
    ) -> None:
        signer = program(script)
        with pytest.raises(EnvironmentProblem) as caught:
            signer.sign(DATA)
        assert says in str(caught.value)
        assert str(caught.value).startswith("the signer command /bin/sh -c ")
        assert "\n" not in str(caught.value)

    def test_what_a_failing_command_said_is_told_on_one_line(self, program: Program) -> None:
        signer = program("echo 'the token is' >&2; echo 'not plugged in' >&2; exit 3")
        with pytest.raises(EnvironmentProblem, match=r"code 3; it said: the token is not plugged"):
            signer.sign(DATA)

    def test_what_a_command_prints_is_never_shown(self) -> None:
        signer = CommandSigner(PUBLIC, ("/bin/echo", "a-secret-by-mistake"), 20)
        with pytest.raises(EnvironmentProblem) as caught:
            signer.sign(DATA)
        assert str(caught.value).count("a-secret-by-mistake") == 1  # as the argument it was

    def test_what_a_command_said_is_shortened(self, program: Program) -> None:
        with pytest.raises(EnvironmentProblem) as caught:
            program("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1").sign(DATA)
        assert len(str(caught.value)) < 600

    def test_a_command_that_hangs_is_ended_with_what_it_started(
        self, program: Program, tmp_path: Path
    ) -> None:
        note = tmp_path / "pid"
        signer = program(f"sleep 600 & echo $! >{note}; echo waiting >&2; wait", seconds=0.5)
        with pytest.raises(EnvironmentProblem, match=r"no signature within 0.5 s; it said: wait"):
            signer.sign(DATA)
        while is_running(int(note.read_text())):  # the system ends it in its own time
            time.sleep(0.01)

    def test_a_command_that_is_gone_is_named(self) -> None:
        signer = CommandSigner(PUBLIC, ("/nowhere/sign",), 1)
        with pytest.raises(EnvironmentProblem, match=r"/nowhere/sign can't be started \(No such"):
            signer.sign(DATA)

    def test_a_command_gets_no_shell(self, tmp_path: Path) -> None:
        signer = CommandSigner(PUBLIC, ("/bin/echo", f"$(touch {tmp_path / 'made'})"), 20)
        with pytest.raises(EnvironmentProblem):
            signer.sign(DATA)
        assert not (tmp_path / "made").exists()


class TestTaking:
    def test_a_program_is_found_once_and_kept_by_its_full_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "sign").write_text("#!/bin/sh\n")
        (tmp_path / "sign").chmod(0o755)
        monkeypatch.chdir(tmp_path)
        assert CommandSigner.of(PUBLIC, ["./sign", "x"], 5).command == (f"{tmp_path}/sign", "x")
        monkeypatch.setenv("PATH", str(tmp_path))
        assert CommandSigner.of(PUBLIC, ["sign"], 5).command == (f"{tmp_path}/sign",)

    def test_what_can_not_work_is_refused(self) -> None:
        with pytest.raises(InputError, match="needs a program"):
            CommandSigner.of(PUBLIC, [], 5)
        with pytest.raises(NotFoundError, match="no-such-program: no such program"):
            CommandSigner.of(PUBLIC, ["no-such-program"], 5)
        for seconds in (0, -1, float("nan"), 3601):
            with pytest.raises(InputError, match="up to 3600 seconds"):
                CommandSigner.of(PUBLIC, [sys.executable], seconds)
        with pytest.raises(InputError, match="NUL"):
            CommandSigner.of(PUBLIC, [sys.executable, "a\0b"], 5)
        with pytest.raises(InputError, match="no Ed25519 public key"):
            CommandSigner.of(b"short", [sys.executable], 5)

    def test_a_command_reads_back_as_it_was_kept(self) -> None:
        signer = CommandSigner(PUBLIC, ("/bin/sign", "--slot", "«1»"), 2.5)
        assert CommandSigner.decode(signer.encode()) == signer

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{}",
            '{"public_key": "00", "command": ["x"], "timeout_seconds": 1}',
            '{"public_key": "zz", "command": ["x"], "timeout_seconds": 1}',
            '{"public_key": "KEY", "command": [], "timeout_seconds": 1}',
            '{"public_key": "KEY", "command": "x", "timeout_seconds": 1}',
            '{"public_key": "KEY", "command": ["x", 1], "timeout_seconds": 1}',
            '{"public_key": "KEY", "command": ["x"], "timeout_seconds": "1"}',
            '{"public_key": "KEY", "command": ["x"], "timeout_seconds": 1, "shell": true}',
        ],
    )
    def test_what_is_no_command_is_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="not a signer command"):
            CommandSigner.decode(text.replace("KEY", PUBLIC.hex()).encode())


def proof_of(workspace: Workspace, seq: int) -> bytes:
    return json.dumps(workspace.prove(seq).as_json()).encode()


class TestTimeOfATransaction:
    def test_all_signatures_of_a_transaction_have_the_time_of_one(self, tmp_path: Path) -> None:
        clock = [100.0]
        signer = CommandSigner.of(PUBLIC, signer_program(tmp_path), 30)
        time_left = SigningTime(lambda: clock[0])
        key = SigningKey("a-log", signer)
        seconds = []
        for now in (100.0, 112.0, 129.5):
            clock[0] = now
            limited = time_left.limited(key)
            assert limited.verifier == key.verifier
            assert isinstance(limited.private_key, CommandSigner)
            seconds.append(limited.private_key.seconds)
        assert seconds == [30.0, 18.0, 0.5]
        clock[0] = 130.0
        with pytest.raises(EnvironmentProblem, match="together they took longer than the 30 s"):
            time_left.limited(key)

    def test_a_key_that_is_here_takes_none_of_it(self) -> None:
        key = SigningKey.from_seed("a-log", SEED)
        assert SigningTime(lambda: 0.0).limited(key) is key

    def test_a_grant_and_its_checkpoint_share_it(
        self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = place.open()
        workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path), timeout=30)
        given = []
        sign = CommandSigner.sign

        def slow(self: CommandSigner, data: bytes) -> bytes:
            given.append(self.seconds)
            clock[0] += 20.0
            return sign(self, data)

        clock = [0.0]
        monkeypatch.setattr(
            "evidentia.store.appending.SigningTime", lambda: SigningTime(lambda: clock[0])
        )
        monkeypatch.setattr(CommandSigner, "sign", slow)
        workspace.access.grant("noor", "viewer")
        assert given == [30.0, 10.0]


def test_no_log_waits_in_a_transaction_for_the_signer_of_another(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow signer holds the lock of its own log alone, and for its own time alone."""
    together: list[set[str]] = []
    opened = place.open("plain-1").opened
    names = ("plain-1", "slow-1", "slow-2", "plain-2", "slow-1", "plain-1")
    for name in dict.fromkeys(names):
        opened.for_(name).append(record(0))
        if name.startswith("slow"):
            folder = tmp_path / name
            folder.mkdir()
            opened.for_(name).trail.use_command(PUBLIC.hex(), signer_program(folder))
            opened.for_(name).append(record(1))
    write = Sequencer._write

    def seen(self: Sequencer, line: Any, requests: Any) -> None:
        together.append({one.tenant for one in requests})
        write(self, line, requests)

    monkeypatch.setattr(Sequencer, "_write", seen)
    sequencer = opened.sequencer
    threads = [
        threading.Thread(target=opened.for_(name).append, args=(record(number),))
        for number, name in enumerate(names, 2)
    ]
    with sequencer._lock:  # as if someone were committing: all of them gather behind
        line = sequencer._line("")
        line.busy = True
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(line.queue) < number:
            time.sleep(0.001)
    with sequencer._lock:
        line.appoint()
    for thread in threads:
        thread.join()
    assert together == [{"plain-1"}, {"slow-1"}, {"slow-2"}, {"plain-2"}, {"slow-1"}, {"plain-1"}]
    assert opened.for_("slow-1").trail.audit().holds


class TestLogs:
    def test_a_log_is_signed_by_a_command(self, place: Place, tmp_path: Path) -> None:
        workspace = place.open()
        workspace.append(record(1))
        old = workspace.trail.public_key()
        new = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        workspace.append(record(2))
        assert new == VerifierKey(old.name, PUBLIC) == workspace.trail.public_key()
        said = {"key": str(new), "replaces": old.key_id, "by": "owner"}
        body = dict(workspace.trail.entry(2).body)
        assert body.pop("signature")["keyid"] == old.key_id
        assert body == said
        before, now = workspace.trail.keys()
        assert (before.place, now.place) == (KeyPlace.PLAIN, KeyPlace.COMMAND)
        assert before.held
        assert not now.held
        assert verify(proof_of(workspace, 3), key=new).holds
        report = workspace.trail.audit()
        assert report.holds
        assert workspace.trail.keep_checkpoint(report) is not None
        announcement = workspace.trail.prove(2, signed_by=old.key_id)
        assert announcement.checkpoint.startswith(old.name)

    def test_a_logs_first_key_may_be_a_commands(self, sqlite_place: Place, tmp_path: Path) -> None:
        workspace = sqlite_place.open()
        key = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        (announced,) = workspace.trail.keys()
        assert announced.key == key
        folder = sqlite_place.home.folder / "keys" / "default"
        assert [path.name for path in folder.iterdir()] == [f"{key.key_id}.json"]
        assert (folder / f"{key.key_id}.json").stat().st_mode & 0o777 == 0o600
        workspace.append(record(1))
        assert verify(proof_of(workspace, 1), key=key).holds
        assert workspace.trail.audit().holds

    def test_a_commands_key_is_rotated_away(self, sqlite_place: Place, tmp_path: Path) -> None:
        workspace = sqlite_place.open()
        held = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        new = workspace.trail.rotate_key()
        first, second = workspace.trail.keys()
        assert (first.key, second.key) == (held, new)
        assert workspace.trail.prove(1, signed_by=held.key_id)
        assert workspace.trail.audit().holds

    def test_a_command_that_does_not_sign_is_not_announced(self, sqlite_place: Place) -> None:
        workspace = sqlite_place.open()
        workspace.append(record(1))
        with pytest.raises(EnvironmentProblem, match="printed nothing"):
            workspace.trail.use_command(PUBLIC.hex(), ["true"])
        (made,) = workspace.trail.keys()
        assert made.place is KeyPlace.PLAIN
        assert workspace.trail.size == 2

    def test_a_key_is_announced_once(self, sqlite_place: Place, tmp_path: Path) -> None:
        workspace = sqlite_place.open()
        command = signer_program(tmp_path)
        workspace.trail.use_command(PUBLIC.hex(), command)
        workspace.trail.rotate_key()
        for _ in range(2):
            with pytest.raises(UsageError, match="one of this log's keys already"):
                workspace.trail.use_command(PUBLIC.hex(), command)
        assert len(workspace.trail.keys()) == 2

    def test_a_broken_command_changes_nothing_until_it_is_put_away(
        self, sqlite_place: Place, tmp_path: Path
    ) -> None:
        workspace = sqlite_place.open()
        key = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        workspace.append(record(1))
        (tmp_path / "signer.key").unlink()
        for attempt in (lambda: workspace.append(record(2)), workspace.trail.rotate_key):
            with pytest.raises(EnvironmentProblem, match=r"signer command .* ended with code 1"):
                attempt()
        assert len(workspace.trail.keys()) == 1
        report = workspace.trail.audit()
        assert workspace.trail.keep_checkpoint(report) == sqlite_place.home.kept_checkpoint(
            "default"
        )
        sqlite_place.home.keys.command_file("default", key.key_id).unlink()
        assert workspace.trail.keys()[0].place is KeyPlace.ELSEWHERE
        with pytest.raises(EnvironmentProblem, match="keys rotate"):
            workspace.append(record(2))
        assert workspace.trail.size == 2
        new = workspace.trail.rotate_key(lost="the signer was put away")
        assert verify(proof_of(workspace, 0), key=new).holds

    def test_a_command_file_that_others_may_write_is_not_run(
        self, sqlite_place: Place, tmp_path: Path
    ) -> None:
        workspace = sqlite_place.open()
        key = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        file = sqlite_place.home.keys.command_file("default", key.key_id)
        file.chmod(0o620)
        with pytest.raises(EnvironmentProblem, match=r"others may write it.*chmod 600"):
            workspace.append(record(1))

    def test_a_command_file_that_is_damaged_is_named(
        self, sqlite_place: Place, tmp_path: Path
    ) -> None:
        workspace = sqlite_place.open()
        key = workspace.trail.use_command(PUBLIC.hex(), signer_program(tmp_path))
        file = sqlite_place.home.keys.command_file("default", key.key_id)
        whole = file.read_bytes()
        file.write_bytes(whole[:-20])
        with pytest.raises(InputError, match=rf"{file.name}: not a signer command"):
            workspace.append(record(1))
        other = SigningKey.from_seed("any", bytes(32)).verifier.public_key
        file.write_bytes(whole.replace(PUBLIC.hex().encode(), other.hex().encode()))
        with pytest.raises(InputError, match=rf"{file.name}: holds another key"):
            workspace.append(record(1))
        file.unlink()
        file.mkdir()
        with pytest.raises(EnvironmentProblem, match=rf"{file.name}: cannot be read"):
            workspace.append(record(1))

    def test_a_command_is_started_from_its_list_whatever_is_in_it(
        self, sqlite_place: Place, tmp_path: Path
    ) -> None:
        folder = tmp_path / "a folder; with 'signs' & $things"
        folder.mkdir()
        command = signer_program(folder)
        workspace = sqlite_place.open()
        assert workspace.trail.use_command(PUBLIC.hex(), command).public_key == PUBLIC
        again = open_workspace(sqlite_place.home.folder)
        again.append(record(1))
        assert again.trail.checkpoint()
        again.close()
        home = Home(sqlite_place.home.folder)
        assert home.keys.load("default", "00000000", "any") is None
