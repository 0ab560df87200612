"""Settings: the only reader of the environment, read by the command line and the server alone.

Every variable begins with `EVIDENTIA_`; one that is not known here is refused, so that a typing
error is never a silent default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, cast

from evidentia.errors import SettingsError

PREFIX: Final = "EVIDENTIA_"
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]
_LEVELS: Final = ("debug", "info", "warning", "error")
_FORMATS: Final = ("text", "json")
_MOST_DAYS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation is set up; see docs/reference/settings.md."""

    home: Path = Path(".evidentia")
    database_url: str | None = None
    tenant: str = "default"
    log_level: LogLevel = "warning"
    log_format: LogFormat = "text"
    outdated_after_days: int = 730
    judges: tuple[str, ...] | None = None
    key_passphrase: str | None = field(default=None, repr=False)
    key_passphrase_file: Path | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the settings; raise `SettingsError` for an unknown name or a wrong value."""
        given = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(PREFIX)
        }
        default = cls()
        if given.get("key_passphrase") and given.get("key_passphrase_file"):
            raise SettingsError(
                f"{PREFIX}KEY_PASSPHRASE and {PREFIX}KEY_PASSPHRASE_FILE are both set: unset one"
            )
        known = list(cls.__dataclass_fields__)
        for name in given:
            if name not in known:
                raise SettingsError(_unknown(name, known))
        return cls(
            home=Path(given.get("home") or default.home),
            database_url=given.get("database_url") or None,
            tenant=given.get("tenant") or default.tenant,
            log_level=cast("LogLevel", _choice(given, "log_level", _LEVELS, default.log_level)),
            log_format=cast(
                "LogFormat", _choice(given, "log_format", _FORMATS, default.log_format)
            ),
            outdated_after_days=_days(given, "outdated_after_days", default.outdated_after_days),
            judges=comma_separated(given.get("judges")),
            key_passphrase=given.get("key_passphrase") or None,
            key_passphrase_file=Path(file) if (file := given.get("key_passphrase_file")) else None,
        )


def comma_separated(text: str | None) -> tuple[str, ...] | None:
    """Return the names in a list with commas; None if nothing is given."""
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else None


def _choice(given: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    value = (given.get(name) or default).lower()
    if value not in allowed:
        raise SettingsError(
            f"{PREFIX}{name.upper()} is {value!r}: it must be one of {', '.join(allowed)}"
        )
    return value


def _days(given: Mapping[str, str], name: str, default: int) -> int:
    value = given.get(name) or str(default)
    if not (value.isascii() and value.isdigit() and int(value) <= _MOST_DAYS):
        raise SettingsError(
            f"{PREFIX}{name.upper()} is {value!r}: it must be a number of days, 0 to {_MOST_DAYS:,}"
        )
    return int(value)


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    meant = f"did you mean {PREFIX}{near[0].upper()}?" if near else "unset it"
    return f"{PREFIX}{name.upper()} is not a setting: {meant}"
