"""What the settings say of judges: the language model to ask, and how judges vote."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidentia.cli.options import settings

if TYPE_CHECKING:
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.votes import AskedService, JudgingPolicy


def chosen(names: Sequence[str] | None) -> "list[str | LanguageModel] | None":
    """Return the judges of these names as a workspace takes them: llm is the settings' model."""
    if names is None:
        return None
    return [language_model() if name == "llm" else name for name in names]


def policy() -> "JudgingPolicy":
    """Return how judges vote by the settings."""
    from evidentia.ledger.votes import JudgingPolicy

    found = settings()
    low, _, high = found.doubt.partition("-")
    return JudgingPolicy(
        asked=found.second_opinion,
        decides=found.decides,
        doubt_from=float(low),
        doubt_to=float(high),
    )


def language_model() -> "LanguageModel":
    """Return the language model of the settings; raise `SettingsError` if they name none."""
    from evidentia.errors import InputError, SettingsError
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.proof.files import key_in

    found = settings()
    fields, file = found.llm_fields(), found.llm_key_file
    try:
        key = found.llm_key(os.environ) if file is None else key_in(file)
        return LanguageModel(**fields, key=key)
    except InputError as error:
        raise SettingsError(f"the settings of EVIDENTIA_LLM_… cannot be used: {error}") from None


def took(service: "AskedService") -> str:
    """Say what asking a service took."""
    from evidentia.language.counting import counted

    said = f"{service.model} at {service.url}: {counted(service.calls, 'call')}"
    if service.remembered:
        said += f", {counted(service.remembered, 'answer')} remembered"
    if service.input_tokens is not None and service.output_tokens is not None:
        said += f", {service.input_tokens:,} tokens in and {service.output_tokens:,} out"
    return said if service.cost is None else f"{said}, {service.cost} {service.currency}"
