"""`evidentia judge`: which judges there are, and how right they are."""

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evidentia.cli.options import (
    HomeOption,
    JsonOption,
    TenantOption,
    cluster,
    keep_checkpoint,
    settings,
    workspace,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evidentia.judges.measuring import Figures
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.votes import AskedService
    from evidentia.workspace.access import AllowedEndpoint
    from evidentia.workspace.evaluating import Evaluation, KnownJudge

app = typer.Typer(rich_markup_mode=None)

SHOWN_FAILURES = 3
_IN_BULK = frozenset({"quote", "numbers", "nli"})
"""The judges that a cluster's workers have, too: no files of this machine, and no one's keys."""
_NONE = "-"


UrlArgument = Annotated[
    str,
    typer.Argument(metavar="URL", help="Where the API is, such as http://localhost:11434/v1."),
]


@app.command("list")
def list_(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """List the judges, in the order they are asked, and say whether each can be.

    Below them stand the endpoints that documents may be sent to.
    """
    from evidentia.cli.output import print_json, print_table
    from evidentia.export.shown import minute
    from evidentia.workspace.evaluating import known_judges

    endpoints = _allowed(home, tenant)
    found = [*known_judges(), _language_judge([one.url for one in endpoints])]
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
        allowed = [
            {"url": one.url, "since": one.since, "by": one.by, "entry": one.entry}
            for one in endpoints
        ]
        print_json({"judges": judges, "allowed": allowed})
        return
    print_table(
        ("Judge", "What it does", "Available"),
        [
            (judge.name, judge.about, f"no: {judge.problem}" if judge.problem else "yes")
            for judge in found
        ],
    )
    if endpoints:
        print_table(
            ("Documents may be sent to", "Since", "Allowed by", "Entry"),
            [(one.url, minute(one.since), one.by, one.entry) for one in endpoints],
            right=("Entry",),
        )


@app.command()
def allow(
    url: UrlArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Allow that passages of documents are sent to an endpoint to be judged.

    Without it nothing is sent. The trail records who allowed it, and when.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.judges.llm.endpoint import endpoint_url, is_local

    where = endpoint_url(url)
    with workspace(home, tenant, create=True) as opened:
        receipt = opened.judges.allow(where)
        keep_checkpoint(opened)
    if as_json:
        print_json({"url": where, "entry": receipt.seq})
        return
    say(f"Passages may be sent to {visible(where)}: entry {receipt.seq} of the trail.", "good")
    if where.startswith("http:") and not is_local(where):
        say("It is not encrypted on the way: whoever is on it can read the passages.", "unknown")
    say(f"Take it back: evidentia judge disallow {visible(where)}", under=True)


@app.command()
def disallow(
    url: UrlArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let no more documents be sent to an endpoint that was allowed."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.judges.llm.endpoint import endpoint_url

    where = endpoint_url(url)
    with workspace(home, tenant) as opened:
        receipt = opened.judges.disallow(where)
        keep_checkpoint(opened)
    if as_json:
        print_json({"url": where, "entry": receipt.seq})
        return
    say(f"Nothing more is sent to {visible(where)}: entry {receipt.seq} of the trail.", "good")


@app.command("eval")
def eval_(
    data: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DATA", help="JSON lines of labelled pairs, plain or gzip."),
    ] = None,
    from_verdicts: Annotated[
        bool,
        typer.Option(
            "--from-verdicts",
            help="The claims that people gave a verdict of their own, with their evidence.",
        ),
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --from-verdicts: write the pairs there, as DATA has them."
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="A judge to ask, also llm or model:FOLDER; may be given again [as 'check' does].",
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
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how right the judges are on labelled pairs.

    Each line of DATA is one pair, with a label that is supported, weak (supported in part only),
    contradicted, not_found, or not_supported where it is not known which of the others:

    \b
      {"evidence": "The office opens at 9.", "claim": "It opens at 8.",
       "label": "contradicted"}

    \b
      evidentia judge eval pairs.jsonl
      evidentia judge eval a.jsonl.gz b.jsonl.gz --judge quote --errors wrong.jsonl
      evidentia judge eval --from-verdicts --write people.jsonl

    The evidence is searched and the claim is judged as by 'evidentia check', but nothing is kept.
    With --judge llm, pairs are sent to the model that the settings name, if the workspace allows
    its endpoint; its answers are remembered, so that a second run costs nothing.
    A pair counts as judged supported if the probability of that is 0.35 or more. What could
    not be judged counts as wrong. Whatever the figures are, the exit code is 0.
    """  # noqa: D301 - the character, and not its name, keeps the lines below it apart
    from evidentia.cli import people as labels
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.errors import InputError
    from evidentia.language.counting import agreed, counted
    from evidentia.store.files import write_durably
    from evidentia.workspace.evaluating import (
        evaluate,
        evaluate_in_bulk,
        read_pairs,
        together,
    )

    files = data or []
    _refuse_overwriting(files, errors)
    if not from_verdicts and (write is not None or not files):
        raise InputError("there are no pairs of people's: name DATA, or give --from-verdicts")
    sets = [(str(path), read_pairs(path, limit)) for path in files]
    people = labels.said(home, tenant, write) if from_verdicts else None
    if people is not None:
        sets.append(("people's verdicts", list(people.pairs[:limit])))
    total = sum(len(pairs) for _, pairs in sets)
    workers = None if set(judge or ()) - _IN_BULK else cluster(settings(home))
    found: list[Evaluation] = []
    with _asked(judge or (), home, tenant) as judges, counting_bar("Judging") as progress:
        for name, pairs in sets:
            before = sum(len(one.judged) for one in found)
            told = _from(before, total, progress)
            if workers is None:
                found.append(evaluate(name, pairs, judges, told))
            else:
                names = [one.name for one in judges]
                found.append(evaluate_in_bulk(workers, name, pairs, names, told))
    if errors is not None:
        write_durably(errors, _wrong_pairs(found).encode())
    whole = together(found)
    if as_json:
        print_json(
            {
                "judges": _named(judges),
                "services": [one.model_dump(mode="json") for one in _services(judges)],
                "sets": [_set_json(one) for one in found],
                "all": _set_json(whole),
                **({} if people is None else {"people": people.as_json()}),
            }
        )
        return
    if people is not None:
        labels.show(people)
    _show(found if len(found) == 1 else [*found, whole], judges)
    if errors is not None:
        wrong = sum(len(one.wrong) for one in found)
        were = agreed(wrong, "was judged wrongly; it is in", "were judged wrongly; they are in")
        say(f"{wrong:,} of {counted(total, 'pair')} {were} {errors}.", aside=True)


@app.command()
def calibrate(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The checkpoint, as in --judges model:FOLDER.")
    ],
    data: Annotated[
        Path,
        typer.Argument(metavar="LABELLED.jsonl", help="Labelled pairs, as for 'judge eval'."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Fit what a checkpoint's probabilities are worth on labelled pairs.

    Writes calibration.json into the folder; the judge of the folder goes by it from then on, and
    its digest is another one. Measure it on other pairs than these.
    """
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.judges.checkpoint.folder import CALIBRATION
    from evidentia.language.counting import counted
    from evidentia.store.files import write_durably
    from evidentia.workspace.evaluating import calibrate as fit
    from evidentia.workspace.evaluating import digest_of_file, read_pairs

    pairs = read_pairs(data)
    with counting_bar("Judging") as progress:
        found = fit(folder, pairs, digest_of_file(data), _from(0, len(pairs), progress))
    file = folder / CALIBRATION
    write_durably(file, found.calibration.encode())
    if as_json:
        losses = {"loss_before": found.loss_before, "loss_after": found.loss_after}
        print_json({"file": str(file), **found.calibration.model_dump(mode="json"), **losses})
        return
    say(f"The calibration is in {visible(file)}.", "good")
    used = counted(found.calibration.pairs, "pair")
    say(
        f"Mean log loss on {used}: {found.loss_before:.3f} before, {found.loss_after:.3f} with it.",
        under=True,
    )
    if found.calibration.contradiction is None:
        say("Contradictions have no scale of their own: too few pairs, or no label.", under=True)


@contextmanager
def _asked(
    names: "Sequence[str]", home: Path | None, tenant: str | None
) -> "Iterator[list[Judge]]":
    """Give the judges to measure; a workspace is opened only where one sends pairs somewhere."""
    from evidentia.cli.judging import chosen, language_model
    from evidentia.workspace.evaluating import chosen_judges

    if "llm" not in names:
        yield chosen_judges(names)
        return
    _refuse_unless_allowed(language_model().url, home, tenant)
    with workspace(home, tenant) as opened:
        yield opened.judges.make(chosen(names), record=False)


def _refuse_unless_allowed(url: str, home: Path | None, tenant: str | None) -> None:
    """Say how to allow an endpoint where there is no workspace that could."""
    from evidentia.errors import AccessError

    if url not in [one.url for one in _allowed(home, tenant)]:
        raise AccessError(
            f"the pairs would be sent to {url}, which the owner of the workspace has not allowed: "
            f"evidentia judge allow {url}"
        )


def _allowed(home: Path | None, tenant: str | None) -> "list[AllowedEndpoint]":
    """Return the endpoints that the workspace allows; none where there is no workspace."""
    from evidentia.errors import NotFoundError

    try:
        with workspace(home, tenant, read_only=True) as opened:
            return opened.judges.allowed()
    except NotFoundError:
        return []


def _language_judge(allowed: "Sequence[str]") -> "KnownJudge":
    """Return the judge that the settings name a model for, and why it cannot be asked."""
    from evidentia.cli.judging import language_model
    from evidentia.errors import EvidentiaError
    from evidentia.judges.llm.client import Client
    from evidentia.judges.llm.judge import LlmJudge
    from evidentia.workspace.evaluating import KnownJudge

    about = (LlmJudge.__doc__ or "").strip()
    try:
        model = language_model()
        judge = LlmJudge(model, Client(model).post)
    except EvidentiaError as error:
        return KnownJudge(LlmJudge.name, about, None, str(error))
    problem = None
    if model.url not in allowed:
        problem = f"nothing may be sent there yet: evidentia judge allow {model.url}"
    return KnownJudge(LlmJudge.name, f"{about} ({model.model})", judge.digest, problem)


def _services(judges: "Sequence[Judge]") -> "list[AskedService]":
    """Return what the services took that judges asked."""
    found = (getattr(judge, "service", None) for judge in judges)
    return [service for service in found if service is not None]


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
    from evidentia.cli.judging import took
    from evidentia.cli.output import print_table, say, visible
    from evidentia.language.counting import counted
    from evidentia.ledger.model import Verdict

    whole = evaluations[-1]
    figures = whole.figures
    columns = ("Pairs", "Balanced accuracy", "95 %", "F1", "AUROC", "T/F", "ECE", "Pairs/s")
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
        (label.value.replace("_", " "), *row.values(), figures.probable[label])
        for label, row in figures.confusion.items()
        if any(row.values())
    ]
    counts = (*verdicts, "weak, but probable")
    print_table(("Label, by verdict", *counts), labels, right=counts)
    asked = (
        f"{named['name']} ({named['digest']})" if named["digest"] else named["name"]
        for named in _named(judges)
    )
    say(f"Judges asked: {visible(', '.join(map(str, asked)))}")
    for service in _services(judges):
        say(visible(took(service)), under=True)
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
    rest = (
        figures.macro_f1,
        figures.auroc,
        figures.auroc_decided,
        figures.calibration_error,
    )
    accuracy = _figure(figures.balanced_accuracy)
    return [f"{figures.pairs:,}", accuracy, shown, *map(_figure, rest)]


def _figure(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _rate(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f}"
