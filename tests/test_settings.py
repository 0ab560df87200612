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
            "OTHER": "ignored",
        }
    )
    assert found == Settings(Path("/data"), "postgresql://h/d", "acme", "debug", "json")


def test_empty_value_means_the_default() -> None:
    assert Settings.from_environment({"EVIDENTIA_TENANT": "", "EVIDENTIA_HOME": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("EVIDENTIA_HOEM", "x", "did you mean EVIDENTIA_HOME?"),
        ("EVIDENTIA_XYZZY", "x", "unset it"),
        ("EVIDENTIA_LOG_LEVEL", "loud", "one of debug, info, warning, error"),
        ("EVIDENTIA_LOG_FORMAT", "xml", "one of text, json"),
    ],
)
def test_what_is_not_a_setting_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        Settings.from_environment({name: value})
    assert says in str(caught.value)
