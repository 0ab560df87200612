"""What became of many answers, in one file: JSON lines, CSV, JUnit or SARIF."""

import csv
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from evidentia.errors import InputError
from evidentia.export.forms import UNSUPPORTED
from evidentia.export.jsonform import to_json
from evidentia.export.junit import junit_error, junit_suite, junit_suites
from evidentia.export.sarif import line_of, sarif_log, sarif_note, sarif_results
from evidentia.export.shown import one_line
from evidentia.ledger.model import LedgerEntry, Verdict
from evidentia.ledger.outcomes import AnswerOutcome
from evidentia.ledger.session import LedgerSession

Row = tuple[AnswerOutcome, LedgerSession | None]
"""What became of an answer, and its ledger if it has one."""

_COLUMNS: Final = (
    *("number", "id", "title", "claim", "claim_type", "importance", "verdict", "support"),
    *("confidence", "document", "page", "quote", "notes", "ledger_id", "entry"),
)
_FORMULA: Final = frozenset("=+-@\t\r\n|%\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet may take a cell for a formula by, at its beginning; the wide forms too."""


def write_many(
    rows: Iterable[Row],
    form: str,
    version: str,
    *,
    fail_on: Collection[Verdict] | None = None,
    file: str | None = None,
) -> str:
    """Write answers in one of the forms, each with its claims, or why it was not checked.

    `fail_on` says which claims fail in JUnit's form: by default all that nothing supports. `file`
    has an answer on each line, and SARIF's places are those lines; without it they are in the
    answers. `version` is the program's.
    """
    if form == "junit":
        return _junit(rows, UNSUPPORTED if fail_on is None else fail_on)
    if form == "sarif":
        return _sarif(rows, file, version)
    if form not in _FORMS:
        names = ", ".join((*_FORMS, "junit", "sarif"))
        raise InputError(f"there is no form {form!r} of many answers: use {names}")
    return "".join(_FORMS[form](rows))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    for outcome, session in rows:
        ledger = {} if session is None else {"ledger": to_json(session)}
        text = json.dumps(outcome.as_json() | ledger, ensure_ascii=False)
        # half a surrogate pair, which is no text, is an escape in JSON
        yield f"{text.encode(errors='backslashreplace').decode()}\n"


class _Written:
    """Takes what a writer writes."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text = text


def _csv(rows: Iterable[Row]) -> Iterator[str]:
    written = _Written()
    writer = csv.writer(written)
    writer.writerow(_COLUMNS)
    yield written.text
    for outcome, session in rows:
        for values in _claims(outcome, session):
            writer.writerow([_cell(values.get(name)) for name in _COLUMNS])
            yield written.text


def _claims(outcome: AnswerOutcome, session: LedgerSession | None) -> Iterator[dict[str, Any]]:
    """Give a row for each claim, and one for an answer that has none or was not checked."""
    of = {name: getattr(outcome, name) for name in ("number", "id", "title", "ledger_id", "entry")}
    if session is None:
        yield of | {"verdict": "not_checked", "notes": outcome.problem}
        return
    if not session.ledger.entries:
        yield of | {"verdict": "no_claims"}
    for entry in session.ledger.entries:
        yield of | _claim(entry)


def _claim(entry: LedgerEntry) -> dict[str, Any]:
    source = entry.source_document
    return {
        "claim": entry.claim_text,
        "claim_type": entry.claim_type.value,
        "importance": entry.claim_importance.value,
        "verdict": entry.verdict.value,
        "support": entry.support and entry.support.value,
        "confidence": entry.confidence_score,
        "document": source and source.filename,
        "page": source and source.page_number,
        "quote": entry.evidence_snippet,
        "notes": entry.notes,
    }


def _cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, on one line."""
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if text and text[0] in _FORMULA else text


def _junit(rows: Iterable[Row], fail_on: Collection[Verdict]) -> str:
    def lines() -> Iterator[str]:
        for outcome, session in rows:
            if session is None:
                yield from junit_error(_name(outcome), str(outcome.problem))
            else:
                yield from junit_suite(session, fail_on, _name(outcome))

    return junit_suites(lines())


def _name(outcome: AnswerOutcome) -> str:
    named = outcome.title and outcome.title not in (outcome.id, "answer")
    return f"{outcome.name}: {outcome.title}" if named else outcome.name


def _sarif(rows: Iterable[Row], file: str | None, version: str) -> str:
    results: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for outcome, session in rows:
        at = None if file is None else line_of(file, outcome.number, outcome.name)
        if session is None:
            notes.append(sarif_note(f"{outcome.name} was not checked: {outcome.problem}", at))
        else:
            results += sarif_results(session, at)
    return json.dumps(sarif_log(version, results, notes), indent=2, ensure_ascii=False) + "\n"


_FORMS: Final[dict[str, Callable[[Iterable[Row]], Iterator[str]]]] = {"jsonl": _lines, "csv": _csv}
