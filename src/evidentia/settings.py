"""Settings: the only reader of the environment, read by the command line and the server alone.

Every variable begins with `EVIDENTIA_`; one that is not known here is refused, so that a typing
error is never a silent default.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from evidentia.errors import SettingsError

PREFIX: Final = "EVIDENTIA_"
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]
SecondOpinion = Literal["in_doubt", "always"]
Decides = Literal["last", "cautious", "majority"]
LlmApi = Literal["openai", "anthropic"]
_LEVELS: Final = ("debug", "info", "warning", "error")
_FORMATS: Final = ("text", "json")
_SECOND_OPINIONS: Final = ("in_doubt", "always")
_DECIDE: Final = ("last", "cautious", "majority")
_APIS: Final = ("openai", "anthropic")
_MOST_DAYS: Final = 1_000_000
_DOUBT: Final = re.compile(r"(0(?:\.[0-9]{1,6})?)-(0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)")
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+")
_ENDPOINT: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~/-]*)?")
_CONNECTION: Final = re.compile(r"(?:[a-z0-9][a-z0-9._-]{0,63}/)?[A-Za-z0-9_-]{1,64}")
_BUCKET: Final = re.compile(r"(?:s3|gs|az)://[A-Za-z0-9][A-Za-z0-9._-]{1,62}(?:/[^/]+)*/?")
_SCHEMED: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|(?:s3|gs|az)//")
"""What begins like an address, and not as the name of a folder does."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")
_CLUSTER: Final = re.compile(r"auto|local|(?:ray://)?[A-Za-z0-9.\[\]:-]*[A-Za-z0-9\]]:[0-9]{1,5}")
_ASKER: Final = re.compile(r"(?<=//).*(?=@)", re.DOTALL)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation is set up; see docs/reference/settings.md."""

    home: Path = Path(".evidentia")
    database_url: str | None = field(default=None, repr=False)
    tenant: str = "default"
    log_level: LogLevel = "warning"
    log_format: LogFormat = "text"
    outdated_after_days: int = 730
    lake: str | None = None
    keys: str | None = None
    ray: str | None = None
    checkpoints: str | None = None
    judges: tuple[str, ...] | None = None
    key_passphrase: str | None = field(default=None, repr=False)
    key_passphrase_file: Path | None = None
    second_opinion: SecondOpinion = "in_doubt"
    decides: Decides = "last"
    doubt: str = "0.15-0.85"
    llm_url: str | None = None
    llm_model: str | None = None
    llm_api: LlmApi = "openai"
    llm_key_variable: str | None = None
    llm_key_file: Path | None = None
    llm_input_price: str | None = None
    llm_output_price: str | None = None
    llm_currency: str = "USD"
    llm_timeout_seconds: int = 60
    llm_attempts: int = 4
    llm_claims_at_once: int = 8
    llm_evidence_bytes: int = 24_000
    server_host: str = "127.0.0.1"
    server_port: int = 8321
    server_url: str | None = None
    server_secret_file: Path | None = None
    server_origins: tuple[str, ...] | None = None
    server_proxies: tuple[str, ...] | None = None
    server_upload_bytes: int = 67_108_864
    server_witness_seconds: int = 0
    server_connections: Mapping[str, str] | None = field(default=None, repr=False)
    server_jobs: int = 2
    server_workers: int | None = None
    server_checks_per_minute: int = 120
    server_exports_per_minute: int = 60
    server_sign_ins_per_minute: int = 20
    server_span_requests_per_minute: int = 1_200
    openfga_url: str | None = None
    openfga_store_id: str | None = None
    openfga_model_id: str | None = None
    openfga_token_file: Path | None = None
    openfga_timeout_seconds: int = 2
    otel_policy_file: Path | None = None
    otel_close_seconds: int = 30
    otel_idle_seconds: int = 1_800
    otel_endpoint: str | None = None
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret_file: Path | None = None
    oidc_audience: str | None = None
    database_read_url: str | None = field(default=None, repr=False)
    database_connections: int = 30
    database_connect_seconds: int = 10
    database_lock_seconds: int = 60
    database_statement_seconds: int = 90

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
        if given.get("llm_key_variable") and given.get("llm_key_file"):
            raise SettingsError(
                f"{PREFIX}LLM_KEY_VARIABLE and {PREFIX}LLM_KEY_FILE are both set: unset one"
            )
        if bool(given.get("oidc_issuer")) != bool(given.get("oidc_client_id")):
            raise SettingsError(
                f"{PREFIX}OIDC_ISSUER and {PREFIX}OIDC_CLIENT_ID belong together: set both"
            )
        for name in ("openfga_store_id", "openfga_model_id", "openfga_token_file"):
            if given.get(name) and not given.get("openfga_url"):
                raise SettingsError(
                    f"{PREFIX}{name.upper()} is set, and {PREFIX}OPENFGA_URL is not: set both"
                )
        known = list(cls.__dataclass_fields__)
        for name in given:
            if name not in known:
                raise SettingsError(_unknown(name, known))
        return cls(
            home=Path(given.get("home") or default.home),
            database_url=_database(given, "database_url"),
            lake=_lake(given),
            keys=_keys(given),
            ray=_ray(given),
            checkpoints=_checkpoints(given),
            tenant=given.get("tenant") or default.tenant,
            log_level=cast("LogLevel", _choice(given, "log_level", _LEVELS, default.log_level)),
            log_format=cast(
                "LogFormat", _choice(given, "log_format", _FORMATS, default.log_format)
            ),
            outdated_after_days=_number(
                given,
                "outdated_after_days",
                default.outdated_after_days,
                "a number of days",
                (0, _MOST_DAYS),
            ),
            judges=comma_separated(given.get("judges")),
            key_passphrase=given.get("key_passphrase") or None,
            key_passphrase_file=Path(file) if (file := given.get("key_passphrase_file")) else None,
            second_opinion=cast(
                "SecondOpinion",
                _choice(given, "second_opinion", _SECOND_OPINIONS, default.second_opinion),
            ),
            decides=cast("Decides", _choice(given, "decides", _DECIDE, default.decides)),
            doubt=_doubt(given, default.doubt),
            llm_url=given.get("llm_url") or None,
            llm_model=given.get("llm_model") or None,
            llm_api=cast("LlmApi", _choice(given, "llm_api", _APIS, default.llm_api)),
            llm_key_variable=_variable(given, "llm_key_variable"),
            llm_key_file=Path(file) if (file := given.get("llm_key_file")) else None,
            llm_input_price=given.get("llm_input_price") or None,
            llm_output_price=given.get("llm_output_price") or None,
            llm_currency=given.get("llm_currency") or default.llm_currency,
            llm_timeout_seconds=_number(
                given,
                "llm_timeout_seconds",
                default.llm_timeout_seconds,
                "a number of seconds",
                (1, 3_600),
            ),
            llm_attempts=_number(given, "llm_attempts", default.llm_attempts, "a number", (1, 10)),
            llm_claims_at_once=_number(
                given, "llm_claims_at_once", default.llm_claims_at_once, "a number", (1, 50)
            ),
            llm_evidence_bytes=_number(
                given,
                "llm_evidence_bytes",
                default.llm_evidence_bytes,
                "a number of bytes",
                (500, 10_000_000),
            ),
            server_host=given.get("server_host") or default.server_host,
            server_port=_number(given, "server_port", default.server_port, "a port", (0, 65_535)),
            server_url=_address(given, "server_url"),
            server_secret_file=Path(file) if (file := given.get("server_secret_file")) else None,
            server_origins=comma_separated(given.get("server_origins")),
            server_proxies=comma_separated(given.get("server_proxies")),
            server_upload_bytes=_number(
                given,
                "server_upload_bytes",
                default.server_upload_bytes,
                "a number of bytes",
                (1_000, 10_000_000_000),
            ),
            server_witness_seconds=_number(
                given,
                "server_witness_seconds",
                default.server_witness_seconds,
                "a number of seconds",
                (0, 86_400),
            ),
            server_connections=_connections(given),
            server_jobs=_number(
                given, "server_jobs", default.server_jobs, "how many jobs run at once", (0, 8)
            ),
            server_workers=(
                _number(given, "server_workers", 1, "a number of processes", (1, 256))
                if given.get("server_workers")
                else None
            ),
            server_checks_per_minute=_rate(given, "checks", default.server_checks_per_minute),
            server_exports_per_minute=_rate(given, "exports", default.server_exports_per_minute),
            server_sign_ins_per_minute=_rate(given, "sign_ins", default.server_sign_ins_per_minute),
            server_span_requests_per_minute=_rate(
                given, "span_requests", default.server_span_requests_per_minute
            ),
            openfga_url=given.get("openfga_url") or None,
            openfga_store_id=given.get("openfga_store_id") or None,
            openfga_model_id=given.get("openfga_model_id") or None,
            openfga_token_file=Path(file) if (file := given.get("openfga_token_file")) else None,
            openfga_timeout_seconds=_number(
                given,
                "openfga_timeout_seconds",
                default.openfga_timeout_seconds,
                "a number of seconds",
                (1, 60),
            ),
            otel_policy_file=Path(file) if (file := given.get("otel_policy_file")) else None,
            otel_close_seconds=_number(
                given,
                "otel_close_seconds",
                default.otel_close_seconds,
                "a number of seconds",
                (0, 86_400),
            ),
            otel_idle_seconds=_number(
                given,
                "otel_idle_seconds",
                default.otel_idle_seconds,
                "a number of seconds",
                (1, 604_800),
            ),
            otel_endpoint=_endpoint(given, "otel_endpoint"),
            oidc_issuer=given.get("oidc_issuer") or None,
            oidc_client_id=given.get("oidc_client_id") or None,
            oidc_client_secret_file=(
                Path(file) if (file := given.get("oidc_client_secret_file")) else None
            ),
            oidc_audience=given.get("oidc_audience") or None,
            database_read_url=_database(given, "database_read_url"),
            database_connections=_number(
                given,
                "database_connections",
                default.database_connections,
                "a number of connections",
                (10, 1_000),
            ),
            database_connect_seconds=_seconds(given, default, "connect", (1, 300)),
            database_lock_seconds=_seconds(given, default, "lock", (1, 3_600)),
            database_statement_seconds=_seconds(given, default, "statement", (0, 86_400)),
        )

    def of_home(self, home: Path | None) -> "Settings":
        """Return the settings where a home is named: it wins over all that is said of elsewhere.

        Its own database, lake and keys count, no checkpoint goes anywhere, no OpenFGA is asked,
        and bulk work is done on this machine. The same settings where none is named.
        """
        if home is None:
            return self
        return replace(
            self,
            home=home,
            database_url=None,
            database_read_url=None,
            lake=None,
            keys=None,
            checkpoints=None,
            ray=self.ray if self.ray == "local" else None,
            openfga_url=None,
        )

    @property
    def server_cluster(self) -> str | None:
        """Return the cluster that a server asks; raise if it would have to be part of it."""
        if self.ray is None or self.ray == "local" or self.ray.startswith("ray://"):
            return self.ray
        raise SettingsError(
            f"{PREFIX}RAY is {self.ray!r}: a server asks a cluster by Ray's client, such as "
            "ray://host:10001, since Ray ends each process that is part of a cluster once that "
            "does not answer for a minute"
        )

    def server_fields(self, *, hurried: bool) -> dict[str, Any]:
        """Return how PostgreSQL is connected to; statements have a time where it is `hurried`."""
        return {
            "connections": self.database_connections,
            "connect_seconds": self.database_connect_seconds,
            "lock_seconds": self.database_lock_seconds,
            "statement_seconds": self.database_statement_seconds if hurried else 0,
            "read_url": self.database_read_url,
        }

    def openfga_fields(self) -> dict[str, Any]:
        """Return what is said of the OpenFGA to ask, but its token; raise if a part is missing."""
        for name in ("openfga_url", "openfga_store_id", "openfga_model_id"):
            if getattr(self, name) is None:
                raise SettingsError(
                    f"{PREFIX}{name.upper()} is not set: 'evidentia access model --upload' makes "
                    "a store and a model, and prints what to set"
                )
        return {
            "url": self.openfga_url,
            "store_id": self.openfga_store_id,
            "model_id": self.openfga_model_id,
            "seconds": float(self.openfga_timeout_seconds),
        }

    def llm_fields(self) -> dict[str, Any]:
        """Return what is said of the language model to ask, but its key; raise if none is named."""
        if self.llm_url is None or self.llm_model is None:
            raise SettingsError(
                "the llm judge needs a model: set EVIDENTIA_LLM_URL, such as "
                "http://localhost:11434/v1, and EVIDENTIA_LLM_MODEL"
            )
        return {
            "url": self.llm_url,
            "model": self.llm_model,
            "api": self.llm_api,
            "input_price": self.llm_input_price,
            "output_price": self.llm_output_price,
            "currency": self.llm_currency,
            "timeout_seconds": self.llm_timeout_seconds,
            "attempts": self.llm_attempts,
            "claims_at_once": self.llm_claims_at_once,
            "evidence_bytes": self.llm_evidence_bytes,
        }

    def llm_key(self, environment: Mapping[str, str]) -> str | None:
        """Return the key that the named variable holds; None if no variable is named."""
        if self.llm_key_variable is None:
            return None
        found = environment.get(self.llm_key_variable)
        if not found:
            raise SettingsError(
                f"{PREFIX}LLM_KEY_VARIABLE names {self.llm_key_variable}, which is not set"
            )
        return found


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


def _number(
    given: Mapping[str, str], name: str, default: int, what: str, bounds: tuple[int, int]
) -> int:
    least, most = bounds
    value = given.get(name) or str(default)
    if not (value.isascii() and value.isdigit() and least <= int(value[:20]) <= most):
        raise SettingsError(
            f"{PREFIX}{name.upper()} is {value!r}: it must be {what}, {least:,} to {most:,}"
        )
    return int(value)


def _seconds(
    given: Mapping[str, str], default: Settings, what: str, bounds: tuple[int, int]
) -> int:
    name = f"database_{what}_seconds"
    return _number(given, name, getattr(default, name), "a number of seconds", bounds)


def _connections(given: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return addresses of databases by their names; no message shows one: it may have a password.

    A name alone is for the server's own tenant, `tenant/name` for another one.
    """
    text = given.get("server_connections")
    if not text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(
        _CONNECTION.fullmatch(name) and isinstance(url, str) and "://" in url
        for name, url in found.items()
    ):
        raise SettingsError(
            f"{PREFIX}SERVER_CONNECTIONS is no JSON object of names and addresses of databases: "
            'write it as {"shop": "postgresql+psycopg://reader@db/shop"}; a name has letters, '
            "digits, - and _, and may begin with a tenant and a slash"
        )
    return MappingProxyType(found)


