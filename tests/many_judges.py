"""Judges of the tests' own for checks in worker processes: of words that make trouble."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evidentia.judges.quote import QuoteJudge
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, Passage

INTERRUPTIBLE = ("env", "--default-signal=INT")
"""What a command begins with that Ctrl-C ends: a shell lets what it starts behind ignore it."""
POISON = "Employees receive poison on annual leave."
SLOW = "Employees receive a snail on annual leave."


class TroubleJudge(QuoteJudge):
    """Judges as the quote judge does, and makes trouble where a claim speaks of it."""

    name = "trouble"

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Die of poison, and take long over snails."""
        if "poison" in claim.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "snail" in claim.text:
            time.sleep(30)
        return super().judge(claim, passages)


@dataclass
class DiesOnceJudge(QuoteJudge):
    """Judges as the quote judge does; the first process that judges kills itself."""

    mark: Path

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Die once."""
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().judge(claim, passages)
        os.kill(os.getpid(), signal.SIGKILL)
        return []


class WorkersJudge(QuoteJudge):
    """Judges as the quote judge does, and notes which processes judge, on how many threads."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Note the process, and judge."""
        from evidentia.judges.threads import _Threads  # noqa: PLC0415 - as the process has it

        with self.notes.open("a") as notes:
            notes.write(f"{os.getpid()} {_Threads.most}\n")
        return super().judge(claim, passages)
