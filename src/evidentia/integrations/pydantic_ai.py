"""pydantic-ai's agents: two lines, and a run of one is evidence.

    recorder = Recorder("evidence")
    agent = Agent(model, tools=tools, capabilities=[EvidenceCapability(recorder)])

What happens around the agent, such as a retrieval, is of the same run within `recorder.run(…)`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelRequest, ModelResponse

from evidentia.integrations.copying import copied
from evidentia.integrations.open_runs import OpenCall, OpenRun
from evidentia.integrations.recorder import Recorder

__all__ = ["EvidenceCapability"]


class EvidenceCapability(AbstractCapability[Any]):  # type: ignore[misc]  # not in the main environment
    """Records each run of an agent: its requests, tools, answer, and what its tools decide.

    An agent that a tool runs is part of the run of that tool.
    """

    def __init__(self, recorder: Recorder, *, name: str | None = None) -> None:
        super().__init__()
        self.recorder = recorder
        self._name = name
        self._runs: dict[str, OpenRun] = {}
        self._requests: dict[str, OpenCall] = {}

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: a recorder cannot be written in a file that describes an agent."""
        return None

    def get_ordering(self) -> CapabilityOrdering:
        """Ask to be the innermost, to hear each request as it is sent."""
        return CapabilityOrdering(position="innermost")

    # The run

    async def wrap_run(self, ctx: Any, *, handler: Callable[[], Awaitable[Any]]) -> Any:
        """Begin a run, unless the program has begun one, and end it with the agent's output."""
        if (current := self.recorder.current()) is not None:
            self._runs[ctx.run_id] = current
            try:
                return await handler()
            finally:
                self._runs.pop(ctx.run_id, None)
        agent = getattr(ctx, "agent", None)
        name = self._name or getattr(agent, "name", None) or "agent"
        session = getattr(ctx, "conversation_id", None)
        run = self.recorder.begin_run(name, query=_question(ctx.prompt), session=session)
        self._runs[ctx.run_id] = run
        try:
            with run.active():
                result = await handler()
        except BaseException as error:
            run.end(error=error)
            raise
        finally:
            self._runs.pop(ctx.run_id, None)
        run.end(answer=_answer(getattr(result, "output", None)))
        return result

    # Requests to models

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Hear the request as it is sent; there is one such for each attempt."""
        run = self._run(ctx)
        try:
            self._requests[ctx.run_id] = _asked(run, request_context)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it hands over
            run.lost("model", "failed", f"{type(error).__name__}: {error}")
        return request_context

    async def after_model_request(
        self, ctx: Any, *, request_context: Any, response: ModelResponse
    ) -> ModelResponse:
        """Hear the response."""
        del request_context
        call = self._requests.pop(ctx.run_id, None)
        if call is not None:
            try:
                call.end(response=_said(response), usage=response.usage)
            except Exception as error:  # noqa: BLE001 - the same
                call.fail(error)
        return response

    async def on_model_request_error(
        self, ctx: Any, *, request_context: Any, error: Exception
    ) -> ModelResponse:
        """Hear that a model failed, and leave it to the agent."""
        del request_context
        self._failed(ctx, error)
        raise error

    async def wrap_model_request(
        self, ctx: Any, *, request_context: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """Hear of a request that ended in another way, as by being cancelled."""
        try:
            return await handler(request_context)
        except BaseException as error:
            self._failed(ctx, error)
            raise

    def _failed(self, ctx: Any, error: BaseException) -> None:
        call = self._requests.pop(ctx.run_id, None)
        if call is not None:
            call.fail(error)

    # Tools

    async def wrap_tool_execute(
        self,
        ctx: Any,
        *,
        call: Any,
        tool_def: Any,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        """Hear the call of a tool, and what it gives; a failing one fails as before."""
        del tool_def
        with self._run(ctx).active(), self._asked_tool(ctx, call) as told:
            try:
                result = await handler(args)
            except (ApprovalRequired, CallDeferred) as error:
                told.fail(f"not carried out: it was deferred ({type(error).__name__})")
                raise
            told.end(getattr(result, "return_value", result))
        return result

    async def wrap_tool_validate(
        self,
        ctx: Any,
        *,
        call: Any,
        tool_def: Any,
        args: Any,
        handler: Callable[[Any], Awaitable[dict[str, Any]]],
    ) -> dict[str, Any]:
        """Hear of a call that isn't carried out, as its arguments are not what the tool takes."""
        del tool_def
        try:
            return await handler(args)
        except Exception as error:
            self._asked_tool(ctx, call).fail(error)
            raise

    async def wrap_output_validate(
        self,
        ctx: Any,
        *,
        output_context: Any,
        output: Any,
        handler: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        """Hear of an answer with fields, given by a call: it is no evidence for itself."""
        call = None if getattr(ctx, "partial_output", False) else output_context.tool_call
        try:
            validated = await handler(output)
        except Exception as error:
            if call is not None:
                self._asked_tool(ctx, call).fail(error)
            raise
        if call is not None:
            self._asked_tool(ctx, call).end(None)
        return validated

    def _asked_tool(self, ctx: Any, call: Any) -> OpenCall:
        given = call.args if call.args is not None else {}
        return self._run(ctx).tool(call.tool_name, given, call_id=call.tool_call_id)

    def _run(self, ctx: Any) -> OpenRun:
        """Return the run of an agent's run; a call whose begin was not heard is one of its own."""
        found = self._runs.get(ctx.run_id) or self.recorder.current()
        return found or self.recorder.begin_run(self._name or "agent").of_one_call()


def _asked(run: OpenRun, asked: Any) -> OpenCall:
    parameters = asked.model_request_parameters
    parts = getattr(parameters, "instruction_parts", None) or ()
    instructions = "\n\n".join(part.content for part in parts if part.content)
    return run.model(
        asked.model.system,
        asked.model.model_name,
        [said for message in asked.messages for said in _messages(message)],
        instructions=instructions or None,
        tools=[_offered(one) for one in (*parameters.function_tools, *parameters.output_tools)],
        request=dict(asked.model_settings or {}),
    )


def _offered(tool: Any) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    return {"type": "function", "function": {**about, "parameters": tool.parameters_json_schema}}


def _messages(message: ModelRequest | ModelResponse) -> list[dict[str, Any]]:
    """Return a message in the form of OpenAI's chat completions: role, content, calls of tools."""
    if isinstance(message, ModelResponse):
        return [_said(message)]
    return [_told(part) for part in message.parts]


def _told(part: Any) -> dict[str, Any]:
    kind = part.part_kind
    if kind == "tool-return":
        content = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if kind == "retry-prompt":
        content = part.model_response()
        if part.tool_name is None:
            return {"role": "user", "content": content}
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    role = "system" if kind == "system-prompt" else "user"
    return {"role": role, "content": _content(part.content)}


def _content(content: Any) -> Any:
    """Return what a user says: its text, and what is not text as it is."""
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]


def _said(response: ModelResponse) -> dict[str, Any]:
    texts, calls, more = [], [], []
    for part in response.parts:
        if part.part_kind == "text":
            texts.append(part.content)
        elif part.part_kind == "tool-call":
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
        else:
            more.append(part)
    said: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    if calls:
        said["tool_calls"] = calls
    if more:
        said["parts"] = more
    return said


def _question(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n".join(one for one in prompt or () if isinstance(one, str))


def _answer(output: Any) -> str | None:
    """Return an agent's output as text: JSON, where it is not text."""
    if output is None or isinstance(output, str):
        return output
    value = orjson.loads(copied(output))
    return value if isinstance(value, str) else orjson.dumps(value).decode()
