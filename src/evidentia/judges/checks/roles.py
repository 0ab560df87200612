"""Roles: who does what to whom, where a passage has the same parties the other way round.

A verb is known by its place only, so what might be an exchange and might be another order of words
is left alone: a moved phrase, another voice, a list, a relation that holds both ways.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, differs
from evidentia.language.lexicon import BE, CARDINALS, DAYS, DO, HAVE, MODALS, MONTHS, word_set
from evidentia.language.negation import denied
from evidentia.language.opposites import COMPARED
from evidentia.language.readings import Reading
from evidentia.language.words import coverage, stem

_MOST: Final = 0.8
_NEAR, _FAR = 3, 4
"""How far from the verb, in words that carry meaning, a party stands in a claim and a passage."""
_PHRASE: Final = 4
_PASSIVE: Final = BE | word_set("am get gets got getting")
_ADVERBS: Final = word_set("also now then later already still only first never ever always")
_PLACES: Final = word_set(
    "in on at near within during around inside outside along across throughout under over beside"
)
_PREPOSITIONS: Final = _PLACES | word_set(
    "of to by for from with into onto about after before through against between among as than via "
    "upon off toward towards behind beyond until since per without like alongside"
)
_DETERMINERS: Final = word_set(
    "a an the his her its their our my your this these those no any each every some all another"
)
_NOUNS_FOLLOW: Final = _DETERMINERS | _PREPOSITIONS - {"to"}
_HELPING: Final = HAVE | DO | MODALS | word_set("having to not he she it they we you i who which")
"""Words that stand before a verb."""
_ACTS: Final = word_set(
    "beat beaten bit bought broke brought built caught chose chosen drove fed fought found gave "
    "given held hit hurt kept killed knew led left lent lost made outsold overtook overthrew owe "
    "paid saw seen sent shot shown sold sought spoke stole struck sued swore taken taught thanked "
    "threw told took won wrote written accuse acquire admire advise appoint approve arrest attack "
    "award bite blame borrow bring build buy chase control create criticise criticize defeat "
    "defend deliver elect employ employs examine fear feed finance follow fund give govern guard "
    "guide hate help hire inform inspect instruct insure invite judge kill kiss lead lend love "
    "manage notify oppose outsell owe own pay praise precede produce promote protect pursue "
    "replace represent report rescue review reward rule sell send serve succeed sue supervise "
    "supply support teach thank threaten train transfer treat trust visit warn watch"
)
"""Verbs that one does to another, in the forms that no ending tells."""
_CLAUSES: Final = word_set(
    "and or but if when whenever because while where whereas although though that which who whom "
    "whose until unless so whether with than how why what"
)
"""Words behind which something else is told, or that hold both ways."""
_MARKS: Final = frozenset(',;:()[]"\u201c\u201d!?\u2013\u2014-')
_SYMMETRIC: Final = frozenset(
    stem(text)
    for text in word_set(
        "marry marries married divorce date dated meet meets met border borders resemble equal "
        "equals merge merged collaborate cooperate compete adjoin neighbour neighbor match differ "
        "intersect overlap share connect connects link join joins joined wed become becomes became "
        "remain remains remained mean means call called name named know known title titled "
        "represent constitute comprise include includes feature features star stars play plays "
        "coincide correspond relate combine mix cost costs say says said declare ask asked reply "
        "add added answer explain note suppose think thought believe"
    )
)
"""Verbs that hold both ways, that join a thing and its name, or that stand behind what is said."""
_NO_PARTIES: Final = frozenset(
    stem(text)
    for text in {*MONTHS, *DAYS, *CARDINALS[1:11]}
    | word_set(
        "today yesterday tomorrow day week month year century decade morning evening night time "
        "hundred thousand million billion first second third once twice later soon often last"
    )
)
"""What tells when or how many, and may stand anywhere."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence of a text, with the numbers of its words."""

    reading: Reading
    places: range

    def of(self, name: str) -> list[int]:
        """Return where a stem stands."""
        return [at for at in self.reading.places.get(name, ()) if at in self.places]

    def texts(self, first: int, last: int) -> list[str]:
        """Return the words from one place up to another."""
        return [word.text for word in self.reading.words[first:last]]


