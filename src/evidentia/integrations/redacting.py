"""Redacting a run: every text of it that is stored, before anything is."""

from collections.abc import Mapping
from typing import Any, Final

from evidentia.bundles.redaction.redactor import Redactor
from evidentia.frozen import thaw
from evidentia.integrations.run import Addendum, Run

_KEPT: Final = frozenset(
    {"kind", "call_id", "trace_id", "run_id", "decision_id", "started_at", "ended_at", "decided_at"}
)
"""What names events and times: it is looked up by, and has no personal data."""


def redacted_run(run: Run, redactor: Redactor) -> Run:
    """Return a run whose texts are redacted; its calls keep their ids.

    Its citations are of the same words as before, wherever those stand by then.
    """
    made = _fields(run.model_dump(mode="json"), redactor)
    if run.answer is not None and made["answer"] != run.answer:
        for citation in made["citations"]:
            for edge in ("start", "end"):
                if citation[edge] is not None:
                    before = run.answer[: citation[edge]]
                    beyond = citation[edge] - len(before)
                    citation[edge] = len(redactor.redact(before).text) + beyond
    return Run.model_validate(made)


def redacted_addendum(addendum: Addendum, redactor: Redactor) -> Addendum:
    """Return an addendum whose texts are redacted."""
    return Addendum.model_validate(_fields(addendum.model_dump(mode="json"), redactor))


def redacted(value: Any, redactor: Redactor) -> Any:
    """Return a JSON value with each text in it redacted, the names of fields too."""
    if isinstance(value, str):
        return redactor.redact(value).text
    if isinstance(value, Mapping):
        return {redactor.redact(key).text: redacted(item, redactor) for key, item in value.items()}
    if isinstance(value, list):
        return [redacted(item, redactor) for item in value]
    return thaw(value)


def _fields(dumped: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in dumped.items():
        if name in _KEPT:
            made[name] = value
        elif name in ("events", "citations", "losses"):
            made[name] = [_fields(one, redactor) for one in value]
        elif name in ("decision", "effect") and isinstance(value, Mapping):
            made[name] = _fields(value, redactor)
        elif name == "contexts":
            made[name] = [_context(one, redactor) for one in value]
        else:
            made[name] = redacted(value, redactor)
    return made


def _context(context: Any, redactor: Redactor) -> Any:
    """Return a passage redacted, but for its id: an answer cites it by that."""
    if not isinstance(context, Mapping) or "id" not in context:
        return redacted(context, redactor)
    return {**redacted(context, redactor), "id": context["id"]}
