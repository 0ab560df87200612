# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.sentences import paragraph_spans, sentence_spans, split_sentences

PIECES = st.lists(
    st.sampled_from(
        [
            *("Dr. ", "e.g. ", "3.5% ", "U.S. ", "Then ", "he ", "? ", "! ", ". ", "... ", "\n"),
            *("\n\n", "- item ", "1. ", "# Head\n", "| a | b |\n", "。", "؟ ", "“Yes.” "),
            *("(No!) ", ".[1] ", "\r\n", "\t", "\x0c", "\u2029", "```\n", "a", "A", "ش", "中"),
            *("\u00a0", "[cite:ab12] "),
        ]
    )
).map("".join)


@given(st.one_of(st.text(), PIECES))
def test_spans_are_in_order_and_hold_all_that_is_not_space(text: str) -> None:
    for spans in (sentence_spans(text), paragraph_spans(text)):
        rest = list(text)
        at = 0
        for start, end in spans:
            assert at <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip()
            rest[start:end] = " " * (end - start)
            at = end
        assert "".join(rest).isspace() or not rest


@given(PIECES)
def test_a_sentence_never_crosses_a_paragraph(text: str) -> None:
    ends = [end for _, end in paragraph_spans(text)]
    for start, end in sentence_spans(text):
        assert not any(start < border < end for border in ends)


@tiers.one_test
@pytest.mark.parametrize(
    "sentences",
    [
        ["Hello World.", "My name is Jonas."],
        ["What is your name?", "My name is Jonas."],
        ["Hello!!", "Long time no see."],
        ["My name is Jonas E. Smith."],
        ["Please turn to p. 55."],
        ["Were Jane and co. at the party?"],
        ["Let's ask Jane and co.", "They should know."],
        ["They closed the deal with Pitt, Briggs & Co. at noon."],
        ["I can see Mt. Fuji from here."],
        ["I live in the U.S.", "How about you?"],
        ["I work for the U.S. Government in Virginia."],
        ["She has $100.00 in her bag.", "It is hers."],
        ["He teaches (He worked for 5 years as an engineer.) at the local University."],
        ["Her email is Jane.Doe@example.com.", "I sent her an email."],
        ["She turned to him, 'This is great.' she said."],
        ['She said, "This is great."', "She held the book out."],
        ["She works at Yahoo! in the accounting department."],
        ["You and I.", "Did you see Albert I. Jones?"],
        ["Wait... what?", "It went on. . . .", "Then it stopped…", "At last."],
        ["The saint was a martyr.[1]", "The emperor published a decree."],
        [
            "Employees get 15 days [cite:a1b2c3d4].",
            "Two weeks. [cite:bbbbbbbb]",
            "A cap.[^2]",
            "So.",
        ],
        ["See No. 5 for it.", "I said no.", "Then I left."],
        ["Modern art.", "See Art. 12 and Fig. 3."],
        ["It ends on Fri. Dec. 3 at noon.", "They sat.", "Mina left."],
        ["Section 4.2. Leave is granted.", "It lapses."],
        ["Am 3. Oktober ist frei.", "Danach nicht."],
        ["Growth was 3.5%.", "Costs fell 2 p.p. in Q3.", "In 2024. is odd."],
        ["**Bold ends.**", "_And on._"],
        ["(Really!)", "[Yes?]", "«Oui.»", "Fin."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("هل يمكن ذلك؟ نعم. لا يجوز الترحيل!", 3),
        ("قال د. أحمد ذلك. ثم غادر.", 2),
        ("آپ کیسے ہیں؟ میں ٹھیک ہوں۔ شکریہ۔", 3),
        ("员工有年假。每年十五天！对吗？", 3),
        ("「休暇がある。」と言う。はい。", 3),
        ("यह नियम है। दूसरा नियम।", 2),
    ],
)
def test_other_scripts_end_sentences_with_their_own_marks(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("This is cut off\nin the middle by a PDF.", ["This is cut off\nin the middle by a PDF."]),
        ("1. The first item\n2. The second item", ["1. The first item", "2. The second item"]),
        ("• one\n• two goes\non\n(a) three", ["• one", "• two goes\non", "(a) three"]),
        ("# Leave\nAll get it. Soon.", ["# Leave", "All get it.", "Soon."]),
        ("| a. B | c |\n|---|---|\n| d | e |", ["| a. B | c |", "|---|---|", "| d | e |"]),
        ("Grade | Days\nA | 15. Or", ["Grade | Days", "A | 15. Or"]),
        ("Title\n=====\nText.", ["Title", "=====", "Text."]),
        ("```\ncode.\n```\nText.", ["```", "code.", "```", "Text."]),
        ("> Quoted text\n> and more.", ["> Quoted text", "> and more."]),
        (
            "ANNUAL LEAVE\nAll permanent employees shall receive leave as the law has it.",
            ["ANNUAL LEAVE", "All permanent employees shall receive leave as the law has it."],
        ),
        (
            "A long line of text that is wrapped here,\nAnd,\nOn.",
            ["A long line of text that is wrapped here,\nAnd,\nOn."],
        ),
        ("4.2 Carry over. It is capped.\n4.3 Pay", ["4.2 Carry over.", "It is capped.", "4.3 Pay"]),
    ],
)
def test_lines_that_stand_for_themselves_are_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        *(". " * 200_000, "." * 400_000, ". . " * 100_000 + "!", "a\n" * 200_000, "(" * 300_000),
        *(".[1" + ",1" * 200_000, "\n" + " " * 400_000 + "x", "A. " * 100_000, '."' * 200_000),
    ],
)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    assert sentence_spans(text)
