"""`evidentia trail`: append to a log, prove, verify and publish it."""

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli import access_log, trail_reading, witness
from evidentia.cli.options import (
    EntryArgument,
    HomeOption,
    JsonOption,
    TenantOption,
    workspace,
)
from evidentia.errors import EnvironmentProblem, EvidentiaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidentia.cli.records import CheckedRecords
    from evidentia.store.auditing import AuditReport
    from evidentia.store.sql.log import Receipt
    from evidentia.workspace import Workspace

BATCH = 1_000
app = typer.Typer(rich_markup_mode=None)
app.add_typer(
    witness.app, name="witness", help="Witnesses: others who cosign what the log looks like."
)

KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="KEY",
        help="The public key you trust, and no other: its text (name+id+base64, PEM, hexadecimal) "
        "or a file; several may be given.",
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
]


@app.command()
def append(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="NDJSON, one record a line; - is standard input.")
    ],
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Make a retry safe: lines appended before under this key are not appended again.",
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option(
            help="Wait until they are numbered and signed, or take a ticket for each batch once "
            "they are durable."
        ),
    ] = True,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Append evidence records from a file of JSON lines.

    All lines are checked before any is written. A line is a JSON object with obligation_id,
    doc_id, doc_filename, page_number, section_reference, source_clause, extraction_model,
    verification_model, verification_result (CONFIRMED, DISPUTED or UNVERIFIED), confidence (0 to
    1) and amendment_history. The first append makes the workspace and its signing key.

    With --no-wait, 'evidentia trail receipt TICKET' says later where a batch is.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.cli.records import checked_records
    from evidentia.language.counting import counted

    with checked_records(file) as records, workspace(home, tenant, create=True) as opened:
        key = opened.trail.public_key()
        receipts, tickets = _append_batches(opened, records, idempotency_key, wait=wait)
        if not wait:
            _say_tickets(tickets, as_json=as_json)
            return
        note, problem = _newest_checkpoint(opened, has_appended=bool(receipts))
        size = opened.trail.size
    new = [receipt.seq for receipt in receipts if not receipt.repeated]
    if as_json:
        print_json(
            {
                "appended": len(new),
                "repeated": len(receipts) - len(new),
                "entries": [receipt.seq for receipt in receipts],
                "size": size,
                "key_id": key.key_id,
                "checkpoint": note,
            }
        )
        return
    if not receipts:
        say("There was no record to append.")
        return
    if new:
        say(f"{counted(len(new), 'record')} appended: {_span(new)}.", "good")
    if len(new) < len(receipts):
        say(f"{counted(len(receipts) - len(new), 'record')} had been appended before.", "good")
    say(f"The log has {counted(size, 'entry', 'entries')}, signed by key {key.key_id}.", "good")
    _say_not_kept(problem)


def _append_batches(
    opened: "Workspace", records: "CheckedRecords", idempotency_key: str | None, *, wait: bool
) -> "tuple[list[Receipt], list[str]]":
    """Append records batch by batch; whatever ends it, it is said how many are in the log."""
    from evidentia.cli.output import progress_bar, say

    receipts: list[Receipt] = []
    tickets: list[str] = []
    numbered, done = iter(records), 0
    try:
        with progress_bar("Appending", records.count) as progress:
            while batch := list(islice(numbered, BATCH)):
                keys = idempotency_key and [f"{idempotency_key}:{line}" for line, _ in batch]
                given = [record for _, record in batch]
                if wait:
                    receipts += opened.trail.append_many(given, idempotency_keys=keys or None)
                else:
                    tickets.append(
                        opened.trail.append_many(given, idempotency_keys=keys or None, wait=False)
                    )
                done += len(batch)
                progress(done)
    except (EvidentiaError, KeyboardInterrupt):
        if records.count > BATCH:
            say(
                f"stopped: {done:,} of {records.count:,} records are kept, and of the {BATCH:,} "
                "behind them it is not known",
                "bad",
                aside=True,
            )
            goes_on = "the same command goes on where it was"
            said = (
                goes_on if idempotency_key else f"with --idempotency-key from the start, {goes_on}"
            )
            say(said, under=True, aside=True)
        raise
    return receipts, tickets


