"""`evidentia trail witness`: who cosigns a log's checkpoints."""

from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidentia.workspace import Workspace
    from evidentia.workspace.witnessing import WitnessAnswer

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

TimeoutOption = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.1, max=600, help="How long each witness may take."),
]


@app.command()
def add(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="Where the witness is; add-checkpoint is put behind."),
    ],
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="Its public key, name+id+base64, as it publishes it."),
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a witness that this log's checkpoints are sent to (C2SP tlog-witness).

    Nothing is sent yet: 'trail witness send' does, and 'trail checkpoint' and 'trail publish' do
    so from now on. The witness must have been told of the log, by its origin and public key.
    """
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant) as opened:
        added = opened.trail.add_witness(url, key)
        log_key = opened.trail.public_key()
    if as_json:
        print_json({"url": added.url, "name": added.name, "log_key": str(log_key)})
        return
    say(f"{visible(added.name)} at {visible(added.url)} is a witness. Its operator needs:", "good")
    say(f"origin: {log_key.name}", under=True)
    say(f"key: {log_key}", under=True)


@app.command("list")
def list_(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """List the witnesses, and how much of the log each has cosigned."""
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.trail.witnesses()
    if as_json:
        listed = [
            {"name": one.name, "url": one.url, "key": one.key, "size": one.size} for one in found
        ]
        print_json({"witnesses": listed})
    elif found:
        rows = [(one.name, one.url, one.verifier.key_id, one.size) for one in found]
        print_table(("Witness", "URL", "Key", "Cosigned"), rows, right=("Cosigned",))
    else:
        say("There are no witnesses yet; 'evidentia trail witness add URL KEY' adds one.")


@app.command()
def remove(
    witness: Annotated[
        str, typer.Argument(metavar="WITNESS", help="Its name, its URL or its key.")
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send nothing to a witness any more; what it cosigned stays."""
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant) as opened:
        gone = opened.trail.remove_witness(witness)
    if as_json:
        print_json({"removed": gone.name, "url": gone.url})
    else:
        say(f"{visible(gone.name)} is no witness any more.", "good")


@app.command()
def send(
    timeout: TimeoutOption = 10.0,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign the log as it is now, and have the witnesses cosign it.

    Exit code 1 if one of them did not. What they cosign is kept, and is in proofs, exports and
    publications of the log as it is.
    """
    from evidentia.cli.output import print_json
    from evidentia.errors import InputError

    with workspace(home, tenant) as opened:
        if not opened.trail.witnesses():
            raise InputError(
                "there are no witnesses: add one with 'evidentia trail witness add URL KEY'"
            )
        answers = opened.trail.send_to_witnesses(timeout=timeout)
    if as_json:
        print_json({"witnesses": [one.as_json() for one in answers]})
    else:
        say_answers(answers)
    raise typer.Exit(0 if all(one.cosigned for one in answers) else 1)


def send_if_any(opened: "Workspace") -> "list[WitnessAnswer]":
    """Send a checkpoint to the witnesses, if there are any; say on the side what came of it."""
    answers = opened.trail.send_to_witnesses() if opened.trail.witnesses() else []
    say_answers(answers, aside=True)
    return answers


def say_answers(answers: "Sequence[WitnessAnswer]", *, aside: bool = False) -> None:
    """Say of each witness whether it cosigned."""
    from evidentia.cli.output import say, visible
    from evidentia.language.counting import counted

    for one in answers:
        if one.cosigned:
            entries = counted(one.size, "entry", "entries")
            say(f"{visible(one.name)} cosigned {entries} at {one.at}", "good", aside=aside)
        else:
            say(visible(one.problem), "bad" if one.alarming else "unknown", aside=aside)
