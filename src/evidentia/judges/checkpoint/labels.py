"""What a classifier's labels mean: by their names where these are plain, by a file where not.

`judge.json` in the folder says what the model's own files leave open: what its labels mean, what
evidence and claim are joined by where they are not read as a pair, how many tokens it reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, ValidationError

from evidentia.errors import InputError
from evidentia.frozen import FrozenModel, first_problem

Role = Literal["supported", "contradicted", "not_found", "not_supported"]
ROLES: Final[tuple[str, ...]] = Role.__args__  # type: ignore[attr-defined]  # a Literal has them
LEAST_TOKENS: Final = 16
MOST_TOKENS: Final = 512
"""How many tokens a model reads unless it reads fewer, or `judge.json` says that it reads more."""
_NAMES: Final[dict[Role, tuple[str, ...]]] = {
    "supported": ("entailment", "entail", "entailed", "supported", "support", "supports"),
    "contradicted": (
        *("contradiction", "contradict", "contradicted", "contradicts", "refuted", "refutes"),
    ),
    "not_found": ("neutral", "notfound", "notenoughinfo", "unrelated"),
    "not_supported": ("notsupported", "unsupported", "notentailment", "nonentailment"),
}
"""The names that say what a label means, in small letters and without what stands between them."""
_OF_TWO: Final[dict[Role, tuple[str, ...]]] = {
    "supported": ("1", "label1"),
    "not_supported": ("0", "label0"),
}
"""What the numbers of two labels mean to those who train such models: 1 is yes."""
_TWO: Final = 2
_OFFSET: Final = frozenset(("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"))
"""Models that count two places more than they read."""


class JudgeFile(FrozenModel):
    """What `judge.json` says: what labels mean, what joins the two texts, how much is read."""

    labels: Annotated[dict[str, Role], Field(max_length=100)] | None = None
    join: Annotated[str, Field(max_length=100)] | None = None
    max_tokens: Annotated[int, Field(ge=LEAST_TOKENS, le=32_768)] | None = None

    @classmethod
    def read(cls, data: bytes, name: str) -> Self:
        """Read the file; raise `InputError` for what it cannot say."""
        try:
            return cls.model_validate_json(data, strict=True)
        except ValidationError as error:
            raise InputError(f"{name}: {first_problem(error, cls, 'judge.json')}") from None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model is read: the role of each of its outputs, and what it is given."""

    roles: tuple[Role, ...]
    max_tokens: int
    join: str | None

    @property
    def tells_contradictions(self) -> bool:
        """Whether one of the labels says that the evidence says otherwise."""
        return "contradicted" in self.roles


def reading_of(config: Mapping[str, Any], said: JudgeFile, name: str) -> Reading:
    """Return how a model is read by its `config.json` and by what `judge.json` says of it."""
    return Reading(
        _roles(_labels(config, name), said.labels, name),
        said.max_tokens or _most_tokens(config),
        said.join,
    )


def _labels(config: Mapping[str, Any], name: str) -> list[str]:
    """Return the names of the labels in the order of the outputs."""
    given = config.get("id2label")
    if given is None:
        count = config.get("num_labels", 2)
        return [f"LABEL_{number}" for number in range(count if type(count) is int else 0)]
    if isinstance(given, Mapping):
        found = [given.get(str(number)) for number in range(len(given))]
        if all(isinstance(one, str) for one in found):
            return [str(one) for one in found]
    raise InputError(f"{name}: 'id2label' in config.json does not name the labels from 0 on")


def _roles(labels: Sequence[str], said: Mapping[str, Role] | None, name: str) -> tuple[Role, ...]:
    known: dict[str, Role] = dict(said or {})
    if said is None:
        tables = [_NAMES, _OF_TWO] if len(labels) == _TWO else [_NAMES]
        plain = {name: role for table in tables for role, names in table.items() for name in names}
        folded = {label: "".join(filter(str.isalnum, label.lower())) for label in labels}
        known = {label: plain[fold] for label, fold in folded.items() if fold in plain}
    roles = [known[label] for label in labels if label in known]
    if len(roles) < len(labels) or roles.count("supported") != 1 or len(roles) < _TWO:
        example = ", ".join(f'"{label}": "…"' for label in labels[:3])
        raise InputError(
            f"{name}: what its labels mean is not clear: put a file judge.json there that says "
            f'{{"labels": {{{example}}}}}, each one of {", ".join(ROLES)}; one is supported'
        )
    return tuple(roles)


def _most_tokens(config: Mapping[str, Any]) -> int:
    places = config.get("max_position_embeddings")
    if type(places) is not int or places < LEAST_TOKENS:
        return MOST_TOKENS
    offset = _TWO if config.get("model_type") in _OFFSET else 0
    return min(places - offset, MOST_TOKENS)
