import base64
import gzip
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.bundles.responses import (
    HttpResponse,
    read_responses,
    redact_header,
    redact_url,
    response_text,
)
from evidentia.errors import InputError

SECRET = "hunter2SECRETvalue"


def read_response(data: bytes, name: str) -> HttpResponse:
    (only,) = read_responses(data, name)
    return only


def recorded(**fields: Any) -> HttpResponse:
    return read_response(json.dumps({"status": 200, **fields}).encode(), "r.json")


def message(head: str, body: bytes = b"") -> HttpResponse:
    return read_response(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body, "r.http")


def test_a_json_record_is_read() -> None:
    response = recorded(
        reason="OK",
        headers={"Content-Type": "text/plain", "X-Count": 3},
        body="Hello",
        url="https://example.com/a?page=2",
        method="get",
        fetched_at="2026-01-02T03:04:05Z",
    )
    assert response == HttpResponse(
        200,
        "OK",
        (("Content-Type", "text/plain"), ("X-Count", "3")),
        "Hello",
        "https://example.com/a?page=2",
        "GET",
        "2026-01-02T03:04:05Z",
        (),
        None,
    )
    assert response_text(response) == (
        "GET https://example.com/a?page=2\nHTTP 200 OK\nContent-Type: text/plain\nX-Count: 3\n"
        "\nHello"
    )


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, ()),
        ([["B", "2"], ["A", "1"]], (("B", "2"), ("A", "1"))),
        ([{"name": "B", "value": "2"}, {"name": "A", "value": "1"}], (("B", "2"), ("A", "1"))),
        ({"Vary": ["Accept", "Origin"]}, (("Vary", "Accept"), ("Vary", "Origin"))),
    ],
)
def test_headers_are_read_in_every_shape_and_in_order(headers: Any, expected: Any) -> None:
    assert recorded(headers=headers).headers == expected


@pytest.mark.parametrize("key", ["body", "text", "content"])
def test_a_body_that_is_json_is_written_as_it_was(key: str) -> None:
    source = f'{{"status_code": "404", "{key}": {{"id": 12345678901234567890, "sum": 1.10}}}}'
    response = read_response(source.encode(), "r.json")
    assert response.status == 404
    assert response.body == '{"id": 12345678901234567890, "sum": 1.10}'


def test_a_number_may_be_a_body_and_none_is_nothing() -> None:
    assert recorded(body=12.5).body == "12.5"
    assert recorded(body=None).body == ""
    assert response_text(recorded()) == "HTTP 200\n\n"


def test_a_base64_body_is_unpacked_and_decoded() -> None:
    packed = base64.b64encode(gzip.compress("café".encode("cp1252"))).decode()
    headers = {"content-encoding": "gzip", "content-type": "text/plain; charset=windows-1252"}
    assert recorded(headers=headers, body_base64=packed).body == "café"


HAR_ENTRY = {
    "startedDateTime": "2026-01-02T03:04:05.000Z",
    "request": {
        "method": "GET",
        "url": f"https://example.com/?token={SECRET}",
        "headers": [{"name": "Authorization", "value": f"Bearer {SECRET}"}],
    },
    "response": {
        "status": 200,
        "statusText": "OK",
        "headers": [{"name": "Content-Type", "value": "text/html"}],
        "cookies": [{"name": "sid", "value": SECRET}],
        "content": {"size": 5, "mimeType": "text/html", "text": "Hello"},
    },
}


@pytest.mark.parametrize("value", [HAR_ENTRY, {"log": {"entries": [HAR_ENTRY]}}])
def test_a_har_entry_is_read_without_its_secrets(value: Any) -> None:
    response = read_response(json.dumps(value).encode("utf-8-sig"), "r.har")
    assert response.url == "https://example.com/?token=[REDACTED]"
    assert (response.status, response.reason, response.method) == (200, "OK", "GET")
    assert (response.body, response.fetched_at) == ("Hello", "2026-01-02T03:04:05.000Z")
    assert SECRET not in repr(response)


