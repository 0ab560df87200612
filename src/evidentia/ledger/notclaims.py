"""What of an answer is no claim: questions, greetings, instructions, the assistant on itself."""

import re
from typing import Final

from evidentia.language.finite import has_verb
from evidentia.language.lexicon import word_set
from evidentia.language.markup import plain_text
from evidentia.language.predicates import says_something
from evidentia.language.tokens import tokenize

_SHORT: Final = 3
"""Words of a piece that, without a verb, a number or a full stop, is a title and no statement."""
_LONGEST_TITLE: Final = 12
_ENDS = re.compile(r"[.!。\u06d4।…][\"'”\u2019»)\]]*$")

_QUESTION: Final = r".*[?؟\uff1f][\"'”\u2019»)\]]*\Z"
_GREETING: Final = (
    r"(?:(?:hi|hello|hey|dear|greetings)(?:[ ,]+[\w.'\u2019]+){0,3}"
    r"|(?:many )?thank(?:s| you)(?: (?:for|so much|very much|again|in advance)\b[^.!]{0,60})?"
    r"|(?:(?:you're|you are) )?welcome(?: back)?"
    r"|(?:sure|certainly|of course|absolutely|great|good|excellent)(?: thing| question| point)?"
    r"|good (?:morning|afternoon|evening|day)(?:[ ,]+[\w.'\u2019]+){0,2}"
    r"|(?:best|kind|warm)(?: regards)?|sincerely|cheers)[!,.:]*\Z"
)
_ABOUT_THE_ANSWER: Final = (
    r"(?:here (?:is|are)|here's|below (?:is|are)|i hope|let me|happy to|feel free"
    r"|the (?:following|above) (?:is|are|answer|summary)"
    r"|this (?:answer|summary|response) (?:is|was)"
    r"|i(?:'ll| will| can| could| would|'d| have|'ve)"
    r"|if you (?:have|need|want|would like)(?: any| more| further| other| additional)*"
    r" (?:questions?|help|information|details|clarification|assistance|concerns|me to))\b"
)
_HEDGE: Final = (
    r"(?:(?:unfortunately, |however, |but )?i(?:'m| am| do| don't| cannot| can't| could not"
    r"| couldn't| was| did| didn't| think| believe| guess| assume| suspect| suppose| recommend"
    r"| suggest)"
    r"|as an ai|as a (?:large )?language model|sorry|(?:to|based on) my knowledge|my understanding"
    r"|in my opinion|it (?:is|remains) (?:unclear|not clear|unknown)"
    r"|there is no (?:information|mention)"
    r"|(?:the|these|your) (?:provided |available |given |supplied )?"
    r"(?:documents?|sources?|context|texts?|information)(?: provided)? (?:do|does|did)(?: not|n't)"
    r" (?:mention|specify|contain|provide|say|state|include|address|give))\b"
)
_COMMAND: Final = (
    r"(?:make|ensure|check|see|refer|contact|consult|click|go|read|remember|consider|try|ask|visit|"
    r"review|verify|follow|upload|submit|send|complete|fill|use|call|email|keep|avoid|note|let|ignore|"
    r"disregard|mark|treat|answer|respond|reply|tell|speak|look|find|open|download|sign|provide|"
    r"include|add|remove|inform|notify|attach|bring|choose|confirm|create|enter|install|obtain|"
    r"register|select|identify|update|write|wait|print|save|do not|don['\u2019]t|never|always|"
    r"be sure|feel free)"
)
_INSTRUCTION: Final = (
    r"(?:please|kindly|you (?:should|may want to|might want to) (?:also )?"
    r"(?:check|contact|consult|verify|review|ask|speak|refer|see)"
    rf"|{_COMMAND} (?:the|an?|your|our|my|their|his|her|its|this|that|these|those|it|them|us|me|him"
    r"|all|any|each|every|both|sure|how|what|whether|with|to|out|up|if))\b"
)
_REASONS: Final = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        ("question", _QUESTION),
        ("greeting", _GREETING),
        ("about the answer", _ABOUT_THE_ANSWER),
        ("hedge of the assistant", _HEDGE),
        ("instruction", _INSTRUCTION),
    )
)
_WAY: Final = r"(?:\[[^\[\]\n]{1,80}\]\([^()\s]{0,200}\)|[^\W\d_][\w&'\u2019 -]{0,40}?)"
_TRAIL = re.compile(rf"{_WAY}(?:\s+[>\u203a»→|·•]\s+{_WAY}){{1,12}}")
_LINKS = re.compile(r"(?:\[[^\[\]\n]{1,80}\]\([^()\s]{0,200}\)[\s|·•,/>-]*){2,40}")
_WAYS_ON = re.compile(
    r"(?:skip to (?:the )?(?:main )?content|(?:back|return|go) to (?:the )?(?:top|home|start|"
    r"previous page|contents)|(?:table of )?contents|on this page|in this (?:article|section)|"
    r"(?:read|learn|see|show|view|find out) more|(?:previous|next)(?: page)?|share this(?: page)?|"
    r"related (?:links|articles|pages|topics)|print this page)[.:!]?",
    re.IGNORECASE,
)
_SMALL: Final = word_set(
    "a an and at by for from in of on or per the to under vs via with within your our"
)
_BARE_COMMAND = re.compile(rf"{_COMMAND}\b(?! of\b)", re.IGNORECASE)


def why_no_claim(text: str, *, is_item: bool = False) -> str | None:
    """Return why a sentence (as plain text) is no claim, or None if it is one."""
    if not any(character.isalnum() for character in text):
        return "no words"
    if reason := why_no_statement(text):
        return reason
    if text.endswith((":", "\uff1a")):  # the second is the colon of Chinese and Japanese
        return "introduces what follows"
    if is_command(text):
        return "instruction"
    return "too short to be true or false" if _is_fragment(text, is_item=is_item) else None


def why_no_statement(text: str) -> str | None:
    """Return as what a text is meant that states nothing, such as a question, if it is."""
    return next((reason for reason, pattern in _REASONS if pattern.match(text)), None)


def is_navigation(piece: str) -> bool:
    """Whether a piece of Markdown only leads elsewhere: breadcrumbs, rows of links, "read more"."""
    if _WAYS_ON.fullmatch(plain_text(piece)) or _LINKS.fullmatch(piece):
        return True
    return _TRAIL.fullmatch(piece) is not None and not says_something(plain_text(piece))


def is_title(text: str) -> bool:
    """Whether a line of plain text is a title: each word that matters has a capital, and no verb.

    >>> is_title("Annual Leave for Permanent Staff"), is_title("Leave is paid")
    (True, False)
    """
    names = [word for word in text.split() if word.lower() not in _SMALL]
    return (
        1 < len(names) <= _LONGEST_TITLE
        and all(name[0].isupper() for name in names)
        and text[-1].isalpha()
        and text.isascii()
        and not says_something(text)
    )


def is_command(text: str) -> bool:
    """Whether a text begins with what is to be done, and has no subject: "Submit it early"."""
    return _BARE_COMMAND.match(text) is not None and not has_verb(text)


def _is_fragment(text: str, *, is_item: bool) -> bool:
    terms = tokenize(text)
    if len(terms) <= 1:
        return True
    finished = _ENDS.search(text) is not None and not is_item
    says = has_verb(text) or any(term[0].isdigit() for term in terms)
    return len(terms) <= _SHORT and not finished and not says
