"""Pronouns: what the first word of a clause stands for, where that is certain.

"It" and "they" are taken for the subject of the clause before only if that fits by number and
person, and if the clause names nothing else that would fit: "the employer provides a form; it must
be signed" is not about the employer. "Which" and "who" are taken for the noun right before them
where that noun belongs to the verb and not to another noun.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evidentia.language.finite import FINITE
from evidentia.language.lexicon import (
    BE,
    DETERMINERS,
    GROUPS,
    HAVE,
    IS,
    MODALS,
    PERSONS,
    PREPOSITIONS,
    READERS,
    STOP_WORDS,
    TIMES,
    word_set,
)
from evidentia.language.subjects import WORD, agrees, find_subject, head_of, main_verb
from evidentia.language.words import is_plural

_PRONOUN = re.compile(r"(?P<pronoun>it|they|he|she)\s+(?=(?P<rest>.*))", re.IGNORECASE)
_EXPLETIVE = re.compile(
    r"(?:is|was|has been|will be|may be|might be|can be|would be|seems|appears|takes|depends)\s+"
    r"(?:[\w'\u2019-]+\s+){0,3}(?:that|to|whether|if|for|who|when|on)\b"
    r"|(?:is|was)\s+(?:not\s+)?(?:clear|unclear|possible|likely|unlikely|true|important|necessary|known)\b"
    r"|(?:rains?|snows?|depends|seems|appears|follows)\b",
    re.IGNORECASE,
)
"""What follows an "it" that stands for nothing before."""
_NO_NAME: Final = word_set(
    "i you we he she it they one ones everyone everybody anyone anybody someone somebody nobody "
    "none nothing something anything everything all some many most others both neither either each"
)
"""What stands for someone or something itself, or for nothing in particular."""
_PARTICIPLES: Final = word_set(
    "kept sent made held put set built paid sold told found given taken shown written known done "
    "seen drawn chosen left lost stored"
)
_MOVES: Final = word_set("go goes come comes belong belongs refer refers apply applies report")
_OF_EVENTS: Final = word_set(
    "takes means makes allows happens leads results causes requires helps ensures leaves saves "
    "counts gives costs brings explains suggests prevents enables reduces increases"
)
"""Verbs that "which" may be the subject of when it stands for all that was said."""
_RELATIVE = re.compile(r"(?P<pronoun>which|who)\s+(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_NOT = re.compile(r"n['\u2019]t$")
_LONGEST_NAME: Final = 3
_LONGEST_PHRASE: Final = 5


def with_pronoun_replaced(clause: str, before: str | None) -> str:
    """Return the clause with a pronoun at its beginning replaced by the subject it stands for.

    `before` is the clause before it, in which the subject is looked for.
    """
    match = _PRONOUN.match(clause)
    if match is None or before is None or not _begins_with_verb(match["rest"]):
        return clause
    pronoun = match["pronoun"].lower()
    subject = find_subject(before)
    if subject is None or not _fits(pronoun, subject) or _has_rival(pronoun, before, subject):
        return clause
    if pronoun == "it" and _EXPLETIVE.match(match["rest"]):
        return clause
    return f"{subject} {match['rest']}"


def begins_with_pronoun(clause: str) -> bool:
    """Whether a clause's first word stands for something said before."""
    return _PRONOUN.match(clause) is not None


def antecedent(left: str, relative: str) -> str | None:
    """Return what "which" or "who" at the beginning of a clause stands for, if that is certain.

    >>> antecedent("Leave is requested in RosterLine", "which shows the balance")
    'RosterLine'
    """
    match = _RELATIVE.match(relative)
    words = left.split()
    begins = _phrase_begins(words)
    if match is None or begins is None or not _belongs_to_verb(words[:begins]):
        return None
    phrase = words[begins:]
    head = phrase[-1].lower()
    verb = WORD.findall(match["rest"].lower())
    is_person = _is_person(phrase)
    if not verb or is_person != (match["pronoun"].lower() == "who"):
        return None
    certain = is_plural(head) or is_person or _is_of_things(verb, phrase)
    if not certain or not _agrees(head, verb[0]):
        return None
    return re.sub(r"^(?:an?|each|every) ", "the ", " ".join(phrase))


def _begins_with_verb(rest: str) -> bool:
    """Whether a verb follows a pronoun; by its place, also one that is not known."""
    word = WORD.match(rest.removeprefix("also "))
    return word is not None and (
        FINITE.fullmatch(word[0]) is not None or word[0].lower() not in STOP_WORDS
    )


