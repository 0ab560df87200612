"""What the rules of several kinds look for in a sentence: names, months, numbers, hedges, verbs."""

import re
from collections import Counter
from typing import Final

from training.substitutes import MONTHS, SET_PHRASES, VERBS

MONTH: Final = "(?:" + "|".join(MONTHS) + ")"
NAME: Final = (
    r"(?:[A-Z][\w'\u2019.-]*[a-z]\b)"
    r"(?: (?:of |de |van |von |the )?[A-Z][\w'\u2019-]*[a-z]\b)*"
)
_END = re.compile(r"\s*[.!]?\s*$")
LEAD = re.compile(r"^(?:In|On|During|Since) (?:the )?(?:early |late |mid-)?[^,]{0,20}\d{4}s? ?, ")
"""A time that a sentence begins with."""
HEDGED = re.compile(
    r"\b(?:if|unless|whether|might|may|could|would|or|either|perhaps|possibly|probably|e\.g\.|not|"
    r"never|no|nor|none|neither|nothing|nobody|without|few|hardly|rarely|seldom|only|except|any|"
    r"cannot|instead|rather|but|should|unlike)\b|n't\b|n\u2019t\b|\?",
    re.IGNORECASE,
)
"""Where a part that is changed or left out need not change the truth, or changes more."""
SPEECH = re.compile(r"\b(?:uh|um|yeah|you know|i mean|huh)\b|\bi\b", re.IGNORECASE)
SOME_OF = re.compile(r"\b(?:such as|including|among|like|one of|some|various|for example)\b")
OTHERS_TOO = re.compile(
    r"\b(?:some|many|several|most|someone|somebody|something|others?|another|can|eligible|there)\b",
    re.IGNORECASE,
)
"""Where something else may be said of others without a conflict."""
QUANTIFIED = re.compile(
    r"^(?:Some|Many|Few|Most|Several|All|Every|Each|Both|Any|Half|No|None|One|Not|Only|An?|Two|"
    r"Three|Someone|Somebody|Man|Men|People|There|If|When|What|Who|How|Why|While|Although|Because|"
    r"As|Since|Once|After|Before|To|Neither|Either|But|And|Or|So|Whether|Unless|\d+)\b"
)
"""How a sentence begins whose denial is not made by one word."""
PAST: Final = {past: base for base, past in VERBS}
"""Verbs by their past."""
_SET_PHRASE = re.compile(
    rf"\b(?:{'|'.join(sorted(SET_PHRASES, key=len, reverse=True))})\b", re.IGNORECASE
)


def tail(sentence: str) -> str:
    """Return the full stop that ends a sentence, with the space around it."""
    return sentence[len(_END.sub("", sentence)) :]


def keeps_phrases(sentence: str, changed: str) -> bool:
    """Whether every set phrase of a sentence is still there when it is changed."""
    before, after = (
        Counter(phrase.lower() for phrase in _SET_PHRASE.findall(text))
        for text in (sentence, changed)
    )
    return before <= after
