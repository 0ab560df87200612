"""How bundles are put into words and strips: what a model saw of an input, and what not."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from evidentia.bundles.accounting import InputFate, Outcome, Step
from evidentia.bundles.model import EvidenceItem
from evidentia.server.translating import N_

OUTCOMES: Final[dict[str, str]] = {
    "kept": N_("Kept"),
    "redacted": N_("Redacted"),
    "sampled": N_("Sampled"),
    "truncated": N_("Cut"),
    "failed": N_("Not read"),
    "dropped": N_("Dropped"),
    "absent": N_("Not there"),
}
"""What became of an input."""
TONES: Final[dict[str, str]] = {
    "kept": "good",
    "redacted": "note",
    "sampled": "note",
    "truncated": "warn",
    "failed": "bad",
    "dropped": "bad",
    "absent": "plain",
}
TYPES: Final[dict[str, str]] = {
    "inline_text": N_("Text of the request"),
    "lake_text": N_("File"),
    "lake_http": N_("Response"),
    "sql_result": N_("Result of a query"),
    "sql_query_def": N_("Query"),
    "doc_chunk": N_("Passage of a document"),
    "transcript_chunk": N_("Part of a transcript"),
}
"""What kinds of evidence are called."""
LIMITS: Final[dict[str, str]] = {
    "max_items": N_("a bundle has at most %(number)s items"),
    "max_item_bytes": N_("an item has at most %(number)s bytes"),
    "max_item_tokens": N_("an item has at most %(number)s tokens"),
    "max_total_bytes": N_("all items together have at most %(number)s bytes"),
    "max_total_tokens": N_("the prompt has at most %(number)s tokens"),
    "max_sql_rows": N_("a result has at most %(number)s rows"),
    "max_sql_cols": N_("a result has at most %(number)s columns"),
}
"""The limits of a policy, as reasons."""
_REASON: Final = re.compile(r"([a-z_]+): ([0-9,]+)")
_MOST_WORDS: Final = 800
_LONGEST: Final = 1_500
"""How many characters of a change are shown."""
_CONTEXT: Final = 80


class Reason(NamedTuple):
    """Why something was done: a limit that has words, with its number, or the text itself."""

    text: str
    number: str | None


def reason_of(step: Step) -> Reason:
    """Return why a step was taken."""
    found = _REASON.fullmatch(step.reason)
    if found and found[1] in LIMITS:
        return Reason(LIMITS[found[1]], found[2])
    return Reason(step.reason, None)


class Share(NamedTuple):
    """A part of an input, in bytes."""

    outcome: str
    size: int


def shares_of(fate: InputFate, item: EvidenceItem | None) -> list[Share]:
    """Return what became of an input's bytes, what the model saw first; none is left out.

    What stands in place of redacted text was seen, and is not the text: it counts as redacted.
    """
    lost = dict.fromkeys(Outcome, 0)
    for step in fate.steps:
        lost[step.done] += max(0, step.before_bytes - step.after_bytes)
    if fate.outcome is Outcome.FAILED:
        return [Share(Outcome.FAILED.value, max(fate.input_bytes, fate.bundle_bytes, 1))]
    hidden = 0 if item is None else min(_placeholders(item), fate.bundle_bytes)
    lost[Outcome.REDACTED] += hidden
    lost[Outcome.KEPT] = fate.bundle_bytes - hidden
    return [Share(outcome.value, size) for outcome, size in lost.items() if size]


def together(all_shares: Iterable[Iterable[Share]]) -> list[Share]:
    """Return the shares of all inputs as one."""
    sums = dict.fromkeys((one.value for one in Outcome), 0)
    for shares in all_shares:
        for one in shares:
            sums[one.outcome] += one.size
    return [Share(outcome, size) for outcome, size in sums.items() if size]


def _placeholders(item: EvidenceItem) -> int:
    """Return how many bytes of an item's content stand in place of redacted text."""
    found = item.metadata.get("redactions")
    hits = found if isinstance(found, list) else []
    return sum(
        len(str(hit.get("placeholder", "")).encode())
        for hit in hits
        if isinstance(hit, Mapping) and hit.get("field") == "content"
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A piece of two texts: of both, of the first alone or of the second alone."""

    done: Literal["same", "out", "in"]
    text: str


def changes(before: str, after: str) -> list[Change]:
    """Return how one text became the other, by words; what is long is shortened in the middle."""
    old, new = _words(before), _words(after)
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    changed = [
        Change("same", _last(old[:start])),
        *_middle(old[start : len(old) - end], new[start : len(new) - end]),
        Change("same", _first(old[len(old) - end :])),
    ]
    return [one for one in changed if one.text]


def _middle(old: list[str], new: list[str]) -> list[Change]:
    if len(old) + len(new) > _MOST_WORDS:
        return [Change("out", _cut("".join(old))), Change("in", _cut("".join(new)))]
    found = []
    for done, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if done == "equal":
            found.append(Change("same", "".join(old[a:b])))
        else:
            found += [Change("out", "".join(old[a:b])), Change("in", "".join(new[c:d]))]
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\s+|\S+", text)


def _alike(old: list[str], new: list[str]) -> int:
    """Return how many words are the same from the beginning."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _last(words: list[str]) -> str:
    text = "".join(words)
    return text if len(text) <= _CONTEXT else f"…{text[-_CONTEXT:]}"


def _first(words: list[str]) -> str:
    text = "".join(words)
    return text if len(text) <= _CONTEXT else f"{text[:_CONTEXT]}…"
