"""Values: what a word is that is no plain word, and what it comes to."""

import re
from typing import Final
from unicodedata import decimal

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*%?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?|\d\d?[/.]\d\d?[/.]\d{2,4}")
_TIME = re.compile(r"\d\d?:\d\d(?::\d\d)?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BRACKETS: Final = "()[]\"'“”"


def kind_of(text: str) -> str:
    """Return what a word is that is no plain word: a number, a date, an address, a link, a code."""
    bare = text.strip(_BRACKETS)
    if "/" in bare and not _DATE.fullmatch(bare):
        return "link"
    if bare.replace("-", "").replace("'", "").isalpha() or not any(map(str.isalnum, bare)):
        return ""
    for kind, pattern in (("number", _NUMBER), ("date", _DATE), ("time", _TIME)):
        if pattern.fullmatch(bare):
            return kind
    return "address" if "@" in bare else "code"


def value_of(text: str) -> str:
    """Return a number by its value; of anything else, its digits."""
    digits = "".join(str(decimal(each)) if each.isdecimal() else each for each in text)
    digits = digits.strip(_BRACKETS)
    if kind_of(text) != "number":
        return "".join(filter(str.isdecimal, digits))
    whole = digits.replace(",", "" if _GROUPED.fullmatch(digits.lstrip("+-")) else ".")
    if whole.count(".") != 1:
        return whole.lstrip("+0") or "0"
    return whole.lstrip("+0").rstrip("0").rstrip(".")
