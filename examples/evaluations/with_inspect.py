"""A task of Inspect whose answers are scored by their ledgers.

`inspect eval with_inspect.py --model …` runs it; the samples carry the passages in their metadata.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate

from evidentia.integrations.inspect import evidentia

PASSAGES = [
    "All permanent employees receive 15 days of annual leave.",
    "Hotel costs are refunded up to $150 per night.",
]


@task  # type: ignore[untyped-decorator] # where Inspect is not installed
def leave() -> Task:
    """Ask about leave, and count the claims that the passages say."""
    question = "How much leave do permanent employees get?"
    return Task(
        dataset=[Sample(input=question, target="15 days", metadata={"contexts": PASSAGES})],
        solver=generate(),
        scorer=[evidentia("faithfulness"), evidentia("contextual_precision")],
    )
