"""Claims: the statements of an answer that can be true or false, each by itself.

Questions, greetings, instructions and the assistant's words about itself are no claims; they are
listed with the reason, and nothing that is read in the answer is in neither list. A compound
sentence is split where each part can be true or false by itself. A claim's text stands by itself:
without markup and citations, with what its first pronoun stands for, with the line that leads its
list in, with the names of its table's row and column. Where the rules are unsure they leave a
sentence whole.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from evidentia.canonical import derived_id
from evidentia.errors import InputError
from evidentia.frozen import FrozenList
from evidentia.language.characters import Span
from evidentia.language.clauses import Part, in_quotation, parts
from evidentia.language.markup import masked, plain_text, trimmed
from evidentia.language.numerals import find_quantities
from evidentia.language.predicates import says_something
from evidentia.language.pronouns import begins_with_pronoun, with_pronoun_replaced
from evidentia.language.sentences import sentence_spans
from evidentia.ledger.blocks import Block, cells, find_blocks, is_bold_title
from evidentia.ledger.citations import (
    CitationMark,
    GivenCitation,
    find_citations,
    without_citations,
)
from evidentia.ledger.heads import Heads, find_label, is_apart, joined, lead_end, without_lead
from evidentia.ledger.model import Claim, ClaimType, Importance
from evidentia.ledger.notclaims import is_navigation, is_title, why_no_claim, why_no_statement

_TRAILING = re.compile(r"[\s.;!。\u06d4।…]+(?P<closing>[\"'”\u2019»)\]]*)$")
_IN_QUOTES = re.compile(r"(?:\"(?P<a>[^\"]+)\"|“(?P<b>[^“”]+)”|«(?P<c>[^«»]+)»)")
_EMPHASIS = re.compile(r"[*`]")
_OPEN_EMPHASIS = re.compile(r"^(?:\*{2,3}|__)(?=\w)|(?:\*{2,3}|__)$")
"""Emphasis that goes on from a sentence to the next, as plain text leaves it."""
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


def extract_claims(
    answer: str, *, names: Collection[str] = (), cited: Sequence[GivenCitation] = ()
) -> ExtractedClaims:
    """Split an answer (Markdown or plain text) into claims with exact offsets.

    `names` are what the answer may cite in brackets beside numbers: `[kb-17]`. `cited` is what is
    said beside it to be cited: each claim at such a place cites that, too.
    """
    _refuse_surrogates(answer)
    return _Extraction(answer, names, cited).run()


def whole_claim(text: str) -> Claim:
    """Return a text as one claim, as it is, whatever `extract_claims` would make of it."""
    _refuse_surrogates(text)
    extraction = _Extraction(text)
    extraction.add(0, len(text), text, ())
    return extraction.claims[0]


@dataclass(slots=True)
class _Extraction:
    """Goes through an answer's blocks and carries what a claim may need from before it."""

    answer: str
    names: Collection[str] = ()
    cited: Sequence[GivenCitation] = ()
    masked: str = ""
    before: str | None = None
    heads: Heads = field(default_factory=Heads)
    claims: list[Claim] = field(default_factory=list)
    left_out: list[NotAClaim] = field(default_factory=list)

    def run(self) -> ExtractedClaims:
        self.masked = masked(self.answer)
        blocks = find_blocks(self.answer)
        for block, following in zip_longest(blocks, blocks[1:]):
            if block.kind in ("paragraph", "item"):
                self._text(block, following)
            elif block.kind == "row":
                self._row(block)
            else:
                self._leave_out(block.start, block.end, block.kind)
                if block.kind == "heading":
                    self._new_section(block)
        return ExtractedClaims(FrozenList(self.claims), FrozenList(self.left_out))

    def _new_section(self, block: Block) -> None:
        self.before = None
        self.heads.begin_section(plain_text(self.answer[block.start : block.end]))

    def _text(self, block: Block, following: Block | None) -> None:
        """Take a paragraph or a list item apart, unless it only names what follows."""
        indent = block.indent if block.kind == "item" else -1
        self.heads.reach(block, indent)
        reason = self._why_title(block, following)
        if reason is None:
            self._sentences(block, indent)
            return
        self._leave_out(block.start, block.end, reason)
        if reason == "heading" and block.kind == "paragraph":
            self._new_section(block)
        elif reason != "navigation":
            title = self._plain(self.answer[block.start : block.end])
            self.heads.add(title, indent)

    def _why_title(self, block: Block, following: Block | None) -> str | None:
        """Return why a whole paragraph or list item is no claim: a title, or a way elsewhere."""
        piece = self.masked[block.start : block.end].strip()
        if is_navigation(piece):
            return "navigation"
        if "\n" in piece or following is None:
            return None
        if block.kind == "paragraph":
            return "heading" if is_title(plain_text(piece)) else None
        if is_bold_title(piece):
            return "heading"
        leads_in = following.kind == "item" and following.indent > block.indent
        title = plain_text(piece)
        named = leads_in and not title.endswith((".", ":", "!", "?")) and not says_something(title)
        return "introduces what follows" if named else None

    def _sentences(self, block: Block, indent: int) -> None:
        label = find_label(self.masked[block.start : block.end])
        begins = block.start
        if label:
            begins += label.end()
            self._leave_out(*trimmed(self.masked, block.start, begins), "introduces what follows")
        name = plain_text(label["label"]) if label else ""
        for first, last in _sentences(self.masked[begins : block.end]):
            start, end = trimmed(self.masked, begins + first, begins + last)
            text = self._plain(self.answer[start:end])
            context = self.heads.needed_by(text, name, begins_block=first == 0)
            reason = why_no_claim(context + without_lead(text), is_item=block.kind == "item")
            if reason is None and is_apart(context) and (name or first):
                reason = why_no_statement(without_lead(text))
            if reason is None:
                self._claims_of(start, end, text, context)
                continue
            self._leave_out(start, end, reason)
            self.before = None
            if reason == "introduces what follows":
                self.heads.add(text, indent)

    def _claims_of(self, start: int, end: int, text: str, context: str) -> None:
        cited = find_citations(self.answer[start:end], self.names)
        sentence = _unmarked(self.masked[start:end], [(mark.start, mark.end) for mark in cited])
        found = parts(sentence, lead_end(sentence)) if is_apart(context) else []
        if len(found) <= 1:
            self._claim(start, end, text, context)
            return
        last = tuple(dict.fromkeys(mark.label for mark in cited if mark.start >= found[-1].start))
        for part, (first, stop) in zip(found, self._spans(start, end, found, cited), strict=True):
            part_text = self._plain(self.answer[first:stop])
            if part.subject:
                subject = self._plain(part.subject)
                part_text = f"{subject} {re.sub(r'^(?:also|then|which|who) ', '', part_text)}"
            self._claim(first, stop, part_text, context, inherited=last)

    def _spans(
        self, start: int, end: int, found: Sequence[Part], cited: Sequence[CitationMark]
    ) -> Iterator[Span]:
        """Give where the parts of a sentence stand, with the citations and marks at their ends."""
        edges = [*(after.start for after in found[1:]), end - start]
        begins = 0
        for part, edge in zip(found, edges, strict=True):
            between = self.masked[start + part.end : start + edge]
            opening = len(between) - len(between.rstrip("*`"))
            closing = len(between) - len(between.lstrip("*`"))
            within = [mark.end for mark in cited if part.end <= mark.start < edge]
            ends = max(within, default=part.end + closing)
            yield trimmed(self.masked, start + begins, start + ends)
            begins = max(ends, edge - opening)

    def _claim(
        self, start: int, end: int, text: str, context: str, *, inherited: tuple[str, ...] = ()
    ) -> None:
        standing = self._standing_alone(text, context)
        marks = find_citations(self.answer[start:end], self.names)
        labels = tuple(dict.fromkeys(mark.label for mark in marks)) or inherited
        self.add(start, end, standing, labels)

    def _standing_alone(self, text: str, context: str) -> str:
        """Return a claim's text with its context, without what else leads it in.

        Its first pronoun is replaced, and the text is kept for the pronoun of the next.
        """
        if not is_apart(context):
            text, context = joined(context, text), ""
        text = _OPEN_EMPHASIS.sub("", text)
        quoted = _IN_QUOTES.fullmatch(_TRAILING.sub(r"\g<closing>", text))
        if quoted:
            text = (quoted["a"] or quoted["b"] or quoted["c"]).strip()
        bare = _TRAILING.sub(r"\g<closing>", without_lead(text)) or text
        carried = with_pronoun_replaced(bare, self.before)
        self.before = None if begins_with_pronoun(carried) else carried
        if context and not says_something(carried):
            self.before = f"{context.rstrip(' :')} is {carried}"
        standing = context + carried
        return standing[:1].upper() + standing[1:]

    def _row(self, block: Block) -> None:
        """Take a table's row apart: the first cell with each other one is a claim."""
        self.before = None
        row = self.answer[block.start : block.end]
        values = [self._plain(cell) for cell in cells(row)]
        marks = tuple(dict.fromkeys(mark.label for mark in find_citations(row, self.names)))
        told = [place for place, value in enumerate(values) if place and _says(value)]
        if not told or not values[0]:
            self._leave_out(block.start, block.end, "table row without values")
            return
        for place in told:
            column = block.columns[place] if place < len(block.columns) else ""
            text = f"{values[0]}: {f'{column} {values[place]}'.strip()}"
            text = self.heads.of_table(text) + text
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
                citations=tuple(dict.fromkeys((*citations, *self._cited_at(start, end)))),
            )
        )

    def _cited_at(self, start: int, end: int) -> Iterator[str]:
        """Give what is said to be cited at a place; a space or a full stop alone is none."""
        for one in self.cited:
            if _says(self.answer[max(start, one.start) : min(end, one.end)]):
                yield one.source

    def _plain(self, text: str) -> str:
        """Return a text without markup and citations."""
        return plain_text(without_citations(text, self.names))

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


def _unmarked(sentence: str, citations: Iterable[Span]) -> str:
    """Return a sentence with spaces for its citations and emphasis, every other place kept."""
    for start, end in citations:
        sentence = sentence[:start] + " " * (end - start) + sentence[end:]
    return _EMPHASIS.sub(" ", sentence)


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
