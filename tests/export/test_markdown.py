import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evidentia.export.markdown import escaped, to_markdown
from evidentia.export.shown import minute, one_line, place
from evidentia.ledger.model import SourceDocument
from export.sessions import (
    NEAR,
    every_verdict,
    first_form,
    hostile_session,
    leave_session,
    session_of,
    weak_session,
)

EXPECTED = """\
## Evidence Ledger

**Session:** Leave Policy Q&A
**Generated:** 2026-01-03 14:30 UTC
**Evidence Coverage:** 75%

### Summary

| Verdict | Count |
|---------|-------|
| Supported | 2 |
| Weak | 1 |
| Not Found | 1 |
| Of the weak: partial | 1 |

### Claims Detail

#### 1. Employees are entitled to 15 days of annual leave

- **Type:** Policy
- **Importance:** Critical
- **Verdict:** ✓ Supported (Confidence: 92%)
- **Source:** HR_Policy.pdf, Page 12
- **Evidence:** "All permanent employees shall receive 15 days of paid annual leave per \
calendar year."
- **Notes:** Why.

---

#### 2. Leave requests must be submitted 2 weeks in advance

- **Type:** Policy
- **Importance:** Material
- **Verdict:** ✓ Supported (Confidence: 88%)
- **Source:** Leave_Guidelines.pdf, Section 3.2
- **Evidence:** "Leave applications must be submitted at least 14 calendar days before the \
intended start date."
- **Notes:** Why.

---

#### 3. Unused leave can be carried forward to next year

- **Type:** Policy
- **Importance:** Material
- **Verdict:** ? Weak (partial) (Confidence: 65%)
- **Source:** HR_Policy.pdf, Page 12
- **Evidence:** "Unused annual leave may be carried over."
- **Notes:** Why.

---

#### 4. Maximum carryover is 5 days

- **Type:** Numeric
- **Importance:** Critical
- **Verdict:** ○ Not Found (Confidence: 0%)
- **Source:** -
- **Notes:** Why.

---

### Risk Flags

⚠️ **Missing Evidence (High):** 1 critical claim has no supporting evidence.

### Recommended Actions

1. Upload additional documents covering "Maximum carryover is 5 days"
2. Review claim #4 and consider removing or qualifying
3. Review claim #3 and consider qualifying

### Follow-up Questions

- Does a document say in full that "Unused leave can be carried forward to next year"? \
HR_Policy.pdf supports it in part.
- Which document says that "Maximum carryover is 5 days"?
"""


def test_a_ledger_is_written_in_the_form_it_was_specified_in() -> None:
    assert to_markdown(leave_session()) == EXPECTED


def test_rare_verdicts_are_counted_where_they_occur() -> None:
    text = to_markdown(every_verdict())
    assert "| Contradicted | 1 |\n| Not Found | 1 |\n| Not Judged | 1 |" in text
    assert "✗ Contradicted" in text
    assert "\u2013 Not Judged" in text


def test_an_empty_ledger_says_that_there_are_no_claims() -> None:
    text = to_markdown(session_of(claims=()))
    assert "The answer makes no claims." in text
    assert "### Risk Flags\n\nNone.\n" in text
    assert text.endswith("### Recommended Actions\n\nNone.\n")
    assert "| Supported | 0 |" in text
    assert "Contradicted" not in text


LINES = re.compile(
    r"|## Evidence Ledger|### [A-Z][A-Za-z -]+|\*\*(?:Session|Generated|Evidence Coverage):\*\* .*"
    r"|\| [A-Z].* \||\|-+\|-+\||#### \d+\. .*"
    r"|- \*\*(?:Type|Importance|Verdict|Source|Evidence|Nearest passage, no evidence|Notes):\*\* .*"
    r"|---|⚠️ \*\*.+\*\* .*|\d+\. .*|- .*|\*\*Session:\*\* ?|#### \d+\. ?|- \*\*Notes:\*\* ?"
)


