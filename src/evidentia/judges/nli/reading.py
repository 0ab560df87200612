"""What the model is asked: the parts of a claim, and for each the evidence it is held against.

A claim of several sentences is judged by its parts, and the weakest decides. For each part the few
passages that say most of it are judged one by one, and once together in the order in which they
stand: a claim may need two places to be supported.
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

ALONE: Final = 5
"""How many passages are judged one by one."""
GATHERED_WORDS: Final = 85
"""How many words passages have together that are judged as one text."""
PART_WORDS: Final = 60
"""How many words of a claim are judged at once."""
PARTS: Final = 12
"""How many parts of a claim are judged; a claim of more is no claim but a text."""
_HEADING_WORDS: Final = 8
_NO_STATEMENT = re.compile(
    r"^#{1,6}\s+(?:\S+\s+){0,15}\S+$|[?\u061f\uff1f][\"'”\u2019»)\]]*$"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules above|the above|all of the above)\b"
    r"|\b(?:mark|treat|label|judge|rate|count|accept)\b.{0,200}\bas "
    r"(?:supported|verified|true|correct|proven|entailed|a fact)\b"
    r"|\bit is (?:false|untrue|incorrect|wrong|not true|not correct|not the case|a myth) that\b"
    r"|\b(?:answer|respond|reply|output)\b.{0,20}\b(?:supported|verified|entail\w+)\b",
    re.IGNORECASE,
)
"""What is a heading, asks, denies all it says, or tells whoever judges by it what to say."""


@dataclass(frozen=True, slots=True)
class Question:
    """A part of a claim, the passages it is held against one by one, and those taken together.

    Those are the best alone where none is short enough to be read with others.
    """

    part: str
    alone: tuple[int, ...]
    together: tuple[int, ...]


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
    """Return a passage as the model reads it: behind its heading, without markup.

    Headings and questions are left out, and what speaks to whoever judges: they state nothing. So
    is what begins by denying all it says, in which the model hears the rest.
    """
    path = passage.source.heading_path
    heading = plain_text(path[-1]) if path else ""
    said = plain_text(
        f"{passage.context} {passage.snippet}" if passage.context else passage.snippet
    )
    sentences = [said[start:end] for start, end in sentence_spans(said)]
    if any(map(_NO_STATEMENT.search, sentences)):
        said = " ".join(one for one in sentences if not _NO_STATEMENT.search(one))
    if said and heading and len(heading.split()) <= _HEADING_WORDS:
        return f"{heading} . {said}"
    return said


def questions(text: str, passages: Sequence[Passage]) -> list[Question]:
    """Return what is asked about a claim, given its passages with the best first."""
    parts = claim_parts(text)
    said = [read_statement(passage.snippet).stems for passage in passages]
    sizes = [len(passage.snippet.split()) for passage in passages]
    found: list[Question] = []
    for part in parts:
        ranked = list(range(len(passages)))
        if len(parts) > 1:
            wanted = read_statement(part).stems
            ranked.sort(key=lambda place: (-coverage(wanted, said[place]), place))
        room = GATHERED_WORDS
        together: list[int] = []
        for place in ranked:
            if sizes[place] <= room:
                together.append(place)
                room -= sizes[place]
        together.sort(key=lambda place: _where(passages[place]))
        found.append(Question(part, tuple(ranked[:ALONE]), tuple(together or ranked[:1])))
    return found


def _where(passage: Passage) -> tuple[str, int, int]:
    return passage.source.id, passage.page, passage.start
