from dataclasses import FrozenInstanceError, replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import InputError, ProofError
from evidentia.trail.entry import (
    MAX_BODY_BYTES,
    MAX_SUBJECT_BYTES,
    Entry,
    EntryKind,
    body_commitment,
    check_tenant,
    encode_body,
    encode_subject,
    genesis_prev,
    is_time,
)

ENTRY = Entry(
    tenant="acme",
    seq=7,
    prev="a" * 64,
    kind="evidence_record",
    subject="ob-001",
    at="2026-01-31T09:30:00.000000Z",
    body="0123456789abcdef" * 4,
)


def changed(**fields: Any) -> dict[str, Any]:
    return {**ENTRY.as_json(), **fields}


def test_an_entry_is_small_canonical_json() -> None:
    assert ENTRY.encode() == (
        b'{"at":"2026-01-31T09:30:00.000000Z","body":"' + b"0123456789abcdef" * 4 + b'",'
        b'"kind":"evidence_record","prev":"' + b"a" * 64 + b'","seq":7,"subject":"ob-001",'
        b'"tenant":"acme","v":1}'
    )


def test_an_entry_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ENTRY.seq = 8  # type: ignore[misc]


def test_kinds_cover_what_later_parts_record() -> None:
    assert {kind.value for kind in EntryKind} == {
        "evidence_record",
        "status_change",
        "bundle",
        "run",
        "ledger",
        "decision",
        "tool_call",
        "pack",
        "review",
        "export",
        "access",
        "retention",
        "erasure",
        "key",
        "document",
        "request",
        "verdict",
        "assignment",
    }


@settings(max_examples=60)
@given(
    subject=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
    ),
    seq=st.integers(0, 2**53 - 1),
    kind=st.sampled_from(list(EntryKind)),
)
def test_every_entry_is_its_canonical_json_and_reads_back(
    subject: str, seq: int, kind: EntryKind
) -> None:
    entry = replace(ENTRY, subject=subject, seq=seq, kind=kind.value)
    assert entry.encode() == canonical_json(entry.as_json())
    assert Entry.decode(entry.encode()) == entry
    assert Entry.from_json(parse_json(entry.encode())) == entry


@tiers.one_test
@pytest.mark.parametrize("code", [*range(0x20), 0x22, 0x5C, 0x7F, 0x2028, 0xE000, 0x10FFFF])
def test_every_kind_of_character_in_a_subject_is_written_canonically(code: int) -> None:
    entry = replace(ENTRY, subject=f"a{chr(code)}b")
    assert entry.encode() == canonical_json(entry.as_json())


@pytest.mark.parametrize("value", [None, [], "entry", 5])
def test_what_is_no_object_is_no_entry(value: Any) -> None:
    with pytest.raises(ProofError, match="not a JSON object"):
        Entry.from_json(value)


def test_an_entry_of_a_later_format_asks_for_an_upgrade() -> None:
    with pytest.raises(ProofError, match=r"format version 2, this program reads 1: upgrade"):
        Entry.from_json(changed(v=2, added_later=True))


@pytest.mark.parametrize("version", [0, -1, None, "1", True, 1.0, [1]])
def test_any_other_version_is_refused(version: Any) -> None:
    with pytest.raises(ProofError, match=r"must have exactly the fields at, body, .*, v=1"):
        Entry.from_json(changed(v=version))


@pytest.mark.parametrize("name", Entry.FIELDS)
def test_a_missing_field_is_refused(name: str) -> None:
    value = {key: item for key, item in ENTRY.as_json().items() if key != name}
    with pytest.raises(ProofError, match="exactly the fields"):
        Entry.from_json(value)


def test_an_added_field_is_refused() -> None:
    with pytest.raises(ProofError, match="exactly the fields"):
        Entry.from_json(changed(extra=1))


@tiers.one_test
@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("seq", -1, "seq must be a whole number from 0, not -1"),
        ("seq", "7", "seq must be a whole number"),
        ("seq", 7.0, "seq must be a whole number"),
        ("seq", True, "seq must be a whole number"),
        ("seq", None, "seq must be a whole number"),
        ("tenant", 5, "tenant must be text"),
        ("prev", None, "prev must be text"),
        ("kind", ["key"], "kind must be text"),
        ("subject", {}, "subject must be text"),
        ("at", 0, "at must be text"),
        ("body", False, "body must be text"),
        ("tenant", "Acme", "tenant is not a tenant's name"),
        ("kind", "gossip", "kind 'gossip' is unknown"),
        ("at", "2026-01-31T09:30:00Z", "time '2026-01-31T09:30:00Z' is not a UTC time"),
        ("prev", "a" * 63, "prev is not a SHA-256"),
        ("prev", "A" * 64, "prev is not a SHA-256"),
        ("body", "g" * 64, "body is not a SHA-256"),
        ("body", "a" * 64 + "\n", "body is not a SHA-256"),
        ("subject", "", "subject is wrong: .* is empty"),
        ("subject", "\ud800", "subject is wrong: .* not text that UTF-8 can hold"),
        ("subject", "x" * 5_000, "subject is wrong: .* bytes long"),
    ],
)
def test_a_field_that_is_wrong_is_named(name: str, value: Any, problem: str) -> None:
    with pytest.raises(ProofError, match=f"the entry's {problem}"):
        Entry.from_json(changed(**{name: value}))


