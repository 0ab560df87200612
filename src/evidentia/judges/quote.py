"""The quote judge: whether a passage says the claim word for word, or nearly so.

Certain only of verbatim and near-verbatim agreement, in one sentence that neither denies nor
limits what it says, and in which the claim's words begin their clause. For the rest it says how
much of the claim's words a sentence has, which is a hint and no more. Of an Arabic claim it is
certain if an Arabic sentence has the same words, values and negations (`judges.arabic.quoting`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from evidentia.judges.arabic.quoting import says_the_same
from evidentia.judges.checks import typed_checks
from evidentia.judges.provisos import find_provisos, understood_bounds
from evidentia.language.finite import FINITE
from evidentia.language.lexicon import word_set
from evidentia.language.measures import HARMLESS, compare_values, read_measures
from evidentia.language.statements import (
    LONGEST_SENTENCE,
    Sentence,
    Statement,
    read_sentences,
    read_statement,
)
from evidentia.language.turns import read_turns
from evidentia.language.words import Word, coverage
from evidentia.ledger.confidence import percent
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel

VERBATIM: Final = 0.99
NEARLY: Final = 0.93
PARTIAL_FROM: Final = 0.6
"""Which part of the claim's words a sentence must have to be a hint."""
_LEAST_SHARED: Final = 3
_NEARLY_ALL: Final = 0.8
_EXTRA_WORDS: Final = 2
"""How many words that carry meaning may stand among the claim's own."""
_LINKS: Final = word_set(
    "and or but nor to from by for against with without before after over under above below into "
    "out off up down between through via until than since about in on at inside outside within"
)
"""Small words that say how others belong together: "sent to" is not "sent by"."""
_DEGREES: Final = word_set("more less fewer most least often rarely seldom")
"""Small words that say how much: "more common" is not "less common"."""
_ALTERNATIVES: Final = word_set("or nor")
_BEFORE_SUBJECT: Final = word_set(
    "the a an all any each every our their its this these such both and"
)
_STATES: Final = word_set("states provides specifies stipulates confirms says")
_BREAKS = re.compile(r"[,;:()\[\]—–]")  # noqa: RUF001 - an en dash parts clauses


class QuoteJudge:
    """Compares words; knows nothing of their meaning."""

    name = "quote"

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Return full support for a (nearly) verbatim passage, partial for a similar one."""
        if len(claim.text) > LONGEST_SENTENCE:
            return [None] * len(passages)
        claimed = read_statement(claim.text)
        return [_of_passage(claimed, passage) for passage in passages]


def _of_passage(claim: Statement, passage: Passage) -> Opinion | None:
    found = [
        _in_arabic(claim, sentence, passage) or _of_sentence(claim, sentence, passage)
        for sentence in read_sentences(passage.snippet, passage.context, passage.heading)
    ]
    given = [opinion for opinion in found if opinion]
    return max(given, key=lambda opinion: opinion.match.similarity, default=None)


def _in_arabic(claim: Statement, sentence: Sentence, passage: Passage) -> Opinion | None:
    """Return full support for an Arabic sentence that says an Arabic claim."""
    said = sentence.said
    if read_turns(said.text).asks or not says_the_same(claim.text, said.text):
        return None
    return _full(passage, NEARLY, "the passage says it in nearly the same words")


def _of_sentence(claim: Statement, sentence: Sentence, passage: Passage) -> Opinion | None:
    said = sentence.said
    shared = coverage(claim.stems, said.stems)
    enough = len(claim.stems & said.stems) >= _LEAST_SHARED
    if shared < (PARTIAL_FROM if enough else _NEARLY_ALL):
        return None
    provisos = find_provisos(claim, sentence)
    if provisos.denies or claim.negations != said.negations or not _same_values(claim, said):
        return None
    if not provisos.reasons:
        if _is_quoted(claim, said):
            return _full(passage, VERBATIM, "the passage says it word for word")
        if _is_nearly_quoted(claim, said) and not _conflicts(claim, said):
            return _full(passage, NEARLY, "the passage says it in nearly the same words")
    subject = read_measures(claim.text).subject or frozenset()
    if not subject <= said.stems | sentence.about:
        return None
    reason = f"the passage has {percent(shared)} of the claim's words"
    if provisos.reasons:
        reason += f", but {'; '.join(provisos.reasons)}"
    elif shared == 1:
        reason += ", but not as a statement of its own"
    return Opinion(
        EvidenceMatch(
            similarity=0.5 + 0.3 * shared,
            support_level=SupportLevel.PARTIAL,
            snippet=passage.snippet,
            passage=passage,
            judge=QuoteJudge.name,
            reason=reason,
        )
    )


def _full(passage: Passage, similarity: float, reason: str) -> Opinion:
    match = EvidenceMatch(
        similarity=similarity,
        support_level=SupportLevel.FULL,
        snippet=passage.snippet,
        passage=passage,
        judge=QuoteJudge.name,
        reason=reason,
    )
    return Opinion(match, certain=True)


def _same_values(claim: Statement, said: Statement) -> bool:
    """Whether the sentence has each of the claim's quantities, and each number that is none."""
    understood = understood_bounds(claim)
    for quantity in claim.quantities:
        if not any(
            compare_values(quantity, other, understood) == "same" for other in said.quantities
        ):
            return False
    return all(
        word.stem in said.numbers
        or any(found.start <= word.start < found.end for found in claim.quantities)
        for word in claim.words
        if word.is_number
    )