def test_a_har_log_gives_a_response_for_each_entry() -> None:
    entries = [
        {**HAR_ENTRY, "request": {"method": "GET", "url": f"https://example.com/{number}"}}
        for number in range(40)
    ]
    found = read_responses(json.dumps({"log": {"entries": entries}}).encode(), "r.har")
    assert [one.url for one in found] == [f"https://example.com/{n}" for n in range(40)]
    assert {one.body for one in found} == {"Hello"}


@pytest.mark.parametrize("response", [{"response": {"status": 0, "statusText": ""}}, {}])
def test_a_request_that_no_response_came_to_says_so(response: Any) -> None:
    entry = {"request": HAR_ENTRY["request"], **response}
    log = {"log": {"entries": [HAR_ENTRY, entry]}}
    first, second = read_responses(json.dumps(log).encode(), "r.har")
    assert first.status == 200
    assert (second.status, second.body_note) == (None, "no response was recorded")
    assert response_text(second) == (
        "GET https://example.com/?token=[REDACTED]\n\n[no response was recorded]"
    )


def test_an_entry_that_cannot_be_read_is_named_by_its_place() -> None:
    for entry, says in (
        ({"response": {"status": 7}}, "`status` must be a number"),
        ({"request": {"method": "GET /"}, "response": {"status": 200}}, "`method` must be"),
    ):
        log = {"log": {"entries": [HAR_ENTRY, entry]}}
        with pytest.raises(InputError, match=rf"^r\.har, entry 2: {says}"):
            read_responses(json.dumps(log).encode(), "r.har")


@pytest.mark.parametrize(
    ("content", "body", "note"),
    [
        ({"text": "w6k=", "encoding": "base64", "mimeType": "text/plain"}, "é", None),
        ({"text": "6Q==", "encoding": "base64", "mimeType": "a/b; charset=latin1"}, "é", None),
        ({"text": "6Q==", "encoding": "base64"}, "", "binary body of 1 bytes (text/html), sha256"),
        ({"size": 12}, "", "the body was not recorded"),
        ({"size": 0}, "", None),
        ({}, "", None),
        ({"text": ""}, "", None),
    ],
)
def test_the_content_of_a_har_response_is_decoded(content: Any, body: str, note: Any) -> None:
    headers = [{"name": "content-type", "value": "text/html"}]
    entry = {"response": {"status": 200, "headers": headers, "content": content}}
    response = read_response(json.dumps(entry).encode(), "r.har")
    assert response.body == body
    assert (response.body_note or "").startswith(note or "")
    assert bool(response.body_note) == bool(note)


def test_a_message_is_read_with_either_line_end() -> None:
    head = "HTTP/1.1 404 Not Found\nContent-Type: text/plain\nX-Long: one\n  two\n\tthree\nEmpty:"
    for line_end in ("\n", "\r\n", "\r"):
        text = f"{head}\n\nHello".replace("\n", line_end)
        response = read_response(text.encode(), "r.http")
        assert (response.status, response.reason) == (404, "Not Found")
        assert response.headers == (
            ("Content-Type", "text/plain"),
            ("X-Long", "one two three"),
            ("Empty", ""),
        )
        assert response.body == "Hello"
        assert response_text(response).endswith("\nEmpty: \n\nHello")


@pytest.mark.parametrize(
    ("data", "status", "body"),
    [
        (b"HTTP/1.1 204", 204, ""),
        (b"\xef\xbb\xbf\r\nHTTP/2 200 \r\n\r\n", 200, ""),
        (b"HTTP/1.0 200 OK\n\nbody\n\nmore", 200, "body\n\nmore"),
        (b"HTTP/1.1 200 OK\r\nA: b", 200, ""),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n \r\nC: d\r\n\r\nx", 200, "x"),
    ],
)
def test_a_message_may_lack_all_but_its_status(data: bytes, status: int, body: str) -> None:
    response = read_response(data, "r.http")
    assert (response.status, response.body) == (status, body)


