"""`evidentia keys protect`, `unprotect` and `use-command`, and what signs under them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli_running import Cli
from evidentia.proof import keys
from evidentia.proof.keys import SigningKey
from signer_programs import SEED, signer_program

PASSPHRASE = "seven plain words, said slowly"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make passphrases cheap to try; tests/proof has them at their full price."""
    monkeypatch.setattr(keys, "_SCRYPT_COST", (16, 8, 1))


@pytest.fixture
def passphrase(folder: Path) -> Path:
    """Write the passphrase to a file, with a line break as editors do."""
    file = folder / "passphrase.txt"
    file.write_text(PASSPHRASE + "\n")
    return file


@pytest.fixture
def protected(filled: Cli, passphrase: Path) -> Cli:
    """Start with a log whose one key is encrypted."""
    assert filled("keys", "protect", "--passphrase-file", passphrase).code == 0
    return filled


def proved(cli: Cli, folder: Path) -> None:
    """Prove an entry, and verify the proof as a stranger does."""
    assert cli("keys", "show", "-o", "key.txt").code == 0
    assert cli("trail", "prove", "2", "-o", "proof.json").code == 0
    assert cli("verify", "proof.json", "--key", "key.txt").code == 0


def test_keys_are_protected_and_unprotected(filled: Cli, folder: Path, passphrase: Path) -> None:
    (key,) = filled("keys", "--json").json["keys"]
    assert "here, plain" in filled("keys").out
    done = filled("keys", "protect", "--passphrase-file", passphrase)
    assert done.out == f"✓ 1 private key encrypted: {key['key_id']}\n"
    assert "here, encrypted" in filled("keys").out
    (now,) = filled("keys", "--json").json["keys"]
    assert (now["private_key"], now["private_key_here"]) == ("encrypted", True)
    again = filled("keys", "protect", "--passphrase-file", passphrase)
    assert again.out == "✓ All private keys that are here were encrypted before.\n"
    back = filled("keys", "unprotect", "--passphrase-file", passphrase, "--json")
    assert back.json == {"decrypted": [key["key_id"]]}
    assert "here, plain" in filled("keys").out
    proved(filled, folder)
    assert filled("keys", "unprotect", "--passphrase-file", passphrase).code == 2


def test_proof_under_a_protected_key_verifies(
    protected: Cli, folder: Path, passphrase: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("EVIDENTIA_KEY_PASSPHRASE_FILE", str(passphrase))
        proved(protected, folder)
        assert protected("keys", "rotate").code == 0
    monkeypatch.setenv("EVIDENTIA_KEY_PASSPHRASE", PASSPHRASE)
    proved(protected, folder)
    listed = protected("keys", "--json").json["keys"]
    assert [key["private_key"] for key in listed] == ["encrypted", "encrypted"]
    assert PASSPHRASE not in protected("keys").out


def test_first_key_is_encrypted_where_a_passphrase_is_set(
    cli: Cli, passphrase: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_KEY_PASSPHRASE_FILE", str(passphrase))
    assert cli("keys", "new").code == 0
    assert cli("keys", "--json").json["keys"][0]["private_key"] == "encrypted"


def test_without_a_terminal_the_missing_passphrase_is_one_helpful_line(protected: Cli) -> None:
    ran = protected("keys", "new")
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "EVIDENTIA_KEY_PASSPHRASE_FILE" in ran.err
    asked = protected("keys", "unprotect")
    assert asked.code == 2
    assert "no terminal to ask for the passphrase on" in asked.err
    assert protected("trail", "verify").code == 0
    assert protected("keys", "show").code == 0


def test_wrong_passphrase_is_one_line_and_changes_nothing(
    protected: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = (folder / ".evidentia/keys/default").glob("*.pem")
    before = file.read_bytes()
    monkeypatch.setenv("EVIDENTIA_KEY_PASSPHRASE", "not the words it was")
    for command in (
        ("keys", "new"),
        ("keys", "rotate"),
        ("keys", "unprotect"),
        ("keys", "protect"),
    ):
        ran = protected(*command)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert "the passphrase does not open" in ran.err
        assert "not the words" not in ran.err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"short\n", "too short"), (b"\n", "empty"), (b"\xff" * 20, "UTF-8"), (b"x" * 2000, "larger")],
)
def test_passphrase_file_that_holds_none_is_refused(
    filled: Cli, passphrase: Path, content: bytes, says: str
) -> None:
    passphrase.write_bytes(content)
    ran = filled("keys", "protect", "--passphrase-file", passphrase)
    assert ran.code == 2
    assert says in ran.err
    assert filled("keys", "protect", "--passphrase-file", "nowhere").code == 2


def test_nothing_to_protect_is_said(cli: Cli, passphrase: Path) -> None:
    assert cli("db", "upgrade").code == 0
    ran = cli("keys", "protect", "--passphrase-file", passphrase)
    assert ran.code == 2
    assert "there is no private key here" in ran.err


def test_command_signs_from_now_on(filled: Cli, folder: Path) -> None:
    public = SigningKey.from_seed("any", SEED).verifier.public_key
    (folder / "token.pub").write_text(public.hex())
    before = filled("keys", "show").out
    ran = filled("keys", "use-command", "--public-key", "token.pub", "--", *signer_program(folder))
    assert ran.code == 0
    assert ran.out == filled("keys", "show").out != before
    assert "by command" in filled("keys").out
    keys = filled("keys", "--json").json["keys"]
    assert [key["private_key"] for key in keys] == ["plain", "command"]
    assert keys[1]["private_key_here"] is False
    proved(filled, folder)
    assert filled("trail", "verify").code == 0


def test_command_that_does_not_sign_is_refused(filled: Cli, folder: Path) -> None:
    public = SigningKey.from_seed("any", SEED).verifier.public_key
    (folder / "token.pub").write_text(public.hex())
    command = ("sh", "-c", "echo 'no token' >&2; exit 1")
    ran = filled("keys", "use-command", "--public-key", "token.pub", "--", *command)
    assert ran.code == 3
    assert "ended with code 1; it said: no token" in ran.err
    hung = ("--timeout", "0.2", "--", "sleep", "600")
    late = filled("keys", "use-command", "--public-key", "token.pub", *hung)
    assert late.code == 3
    assert "sleep 600 gave no signature within 0.2 s" in late.err
    assert len(filled("keys", "--json").json["keys"]) == 1


def test_person_at_a_terminal_is_asked_without_echo(filled: Cli, folder: Path) -> None:
    def at_a_terminal(command: str, *typed: str) -> tuple[int, str]:
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "evidentia.cli.main", *command.split()],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown = b""
        lines = list(typed)
        try:
            while read := os.read(ours, 4096):
                shown += read
                if lines and shown.endswith(b": "):
                    os.write(ours, f"{lines.pop(0)}\n".encode())
        except OSError:  # what Linux says when the other end is closed
            pass
        os.close(ours)
        return process.wait(), shown.decode()

    code, shown = at_a_terminal("keys protect", PASSPHRASE, PASSPHRASE)
    assert code == 0, shown
    assert "1 private key encrypted" in shown
    assert PASSPHRASE not in shown
    code, shown = at_a_terminal("keys new", PASSPHRASE)
    assert code == 0, shown
    assert PASSPHRASE not in shown
    code, shown = at_a_terminal("keys new", "another one, and a wrong one")
    assert code == 2
    assert "the passphrase does not open" in shown
