"""Labels: what they mean is read from their names where these are plain, else asked for."""

from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.judges.checkpoint.labels import JudgeFile, reading_of


def roles(labels: Any, said: dict[str, str] | None = None) -> tuple[str, ...]:
    config = {"id2label": labels} if labels is not None else {}
    judge = JudgeFile.model_validate({"labels": said} if said else {})
    return reading_of(config, judge, "tiny").roles


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (
            {"0": "entailment", "1": "neutral", "2": "contradiction"},
            ("supported", "not_found", "contradicted"),
        ),
        (
            {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"},
            ("contradicted", "not_found", "supported"),
        ),
        ({"0": "entailment", "1": "not_entailment"}, ("supported", "not_supported")),
        ({"0": "0", "1": "1"}, ("not_supported", "supported")),
        ({"0": "LABEL_0", "1": "LABEL_1"}, ("not_supported", "supported")),
        (None, ("not_supported", "supported")),
        (
            {"0": "REFUTES", "1": "NOT ENOUGH INFO", "2": "SUPPORTS"},
            ("contradicted", "not_found", "supported"),
        ),
    ],
)
def test_plain_names_say_what_labels_mean(labels: Any, found: tuple[str, ...]) -> None:
    assert roles(labels) == found


@pytest.mark.parametrize(
    "labels",
    [
        {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        {"0": "POSITIVE", "1": "NEGATIVE"},
        {"0": "neutral", "1": "contradiction"},
        {"0": "entailment", "1": "supported"},
        {"0": "entailment"},
        {},
    ],
)
def test_what_is_not_clear_is_asked_for(labels: dict[str, str]) -> None:
    with pytest.raises(
        InputError, match=r"tiny: what its labels mean is not clear: .* judge\.json"
    ):
        roles(labels)


@pytest.mark.parametrize("labels", [["a"], {"1": "entailment", "2": "neutral"}, {"0": 1, "1": 2}])
def test_labels_have_numbers_from_nought_on(labels: Any) -> None:
    with pytest.raises(InputError, match="does not name the labels from 0 on"):
        roles(labels)


def test_a_count_that_is_none_gives_no_labels() -> None:
    with pytest.raises(InputError, match="not clear"):
        reading_of({"num_labels": "two"}, JudgeFile(), "tiny")


def test_a_file_says_what_labels_mean() -> None:
    labels = {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}
    said = {"LABEL_0": "contradicted", "LABEL_1": "not_found", "LABEL_2": "supported"}
    assert roles(labels, said) == ("contradicted", "not_found", "supported")
    with pytest.raises(InputError, match="not clear"):
        roles(labels, {"LABEL_0": "supported"})


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[]", "judge.json"),
        (b'{"labels": {"a": "true"}}', "labels"),
        (b'{"lables": {}}', "lables"),
        (b'{"max_tokens": 3}', "max_tokens"),
        (b"no", "judge.json"),
    ],
)
def test_what_the_file_cannot_say_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        JudgeFile.read(data, "tiny")


@pytest.mark.parametrize(
    ("config", "said", "tokens"),
    [
        ({}, {}, 512),
        ({"max_position_embeddings": 4096}, {}, 512),
        ({"max_position_embeddings": 4096}, {"max_tokens": 2048}, 2048),
        ({"max_position_embeddings": 64}, {}, 64),
        ({"max_position_embeddings": 514, "model_type": "roberta"}, {}, 512),
        ({"max_position_embeddings": 66, "model_type": "roberta"}, {}, 64),
        ({"max_position_embeddings": -1}, {}, 512),
    ],
)
def test_how_much_is_read_is_the_models_own(
    config: dict[str, Any], said: dict[str, Any], tokens: int
) -> None:
    assert reading_of(config, JudgeFile(**said), "tiny").max_tokens == tokens
