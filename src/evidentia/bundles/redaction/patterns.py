"""What values look like, as four patterns that are each one pass over the bytes of a text.

A pattern gives candidates, the longest of the leftmost; `judging` tells what they are. Repeats
are either bounded or take all that could belong to a candidate, so that no byte is looked at more
than a few times, whatever the text.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it has no types

from evidentia.bundles.redaction.model import KIND
from evidentia.bundles.redaction.numbers import IBAN_LENGTHS
from evidentia.errors import InputError

_EDGE: Final = r"(?:\b|_)"
_COUNTRIES: Final = "|".join(sorted(IBAN_LENGTHS))
_NUMBERS: Final = {
    r"[0-9]{9,}": {"PHONE", "CARD", "SAUDI_ID"},
    r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}": {"US_SSN"},
    r"[0-9]{4}(?:[- ][0-9]{4}){3}(?:[- ][0-9]{3})?": {"CARD"},
    r"[0-9]{4}[- ][0-9]{6}[- ][0-9]{4,5}": {"CARD"},
    r"(?:1[-. ])?[2-9][0-9]{2}[-.][0-9]{3}[-.][0-9]{4}": {"PHONE"},
    r"0 ?[1-9](?:[ )./-]{0,3}[0-9]){6,10}": {"PHONE"},
    r"00(?:11)?[ /-]?[1-9](?:[ ()./-]{0,3}[0-9]){6,18}": {"PHONE"},
    r"011[ -][1-9](?:[ ().-]{0,3}[0-9]){8,15}": {"PHONE"},
    r"1[3-9][0-9][- ][0-9]{4}[- ][0-9]{4}": {"PHONE"},
    r"1[389]00[- ][0-9]{3}[- ][0-9]{3}": {"PHONE"},
    r"1 8(?:00|33|44|55|66|77|88) [0-9]{3} [0-9]{4}": {"PHONE"},
    r"8[- ][3-9][0-9]{2}[- ][0-9]{3}-[0-9]{2}-[0-9]{2}": {"PHONE"},
    r"[0-9]+(?:\.[0-9]+){3,}": {"IPV4"},
    rf"(?i:{_COUNTRIES})[0-9]{{2}}[A-Za-z0-9]{{11,30}}": {"IBAN"},
    rf"(?i:{_COUNTRIES})[0-9]{{2}}(?:[ -][A-Za-z0-9]{{4}}){{2,7}}(?:[ -][A-Za-z0-9]{{1,3}})?": {
        "IBAN"
    },
    r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){7,}": {"IPV6"},
}
"""Shapes that begin and end at the edge of a word, with the classes that they may turn out as."""
_LED_NUMBERS: Final = {
    r"[(\[]?\+ ?\(?[1-9](?:[ ()\]./-]{0,3}[0-9]){6,18}\b": {"PHONE"},
    r"(?:\(0[ -]?|\b0 ?\()[1-9](?:[ )./-]{0,3}[0-9]){6,10}\b": {"PHONE"},
    r"\([1-9][0-9]\)[ -]?[0-9]{4,5}[- ][0-9]{4}\b": {"PHONE"},
    r"\([1-9][0-9]{2}\)[ -]?[0-9]{4}[- ][0-9]{4}\b": {"PHONE"},
    r"(?:\b8[- ]?)?\([3-9][0-9]{2,4}\)[ -]?[0-9]{1,3}-[0-9]{2}-[0-9]{2}\b": {"PHONE"},
    r"(?:\b[18][-. ]?)?\([2-9][0-9]{2}\)[ -]?[0-9]{3}[-. ][0-9]{4}\b": {"PHONE"},
    r"(?:\b[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?::[0-9A-Fa-f:.]*": {"IPV6"},
}
"""Shapes that begin with a sign, or may."""
_PHONE_WORDS: Final = (
    r"\b(?:tele(?:phone|fone|fono|foon|fon|fax)|t[ée]l[ée]phone|tel[ée]fono|telef[oó]n|t[ée]l|tlf|tfn|puh"
    r"|(?:cell|mobile)?phone|ph|mobile?|mob|m[oó]vil|cel|cell|celular|cellulare|handy|gsm|fax"
    r"|whatsapp|hotline)"
    r"|тел(?:ефон)?|моб(?:ильный)?|факс|τηλ(?:έφωνο)?|κιν(?:ητό)?"
    r"|هاتف|الهاتف|جوال|الجوال|تلفون|موبايل|واتساب|فاكس|تلفن|موبایل"
    r"|电话|電話|手机|手機|携帯|传真|전화|휴대폰|팩스|טלפון|נייד|โทร"
)
_PHONE_ORDINALS: Final = r"no|nr|num|number|kom|numéro|numero|número"
LABELLED_PHONE: Final = (
    rf"(?i:{_PHONE_WORDS})(?i:[_ .]{{0,2}}(?:{_PHONE_ORDINALS})\b)?([ .:=#\"'\\]{{1,6}})"
    r"([(+]?[0-9](?:[ ()./-]{0,3}[0-9]){6,14})\b"
)
"""A number after a word that says what it is: what stands between them, then the number."""
_NAME: Final = r"\p{L}\p{N}"
_ADDRESSES: Final = {
    rf"[{_NAME}_][{_NAME}_.%+'-]*@[{_NAME}-]+(?:\.[{_NAME}-]+)+": {"EMAIL"},
    rf"://[^\s/?#@:\"'<>`]*:[^\s/?#\"'<>`]+@[{_NAME}\[]": {"URL_CREDENTIALS"},
}
_WORD: Final = "[A-Za-z0-9_-]"
TOKENS: Final = (
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}",
    r"gh[oprsu]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    rf"gl(?:pat|dt|rt|soat|cbt|ptt|ft)-{_WORD}{{20,}}(?:\.{_WORD}+)*",
    rf"xox[a-z]-{_WORD}{{10,}}",
    rf"xapp-[0-9]-{_WORD}{{10,}}",
    rf"sk-{_WORD}{{20,}}",
    rf"AIza{_WORD}{{35,}}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}",
    r"(?:AC|SK)[0-9a-f]{32,}",
    r"npm_[A-Za-z0-9]{30,}",
    rf"pypi-{_WORD}{{50,}}",
    r"hf_[A-Za-z0-9]{30,}",
    rf"ya29\.{_WORD}{{20,}}",
)
"""Keys that say by their beginning whose they are."""
_GUARDED: Final = (
    r"pass(?:word|wd|phrase|code)|pwd|كلمة (?:المرور|السر)|الرقم السري|الرمز السري|رمز الدخول"
)
_KEY: Final = (
    r"(?:api|access|secret|private|account|auth|encryption|signing|master|subscription)[_ -]?key"
    r"|secret|token|sig"
)
_VALUE: Final = r"""(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"',;&<>]{1,64}))"""
ASSIGNMENT: Final = (
    rf"(?i:({_GUARDED})|{_KEY})[\"'\\]{{0,2}}\]?\s{{0,3}}(?:=>|:=|==|=|:)\s{{0,3}}\\?{_VALUE}"
)
"""A named secret: group 1 where the name is a password's, then its value, quoted or bare."""
AUTHORIZATION: Final = (
    r"(?i:(authorization)[\"'\\]{0,2}\s{0,3}[:=]\s{0,3}[\"'\\]{0,2}(?:bearer|basic|token|apikey)"
    r"|bearer)\s{1,3}([A-Za-z0-9._~+/=-]{4,})"
)
"""A secret in a header: group 1 where the header is named, then the secret."""
_SECRETS: Final = {
    **{rf"\b{token}": {"API_KEY"} for token in TOKENS},
    ASSIGNMENT: {"API_KEY"},
    rf"\b{AUTHORIZATION}": {"API_KEY"},
    rf"\beyJ{_WORD}{{6,}}(?:\.{_WORD}*){{2,5}}": {"JWT"},
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----": {"PRIVATE_KEY"},
}
BUILT_IN: Final = (
    "EMAIL", "PHONE", "IBAN", "CARD", "IPV4", "IPV6", "SAUDI_ID", "US_SSN", "URL_CREDENTIALS",
    "JWT", "API_KEY", "PRIVATE_KEY",
)  # fmt: skip
"""The classes that are always at hand; the first of two that claim the same span has it."""
_MEMORY: Final = 64 << 20
_CUSTOM_MEMORY: Final = 1 << 20
_ANY_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_PROBE: Final = b"\n\na a\n  aa\n"
"""Every neighbourhood that an assertion can tell apart: letters, others, line ends, the edges."""


@lru_cache(maxsize=64)
def number_pattern(classes: frozenset[str]) -> Any:
    """Return the pattern of what is written in digits; None where no class asks for it."""
    edged = _wanted(_NUMBERS, classes)
    whole = [f"{_EDGE}(?:{'|'.join(edged)}){_EDGE}"] if edged else []
    return _alternation(whole + _wanted(_LED_NUMBERS, classes))


@lru_cache(maxsize=64)
def label_pattern(classes: frozenset[str]) -> Any:
    """Return the pattern of phone numbers after a word for them; None where no class asks."""
    return _alternation([LABELLED_PHONE] if "PHONE" in classes else [])


@lru_cache(maxsize=64)
def address_pattern(classes: frozenset[str]) -> Any:
    """Return the pattern of what is written around an @; None where no class asks for it."""
    return _alternation(_wanted(_ADDRESSES, classes))


@lru_cache(maxsize=64)
def secret_pattern(classes: frozenset[str]) -> Any:
    """Return the pattern of keys and tokens; None where no class asks for it."""
    return _alternation(_wanted(_SECRETS, classes))


def capturing(pattern: str) -> Any:
    """Return a pattern that tells its groups, for a second look at a candidate."""
    return re2.compile(pattern, _options(_MEMORY))


def matcher(pattern: Any) -> tuple[Callable[..., list[tuple[int, int]]], object]:
    """Return what gives the first match between two places, or (-1, -1), and its first argument.

    It goes past the package's own loop, which makes two objects for each match.
    """
    return pattern._regexp.Match, re2._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001 - see above


@lru_cache(maxsize=256)
def custom_pattern(name: str, pattern: str) -> Any:
    """Return a caller's pattern, compiled, or refuse it with an InputError that says why."""
    if not KIND.fullmatch(name):
        raise InputError(
            f"a pattern's name is {name!r}: begin with a capital letter, and use capital letters, "
            "digits and underscores only, as in EMPLOYEE_ID"
        )
    if name in BUILT_IN:
        raise InputError(f"the pattern {name} has the name of a built-in class: rename it")
    if _ANY_BYTE.search(pattern):
        raise InputError(f"the pattern {name} uses \\C, which cuts characters apart: use . instead")
    try:
        made = re2.compile(pattern, _options(_CUSTOM_MEMORY))
    except (re2.error, UnicodeEncodeError) as problem:
        raise InputError(
            f"the pattern {name} cannot be used ({_reason(problem)}): write it in RE2's syntax, "
            "without backreferences or lookaround, and with repeats that are not too large"
        ) from None
    if any(made.match(_PROBE, place, place) for place in range(len(_PROBE) + 1)) or made.match(b""):
        raise InputError(
            f"the pattern {name} matches the empty string: let it ask for at least one character"
        )
    return made


def _wanted(shapes: dict[str, set[str]], classes: frozenset[str]) -> list[str]:
    return [shape for shape, kinds in shapes.items() if not kinds.isdisjoint(classes)]


def _alternation(shapes: list[str]) -> Any:
    if not shapes:
        return None
    options = _options(_MEMORY)
    options.longest_match = True
    options.never_capture = True
    return re2.compile("|".join(shapes), options)


def _options(memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options


def _reason(problem: Exception) -> str:
    if isinstance(problem, UnicodeEncodeError):
        return "it holds half a surrogate pair"
    found = problem.args[0]
    return found.decode(errors="replace") if isinstance(found, bytes) else str(found)