def _fits(pronoun: str, subject: str) -> bool:
    """Whether a pronoun can stand for a subject, by number and by person."""
    head = head_of(subject)
    if head in _NO_NAME:
        return False
    several = " and " in subject.lower() or is_plural(head)
    match pronoun:
        case "they":
            return several or head in PERSONS
        case "it":
            return not several and head not in PERSONS
        case _:
            return not several and (head in PERSONS or _is_name(subject.split()))


def _has_rival(pronoun: str, clause: str, subject: str) -> bool:
    """Whether a clause names something beside its subject that the pronoun could stand for."""
    verb = main_verb(clause, surely=True) or (0, 0)
    within = [word.lower() for word in WORD.findall(subject)]
    behind = [_NOT.sub("", word.lower()) for word in WORD.findall(clause[verb[0] :])]
    others = {_noun(within, at) for at, word in enumerate(within) if at and word in DETERMINERS}
    others |= set(_objects(behind))
    return any(_could_be(pronoun, other) for other in others - {""})


def _objects(said: Sequence[str]) -> Iterator[str]:
    """Give the nouns that what is said of a subject is about: no predicate, and none of a phrase.

    In "is sent to the tenant by a clerk" there is none.
    """
    at = 1
    while at < len(said) and (said[at] in BE | HAVE | MODALS or said[at].endswith("ly")):
        at += 1
    links = bool(BE & set(said[:at]))
    if said[0] in MODALS | {"do", "does", "did"} and not links:
        at += 1
    if not links and at < len(said) and said[at] not in STOP_WORDS | PREPOSITIONS:
        yield _noun(said, at)
    for place in range(at, len(said)):
        before = said[place - 1]
        if said[place] in DETERMINERS and before not in PREPOSITIONS | BE:
            yield _noun(said, place)


def _noun(said: Sequence[str], begins: int) -> str:
    """Return the last word of the noun's phrase that begins here; none if it counts time."""
    ends = begins + 1
    while ends < len(said) and said[ends] not in STOP_WORDS | PREPOSITIONS:
        ends += 1
    noun = said[ends - 1]
    return "" if noun in TIMES | DETERMINERS else noun


def _could_be(pronoun: str, noun: str) -> bool:
    if pronoun in {"he", "she"}:
        return noun in PERSONS
    return is_plural(noun) == (pronoun == "they")


def _is_name(names: Sequence[str]) -> bool:
    """Whether words look like a person's name: two or three with capitals."""
    return 1 < len(names) <= _LONGEST_NAME and all(name[0].isupper() for name in names)


def _phrase_begins(words: Sequence[str]) -> int | None:
    """Return where the last noun's phrase begins: with an article, a capital, or a bare plural."""
    at = len(words) - 1
    if at <= 0 or not words[at][-1].isalnum():
        return None
    if words[at][0].isupper():
        while at > 0 and words[at - 1][0].isupper():
            at -= 1
        at -= at > 0 and words[at - 1].lower() in DETERMINERS
        return at or None
    last = max(0, len(words) - _LONGEST_PHRASE)
    for place in range(at - 1, last, -1):
        word = words[place].lower()
        if word in DETERMINERS:
            return place
        if word in STOP_WORDS or word in PREPOSITIONS or not word.isalpha():
            return None
    return None


def _belongs_to_verb(before: Sequence[str]) -> bool:
    """Whether what stands before a noun's phrase is a verb, or a verb and a preposition."""
    said = [word.lower() for word in before]
    if said and said[-1] in PREPOSITIONS - {"of"}:
        said.pop()
    if not said:
        return False
    word = said[-1]
    if word in BE | MODALS | HAVE:
        return word in HAVE
    return (
        word in _PARTICIPLES
        or word in _MOVES
        or word.endswith("ed")
        or FINITE.fullmatch(word) is not None
    )


def _is_person(phrase: Sequence[str]) -> bool:
    head = phrase[-1].lower()
    singular = head.removesuffix("s")
    return {head, singular} & (PERSONS | GROUPS | READERS) != set()


def _is_of_things(verb: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether a verb says something of a thing, and not of all that was said before it."""
    if verb[0] in IS:
        return len(verb) > 1 and (verb[1].endswith("ed") or verb[1] in _PARTICIPLES)
    if verb[0] in HAVE | MODALS:
        return True
    reports = verb[1:2] in (["that"], ["how"], ["why"])
    return phrase[-1][0].isupper() and verb[0] not in _OF_EVENTS and not reports


def _agrees(head: str, verb: str) -> bool:
    if verb in MODALS or verb == "had":
        return True
    if verb in {"is", "was", "has", "are", "were", "have"}:
        return is_plural(head) == (verb in {"are", "were", "have"})
    return agrees(head, verb)
