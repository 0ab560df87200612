"""Clauses: where a sentence can be parted.

The rules look at words, not at meaning, and a wrong cut is worse than none: a sentence is parted
only where both sides have a verb of their own, nothing before the joint (a condition, a relative
clause, a phrase that holds for the whole) could reach over it, and nothing behind it ("those",
"afterwards", a verb that is left out) needs what stands before.
"""

import re
from dataclasses import dataclass
from typing import Final

from evidentia.language.finite import AUXILIARY, FINITE
from evidentia.language.lexicon import (
    BE,
    CARDINALS,
    DO,
    GROUPS,
    HAVE,
    MODALS,
    PERSONS,
    PREPOSITIONS,
    READERS,
    STOP_WORDS,
    any_of,
    word_set,
)
from evidentia.language.pronouns import antecedent, begins_with_pronoun, with_pronoun_replaced
from evidentia.language.subjects import find_subject, head_of, main_verb
from evidentia.language.words import content_stems, is_plural, stem, words

_JOINT = re.compile(
    r";\s+|,\s+(?P<strong>and|but|while|whereas)\s+|\s+(?P<weak>and|but)\s+"
    r"|,\s+(?=(?P<relative>which|who)\s)",
    re.IGNORECASE,
)
_STRONG_JOINT = re.compile(r";\s+|,\s+(?:and|but|while|whereas)\s+", re.IGNORECASE)
_STARTS_FINITE = re.compile(rf"(?:(?:also|then)\s+)?(?P<verb>{AUXILIARY.pattern})", re.IGNORECASE)
_STARTS_VERB = re.compile(
    r"(?P<verb>[a-z]{2,}s)\s+(?:the|an?|its|their|his|her|all|every|each|no|nobody|just|only|up to|"
    r"at most|at least|back|\d|(?P<loose>to|in|on|at|for|from|with)\b)"
)
"""How a right side begins that shares a singular subject: "has a", "erases the", "talks to"."""
_STARTS_SUBJECT = re.compile(
    r"(?:(?:the|an?|these|those|it|they|he|she|we|you|each|every|all|any|its|their|his|her|our|"
    r"your|another|there(?=\s+(?:is|are)\s))\b|[A-Z]|[a-z]+s\b)"
)
_STARTS_NOUN = re.compile(r"(?P<word>[a-z]+(?:-[a-z]+)*)\s")
_DEPENDS_ON_LEFT = re.compile(
    r"(?:otherwise|else|then|if|unless|or|for example|for instance|e\.g\.|i\.e\.|namely|that|this|"
    r"where|when|only|not|as|because|in which|in that|such|so|those|these|both|neither|"
    r"none|some|most|many|others?|\w+ of wh\w+"
    rf"|(?:\d+|{any_of(CARDINALS)}|half)\s+(?:{AUXILIARY.pattern}))\b",
    re.IGNORECASE,
)
"""How a right side begins that says nothing by itself."""
_POINTS_BACK = re.compile(
    r"\b(?:ones|them|him|himself|themselves|itself|those|others?|else|former|latter|same|rest|"
    r"instead|likewise|afterwards?|thereafter|subsequently|thereby|vice versa|reverse|opposite|"
    r"do(?:es)? so|done so|resulting|corresponding|respective|both|that time|"
    r"(?:that|this) (?:purpose|way))\b"
    r"|\bone(?=\s*(?:$|[.,;!]|(?:is|are|was|has|can|may|must|will|of)\b))"
    r"|\b(?:of|in|with|by|from|on|to|about|for|after|before|than|like|as)\s+"
    r"(?:it\b|(?:this|that|these|those)(?=\s*(?:$|[.,;!])))"
    r"|(?<=[a-z]\s)it\s+(?!is\b|was\b|has\b)\w|\bfor\s+\d{1,3}\s*[.!]?\s*$"
    r"|\b(?:is|are|was|were)\s+(?:its|their|his|her)\b"
    r"|\b(?:first|later|next|too|so|none|any|neither|as well|either|there|again|before|earlier|"
    r"sooner)\s*[.!]?\s*$",
    re.IGNORECASE,
)
"""What on a right side needs the left one to be understood."""
_ELLIPSIS = re.compile(
    rf"\b(?:(?:{any_of(BE | HAVE | DO | MODALS)})(?:n['\u2019]t)?"
    r"|cannot|can['\u2019]t|won['\u2019]t)"
    r"(?:\s+(?:not|so|too|be))?\s*[.!]?\s*$",
    re.IGNORECASE,
)
"""How a side ends whose verb is left out: "textbooks are not"."""
_ORDER = re.compile(r"(?<!at )\b(?:first|earlier|beforehand)$", re.IGNORECASE)
_TEMPORAL = re.compile(
    r"(?:it|they|he|she|you|we)\b|[^,]*\b(?:is|are|was|were)\s+(?:\w+\s+)?\w+ing\b|\w+\s+lasts?\b",
    re.IGNORECASE,
)
"""What follows a "while" that tells of a time, and puts nothing beside anything."""
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|when|whenever|until|provided|except|as long as|only|while|during|where)\b",
    re.IGNORECASE,
)
_REACHES = re.compile(
    r"\b(?:if|unless|when|whenever|whether|because|although|though|until|provided|where|since|that|"
    r"not only|either|neither|both|between|than|so that|in order|assuming|given|while|"
    r"says|said|thinks|believes|argues|announce[sd]?)\b",
    re.IGNORECASE,
)
"""Words whose clause may go on behind the joint."""
_REACHES_FURTHER = re.compile(
    r"\b(?:who|which|whose|whom|or|nor|some|someone|somebody|anyone|nobody|no|none|few|"
    r"not (?:all|every))\b"
    r"|\b(?:before|after|as|once)\s+(?:they|it|he|she|you|we)\b",
    re.IGNORECASE,
)
"""The same for a joint without a subject behind it."""
_IS_CONDITION = re.compile(
    r"\b(?:if|unless|when|whenever|until|provided|where|assuming)\b", re.IGNORECASE
)
_SETTING = re.compile(
    r"(?:in|on|at|for|under|during|by|after|before|since|within|from|with|without|upon|per|throughout|"
    r"outside|to|as|like|unlike|despite|except|until|once|of|between|not)\b[^,]{1,120},",
    re.IGNORECASE,
)
"""A phrase at the beginning that holds for the whole sentence."""
_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|where|once|in case|in the event|provided that|as long as)\b"
    r"[^,]{1,200},\s+(?=\S)",
    re.IGNORECASE,
)
"""A clause at the beginning that tells under what condition the rest holds."""
_SERIES = re.compile(rf",\s+(?:{FINITE.pattern})", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:no|not|nothing|without|never)\b|n['\u2019]t\b", re.IGNORECASE)
_OBJECT = re.compile(r"\bit\b", re.IGNORECASE)
_KNOWN_THING = re.compile(r"(?:the|this|each|every|any) (?P<noun>[a-z]+)", re.IGNORECASE)
_ENDS_KNOWN = re.compile(r"\bthe (?P<noun>[a-z]+)\s*[.!]?\s*$")
_SEVERAL: Final = word_set("are were have do aren't weren't haven't don't")
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence, and the subject it shares with the part before it, if it has none."""

    start: int
    end: int
    subject: str | None = None


def parts(sentence: str, start: int = 0) -> list[Part]:
    """Part a sentence where each side can be true or false by itself; look from `start` on.

    Most sentences are one part. A part that begins with its verb is given the subject before it,
    one that begins with "which" or "who" what that stands for. What is too long for a sentence is
    left whole.
    """
    found = [Part(0, len(sentence))]
    begins = start
    if len(sentence) > _LONGEST or _SETTING.match(sentence, start):
        return found
    for joint in _JOINT.finditer(sentence, start):
        left = f"{found[-1].subject or ''} {sentence[begins : joint.start()]}".strip()
        right = sentence[joint.end() :]
        if _is_open(sentence[: joint.start()]) or _needs_left(right):
            continue
        shared = _shared_subject(joint, left, right)
        if shared is None and not _stands(joint, left, right):
            continue
        found[-1] = Part(found[-1].start, joint.start(), found[-1].subject)
        found.append(Part(joint.end(), len(sentence), shared))
        begins = joint.end()
    return found


def main_clause(sentence: str) -> str:
    """Return a sentence without the condition it begins with, if it begins with one.

    >>> main_clause("If you fall ill, a certificate is required")
    'a certificate is required'
    """
    condition = _CONDITION.match(sentence)
    return sentence[condition.end() :] if condition else sentence


def in_quotation(left: str) -> bool:
    """Whether a quotation is open at the end of a text."""
    unclosed = any(left.count(first) > left.count(last) for first, last in (("“", "”"), ("«", "»")))
    return unclosed or left.count('"') % 2 == 1


def _needs_left(right: str) -> bool:
    """Whether what follows a joint says nothing without what stands before it."""
    own = _STRONG_JOINT.split(right, maxsplit=1)[0]
    return bool(_DEPENDS_ON_LEFT.match(right) or _POINTS_BACK.search(own) or _ELLIPSIS.search(own))


def _own_clause(right: str) -> str:
    """Return a right side up to its next joint."""
    return _JOINT.split(right, maxsplit=1)[0]


def _stands(joint: re.Match[str], left: str, right: str) -> bool:
    """Whether both sides are clauses with a subject each, and neither reaches over the joint."""
    if joint["weak"] or joint["relative"] or main_verb(left) is None or _ORDER.search(left):
        return False
    own = _own_clause(right)
    word = (joint["strong"] or "").lower()
    if not _has_subject(own, left, bare=bool(word)):
        return False
    match word:
        case "":
            return not _IS_CONDITION.search(left) and not _is_of_left(own, left)
        case "and":
            return not _REACHES.search(left) and not _is_of_left(own, left)
        case "while":
            return not _REACHES.search(left) and not _TEMPORAL.match(right)
        case _:
            return not _REACHES.search(left)


def _has_subject(own: str, left: str, *, bare: bool) -> bool:
    """Whether a clause has a subject that is known: its own, or one that its pronoun stands for."""
    if begins_with_pronoun(own):
        return with_pronoun_replaced(own, left) != own
    return _is_clause(own, bare=bare)


def _is_of_left(own: str, left: str) -> bool:
    """Whether a clause is about what the left side brought up: "…, and the results go to HR".

    A person is known without that, and so is what the left side names too.
    """
    known = _KNOWN_THING.fullmatch(find_subject(own) or ""), _ENDS_KNOWN.search(own)
    said = content_stems(words(left))
    return any(
        stem(noun) not in said and not {noun, noun.removesuffix("s")} & (PERSONS | GROUPS | READERS)
        for noun in (found["noun"].lower() for found in known if found)
    )


def _is_clause(text: str, *, bare: bool) -> bool:
    """Whether a text has a verb with a subject before it; a `bare` noun may begin it."""
    noun = _STARTS_NOUN.match(text) if bare else None
    begins = _STARTS_SUBJECT.match(text) is not None or (
        noun is not None
        and noun["word"] not in STOP_WORDS | PREPOSITIONS
        and not noun["word"].endswith(("ly", "ed"))
    )
    first = FINITE.match(text)
    return begins and first is None and main_verb(text) is not None


def _shared_subject(joint: re.Match[str], left: str, right: str) -> str | None:
    """Return the subject that a right side without one shares with the left one, if it does."""
    own = _own_clause(right)
    if joint["relative"]:
        return None if "," in right or _REACHES.search(left) else antecedent(left, right)
    word = (joint["strong"] or joint["weak"] or "").lower()
    subject = find_subject(left)
    if word not in {"and", "but"} or subject is None:
        return None
    if not _STARTS_FINITE.match(right) and not _goes_on(right, left, subject, word):
        return None
    blocked = (
        _REACHES.search(left)
        or _REACHES_FURTHER.search(left)
        or _ORDER.search(left)
        or _SERIES.search(left)
        or _OBJECT.search(own)
        or (word == "and" and _CONDITIONAL.search(own))
    )
    return None if blocked else subject


def _goes_on(right: str, left: str, subject: str, word: str) -> bool:
    """Whether a right side begins with a verb other than an auxiliary: "but leaves the rest"."""
    verb = _STARTS_VERB.match(right)
    several = is_plural(head_of(subject)) or _verb(left) in _SEVERAL
    if verb is None or several or not is_plural(verb["verb"]) or main_verb(_own_clause(right)):
        return False
    if word == "and":
        return FINITE.fullmatch(verb["verb"]) is not None and not verb["loose"]
    return not _DENIES.search(left)


def _verb(clause: str) -> str:
    first, last = main_verb(clause) or (0, 0)
    return clause[first:last].lower().replace("\u2019", "'")


def _is_open(left: str) -> bool:
    """Whether a bracket or a quotation is open at the end."""
    unclosed = any(left.count(first) > left.count(last) for first, last in (("(", ")"), ("[", "]")))
    return unclosed or in_quotation(left)
