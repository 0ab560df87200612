"""Heads: what stands before a piece of an answer and tells what it is about.

A heading, a line that leads a list in, a label in bold, the column of a table: none of them is a
claim, and a fragment behind them ("30 days for managers") needs them to be one. A sentence that
stands by itself needs a label only if it would say more without it.
"""

# ruff: noqa: RUF001 - dashes of all lengths part a label from what it names

import re
from dataclasses import dataclass, field
from typing import Final

from evidentia.language.lexicon import DETERMINERS, GROUPS, IS, PREPOSITIONS, word_set
from evidentia.language.markup import plain_text
from evidentia.language.numerals import find_quantities
from evidentia.language.predicates import has_main_verb, says_something
from evidentia.language.pronouns import begins_with_pronoun
from evidentia.language.statements import read_statement
from evidentia.language.words import stem
from evidentia.ledger.blocks import Block
from evidentia.ledger.notclaims import is_command

_LEAD = re.compile(
    r"(?:(?:(?:according to|based on|as (?:stated|described|set out|noted|outlined) in) "
    r"(?:the |this |your |our )?|per (?:the|this|your|our) )[^,\d]{1,100},\s*"
    r"|(?:in addition|additionally|furthermore|moreover|however|therefore|thus|also|in summary|"
    r"overall|finally|first|firstly|second|secondly|third|lastly|yes|no|sure|certainly|of course|"
    r"in short|in brief|specifically|notably|importantly)[,:]\s+"
    r"|(?:please )?note that,?\s+)+",
    re.IGNORECASE,
)
"""How a sentence may begin without it being part of what is claimed."""
_LABEL = re.compile(r"[^\W\d_][^:.!?\d]{1,80}:\s+")
"""What a sentence may begin with before a colon."""
_FOLLOWS = re.compile(r",?\s*(?:as follows|(?:the )?following(?: \w+)?)$", re.IGNORECASE)
_READS_ON = re.compile(
    r"(?:\b(?:to|for|of|with|by|from|in|on|at|is|are|was|were|be|includes?|including|covers?|gets?|"
    r"receives?|provides?|has|have|means)"
    r"|(?P<modal>\b(?:must|may|can|shall|should|will|cannot|not))"
    r"|(?P<clause>\b(?:that|if|when|whenever|unless|until|whether|because|provided)))$",
    re.IGNORECASE,
)
"""How a line ends that its list goes on from as one sentence, whatever the list has."""
_NO_TOPIC = re.compile(
    r"(?:answer|summary|overview|details?|key (?:points|facts|takeaways)|conclusion|introduction|"
    r"notes?|background|in short|tl;dr|results?|response|highlights)\b",
    re.IGNORECASE,
)
_EMPTY: Final = frozenset(
    map(
        stem,
        word_set(
            "answer summary overview detail details key main important essential useful quick "
            "short brief briefly few several point points fact facts thing things rule rules item "
            "items takeaway takeaways highlight highlights basics essentials note notes conclusion "
            "introduction background result results response information info list line bottom "
            "glance keep keeping mind know knowing need needed remember aware bear consider look "
            "follow follows following below apply applies tl dr"
        ),
    )
)
"""Stems of words that name no topic: "a few rules to keep in mind", "what you need to know"."""
_REFERENCE = re.compile(
    r"(?:(?:section|article|clause|step|point|part|rule|policy|paragraph|chapter|annex)\s+[\w.()-]+"
    r"|[A-Z]+[A-Z\d]*(?:[.-][A-Z\d]+)*[.-]\d+)",
    re.IGNORECASE,
)
"""A label that is but the number of what it stands before."""
_RUBRICS: Final = frozenset(
    map(
        stem,
        word_set(
            "eligibility approval process procedure procedures step steps timing deadline "
            "deadlines scope purpose duration amount requirement requirements documentation how "
            "who what when policy definition example examples answer"
        ),
    )
)
"""Stems of words that say of what kind a sentence is, and nothing that it would lack."""
_GROUP_STEMS: Final = frozenset(map(stem, GROUPS))
_RUN_IN = re.compile(
    r"(?P<mark>\*{1,3}|_{1,3})(?P<label>[^*_\n]{2,80}?)(?P<stop>[:.]?)(?P=mark)"
    r"(?P<after>:|\s+[–—-](?=\s))?\s+(?=\S)"
)
_DASH = re.compile(r"\s[–—-]\s")
_LIMITING: Final = word_set("if unless when where only not no never without except until")
_LONGEST_LEAD: Final = 160


@dataclass(slots=True)
class _Lead:
    """A line that leads a list in: the items further in than it, as long as they are one list."""

    text: str
    indent: int
    first: Block | None = None

    def leads_in(self, block: Block, indent: int) -> bool:
        if indent <= self.indent:
            return False
        first = self.first = self.first or block
        return block.indent != first.indent or block.numbered == first.numbered


