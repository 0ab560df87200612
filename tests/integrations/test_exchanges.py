"""What is read of requests and replies, in the three wire formats, whole, streamed and broken."""

from typing import Any

import orjson
import pytest

from evidentia.integrations.exchanges import (
    Asked,
    Reply,
    Request,
    Returned,
    form_of,
    read_reply,
    read_request,
)
from evidentia.integrations.json_parts import Form
from evidentia.integrations.run import Citation

JSON, EVENTS = "application/json", "text/event-stream; charset=utf-8"
GET = Asked("c1", "get_contact", {"contact_id": "456"})


def request(form: Form, sent: dict[str, Any]) -> Request:
    found = read_request(form, orjson.dumps(sent))
    assert found is not None
    return found


def whole(form: Form, reply: dict[str, Any]) -> Reply:
    return read_reply(form, 200, JSON, orjson.dumps(reply))


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(b"event: x\r\ndata: " + orjson.dumps(one) + b"\r\n\r\n" for one in events)


def test_a_format_is_known_by_where_a_request_goes() -> None:
    assert form_of("/v1/chat/completions") == "chat"
    assert form_of("/openai/v1/responses/") == "responses"
    assert form_of("/v1/messages") == "messages"
    assert form_of("/v1/embeddings") is form_of("/v1/messages/count_tokens") is None


def test_a_completion_s_request_is_kept_to_the_letter_with_the_calls_that_it_repeats() -> None:
    call = {"id": "c1", "type": "function"}
    call["function"] = {"name": "get_contact", "arguments": '{"contact_id": "456"}'}  # type: ignore[assignment]
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Mona"},
    ]
    found = request("chat", {"model": "m", "messages": messages, "tools": [1], "temperature": 0})
    assert found.messages == messages
    assert (found.model, found.tools, found.rest) == ("m", [1], {"temperature": 0})
    assert found.asked == (GET,)
    assert found.returned == (Returned("c1", "Mona"),)


def test_a_response_s_request_may_be_a_text_or_items() -> None:
    plain = request("responses", {"model": "m", "input": "Hello", "instructions": "Be short."})
    assert (plain.messages, plain.instructions) == ("Hello", "Be short.")
    assert request("responses", {"model": "m"}).messages == []
    call = {"type": "function_call", "call_id": "c1", "name": "get_contact"}
    items = [
        {**call, "arguments": '{"contact_id": "456"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "Mona"},
    ]
    found = request("responses", {"model": "m", "input": items})
    assert (found.asked, found.returned) == ((GET,), (Returned("c1", "Mona"),))


def test_a_message_s_request_has_its_system_prompt_its_failed_tools_and_its_documents() -> None:
    document = {"type": "document", "title": "HR", "source": {"type": "text", "data": "20 days."}}
    parts = {"type": "content", "content": [{"type": "text", "text": "Ask first."}]}
    result = [{"type": "search_result", "source": "kb/7", "title": "T", "content": [{"text": "X"}]}]
    messages = [
        {"role": "user", "content": [document, {"type": "document", "source": parts}, {"a": 1}]},
        {"role": "user", "content": "plain"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "c1",
                    "name": "get_contact",
                    "input": {"contact_id": "456"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": result, "is_error": True},
                {"type": "document", "source": {"type": "url", "url": "x"}},
            ],
        },
    ]
    found = request("messages", {"model": "m", "system": "Be short.", "messages": messages})
    assert (found.instructions, found.asked) == ("Be short.", (GET,))
    assert found.returned == (Returned("c1", result, failed=True),)
    assert [(one["id"], one["text"]) for one in found.documents] == [
        ("HR", "20 days."),
        ("document 1", "Ask first."),
        ("kb/7", "X"),
    ]


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"messages": []}', b'{"model": "m"}', b'{"model": "m", "messages": "x"}'],
)
def test_what_is_no_request_is_not_guessed_at(body: bytes) -> None:
    assert read_request("chat", body) is None


def test_a_completion_is_read_with_its_calls_citations_and_usage() -> None:
    url = {"url": "https://x", "start_index": 0, "end_index": 4, "title": "T"}
    message = {
        "role": "assistant",
        "content": "20 days",
        "annotations": [
            {"type": "url_citation", "url_citation": url},
            {"type": "file_citation", "filename": "hr.pdf", "start_index": 9, "end_index": 2},
            {"type": "unknown"},
        ],
        "tool_calls": [
            {"id": "c1", "function": {"name": "get_contact", "arguments": '{"contact_id":"456"}'}},
            {"id": "c2", "function": {"name": "wait", "arguments": ""}},
            {"id": "c3", "function": {"name": "odd", "arguments": "{not json"}},
        ],
    }
    found = whole("chat", {"choices": [{"message": message}], "usage": {"total_tokens": 9}})
    assert (found.message, found.text, found.usage) == (message, "20 days", {"total_tokens": 9})
    assert found.asked == (
        GET,
        Asked("c2", "wait", {}),
        Asked("c3", "odd", {"text": "{not json"}),
    )
    assert found.citations == (
        Citation(source="https://x", start=0, end=4),
        Citation(source="hr.pdf"),
    )


def test_a_response_s_texts_are_one_answer_and_citations_count_from_its_start() -> None:
    output = [
        {"type": "reasoning"},
        {
            "type": "message",
            "content": [
                {"type": "output_text", "text": "One. "},
                {"type": "refusal", "refusal": "no"},
                {
                    "type": "output_text",
                    "text": "Two.",
                    "annotations": [
                        {"type": "url_citation", "url": "u", "start_index": 0, "end_index": 4}
                    ],
                },
            ],
        },
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_contact",
            "arguments": '{"contact_id": "456"}',
        },
    ]
    found = whole("responses", {"output": output, "error": None})
    assert (found.text, found.asked, found.message) == ("One. Two.", (GET,), output)
    assert found.citations == (Citation(source="u", start=5, end=9),)
    failed = whole("responses", {"output": [], "error": {"message": "overloaded"}})
    assert failed.error == "overloaded"


