"""Whether a candidate is a phone number, how much of it is, and what is the same however written.

Lengths by country tell most numbers at once. Only where they leave a choice, because a number is
written with the 0 of its country or more digits follow it, the plans of all countries are asked.
"""

import re
from typing import Final

from evidentia.bundles.redaction.numbers import (
    calling_code,
    has_own_lengths,
    keeps_zero,
    national_lengths,
)

_NOT_DIGITS = re.compile(r"[^0-9]+")
_GROUP = re.compile(r"[0-9]+")
_EXIT = re.compile(r"[(\[]?\+|0011[ /-]?(?=[1-9])|00[ /-]?|011[ -]")
_MOBILE = re.compile(r"05[0-9]{8}|9665[0-9]{8}|01[0125][0-9]{8}|07[1-9][0-9]{8}")
_TRUNK = re.compile(r"0[1-9][0-9]{7,9}|(?:08[0-9]|01[5-7])[0-9]{9}")
_USUAL = re.compile(r"0[1-9][0-9]{0,3}[- ][0-9]{3,4}[- ][0-9]{3,4}|0[1-9][0-9]{0,2}[- ][0-9]{6,8}")
"""National numbers that are told by their groups, whatever follows them."""
_PAIRS = re.compile(r"0[1-9](?:(?: [0-9]{2}){4}|(?:\.[0-9]{2}){4}|(?:-[0-9]{2}){4})")
_DATE = re.compile(
    r"(?:0?[1-9]|[12][0-9]|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:[0-9]{4}|[0-9]{2})(?![0-9])"
    r"|(?:19|20)[0-9]{2}([./-])(?:0[1-9]|1[0-2])\2[0-9]{2}(?![0-9])"
)
_APART = re.compile(r"0 ?\(?[1-9][0-9]{2}\)? ?[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{2}")
"""Turkish numbers, whose 0 stands by itself."""
_AMOUNT = re.compile(r"[0-9]+\.[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+")
_EXTENSION = re.compile(
    r"(?:[ ,;]{0,2}(?:ext(?:ension|n)?|durchwahl|dw|poste|ramal|доб|تحويلة)[ .:=]{0,2}"
    r"|[ ,;]{1,2}[x#])"
    r"([0-9]{1,6})(?![0-9])",
    re.IGNORECASE,
)
_MOST_DIGITS: Final = 15
_FEWEST_ABROAD: Final = 12
_FEWEST_NAMED, _FEWEST_UNMARKED = 7, 8
_MOST_TRIES: Final = 4
_MOST_GROUPS: Final = 6
_OTHERS: Final = frozenset({(3, 2, 4), (4, 4, 4, 4), (4, 6, 4), (4, 6, 5)})
"""Groups of cards and of social security numbers."""


def is_mobile(digits: str) -> bool:
    """Whether digits in a row are a mobile phone's number, of countries that write them so."""
    return _MOBILE.fullmatch(digits) is not None


def is_in_pairs(text: str) -> bool:
    """Whether it is written like a French number: five pairs of digits, the first with a 0."""
    return _PAIRS.fullmatch(text) is not None


def international_phone(text: str) -> int:
    """Return how much of a text is a number with a country's prefix; 0 if none of it.

    The prefix is a + or what is dialled in its place: 00, or 0011 and 011 where a plan of numbers
    has what follows.
    """
    start = _prefix_size(text)
    digits = _digits(text[start:])
    code = calling_code(digits)
    if not start or code is None:
        return 0
    least, most = national_lengths(code)
    national, trunk = _national(digits, code)
    if not trunk and has_own_lengths(code) and least <= len(national) <= most:
        return len(text)
    return _longest_planned(text, start) or _longest_by_length(text, start, code)


def _prefix_size(text: str) -> int:
    """Return how long the prefix is that leads to another country; 0 if a text has none."""
    found = _EXIT.match(text)
    if found is None:
        return 0
    rare = found[0].startswith(("0011", "011"))
    return 0 if rare and not _longest_planned(text, found.end(), _FEWEST_ABROAD) else found.end()


def _longest_planned(text: str, start: int, fewest: int = 0) -> int:
    """Return how much of a text, up to the end of a group, a plan of numbers has; or 0."""
    tried = 0
    for end in _ends(text, start):
        digits = _digits(text[start:end])
        if len(digits) > _MOST_DIGITS + 1:
            continue
        if tried == _MOST_TRIES or len(digits) + start < fewest:
            return 0
        if _is_planned(digits):
            return end
        tried += 1
    return 0


