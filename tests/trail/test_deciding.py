"""Which entries decide, and the map of where they are."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.errors import ProofError
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.deciding import (
    DECIDING,
    PAGE,
    About,
    Place,
    Said,
    Snapshot,
    about,
    grouped,
    grown,
    joined,
    listed,
    map_of,
    read_snapshot,
)
from evidentia.trail.entry import KINDS, Entry
from evidentia.trail.keyed import KeyedMap
from evidentia.trail.merkle import EMPTY_ROOT, leaf_hash
from evidentia.trail.note import VerifierKey

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ORIGIN = "evidentia/1234/default"
SNAPSHOT = Snapshot(ORIGIN, 7, EMPTY_ROOT, bytes(range(32)))
NOON = ("access", "user/noor")


def entry(seq: int = 0, kind: str = "access", subject: str = "user/noor") -> bytes:
    at = "2026-01-31T09:30:00.000000Z"
    return Entry("default", seq, "0" * 64, kind, subject, at, "1" * 64).encode()


def said(count: int, of: About = NOON, start: int = 0) -> list[Said]:
    return [(of, Place(seq, leaf_hash(b"%d" % seq))) for seq in range(start, start + count)]


def nothing(_: bytes) -> None:
    return None


@tiers.one_test
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("subject", ["user/noor", "a", "دائرة", 'with "quotes"', "x" * 1_000])
def test_what_an_entry_is_about_is_read_from_its_bytes(kind: str, subject: str) -> None:
    expected = (kind, subject) if kind in DECIDING else None
    assert about(entry(123_456, kind, subject)) == expected


def test_what_is_no_entry_is_about_nothing_or_refused() -> None:
    assert about(b"") is None
    assert about(b"x" * 200) is None
    with pytest.raises(ProofError):
        about(entry() + b" ")


def test_entries_are_listed_by_kind_and_by_subject() -> None:
    found = grouped([*said(2), *said(1, ("access", "user/sami"), 2), *said(1, ("key", "k"), 3)])
    assert {of: [place.seq for place in places] for of, places in found.items()} == {
        NOON: [0, 1],
        ("access", "user/sami"): [2],
        ("access", ""): [0, 1, 2],
        ("key", "k"): [3],
        ("key", ""): [3],
    }
    both = joined(found, grouped(said(1, NOON, 9)))
    assert [place.seq for place in both[NOON]] == [0, 1, 9]
    assert [place.seq for place in both["access", ""]] == [0, 1, 2, 9]
    assert both["key", ""] == found["key", ""]


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 3 * PAGE + 5])
def test_a_map_lists_what_was_put_in(count: int) -> None:
    update = map_of(said(count))
    found = KeyedMap(update.root, update.added.get).get
    places = [place for _, place in said(count)]
    for of in (NOON, ("access", "")):
        assert listed(found, of) == places
        for after in (0, PAGE - 1, PAGE, count - 1, count):
            assert listed(found, of, after=after) == [one for one in places if one.seq > after]
    assert listed(found, ("access", "user/sami")) == []
    assert listed(found, ("retention", "")) == []


@given(st.lists(st.integers(0, 3 * PAGE), max_size=5))
def test_a_map_that_grew_step_by_step_is_the_one_of_all(steps: list[int]) -> None:
    nodes: dict[bytes, bytes] = {}
    found, at = KeyedMap(map_of([]).root, nodes.get), 0
    for count in steps:
        update = found.updated(grown(found.get, grouped(said(count, NOON, at))))
        nodes |= update.added
        found, at = KeyedMap(update.root, nodes.get), at + count
    assert found.root == map_of(said(at)).root


def test_a_page_that_is_missing_is_an_error_not_an_answer() -> None:
    changes = grown(nothing, grouped(said(PAGE + 1)))
    full = [key for key, value in changes.items() if value is not None and key.endswith(b"\x000")]
    for key in full:
        del changes[key]
    with pytest.raises(ProofError, match="page 0 of the entries of kind access is missing"):
        listed(changes.get, NOON)


def test_a_signed_snapshot_reads_back_and_is_no_checkpoint() -> None:
    note = SNAPSHOT.sign(KEY)
    found, parsed = read_snapshot(note)
    assert found == SNAPSHOT
    public = KEY.public_key().public_bytes_raw()
    assert parsed.signed_by([VerifierKey(ORIGIN, public)]) is not None
    with pytest.raises(ProofError, match="not a checkpoint"):
        read_checkpoint(note)
    with pytest.raises(ProofError, match="not a snapshot"):
        read_snapshot(Checkpoint(ORIGIN, 7, EMPTY_ROOT).sign(KEY))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("entries 2\n", "entries 1\n"),
        ("\n7\n", "\n07\n"),
        ("\n7\n", "\n-7\n"),
        ("\n7\n", "\n7\n7\n"),
        ("AAEC", "AAE"),
        ("47DE", "47!E"),
        ("Hh8=\n", "Hh8="),
        ("AAEC", "AAEC\n"),
    ],
)
def test_what_is_no_snapshot_is_refused(old: str, new: str) -> None:
    assert old in SNAPSHOT.text
    with pytest.raises(ProofError, match="not a snapshot"):
        Snapshot.parse(SNAPSHOT.text.replace(old, new, 1))