@given(st.text())
def test_every_field_is_one_line_for_any_text(text: str) -> None:
    written = to_markdown(hostile_session(text))
    expected = to_markdown(hostile_session("x" if text else ""))
    assert written.count("\n") == expected.count("\n")
    for line in written.split("\n"):
        assert LINES.fullmatch(line), repr(line)
    assert written.splitlines() == written[:-1].split("\n")


MARKUP = st.lists(
    st.sampled_from(
        ["*", "_", "`", "[a](b)", "<b>", "# ", "- ", "1. ", "&lt;", "~~", "|", "\\", "![x](y)", "a",
         "http://x.y", "<!-- ", "=", "+ ", " ", "***", "[^1]", "<http://x>", "&#60;", "b_c_d"]
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_nothing_in_a_field_is_read_as_markup(text: str) -> None:
    """What a renderer makes of an escaped text is the text itself, and not one tag."""
    rendered = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .parseInline(f"x {escaped(text)} x")
    )
    assert [token.type for token in rendered[0].children or ()] == ["text"] or all(
        token.type in ("text", "text_special") for token in rendered[0].children or ()
    )
    shown = "".join(token.content for token in rendered[0].children or ())
    assert shown == f"x {one_line(text)} x"


@pytest.mark.parametrize("text", ["# x", "- x", "+ x", "> x", "x #"])
def test_nothing_in_a_list_is_read_as_a_block(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"- {escaped(text)}\n")
    assert [token.type for token in tokens if token.type.endswith("_open")] == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
    ]
    assert MarkdownIt("commonmark").render(f"#### {escaped('x #')}").strip() == "<h4>x #</h4>"


def test_what_cannot_be_seen_is_written_out() -> None:
    assert one_line("a\u202eb\x1b[31m c\n d\u2028e") == "a⟨U+202E⟩b⟨U+001B⟩[31m c d e"
    assert (
        one_line("👩\u200d💻 \u0645\u06cc\u200c\u0634\u0648\u062f")
        == "👩\u200d💻 \u0645\u06cc\u200c\u0634\u0648\u062f"
    )


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        ("2026-01-03T14:30:59Z", "2026-01-03 14:30 UTC"),
        ("2026-01-03T17:30:00+03:00", "2026-01-03 14:30 UTC"),
        ("2026-01-03T14:30:00", "2026-01-03 14:30 UTC"),
        ("0001-01-01T00:00:00+10:00", "0001-01-01T00:00:00+10:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_times_are_shown_in_utc(timestamp: str, shown: str) -> None:
    assert minute(timestamp) == shown


def test_a_place_is_as_exact_as_is_known() -> None:
    assert place(None) == "-"
    assert place(SourceDocument(id="d", filename="a.md")) == "a.md"
    full = SourceDocument(id="d", filename="a.pdf", page_number=3, heading_path=("1", "1.2"))
    assert place(full) == "a.pdf, Page 3, 1.2"


def test_a_weak_claim_says_why_and_the_nearest_passage_is_no_evidence() -> None:
    made = to_markdown(weak_session())
    assert "| Of the weak: probable | 1 |\n| Of the weak: partial | 1 |\n" in made
    assert "- **Verdict:** ? Weak (probable) (Confidence: 64%)\n" in made
    assert "- **Verdict:** ? Weak (partial) (Confidence: 40%)\n" in made
    near = f'"{escaped(NEAR)}" ({escaped("Leave_Guidelines.pdf, Section 3.2")})'
    assert f"- **Nearest passage, no evidence:** {near}\n" in made
    assert made.count("- **Evidence:**") == 2


def test_a_ledger_of_the_first_form_says_weak_alone() -> None:
    made = to_markdown(first_form(weak_session()))
    assert made.count("? Weak (Confidence") == 2
    assert "Nearest" not in made
    assert "Of the weak" not in made