def test_heads_before_the_last_are_counted_and_not_shown() -> None:
    data = (
        f"HTTP/1.1 301 Moved\r\nSet-Cookie: sid={SECRET}\r\nLocation: /b\r\n\r\n"
        "HTTP/1.1 200 OK\r\nA: b\r\n\r\nHello"
    )
    response = read_response(data.encode(), "r.http")
    assert (response.status, response.body, response.headers) == (200, "Hello", (("A", "b"),))
    assert response.body_note == "the heads of 1 earlier responses in the recording are not shown"
    text = response_text(response)
    assert text.endswith(
        "\n\nHello\n[the heads of 1 earlier responses in the recording are not shown]"
    )
    assert SECRET not in repr(response) + text


def test_a_chunked_body_is_joined() -> None:
    chunked = b"5\r\nHello\r\n7;ext=1\r\n, world\r\n0\r\nTrailer: x\r\n\r\n"
    assert message("HTTP/1.1 200 OK\nTransfer-Encoding: Chunked", chunked).body == "Hello, world"
    assert message("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\nab\n0").body == "ab"


@pytest.mark.parametrize("body", [b"Hello", b"12\nthat is all", b""])
def test_a_body_that_was_joined_when_recorded_stays(body: bytes) -> None:
    assert message("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", body).body == body.decode()


@pytest.mark.parametrize("rest", [b"5\r\nHel", b"", b"xyz", b"3\r\nabcdef\r\n"])
def test_a_chunked_body_that_breaks_off_is_refused(rest: bytes) -> None:
    with pytest.raises(InputError, match="breaks off after 1 chunk: record"):
        message("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\r\nab\r\n" + rest)


def raw_deflate(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"Hello", mtime=0)),
        ("x-gzip", gzip.compress(b"Hel", mtime=0) + gzip.compress(b"lo", mtime=0) + b"\n"),
        ("deflate", zlib.compress(b"Hello")),
        ("deflate", raw_deflate(b"Hello")),
        ("Deflate, GZIP", gzip.compress(zlib.compress(b"Hello"), mtime=0)),
        ("identity", b"Hello"),
        ("gzip", b"Hello"),
        ("deflate", b"Hello"),
        ("br", b"Hello"),
    ],
)
def test_a_packed_body_is_unpacked_unless_it_was_when_recorded(coding: str, packed: bytes) -> None:
    response = message(f"HTTP/1.1 200 OK\nContent-Encoding: {coding}", packed)
    assert (response.body, response.body_note) == ("Hello", None)


def test_a_body_packed_in_an_unknown_way_is_noted() -> None:
    note = message(
        "HTTP/1.1 200 OK\nContent-Encoding: br\nContent-Type: text/html", b"\x8b\x02\x80"
    ).body_note
    assert note
    assert note.startswith("binary body of 3 bytes (text/html, packed), sha256 ")


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(b"Hello", mtime=0)[:-3],
        gzip.compress(b"Hello", mtime=0) + b"rest",
        b"\x1f\x8b rubbish",
        gzip.compress(b"a", mtime=0) * 101,
    ],
)
def test_a_broken_gzip_body_is_refused(packed: bytes) -> None:
    with pytest.raises(InputError, match="gzip body is broken or cut short"):
        message("HTTP/1.1 200 OK\nContent-Encoding: gzip", packed)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_bomb_is_refused(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b"a" * 50_000_001)
    coding = "gzip" if bomb.startswith(b"\x1f\x8b") else "deflate"
    with pytest.raises(InputError, match="unpacks to more than 50,000,000 bytes"):
        message(f"HTTP/1.1 200 OK\nContent-Encoding: {coding}", bomb)


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/html; charset=ISO-8859-1", b"caf\xe9", "café"),
        ('text/html; Charset="utf-8"', "é".encode(), "é"),
        ("text/html; charset=us-ascii", "é".encode(), "é"),
        ("text/html; charset=iso-8859-99", "é".encode(), "é"),
        ("text/html; charset=punycode", "é".encode(), "é"),
        ("text/html; charset=utf-16le", "é".encode("utf-16-le"), "é"),
        ("text/html; charset=latin-1", "é".encode("utf-8-sig"), "é"),
        ("", "é".encode(), "é"),
    ],
)
def test_a_body_is_decoded_as_it_declares(kind: str, body: bytes, text: str) -> None:
    assert message(f"HTTP/1.1 200 OK\nContent-Type: {kind}", body).body == text


