"""`evidentia pack`: the packs of weighty decisions, from making one to removing it in time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from evidentia.cli.exporting import (
    ForceOption,
    HtmlOption,
    LangOption,
    TypefaceOption,
    export_each,
    refuse_pdf,
    refuse_two_forms,
    rendering,
    say_exported,
)
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evidentia.packs.model import EvidencePack
    from evidentia.packs.tools import ToolVerificationLedger
    from evidentia.store.sql.log import Receipt
    from evidentia.workspace import Workspace

    M = TypeVar("M", bound=BaseModel)

app = typer.Typer(rich_markup_mode=None)

PackArgument = Annotated[
    str,
    typer.Argument(
        metavar="PACK",
        help="The pack's id, a decision's id (its newest version), latest, or latest~1 (the "
        "one before).",
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="USER",
        help="Act as this user, with the roles they have [the workspace's owner].",
    ),
]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is recorded.")]


Outcome = Literal["approved", "rejected"]
"""What a review ends in."""


PackFormat = Literal["json", "pdf", "html"]
"""How a pack is written for others."""


RoleName = Literal["viewer", "approver", "admin", "auditor"]
"""What a user can be."""


def _opened(
    home: Path | None,
    tenant: str | None,
    user: str | None,
    *,
    create: bool = False,
    read_only: bool = False,
) -> "Workspace":
    found = workspace(home, tenant, create=create, read_only=read_only)
    return found if user is None else found.acting_as(user)


@app.command()
def new(
    decision: Annotated[
        Path, typer.Argument(metavar="DECISION.json", help="The decision, with its evidence.")
    ],
    memo: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The memo in both languages [a draft by templates]."),
    ] = None,
    calls: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Tool calls that are not recorded yet: a JSON list."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="LEDGER",
            help="The ledger of the answer it rests on: its id, latest, or latest~1.",
        ),
    ] = None,
    bundle: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BUNDLE", help="A bundle that the model saw: its id, latest, or latest~1."
        ),
    ] = None,
    attach: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A file that belongs to it.")
    ] = None,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the pack of a decision: assembled, sealed, signed and recorded in the trail.

    The file holds a decision as JSON: decision_id, entity_id, tenant_id, agent_name, model,
    approval_class, reversibility_class, sensitivity_class, confidence, and its evidence. Every
    tool call that is recorded for the decision comes along, failures too.
    """
    from evidentia.cli.output import print_json
    from evidentia.cli.pack_view import say_pack
    from evidentia.packs.decision import DecisionOutput
    from evidentia.packs.memo import BilingualMemo

    decided = _read(decision, DecisionOutput, "decision")
    written = None if memo is None else _read(memo, BilingualMemo, "memo")
    recorded = None if calls is None else _tool_ledger(calls, decided.decision_id)
    files = _by_name(attach)
    with _opened(home, tenant, user, create=True) as opened:
        pack = opened.assemble(
            decided,
            memo=written,
            ledger=ledger,
            bundles=bundle or (),
            attachments=files,
            tool_ledger=recorded,
        )
    if as_json:
        print_json({"pack_id": pack.pack_id, "resolved": pack.is_resolved, "pack": pack.as_json()})
    else:
        say_pack(pack)


