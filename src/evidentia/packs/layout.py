"""The layout of a memo's draft: the order is the same in both languages, the words are each one's.

A language brings a function for each part; what goes into a part, and how much of it, is here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evidentia.packs.facts import (
    DECISION,
    EFFECT_TEXT,
    MOST_EFFECTS,
    MOST_SOURCES,
    MOST_TOOLS,
    MemoClaims,
    MemoFacts,
    MemoToolCall,
    Room,
    brief,
    room_for_decision,
)
from evidentia.packs.memo import TOP_ITEMS

Part = Callable[[MemoFacts], str]
Parts = Callable[[MemoFacts], Iterable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What a language has to say of each part, and the headings of the body's six paragraphs."""

    headings: tuple[str, str, str, str, str, str]
    decision: Callable[[MemoFacts, Room], str]
    after_decision: Parts
    origin: Part
    weight: Part
    classes: Part
    evidence: Parts
    actions: Parts
    verification: Callable[[MemoClaims | None], Iterable[str]]
    asked: Part


def summary(language: Language, facts: MemoFacts) -> str:
    """Return the executive summary: what was decided, on what, what is wrong, what is asked."""
    rest = " ".join(language.after_decision(facts))
    return f"{language.decision(facts, room_for_decision(rest))} {rest}"


def body(language: Language, facts: MemoFacts) -> str:
    """Return the body, paragraph by paragraph."""
    decided = (language.decision(facts, DECISION), language.origin(facts), language.weight(facts))
    paragraphs = (
        " ".join(decided),
        language.classes(facts),
        "\n".join(language.evidence(facts)),
        " ".join(language.actions(facts)),
        " ".join(language.verification(facts.claims)),
        language.asked(facts),
    )
    told = zip(language.headings, paragraphs, strict=True)
    return "\n\n".join(f"{heading}\n{text}" for heading, text in told)


def top_numbers(facts: MemoFacts) -> Sequence[int]:
    """Return the numbers of the sources that a memo must refer to."""
    return range(1, min(len(facts.evidence), TOP_ITEMS) + 1)


def cited(numbers: Sequence[int], reference: Callable[[int], str], others: str) -> list[str]:
    """Return references to sources; beyond what a memo names, `others` stands for the rest."""
    return _first(list(map(reference, numbers)), MOST_SOURCES, others)


def tool_names(
    calls: Sequence[MemoToolCall], named: Callable[[str], str], others: str
) -> list[str]:
    """Return the names of the tools that were called, each once, with `others` for the rest."""
    return _first(list(dict.fromkeys(named(call.tool_name) for call in calls)), MOST_TOOLS, others)


def effects(facts: MemoFacts, quoted: Callable[[str], str]) -> tuple[list[str], int]:
    """Return the side effects that a memo tells one by one, quoted, and how many more there are."""
    told = [quoted(brief(each, EFFECT_TEXT)) for each in facts.side_effects[:MOST_EFFECTS]]
    return told, len(facts.side_effects) - len(told)


def judged(
    claims: MemoClaims,
    counted: Callable[[int], str],
    told: tuple[str, str, str, str],
) -> Iterator[str]:
    """Yield how many claims the sources support, support weakly, contradict and do not know."""
    counts = (claims.supported, claims.weak, claims.contradicted, claims.not_found)
    for text, count in zip(told, counts, strict=True):
        if count:
            yield text.format(counted(count))


def _first(items: list[str], most: int, others: str) -> list[str]:
    return [*items[:most], *([others] if len(items) > most else [])]
