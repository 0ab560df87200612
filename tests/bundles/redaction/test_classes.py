# ruff: noqa: RUF001 - Arabic is what is tested
import re
from pathlib import Path

import pytest
import stdnum.iban
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn

import tiers
from bundles.redaction.making import JWT, PEM, VALUES, in_arabic, in_full_width
from evidentia.bundles.redaction.numbers import IBAN_LENGTHS
from evidentia.bundles.redaction.redactor import BUILT_IN, Redactor
from evidentia.bundles.redaction.validating import is_card, is_saudi_id

KEY = b"a key for tests only"
TRUE = {
    "EMAIL": [
        "ali@example.com",
        "First.Last+tag@sub.example.co.uk",
        "o'brien@example.ie",
        "محمد@مثال.السعودية",
        "user@xn--mgbh0fb.xn--kgbechtv",
        "josé@example.org",
        in_full_width("ali@example.com"),
    ],
    "PHONE": [
        "+966 50 123 4567",
        "+966501234567",
        "00966501234567",
        "0501234567",
        "050 123 4567",
        "050-1234567",
        "966501234567",
        "(555) 123-4567",
        "555-123-4567",
        "555.123.4567",
        "1-555-123-4567",
        "+1 (555) 123-4567",
        "+44 (0)20 7946 0958",
        "020 7946 0958",
        "0161 496 0123",
        "01012345678",
        in_arabic("0501234567"),
        in_arabic("+966 50 123 4567"),
        in_full_width("0501234567"),
        "+49 30 901820",
        "+966\u00a050\u2011123\u20114567",
    ],
    "IBAN": [
        "SA0380000000608010167519",
        "SA03 8000 0000 6080 1016 7519",
        "GB82WEST12345698765432",
        "gb82 west 1234 5698 7654 32",
        "DE89-3704-0044-0532-0130-00",
        "NO93 8601 1117 947",
    ],
    "CARD": [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "378282246310005",
        "3782 822463 10005",
        "5555555555554444",
        "6011111111111117",
        "30569309025904",
        in_arabic("4111111111111111"),
        in_full_width("4111 1111 1111 1111"),
    ],
    "IPV4": ["192.168.1.1", "8.8.8.8", "255.255.255.255", in_arabic("10.0.0.1")],
    "IPV6": [
        "2001:db8::ff00:42:8329",
        "fe80::1",
        "::1",
        "2001:0db8:0:0:0:ff00:42:8329",
        "::ffff:192.0.2.1",
        "1:2:3:4:5:6:7::",
    ],
    "SAUDI_ID": ["1012345672", "2123456788", in_arabic("1012345672"), in_full_width("1012345672")],
    "US_SSN": ["123-45-6789", "123 45 6789", "001-01-0001"],
    "JWT": [JWT],
    "API_KEY": [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0aBcDeFgHiJkL_mnop",
        "glpat-ABCdef1234567890wxyz",
        "xoxb-123456789012-abcdefABCDEF",
        "xapp-1-A0123456789-abcdef",
        "sk-abcdefghijklmnopqrstuvwx1234",
        "sk-proj-abcDEF1234567890abcDEF",
        "sk-ant-api03-abcDEF123456789",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "sk_live_abcdefghij1234567890",
        "rk_live_abcdefghij1234567890",
        "SG.abcdefghij1234567890xy.abcdefghij1234567890abcdefghij",
        "AC0123456789abcdef0123456789abcdef",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEF",
        "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIzLTQ1Njc4OWFiY2RlZg",
    ],
    "PRIVATE_KEY": [
        PEM,
        PEM.replace("\n", "\\n"),
        PEM.replace("RSA ", ""),
        PEM.replace("RSA", "OPENSSH"),
    ],
    "URL_CREDENTIALS": [],
}
ASSIGNED = {
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "wJalr",
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==;End": "Eby8",
    "api_key=abcd1234efgh": "abcd1234",
    "API-Key: 'abcd1234efgh'": "abcd1234",
    '{"password": "correct horse"}': "correct",
    '{\\"password\\": \\"swordfish9\\"}': "swordfish9",
    "password: swordfish": "swordfish",
    "password: hunter2 for now": "hunter2",
    "(pwd=hunter2)": "hunter2",
    "[pwd=hunter2]": "hunter2",
    "كلمة المرور: سمسم1234": "سمسم",
    "Authorization: Bearer abcd": "abcd",
    "authorization: Basic dXNlcjpwYXNz": "dXNl",
    "sent bearer abcdef1234567890abcd": "abcdef",
    "token=" + "ab1" * 100: "b1a",
    "client_secret: ABCDEFGHIJKLMNOPQRSTUVWX": "ABCDE",
}
LOOK_ALIKES = [
    "order 4111111111111112",
    "order 1234567890123",
    "invoice 2026-11-16-0001",
    "on 2026-11-16 03:28:41.123456",
    "on 16/11/2026",
    "1763264921.123456789",
    "0.4111111111111111",
    "version 1.2.3.4",
    "الإصدار 1.2.3.4",
    "Version: 10.0.19041.1",
    "oid 1.3.6.1.4.1",
    "256.1.1.1",
    "v1.2.3.4",
    "1.2.3",
    "id 1012345671",
    "id 3012345672",
    "550e8400-e29b-41d4-a716-446655440000",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "std::vector",
    "abc::def",
    "abc::def since 2026",
    "::",
    "12:34:56",
    "00:1B:44:11:3A:B7",
    "foo::1",
    "::1x",
    "16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
    "1:2:3:4:5:6:7:8:9",
    ":" * 100,
    "1." * 100,
    "000-12-3456",
    "666-12-3456",
    "123-45 6789",
    "1-123-45-6789",
    "123-45-6789-1",
    "123-45-67890",
    "SA0380000000608010167510",
    "SA03 8000 0000 6080",
    "SA03800000006080101675190",
    "GB82WEST1234569876543",
    "a@b",
    "image@2x.png",
    "lodash@4.17.21",
    "react@18.0.rc",
    "git@github.com:org/repo.git",
    "https://git@github.com",
    "a..b@example.com",
    "a.@example.com",
    f"{'a' * 65}@example.com",
    "a@-b.com",
    "a@b.c",
    f"a@{'b.' * 130}com",
    "+5 100",
    "3+12345678901",
    "C++ 2011 2014 2017",
    "+999 1234567890",
    "+1 555",
    "+1234567890123456789",
    "001234567890123",
    "0020261116",
    "12345678",
    "5551234567",
    "250 300 4000",
    "0012-345-678",
    "07123",
    "0999-9999-9999",
    "eyJhbGciOiJIUzI1NiJ9",
    "eyJhbGciOi.eyJzdWIi.abc",
    "eyJhYmMiOiAxfQ.eyJzdWIiOiIxIn0.abc",
    "eyJ" * 50,
    f"eyJ{'a' * 17_000}.a.b",
    "-----BEGIN RSA PRIVATE KEY----- marks a key",
    "-----BEGIN PRIVATE KEY-----...-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END PUBLIC KEY-----",
    "-----BEGIN " * 9,
    "sk-learn-and-other-long-names-of-things",
    "sk-xxxxxxxxxxxxxxxxxxxxxxx1",
    "ghp_short",
    "password: must be long",
    "password=${PASSWORD}",
    "password = os.environ['X']",
    "password=get_it(1)",
    "password: str",
    "password: ****",
    "pwd=abc",
    "token: 4096",
    "max_tokens=12345678",
    "token: 12345678",
    "secret: somewords",
    'secret: "a word 1"',
    "token: short1",
    "the bearer of-good-tidings-to-all",
    "bearer abc",
    "كلمة المرور: مطلوبة دائما",
    "http://host:80/path@x",
    "http://{user}:{password}@host",
    "mailto:x",
    "a:b@c",
]
SENTENCES = [
    "{}",
    "see {}.",
    "({}),",
    '{{"value": "{}", "n": 1}}',
    "<{}>",
    "القيمة {}، شكرا",
    "a\n{}\nb",
    "x={};",
]


