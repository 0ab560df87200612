"""Entries that wait for their place in a log."""

import json

import pytest

import tiers
from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.trail.entry import SALT_BYTES, Entry, EntryKind, genesis_prev
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.waiting import (
    MAX_INDEXED_BYTES,
    placed,
    recorded,
    waiting,
    waiting_records,
)
from places import record

AT = "2026-01-31T09:30:00.000000Z"
SALT = b"\x07" * SALT_BYTES


class Text(str):
    """A text of another type."""

    __slots__ = ()


def test_what_waits_becomes_a_chain_behind_the_entry_before() -> None:
    items = [
        waiting(EntryKind.RUN.value, f"run/{number}", {"n": number}, AT, SALT) for number in (1, 2)
    ]
    first = genesis_prev("log")
    entries, leaves, written = placed("default", 5, first, items)
    read = [Entry.decode(data) for data in entries]
    assert [(one.seq, one.subject, one.kind) for one in read] == [
        (5, "run/1", "run"),
        (6, "run/2", "run"),
    ]
    assert [one.prev for one in read] == [first, leaves[0].hex()]
    assert leaves == [leaf_hash(data) for data in entries]
    assert written == [leaf.hex() for leaf in leaves]


def test_the_same_content_under_another_salt_says_the_same() -> None:
    one = waiting("run", "run/1", {"n": 1}, AT, SALT)
    again = waiting("run", "run/1", {"n": 1}, AT, b"\x08" * SALT_BYTES)
    assert again.says(one)
    assert not waiting("run", "run/1", {"n": 2}, AT, SALT).says(one)
    assert not waiting("run", "run/2", {"n": 1}, AT, SALT).says(one)


def test_a_records_body_says_who_recorded_it_and_gives_the_record_back() -> None:
    records = [record(1), record(2, amendment_history=[{"status": "current"}])]
    salts = bytes(2 * SALT_BYTES)
    made = waiting_records(records, by="noor", at=AT, salts=salts, keys=[None, "a"])
    assert [one.idempotency_key for one in made] == [None, "a"]
    bodies = [json.loads(one.body) for one in made]
    assert [body["by"] for body in bodies] == ["noor", "noor"]
    assert [recorded(body) for body in bodies] == records
    assert recorded({name: bodies[0][name] for name in bodies[0] if name != "by"}) == records[0]


@pytest.mark.parametrize("key", ["", "a\0b", "\ud800", "x" * (MAX_INDEXED_BYTES + 1)])
def test_a_key_that_not_every_database_could_store_is_refused(key: str) -> None:
    with pytest.raises(InputError, match=r"idempotency key .* cannot be stored"):
        waiting_records([record()], by="owner", at=AT, salts=SALT, keys=[key])


@tiers.one_test
@pytest.mark.parametrize("confidence", [0.0, 1e-7, 0.0009, 0.001, 0.1 + 0.2, 0.999, 1.0])
@pytest.mark.parametrize(
    "others",
    [
        {},
        {"page_number": None, "section_reference": None},
        {"source_clause": '﻿عربي "\\ \x7f'},
        {"amendment_history": [{"weight": 2.0, "n": [1, {"ﬀ": 1, "𝄞": 2}]}]},
    ],
)
def test_a_records_body_is_its_canonical_json(confidence: float, others: dict[str, object]) -> None:
    given = record(1, confidence=confidence, **others)
    (made,) = waiting_records([given], by="noor", at=AT, salts=SALT, keys=[None])
    assert made.body == canonical_json({**given.model_dump(), "by": "noor"})


def test_a_record_of_unchecked_types_has_a_canonical_body_too() -> None:
    given = record(1, confidence=0.5).model_copy(update={"page_number": 3.0, "doc_id": Text("d")})
    (made,) = waiting_records([given], by="noor", at=AT, salts=SALT, keys=[None])
    assert b'"page_number":3,' in made.body
    assert b'"doc_id":"d"' in made.body


def test_a_record_that_has_no_canonical_form_is_refused() -> None:
    given = record(1, confidence=0.5).model_copy(update={"source_clause": "\ud800"})
    with pytest.raises(InputError, match="cannot be recorded"):
        waiting_records([given], by="noor", at=AT, salts=SALT, keys=[None])
