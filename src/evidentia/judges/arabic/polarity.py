"""Whether a claim and a clause that is about the same deny and affirm the same thing.

What a negation denies is the first word behind it that carries meaning: in "لا يتجدد العقد" the
renewal, in "لا يجوز هدم الحوائط" the demolition. The two are at odds if one denies a word that the
other says plainly, and neither denies anything else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.judges.arabic.cases import is_case, is_conditional, takes_back
from evidentia.judges.arabic.facts import Facts, Telling, read_facts, share
from evidentia.judges.arabic.values import are_same
from evidentia.language.arabic.opposites import OPPOSITES
from evidentia.language.arabic.words import Token, bare_forms, tokens
from evidentia.language.lexicon import word_set
from evidentia.language.words import stem

_NOT: Final = word_set("لا لم لن ليس ليست ليسوا غير دون بدون بلا عدم")
_WITHOUT: Final = word_set("دون بدون بلا without")
_NO_VERB: Final = word_set("لا لم لن ليس ليست ولا ولم ولن فلا غير no not never cannot nor")
_IS_NOT: Final = word_set("ليس ليست ليسوا")
_FORBID: Final = word_set("يمنع تمنع ممنوع ممنوعه ممنوعا يحظر تحظر محظور محظوره")
_DENIES_NOTHING: Final = word_set(
    "يتجاوز تتجاوز يزيد تزيد يقل تقل يتعدي تتعدي يتخطي تتخطي اقل اكثر سيما بد مانع شك باس ينقص "
    "تنقص يتاخر علي في من الي"
)
"""What makes a bound, a duty or a contrast of a negation before it."""
_DENYING: Final = word_set(
    "امتناع يمتنع رفض يرفض منع حرمان يحرم اعفاء يعفي معفي معفاه عدا باستثناء يستثني تستثني مستثني "
    "ناقص غايب مستبعد محروم يفتقر ينعدم يخلو خال خاليه متوقف يتوقف تتوقف يسقط تسقط خارج "
    "excluded missing unlimited free exempt lacks lack refuses refused whether closed"
)
"""Words that deny by what they mean: with a negation beside them, what is denied is not clear."""
_OF_WHOM: Final = word_set("من ان اذا ما الذي التي حتي")
_SIGNS: Final = frozenset("،؛.;,:!؟?()|")
_REACH: Final = 4
_ENGLISH_NOT = re.compile(
    r"\b(?:not|never|no|cannot|without|nobody|none|nothing|neither|nor|\w+n't|prohibited|forbidden"
    r"|banned)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[،؛:,;.](?:\s|$)")
_ORDER: Final = {"قبل": "before", "بعد": "after", "before": "before", "after": "after"}
_WITHIN = re.compile(r"خلال\s+(?:\S+\s+){1,4}?من\s|\bwithin\s+(?:\S+\s+){1,3}?of\s", re.IGNORECASE)
"""What is due some time after something: "within 30 days of receipt"."""
_LIGHT_ENDS: Final = word_set("انتهاء الانتهاء اتمام استكمال the completing finishing")
AFFIRMED: Final = 0.45
"""Which part of a claim a clause must have that denies what the claim affirms."""
DENIED: Final = 0.8
"""The same where the claim denies what the clause affirms: it may speak of something else."""
OPPOSED: Final = 0.5
_LEAST_WORDS: Final = 2
_FEW: Final = 2
_MORE: Final = 2
"""How many words beside a denial the claim may lack: more may be what is denied of."""
_MORE_OF_A_DUTY: Final = 1
_DUTY: Final = word_set(
    "يجب تجب ويجب يتعين ينبغي يلزم تلزم يلتزم تلتزم ملزم ملزمه لابد بد يشترط تشترط الزامي الزاميه "
    "اجباري اجباريه مطلوب مطلوبه must required obliged"
)
REORDERED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Turned:
    """What a claim and a passage say to the contrary, and how much of the claim the clause has."""

    word: str
    clause: Facts
    share: float
    reason: str


@lru_cache(maxsize=4_096)
def clauses_of(said: Facts) -> tuple[Facts, ...]:
    """Return the clauses of a sentence, which commas and the like part."""
    return tuple(read_facts(piece) for piece in _BREAK.split(said.text) if piece.strip())


def turned(claim: Facts, sentences: tuple[Facts, ...]) -> Turned | None:
    """Return where a clause says the contrary of a claim; the one that has most of it."""
    if is_case(claim) or takes_back(claim):
        return None
    found: list[Turned] = []
    for clause in (clause for said in sentences for clause in clauses_of(said)):
        if takes_back(clause) or is_conditional(clause) or not has_values(claim, clause):
            continue
        one = _denies(claim, clause) or _opposes(claim, clause) or _reorders(claim, clause)
        found += [one] if one else []
    whole = [said for said in sentences if not takes_back(said) and has_values(claim, said)]
    found += [one for said in whole if (one := _reorders(claim, said))]
    agreed = any(_agree(claim, clause) for said in sentences for clause in clauses_of(said))
    return None if agreed else max(found, key=lambda one: one.share, default=None)


def has_values(claim: Facts, clause: Facts) -> bool:
    """Whether a clause has all values of a claim."""
    return all(any(are_same(one, other) for other in clause.quantities) for one in claim.quantities)


def _agree(claim: Facts, clause: Facts) -> bool:
    """Whether both deny one word."""
    here, there = _keys(claim, denied(claim)), _keys(clause, denied(clause))
    return not here.isdisjoint(there)


def _keys(facts: Facts, places: frozenset[int]) -> frozenset[str]:
    return frozenset[str]().union(*(word.keys for word in facts.telling if word.start in places))


def _denies(claim: Facts, clause: Facts) -> Turned | None:
    """Find a word that one of the two denies and the other says plainly."""
    here, there = denied(claim), denied(clause)
    one_denies = (len(here) == 1 and not there) or (not here and 1 <= len(there) <= _FEW)
    if not one_denies or denies_by_meaning(claim) or denies_by_meaning(clause):
        return None
    part = share(claim, clause.keys)
    if part < (DENIED if here else AFFIRMED):
        return None
    if there and (is_limited(clause, claim) or _denies_twice(clause)):
        return None
    most = _MORE_OF_A_DUTY if demands(claim) else _MORE
    if there and sum(word.keys.isdisjoint(claim.keys) for word in clause.telling) > most:
        return None  # "may not register for a colleague" denies no duty to register
    denying, places, other = (claim, here, clause) if here else (clause, there, claim)
    wanted = _keys(denying, places)
    plain = _keys(denying, frozenset(word.start for word in denying.telling) - places)
    for word in other.telling:
        if not word.keys.isdisjoint(wanted) and word.keys.isdisjoint(plain):
            reason = "the passage says the same with a negation more, or one less, than the claim"
            return Turned(word.text, clause, part, reason)
    return None


def is_limited(clause: Facts, claim: Facts) -> bool:
    """Whether a clause says "before" or "after" what, and the claim does not."""
    here, there = ({token.text for token in tokens(one.text)} for one in (claim, clause))
    return not _ORDER.keys() & there <= here


def _denies_twice(clause: Facts) -> bool:
    """Whether a clause has a "not" and a "without": "no work without a permit" demands one."""
    found = {token.text for token in tokens(clause.text)}
    return not _NO_VERB.isdisjoint(found) and not _WITHOUT.isdisjoint(found)


def demands(claim: Facts) -> bool:
    """Whether a claim says that something must be done."""
    return not _DUTY.isdisjoint(token.text for token in tokens(claim.text))


def denies_by_meaning(facts: Facts) -> bool:
    """Whether a text has a word that denies by what it means, such as "exempt"."""
    return not _DENYING.isdisjoint(_forms(facts))


@lru_cache(maxsize=4_096)
def denied(facts: Facts) -> frozenset[int]:
    """Return where the words stand that a text denies."""
    if not facts.is_arabic:
        return frozenset(_english(facts))
    telling = {word.start for word in facts.telling}
    found = tokens(facts.text)
    return frozenset(
        place
        for at in range(len(found))
        if _negates(found, at)
        for place in _behind(found, at, telling)
    )


def _english(facts: Facts) -> Iterator[int]:
    for match in _ENGLISH_NOT.finditer(facts.text):
        behind = [word.start for word in facts.telling if word.start >= match.end()]
        if behind and not _BREAK.search(facts.text, match.end(), behind[0]):
            yield behind[0]


def _plain(word: str) -> str:
    return word[1:] if word[0] in "وف" and (word[1:] in _NOT or word[1:] in _FORBID) else word


def _negates(found: tuple[Token, ...], at: int) -> bool:
    word = _plain(found[at].text)
    following = found[at + 1].text if at + 1 < len(found) else ""
    if (word not in _NOT and word not in _FORBID) or following in _DENIES_NOTHING:
        return False
    if word == "غير" and following.startswith("ال"):
        return False
    return at == 0 or found[at - 1].text.lstrip("وف") not in _OF_WHOM


def _behind(found: tuple[Token, ...], at: int, telling: set[int]) -> list[int]:
    """Return what a negation denies: the next word that carries meaning, two behind "is not"."""
    reached: list[int] = []
    for token in found[at + 1 : at + 1 + _REACH]:
        if token.text in _SIGNS:
            break
        if token.start in telling:
            reached.append(token.start)
            if _plain(found[at].text) not in _IS_NOT or len(reached) == _LEAST_WORDS:
                break
    return reached


def _opposes(claim: Facts, clause: Facts) -> Turned | None:
    """Find a word of the claim whose opposite the clause has, with the rest the same."""
    if denied(claim) or denied(clause):
        return None
    here, there = _forms(claim) - _bounds(claim), _forms(clause) - _bounds(clause)
    for first, second in OPPOSITES:
        for one, other in ((first, second), (second, first)):
            if not (here & one and there & other) or here & other or there & one:
                continue
            rest = [word for word in claim.telling if not _word_forms(word) & one]
            found = sum(not word.keys.isdisjoint(clause.keys) for word in rest)
            if len(rest) >= _LEAST_WORDS and found / len(rest) >= _opposed_from(claim, clause):
                said, claimed = min(there & other), min(here & one)
                reason = f'the passage says "{said}" where the claim says "{claimed}"'
                return Turned(claimed, clause, found / len(rest), reason)
    return None


def _opposed_from(claim: Facts, clause: Facts) -> float:
    return OPPOSED if claim.is_arabic == clause.is_arabic else AFFIRMED


def _bounds(facts: Facts) -> frozenset[str]:
    """Return the comparatives that only bound a value: "more than ten", "ten or more"."""
    found = tokens(facts.text)
    return frozenset(
        token.text
        for at, token in enumerate(found)
        if (at and found[at - 1].text in {"او", "علي", "or"})
        or (at + 1 < len(found) and found[at + 1].text in {"من", "than"})
    )


@lru_cache(maxsize=4_096)
def _forms(facts: Facts) -> frozenset[str]:
    found = set[str]()
    for token in tokens(facts.text):
        found |= set(bare_forms(token.text)) if token.kind == "word" else {token.text}
    return frozenset(found)


def _word_forms(word: Telling) -> set[str]:
    return {word.text, *bare_forms(word.text), stem(word.text)}


def _reorders(claim: Facts, clause: Facts) -> Turned | None:
    """Find "before" in the one and "after" in the other, before the same word."""
    if share(claim, clause.keys) < REORDERED or denied(claim) or _says_no(clause):
        return None
    here = _orders(claim)
    there = [one for one in _orders(clause) if here and not one[1].isdisjoint(here[0][1])]
    if len(here) != 1 or len(there) != 1 or here[0][0] == there[0][0]:
        return None
    reason = f'the passage says "{there[0][0]}" where the claim says "{here[0][0]}"'
    return Turned(here[0][0], clause, share(claim, clause.keys), reason)


def _says_no(clause: Facts) -> bool:
    """Whether a clause denies more than that something is there: "without" denies no order."""
    return bool(denied(clause)) and not _NO_VERB.isdisjoint(
        token.text for token in tokens(clause.text)
    )


@lru_cache(maxsize=4_096)
def _orders(facts: Facts) -> list[tuple[str, frozenset[str]]]:
    """Return each "before" and "after" with the keys of the word behind it."""
    found: list[tuple[str, frozenset[str]]] = []
    marks = [(token.text, token.end) for token in tokens(facts.text) if token.text in _ORDER]
    marks += [("after", match.end()) for match in _WITHIN.finditer(facts.text)]
    for name, end in marks:
        behind = [
            word for word in facts.telling if word.start >= end and word.text not in _LIGHT_ENDS
        ]
        if behind:
            found.append((_ORDER[name], behind[0].keys))
    return found
