"""Spelling: the words of an action, each in one way of writing it.

Letter case, digits, dashes, contractions and the spelling of an amount are evened out; an id, an
address or a path stays as it stands.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from evidentia.language.characters import (
    ARABIC_LETTERS,
    ARABIC_VOWELS,
    TATWEEL,
    strip_invisible,
)
from evidentia.language.digits import TO_WESTERN
from evidentia.language.lexicon import CARDINALS, DO, HAVE, IS, word_set

SAFEGUARDS: Final = word_set(
    "read-only dry-run draft preview simulated simulation sandbox encrypted masked anonymised "
    "anonymized redacted pseudonymised pseudonymized temporary temporarily soft-delete bcc test "
    "twice thrice repeatedly"
)
"""Qualifiers that change what was done, wherever only one side has them."""
_DECIMAL_CURRENCIES: Final = word_set("usd gbp sar aed qar egp cad aud")
"""Currencies with two decimals whose amounts have a point before them, never a comma."""

_ALIASES: Final = {
    "e-mail": "email",
    "e-mails": "emails",
    "prod": "production",
    "&": "and",
    "readonly": "read-only",
    "dryrun": "dry-run",
    **{word: str(value) for value, word in enumerate(CARDINALS[:13])},
}
_JOINED: Final = {("read", "only"): "read-only", ("dry", "run"): "dry-run"}
_CONTRACTIONS: Final = {
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "i've": "i have",
    "we've": "we have",
    "i'll": "i will",
    "we'll": "we will",
    **{
        f"{word}n't": f"{word} not" for word in DO | HAVE | IS | word_set("could would should must")
    },
}
_CAPITALS: Final = word_set("US IT WHO AM IN OR ME HI AS AT IS SO A")
"""Words that are other words, or names, in capitals."""

_FOLDED: Final = TO_WESTERN | str.maketrans("\u2010\u2011\u2212\u2019\u060c\u061b", "---',;")
_TATWEEL = re.compile(f"(?<=[{ARABIC_LETTERS}]){TATWEEL}+")
VOCALS = re.compile(f"(?<=[{ARABIC_LETTERS}])[{ARABIC_VOWELS}]")
_HUMP = re.compile("[a-z][A-Z]")
_AMOUNT = re.compile(r"([-+]?[$£]?[-+]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d\d)?")
_TAIL: Final = ".,;:!?"


class ActionWord(NamedTuple):
    """A word as it is compared, and as it was written."""

    text: str
    shown: str


def plain(text: str) -> tuple[str, dict[str, int]]:
    """Return the text in one spelling of spaces, digits and dashes, and what in it is invisible."""
    seen, hidden = strip_invisible(normalize("NFC", text))
    folded = _TATWEEL.sub("", seen.translate(_FOLDED))
    return " ".join(folded.split()), hidden


def read_words(text: str) -> list[ActionWord]:
    """Return the words of a plain text that is not blank."""
    return _joined(_words(text))


def _words(text: str) -> Iterator[ActionWord]:
    shouted = text.isupper()
    pieces = text.split(" ")
    for place, piece in enumerate(pieces, 1):
        body = piece.rstrip(_TAIL)
        if not body or "/" in body or "\\" in body:
            body = piece  # a dot may belong to a path, or be one
        tail = piece[len(body) :]
        folded = _folded(body, shouted=shouted)
        if body[0] in "([":
            inner = _folded(body.strip("()[]"), shouted=shouted)
            folded = inner if inner in SAFEGUARDS else folded
        for part in _CONTRACTIONS.get(folded, folded).split(" "):
            yield ActionWord(part, body)
        if tail and (tail != "." or place < len(pieces)):
            yield ActionWord(tail, tail)


def _folded(piece: str, *, shouted: bool) -> str:
    """Return a word without case and vowel marks; an id, an address or a path as it stands."""
    bare = piece if piece.isascii() else VOCALS.sub("", piece)
    if not bare.replace("-", "").replace("'", "").isalpha():
        return _ALIASES.get(bare, bare)
    if (bare in _CAPITALS and not shouted) or len(_HUMP.findall(bare)) > 1:
        return bare
    return _ALIASES.get(bare.lower(), bare.lower())


def _joined(words: Iterable[ActionWord]) -> list[ActionWord]:
    """Join words that are one, and take out what a safeguard may stand between."""
    out: list[ActionWord] = []
    for word in words:
        pair = (out[-1].text.lstrip("(["), word.text.rstrip(")]")) if out else ("", "")
        if pair in _JOINED and (len(out) > 1 or pair[0] == "dry"):
            out[-1] = ActionWord(_JOINED[pair], f"{out[-1].shown} {word.shown}")
        elif word.text == "mode" and [each.text for each in out[-2:-1]] == ["in"]:
            out[-2:] = [out[-1]] if pair[0] in SAFEGUARDS else [*out[-2:], word]
        else:
            out.append(word)
        if len(out) > 1 and out[-1].text in _JOINED.values() and out[-2].text == ",":
            del out[-2]  # "note, draft" may be two things; "contact, read-only" is one
    return [_amount(out, place) for place in range(len(out))]


def _amount(words: Sequence[ActionWord], place: int) -> ActionWord:
    """Return an amount of money in one spelling, any other word as it is."""
    text, shown = words[place]
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return words[place]
    beside = {each.text for each in words[max(place - 1, 0) : place + 2]}
    if not (beside & _DECIMAL_CURRENCIES or set(match[1]) & set("$£")):
        return words[place]
    sign, whole, cents = match.groups(default="")
    return ActionWord(f"{sign}{whole.replace(',', '')}{cents if cents != '.00' else ''}", shown)