def _longest_by_length(text: str, start: int, code: str) -> int:
    """Return how much of a text is as long as a country's numbers are; or 0.

    All of it, if it has the 0 of a country and is longer by little: so it is written by people.
    """
    least, most = national_lengths(code)
    whole, trunk = _national(_digits(text[start:]), code)
    if trunk and whole.startswith("0"):
        return 0
    for end in _ends(text, start):
        national, _ = _national(_digits(text[start:end]), code)
        if least <= len(national) <= most:
            return end
    return len(text) if trunk and least <= len(whole) <= _MOST_DIGITS - len(code) else 0


def _national(digits: str, code: str) -> tuple[str, bool]:
    """Return a number without its country's code and 0, and whether it had such a 0."""
    national = digits[len(code) :]
    if national.startswith("0") and not keeps_zero(code):
        return national[1:], True
    return national, False


def _digits(text: str) -> str:
    return _NOT_DIGITS.sub("", text.replace("(0)", ""))


def _ends(text: str, start: int) -> list[int]:
    """Return where the groups of digits of a text end, the last first."""
    return [group.end() for group in _GROUP.finditer(text, start)][::-1]


def _is_planned(digits: str) -> bool:
    """Whether a country's plan has a number, with or without the 0 of its country."""
    import phonenumbers  # noqa: PLC0415 - loading it takes a while, and few numbers need it

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(f"+{digits}"))
    except phonenumbers.NumberParseException:
        return False


def national_phone(text: str, *, goes_on: bool, follows: bool) -> int:
    """Return how much of a text of groups is a number within a country; 0 if none of it.

    `follows` where digits stand right before it, `goes_on` where they stand right behind.
    """
    if not text.lstrip("(").startswith("0"):
        return len(text)
    for end in _ends(text, 0):
        piece = text[:end]
        if _USUAL.fullmatch(piece) and _TRUNK.fullmatch(_NOT_DIGITS.sub("", piece)):
            return end
        alone = not follows and not (goes_on if end == len(text) else _is_joined(text, end))
        if alone and _is_trunk_number(piece):
            return end
    return 0


def _is_joined(text: str, end: int) -> bool:
    """Whether one sign alone stands between a place and the next digit."""
    return text[end + 1 : end + 2].isdigit()


def _is_trunk_number(text: str) -> bool:
    """Whether groups that stand by themselves are a number with the 0 of its country."""
    digits = _NOT_DIGITS.sub("", text)
    if not _TRUNK.fullmatch(digits):
        return False
    if is_in_pairs(text):
        return True
    if _DATE.match(text):
        return False
    groups = _GROUP.findall(text)
    if len(groups) > _MOST_GROUPS:
        return False
    if groups[0] == "0":
        return text[0] == "(" or _APART.fullmatch(text) is not None
    short = [place for place, group in enumerate(groups) if len(group) == 1]
    last = len(groups) - 1
    return all(place == 1 or (place == last and text[-2] == "-") for place in short)


def named_phone(text: str, between: str, *, goes_on: bool) -> bool:
    """Whether a number after a word such as "phone" is one; `between` is what parts the two."""
    groups = _GROUP.findall(text)
    count = sum(map(len, groups))
    fewest = _FEWEST_UNMARKED if between.isspace() else _FEWEST_NAMED
    return not (
        goes_on
        or not fewest <= count <= _MOST_DIGITS
        or tuple(map(len, groups)) in _OTHERS
        or _DATE.match(text)
        or _AMOUNT.fullmatch(text)
        or text.count(".") > 2  # noqa: PLR2004 - an address has three
    )


def extension_size(after: str) -> int:
    """Return how much of what follows a number is its extension, if any."""
    found = _EXTENSION.match(after)
    return found.end() if found else 0


def normalised_phone(value: str) -> str:
    """Return what is the same for the ways to write a number: its digits, after a + from abroad.

    What is dialled for the + goes, and the 0 of a country; an extension follows an x.
    """
    extension = _EXTENSION.search(value)
    main = value[: extension.start()] if extension else value
    added = f"x{extension[1]}" if extension else ""
    start = _prefix_size(main)
    digits = _digits(main[start:])
    code = calling_code(digits) if start else None
    if code is not None:
        digits = code + _national(digits, code)[0]
    return f"{'+' if start else ''}{digits}{added}"
