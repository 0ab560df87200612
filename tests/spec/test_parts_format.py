"""Parts of a stream: the vectors, the schema and the page say what the code does."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from evidentia.ledger.wire.parts import (
    ClaimPart,
    LedgerPart,
    ProblemPart,
    ShownPassage,
    ShownRisk,
)

SPEC = Path(__file__).parents[2] / "spec" / "v1"
SCHEMA: dict[str, Any] = json.loads((SPEC / "parts.schema.json").read_text("utf-8"))
VECTORS: dict[str, Any] = json.loads((SPEC / "vectors" / "parts.json").read_text("utf-8"))
MODELS: dict[str, type[BaseModel]] = {
    "claim": ClaimPart,
    "ledger": LedgerPart,
    "problem": ProblemPart,
    "passage": ShownPassage,
    "risk": ShownRisk,
}


def test_the_schema_and_the_page_have_the_fields_of_the_code() -> None:
    page = (SPEC / "parts.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    for name, model in MODELS.items():
        assert set(SCHEMA["$defs"][name]["properties"]) == set(model.model_fields), name
        assert named >= set(model.model_fields), name


def test_every_part_of_the_vectors_is_taken_and_read_the_same() -> None:
    validator = Draft202012Validator(SCHEMA)
    for part in VECTORS["parts"]:
        validator.validate(part)
        kinds = [
            model
            for model in (ClaimPart, LedgerPart, ProblemPart)
            if set(model.model_fields) == set(part)
        ]
        assert kinds[0].model_validate(part).model_dump(mode="json") == part
    assert {part.get("state") for part in VECTORS["parts"]} == {"provisional", "final", None}


@pytest.mark.parametrize(
    "change",
    [{"verdict": "true"}, {"state": "done"}, {"v": 2}, {"start": -1}, {"more": 1}],
)
def test_the_schema_refuses_what_is_no_part(change: dict[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid({**VECTORS["parts"][0], **change})


def test_a_claims_place_is_in_the_answer_in_code_points() -> None:
    for part in VECTORS["parts"]:
        if "verdict" in part:
            assert part["text"] in VECTORS["answer"][part["start"] : part["end"]]


def test_every_protocol_carries_every_part() -> None:
    for events in VECTORS["events"].values():
        assert len(events) == len(VECTORS["parts"])
        for event, part in zip(events, VECTORS["parts"], strict=True):
            carried = event.get("data") or event.get("value") or event["evidentia"]["data"]
            assert carried == part