def _database(given: Mapping[str, str], name: str) -> str | None:
    value = given.get(name) or None
    if value is not None and not _URL.match(value):
        # what stands there may have a password: it is not shown
        raise SettingsError(
            f"{PREFIX}{name.upper()} is no URL: write it as postgresql://user@host/name. The "
            f"folder of an embedded database is named by {PREFIX}HOME"
        )
    return value


def _lake(given: Mapping[str, str]) -> str | None:
    value = given.get("lake") or None
    if value is not None and _SCHEMED.match(value) and not _BUCKET.fullmatch(value):
        raise SettingsError(
            f"{PREFIX}LAKE is {_shown(value)}: it must be a folder, or a bucket such as "
            "s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
        )
    return value


def _keys(given: Mapping[str, str]) -> str | None:
    value = given.get("keys") or None
    if value is not None and "pin-value" in value.lower():
        raise SettingsError(  # and the value is not shown
            f"{PREFIX}KEYS has pin-value, and would show the PIN to whoever sees it: put the PIN "
            "into a file, and name that by pin-source=file:/run/secrets/pin"
        )
    if value is not None and _SCHEMED.match(value) and not value.startswith("pkcs11:"):
        raise SettingsError(
            f"{PREFIX}KEYS is {_shown(value)}: it must be a folder, or a token such as "
            "pkcs11:token=evidentia?module-path=/usr/lib/softhsm/libsofthsm2.so; a bucket or a "
            "server is no place for private keys"
        )
    return value


