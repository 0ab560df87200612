"""A verifier by a stranger: written from the pages in `spec/v1` alone, without Evidentia's code.

It needs hashes, JSON and Ed25519, and no more. What it accepts and refuses must be what the
vectors say, and what the program itself hands out must hold before it.
"""

import json
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

VECTORS = Path(__file__).parents[2] / "spec" / "v1" / "vectors"

SAFE = 2**53 - 1
KINDS = {"evidence_record", "status_change", "bundle", "ledger", "pack"}
KINDS |= {"review", "export", "access", "erasure", "key"}
HASH = re.compile(r"[0-9a-f]{64}")
TENANT = re.compile(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?")
TIME = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
ENTRY_FIELDS = {"v", "tenant", "seq", "prev", "kind", "subject", "at", "body"}
PROOF_FIELDS = {"format", "v", "entry", "inclusion", "checkpoint"}


class RefusedError(Exception):
    """What was given is not what the page describes."""


def demand(condition: object, why: str) -> None:
    if not condition:
        raise RefusedError(why)


# README.md: reading JSON, canonical JSON, the tree


def read_json(data: bytes) -> Any:
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=unique,
            parse_constant=refuse_constant,
            parse_int=read_integer,
            parse_float=read_float,
        )
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"not JSON: {error}") from None
    check_text_and_depth(value, 0)
    return value


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    demand(len(dict(pairs)) == len(pairs), "a key stands twice")
    return dict(pairs)


def refuse_constant(name: str) -> NoReturn:
    raise RefusedError(name)


def read_integer(text: str) -> int | float:
    number = int(text)
    if abs(number) <= SAFE:
        return number
    double = read_float(text)
    demand(int(double) == number or canonical_number(double) == text, "no double holds it")
    return double


def read_float(text: str) -> float:
    number = float(text)
    demand(abs(number) != float("inf"), "too large for a double")
    return number


def check_text_and_depth(value: Any, depth: int) -> None:
    if isinstance(value, str):
        demand(not re.search("[\ud800-\udfff]", value), "half of a surrogate pair")
    if isinstance(value, dict | list):
        demand(depth < 100, "nested too deeply")
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        for part in parts:
            check_text_and_depth(part, depth + 1)


def canonical(value: Any) -> bytes:
    return canonical_text(value).encode()


def canonical_text(value: Any) -> str:
    if isinstance(value, dict):
        ordered = sorted(value, key=lambda key: key.encode("utf-16-be"))
        members = (f"{canonical_text(key)}:{canonical_text(value[key])}" for key in ordered)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    if isinstance(value, float):
        return canonical_number(value)
    return json.dumps(value, ensure_ascii=False)


