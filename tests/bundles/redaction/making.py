"""Values that look real of every class: valid check digits, made and not taken from anyone."""

import base64
import json
import string

from hypothesis import strategies as st
from stdnum import luhn
from stdnum.iban import calc_check_digits

_LETTERS = string.ascii_letters + string.digits
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl-_x"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx3fV0r8pD2mQ7sYk\nq1Zt8w==\n"
    "-----END RSA PRIVATE KEY-----"
)


def digits(size: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=size, max_size=size)


def checked(number: str) -> str:
    return number + luhn.calc_check_digit(number)


def _iban(country: str, account: str) -> str:
    return f"{country}{calc_check_digits(f'{country}00{account}')}{account}"


def _jwt(subject: str) -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256"}, {"sub": subject})
    ]
    return ".".join([*parts, "c2lnbmVk"])


def _spaced(number: str) -> str:
    return " ".join(number[place : place + 4] for place in range(0, len(number), 4))


def in_arabic(text: str) -> str:
    return text.translate({ord("0") + digit: 0x0660 + digit for digit in range(10)})


def in_full_width(text: str) -> str:
    return text.translate({code: code + 0xFEE0 for code in range(ord("!"), ord("~"))})


_CARDS = st.one_of(
    digits(14).map(lambda body: checked(f"4{body}")),
    digits(13).map(lambda body: checked(f"53{body}")),
    digits(12).map(lambda body: checked(f"37{body}")),
)
_RANDOM = st.text(_LETTERS, min_size=40, max_size=40).filter(lambda text: len(set(text[-16:])) > 6)
VALUES: dict[str, st.SearchStrategy[str]] = {
    "EMAIL": st.builds(
        "{}@{}.{}".format,
        st.from_regex(r"[a-z][a-z0-9]{2,9}(\.[a-z0-9]{1,8})?", fullmatch=True),
        st.from_regex(r"[a-z][a-z0-9]{2,9}", fullmatch=True),
        st.sampled_from(["com", "org", "com.sa", "co.uk", "السعودية"]),
    ),
    "PHONE": st.one_of(
        digits(8).map(lambda body: f"05{body}"),
        digits(8).map(lambda body: in_arabic(f"05{body}")),
        digits(8).map(lambda body: in_full_width(f"+9665{body}")),
        digits(8).map(lambda body: f"+966 5{body[0]} {body[1:4]} {body[4:]}"),
        digits(8).map(lambda body: f"009665{body}"),
        digits(7).map(lambda body: f"(212) {body[:3]}-{body[3:]}"),
        digits(7).map(lambda body: f"212-{body[:3]}-{body[3:]}"),
    ),
    "IBAN": st.one_of(
        digits(20).map(lambda account: _iban("SA", account)),
        digits(20).map(lambda account: _spaced(_iban("SA", account))),
        digits(18).map(lambda account: _iban("DE", account).lower()),
    ),
    "CARD": st.one_of(
        _CARDS, _CARDS.map(in_arabic), _CARDS.filter(lambda n: len(n) == 16).map(_spaced)
    ),
    "IPV4": st.ip_addresses(v=4).map(str),
    "IPV6": st.ip_addresses(v=6).map(str).filter(lambda text: any(map(str.isdigit, text))),
    "SAUDI_ID": st.builds(
        lambda first, body: checked(first + body), st.sampled_from("12"), digits(8)
    ).flatmap(lambda number: st.sampled_from([number, in_arabic(number), in_full_width(number)])),
    "US_SSN": st.builds(
        "{:03}-{:02}-{:04}".format,
        st.integers(1, 665),
        st.integers(1, 99),
        st.integers(1, 9999),
    ).filter(lambda text: text not in {"078-05-1120", "457-55-5462", "219-09-9999"}),
    "JWT": st.text(_LETTERS, min_size=1).map(_jwt),
    "API_KEY": st.one_of(
        _RANDOM.map(lambda body: f"ghp_{body[:36]}"),
        _RANDOM.map(lambda body: f"sk-ant-api03-{body}"),
        _RANDOM.map(lambda body: f"xoxb-{body}"),
        _RANDOM.map(lambda body: f"glpat-{body[:20]}").filter(lambda t: len(set(t[-16:])) > 6),
    ),
    "PRIVATE_KEY": st.text(_LETTERS + "+/", min_size=64, max_size=64).map(
        lambda body: f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    ),
    "URL_CREDENTIALS": st.from_regex(r"[a-z]{3,8}:[A-Za-z0-9!*_]{4,12}", fullmatch=True),
}
"""For each class, what values of it may look like."""
