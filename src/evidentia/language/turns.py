"""Turns of phrase: those by which a text denies or limits what it says, and with what force.

They are English ones. Each kind is told in words that fit behind "the passage".
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.language.measures import HARMLESS
from evidentia.language.words import content_stems, words

DENIED: Final = "says that it is not so"
PAST: Final = "speaks of another time"
TO_READER: Final = "speaks to who reads it"
DENYING: Final = (
    r"fail(?:s|ed|ing)? to|declin(?:e|es|ed|ing) to|den(?:y|ies|ied|ying)|lack(?:s|ed|ing)?"
    r"|avoid(?:s|ed|ing)?|instead of|rather than"
)
"""What denies what follows it, for a pattern."""


def _phrases(
    text: str, *, before: str = "", also: str = "", flags: int = re.IGNORECASE
) -> re.Pattern[str]:
    """Return a pattern for any of the phrases, which commas part; `*` stands for any ending."""
    listed = [phrase.strip() for phrase in text.replace("\n", " ").split(",")]
    known = [re.escape(phrase).replace(r"\*", r"\w*") for phrase in listed]
    any_known = "|".join([*known, also] if also else known)
    return re.compile(rf"{before}\b(?:{any_known})(?!\w)", flags)


DENIALS: Final = (
    (
        DENIED,
        _phrases(
            """false, falsely, incorrect, incorrectly, untrue, wrong, wrongly, myth, myths,
            misconception*, misunderstanding*, mistaken, mistakenly, contrary to, no truth, hoax,
            not true, not correct, not the case, unlike, as opposed to, other than, prevent*,
            forfeit*, waive, waives, waived, lose, loses, lost""",
            also=DENYING,
        ),
    ),
    (
        PAST,
        _phrases(
            """previous, previously, former, formerly, used to, originally, in the past,
            historically, obsolete, outdated, superseded, replaced, repealed, abolished,
            cancelled, canceled, withdrawn, revoked, expired, discontinued, ceased, rescinded,
            ex, old policy, old rule, old version"""
        ),
    ),
    (
        TO_READER,
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
            r"\b(?:instructions?|prompts?|rules?|above|previous)\b"
            r"|\b(?:mark|treat|consider|label|judge|rate|count|accept)\b.{0,80}\b(?:as|to be)\b"
            r".{0,20}\b(?:supported|verified|true|correct|valid|proven|fact)\b"
            r"|\b(?:this|the|following|every|each|all) claims?\b|\bverdicts?\b"
            r"|\bsystem (?:prompt|message)\b|\blanguage model\b"
            r"|\byou are (?:an?|the) (?:ai|assistant|judge|evaluator|model)\b"
            r"|\b(?:respond|answer|reply|output) (?:with|only|that|yes|no)\b",
            re.IGNORECASE,
        ),
    ),
)
"""What a sentence that supports nothing does."""
LIMITS: Final = (
    (
        "under a condition",
        _phrases(
            """if, unless, except*, exclud*, only, until, till, provided that, provided they,
            provided the, provided it, providing that, whether, subject to, depend, depends,
            depending, dependent, in case, in the case, in the event, as long as, so long as,
            otherwise, discretion, discretionary, condition, conditions, conditional,
            conditionally, contingent, once, upon, pending, apart from, save for, limited to,
            assuming, with the approval, with the consent, with the permission, with the
            agreement, case by case, case-by-case, respectively, in principle, however, although,
            though, but"""
        ),
    ),
    (
        "under a condition",
        _phrases("where, when, whenever, who, whose, whom, during", before="(?<!, )"),
    ),
    (
        "under a condition",
        _phrases(
            "after",
            before="(?<!, )(?<!days )(?<!weeks )(?<!months )(?<!years )(?<!hours )",
        ),
    ),
    (
        "of some only",
        _phrases(
            """some, certain, selected, many, few, fewer, several, partly, partially, sometimes,
            often, usually, typically, generally, normally, mostly, rarely, occasionally, nearly
            all, almost, half"""
        ),
    ),
    ("of some only", _phrases("most", before="(?<!at )")),
    ("on top of something else", _phrases("additional, additionally, another, extra, further")),
    (
        "as what someone holds, plans or imagines",
        _phrases(
            """alleg*, claim, claims, claimed, claiming, suppos*, purport*, reportedly, rumor*,
            rumour*, belief, believe, believes, believed, think, thinks, thought, hope, hopes,
            hoped, expect, expects, expected, want, wants, wanted, demand, demands, demanded,
            propos*, suggest, suggests, suggested, recommend*, argue, argues, argued, assert,
            asserts, asserted, doubt*, refus*, reject*, questioned, draft, drafts, consider,
            considers, considered, considering, under review, plan to, plans to, planned to,
            it is said, hypothetical*, imagin*, pretend*, fictional, for example, for instance,
            e.g., opinion, opinions, asked to, intend to, intends to, intended to, aim to, aims to,
            aimed to, attempt*, try to, tries to, tried to, seek to, seeks to, in the view
            of, according to"""
        ),
    ),
)
"""How a sentence limits what it says; in other forms after a comma it only adds something."""
_FORCES: Final = (
    (
        "must",
        _phrases(
            """must, mustn't, shall, required, require, requires, has to, have to, need to, needs
            to, need not, mandatory, obliged"""
        ),
    ),
    ("may", _phrases("may, MAY", flags=0)),  # the month is no permission
    (
        "may",
        _phrases(
            """can, cannot, can't, allowed, permitted, allow, allows, permit, permits, eligible,
            optional"""
        ),
    ),
    ("should", _phrases("should, shouldn't, recommended, encouraged, advised, ought")),
    ("might", _phrases("might, could, would, possibly, perhaps, probably, likely")),
)
_ENTITLED = re.compile(r"\bentitle\w*\b|\bright to\b", re.IGNORECASE)
_WAS = re.compile(r"\b(?:was|were|had|did)(?:n't)?\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are|has|have|do|does|must|shall|may|can|will|gets?|receives?)\b", re.IGNORECASE
)
"""What tells of the past, and what of now or of what is to come."""
_SAYS = re.compile(
    r"\b(?:says?|said|states?|stated|writes|wrote|announce[sd]?|insist(?:s|ed)|explain(?:s|ed)|"
    r"told|report(?:s|ed))\s*(?:that\b|[:,\"“\u2018])",
    re.IGNORECASE,
)
_SAID_BEFORE = re.compile(r"[,\"”\u2019]\s*(?:says|said|wrote|according)\b", re.IGNORECASE)
_LONGEST: Final = 400
_QUESTION = re.compile(r"[?؟\uff1f][\"'”\u2019»)\]]*$")


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of phrase of a text: those that deny, those that limit, and its force."""

    denials: tuple[frozenset[str], ...]
    limits: tuple[frozenset[str], ...]
    forces: frozenset[str]
    is_past: bool
    is_now: bool
    is_told: bool
    entitles: bool
    asks: bool


@lru_cache(maxsize=16_384)
def read_turns(text: str) -> Turns:
    """Return the turns of phrase of a text; the same text gives the same object."""
    is_past = _WAS.search(text) is not None
    return Turns(
        tuple(_found(pattern, text) for _, pattern in DENIALS),
        tuple(_found(pattern, text) for _, pattern in LIMITS),
        frozenset(force for force, pattern in _FORCES if pattern.search(text)),
        is_past,
        not is_past and _IS.search(text) is not None,
        _is_told(text),
        _ENTITLED.search(text) is not None,
        _QUESTION.search(text) is not None,
    )


def _is_told(text: str) -> bool:
    """Whether someone says it, and no document: "a flyer says: ..."."""
    return _SAID_BEFORE.search(text) is not None or any(
        content_stems(word for word in words(text[: match.start()]) if word.text[-2:] != "ly")
        - HARMLESS
        for match in _SAYS.finditer(text[:_LONGEST])
    )


def _found(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(match[0].lower() for match in pattern.finditer(text))