@pytest.mark.parametrize(
    ("kind", "body", "shown"),
    [
        ("image/png", b"\x89PNG\x00", "5 bytes (image/png)"),
        ("text/html", b"caf\xe9", "4 bytes (text/html)"),
        ("text/html; charset=latin-1", b"a\x00b", "3 bytes (text/html)"),
        (f"<b>{SECRET}", b"\xff", "1 bytes (of no known type)"),
        ("text/plain", b"\xff\xfea", "3 bytes (text/plain)"),
    ],
)
def test_bytes_that_are_no_text_are_noted(kind: str, body: bytes, shown: str) -> None:
    response = message(f"HTTP/1.1 200 OK\nContent-Type: {kind}", body)
    assert response.body == ""
    assert (response.body_note or "").startswith(f"binary body of {shown}, sha256 ")
    assert response_text(response).endswith(f"\n\n[{response.body_note}]")


def test_bytes_of_a_head_that_are_no_text_are_escaped() -> None:
    response = read_response(b"HTTP/1.1 200 Tr\xe8s bien\r\nX: caf\xe9\r\n\r\n", "r")
    assert (response.reason, response.headers) == ("Tr\\xe8s bien", (("X", "caf\\xe9"),))


@tiers.one_test
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "not a recorded HTTP response: record it as"),
        (b"[1]", "not a recorded HTTP response"),
        (b"{", "not JSON at line 1"),
        (b"{}", "`status` must be a number from 100 to 999: record it as"),
        (b'{"status": true}', "`status` must be"),
        (b'{"status": 99}', "`status` must be"),
        (b"HTTP/1.1 099 x\r\n\r\n", "`status` must be"),
        (b'{"status": 200, "headers": 5}', "`headers` must be"),
        (b'{"status": 200, "headers": ["a: b"]}', "header 1 must be a .name, value. pair"),
        (b'{"status": 200, "headers": [["a", "b"], [5, "b"]]}', "header 2 must have a name"),
        (b'{"status": 200, "headers": {"a": null}}', "header 1 must have a name and a value"),
        (b'{"status": 200, "headers": {"": "a"}}', "header 1 has a name that is none"),
        (b'{"status": 200, "headers": {"a: b": "c"}}', "header 1 has a name that is none"),
        (b'{"status": 200, "body": "a", "text": "b"}', "has both `body` and `text`"),
        (b'{"status": 200, "body_base64": "\xc3\xa9"}', "not Base64"),
        (b'{"status": 200, "body_base64": 5}', "not Base64"),
        (b'{"status": 200, "method": "GET /"}', "`method` must be"),
        (b'{"status": 200, "url": []}', "`url` must be text"),
        (b'{"log": {"entries": []}}', "the HAR log has no entries: record at least one response"),
        (b'{"log": 5}', "the HAR log has no entries"),
        (b'{"log": {"entries": 5}}', "the HAR log has no entries"),
        (b'{"log": {"entries": [{"response": {"status": 200}}, 5]}}', "entry 2 .* an object"),
        (b'{"response": 5}', "must be objects"),
        (b'{"response": {"content": 5}}', "must be an object with its `text`"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\nno header\r\n\r\n", "line 3 is no header"),
        (b"HTTP/1.1 200 OK\r\n : b\r\n\r\n", "line 2 is no header"),
        (b"%PDF-1.7", "a PDF file"),
    ],
)
def test_what_is_no_response_is_refused_with_what_to_do(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=f"^r.json: .*{says}") as caught:
        read_response(data, "r.json")
    assert "\n" not in str(caught.value)


