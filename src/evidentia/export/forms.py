"""The forms a ledger can be exported in, by name."""

import json
from collections.abc import Collection
from enum import StrEnum

from evidentia.export.jsonform import to_json
from evidentia.export.junit import to_junit
from evidentia.export.markdown import to_markdown
from evidentia.export.sarif import to_sarif
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import LedgerSession


class Form(StrEnum):
    """A form of export."""

    MARKDOWN = "markdown"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


UNSUPPORTED = frozenset({Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.NOT_JUDGED})
"""What fails as a test in JUnit's form, where nothing else is said."""


def export_ledger(
    session: LedgerSession, form: Form | str, *, fail_on: Collection[Verdict] | None = None
) -> str:
    """Write a ledger in one of the forms.

    `fail_on` says which claims fail in JUnit's: by default all that nothing supports.
    """
    match Form(form):
        case Form.MARKDOWN:
            return to_markdown(session)
        case Form.JSON:
            return _json(to_json(session))
        case Form.SARIF:
            return _json(to_sarif(session, session.program.removeprefix("evidentia ") or "unknown"))
    return to_junit(session, UNSUPPORTED if fail_on is None else fail_on)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
