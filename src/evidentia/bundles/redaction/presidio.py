"""Presidio as a detector, where its package is installed: names of persons, places and more."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

from evidentia.bundles.redaction.model import Detector, SensitiveSpan
from evidentia.errors import EnvironmentProblem

_NOT_IN_KINDS: Final = re.compile(r"[^A-Z0-9]+")


def presidio_detector(
    analyzer: Any = None,
    *,
    entities: Sequence[str] | None = None,
    language: str = "en",
    least_score: float = 0.5,
    name: str = "presidio",
) -> Detector:
    """Return a detector that asks a Presidio analyzer, a new one of its own by default.

    Its entities are the kinds, and those below `least_score` are left out. An EnvironmentProblem
    if the package is missing, or cannot make an analyzer without a model.
    """
    asked = _made_analyzer(name, language) if analyzer is None else analyzer

    def detect(text: str) -> Iterable[SensitiveSpan]:
        found = asked.analyze(
            text=text,
            language=language,
            entities=None if entities is None else list(entities),
            score_threshold=least_score,
        )
        return [
            SensitiveSpan(_kind(result.entity_type), int(result.start), int(result.end))
            for result in found
            if result.score >= least_score and result.start < result.end
        ]

    detect.__name__ = name
    return detect


def _kind(entity: str) -> str:
    return _NOT_IN_KINDS.sub("_", entity.upper()).strip("_")


def _made_analyzer(name: str, language: str) -> Any:
    try:
        package = import_module("presidio_analyzer")  # an extra, and slow to import
    except ImportError as problem:
        raise EnvironmentProblem(
            f"the detector {name!r} needs Presidio: pip install 'evidentia[presidio]'"
        ) from problem
    try:
        return package.AnalyzerEngine(supported_languages=[language])
    except (Exception, SystemExit) as problem:  # it downloads its model with pip, which may exit
        raise EnvironmentProblem(
            f"the detector {name!r} cannot load Presidio's model ({type(problem).__name__}): "
            "install a spaCy model, or pass an analyzer of your own"
        ) from problem
