"""Reading answers: strictly, and with every quote looked up in what the model was shown.

An answer is the JSON object that was asked for, and nothing around it but a code fence. It has one
verdict for each claim. A quote counts if its words stand in a passage, one after the other; case,
punctuation and line breaks make no difference.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from unicodedata import normalize

from pydantic import Field, ValidationError

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError
from evidentia.frozen import FrozenModel
from evidentia.language.characters import ARABIC_VOWELS, DENSE, TATWEEL, strip_invisible
from evidentia.language.counting import counted
from evidentia.language.sentences import sentence_spans
from evidentia.language.turns import DENIALS, TO_READER, read_turns

Said = Literal["supported", "weak", "contradicted", "not_found"]
LEAST_WORDS: Final = 3
"""How many words a quote has at least, unless it is all that the passage says."""
LONGEST_REASON: Final = 300
_FENCED: Final = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
_WORDS: Final = re.compile(rf"[{DENSE}]|[^\W_{DENSE}]+")
_UNWRITTEN: Final = re.compile(f"[{ARABIC_VOWELS}{TATWEEL}]")
_TO_READER: Final = [kind for kind, _ in DENIALS].index(TO_READER)


class GivenVerdict(FrozenModel):
    """What a model says of one claim."""

    claim: Annotated[str, Field(max_length=100)]
    verdict: Said
    confidence: Annotated[float, Field(ge=0, le=1)]
    quote: Annotated[str, Field(max_length=20_000)]
    reason: Annotated[str, Field(max_length=20_000)]

    @property
    def short_reason(self) -> str:
        """The reason on one line, without what cannot be seen, and no longer than a note."""
        text, _ = strip_invisible(self.reason)
        return " ".join(text.split()).rstrip(".")[:LONGEST_REASON]

    @property
    def short_quote(self) -> str:
        """The quote on one line, for the record."""
        text, _ = strip_invisible(self.quote)
        return " ".join(text.split())[:2_000]


class _GivenVerdicts(FrozenModel):
    verdicts: tuple[GivenVerdict, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of an answer, in the order of the claims; or what is wrong with it."""

    given: tuple[GivenVerdict, ...] = ()
    problem: str = ""


def read_verdicts(content: str, claims: Sequence[str]) -> Verdicts:
    """Read the answer about some claims, by their ids."""
    fenced = _FENCED.fullmatch(content)
    try:
        value = parse_json((fenced[1] if fenced else content).strip().encode())
    except (CanonicalError, UnicodeEncodeError):
        return Verdicts(problem="the answer is not the JSON that was asked for")
    try:
        given = _GivenVerdicts.model_validate_json(canonical_json(value), strict=True).verdicts
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "verdicts")[:60]
        return Verdicts(problem=f"the answer is not in the form asked for: {where} {first['type']}")
    by_claim = {verdict.claim: verdict for verdict in given}
    if len(given) != len(claims) or set(by_claim) != set(claims):
        return Verdicts(
            problem=f"the answer has {counted(len(given), 'verdict')} where "
            f"{counted(len(claims), 'claim')} had to have one each"
        )
    return Verdicts(tuple(by_claim[claim] for claim in claims))


def has_quote(text: str, quote: str) -> bool:
    """Whether the words of a quote stand in a text, one after the other, and are enough of them.

    >>> has_quote("Staff get 15 days' leave.", "“15 DAYS' leave”"), has_quote("15 days.", "15")
    (True, False)
    """
    words, wanted = _words(text), _words(quote)
    if not wanted or (len(wanted) < LEAST_WORDS and wanted != words):
        return False
    return f" {' '.join(wanted)} " in f" {' '.join(words)} "


def speaks_to_judges(text: str, quote: str, claim: str) -> bool:
    """Whether a sentence of the text that has part of a quote tells its reader what to think."""
    known = read_turns(claim).denials[_TO_READER]
    wanted = " ".join(_words(quote))
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        words = " ".join(_words(sentence))
        if not words or not (f" {words} " in f" {wanted} " or f" {wanted} " in f" {words} "):
            continue
        if read_turns(sentence).denials[_TO_READER] - known:
            return True
    return bool(read_turns(quote).denials[_TO_READER] - known)


def _words(text: str) -> list[str]:
    shown, _ = strip_invisible(text)
    return _WORDS.findall(_UNWRITTEN.sub("", normalize("NFKC", shown)).casefold())
