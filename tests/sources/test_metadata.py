from datetime import UTC, datetime
from typing import Any

import pytest

import tiers
from evidentia.sources.metadata import shown_metadata


def safe(**metadata: Any) -> dict[str, Any]:
    return shown_metadata(metadata, None, None)


def test_short_scalars_pass_in_the_order_of_their_keys() -> None:
    metadata = {"year": 2026, "author": "A. Writer", "draft": False, "weight": 0.5, "part": None}
    assert list(safe(**metadata).items()) == sorted(metadata.items())


@tiers.one_test
@pytest.mark.parametrize(
    "key",
    [
        "password",
        "db_passwd",
        "apiKey",
        "API-KEY",
        "access_token",
        "X-Auth",
        "authorization",
        "clientSecret",
        "session_id",
        "cookie",
        "embedding",
        "text_embedding_3",
        "vector",
        "file_path",
        "filePath",
        "source_dir",
        "hostname",
        "private_key",
        "openai_key",
        "signing-key",
        "STRIPE_KEY",
        "credit_card",
        "cardNumber",
        "iban",
        "passport_no",
        "ssn",
    ],
)
def test_keys_that_name_what_is_not_for_readers_do_not_pass(key: str) -> None:
    assert shown_metadata({key: "x", "kept": 1}, None, None) == {"kept": 1}
    assert shown_metadata({key: None}, None, None) == {}
    assert shown_metadata({key: True}, None, None) == {}
    assert shown_metadata({key: 5}, None, None) == {}


@tiers.one_test
@pytest.mark.parametrize(
    "key",
    [
        *("author", "authors", "monkey", "title", "lang", "zip", "pinned"),
        *("ticket_key", "key", "issueKey", "private", "is_private", "secretary", "token_count"),
        *("salary", "address", "home_address", "email", "phone_number", "date_of_birth"),
        *("first_name", "userName", "gender", "health", "ip", "passport_office"),
    ],
)
def test_keys_that_only_look_so_pass(key: str) -> None:
    assert shown_metadata({key: "x"}, None, None) == {key: "x"}


def test_what_readers_of_job_ads_and_tickets_are_shown_passes() -> None:
    metadata = {
        "salary": "60,000 to 70,000 EUR",
        "skills": ["Python", "SQL", "Node.js/Express.js"],
        "tags": ("leave", "hr"),
        "ticket_key": "HR-1042",
        "address": {"street": "1 Main St", "city": "Riyadh", "postcode": 12211},
        "contact": "jobs@acme.example",
    }
    assert safe(**metadata) == {**metadata, "tags": ["leave", "hr"]}


@pytest.mark.parametrize("value", ["x" * 25, "AbCd1234" * 4, ["x" * 30]])
def test_a_key_that_is_long_enough_to_open_something_does_not_pass(value: Any) -> None:
    assert safe(ticket_key=value) == {}


@tiers.one_test
@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [0.25] * 33,
        ["x" * 200] * 6,
        [["a"]],
        [{"a": 1}],
        {"a": {"b": 1}},
        {"a": ["b"]},
        {1: "a"},
        ["leave", "/srv/hr.pdf"],
        ["leave", "Bearer abcdefghijkl"],
        ["leave", float("nan")],
        {"api_key": "x", "file_path": "x", "note": "/srv/hr.pdf"},
        {f"k{number}": number for number in range(33)},
    ],
)
def test_lists_and_objects_that_are_large_deep_or_give_something_away_do_not_pass(
    value: Any,
) -> None:
    assert safe(note=value) == {}


def test_of_an_object_the_safe_members_pass() -> None:
    given = {"city": "Riyadh", "door_pin": 1234, "plan": "/srv/plans/1.pdf"}
    assert safe(address=given) == {"address": {"city": "Riyadh"}}


@tiers.one_test
@pytest.mark.parametrize(
    "value",
    [
        "/home/me/policies/a.pdf",
        "~/a.pdf",
        "C:\\policies\\a.pdf",
        "\\\\server\\share",
        "file:///a.pdf",
        "docs/hr/a.pdf",
        "s3://bucket/a.pdf",
        "loaded from /srv/hr/a.pdf",
        "Bearer abcdefghijkl",
        "eyJhbGciOiJIUzI1NiJ9.x",
        "sk-abcdefghijkl",
        "postgresql://me:secret@host/db",
        "-----BEGIN PRIVATE KEY-----",
        "x" * 501,
        "\ud800",
        b"bytes",
        float("nan"),
        float("inf"),
        2**60,
        datetime(2026, 1, 1, tzinfo=UTC),
        object(),
    ],
)
def test_values_that_give_something_away_or_are_no_json_do_not_pass(value: Any) -> None:
    assert safe(note=value) == {}


def test_what_is_asked_for_passes_whatever_it_is_called() -> None:
    metadata = {"email": "a@b.example", "tags": ["a", {"b": [1.5, None, True]}], "other": 1}
    assert shown_metadata(metadata, ["email", "tags", "absent"], None) == {
        "email": "a@b.example",
        "tags": ["a", {"b": [1.5, None, True]}],
    }


@pytest.mark.parametrize(
    "value", ["x" * 4_000, [1] * 2_000, object(), float("nan"), "\ud800", {1: 2}, ["\ud800"], 2**70]
)
def test_what_is_asked_for_must_be_json_and_not_large(value: Any) -> None:
    assert shown_metadata({"wanted": value}, ["wanted"], None) == {}


def test_what_is_excluded_is_taken_away_and_the_safe_subset_still_holds() -> None:
    metadata = {"a": 1, "b": 2, "token": "x", "many": [[1]]}
    assert shown_metadata(metadata, None, ["a"]) == {"b": 2}
    assert shown_metadata(metadata, ["a", "b"], ["a"]) == {"b": 2}
    assert shown_metadata(metadata, [], None) == {}


def test_a_source_with_folders_does_not_pass_and_its_name_does() -> None:
    for place in ("docs/leave", "docs\\leave", "shared/my leave", "~me/leave"):
        assert safe(source=place) == {}
    for name in ("leave.pdf", "Reuters / AP", "https://example.com/leave", "urn:isbn:12"):
        assert safe(source=name) == {"source": name}


def test_keys_are_text_and_not_too_many_or_too_long() -> None:
    assert shown_metadata({1: "a", "": "b", "k" * 65: "c", None: "d"}, None, None) == {}
    assert len(safe(**{f"k{number:03}": number for number in range(100)})) == 32
