"""An answer's stream with its evidence: by the packages that read such streams, in every form."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from ag_ui.core import CustomEvent, EventType, TextMessageContentEvent
from ag_ui.encoder import EventEncoder
from anthropic import Anthropic
from openai import OpenAI
from openai.types.chat import ChatCompletionChunk

import evidentia as ev
from evidentia.errors import InputError
from evidentia.integrations.streams import with_evidence
from evidentia.integrations.streams.checks import StreamedCheck
from evidentia.ledger.wire import events
from evidentia.workspace import Workspace

pytestmark = pytest.mark.sqlite_suffices

CONTEXTS = [
    {"id": "kb-3", "text": "Permanent employees receive 15 days of paid annual leave."},
    {"id": "kb-17", "text": "Hotel costs are refunded up to $150 per night."},
]
ANSWER = (
    "Permanent employees receive 15 days of paid annual leave. "
    "Hotel costs are refunded up to $200 per night. Dogs are welcome."
)
VERDICTS = ["supported", "contradicted", "not_found"]
HOW: dict[str, Any] = {"contexts": CONTEXTS, "judges": ["quote", "numbers"]}
WORDS = [f"{word} " for word in ANSWER.split(" ")]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with ev.open(tmp_path_factory.mktemp("streams") / "home") as found:
        yield found


def ai_sdk() -> list[dict[str, Any]]:
    deltas = [{"type": "text-delta", "id": "t", "delta": word} for word in WORDS]
    begin = [{"type": "start", "messageId": "m"}, {"type": "text-start", "id": "t"}]
    return [*begin, *deltas, {"type": "text-end", "id": "t"}, {"type": "finish"}]


def chat(content: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None, **more}],
    }


def sse(events: list[dict[str, Any]], *, named: bool = False) -> list[str]:
    names = [f"event: {one['type']}\n" if named else "" for one in events]
    return [f"{name}data: {json.dumps(one)}\n\n" for name, one in zip(names, events, strict=True)]


def found_in(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one["data"] for one in events if one.get("type") == f"data-evidentia-{kind}"]


def final(claims: list[dict[str, Any]]) -> list[str]:
    return [one["verdict"] for one in claims if one["state"] == "final"]


async def from_list(chunks: list[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


def run_async(chunks: list[Any], workspace: Workspace, protocol: str, **how: Any) -> list[Any]:
    async def run() -> list[Any]:
        relayed = with_evidence(from_list(chunks), workspace, protocol, **how)
        return [one async for one in relayed]

    return asyncio.run(run())


# What comes of it


@pytest.mark.parametrize("is_async", [False, True])
def test_chunks_pass_unchanged_and_the_ledger_comes_with_them(
    workspace: Workspace,
    is_async: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    chunks = ai_sdk()
    if is_async:
        passed = run_async(chunks, workspace, "ai-sdk", **HOW)
    else:
        passed = list(with_evidence(chunks, workspace, "ai-sdk", **HOW))
    assert [one for one in passed if any(one is chunk for chunk in chunks)] == chunks
    assert final(found_in(passed, "claim")) == VERDICTS
    (told,) = found_in(passed, "ledger")
    ledger = workspace.ledgers.get(told["ledger_id"])
    assert ledger.session.answer == "".join(WORDS)
    assert told["entry"] == ledger.entry
    assert told["claims"] == [
        one["id"] for one in found_in(passed, "claim") if one["state"] == "final"
    ]
    for claim in found_in(passed, "claim"):
        place = slice(claim["start"], claim["end"])
        assert claim["text"] in ledger.session.answer[place]
    kinds = [one["type"] for one in passed]
    assert kinds[:3] == ["start", "source-document", "source-document"]


def test_claims_come_while_the_answer_streams_and_the_last_ones_replace_them(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = threading.Event()
    tell_claims = StreamedCheck._tell_claims

    def told(check: StreamedCheck, parts: Any) -> None:
        tell_claims(check, parts)
        judged.set()

    monkeypatch.setattr(StreamedCheck, "_tell_claims", told)

    def host() -> Iterator[dict[str, Any]]:
        for chunk in ai_sdk():
            if chunk.get("delta") == "welcome. ":
                assert judged.wait(60)
            yield chunk

    passed = list(with_evidence(host(), workspace, "ai-sdk", **HOW))
    at = next(place for place, one in enumerate(passed) if one.get("delta") == "welcome. ")
    early, late = found_in(passed[: at + 2], "claim"), found_in(passed[at + 2 :], "claim")
    assert (early[0]["state"], early[0]["verdict"]) == ("provisional", "supported")
    assert {one["id"] for one in early} <= {one["id"] for one in late}
    assert final(late) == VERDICTS


def test_nothing_is_judged_before_the_end_where_that_is_not_wanted(workspace: Workspace) -> None:
    before = len(workspace.ledgers.list())
    passed = list(with_evidence(ai_sdk(), workspace, "ai-sdk", as_it_comes=False, **HOW))
    assert {one["state"] for one in found_in(passed, "claim")} == {"final"}
    assert len(workspace.ledgers.list()) == before + 1


def test_without_sources_those_are_shown_that_the_verdicts_rest_on(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nThere are 15 days of leave.\n", "utf-8")
    chunks = [
        {"type": "start"},
        {"type": "text-delta", "id": "t", "delta": "There are 15 days of leave."},
    ]
    against = workspace.ingest(tmp_path)
    passed = list(with_evidence(chunks, workspace, "ai-sdk", against=against, judges=["quote"]))
    (source,) = [one for one in passed if one["type"] == "source-document"]
    assert source["title"] == "leave.md"
    assert final(found_in(passed, "claim")) == ["supported"]


# Nothing is raised


@pytest.mark.parametrize(
    ("chunks", "how", "says"),
    [
        ([{"type": "start"}], HOW, "no text"),
        (ai_sdk(), {"contexts": "no list"}, "contexts: give a list"),
        (ai_sdk(), {"contexts": [object()]}, "context 1 is no passage"),
        (ai_sdk(), {**HOW, "nonsense": 1}, "TypeError inside Evidentia"),
        (ai_sdk(), {**HOW, "judges": ["nobody"]}, "nobody"),
        ([{"type": "text-delta", "delta": "Half \ud83d"}], {"contexts": []}, "no text in them"),
    ],
)
def test_an_error_is_told_as_a_part(
    workspace: Workspace, chunks: list[dict[str, Any]], how: dict[str, Any], says: str
) -> None:
    passed = list(with_evidence(chunks, workspace, "ai-sdk", **how))
    assert [one for one in passed if one in chunks] == chunks
    assert any(says in one["problem"] for one in found_in(passed, "problem"))
    assert found_in(passed, "ledger") == []


def test_chunks_that_cannot_be_read_pass_and_are_told(workspace: Workspace) -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise RuntimeError("broken")

    broken = Broken()
    passed = list(with_evidence([broken, broken, None, 7], workspace, "openai-chat", **HOW))
    assert [one for one in passed if not hasattr(one, "evidentia")] == [broken, broken, None, 7]
    ours = [one.evidentia for one in passed if hasattr(one, "evidentia")]
    told = [one["data"]["problem"] for one in ours if one["type"] == "problem"]
    assert "a chunk could not be read (RuntimeError)" in told[0]
    assert len(told) == 2


def test_an_unknown_protocol_is_refused_before_anything_streams(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="'morse' is unknown: use ai-sdk"):
        with_evidence([], workspace, "morse")


def test_what_the_host_raises_is_its_own(workspace: Workspace) -> None:
    def host() -> Iterator[dict[str, Any]]:
        yield {"type": "start"}
        raise ConnectionError("the model has gone")

    relayed = with_evidence(host(), workspace, "ai-sdk", **HOW)
    with pytest.raises(ConnectionError, match="the model has gone"):
        list(relayed)


# Who waits for whom


class Slow:
    """A judge that waits until it is let go."""

    name = "slow"

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def judge(self, *_: Any, **__: Any) -> Any:
        self.begun.set()
        assert self.go_on.wait(60)
        return []


def test_the_answer_does_not_wait_for_its_verdicts(workspace: Workspace) -> None:
    slow = Slow()
    chunks = [*sse(ai_sdk()), "data: [DONE]\n\n"]
    relayed = with_evidence(
        iter(chunks), workspace, "ai-sdk", contexts=CONTEXTS, judges=[slow], seconds=0.05
    )
    passed = list(relayed)
    assert passed[-1] == chunks[-1]
    assert "were not there 0.05 seconds after" in passed[-2]
    slow.go_on.set()


def test_who_leaves_ends_the_hosts_stream_and_leaves_no_ledger(workspace: Workspace) -> None:
    closed = []

    async def host() -> AsyncIterator[dict[str, Any]]:
        try:
            for chunk in ai_sdk():
                yield chunk
        finally:
            closed.append(True)

    async def leave() -> None:
        relayed = with_evidence(host(), workspace, "ai-sdk", **HOW)
        async for one in relayed:
            if one.get("delta"):
                break
        await relayed.aclose()  # type: ignore[attr-defined]

    before = len(workspace.ledgers.list())
    asyncio.run(leave())
    assert closed == [True]
    relayed = with_evidence(iter(ai_sdk()), workspace, "ai-sdk", **HOW)
    next(relayed)
    relayed.close()  # type: ignore[attr-defined]
    assert len(workspace.ledgers.list()) == before


def test_who_leaves_while_it_is_judged_leaves_no_ledger(workspace: Workspace) -> None:
    slow = Slow()
    before = len(workspace.ledgers.list())
    check = StreamedCheck(
        workspace,
        {"contexts": CONTEXTS, "judges": [slow]},
        sources=[],
        as_it_comes=True,
    )
    check.tell(ANSWER)
    check.end()
    assert slow.begun.wait(60)
    check.leave()
    slow.go_on.set()
    assert check.is_done.wait(60)
    assert check.take() == []
    assert len(workspace.ledgers.list()) == before


# Events as text and bytes


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_bytes_are_cut_anywhere_and_come_out_the_same(workspace: Workspace, size: int) -> None:
    chunks = [*sse(ai_sdk()), "data: [DONE]\n\n"]
    whole = "".join(chunks).encode()
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    passed = b"".join(with_evidence(pieces, workspace, "ai-sdk", **HOW)).decode()
    events = passed.split("\n\n")[:-1]
    ours = [one for one in events if "evidentia-" in one or '"source-' in one or "data-rag" in one]
    kept = [f"{one}\n\n" for one in events if one not in ours]
    assert kept == chunks
    parts = [json.loads(one.removeprefix("data: ")) for one in ours]
    assert final(found_in(parts, "claim")) == VERDICTS
    assert events[-1] == "data: [DONE]"


def test_no_evidence_goes_into_an_event_that_is_too_long_to_be_put_together(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LARGEST_EVENT", 20)
    chunks = ["data: 12345678901234567890", "12345\n\n"]
    passed = list(with_evidence(chunks, workspace, "ai-sdk", **HOW))
    assert passed[:2] == chunks


def test_a_stream_that_ends_within_an_event_is_ended_before_the_evidence(
    workspace: Workspace,
) -> None:
    chunks = [*sse(ai_sdk()), 'data: {"type":"finish"}']
    passed = "".join(with_evidence(chunks, workspace, "ai-sdk", **HOW))
    assert 'data: {"type":"finish"}\n\ndata: {' in passed


# AG-UI, by its own models


def test_ag_ui_takes_the_evidence_before_the_run_ends(workspace: Workspace) -> None:
    encode = EventEncoder().encode
    deltas = [
        TextMessageContentEvent(type=EventType.TEXT_MESSAGE_CONTENT, message_id="m", delta=word)
        for word in WORDS
    ]
    finished = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    passed = list(with_evidence([*deltas, finished], workspace, "ag-ui", **HOW))
    assert passed[-1] is finished
    custom = [one for one in passed if one not in deltas and one is not finished]
    read = [
        CustomEvent.model_validate(one if isinstance(one, dict) else one.model_dump())
        for one in custom
    ]
    assert read[0].name == "rag.sources"
    assert read[-1].name == "evidentia.ledger"
    assert final([one.value for one in read if one.name == "evidentia.claim"]) == VERDICTS
    assert not any(one.model_extra for one in read)
    assert encode(custom[0]).startswith('data: {"type":"CUSTOM","name":"rag.sources"')


# OpenAI's and Anthropic's own clients


def answering(lines: list[str], http: Any = httpx) -> Any:
    """Return a client that gets these lines from any request, over no network."""
    headers = {"content-type": "text/event-stream"}
    reply = http.Response(200, headers=headers, content="".join(lines))
    return http.Client(transport=http.MockTransport(lambda _: reply))


def chat_lines(workspace: Workspace) -> list[str]:
    chunks = [chat(word) for word in WORDS]
    chunks.append({**chat(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append(
        {
            **chat(),
            "choices": [],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }
    )
    return list(with_evidence([*sse(chunks), "data: [DONE]\n\n"], workspace, "openai-chat", **HOW))


def test_openai_reads_the_same_answer_and_finds_the_evidence(workspace: Workspace) -> None:
    lines = chat_lines(workspace)
    client = OpenAI(api_key="none", http_client=answering(lines))
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    said, told = "", []
    for chunk in client.chat.completions.create(stream=True, **asked):
        said += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        told += [chunk.model_extra["evidentia"]] if "evidentia" in (chunk.model_extra or {}) else []
    assert said == "".join(WORDS)
    assert told[0]["type"] == "sources"
    assert told[-1]["type"] == "ledger"
    assert final([one["data"] for one in told if one["type"] == "claim"]) == VERDICTS
    client = OpenAI(api_key="none", http_client=answering(lines))
    with client.chat.completions.stream(**asked) as stream:
        whole = stream.get_final_completion()
    assert whole.choices[0].message.content == "".join(WORDS)
    assert whole.choices[0].finish_reason == "stop"


def test_objects_of_openais_client_come_with_objects_of_the_same_class(
    workspace: Workspace,
) -> None:
    chunks = [ChatCompletionChunk.model_validate(chat(word)) for word in WORDS]
    passed = list(with_evidence(chunks, workspace, "openai-chat", **HOW))
    assert "".join(one.choices[0].delta.content or "" for one in passed) == "".join(WORDS)
    assert all(isinstance(one, ChatCompletionChunk) for one in passed)
    assert json.loads(passed[-1].model_dump_json())["evidentia"]["type"] == "ledger"


def test_the_responses_client_reads_the_same_answer(workspace: Workspace) -> None:
    response = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [],
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "status": "in_progress",
    }  # fmt: skip
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    part = {"type": "output_text", "text": "", "annotations": []}
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    whole = {**part, "text": "".join(WORDS)}
    done = {**response, "status": "completed", "output": [{**item, "content": [whole]}]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": part},
        *(
            {"type": "response.output_text.delta", **at, "delta": word, "logprobs": []}
            for word in WORDS
        ),
        {"type": "response.output_text.done", **at, "text": "".join(WORDS), "logprobs": []},
        {"type": "response.completed", "response": done},
    ]
    numbered = [{**one, "sequence_number": place} for place, one in enumerate(events)]
    lines = list(with_evidence(sse(numbered, named=True), workspace, "openai-responses", **HOW))
    asked: dict[str, Any] = {"model": "m", "input": "?"}
    client = OpenAI(api_key="none", http_client=answering(lines))
    read = list(client.responses.create(stream=True, **asked))
    said = [one.delta for one in read if one.type == "response.output_text.delta"]
    assert said == WORDS
    ours = [one.to_dict() for one in read if one.type.startswith("evidentia.")]
    assert [ours[0]["type"], ours[-1]["type"]] == ["evidentia.sources", "evidentia.ledger"]
    claims = [one["data"] for one in ours if one["type"] == "evidentia.claim"]
    assert final(claims) == VERDICTS
    client = OpenAI(api_key="none", http_client=answering(lines))
    with client.responses.stream(**asked) as stream:
        assert stream.get_final_response().output_text == "".join(WORDS)


def test_anthropics_client_reads_the_same_answer(workspace: Workspace) -> None:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in WORDS
    ]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    lines = list(with_evidence(sse(events, named=True), workspace, "anthropic", **HOW))
    assert any(line.startswith("event: evidentia.ledger\n") for line in lines)
    asked: dict[str, Any] = {
        "model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]
    }  # fmt: skip
    client = Anthropic(api_key="none", http_client=answering(lines, httpx2))
    kinds = [one.type for one in client.messages.create(stream=True, **asked)]
    ours = [kind for kind in kinds if kind.startswith("evidentia.")]
    assert [kind for kind in kinds if kind not in ours] == [one["type"] for one in events]
    assert [ours[0], ours[-1]] == ["evidentia.sources", "evidentia.ledger"]
    client = Anthropic(api_key="none", http_client=answering(lines, httpx2))
    with client.messages.stream(**asked) as stream:
        assert stream.get_final_text() == "".join(WORDS)
