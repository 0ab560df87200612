"""The policy of a bundle: how much of what it may hold, and what is done to what is too much."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from evidentia.bundles.sampling import SamplingStrategy
from evidentia.canonical import MAX_SAFE_INTEGER
from evidentia.frozen import FrozenDict, FrozenItems, FrozenList, FrozenModel, freeze, thaw

Limit = Annotated[StrictInt, Field(ge=0, le=MAX_SAFE_INTEGER)]
Tokenizer = Literal["cl100k_base", "o200k_base", "llama3", "deepseek_v3"]
TOKENIZERS: Final[tuple[str, ...]] = Tokenizer.__args__  # type: ignore[attr-defined]  # a Literal has them


def _in_order(patterns: Mapping[str, str]) -> Mapping[str, str]:
    """Freeze patterns by name: in which order they were given must change nothing."""
    frozen: Mapping[str, str] = freeze(dict(sorted(patterns.items())))
    return frozen


Patterns = Annotated[dict[str, StrictStr], AfterValidator(_in_order), PlainSerializer(thaw)]


class EvidencePolicy(FrozenModel):
    """What a bundle may hold. Bytes are UTF-8 bytes of the items' content; 0 keeps nothing.

    Token limits are exact, count what `render` adds, and need a `tokenizer`.
    `redaction_classes` are all classes unless they are named; `redaction_patterns` are patterns of
    your own, by the name their placeholders get.
    """

    max_items: Limit = 50
    max_total_bytes: Limit = 100_000
    max_item_bytes: Limit = 10_000
    max_sql_rows: Limit = 100
    max_sql_cols: Limit = 20
    sampling_strategy: SamplingStrategy = "first_last"
    chunk_size: Annotated[StrictInt, Field(ge=1, le=MAX_SAFE_INTEGER)] = 5_000
    chunk_overlap: Limit = 200
    enable_redaction: StrictBool = False
    redaction_classes: FrozenItems[str] | None = None
    redaction_patterns: Patterns = Field(default_factory=FrozenDict)
    tokenizer: Tokenizer | None = None
    max_item_tokens: Limit | None = None
    max_total_tokens: Limit | None = None

    @field_validator("redaction_classes")
    @classmethod
    def _are_classes(cls, names: list[str] | None) -> list[str] | None:
        if names is None:
            return None
        from evidentia.bundles.redaction.redactor import BUILT_IN  # noqa: PLC0415 - loads an engine

        for name in names:
            if name not in BUILT_IN:
                raise ValueError(f"{name!r} is no class of redaction: use {', '.join(BUILT_IN)}")
        return FrozenList(name for name in BUILT_IN if name in names)

    @model_validator(mode="after")
    def _patterns_are_linear(self) -> Self:
        if self.redaction_patterns:
            from evidentia.bundles.redaction.redactor import check_pattern  # noqa: PLC0415 - the same

            for name, pattern in self.redaction_patterns.items():
                check_pattern(name, pattern)
        return self

    @model_validator(mode="after")
    def _chunks_go_on(self) -> Self:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(
                f"chunks of {self.chunk_size} bytes cannot overlap by {self.chunk_overlap}: "
                "chunk_overlap must be less than chunk_size"
            )
        return self

    @model_validator(mode="after")
    def _tokens_can_be_counted(self) -> Self:
        limited = self.max_item_tokens is not None or self.max_total_tokens is not None
        if limited and self.tokenizer is None:
            raise ValueError(
                f"max_item_tokens and max_total_tokens need a tokenizer: {', '.join(TOKENIZERS)}"
            )
        return self