def role_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Find a verb of which the passage has the two sides exchanged, once in a sentence."""
    for number, wanted in claim.sentence_stems.items():
        for other, stems in evidence.sentence_stems.items():
            if coverage(wanted, stems) < _MOST:
                continue
            here, there = _sentence(claim, number), _sentence(evidence, other)
            found = next(_exchanges(here, there, wanted & stems), None)
            if found is not None:
                verb = claim.words[found[0]].text
                reason = f'the two sides of "{verb}" are exchanged in the passage'
                spans = claim.span(found[0]), evidence.span(found[1])
                yield differs(CheckKind.ROLE, *spans, reason)
                break


def _sentence(reading: Reading, number: int) -> _Sentence:
    first = bisect_left(reading.sentences, number)
    return _Sentence(reading, range(first, bisect_right(reading.sentences, number)))


def _exchanges(
    here: _Sentence, there: _Sentence, shared: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Give the verbs, by their places in the two, whose sides are exchanged."""
    for name in sorted(shared - _SYMMETRIC - COMPARED.keys()):
        own, others = here.of(name), there.of(name)
        if len(own) != 1 or len(others) != 1:
            continue
        at, place = own[0], others[0]
        if (
            _is_verb(here, at)
            and _is_verb(there, place)
            and _manner(here, at) == _manner(there, place)
            and _is_exchanged(here, at, there, place)
        ):
            yield at, place


def _is_verb(sentence: _Sentence, at: int) -> bool:
    """Whether a word is a verb, as far as its form and place tell, and is not denied."""
    reading = sentence.reading
    if at == sentence.places.start or at in denied(reading.text):
        return False
    word, before = reading.words[at], reading.words[at - 1]
    if (
        reading.text[word.start].isupper()
        or not _MARKS.isdisjoint(reading.text[before.end : word.start])
        or before.text in _NOUNS_FOLLOW
        or _is_adverb(word.text)
    ):
        return False
    if word.text in _ACTS or word.text.endswith("ed"):
        return True
    behind = sentence.texts(at + 1, min(at + 2, sentence.places.stop))
    return before.text in _HELPING or not _DETERMINERS.isdisjoint(behind)


def _is_adverb(text: str) -> bool:
    return text.endswith("ly") or text in _ADVERBS


def _manner(sentence: _Sentence, at: int) -> tuple[bool, str, int]:
    """Return the voice of a verb, the preposition behind it and how often there is a "by"."""
    words = sentence.reading.words
    back = at - 1
    while back > sentence.places.start and _is_adverb(words[back].text):
        back -= 1
    behind = words[at + 1].text if at + 1 < sentence.places.stop else ""
    count = sentence.texts(sentence.places.start, sentence.places.stop).count("by")
    return words[back].text in _PASSIVE, behind if behind in _PREPOSITIONS else "", count


def _is_exchanged(here: _Sentence, at: int, there: _Sentence, place: int) -> bool:
    """Whether a party of each side stands on the other side only, in the passage."""
    near = set(there.reading.after(place, _FAR))
    firsts = [
        name
        for name in here.reading.before(at, _NEAR)
        if name in near
        and _has_crossed(here, at, there, place, name)
        and _is_told(there, place, name)
    ]
    if not firsts:
        return False
    seconds = [
        name
        for name in here.reading.after(at, _NEAR)
        if _has_crossed(here, at, there, place, name) and _is_told(here, at, name)
    ]
    verb = here.reading.words[at].stem
    return any(
        not _stands(there.reading, verb, first, second) for first in firsts for second in seconds
    )


def _has_crossed(here: _Sentence, at: int, there: _Sentence, place: int, name: str) -> bool:
    """Whether a word is on one side of the verb in a claim, on the other in the passage.

    A phrase that begins with a preposition, and with one like it in the other text, has moved only.
    """
    own, others = here.of(name), there.of(name)
    if not others or name in _NO_PARTIES or _is_adverb(here.reading.words[own[0]].text):
        return False
    sides = {one < at for one in own}
    if len(sides) > 1 or {one > place for one in others} != sides:
        return False
    led = {_leader(here, one) for one in own} - {""}
    return led.isdisjoint(_leader(there, one) for one in others)


def _leader(sentence: _Sentence, at: int) -> str:
    """Return the preposition that leads the phrase of a word, one for all of place and time."""
    reading = sentence.reading
    for back in range(at - 1, max(at - 1 - _PHRASE, sentence.places.start - 1), -1):
        text = reading.words[back].text
        if text in _PREPOSITIONS:
            return "in" if text in _PLACES else text
        if not reading.content[back] and text not in _DETERMINERS:
            break
    return ""


def _is_told(sentence: _Sentence, at: int, name: str) -> bool:
    """Whether nothing between a verb and a party behind it begins something else."""
    words = sentence.reading.words
    last = next(one for one in sentence.of(name) if one > at)
    between = sentence.reading.text[words[at].end : words[last].start]
    return _MARKS.isdisjoint(between) and _CLAUSES.isdisjoint(sentence.texts(at + 1, last))


def _stands(evidence: Reading, name: str, first: str, second: str) -> bool:
    """Whether any sentence of a passage has two parties around a verb as the claim has them."""
    return any(
        first in evidence.before(at, _FAR) and second in evidence.after(at, _FAR)
        for at in evidence.places[name]
    )
