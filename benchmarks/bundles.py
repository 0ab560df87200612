"""Bundles: what building, sampling and redacting cost, each against a yardstick of the same run.

Run it with `python -m benchmarks.bundles [--quick] [--only NAME] [--json FILE]`. The frameworks
that it compares with are in requirements/benchmarks.txt; where one is missing, it says so.
"""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)

from benchmarks import phones, redaction, results
from evidentia.bundles.policy import EvidencePolicy
from evidentia.workspace import open_workspace

LIMIT = 100_000
POLICY = EvidencePolicy(max_items=10_000, max_total_bytes=LIMIT)
WORDS = ("annual", "leave", "policy", "travel", "office", "employee", "manager", "evidence")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    texts: int
    compacted: int


SIZES = {
    "full": Size(9, 10_000, 10_000),
    "quick": Size(3, 10_000, 1_000),
    "tiny": Size(1, 200, 100),
}


def measure_texts(size: Size, folder: Path) -> Section:
    """Build, persist and record a bundle of many texts, and split them by the same limit."""
    texts = _texts(size.texts)
    section = Section(
        "texts",
        "Building a bundle of many texts",
        f"{size.texts:,} texts of 1 KB, and a limit of {LIMIT:,} bytes. A bundle is built, every "
        "text accounted for, what was dropped persisted, the bundle persisted, and recorded in "
        "the database and the trail. The yardsticks keep texts in memory and record nothing.",
    )
    ours = [_built(texts, folder / str(number)) for number in range(size.rounds)]
    for what, target, split in _langchain(texts):
        taken = [seconds_of(split) for _ in range(size.rounds)]
        section.lines.append(_faster(what, ours, taken, target))
    try:
        compact = _llama_index(texts[: size.compacted])
    except ImportError:
        section.notes.append("LlamaIndex was not measured: it is not installed.")
    else:
        taken = [seconds_of(compact) * size.texts / size.compacted]
        section.lines.append(_faster("LlamaIndex, compaction", ours[:1], taken, 50.0))
    return section


def _faster(yardstick: str, ours: list[float], theirs: list[float], target: float | None) -> Line:
    return Line(
        "built, persisted and recorded",
        yardstick,
        f"{number(Spread.of(ours).median * 1e3)} ms",
        f"{number(Spread.of(theirs).median * 1e3)} ms",
        ratios(theirs, ours),
        "times",
        target=target,
    )


def _built(texts: list[str], folder: Path) -> float:
    """Return what building takes, in a workspace that built a bundle before."""
    with open_workspace(folder) as workspace:
        workspace.bundle({"extra_params": {"evidence": texts[:1]}})
        job = {"extra_params": {"evidence": texts}}
        tidy()
        taken = seconds_of(lambda: workspace.bundle(job, policy=POLICY))
    shutil.rmtree(folder)
    return taken


def _langchain(texts: list[str]) -> list[tuple[str, float | None, Callable[[], object]]]:
    """Return LangChain's splitting: as its chain runs it, and with a bare count of bytes."""
    try:
        reduce = import_module("langchain_classic.chains.combine_documents.reduce")
    except ImportError:
        return []
    documents: Any = import_module("langchain_core.documents")
    prompts: Any = import_module("langchain_core.prompts")
    made = [documents.Document(page_content=text) for text in texts]
    prompt = prompts.PromptTemplate.from_template("{page_content}")

    def in_prompt(some: list[Any]) -> int:
        return len("\n\n".join(prompts.format_document(one, prompt) for one in some).encode())

    def in_bytes(some: list[Any]) -> int:
        return sum(len(one.page_content.encode()) for one in some)

    def split(length: Callable[[list[Any]], int]) -> Callable[[], object]:
        return lambda: reduce.split_list_of_docs(made, length, LIMIT)

    return [
        ("LangChain, splitting by the length of the prompt", 1.0, split(in_prompt)),
        ("LangChain, splitting by a bare count of bytes", None, split(in_bytes)),
    ]


def _llama_index(texts: list[str]) -> Callable[[], object]:
    core: Any = import_module("llama_index.core")
    helper: Any = import_module("llama_index.core.indices.prompt_helper").PromptHelper(
        context_window=LIMIT // 4, num_output=256
    )
    prompt = core.PromptTemplate("{context_str}")
    return lambda: helper.repack(prompt, texts)


def _texts(count: int) -> list[str]:
    chance = random.Random(1)
    return [" ".join(chance.choices(WORDS, k=180))[:1024] for _ in range(count)]


def main() -> None:
    run_measures(
        "Measures bundles against yardsticks of the same run.",
        {
            "texts": lambda size, folder: measure_texts(SIZES[size], folder),
            "results": lambda size, folder: results.measure_sampling(results.SIZES[size], folder),
            "live": lambda size, folder: results.measure_live(results.SIZES[size], folder),
            "mixed": lambda size, _: redaction.measure_mixed(redaction.SIZES[size]),
            "hard": lambda size, _: redaction.measure_hard(redaction.SIZES[size]),
            "phones": lambda _size, _folder: phones.measure_phones(),
            "presidio": lambda size, _: redaction.measure_presidio(redaction.SIZES[size]),
        },
    )


if __name__ == "__main__":
    main()
