"""The worker that checks ranges of a stored log, and what shares ranges out. Run as a command."""

from collections.abc import Iterator

from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.loading.workers import Workers, serve
from evidentia.store.database import Database, ServerOptions
from evidentia.store.ranges import Reading, Spans, audit_span
from evidentia.trail.audit import RangeAudit

WORKER = "evidentia.loading.auditor"


def share_out(reading: Reading, spans: Spans, workers: int) -> Iterator[RangeAudit]:
    """Have the spans of a log checked by worker processes; give the results in order."""
    database = reading.database
    setup = (database.address, database.worker_options, reading.tenant, reading.any_text)
    with Workers(WORKER, workers) as others:
        for span, answer in zip(spans, others.map((*setup, *span) for span in spans), strict=True):
            if isinstance(answer, EvidentiaError):
                raise answer
            if not isinstance(answer, RangeAudit):
                raise EnvironmentProblem(
                    f"an audit worker ended unexpectedly at entries from {span[0]}"
                )
            yield answer


_opened: dict[str, Database] = {}


def _work(asked: tuple[str, ServerOptions | None, str, bool, int, int]) -> RangeAudit:
    """Check one range, in a worker, which opens a database once."""
    address, options, tenant, anything, start, end = asked
    if address not in _opened:
        _opened[address] = Database.at(address, options)
    with Reading(_opened[address].of(tenant), tenant, any_text=anything).connection() as connection:
        return audit_span(connection, tenant, start, end)


if __name__ == "__main__":
    serve(_work)
