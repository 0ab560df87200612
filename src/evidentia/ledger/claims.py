"""Claims: the statements of an answer that can be true or false, each by itself.

Questions, greetings, instructions and the assistant's words about itself are no claims; they are
listed with the reason, and nothing that is read in the answer is in neither list. A compound
sentence is split where each part can be true or false by itself. A claim's text stands by itself:
without markup and citations, with what its first pronoun stands for, with the line that leads its
list in, with the names of its table's row and column. Where the rules are unsure they leave a
sentence whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from evidentia.canonical import derived_id
from evidentia.errors import InputError
from evidentia.frozen import FrozenList
from evidentia.language.characters import Span
from evidentia.language.clauses import (
    begins_with_pronoun,
    find_subject,
    in_quotation,
    parts,
    with_pronoun_replaced,
)
from evidentia.language.lexicon import IS, word_set
from evidentia.language.markup import masked, plain_text, trimmed
from evidentia.language.numerals import find_quantities
from evidentia.language.predicates import has_main_verb, says_something
from evidentia.language.sentences import sentence_spans
from evidentia.language.statements import read_statement
from evidentia.language.words import stem
from evidentia.ledger.blocks import Block, cells, find_blocks
from evidentia.ledger.citations import find_citations, without_citations
from evidentia.ledger.model import Claim, ClaimType, Importance
from evidentia.ledger.notclaims import is_command, why_no_claim

_LEAD = re.compile(
    r"(?:(?:according to|based on|as (?:stated|described|set out|noted|outlined) in|per) "
    r"(?:the |this |your |our )?[^,\d]{1,100},\s*"
    r"|(?:in addition|additionally|furthermore|moreover|however|therefore|thus|also|in summary|"
    r"overall|finally|first|firstly|second|secondly|third|lastly|yes|no|sure|certainly|of course|"
    r"in short|in brief|specifically|notably|importantly)[,:]\s+"
    r"|(?:please )?note that,?\s+)+",
    re.IGNORECASE,
)
"""How a sentence may begin without it being part of what is claimed."""
_LABEL = re.compile(r"[^\W\d_][^:.!?\d]{1,80}:\s+")
"""What a sentence may begin with before a colon."""
_TRAILING = re.compile(r"[\s.;!。\u06d4।…]+(?P<closing>[\"'”\u2019»)\]]*)$")
_IN_QUOTES = re.compile(r"(?:\"(?P<a>[^\"]+)\"|“(?P<b>[^“”]+)”|«(?P<c>[^«»]+)»)")
_DEFINITION = re.compile(
    r"\b(?:is|are) defined as\b|(?<!by )(?<!all )\bmeans\b(?! of\b)|\brefers? to\b|\bstands for\b"
    r"|\b(?:is|are) known as\b",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"\b(?:must|shall|(?-i:may|MAY)|required|requires?|entitled|entitlement|prohibited|forbidden|"
    r"allowed|permitted|obliged|obligation|eligible|mandatory|should|can|cannot|subject to|"
    r"responsible for)\b",
    re.IGNORECASE,
)
_CRITICAL = re.compile(
    r"\b(?:entitled|entitlement|right to|prohibited|forbidden|must not|may not|shall not|cannot|"
    r"never|illegal|unlawful|penalt(?:y|ies)|fined?|terminat\w+|breach\w*|liab\w+|maximum|minimum|"
    r"limit(?:ed)?|cap(?:ped)?|guarantee\w*|safety|fatal|dos(?:e|age)|confidential|waive[ds]?|"
    r"indemnif\w+)\b",
    re.IGNORECASE,
)
_MINOR = re.compile(
    r"(?:for example|for instance|e\.g\.|such as|generally|typically|usually|often|in general)\b",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r",?\s*(?:as follows|(?:the )?following(?: \w+)?)$", re.IGNORECASE)
_READS_ON = re.compile(
    r"(?:\b(?:to|for|of|with|by|from|in|on|at|is|are|was|were|be|includes?|including|covers?|gets?|"
    r"receives?|provides?|has|have|means)"
    r"|(?P<modal>\b(?:must|may|can|shall|should|will|cannot|not)))$",
    re.IGNORECASE,
)
"""How a line ends that its list goes on from as one sentence."""
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
_LIMITING: Final = word_set("if unless when where only not no never without except until")
_LONGEST_LEAD: Final = 160
_LONGEST_QUOTATION: Final = 6
"""Sentences that a quotation may have; a mark that stands open for longer was none."""


@dataclass(frozen=True, slots=True)
class NotAClaim:
    """A piece of the answer that is no claim, and why."""

    text: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class ExtractedClaims:
    """An answer's claims in order, and what was left out."""

    claims: list[Claim]
    left_out: list[NotAClaim]


