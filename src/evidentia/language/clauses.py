"""Clauses: where a sentence can be parted, what its subject is, what a pronoun stands for.

The rules look at words, not at meaning, and a wrong cut is worse than none: a sentence is parted
only where both sides have a verb of their own and nothing before the joint (a condition, a
relative clause, a phrase that holds for the whole) could reach over it.
"""

import re
from dataclasses import dataclass
from typing import Final

from evidentia.language.lexicon import DO, HAVE, IS, MODALS, PERSONS, any_of
from evidentia.language.words import is_plural

_AUXILIARY: Final = (
    rf"(?:{any_of(IS | HAVE | DO | MODALS | {'need'})})(?:n['\u2019]t)?"
    r"|cannot|can['\u2019]t|won['\u2019]t|shan['\u2019]t"
)
_VERB: Final = (
    r"appl(?:y|ies)|remains?|becomes?|includes?|receives?|gets?|provides?|requires?|means|expires?|"
    r"begins?|covers?|entitles?|accrues?|takes?|lasts?|earns?|pays?|costs?|starts?|ends?|needs?|"
    r"allows?|permits?|contains?|consists?|depends?|uses?|offers?|grants?|states?|prohibits?|"
    r"exceeds?|amounts?|gives?|makes?|shows?|goes|go|increased|decreased|rose|fell|began|ended"
)
FINITE: Final = re.compile(rf"\b(?:{_AUXILIARY}|{_VERB})\b", re.IGNORECASE)
"""A verb that a clause can be built on; more are there than are known here."""
_SURE = re.compile(rf"\b(?:{_AUXILIARY})\b", re.IGNORECASE)
_STARTS_FINITE = re.compile(rf"(?:(?:also|then)\s+)?(?P<verb>{_AUXILIARY})\b", re.IGNORECASE)
_JOINT = re.compile(
    r";\s+|,\s+(?P<strong>and|but|while|whereas)\s+|\s+(?:and|but)\s+", re.IGNORECASE
)
_STARTS_SUBJECT = re.compile(
    r"(?:(?:the|an?|these|those|it|they|he|she|we|you|each|every|all|any|its|their|his|her|our|"
    r"your|another)\b|[A-Z]|[a-z]+s\b)"
)
_DEPENDS_ON_LEFT = re.compile(
    r"(?:otherwise|else|then|if|unless|or|for example|for instance|e\.g\.|i\.e\.|namely|that|this|"
    r"which|who|where|when|only|not|as|because|in which|in that|such|so|\w+ of wh\w+)\b",
    re.IGNORECASE,
)
"""How a right side begins that says nothing by itself."""
_REACHES = re.compile(
    r"\b(?:if|unless|when|whenever|whether|because|although|though|until|provided|where|since|that|"
    r"not only|either|neither|both|between|than|so that|in order|assuming|given|while)\b",
    re.IGNORECASE,
)
"""Words whose clause may go on behind the joint."""
_REACHES_FURTHER = re.compile(
    r"\b(?:who|which|whose|whom|or|nor|some|someone|somebody|anyone|nobody|no|none|few)\b"
    r"|\b(?:before|after|as|once)\s+(?:they|it|he|she|you|we)\b",
    re.IGNORECASE,
)
"""The same for a joint without a comma."""
_SETTING = re.compile(
    r"(?:in|on|at|for|under|during|by|after|before|since|within|from|with|without|upon|per|throughout|"
    r"outside|to|as|like|unlike|despite|except|until|once)\b[^,]{1,120},",
    re.IGNORECASE,
)
"""A phrase at the beginning that holds for the whole sentence."""
_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|where|once|in case|in the event|provided that|as long as)\b"
    r"[^,]{1,200},\s+(?=\S)",
    re.IGNORECASE,
)
"""A clause at the beginning that tells under what condition the rest holds."""
_RELATIVE = re.compile(r"\b(?:that|which|who|whom|whose|to)\b", re.IGNORECASE)

