"""The language model that is asked: where it is, what it is called, and what asking it may take."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Final, Literal
from urllib.parse import urlsplit

from evidentia.errors import InputError
from evidentia.urls import normal_url

Api = Literal["openai", "anthropic"]
APIS: Final[tuple[str, ...]] = Api.__args__  # type: ignore[attr-defined]  # a Literal has them
PER_TOKENS: Final = 1_000_000
"""Prices are of so many tokens."""
_SMALLEST: Final = Decimal("0.000001")
_NAME: Final = re.compile(r"[^\s\x00-\x1f\x7f](?:.{0,198}[^\s\x00-\x1f\x7f])?")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


class Secret:
    """A text that shows itself to nobody: `reveal` alone gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if not text or not text.isascii() or not text.isprintable() or text != text.strip():
            raise InputError(
                "the key is not one: it must be printable ASCII, with no space around it"
            )
        self._text = text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written down")

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text

    def hidden(self, text: str) -> str:
        """Return a text without this one, wherever it stands in it."""
        return text.replace(self._text, "[key]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A language model behind an API: an OpenAI-compatible one, or Anthropic's.

    `url` is what the paths of the API begin with, such as `http://localhost:11434/v1`. `key` is
    shown nowhere. Prices are texts of decimal numbers, for a million tokens; without them no cost
    is given. `evidence_bytes` is how much evidence is sent at once: more is split.
    """

    url: str
    model: str
    api: Api = "openai"
    key: Secret | str | None = None
    input_price: str | None = None
    output_price: str | None = None
    currency: str = "USD"
    timeout_seconds: float = 60.0
    attempts: int = 4
    longest_wait_seconds: float = 30.0
    claims_at_once: int = 8
    evidence_bytes: int = 24_000
    answer_tokens: int = 4_096

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", endpoint_url(self.url))
        if isinstance(self.key, str):
            object.__setattr__(self, "key", Secret(self.key))
        if not _NAME.fullmatch(self.model):
            raise InputError("a model has a name: text of 1 to 200 characters, on one line")
        if self.api not in APIS:
            raise InputError(f"there is no API {self.api!r} to ask by: use {', '.join(APIS)}")
        if self.key is not None and self.url.startswith("http:") and not is_local(self.url):
            raise InputError(
                f"{self.url}: the key would go there for everyone on the way to read: use https"
            )
        for name in ("input_price", "output_price"):
            _check_price(name, getattr(self, name))
        if not _CURRENCY.fullmatch(self.currency):
            raise InputError(f"currency {self.currency!r}: it has three capital letters, as USD")
        _check_limits(self)

    @property
    def secret(self) -> Secret | None:
        """The key, which shows itself to nobody."""
        return self.key if isinstance(self.key, Secret) else None

    def hidden(self, text: str) -> str:
        """Return a text without the key, should it be in there."""
        return self.secret.hidden(text) if self.secret else text

    def cost(self, input_tokens: int, output_tokens: int) -> str | None:
        """Return what tokens cost, to the sixth decimal; None where a price is not known."""
        if self.input_price is None or self.output_price is None:
            return None
        total = (
            Decimal(self.input_price) * input_tokens + Decimal(self.output_price) * output_tokens
        ) / PER_TOKENS
        return f"{total.quantize(_SMALLEST, ROUND_HALF_UP):f}"


def endpoint_url(text: str) -> str:
    """Return the one way to write where an API is; raise `InputError` for what is none.

    >>> endpoint_url("HTTPS://API.example.com:443/v1/")
    'https://api.example.com/v1'
    """
    return normal_url(text, example="http://localhost:11434/v1", instead="give the key as a key")


def is_local(url: str) -> bool:
    """Whether a URL is of this machine itself."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(?:\.[0-9]{1,3}){3}", host))


def _check_price(name: str, price: str | None) -> None:
    try:
        known = Decimal(price) if price is not None else Decimal(0)
    except InvalidOperation:
        known = Decimal(-1)
    if not known.is_finite() or known < 0:
        raise InputError(f"{name} is {price!r}: it must be a decimal number, of a million tokens")


def _check_limits(model: LanguageModel) -> None:
    for name, least, most in (
        ("timeout_seconds", 0.05, 3_600),
        ("attempts", 1, 10),
        ("longest_wait_seconds", 0, 600),
        ("claims_at_once", 1, 50),
        ("evidence_bytes", 500, 10_000_000),
        ("answer_tokens", 100, 1_000_000),
    ):
        value = getattr(model, name)
        if not least <= value <= most:
            raise InputError(f"{name} is {value!r}: it must be from {least} to {most:,}")
