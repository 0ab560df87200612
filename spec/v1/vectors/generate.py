#!/usr/bin/env python3
"""Write the test vectors of the formats, version 1, into this folder.

Everything is fixed: origin, times, salts, keys. Two runs write the same bytes, so a difference
after a run is a change of a format. The keys are public knowledge: never trust them.
"""

import copy
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from evidentia.canonical import canonical_json, parse_json
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.keys import SigningKey
from evidentia.trail.checkpoint import Checkpoint, log_origin
from evidentia.trail.entry import Entry, EntryKind, body_commitment, genesis_prev
from evidentia.trail.merkle import (
    NodeHash,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_hash,
)
from evidentia.trail.note import sign_note
from evidentia.trail.record import (
    EvidenceRecord,
    VerificationResult,
    create_status_change_record,
)
from evidentia.trail.tiles import TILE_WIDTH, Frontier, encode_bundle, expand, tile_path

HERE = Path(__file__).parent
BESIDE = ("README.md", ".gitattributes", "generate.py")
"""What is here and is not written by the generator."""

BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ORIGIN = log_origin("5f1e0c9a7b3d2846", "acme")
ERASED, ERASED_BY = 2, 7
ROTATED = 8
TREE_SIZE = 70_000
"""A tree with full and partial tiles on three levels, for the paths and digests of tiles."""

MISSING = object()

Json = dict[str, Any]


def seed(name: str) -> bytes:
    """Return 32 bytes that follow from a name; a real log takes random ones."""
    return sha256(f"evidentia spec v1 {name}".encode()).digest()


class Logged(NamedTuple):
    """An entry with its body, as long as that is there."""

    entry: Entry
    salt: bytes
    body: Any


