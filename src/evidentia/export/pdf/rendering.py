"""Rendering: evidence in, a PDF out. Nothing is printed that the evidence does not hold."""

from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.export.pdf import ledger_pages, pack_pages
from evidentia.export.pdf.provenance import EVIDENCE, RENDERING, attached, provenance
from evidentia.export.pdf.typesetting import template_digest, typeset, typst_version
from evidentia.ledger import session as ledgers
from evidentia.ledger.session import LedgerSession
from evidentia.packs import statement as packs
from evidentia.packs.verification import with_pack_checks
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import Statement
from evidentia.proof.verification import verify_proof

Language = Literal["ar", "en", "both"]
Typeface = Literal["plex", "amiri"]
FORMAT: Final = "evidentia/pdf"
FORMAT_VERSION: Final = 1
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


def render(evidence: bytes, *, lang: Language = "both", typeface: Typeface = "plex") -> bytes:
    """Return the PDF of an exported pack or a ledger's proof, which is embedded in it.

    The same evidence, language and typeface give the same bytes. Raises `InputError` in one line if
    the evidence is neither, or contradicts itself; whether it is signed by a key that anyone
    trusts is not asked.
    """
    if lang not in get_args(Language):
        raise InputError(f"a PDF is in ar, en or both, not {lang!r}")
    if typeface not in get_args(Typeface):
        raise InputError(f"a PDF is set in plex or amiri, not {typeface!r}")
    proof, envelope, statement = _read(evidence)
    rendering = rendering_bytes(lang, typeface)
    template, data = _pages(proof, statement)
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


def _read(evidence: bytes) -> tuple[Proof, Envelope, Statement]:
    """Take evidence apart; raise `InputError` unless it is consistent in itself."""
    report = with_pack_checks(evidence, verify_proof(evidence))
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


def _pages(proof: Proof, statement: Statement) -> tuple[str, dict[str, Any]]:
    """Return the template that a statement is printed by, and its data."""
    match statement.predicate_type:
        case packs.PREDICATE_TYPE:
            held = {name for name, _ in proof.attachments}
            return "pack", pack_pages.pages(packs.from_statement(statement), held)
        case ledgers.PREDICATE_TYPE:
            return "ledger", ledger_pages.pages(LedgerSession.from_statement(statement))
    raise InputError(
        f"no PDF can be made of this evidence: {statement.predicate_type[:80]!r} is neither a pack "
        "nor a ledger"
    )


def _recorded(at: str) -> datetime:
    """Return the time of an entry; one that no calendar has is as good as none."""
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return _EPOCH
