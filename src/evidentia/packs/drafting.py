"""Drafts of a pack's memo by templates, in English and in formal Arabic, from plain facts.

Every draft keeps the memo's limits, whatever the facts: what is too long is cut, with an ellipsis.
It tells what failed, what does not match, what is stale and what is unsupported, in the summary as
in the body. Names are quoted as what they are, words from outside; excerpts stay out, so that no
personal data comes in by them.
"""

from typing import Protocol

from evidentia.packs.arabic import ARABIC, title_ar
from evidentia.packs.english import ENGLISH, title_en
from evidentia.packs.facts import MemoClaims, MemoEvidence, MemoFacts, MemoToolCall
from evidentia.packs.layout import body, summary
from evidentia.packs.memo import BilingualMemo

__all__ = [
    "MemoClaims",
    "MemoEvidence",
    "MemoFacts",
    "MemoToolCall",
    "MemoWriter",
    "TemplateWriter",
    "draft_memo",
]


class MemoWriter(Protocol):
    """Writes a pack's memo from its facts: by templates, or by a language model."""

    name: str

    def write(self, facts: MemoFacts) -> BilingualMemo:
        """Return the memo in both languages."""


class TemplateWriter:
    """Writes the memo by templates: the same facts always give the same memo."""

    name = "template"

    def write(self, facts: MemoFacts) -> BilingualMemo:
        """Return the draft in both languages."""
        return draft_memo(facts)


def draft_memo(facts: MemoFacts) -> BilingualMemo:
    """Return a draft that keeps the memo's rules, whatever the facts are."""
    return BilingualMemo(
        title_ar=title_ar(facts),
        title_en=title_en(facts),
        body_ar=body(ARABIC, facts),
        body_en=body(ENGLISH, facts),
        executive_summary_ar=summary(ARABIC, facts),
        executive_summary_en=summary(ENGLISH, facts),
    )