def redacted(text: str, *classes: str) -> str:
    return Redactor(KEY, classes=classes or None).redact(text).text


@tiers.one_test
@pytest.mark.parametrize(("kind", "value"), [(kind, one) for kind in TRUE for one in TRUE[kind]])
def test_a_value_is_found_wherever_it_stands(kind: str, value: str) -> None:
    for sentence in SENTENCES:
        for redact in (redacted(sentence.format(value)), redacted(sentence.format(value), kind)):
            assert redact == sentence.format(f"[{kind}_1]")


@tiers.one_test
@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_alike_is_left(text: str) -> None:
    for sentence in ("{}", "see {} here", "انظر {} هنا"):
        assert redacted(sentence.format(text)) == sentence.format(text)


@tiers.one_test
@pytest.mark.parametrize(("text", "part"), ASSIGNED.items())
def test_the_value_of_a_named_secret_is_replaced_and_its_name_stays(text: str, part: str) -> None:
    found = redacted(text)
    assert "[API_KEY_1]" in found
    assert part not in found
    assert found[:3] == text[:3]


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://ali:p@ss@db.example.com/x", "postgres://[URL_CREDENTIALS_1]@db.example.com/x"),
        ("redis://:pw@10.0.0.1:1", "redis://[URL_CREDENTIALS_1]@[IPV4_1]:1"),
        ("card 4111 1111 1111 1111 123", "card [CARD_1] 123"),
        ("row 2026 4111 1111 1111 1111", "row 2026 [CARD_1]"),
        ("SA03 8000 0000 6080 1016 7519 paid", "[IBAN_1] paid"),
        ("+966 50 123 4567 2026", "[PHONE_1] 2026"),
        ("user_1012345672_file", "user_[SAUDI_ID_1]_file"),
        ("fe80::1%eth0 and fe80::1: down", "[IPV6_1]%eth0 and [IPV6_1]: down"),
        ("راسلوahmad@example.comوشكرا", "راسلو[EMAIL_1]وشكرا"),
        ("ahmad@example.comوشكرا", "[EMAIL_1]وشكرا"),
        ("a@example.com-", "[EMAIL_1]-"),
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [JWT_1]"),
        (f"token={JWT}", "token=[JWT_1]"),
        (f"{JWT}. Next", "[JWT_1]. Next"),
        ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0. Next", "[JWT_1]. Next"),
        (f"{JWT}.QUJD.REVG.x", "[JWT_1].x"),
        (f"{PEM[:60]}", "[PRIVATE_KEY_1]"),
        (PEM.partition("-----END")[0] + "Then we go", "[PRIVATE_KEY_1]\nThen we go"),
        (PEM.removesuffix("RSA PRIVATE KEY-----"), "[PRIVATE_KEY_1]"),
        ("password=4111111111111111", "password=[CARD_1]"),
    ],
)
def test_only_the_value_itself_is_replaced(text: str, expected: str) -> None:
    assert redacted(text) == expected