SECRET_NAMES = [
    *("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key"),
    *("X-Auth-Token", "X-Amz-Security-Token", "X-Csrf-Token", "X-XSRF-TOKEN", "X-Session-Id"),
    *("X-Hub-Signature-256", "Client-Secret", "X-Password", "ApiKey", "X-Auth-Key", "X-Auth"),
    *("Ocp-Apim-Subscription-Key", "X-Goog-Credential", "x_api_key", "api key", "AUTHORIZATION "),
    *(
        " set_cookie",
        "x.api.key",
        "\uff21uthorization",
        "Coo\u200bkie",
        "X-Forwarded-Authorization",
    ),
]
PLAIN_NAMES = [
    *("ETag", "WWW-Authenticate", "Proxy-Authenticate", "Surrogate-Key", "Idempotency-Key"),
    *("x-ratelimit-remaining-tokens", "X-Request-Id", "Access-Control-Allow-Credentials"),
    *("Content-Type", "Date", "Vary", "Digest", "Permissions-Policy"),
]


@tiers.one_test
@pytest.mark.parametrize("name", SECRET_NAMES)
def test_headers_that_carry_secrets_are_replaced(name: str) -> None:
    response = recorded(headers=[[name, f"Basic {SECRET}"], ["A", "b"], [name, SECRET]])
    assert [value for _, value in response.headers] == ["[REDACTED]", "b", "[REDACTED]"]
    assert len(response.redacted_headers) == 2
    assert SECRET not in repr(response) + response_text(response)


@tiers.one_test
@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_headers_that_carry_none_stay(name: str) -> None:
    response = recorded(headers={name: 'W/"33a64df5" Accept=5'})
    assert response.headers == ((name, 'W/"33a64df5" Accept=5'),)
    assert response.redacted_headers == ()


def test_a_rate_limit_with_a_secret_is_still_one() -> None:
    assert redact_header("X-RateLimit-Tokens-Secret", "a") == "[REDACTED]"


@pytest.mark.parametrize(
    "value",
    [
        'Bearer realm="example", error="invalid_token"',
        'Digest realm="a", nonce="b", key=5',
        'Bearer authorization_uri="https://login.example.com/token"',
    ],
)
def test_challenges_stay(value: str) -> None:
    assert redact_header("WWW-Authenticate", value) == value


def test_a_url_in_a_challenge_loses_its_secret() -> None:
    value = f'Bearer authorization_uri="https://example.com/?token={SECRET}"'
    assert SECRET not in redact_header("WWW-Authenticate", value)


def test_a_folded_secret_is_replaced_as_a_whole() -> None:
    response = message(f"HTTP/1.1 200 OK\nAuthorization: Bearer\n {SECRET}\n\t{SECRET}\nA: b")
    assert response.headers == (("Authorization", "[REDACTED]"), ("A", "b"))
    response = message(f"HTTP/1.1 200 OK\nLocation: https://a.com/\n ?token=a\n {SECRET}")
    assert SECRET not in repr(response)
    assert response.redacted_headers == ("Location",)


@tiers.one_test
@pytest.mark.parametrize(
    "value",
    [
        f"a\r\nAuthorization: Bearer {SECRET}",
        f"a\nSet_Cookie : {SECRET}",
        f"a\u2028x-api-key:{SECRET}",
        f"Bearer {SECRET}",
        f"a=b; token={SECRET}",
        f"token=a/{SECRET}?b",
        f'a; token="x {SECRET}"',
        f"<https://a.com/?token=a {SECRET}>; rel=next",
        f"<https://a.com/?token={SECRET}",
        f'{{"url": "https://a.com/?sig={SECRET}"}}',
        f"0; url=https://bob:{SECRET}@a.com/",
        f"see https://bob:my {SECRET}@a.com/",
    ],
)
def test_a_secret_in_another_header_is_replaced(value: str) -> None:
    response = recorded(headers={"X-Note": value})
    assert SECRET not in repr(response) + response_text(response)
    assert response.redacted_headers == ("X-Note",)