def test_a_message_s_citations_are_of_the_text_that_carries_them() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "So: "},
        {
            "type": "text",
            "text": "20 days.",
            "citations": [
                {"document_index": 0, "document_title": "HR", "cited_text": "20 days"},
                {"document_index": 2},
                {"source": "kb/7", "url": "u"},
            ],
        },
        {"type": "tool_use", "id": "c1", "name": "get_contact", "input": {"contact_id": "456"}},
    ]
    found = whole("messages", {"role": "assistant", "content": blocks, "usage": {"n": 1}})
    assert found.message == {"role": "assistant", "content": blocks}
    assert (found.text, found.asked) == ("So: 20 days.", (GET,))
    assert found.citations == (
        Citation(source="HR", start=4, end=12, quote="20 days"),
        Citation(source="document 2", start=4, end=12),
        Citation(source="kb/7", start=4, end=12),
    )


def test_what_is_no_reply_says_what_it_is() -> None:
    assert read_reply("chat", 429, JSON, b"slow down").error == "HTTP 429: slow down"
    assert read_reply("chat", 200, JSON, b"<html>").error == "the reply is no JSON"
    assert read_reply("chat", 200, JSON, b"[]").error == "the reply is no JSON object"
    assert whole("chat", {"choices": []}).error == "the reply has no message"
    assert read_reply("chat", 200, EVENTS, b"").error == "the stream was cut off"


def test_a_streamed_completion_is_what_the_whole_one_would_have_been() -> None:
    def piece(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, **more}]}

    call = {"index": 1, "id": "c1", "type": "function"}
    events = (
        piece({"role": "assistant", "content": "20 "}),
        {"choices": [{"index": 1, "delta": {"content": "another answer"}}]},
        piece({"content": "days", "refusal": None, "annotations": [{"a": 1}]}),
        piece({"tool_calls": [{**call, "function": {"name": "get_contact", "arguments": '{"co'}}]}),
        piece({"tool_calls": [{"index": 1, "function": {"arguments": 'ntact_id":"456"}'}}]}),
        piece({}, finish_reason="stop"),
        {"choices": [], "usage": {"total_tokens": 3}},
    )
    found = read_reply("chat", 200, EVENTS, stream(*events) + b"data: [DONE]\n\n")
    assert (found.text, found.asked, found.error) == ("20 days", (GET,), None)
    assert found.usage == {"total_tokens": 3}
    assert isinstance(found.message, dict)
    assert found.message["annotations"] == [{"a": 1}]
    cut = read_reply("chat", 200, EVENTS, stream(*events[:2]))
    assert (cut.text, cut.error) == ("20 ", "the stream was cut off")


def test_a_streamed_response_is_the_one_that_its_end_repeats() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "20 days"}]}
    done = {"type": "response.output_item.done", "item": item}
    end = {"type": "response.completed", "response": {"output": [item], "usage": {"n": 1}}}
    found = read_reply("responses", 200, EVENTS, stream(done, end))
    assert (found.text, found.usage, found.error) == ("20 days", {"n": 1}, None)
    cut = read_reply("responses", 200, EVENTS, stream(done))
    assert (cut.text, cut.error) == ("20 days", "the stream was cut off")
    failed = {"type": "response.failed", "response": {"error": {"message": "overloaded"}}}
    assert read_reply("responses", 200, EVENTS, stream(failed)).error == "overloaded"
    assert read_reply("responses", 200, EVENTS, stream({"type": "x"})).message is None


def test_a_streamed_message_is_what_the_whole_one_would_have_been() -> None:
    def delta(index: int, **given: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": given}

    def begin(index: int, **block: Any) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": block}

    cited = {"document_title": "HR", "cited_text": "20"}
    events = (
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 1}}},
        begin(0, type="thinking", thinking=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="s"),
        begin(1, type="text", text=""),
        delta(1, type="text_delta", text="20 "),
        delta(1, type="text_delta", text="days"),
        delta(1, type="citations_delta", citation=cited),
        begin(2, type="tool_use", id="c1", name="get_contact", input={}),
        delta(2, type="input_json_delta", partial_json='{"contact'),
        delta(2, type="input_json_delta", partial_json='_id": "456"}'),
        {"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )
    found = read_reply("messages", 200, EVENTS, stream(*events))
    assert (found.text, found.asked, found.error) == ("20 days", (GET,), None)
    assert found.citations == (Citation(source="HR", start=0, end=7, quote="20"),)
    assert found.usage == {"input_tokens": 1, "output_tokens": 2}
    assert isinstance(found.message, dict)
    assert found.message["content"][2]["input"] == {"contact_id": "456"}
    cut = read_reply("messages", 200, EVENTS, stream(*events[:6]))
    assert (cut.text, cut.error) == ("20 ", "the stream was cut off")
    broken = {"type": "error", "error": {"type": "overloaded_error"}}
    refused = read_reply("messages", 200, EVENTS, stream(broken))
    assert refused == Reply(error='{"type":"overloaded_error"}')
    said = read_reply("messages", 200, EVENTS, stream({"type": "error", "message": "no"}))
    assert said.error == "no"
    unsaid = read_reply("messages", 200, EVENTS, stream({"type": "error"}))
    assert unsaid.error == "the stream ended with an error"
