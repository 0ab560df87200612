import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from evidentia.bundles.redaction.presidio import presidio_detector
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.errors import EnvironmentProblem

KEY = b"a key for tests only"
TEXT = "Reach Ali at ali@example.com today."


class StandIn:
    """An analyzer that answers as Presidio's does, and remembers what it was asked."""

    def __init__(self, **made: Any) -> None:
        self.made = made
        self.asked: dict[str, Any] = {}

    def analyze(self, **asked: Any) -> list[SimpleNamespace]:
        self.asked = asked
        return [
            SimpleNamespace(entity_type="PERSON", start=6, end=9, score=0.85),
            SimpleNamespace(entity_type="Geo-Place", start=30, end=34, score=0.5),
            SimpleNamespace(entity_type="WEAK", start=0, end=5, score=0.4),
        ]


def test_entities_become_kinds_and_weak_ones_are_left_out() -> None:
    analyzer = StandIn()
    detector = presidio_detector(analyzer, entities=("PERSON",), language="ar")
    found = Redactor(KEY, detectors={"presidio": detector}).redact(TEXT)
    assert found.text == "Reach [PERSON_1] at [EMAIL_1] t[GEO_PLACE_1]."
    assert analyzer.asked == {
        "text": TEXT,
        "language": "ar",
        "entities": ["PERSON"],
        "score_threshold": 0.5,
    }


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[presidio\]'"):
        presidio_detector()


def test_an_analyzer_is_made_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("presidio_analyzer")
    package.AnalyzerEngine = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "presidio_analyzer", package)
    assert [span.kind for span in presidio_detector(least_score=0.6)(TEXT)] == ["PERSON"]


def test_a_model_that_cannot_be_had_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(**_: Any) -> None:
        raise SystemExit(1)

    package = ModuleType("presidio_analyzer")
    package.AnalyzerEngine = unable  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "presidio_analyzer", package)
    with pytest.raises(EnvironmentProblem, match="install a spaCy model, or pass an analyzer"):
        presidio_detector()


def test_the_real_package_is_asked_where_it_is_installed() -> None:
    presidio = pytest.importorskip("presidio_analyzer")
    engines = pytest.importorskip("presidio_analyzer.nlp_engine")
    spacy = pytest.importorskip("spacy")
    engine = engines.SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    engine.nlp = {"en": spacy.blank("en")}
    registry = presidio.RecognizerRegistry(
        recognizers=[
            presidio.PatternRecognizer("TICKET", patterns=[presidio.Pattern("t", r"T-\d+", 0.9)]),
            presidio.PatternRecognizer("WEAK", patterns=[presidio.Pattern("w", r"see", 0.1)]),
        ]
    )
    analyzer = presidio.AnalyzerEngine(registry=registry, nlp_engine=engine)
    redactor = Redactor(KEY, detectors={"presidio": presidio_detector(analyzer)})
    assert redactor.redact("é see T-12 and a@example.com").text == "é see [TICKET_1] and [EMAIL_1]"
