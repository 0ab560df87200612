"""What the fields of decisions and packs may hold: names, digests, shares."""

import re
from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo

CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}")
MAX_EXCERPT: Final = 2_000
MAX_ACTION: Final = 4_000
MAX_NAME: Final = 1_000
AS_RECORDED: Final = {"as_recorded": True}
"""The context to read by what was written before: rules that can change are not asked again."""


def is_recorded(info: ValidationInfo) -> bool:
    """Whether a value is read as it was recorded, and not made."""
    return info.context is AS_RECORDED


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_not_blank)]
"""A name or an id: a text that is not blank."""
Words = Annotated[str, AfterValidator(_not_blank)]
"""A text that is not blank, however long."""
Excerpt = Annotated[str, Field(max_length=MAX_EXCERPT), AfterValidator(_not_blank)]
"""A passage as its source has it."""
Told = Annotated[str, Field(max_length=MAX_ACTION), AfterValidator(_not_blank)]
"""What was meant, done or brought about, in words."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""


def hours_between(earlier: str, later: str) -> float:
    """Return how many hours lie between two times; negative if they come the other way round."""
    seconds = (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    return seconds / 3600


def is_content_hash(text: str) -> bool:
    """Whether a text is a SHA-256 digest as packs write it: `sha256:` and 64 digits."""
    return CONTENT_HASH.fullmatch(text) is not None
