"""Where keys are opened: in the home, in another folder, or in a token."""

from pathlib import Path

import pytest
import typer

from evidentia.cli import passphrases
from evidentia.errors import InputError
from evidentia.settings import Settings
from evidentia.store.home import Home
from evidentia.store.keyrings import file_keys, open_keys
from evidentia.store.keys import FileKeys, KeyPlace
from evidentia.workspace import open_workspace
from places import Place, record

_TOKEN = "pkcs11:token=any?module-path=/usr/lib/any.so"


def test_two_homes_sign_with_the_keys_of_one_folder(postgres_place: Place, tmp_path: Path) -> None:
    url, folder = postgres_place.url, str(tmp_path / "shared" / "keys")
    secrets = set()
    for name in ("a", "b"):
        with open_workspace(url, home=tmp_path / name, keys=folder) as workspace:
            workspace.append(record(1))
            (key,) = list(workspace.trail.keys())
            assert key.place is KeyPlace.PLAIN
            secrets.add(workspace.opened.keys.secret("default"))
        assert not (tmp_path / name / "keys").exists()
    assert len(secrets) == 1
    assert workspace.opened.keys.where("default", key.key.key_id).startswith(folder)


def test_keys_are_in_the_home_unless_it_is_said_where(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert open_keys(None, home) is home.keys
    elsewhere = open_keys(str(tmp_path / "other"), home)
    assert isinstance(elsewhere, FileKeys)
    assert file_keys(elsewhere) is elsewhere
    assert file_keys(open_keys(_TOKEN, home)) is home.keys
    with pytest.raises(InputError, match="names its library by its whole path"):
        open_keys("pkcs11:token=any", home)


def test_a_wrong_address_leaves_no_database_open(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names its library"):
        open_workspace(tmp_path, keys="pkcs11:token=any")
    with open_workspace(tmp_path) as workspace:
        workspace.append(record(1))


@pytest.mark.parametrize(
    ("keys", "asks"),
    [(None, False), (_TOKEN, True), (f"{_TOKEN}&pin-source=file:/run/pin", False)],
)
def test_a_person_is_asked_for_the_pin_where_no_file_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str | None, *, asks: bool
) -> None:
    monkeypatch.setattr(passphrases, "_is_terminal", lambda: True)
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return "1234"

    monkeypatch.setattr(typer, "prompt", prompt)
    found = passphrases.for_workspace(Settings(keys=keys), tmp_path, "default", may_ask=True)
    assert (found is not None) is asks
    if callable(found):
        assert found() == "1234"
        assert asked == ["PIN of the token 'any' (/usr/lib/any.so)"]
    assert (
        passphrases.for_workspace(Settings(keys=keys), tmp_path, "default", may_ask=False) is None
    )
