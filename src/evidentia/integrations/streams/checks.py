"""Checking an answer while it streams, in threads beside the one that streams it.

Sentences are judged as they come, a round after the other, and nothing of that is recorded. The
whole answer is checked when its stream has ended, and that is recorded. An error is told as a part.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import EvidentiaError
from evidentia.judges import JUDGES
from evidentia.ledger.contexts import numbered
from evidentia.ledger.wire.gathering import GatheredAnswer, next_piece
from evidentia.ledger.wire.parts import (
    ClaimPart,
    Part,
    ProblemPart,
    cited_sources,
    claim_parts,
    ledger_part,
)
from evidentia.logs import get_logger
from evidentia.sources.adapters import from_retrieval
from evidentia.sources.model import EvidencePackOptions, SourceItem
from evidentia.sources.packing import DefaultEvidencePacker

if TYPE_CHECKING:
    from evidentia.ledger.session import LedgerSession
    from evidentia.workspace import Workspace

THREADS: Final = 4
"""How many answers a process checks at once beside those it streams; the others wait."""
_spare: Final = threading.Semaphore(THREADS - 1)
"""Threads for sentences that stream: one is kept for answers that have ended."""
_log = get_logger("streams")
Told = Part | tuple[SourceItem, ...]
"""What is to be sent: a part, or the sources of the answer."""


class _LeftError(Exception):
    """Whoever asked has gone away."""


class StreamedCheck:
    """The check of one answer that streams: told its text, it gives parts as they are there.

    `tell`, `end` and `leave` return at once and never raise. `take` gives what is there, once;
    `arrived` is called, from another thread, when there is more, and `is_done` says whether that
    was all. `checked` are the arguments of `check`, besides the answer.
    """

    def __init__(
        self,
        workspace: "Workspace",
        checked: Mapping[str, Any],
        *,
        sources: Iterable[Any] | None,
        as_it_comes: bool,
    ) -> None:
        self._workspace, self._checked = workspace, checked
        self._answer = GatheredAnswer()
        self._lock = threading.Lock()
        self._told: deque[Told] = deque()
        self._shown: dict[str, ClaimPart] = {}
        self._done = 0
        self._is_judging = self._has_more = self._has_ended = self._has_left = False
        self._as_it_comes = as_it_comes and _is_local(checked.get("judges"))
        self._shows_cited = sources is None and checked.get("contexts") is None
        self.is_done = threading.Event()
        self.arrived: Callable[[], None] = _nothing
        given = checked.get("contexts") if sources is None else sources
        if given is not None and (found := _packed(given)):
            self._told.append(found)

    def tell(self, text: str) -> None:
        """Take what a chunk adds to the answer."""
        if self._answer.add(text) and self._as_it_comes:
            with self._lock:
                self._has_more = True
                if self._is_judging or not _spare.acquire(blocking=False):
                    return  # the next sentence tries again, and the end judges all
                self._is_judging = True
            self._begin(self._judge_rounds)

    def end(self) -> None:
        """Check the whole answer, now that its last chunk has come."""
        with self._lock:
            self._has_ended = True
        self._begin(self._check)

    def leave(self) -> None:
        """Give up, as nobody waits for it; once the whole answer is being recorded, it is."""
        self._has_left = True

    def take(self) -> list[Told]:
        """Return what is to be sent and was not yet."""
        found: list[Told] = []
        while self._told:
            found.append(self._told.popleft())
        return found

    def problem(self, problem: str) -> None:
        """Tell of a problem."""
        self._tell(ProblemPart(problem=problem))

    def tell_if_late(self, seconds: float) -> None:
        """Tell that the verdicts are not there in time, if they are not."""
        if not self.is_done.is_set():
            self.problem(
                f"the verdicts were not there {seconds:g} seconds after the answer: its ledger is "
                "recorded when they are"
            )

    # In other threads

    def _begin(self, work: Callable[[], None]) -> None:
        try:
            _threads().submit(self._guarded, work)
        except RuntimeError:
            self.problem("the answer was not checked: the program is ending")
            self._finish()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except _LeftError:
            pass
        except EvidentiaError as error:
            self.problem(str(error))
        except Exception as error:  # noqa: BLE001 - the host's answer must not suffer from it
            _log.warning("streamed answer not checked", error=repr(error))
            self.problem(f"the answer was not checked: {type(error).__name__} inside Evidentia")
        if work == self._check:
            self._finish()

    def _finish(self) -> None:
        self.is_done.set()
        self.arrived()

    def _judge_rounds(self) -> None:
        """Judge what has come, until nothing more has."""
        try:
            while self._goes_on():
                self._judge_round()
        except BaseException:
            self._as_it_comes = False  # what fails once would fail with each sentence
            raise
        finally:
            _spare.release()

    def _goes_on(self) -> bool:
        with self._lock:
            self._is_judging = self._has_more and not self._has_ended and not self._has_left
            self._has_more = False
            return self._is_judging

    def _judge_round(self) -> None:
        at, piece = next_piece(self._answer.text, self._done)
        if not piece.strip():
            return
        session = self._judged(piece)
        self._done = at + len(piece)
        with self._lock:
            if not self._has_ended:  # its ledger's claims may be told by now
                self._tell_claims(claim_parts(session, "provisional", at))

    def _check(self) -> None:
        answer = self._answer.text
        if not answer.strip():
            self.problem("there was no answer to check: the stream had no text")
            return
        ledgers = self._workspace.ledgers
        started = ledgers.begin(answer, **self._checked, **self._stopped_by_leaving())
        started.wait()
        if self._has_left:
            return
        found = ledgers.finish(started)
        if self._shows_cited and (cited := cited_sources(found.session)):
            self._tell(tuple(cited))
        self._tell_claims(claim_parts(found.session, "final"))
        self._tell(ledger_part(found.session, found.entry))

    def _judged(self, text: str) -> "LedgerSession":
        started = self._workspace.ledgers.begin(text, **self._checked, **self._stopped_by_leaving())
        return started.judged().session

    def _stopped_by_leaving(self) -> dict[str, Any]:
        """Return what ends judging here when nobody waits; other processes are let go on."""
        if self._workspace.opened.judging is not None:
            return {}
        return {"progress": self._go_on, "embedding": self._go_on}

    def _go_on(self, *_: int) -> None:
        if self._has_left:
            raise _LeftError

    def _tell_claims(self, parts: Iterable[ClaimPart]) -> None:
        for part in parts:
            if self._shown.get(part.id) != part:
                self._shown[part.id] = part
                self._tell(part)

    def _tell(self, told: Told) -> None:
        self._told.append(told)
        self.arrived()


def _nothing() -> None:
    pass


def _packed(given: Iterable[Any]) -> tuple[SourceItem, ...]:
    """Return what a reader is shown of what was retrieved; sources that are packed stay."""
    try:
        listed = list(given)
    except TypeError:
        return ()
    if all(isinstance(one, SourceItem) for one in listed):
        return tuple(listed)
    texts = [
        {"id": numbered(number), "text": one} if isinstance(one, str) else one
        for number, one in enumerate(listed, 1)
    ]
    found = from_retrieval(texts)
    options = EvidencePackOptions(anchors=True)
    return tuple(DefaultEvidencePacker().pack(found.candidates, found.chunks, options))


def _is_local(judges: Any) -> bool:
    """Whether judges send nothing away: what those that do were sent is recorded with a ledger."""
    return judges is None or all(isinstance(one, str) and one in JUDGES for one in judges)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "evidentia-streams")
