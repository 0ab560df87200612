"""The map that can be proved, against a dict."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import ProofError
from evidentia.trail import keyed
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap, verify_keyed

KEYS = st.integers(0, 40).map(lambda number: f"key {number}".encode())
CHANGES = st.lists(st.dictionaries(KEYS, st.none() | st.binary(max_size=40), max_size=30))


class Stored:
    """A map whose nodes are kept in a dict, as a database would keep them."""

    def __init__(self) -> None:
        self.nodes: dict[bytes, bytes] = {}
        self.map = KeyedMap(EMPTY_MAP, self.nodes.get)

    def put(self, changes: dict[bytes, bytes | None]) -> None:
        update = self.map.updated(changes)
        assert not update.added.keys() & self.nodes.keys()
        assert update.removed <= self.nodes.keys()
        self.nodes |= update.added
        for name in update.removed:
            del self.nodes[name]
        self.map = KeyedMap(update.root, self.nodes.get)


def filled(items: dict[bytes, bytes]) -> Stored:
    stored = Stored()
    stored.put(dict(items))
    return stored


def many(count: int) -> dict[bytes, bytes]:
    return {f"key {number}".encode(): f"value {number}".encode() for number in range(count)}


def alike(count: int, nibbles: int) -> list[bytes]:
    """Return keys whose hashes begin alike."""
    wanted = sha256(b"0").hexdigest()[:nibbles]
    candidates = (f"{number}".encode() for number in range(1_000_000))
    found = (key for key in candidates if sha256(key).hexdigest().startswith(wanted))
    return [next(found) for _ in range(count)]


@given(CHANGES)
def test_a_map_is_what_a_dict_is_and_keeps_no_node_that_it_does_not_need(
    steps: list[dict[bytes, bytes | None]],
) -> None:
    stored, expected = Stored(), dict[bytes, bytes]()
    for changes in steps:
        stored.put(changes)
        for key, value in changes.items():
            if value is None:
                expected.pop(key, None)
            else:
                expected[key] = value
        assert {key: stored.map.get(key) for key in expected} == expected
        assert stored.map.get(b"never put in") is None
        afresh = filled(expected)
        assert stored.map.root == afresh.map.root
        assert stored.nodes == afresh.nodes


@given(CHANGES, KEYS)
def test_what_a_key_stands_for_and_that_it_stands_for_nothing_is_proved(
    steps: list[dict[bytes, bytes | None]], key: bytes
) -> None:
    stored = Stored()
    for changes in steps:
        stored.put(changes)
    proof, value = stored.map.prove(key), stored.map.get(key)
    verify_keyed(stored.map.root, key, value, proof)
    for wrong in {None, b"", b"something else", (value or b"") + b"."} - {value}:
        with pytest.raises(ProofError, match="does not show"):
            verify_keyed(stored.map.root, key, wrong, proof)
    with pytest.raises(ProofError):
        verify_keyed(stored.map.root, key, value, (*proof, b"one more"))
    if proof:
        with pytest.raises(ProofError, match="is missing"):
            verify_keyed(stored.map.root, key, value, proof[:-1])


def test_the_root_of_an_empty_map_is_no_node() -> None:
    stored = filled({b"a": b"1"})
    assert stored.map.root != EMPTY_MAP
    stored.put({b"a": None, b"b": None})
    assert (stored.map.root, stored.nodes) == (EMPTY_MAP, {})
    verify_keyed(EMPTY_MAP, b"a", None, ())


def test_the_form_does_not_change() -> None:
    assert filled({b"a": b"1"}).map.root == sha256(b"\x02" + sha256(b"a").digest() + b"1").digest()
    assert filled(many(1_000)).map.root.hex() == (
        "8df0787085912ad5d6488d5cce4751cead15a0d11e34c3a62351c4cd00188fd8"
    )


def test_a_change_costs_its_path_alone() -> None:
    stored = filled(many(5_000))
    update = stored.map.updated({b"key 77": b"another"})
    assert len(update.added) == len(update.removed) <= 7


def test_keys_that_begin_alike_part_where_they_differ() -> None:
    first, second, third = alike(3, 3)
    stored = filled({first: b"1"})
    alone = stored.map.root
    stored.put({second: b"2"})
    assert len(stored.map.prove(first)) >= 5
    stored.put({third: b"3", second: None})
    assert (stored.map.get(first), stored.map.get(second)) == (b"1", None)
    stored.put({third: None})
    assert stored.map.root == alone


@pytest.mark.parametrize(
    "node",
    [
        b"\x02",
        b"\x02" + bytes(31),
        b"\x03",
        b"\x03\x00\x00",
        b"\x03\x00\x01" + bytes(31),
        b"\x03\x00\x01" + bytes(64),
        b"\x04" + bytes(64),
    ],
)
def test_what_is_no_node_is_refused(node: bytes) -> None:
    name = sha256(node).digest()
    with pytest.raises(ProofError, match="malformed"):
        KeyedMap(name, {name: node}.get).get(b"a")


def test_a_node_that_is_missing_or_altered_is_named() -> None:
    stored = filled(many(100))
    for name in list(stored.nodes):
        kept = stored.nodes.pop(name)
        with pytest.raises(ProofError, match=f"node {name.hex()} of the map is missing"):
            [stored.map.get(key) for key in many(100)]
        stored.nodes[name] = kept + b"."
        with pytest.raises(ProofError, match="is not what its hash says"):
            [stored.map.get(key) for key in many(100)]
        stored.nodes[name] = kept


def test_a_leaf_in_a_wrong_place_and_a_map_without_end_are_refused() -> None:
    leaf = b"\x02" + sha256(b"b").digest() + b"1"
    first = keyed._nibble(sha256(b"a").digest(), 0)
    assert first != keyed._nibble(sha256(b"b").digest(), 0)
    branch = keyed._branch({first: sha256(leaf).digest()})
    nodes = {sha256(node).digest(): node for node in (leaf, branch)}
    with pytest.raises(ProofError, match="where no key of it would be"):
        KeyedMap(sha256(branch).digest(), nodes.get).get(b"a")
    hashed = sha256(b"a").digest()
    nodes, below = {}, bytes(32)
    for depth in reversed(range(65)):
        node = keyed._branch({keyed._nibble(hashed, depth) if depth < 64 else 0: below})
        below = sha256(node).digest()
        nodes[below] = node
    with pytest.raises(ProofError, match="deeper than a key"):
        KeyedMap(below, nodes.get).get(b"a")


def test_a_map_that_is_emptied_is_empty_and_one_that_is_left_alone_is_itself() -> None:
    stored = filled(many(20))
    before = stored.map.root
    stored.put({})
    assert stored.map.root == before
    stored.put(dict.fromkeys(many(20)))
    assert (stored.map.root, stored.nodes) == (EMPTY_MAP, {})


def test_a_proof_of_another_value_is_refused() -> None:
    stored = filled(many(20))
    proof = stored.map.prove(b"key 3")
    verify_keyed(stored.map.root, b"key 3", b"value 3", proof)
    for wrong in (b"value 4", None):
        with pytest.raises(ProofError, match="does not show what the key stands for"):
            verify_keyed(stored.map.root, b"key 3", wrong, proof)
