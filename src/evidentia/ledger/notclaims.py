"""What of an answer is no claim: questions, greetings, instructions, the assistant on itself."""

import re
from typing import Final

from evidentia.language.clauses import has_verb
from evidentia.language.tokens import tokenize

_SHORT: Final = 3
"""Words of a piece that, without a verb, a number or a full stop, is a title and no statement."""
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
    r"register|select|update|write|wait|print|save|do not|don't|never|always|be sure|feel free)"
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
_BARE_COMMAND = re.compile(rf"{_COMMAND}\b(?! of\b)", re.IGNORECASE)


def why_no_claim(text: str, *, is_item: bool = False) -> str | None:
    """Return why a sentence (as plain text) is no claim, or None if it is one."""
    if not any(character.isalnum() for character in text):
        return "no words"
    for reason, pattern in _REASONS:
        if pattern.match(text):
            return reason
    if text.endswith((":", "\uff1a")):  # the second is the colon of Chinese and Japanese
        return "introduces what follows"
    if is_command(text):
        return "instruction"
    return "too short to be true or false" if _is_fragment(text, is_item=is_item) else None


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
