"""Operators: what a sentence denies, of how many it speaks, and how firmly."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.perturb.change import CONTRADICTED, NOT_FOUND, SUPPORTED, Change, against
from training.perturb.names import Names
from training.perturb.patterns import HEDGED, LEAD, NAME, PAST, QUANTIFIED, SOME_OF
from training.substitutes import VERBS

_CLAUSE = re.compile(
    r"\b(?:that|which|who|whom|when|if|because|where|while|as|whose|what|how|why|than|all|every|"
    r"both|some|most|many|each)\b|[;:\"(]|''|``"
)
_SCOPED = re.compile(
    r"\b(?:also|only|either|already|still|yet|even|because|always|all|every|both|sometimes|often|"
    r"usually|some|generally|or|but|one of|unless|if|until|either|too|just|any|anyone|anything|"
    r"ever|nor|necessarily|much|merely|simply|so that|although|though|mostly|typically|commonly|"
    r"each|sometimes|rather|instead|most|many|several|probably|fully)\b",
    re.IGNORECASE,
)


def _third(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_PAST_OF: Final = dict(VERBS)
_BASE_OF_THIRD: Final = {_third(base): base for base, _ in VERBS}
_NEGATED = re.compile(
    r"\b(is|are|was|were|has|have|had|will|can|must|should)(?: not| ?n['\u2019]t|not)\b"
)
_DID_NOT = re.compile(r"\b(did|does|do)(?: not| ?n['\u2019]t) (\w+)\b")


def turn_negation(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Deny what a sentence says, or say what it denies."""
    if QUANTIFIED.match(sentence) or _SCOPED.search(sentence):
        return
    if not HEDGED.search(sentence):
        yield from _with_not(sentence, source)
    turns = len(
        re.findall(
            r"\bnot\b|n['\u2019]t\b|\bnever\b|\bno\b|\bcannot\b|\bwithout\b|\bnone\b", sentence
        )
    )
    if turns != 1:
        return
    lead = LEAD.match(sentence)
    start = lead.end() if lead else 0
    match = _NEGATED.search(sentence)
    if match and not _CLAUSE.search(sentence[start : match.start()]):
        yield against("negation", sentence[: match.start()] + match[1] + sentence[match.end() :])
    match = _DID_NOT.search(sentence)
    if match and not _CLAUSE.search(sentence[start : match.start()]):
        base = match[2]
        forms = {"do": base, "does": _third(base), "did": _PAST_OF.get(base, "")}
        if forms[match[1]] and (base in _PAST_OF or match[1] == "do"):
            yield against(
                "negation", sentence[: match.start()] + forms[match[1]] + sentence[match.end() :]
            )
    match = re.search(r"\b(has|have|had|was|is|were|are|will) (?:never|no longer) ", sentence)
    if match and not _CLAUSE.search(sentence[start : match.start()]):
        still = "still " if "no longer" in match[0] else ""
        yield against("negation", sentence[: match.end(1)] + " " + still + sentence[match.end() :])
    match = re.search(
        r"\bwithout (?=(?:a|an|the|his|her|their|its|permission|success)\b)", sentence
    )
    if match:
        yield against("negation", sentence[: match.start()] + "with " + sentence[match.end() :])


def _with_not(sentence: str, source: random.Random) -> Iterator[Change]:
    """Deny the main verb."""
    lead = LEAD.match(sentence)
    start = lead.end() if lead else 0
    match = re.search(r"\b(is|are|was|were|has|have|had|will|can|must|should)\b", sentence)
    found: list[Change] = []
    aside = re.compile(r"\([^()]*\)")
    if match:
        subject = aside.sub("", sentence[start : match.start()])
        follows = sentence[match.end() :]
        verb = re.match(r" (\w+)", follows)
        main = match[1] not in {"has", "have", "had"} or (
            verb
            and (verb[1].endswith("ed") or verb[1] in {"been", "won", "made", "become", "taken"})
        )
        plain = not _CLAUSE.search(subject) and "," not in subject and 0 < len(subject.split()) <= 8
        verbal = any(word in PAST or word in _BASE_OF_THIRD for word in subject.split())
        if (
            main
            and plain
            and not verbal
            and not (subject.split()[-1:] and subject.split()[-1] == "and")
        ):
            word = (
                source.choice((" not", " not", "n't"))
                if match[1] not in {"can", "will"}
                else " not"
            )
            word = "not" if match[1] == "can" else word
            word = " never" if match[1] in {"has", "have"} and source.random() < 0.3 else word
            found.append(against("negation", sentence[: match.end()] + word + follows))
    told = re.match(rf"((?:{NAME}|He|She|It|They|The (?:\w+ ){{1,3}}?)) ?(\w+) ", sentence[start:])
    if told and told[2] in PAST and "," not in told[1]:
        way = (
            "did not" if source.random() < 0.6 else source.choice(("never", "didn't", "failed to"))
        )
        verb_text = told[2] if way == "never" else PAST[told[2]]
        place = start + told.start(2)
        found.append(
            against(
                "negation", f"{sentence[:place]}{way} {verb_text}{sentence[place + len(told[2]) :]}"
            )
        )
    elif told and told[2] in _BASE_OF_THIRD:
        place = start + told.start(2)
        base = _BASE_OF_THIRD[told[2]]
        found.append(
            against(
                "negation", f"{sentence[:place]}does not {base}{sentence[place + len(told[2]) :]}"
            )
        )
    yield from found[:1] if source.random() < 0.5 else found[-1:]