def test_a_value_cannot_pass_for_another_header() -> None:
    response = recorded(headers={"A": "b\r\nStatus: 500"}, reason="OK\nA: c")
    assert response_text(response) == "HTTP 200 OK A: c\nA: b Status: 500\n\n"


@tiers.one_test
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a/b?page=2#top", None),
        ("https://example.com:8080/@bob?mail=a@b.com", None),
        ("https://[::1]:80/a?b=c@d", None),
        ("https:https:80/@b", None),
        ("https://example.com/?pageToken=abc&max_tokens=5&monkey=a&design=b&keyword=c", None),
        ("/relative?q=", None),
        ("/relative?token=", None),
        ("", None),
        ("https://bob:pw@example.com/", "https://[REDACTED]@example.com/"),
        ("https://token@example.com/", "https://[REDACTED]@example.com/"),
        ("HTTPS://a@b@example.com", "HTTPS://[REDACTED]@example.com"),
        ("https:bob:pw@example.com/", "https:[REDACTED]@example.com/"),
        ("//bob:pw@example.com/", "//[REDACTED]@example.com/"),
        ("bob:pw@example.com/", "[REDACTED]@example.com/"),
        ("bob:pw@example.com/?u=https://a.com", "[REDACTED]@example.com/?u=https://a.com"),
        ("https://bob:p/w@example.com/", "https://[REDACTED]@example.com/"),
        ("https://bob:p w@example.com/", "https://[REDACTED]@example.com/"),
        ("https://a.com/?key=1&b=2", "https://a.com/?key=[REDACTED]&b=2"),
        ("https://a.com/?X-Amz-Signature=1", "https://a.com/?X-Amz-Signature=[REDACTED]"),
        ("https://a.com/?a=1&api_key=x=y/z?w;v", "https://a.com/?a=1&api_key=[REDACTED]"),
        ("https://a.com/?token==x", "https://a.com/?token=[REDACTED]"),
        ("https://a.com/?%74oken=x", "https://a.com/?%74oken=[REDACTED]"),
        ("https://a.com/?%2574oken=x", "https://a.com/?%2574oken=[REDACTED]"),
        ("https://a.com/?pass word=x", "https://a.com/?pass word=[REDACTED]"),
        ("https://a.com/?user[password]=x", "https://a.com/?user[password]=[REDACTED]"),
        ("https://a.com/?a=1;sig=x", "https://a.com/?a=[REDACTED]"),
        ("https://a.com/#access_token=x&state=y", "https://a.com/#access_token=[REDACTED]&state=y"),
        ("/cb?next=%2Fa%3Ftoken%3Dx&b=2", "/cb?next=[REDACTED]&b=2"),
        ("/cb?next=%252Fa%253Ftoken%253Dx", "/cb?next=[REDACTED]"),
        ("/cb?n=%25252525252Fa%25252525253Ftoken", "/cb?n=[REDACTED]"),
        ("/cb?token%3Dx", "/cb?[REDACTED]"),
        ("/cb?u=https://bob:pw@a.com/", "/cb?u=https://[REDACTED]@a.com/"),
        ("/cb?u=https%3A%2F%2Fbob%3Apw%40a.com", "/cb?u=[REDACTED]"),
        ("/a/b;jsessionid=x/c?d=e", "/a/[REDACTED]"),
        ("/go/https%3A%2F%2Fa.com%3Ftoken%3Dx/c", "/go/[REDACTED]"),
        ("https://a:b@c.com/http://d:e@f.com", "https://[REDACTED]@c.com/http://[REDACTED]@f.com"),
        ("https://a:b//c@d.com/e", "https://[REDACTED]@d.com/e"),
        ("https://:80https://@a.com", "https://[REDACTED]@a.com"),
        ("https:https:a@b.com", "https:[REDACTED]@b.com"),
    ],
)
def test_credentials_in_a_url_are_replaced(url: str, shown: str | None) -> None:
    assert redact_url(url) == (url if shown is None else shown)
    assert redact_url(redact_url(url)) == redact_url(url)