def extract_claims(answer: str) -> ExtractedClaims:
    """Split an answer (Markdown or plain text) into claims with exact offsets."""
    _refuse_surrogates(answer)
    return _Extraction(answer).run()


def whole_claim(text: str) -> Claim:
    """Return a text as one claim, as it is, whatever `extract_claims` would make of it."""
    _refuse_surrogates(text)
    extraction = _Extraction(text)
    extraction.add(0, len(text), text, ())
    return extraction.claims[0]


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
class _Extraction:
    """Goes through an answer's blocks and carries what a claim may need from before it."""

    answer: str
    masked: str = ""
    subject: str | None = None
    leads: list[_Lead] = field(default_factory=list)
    heading: str | None = None
    claims: list[Claim] = field(default_factory=list)
    left_out: list[NotAClaim] = field(default_factory=list)

    def run(self) -> ExtractedClaims:
        self.masked = masked(self.answer)
        for block in find_blocks(self.answer):
            if block.kind in ("paragraph", "item"):
                self._sentences(block)
            elif block.kind == "row":
                self._row(block)
            else:
                self._leave_out(block.start, block.end, block.kind)
                if block.kind == "heading":
                    self._new_section(block)
        return ExtractedClaims(FrozenList(self.claims), FrozenList(self.left_out))

    def _new_section(self, block: Block) -> None:
        self.subject = None
        self.leads.clear()
        title = plain_text(self.answer[block.start : block.end]).rstrip(" :")
        self.heading = None if _names_nothing(title) or title.endswith("?") else title

    def _sentences(self, block: Block) -> None:
        indent = block.indent if block.kind == "item" else -1
        while self.leads and not self.leads[-1].leads_in(block, indent):
            self.leads.pop()
        for first, last in _sentences(self.masked[block.start : block.end]):
            start, end = trimmed(self.masked, block.start + first, block.start + last)
            text = plain_text(without_citations(self.answer[start:end]))
            context = self._context(text)
            reason = why_no_claim(context + _without_lead(text), is_item=block.kind == "item")
            if reason is None:
                self._claims_of(start, end, text, context)
                continue
            self._leave_out(start, end, reason)
            if reason == "introduces what follows":
                self.leads.append(_Lead(text.rstrip(" :")[:_LONGEST_LEAD], indent))

    def _context(self, text: str) -> str:
        """Return what a fragment needs before it to say something: its lead, or its heading."""
        if not self.leads and not self.heading:
            return ""
        stands = not is_command(text) and says_something(_without_lead(text))
        lead = _FOLLOWS.sub("", self.leads[-1].text) if self.leads else ""
        if lead and not _names_nothing(lead):
            reads_on = _READS_ON.search(lead)
            if reads_on and (reads_on["modal"] or not has_main_verb(text)):
                return f"{lead} "
            return "" if stands else f"{lead}: "
        if self.heading and not stands and find_quantities(text):
            return f"{self.heading}: "
        return ""

    def _claims_of(self, start: int, end: int, text: str, context: str) -> None:
        sentence = self.masked[start:end]
        found = [] if context else parts(sentence, _lead_end(sentence))
        if len(found) <= 1:
            self._claim(start, end, _joined(context, text))
            return
        cited = find_citations(self.answer[start:end])
        last = tuple(dict.fromkeys(mark.label for mark in cited if mark.start >= found[-1].start))
        for part in found:
            first, stop = trimmed(self.masked, start + part.start, start + part.end)
            part_text = plain_text(without_citations(self.answer[first:stop]))
            if part.subject:
                subject = plain_text(without_citations(part.subject))
                part_text = f"{subject} {re.sub(r'^(?:also|then) ', '', part_text)}"
            self._claim(first, stop, part_text, inherited=last)

    def _claim(self, start: int, end: int, text: str, *, inherited: tuple[str, ...] = ()) -> None:
        standing = self._standing_alone(text)
        marks = find_citations(self.answer[start:end])
        labels = tuple(dict.fromkeys(mark.label for mark in marks)) or inherited
        self.add(start, end, standing, labels)

    def _standing_alone(self, text: str) -> str:
        """Return the claim's text without what leads it in, its first pronoun replaced."""
        quoted = _IN_QUOTES.fullmatch(_TRAILING.sub(r"\g<closing>", text))
        if quoted:
            text = (quoted["a"] or quoted["b"] or quoted["c"]).strip()
        bare = _TRAILING.sub(r"\g<closing>", _without_lead(text)) or text
        carried = with_pronoun_replaced(bare, self.subject)
        if carried == bare and begins_with_pronoun(bare):
            self.subject = None
        else:
            self.subject = find_subject(carried)
        return carried[:1].upper() + carried[1:]

    def _row(self, block: Block) -> None:
        """Take a table's row apart: the first cell with each other one is a claim."""
        row = self.answer[block.start : block.end]
        values = [plain_text(without_citations(cell)) for cell in cells(row)]
        marks = tuple(dict.fromkeys(mark.label for mark in find_citations(row)))
        told = [place for place, value in enumerate(values) if place and _says(value)]
        if not told or not values[0]:
            self._leave_out(block.start, block.end, "table row without values")
            return
        for place in told:
            column = block.columns[place] if place < len(block.columns) else ""
            text = f"{values[0]}: {f'{column} {values[place]}'.strip()}"
            self.add(block.start, block.end, _TRAILING.sub(r"\g<closing>", text), marks)

    def add(self, start: int, end: int, text: str, citations: tuple[str, ...]) -> None:
        importance = _importance(text)
        place = {"place": len(self.claims), "start": start, "end": end, "text": text}
        self.claims.append(
            Claim(
                id=derived_id("clm", place),
                text=text,
                type=_type(text),
                importance=importance,
                requires_citation=importance is not Importance.MINOR,
                start=start,
                end=end,
                source_text=self.answer[start:end],
                citations=citations,
            )
        )

    def _leave_out(self, start: int, end: int, reason: str) -> None:
        self.left_out.append(NotAClaim(self.answer[start:end], start, end, reason))


