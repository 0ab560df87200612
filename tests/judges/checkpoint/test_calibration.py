"""Calibration: two numbers that make a model's probabilities worth what they say."""

import random

import pytest

from evidentia.errors import InputError
from evidentia.judges.checkpoint.calibration import Calibration, Scale, fit_scale, log_loss


def sample(count: int, bend: float, shift: float) -> tuple[list[float], list[bool]]:
    """Return what a model says that is too sure, or too shy, and what is so."""
    known = random.Random(7)
    odds = [known.gauss(0, 2) for _ in range(count)]
    truths = [known.random() < _chance(one) for one in odds]
    return [_chance(bend * one + shift) for one in odds], truths


def _chance(odds: float) -> float:
    return float(1 / (1 + 2.718281828459045**-odds))


def test_a_scale_that_changes_nothing_is_the_default() -> None:
    for probability in (0.1, 0.5, 0.93):
        assert Scale().apply(probability) == pytest.approx(probability)
    assert 0 < Scale().apply(0.0) < Scale().apply(1.0) < 1


@pytest.mark.parametrize(("bend", "shift"), [(3.0, 0.0), (0.4, 0.0), (1.0, 1.5), (2.0, -1.0)])
def test_fitting_takes_back_what_bends_probabilities(bend: float, shift: float) -> None:
    probabilities, truths = sample(3_000, bend, shift)
    scale = fit_scale(probabilities, truths)
    assert scale.slope == pytest.approx(1 / bend, rel=0.15)
    fitted = [scale.apply(one) for one in probabilities]
    assert log_loss(fitted, truths) < log_loss(probabilities, truths)


def test_pairs_that_a_model_tells_apart_wholly_have_a_scale_too() -> None:
    scale = fit_scale([0.9] * 20 + [0.1] * 20, [True] * 20 + [False] * 20)
    assert scale.apply(0.9) > 0.95


@pytest.mark.parametrize("truths", [[True] * 30, [True] * 28 + [False] * 2, [True, False] * 5])
def test_too_few_pairs_are_refused(truths: list[bool]) -> None:
    with pytest.raises(InputError, match="calibrating takes 20 or more, and 5 or more of each"):
        fit_scale([0.5] * len(truths), truths)


def test_labels_that_are_swapped_are_found_out() -> None:
    with pytest.raises(InputError, match=r"say in judge\.json what they mean"):
        fit_scale([0.9] * 20 + [0.1] * 20, [False] * 20 + [True] * 20)


def test_a_calibration_reads_back_from_its_file() -> None:
    made = Calibration(support=Scale(slope=0.5, intercept=-1), pairs=40, data_sha256="ab" * 32)
    assert Calibration.read(made.encode(), "tiny") == made
    for wrong in (b"", b"{}", made.encode().replace(b"0.5", b"-0.5")):
        with pytest.raises(InputError, match=r"tiny: .*calibrate it again, or remove it"):
            Calibration.read(wrong, "tiny")
