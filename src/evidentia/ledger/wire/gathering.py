"""An answer as it comes: its text so far, and how much of it can be judged by itself already."""

import re
from typing import Final

from evidentia.language.sentences import sentence_spans
from evidentia.ledger.wire.events import whole_characters
from evidentia.ledger.wire.protocols import BREAK

_MAY_END: Final = re.compile("[.!?\u061f\u3002\uff01\uff1f\u2026\n]")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")


class GatheredAnswer:
    """The text of an answer that streams; one thread adds to it, others may read what they took."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._last = ""
        self._may_have_ended = False

    def add(self, text: str) -> bool:
        """Add what came; say whether a sentence may be whole by now, as what follows it came."""
        if not text or (text == BREAK and (not self._last or self._last == BREAK)):
            return False
        is_due = self._may_have_ended
        self._pieces.append(text)
        self._last = text
        self._may_have_ended = _MAY_END.search(text) is not None
        return is_due or self._may_have_ended

    @property
    def text(self) -> str:
        """All of it so far."""
        return whole_characters("".join(self._pieces))


def whole_until(text: str) -> int:
    """Return where the last sentence begins, which may go on: all before it is whole.

    >>> whole_until("Leave is 15 days. Half a d")
    18
    """
    spans = sentence_spans(text)
    if not spans:
        return 0
    start, end = spans[-1]
    breaks = _PARAGRAPH.search(text, end)
    return len(text) if breaks else start


def next_piece(text: str, done: int) -> tuple[int, str]:
    """Return where the next piece to judge begins, and the piece, given what was judged until.

    It begins with its paragraph, which says what a list is of; it is empty if nothing is new.
    """
    end = whole_until(text)
    if end <= done:
        return done, ""
    before = [found.end() for found in _PARAGRAPH.finditer(text, 0, done)]
    start = before[-1] if before else 0
    return start, text[start:end]
