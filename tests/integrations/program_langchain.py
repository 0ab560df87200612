"""The story as an agent of LangChain: its arguments are a folder, the model's address, and how."""

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI

from evidentia.integrations.langchain import EvidenceMiddleware
from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL


class Passages(BaseRetriever):
    """Finds the story's passages."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        return [
            Document(id=one["id"], page_content=one["text"], metadata={"title": one["title"]})
            for one in story.retrieve(query)
        ]


def send_notice(contract_id: str, days: int) -> Any:
    """Send notice of a contract, which fails."""
    try:
        return story.send_notice(contract_id, days)
    except story.NoticeError as error:
        raise ToolException(str(error)) from error


TOOLS = [
    StructuredTool.from_function(story.get_contract),
    StructuredTool.from_function(story.get_contact),
    StructuredTool.from_function(send_notice, handle_tool_error=True),
]


def main(home: str, url: str, how: str) -> None:
    """Run the agent once."""
    with Recorder(home) as recorder:
        evidence = EvidenceMiddleware(recorder, name="contracts agent", decides=decided)
        model = ChatOpenAI(model=MODEL, base_url=url, api_key="-", streaming=how == "stream")
        agent: Any = create_agent(model, TOOLS, system_prompt=story.SYSTEM, middleware=[evidence])
        with recorder.run("contracts agent", query=story.QUESTION):
            if how == "async":
                state = asyncio.run(asked(agent))
            else:
                state = agent.invoke(question(Passages().invoke(story.QUESTION)))
        assert state["messages"][-1].content == story.ANSWER
    for failure in recorder.failures:
        sys.stdout.write(f"{failure}\n")


async def asked(agent: Any) -> Any:
    """Run it asynchronously."""
    return await agent.ainvoke(question(await Passages().ainvoke(story.QUESTION)))


def question(found: list[Document]) -> dict[str, Any]:
    """Return the question with the passages."""
    shown = "\n".join(f"[{one.id}] {one.page_content}" for one in found)
    return {"messages": [{"role": "user", "content": f"{shown}\n\n{story.QUESTION}"}]}


def decided(answer: str) -> dict[str, Any]:
    """Return what the program takes the answer to decide."""
    assert answer == story.ANSWER
    return {"decision": story.DECISION, **story.WEIGHT}


if __name__ == "__main__":
    main(*sys.argv[1:])
