from pathlib import Path

import pytest

from evidentia.errors import SettingsError
from evidentia.settings import Settings


def test_defaults_need_no_environment() -> None:
    assert Settings.from_environment({}) == Settings(Path(".evidentia"), None, "default")


def test_every_setting_is_read() -> None:
    found = Settings.from_environment(
        {
            "EVIDENTIA_HOME": "/data",
            "EVIDENTIA_DATABASE_URL": "postgresql://h/d",
            "EVIDENTIA_TENANT": "acme",
            "EVIDENTIA_LOG_LEVEL": "DEBUG",
            "EVIDENTIA_LOG_FORMAT": "json",
            "EVIDENTIA_OUTDATED_AFTER_DAYS": "90",
            "OTHER": "ignored",
        }
    )
    assert found == Settings(Path("/data"), "postgresql://h/d", "acme", "debug", "json", 90)


def test_empty_value_means_the_default() -> None:
    assert Settings.from_environment({"EVIDENTIA_TENANT": "", "EVIDENTIA_HOME": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("EVIDENTIA_HOEM", "x", "did you mean EVIDENTIA_HOME?"),
        ("EVIDENTIA_XYZZY", "x", "unset it"),
        ("EVIDENTIA_LOG_LEVEL", "loud", "one of debug, info, warning, error"),
        ("EVIDENTIA_LOG_FORMAT", "xml", "one of text, json"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "soon", "it must be a number of days, 0 to 1,000,000"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "-1", "a number of days"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "1000001", "a number of days"),
    ],
)
def test_what_is_not_a_setting_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        Settings.from_environment({name: value})
    assert says in str(caught.value)


def test_a_passphrase_is_read_and_not_shown() -> None:
    found = Settings.from_environment({"EVIDENTIA_KEY_PASSPHRASE": "seven plain words"})
    assert found.key_passphrase == "seven plain words"
    assert "seven" not in repr(found)


def test_a_passphrase_has_one_place() -> None:
    file = Settings.from_environment({"EVIDENTIA_KEY_PASSPHRASE_FILE": "/run/secrets/key"})
    assert file.key_passphrase_file == Path("/run/secrets/key")
    both = {"EVIDENTIA_KEY_PASSPHRASE": "seven words", "EVIDENTIA_KEY_PASSPHRASE_FILE": "key"}
    with pytest.raises(SettingsError, match="are both set: unset one") as caught:
        Settings.from_environment(both)
    assert "seven" not in str(caught.value)
