"""What the model is asked: the parts of a claim, and for each the evidence it is held against.

A claim of several sentences is judged by its parts, and the weakest decides. For each part the few
passages that say most of it are judged one by one, and once together in the order in which they
stand: a claim may need two places to be supported. There, the best one comes with what stands
around it: a row is nothing without its table, and a sentence often little without the one before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.language.clauses import parts as clauses
from evidentia.language.direction import detect_language
from evidentia.language.markup import plain_text
from evidentia.language.sentences import sentence_spans
from evidentia.language.statements import read_statement
from evidentia.language.words import coverage
from evidentia.ledger.model import Passage

ALONE: Final = 3
"""How many passages are judged one by one."""
GATHERED_WORDS: Final = 100
"""How many words passages have together that are judged as one text."""
AROUND_WORDS: Final = 60
"""How many of these the best passage has with what stands around it, if others need the rest."""
PART_WORDS: Final = 60
"""How many words of a claim are judged at once."""
PARTS: Final = 12
"""How many parts of a claim are judged; a claim of more is no claim but a text."""
_HEADING_WORDS: Final = 8
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_NO_STATEMENT = re.compile(
    r"[?\u061f\uff1f][\"'”\u2019»)\]]*$"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules above|the above|all of the above)\b"
    r"|\b(?:mark|treat|label|judge|rate|count|accept)\b.{0,200}\bas "
    r"(?:supported|verified|true|correct|proven|entailed|a fact)\b"
    r"|\bit is (?:false|untrue|incorrect|wrong|not true|not correct|not the case|a myth) that\b"
    r"|\b(?:answer|respond|reply|output)\b.{0,20}\b(?:supported|verified|entail\w+)\b",
    re.IGNORECASE,
)
"""What asks, denies all it says, or tells whoever judges by it what to say."""
_HEADING_LINE = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """A part of a claim, the passages it is held against one by one, and those taken together.

    `gathered` is what these say, and what stands around the best of them.
    """

    part: str
    alone: tuple[int, ...]
    together: tuple[int, ...]
    gathered: str


def is_readable(text: str) -> bool:
    """Whether a text may be English, the one language that the model was trained on.

    >>> is_readable("Profit: 5 million"), is_readable("Die Frist endet mit dem Ende der Woche")
    (True, False)
    """
    letters = [character for character in text if character.isalpha()]
    latin = sum(character.isascii() for character in letters)
    return 2 * latin >= len(letters) and detect_language(text) in (None, "en")


def claim_parts(text: str) -> list[str]:
    """Return the parts of a claim: its sentences, in pieces where they are too long to be read.

    >>> claim_parts("The fee is 5 euros. It is due in May.")
    ['The fee is 5 euros.', 'It is due in May.']
    """
    found: list[str] = []
    plain = plain_text(text)
    for start, end in sentence_spans(plain):
        sentence = plain[start:end]
        if len(sentence.split()) <= PART_WORDS:
            found.append(sentence)
            continue
        for part in clauses(sentence):
            words = f"{part.subject or ''} {sentence[part.start : part.end]}".split()
            found += [
                " ".join(words[start : start + PART_WORDS])
                for start in range(0, len(words), PART_WORDS)
            ]
    return found


def evidence_text(passage: Passage) -> str:
    """Return a passage as the model reads it: behind its heading, without markup."""
    return _stated(passage.snippet, passage)


def _stated(text: str, passage: Passage) -> str:
    """Return a text around a passage as the model reads it, behind the passage's heading.

    Headings and questions are left out, and what speaks to whoever judges: they state nothing. So
    is what begins by denying all it says, in which the model hears the rest.
    """
    path = passage.source.heading_path
    heading = plain_text(path[-1]) if path else ""
    is_led_in = passage.context and passage.context not in text
    text = _HEADING_LINE.sub("", text)  # on its own line: behind it, a sentence begins
    said = plain_text(f"{passage.context} {text}" if is_led_in else text)
    sentences = [said[start:end] for start, end in sentence_spans(said)]
    if any(map(_NO_STATEMENT.search, sentences)):
        said = " ".join(one for one in sentences if not _NO_STATEMENT.search(one))
    if said and heading and len(heading.split()) <= _HEADING_WORDS:
        return f"{heading} . {said}"
    return said


def questions(text: str, passages: Sequence[Passage], around: Sequence[str]) -> list[Question]:
    """Return what is asked about a claim, given its passages with the best first.

    `around` has the text in which each of them stands.
    """
    parts = claim_parts(text)
    said = [read_statement(passage.snippet).stems for passage in passages]
    found: list[Question] = []
    for part in parts:
        ranked = list(range(len(passages)))
        if len(parts) > 1:
            wanted = read_statement(part).stems
            ranked.sort(key=lambda place: (-coverage(wanted, said[place]), place))
        together, gathered = _gathered(ranked, passages, around)
        found.append(Question(part, tuple(ranked[:ALONE]), together, gathered))
    return found


def _gathered(
    ranked: Sequence[int], passages: Sequence[Passage], around: Sequence[str]
) -> tuple[tuple[int, ...], str]:
    """Return the passages that are read together, and what they and all around the best say.

    After the best come the others, as many as fit, and more of what stands around the best if there
    is still room.
    """
    if not ranked:
        return (), ""
    best = ranked[0]
    window = _Window(around[best], passages[best])
    window.widen(AROUND_WORDS)
    room = GATHERED_WORDS - window.words
    beside: list[int] = []
    for place in ranked[1:]:
        size = len(passages[place].snippet.split())
        if size <= room and not window.holds(passages[place]):
            beside.append(place)
            room -= size
    window.widen(window.words + room)
    beside = [place for place in beside if not window.holds(passages[place])]
    inside = [place for place in ranked[1:] if window.holds(passages[place])]
    in_order = sorted([best, *beside], key=lambda place: _where(passages[place]))
    said = [
        _stated(window.text, passages[best]) if place == best else evidence_text(passages[place])
        for place in in_order
    ]
    return tuple(sorted([best, *beside, *inside])), " ".join(filter(None, said))


class _Window:
    """A passage with the sentences of its text that stand next to it; at first it is alone."""

    def __init__(self, text: str, passage: Passage) -> None:
        self._passage = passage
        snippet = _without_comments(passage.snippet)
        self._text = text if snippet in text else snippet
        self._spans = sentence_spans(self._text)
        self._start = self._text.index(snippet)
        self._inside = self._numbers(snippet)

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(self.text.split())

    @property
    def text(self) -> str:
        """Its sentences, in their order; the passage as it is if it has none."""
        chosen = [self._spans[number] for number in sorted(self._inside)]
        if not chosen:
            return self._passage.snippet
        return "\n".join(self._text[start:end] for start, end in chosen)

    def widen(self, words: int) -> None:
        """Take in the sentences nearest to the passage, while all have no more words than that.

        The head of a table is near to all of its rows.
        """
        head = self._head()
        by_distance = sorted(
            range(len(self._spans)),
            key=lambda number: (
                number != head,
                abs(self._spans[number][0] - self._start),
                number,
            ),
        )
        size = self.words
        for number in by_distance:
            start, end = self._spans[number]
            more = len(self._text[start:end].split())
            if number not in self._inside and size + more <= words:
                self._inside.add(number)
                size += more

    def holds(self, passage: Passage) -> bool:
        """Whether another passage of the same text is in it."""
        same = (passage.chunk_id, passage.page) == (self._passage.chunk_id, self._passage.page)
        numbers = self._numbers(_without_comments(passage.snippet)) if same else set()
        return bool(numbers) and numbers <= self._inside

    def _numbers(self, snippet: str) -> set[int]:
        """Return the numbers of the sentences in which a snippet stands; none if it is nowhere."""
        at = self._text.find(snippet)
        return {
            number
            for number, (start, end) in enumerate(self._spans)
            if at >= 0 and start < at + len(snippet) and at < end
        }

    def _head(self) -> int | None:
        """Return which sentence is the first row of the table in which the passage stands."""
        number = min(self._inside, default=0)
        if not self._inside or not self._is_row(number):
            return None
        while number and self._is_row(number - 1):
            number -= 1
        return number

    def _is_row(self, number: int) -> bool:
        return self._text.startswith("|", self._spans[number][0])


def _without_comments(text: str) -> str:
    """Return a text with comments as spaces, as they are in the text around it."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def _where(passage: Passage) -> tuple[str, int, int]:
    return passage.source.id, passage.page, passage.start
