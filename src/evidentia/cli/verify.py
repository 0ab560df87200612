"""`evidentia verify`: what a stranger runs, with a file and a public key in hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import JsonOption

if TYPE_CHECKING:
    from evidentia.proof.statement import Statement


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The proof, the exported pack, or the PDF.")
    ],
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The public key you trust: its text (name+id+base64, PEM, hexadecimal) or a file.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a proof, an exported pack or a PDF offline, from the file alone.

    Says what holds (content, place in the log, signature, attachments, and that a PDF's pages are
    the ones that the evidence in it gives) and what it cannot show.
    Without --key the best answer is "consistent, signer unknown", with exit code 1.
    """
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


def _say_what_it_states(statement: "Statement") -> None:
    """Say in a few lines what a statement that holds is about."""
    from evidentia.cli.output import say, show, visible
    from evidentia.kinds import kind_of

    kind = kind_of(statement)
    if kind is None:
        say(f"What it states: {visible(statement.predicate_type)}")
    else:
        show(kind.tell(kind.parse(statement)))
