"""The story as an agent of DSPy: its arguments are a folder, the model's address, and how."""

import asyncio
import sys
from typing import Any

import dspy

from evidentia.integrations.dspy import EvidenceCallback
from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL


class Answer(dspy.Signature):  # type: ignore[misc]  # DSPy is not in the main environment
    """You answer from what you retrieve, and cite it."""

    passages: list[dict[str, Any]] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Contracts(dspy.Module):  # type: ignore[misc]  # the same
    """Retrieves, and lets an agent answer."""

    def __init__(self) -> None:
        super().__init__()
        self.find = Passages(k=2)
        self.agent = dspy.ReActV2(Answer, tools=[dspy.Tool(one) for one in story.TOOLS.values()])

    def forward(self, question: str) -> Any:
        """Answer a question."""
        found = self.find(question)
        return self.agent(passages=found.passages, question=question)

    async def aforward(self, question: str) -> Any:
        """Answer a question."""
        found = self.find(question)
        return await self.agent.acall(passages=found.passages, question=question)


class Passages(dspy.Retrieve):  # type: ignore[misc]  # the same
    """Finds the story's passages."""

    def forward(self, query: str, k: int | None = None, **_: Any) -> Any:
        """Find them."""
        del k
        return dspy.Prediction(passages=story.retrieve(query))


def main(home: str, url: str, how: str) -> None:
    """Run the agent once."""
    model = dspy.LM(f"openai/{MODEL}", api_base=url, api_key="-", cache=False, num_retries=0)
    with Recorder(home) as recorder:
        dspy.configure(
            lm=model,
            adapter=dspy.ChatAdapter(use_native_function_calling=True),
            callbacks=[EvidenceCallback(recorder)],
        )
        with recorder.run("contracts agent", query=story.QUESTION):
            answer = asked(Contracts(), how)
            assert answer == story.ANSWER, answer
            recorder.answer(answer)
            recorder.decision(story.DECISION, **story.WEIGHT)
    for failure in recorder.failures:
        sys.stdout.write(f"{failure}\n")


def asked(contracts: Any, how: str) -> str:
    """Return what the program answers."""
    if how == "async":
        return str(asyncio.run(contracts.acall(question=story.QUESTION)).answer)
    if how == "stream":
        return asyncio.run(streamed(contracts))
    return str(contracts(question=story.QUESTION).answer)


async def streamed(contracts: Any) -> str:
    """Return what the program answers, read while it comes."""
    stream = dspy.streamify(contracts)(question=story.QUESTION)
    return str([one async for one in stream][-1].answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
