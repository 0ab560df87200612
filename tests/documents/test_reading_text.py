import codecs

import pytest

from evidentia.documents.reading.document import read_document
from evidentia.errors import DocumentError

ARABIC = (
    "يحق لكل موظف دائم الحصول على 15 يوما من الإجازة السنوية. يجب تقديم الطلب قبل أسبوعين من ذلك"
)
FRENCH = "Les salariés ont droit à 15 jours de congés payés par an et la demande est écrite."


@pytest.mark.parametrize(
    "data",
    [
        ARABIC.encode(),
        ARABIC.encode("utf-8-sig"),
        ARABIC.encode("utf-16"),
        codecs.BOM_UTF16_BE + ARABIC.encode("utf-16-be"),
        ARABIC.encode("utf-32"),
    ],
)
def test_text_is_read_in_every_unicode_encoding(data: bytes) -> None:
    document = read_document(data, "a.txt")
    assert document.pages[0].text == ARABIC
    assert (document.language, document.direction) == ("ar", "rtl")


def test_text_is_kept_as_it_is() -> None:
    source = "\tOne \r\n\r\n\u200btwo\x0c\n"
    assert read_document(source.encode(), "a.txt").pages[0].text == source


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (ARABIC.encode("cp1256"), "it looks like WINDOWS-1256 .iconv -f WINDOWS-1256 -t UTF-8.: "),
        (
            FRENCH.encode("cp1252"),
            "not UTF-8 text .byte 0xE9 at position 10.; it looks like WINDOWS-1252",
        ),
        (
            "社員は年次有給休暇を取得することができる。".encode("shift_jis"),
            "it looks like SHIFT_JIS",
        ),
        (FRENCH.encode("utf-16-le"), "it looks like UTF-16LE"),
        (FRENCH.encode("utf-16-be"), "it looks like UTF-16BE"),
        (b"caf\xe9 12", "not UTF-8 text .byte 0xE9 at position 3.: save it as UTF-8"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a", "not UTF-16 text"),
        (b"abc\x00def\xff", "not UTF-8 text .byte 0xFF at position 7.: save"),
        (b"\x01\x02\x03 abc", "not a text file: it has control characters; save it as UTF-8"),
    ],
)
def test_a_wrong_encoding_is_named_with_the_likely_one(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a.txt: .*{says}"):
        read_document(data, "a.txt")
