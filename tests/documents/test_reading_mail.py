from email.message import EmailMessage
from email.policy import SMTP

import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import mail
from evidentia.documents.reading.document import EMAIL, read_document
from evidentia.errors import DocumentError

HEAD = b"From: a@example.org\r\nSubject: Leave\r\n"


def message(subject: str = "Leave in 2025", text: str = "All get 15 days.\n") -> EmailMessage:
    made = EmailMessage()
    made["From"] = "Amal Said <amal@example.org>"
    made["To"] = "Jörg <joerg@example.org>"
    made["Date"] = "Thu, 02 Jan 2025 09:30:00 +0400"
    made["Subject"] = subject
    made.set_content(text)
    return made


def read(data: bytes | EmailMessage) -> ReadDocument:
    data = data if isinstance(data, bytes) else data.as_bytes(policy=SMTP)
    return read_document(data, "leave.eml")


HEADERS = (
    "From: Amal Said <amal@example.org>\nTo: Jörg <joerg@example.org>\n"
    "Date: Thu, 02 Jan 2025 09:30:00 +0400\nSubject: "
)


def test_a_message_is_its_headers_and_its_text() -> None:
    document = read(message(text="All get 15 days.\n\nGrüße, Amal\n"))
    assert document.media_type == EMAIL
    assert (document.title, document.created) == ("Leave in 2025", "2025-01-02")
    assert document.pages[0].text == f"{HEADERS}Leave in 2025\n\nAll get 15 days.\n\nGrüße, Amal"
    (chunk,) = chunk_document(document, "doc_1")
    assert chunk.heading_path == ("Leave in 2025, part 1",)


def test_of_several_forms_the_one_that_is_shown_is_read() -> None:
    made = message(text="Plain words that no one sees.")
    made.add_alternative(
        "<html><body><h1>Leave</h1><p>All get <b>15</b> days.</p></body></html>", subtype="html"
    )
    made.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="très.pdf")
    document = read(made)
    assert document.pages[0].text == f"{HEADERS}Leave in 2025\n\nLeave\n\nAll get 15 days."
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "Leave in 2025, part 1"),
        (2, "Leave"),
    ]
    heading = document.headings[1]
    assert document.pages[0].text.startswith("Leave\n\nAll", heading.start)
    assert document.warnings == ("1 attachment is left out, save what matters as a file: très.pdf",)


def test_an_attached_message_is_read_with_its_own_parts() -> None:
    made = message("Fwd: Leave", "See below.")
    made.add_attachment(message("Leave", "All get 15 days."))
    document = read(made)
    assert [h.text for h in document.headings] == ["Fwd: Leave, part 1", "Leave, part 2"]
    assert document.pages[1].text == f"{HEADERS}Leave\n\nAll get 15 days."
    outer = EmailMessage()
    outer["Subject"] = "Only this"
    outer.add_attachment(message("Leave", "All get 15 days."))
    assert [page.text.split("\n")[0] for page in read(outer).pages] == [
        "Subject: Only this",
        "From: Amal Said <amal@example.org>",
    ]


def test_parts_that_are_shown_one_after_the_other_are_pages() -> None:
    made = message()
    made.add_attachment("A text file.", filename="note.txt")
    made.add_attachment("Shown.", disposition="inline")
    made.add_attachment(b"sig", maintype="application", subtype="pgp-signature")
    document = read(made)
    assert [page.text for page in document.pages][1:] == ["Shown."]
    assert document.warnings == ("1 attachment is left out, save what matters as a file: note.txt",)


def test_many_attachments_are_counted() -> None:
    made = message()
    for number in range(7):
        made.add_attachment(b"x", maintype="image", subtype="png", filename=f"{number}.png")
    (warning,) = read(made).warnings
    assert warning == (
        "7 attachments are left out, save what matters as a file: "
        "0.png, 1.png, 2.png, 3.png, 4.png and 2 more"
    )


@pytest.mark.parametrize(
    ("charset", "text"), [("iso-8859-1", "Grüße"), ("windows-1256", "إجازة"), ("utf-8", "إجازة")]
)
def test_a_text_is_read_in_the_encoding_that_it_names(charset: str, text: str) -> None:
    made = message()
    made.set_content(text, charset=charset)
    assert read(made).pages[0].text.endswith(text)


def test_headers_in_old_forms_are_read_or_shown_as_they_are() -> None:
    data = (
        b"From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nSubject: =?nonsense?b?AAAA?=\r\n"
        b"Date: the other day\r\n\r\nAll get\rten days.\r\n"
    )
    document = read(data)
    assert document.created is None
    assert document.pages[0].text == (
        "From: Jörg <j@example.org>\nDate: the other day\nSubject: =?nonsense?b?AAAA?=\n\n"
        "All get\nten days."
    )
    assert read(b"From: a@example.org\r\n\r\nText.").headings[0].text == "Part 1"


def test_a_header_longer_than_any_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "MAX_HEADER_CHARACTERS", 10)
    assert (
        "To: aaaaaaaaaa\n"
        in read(b"To: " + b"a" * 900 + b"\r\nSubject: x\r\n\r\nText.").pages[0].text
    )


def nested(depth: int) -> bytes:
    return b"Content-Type: message/rfc822\r\n\r\n".join([HEAD] * depth) + b"\r\nText.\r\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (nested(21), "messages within messages, more than 20 deep: it is not opened"),
        (nested(5_000), "messages within messages, more than 20 deep"),
        (b"Just a text.\r\nNo headers.\r\n", "not an e-mail: it has no From, To, Date or Subject"),
        (
            HEAD + b"Content-Type: application/pkcs7-mime\r\n\r\nAAAA",
            "without a text that can be read",
        ),
        (HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n", "without a text that can be"),
        (
            HEAD + b"Content-Type: text/plain; charset=utf-8\r\n\r\nGr\xfc\xdfe\r\n",
            r"part 1 says that it is utf-8 and is not \(byte 0xFC at position 2\)",
        ),
        (HEAD + b"\r\n\x00\x01\x02\r\n", "part 1 is no text: it has control characters"),
        (
            HEAD + b"Content-Type: text/html\r\n\r\n" + b"<div>" * 600,
            "nested more than 512 deep",
        ),
    ],
)
def test_a_hostile_or_broken_message_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^leave.eml: .*{says}"):
        read(data)


def test_more_parts_than_are_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "MAX_MESSAGE_PARTS", 3)
    made = message()
    for _ in range(5):
        made.add_attachment("Shown.", disposition="inline")
    with pytest.raises(DocumentError, match="more than 3 parts of a message"):
        read(made)