def _newest_checkpoint(opened: "Workspace", *, has_appended: bool) -> tuple[str | None, str | None]:
    """Return the newest checkpoint, or why it can't be kept: what is appended is, all the same."""
    try:
        return opened.trail.checkpoint(), None
    except EnvironmentProblem as error:
        if not has_appended:
            raise
        return None, str(error)


def _say_not_kept(problem: str | None) -> None:
    from evidentia.cli.output import say

    if problem is not None:
        say(f"The newest checkpoint is not kept beside the database: {problem}", "unknown")


def _say_tickets(tickets: "Sequence[str]", *, as_json: bool) -> None:
    from evidentia.cli.output import print_json, say

    if as_json:
        print_json({"tickets": tickets})
    elif not tickets:
        say("There was no record to append.")
    else:
        say(
            "The records are durable, and will be appended. Ask by a ticket where they are:", "good"
        )
        for ticket in tickets:
            say(f"  evidentia trail receipt {ticket}")


@app.command()
def receipt(
    ticket: Annotated[str, typer.Argument(metavar="TICKET", help="As 'trail append' gave it.")],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where the records are that were appended with --no-wait.

    A ticket is good for 30 days. While they still wait, this command appends them itself if no
    server does: ask again.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.language.counting import counted

    with workspace(home, tenant) as opened:
        receipts = opened.trail.receipts(ticket)
    entries = None if receipts is None else [one.seq for one in receipts]
    if as_json:
        print_json({"ticket": ticket, "waits": entries is None, "entries": entries or []})
    elif entries is None:
        say("They are durable, and wait to be appended: ask again.")
    else:
        say(f"{counted(len(entries), 'record')} appended: {_span(entries)}.", "good")


app.command()(trail_reading.log)
app.command()(trail_reading.show)
app.command("access-log")(access_log.access_log)


@app.command()
def prove(
    entry: EntryArgument,
    output: OutputOption = None,
    body: Annotated[
        bool, typer.Option(help="Put the body into the proof, or only its commitment.")
    ] = True,
    signed_by: Annotated[
        str | None,
        typer.Option(
            metavar="KEY-ID",
            help="Use the last checkpoint that this older key signed, for those who trust it.",
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove that an entry is in the log.

    The proof is one file, which a stranger verifies offline with 'evidentia verify'.
    """
    from evidentia.cli.output import hand_over

    with workspace(home, tenant) as opened:
        proof = opened.trail.prove(entry, disclose=body, signed_by=signed_by).as_json()
        keys = [known.key for known in opened.trail.keys()]  # noqa: SIM118 - not a mapping's keys
    key = next((known for known in keys if known.key_id == signed_by), keys[-1])
    hand_over(proof, f"entry {entry}", str(key), output, as_json=as_json)


@app.command()
def verify(
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Compare with a signed checkpoint that was kept elsewhere, too."
        ),
    ] = None,
    key: KeyOption = None,
    signatures: Annotated[
        bool,
        typer.Option(
            "--signatures", help="Verify every checkpoint's signature, however many there are."
        ),
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the whole log, from the first entry to the last.

    Checks sequence, chain, commitments, tree, checkpoints, keys and schema, and that the log is
    signed to its last entry; it never signs. Also compares the log with the checkpoint kept in the
    home folder, which shows a lost tail, and keeps the newest one there when all holds.

    Says which keys were trusted, and why: those named by --key, else those whose private half is in
    the home folder and those that signed a checkpoint that was kept. Without any of them the best
    answer is "consistent, signer unknown", with exit code 1.
    """
    from evidentia.cli.output import print_json, progress_bar

    outside = read_since(since) if since else None
    with workspace(home, tenant, read_only=True) as opened:
        with progress_bar("Verifying", opened.trail.size, least=10_000) as progress:
            report = opened.trail.audit(
                since=outside, keys=key or (), signatures=signatures, progress=progress
            )
        kept = _keep(opened, report) if report.holds else None
        kept_in = opened.opened.home.checkpoint_file(opened.tenant) if kept else None
    if as_json:
        print_json(report.as_json() | {"kept": str(kept_in) if kept_in else None})
    else:
        _print_audit(report, kept_in)
    raise typer.Exit(0 if report.holds else 1)


@app.command()
def adopt(
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why these entries are to be believed; recorded.")
    ],
    lost: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="How the log's key was lost, if it was: a new one takes its place; recorded.",
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take over entries that an older version left unsigned.

    Nothing is appended to such a log before. The log is verified first, and nothing else may be
    wrong with it. An entry records the range, and 'trail verify' shows it for good. Grants,
    releases and retention among these entries don't count from then on; holds do. Where the log's
    key is lost, too, --lost makes a new one in the same step, as 'keys rotate --lost' does.
    """
    from evidentia.cli.output import print_json, progress_bar, say
    from evidentia.language.counting import ranged

    with (
        workspace(home, tenant) as opened,
        progress_bar("Verifying", opened.trail.size, least=10_000) as progress,
    ):
        receipt = opened.trail.adopt(reason=reason, lost=lost, progress=progress)
        adopted = opened.trail.entry(receipt.seq).body["adopts"]
    first, last = adopted["from"], adopted["size"] - 1
    if as_json:
        print_json({"first": first, "last": last, "recorded_as": receipt.seq})
    else:
        say(
            f"Adopted {ranged(first, last, 'entry', 'entries')}; entry {receipt.seq} says so.",
            "good",
        )


@app.command("accept-loss")
def accept_loss(
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why these entries are lost for good; recorded.")
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a log go on that is shorter than the checkpoint kept of it.

    So it is after restoring a backup, where what came behind it is lost. Nothing is appended to
    such a log before. The log is verified first, and nothing else may be wrong with it. A record
    says how many entries are lost, and why; the checkpoint is put aside, beside where it was.
    Whoever else kept a checkpoint of the lost entries will find that the log has another past:
    tell them.
    """
    from evidentia.cli.output import print_json, progress_bar, say

    with (
        workspace(home, tenant) as opened,
        progress_bar("Verifying", opened.trail.size, least=10_000) as progress,
    ):
        receipt = opened.trail.accept_loss(reason=reason, progress=progress)
    if as_json:
        print_json({"recorded_as": receipt.seq})
    else:
        say(f"The loss is accepted; entry {receipt.seq} says so, and the log goes on.", "good")


app.command()(trail_reading.status)
app.command()(trail_reading.validate)


@app.command()
def checkpoint(
    output: OutputOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the newest signed checkpoint, which covers the whole log.

    Keep it elsewhere: 'trail verify --since' and 'verify --since' compare the log with it.
    Where the log has witnesses, they are asked to cosign it; one that is down is said.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.store.files import write_durably

    with workspace(home, tenant) as opened:
        witness.send_if_any(opened)
        note = opened.trail.checkpoint()
    if output is not None:
        write_durably(output, note.encode())
    if as_json:
        print_json({"checkpoint": note, "file": str(output) if output else None})
    elif output is not None:
        say(f"The checkpoint is in {output}.", "good")
    else:
        say(note.rstrip("\n"))


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the static files go.")],
    versions: Annotated[
        bool,
        typer.Option(
            "--versions",
            help="Publish which version of a pack replaces which, too: the bodies of the entries "
            "about packs and keys.",
        ),
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the log as static files for others to audit.

    The layout is C2SP tlog-tiles, which any web server or bucket serves. Entries are published,
    bodies are not, but for those of --versions. Publishing again adds what is new. Where the log
    has witnesses, they are asked to cosign it; one that is down is said.
    """
    from evidentia.cli.output import print_json, progress_bar, say
    from evidentia.language.counting import counted

    per_file = 128  # a tile and an entry bundle for each 256 entries
    with (
        workspace(home, tenant) as opened,
        progress_bar("Publishing", opened.trail.size // per_file + 1, least=200) as progress,
    ):
        witness.send_if_any(opened)
        done = opened.trail.publish(folder, versions=versions, progress=progress)
    if as_json:
        print_json(
            {"folder": str(folder), "before": done.before, "size": done.size, "files": done.files}
        )
    elif done.files:
        say(
            f"{folder} holds {counted(done.size, 'entry', 'entries')} (before: {done.before}).",
            "good",
        )
    else:
        say(f"{folder} held the log's {counted(done.size, 'entry', 'entries')} already.", "good")


@app.command()
def erase(
    entry: EntryArgument,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why the law asks for it; recorded.")],
    by: Annotated[str, typer.Option(metavar="NAME", help="Who asked for it; recorded.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase an entry's body for good, as the law may ask.

    The entry itself remains, an erasure entry is added, and every proof still holds.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.errors import UsageError

    with workspace(home, tenant) as opened:
        opened.trail.public_key()  # without it nothing could be signed: say so before erasing
        question = f"Erase the body of entry {entry}? It cannot be brought back"
        if not yes and not typer.confirm(question):
            raise UsageError("nothing was erased")
        receipt = opened.trail.erase(entry, reason=reason, by=by)
        _, problem = _newest_checkpoint(opened, has_appended=True)
    if as_json:
        print_json({"erased": entry, "recorded_as": receipt.seq})
        return
    say(f"The body of entry {entry} is erased; entry {receipt.seq} records it.", "good")
    _say_not_kept(problem)


def read_since(file: Path) -> str:
    """Return a checkpoint that was kept in a file; raise `InputError` if it is none."""
    from evidentia.errors import InputError, ProofError
    from evidentia.proof.files import read_bytes
    from evidentia.trail.checkpoint import read_checkpoint
    from evidentia.trail.note import MAX_NOTE_BYTES

    note = read_bytes(file, MAX_NOTE_BYTES).decode(errors="replace")
    try:
        read_checkpoint(note)
    except ProofError as error:
        raise InputError(f"{file}: {error}") from None
    return note


def _keep(opened: "Workspace", report: "AuditReport") -> str | None:
    """Keep a checkpoint of what was found good; a copy that is read-only keeps none."""
    try:
        return opened.trail.keep_checkpoint(report)
    except OSError:
        return None
    except EnvironmentProblem:
        if os.access(opened.opened.home.folder, os.W_OK):
            raise
        return None


def _print_audit(report: "AuditReport", kept_in: Path | None) -> None:
    from evidentia.cli.output import say, visible
    from evidentia.language.counting import agreed, counted

    size, of = counted(report.size, "entry", "entries"), report.origin or "no log"
    if report.holds:
        say(f"{of}: {size}, {agreed(report.size, 'holds', 'all hold')}", "good")
        say("sequence, chain, commitments, tree and schema", "good", under=True)
        say(
            f"signed to the last entry: {counted(report.checkpoints, 'checkpoint')}",
            "good",
            under=True,
        )
    elif not report.findings:
        said = "not judged whole" if report.unknown is None else "consistent, signer unknown"
        say(f"{of}: {size}; {said}", "unknown")
    else:
        say(f"{of}: {size}; the log does not hold", "bad")
        for finding in report.findings:
            say(visible(finding), "bad", under=True)
    for note in (*report.left, *report.notes):
        say(visible(note), "unknown", under=True)
    for one in report.trusted:
        say(f"key {one.key_id} is trusted: {visible(one.reason)}", under=True)
    for name in report.compared_with:
        say(f"compared with the {visible(name)}", "good" if report.holds else None, under=True)
    if not report.compared_with:
        missing = "no checkpoint from outside to compare with: a lost tail would not show"
        say(missing, "unknown", under=True)
    if kept_in is not None:
        say(f"kept a checkpoint of {size} in {kept_in}", under=True)


def _span(numbers: list[int]) -> str:
    from evidentia.language.counting import ranged

    first, last = numbers[0], numbers[-1]
    if last - first == len(numbers) - 1:
        return ranged(first, last, "entry", "entries")
    return f"entries between {first} and {last}"