def _sentences(text: str) -> Iterator[Span]:
    """Give the sentences of a block; one that ends within a quotation goes on to its end."""
    spans = sentence_spans(text)
    at = 0
    while at < len(spans):
        start, end = spans[at]
        ends = [last for _, last in spans[at : at + _LONGEST_QUOTATION]]
        whole = next((last for last in ends if not in_quotation(text[start:last])), end)
        yield start, whole
        at += ends.index(whole) + 1


def _type(text: str) -> ClaimType:
    if _DEFINITION.search(text):
        return ClaimType.DEFINITION
    if _POLICY.search(text):
        return ClaimType.POLICY
    if find_quantities(text):
        return ClaimType.NUMERIC
    return ClaimType.FACT


def _importance(text: str) -> Importance:
    if _MINOR.match(text):
        return Importance.MINOR
    weighty = any(
        quantity.dimension.startswith("money") or quantity.dimension == "percent"
        for quantity in find_quantities(text)
    )
    return Importance.CRITICAL if weighty or _CRITICAL.search(text) else Importance.MATERIAL


def _without_lead(text: str) -> str:
    """Return the text without how it begins, unless that is all there is."""
    return text[_lead_end(text) :] or text


def _lead_end(text: str) -> int:
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


def _joined(context: str, text: str) -> str:
    """Put what a list item needs before it: "Employees must" and "Submit it" are one sentence."""
    modal = _READS_ON.search(context.rstrip())
    if modal and modal["modal"] and text[1:2].islower():
        text = text[0].lower() + text[1:]
    return context + text


def _says(cell: str) -> bool:
    return any(character.isalnum() for character in cell)


def _refuse_surrogates(answer: str) -> None:
    try:
        answer.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the answer is no valid text: a lone surrogate at offset {error.start}; "
            "read it as UTF-8"
        ) from None
