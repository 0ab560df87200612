import json
from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.sources.model import (
    CandidateItem,
    EvidenceChunk,
    EvidencePackOptions,
    SourceItem,
    SourceSnippet,
)
from evidentia.sources.packing import DefaultEvidencePacker


def test_lists_of_options_and_sources_are_lists_to_their_users() -> None:
    options = EvidencePackOptions(include_metadata_keys=["author"])
    assert options.include_metadata_keys == ["author"]
    assert isinstance(options.include_metadata_keys, list)
    assert options.include_metadata_keys + ["year"] == ["author", "year"]  # noqa: RUF005 - the operator
    with pytest.raises(TypeError, match="a frozen list cannot be changed"):
        options.include_metadata_keys.append("year")
    packed = DefaultEvidencePacker().pack(
        [CandidateItem(item_id="a", content="Leave is 20 days.", metadata={"tags": ["hr"]})],
        None,
        EvidencePackOptions(anchors=True, include_metadata_keys=["tags"]),
    )
    assert isinstance(packed[0].snippets, list)
    assert isinstance(packed[0].snippets[0].matches, list)
    assert json.dumps(packed[0].metadata) == '{"tags": ["hr"]}'


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (CandidateItem, {"item_id": "a", "title": "Leave"}),
        (EvidenceChunk, {"item_id": "a", "text": "Leave is 20 days."}),
    ],
)
def test_what_a_retriever_tells_beyond_the_fields_is_left_aside(
    model: type[CandidateItem | EvidenceChunk], given: dict[str, Any]
) -> None:
    told = model.model_validate({**given, "embedding": [0.1], "source_type": "wiki"})
    assert told == model.model_validate(given)
    assert "embedding" not in told.model_dump()
    assert told.model_copy(update={"shard": 3}) == told


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (EvidencePackOptions, {}),
        (SourceItem, {"source_id": "a", "kind": "documents"}),
        (SourceSnippet, {"text": "Leave"}),
    ],
)
def test_what_is_made_here_takes_no_unknown_field(model: Any, given: dict[str, Any]) -> None:
    model.model_validate(given)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({**given, "embedding": [0.1]})
