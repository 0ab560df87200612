"""`evidentia trail`: read a log: its entries, one of them, a history, and whether it is whole."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import (
    EntryArgument,
    HomeOption,
    JsonOption,
    TenantOption,
    workspace,
)

if TYPE_CHECKING:
    from evidentia.workspace.logged import LoggedEntry


def log(
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Only entries of this kind: evidence_record, status_change, document, bundle, "
            "ledger, pack, review, export, access, erasure or key.",
        ),
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only entries about this subject.")
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="ENTRY", help="Only entries before this one.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")
    ] = 20,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List entries, newest first, page by page."""
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.errors import InputError, NotFoundError
    from evidentia.trail.entry import KINDS

    if kind is not None and kind not in KINDS:
        raise InputError(f"kind {kind!r} is unknown: use one of {', '.join(sorted(KINDS))}")
    with workspace(home, tenant, read_only=True) as opened:
        found = opened.trail.entries(
            kind=kind, subject=subject, before=before, limit=limit + 1, newest_first=True
        )
        name = opened.tenant
        known = opened.opened.tenants()
    if name not in known and known:
        raise NotFoundError(f"tenant {name!r} has no log; logs here: {', '.join(known[:10])}")
    shown, more = found[:limit], len(found) > limit
    older = shown[-1].entry.seq if more else None
    if as_json:
        print_json({"entries": [logged.as_json() for logged in shown], "next_before": older})
        return
    if not shown:
        say(f"No entry of tenant {name} matches; 'evidentia trail append FILE' appends records.")
        return
    print_table(
        ("Entry", "Recorded (UTC)", "Kind", "Subject", "Hash"),
        [
            (
                logged.entry.seq,
                _moment(logged.entry.at),
                logged.entry.kind + (" (body erased)" if logged.erased else ""),
                logged.entry.subject,
                logged.leaf[:16],
            )
            for logged in shown
        ],
        right=("Entry",),
    )
    if older is not None:
        given = {"--kind": kind, "--subject": subject, "--home": home, "--tenant": tenant}
        again = [f"{name} {quote(str(value))}" for name, value in given.items() if value]
        say(" ".join(["Older ones: evidentia trail log", *again, f"--before {older}"]))


def show(
    entry: EntryArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one entry with its body."""
    import json

    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        logged = opened.trail.entry(entry)
    if as_json:
        print_json(logged.as_json())
        return
    for name, value in (*logged.entry.as_json().items(), ("leaf hash", logged.leaf)):
        say(f"{name:>10}  {visible(value)}")
    if logged.erased:
        say("The body was erased; the entry still proves that it was there.", "unknown")
        return
    for line in json.dumps(logged.body, indent=2, ensure_ascii=False).splitlines():
        say(f"{'':>10}  {visible(line)}")


def status(
    obligation: Annotated[str, typer.Argument(metavar="OBLIGATION", help="The obligation's id.")],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an obligation's history as a timeline."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.errors import NotFoundError

    with workspace(home, tenant, read_only=True) as opened:
        opened.trail.records(obligation)  # each is what its entry commits to, or this says so
        found = opened.trail.entries(subject=obligation)
        name = opened.tenant
    history = [
        logged for logged in found if logged.entry.kind in ("evidence_record", "status_change")
    ]
    if not history:
        raise NotFoundError(
            f"the log of tenant {name!r} has no record of obligation {obligation!r}"
        )
    if as_json:
        print_json(
            {
                "obligation_id": obligation,
                "status": _status(history),
                "history": [logged.as_json() for logged in history],
            }
        )
        return
    say(f"{visible(obligation)}: {visible(_status(history) or 'no status change recorded')}")
    for place, logged in enumerate(history):
        branch = "└─" if place == len(history) - 1 else "├─"
        say(f"{branch} {_moment(logged.entry.at)}  {_event(logged)}")


def validate(
    expect: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Obligation ids, one a line, that must have evidence."),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that histories are whole and evidence is there.

    Each record's amendment history must have its fields; each obligation of --expect must have at
    least one record.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.cli.records import read_ids
    from evidentia.language.counting import counted
    from evidentia.trail.validation import (
        validate_evidence_chain,
        validate_evidence_chain_against_obligations,
    )

    expected = None if expect is None else read_ids(expect)
    with workspace(home, tenant, read_only=True) as opened:
        records = opened.trail.records()
    report = (
        validate_evidence_chain(records)
        if expected is None
        else validate_evidence_chain_against_obligations(records, expected)
    )
    if as_json:
        print_json(dict(report) | {"records": len(records)})
        raise typer.Exit(0 if report["valid"] else 1)
    say(
        f"{counted(len(records), 'record')}: {'valid' if report['valid'] else 'not valid'}",
        "good" if report["valid"] else "bad",
    )
    for missing in report["missing_evidence"]:
        say(f"obligation {visible(missing)} has no evidence", "bad", under=True)
    for gap in report["gaps"]:
        say(visible(gap), "bad", under=True)
    for warning in report["warnings"]:
        say(visible(warning), "unknown", under=True)
    raise typer.Exit(0 if report["valid"] else 1)


def _status(history: "list[LoggedEntry]") -> str | None:
    """Return the newest recorded status, where a change of it can still be read."""
    for logged in reversed(history):
        if logged.entry.kind == "status_change" and not logged.erased:
            return str(logged.body["amendment_history"][0].get("new_status"))
    return None


def _event(logged: "LoggedEntry") -> str:
    from evidentia.cli.output import visible

    number = f"(entry {logged.entry.seq})"
    if logged.erased:
        return f"{logged.entry.kind}, body erased {number}"
    body = logged.body
    if logged.entry.kind == "status_change":
        return f"{visible(body['source_clause'])} {number}"
    page = f", page {body['page_number']}" if body["page_number"] is not None else ""
    return (
        f"{visible(body['verification_result'])} by {visible(body['verification_model'])}, "
        f"confidence {body['confidence']:.2f}, from {visible(body['doc_filename'])}{page} {number}"
    )


def _moment(at: str) -> str:
    return at[:19].replace("T", " ")
