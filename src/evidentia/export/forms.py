"""The forms a ledger can be exported in, by name."""

import json
from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, overload

from evidentia.errors import InputError
from evidentia.export.jsonform import to_json
from evidentia.export.junit import to_junit
from evidentia.export.markdown import to_markdown
from evidentia.export.sarif import to_sarif
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import LedgerSession
from evidentia.packs.verification import written
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.proof.verification import verify_proof

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface


class Form(StrEnum):
    """A form of export."""

    MARKDOWN = "markdown"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    PDF = "pdf"
    HTML = "html"


Text = Literal[
    "markdown", "json", "sarif", "junit", Form.MARKDOWN, Form.JSON, Form.SARIF, Form.JUNIT
]
"""The forms that are text."""
UNSUPPORTED = frozenset({Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.NOT_JUDGED})
"""What fails as a test in JUnit's form, where nothing else is said."""


@overload
def export_ledger(
    ledger: LedgerSession | Proof, form: Text, *, fail_on: Collection[Verdict] | None = None
) -> str: ...


@overload
def export_ledger(
    ledger: LedgerSession | Proof,
    form: Literal["pdf", "html", Form.PDF, Form.HTML],
    *,
    lang: "Language" = "both",
    typeface: "Typeface" = "plex",
) -> bytes: ...


@overload
def export_ledger(
    ledger: LedgerSession | Proof,
    form: str,
    *,
    fail_on: Collection[Verdict] | None = None,
    lang: "Language" = "both",
    typeface: "Typeface" = "plex",
) -> str | bytes: ...


def export_ledger(
    ledger: LedgerSession | Proof,
    form: Form | str,
    *,
    fail_on: Collection[Verdict] | None = None,
    lang: "Language" = "both",
    typeface: "Typeface" = "plex",
) -> str | bytes:
    """Write a ledger in one of the forms: text, or for a PDF or an HTML page its bytes.

    Those two prove themselves, so they are made of the ledger's proof and not of the session alone
    (a PDF with the extra `pdf`). `fail_on` says which claims fail in JUnit's form: by default all
    that nothing supports.
    """
    if form not in list(Form):
        raise InputError(f"there is no form {form!r} of a ledger: use {', '.join(Form)}")
    if form == Form.PDF:
        return _pdf(ledger, lang, typeface)
    if form == Form.HTML:
        return _html(ledger)
    session = _session(ledger) if isinstance(ledger, Proof) else ledger
    match Form(form):
        case Form.MARKDOWN:
            return to_markdown(session)
        case Form.JSON:
            return _json(to_json(session))
        case Form.SARIF:
            return _json(to_sarif(session, session.program.removeprefix("evidentia ") or "unknown"))
    return to_junit(session, UNSUPPORTED if fail_on is None else fail_on)


def _session(proof: Proof) -> LedgerSession:
    if proof.envelope is None:
        raise InputError("this proof has no signed ledger in it: ws.ledgers.prove makes one")
    return LedgerSession.from_statement(Statement.parse(proof.envelope.payload))


def _pdf(ledger: LedgerSession | Proof, lang: "Language", typeface: "Typeface") -> bytes:
    from evidentia.export.pdf import ledger_pages, rendering  # noqa: PLC0415 - an extra

    if not isinstance(ledger, Proof):
        raise InputError(
            "a PDF has the ledger's proof in it: give ws.ledgers.prove(ID) in place of the "
            "session, or write it with ws.ledgers.export(ID, FILE)"
        )

    def printed(_: Proof, statement: Statement) -> tuple[str, dict[str, Any]]:
        return "ledger", ledger_pages.pages(LedgerSession.from_statement(statement))

    evidence = written(ledger.as_json())
    return rendering.render(
        evidence, verify=verify_proof, printed=printed, lang=lang, typeface=typeface
    )


def _html(ledger: LedgerSession | Proof) -> bytes:
    from evidentia.export.html.verification import render_html  # noqa: PLC0415 - not all export it

    if not isinstance(ledger, Proof):
        raise InputError(
            "an HTML page has the ledger's proof in it: give ws.ledgers.prove(ID) in place of the "
            "session, or write it with ws.ledgers.export(ID, FILE)"
        )
    return render_html(written(ledger.as_json()), verify=verify_proof)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
