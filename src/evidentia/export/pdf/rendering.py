"""Rendering: evidence in, a PDF out. Nothing is printed that the evidence does not hold."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.export.pdf.provenance import EVIDENCE, RENDERING, attached, provenance
from evidentia.export.pdf.typesetting import template_digest, typeset, typst_version
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import Statement
from evidentia.proof.verification import ProofReport

Language = Literal["ar", "en", "both"]
Typeface = Literal["plex", "amiri"]
Verify = Callable[[bytes], ProofReport]
"""Verifies evidence, with what is to be looked at in its kind, by no key."""
Printed = Callable[[Proof, Statement], tuple[str, dict[str, Any]]]
"""Gives the template that a statement is printed by, and its data; raises `InputError` if none."""
FORMAT: Final = "evidentia/pdf"
FORMAT_VERSION: Final = 1
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


def render(
    evidence: bytes, *, verify: Verify, printed: Printed, lang: Language, typeface: Typeface
) -> bytes:
    """Return the PDF of evidence, which is embedded in it; `kinds.render` says what of.

    `verify` looks at the evidence, `printed` gives the template and the data of its pages.
    """
    if lang not in get_args(Language):
        raise InputError(f"a PDF is in ar, en or both, not {lang!r}")
    if typeface not in get_args(Typeface):
        raise InputError(f"a PDF is set in plex or amiri, not {typeface!r}")
    proof, envelope, statement = _read(evidence, verify)
    rendering = rendering_bytes(lang, typeface)
    template, data = printed(proof, statement)
    data |= {
        "lang": lang,
        "typeface": typeface,
        "attachments": attached(),
        "provenance": provenance(proof, envelope, evidence, rendering),
    }
    attachments = {EVIDENCE: evidence, RENDERING: rendering}
    return typeset(template, data, attachments, at=_recorded(proof.entry.at))


def rendering_bytes(lang: str, typeface: str) -> bytes:
    """Return what says how pages are made here: language, typeface, Typst, template."""
    return canonical_json(
        {
            "format": FORMAT,
            "v": FORMAT_VERSION,
            "lang": lang,
            "typeface": typeface,
            "typst": typst_version(),
            "template": template_digest(),
        }
    )


def _read(evidence: bytes, verify: Verify) -> tuple[Proof, Envelope, Statement]:
    """Take evidence apart; raise `InputError` unless it is consistent in itself."""
    report = verify(evidence)
    for check in report.checks:
        if check.holds is False:
            raise InputError(f"no PDF can be made of this evidence: {check.says}")
    proof = Proof.parse(evidence)
    if proof.envelope is None or report.statement is None:
        raise InputError(
            "no PDF can be made of this evidence: it has no signed pack or ledger in it; export "
            "a pack, or prove a ledger"
        )
    return proof, proof.envelope, report.statement


def _recorded(at: str) -> datetime:
    """Return the time of an entry; one that no calendar has is as good as none."""
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return _EPOCH
