"""A ledger as JUnit XML: each claim a test case, so that a build shows which did not hold.

Builds print it to terminals and pages: every text is one line, and what cannot be seen in it, or
would turn the direction of the rest, is written as its code point.
"""

from collections.abc import Collection, Iterable
from xml.sax.saxutils import escape, quoteattr

from evidentia.export.shown import one_line, place, verdict_title
from evidentia.ledger.model import LedgerEntry, Verdict
from evidentia.ledger.session import LedgerSession


def to_junit(session: LedgerSession, fail_on: Collection[Verdict]) -> str:
    """Write the ledger as JUnit XML; a claim fails if its verdict is among `fail_on`.

    A claim that could not be judged, and is not among them, is a skipped test.
    """
    return junit_suites(junit_suite(session, fail_on, session.title))


def junit_suites(lines: Iterable[str]) -> str:
    """Return a file of suites, given as lines."""
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return "\n".join([head, "<testsuites>", *lines, "</testsuites>", ""])


def junit_suite(session: LedgerSession, fail_on: Collection[Verdict], name: str) -> list[str]:
    """Return a ledger as the lines of a suite."""
    entries = session.ledger.entries
    failures = sum(entry.verdict in fail_on for entry in entries)
    skipped = sum(_is_skipped(entry, fail_on) for entry in entries)
    head = (
        f"<testsuite name={_attribute(name)} tests={_attribute(str(len(entries)))} "
        f'failures="{failures}" errors="0" skipped="{skipped}" '
        f"timestamp={_attribute(session.ledger.created_at)}>"
    )
    cases = [_case(number, entry, fail_on) for number, entry in enumerate(entries, 1)]
    return [head, *cases, "</testsuite>"]


def junit_error(name: str, problem: str) -> list[str]:
    """Return the lines of a suite that could not be run."""
    error = f'<error type="not_checked" message={_attribute(problem)}/>'
    return [
        f'<testsuite name={_attribute(name)} tests="1" failures="0" errors="1" skipped="0">',
        f'  <testcase name="not checked" classname="answers">{error}</testcase>',
        "</testsuite>",
    ]


def _case(number: int, entry: LedgerEntry, fail_on: Collection[Verdict]) -> str:
    name = _attribute(f"{number}. {entry.claim_text}")
    case = f"  <testcase name={name} classname={_attribute(f'claims.{entry.claim_type.value}')}"
    message = _attribute(f"{verdict_title(entry)}: {place(entry.source_document)}")
    if entry.verdict in fail_on:
        kind = _attribute(entry.verdict.value)
        failure = f"<failure type={kind} message={message}>{_text(entry.notes)}</failure>"
        return f"{case}>{failure}</testcase>"
    if _is_skipped(entry, fail_on):
        return f"{case}><skipped message={_attribute(entry.notes)}/></testcase>"
    return f"{case}/>"


def _is_skipped(entry: LedgerEntry, fail_on: Collection[Verdict]) -> bool:
    return entry.verdict is Verdict.NOT_JUDGED and entry.verdict not in fail_on


def _attribute(text: str) -> str:
    return quoteattr(one_line(text))


def _text(text: str) -> str:
    return escape(one_line(text))