def change_quantifier(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Speak of more, of fewer or of none."""
    kind = "quantifier"
    if not HEDGED.search(sentence):
        for pattern, new, label, reverse in (
            (r"^All (?=[a-z]+s\b)", "Some ", SUPPORTED, NOT_FOUND),
            (r"^All (?:of )?(?=the |these |its |his )", "Some of ", SUPPORTED, NOT_FOUND),
            (r"^Some (?=[a-z]+s\b)", "All ", NOT_FOUND, SUPPORTED),
            (
                r"^(?:Some|Many|Several) of (?=the |these |its |his )",
                "All of ",
                NOT_FOUND,
                SUPPORTED,
            ),
            (r"^Most (?=[a-z]+s\b)", "All ", NOT_FOUND, SUPPORTED),
            (r"^(?:Many|Several) (?=[a-z]+s\b)", "All ", NOT_FOUND, None),
            (r"^(?:Some|Many|Several|Most|All) (?=[a-z]+s\b)", "No ", CONTRADICTED, CONTRADICTED),
            (
                r"^(?:Some|Many|Several|Most|All) of (?=the |these |its |his )",
                "None of ",
                CONTRADICTED,
                CONTRADICTED,
            ),
            (r"\bmost of (?=the |its )", "all of ", NOT_FOUND, SUPPORTED),
            (r"\bsome of (?=the |its )", "all of ", NOT_FOUND, SUPPORTED),
            (r"\ball of (?=the |its )", "some of ", SUPPORTED, NOT_FOUND),
            (r"\bat least (?=\d|two|three|four|five|six)", "at most ", CONTRADICTED, CONTRADICTED),
            (r"\b(?:more than|over) (?=[$€£]? ?\d)", "less than ", CONTRADICTED, CONTRADICTED),
            (
                r"\b(?:less than|fewer than) (?=[$€£]? ?\d)",
                "more than ",
                CONTRADICTED,
                CONTRADICTED,
            ),
        ):
            if match := re.search(pattern, sentence):
                text = sentence[: match.start()] + new + sentence[match.end() :]
                yield Change(kind, text, label, reverse)
        match = re.search(
            r"\b(?:performed|sold|available|found|published|used|played|aired|broadcast|shown|"
            r"distributed|spoken|released|held|worked|taught|served|lived|filmed|appeared) "
            r"(?=in [A-Z]|at [A-Z]|on [A-Z]|by [A-Z])",
            sentence,
        )
        if match and not SOME_OF.search(sentence):
            yield Change(
                kind,
                f"{sentence[: match.end()]}only {sentence[match.end() :]}",
                NOT_FOUND,
                SUPPORTED,
            )
    elif match := re.match(r"^No (?=[a-z]+s\b)", sentence):
        yield Change(kind, "Some " + sentence[match.end() :], CONTRADICTED, CONTRADICTED)
    elif (match := re.search(r"\bonly (?=in |at |on |by |for )", sentence)) and len(
        HEDGED.findall(sentence)
    ) == 1:
        text = sentence[: match.start()] + sentence[match.end() :]
        if not re.search(r"\b(?:is|are|was|were|has|the|not)\s+only", sentence):
            yield Change(kind, text, SUPPORTED, NOT_FOUND)
    source.random()  # the draws that follow stay those of earlier mixes


def change_modality(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Make what may be certain, and what must be optional or forbidden."""
    kind = "modality"
    if len(HEDGED.findall(sentence)) > 1 or re.search(
        r"\b(?:not|if|unless|never|no)\b|n't", sentence
    ):
        return
    options: list[Change] = []
    for pattern, new, label in (
        (r"\bmay (?=[a-z]+\b)", "must ", NOT_FOUND),
        (r"\b(?:may|might|could) be ", "is certain to be ", NOT_FOUND),
        (r"\b(?:may|might) have been ", "was definitely ", NOT_FOUND),
        (r"\b(?:possibly|probably|perhaps) ", "definitely ", NOT_FOUND),
        (r"\bmust (?=[a-z]+\b)", "need not ", CONTRADICTED),
        (r"\bmust (?=[a-z]+\b)", "must not ", CONTRADICTED),
        (r"\bshould (?=[a-z]+\b)", "should not ", CONTRADICTED),
        (r"\b(?:is|are) required to ", "are not allowed to ", CONTRADICTED),
        (r"\b(?<=is )required to ", "not required to ", CONTRADICTED),
        (r"\b(?<=are )required to ", "not required to ", CONTRADICTED),
        (r"\b(?<=is )(?:able|allowed|permitted) to ", "not able to ", CONTRADICTED),
        (r"\b(?<=are )(?:able|allowed|permitted) to ", "not allowed to ", CONTRADICTED),
        (r"\b(?<=was )(?:able|allowed|permitted) to ", "unable to ", CONTRADICTED),
        (r"\b(?<=were )(?:able|allowed|permitted) to ", "unable to ", CONTRADICTED),
        (r"\bcan (?=[a-z]+\b)", "cannot ", CONTRADICTED),
        (r"\bcan (?!be\b)(?=[a-z]+\b)", "must ", NOT_FOUND),
    ):
        match = re.search(pattern, sentence)
        if match and not (_SCOPED.search(sentence) and label == CONTRADICTED):
            text = sentence[: match.start()] + new + sentence[match.end() :]
            options.append(
                Change(kind, text, label, CONTRADICTED if label == CONTRADICTED else None)
            )
    source.shuffle(options)
    yield from options
