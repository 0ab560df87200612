"""Provisos: what keeps a sentence from bearing a claim out though it has the claim's words.

A sentence may deny what it says ("it is false that", "no longer"), speak of another time, ask it,
or tell its reader what to think: then it bears nothing out. Or it may limit it: to a condition, to
some, to a place, a group or a case, to what someone believes, to what may be where the claim says
what is. Only what the claim does not say itself counts. The turns of phrase are English ones; in
other languages the judges ask for the same words and no others.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Final

from evidentia.judges.sentences import Sentence
from evidentia.language.measures import HARMLESS, read_measures
from evidentia.language.phrases import cases_of, does_otherwise, times_of
from evidentia.language.statements import Statement
from evidentia.language.words import Word, content_stems, stem, word_set, words

DENIED: Final = "says that it is not so"
PAST: Final = "speaks of another time"


def _phrases(text: str, *, before: str = "", flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Return a pattern for any of the phrases, which commas part; `*` stands for any ending."""
    listed = [phrase.strip() for phrase in text.replace("\n", " ").split(",")]
    known = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in listed)
    return re.compile(rf"{before}\b(?:{known})(?!\w)", flags)


_DENIALS: Final = (
    (
        DENIED,
        _phrases(
            """false, falsely, incorrect, incorrectly, untrue, wrong, wrongly, myth, myths,
            misconception*, misunderstanding*, mistaken, mistakenly, contrary to, deny, denies,
            denied, no truth, hoax, not true, not correct, not the case, unlike, instead of,
            rather than, as opposed to, other than, fail to, fails to, failed to, failing to, avoid,
            avoids, avoided, avoiding, prevent*, lack, lacks, lacked, forfeit*, waive, waives,
            waived, lose, loses, lost, decline to, declines to, declined to"""
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
        "speaks to who reads it",
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
"""What a sentence that bears nothing out does."""
_LIMITS: Final = (
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
_PERSONS: Final = frozenset(
    map(
        stem,
        word_set(
            "employee staff worker manager contractor trainee intern customer client member "
            "student pupil teacher patient child children adult tenant user visitor applicant "
            "passenger driver person people parent"
        ),
    )
)
_UNIVERSAL: Final = word_set("all every each any")
_STRONG: Final = _UNIVERSAL | word_set(
    "always only automatically solely exclusively additional another extra further"
)
_NO_WORD: Final = Word("", "", 0, 0)
_QUESTION = re.compile(r"[?؟\uff1f][\"'”\u2019»)\]]*$")


@dataclass(frozen=True, slots=True)
class Provisos:
    """What a sentence does to what it says: denies it, limits it, says it with another force."""

    denies: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    forces: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the sentence does not bear the claim out in full, though it may in part."""
        return (*self.limits, *(f'with another force ("{force}")' for force in self.forces))


def find_provisos(claim: Statement, sentence: Sentence) -> Provisos:
    """Return what a sentence says beyond or beside the claim."""
    said = sentence.said
    claimed, there = _turns(claim.text), _turns(said.text)
    denies = [
        kind
        for (kind, _), known, found in zip(_DENIALS, claimed.denials, there.denials, strict=True)
        if found - known
    ]
    if _QUESTION.search(said.text):
        denies.append("asks")
    if (there.is_past and claimed.is_now) or (claimed.is_past and there.is_now):
        denies.append(PAST)
    limits = [
        f"{kind} ({', '.join(sorted(found - known))})"
        for (kind, _), known, found in zip(_LIMITS, claimed.limits, there.limits, strict=True)
        if found - known
    ]
    named = frozenset[str]().union(*there.limits)
    limits += [
        f"of a place or group ({name})"
        for name in cases_of(said, claim)
        if name.lower() not in named
    ]
    limits += [f"at a time ({time})" for time in times_of(said, claim)]
    if there.is_told and not claimed.is_told:
        limits.append("as what someone says")
    other = does_otherwise(said, claim)
    if other:
        limits.append(f"with another verb ({other})")
    if sentence.limited:
        limits.append("limited by what follows")
    if heading_kind(claim, sentence) in _PERSONS:
        limits.append(f"of a group ({sentence.heading.text})")
    return Provisos(
        tuple(dict.fromkeys(denies)),
        (*limits, *_strength(claim, said)),
        tuple(_forces(claimed, there)),
    )


@dataclass(frozen=True, slots=True)
class _Turns:
    """The turns of phrase of a text: those that deny, those that limit, and its force."""

    denials: tuple[frozenset[str], ...]
    limits: tuple[frozenset[str], ...]
    forces: frozenset[str]
    is_past: bool
    is_now: bool
    is_told: bool
    entitles: bool


@lru_cache(maxsize=16_384)
def _turns(text: str) -> _Turns:
    is_past = _WAS.search(text) is not None
    return _Turns(
        tuple(_found(pattern, text) for _, pattern in _DENIALS),
        tuple(_found(pattern, text) for _, pattern in _LIMITS),
        frozenset(force for force, pattern in _FORCES if pattern.search(text)),
        is_past,
        not is_past and _IS.search(text) is not None,
        _is_told(text),
        _ENTITLED.search(text) is not None,
    )


def heading_kind(claim: Statement, sentence: Sentence) -> str:
    """Return the claim's subject if the heading names but a kind of it: "Sick leave"."""
    names = [word.stem for word in sentence.heading.words if word.is_content]
    subject = read_measures(claim.text).subject
    is_kind = subject == frozenset(names[-1:]) and not set(names) <= claim.stems | HARMLESS
    return names[-1] if is_kind else ""


def understood_bounds(claim: Statement) -> frozenset[str]:
    """Return the bounds that need no words: "must give 15 days" is at least, "may take" at most."""
    forces = _turns(claim.text).forces
    most = {"at_most"} if forces & {"must", "may"} else set()
    return frozenset(most | ({"at_least"} if "must" in forces else set()))


def _is_told(text: str) -> bool:
    """Whether someone says it, and no document: "a flyer says: ..."."""
    return _SAID_BEFORE.search(text) is not None or any(
        content_stems(word for word in words(text[: match.start()]) if word.text[-2:] != "ly")
        - HARMLESS
        for match in _SAYS.finditer(text[:_LONGEST])
    )


def _found(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(match[0].lower() for match in pattern.finditer(text))


def _forces(claimed: _Turns, there: _Turns) -> list[str]:
    """Return where one says what must be, and the other what may, should or might be."""
    missing = claimed.forces - there.forces - ({"may"} if there.entitles else set())
    added = there.forces - claimed.forces
    if not claimed.forces:
        added -= {"must"}  # what must be so is so
    return sorted(missing | added)


def _strength(claim: Statement, said: Statement) -> list[str]:
    """Return the words by which the claim says more than the sentence does: "always", "all"."""
    there = {word.text for word in said.words}
    claimed = _strong_words(claim)
    universal = _of_all(said)
    return [
        f'without the claim\'s "{word}"'
        for word, following in sorted(claimed.items())
        if (following not in universal if word in _UNIVERSAL else word not in there)
    ]


def _strong_words(claim: Statement) -> dict[str, str]:
    """Return the claim's strong words, each with the stem of the next one."""
    rates = [quantity.per_span for quantity in claim.quantities]
    return {
        word.text: following.stem
        for word, following in zip_longest(claim.words, claim.words[1:], fillvalue=_NO_WORD)
        if word.text in _STRONG and not any(low <= word.start < high for low, high in rates)
    }


def _of_all(said: Statement) -> set[str]:
    """Return the stems of the words that follow an "all" or "every"."""
    return {following.stem for word, following in pairwise(said.words) if word.text in _UNIVERSAL}
