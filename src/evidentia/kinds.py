"""The kinds of statements that leave the product: one dict, from predicate type to all about it.

How a statement is parsed, what is checked of it beside its proof, how it is told to a person, and
how its pages are printed. A new kind is one more row: verifying, the command line and PDFs ask
here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import InputError
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.proof.verification import ProofReport, verify_proof

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.export.told import Told
    from evidentia.packs.model import EvidencePack
    from evidentia.proof.keys import TrustedKey


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be done with a statement of one kind; `pages` is None where none are printed.

    `parse` raises `ProofError` for a statement that contradicts itself. `check` adds to the report
    of a proof what is to be looked at in this kind.
    """

    noun: str
    parse: Callable[[Statement], Any]
    tell: Callable[[Any], "Told"]
    check: Callable[[bytes, ProofReport], ProofReport] = lambda _, report: report
    pages: Callable[[Any, Proof], dict[str, Any]] | None = None


def _ledger() -> Kind:
    from evidentia.export.pdf import ledger_pages  # noqa: PLC0415 - each kind loads what it needs
    from evidentia.export.told import ledger_told  # noqa: PLC0415 - the same
    from evidentia.ledger.session import LedgerSession  # noqa: PLC0415 - the same
    from evidentia.ledger.verification import with_ledger_checks  # noqa: PLC0415 - the same

    return Kind(
        "ledger",
        LedgerSession.from_statement,
        ledger_told,
        with_ledger_checks,
        pages=lambda session, _: ledger_pages.pages(session),
    )


def _bundle() -> Kind:
    from evidentia.bundles.statement import from_statement  # noqa: PLC0415 - the same
    from evidentia.export.told import bundle_told  # noqa: PLC0415 - the same

    return Kind("bundle", from_statement, bundle_told)


def _pack() -> Kind:
    from evidentia.export.pdf import pack_pages  # noqa: PLC0415 - the same
    from evidentia.export.told import pack_told  # noqa: PLC0415 - the same
    from evidentia.packs.statement import from_statement  # noqa: PLC0415 - the same
    from evidentia.packs.verification import with_pack_checks  # noqa: PLC0415 - the same
    from evidentia.proof.succession import succession_of  # noqa: PLC0415 - the same

    def pages(pack: "EvidencePack", proof: Proof) -> dict[str, Any]:
        held = {name for name, _ in proof.attachments}
        later = [succession_of(one.entry, one.disclosure.body) for one in proof.later]
        return pack_pages.pages(pack, held, [one for one in later if one is not None])

    return Kind("pack", from_statement, pack_told, with_pack_checks, pages)


KINDS: Final[Mapping[str, Callable[[], Kind]]] = MappingProxyType(
    {
        "urn:evidentia:spec:v1:ledger": _ledger,
        "urn:evidentia:spec:v1:ledger.v2": _ledger,
        "urn:evidentia:spec:v1:ledger.v3": _ledger,
        "urn:evidentia:spec:v1:bundle": _bundle,
        "urn:evidentia:spec:v1:pack": _pack,
        "urn:evidentia:spec:v1:pack.v2": _pack,
    }
)
"""Every kind there is, by the predicate type of its statements; loaded when it is asked for."""


def kind_of(statement: Statement | None) -> Kind | None:
    """Return the kind of a statement; None where it is of none that is known here."""
    make = None if statement is None else KINDS.get(statement.predicate_type)
    return None if make is None else make()


def verify_evidence(data: bytes, keys: "Iterable[TrustedKey]" = ()) -> ProofReport:
    """Verify a proof file, with what is to be looked at in its kind of statement.

    A proof about a corpus is told by its format.
    """
    from evidentia.ledger.membership import (  # noqa: PLC0415 - as above
        is_corpus_proof,
        verify_corpus_proof,
    )

    if is_corpus_proof(data):
        return verify_corpus_proof(data, keys)
    report = verify_proof(data, keys)
    if report.statement is None:
        from evidentia.packs.verification import without_its_pack  # noqa: PLC0415 - the same

        return without_its_pack(report)
    kind = kind_of(report.statement)
    return report if kind is None else kind.check(data, report)


def verify_pdf(pdf: bytes, keys: "Iterable[TrustedKey]" = ()) -> ProofReport:
    """Verify a PDF from its bytes and the public keys that the caller trusts."""
    from evidentia.export.pdf import reading  # noqa: PLC0415 - an extra

    return reading.verify_pdf(pdf, keys, verify=verify_evidence, printed=_printed)


def verify_html(page: bytes, keys: "Iterable[TrustedKey]" = ()) -> ProofReport:
    """Verify an HTML page from its bytes and the public keys that the caller trusts."""
    from evidentia.export.html import verification  # noqa: PLC0415 - each kind loads what it needs

    return verification.verify_html(page, keys, verify=verify_evidence)


def render_html(evidence: bytes) -> bytes:
    """Return the HTML page of an exported pack or a ledger's proof, which verifies itself.

    The same evidence gives the same bytes. Raises `InputError` as `render` does.
    """
    from evidentia.export.html import verification  # noqa: PLC0415 - the same

    return verification.render_html(evidence, verify=verify_evidence)


def render(evidence: bytes, *, lang: "Language" = "both", typeface: "Typeface" = "plex") -> bytes:
    """Return the PDF of an exported pack or a ledger's proof, which is embedded in it.

    The same evidence, language and typeface give the same bytes. Raises `InputError` in one line if
    the evidence is neither, or contradicts itself; whether it is signed by a key that anyone
    trusts is not asked.
    """
    from evidentia.export.pdf import rendering  # noqa: PLC0415 - an extra

    return rendering.render(
        evidence, verify=verify_evidence, printed=_printed, lang=lang, typeface=typeface
    )


def _printed(proof: Proof, statement: Statement) -> tuple[str, dict[str, Any]]:
    """Return the template that a statement is printed by, and its data."""
    kind = kind_of(statement)
    if kind is None or kind.pages is None:
        raise InputError(
            f"no PDF can be made of this evidence: {statement.predicate_type[:80]!r} is neither a "
            "pack nor a ledger"
        )
    return kind.noun, kind.pages(kind.parse(statement), proof)
