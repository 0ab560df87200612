from typing import Any

from evidentia.integrations.pairing import AskedCalls


def chat(*calls: tuple[str, str, str]) -> dict[str, Any]:
    asked = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": arguments}}
        for one, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def test_a_tool_begins_the_call_of_its_name_and_arguments_once() -> None:
    asked = AskedCalls()
    asked.heard(chat(("1", "read", '{"id": 7}'), ("2", "read", '{"id": 8}')))
    assert asked.begun("read", {"id": 8}) == "2"
    assert asked.begun("read", '{"id":7}') == "1"
    assert asked.begun("read", {"id": 7}) is None


def test_arguments_that_the_tool_completed_are_those_of_the_first_of_its_name() -> None:
    asked = AskedCalls()
    asked.heard(chat(("1", "read", '{"id": 7}'), ("2", "write", "")))
    assert asked.begun("read", {"id": 7, "limit": 10}) == "1"
    assert asked.begun("write", None) == "2"
    assert asked.begun("delete", {}) is None


def test_calls_are_read_in_the_forms_of_the_responses_api_and_of_anthropic() -> None:
    asked = AskedCalls()
    asked.heard([{"type": "function_call", "call_id": "1", "name": "read", "arguments": "{}"}])
    asked.heard({"content": [{"type": "tool_use", "id": "2", "name": "read", "input": {"id": 7}}]})
    assert asked.begun("read", {"id": 7}) == "2"
    assert asked.begun("read", "not JSON") == "1"