def _ray(given: Mapping[str, str]) -> str | None:
    value = given.get("ray") or None
    if value is not None and not _CLUSTER.fullmatch(value):
        raise SettingsError(
            f"{PREFIX}RAY is {_shown(value)}: it must be local, auto, the address of a cluster "
            "that this machine is part of, such as 10.0.0.5:6379, or ray://host:10001"
        )
    return value


def _checkpoints(given: Mapping[str, str]) -> str | None:
    value = given.get("checkpoints") or None
    if value is not None and not _BUCKET.fullmatch(value):
        raise SettingsError(
            f"{PREFIX}CHECKPOINTS is {_shown(value)}: it must be a bucket such as "
            "s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
        )
    return value


def _rate(given: Mapping[str, str], what: str, default: int) -> int:
    name = f"server_{what}_per_minute"
    return _number(given, name, default, "a number a minute", (1, 1_000_000))


def _address(given: Mapping[str, str], name: str) -> str | None:
    value = (given.get(name) or "").rstrip("/") or None
    if value is not None and not _ADDRESS.fullmatch(value):
        raise SettingsError(
            f"{PREFIX}{name.upper()} is {_shown(value)}: it must be an address such as "
            "https://evidence.example.com"
        )
    return value


def _endpoint(given: Mapping[str, str], name: str) -> str | None:
    value = given.get(name) or None
    if value is not None and not _ENDPOINT.fullmatch(value):
        raise SettingsError(
            f"{PREFIX}{name.upper()} is {_shown(value)}: it must be where a collector takes OTLP "
            "by HTTP, such as http://localhost:4318"
        )
    return value.rstrip("/") if value else None


def _doubt(given: Mapping[str, str], default: str) -> str:
    value = given.get("doubt") or default
    found = _DOUBT.fullmatch(value)
    if not found or float(found[1]) > float(found[2]):
        raise SettingsError(
            f"{PREFIX}DOUBT is {value!r}: it must be two probabilities, as {default}"
        )
    return value


def _variable(given: Mapping[str, str], name: str) -> str | None:
    value = given.get(name) or None
    if value is not None and not _VARIABLE.fullmatch(value):
        # what stands there may be the key itself: it is not shown
        raise SettingsError(
            f"{PREFIX}{name.upper()} is no name of a variable: put the key into one, such as "
            "MODEL_KEY, and name that here"
        )
    return value


def _shown(address: str) -> str:
    """Return an address for a message, without the name and the password that it may have."""
    return repr(_ASKER.sub("***", address)[:200])


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    meant = f"did you mean {PREFIX}{near[0].upper()}?" if near else "unset it"
    return f"{PREFIX}{name.upper()} is not a setting: {meant}"
