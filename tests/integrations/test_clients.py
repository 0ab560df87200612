"""Clients of openai and anthropic, the real ones, against a model's API on loopback."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

import evidentia as ev
from evidentia.bundles.model import EvidenceBundle
from evidentia.errors import InputError
from evidentia.integrations.clients import record_client
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.integrations.seen import SeenRequest, seen_requests
from evidentia.workspace import Workspace
from integrations import clients, story
from integrations.fake_model import MODEL, AskedTool, FakeModel, Turn, serving

pytestmark = pytest.mark.sqlite_suffices
UNCHECKED = RecordingPolicy(check="on_request", redact=False)
ASK: Any = [{"role": "user", "content": "How long is the notice?"}]
CALL = AskedTool("call_1", "get_contract", {"contract_id": "C-12"})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, UNCHECKED) as made:
        yield made


def bundles(recorder: Recorder, workspace: Workspace) -> list[EvidenceBundle]:
    assert recorder.flush(60)
    return [workspace.bundles.get(one.bundle_id) for one in recorder.recorded]


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def about(bundle: EvidenceBundle) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(bundle.items[0].content)
    return run


def only_request(recorder: Recorder, workspace: Workspace) -> tuple[dict[str, Any], SeenRequest]:
    (bundle,) = bundles(recorder, workspace)
    (request,) = seen_requests(bundle)
    return about(bundle), request


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", list(clients.PROGRAMS))
def test_an_agent_on_a_vendor_s_client_tells_the_whole_story(
    name: str, *, streams: bool, workspace: Workspace
) -> None:
    with serving(story.SCRIPT) as fake:
        with Recorder(workspace) as recorder:
            said = clients.PROGRAMS[name](recorder, fake, streams=streams)
            assert said == story.ANSWER
        assert recorder.failures == ()
        story.assert_story(workspace, fake.requests)
        story.assert_exact(workspace, fake.requests)


def test_outside_of_a_run_a_conversation_is_one_until_its_answer(
    recorder: Recorder, workspace: Workspace, closing: ExitStack
) -> None:
    with serving([Turn(calls=[CALL]), Turn(text="30 days.")]) as fake:
        client = closing.enter_context(
            record_client(openai.OpenAI(api_key="-", base_url=fake.url), recorder)
        )
        asked = client.chat.completions.create(model=MODEL, messages=ASK)
        message: Any = asked.choices[0].message.model_dump(exclude_none=True)
        result: Any = {"role": "tool", "tool_call_id": "call_1", "content": '{"days": 30}'}
        again = client.with_options(max_retries=0)  # a copy of the client
        again.chat.completions.create(model=MODEL, messages=[*ASK, message, result])
        again.chat.completions.create(model=MODEL, messages=ASK)
        recorder.close()
    (bundle, other) = bundles(recorder, workspace)
    run = about(bundle)
    assert (run["query"], run["answer"]) == ("How long is the notice?", "30 days.")
    assert [one["kind"] for one in run["events"]] == ["model", "tool", "model"]
    assert len(seen_requests(bundle)) == 2
    (call,) = workspace.tools.calls(recorder.recorded[0].run_id)
    assert (call.tool_name, dict(call.inputs)) == ("get_contract", {"contract_id": "C-12"})
    assert about(other)["error"].startswith("unfinished")


def test_what_the_model_cites_is_what_the_run_cites(
    recorder: Recorder, workspace: Workspace, closing: ExitStack
) -> None:
    cited = {"type": "char_location", "cited_text": "30 days", "document_index": 0}
    cited |= {"document_title": "C-12", "start_char_index": 0, "end_char_index": 7}
    document = {"type": "text", "media_type": "text/plain", "data": "30 days notice."}
    block: Any = {"type": "document", "title": "C-12", "source": document}
    asks: Any = [{"role": "user", "content": [block, {"type": "text", "text": "Well?"}]}]
    with serving([Turn(text="It is 30 days.", citations=[cited])]) as fake:
        client = closing.enter_context(
            record_client(anthropic.Anthropic(api_key="-", base_url=fake.root), recorder)
        )
        for _ in range(2):  # a passage that is sent again is the same one
            client.messages.create(
                model=MODEL,
                max_tokens=9,
                messages=asks,
            )
    first, _ = bundles(recorder, workspace)
    run = about(first)
    (citation,) = run["citations"]
    assert citation == {"source": "C-12", "start": 0, "end": 14, "quote": "30 days"}
    assert run["query"] == "Well?"
    assert [one["kind"] for one in run["events"]] == ["retrieval", "model"]


def test_a_model_that_is_away_is_a_call_that_failed_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, closing: ExitStack
) -> None:
    with serving([Turn(text="never")]) as fake:
        fake.fail_with = 500
        options: dict[str, Any] = {"api_key": "-", "base_url": fake.url, "max_retries": 0}
        client = closing.enter_context(record_client(openai.OpenAI(**options), recorder))
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model=MODEL, messages=ASK)
    run, request = only_request(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]
    assert (request.messages, request.response) == (ASK, None)


def test_a_model_that_cannot_be_reached_is_a_call_that_failed(
    recorder: Recorder, workspace: Workspace, closing: ExitStack
) -> None:
    options: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "max_retries": 0}

    async def ask() -> None:
        given = openai.AsyncOpenAI(api_key="-", **options)
        async with record_client(given, recorder) as client:
            with pytest.raises(openai.APIConnectionError):
                await client.chat.completions.create(model=MODEL, messages=ASK)

    asyncio.run(ask())
    client = closing.enter_context(record_client(openai.OpenAI(api_key="-", **options), recorder))
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model=MODEL, messages=ASK)
    assert ["ConnectError" in about(one)["error"] for one in bundles(recorder, workspace)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("closes", [True, False], ids=["closed", "left"])
def test_a_stream_that_is_not_read_to_its_end_keeps_what_came(
    *, closes: bool, recorder: Recorder, workspace: Workspace
) -> None:
    async def ask(fake: FakeModel) -> None:
        given = openai.AsyncOpenAI(api_key="-", base_url=fake.url)
        async with record_client(given, recorder) as client:
            stream = await client.chat.completions.create(model=MODEL, messages=ASK, stream=True)
            if not closes:
                async for chunk in stream:
                    if chunk.choices[0].delta.content:
                        break
            await stream.response.aclose()

    with serving([Turn(text="word " * 100_000)]) as fake:
        asyncio.run(ask(fake))
    run, request = only_request(recorder, workspace)
    assert run["events"][0]["error"] == "the stream was cut off"
    assert (request.response is None) is closes


def test_what_asks_no_model_and_what_is_unreadable_passes_through(
    recorder: Recorder, workspace: Workspace, closing: ExitStack
) -> None:
    with serving([Turn(text="30 days.")]) as fake:
        client = closing.enter_context(
            record_client(openai.OpenAI(api_key="-", base_url=fake.url), recorder)
        )
        assert [one.id for one in client.models.list()] == [MODEL]
        client.post("/chat/completions", cast_to=object, body={"model": MODEL, "messages": []})
        client.post("/chat/completions", cast_to=object, body={"model": MODEL})
    assert len(bundles(recorder, workspace)) == 1
    assert recorder.failures == ()


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, closing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    with serving([Turn(text="30 days.")]) as fake:
        client = closing.enter_context(
            record_client(openai.OpenAI(api_key="-", base_url=fake.url), recorder)
        )
        for part in ("read_request", "read_reply"):
            with monkeypatch.context() as patched:
                patched.setattr(f"evidentia.integrations.clients.{part}", broken)
                reply = client.chat.completions.create(model=MODEL, messages=ASK)
                assert reply.choices[0].message.content == "30 days."
    assert [one.problem for one in recorder.failures] == ["RuntimeError: not today"]


def test_what_is_no_client_is_refused_with_the_names_of_those_that_are(recorder: Recorder) -> None:
    with pytest.raises(InputError, match=r"a dict is no client .* give an OpenAI, AsyncOpenAI"):
        record_client({}, recorder)
