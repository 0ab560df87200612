"""`evidentia verify`: what a stranger runs with a file in hand, and an owner without one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from evidentia.proof.statement import Statement
    from evidentia.workspace.auditing import WorkspaceAudit


def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The proof, the exported pack, or the PDF."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The public key you trust: its text (name+id+base64, PEM, hexadecimal) or a file.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Without FILE: look at tails and heads alone."),
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="CHECKPOINT",
            help="Without FILE: compare the log with a signed checkpoint kept elsewhere, too.",
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a file offline, from the file alone; without one, the whole workspace.

    Of a proof, an exported pack or a PDF, says what holds (content, place in the log, signature,
    attachments, and that a PDF's pages are the ones that the evidence in it gives) and what it
    cannot show. Without --key the best answer is "consistent, signer unknown", with exit code 1.

    Of a workspace, compares everything that is kept with what the trail says of it, both ways: the
    database's own check, indexes against tables, the log, documents and passages, ledgers,
    bundles, packs, and the lake's files. Says what was looked at and what was not. Nothing is
    written, so it works on a read-only copy.
    """
    from evidentia.errors import InputError

    if file is not None:
        if quick or since is not None:
            raise InputError("--quick and --since are for a workspace: leave them out, or the file")
        _verify_file(file, key, as_json=as_json)
        return
    if key is not None:
        raise InputError("--key is for a file: name the file, or leave the key out")
    _verify_workspace(home, tenant, since, quick=quick, as_json=as_json)


def _verify_file(file: Path, key: str | None, *, as_json: bool) -> None:
    from evidentia.cli.output import Mark, print_json, say, say_fingerprint, visible
    from evidentia.proof.verification import RENDERING, Verdict
    from evidentia.verifying import verify as verify_file

    report = verify_file(file, key=key)
    if as_json:
        print_json(report.as_json())
        raise typer.Exit(0 if report.holds else 1)
    marks: dict[bool | None, Mark] = {True: "good", False: "bad", None: "unknown"}
    verdicts: dict[Verdict, Mark] = {Verdict.HOLDS: "good", Verdict.DOES_NOT_HOLD: "bad"}
    say(f"{visible(file)}: {report.verdict.value}", verdicts.get(report.verdict, "unknown"))
    for check in report.checks:
        say(f"{check.name}: {visible(check.says)}", marks[check.holds], under=True)
    signed = all(check.holds for check in report.checks if check.name != RENDERING)
    if signed and report.statement is not None:
        if report.fingerprint is not None:
            say_fingerprint(report.fingerprint)
        _say_what_it_states(report.statement)
    if report.findings:
        say("Worth a look:", "unknown")
        for finding in report.findings:
            say(f"- {visible(finding)}", under=True)
    if report.cannot_know and report.verdict is not Verdict.DOES_NOT_HOLD:
        say("What this file cannot show:")
        for limit in report.cannot_know:
            say(f"- {limit}", under=True)
    raise typer.Exit(0 if report.holds else 1)


def _verify_workspace(
    home: Path | None, tenant: str | None, since: Path | None, *, quick: bool, as_json: bool
) -> None:
    from evidentia.cli.output import counting_bar, print_json
    from evidentia.cli.trail import read_since

    outside = None if since is None else read_since(since)
    with (
        workspace(home, tenant, read_only=True) as opened,
        counting_bar("Verifying") as bar,
    ):
        report = opened.audit(
            quick=quick, since=outside, progress=lambda _, done, total: bar(done, total)
        )
    if as_json:
        print_json(report.as_json())
    else:
        _print_audit(report)
    raise typer.Exit(0 if report.holds else 1)


def _print_audit(report: "WorkspaceAudit") -> None:
    from evidentia.cli.output import say, visible

    said = "holds" if report.holds else "does not hold"
    looked = ", as far as --quick looks" if report.quick else ""
    say(f"workspace of {report.tenant}: {said}{looked}", "good" if report.holds else "bad")
    for part in report.parts:
        say(f"{part.name}: {visible(part.looked_at)}", "good" if part.holds else "bad", under=True)
        for finding in part.findings:
            say(f"  - {visible(finding)}", under=True)
    notes = [note for part in report.parts for note in part.notes]
    if notes:
        say("Worth a look:", "unknown")
        for note in notes:
            say(f"- {visible(note)}", under=True)
    say("What was not looked at:")
    for left in report.not_looked_at:
        say(f"- {visible(left)}", under=True)


def _say_what_it_states(statement: "Statement") -> None:
    """Say in a few lines what a statement that holds is about."""
    from evidentia.cli.output import say, show, visible
    from evidentia.kinds import kind_of

    kind = kind_of(statement)
    if kind is None:
        say(f"What it states: {visible(statement.predicate_type)}")
    else:
        show(kind.tell(kind.parse(statement)))
