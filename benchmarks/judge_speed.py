"""How fast the trained judge is, beside the bare sessions that it runs on.

Run it with `python -m benchmarks.judge_speed [--quick] [--json FILE]`.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from benchmarks.documents import pdf_files
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    Table,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)

from evidentia.judges.nli import model
from evidentia.workspace import open_workspace

TOKENS = 64
PAIRS = {"full": 512, "quick": 64, "tiny": 8}
ROUNDS = {"full": 7, "quick": 3, "tiny": 1}
CLAIMS = {"full": 20, "quick": 20, "tiny": 4}
PAGES = {"full": 20, "quick": 20, "tiny": 2}
BATCHES = {"full": [1, 4, 8, 16, 32, 64], "quick": [1, 4, 8, 16, 32, 64], "tiny": [8]}
SENTENCE = (
    "The annual report of the company states that the number of employees in the northern region "
    "rose from four hundred to five hundred and ten in the year that ended in March, while the "
    "costs of travel fell by a third."
)
CLAIM = "The company had more people in the northern region at the end of the year."

Inputs = dict[str, Any]


class Recorded:
    """A session that also remembers what it was asked."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.asked: list[Inputs] = []

    def run(self, outputs: None, inputs: Inputs) -> Any:
        """Answer as the session does."""
        self.asked.append(inputs)
        return self.session.run(outputs, inputs)


@contextmanager
def recorded(holder: Any) -> Iterator[Recorded]:
    """Remember what the session of a model is asked."""
    kept = holder._session  # noqa: SLF001 - the yardstick is this very session
    holder._session = Recorded(kept)  # noqa: SLF001 - the same
    try:
        yield holder._session  # noqa: SLF001 - the same
    finally:
        holder._session = kept  # noqa: SLF001 - the same


def measure_pairs(size: str) -> Section:
    """Measure pairs of one length, through the model and through its bare session."""
    pairs = _pairs(PAIRS[size])
    ours = model.pair_model()
    with recorded(ours) as session:
        ours.scores(pairs)
    tidy()
    taken = interleaved(
        ROUNDS[size],
        {
            "ours": lambda: seconds_of(partial(ours.scores, pairs)),
            "bare": lambda: seconds_of(partial(_replay, session.session, session.asked)),
        },
    )
    rates = [len(pairs) / seconds for seconds in taken["ours"]]
    bare = [len(pairs) / seconds for seconds in taken["bare"]]
    section = Section(
        "judge speed",
        "How fast the trained judge is",
        f"Pairs of evidence and claim of {TOKENS} tokens through the pair model, with tokenising, "
        "sorting into batches and padding. The yardstick is the bare ONNX session on the same "
        "batches.",
        [
            Line(
                f"{len(pairs)} pairs",
                "bare session",
                f"{number(Spread.of(rates).median)}/s",
                f"{number(Spread.of(bare).median)}/s",
                ratios(rates, bare),
                "%",
                target=0.85,
            ),
            Line(
                "pairs a second",
                "none: absolute",
                f"{number(Spread.of(rates).median)}/s",
                "",
                Spread.of(rates),
                "/s",
                target=60,
            ),
        ],
    )
    section.tables.append(_by_batch_and_threads(size))
    return section