def _is_quoted(claim: Statement, said: Statement) -> bool:
    """Whether the claim's words stand in the sentence as they are, as a clause of it."""
    wanted = [word.text for word in claim.words]
    there = [word.text for word in said.words]
    return any(
        there[at : at + len(wanted)] == wanted and _is_clause(claim, said, at, at + len(wanted) - 1)
        for at in range(len(there) - len(wanted) + 1)
    )


def _is_nearly_quoted(claim: Statement, said: Statement) -> bool:
    """Whether the claim's telling words stand in the sentence in order, and little between."""
    wanted = _telling_stems(claim)
    for at, word in enumerate(said.words):
        if word.stem == wanted[0]:
            last = _last_in_order(said.words, at, wanted)
            if last is not None and _is_close(claim, said, at, last, len(wanted)):
                return True
    return False


@lru_cache(maxsize=1_024)
def _telling_stems(claim: Statement) -> tuple[str, ...]:
    return tuple(word.stem for word in claim.words if _tells(word))


def _tells(word: Word) -> bool:
    return word.is_content or word.is_number or word.negates


def _last_in_order(there: Sequence[Word], at: int, wanted: Sequence[str]) -> int | None:
    """Return where the last of the wanted stems stands if all stand there in order."""
    place = at - 1
    for stem in wanted:
        place = next((n for n in range(place + 1, len(there)) if there[n].stem == stem), -1)
        if place < 0:
            return None
    return place


def _conflicts(claim: Statement, said: Statement) -> bool:
    """Whether the few words in which the two differ say different things: "more", "fewer"."""
    measures = [word.text for word in claim.words if word.text in _DEGREES]
    return measures != [word.text for word in said.words if word.text in _DEGREES] or any(
        check.conflict for check in typed_checks(claim.text, said.text)
    )


def _is_close(claim: Statement, said: Statement, first: int, last: int, wanted: int) -> bool:
    among = said.words[first : last + 1]
    extra = sum(_tells(word) for word in among) - wanted
    verb = FINITE.search(said.text, among[0].start)
    known = claim.stems | HARMLESS
    if any(
        word.is_content and word.stem not in known and verb and word.end <= verb.start()
        for word in among
    ):
        return False  # a smaller group
    linked = [word.text for word in among if word.text in _LINKS]
    links = [word.text for word in claim.words if word.text in _LINKS]
    return extra <= _EXTRA_WORDS and linked == links and _is_clause(claim, said, first, last)


def _is_clause(claim: Statement, said: Statement, first: int, last: int) -> bool:
    """Whether the words from first to last are a clause: nothing before or in them rules them."""
    if not (claim.is_english and said.is_english):
        return len(said.words) == len(claim.words)  # what limits a statement is not known
    among = said.text[said.words[first].start : said.words[last].end]
    if len(_BREAKS.findall(among)) > len(_BREAKS.findall(claim.text)):
        return False
    return _begins_clause(said, first) and _ends_phrase(said, last)


def _begins_clause(said: Statement, first: int) -> bool:
    """Whether only articles, and words that limit nothing, stand before a word in its clause.

    In "the manager of contractors receives", what receives is not "contractors".
    """
    for at in range(first - 1, -1, -1):
        word, following = said.words[at], said.words[at + 1]
        if _BREAKS.search(said.text, word.end, following.start):
            return True
        if word.text == "that":
            return at > 0 and said.words[at - 1].text in _STATES
        if word.text not in _BEFORE_SUBJECT and word.stem not in HARMLESS:
            return False
    return True


def _ends_phrase(said: Statement, last: int) -> bool:
    """Whether a phrase ends with a word: "annual leave pay" does not end with "leave".

    Nor does it where an "or" goes on: "by post or courier" does not say "by post".
    """
    if last + 1 == len(said.words):
        return True
    word, following = said.words[last], said.words[last + 1]
    if following.text in _ALTERNATIVES:
        return False
    parted = _BREAKS.search(said.text, word.end, following.start) is not None
    return parted or not following.is_content or following.text.endswith("ly")
