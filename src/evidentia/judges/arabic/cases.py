"""Which sentences are plain statements, so that a value or a negation in them can be compared.

A claim may apply a rule to a case that it makes up ("a customer of seventy pays nothing"), or work
something out ("together", "more than"): its values need not be the passage's. And a sentence may
take back a part of what it says ("except", "unless", "only").
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from evidentia.judges.arabic.facts import Facts
from evidentia.language.arabic.words import tokens
from evidentia.language.lexicon import word_set

_CASES: Final = word_set(
    "اذا ان لو من متي حين عندما حيث كلما فيما لمن فمن ومن اما عن مع بدون دون عند"
)
"""How an Arabic sentence about a case begins."""
_OF_WHOM: Final = word_set("لمن ممن")
_CONDITIONS: Final = word_set("اذا لو متي")
_WORKED_OUT: Final = word_set(
    "مقارنه مقارنا فرق الفرق يوفر توفر وفر مجموع متوسط المتوسط نظيره نظيرها اصل زادت زياده بزياده "
    "مقدار بمقدار اضعاف ضعف ضعفي ضعفا تفوق يفوق نصيب نصفها نصفه بينهما اجمالي الاجمالي المجموع معا "
    "سويا يوازي توازي كلا كلتا كلاهما متبقي المتبقي الباقي صافي الصافي"
)
_OF_ONE: Final = word_set(
    "عمره عمرها عمرهما وزنه وزنها دخله دخلها راتبه راتبها قيمتها طوله طولها كلفتها كلفته معدله "
    "معدلها يريد دام قضي"
)
"""What tells how old or how heavy a made-up person or thing is."""
_COMPARED: Final = word_set(
    "اطول اقصر اكبر اصغر ابعد اقرب اسرع ابطا اعلي ادني اغلي ارخص اكثر اقل اقدم احدث"
)
_LATER: Final = 3
"""How many words behind a comparative its "than" stands at most."""
_APART: Final = 2
_APPLIED: Final = word_set("الذي التي الذين اللذان اللتان")
_MOST: Final = word_set("اعلي اقصي ادني اطول اقصر اول اخر اكبر اصغر اقل اكثر")
_ARTICLES: Final = ("ال", "لل", "بال", "وال")
_FEW: Final = 4
_ENGLISH_CASE = re.compile(
    r"(?:an?|if|when|where|someone|anyone|whoever|whether|for|with|without|at|after|before|over|per"
    r"|from|in an?|on an?|should|even|nobody|no|not|counting|\w+ing)\b",
    re.IGNORECASE,
)
_ENGLISH_WORKED_OUT = re.compile(
    r"\b(?:would|if|who|whose|together|total\w*|altogether|in all|more|less|difference|compared"
    r"|times|average|saves?|both|each(?! month\b)|worth|late|past|even|still)\b",
    re.IGNORECASE,
)
_TAKES_BACK: Final = word_set("الا سوي لولا بل لكن غيره وحده وحدها فقط")
_ENGLISH_TAKES_BACK = re.compile(
    r"\b(?:unless|except|only|until|but|rather|instead)\b", re.IGNORECASE
)
_WHOEVER: Final = word_set("من ومن فمن")


@lru_cache(maxsize=4_096)
def is_case(claim: Facts) -> bool:
    """Whether a claim applies a rule to a case, or works a value out."""
    if not claim.is_arabic:
        return bool(_ENGLISH_CASE.match(claim.text) or _ENGLISH_WORKED_OUT.search(claim.text))
    found = [token.text for token in tokens(claim.text) if token.kind == "word"]
    found = found[1:] if found[0] == "قد" else found
    marked = _OF_ONE | _WORKED_OUT
    if not found or found[0] in _CASES or not (_OF_WHOM | _CONDITIONS).isdisjoint(found):
        return True
    if any(word in marked or word.removeprefix("و") in marked for word in found):
        return True
    if _compares(claim) or any(_is_applied(claim, one.start) for one in claim.quantities):
        return True
    return not (
        found[0] in _MOST
        or found[0][0] in "يتن"
        or claim.text.startswith("«")
        or any(word.startswith(_ARTICLES) for word in found[:_FEW])
    )


def _compares(claim: Facts) -> bool:
    """Whether a claim sets one thing against another: "longer than the other by a day"."""
    found = tokens(claim.text)
    for at, token in enumerate(found):
        if token.text not in _COMPARED:
            continue
        behind = [one.text for one in found[at + 1 : at + 1 + _LATER]]
        if "من" in behind:
            start = at + 2 + behind.index("من")
            than = found[start].start if start < len(found) else len(claim.text)
            if not any(one.start == than for one in claim.quantities):
                return True
    return False


def _is_applied(claim: Facts, start: int) -> bool:
    """Whether a value says which one is meant: "the guest who stays for four hours"."""
    before = [token.text for token in tokens(claim.text) if token.start < start]
    return not _APPLIED.isdisjoint(before[-_APART:])


@lru_cache(maxsize=4_096)
def takes_back(said: Facts) -> bool:
    """Whether a sentence limits or exchanges a part of what it says: "only", "except", "but"."""
    if not said.is_arabic:
        return _ENGLISH_TAKES_BACK.search(said.text) is not None
    found = [token.text for token in tokens(said.text)]
    return not _TAKES_BACK.isdisjoint(found) or ("ما", "لم") in pairwise(found)


@lru_cache(maxsize=4_096)
def is_conditional(said: Facts) -> bool:
    """Whether a clause says what is so under a condition, or of whoever meets one."""
    if not said.is_arabic:
        return _ENGLISH_CASE.match(said.text) is not None
    found = [token.text for token in tokens(said.text)]
    return found[:1] != [] and (
        found[0] in _WHOEVER or any(word.lstrip("وف") in _CONDITIONS for word in found)
    )
