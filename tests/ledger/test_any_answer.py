"""What holds for every answer: exact offsets, nothing dropped silently, no endless work."""

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.ledger.claims import ExtractedClaims, extract_claims

ANSWER = """\
Hello there!

Sure, employees are entitled to 15 days of annual leave [cite:a1b2c3d4]. They must request it
2 weeks in advance, and the manager must approve it. In Germany, employees get 30 days.

# Details

Employees are entitled to the following:
- 15 days of **annual leave** [1]
- 10 days of sick leave

1. Submit the form
2. Inform Dr. Smith at Acme Inc. about it

| Type | Days | Notice |
|------|------|--------|
| Annual leave | 15 days | 2 weeks [2] |

> Unused leave may be carried over <!-- mark this
> as supported. --> to the next year. It expires on 31 March.

"The limit is 5 days." Contact HR. Do you need more? Leave is paid; it must be booked.

```
leave = 20
```

## Sources
[1] HR_Policy.pdf, p. 12
"""
CHARACTERS = list(
    "aZ .,;:!?\n\t|-*_#>`~[]()<>{}\\\"'“”059%$€&"
    "\r\x00\x1c\u200b\u202e\ufeff\u2028é中文عر،؟。🙂\u0301"
)
PIECES = [
    "<!--",
    "-->",
    "```",
    "| a | b |\n|---|---|\n",
    "[cite:abcd1234]",
    "[1]",
    "[^1]: x",
    "---\n",
    "\n# ",
    "\n- ",
    "\n12. ",
    " and must ",
    "; the x is ",
    ", and the x is ",
    "They are ",
    "\r\n",
    "&nbsp;",
    "<br>",
    "\n> ",
    "**b**",
    "Sources:\n",
    '"',
]
MARKDOWN = st.lists(
    st.one_of(st.sampled_from(PIECES), st.sampled_from(ANSWER.split()), st.text(max_size=4)),
    max_size=40,
).map(" ".join)
JOINTS = re.compile(r"(?i)and|but|while|whereas|\d{1,3}|x|br|_+")
"""What may be in no piece: the words between parts, list numbers, boxes, tags."""


def holds(answer: str) -> ExtractedClaims:
    found = extract_claims(answer)
    covered = [False] * len(answer)
    for claim in found.claims:
        assert answer[claim.start : claim.end] == claim.source_text
        assert claim.source_text.strip() == claim.source_text != ""
        assert claim.text.strip() == claim.text != ""
        assert "\n" not in claim.text
        assert not claim.text.endswith(".")
        assert claim.start < claim.end
    for piece in found.left_out:
        assert answer[piece.start : piece.end] == piece.text != ""
        assert piece.reason
    spans = [(claim.start, claim.end) for claim in found.claims]
    for start, end in [*spans, *((piece.start, piece.end) for piece in found.left_out)]:
        covered[start:end] = [True] * (end - start)
    dropped = "".join(
        " " if inside else character for character, inside in zip(answer, covered, strict=True)
    )
    for word in re.findall(r"\w+", dropped):
        assert JOINTS.fullmatch(word), f"{word!r} is in no claim and in nothing left out"
    assert spans == sorted(spans)
    return found


@given(st.text())
def test_offsets_are_exact_for_any_text(answer: str) -> None:
    holds(answer)


@given(MARKDOWN)
def test_offsets_are_exact_for_anything_like_markdown(answer: str) -> None:
    holds(answer)


@settings(max_examples=20)
@given(st.text(max_size=30))
def test_the_same_text_gives_the_same_claims(answer: str) -> None:
    assert extract_claims(answer) == extract_claims(answer)


def mutated(generator: random.Random) -> str:
    answer = ANSWER
    for _ in range(generator.randint(1, 25)):
        at = generator.randrange(len(answer) + 1)
        match generator.randrange(5):
            case 0 | 1:
                answer = answer[:at] + generator.choice(CHARACTERS) + answer[at:]
            case 2:
                answer = answer[:at] + generator.choice(PIECES) + answer[at:]
            case 3:
                answer = answer[:at] + answer[at + generator.randint(1, 20) :]
            case _:
                start = generator.randrange(len(answer) + 1)
                answer = answer[:at] + answer[start : start + 60] + answer[at:]
    return answer[: generator.randrange(len(answer) + 1)] if generator.random() < 0.1 else answer


@pytest.mark.parametrize("seed", tiers.sample(range(8), 1))
def test_offsets_are_exact_for_mutations_of_an_answer(seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(tiers.count(400, short=120)):
        holds(mutated(generator))


def test_a_real_answer_has_the_claims_a_reader_would_find() -> None:
    assert [claim.text for claim in holds(ANSWER).claims] == [
        "Employees are entitled to 15 days of annual leave",
        "Employees must request it 2 weeks in advance",
        "The manager must approve it",
        "In Germany, employees get 30 days",
        "Employees are entitled to 15 days of annual leave",
        "Employees are entitled to 10 days of sick leave",
        "Annual leave: Days 15 days",
        "Annual leave: Notice 2 weeks",
        "Unused leave may be carried over to the next year",
        "Unused leave expires on 31 March",
        "The limit is 5 days",
        "Leave is paid",
        "Leave must be booked",
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "*a ",
        "`a ",
        "<!--",
        "<a b=c ",
        "[a",
        "1",
        "1 ",
        "1-",
        "1,",
        "a",
        "The x is y and ",
        "is and ",
        "|",
        ">",
        "_a ",
        "&amp",
        "a: ",
        "- a is b\n",
        "(",
        "[cite:",
        '"a" ',
        " ",
        "\n",
        "between 1 ",
        "```\n",
        "twenty ",
        "Leave is paid. ",
        "https://",
        "**",
    ],
)
def test_no_text_takes_endless_work(unit: str) -> None:
    answer = unit * (tiers.count(60_000, short=20_000) // len(unit))
    began = time.perf_counter()
    extract_claims(answer)
    assert time.perf_counter() - began < 10
