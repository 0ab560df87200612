"""A model of LlamaIndex as a program's own is: it posts to an OpenAI-compatible API."""

import json
from collections.abc import Sequence
from typing import Any

import httpx2
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool

from integrations.fake_model import MODEL


class OwnModel(FunctionCallingLLM):
    """Posts to `url`."""

    url: str
    model: str = MODEL

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name=MODEL)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        with httpx2.Client() as client:
            return _read(client.post(f"{self.url}/chat/completions", json=_body(messages, kwargs)))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        async with httpx2.AsyncClient() as client:
            body = _body(messages, kwargs)
            return _read(await client.post(f"{self.url}/chat/completions", json=body))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def pieces() -> ChatResponseGen:
            with httpx2.Client() as client:
                body = _body(messages, kwargs)
                whole = _read(client.post(f"{self.url}/chat/completions", json=body))
            yield from _pieces(whole)

        return pieces()

    @llm_chat_callback()
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        async def pieces() -> ChatResponseAsyncGen:
            async with httpx2.AsyncClient() as client:
                body = _body(messages, kwargs)
                whole = _read(await client.post(f"{self.url}/chat/completions", json=body))
            for one in _pieces(whole):
                yield one

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: FBT001, FBT002 - LlamaIndex's
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002 - LlamaIndex's
        raise NotImplementedError

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002 - LlamaIndex's
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002 - LlamaIndex's
        raise NotImplementedError

    def _prepare_chat_with_tools(  # type: ignore[override]  # takes what it needs of it
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        given = [ChatMessage(user_msg)] if isinstance(user_msg, str) else [user_msg]
        messages = [*(chat_history or []), *(one for one in given if one is not None)]
        return {"messages": messages, "tools": [one.metadata.to_openai_tool() for one in tools]}

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,  # noqa: FBT001, FBT002 - LlamaIndex's
        **_: Any,
    ) -> list[ToolSelection]:
        del error_on_no_tool_call
        return [
            ToolSelection(
                tool_id=str(one.tool_call_id),
                tool_name=one.tool_name,
                tool_kwargs=dict(one.tool_kwargs),  # type: ignore[arg-type]  # an object here
            )
            for one in response.message.blocks
            if isinstance(one, ToolCallBlock)
        ]


def _body(messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"model": MODEL, "messages": [_wire(one) for one in messages], **kwargs}


def _wire(message: ChatMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role.value, "content": message.content}
    calls = [
        {
            "id": one.tool_call_id,
            "type": "function",
            "function": {"name": one.tool_name, "arguments": json.dumps(one.tool_kwargs)},
        }
        for one in message.blocks
        if isinstance(one, ToolCallBlock)
    ]
    if calls:
        said["tool_calls"] = calls
    if "tool_call_id" in message.additional_kwargs:
        said["tool_call_id"] = message.additional_kwargs["tool_call_id"]
    return said


def _read(reply: httpx2.Response) -> ChatResponse:
    raw = reply.json()
    if "error" in raw:
        raise RuntimeError(raw["error"]["message"])
    message = raw["choices"][0]["message"]
    blocks: list[Any] = [TextBlock(text=message["content"])] if message.get("content") else []
    blocks += [
        ToolCallBlock(
            tool_call_id=one["id"],
            tool_name=one["function"]["name"],
            tool_kwargs=json.loads(one["function"]["arguments"]),
        )
        for one in message.get("tool_calls") or ()
    ]
    return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw=raw)


def _pieces(whole: ChatResponse) -> ChatResponseGen:
    text = whole.message.content or ""
    for at in range(0, len(text), 20):
        said = ChatMessage(role="assistant", content=text[: at + 20])
        yield ChatResponse(message=said, delta=text[at : at + 20])
    yield whole