@pytest.mark.parametrize("name", ["Location", "Referer", "Content-Location", "Link", "Refresh"])
def test_headers_with_urls_lose_their_credentials(name: str) -> None:
    value = f"https://bob:{SECRET}@a.com/?token={SECRET}#sig={SECRET}"
    shown = f"<{value}>; rel=next" if name == "Link" else value
    response = recorded(headers={name: shown}, url=value)
    assert SECRET not in repr(response) + response_text(response)
    assert "a.com" in response.headers[0][1]
    assert response.redacted_headers == (name,)


PARTS = st.sampled_from(
    [
        *("https://", "//", "bob:", "@", "a.com", "/", "?", "&", "#", ";", "token=", "%74oken="),
        *("x=", "%3D", "%2F", "%40", "%25", "api_key=", "[", "]", ":80", " ", '"', "<", ">", "="),
    ]
)


@given(st.lists(PARTS, max_size=12).map("".join), st.sampled_from(["&a=b", "#c", ""]))
def test_a_secret_never_survives_in_a_url(before: str, after: str) -> None:
    for part in ("?token=", "&x-amz-signature=", ";jsessionid=", "#access_token="):
        url = f"{before}{part}{SECRET}{after}"
        assert SECRET not in redact_url(url)
        assert redact_url(redact_url(url)) == redact_url(url)
    value = f'{before}?token={SECRET}"'
    assert SECRET not in recorded(headers={"X": value}, url=before).headers[0][1]


@given(
    st.sampled_from(SECRET_NAMES),
    st.sampled_from(["\r\n", "\n"]),
    st.sampled_from(["", " ", "\t", "\r\n "]),
)
def test_a_secret_never_survives_in_a_message(name: str, line_end: str, fold: str) -> None:
    head = f"HTTP/1.1 200 OK{line_end}A: b{line_end}{name.strip()}:{fold}{SECRET}{line_end}"
    response = read_response(f"{head}{line_end}body".encode(), "r")
    assert SECRET not in repr(response) + response_text(response)
    assert response.headers[0] == ("A", "b")
    assert response.body == "body"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    [
        *("status", "status_code", "reason", "headers", "body", "text", "content", "body_base64"),
        *("url", "method", "fetched_at", "request", "response", "log", "entries", "size", "name"),
        *("encoding", "mimeType", "value"),
    ]
)


@given(
    st.recursive(
        st.dictionaries(FIELDS, JSON_VALUES | st.just(200), max_size=5),
        lambda inner: st.dictionaries(FIELDS, inner | st.lists(inner, max_size=2), max_size=5),
        max_leaves=4,
    )
)
def test_any_object_is_a_response_or_an_input_error(value: Any) -> None:
    only_input_errors(json.dumps({"status": 200, **value}).encode())


@given(st.binary(max_size=80), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"{"]))
def test_any_bytes_are_a_response_or_an_input_error(data: bytes, start: bytes) -> None:
    only_input_errors(start + data)


def test_broken_recordings_are_responses_or_input_errors() -> None:
    chunked = b"5\r\nHello\r\n0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nContent-Type: text/html; charset=utf-8\r\n"
    whole = [
        head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked,
        head + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"Hello" * 20, mtime=0),
        head + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(b"Hello" * 20),
        json.dumps(HAR_ENTRY).encode(),
        json.dumps({"log": {"entries": [HAR_ENTRY, HAR_ENTRY]}}).encode(),
        json.dumps({"status": 200, "headers": [["A", "b"]], "body_base64": "aGk="}).encode(),
    ]
    chance = random.Random(20260101)
    for _ in range(1_500):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 2))
        only_input_errors(bytes(data))


def only_input_errors(data: bytes) -> None:
    try:
        responses = read_responses(data, "r")
    except InputError:
        return
    assert all(response_text(response).encode() for response in responses)
    assert read_responses(data, "r") == responses


def test_long_hostile_values_take_no_long_time() -> None:
    for part in ("https:", "//a:b", "/", "%25", "a=", '"', "<", ";a", "\\"):
        value = "@" + part * 10_000
        redact_url(value)
        redact_header("Link", value)
