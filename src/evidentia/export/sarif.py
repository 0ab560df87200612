"""A ledger as SARIF 2.1.0: a claim without support is an annotation on its line of the answer."""

from bisect import bisect_right
from typing import Any, Final
from urllib.parse import quote

from evidentia.export.shown import one_line, place, title, verdict_title
from evidentia.ledger.model import Claim, LedgerEntry, Verdict
from evidentia.ledger.session import LedgerSession

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Final = (
    (Verdict.CONTRADICTED, "error", "A passage of the documents says otherwise."),
    (Verdict.NOT_FOUND, "warning", "No passage of the documents supports the claim."),
    (Verdict.NOT_JUDGED, "warning", "The claim could not be judged; the message says why."),
    (Verdict.WEAK, "note", "A passage supports the claim in part, or not surely."),
)
_PLACES: Final = {verdict: (index, level) for index, (verdict, level, _) in enumerate(_RULES)}


def to_sarif(session: LedgerSession, version: str) -> dict[str, Any]:
    """Return the claims that are not supported as SARIF results, by line and column."""
    return sarif_log(version, sarif_results(session))


def sarif_log(
    version: str, results: list[dict[str, Any]], notes: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return a log of one run; `notes` tell what could not be checked, if that is to be told."""
    told = {} if notes is None else {"invocations": [_invocation(notes)]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "evidentia",
                        "version": version,
                        "rules": [
                            {
                                "id": verdict.value,
                                "name": title(verdict.value).replace(" ", ""),
                                "shortDescription": {"text": text},
                                "defaultConfiguration": {"level": level},
                            }
                            for verdict, level, text in _RULES
                        ],
                    }
                },
                **told,
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def sarif_results(session: LedgerSession, at: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the results of an answer: `at` one place, or each at its own in the answer."""
    claims = session.claims_by_id()
    lines = _Lines(session.answer)
    uri = quote(session.answer_name)
    return [
        _result(entry, claims[entry.claim_id], at or _within(uri, lines, claims[entry.claim_id]))
        for entry in session.ledger.entries
        if entry.verdict in _PLACES
    ]


def sarif_note(text: str, at: dict[str, Any] | None) -> dict[str, Any]:
    """Return the note that something could not be checked."""
    where = {} if at is None else {"locations": [at]}
    return {"level": "error", "message": {"text": _message(text)}, **where}


def line_of(file: str, number: int, name: str) -> dict[str, Any]:
    """Return a line of a file as a place, with what the answer on it is called."""
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file)},
            "region": {"startLine": number},
        },
        "logicalLocations": [{"name": one_line(name)}],
    }


def _invocation(notes: list[dict[str, Any]]) -> dict[str, Any]:
    told = {"toolExecutionNotifications": notes} if notes else {}
    return {"executionSuccessful": not notes, **told}


def _within(uri: str, lines: "_Lines", claim: Claim) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": lines.region(claim.start, claim.end),
        }
    }


def _result(entry: LedgerEntry, claim: Claim, at: dict[str, Any]) -> dict[str, Any]:
    index, level = _PLACES[entry.verdict]
    where = f" ({place(entry.source_document)})" if entry.source_document else ""
    text = f"{verdict_title(entry)}: {entry.claim_text}. {entry.notes}{where}"
    return {
        "ruleId": entry.verdict.value,
        "ruleIndex": index,
        "level": level,
        "message": {"text": _message(text)},
        "locations": [at],
        "partialFingerprints": {"claim/v1": claim.id},
    }


def _message(text: str) -> str:
    """Return text as a SARIF message: braces doubled, so that none is a placeholder; no links."""
    plain = one_line(text).replace("{", "{{").replace("}", "}}")
    return plain.replace("](", "] (")


class _Lines:
    """Where the lines of an answer begin, to say lines and columns from 1 on."""

    def __init__(self, answer: str) -> None:
        self.starts = [0]
        self.starts += [at + 1 for at, character in enumerate(answer) if character == "\n"]

    def region(self, start: int, end: int) -> dict[str, int]:
        first, last = self._line(start), self._line(end)
        return {
            "startLine": first,
            "startColumn": start - self.starts[first - 1] + 1,
            "endLine": last,
            "endColumn": end - self.starts[last - 1] + 1,
        }

    def _line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)
