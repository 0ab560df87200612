"""What became of a posting, as the table of receipts keeps it."""

from collections.abc import Iterator, Sequence

import orjson

from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.store.sql.log import Receipt


def kept(outcome: Sequence[Receipt] | EvidentiaError) -> str:
    """Return what is kept of an outcome."""
    if isinstance(outcome, EvidentiaError):
        said = {"problem": type(outcome).__name__, "message": str(outcome)}
        return orjson.dumps(said).decode()
    return orjson.dumps({"receipts": [list(receipt) for receipt in outcome]}).decode()


def outcome_of(said: str) -> list[Receipt] | EvidentiaError:
    """Return an outcome as it was."""
    found = orjson.loads(said)
    if "receipts" in found:
        return [Receipt(*receipt) for receipt in found["receipts"]]
    kinds = {kind.__name__: kind for kind in _kinds(EvidentiaError)}
    return kinds.get(found["problem"], EnvironmentProblem)(found["message"])


def _kinds(of: type[EvidentiaError]) -> Iterator[type[EvidentiaError]]:
    yield of
    for kind in of.__subclasses__():
        yield from _kinds(kind)