class Log:
    """A log in memory, with the keys that sign it."""

    def __init__(self, origin: str, keys: Iterable[SigningKey]) -> None:
        self.origin = origin
        self.tenant = origin.rpartition("/")[2]
        self.keys = list(keys)
        self.entries: list[Logged] = []

    @property
    def leaves(self) -> list[bytes]:
        """The entries' leaf hashes."""
        return [leaf_hash(logged.entry.encode()) for logged in self.entries]

    def append(self, kind: EntryKind, subject: str, body: Any) -> None:
        """Append an entry, a minute after the one before it."""
        seq = len(self.entries)
        salt = seed(f"salt {self.origin} {seq}")
        at = (BEGAN + timedelta(minutes=seq)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        prev = self.leaves[-1].hex() if seq else genesis_prev(self.origin)
        commitment = body_commitment(salt, canonical_json(body))
        entry = Entry(self.tenant, seq, prev, kind.value, subject, at, commitment)
        self.entries.append(Logged(entry, salt, body))

    def announce(self, key: SigningKey, replaces: SigningKey | None = None) -> None:
        """Append the announcement of a key."""
        body = {
            "key": str(key.verifier),
            "replaces": replaces.verifier.key_id if replaces else None,
        }
        self.append(EntryKind.KEY, key.verifier.key_id, body)

    def checkpoint(self, size: int) -> Checkpoint:
        """Return the log as it was at a size."""
        return Checkpoint(self.origin, size, root_hash(self.leaves[:size]))

    def sign(self, size: int, key: SigningKey) -> str:
        """Return the checkpoint of a size, signed."""
        return self.checkpoint(size).sign(key.private_key)

    def prove(self, seq: int, size: int, key: SigningKey, *, disclose: bool = True) -> Json:
        """Return a proof file's object."""
        logged = self.entries[seq]
        disclosure = Disclosure(logged.body, logged.salt) if disclose else None
        hashes = tuple(inclusion_proof(subtrees(self.leaves), seq, size))
        return Proof(logged.entry, hashes, self.sign(size, key), disclosure).as_json()


def subtrees(leaves: list[bytes]) -> NodeHash:
    """Return the function from height and index to the hash of that complete subtree."""
    rows = expand(b"".join(leaves))
    return lambda height, index: rows[height][index]


def records() -> list[EvidenceRecord]:
    """Return the evidence records of the log, in order."""
    confirmed, disputed = VerificationResult.CONFIRMED.value, VerificationResult.DISPUTED.value
    return [
        EvidenceRecord(
            obligation_id="OBL-001",
            doc_id="DOC-7",
            doc_filename="supply-agreement.pdf",
            page_number=4,
            section_reference="§ 3.2",
            source_clause="The supplier shall report an incident within 72 hours.",
            extraction_model="extractor-1",
            verification_model="verifier-1",
            verification_result=confirmed,
            confidence=0.92,
            amendment_history=[
                {"doc_id": "DOC-2", "clause": "within 96 hours", "status": "superseded"},
                {"doc_id": "DOC-7", "clause": "within 72 hours", "status": "current"},
            ],
        ),
        EvidenceRecord(
            obligation_id="OBL-002",
            doc_id="DOC-8",
            doc_filename="annex.pdf",
            source_clause="Ms. A. Person is the contact for incidents.",
            extraction_model="extractor-1",
            verification_model="verifier-1",
            verification_result=disputed,
            confidence=0.5,
        ),
        EvidenceRecord(
            obligation_id="Pflicht „Aufbewahrung“ / الاحتفاظ",
            doc_id="DOC-9",
            doc_filename="aufbewahrung.pdf",
            page_number=1,
            source_clause='Records are kept for "ten" years.\n\tتُحفظ السجلات عشر سنوات.',
            extraction_model="extractor-1",
            verification_model="verifier-1",
            verification_result=confirmed,
            confidence=1.0,
        ),
    ]


def main_log() -> Log:
    """Return the log that most vectors are about: thirteen entries, one key rotation."""
    old, new = (SigningKey.from_seed(ORIGIN, seed(f"key {name}")) for name in ("1", "2"))
    log = Log(ORIGIN, [old, new])
    log.announce(old)
    for record in records():
        log.append(EntryKind.EVIDENCE_RECORD, record.obligation_id, record.model_dump())
    change = create_status_change_record(
        "OBL-001", "current", "superseded", "Replaced by the 2026 agreement", "DOC-11"
    )
    log.append(EntryKind.STATUS_CHANGE, "OBL-001", change.model_dump())
    tricky = {
        "numbers": [0.1, 1e21, 1e-7, 333333333.33333329, -0.0, 100.0, 2.0**53, 5e-324],
        "past 2^53": [1.2345678901234568e20, -1e20, 2.0**63],
        "names": {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "a": 4, "A": 5, "": 6},
        "text": '\u0000\u001f\b\t\n\f\r"\\/\u007f\u2028€😀',
    }
    log.append(EntryKind.BUNDLE, "bundle-1", tricky)
    log.append(EntryKind.LEDGER, "ledger-1", {"sha256": seed("ledger").hex()})
    erasure = {
        "entry": ERASED,
        "leaf": log.leaves[ERASED].hex(),
        "reason": "Erasure request of 2026-01-05, GDPR Article 17",
        "by": "privacy@acme.example",
    }
    log.append(EntryKind.ERASURE, f"entry/{ERASED}", erasure)
    log.announce(new, old)
    log.append(EntryKind.PACK, "pack-1", {"sha256": seed("pack").hex()})
    log.append(EntryKind.REVIEW, "pack-1", {"outcome": "approved"})
    log.append(EntryKind.EXPORT, "pack-1", {"format": "pdf"})
    log.append(EntryKind.ACCESS, "pack-1", {"by": "auditor@example.org"})
    return log


def small_log(origin: str) -> Log:
    """Return another log, to mix up with the main one."""
    key = SigningKey.from_seed(origin, seed(f"key of {origin}"))
    log = Log(origin, [key])
    log.announce(key)
    for number in range(1, 13):
        log.append(EntryKind.ACCESS, f"page-{number}", {"by": "someone"})
    return log


# The files


def files() -> dict[str, bytes]:
    """Return every vector file by its path in this folder."""
    log = main_log()
    other = small_log(log_origin("00c0ffee00c0ffee", "acme"))
    stranger = small_log(log_origin("5f1e0c9a7b3d2846", "globex"))
    made = {
        "log.json": pretty(log_file(log)),
        "inclusion.json": listed(inclusion_vectors(log)),
        "consistency.json": listed(consistency_vectors(log)),
        "checkpoints.json": pretty(checkpoint_vectors(log)),
        "checkpoint.txt": log.sign(len(log.entries), log.keys[1]).encode(),
        "canonical.json": pretty(canonical_vectors()),
        "entries-refused.json": pretty(refused_entries(log)),
        "tiles.json": pretty(tile_vectors()),
        "keys/key-1.pub": f"{log.keys[0].verifier}\n".encode(),
        "keys/key-2.pub": f"{log.keys[1].verifier}\n".encode(),
        "keys/other-log.pub": f"{other.keys[0].verifier}\n".encode(),
    }
    made |= {f"publication/{path}": data for path, data in publication(log).items()}
    index = []
    for vector in [*holding_proofs(log), *refused_proofs(log, other, stranger)]:
        made[vector.path] = vector.data
        index.append(vector.as_json())
    made["proofs.json"] = listed(index)
    return made


def log_file(log: Log) -> Json:
    """Return the log with its entries, bodies, salts, leaves and the root of every size."""
    entries = []
    for logged, leaf in zip(log.entries, log.leaves, strict=True):
        data = logged.entry.encode().decode()
        shown: Json = {"entry": logged.entry.as_json(), "bytes": data, "leaf": leaf.hex()}
        if logged.entry.seq == ERASED:
            shown["erased_by"] = ERASED_BY
        else:
            body = canonical_json(logged.body).decode()
            shown |= {"salt": logged.salt.hex(), "body": logged.body, "body_bytes": body}
        entries.append(shown)
    return {
        "origin": log.origin,
        "tenant": log.tenant,
        "keys": [
            {
                "file": f"keys/key-{number}.pub",
                "key_id": key.verifier.key_id,
                "name": key.verifier.name,
                "public_key": key.verifier.public_key.hex(),
                "seed": seed(f"key {number}").hex(),
                "announced_in": announced_in,
                "signs_from": announced_in + 1,
                "signs_until": signs_until,
            }
            for number, key, announced_in, signs_until in (
                (1, log.keys[0], 0, ROTATED + 1),
                (2, log.keys[1], ROTATED, None),
            )
        ],
        "entries": entries,
        "roots": [root_hash(log.leaves[:size]).hex() for size in range(len(entries) + 1)],
    }


def inclusion_vectors(log: Log) -> list[Json]:
    """Prove every entry at every size that has it; the roots are in `log.json`."""
    return [
        {
            "index": index,
            "size": size,
            "hashes": hexes(inclusion_proof(subtrees(log.leaves), index, size)),
        }
        for size in range(1, len(log.leaves) + 1)
        for index in range(size)
    ]


def consistency_vectors(log: Log) -> list[Json]:
    """Prove every size to begin with every smaller one; then some that must be refused."""
    good: list[Json] = [
        {
            "old_size": old,
            "new_size": new,
            "hashes": hexes(consistency_proof(subtrees(log.leaves), old, new)),
            "holds": True,
        }
        for new in range(1, len(log.leaves) + 1)
        for old in range(1, new + 1)
    ]
    proof = next(item for item in good if (item["old_size"], item["new_size"]) == (6, 13))
    hashes = proof["hashes"]
    bad = [
        ({"old_size": 0, "hashes": []}, "from an empty tree nothing is shown"),
        ({"hashes": hashes[:-1]}, "cut short"),
        ({"hashes": [*hashes, hashes[0]]}, "one hash too many"),
        ({"hashes": [flip(hashes[0]), *hashes[1:]]}, "a changed hash"),
        ({"old_size": 7}, "a proof for another size"),
        ({"old_size": 13, "new_size": 6}, "the old tree is the larger one"),
        ({"old_size": 13, "hashes": hashes}, "equal sizes need no hashes"),
    ]
    return good + [{**proof, **change, "holds": False, "why": why} for change, why in bad]


def checkpoint_vectors(log: Log) -> list[Json]:
    """Sign sizes around the rotation with both keys; say which key may sign which size."""
    old, new = log.keys
    size = len(log.entries)
    good = log.sign(size, new)
    cases = [
        (1, old, True, "the first size the first key may sign: its own announcement is in it"),
        (ROTATED, old, True, "before the rotation the first key signs"),
        (ROTATED + 1, old, True, "the first key signs last the size with its successor in it"),
        (ROTATED + 1, new, True, "the second key signs from its own announcement on"),
        (size, new, True, "the present log"),
        (ROTATED + 2, old, False, "the first key was replaced before this size"),
        (ROTATED, new, False, "the second key is not announced yet at this size"),
    ]
    signed = [
        {"note": log.sign(at, key), "holds": holds, "why": why} for at, key, holds, why in cases
    ]
    unknown = SigningKey.from_seed(ORIGIN, seed("key nobody announced"))
    broken = [
        (log.sign(size, unknown), "signed by a key that the log does not announce"),
        (good.replace("\n13\n", "\n12\n"), "its size was changed after signing"),
        (good.replace(log.origin, f"{log.origin}2"), "its origin was changed after signing"),
    ]
    return signed + [{"note": note, "holds": False, "why": why} for note, why in broken]


def canonical_vectors() -> Json:
    """Return JSON texts with their canonical bytes, and texts that have none."""
    given = [
        '{ "b" : 1, "a" : [ true, false, null ] }',
        '{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u20ac":3,"a":4,"A":5,"":6}',
        '"\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f\\u007f\\u0022\\u005c\\/\\u20ac"',
        "[1.0, -0, -0.0, 100, 1E2, 0.00001, 0.000001, 0.0000001]",
        "[1e20, 1e21, 9007199254740991, 9007199254740992, -9007199254740992]",
        "[123456789012345680000, 123456789012345683968, 1000000000000000000000]",
        "[0.1, 0.30000000000000004, 333333333.33333329, 5e-324, 1.7976931348623157e308]",
    ]
    refused = [
        ('{"a":1,"a":2}', "a key stands twice"),
        ('{"a":{"b":1,"b":1}}', "a key stands twice, deeper down"),
        ("[NaN]", "not a number that JSON has"),
        ("[Infinity]", "not a number that JSON has"),
        ("[1e400]", "no double is that large"),
        ("[9007199254740993]", "no double is equal to this integer"),
        ("[123456789012345680001]", "neither a double's value nor its canonical form"),
        ('["\\ud800"]', "a lone surrogate is not text"),
        ('{"\\udc00":1}', "a lone surrogate is not text"),
        ("[1,]", "not JSON"),
        ('{"a":1} {}', "more than one value"),
        ("[" * 101 + "]" * 101, "nested more than 100 levels deep"),
    ]
    return {
        "canonical": [
            {"json": text, "bytes": canonical_json(parse_json(text.encode())).decode()}
            for text in given
        ],
        "refused": [{"json": text, "why": why} for text, why in refused],
    }


def refused_entries(log: Log) -> list[Json]:
    """Return bytes that are no entry: a bundle or a log with one of them does not hold."""
    good = log.entries[1].entry.encode().decode()
    value = log.entries[1].entry.as_json()

    def written(**changes: Any) -> str:
        return canonical_json({**value, **changes}).decode()

    cases = [
        (good + "\n", "a byte more than the canonical form"),
        (good.replace('"seq":1', '"seq": 1'), "a space"),
        (good.replace('"seq":1', '"seq":1.0'), "a number that is not written canonically"),
        (good.replace("OBL", "\\u004fBL"), "an escape that is not needed"),
        (json.dumps(value, separators=(",", ":")), "the keys are not in order"),
        (good.replace('"v":1', '"v":1,"v":1'), "a key stands twice"),
        (good[:-1], "cut short"),
        (written(v=2), "a future version"),
        (written(note="x"), "a field that version 1 does not have"),
        (good.replace(f'"tenant":"{log.tenant}",', ""), "a missing field"),
        (written(kind="opinion"), "an unknown kind"),
        (written(at="2026-01-05T10:01:00.000000+01:00"), "a time that is not UTC with Z"),
        (written(at="2026-01-05T09:01:00Z"), "a time without microseconds"),
        (written(prev=value["prev"].upper()), "a hash in capitals"),
        (written(body=value["body"][:-2]), "a hash that is too short"),
        (written(seq=-1), "a number below zero"),
        (written(seq="1"), "a number given as text"),
        (written(tenant="Acme"), "a tenant with a capital"),
        (written(tenant="acme-"), "a tenant that ends in a hyphen"),
        (written(tenant="a" * 65), "a tenant of 65 characters"),
        (written(subject=""), "an empty subject"),
        (written(subject="s" * 4095), "a subject of 4,097 bytes, its quotes counted"),
    ]
    return [{"bytes": data, "why": why} for data, why in cases]


def tile_vectors() -> Json:
    """Return paths, and digests of the tiles of a tree whose leaves anyone can compute."""
    frontier = Frontier()
    leaves = [leaf_hash(str(index).encode()) for index in range(TREE_SIZE)]
    tiles = frontier.extend(leaves) + frontier.partial_tiles()
    shown = {(0, 0), (0, 272), (0, 273), (1, 0), (1, 1), (2, 0)}
    paths = [0, 255, 256, 999, 1000, 65_535, 1_234_067]
    return {
        "paths": [
            {"level": level, "index": index, "width": width, "path": tile_path(level, index, width)}
            for level, width in ((0, TILE_WIDTH), ("entries", 112))
            for index in paths
        ],
        "tree": {
            "leaves": "leaf i is SHA-256(0x00 || i in ASCII decimal)",
            "size": TREE_SIZE,
            "root": frontier.root().hex(),
            "tiles": [
                {
                    "path": tile_path(tile.level, tile.index, tile.width),
                    "width": tile.width,
                    "sha256": sha256(tile.data).hexdigest(),
                }
                for tile in sorted(tiles, key=lambda tile: (tile.level, tile.index))
                if (tile.level, tile.index) in shown
            ],
        },
    }


def publication(log: Log) -> dict[str, bytes]:
    """Return the log as it is published."""
    size = len(log.entries)
    return {
        tile_path("entries", 0, size): encode_bundle(
            [logged.entry.encode() for logged in log.entries]
        ),
        tile_path(0, 0, size): b"".join(log.leaves),
        "checkpoint": log.sign(size, log.keys[1]).encode(),
    }


# The proof files


class ProofVector(NamedTuple):
    """A proof file, the key it is checked with, and what must come out."""

    name: str
    data: bytes
    why: str
    fails: tuple[str, ...] = ()
    key: str | None = "key-2.pub"

    @property
    def path(self) -> str:
        """Where the file is."""
        return f"proofs/{'refused' if self.fails else 'holds'}/{self.name}.json"

    def as_json(self) -> Json:
        """Return the line of the index."""
        undecided = "holds" if self.key else "consistent, signer unknown"
        return {
            "file": self.path,
            "key": f"keys/{self.key}" if self.key else None,
            "verdict": "does not hold" if self.fails else undecided,
            "fails": list(self.fails),
            "why": self.why,
        }


def holding_proofs(log: Log) -> Iterator[ProofVector]:
    """Give proofs that hold, and one that cannot be decided without a key."""
    old, new = log.keys
    size = len(log.entries)
    record = log.prove(1, size, new)
    for name, why, seq in (
        ("record", "an evidence record with its body", 1),
        ("first", "the first entry", 0),
        ("last", "the last entry", size - 1),
        ("unicode", "a subject and a body beyond ASCII", 3),
        ("canonical-body", "numbers, keys and text that test the canonical form", 5),
        ("erasure", "an erasure", ERASED_BY),
    ):
        yield ProofVector(name, pretty(log.prove(seq, size, new)), why)
    for name, why, seq, signed in (
        ("first-of-one", "a log of one entry: the path is empty", 0, 1),
        ("before-erasure", "made before the erasure, with the body that is erased now", ERASED, 6),
        ("rotation", "the second key, vouched for by the first", ROTATED, ROTATED + 1),
    ):
        data = pretty(log.prove(seq, signed, old))
        yield ProofVector(name, data, why, key="key-1.pub")
    erased = log.prove(ERASED, size, new, disclose=False)
    yield ProofVector("erased", pretty(erased), "an entry whose body was erased still verifies")
    backwards = {name: record[name] for name in reversed(list(record))}
    respelled = json.dumps(backwards, ensure_ascii=True).encode()
    yield ProofVector("other-spelling", respelled, "a proof file need not be canonical JSON")
    why = "a checkpoint with an extension line and a signature of somebody unknown"
    yield ProofVector("witnessed", pretty({**record, "checkpoint": witnessed(log)}), why)
    why = "without a trusted key the signer is unknown"
    yield ProofVector("record", pretty(record), why, key=None)


def witnessed(log: Log) -> str:
    """Return a checkpoint with an extension line, signed by the log and by somebody else."""
    text = f"{log.checkpoint(len(log.entries)).text}extension line\n"
    ours = sign_note(text, log.origin, log.keys[1].private_key)
    name = "witness.example/w1"
    theirs = sign_note(text, name, SigningKey.from_seed(name, seed("witness")).private_key)
    return ours + theirs.removeprefix(f"{text}\n")


def refused_proofs(log: Log, other: Log, stranger: Log) -> Iterator[ProofVector]:
    """Give proofs that must be refused, each with the checks that fail and the reason."""
    proof = log.prove(1, len(log.entries), log.keys[1])
    yield from broken_files(pretty(proof))
    yield from malformed_proofs(proof)
    yield from changed_proofs(log, proof)
    yield from mixed_up_proofs(log, other, stranger, proof)


def broken_files(good: bytes) -> Iterator[ProofVector]:
    """Give files that are no JSON, or JSON that cannot be trusted."""
    page = b'"page_number": 4,'
    for name, why, data in (
        ("cut-file", "the file is cut short", good[: len(good) // 2]),
        ("trailing-data", "there is more after the JSON value", good + b"{}\n"),
        ("byte-order-mark", "a byte order mark is not JSON", b"\xef\xbb\xbf" + good),
        ("not-utf8", "not UTF-8", good.replace(b"extractor-1", b"extractor-\xff")),
        ("duplicate-key", "a key stands twice", good.replace(b'"v": 1', b'"v": 1, "v": 1', 1)),
        (
            "duplicate-key-in-body",
            "a key stands twice, deeper down",
            good.replace(page, b'"page_number": 5, ' + page),
        ),
        ("not-a-number", "JSON has no NaN", good.replace(page, b'"page_number": NaN,')),
        (
            "integer-past-2-53",
            "no double is equal to this integer",
            good.replace(page, b'"page_number": 9007199254740993,'),
        ),
        ("array", "not a JSON object", b"[" + good + b"]"),
    ):
        yield ProofVector(name, data, why, ("format",))


def malformed_proofs(proof: Json) -> Iterator[ProofVector]:
    """Give JSON that is no proof of version 1."""
    entry, hashes, note = proof["entry"], proof["inclusion"], proof["checkpoint"]
    digits = "\u0662\u0660\u0662\u0666"
    respelled = f"{note[:-3]}{chr(ord(note[-3]) + 1)}=\n"  # bits that stand for nothing
    deep: Any = "bottom"
    for _ in range(101):
        deep = [deep]
    for name, why, field, value in (
        ("other-format", "another format", "format", "other/proof"),
        ("future-version", "a future version", "v", 2),
        ("version-as-text", "a version that is no number", "v", "1"),
        ("no-version", "no version", "v", MISSING),
        ("no-checkpoint", "no checkpoint", "checkpoint", MISSING),
        ("no-inclusion", "no inclusion proof", "inclusion", MISSING),
        ("unknown-field", "a field that version 1 does not have", "trust", "me"),
        ("no-salt", "a body without its salt", "salt", MISSING),
        ("no-body", "a salt without its body", "body", MISSING),
        ("short-salt", "a salt of 31 bytes", "salt", proof["salt"][2:]),
        ("inclusion-as-text", "no list", "inclusion", "".join(hashes)),
        ("capital-hash", "a hash in capitals", "inclusion", [hashes[0].upper(), *hashes[1:]]),
        ("short-hash", "a hash that is too short", "inclusion", [hashes[0][2:], *hashes[1:]]),
        ("checkpoint-as-object", "no text", "checkpoint", {}),
        ("unsigned-checkpoint", "no signature", "checkpoint", note.partition("\n\n")[0] + "\n"),
        ("cut-checkpoint", "the note is cut short", "checkpoint", note[:-10]),
        ("checkpoint-base64", "a second way to write the same bytes", "checkpoint", respelled),
        (
            "checkpoint-leading-zero",
            "a size with a leading zero",
            "checkpoint",
            note.replace("\n13\n", "\n013\n"),
        ),
        (
            "checkpoint-control-character",
            "a control character in a note",
            "checkpoint",
            note.replace("\n13\n", "\n13\r\n"),
        ),
        ("lone-surrogate", "no text", "body.section_reference", "\ud800"),
        ("too-deep", "nested more than 100 levels deep", "body", deep),
        ("version-as-boolean", "a version that is no number", "v", True),
        ("entry-version-as-boolean", "a version that is no number", "entry.v", True),
        ("entry-as-text", "the entry is no object", "entry", "entry"),
        ("entry-future-version", "an entry of a future version", "entry.v", 2),
        ("entry-unknown-field", "a field that entries do not have", "entry.note", "x"),
        ("entry-missing-field", "an entry without a time", "entry.at", MISSING),
        ("entry-unknown-kind", "an unknown kind", "entry.kind", "opinion"),
        ("entry-time", "a time without microseconds", "entry.at", "2026-01-05T09:01:00Z"),
        ("entry-month", "a thirteenth month", "entry.at", "2026-13-05T09:01:00.000000Z"),
        ("entry-digits", "digits beyond ASCII", "entry.at", f"{digits}-01-05T09:01:00.000000Z"),
        ("entry-tenant", "not a tenant's name", "entry.tenant", "Acme"),
        ("entry-negative", "a number below zero", "entry.seq", -1),
        ("entry-number-as-text", "a number given as text", "entry.seq", "1"),
        ("entry-empty-subject", "an empty subject", "entry.subject", ""),
        ("entry-long-subject", "a subject of 4,098 bytes", "entry.subject", "é" * 2048),
        ("entry-capital-prev", "a hash in capitals", "entry.prev", entry["prev"].upper()),
    ):
        yield ProofVector(name, pretty(changed(proof, field, value)), why, ("format",))


def changed_proofs(log: Log, proof: Json) -> Iterator[ProofVector]:
    """Give proofs of the right form in which something was changed."""
    entry, hashes = proof["entry"], proof["inclusion"]
    note = log.sign(9, log.keys[1])
    earlier = "2026-01-04T09:01:00.000000Z"
    for name, fails, why, field, value in (
        ("changed-body", "content", "the body was changed", "body.confidence", 1),
        ("added-to-body", "content", "the body has a field more", "body.note", None),
        ("changed-salt", "content", "the salt was changed", "salt", flip(proof["salt"])),
        (
            "changed-commitment",
            "content place",
            "the entry's commitment was changed",
            "entry.body",
            flip(entry["body"]),
        ),
        ("changed-time", "place", "the time was changed", "entry.at", earlier),
        ("changed-subject", "place", "the subject was changed", "entry.subject", "OBL-003"),
        ("changed-kind", "place", "the kind was changed", "entry.kind", "status_change"),
        ("changed-prev", "place", "moved behind another entry", "entry.prev", flip(entry["prev"])),
        ("changed-number", "place", "the number was changed", "entry.seq", 2),
        ("number-past-the-end", "place", "not below the checkpoint's size", "entry.seq", 13),
        ("cut-inclusion", "place", "a hash of the path is missing", "inclusion", hashes[:-1]),
        ("empty-inclusion", "place", "the whole path is missing", "inclusion", []),
        ("long-inclusion", "place", "a hash too many", "inclusion", [*hashes, hashes[0]]),
        (
            "changed-inclusion",
            "place",
            "a hash of the path was changed",
            "inclusion",
            [*hashes[:-1], flip(hashes[-1])],
        ),
        ("reversed-inclusion", "place", "in the wrong order", "inclusion", hashes[::-1]),
        ("older-checkpoint", "place", "the path is for another size", "checkpoint", note),
    ):
        data = pretty(changed(proof, field, value))
        yield ProofVector(name, data, why, tuple(fails.split()))


def mixed_up_proofs(log: Log, other: Log, stranger: Log, proof: Json) -> Iterator[ProofVector]:
    """Give proofs whose checkpoint or key is not the right one."""
    size, note = len(log.entries), proof["checkpoint"]
    forger = SigningKey.from_seed(ORIGIN, seed("forger"))
    text = log.checkpoint(size).text
    signature = log.keys[1].verifier.key_hash + forger.private_key.sign(text.encode())
    named = f"{text}\n— {ORIGIN} {b64encode(signature).decode()}\n"
    root = b64encode(seed("root")).decode()
    for name, fails, why, checkpoint in (
        ("forged", "signature", "signed by an unknown key", log.sign(size, forger)),
        ("forged-key-id", "signature", "an unknown key under the trusted one's id", named),
        ("new-root", "place signature", "another root", note.replace(note.split("\n")[2], root)),
        ("new-size", "place signature", "another size", note.replace("\n13\n", "\n5\n")),
        (
            "other-log",
            "place signature",
            "a checkpoint of another log of the same tenant",
            other.sign(size, other.keys[0]),
        ),
        (
            "other-tenant",
            "place signature",
            "a checkpoint of another tenant's log",
            stranger.sign(size, stranger.keys[0]),
        ),
    ):
        data = pretty({**proof, "checkpoint": checkpoint})
        yield ProofVector(f"checkpoint-{name}", data, why, tuple(fails.split()))
    for name, key, why, shown in (
        ("wrong-key", "other-log.pub", "the key is another log's", proof),
        ("replaced-key", "key-1.pub", "the key is not the one that signed", proof),
        ("other-log", "key-2.pub", "another log's proof", other.prove(1, size, other.keys[0])),
    ):
        yield ProofVector(name, pretty(shown), why, ("signature",), key)


# Small helpers


def pretty(value: Any) -> bytes:
    """Write JSON for people: indented, in UTF-8 where UTF-8 can hold it."""
    try:
        return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(value, indent=2) + "\n").encode()


def listed(values: Iterable[Mapping[str, Any]]) -> bytes:
    """Write a JSON array with one object a line."""
    lines = ",\n".join(f"  {json.dumps(value, ensure_ascii=False)}" for value in values)
    return f"[\n{lines}\n]\n".encode()


def changed(document: Json, field: str, value: Any) -> Json:
    """Return a copy in which a field (`outer.inner`) has another value, or is missing."""
    copied = copy.deepcopy(document)
    outer, _, inner = field.rpartition(".")
    place = copied[outer] if outer else copied
    if value is MISSING:
        del place[inner]
    else:
        place[inner] = value
    return copied


def flip(hexadecimal: str) -> str:
    """Return the digits with the last bit turned over."""
    return f"{hexadecimal[:-1]}{int(hexadecimal[-1], 16) ^ 1:x}"


def hexes(hashes: Iterable[bytes]) -> list[str]:
    """Return hashes in hexadecimal."""
    return [item.hex() for item in hashes]


def write(folder: Path) -> None:
    """Write all files into a folder; remove what an earlier run wrote and this one does not."""
    made = files()
    for path in owned(folder):
        if path not in made:
            (folder / path).unlink()
    for path, data in made.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def owned(folder: Path) -> list[str]:
    """Return the files in a folder that are vectors: all but this script and what explains it."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(
        path.as_posix()
        for path in paths
        if path.as_posix() not in BESIDE and "__pycache__" not in path.parts
    )


if __name__ == "__main__":
    write(HERE)
