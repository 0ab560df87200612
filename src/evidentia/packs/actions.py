"""Actions: whether what a tool did is what it was meant to do.

- Two actions are the same only if they agree word by word, in order. What may differ is
  the form of the verb, a few true synonyms, articles, letter case, the spelling of an amount, and
  how long a call took.
- They are different where a rule says so: another verb, id, number, recipient or environment, a
  negation or a failure, a "read-only" or "draft" that only one of them has.
- Whatever no rule decides is flagged as undecided. To call two actions the same that are not is
  the one mistake to avoid, so doubt never ends in "same".
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from evidentia.language.lexicon import DAYS, MONTH_NAMES, MULTIPLES, NONE, word_set
from evidentia.language.verbs import (
    ALSO_NOUNS,
    DONE,
    LEMMAS,
    NEAR,
    SYNONYMS,
    is_inflected,
    regular_forms,
)
from evidentia.packs.phrases import (
    IN_VAIN,
    LINKS,
    NOT_DONE,
    PREPOSITIONS,
    Action,
    parse_action,
    without_outcome,
)
from evidentia.packs.spelling import SAFEGUARDS, VOCALS, ActionWord, plain
from evidentia.packs.values import kind_of, value_of

MAX_SHOWN: Final = 60
"""How many characters of an action a reason quotes at most."""

_NEGATIONS: Final = NOT_DONE | NONE | word_set("except excluding unless instead")
_FAILURES: Final = word_set(
    "failed failure error errors timeout denied aborted rejected skipped exception crashed refused "
    "unsuccessful unsuccessfully"
)
_EITHER: Final = tuple(
    word_set(words)
    for words in (
        "staging production development sandbox test live qa uat preproduction",
        "on off",
        "up down",
        "to from",
        "before after",
        "first last",
        "all some",
        "public private",
        "internal external",
        "inbound outbound",
        "incoming outgoing",
        "debit credit",
        "cc bcc",
        "true false",
        "open closed",
        "active inactive",
        "enabled disabled",
        "paid unpaid",
        "low medium high critical",
        "hourly daily weekly monthly quarterly yearly",
        " ".join(DAYS),
        "today tomorrow yesterday",
        " ".join(MONTH_NAMES).lower().replace(" may ", " "),  # may is no month alone
        "usd eur gbp sar aed qar kwd bhd omr egp jpy inr chf cad aud",
        "thousand million billion",
        "read write admin",
        " ".join(MULTIPLES),
        "contact deal invoice order ticket user task note file payment refund email role",
        "contacts deals invoices orders tickets users tasks notes files payments refunds emails",
        "read-only read-write",
    )
)
"""Words of which one excludes the others."""


class Basis(StrEnum):
    """On what ground two actions are told apart, or not."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    """No rule says whether they differ; it is flagged like a difference."""


@dataclass(frozen=True, slots=True)
class ActionComparison:
    """Whether two actions differ, on what basis, and why, in one sentence for a reviewer."""

    contradiction: bool
    basis: Basis
    reason: str


_Verdict = tuple[Basis, str]
_AGREED: Final[_Verdict] = (Basis.SAME, "what was done is what was meant")


def compare_actions(intended: str, actual: str, *, failed: bool = False) -> ActionComparison:
    """Decide whether what was done differs from what was meant; any two texts are answered.

    A call that failed did not do what was meant, whatever its record says. A blank text is never
    the same as anything.
    """
    basis, reason = _compare(intended, actual, failed=failed)
    return ActionComparison(basis is not Basis.SAME, basis, reason)


def _compare(intended: str, actual: str, *, failed: bool) -> _Verdict:
    if failed:
        return Basis.DIFFERENT, f"the call failed where {_quote(intended)} was meant"
    meant, meant_hidden = plain(intended)
    done, done_hidden = plain(actual)
    if not meant or not done:
        side = "was meant" if not meant else "was done"
        return Basis.UNDECIDED, f"nothing says what {side}"
    if " ".join(intended.split()) == " ".join(actual.split()):
        return _AGREED
    if meant_hidden or done_hidden:
        hidden = ", ".join(sorted({*meant_hidden, *done_hidden})[:3])
        return Basis.UNDECIDED, f"characters that cannot be seen ({hidden}) stand in the way"
    first = parse_action(meant)
    found = _verdict(first, parse_action(done))
    if found[0] is Basis.UNDECIDED and (shorter := without_outcome(first, done)):
        return _AGREED if _verdict(first, shorter) == _AGREED else found
    return found


def _verdict(intended: Action, actual: Action) -> _Verdict:
    """Return the first difference, else the first doubt, else that they agree."""
    meant, done = _as_thing(intended, actual), _as_thing(actual, intended)
    found = [_verbs(meant, done), _marks(meant, done), _rests(meant, done)]
    for basis in (Basis.DIFFERENT, Basis.UNDECIDED):
        for verdict in found:
            if verdict[0] is basis:
                return verdict
    return _AGREED


def _verbs(intended: Action, actual: Action) -> _Verdict:
    meant, done = intended.verb, actual.verb
    if meant == done:
        written = {intended.written, actual.written}
        first, second = (*intended.texts[:2], "", "")[:2]
        open_ended = not second.isalpha() or second in PREPOSITIONS
        thing = not first or (kind_of(first) and open_ended)  # "order 5", and not "order 5 chairs"
        if (
            thing
            and len(written) > 1
            and meant in ALSO_NOUNS
            and regular_forms(meant)[0] in written
        ):
            return Basis.UNDECIDED, f"whether {_quote(meant)} is a verb could not be decided"
        return _AGREED
    if not meant or not done:
        side = "meant" if not meant else "done"
        return Basis.UNDECIDED, f"which verb says what was {side} could not be decided"
    if is_inflected(meant, done) or is_inflected(done, meant) or _mean_one(intended, actual):
        return _AGREED
    near = any(meant in group and done in group for group in NEAR)
    if meant in LEMMAS and done in LEMMAS and not near:
        return Basis.DIFFERENT, f"{_quote(done)} was done where {_quote(meant)} was meant"
    return (
        Basis.UNDECIDED,
        f"whether {_quote(done)} is what {_quote(meant)} meant could not be decided",
    )


def _as_thing(action: Action, other: Action) -> Action:
    """Return the action without its verb where that is a thing in the other: "contact 456"."""
    word = action.written
    if action.verb == other.verb or word not in ALSO_NOUNS or word not in other.texts:
        return action
    return Action("", "", (ActionWord(word, word), *action.rest), action.marks, action.pending)


def _mean_one(intended: Action, actual: Action) -> bool:
    """Whether two verbs mean the same thing here."""
    said = {*intended.texts, *actual.texts}
    return any(
        {intended.verb, actual.verb} <= group and not said & barred for group, barred in SYNONYMS
    )


def _marks(intended: Action, actual: Action) -> _Verdict:
    if intended.marks != actual.marks:
        lone = (Counter(intended.marks) - Counter(actual.marks)) + (
            Counter(actual.marks) - Counter(intended.marks)
        )
        marks = " ".join(actual.marks or intended.marks)
        side = "done" if actual.marks else "meant"
        if lone.total() == 1 and set(lone) <= NOT_DONE | IN_VAIN:
            return Basis.DIFFERENT, f"only what was {side} says {_quote(marks)}"
        return Basis.UNDECIDED, f"what {_quote(marks)} changes could not be decided"
    if actual.pending:
        return Basis.UNDECIDED, "what was done is told as if it were still to come"
    return _AGREED


def _rests(intended: Action, actual: Action) -> _Verdict:
    if len(intended.rest) == len(actual.rest):
        before = ("", *intended.texts)
        if all(map(_agree, before, intended.rest, actual.rest)):
            return _AGREED
    meant, done = intended.texts, actual.texts
    missing, extra = Counter(meant) - Counter(done), Counter(done) - Counter(meant)
    if not missing and not extra:
        if meant != done and _skeleton(intended) == _skeleton(actual):
            return _other(_values(intended), _values(actual))
        return Basis.UNDECIDED, "the same words in another order or spelling could not be decided"
    for rule in (_ids, _lists, _lone_words, _other_words):
        if (found := rule(intended, actual, list(missing), list(extra))) is not None:
            return found
    if missing and extra:
        return Basis.UNDECIDED, (
            f"whether {_quote(_listed(extra))} is what {_quote(_listed(missing))} meant "
            "could not be decided"
        )
    side = "meant" if missing else "done"
    return Basis.UNDECIDED, (
        f"{_quote(_listed(missing or extra))} is only in what was {side}; "
        "whether it matters could not be decided"
    )


def _agree(before: str, meant: ActionWord, done: ActionWord) -> bool:
    """Whether two words in one place agree; a verb after "and" may change its form as well."""
    if meant.text == done.text:
        vocals = [VOCALS.findall(word.shown) for word in (meant, done)]
        return vocals[0] == vocals[1] or not all(vocals)
    verb = meant.text
    return (
        before in LINKS
        and verb not in ALSO_NOUNS
        and LEMMAS.get(verb) == verb == LEMMAS.get(done.text)
        and done.text in DONE
    )


def _ids(intended: Action, actual: Action, missing: list[str], extra: list[str]) -> _Verdict | None:
    """Tell another id, number, address or link from the same one that is written differently."""
    meant = [text for text in missing if kind_of(text)]
    done = [text for text in extra if kind_of(text)]
    if not meant or not done:
        return None
    kinds = {kind_of(text) for text in meant} & {kind_of(text) for text in done}
    values = [sorted(map(value_of, side)) for side in (meant, done)]
    named, told = _in_context(intended, meant[0]), _in_context(actual, done[0])
    foreign = values[0] == values[1] and not "".join(meant + done).isascii()
    alike = sorted(map(str.lower, meant)) == sorted(map(str.lower, done))
    if not kinds or foreign or alike or (values[0] == values[1] and kinds == {"number"}):
        return Basis.UNDECIDED, f"whether {told} is {named} could not be decided"
    return Basis.DIFFERENT, f"{named} was meant, {told} was done"


def _lists(
    intended: Action, actual: Action, missing: list[str], extra: list[str]
) -> _Verdict | None:
    """Tell where a list names more things, or fewer."""
    more = missing or extra
    if (missing and extra) or not {"and", ","} & set(more):
        return None
    ids = [text for text in more if kind_of(text)]
    known = {*(actual if missing else intended).texts, "and", ","}
    if not ids or not set(more) - set(ids) <= known:
        return None
    if missing:
        return Basis.DIFFERENT, f"{_in_context(intended, ids[0])} was meant, and was not done"
    return Basis.DIFFERENT, f"{_in_context(actual, ids[0])} was done, and was not meant"


def _lone_words(
    _intended: Action, _actual: Action, missing: list[str], extra: list[str]
) -> _Verdict | None:
    """Tell a negation, a failure or a safeguard that only one side has."""
    lone = [*missing, *extra]
    denied = [text for text in lone if text in _NEGATIONS]
    broken = [text for text in extra if text in _FAILURES]
    if len(denied) + bool(broken) > 1:
        told = _quote(_listed(denied + broken))
        return Basis.UNDECIDED, f"what {told} changes could not be decided"
    for text in (*denied, *broken, *(text for text in lone if text in SAFEGUARDS)):
        if text in missing:
            return Basis.DIFFERENT, f"{_quote(text)} was meant, and is missing from what was done"
        return Basis.DIFFERENT, f"{_quote(text)} was not meant, and is in what was done"
    return None


def _other_words(
    intended: Action, actual: Action, missing: list[str], extra: list[str]
) -> _Verdict | None:
    """Tell words that exclude each other, another name, and one thing from several."""
    for group in _EITHER:
        meant, done = group & set(missing), group & set(extra)
        if meant and done:
            return _other(min(meant), min(done))
    if len(missing) == len(extra) == 1:
        shown = [_shown(intended, missing[0]), _shown(actual, extra[0])]
        if all(map(_is_name, shown)):
            return _other(*shown)
        if regular_forms(missing[0])[0] == extra[0] or regular_forms(extra[0])[0] == missing[0]:
            return _other(*shown)
    return None


def _other(meant: str, done: str) -> _Verdict:
    return Basis.DIFFERENT, f"{_quote(meant)} was meant, {_quote(done)} was done"


def _slot(word: ActionWord) -> str:
    """Return what kind of value a word is (an id, a name, one of a few), or nothing."""
    if (kind := kind_of(word.text)) or word.text in PREPOSITIONS:
        return kind
    if _is_name(word.shown):
        return "name"
    return next((f"one of {min(group)}" for group in _EITHER if word.text in group), "")


def _is_name(shown: str) -> bool:
    return shown.isascii() and shown.isalpha() and shown[0].isupper()


def _skeleton(action: Action) -> list[str]:
    """Return the words with every value left open."""
    return [_slot(word) or word.text for word in action.rest]


def _values(action: Action) -> str:
    return " … ".join(word.shown for word in action.rest if _slot(word))


def _shown(action: Action, text: str) -> str:
    return next(word.shown for word in action.rest if word.text == text)


def _in_context(action: Action, text: str) -> str:
    """Return an id with the word before it, as it was written."""
    for before, word in pairwise(action.rest):
        named = before.text.isalpha() and before.text not in PREPOSITIONS | LINKS
        if word.text == text and named:
            return _clean(f"{before.shown} {word.shown}")
    return _clean(_shown(action, text))


def _listed(texts: Iterable[str]) -> str:
    return " ".join(texts)


def _quote(text: str) -> str:
    return f'"{_clean(text)}"'


def _clean(text: str) -> str:
    """Return a text on one line, cut, with nothing in it that cannot be seen."""
    cut = text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
    return "".join(
        each if each.isprintable() else " " if each.isspace() else f"<U+{ord(each):04X}>"
        for each in cut
    )
