"""Whether a candidate is what it looks like: check digits, issuers, lengths, real addresses."""

import binascii
import ipaddress
import json
import re
from base64 import urlsafe_b64decode
from typing import Final

from stdnum import iban as iban_numbers
from stdnum.us import ssn

from evidentia.bundles.redaction.model import PLACEHOLDER
from evidentia.bundles.redaction.numbers import IBAN_LENGTHS, card_lengths
from evidentia.bundles.redaction.phones import normalised_phone

_SPACE = re.compile(r"\s")
_NOT_DIGITS = re.compile(r"[^0-9]+")
_DIGIT = re.compile(r"[0-9]")
_SAUDI_ID = re.compile(r"[12][0-9]{9}")
_DOUBLED: Final = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_FILES: Final = frozenset(
    re.findall(
        r"\S+",
        "png jpg jpeg gif svg webp avif ico css scss js mjs ts tsx jsx json map html htm md txt py "
        "so zip gz",
    )
)
_PLAIN_EMAIL = re.compile(
    r"[A-Za-z0-9_+-]{1,20}(?:\.[A-Za-z0-9_+-]{1,20})?@[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*\.([a-z]{2,})"
)
"""What most addresses look like, told at once."""
_ARABIC = re.compile(r"^[\u0600-\u06ff]+(?=[A-Za-z0-9])")
_LATIN_END = re.compile(r"([A-Za-z]{2,})[\u0600-\u06ff]")
_LONGEST_LOCAL, _LONGEST_DOMAIN = 64, 253
_LONGEST_HEADER = 16_384
_MAPPED_IPV6 = 45
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{16}")
_TEMPLATE = re.compile(r"[$%]?[{(<\[].*|\$\w+|%\w+%")
_CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\.\w+)*[(\[]|(?:\.[A-Za-z_]+)+$)")
_NO_SECRETS: Final = frozenset(
    re.findall(
        r"\S+",
        "none null nil true false string str text bool bytes varchar required optional undefined "
        "empty password passwd secret token hidden redacted masked",
    )
)
_SHORTEST_PASSWORD, _SHORTEST_KEY, _SHORTEST_WORD = 4, 8, 20
_SHORTEST_BEARER = 16
_FEWEST_SIGNS = 6


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return _NOT_DIGITS.sub("", text)


def is_card(digits: str) -> bool:
    """Whether an issuer has such numbers, and the check digit is right."""
    return len(digits) in card_lengths(digits) and _has_check_digit(digits)


def is_saudi_id(digits: str) -> bool:
    """Whether it is a Saudi national's or resident's number: ten digits, the last one checks."""
    return _SAUDI_ID.fullmatch(digits) is not None and _has_check_digit(digits)


def _has_check_digit(digits: str) -> bool:
    """Whether the last digit checks the others, by Luhn's rule: many a candidate comes here."""
    signs = digits.encode()
    plain, doubled = signs[-1::-2], signs[-2::-2].translate(_DOUBLED)
    return (sum(plain) - ord("0") * len(plain) + sum(doubled)) % 10 == 0


def is_us_ssn(text: str) -> bool:
    """Whether such a social security number can be issued; separators must be the same."""
    return text[3] == text[6] and ssn.is_valid(text.replace(" ", "-"))


def iban_end(text: str) -> int:
    """Return how much of a text is an IBAN with right check digits; 0 if none of it."""
    length = IBAN_LENGTHS[text[:2].upper()]
    places = [place for place, sign in enumerate(text) if sign.isalnum()]
    if len(places) < length:
        return 0
    end = places[length - 1] + 1
    if text[end : end + 1].isalnum():
        return 0
    compact = text[:end].replace(" ", "").replace("-", "").upper()
    return end if _checks(compact) and iban_numbers.is_valid(compact) else 0


def _checks(compact: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1


def is_ipv4(text: str) -> bool:
    """Whether it is an address of four numbers."""
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def ipv6_end(text: str) -> int:
    """Return how much of a text is an IPv6 address that no other notation explains; or 0."""
    if len(text) > _MAPPED_IPV6:
        return 0
    text = text.rstrip(".")
    if text.endswith(":") and not text.endswith("::"):
        text = text[:-1]
    if not _DIGIT.search(text):  # `abc::def` is a name in several languages
        return 0
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return 0
    return len(text)


def email_place(text: str) -> tuple[int, int] | None:
    """Return where in a text its e-mail address is: words of Arabic may be written against it."""
    plain = _PLAIN_EMAIL.fullmatch(text)
    if plain and plain[1] not in _FILES and len(text) <= _LONGEST_DOMAIN:
        return 0, len(text)
    local, _, domain = text.rpartition("@")
    name, _, last = domain.rpartition(".")
    after = _LATIN_END.match(last)
    if after and name.isascii():
        domain = f"{name}.{after[1]}"
    before = _ARABIC.match(local) if domain.isascii() else None
    start = before.end() if before else 0
    domain = domain.rstrip("-")
    labels = domain.lower().split(".")
    if (
        len(local) - start > _LONGEST_LOCAL
        or len(domain) > _LONGEST_DOMAIN
        or local.endswith(".")
        or ".." in local
        or any(not label or label[0] == "-" for label in labels)
        or not (labels[-1].isalpha() or labels[-1].startswith("xn--"))
        or len(labels[-1]) < len("co")
        or labels[-1] in _FILES
        or all(label.isdigit() for label in labels[:-1])
    ):
        return None
    return start, len(local) + 1 + len(domain)


def is_jwt(token: str) -> bool:
    """Whether the first part of a token is the header of a JSON Web Token."""
    header = token.partition(".")[0]
    if len(header) > _LONGEST_HEADER:
        return False
    try:
        found = json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and ("alg" in found or "typ" in found)


def is_key_body(text: str) -> bool:
    """Whether something of a key stands between the lines that frame it."""
    return _BASE64_RUN.search(text) is not None


def is_token(token: str) -> bool:
    """Whether a token looks drawn at random, and not like a name or a row of x."""
    if token.startswith("sk-") and not _DIGIT.search(token):
        return False
    return len(set(token[-16:])) >= _FEWEST_SIGNS


def is_bearer(value: str, *, named: bool) -> bool:
    """Whether the word after "Bearer" is a secret; `named` where the header is."""
    if named:
        return True
    return len(value) >= _SHORTEST_BEARER and _DIGIT.search(value) is not None


def is_assigned_secret(value: str, *, password: bool, quoted: bool, ends: bool) -> bool:
    """Whether the value of a name such as `password` or `api_key` is a secret.

    `ends` where nothing more follows on the line but what closes it. Templates, names of types and
    pieces of code are none, nor is a plain word in the middle of a sentence.
    """
    if (
        value.lower() in _NO_SECRETS
        or len(set(value)) < 3  # noqa: PLR2004 - a row of stars or of x
        or PLACEHOLDER.match(value)
        or _TEMPLATE.fullmatch(value)
        or (not quoted and _CODE.match(value))
    ):
        return False
    if password:
        return len(value) >= _SHORTEST_PASSWORD and (quoted or ends or not value.isalpha())
    if len(value) < _SHORTEST_KEY or value.isdigit() or _SPACE.search(value):
        return False
    return _DIGIT.search(value) is not None or (
        len(value) >= _SHORTEST_WORD and not value.islower()
    )


def is_userinfo(text: str) -> bool:
    """Whether the part of a URL before its @ holds a password, and not a template of one."""
    user, _, password = text.partition(":")
    return not (_TEMPLATE.fullmatch(password) or PLACEHOLDER.match(user))


def normalised(kind: str, value: str) -> str:
    """Return what is the same for all the ways to write one value."""
    change = _NORMAL.get(kind)
    return value if change is None else change(value)


def _iban(value: str) -> str:
    return value.replace(" ", "").replace("-", "").upper()


def _exploded(address: str) -> str:
    try:
        return ipaddress.IPv6Address(address).exploded
    except ValueError:  # a detector may call anything so
        return address


_NORMAL: Final = {
    "EMAIL": str.casefold,
    "CARD": digits_of,
    "SAUDI_ID": digits_of,
    "US_SSN": digits_of,
    "PHONE": normalised_phone,
    "IBAN": _iban,
    "IPV6": _exploded,
}
"""How values of a kind are made the same; those of others are, as they are written."""