def test_a_key_without_its_end_is_taken_with_its_headers() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" + f"{'Ab3+' * 16}\n" * 3
    assert redacted(f"{key}Ab==\nThe rest.") == "[PRIVATE_KEY_1]\nThe rest."


def test_a_token_among_secrets_is_no_jwt_where_that_class_is_off() -> None:
    assert redacted(f"token={JWT}", "API_KEY") == "token=[API_KEY_1]"


@tiers.one_test
@pytest.mark.parametrize("kind", BUILT_IN)
def test_other_classes_are_left_where_one_is_chosen(kind: str) -> None:
    for other, values in TRUE.items():
        for value in values:
            if other != kind:
                assert f"[{other}" not in redacted(value, kind)


@given(st.sampled_from(BUILT_IN).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind])))
def test_a_made_value_never_shows(made: tuple[str, str]) -> None:
    kind, value = made
    text = f"see https://{value}@host now" if kind == "URL_CREDENTIALS" else f"see {value} now"
    result = Redactor(KEY).redact(text)
    assert value not in result.text
    assert result.text.startswith("see ")
    assert result.text.endswith(" now")
    assert kind in {one.kind for one in result.redactions}


@given(
    st.text("0123456789", min_size=10, max_size=10), st.text("0123456789", min_size=15, max_size=15)
)
def test_check_digits_agree_with_another_implementation(short: str, long: str) -> None:
    assert is_saudi_id(short) == (short[0] in "12" and luhn.is_valid(short))
    assert is_card(f"4{long}") == luhn.is_valid(f"4{long}")


def test_the_lengths_of_ibans_agree_with_the_registry() -> None:
    registry = Path(stdnum.iban.__file__).with_name("iban.dat").read_text()
    structures = re.findall(r'^([A-Z]{2}) .*bban="([^"]+)"', registry, re.MULTILINE)
    assert {
        country: 4 + sum(int(size) for size in re.findall(r"[0-9]+", structure))
        for country, structure in structures
    } == IBAN_LENGTHS