@dataclass(slots=True)
class Heads:
    """The heads that are open at a place of an answer."""

    leads: list[_Lead] = field(default_factory=list)
    heading: str | None = None

    def begin_section(self, title: str) -> None:
        """Close what is open: a heading stands here."""
        title = title.rstrip(" :")
        self.leads.clear()
        self.heading = None if _names_nothing(title) or title.endswith("?") else title

    def reach(self, block: Block, indent: int) -> None:
        """Close the lines whose list does not go on with this block."""
        while self.leads and not self.leads[-1].leads_in(block, indent):
            self.leads.pop()

    def add(self, text: str, indent: int) -> None:
        """Open a line that leads in what is further in than it."""
        self.leads.append(_Lead(text.rstrip(" :")[:_LONGEST_LEAD], indent))

    def needed_by(self, text: str, label: str = "", *, begins_block: bool = True) -> str:
        """Return what a piece needs before it to stand: its label, its lead, or its heading."""
        bare = without_lead(text)
        stands = not is_command(text) and (begins_with_pronoun(bare) or says_something(bare))
        if not label or _names_nothing(label) or _REFERENCE.fullmatch(label):
            return self._outer(text, stands=stands)
        if stands:
            return f"{label}: " if _narrows(label, text, begins_block=begins_block) else ""
        inner = _led_in(label, text)
        outer = self.needed_by(inner + text)
        return outer + inner if is_apart(outer) else f"{inner}{outer}"

    def of_table(self, row: str) -> str:
        """Return what a table is about, for a row: the line right before it, or its heading."""
        lead = self.leads[-1] if self.leads else None
        title = lead.text if lead and lead.first is None else self.heading
        if not title or _names_nothing(title) or says_something(title) or _READS_ON.search(title):
            return ""
        return "" if read_statement(title).stems <= read_statement(row).stems else f"{title}: "

    def _outer(self, text: str, *, stands: bool) -> str:
        lead = _FOLLOWS.sub("", self.leads[-1].text) if self.leads else ""
        if lead and not _names_nothing(lead):
            context = _led_in(lead, text)
            return "" if stands and is_apart(context) else context
        if self.heading and not stands and find_quantities(text):
            return f"{self.heading}: "
        return ""


def without_lead(text: str) -> str:
    """Return the text without how it begins, unless that is all there is."""
    return text[lead_end(text) :] or text


def lead_end(text: str) -> int:
    """Return where what is claimed begins: behind "According to the policy," or "Key points:"."""
    lead = _LEAD.match(text)
    begins = lead.end() if lead else 0
    label = _LABEL.match(text, begins)
    return label.end() if label and _is_empty(label[0].rstrip(" :")) else begins


def _names_nothing(title: str) -> bool:
    """Whether a heading, or a line that leads in, tells nothing of what follows it."""
    return _NO_TOPIC.match(title) is not None or _is_empty(title)


def _is_empty(title: str) -> bool:
    """Whether a title has words, none of which has to do with a topic, a value or a condition."""
    said = read_statement(title)
    reads_on = _READS_ON.search(title)
    return (
        bool(said.stems)
        and said.stems <= _EMPTY
        and not said.numbers
        and not any(word.text in _LIMITING for word in said.words)
        and (reads_on is None or reads_on[0].lower() in IS)
    )


def find_label(block: str) -> re.Match[str] | None:
    """Return the label in bold or italics that a block begins with: "**Annual leave:** 15 days"."""
    found = _RUN_IN.match(block)
    if found is None or not (found["stop"] or found["after"]):
        return None
    label = plain_text(found["label"])
    if found["stop"] == ".":
        return None if says_something(label) or find_quantities(label) else found
    is_dash = bool(found["after"]) and found["after"].strip() != ":"
    return None if is_dash and _DASH.search(block, found.end()) else found


def _narrows(label: str, text: str, *, begins_block: bool) -> bool:
    """Whether a sentence behind a label would say more without it: "Contractors", "In Germany"."""
    said = read_statement(label)
    if said.numbers or any(word.text in _LIMITING | PREPOSITIONS for word in said.words):
        return True
    if said.stems & _GROUP_STEMS:
        return not said.stems <= read_statement(text).stems
    return begins_block and not said.stems <= read_statement(text).stems | _EMPTY | _RUBRICS


def _led_in(lead: str, text: str) -> str:
    """Return a lead as it stands before a fragment: as one sentence with it, or as its name."""
    reads_on = _READS_ON.search(lead)
    if reads_on is None:
        return f"{lead}: "
    always = reads_on["modal"] or reads_on["clause"]
    return f"{lead} " if always or not has_main_verb(text) else f"{lead}: "


def is_apart(context: str) -> bool:
    """Whether a context stands before a claim as a name and not as a part of the sentence."""
    return not context or context.endswith(": ")


def joined(context: str, text: str) -> str:
    """Put what a list item needs before it: "Employees must" and "Submit it" are one sentence."""
    reads_on = _READS_ON.search(context.rstrip())
    word = text.split(maxsplit=1)[0].lower()
    begins_small = reads_on and (reads_on["modal"] or (reads_on["clause"] and word in DETERMINERS))
    if begins_small and text[1:2].islower():
        text = text[0].lower() + text[1:]
    return context + text
