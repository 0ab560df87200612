"""The spans' part: what tracers sent, put down until its trace is closed and recorded."""

from collections.abc import Sequence

from evidentia.store.sql import spans as rows
from evidentia.store.sql.spans import Closing, KeptSpan, TraceRow, WaitingSpan
from evidentia.workspace.part import Part

_MOST_LISTED = 1_000_000
Refused = list[WaitingSpan]
Traces = list[TraceRow]
Kept = list[KeptSpan]


class Spans(Part, name="spans"):
    """A tenant's spans that wait. They are no evidence yet, and nothing of them is in the trail."""

    def receive(self, given: Sequence[WaitingSpan], closing: Closing) -> Refused:
        """Put spans down; they are durable when this returns. What has no room is given back.

        A span that is there already is not put down again. Who could not have them recorded later,
        by a job in their name, is refused now.
        """
        acting = self._acting
        if not acting.is_owner:
            acting.guard.admit("jobs.start", None)
        scopes = acting.asked.scopes
        said = None if scopes is None else ",".join(sorted(one.value for one in scopes))
        with acting.database.write() as connection:
            if acting.asked.within is not None:
                acting.asked.within(connection)
            sender = (acting.tenant, acting.actor, said)
            return rows.put_down(connection, sender, given, closing)

    def open(self) -> Traces:
        """Return the traces of which something is still to be recorded."""
        return self._acting.read(rows.open_traces, _MOST_LISTED)

    def of_trace(self, trace_id: str) -> Kept:
        """Return the spans of a trace that are there, as they were put down."""
        return self._acting.read(rows.of_trace, trace_id)

    def find(self, trace_id: str) -> TraceRow | None:
        """Return a trace that waits, or None."""
        acting = self._acting
        return acting.database.ask(rows.find, (acting.tenant, trace_id))

    def settle(self, trace_id: str, spans: Sequence[KeptSpan], run_id: str | None) -> None:
        """Note which spans of a trace are recorded, and as which run."""
        acting = self._acting
        with acting.database.write() as connection:
            rows.settle(connection, (acting.tenant, trace_id), spans, run_id, acting.now)

    def put_off(self, trace_id: str, until: str, problem: str) -> None:
        """Let a trace be recorded later, and note why it could not be now."""
        acting = self._acting
        with acting.database.write() as connection:
            rows.put_off(connection, (acting.tenant, trace_id), until, problem)
