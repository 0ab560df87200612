"""What a stranger calls: one function for whatever leaves the product."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.errors import InputError, NotFoundError, ProofError
from evidentia.export.html.pages import is_html
from evidentia.kinds import verify_evidence, verify_html, verify_pdf
from evidentia.proof.document import MAX_PROOF_BYTES
from evidentia.proof.files import MAX_KEY_BYTES, read_bytes, read_key
from evidentia.proof.foreign import foreign
from evidentia.proof.keys import TrustedKey
from evidentia.proof.publication import About, Publication, log_check, verify_publication
from evidentia.proof.rotation import Announcement
from evidentia.proof.standing import Known, known_by_proof, with_known
from evidentia.proof.succession import PACK_KINDS
from evidentia.proof.verification import Check, ProofReport
from evidentia.proof.witnessed import Demand
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.note import MAX_NOTE_BYTES, VerifierKey
from evidentia.trail.publication import CHECKPOINT
from evidentia.trail.witness import WitnessKey

if TYPE_CHECKING:
    from evidentia.workspace import Workspace

MAX_PDF_BYTES = 2 * MAX_PROOF_BYTES
"""Room for the largest evidence, packed, and for its pages."""

Key = str | Path | VerifierKey | TrustedKey
Progress = Callable[[int, int], None]
"""Is told how many entries of a log are done, and of how many."""


def verify(
    evidence: str | Path | bytes,
    *,
    key: Key | Sequence[Key] | None = None,
    since: str | Path | None = None,
    witnesses: Sequence[str | WitnessKey] = (),
    quorum: int | None = None,
    log: str | Path | None = None,
    later: str | Path | bytes | None = None,
    workspace: "Workspace | str | Path | None" = None,
    progress: Progress | None = None,
) -> ProofReport:
    """Verify a proof, a pack, a PDF or an HTML page from its file or bytes, or a published log.

    `key` is a public key, its text (`name+id+base64`, PEM or hexadecimal) or a file with it, or
    several of them. A PDF is verified by the evidence in it, and its pages by making them again
    (the extra `pdf`). A published log is a folder or an `http(s)` URL (the extra `witness`), and
    is checked whole; `since` is a checkpoint of it that was kept, or a file with it.

    `witnesses` are keys of witnesses, `quorum` how many of them must have cosigned [all]. `log`
    (a published log), `later` (the proof of a later entry) and `workspace` (or its folder) tell of
    evidence whether it was superseded, and whether the key that signed it was retired.
    """
    keys = [] if key is None else [read_key(one) for one in _each(key)]
    demand = Demand.of(tuple(map(_witness, witnesses)), quorum)
    tell = progress or (lambda _done, _total: None)
    if not isinstance(evidence, bytes) and _is_log(evidence):
        _refuse_beside_log(log=log, later=later, workspace=workspace)
        kept = None if since is None else _checkpoint(since)
        return _published(evidence, keys, kept, demand, None, tell).report
    if since is not None:
        raise InputError("a checkpoint that was kept (since) is compared with a published log")
    report = _verify_file(evidence, keys)
    if demand is not None and report.checkpoint is not None:
        check = demand.check(read_checkpoint(report.checkpoint)[1])
        report = replace(report, checks=(*report.checks, check))
    if later is not None:
        named = "the later proof" if isinstance(later, bytes) else str(later)
        known = known_by_proof(report, _verify_file(later, keys), named)
        report = with_known(report, keys, known)
    if log is not None:
        report = _with_log(report, log, keys, tell)
    if workspace is not None:
        report = _with_workspace(report, workspace, keys)
    return report


def _verify_file(evidence: str | Path | bytes, keys: list[TrustedKey]) -> ProofReport:
    if isinstance(evidence, bytes):
        data, called_pdf = evidence, False
    else:
        called_pdf = str(evidence).lower().endswith(".pdf")
        larger = called_pdf or str(evidence).lower().endswith((".html", ".htm"))
        data = read_bytes(evidence, MAX_PDF_BYTES if larger else MAX_PROOF_BYTES)
    if called_pdf or data.startswith(b"%PDF-"):
        return verify_pdf(data, keys)
    if is_html(data):
        return verify_html(data, keys)
    if (says := foreign(data)) is not None:
        return ProofReport((Check("format", holds=False, says=says),))
    return verify_evidence(data, keys)


# Published logs


def _is_log(evidence: str | Path) -> bool:
    from evidentia.loading.web import is_url  # noqa: PLC0415 - files need none of it

    return (isinstance(evidence, str) and is_url(evidence)) or Path(evidence).is_dir()


def _refuse_beside_log(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} goes with a file of evidence, not with a published log")


def _published(  # noqa: PLR0917 - what `verify` was given, in its order
    place: str | Path,
    keys: list[TrustedKey],
    since: str | None,
    demand: Demand | None,
    about: About | None,
    progress: Progress,
) -> Publication:
    from evidentia.loading.published import published_files  # noqa: PLC0415 - the same

    with published_files(place) as fetch:
        if fetch(CHECKPOINT, MAX_NOTE_BYTES) is None:
            raise NotFoundError(
                f"{place}: there is no published log here, which has a file 'checkpoint'; of a "
                "workspace, verify what 'evidentia trail publish DIR' writes, or the workspace "
                "itself with 'evidentia trail verify'"
            )
        return verify_publication(
            fetch, keys, since=since, demand=demand, about=about, progress=progress
        )


def _with_log(
    report: ProofReport, place: str | Path, keys: list[TrustedKey], progress: Progress
) -> ProofReport:
    """Return a report with what a published log tells of the evidence."""
    if report.entry is None or report.checkpoint is None:
        return report
    about = About(report.entry.seq, read_checkpoint(report.checkpoint)[0].size)
    found = _published(place, keys, None, None, about, progress)
    check = log_check(found, report, about, leaf_hash(report.entry.encode()))
    return with_known(
        report,
        keys,
        Known(
            check,
            found.announcements,
            found.successions,
            found.audit.size,
            found.unread,
            found.revocations,
        ),
    )


# Workspaces


def _with_workspace(
    report: ProofReport, workspace: "Workspace | str | Path", keys: list[TrustedKey]
) -> ProofReport:
    """Return a report with what a workspace tells of the evidence."""
    from evidentia.workspace import open_workspace  # noqa: PLC0415 - files need none of it

    if report.entry is None:
        return report
    if isinstance(workspace, str | Path):
        tenant = report.entry.tenant
        with open_workspace(workspace, tenant=tenant, read_only=True) as opened:
            return _with_workspace(report, opened, keys)
    entry = report.entry
    size = workspace.trail.size
    entries = f"the workspace's log of {size:,} entries"
    try:
        there = workspace.trail.entry(entry.seq).entry
    except NotFoundError:
        there = None
    if there != entry:
        says = f"{entries} has another entry {entry.seq}, or none: it is another log, or rewritten"
        return with_known(report, keys, Known(Check("workspace", holds=False, says=says)))
    announced = [
        Announcement(one.since, one.key.key_id)
        for one in workspace.trail.keys()  # noqa: SIM118 - not a mapping's keys
    ]
    check = Check("workspace", holds=True, says=f"{entries} has this entry")
    later = workspace.packs.later(entry.subject) if entry.kind in PACK_KINDS else ()
    revoked = workspace.trail.revocations()
    return with_known(report, keys, Known(check, announced, later, size, revocations=revoked))


# What is given


def _each(key: Key | Sequence[Key]) -> Sequence[Key]:
    return [key] if isinstance(key, str | Path | VerifierKey | TrustedKey) else key


def _witness(key: str | WitnessKey) -> WitnessKey:
    """Return a witness's key, from its text or from a file."""
    if isinstance(key, WitnessKey):
        return key
    try:
        return WitnessKey.parse(key)
    except InputError as error:
        try:
            text = read_bytes(key, MAX_KEY_BYTES).decode(errors="replace")
        except (NotFoundError, InputError):
            raise InputError(f"{error}; and there is no file of that name") from None
        return WitnessKey.parse(text)


def _checkpoint(given: str | Path) -> str:
    """Return a checkpoint that was kept, from its text or from a file."""
    if isinstance(given, str) and "\n" in given:
        text, name = given, "the checkpoint that was kept"
    else:
        text, name = read_bytes(given, MAX_NOTE_BYTES).decode(errors="replace"), str(given)
    try:
        read_checkpoint(text)
    except ProofError as error:
        raise InputError(f"{name}: {error}") from None
    return text
