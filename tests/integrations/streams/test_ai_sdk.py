"""The stream as the AI SDK's own code reads it, in Node."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evidentia as ev
from evidentia.integrations.streams import with_evidence
from sources.wire.node_sdk import NodeSdk, NoNodeSdkError

pytestmark = pytest.mark.sqlite_suffices

TEXT = "Leave is 15 days. Dogs are welcome."
VERSION = "6.0.326"


@pytest.fixture(scope="module")
def sdk() -> Iterator[NodeSdk]:
    try:
        running = NodeSdk.running(VERSION)
        sdk = running.__enter__()
    except NoNodeSdkError as error:
        pytest.skip(f"THE AI SDK DID NOT READ THE STREAM: {error}")
    yield sdk
    running.__exit__(None, None, None)


def test_the_sdk_puts_answer_sources_claims_and_ledger_into_the_message(
    sdk: NodeSdk, tmp_path: Path
) -> None:
    host = [
        'data: {"type":"text-start","id":"t"}\n\n',
        *(f'data: {{"type":"text-delta","id":"t","delta":"{word} "}}\n\n' for word in TEXT.split()),
        'data: {"type":"text-end","id":"t"}\n\n',
        'data: {"type":"finish"}\n\n',
    ]
    contexts = [{"id": "kb-3", "text": "Leave is 15 days."}]
    how: dict[str, Any] = {"contexts": contexts, "judges": ["quote", "numbers"]}
    with ev.open(tmp_path / "home") as workspace:
        lines = list(with_evidence(host, workspace, "ai-sdk", **how))
    parts = sdk.ask(about="received", lines=lines)
    by_type: dict[str, list[Any]] = {}
    for part in parts:
        by_type.setdefault(part["type"], []).append(part)
    assert [one["text"] for one in by_type["text"]] == [f"{TEXT} "]
    claims = [one["data"] for one in by_type["data-evidentia-claim"]]
    assert [(one["state"], one["verdict"]) for one in claims] == [
        ("final", "supported"),
        ("final", "not_found"),
    ]  # provisional ones are replaced, not added to
    (ledger,) = by_type["data-evidentia-ledger"]
    assert ledger["data"]["claims"] == [one["id"] for one in claims]
    (source,) = by_type["source-document"]
    assert source["sourceId"] == "kb-3"
    assert source["providerMetadata"]["evidentia"]["snippet"] == "Leave is 15 days."
