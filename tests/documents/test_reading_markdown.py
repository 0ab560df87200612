import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidentia.documents.chunking import chunk_document
from evidentia.documents.effective import EVER, Effective
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import markdown
from evidentia.documents.reading.document import MARKDOWN, read_document
from evidentia.documents.reading.markdown import find_headings
from evidentia.errors import DocumentError

YEAR = Effective("2026-01-01", "2026-12-31")


def read(source: str) -> ReadDocument:
    return read_document(source.encode(), "policy.md")


def test_the_source_is_kept_as_it_is() -> None:
    source = "# Leave\r\n\r\n* **15** days\r\n\r\n| a | b |\r\n"
    document = read(source)
    assert document.media_type == MARKDOWN
    assert document.pages[0].text == source


def test_headings_are_those_that_commonmark_sees() -> None:
    source = (
        "# The *annual* `leave`\r\n\r\ntext\n\n```\n# code\n```\n\n    # indented code\n\n"
        "Set on\ntwo lines\n=====\n\n> ## In a [quote](x)\n\n<div>\n# in HTML\n</div>\n\n#\n\n"
        "####### seven\n\nBreak  \nhere\n---\n\n### ![picture](p.png)\n"
    )
    document = read(source)
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "The annual leave"),
        (1, "Set on two lines"),
        (2, "In a quote"),
        (2, "Break here"),
        (3, "picture"),
    ]
    starts = [source[h.start :].partition("\n")[0].strip() for h in document.headings]
    assert starts == [
        "# The *annual* `leave`",
        "Set on",
        "> ## In a [quote](x)",
        "Break",
        "### ![picture](p.png)",
    ]
    assert document.title == "The annual leave"


def test_front_matter_is_no_heading_and_its_fields_are_read() -> None:
    document = read(
        "---\ntitle: 'Leave policy'\ndate: 2024-01-02T10:00\nupdated: \"2024-02-03\"\n"
        "lang: de-AT\n---\n\n# Urlaub\n"
    )
    assert [h.text for h in document.headings] == ["Urlaub"]
    assert document.title == "Leave policy"
    assert (document.created, document.modified) == ("2024-01-02", "2024-02-03")
    assert document.language == "de"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("effective: 2026-01-01", Effective("2026-01-01")),
        ("effective_from: '2026-01-01'\neffective_until: 2026-12-31", YEAR),
        ("Valid_From: 2026-01-01\nVALID_UNTIL: 2026-12-31T00:00", YEAR),
        ("expires: 2026-12-31", Effective(None, "2026-12-31")),
        ("expires: never\neffective: soon", EVER),
        ("note: effective: 2026-01-01", EVER),
    ],
)
def test_front_matter_says_when_a_document_holds(fields: str, found: Effective) -> None:
    document = read(f"---\n{fields}\n---\n# Leave\n\nEmployees receive 15 days.\n")
    assert (document.effective, document.warnings) == (found, ())


def test_days_that_end_before_they_begin_are_told_and_taken_for_none() -> None:
    document = read("---\neffective: 2026-02-01\nexpires: 2026-01-01\n---\nText.\n")
    assert document.effective == EVER
    (warning,) = document.warnings
    assert warning.startswith("it says that it holds from 2026-02-01 until 2026-01-01, which is be")


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    document = read("---\n\n# Leave\n\ntitle: no\n")
    assert [h.text for h in document.headings] == ["Leave"]
    assert document.title == "Leave"


def test_empty_front_matter_fields_say_nothing() -> None:
    assert read("---\ntitle:\n---\ntext\n").title is None


def test_a_very_long_heading_is_body_text() -> None:
    assert read("# " + "long " * 200 + "\n").headings == ()


def test_a_file_that_would_take_minutes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MAX_MARKDOWN_BYTES", 10)
    with pytest.raises(DocumentError, match=r"12 bytes of Markdown, 10 at most: .* name it .txt"):
        read("# Leave ok\n\n")


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Leave\ntags:\n- hr\n- leave\nabstract: >\n  All of it.\n# a comment\n\n---\n",
        "---\r\n# first a comment\r\ntitle: Leave\r\n---\r\n",
        '---\n"title": Leave\nlist: [\n  1,\n]\n...\n',
        "+++\ntitle = 'Leave'\ndate = 2024-01-02\n[params]\n  owner = \"HR\"\n+++\n",
        "---\n---\n",
    ],
)
def test_front_matter_is_in_no_passage_and_places_are_those_of_the_file(front: str) -> None:
    source = f"{front}\n# Leave\n\nEmployees receive 15 days.\n"
    document = read(source)
    assert document.pages[0].text == source
    (chunk,) = chunk_document(document, "doc_1")
    assert chunk.text == "# Leave\n\nEmployees receive 15 days."
    assert source[chunk.start : chunk.end] == chunk.text
    assert document.title == "Leave"


def test_the_fields_of_toml_are_read() -> None:
    document = read('+++\ntitle = "Urlaub"\ndate = 2024-01-02\nlang = "de"\n+++\nText.\n')
    assert (document.title, document.created) == ("Urlaub", "2024-01-02")


@pytest.mark.parametrize(
    "source",
    [
        "---\n\nEmployees receive 15 days.\n\n---\n\nMore.\n",
        "---\ntitle: Leave\n\nEmployees receive 15 days.\n---\n",
        "---\n# Leave\nEmployees receive 15 days.\n---\n",
        "---\n- 15 days\n---\nMore.\n",
        "+++\nEmployees receive 15 days.\n+++\n",
        "text\n---\ntitle: Leave\n---\n",
        "---\ntitle: no end\n",
    ],
)
def test_text_between_rules_is_no_front_matter_and_stays(source: str) -> None:
    document = read(source)
    chunks = chunk_document(document, "doc_1")
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(source.split())


def test_front_matter_alone_is_no_document() -> None:
    with pytest.raises(DocumentError, match="an empty document: it has no text"):
        read("---\ntitle: Leave\n---\n")


_PIECES = [
    *("#", "##", "#######", " #", "# h", "## k ##", "# \n", " ", "    ", "\t", "\n", "\n\n"),
    *("a", "B c", "*e*", "`", "\\", "!", "&amp;", "\u00e9", "\u00a0", "\x0c", "\x85", "\x1c", "\r"),
    *("- ", "* ", "+ ", "1. ", "10) ", "> ", "|", "---", "===", "[x]: y", "<b>", "```", "~~~"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_headings_are_the_parsers_also_where_it_is_not_asked(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        found = find_headings(text)
        patched.setattr(markdown, "_NOT_PLAIN", re.compile(""))
        patched.setattr(markdown, "_WORDS", re.compile("(?!)"))
        assert find_headings(text) == found