_SUBJECT = re.compile(rf"(?P<subject>[^,;:]{{1,90}}?)\s+(?:{FINITE.pattern})", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"(?:it|they|this|these|that|those|he|she|there|here|if|when|as|in|on|at|for|under|by|after|"
    r"before|to|what|who|which|how|why|where|and|or|but|please|not|so)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"\s+(?:also|then|now|\w+ly)$", re.IGNORECASE)
_LONGEST: Final = 2_000
_LONGEST_SUBJECT: Final = 10
_HEAD_ENDS = re.compile(
    r"\s+(?:of|for|in|on|at|by|with|from|under|to|who|which|that|whose|within)(?:\s|$)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?P<pronoun>it|they|he|she)\s+(?=(?P<rest>.*))", re.IGNORECASE)
_EXPLETIVE = re.compile(
    r"(?:is|was|has been|will be|may be|might be|can be|would be|seems|appears|takes|depends)\s+"
    r"(?:[\w'\u2019-]+\s+){0,3}(?:that|to|whether|if|for|who|when|on)\b"
    r"|(?:is|was)\s+(?:not\s+)?(?:clear|unclear|possible|likely|unlikely|true|important|necessary|known)\b"
    r"|(?:rains?|snows?|depends|seems|appears|follows)\b",
    re.IGNORECASE,
)
"""What follows an "it" that stands for nothing before."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence, and the subject it shares with the part before it, if it has none."""

    start: int
    end: int
    subject: str | None = None


def parts(sentence: str, start: int = 0) -> list[Part]:
    """Part a sentence where each side can be true or false by itself; look from `start` on.

    Most sentences are one part. A part that begins with its verb is given the subject before it.
    What is too long for a sentence is left whole.
    """
    cuts: list[tuple[int, int]] = []
    begins = start
    if len(sentence) <= _LONGEST and not _SETTING.match(sentence, start):
        for joint in _JOINT.finditer(sentence, start):
            if _parts_here(sentence, begins, joint):
                cuts.append(joint.span())
                begins = joint.end()
    edges = [*(first for first, _ in cuts), len(sentence)]
    found: list[Part] = []
    subject: str | None = None
    for first, last in zip([0, *(after for _, after in cuts)], edges, strict=True):
        piece = sentence[max(first, start) : last]
        shares = bool(found) and _STARTS_FINITE.match(piece) is not None
        found.append(Part(first, last, subject if shares else None))
        subject = subject if shares else find_subject(piece)
    return found


def find_subject(clause: str) -> str | None:
    """Return what a clause is about: the words before its verb, if that is plain to see."""
    match = _SUBJECT.match(clause)
    if match is None or _NO_SUBJECT.match(clause):
        return None
    subject = _ADVERB.sub("", match["subject"]).strip()
    return subject if subject and len(subject.split()) <= _LONGEST_SUBJECT else None


def head_of(subject: str) -> str:
    """Return the word that a subject is about: "employees" of "all permanent employees who"."""
    return _HEAD_ENDS.split(subject, maxsplit=1)[0].split()[-1].lower()


def main_clause(sentence: str) -> str:
    """Return a sentence without the condition it begins with, if it begins with one.

    >>> main_clause("If you fall ill, a certificate is required")
    'a certificate is required'
    """
    condition = _CONDITION.match(sentence)
    return sentence[condition.end() :] if condition else sentence


def with_pronoun_replaced(clause: str, subject: str | None) -> str:
    """Return the clause with a pronoun at its beginning replaced by the subject it stands for."""
    match = _PRONOUN.match(clause)
    if match is None or subject is None or not FINITE.match(match["rest"]):
        return clause
    pronoun = match["pronoun"].lower()
    if not _fits(pronoun, subject) or (pronoun == "it" and _EXPLETIVE.match(match["rest"])):
        return clause
    return f"{subject} {match['rest']}"


def has_verb(text: str) -> bool:
    """Whether a text has a verb that is known; a last word alone ("overtime pay") may be a noun."""
    verb = FINITE.search(text)
    return verb is not None and (verb.end() < len(text.rstrip(" .;!")) or bool(_SURE.search(text)))


def begins_with_pronoun(clause: str) -> bool:
    """Whether a clause's first word stands for something said before."""
    return _PRONOUN.match(clause) is not None


def _parts_here(sentence: str, begins: int, joint: re.Match[str]) -> bool:
    left, right = sentence[begins : joint.start()], sentence[joint.end() :]
    if _is_open(sentence[: joint.start()]) or not FINITE.search(left):
        return False
    if _DEPENDS_ON_LEFT.match(right):
        return False
    own_clause = _JOINT.split(right, maxsplit=1)[0]
    has_clause = _STARTS_SUBJECT.match(right) is not None and _is_clause(own_clause)
    if joint[0].startswith(";"):
        return has_clause
    if _REACHES.search(left):
        return False
    if joint["strong"] and has_clause:
        return True
    shares_subject = _STARTS_FINITE.match(right) is not None and find_subject(left) is not None
    return shares_subject and not _REACHES_FURTHER.search(left)


def _is_clause(text: str) -> bool:
    """Whether a text has a verb with a subject before it."""
    verb = FINITE.search(text)
    return verb is not None and verb.start() > 0 and not _RELATIVE.search(text[: verb.start()])


def in_quotation(left: str) -> bool:
    """Whether a quotation is open at the end of a text."""
    unclosed = any(left.count(first) > left.count(last) for first, last in (("“", "”"), ("«", "»")))
    return unclosed or left.count('"') % 2 == 1


def _is_open(left: str) -> bool:
    """Whether a bracket or a quotation is open at the end."""
    unclosed = any(left.count(first) > left.count(last) for first, last in (("(", ")"), ("[", "]")))
    return unclosed or in_quotation(left)


def _fits(pronoun: str, subject: str) -> bool:
    """Whether a pronoun can stand for a subject, by number and by person."""
    head = head_of(subject)
    several = " and " in subject.lower() or is_plural(head)
    match pronoun:
        case "they":
            return several or head in PERSONS
        case "it":
            return not several and head not in PERSONS
        case _:
            return not several and (head in PERSONS or _is_name(subject))


def _is_name(subject: str) -> bool:
    """Whether a subject looks like a person's name: two or three capitalised words."""
    names = subject.split()
    return 1 < len(names) <= len(("Ms", "Amal", "Haddad")) and all(
        name[0].isupper() for name in names
    )