def canonical_number(number: float) -> str:
    if number == 0:
        return "0"
    if number < 0:
        return "-" + canonical_number(-number)
    _, raw, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)
    n = len(raw) + exponent
    digits = "".join(map(str, raw)).rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return f"{digits[:n]}.{digits[n:]}"
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    fraction = f".{digits[1:]}" if k > 1 else ""
    return f"{digits[0]}{fraction}e{n - 1:+d}"


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root_hash(leaves: list[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(root_hash(leaves[:split]), root_hash(leaves[split:]))


# entry.md


def check_version(value: Any) -> None:
    demand(type(value) is int and value == 1, f"version {value!r}, and only 1 is known")


def check_entry(value: Any) -> None:
    demand(isinstance(value, dict), "not an object")
    check_version(value.get("v"))
    demand(set(value) == ENTRY_FIELDS, "missing or unknown fields")
    seq = value["seq"]
    demand(type(seq) is int and 0 <= seq <= SAFE, "seq")
    demand(all(isinstance(value[name], str) for name in ENTRY_FIELDS - {"v", "seq"}), "no text")
    demand(TENANT.fullmatch(value["tenant"]), "tenant")
    demand(HASH.fullmatch(value["prev"]) and HASH.fullmatch(value["body"]), "hash")
    demand(value["kind"] in KINDS, "kind")
    demand(value["subject"] and len(canonical(value["subject"])) <= 2000, "subject")
    demand(TIME.fullmatch(value["at"]), "time")


def read_entry(data: bytes) -> dict[str, Any]:
    value: dict[str, Any] = read_json(data)
    check_entry(value)
    demand(canonical(value) == data, "not canonical")
    return value


def commitment(salt: str, body: Any) -> str:
    return sha256(bytes.fromhex(salt) + canonical(body)).hexdigest()


def check_chain(origin: str, entries: list[bytes]) -> bytes:
    """Check entries from the first on; return the root over them."""
    prev = sha256(origin.encode()).hexdigest()
    leaves = []
    for seq, data in enumerate(entries):
        entry = read_entry(data)
        demand(entry["tenant"] == origin.rpartition("/")[2], "another tenant")
        demand((entry["seq"], entry["prev"]) == (seq, prev), "not in its place")
        leaves.append(leaf_hash(data))
        prev = leaves[-1].hex()
    return root_hash(leaves)


# checkpoint.md


class Key(NamedTuple):
    name: str
    key_id: str
    public: bytes


class Checkpoint(NamedTuple):
    origin: str
    size: int
    root: bytes
    text: str
    signatures: list[tuple[str, str, bytes]]


def read_base64(text: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise RefusedError("not base64") from None
    demand(b64encode(data).decode() == text, "not the one way to write it")
    return data


def read_key(line: str) -> Key:
    name, key_id, encoded = line.strip().split("+", 2)
    data = read_base64(encoded)
    demand(len(data) == 33 and data[:1] == b"\x01", "not an Ed25519 key")
    demand(sha256(f"{name}\n".encode() + data).digest()[:4].hex() == key_id, "not its id")
    return Key(name, key_id, data[1:])


def read_checkpoint(note: Any) -> Checkpoint:
    demand(isinstance(note, str), "not text")
    demand(len(note) <= 65536 and not re.search(r"[\x00-\x09\x0b-\x1f]", note), "not a note")
    text, blank, block = note.rpartition("\n\n")
    demand(blank and block.endswith("\n"), "no signatures")
    signatures = []
    for line in block[:-1].split("\n"):
        match = re.fullmatch(r"— ([^\s+]+) (\S+)", line)
        demand(match, "not a signature line")
        assert match
        data = read_base64(match[2])
        demand(len(data) > 4, "no signature")
        signatures.append((match[1], data[:4].hex(), data[4:]))
    lines = text.split("\n")
    demand(len(lines) >= 3 and all(lines), "not a checkpoint")
    demand(re.fullmatch("0|[1-9][0-9]{0,17}", lines[1]), "not a size")
    root = read_base64(lines[2])
    demand(len(root) == 32, "not a root")
    return Checkpoint(lines[0], int(lines[1]), root, f"{text}\n", signatures)


def check_signature(checkpoint: Checkpoint, keys: list[Key]) -> None:
    kept = {(key.name, key.key_id): key for key in keys if key.name == checkpoint.origin}
    demand(kept, "a checkpoint of another log")
    signed = 0
    for name, key_id, signature in checkpoint.signatures:
        if key := kept.get((name, key_id)):
            try:
                public = Ed25519PublicKey.from_public_bytes(key.public)
                public.verify(signature, checkpoint.text.encode())
            except InvalidSignature:
                raise RefusedError("a wrong signature") from None
            signed += 1
    demand(signed, "not signed by a trusted key")


def check_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: list[bytes]
) -> None:
    demand(0 < old_size <= new_size, "sizes")
    if old_size == new_size:
        demand(not path and old_root == new_root, "two roots for one size")
        return
    demand(path, "no hashes")
    if old_size & (old_size - 1) == 0:
        path = [old_root, *path]
    position, last = old_size - 1, new_size - 1
    while position % 2:
        position, last = position // 2, last // 2
    old = new = path[0]
    for sibling in path[1:]:
        demand(last, "too many hashes")
        if position % 2 or position == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while position and position % 2 == 0:
                position, last = position // 2, last // 2
        else:
            new = node_hash(new, sibling)
        position, last = position // 2, last // 2
    demand(last == 0 and (old, new) == (old_root, new_root), "another history")


class Announced(NamedTuple):
    key: Key
    seq: int
    successor: int | None


def announced_keys(origin: str, announcements: list[tuple[dict[str, Any], Any]]) -> list[Announced]:
    """Read the keys that a log announces, given its entries of kind `key` with their bodies."""
    found: list[Announced] = []
    for entry, body in announcements:
        demand(set(body) == {"key", "replaces"}, "fields")
        key = read_key(body["key"])
        demand(key.name == origin and entry["subject"] == key.key_id, "another log's key")
        demand(body["replaces"] == (found[-1].key.key_id if found else None), "replaces")
        if found:
            found[-1] = found[-1]._replace(successor=entry["seq"])
        found.append(Announced(key, entry["seq"], None))
    return found


def keys_for(size: int, announced: list[Announced]) -> list[Key]:
    return [
        item.key
        for item in announced
        if item.seq + 1 <= size and (item.successor is None or size <= item.successor + 1)
    ]


# proof.md


def check_inclusion(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> None:
    demand(0 <= index < size, "past the end")
    position, last, result = index, size - 1, leaf
    for sibling in path:
        demand(last, "too many hashes")
        if position % 2 or position == last:
            result = node_hash(sibling, result)
            while position and position % 2 == 0:
                position, last = position // 2, last // 2
        else:
            result = node_hash(result, sibling)
        position, last = position // 2, last // 2
    demand(last == 0 and result == root, "another root")


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and HASH.fullmatch(value) is not None


def read_proof(data: bytes) -> tuple[dict[str, Any], Checkpoint]:
    demand(len(data) <= 8_388_608, "too large")
    proof = read_json(data)
    demand(isinstance(proof, dict) and proof.get("format") == "evidentia/proof", "format")
    check_version(proof.get("v"))
    demand(set(proof) in (PROOF_FIELDS, PROOF_FIELDS | {"body", "salt"}), "fields")
    check_entry(proof["entry"])
    path = proof["inclusion"]
    demand(isinstance(path, list) and len(path) <= 60 and all(map(is_hash, path)), "inclusion")
    demand("salt" not in proof or is_hash(proof["salt"]), "salt")
    return proof, read_checkpoint(proof["checkpoint"])


def check_content(proof: dict[str, Any]) -> None:
    if "body" in proof:
        demand(commitment(proof["salt"], proof["body"]) == proof["entry"]["body"], "another body")


def check_place(proof: dict[str, Any], checkpoint: Checkpoint) -> None:
    entry = proof["entry"]
    demand(entry["tenant"] == checkpoint.origin.rpartition("/")[2], "another tenant's log")
    leaf = leaf_hash(canonical(entry))
    path = [bytes.fromhex(item) for item in proof["inclusion"]]
    check_inclusion(leaf, entry["seq"], checkpoint.size, path, checkpoint.root)


def verify(data: bytes, keys: list[Key]) -> tuple[str, list[str]]:
    """Return the verdict and the names of the checks that failed."""
    try:
        proof, checkpoint = read_proof(data)
    except RefusedError:
        return "does not hold", ["format"]
    checks: dict[str, Any] = {
        "content": lambda: check_content(proof),
        "place": lambda: check_place(proof, checkpoint),
    }
    if keys:
        checks["signature"] = lambda: check_signature(checkpoint, keys)
    failed = []
    for name, check in checks.items():
        try:
            check()
        except RefusedError:
            failed.append(name)
    if failed:
        return "does not hold", failed
    return ("holds" if keys else "consistent, signer unknown"), []


# publication.md


def tile_path(level: int | str, index: int, width: int = 256) -> str:
    groups = [f"{index % 1000:03d}"]
    while index := index // 1000:
        groups.insert(0, f"x{index % 1000:03d}")
    return f"tile/{level}/{'/'.join(groups)}" + ("" if width == 256 else f".p/{width}")


def read_bundle(data: bytes) -> list[bytes]:
    entries = []
    while data:
        length = int.from_bytes(data[:2], "big")
        demand(len(data) >= 2 + length, "cut short")
        entries.append(data[2 : 2 + length])
        data = data[2 + length :]
    return entries


def tiles_of(leaves: list[bytes]) -> dict[str, bytes]:
    """Compute every tile of a tree, by path."""
    tiles = {}
    level, hashes = 0, leaves
    while hashes:
        for start in range(0, len(hashes), 256):
            tile = hashes[start : start + 256]
            tiles[tile_path(level, start // 256, len(tile))] = b"".join(tile)
        full = len(hashes) // 256
        hashes = [root_hash(hashes[at * 256 : (at + 1) * 256]) for at in range(full)]
        level += 1
    return tiles


def audit(folder: Path, keys: list[Key]) -> list[bytes]:
    """Check a published log, all of it; return its entries."""
    checkpoint = read_checkpoint((folder / "checkpoint").read_text(encoding="utf-8"))
    check_signature(checkpoint, keys)
    entries: list[bytes] = []
    while len(entries) < checkpoint.size:
        width = min(256, checkpoint.size - len(entries))
        bundle = folder / tile_path("entries", len(entries) // 256, width)
        found = read_bundle(bundle.read_bytes())
        demand(len(found) == width, "a bundle of another width")
        entries += found
    demand(check_chain(checkpoint.origin, entries) == checkpoint.root, "another root")
    for path, data in tiles_of([leaf_hash(entry) for entry in entries]).items():
        demand((folder / path).read_bytes() == data, f"{path} is not what the entries give")
    return entries


# The vectors


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def key_file(name: str) -> Key:
    return read_key((VECTORS / name).read_text(encoding="utf-8"))


LOG = load("log.json")
KEYS = [key_file(key["file"]) for key in LOG["keys"]]
ENTRIES: list[bytes] = [item["bytes"].encode() for item in LOG["entries"]]
LEAVES = [leaf_hash(data) for data in ENTRIES]
ROOTS = [bytes.fromhex(root) for root in LOG["roots"]]


def announcements() -> list[tuple[dict[str, Any], Any]]:
    return [
        (item["entry"], item["body"])
        for item in LOG["entries"]
        if item["entry"]["kind"] == "key"
        and commitment(item["salt"], item["body"]) == item["entry"]["body"]
    ]


def test_the_stranger_has_not_looked_at_the_code() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert not re.search(r"^\s*(from|import) evidentia", source, re.MULTILINE)


@pytest.mark.parametrize("vector", load("proofs.json"), ids=lambda vector: vector["file"])
def test_a_proof_file_gets_its_verdict(vector: dict[str, Any]) -> None:
    keys = [key_file(vector["key"])] if vector["key"] else []
    verdict, failed = verify((VECTORS / vector["file"]).read_bytes(), keys)
    assert (verdict, failed) == (vector["verdict"], vector["fails"]), vector["why"]


def test_a_proof_file_past_the_limit_is_refused() -> None:
    good = (VECTORS / "proofs/holds/record.json").read_bytes()
    assert verify(good.ljust(8_388_608), KEYS)[0] == "holds"
    assert verify(good.ljust(8_388_609), KEYS) == ("does not hold", ["format"])


def test_json_has_one_canonical_form_or_is_refused() -> None:
    for vector in load("canonical.json")["canonical"]:
        assert canonical(read_json(vector["json"].encode())).decode() == vector["bytes"]
    for vector in load("canonical.json")["refused"]:
        with pytest.raises(RefusedError):
            read_json(vector["json"].encode())


def test_the_log_is_what_its_entries_say() -> None:
    for item, data, leaf in zip(LOG["entries"], ENTRIES, LEAVES, strict=True):
        assert read_entry(data) == item["entry"]
        assert leaf.hex() == item["leaf"]
        if "body" in item:
            assert canonical(item["body"]).decode() == item["body_bytes"]
            assert commitment(item["salt"], item["body"]) == item["entry"]["body"]
    assert [root_hash(LEAVES[:size]) for size in range(len(ROOTS))] == ROOTS
    assert check_chain(LOG["origin"], ENTRIES) == ROOTS[-1]


@pytest.mark.parametrize("vector", load("entries-refused.json"), ids=lambda vector: vector["why"])
def test_what_is_no_entry_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        read_entry(vector["bytes"].encode())


def test_a_chain_with_an_entry_changed_missing_or_moved_is_refused() -> None:
    changed = ENTRIES[2].replace(b"OBL-002", b"OBL-003")
    for chain in (
        [*ENTRIES[:2], changed, *ENTRIES[3:]],
        ENTRIES[1:],
        [*ENTRIES[:4], *ENTRIES[5:]],
        [ENTRIES[1], ENTRIES[0], *ENTRIES[2:]],
        [*ENTRIES, ENTRIES[-1]],
    ):
        with pytest.raises(RefusedError):
            check_chain(LOG["origin"], chain)
    with pytest.raises(RefusedError):
        check_chain("evidentia/00c0ffee00c0ffee/acme", ENTRIES)


def test_every_path_of_the_tree_holds() -> None:
    for vector in load("inclusion.json"):
        index, size = vector["index"], vector["size"]
        path = [bytes.fromhex(item) for item in vector["hashes"]]
        check_inclusion(LEAVES[index], index, size, path, ROOTS[size])
        with pytest.raises(RefusedError):
            check_inclusion(LEAVES[index], index, size, path, ROOTS[size - 1])


def test_consistency_proofs_hold_or_are_refused() -> None:
    for vector in load("consistency.json"):
        old, new = vector["old_size"], vector["new_size"]
        given = (old, ROOTS[old], new, ROOTS[new], [bytes.fromhex(h) for h in vector["hashes"]])
        if vector["holds"]:
            check_consistency(*given)
        else:
            with pytest.raises(RefusedError):
                check_consistency(*given)


@pytest.mark.parametrize("vector", load("checkpoints.json"), ids=lambda vector: vector["why"])
def test_a_checkpoint_is_signed_by_a_key_that_may_sign_its_size(vector: dict[str, Any]) -> None:
    announced = announced_keys(LOG["origin"], announcements())
    checkpoint = read_checkpoint(vector["note"])
    allowed = keys_for(checkpoint.size, announced)
    if vector["holds"]:
        check_signature(checkpoint, allowed)
        assert checkpoint.root == ROOTS[checkpoint.size]
    else:
        with pytest.raises(RefusedError):
            check_signature(checkpoint, allowed)


def test_a_trusted_key_leads_to_its_successor() -> None:
    old, new = KEYS
    data = (VECTORS / "proofs/holds/rotation.json").read_bytes()
    assert verify(data, [old])[0] == "holds"
    proof, checkpoint = read_proof(data)
    entry, body = proof["entry"], proof["body"]
    assert entry["kind"] == "key"
    assert read_key(body["key"]) == new
    assert (new.name, new.key_id) == (checkpoint.origin, entry["subject"])
    assert body["replaces"] == old.key_id
    assert checkpoint.size <= entry["seq"] + 1


def test_an_erasure_names_the_entry_it_is_about() -> None:
    proof, _ = read_proof((VECTORS / "proofs/holds/erasure.json").read_bytes())
    erased, _ = read_proof((VECTORS / "proofs/holds/erased.json").read_bytes())
    entry, body = proof["entry"], proof["body"]
    assert entry["kind"] == "erasure"
    assert set(body) == {"entry", "leaf", "reason", "by"}
    assert entry["subject"] == f"entry/{body['entry']}"
    assert body["entry"] < entry["seq"]
    assert body["entry"] == erased["entry"]["seq"]
    assert body["leaf"] == leaf_hash(canonical(erased["entry"])).hex()
    assert "body" not in erased


def test_the_published_log_is_whole() -> None:
    assert audit(VECTORS / "publication", KEYS[1:]) == ENTRIES
    with pytest.raises(RefusedError):
        audit(VECTORS / "publication", KEYS[:1])


def test_tiles_of_a_large_tree_are_where_and_what_they_should_be() -> None:
    vectors = load("tiles.json")
    for vector in vectors["paths"]:
        assert tile_path(vector["level"], vector["index"], vector["width"]) == vector["path"]
    tree = vectors["tree"]
    leaves = [leaf_hash(str(index).encode()) for index in range(tree["size"])]
    assert root_hash(leaves).hex() == tree["root"]
    tiles = tiles_of(leaves)
    for tile in tree["tiles"]:
        assert len(tiles[tile["path"]]) == 32 * tile["width"]
        assert sha256(tiles[tile["path"]]).hexdigest() == tile["sha256"]


# What the program hands out


def test_what_the_program_hands_out_holds_before_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "DATABASE_URL", "TENANT", "LOG_LEVEL", "LOG_FORMAT"):
        monkeypatch.delenv(f"EVIDENTIA_{name}", raising=False)

    def evidentia(*arguments: str) -> str:
        command = [str(Path(sys.executable).with_name("evidentia")), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
        ).stdout

    record = LOG["entries"][1]["body"]
    lines = [json.dumps({**record, "obligation_id": f"OBL-{number}"}) for number in range(300)]
    (tmp_path / "records.ndjson").write_text("\n".join(lines), encoding="utf-8")
    evidentia("trail", "append", "records.ndjson", "--tenant", "acme")
    evidentia("trail", "prove", "259", "-o", "proof.json", "--tenant", "acme")
    evidentia("trail", "publish", "published", "--tenant", "acme")
    listed = json.loads(evidentia("keys", "list", "--json", "--tenant", "acme"))
    key = read_key(listed["keys"][-1]["public_key"])

    data = (tmp_path / "proof.json").read_bytes()
    assert verify(data, [key]) == ("holds", [])
    assert verify(data, KEYS)[1] == ["signature"]
    assert verify(data.replace(b"72 hours", b"73 hours"), [key])[1] == ["content"]
    entries = audit(tmp_path / "published", [key])
    assert len(entries) >= 300
    assert canonical(read_proof(data)[0]["entry"]) == entries[259]