@pytest.mark.parametrize(
    "data",
    [
        ENTRY.encode() + b" ",
        ENTRY.encode().replace(b":7,", b": 7,"),
        ENTRY.encode().replace(b"ob-001", rb"\u006fb-001"),
        canonical_json(ENTRY.as_json())[:-1] + b',"v":1}',
        b'{"v":1,' + ENTRY.encode()[1:-7] + b"}",
    ],
)
def test_only_the_canonical_bytes_are_an_entry(data: bytes) -> None:
    with pytest.raises(ProofError, match="not its canonical JSON"):
        Entry.decode(data)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", ENTRY.encode()[:-1], b"[" * 5_000])
def test_bytes_that_are_not_json_are_no_entry(data: bytes) -> None:
    with pytest.raises(ProofError, match="the entry is not JSON"):
        Entry.decode(data)


def test_a_commitment_is_the_hash_of_salt_and_body() -> None:
    assert body_commitment(b"salt", b"body") == sha256(b"saltbody").hexdigest()


def test_the_first_entry_is_bound_to_its_log() -> None:
    assert genesis_prev("evidentia/x/acme") == sha256(b"evidentia/x/acme").hexdigest()
    assert genesis_prev("evidentia/x/acme") != genesis_prev("evidentia/y/acme")


@pytest.mark.parametrize("tenant", ["a", "0", "acme", "acme-eu.v2_x", "a" * 64])
def test_a_tenants_name_is_taken(tenant: str) -> None:
    assert check_tenant(tenant) == tenant


@tiers.one_test
@pytest.mark.parametrize(
    "tenant",
    ["", "-a", "a-", ".a", "A", "a b", "a/b", "a\n", "é", "a" * 65, "..", "a\x00b", "٣"],
)
def test_what_is_no_tenants_name_is_refused(tenant: str) -> None:
    with pytest.raises(InputError, match="is not a name: use 1 to 64 of a-z"):
        check_tenant(tenant)


def test_a_subject_is_limited_in_bytes() -> None:
    fitting = "é" * ((MAX_SUBJECT_BYTES - 2) // 2)
    assert encode_subject(fitting) == f'"{fitting}"'
    with pytest.raises(InputError, match="is 2002 bytes long, 2000 at most"):
        encode_subject(fitting + "é")


def test_a_subject_without_text_that_databases_store_is_refused() -> None:
    with pytest.raises(InputError, match=r"holds U\+0000"):
        encode_subject("ob\0001")


def test_null_is_no_body() -> None:
    with pytest.raises(InputError, match="it is null"):
        encode_body(None)


def test_a_body_leaves_room_for_the_level_that_a_proof_puts_around_it() -> None:
    nested: list[object] = []
    for _ in range(98):
        nested = [nested]
    assert encode_body(nested).count(b"[") == 99
    with pytest.raises(InputError, match="nested more than 100 levels"):
        encode_body([nested])


def test_a_body_is_its_canonical_json() -> None:
    assert encode_body({"b": 1.0, "a": [None]}) == b'{"a":[null],"b":1}'


def test_a_body_that_has_no_canonical_json_is_refused() -> None:
    with pytest.raises(InputError, match="the body cannot be recorded: set is not a JSON value"):
        encode_body({"a": {1}})


def test_a_body_is_limited_in_bytes() -> None:
    assert len(encode_body("x" * (MAX_BODY_BYTES - 2))) == MAX_BODY_BYTES
    with pytest.raises(InputError, match="1048577 bytes, 1048576 at most: keep large content"):
        encode_body("x" * (MAX_BODY_BYTES - 1))


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T09:30:00.000000Z",
        "2024-02-29T23:59:59.999999Z",
        "0001-12-01T00:00:00.000001Z",
        "9999-10-20T19:05:09.123456Z",
    ],
)
def test_a_utc_time_with_microseconds_is_a_time(text: str) -> None:
    assert is_time(text)


@tiers.one_test
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31T09:30:00Z",
        "2026-01-31T09:30:00.000Z",
        "2026-01-31 09:30:00.000000Z",
        "2026-01-31T09:30:00.000000+00:00",
        "2026-01-31T09:30:00.000000z",
        "2026-01-31T09:30:00.000000Z\n",
        "٢٠٢٦-01-31T09:30:00.000000Z",
        "2026-00-31T09:30:00.000000Z",
        "2026-13-31T09:30:00.000000Z",
        "2026-01-00T09:30:00.000000Z",
        "2026-01-32T09:30:00.000000Z",
        "2026-01-31T24:30:00.000000Z",
        "2026-01-31T09:60:00.000000Z",
        "2026-01-31T09:30:60.000000Z",
    ],
)
def test_any_other_text_is_no_time(text: str) -> None:
    assert not is_time(text)
