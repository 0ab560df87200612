"""Judges for tests: they say what a test tells them to say."""

from collections.abc import Callable, Sequence

from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, Passage

Says = Callable[[Claim, Sequence[Passage]], Sequence[Opinion | None]]


class StubJudge:
    """A judge that says what a function says, and remembers what it was asked about."""

    def __init__(self, name: str, says: Says) -> None:
        self.name = name
        self.says = says
        self.asked: list[str] = []
        self.never_certain = False

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        self.asked += [passage.chunk_id for passage in passages]
        return self.says(claim, passages)


def fixed(name: str, opinions: dict[str, Opinion | None]) -> StubJudge:
    """Return a judge that has these opinions, by the passages' chunk ids."""

    def says(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        return [opinions.get(passage.chunk_id) for passage in passages]

    return StubJudge(name, says)


def broken(error: Exception | None = None) -> StubJudge:
    """Return a judge that cannot judge."""

    def says(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        raise error or RuntimeError("no model at hand")

    return StubJudge("broken", says)
