"""A ledger or a pack as a page that verifies itself, and verifying such a page.

The page is made of the evidence in it and nothing else, and the same evidence gives the same
bytes. So the evidence is verified as any other, and then the page is made of it again: that is the
same file to the last byte, or somebody changed its text, its script or what is around them.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from evidentia.canonical import parse_json
from evidentia.errors import InputError
from evidentia.export.html.pages import (
    FORMAT_VERSION,
    evidence_in,
    exported_page,
    made_by,
    template_digest,
)
from evidentia.packs.verification import FILE, written
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import RENDERING, Check, ProofReport, Verdict

VerifyBy = Callable[[bytes, Iterable[TrustedKey]], ProofReport]
"""Verifies evidence by the keys that a caller trusts."""
WHAT_A_PAGE_CANNOT_SHOW: Final = (
    "whether a printout, a picture or another copy of this page is the same: only this file "
    "proves itself"
)


def render_html(evidence: bytes, *, verify: VerifyBy) -> bytes:
    """Return the page of an exported pack or a ledger's proof, given as canonical JSON.

    Raises `InputError` in one line if the evidence is neither, or contradicts itself.
    """
    report = verify(evidence, ())
    for check in report.checks:
        if check.holds is False:
            raise InputError(f"no page can be made of this evidence: {check.says}")
    if not _is_shown(report):
        raise InputError(
            "no page can be made of this evidence: it has no signed pack or ledger in it; export a "
            "pack, or prove a ledger"
        )
    return exported_page(evidence)


def verify_html(page: bytes, keys: Iterable[TrustedKey], *, verify: VerifyBy) -> ProofReport:
    """Verify a page from its bytes and the public keys that the caller trusts.

    The report is that of the evidence in it, as `verify` gives it, with a check of the page.
    Whatever the bytes are, the answer is a report, never an exception.
    """
    try:
        evidence = evidence_in(page)
    except InputError as error:
        return ProofReport((Check("format", holds=False, says=str(error)),))
    report = verify(evidence, keys)
    if report.entry is not None and not any(check.name == FILE for check in report.checks):
        report = replace(report, checks=(*report.checks, _form(evidence)))
    return replace(
        report,
        checks=(*report.checks, _rendering(page, evidence, report)),
        cannot_know=(*report.cannot_know, WHAT_A_PAGE_CANNOT_SHOW),
    )


def _is_shown(report: ProofReport) -> bool:
    """Whether evidence is of what a page shows."""
    types = ("urn:evidentia:spec:v1:ledger", "urn:evidentia:spec:v1:pack")
    return report.statement is not None and report.statement.predicate_type.startswith(types)


def _form(evidence: bytes) -> Check:
    """Check that the evidence is written in the one form that it has in a page."""
    same = evidence == written(parse_json(evidence))  # what has an entry was read before
    says = "the evidence is unchanged since export" if same else "the evidence was changed"
    return Check(FILE, holds=same, says=says)


def _rendering(page: bytes, evidence: bytes, report: ProofReport) -> Check:
    """Make the page again of its evidence, and compare."""
    if report.verdict is Verdict.DOES_NOT_HOLD:
        says = "another check failed, so the page was not compared with the evidence"
        return Check(RENDERING, holds=None, says=says)
    if not _is_shown(report):
        says = "the evidence is of no pack and no ledger, and pages are made of nothing else"
        return Check(RENDERING, holds=False, says=says)
    if page == exported_page(evidence):
        says = "the page is the one that the evidence gives: made again, the file is the same"
        return Check(RENDERING, holds=True, says=says)
    made = made_by(page)
    if made is not None and made != (FORMAT_VERSION, template_digest()):
        says = (
            f"the page was altered, or made by another version (template {made[1][:12]}; here "
            f"{template_digest()[:12]}): what it shows was not compared; verify with the version "
            "that made it"
        )
        return Check(RENDERING, holds=None, says=says)
    says = "the page's text or script was altered: this is not the page that its evidence gives"
    return Check(RENDERING, holds=False, says=says)