@app.command("list")
def list_(
    before: Annotated[
        int | None, typer.Option(metavar="ENTRY", help="Only packs before this entry.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")
    ] = 20,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Only packs that await a review.")
    ] = False,
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Older versions too.")
    ] = False,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List packs, newest first, page by page."""
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.export.shown import minute

    with _opened(home, tenant, user, read_only=True) as opened:
        found = opened.packs.list(
            before=before, limit=limit + 1, all_versions=all_versions, unresolved=unresolved
        )
        held = opened.packs.held()
    shown, more = found[:limit], len(found) > limit
    older = shown[-1].entry if more else None
    if as_json:
        print_json({"packs": [listed.as_json() for listed in shown], "next_before": older})
        return
    if not shown:
        say(_none(before=before, unresolved=unresolved))
        return
    print_table(
        ("Made", "Pack", "Decision", "Entity", "Version", "State", "Entry"),
        [
            (
                minute(listed.created_at),
                listed.id,
                listed.decision_id,
                listed.entity_id,
                listed.version,
                f"{listed.outcome}{', on hold' if listed.id in held else ''}",
                listed.entry,
            )
            for listed in shown
        ],
        right=("Version", "Entry"),
    )
    if older is not None:
        say(f"Older ones: evidentia pack list --before {older}")


@app.command()
def show(
    pack: PackArgument,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a pack, with its versions: what was decided, on what basis, what was done."""
    from evidentia.cli.output import print_json, say_fingerprint
    from evidentia.cli.pack_view import say_versions, show_pack

    with _opened(home, tenant, user, read_only=True) as opened:
        found = opened.packs.get(pack)
        versions = opened.packs.versions(found.pack_id)
        hold = opened.packs.held().get(found.pack_id)
    if as_json:
        listed = [version.as_json() for version in versions]
        print_json({"pack": found.as_json(), "versions": listed, "on_hold": hold is not None})
        return
    show_pack(found, hold)
    say_fingerprint(next(one.statement_sha256 for one in versions if one.id == found.pack_id))
    say_versions(versions, found.pack_id)


@app.command()
def review(
    pack: PackArgument,
    outcome: Annotated[Outcome, typer.Argument(help="What the review came to.")],
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who reviewed it, where --as does not say it."),
    ] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What the reviewer has to say.")] = "",
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Review a decision: a new version of its pack says who approved or rejected it, and when."""
    with _opened(home, tenant, user) as opened:
        found = opened.packs.review(pack, outcome, reviewer=reviewer, note=note)
    _say_version(found, as_json=as_json)


@app.command()
def revise(
    pack: PackArgument,
    changes: Annotated[
        Path, typer.Argument(metavar="CHANGES.json", help="The fields to change, as an object.")
    ],
    attach: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A file to attach, or to put in place of one so called."),
    ] = None,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace a pack by a new version; the old one stays as it is.

    A review does not carry over: what was reviewed was the old version.
    """
    from evidentia.errors import InputError

    changed = _json(changes)
    if not isinstance(changed, dict):
        raise InputError(f"{changes}: must be a JSON object with the fields to change")
    files = _by_name(attach)
    with _opened(home, tenant, user) as opened:
        found = opened.packs.revise(pack, changed, attachments=files)
    _say_version(found, as_json=as_json)


