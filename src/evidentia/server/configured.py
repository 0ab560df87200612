"""What only the operator names: databases that may be asked, and the language model that judges.

A request chooses among names. No address of either is ever in one.
"""

import os
from collections.abc import Mapping

from evidentia.errors import InputError, SettingsError
from evidentia.integrations.otel.gathering import Gathering, policy_in
from evidentia.integrations.policy import RecordingPolicy
from evidentia.judges.llm.endpoint import LanguageModel
from evidentia.proof.files import key_in
from evidentia.settings import Settings

LLM = "llm"


def connections_of(settings: Settings, tenant: str) -> dict[str, str]:
    """Return the databases that a tenant may ask, by the names that it knows them by.

    A name alone is for the server's own tenant, `tenant/name` for another one.
    """
    found: dict[str, str] = {}
    for given, url in (settings.server_connections or {}).items():
        owner, _, name = given.rpartition("/")
        if (owner or settings.tenant) == tenant:
            found[name] = url
    return found


def judge_named(
    settings: Settings, name: str, environment: Mapping[str, str] = os.environ
) -> str | LanguageModel:
    """Return the judge that a request names; `llm` is the settings' model.

    Raise `InputError` where the operator has set up none, or it cannot be used.
    """
    return _model(settings, environment) if name == LLM else name


def _model(settings: Settings, environment: Mapping[str, str]) -> LanguageModel:
    if settings.llm_url is None or settings.llm_model is None:
        raise InputError(
            "judges: this server has no language model: its operator sets EVIDENTIA_LLM_URL and "
            "EVIDENTIA_LLM_MODEL; leave llm out"
        )
    file = settings.llm_key_file
    try:
        key = settings.llm_key(environment) if file is None else key_in(file)
        return LanguageModel(**settings.llm_fields(), key=key)
    except (InputError, SettingsError):
        raise InputError(
            "judges: the language model of this server cannot be used as it is set up: its "
            "operator looks at the settings EVIDENTIA_LLM_…; leave llm out"
        ) from None


def gathering_of(settings: Settings) -> Gathering:
    """Return what is recorded of traces that are sent here, and when they are closed."""
    file = settings.otel_policy_file
    return Gathering(
        RecordingPolicy() if file is None else policy_in(file),
        settings.otel_close_seconds,
        settings.otel_idle_seconds,
    )
