"""Keys in a token: SoftHSM's, which is a real PKCS #11 library, and one that refuses and delays."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import softhsm as tokens
from evidentia.errors import (
    EnvironmentProblem,
    InputError,
    NotFoundError,
    UsageError,
)
from evidentia.proof.keys import SigningKey
from evidentia.store import pkcs11_keys
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.keys import KeyPlace
from evidentia.store.pkcs11_keys import Pkcs11Keys
from evidentia.store.pkcs11_token import Library, Pkcs11Token
from evidentia.store.pkcs11_uri import Pkcs11Uri
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import Opened
from evidentia.workspace.reopening import reopening
from forking import Child
from places import record
from signer_programs import SEED, signer_program
from softhsm import PIN, SoftToken

Open = Callable[..., Workspace]
WRONG_PIN = "9999-and-more"


@pytest.fixture
def opening(tmp_path: Path, request: pytest.FixtureRequest) -> Open:
    """Open a workspace whose keys are in a token."""

    def call(keys: str | None, home: str = "home", **how: Any) -> Workspace:
        workspace = open_workspace(tmp_path / home, keys=keys, **how)
        request.addfinalizer(workspace.close)
        return workspace

    return call


def places(workspace: Workspace) -> list[KeyPlace]:
    announced = workspace.trail.keys()
    return [key.place for key in announced]


def proved(workspace: Workspace, seq: int) -> bytes:
    return json.dumps(workspace.prove(seq).as_json()).encode()


def keys_of(token: SoftToken, home: Path, pin: str | None = None) -> Pkcs11Keys:
    uri = Pkcs11Uri.parse(token.uri if pin is None else token.without_pin)
    return Pkcs11Keys(uri, Home(home).keys, pin)


class TestSigning:
    def test_a_log_is_signed_by_a_key_that_never_leaves_the_token(
        self, token: SoftToken, opening: Open, tmp_path: Path
    ) -> None:
        workspace = opening(token.uri)
        workspace.append(record(1))
        assert places(workspace) == [KeyPlace.TOKEN]
        assert workspace.trail.keys()[0].is_here
        assert not workspace.trail.keys()[0].held
        assert verify(proved(workspace, 1), key=workspace.trail.public_key()).holds
        assert workspace.trail.audit().holds
        assert not (tmp_path / "home/keys").exists()
        (key,) = _objects(token, "PRIVATE_KEY")
        assert key == {"label": _label(workspace), "extractable": False, "sensitive": True}

    def test_its_key_is_replaced_by_another_one_in_the_token(
        self, token: SoftToken, opening: Open
    ) -> None:
        workspace = opening(token.uri)
        workspace.append(record(1))
        old, new = workspace.trail.public_key(), workspace.trail.rotate_key()
        workspace.append(record(2))
        assert places(workspace) == [KeyPlace.TOKEN, KeyPlace.TOKEN]
        assert old != new == workspace.trail.public_key()
        report = workspace.trail.audit()
        assert report.holds
        assert {one.reason for one in report.trusted} == {"its private key is in the token"}
        with pytest.raises(InputError, match="is not lost: it is in the token"):
            workspace.trail.rotate_key(lost="someone thought so")

    def test_a_log_with_a_key_in_a_file_goes_on_in_the_token(
        self, token: SoftToken, opening: Open
    ) -> None:
        with opening(None) as before:
            before.append(record(1))
            old = before.trail.public_key()
        workspace = opening(token.uri)
        workspace.append(record(2))
        assert places(workspace) == [KeyPlace.PLAIN]
        workspace.trail.rotate_key()
        workspace.append(record(3))
        assert places(workspace) == [KeyPlace.PLAIN, KeyPlace.TOKEN]
        assert workspace.trail.keys()[1].vouched
        assert workspace.trail.public_key() != old

    def test_a_key_that_others_made_is_found_by_its_public_half(
        self, token: SoftToken, opening: Open, tmp_path: Path
    ) -> None:
        public = keys_of(token, tmp_path).make("other", "any", os.urandom).verifier.public_key
        workspace = opening(token.uri)
        workspace.append(record(1))
        assert workspace.trail.use_token(public.hex()).public_key == public
        workspace.append(record(2))
        assert opening(token.uri, "home").trail.audit().holds
        assert _label(workspace) in {one["label"] for one in _objects(token, "PRIVATE_KEY")}
        stranger = Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
        with pytest.raises(NotFoundError, match="has no private key of this public key: list"):
            workspace.trail.use_token(stranger)
        with pytest.raises(UsageError, match="keys are in files here, and not in a token: name"):
            opening(None, "files").trail.use_token(public.hex())

    def test_a_signer_command_still_signs_beside_a_token(
        self, token: SoftToken, opening: Open, tmp_path: Path
    ) -> None:
        workspace = opening(token.uri)
        workspace.append(record(1))
        public = SigningKey.from_seed("any", SEED).verifier.public_key
        workspace.trail.use_command(public.hex(), signer_program(tmp_path))
        workspace.append(record(2))
        assert places(workspace) == [KeyPlace.TOKEN, KeyPlace.COMMAND]

    def test_a_user_has_a_key_in_the_token(self, token: SoftToken, opening: Open) -> None:
        workspace = opening(token.uri)
        workspace.append(record(1))
        workspace.trail.enroll("owner", workspace.trail.new_user_key())
        workspace.access.grant("sami", "viewer")
        assert workspace.audit().holds

    def test_threads_sign_with_one_token(self, token: SoftToken, tmp_path: Path) -> None:
        keys = keys_of(token, tmp_path)
        made = [keys.make(f"tenant-{number}", "log", os.urandom) for number in range(3)]
        data = [f"text {number}".encode() for number in range(60)]

        def sign(number: int) -> bool:
            key = made[number % 3]
            key.verifier.verifies(key.private_key.sign(data[number]), data[number].decode())
            return True

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(sign, range(60)))

    def test_a_forked_process_begins_the_library_anew(
        self, token: SoftToken, tmp_path: Path
    ) -> None:
        keys = keys_of(token, tmp_path)
        key = keys.make("default", "log", os.urandom)
        signed = key.private_key.sign(b"data")
        began = Library.of(token.module).began

        def sign_as_child() -> None:
            _same(key.private_key.sign(b"data"), signed)
            assert Library.of(token.module).began == 1

        with Child(sign_as_child) as child:
            child.end()
        assert Library.of(token.module).began == began
        assert key.private_key.sign(b"data") == signed

    def test_another_home_finds_the_keys_by_their_label(
        self, token: SoftToken, tmp_path: Path
    ) -> None:
        made = keys_of(token, tmp_path / "a").make("default", "log", os.urandom)
        other = keys_of(token, tmp_path / "b")
        key_id = made.verifier.key_id
        assert other.place("default", key_id) is KeyPlace.TOKEN
        assert other.place("another", key_id) is KeyPlace.ELSEWHERE
        loaded = other.load("default", key_id, "log")
        assert loaded is not None
        assert loaded.private_key.sign(b"x") == made.private_key.sign(b"x")
        assert other.load("default", "00000000", "log") is None
        with pytest.raises(InputError, match="holds another key"):
            other.load("default", key_id, "another log")


class TestPin:
    def test_the_pin_may_be_the_passphrase(self, token: SoftToken, opening: Open) -> None:
        workspace = opening(token.without_pin, passphrase=lambda: PIN)
        workspace.append(record(1))
        assert places(workspace) == [KeyPlace.TOKEN]
        assert reopening(workspace._acting).passphrase == PIN.encode()
        other = reopening(opening(token.uri, "other")._acting)
        assert (other.passphrase, other.keys) == (None, token.uri)
        assert PIN not in repr(reopening(workspace._acting))

    def test_without_a_pin_it_is_said_how_to_give_one(
        self, token: SoftToken, opening: Open
    ) -> None:
        with pytest.raises(EnvironmentProblem, match=r"needs its PIN: name a file that has it by"):
            opening(token.without_pin).append(record(1))

    def test_a_wrong_pin_is_tried_once(self, token: SoftToken, opening: Open) -> None:
        token.pin_file.write_text(WRONG_PIN)
        workspace = opening(token.uri)
        with pytest.raises(EnvironmentProblem, match=r"refuses the PIN, .* correct it in .*/pin"):
            workspace.append(record(1))
        with pytest.raises(EnvironmentProblem, match="refused the PIN before, and it is not tried"):
            workspace.append(record(1))
        token.pin_file.write_text(PIN)
        workspace.append(record(1))
        assert workspace.trail.size == 2

    def test_another_pin_is_refused_in_the_same_process(
        self, token: SoftToken, tmp_path: Path
    ) -> None:
        keys_of(token, tmp_path).make("default", "log", os.urandom)
        other = keys_of(token, tmp_path, WRONG_PIN)
        with pytest.raises(EnvironmentProblem, match="was opened with another PIN in this process"):
            other.new_passphrase("default")

    @pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"9" * 2_000])
    def test_a_file_without_a_pin_is_told(
        self, token: SoftToken, tmp_path: Path, content: bytes
    ) -> None:
        token.pin_file.write_bytes(content)
        with pytest.raises(EnvironmentProblem, match=r"/pin: holds no PIN"):
            keys_of(token, tmp_path).new_passphrase("default")

    def test_a_file_that_is_gone_is_told(self, token: SoftToken, tmp_path: Path) -> None:
        token.pin_file.unlink()
        with pytest.raises(EnvironmentProblem, match=r"/pin: the PIN of the token cannot be read"):
            keys_of(token, tmp_path).new_passphrase("default")

    def test_nothing_shows_the_pin(
        self, token: SoftToken, opening: Open, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        workspace = opening(token.without_pin, passphrase=PIN)
        workspace.append(record(1))
        found = workspace.trail.keys()[0].key
        key = workspace.opened.keys.load("default", found.key_id, found.name)
        shown = f"{key!r} {workspace.opened.keys!r} {caplog.text}"
        assert "SigningKey" in shown
        assert PIN not in shown


class TestTrouble:
    @pytest.mark.usefixtures("softhsm")
    def test_a_library_that_is_not_there_is_told(self, opening: Open) -> None:
        keys = "pkcs11:token=any?module-path=/nowhere/lib.so&pin-source=file:/nowhere/pin"
        with pytest.raises(EnvironmentProblem, match=r"^/nowhere/lib.so: no PKCS #11 library that"):
            opening(keys).append(record(1))

    @pytest.mark.usefixtures("softhsm")
    def test_a_file_that_is_no_library_is_told(self, opening: Open) -> None:
        keys = f"pkcs11:token=any?module-path={__file__}&pin-source=file:/nowhere/pin"
        with pytest.raises(EnvironmentProblem, match=r"no PKCS #11 library that can be used"):
            opening(keys).append(record(1))

    def test_a_token_that_is_not_there_is_told_with_those_that_are(
        self, token: SoftToken, opening: Open
    ) -> None:
        keys = token.uri.replace(token.uri.partition("?")[0], "pkcs11:token=mislaid")
        with pytest.raises(EnvironmentProblem, match=r"'mislaid' .* is not there \(it has .*test"):
            opening(keys).append(record(1))
        manufacturer = token.uri.replace(token.uri.partition("?")[0], "pkcs11:model=SoftHSM%20v2")
        tokens.new_token(token.pin_file, token.environment)
        Library.of(token.module).begin_anew()
        with pytest.raises(
            EnvironmentProblem, match=r"tokens that EVIDENTIA_KEYS could mean: name"
        ):
            opening(manufacturer, "another").append(record(1))

    def test_a_key_that_vanished_is_told(self, token: SoftToken, opening: Open) -> None:
        workspace = opening(token.uri)
        workspace.append(record(1))
        _remove_keys(token)
        with pytest.raises(
            EnvironmentProblem, match="any more: bring it back from the token's own"
        ):
            workspace.append(record(2))
        again = opening(token.uri)
        with pytest.raises(
            EnvironmentProblem, match=r"is not in the token .*, nor in .*\.pem, and"
        ):
            again.append(record(2))
        assert places(again) == [KeyPlace.ELSEWHERE]
        assert again.trail.size == 2
        again.trail.rotate_key(lost="the token was wiped")
        again.append(record(2))

    def test_a_token_that_cannot_be_asked_vouches_for_nothing(
        self, token: SoftToken, opening: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with opening(token.uri) as workspace:
            workspace.append(record(1))
        token.pin_file.unlink()
        again = opening(token.uri, read_only=True)
        for _ in range(2):
            assert places(again) == [KeyPlace.UNREACHABLE]
        assert caplog.text.count("token_not_asked") == 1, "the same is said once"
        assert again.trail.audit().size == 2
        stranger = Opened(Database.sqlite(again.opened.home.database), Home(tmp_path / "stranger"))
        with stranger:
            stranger.for_("default").trail.rotate_key(lost="as someone says who has the database")
        announced = opening(token.uri, read_only=True).trail.keys()
        assert [(key.place, key.vouched) for key in announced] == [
            (KeyPlace.UNREACHABLE, True),
            (KeyPlace.UNREACHABLE, False),
        ]

    @pytest.mark.usefixtures("softhsm")
    def test_a_token_without_ed25519_is_told(self, tmp_path: Path) -> None:
        folder = tmp_path / "without"
        folder.mkdir()
        more = without("CKM_EDDSA")
        environment = {"SOFTHSM2_CONF": str(tokens.configured(folder, more))}
        other = tokens.new_token(tmp_path / "other-pin", environment)
        ran = _command(other, tmp_path / "home", "keys", "new")
        assert ran.returncode == 3
        assert "can't sign by Ed25519 (CKM_EDDSA), which is what logs are" in ran.stderr
        assert len(ran.stderr.splitlines()) == 1

    @pytest.mark.usefixtures("softhsm")
    def test_a_library_that_is_there_and_can_not_begin_is_told(
        self, token: SoftToken, tmp_path: Path
    ) -> None:
        environment = {"SOFTHSM2_CONF": str(tokens.configured(tmp_path / "gone"))}
        other = SoftToken(token.label, token.module, token.pin_file, environment)
        ran = _command(other, tmp_path / "home", "keys", "new")
        assert ran.returncode == 3
        assert "the PKCS #11 library can't begin (GeneralError): look at its own" in ran.stderr
        assert len(ran.stderr.splitlines()) == 1

    def test_the_package_is_named_where_it_is_missing(
        self, monkeypatch: pytest.MonkeyPatch, token: SoftToken, opening: Open
    ) -> None:
        monkeypatch.setattr(Library, "_all", {})
        monkeypatch.setitem(sys.modules, "pkcs11", None)
        with pytest.raises(EnvironmentProblem, match=r"one more package: pip install"):
            opening(token.uri).append(record(1))


class TestFaults:
    """What a token does that is reached over a network, or taken out and put in again."""

    @pytest.fixture
    def faulty(
        self, token: SoftToken, tmp_path: Path
    ) -> Iterator[tuple[SoftToken, Callable[[str], None]]]:
        if shutil.which("gcc") is None:
            pytest.skip("there is no compiler")
        told = tmp_path / "told"
        module = tokens.faulty_library(tmp_path)
        own = shutil.copy(token.module, tmp_path / "softhsm.so")  # begun apart from the other one

        def tell(what: str) -> None:
            told.write_text(what)

        with tokens.in_environment({"PKCS11_FAULTS": str(told), "PKCS11_REAL": str(own)}):
            yield SoftToken(token.label, module, token.pin_file), tell

    @pytest.mark.parametrize(
        "code",
        ["0x0B3", "0x101", "0x060", "0x032", "0x030"],
        ids=["session forgotten", "not logged in", "handle gone", "removed", "failed"],
    )
    def test_what_was_forgotten_is_made_again_once(
        self, faulty: tuple[SoftToken, Callable[[str], None]], opening: Open, code: str
    ) -> None:
        token, tell = faulty
        workspace = opening(token.uri)
        workspace.append(record(1))
        tell(f"fail {code} 001\n")
        workspace.append(record(2))
        tell(f"fail {code} 002\n")
        with pytest.raises(EnvironmentProblem, match=r"^the token 'evidentia test"):
            workspace.append(record(3))
        tell("")
        workspace.append(record(3))
        assert workspace.trail.size == 4
        assert workspace.trail.audit().holds

    def test_a_token_that_does_not_answer_holds_a_log_no_longer_than_it_may(
        self, faulty: tuple[SoftToken, Callable[[str], None]], opening: Open
    ) -> None:
        token, tell = faulty
        workspace = opening(token.uri)
        keys = workspace.opened.keys
        assert isinstance(keys, Pkcs11Keys)
        keys.token.seconds = 0.3
        workspace.append(record(1))
        tell("sleep 900\n")
        with pytest.raises(
            EnvironmentProblem, match=r"gave no answer within 0\.\d+ s: look whether"
        ):
            workspace.append(record(2))
        with pytest.raises(
            EnvironmentProblem, match=r"was not free within 0\.\d+ s: an earlier call"
        ):
            workspace.append(record(2))
        tell("")
        limit = threading.Event()
        while not limit.wait(0.1):
            try:
                workspace.append(record(2))
            except EnvironmentProblem:
                continue
            break
        assert workspace.trail.size == 3

    def test_a_signature_that_is_not_by_the_key_is_refused(
        self, token: SoftToken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = keys_of(token, tmp_path).make("default", "log", os.urandom)
        monkeypatch.setattr(Pkcs11Token, "ask", lambda *_: bytes(64))
        with pytest.raises(EnvironmentProblem, match="gave a signature that is not by its key"):
            key.private_key.sign(b"data")


class TestAddress:
    def test_it_is_read_as_rfc_7512_writes_it(self) -> None:
        text = (
            "pkcs11:token=The%20token;serial=4142;manufacturer=Maker;model=v2;slot-id=7"
            "?module-path=/usr/lib/x.so&pin-source=file:///run/pin%20file&timeout=5"
        )
        found = Pkcs11Uri.parse(text)
        assert found == Pkcs11Uri(
            "/usr/lib/x.so", "The token", "4142", "Maker", "v2", 7, Path("/run/pin file"), 5.0
        )
        assert str(found) == "the token 'The token' (/usr/lib/x.so)"
        in_slot = Pkcs11Uri.parse("pkcs11:slot-id=7?module-path=/x.so&pin-source=/run/pin")
        assert str(in_slot) == "the token in slot 7 (/x.so)"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("file:x", "begins with pkcs11:"),
            ("pkcs11:token=a", "names its library by its whole path"),
            ("pkcs11:token=a?module-path=x.so", "names its library by its whole path"),
            ("pkcs11:?module-path=/x.so", "doesn't say which token"),
            ("pkcs11:token?module-path=/x.so", "each name stands once"),
            ("pkcs11:token=a;token=b?module-path=/x.so", "each name stands once"),
            ("pkcs11:token=%zz?module-path=/x.so", "each name stands once"),
            ("pkcs11:object=a?module-path=/x.so", "'object', which is not known"),
            ("pkcs11:slot-id=x?module-path=/x.so", "slot-id of a token is 'x'"),
            ("pkcs11:token=a?module-path=/x.so&timeout=0", "timeout of a token is '0'"),
            ("pkcs11:token=a?module-path=/x.so&pin-source=|ask", "must be a file, by its whole"),
        ],
    )
    def test_what_is_wrong_in_it_is_said(self, text: str, says: str) -> None:
        with pytest.raises(InputError, match=says):
            Pkcs11Uri.parse(text)

    def test_a_pin_in_it_is_refused_and_not_shown(self) -> None:
        with pytest.raises(InputError, match="and would show the PIN") as refused:
            Pkcs11Uri.parse("pkcs11:token=a?module-path=/x.so&pin-value=2468")
        assert "2468" not in str(refused.value)


class TestSecret:
    def test_all_homes_have_one_secret(self, token: SoftToken, tmp_path: Path) -> None:
        homes = [keys_of(token, tmp_path / name) for name in "abc"]
        with ThreadPoolExecutor(3) as pool:
            found = set(pool.map(lambda keys: keys.secret("default"), homes))
        (secret,) = found
        assert len(secret) == 32
        assert keys_of(token, tmp_path / "d").secret("default") == secret
        assert homes[0].secret("another") != secret
        assert not list(tmp_path.rglob("redaction.key"))

    def test_of_several_that_were_made_at_once_all_take_the_same(
        self, token: SoftToken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keys = keys_of(token, tmp_path / "a")
        for first in (9, 3, 1, 5, 7):
            monkeypatch.setattr(os, "urandom", lambda size, n=first: bytes([n]) * size)
            keys.token.ask(
                lambda session: pkcs11_keys._new_secret(
                    keys.token, session, "evidentia secret default", None
                )
            )
        found = keys.token.ask(
            lambda session: pkcs11_keys._secrets(keys.token, session, "evidentia secret default")
        )
        assert len(found) == 5
        assert keys.secret("default") == dict(found)[bytes([1]) * 32]

    def test_the_one_that_a_home_had_stays(self, token: SoftToken, tmp_path: Path) -> None:
        kept = Home(tmp_path / "old").keys.secret("default")
        assert keys_of(token, tmp_path / "old").secret("default") == kept
        assert keys_of(token, tmp_path / "new").secret("default") == kept

    def test_a_home_with_another_one_is_told(self, token: SoftToken, tmp_path: Path) -> None:
        keys_of(token, tmp_path / "first").secret("default")
        Home(tmp_path / "old").keys.secret("default")
        with pytest.raises(EnvironmentProblem, match=r"redaction\.key: is another secret than the"):
            keys_of(token, tmp_path / "old").secret("default")

    @pytest.mark.usefixtures("softhsm")
    def test_a_token_that_only_signs_leaves_it_to_the_home(self, tmp_path: Path) -> None:
        folder = tmp_path / "without"
        folder.mkdir()
        more = without("CKM_SHA256_HMAC")
        environment = {"SOFTHSM2_CONF": str(tokens.configured(folder, more))}
        other = tokens.new_token(tmp_path / "other-pin", environment)
        code = (
            "import sys; from pathlib import Path; from evidentia.store.home import Home\n"
            "from evidentia.store.keyrings import open_keys\n"
            "print(open_keys(sys.argv[1], Home(Path(sys.argv[2]))).secret('default').hex())"
        )

        def asked(home: Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-c", code, other.uri, str(home)],
                env=os.environ | environment,
                capture_output=True,
                text=True,
                check=False,
            )

        assert "can keep no secret (CKM_SHA256_HMAC)" in asked(tmp_path / "new").stderr
        kept = Home(tmp_path / "old").keys.secret("default")
        assert asked(tmp_path / "old").stdout.strip() == kept.hex()


def without(mechanism: str) -> str:
    """Return a line by which SoftHSM lacks a mechanism; the first one named it does not mind."""
    return f"slots.mechanisms = -CKM_MD5,{mechanism}"


def _same(one: bytes, other: bytes) -> None:
    assert one == other


def _label(workspace: Workspace) -> str:
    return f"evidentia {workspace.tenant} {workspace.trail.keys()[-1].key.key_id}"


def _objects(token: SoftToken, kind: str) -> list[dict[str, Any]]:
    from pkcs11 import Attribute, ObjectClass  # noqa: PLC0415 - an extra

    asked = keys_of(token, token.pin_file.parent).token
    return asked.ask(
        lambda session: [
            {
                "label": one[Attribute.LABEL],
                "extractable": one[Attribute.EXTRACTABLE],
                "sensitive": one[Attribute.SENSITIVE],
            }
            for one in session.get_objects({Attribute.CLASS: ObjectClass[kind]})
        ]
    )


def _remove_keys(token: SoftToken) -> None:
    """Remove all keys by a program of its own, as the token's owner would."""
    code = (
        "import pkcs11, sys\n"
        "token = pkcs11.lib(sys.argv[1]).get_token(token_label=sys.argv[2])\n"
        "with token.open(rw=True, user_pin=sys.argv[3]) as session:\n"
        "    for one in list(session.get_objects()): one.destroy()\n"
    )
    subprocess.run([sys.executable, "-c", code, token.module, token.label, PIN], check=True)


def _command(token: SoftToken, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    said = {"EVIDENTIA_KEYS": token.uri, "EVIDENTIA_HOME": str(home)}
    return subprocess.run(
        [str(Path(sys.executable).with_name("evidentia")), *arguments],
        env=os.environ | token.environment | said,
        capture_output=True,
        text=True,
        check=False,
    )
