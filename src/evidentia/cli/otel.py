"""`evidentia otel`: spans that a collector wrote to files become runs, at once."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from evidentia.cli.options import (
    HomeOption,
    JsonOption,
    TenantOption,
    keep_checkpoint,
    settings,
    workspace,
)

if TYPE_CHECKING:
    from evidentia.integrations.otel.gathering import Gathering, TraceOutcome
    from evidentia.integrations.otel.spans import Rejected
    from evidentia.workspace import Workspace

_SHOWN: Final = 10
_HOUR: Final = 3_600
_BATCH: Final = 5_000


def otel(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="What a collector's file exporter wrote: OTLP as JSON lines or as protobuf, "
            "plain or compressed by gzip.",
        ),
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="What is recorded, redacted and checked, as JSON [EVIDENTIA_OTEL_POLICY_FILE].",
        ),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
) -> None:
    """Record the traces in files as runs: bundles, tool calls, ledgers and packs.

    A trace that is recorded already is not recorded again; what is new of it is added to its run.
    Exit code 1 says that something in the files could not be recorded.
    """
    from evidentia.cli.output import print_json
    from evidentia.errors import InputError
    from evidentia.integrations.otel.gathering import Gathering, policy_in
    from evidentia.integrations.policy import RecordingPolicy

    found = settings()
    file = policy or found.otel_policy_file
    gathering = Gathering(
        RecordingPolicy() if file is None else policy_in(file), _HOUR, _HOUR
    )  # closed here, and not by a server that happens to run meanwhile
    for one in files:
        if not one.is_file():
            raise InputError(f"{one}: there is no such file")
    with workspace(home, tenant, create=True) as opened:
        read = _Read()
        for one in files:
            _put_down(opened, one, gathering, read)
        outcomes = _record(opened, sorted(read.traces), gathering)
        if any(one.recorded for one in outcomes):
            keep_checkpoint(opened)
    if as_json:
        print_json(_as_json(read, outcomes))
    else:
        _tell(read, outcomes)
    if read.rejected or read.problems or any(one.problem for one in outcomes):
        raise typer.Exit(1)


class _Read:
    """What was in the files."""

    def __init__(self) -> None:
        self.spans = 0
        self.traces: set[str] = set()
        self.rejected: list[Rejected] = []
        self.problems: list[str] = []


def _put_down(opened: "Workspace", file: Path, gathering: "Gathering", read: _Read) -> None:
    from evidentia.cli.output import progress_bar
    from evidentia.integrations.otel.files import read_batches
    from evidentia.integrations.otel.gathering import put_down
    from evidentia.integrations.otel.spans import Received, Span

    waiting: list[Span] = []

    def flush() -> None:
        at = opened.opened.now()
        read.rejected += put_down(opened, Received(tuple(waiting)), gathering, at=at)
        waiting.clear()

    with progress_bar("Reading", file.stat().st_size, least=_BATCH * 1_000) as bar:
        for batch in read_batches(file):
            if batch.problem is not None:
                read.problems.append(f"{file}, batch {batch.number}: {batch.problem}")
            read.rejected += batch.received.rejected
            read.spans += len(batch.received.spans)
            read.traces |= {one.trace_id for one in batch.received.spans}
            waiting += batch.received.spans
            if len(waiting) >= _BATCH:
                flush()
            bar(batch.done)
        flush()


def _record(opened: "Workspace", traces: list[str], gathering: "Gathering") -> "list[TraceOutcome]":
    from evidentia.cli.output import counting_bar
    from evidentia.integrations.otel.gathering import record_trace

    outcomes = []
    with counting_bar("Recording") as bar:
        for number, trace_id in enumerate(traces, 1):
            outcomes.append(record_trace(opened, trace_id, gathering.policy))
            bar(number, len(traces))
    return outcomes


def _as_json(read: _Read, outcomes: "list[TraceOutcome]") -> dict[str, Any]:
    return {
        "spans": read.spans,
        "rejected": len(read.rejected),
        "reasons": dict(Counter(one.reason for one in read.rejected).most_common()),
        "unread": read.problems,
        "traces": [one.as_json() for one in outcomes],
    }


def _tell(read: _Read, outcomes: "list[TraceOutcome]") -> None:
    from evidentia.cli.output import say, visible
    from evidentia.integrations.otel.spans import told
    from evidentia.language.counting import counted

    new = [one for one in outcomes if one.recorded is not None]
    runs = [one for one in new if not one.addendum]
    say(
        f"{counted(read.spans, 'span')} read, {counted(len(outcomes), 'trace')}: "
        f"{counted(len(runs), 'run')} recorded",
        "good" if not (read.rejected or read.problems) else None,
    )
    if added := len(new) - len(runs):
        say(f"{counted(added, 'run')} had been recorded; what came late was added", under=True)
    if known := sum(one.recorded is None and one.problem is None for one in outcomes):
        say(f"{counted(known, 'trace')} had nothing new", under=True)
    checked = sum(bool(one.recorded and one.recorded.ledger_id) for one in new)
    packs = sum(bool(one.recorded and one.recorded.pack_id) for one in new)
    say(f"{counted(checked, 'answer')} checked, {counted(packs, 'pack')} sealed", under=True)
    if read.rejected:
        count = counted(len(read.rejected), "span")
        say(f"{count} rejected: {visible(told(read.rejected))}", "bad")
    problems = [
        *read.problems,
        *(f"trace {one.trace_id}: {one.problem}" for one in outcomes if one.problem),
    ]
    for problem in problems[:_SHOWN]:
        say(visible(problem), "bad")
    if len(problems) > _SHOWN:
        say(f"and {len(problems) - _SHOWN:,} more: --json has them all", under=True)
    for one in new[:_SHOWN]:
        for problem in one.recorded.problems if one.recorded else ():
            say(f"trace {one.trace_id}: {visible(problem)}", under=True)
