"""Private keys that are encrypted with a passphrase."""

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.proof import keys
from evidentia.store.home import Home
from evidentia.store.keys import KeyPlace, Passphrase
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.signing import current_key
from places import Place, record

PASSPHRASE = "seven plain words, said slowly"
OTHER = "eight other words, said quickly"


def files(home: Home) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (home.folder / "keys/default").iterdir()}


def places(workspace: Workspace) -> list[KeyPlace]:
    announced = workspace.trail.keys()
    return [key.place for key in announced]


def proof_of(workspace: Workspace, seq: int) -> bytes:
    return json.dumps(workspace.prove(seq).as_json()).encode()


Open = Callable[..., Workspace]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make passphrases cheap to try; tests/proof has them at their full price."""
    monkeypatch.setattr(keys, "_SCRYPT_COST", (16, 8, 1))


@pytest.fixture
def home(sqlite_place: Place) -> Home:
    """Give a home with a record and one plain key."""
    workspace = sqlite_place.open()
    workspace.append(record(1))
    workspace.trail.checkpoint()
    return sqlite_place.home


@pytest.fixture
def opening(home: Home, request: pytest.FixtureRequest) -> Open:
    """Open the workspace anew, with a passphrase or without."""

    def call(passphrase: Passphrase | None = None) -> Workspace:
        workspace = open_workspace(home.folder, passphrase=passphrase)
        request.addfinalizer(workspace.close)
        return workspace

    return call


def test_a_protected_key_signs_with_its_passphrase_alone(home: Home, opening: Open) -> None:
    (key_id,) = home.keys.protect("default", PASSPHRASE)
    file = home.keys.file("default", key_id)
    assert file.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert file.stat().st_mode & 0o777 == 0o600
    opened = opening(PASSPHRASE)
    opened.append(record(2))
    assert places(opened) == [KeyPlace.ENCRYPTED]
    assert opened.trail.keys()[0].held
    assert verify(proof_of(opened, 2), key=opened.trail.public_key()).holds
    without = opening()
    assert places(without) == [KeyPlace.ENCRYPTED]
    size = without.trail.size
    for attempt in (
        lambda: without.append(record(3)),
        without.trail.public_key,
        without.trail.rotate_key,
    ):
        with pytest.raises(EnvironmentProblem, match=r"pem: .*EVIDENTIA_KEY_PASSPHRASE_FILE"):
            attempt()
    assert without.trail.size == size


def test_reading_and_proving_need_no_passphrase(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)

    def ask() -> str:
        raise AssertionError("nothing is signed")

    opened = opening(ask)
    assert opened.trail.prove(0).checkpoint == opened.trail.checkpoint()
    assert opened.trail.audit().holds
    assert len(opened.trail.entries()) == 2


def test_a_passphrase_is_asked_for_once(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)
    asked = []

    def ask() -> str:
        asked.append(1)
        return PASSPHRASE

    opened = opening(ask)
    for number in range(3):
        opened.append(record(number))
        opened.trail.checkpoint()
    assert len(asked) == 1


def test_a_wrong_passphrase_is_one_line_and_changes_nothing(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)
    before = files(home)
    opened = opening(OTHER)
    for attempt in (
        lambda: opened.append(record(2)),
        opened.trail.rotate_key,
        lambda: home.keys.protect("default", OTHER),
        lambda: home.keys.unprotect("default", OTHER),
    ):
        with pytest.raises(InputError, match=r"pem: the passphrase does not open") as caught:
            attempt()
        assert OTHER not in str(caught.value)
        assert "\n" not in str(caught.value)
    assert files(home) == before
    assert len(opened.trail.keys()) == 1


def test_a_passphrase_typed_wrong_once_may_be_typed_again(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)
    answers = iter([OTHER, PASSPHRASE])
    opened = opening(lambda: next(answers))
    with pytest.raises(InputError, match="does not open"):
        opened.append(record(2))
    assert opened.append(record(2)).seq == 2


def test_keys_are_unprotected_again(home: Home, opening: Open) -> None:
    plain = files(home)
    home.keys.protect("default", PASSPHRASE)
    assert files(home) != plain
    (key_id,) = home.keys.unprotect("default", PASSPHRASE)
    assert files(home) == plain
    assert home.keys.file("default", key_id).stat().st_mode & 0o777 == 0o600
    assert home.keys.unprotect("default", PASSPHRASE) == []
    assert opening().trail.checkpoint()


def test_rotation_of_a_protected_key_gives_a_protected_key(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)
    opened = opening(lambda: PASSPHRASE)
    old, new = opened.trail.public_key(), opened.trail.rotate_key()
    assert places(opened) == [KeyPlace.ENCRYPTED, KeyPlace.ENCRYPTED]
    again = opening(PASSPHRASE.encode())
    assert verify(proof_of(again, 0), key=new).holds
    assert again.trail.prove(2, signed_by=old.key_id)
    assert again.trail.audit().holds


def test_a_first_key_is_encrypted_where_there_is_a_passphrase(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "home", passphrase=PASSPHRASE) as opened:
        opened.append(record(1))
        opened.trail.checkpoint()
        assert places(opened) == [KeyPlace.ENCRYPTED]


def test_a_new_key_is_never_plain_beside_protected_ones(home: Home, opening: Open) -> None:
    home.keys.protect("default", PASSPHRASE)
    opening(PASSPHRASE).trail.rotate_key()
    current = opening().trail.keys()[-1].key.key_id
    home.keys.file("default", current).unlink()
    with pytest.raises(EnvironmentProblem, match="the private key is encrypted"):
        opening().trail.rotate_key(lost="removed")
    with pytest.raises(InputError, match="so no new key is made with that one"):
        opening(OTHER).trail.rotate_key(lost="removed")
    assert len(files(home)) == 1
    opening(PASSPHRASE).trail.rotate_key(lost="removed")
    assert places(opening()) == [KeyPlace.ENCRYPTED, KeyPlace.ELSEWHERE, KeyPlace.ENCRYPTED]


def test_protecting_again_takes_what_is_still_plain(home: Home, opening: Open) -> None:
    new = opening().trail.rotate_key().key_id
    plain = home.keys.file("default", new).read_bytes()
    assert len(home.keys.protect("default", PASSPHRASE)) == 2
    assert home.keys.protect("default", PASSPHRASE) == []
    home.keys.file("default", new).write_bytes(plain)  # as after a crash half-way
    assert home.keys.protect("default", PASSPHRASE) == [new]
    assert opening(PASSPHRASE).trail.checkpoint()


@pytest.mark.parametrize("kept", [0, 40, 120, 250])
def test_a_truncated_key_is_named_and_left_alone(home: Home, opening: Open, kept: int) -> None:
    (key_id,) = home.keys.protect("default", PASSPHRASE)
    file = home.keys.file("default", key_id)
    file.write_bytes(file.read_bytes()[:kept])
    for attempt in (
        lambda: opening(PASSPHRASE).append(record(2)),
        lambda: home.keys.protect("default", PASSPHRASE),
    ):
        with pytest.raises(InputError, match=rf"{file.name}: not a private key in PEM form"):
            attempt()
    assert file.stat().st_size == kept


def test_a_key_under_anothers_name_is_refused(home: Home, opening: Open) -> None:
    new = opening().trail.rotate_key().key_id
    old = opening().trail.keys()[0].key.key_id
    home.keys.protect("default", PASSPHRASE)
    home.keys.file("default", old).replace(home.keys.file("default", new))
    with pytest.raises(InputError, match=rf"{new}.pem: holds another key, {old}"):
        opening(PASSPHRASE).append(record(2))


def test_a_plain_key_under_anothers_name_is_refused_and_signs_nothing(
    home: Home, opening: Open
) -> None:
    new = opening().trail.rotate_key().key_id
    old = opening().trail.keys()[0].key.key_id
    right = home.keys.file("default", new).read_bytes()
    home.keys.file("default", new).write_bytes(home.keys.file("default", old).read_bytes())
    with pytest.raises(InputError, match=rf"{new}.pem: holds another key, {old}"):
        opening().append(record(2))
    home.keys.file("default", new).write_bytes(right)
    opening().append(record(2))
    assert opening().trail.audit().holds


@pytest.mark.parametrize("mode", [0o622, 0o662, 0o602])
def test_a_key_that_others_may_write_is_not_used(home: Home, opening: Open, mode: int) -> None:
    key_id = opening().trail.public_key().key_id
    file = home.keys.file("default", key_id)
    file.chmod(mode)
    with pytest.raises(EnvironmentProblem, match=rf"{file.name}: others may write it, and so put"):
        opening().append(record(2))
    file.chmod(0o600)
    opening().append(record(2))


@pytest.mark.parametrize("above", [1, 2])
def test_a_key_in_a_folder_that_everyone_may_write_in_is_not_used(
    home: Home, opening: Open, above: int
) -> None:
    file = home.keys.file("default", opening().trail.public_key().key_id)
    folder = file.parents[above - 1]
    assert folder.stat().st_mode & 0o077 == 0, "made for its owner alone"
    folder.chmod(0o777)
    with pytest.raises(EnvironmentProblem, match=rf"{folder.name}: everyone may write in it"):
        opening().trail.public_key()
    folder.chmod(0o1777)
    opening().trail.public_key()
    folder.chmod(0o700)
    opening().trail.public_key()


def test_a_secret_that_others_may_write_is_not_used(home: Home) -> None:
    secret = home.keys.secret("default")
    home.keys.secret_file("default").chmod(0o666)
    with pytest.raises(EnvironmentProblem, match="others may write it, and so choose what"):
        home.keys.secret("default")
    home.keys.secret_file("default").chmod(0o600)
    assert home.keys.secret("default") == secret


def test_a_full_disk_leaves_the_plain_key(
    home: Home, opening: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(home)

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(EnvironmentProblem, match="No space left"):
            home.keys.protect("default", PASSPHRASE)
    assert files(home) == before


@pytest.mark.parametrize(
    ("passphrase", "says"),
    [("", "is empty"), (b"", "is empty"), ("eleven chrs", "too short"), ("\ud800" * 12, "no text")],
)
def test_a_passphrase_that_is_none_is_refused(
    home: Home, passphrase: str | bytes, says: str
) -> None:
    before = files(home)
    with pytest.raises(InputError, match=says):
        home.keys.protect("default", passphrase)
    assert files(home) == before


def test_a_passphrase_is_the_same_however_its_letters_are_composed(
    home: Home, opening: Open
) -> None:
    home.keys.protect("default", "un mot de passe répété")
    assert opening("un mot de passe re\u0301pe\u0301te\u0301").trail.checkpoint()


def test_a_key_that_can_not_be_read_is_told_from_one_that_is_not_here(home: Home) -> None:
    assert home.keys.place("default", "00000000") is KeyPlace.ELSEWHERE
    home.keys.file("default", "00000000").mkdir()
    assert home.keys.place("default", "00000000") is KeyPlace.UNREADABLE
    with pytest.raises(EnvironmentProblem, match=r"00000000\.pem: cannot be read"):
        home.keys.protect("default", PASSPHRASE)


def test_an_audit_keeps_what_was_signed_before_and_needs_no_passphrase(
    home: Home, opening: Open
) -> None:
    home.keys.protect("default", PASSPHRASE)
    opening(PASSPHRASE).append(record(2))
    signed = home.kept_checkpoint("default")
    home.checkpoint_file("default").unlink()
    opened = opening()
    assert opened.trail.keep_checkpoint(opened.trail.audit()) == signed


def test_the_passphrase_is_in_no_log_and_no_repr(
    home: Home, opening: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home.keys.protect("default", PASSPHRASE)
    opened = opening(PASSPHRASE)
    opened.trail.rotate_key()
    key = current_key(opened._acting)
    shown = (
        caplog.text
        + repr(opened)
        + repr(opened.opened.home)
        + repr(key)
        + repr(opened.trail.keys())
    )
    assert PASSPHRASE not in shown
    assert not any(PASSPHRASE.encode() in data for data in files(home).values())
