"""Calibration: what a model's probabilities are worth, fitted on labelled pairs.

Each of two probabilities, of support and of contradiction, is put on a scale of two numbers:
its log-odds times a slope, plus an intercept. The scales are kept beside the model, in
`calibration.json`, and are part of what its digest is of.
"""

from collections.abc import Sequence
from math import exp, log, log1p
from typing import Annotated, Final, Self

from pydantic import Field, ValidationError

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.frozen import FrozenModel, first_problem

LEAST_PAIRS: Final = 20
LEAST_OF_EACH: Final = 5
_LEAST: Final = 1e-6
_ROUNDS: Final = 40
_WEIGHT: Final = 1.0
"""How much the scale that changes nothing counts, in pairs: few pairs don't bend it far."""
_STILL: Final = 1e-9
Finite = Annotated[float, Field(ge=-100, le=100)]


class Scale(FrozenModel):
    """What makes a probability of a model one that can be believed."""

    slope: Annotated[float, Field(gt=0, le=100)] = 1.0
    intercept: Finite = 0.0

    def apply(self, probability: float) -> float:
        """Return a probability on this scale."""
        return _logistic(self.slope * _log_odds(probability) + self.intercept)


class Calibration(FrozenModel):
    """The scales of a model, and the labelled pairs that they were fitted on."""

    support: Scale
    contradiction: Scale | None = None
    pairs: Annotated[int, Field(ge=0)]
    data_sha256: str

    @classmethod
    def read(cls, data: bytes, name: str) -> Self:
        """Read the file; raise `InputError` for what is no calibration."""
        try:
            return cls.model_validate_json(data, strict=True)
        except ValidationError as error:
            problem = first_problem(error, cls, "calibration.json")
            raise InputError(f"{name}: {problem}: calibrate it again, or remove it") from None

    def encode(self) -> bytes:
        """Return the file's bytes."""
        return canonical_json(self.model_dump(mode="json")) + b"\n"


def fit_scale(probabilities: Sequence[float], truths: Sequence[bool]) -> Scale:
    """Return the scale on which probabilities fit best what is so (Newton's method).

    Raise `InputError` where there are too few pairs, or where a higher probability means that it
    is less often so: then the labels mean something else.
    """
    yes = sum(truths)
    if len(truths) < LEAST_PAIRS or min(yes, len(truths) - yes) < LEAST_OF_EACH:
        raise InputError(
            f"there are {len(truths)} pairs, {yes} of them with this label: calibrating takes "
            f"{LEAST_PAIRS} or more, and {LEAST_OF_EACH} or more of each kind"
        )
    odds = [_log_odds(one) for one in probabilities]
    slope, intercept = 1.0, 0.0
    for _ in range(_ROUNDS):
        step = _step(odds, truths, slope, intercept)
        loss = _penalised(odds, truths, slope, intercept)
        # a whole step may go too far where probabilities are near 0 and 1
        while (
            max(map(abs, step)) >= _STILL
            and _penalised(odds, truths, slope - step[0], intercept - step[1]) > loss
        ):
            step = step[0] / 2, step[1] / 2
        slope, intercept = slope - step[0], intercept - step[1]
    try:
        return Scale(slope=slope, intercept=intercept)
    except ValidationError:
        raise InputError(
            "the likelier the model finds it, the less often it is so: its labels may mean "
            "something else than they seem to; say in judge.json what they mean"
        ) from None


def log_loss(probabilities: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the mean surprise at what is so; less is better."""
    chances = (
        max(one if so else 1 - one, _LEAST) for one, so in zip(probabilities, truths, strict=True)
    )
    return sum(-log(chance) for chance in chances) / len(truths)


def _penalised(
    odds: Sequence[float], truths: Sequence[bool], slope: float, intercept: float
) -> float:
    """Return how far a scale is from what is so, and from the one that changes nothing."""
    away = _WEIGHT * ((slope - 1) ** 2 + intercept**2) / 2
    for x, so in zip(odds, truths, strict=True):
        value = slope * x + intercept
        away += _softplus(-value if so else value)
    return away


def _softplus(value: float) -> float:
    """Return log(1 + e^value), also where e^value is past what a number holds."""
    return max(value, 0.0) + log1p(exp(-abs(value)))


def _step(
    odds: Sequence[float], truths: Sequence[bool], slope: float, intercept: float
) -> tuple[float, float]:
    """Return how far to go back on slope and intercept towards the best fit."""
    pulls = [_WEIGHT * (slope - 1), _WEIGHT * intercept]
    bends = [_WEIGHT, 0.0, _WEIGHT]
    for x, so in zip(odds, truths, strict=True):
        chance = _logistic(slope * x + intercept)
        error, weight = chance - so, chance * (1 - chance)
        pulls[0] += error * x
        pulls[1] += error
        bends[0] += weight * x * x
        bends[1] += weight * x
        bends[2] += weight
    determinant = bends[0] * bends[2] - bends[1] ** 2
    return (
        (pulls[0] * bends[2] - pulls[1] * bends[1]) / determinant,
        (pulls[1] * bends[0] - pulls[0] * bends[1]) / determinant,
    )


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return log(bounded / (1 - bounded))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-max(min(value, 30.0), -30.0)))