def measure_check(size: str, folder: Path) -> Section:
    """Measure a check whose documents are known, beside the inference that it consists of."""
    documents = folder / "documents"
    documents.mkdir()
    for place, data in enumerate(pdf_files(PAGES[size])):
        (documents / f"policy-{place}.pdf").write_bytes(data)
    answer = "\n".join(f"- {claim}" for claim in _claims(CLAIMS[size]))
    with open_workspace(folder / "home") as workspace:
        against = workspace.ingest(documents).documents
        check = partial(workspace.check, answer, against=against, judges=["nli"])
        check()
        with recorded(model.pair_model()) as pair, recorded(model.encoder()) as embed:
            check()
        tidy()
        taken = interleaved(
            ROUNDS[size],
            {
                "check": lambda: seconds_of(check),
                "bare": lambda: (
                    seconds_of(partial(_replay, pair.session, pair.asked))
                    + seconds_of(partial(_replay, embed.session, embed.asked))
                ),
            },
        )
    many = sum(len(inputs["ids"]) for inputs in pair.asked)
    return Section(
        "judge check",
        "What a check adds to inference",
        f"A check of {CLAIMS[size]} claims by the trained judge, in a running program whose "
        f"documents are known ({many} pairs of {number(_mean_length(pair.asked))} tokens in "
        f"{len(pair.asked)} batches): searching, reading, typed checks, the ledger and its entry "
        "in the trail. The yardstick is the bare sessions on the same batches.",
        [
            Line(
                "a warm check",
                "bare sessions",
                f"{number(1_000 * Spread.of(taken['check']).median)} ms",
                f"{number(1_000 * Spread.of(taken['bare']).median)} ms",
                ratios(taken["check"], taken["bare"]),
                "times",
                target=1.25,
                at_most=True,
            )
        ],
    )


def _by_batch_and_threads(size: str) -> Table:
    """Return how many pairs a second batches of several sizes come to, by threads."""
    pairs = _pairs(PAIRS[size])
    tokenizer = model.pair_model()._tokenizer  # noqa: SLF001 - the same tokens as above
    encoded = tokenizer.encode_batch(pairs)
    sizes = BATCHES[size]
    rows = []
    for threads in (1, 2, 4):
        session = _session_with(threads)
        row = [str(threads)]
        for many in sizes:
            batches = [
                model.padded(encoded[start : start + many])
                for start in range(0, len(encoded), many)
            ]
            asked = [
                dict(zip(("ids", "segments", "mask"), batch, strict=True)) for batch in batches
            ]
            _replay(session, asked[:1])
            row.append(number(len(pairs) / seconds_of(partial(_replay, session, asked))))
        rows.append(row)
    return Table(
        f"Pairs a second of the bare session ({os.cpu_count()} cores)",
        ["Threads", *(f"batches of {many}" for many in sizes)],
        rows,
    )


def _session_with(threads: int) -> Any:
    kept = onnxruntime.SessionOptions

    def options() -> Any:
        made = kept()
        made.intra_op_num_threads = threads
        return made

    onnxruntime.SessionOptions = options
    try:
        return model._session("pair")  # noqa: SLF001 - the same session with other threads
    finally:
        onnxruntime.SessionOptions = kept


def _replay(session: Any, asked: Sequence[Inputs]) -> None:
    for inputs in asked:
        session.run(None, inputs)


def _mean_length(asked: Sequence[Inputs]) -> float:
    tokens = sum(int(inputs["mask"].sum()) for inputs in asked)
    return tokens / max(sum(len(inputs["ids"]) for inputs in asked), 1)


def _pairs(count: int) -> list[tuple[str, str]]:
    """Return pairs of just so many tokens."""
    tokenizer = model.pair_model()._tokenizer  # noqa: SLF001 - to count with
    words = SENTENCE.split()
    evidence = SENTENCE
    for word in words * 3:
        if len(tokenizer.encode(evidence, CLAIM).ids) >= TOKENS:
            break
        evidence = f"{evidence} {word}"
    spread = np.random.default_rng(1).integers(1, 1_000, count)
    return [(f"{evidence} {place}"[: len(evidence) + 4], CLAIM) for place in spread]


def _claims(count: int) -> list[str]:
    subjects = ("Employees", "Managers", "Contractors", "Interns", "Customers")
    deeds = (
        "may carry over unused leave into the next year",
        "must ask for approval before they travel abroad",
        "receive a written answer within ten working days",
        "are paid at the end of each month",
    )
    return [f"{subjects[place % 5]} {deeds[place // 5 % 4]}." for place in range(count)]


def main() -> None:
    run_measures(
        "Measures the speed of the trained judge.",
        {"pairs": lambda size, _: measure_pairs(size), "check": measure_check},
    )


if __name__ == "__main__":
    main()