@app.command("approve-export")
def approve_export(
    pack: PackArgument,
    approval_class: Annotated[
        str, typer.Option("--class", metavar="A1|A2|A3", help="The class of the approval.")
    ] = "A1",
    note: Annotated[str, typer.Option(metavar="TEXT", help="For whom, and why.")] = "",
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Approve that a pack is exported, once; prints the number that the export takes."""
    from evidentia.cli.output import print_json, say

    with _opened(home, tenant, user) as opened:
        entry = opened.packs.approve_export(pack, approval_class=approval_class, note=note)
    if as_json:
        print_json({"approval": entry})
        return
    say("Approved. Export it with:", "good")
    say(f"evidentia pack export {pack} -o FILE --approval {entry}", under=True)


@app.command()
def export(
    packs: Annotated[
        list[str],
        typer.Argument(
            metavar="PACK",
            help="The pack's id, a decision's id (its newest version), latest, or latest~1; or "
            "several.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to write it; of several, name a folder."
        ),
    ],
    output_format: Annotated[
        PackFormat | None, typer.Option("--format", help="The form to write it in [json].")
    ] = None,
    html: HtmlOption = False,
    lang: LangOption = None,
    typeface: TypefaceOption = None,
    approval: Annotated[
        int | None,
        typer.Option(
            metavar="ENTRY", help="The approval to use [the owner's own, by exporting it]."
        ),
    ] = None,
    attachments: Annotated[
        bool, typer.Option(help="Put the attached files into it; else only their digests.")
    ] = True,
    force: ForceOption = False,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export a pack as one file that proves itself: JSON, PDF or HTML. The trail records it.

    A version that was superseded says so, in the file too. Whoever has the file and your public
    key ('evidentia keys show') verifies it offline with 'evidentia verify FILE --key KEY'.
    """
    from evidentia.cli.output import say, visible
    from evidentia.errors import InputError
    from evidentia.proof.succession import superseded
    from evidentia.store.files import check_name

    refuse_two_forms(output_format, html=html)
    form = "html" if html else output_format or "json"
    how = rendering(lang, typeface, pdf=form == "pdf")
    if form == "json":
        refuse_pdf(output)
    if approval is not None and len(packs) > 1:
        raise InputError("an approval is for one export of one pack: export them one by one")
    with _opened(home, tenant, user) as opened:

        def write(one: str, file: Path) -> Path:
            return opened.packs.export(
                one,
                file,
                approval=approval,
                attachments=attachments,
                overwrite=force,
                form=form,
                **how,
            )

        check_name(output)
        into_folder = len(packs) > 1 or output.is_dir()
        names = [opened.packs.find(name).id for name in packs] if into_folder else packs
        newer = {name: opened.packs.later(name) for name in names}
        for name, later in newer.items():
            if (says := superseded(later)) is not None:
                say(f"{visible(name)} is {visible(says)}", "unknown", aside=True)
        files = export_each(names, output, f".{form}", write, force=force)
        key = opened.trail.public_key()
    old = {name: [one.as_json() for one in later] for name, later in newer.items() if later}
    say_exported("pack", "packs", files, str(key), as_json=as_json, superseded=old)


@app.command()
def hold(
    pack: PackArgument,
    reason: ReasonOption,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a pack on legal hold: no sweep removes it, however old it is."""
    _retain("hold", pack, reason, (home, tenant, user), as_json=as_json)


@app.command()
def release(
    pack: PackArgument,
    reason: ReasonOption,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """End the legal hold of a pack."""
    _retain("release", pack, reason, (home, tenant, user), as_json=as_json)


@app.command()
def audit(
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find decisions whose mandatory pack is missing, and packs that are not as they were sealed.

    Exit code 1 if there are any. Packs that await a review are listed too, tool calls that were
    recorded for a decision after its pack was sealed, and those that are not recorded at all.
    """
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import counted

    opened = _opened(home, tenant, user, read_only=True)
    with opened, counting_bar("Auditing") as progress:
        found = opened.packs.audit(progress=progress)
    if as_json:
        print_json({"holds": found.holds, **found.as_json()})
        raise typer.Exit(0 if found.holds else 1)
    packs, decisions = counted(found.packs, "pack"), counted(found.decisions, "decision")
    say(f"{packs} of {decisions} looked at", "good" if found.holds else "bad")
    for decision in found.missing:
        say(f"{visible(decision)}: a pack is mandatory, and there is none", "bad", under=True)
    for problem in found.problems:
        say(visible(problem), "bad", under=True)
    for pack in found.unresolved:
        say(f"{pack} awaits a review", "unknown", under=True)
    for call in (*found.late_calls, *found.missing_calls):
        say(visible(call), "unknown", under=True)
    raise typer.Exit(0 if found.holds else 1)


@app.command()
def retention(
    years: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1_000, help="Keep packs for so many years."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="A policy by name: default, saudi-financial.")
    ] = None,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show for how long packs are kept, or set it."""
    from evidentia.cli.output import print_json, say
    from evidentia.errors import InputError
    from evidentia.language.counting import counted
    from evidentia.packs.retention import RETENTION_PRESETS, RetentionPolicy

    if preset is not None and preset not in RETENTION_PRESETS:
        raise InputError(f"there is no policy {preset!r}: use {', '.join(RETENTION_PRESETS)}")
    policy = RETENTION_PRESETS[preset] if preset else None
    if years is not None:
        policy = RetentionPolicy(years=years, basis=policy.basis if policy else "as set")
    with _opened(home, tenant, user, read_only=policy is None) as opened:
        if policy is not None:
            opened.packs.set_retention(policy)
        policy = opened.packs.retention()
    if as_json:
        print_json(policy.model_dump(mode="json"))
    else:
        say(f"Packs are kept for {counted(policy.years, 'year')}: {policy.basis}.")


@app.command()
def lock(
    mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="From now on: governance, or compliance."),
    ] = None,
    accept_no_erasure: Annotated[
        bool,
        typer.Option(
            "--accept-no-erasure",
            help="With compliance: no one can erase a pack before its time, not even by law.",
        ),
    ] = False,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lock packs' files in a bucket with Object Lock as the trail says, or choose how.

    Sealing, holds and releases do so by themselves. This is for what they left out, as an audit
    names it: after a crash, a longer retention, or another mode.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.language.counting import counted

    with _opened(home, tenant, user) as opened:
        if mode is not None:
            opened.packs.set_lock_mode(mode, accept_no_erasure=accept_no_erasure)
        done, mode = opened.packs.lock(), opened.packs.lock_mode()
    if as_json:
        print_json({"mode": mode, "locked": done})
    else:
        say(f"{counted(len(done), 'file')} locked anew, in {mode} mode", "good")


@app.command()
def sweep(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove packs whose retention has ended; what is on legal hold stays.

    The trail says what was removed, when and why, and keeps proving that it was there.
    """
    from dataclasses import asdict

    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import counted

    opened = _opened(home, tenant, user, read_only=dry_run)
    with opened, counting_bar("Sweeping") as progress:
        swept = opened.packs.sweep(dry_run=dry_run, progress=progress)
        held = opened.packs.held()
    if as_json:
        found = {"packs": [asdict(one) for one in swept], "on_hold": sorted(held)}
        print_json({"dry_run": dry_run, **found})
        return
    done = "would be removed" if dry_run else "removed"
    say(f"{counted(len(swept), 'pack')} {done}", "good")
    for one in swept:
        entry = "" if one.erasure is None else f"; entry {one.erasure} says so"
        say(f"{one.pack_id}: kept until {one.kept_until}{entry}", under=True)
    for pack_id, hold in held.items():
        said = f"{pack_id} stays: on legal hold since {hold.at} by {hold.actor}: {hold.reason}"
        say(visible(said), "unknown", under=True)


@app.command()
def grant(
    name: Annotated[str, typer.Argument(metavar="USER", help="Who is given the role.")],
    role: Annotated[RoleName, typer.Argument(help="Which role.")],
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Until when; an auditor's role must expire."),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the role away.")] = False,
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a user a role in the tenant, or take it away.

    A viewer reads packs; an approver also makes, revises, reviews and exports them, and approves
    exports; an admin may do everything; an auditor reads and audits until a given time.
    """
    with _opened(home, tenant, user, create=True) as opened:
        if revoke:
            receipt = opened.access.revoke(name, role)
        else:
            receipt = opened.access.grant(name, role, expires_at=expires)
    done = "is no longer" if revoke else "is"
    _say_entry(receipt, f"{name} {done} {role}", as_json=as_json)


@app.command()
def roles(
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List who has which role in the tenant, and until when."""
    from evidentia.cli.output import print_json, print_table, say

    with _opened(home, tenant, user, read_only=True) as opened:
        found = opened.access.grants()
    if as_json:
        print_json({"grants": [one.model_dump(mode="json") for one in found]})
        return
    if not found:
        say("No one has a role yet; 'evidentia pack grant USER ROLE' gives one.")
        return
    print_table(
        ("User", "Role", "Since", "Until", "Given by"),
        [
            (one.user, one.role.value, one.granted_at, one.expires_at or "", one.granted_by)
            for one in found
        ],
    )


@app.command()
def own(
    name: Annotated[str, typer.Argument(metavar="USER", help="Whose the agent is.")],
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")],
    user: UserOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record that an agent is a user's own: they may not review its conflicted decisions."""
    with _opened(home, tenant, user, create=True) as opened:
        receipt = opened.access.own_agent(name, agent)
    _say_entry(receipt, f"{agent} is {name}'s own", as_json=as_json)


def _retain(
    action: str,
    pack: str,
    reason: str,
    where: tuple[Path | None, str | None, str | None],
    *,
    as_json: bool,
) -> None:
    with _opened(*where) as opened:
        found = opened.packs.find(pack)
        done = opened.packs.hold if action == "hold" else opened.packs.release
        receipt = done(found.id, reason=reason)
    state = "on legal hold" if action == "hold" else "no longer on legal hold"
    said = f"{found.id}, the pack of {found.decision_id}, is {state}"
    _say_entry(receipt, said, as_json=as_json, pack_id=found.id)


def _say_entry(receipt: "Receipt", done: str, *, as_json: bool, **more: str) -> None:
    """Say what was done, and the entry that records it."""
    from evidentia.cli.output import print_json, say, visible

    if as_json:
        print_json({"entry": receipt.seq, **more})
    else:
        say(f"{visible(done)}; entry {receipt.seq} says so", "good")


def _say_version(pack: "EvidencePack", *, as_json: bool) -> None:
    """Say that there is a newer version of a pack."""
    from evidentia.cli.output import print_json
    from evidentia.cli.pack_view import say_pack

    if as_json:
        print_json({"pack_id": pack.pack_id, "version": pack.version, "pack": pack.as_json()})
    else:
        say_pack(pack)


def _none(*, before: int | None, unresolved: bool) -> str:
    """Say that there is nothing to list, and why."""
    if before is not None:
        return f"There are no packs before entry {before}."
    if unresolved:
        return "No pack awaits a review."
    return "There are no packs yet; 'evidentia pack new DECISION.json' makes one."


def _by_name(paths: list[Path] | None) -> dict[str, Path]:
    """Return files by the names that they are attached under; no two may have the same."""
    from evidentia.errors import InputError

    found: dict[str, Path] = {}
    for path in paths or ():
        if path.name in found:
            raise InputError(f"{path} and {found[path.name]} have the same name: rename one")
        found[path.name] = path
    return found


def _json(path: Path) -> Any:
    from evidentia.canonical import parse_json
    from evidentia.errors import CanonicalError, InputError
    from evidentia.proof.files import read_bytes
    from evidentia.workspace.sealing import MAX_PACK_BYTES

    try:
        return parse_json(read_bytes(path, MAX_PACK_BYTES))
    except CanonicalError as error:
        raise InputError(f"{path}: {error}") from None


def _read(path: Path, model: "type[M]", named: str) -> "M":
    return _validated(_json(path), path, model, named)


def _validated(value: Any, path: Path, model: "type[M]", named: str) -> "M":
    """Return a value of a file as the model it is of; raise `InputError` saying what is wrong."""
    from pydantic import ValidationError

    from evidentia.errors import InputError
    from evidentia.frozen import all_problems

    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{path}: {all_problems(error, model, named)}") from None


def _tool_ledger(path: Path, decision_id: str) -> "ToolVerificationLedger":
    from evidentia.errors import InputError
    from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger

    calls = _json(path)
    if not isinstance(calls, list):
        raise InputError(f"{path}: must be a JSON list of tool calls")
    ledger = ToolVerificationLedger()
    for number, call in enumerate(calls, 1):
        ledger.record(decision_id, _validated(call, path, ToolCallRecord, f"call {number}"))
    return ledger
