from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import orjson

from evidentia.integrations.passages import copied_passages, read_passages
from evidentia.ledger.retrieved import read_retrieved

AT = datetime(2026, 11, 18, 9, tzinfo=UTC)


@dataclass
class Document:
    """As LangChain has it."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class Node:
    """As LlamaIndex has it."""

    node_id = "n1"
    metadata: dict[str, Any] = {"file_name": "docs/a.pdf", "page_label": "4"}  # noqa: RUF012 - as it is there

    def get_content(self) -> str:
        return "Of a node."


def untold(*problem: str) -> None:
    raise AssertionError(problem)


def test_passages_that_are_copied_and_read_later_are_those_that_are_read_at_once() -> None:
    given: list[Any] = [
        "A text.",
        {"id": "kb17", "text": "Of a dict.", "title": "Contract", "score": 0.5},
        {"text": "", "id": 7},
        Document("Of a document.", {"source": PurePosixPath("docs/b.pdf"), "page": 2, "at": AT}),
        Document("Costly.", {"price": Decimal("1.50"), "tags": ["a", {"b": None}]}, "d2"),
        Document("Large.", {"count": 2**70, "kept": "x", "long": "y" * 20_000}),
        Node(),
    ]
    read = orjson.loads(read_passages(copied_passages(given, untold), untold))
    for number, (one, found) in enumerate(zip(given, read, strict=True), 1):
        at_once = read_retrieved(number, one)
        about = {name: getattr(at_once, name) for name in ("id", "text", "title", "page")}
        known = {name: value for name, value in about.items() if value is not None}
        if at_once.metadata:
            known["metadata"] = dict(at_once.metadata)
        assert found == known


def test_what_the_program_changes_afterwards_is_not_in_the_copy() -> None:
    passage = {"text": "It was so.", "metadata": {"page": 1}}
    data = copied_passages([passage], untold)
    passage["text"] = "It was otherwise."
    assert orjson.loads(read_passages(data, untold))[0]["text"] == "It was so."


def test_what_is_no_passage_is_told_and_the_others_are_kept() -> None:
    told: list[tuple[str, str, str]] = []
    given = [7, "A passage.", {"text": "x", "id": "i" * 300}, {"id": "without a text"}]
    data = copied_passages(given, lambda *one: told.append(one))
    assert [what for what, _, _ in told] == ["passage 1", "passage 4"]
    read = orjson.loads(read_passages(data, lambda *one: told.append(one)))
    assert read == [{"text": "A passage."}]
    assert "its id has 300 characters" in told[2][2]
    assert copied_passages(None, untold) == b"[]"
