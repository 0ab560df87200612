"""`evidentia verify`: what a stranger runs with a file in hand, and an owner without one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from evidentia.proof.statement import Statement
    from evidentia.proof.verification import ProofReport
    from evidentia.workspace.auditing import WorkspaceAudit


def verify(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|DIR|URL",
            help="The proof, the pack, the PDF, the HTML page; or a published log: folder or URL. "
            "None is the whole workspace.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The public key you trust: its text (name+id+base64, PEM, hexadecimal) or a "
            "file; several may be given.",
        ),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of a published log or the workspace: a checkpoint that you kept, which it must "
            "continue.",
        ),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="A witness whose cosignature counts: its key (name+id+base64) or a file; several "
            "may be given.",
        ),
    ] = None,
    quorum: Annotated[
        int | None,
        typer.Option(metavar="K", help="How many of the witnesses must have cosigned [all]."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|URL",
            help="The published log of the file: was it superseded, was its key retired?",
        ),
    ] = None,
    later: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same, by the proof of a later entry of its log."),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The same, by the workspace that the file comes from."),
    ] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR|URL",
            help="Of the workspace: a published copy of its log, to be compared with it; several "
            "may be given.",
        ),
    ] = None,
    signatures: Annotated[
        bool,
        typer.Option(
            "--signatures",
            help="Of the workspace: verify every checkpoint's signature, however many there are.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Of the workspace: look at tails and heads alone."),
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page that verifies files in any browser, without a network, and stop.",
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a file offline, from the file alone; a published log; or the whole workspace.

    Of a proof, an exported pack, a PDF or an HTML page, says what holds (content, place in the log,
    signature, attachments, and that a PDF's pages, or what an HTML page shows, are what the
    evidence in it gives) and what it cannot show. A published log is checked whole: every entry,
    tile and link, the root and its signature. Without --key the best answer is "consistent, signer
    unknown", with exit code 1.

    Without a file, compares everything that the workspace keeps with what its trail says, both
    ways: the database's own check, indexes against tables, the log, documents and passages,
    ledgers, bundles, packs, and the lake's files; and published copies of the log, where they are
    named. Says what was looked at and what was not, which keys were trusted and why: those of
    --key, else those that the home folder has or has kept a checkpoint of. Nothing is written, so
    it works on a read-only copy.
    """
    from evidentia.errors import InputError

    if page is not None:
        if file is not None:
            raise InputError("--page writes a page and verifies nothing: leave FILE out")
        _write_page(page, as_json=as_json)
        return
    if file is None:
        if witness or quorum is not None or log or later or workspace:
            raise InputError(
                "--witness, --quorum, --log, --later and --workspace are for a file: name the "
                "file, or leave them out"
            )
        _verify_workspace(
            home,
            tenant,
            since,
            key or [],
            published or [],
            signatures=signatures,
            quick=quick,
            as_json=as_json,
        )
        return
    if quick or published or signatures:
        raise InputError(
            "--quick, --published and --signatures are for a workspace: leave them out, or the file"
        )
    from evidentia.cli.output import counting_bar, print_json
    from evidentia.verifying import verify as verify_file

    with counting_bar("Verifying") as progress:
        report = verify_file(
            file,
            key=key,
            since=since,
            witnesses=witness or (),
            quorum=quorum,
            log=log,
            later=later,
            workspace=workspace,
            progress=progress,
        )
    if as_json:
        print_json(report.as_json())
    else:
        _say(file, report)
    raise typer.Exit(0 if report.holds else 1)


def _write_page(target: Path, *, as_json: bool) -> None:
    """Write the page that verifies files in a browser."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.export.html.pages import saved_page
    from evidentia.store.files import check_writable, write_durably

    check_writable(target, overwrite=False)
    data = saved_page()
    write_durably(target, data, mode=0o644)
    if as_json:
        print_json({"file": str(target), "bytes": len(data)})
        return
    say(
        f"The page is in {visible(str(target))}. Open it in a browser, and drop a file on it.",
        "good",
    )
    say("It needs no network and sends nothing. Enter the public key that you trust there.")


def _say(file: str, report: "ProofReport") -> None:
    """Say what was found, for a person."""
    from evidentia.cli.output import Mark, say, say_fingerprint, visible
    from evidentia.proof.verification import RENDERING, Verdict

    marks: dict[bool | None, Mark] = {True: "good", False: "bad", None: "unknown"}
    verdicts: dict[Verdict, Mark] = {Verdict.HOLDS: "good", Verdict.DOES_NOT_HOLD: "bad"}
    say(f"{visible(file)}: {report.verdict.value}", verdicts.get(report.verdict, "unknown"))
    if report.superseded is not None:
        say(visible(report.superseded), "unknown")
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
        say(f"What this {'file' if report.entry else 'log'} cannot show:")
        for limit in report.cannot_know:
            say(f"- {limit}", under=True)


def _verify_workspace(
    home: Path | None,
    tenant: str | None,
    since: Path | None,
    keys: list[str],
    published: list[str],
    *,
    signatures: bool,
    quick: bool,
    as_json: bool,
) -> None:
    from evidentia.cli.output import counting_bar, print_json
    from evidentia.cli.trail import read_since

    outside = None if since is None else read_since(since)
    with (
        workspace(home, tenant, read_only=True) as opened,
        counting_bar("Verifying") as bar,
    ):
        report = opened.audit(
            quick=quick,
            since=outside,
            keys=keys,
            published=published,
            signatures=signatures,
            progress=lambda _, done, total: bar(done, total),
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
