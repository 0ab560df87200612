"""Phrases: an action taken apart into its verb, what is said of the verb, and the rest.

The active and the passive are read alike, whatever the tense. Where no verb can be told, none is
guessed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.language.lexicon import BE, DO, HAVE, MODALS, NOT, word_set
from evidentia.language.verbs import ALSO_NOUNS, DONE, LEMMAS
from evidentia.packs.spelling import SAFEGUARDS, ActionWord, read_words
from evidentia.packs.values import kind_of

_NEUTRAL: Final = word_set("successfully please")
_AUXILIARIES: Final = BE | HAVE | DO
_PENDING: Final = word_set("will shall should must to")
_PLANNED: Final = word_set("going need needs")
_PERHAPS: Final = MODALS - _PENDING
NOT_DONE: Final = NOT | word_set("partially partly")
_NOT_QUITE: Final = word_set("almost nearly mostly")
IN_VAIN: Final = word_set("failed fail unable refused refuse declined decline")
_TRIED: Final = word_set("attempted attempt tried try forgot")
_LEADING: Final = _AUXILIARIES | _PENDING | _NEUTRAL | NOT_DONE | {"i", "we"}
_MAX_LEAD: Final = 8
PREPOSITIONS: Final = word_set(
    "to from in on at by for with of into onto as about after before via per within under over"
)
LINKS: Final = word_set("and then")
_CLAUSES: Final = LINKS | word_set("that which who whom whose where when if because , ; . :")
_THINGS: Final = word_set(
    "email message invoice note task ticket report deal order payment file record document draft "
    "refund reminder quote contract meeting event"
)
"""What can't act, so that "email sent to Ann" says that someone sent it."""

_TIMED: Final = word_set(
    "get retrieve fetch read list search find query create add delete remove send email"
)
_DURATIONS: Final = word_set(
    "delay timeout timer interval pause wait sleep window ttl limit deadline"
)
_COUNTED: Final = word_set("get retrieve fetch read list search find query")
_COUNTS: Final = word_set("dozen couple few several single both first last next only pair half top")
_TIMING = re.compile(
    r"(?:(?: successfully)?[,;]? (?:in |took |\()\d+(?:\.\d+)? ?ms\)?| successfully)\.?$"
)
_ROWS = re.compile(
    r"[,;:]? (?:\(|(?:and )?return(?:ed|ing) )[1-9]\d* (?:rows?|results?|records?|hits?)\)?\.?$"
)


@dataclass(frozen=True, slots=True)
class Action:
    """An action taken apart; `verb` is empty where none could be told."""

    verb: str
    written: str
    rest: tuple[ActionWord, ...]
    marks: tuple[str, ...] = ()
    pending: bool = False

    @property
    def texts(self) -> list[str]:
        """The rest, as it is compared."""
        return [word.text for word in self.rest]


def parse_action(text: str) -> Action:
    """Take apart a plain text that is not blank; any such text can be."""
    words = tuple(_articles_dropped(read_words(text)))
    texts = [word.text for word in words]
    found = _lead(texts, 0)
    subject: tuple[ActionWord, ...] = ()
    if texts[0] not in LEMMAS or texts[0] in ALSO_NOUNS:
        for at in _chain_starts(texts):
            chain = _lead(texts, at)
            if chain is not None and _is_passive(texts, at, chain[0]):
                found, subject = chain, words[:at]
                break
    if found is None:
        return Action("", "", words)
    head, marks, pending = found
    written = texts[head]
    verb, rest = LEMMAS.get(written, written), words[head + 1 :]
    if verb == "look" and texts[head + 1 : head + 2] == ["up"]:
        verb, rest = "look up", rest[1:]
    rest = subject + rest
    if verb == "send" and [word.text for word in rest[:2]] == ["email", "to"]:
        verb, rest = "email", rest[2:]
    return Action(verb, written, rest, marks, pending)


def without_outcome(intended: Action, done: str) -> Action | None:
    """Return what was done without a timing and a count of rows at its end, where that is safe."""
    untimed = _TIMING.sub("", done)
    bare = _ROWS.sub("", untimed)
    action = parse_action(bare)
    if bare == done or action.written not in DONE or action.verb not in _TIMED:
        return None
    if not _DURATIONS.isdisjoint(intended.texts):
        return None
    if untimed != bare:
        texts = intended.texts
        counted = any(kind_of(text) or text in _COUNTS for text in texts)
        if action.verb not in _COUNTED or counted or not any(text.endswith("s") for text in texts):
            return None
    return action


def _articles_dropped(words: list[ActionWord]) -> Iterator[ActionWord]:
    """Leave out the articles; an "a" that may be a name stays."""
    for place, word in enumerate(words):
        following = words[place + 1].text if place + 1 < len(words) else ""
        before = words[place - 1].text if place else ""
        if word.text == "the" and following and (not place or word.shown == "the"):
            continue
        is_verb = place == 1 or before not in ALSO_NOUNS or words[place - 2].text in _LEADING
        opens = before in PREPOSITIONS or (before in LEMMAS and is_verb)
        if word.shown in {"a", "an"} and following.isalpha() and opens:
            continue
        yield word


def _lead(texts: Sequence[str], start: int) -> tuple[int, tuple[str, ...], bool] | None:
    """Return where the verb is, what is said of it (not, failed …), and whether it is to come."""
    at, marks, pending, auxiliary = start, list[str](), False, ""
    while at < min(len(texts), start + _MAX_LEAD):
        text = texts[at]
        if text in IN_VAIN | _TRIED and texts[at + 1 : at + 2] == ["to"]:
            marks.append(text)
            at, auxiliary = at + 1, ""
        elif text in _PERHAPS and texts[at + 1 : at + 2] == ["not"]:
            pass  # what could not be done was not done
        elif text in NOT_DONE | _NOT_QUITE | _PERHAPS:
            marks.append(text)
        elif text in _PENDING or (text in _PLANNED and texts[at + 1 : at + 2] == ["to"]):
            pending = True
        elif text in _AUXILIARIES:
            auxiliary = text
        elif text not in _NEUTRAL and not (text in {"i", "we"} and not at):
            break
        at += 1
    head = texts[at] if at < len(texts) else ""
    told = auxiliary not in BE | HAVE or head in DONE
    known = head in LEMMAS and told
    if known or (at == start and head.isascii() and head.isalpha()):
        return at, tuple(marks), pending
    return None


def _chain_starts(texts: Sequence[str]) -> Iterator[int]:
    """Yield where the verb of a passive may begin, up to the first clause of its own."""
    for at, text in enumerate(texts[:40]):
        if text in _CLAUSES:
            return
        inside = not at or texts[at - 1] in _AUXILIARIES | _PENDING
        if not inside and text in _AUXILIARIES | _PENDING | DONE:
            yield at


def _is_passive(texts: Sequence[str], start: int, head: int) -> bool:
    """Whether what stands before is what it was done to: "the order was closed", "email sent"."""
    if texts[head].endswith("ing") or texts[head] not in DONE:
        return False
    if head > start:
        # "is closed" tells of a state, and "list orders to be shipped" of what to list
        chain = set(texts[start:head])
        return bool(chain & BE - {"is", "are"}) and not (texts[0] in LEMMAS and "to" in chain)
    following = texts[head + 1] if head + 1 < len(texts) else ""
    alone = not following or following in PREPOSITIONS | SAFEGUARDS
    return texts[0] in _THINGS and alone and all(map(kind_of, texts[1:start]))
