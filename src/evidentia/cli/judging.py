"""What the settings say of judges: the language model to ask, and how judges vote."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.cli.options import settings

if TYPE_CHECKING:
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.votes import AskedService, JudgingPolicy

_MOST_KEY_BYTES = 4_096


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

    found = settings()
    if found.llm_url is None or found.llm_model is None:
        raise SettingsError(
            "the llm judge needs a model: set EVIDENTIA_LLM_URL, such as "
            "http://localhost:11434/v1, and EVIDENTIA_LLM_MODEL"
        )
    file = found.llm_key_file
    try:
        return LanguageModel(
            url=found.llm_url,
            model=found.llm_model,
            api=found.llm_api,
            key=found.llm_key(os.environ) if file is None else _key_in(file),
            input_price=found.llm_input_price,
            output_price=found.llm_output_price,
            currency=found.llm_currency,
            timeout_seconds=found.llm_timeout_seconds,
            attempts=found.llm_attempts,
            claims_at_once=found.llm_claims_at_once,
            evidence_bytes=found.llm_evidence_bytes,
        )
    except InputError as error:
        raise SettingsError(f"the settings of EVIDENTIA_LLM_… cannot be used: {error}") from None


def _key_in(file: Path) -> str:
    """Read a key from a file; a line break at its end is not part of it."""
    from evidentia.errors import InputError
    from evidentia.proof.files import read_bytes

    data = read_bytes(file, _MOST_KEY_BYTES).removesuffix(b"\n").removesuffix(b"\r")
    if not data.isascii():
        raise InputError(f"{file}: the key is not plain text")
    return data.decode()


def took(service: "AskedService") -> str:
    """Say what asking a service took."""
    from evidentia.language.counting import counted

    said = f"{service.model} at {service.url}: {counted(service.calls, 'call')}"
    if service.remembered:
        said += f", {counted(service.remembered, 'answer')} remembered"
    if service.input_tokens is not None and service.output_tokens is not None:
        said += f", {service.input_tokens:,} tokens in and {service.output_tokens:,} out"
    return said if service.cost is None else f"{said}, {service.cost} {service.currency}"
