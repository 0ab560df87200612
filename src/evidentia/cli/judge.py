"""`evidentia judge`: which judges there are, and how right they are."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evidentia.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evidentia.judges.measuring import Figures
    from evidentia.ledger.judging import Judge
    from evidentia.workspace.evaluating import Evaluation

app = typer.Typer(rich_markup_mode=None)

SHOWN_FAILURES = 3
_NONE = "-"


@app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the judges, in the order they are asked, and say whether each can be."""
    from evidentia.cli.output import print_json, print_table
    from evidentia.workspace.evaluating import known_judges

    found = known_judges()
    if as_json:
        judges = [
            {
                "name": judge.name,
                "about": judge.about,
                "available": judge.problem is None,
                "problem": judge.problem,
                "digest": judge.digest,
            }
            for judge in found
        ]
        print_json({"judges": judges})
        return
    print_table(
        ("Judge", "What it does", "Available"),
        [
            (judge.name, judge.about, f"no: {judge.problem}" if judge.problem else "yes")
            for judge in found
        ],
    )


@app.command("eval")
def eval_(
    data: Annotated[
        list[Path],
        typer.Argument(metavar="DATA", help="JSON lines of labelled pairs, plain or gzip."),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge", metavar="NAME", help="A judge to ask; may be given again [as 'check' does]."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only the first N pairs of each file."),
    ] = None,
    errors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the wrongly judged pairs there, with the reasons."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how right the judges are on labelled pairs.

    Each line of DATA is one pair, with a label that is supported, contradicted, not_found, or
    not_supported where it is not known which of the latter two:

    \b
      {"evidence": "The office opens at 9.", "claim": "It opens at 8.",
       "label": "contradicted"}

    \b
      evidentia judge eval pairs.jsonl
      evidentia judge eval a.jsonl.gz b.jsonl.gz --judge quote --errors wrong.jsonl

    The evidence is searched and the claim is judged as by 'evidentia check', but nothing is kept.
    A pair counts as said to be supported if the probability of that is 0.35 or more. What could
    not be judged counts as wrong. Whatever the figures are, the exit code is 0.
    """  # noqa: D301 - the character, and not its name, keeps the lines below it apart
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.language.counting import agreed, counted
    from evidentia.store.files import write_durably
    from evidentia.workspace.evaluating import chosen_judges, evaluate, read_pairs, together

    _refuse_overwriting(data, errors)
    judges = chosen_judges(judge or ())
    sets = [(str(path), read_pairs(path, limit)) for path in data]
    total = sum(len(pairs) for _, pairs in sets)
    found: list[Evaluation] = []
    with counting_bar("Judging") as progress:
        for name, pairs in sets:
            before = sum(len(one.judged) for one in found)
            found.append(evaluate(name, pairs, judges, _from(before, total, progress)))
    if errors is not None:
        write_durably(errors, _wrong_pairs(found).encode())
    whole = together(found)
    if as_json:
        print_json(
            {
                "judges": _named(judges),
                "sets": [_set_json(one) for one in found],
                "all": _set_json(whole),
            }
        )
        return
    _show(found if len(found) == 1 else [*found, whole], judges)
    if errors is not None:
        wrong = sum(len(one.wrong) for one in found)
        were = agreed(wrong, "was judged wrongly; it is in", "were judged wrongly; they are in")
        say(f"{wrong:,} of {counted(total, 'pair')} {were} {errors}.", aside=True)


def _from(
    before: int, total: int, progress: "Callable[[int, int], None]"
) -> "Callable[[int], None]":
    """Return what is told how much of one set is done, where others were done before it."""
    return lambda done: progress(before + done, total)


def _refuse_overwriting(data: "Sequence[Path]", errors: Path | None) -> None:
    from evidentia.errors import InputError

    if errors is not None and errors.resolve() in [path.resolve() for path in data]:
        raise InputError(f"{errors}: is what is read: name another file with --errors")


def _named(judges: "Sequence[Judge]") -> list[dict[str, str | None]]:
    from evidentia.workspace.evaluating import digest_of

    return [{"name": judge.name, "digest": digest_of(judge)} for judge in judges]


def _set_json(evaluation: "Evaluation") -> dict[str, Any]:
    return {
        "name": evaluation.name,
        **evaluation.figures.as_json(),
        "pairs_per_second": evaluation.pairs_per_second,
        "wrong": len(evaluation.wrong),
        "not_judged_reasons": [
            {"reason": reason, "pairs": pairs}
            for reason, pairs in evaluation.failures[:SHOWN_FAILURES]
        ],
    }


def _wrong_pairs(evaluations: "Sequence[Evaluation]") -> str:
    """Return the wrongly judged pairs as JSON lines, which can be evaluated themselves."""
    lines = [
        {
            "file": evaluation.name,
            "line": one.pair.line,
            "claim": one.pair.claim,
            "label": one.pair.label.value,
            "verdict": one.outcome.verdict.value,
            "probability": one.outcome.probability,
            "notes": one.notes,
            "reasons": one.reasons,
            "evidence": one.pair.evidence,
        }
        for evaluation in evaluations
        for one in evaluation.wrong
    ]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _show(evaluations: "Sequence[Evaluation]", judges: "Sequence[Judge]") -> None:
    """Print a row for each set, what the last was taken for, and what could not be judged."""
    from evidentia.cli.output import print_table, say, visible
    from evidentia.language.counting import counted
    from evidentia.ledger.model import Verdict

    whole = evaluations[-1]
    figures = whole.figures
    columns = ("Pairs", "Balanced accuracy", "95 %", "F1", "AUROC", "ECE", "Pairs/s")
    rows = [
        (
            _title(one, evaluations),
            *_cells(figures if one is whole else one.figures),
            _rate(one.pairs_per_second),
        )
        for one in evaluations
    ]
    print_table(("Set", *columns), rows, right=columns)
    verdicts = [verdict.value.replace("_", " ") for verdict in Verdict]
    labels = [
        (label.value.replace("_", " "), *row.values())
        for label, row in figures.confusion.items()
        if any(row.values())
    ]
    print_table(("Label, by verdict", *verdicts), labels, right=verdicts)
    asked = (
        f"{named['name']} ({named['digest']})" if named["digest"] else named["name"]
        for named in _named(judges)
    )
    say(f"Judges asked: {visible(', '.join(map(str, asked)))}")
    if figures.not_judged:
        say(f"{counted(figures.not_judged, 'pair')} could not be judged:", "bad")
    for reason, pairs in whole.failures[:SHOWN_FAILURES]:
        say(f"{counted(pairs, 'time')}: {visible(reason)}", under=True)


def _title(evaluation: "Evaluation", evaluations: "Sequence[Evaluation]") -> str:
    """Return a file's name without its folder, unless another has the same."""
    names = [Path(one.name).name for one in evaluations]
    name = Path(evaluation.name).name
    return name if names.count(name) == 1 else evaluation.name


def _cells(figures: "Figures") -> list[str]:
    interval = figures.interval
    shown = f"{interval[0]:.3f} … {interval[1]:.3f}" if interval else _NONE
    rest = (figures.macro_f1, figures.auroc, figures.calibration_error)
    accuracy = _figure(figures.balanced_accuracy)
    return [f"{figures.pairs:,}", accuracy, shown, *map(_figure, rest)]


def _figure(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _rate(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f}"
