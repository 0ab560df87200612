"""The example decision quotes its sources word for word."""

import json
from pathlib import Path

import pytest

from evidentia.documents.reading.document import read_document

EXAMPLES = Path(__file__).parents[2] / "examples"
DECISION = EXAMPLES / "decision.json"


@pytest.mark.parametrize("number", [0, 1])
def test_what_the_decision_quotes_stands_in_its_source(number: int) -> None:
    one = json.loads(DECISION.read_text(encoding="utf-8"))["evidence"][number]
    file = EXAMPLES / one["reference"]
    pages = read_document(file.read_bytes(), file.name).pages
    assert one["excerpt"] in " ".join(" ".join(page.text for page in pages).split())
