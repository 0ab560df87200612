#!/usr/bin/env python3
"""Write the test vectors of the formats, version 1, into this folder.

Everything is fixed: origin, times, salts, keys. Two runs write the same bytes, so a difference
after a run is a change of a format. The keys are public knowledge: never trust them.
"""

import copy
import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.bounding import cut_to_bytes, kept_places
from evidentia.bundles.building import build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.ids import evidence_ids
from evidentia.bundles.loading import response_candidates, result_candidate
from evidentia.bundles.model import EvidenceBundle, bundle_id_of
from evidentia.bundles.model import artifact_uri as lake_path
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.bundles.redaction.validating import normalised
from evidentia.bundles.references import LakeHttpReference, ResultReference
from evidentia.bundles.rendering import fence_nonce
from evidentia.bundles.sampling import SamplingStrategy, sampled_rows
from evidentia.bundles.statement import PREDICATE_TYPE as BUNDLE_PREDICATE
from evidentia.bundles.statement import statement_bytes as bundle_statement
from evidentia.bundles.tables import SampledTable
from evidentia.canonical import canonical_json, derived_id, digest, parse_json, sha256_hex
from evidentia.documents.hashing import FULL_LENGTH, generate_chunk_hash
from evidentia.documents.model import DocumentChunk
from evidentia.documents.recording import (
    chunks_digest,
    collection_id,
    document_body,
    recorded_body,
    removal_body,
)
from evidentia.export.jsonform import to_json
from evidentia.export.junit import to_junit
from evidentia.export.sarif import to_sarif
from evidentia.ledger.citations import find_citations, issue_anchor, resolve_citation
from evidentia.ledger.commitment import (
    CorpusCommitment,
    CorpusFilter,
    corpus_leaves,
    proving_nodes,
    whole_map,
)
from evidentia.ledger.confidence import calculate_confidence, confidence_band
from evidentia.ledger.contexts import CheckedBundle, CheckedContext
from evidentia.ledger.given import context_chunks, contexts_of_bundle, read_contexts
from evidentia.ledger.membership import CorpusProof, keys_of
from evidentia.ledger.model import (
    CitationCheck,
    Claim,
    ClaimType,
    Comparison,
    ConfidenceComponents,
    EvidenceLedger,
    EvidenceMatch,
    Importance,
    LedgerEntry,
    LedgerSummary,
    Passage,
    RiskFlag,
    SourceDocument,
    SupportLevel,
    Verdict,
    VerdictAssignment,
)
from evidentia.ledger.pages import ledger_pages, pages_root
from evidentia.ledger.risks import follow_up_questions, generate_risk_flags
from evidentia.ledger.session import (
    PREDICATE_TYPE,
    SECOND_TYPE,
    THIRD_TYPE,
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    SearchedBy,
    UnreadFile,
    cited_documents,
)
from evidentia.ledger.verdicts import assign_verdict
from evidentia.ledger.votes import AskedService, Judging, JudgingPolicy, Vote
from evidentia.ledger.wire.parts import Part, ProblemPart, claim_parts, ledger_part
from evidentia.ledger.wire.protocols import PROTOCOLS, part_data
from evidentia.loading.assembling import Assembly
from evidentia.loading.originals import Originals
from evidentia.packs.assembly import assemble
from evidentia.packs.decision import (
    ApprovalClass,
    DecisionOutput,
    Evidence,
    ReversibilityClass,
    SensitivityClass,
    pack_requirement,
)
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import (
    Attachment,
    BundleReference,
    DecisionSummary,
    EvidencePack,
    LedgerReference,
    PromptRecord,
    ReviewOutcome,
)
from evidentia.packs.statement import PREDICATE_TYPES as PACK_PREDICATES
from evidentia.packs.statement import statement_bytes as pack_statement
from evidentia.packs.tools import (
    ToolCallRecord,
    ToolOutcome,
    ToolVerificationLedger,
    VerificationStatus,
)
from evidentia.packs.verification import written
from evidentia.packs.versions import reviewed, revised
from evidentia.proof.access_log import ACCESS_LOG_TYPE, Range, write_access_log
from evidentia.proof.access_log import Line as AccessLine
from evidentia.proof.authority import PAYLOAD_TYPE as AUTHORITY_TYPE
from evidentia.proof.authority import USER_KEY, Place, signed_body
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.envelope import Envelope, signed_bytes
from evidentia.proof.keys import SigningKey
from evidentia.proof.revocation import Revocation
from evidentia.proof.statement import Statement, Subject
from evidentia.sources.packing import DefaultEvidencePacker
from evidentia.sources.wire import rag_sources
from evidentia.store.lake import FileLake
from evidentia.trail.backup import (
    BackupColumn,
    BackupFiles,
    BackupLog,
    BackupManifest,
    BackupPart,
    BackupTable,
    ColumnKind,
    TenantBackup,
    encode_file,
    encode_row,
)
from evidentia.trail.checkpoint import Checkpoint, log_origin
from evidentia.trail.entry import Entry, EntryKind, body_commitment, genesis_prev
from evidentia.trail.keyed import KeyedMap
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
from evidentia.trail.witness import WitnessKey

HERE = Path(__file__).parent
BESIDE = ("README.md", ".gitattributes", "generate.py")
"""What is here and is not written by the generator."""

BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ORIGIN = log_origin("5f1e0c9a7b3d2846", "acme")
LEDGER_ORIGIN = log_origin("7c3e5a9d1b2f4068", "acme")
BUNDLE_ORIGIN = log_origin("1d6b0e4f92a873c5", "acme")
PACK_ORIGIN = log_origin("8e27f0a4c5d1936b", "acme")
SECOND_ORIGIN = log_origin("3b90d7e2f84a615c", "acme")
AUTHORITY_ORIGIN = log_origin("a41e7c02d95b836f", "acme")
VOTED_ORIGIN = log_origin("7d1f53ac90e2b684", "acme")
LIBRARY_ORIGIN = log_origin("e5a0c2719b34f86d", "acme")
LIFE_ORIGIN = log_origin("31c7d0be52f96a84", "acme")
PEOPLE_ORIGIN = log_origin("8e3b60d1f5a7429c", "acme")
ASKED_ORIGIN = log_origin("27c9d4e81f6035ab", "acme")
LATER_ORIGIN = log_origin("b7c81f6e02d9543a", "acme")
TOKEN_ORIGIN = log_origin("9e41c7b05d2a8f36", "acme")
ACCESS_ORIGIN = log_origin("5d0b8e3fa17c4926", "acme")
THIRD_ORIGIN = log_origin("c2f96a7d03e81b54", "acme")
CONTEXTS_ORIGIN = log_origin("2f8a61d4c07e95b3", "acme")
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
        at = moment(seq)
        prev = self.leaves[-1].hex() if seq else genesis_prev(self.origin)
        commitment = body_commitment(salt, canonical_json(body))
        entry = Entry(self.tenant, seq, prev, kind.value, subject, at, commitment)
        self.entries.append(Logged(entry, salt, body))

    def announce(
        self, key: SigningKey, replaces: SigningKey | None = None, by: str | None = None
    ) -> None:
        """Append the announcement of a key; in the second form if it is said who announced it."""
        body = {
            "key": str(key.verifier),
            "replaces": replaces.verifier.key_id if replaces else None,
        }
        self.append(EntryKind.KEY, key.verifier.key_id, {**body, "by": by} if by else body)

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


def moment(seq: int) -> str:
    """Return when an entry was appended: a minute after the one before it."""
    return (BEGAN + timedelta(minutes=seq)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


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
        "cosignatures.json": pretty(cosignature_vectors(log)),
        "checkpoint.txt": log.sign(len(log.entries), log.keys[1]).encode(),
        "canonical.json": pretty(canonical_vectors()),
        "entries-refused.json": pretty(refused_entries(log)),
        "tiles.json": pretty(tile_vectors()),
        "keys/key-1.pub": f"{log.keys[0].verifier}\n".encode(),
        "keys/key-2.pub": f"{log.keys[1].verifier}\n".encode(),
        "keys/other-log.pub": f"{other.keys[0].verifier}\n".encode(),
        "keys/ledger-log.pub": f"{ledger_key().verifier}\n".encode(),
        "keys/bundle-log.pub": f"{bundle_key().verifier}\n".encode(),
        "keys/pack-log.pub": f"{pack_key().verifier}\n".encode(),
        "authority.json": pretty(authority_vectors()),
        "keys/authority-log-1.pub": f"{authority_keys()[0].verifier}\n".encode(),
        "keys/authority-log-2.pub": f"{authority_keys()[1].verifier}\n".encode(),
        "keys/second-form-1.pub": f"{second_keys()[0].verifier}\n".encode(),
        "keys/second-form-2.pub": f"{second_keys()[1].verifier}\n".encode(),
        "keys/second-form-3.pub": f"{lost_second().keys[2].verifier}\n".encode(),
        "keys/voted-log.pub": f"{voted_key().verifier}\n".encode(),
        "keys/library-log.pub": f"{library_key().verifier}\n".encode(),
        "keys/life-log.pub": f"{life_key().verifier}\n".encode(),
        "keys/people-log.pub": f"{people_key().verifier}\n".encode(),
        "keys/asked-log.pub": f"{asked_key().verifier}\n".encode(),
        "keys/later-log.pub": f"{later_key().verifier}\n".encode(),
        "keys/token-log.pub": f"{token_key().verifier}\n".encode(),
        "keys/access-log.pub": f"{access_key().verifier}\n".encode(),
        "access-logs.json": listed(vector.as_json() for vector in access_vectors()),
        "keys/third-log.pub": f"{third_key().verifier}\n".encode(),
        "corpora.json": listed(vector.as_json() for vector in corpus_vectors()),
        "keys/contexts-log.pub": f"{contexts_key().verifier}\n".encode(),
        "bundles.json": pretty(bundle_tables()),
        "packs.json": listed(vector.as_json() for vector in pack_vectors()),
        "renderings.json": pretty(rendering_vectors()),
        "pages.json": pretty(page_vectors()),
        "chunks.json": pretty(chunk_vectors()),
        "statements.json": pretty(statement_vectors()),
        "verdicts.json": pretty(verdict_vectors()),
        "sources.json": pretty(source_vectors()),
        "parts.json": pretty(part_vectors()),
    }
    made |= {f"publication/{path}": data for path, data in publication(log).items()}
    made |= {f"ledger/{path}": data for path, data in ledger_files().items()}
    made |= {f"ledger/{path}": data for path, data in contexts_files().items()}
    made |= {f"bundle/{path}": data for path, data in bundle_files().items()}
    made |= {f"pack/{path}": data for path, data in pack_files().items()}
    made |= {f"ledger/{path}": data for path, data in third_files().items()}
    made |= {vector.path: vector.data for vector in corpus_vectors()}
    made |= {vector.path: vector.data for vector in access_vectors()}
    made |= {f"backup/{path}": data for path, data in backup_files().items()}
    made["keys/backup-log.pub"] = f"{backup_key().verifier}\n".encode()
    index = []
    recorded = ledger_log()
    for vector in [
        *holding_proofs(log),
        *refused_proofs(log, other, stranger),
        *holding_statements(recorded),
        *refused_statements(recorded),
        misplaced_beginning(),
        *bundle_proofs(),
        *pack_proofs(),
        *second_proofs(),
        *authority_proofs(),
        *voted_proofs(),
        *library_proofs(),
        *life_proofs(),
        *asked_proofs(),
        *people_proofs(),
        *token_proofs(),
        *later_proofs(),
        *third_proofs(),
        *contexts_proofs(),
    ]:
        made[vector.path] = vector.data
        index.append(vector.as_json())
    made["proofs.json"] = listed(index)
    return made


def backup_key() -> SigningKey:
    """Return the key of the log that is backed up."""
    origin = log_origin("b0c4b0c4b0c4b0c4", "acme")
    return SigningKey.from_seed(origin, seed("key of the log that is backed up"))


def backup_files() -> dict[str, bytes]:
    """Return a backup of a small log: three records, one of them erased, and a file."""
    key = backup_key()
    log = Log(key.name, [key])
    for record in records():
        log.append(EntryKind.EVIDENCE_RECORD, record.obligation_id, record.model_dump())
    log.announce(key)
    erasure = {
        "entry": 1,
        "leaf": log.leaves[1].hex(),
        "reason": "Erasure request of 2026-01-05, GDPR Article 17",
        "by": "privacy@acme.example",
    }
    log.append(EntryKind.ERASURE, "entry/1", erasure)
    size = len(log.entries)
    note, frontier = log.sign(size, key), Frontier()
    frontier.extend(log.leaves)
    rows: dict[str, list[list[Any]]] = {
        "trail_bodies": [
            [at, one.salt, canonical_json(one.body)]
            for at, one in enumerate(log.entries)
            if at != 1
        ],
        "trail_checkpoints": [[size, key.verifier.key_id, note]],
        "trail_entries": [
            [at, one.entry.kind, one.entry.subject, one.entry.encode()]
            for at, one in enumerate(log.entries)
        ],
        "trail_keys": [[3, key.verifier.key_id, key.verifier.public_key]],
        "trail_heads": [[log.origin, size, frontier.root(), frontier.pack(), 1]],
    }
    made: dict[str, bytes] = {}

    def part(data: bytes, count: int) -> BackupPart:
        name = sha256_hex(data)
        made[lake_path(name)] = data
        return BackupPart(sha256=name, bytes=len(data), rows=count)

    tables = []
    for name, given in rows.items():
        columns = [
            BackupColumn(name=column, kind=ColumnKind(kind)) for column, kind in BACKED_UP[name]
        ]
        lines = b"".join(encode_row(row, [one.kind for one in columns]) for row in given)
        tables.append(BackupTable(name=name, columns=columns, parts=[part(lines, len(given))]))
    file = b"A file of the lake.\n"
    made[lake_path(sha256_hex(file))] = file
    manifest = BackupManifest(
        format="evidentia-backup",
        v=1,
        created_at=moment(60),
        program="evidentia 0.1.0",
        revision="0018",
        tenants=[
            TenantBackup(
                tenant=log.tenant,
                log=BackupLog(
                    origin=log.origin, size=size, root=frontier.root().hex(), checkpoint=note
                ),
                kept=note,
                tables=tables,
                files=BackupFiles(parts=[part(encode_file(sha256_hex(file)), 1)]),
                missing=[],
                keys=[],
            )
        ],
    )
    data = manifest.encode()
    when = moment(60).replace("-", "").replace(":", "")
    made[f"backups/{when}-{sha256_hex(data)[:12]}.json"] = data
    return made


BACKED_UP = {
    "trail_bodies": [("seq", "integer"), ("salt", "bytes"), ("body", "bytes")],
    "trail_checkpoints": [("size", "integer"), ("key_id", "text"), ("note", "text")],
    "trail_entries": [
        ("seq", "integer"),
        ("kind", "text"),
        ("subject", "text"),
        ("entry", "bytes"),
    ],
    "trail_keys": [("seq", "integer"), ("key_id", "text"), ("public_key", "bytes")],
    "trail_heads": [
        ("origin", "text"),
        ("size", "integer"),
        ("root", "bytes"),
        ("edge", "bytes"),
        ("checkpoints", "integer"),
    ],
}


LEAVE_TEXT = (
    "Parking is free for all staff.\n\nAll permanent employees receive 15 days of\npaid annual "
    "leave per calendar year. Unused leave may be carried over."
)


def source_vectors() -> Json:
    """Return what a retriever found, how it is to be packed, and the event that comes of it."""
    policy: Json = {
        "item_id": "doc-1",
        "title": "HR Policy",
        "url": "https://example.com/hr",
        "score": 0.9,
        "metadata": {"year": 2025, "api_key": "s3cret", "file_path": "/srv/hr.pdf"},
    }
    found: Json = {
        "item_id": "doc-1",
        "text": LEAVE_TEXT,
        "score": 0.8,
        "chunk_id": "c-7",
        "page": 12,
        "heading_path": ["4 Leave", "4.1 Annual leave"],
        "start": 100,
        "end": 100 + len(LEAVE_TEXT),
    }
    other: Json = {"item_id": "doc-2", "kind": "jobs", "summary": "Travel by rail.", "score": 0.95}
    cases: list[tuple[str, list[Any], list[Any], Json]] = [
        ("a document with a passage, and one with a summary alone", [policy, other], [found], {}),
        (
            "a query shows what answers it, with its place",
            [policy],
            [found],
            {"query": "annual leave", "anchors": True, "max_snippet_chars": 90},
        ),
        (
            "by rank; what has none comes last; the same id counts once",
            [{"item_id": "b"}, {"item_id": "c", "rank": 2}, {"item_id": "c", "rank": 1}],
            [],
            {"order_by": "rank"},
        ),
        (
            "what cannot be shown: a URL that runs, an empty passage, what is no candidate",
            [{"item_id": "x", "url": "javascript:alert(1)"}, None, 5, ""],
            [{"item_id": "x", "text": "  "}],
            {},
        ),
        ("metadata that was asked for", [policy], [], {"include_metadata_keys": ["file_path"]}),
        (
            "metadata that a reader may see: neither secrets nor paths",
            [
                {
                    "item_id": "job-7",
                    "kind": "jobs",
                    "metadata": {
                        "address": {"city": "Riyadh", "door_pin": 1234},
                        "db_password": "s3cret",
                        "plan": "docs/plans/1.pdf",
                        "salary": "60,000 to 70,000",
                        "skills": ["Python", "SQL"],
                        "ticket_key": "HR-1042",
                    },
                }
            ],
            [],
            {},
        ),
        (
            "a path is known by its file's name; two of one name by a digest; a link is the URL",
            [
                {"text": "a", "metadata": {"source": "/srv/a/leave.pdf"}},
                {"text": "b", "metadata": {"source": "C:\\b\\leave.pdf"}},
                {"text": "c", "metadata": {"source": "file:///srv/my%20car.pdf"}},
                {"text": "d", "metadata": {"source": "docs/rail"}},
                {"text": "e", "metadata": {"source": "https://example.com/bus"}},
            ],
            [],
            {},
        ),
        ("a limit that is no limit: nothing", [policy], [], {"max_sources": -1}),
    ]
    return {
        "cases": [
            {
                "why": why,
                "candidates": candidates,
                "chunks": chunks,
                "options": options,
                "event": rag_sources(DefaultEvidencePacker().pack(candidates, chunks, options)),
            }
            for why, candidates, chunks, options in cases
        ]
    }


def part_vectors() -> Json:
    """Return a session's parts, and the events of each protocol that carry them."""
    made = contexts_session()
    parts: list[Part] = [
        *claim_parts(made, "provisional")[:1],
        *claim_parts(made, "final"),
        ledger_part(made, 7),
        ProblemPart(problem="there was no answer to check: the stream had no text"),
    ]
    like = {"id": "chatcmpl-1", "created": 1_767_450_600, "model": "m"}
    return {
        "answer": made.answer,
        "parts": [part_data(part) for part in parts],
        "events": {
            name: [event for part in parts for event in protocol.events(part, like)]
            for name, protocol in PROTOCOLS.items()
        },
    }


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


# Witnesses


class Witness(NamedTuple):
    """A witness and its private key."""

    name: str

    @property
    def signing(self) -> SigningKey:
        """Its key, as that of a log would be made."""
        return SigningKey.from_seed(self.name, seed(f"key of {self.name}"))

    @property
    def key(self) -> WitnessKey:
        """Its public key."""
        return WitnessKey(self.name, self.signing.verifier.public_key)

    def line(self, text: str, at: int = 1_767_604_800, said: int | None = None) -> str:
        """Return its signature line for a checkpoint's text; `said` is another time to write."""
        signature = self.signing.private_key.sign(f"cosignature/v1\ntime {at}\n{text}".encode())
        told = (at if said is None else said).to_bytes(8, "big")
        return self.written(told + signature)

    def written(self, data: bytes) -> str:
        """Return a signature line of this witness with any bytes."""
        return f"— {self.name} {b64encode(bytes.fromhex(self.key.key_id) + data).decode()}\n"


WITNESSES = tuple(Witness(f"{name}.example/witness") for name in ("north", "east", "south"))


def cosignature_vectors(log: Log) -> Json:
    """Return witnesses' keys, and checkpoints that they did and did not cosign; what is no key."""
    north, east, south = WITNESSES
    note = log.sign(len(log.entries), log.keys[1])
    text, others = log.checkpoint(len(log.entries)).text, log.checkpoint(ROTATED).text
    plain = sign_note(text, north.name, north.signing.private_key).removeprefix(f"{text}\n")
    as_log = north.written(north.signing.private_key.sign(text.encode()))
    latest = 253_402_300_799
    cases = [
        (1, north.line(text), [north], "one witness is asked for, and cosigned"),
        (2, north.line(text) + east.line(text), [north, east], "both of two"),
        (2, east.line(text) + south.line(text), [north, east, south], "two of three"),
        (1, north.line(text) + south.line(others), [north], "a witness not asked for is ignored"),
        (1, plain + north.line(text), [north], "a signature by its key in another role is ignored"),
        (1, north.line(text, 1) + north.line(text, 2), [north], "one witness twice"),
        (1, north.line(text, latest), [north], "the last second of the year 9999"),
    ]
    refused = [
        (1, "", [north], "nobody cosigned"),
        (2, north.line(text), [north, east], "one of two, and both are demanded"),
        (2, north.line(text) + north.line(text, 2), [north, east], "one witness twice is one"),
        (1, south.line(text), [north], "another witness cosigned"),
        (1, north.line(others), [north], "a cosignature of another checkpoint"),
        (1, north.line(text, said=1_767_604_801), [north], "its time was changed after signing"),
        (1, north.line(text, latest + 1), [north], "a time in the year 10000"),
        (1, as_log, [north], "a signature without a time"),
        (1, north.written(b"\0" * 72), [north], "no signature at all"),
        (
            1,
            north.line(text) + north.line(others),
            [north],
            "a good cosignature beside a wrong one of the same witness",
        ),
        (
            1,
            north.line(text) + east.line(others),
            [north, east],
            "one is demanded, and the other's cosignature is wrong",
        ),
    ]
    name, key_id, encoded = str(north.key).split("+")
    log_key = str(north.signing.verifier)
    return {
        "log_key": "keys/key-2.pub",
        "witnesses": [str(one.key) for one in WITNESSES],
        "checkpoints": [
            {
                "note": note + lines,
                "witnesses": [one.name for one in asked],
                "quorum": quorum,
                "holds": holds,
                "why": why,
            }
            for holds, group in ((True, cases), (False, refused))
            for quorum, lines, asked, why in group
        ],
        "keys_refused": [
            {"key": log_key, "why": "a log's key, of type 1"},
            {"key": f"{name}+{flip(key_id)}+{encoded}", "why": "not its id"},
            {"key": f"{name}+{encoded}", "why": "no id"},
            {"key": f"{name}+{key_id}+{encoded[:-4]}", "why": "cut short"},
            {"key": f"+{key_id}+{encoded}", "why": "no name"},
        ],
    }


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
        (written(subject="OBL\0001"), "a subject with U+0000"),
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


# The ledgers


class Source(NamedTuple):
    """A document of the example: its one page is the file's text, cut into chunks."""

    filename: str
    media_type: str
    dated: str | None
    text: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def document_id(self) -> str:
        """The id that follows from collection and name."""
        return derived_id("doc", {"collection": "policies", "filename": self.filename})

    @property
    def chunks(self) -> list[DocumentChunk]:
        """The chunks; each knows where its text begins and ends."""
        sha256_of_file = sha256_hex(self.text.encode())
        made = []
        for index, (text, headings) in enumerate(self.parts):
            start = self.text.index(text)
            end = start + len(text)
            locator = [self.document_id, sha256_of_file, 1, start, end]
            made.append(
                DocumentChunk(
                    chunk_id=derived_id("chunk", locator, length=32),
                    document_id=self.document_id,
                    index=index,
                    text=text,
                    page=1,
                    heading_path=headings,
                    start=start,
                    end=end,
                    chunk_hash=generate_chunk_hash(text, FULL_LENGTH),
                )
            )
        return made

    def checked(self) -> CheckedDocument:
        """Return the document as a ledger lists it."""
        return CheckedDocument(
            id=self.document_id,
            version=1,
            collection="policies",
            filename=self.filename,
            media_type=self.media_type,
            sha256=sha256_hex(self.text.encode()),
            dated=self.dated,
        )


FRONT = "---\ntitle: HR Policy\ndate: 2025-11-03\n---"
ANNUAL = "All permanent employees shall receive 15 days of paid annual leave per calendar year."
CARRY = "Unused annual leave may be carried over at the discretion of the department head."
APPLY = "Leave applications must be submitted at least 14 calendar days before the start date."
BOOKED = "Annual leave of 15 days is booked in the staff portal 🗓."
LEAVE_PART = f"# 4 Leave\n\n## 4.1 Annual leave\n\n{ANNUAL}"
CARRY_PART = f"## 4.2 Carrying leave over\n\n{CARRY}"
GUIDE_PART = f"Leave guidelines\n\n{BOOKED} {APPLY}"

POLICY = Source(
    "HR_Policy.md",
    "text/markdown",
    "2025-11-03",
    f"{FRONT}\n\n{LEAVE_PART}\n\n{CARRY_PART}\n",
    (
        (FRONT, ()),
        (LEAVE_PART, ("4 Leave", "4.1 Annual leave")),
        (CARRY_PART, ("4 Leave", "4.2 Carrying leave over")),
    ),
)
GUIDE = Source("Leave_Guidelines.txt", "text/plain", None, f"{GUIDE_PART}\n", ((GUIDE_PART, ()),))
SOURCES = (POLICY, GUIDE)
ANCHOR = generate_chunk_hash(LEAVE_PART)
ANSWER = (
    f"Hello! 😀\n\nEmployees are entitled to 15 days of annual leave [cite:{ANCHOR}]. Leave "
    "requests must be submitted 1 week in advance [1]. Unused leave can be carried forward. "
    "Maximum carryover is 5 days.\n\nSources:\n\n[1] Leave_Guidelines.txt\n"
)
FIRST_WORDS = {
    "claim has no": "claim(s) have no",
    "claim contradicts the": "claim(s) contradict the",
    "claim rests on": "claim(s) rest on",
    "supports it in part": "bears it out in part",
}
"""What sentences for people say now, and what they said when these ledgers were first written."""
FAILED = "the model judge failed (ConnectionError: no connection)"
NLI_MODEL = seed("model of the nli judge").hex()
"""The digest of no model: what a model would find is no part of a format."""
SUPPORT: tuple[tuple[float, bool], ...] = ((0.95, True), (0.05, False), (0.8, True), (0.02, True))
"""How likely each claim is borne out, and whether the model was asked about it."""


def claims() -> tuple[Claim, ...]:
    """Return the claims of the answer."""
    policy, numeric = ClaimType.POLICY, ClaimType.NUMERIC
    critical, material = Importance.CRITICAL, Importance.MATERIAL
    given: tuple[tuple[str, str, ClaimType, Importance, tuple[str, ...]], ...] = (
        (
            "Employees are entitled to 15 days of annual leave",
            f" [cite:{ANCHOR}].",
            policy,
            critical,
            (ANCHOR,),
        ),
        (
            "Leave requests must be submitted 1 week in advance",
            " [1].",
            policy,
            material,
            ("1",),
        ),
        ("Unused leave can be carried forward", ".", policy, material, ()),
        ("Maximum carryover is 5 days", ".", numeric, critical, ()),
    )
    made = []
    for place, (text, rest, kind, importance, citations) in enumerate(given):
        start = ANSWER.index(text + rest)
        end = start + len(text + rest)
        content = {"place": place, "start": start, "end": end, "text": text}
        made.append(
            Claim(
                id=derived_id("clm", content),
                text=text,
                type=kind,
                importance=importance,
                start=start,
                end=end,
                source_text=ANSWER[start:end],
                citations=citations,
            )
        )
    return tuple(made)


def left_out() -> tuple[LeftOutText, ...]:
    """Return what of the answer is no claim."""
    given = (
        ("Hello!", "greeting"),
        ("😀", "no words"),
        ("Sources:", "heading"),
        ("[1] Leave_Guidelines.txt", "reference"),
    )
    return tuple(
        LeftOutText(
            text=text,
            start=ANSWER.index(text),
            end=ANSWER.index(text) + len(text),
            reason=reason,
        )
        for text, reason in given
    )


def bearing(
    source: Source,
    snippet: str,
    level: SupportLevel,
    similarity: float,
    compared: tuple[Comparison, ...] = (),
    **said: str,
) -> EvidenceMatch:
    """Return what a judge says of a passage; one with no level contradicts the claim."""
    start = source.text.index(snippet)
    chunk = next(chunk for chunk in source.chunks if chunk.start <= start < chunk.end)
    passage = Passage(
        chunk_id=chunk.chunk_id,
        chunk_hash=chunk.chunk_hash,
        snippet=snippet,
        start=start,
        end=start + len(snippet),
        source=SourceDocument(
            id=source.document_id,
            filename=source.filename,
            heading_path=chunk.heading_path or None,
        ),
    )
    return EvidenceMatch(
        similarity=similarity,
        support_level=level,
        contradicts=level is SupportLevel.NONE,
        snippet=snippet,
        passage=passage,
        compared=compared,
        **said,
    )


def modality(claim: str, said: str, snippet: str) -> Comparison:
    """Return the comparison of what a claim says must or may be with what a passage says of it."""
    text = next(one.text for one in claims() if claim in one.text)
    begins, there = text.index(claim), snippet.index(said)
    return Comparison(
        kind="modality",
        conflict=False,
        claim_start=begins,
        claim_end=begins + len(claim),
        start=there,
        end=there + len(said),
    )


def evidence() -> tuple[tuple[EvidenceMatch, ...], ...]:
    """Return what bears on each claim, best first."""
    agrees = 'the values agree ("15 days"), about the same thing'
    part = "the passage has 80% of the claim's words"
    likely = "the model finds it borne out, 80% likely"
    compared = (modality("can be carried", "may be carried", CARRY),)
    other = 'the passage says "14 calendar days" where the claim says "1 week"'
    full, partial, none = SupportLevel.FULL, SupportLevel.PARTIAL, SupportLevel.NONE
    return (
        (
            bearing(POLICY, ANNUAL, full, 0.95, judge="numbers", reason=agrees),
            bearing(GUIDE, BOOKED, partial, 0.91, judge="quote", reason=part),
        ),
        (
            bearing(
                GUIDE, APPLY, none, 0.95, judge="numbers", reason=other, says="14 calendar days"
            ),
        ),
        (bearing(POLICY, CARRY, full, 0.8, compared, judge="nli", reason=likely),),
        (),
    )


def ledger_entry(
    claim: Claim, matches: tuple[EvidenceMatch, ...], of: tuple[str, str], *, failed: bool
) -> LedgerEntry:
    """Return a claim's entry; `of` is the session and the time, `failed` that a judge did."""
    given = assign_verdict(claim, matches)
    if failed and not any(match.judge == "numbers" for match in matches):
        notes = f"Could not be judged: {FAILED}"
        given = VerdictAssignment(verdict=Verdict.NOT_JUDGED, confidence=0.0, notes=notes)
    deciding = [match for match in matches if match.bears and given.confidence]
    if given.verdict is Verdict.SUPPORTED:
        deciding = [match for match in deciding if match.support_level is SupportLevel.FULL]
    best = deciding[0] if deciding else None
    passage = best.passage if best else None
    components = None
    if best and passage:
        components = ConfidenceComponents(
            semantic_similarity=best.similarity,
            evidence_count=1,
            directness=0.5,
            source_quality=1.0 if passage.source.filename == POLICY.filename else 0.5,
        )
    why = f" ({best.judge} judge: {best.reason})" if best else ""
    return LedgerEntry(
        id=derived_id("ent", {"claim": claim.id, "session": of[0], "at": of[1]}),
        claim_id=claim.id,
        claim_text=claim.text,
        claim_type=claim.type,
        claim_importance=claim.importance,
        verdict=given.verdict,
        confidence_score=given.confidence,
        evidence_chunk_ids=(passage.chunk_hash[:8],) if passage else (),
        evidence_snippet=best.snippet if best else "",
        source_document=passage.source if passage else None,
        notes=f"{given.notes}{why}.",
        judge=best.judge if best else "",
        confidence_components=components,
        component_confidence=calculate_confidence(components) if components else None,
        evidence=matches,
    )


def with_support(entries: Iterable[LedgerEntry], *, failed: bool) -> tuple[LedgerEntry, ...]:
    """Return entries with how likely it is that their claims are borne out, and the models."""
    made = []
    for entry, (support, asked) in zip(entries, SUPPORT, strict=True):
        judged = entry.verdict is not Verdict.NOT_JUDGED
        update = {
            "support_probability": support if judged else None,
            "models": {"nli": NLI_MODEL} if asked and not failed else {},
        }
        made.append(entry.model_copy(update=update))
    return tuple(made)


def first_words(text: str) -> str:
    """Return a sentence for people in the words of the version that first wrote these ledgers.

    Words may change, and no reader may depend on them; a signed ledger keeps those it has.
    """
    for now, first in FIRST_WORDS.items():
        text = text.replace(now, first)
    return text


def risk_flags(ledger: EvidenceLedger) -> tuple[RiskFlag, ...]:
    """Return a ledger's risk flags in their first words, of which their ids are made."""
    found = []
    for flag in generate_risk_flags(ledger):
        said = {
            "type": flag.type.value,
            "description": first_words(flag.description),
            "claims": list(flag.affected_claim_ids),
        }
        made = {"id": derived_id("risk", said), "description": said["description"]}
        found.append(flag.model_copy(update=made))
    return tuple(found)


def first_form(entries: Sequence[LedgerEntry]) -> LedgerSummary:
    """Return the summary of entries as the first form has it."""
    return LedgerSummary.of(entries).model_copy(update={"by_support": None})


def session(
    at: str,
    judges: tuple[str, ...],
    previous: str | None = None,
    matches: tuple[tuple[EvidenceMatch, ...], ...] | None = None,
) -> LedgerSession:
    """Return the answer with its ledger in the first form; a judge called `model` fails."""
    asked = {"query": "How much leave do I get?", "mode": "answer", "name": "answer.md"}
    session_id = derived_id("ses", {**asked, "answer": ANSWER, "title": "Leave Policy Q&A"})
    failed = "model" in judges
    matches = evidence() if matches is None else matches
    if failed:
        matches = (matches[0][:1], matches[1], (), ())
    judged = [
        ledger_entry(claim, found, (session_id, at), failed=failed)
        for claim, found in zip(claims(), matches, strict=True)
    ]
    entries = with_support(judged, failed=failed)
    content = {"session": session_id, "at": at, "previous": previous}
    shown = [entry.model_dump(mode="json") for entry in entries]
    ledger = EvidenceLedger(
        id=derived_id("led", {**content, "entries": shown}),
        session_id=session_id,
        created_at=at,
        updated_at=at,
        entries=entries,
        summary=first_form(entries),
        follow_up_questions=tuple(map(first_words, follow_up_questions(entries))),
        previous_ledger_id=previous,
        citations=(
            CitationCheck(claim_id=claims()[0].id, label=ANCHOR, resolved=True, bears=True),
            CitationCheck(
                claim_id=claims()[1].id,
                label="1",
                resolved=True,
                bears=False,
                problem="The cited passage contradicts the claim",
            ),
        ),
    )
    unread = "scan.pdf: named .pdf and is no PDF file"
    return LedgerSession(
        id=session_id,
        title="Leave Policy Q&A",
        query=asked["query"],
        mode=asked["mode"],
        answer_name=asked["name"],
        answer=ANSWER,
        claims=claims(),
        left_out=left_out(),
        ledger=ledger.model_copy(update={"risk_flags": risk_flags(ledger)}),
        documents=tuple(source.checked() for source in SOURCES),
        unread=(UnreadFile(filename="scan.pdf", problem=unread),),
        judges=judges,
        program="evidentia 0.1.0",
    )


def sessions() -> tuple[LedgerSession, LedgerSession]:
    """Return the answer checked twice: the second time one of the judges fails."""
    first = session("2026-01-05T09:00:30.000000Z", ("quote", "numbers", "nli"))
    again = session("2026-01-05T09:01:30.000000Z", ("numbers", "model"), first.ledger.id)
    return first, again


def second_session() -> LedgerSession:
    """Return the answer checked once more, in the second form: weak claims say why they are."""
    limited = "the passage speaks of permanent employees only"
    partly = bearing(POLICY, ANNUAL, SupportLevel.PARTIAL, 0.8, judge="nli", reason=limited)
    judges = ("quote", "numbers", "nli")
    made = session("2026-01-05T09:02:30.000000Z", judges, matches=((partly,), *evidence()[1:]))
    first, *others = made.ledger.entries
    entries = (first.model_copy(update={"support_probability": 0.4}), *others)
    ledger = made.ledger.model_copy(update={"id": "led_5c0d93be1f7a2684", "entries": entries})
    return in_second_form(made.model_copy(update={"ledger": ledger}))


def in_second_form(made: LedgerSession) -> LedgerSession:
    """Return a session with why its weak claims are weak, and the nearest passage of the others."""
    nearest = bearing(POLICY, CARRY, SupportLevel.FULL, 0.8).passage
    entries = [
        entry.model_copy(
            update={
                "support": assign_verdict(claim, entry.evidence).support,
                "nearest": nearest if entry.verdict is Verdict.NOT_FOUND else None,
            }
        )
        for claim, entry in zip(made.claims, made.ledger.entries, strict=True)
    ]
    update = {"entries": entries, "summary": LedgerSummary.of(entries)}
    return made.model_copy(update={"ledger": made.ledger.model_copy(update=update)})


def refused_ledgers() -> list[Json]:
    """Return statements that are no ledgers of their form, each with the reason."""
    first: Json = sessions()[0].to_statement().as_json()
    second: Json = second_session().to_statement().as_json()
    voted: Json = voted_session().to_statement().as_json()
    at = "predicate.ledger.entries"
    nearest = second["predicate"]["ledger"]["entries"][3]["nearest"]
    counts, summary = {"probable": 2, "partial": 0}, "predicate.ledger.summary"
    supported = "a supported claim is said to be weak for a reason"
    found = "a contradicted claim has a nearest passage"
    old_type = second | {"predicateType": PREDICATE_TYPE}
    new_type = first | {"predicateType": SECOND_TYPE}
    given = (
        (supported, put(voted, f"{at}.0.support", "probable")),
        ("a weak claim does not say why", put(second, f"{at}.2.support", MISSING)),
        ("why a claim is weak is null", put(second, f"{at}.2.support", None)),
        ("a reason that there is not", put(second, f"{at}.2.support", "maybe")),
        ("the reasons do not count", put(second, f"{summary}.by_support", counts)),
        ("the reasons are not counted", put(second, f"{summary}.by_support", MISSING)),
        ("votes, and reasons not counted", put(voted, f"{summary}.by_support", MISSING)),
        (found, put(second, f"{at}.1.nearest", nearest)),
        ("a nearest passage that is null", put(second, f"{at}.3.nearest", None)),
        ("votes that are null", put(second, "predicate.judging", None)),
        ("the first form, with a reason", put(first, f"{at}.2.support", "probable")),
        ("the first form, with reason null", put(first, f"{at}.2.support", None)),
        ("the first form, with a nearest passage", put(first, f"{at}.3.nearest", nearest)),
        ("the second form, called the first", old_type),
        ("the first form, called the second", new_type),
    )
    return [{"why": why, "statement": statement} for why, statement in given]


def ledger_files() -> dict[str, bytes]:
    """Return what ledgers are made of and written as: documents, answer, statements, exports."""
    first, again = sessions()
    made = {f"documents/{source.filename}": source.text.encode() for source in SOURCES}
    failing = {Verdict.CONTRADICTED, Verdict.NOT_FOUND}
    return made | {
        "answer.md": ANSWER.encode(),
        "statement.json": first.to_statement().encode(),
        "statement-not-judged.json": again.to_statement().encode(),
        "statement-second.json": second_session().to_statement().encode(),
        "statement-voted.json": voted_session().to_statement().encode(),
        "refused.json": listed(refused_ledgers()),
        "export.json": pretty(to_json(first)),
        "export-not-judged.json": pretty(to_json(again)),
        "export-second.json": pretty(to_json(second_session())),
        "export.sarif.json": pretty(to_sarif(first, "0.1.0")),
        "export.junit.xml": to_junit(again, failing).encode(),
    }


def verdict_vectors() -> Json:
    """Return evidence with the verdict it gives, parts of a confidence, and its bands."""
    claim = claims()[0]
    cases: tuple[tuple[str, list[tuple[float, str, bool]]], ...] = (
        ("nothing was found", []),
        ("in full, above 0.85", [(0.86, "full", False)]),
        ("in full, and not above 0.85", [(0.85, "full", False)]),
        ("in part, however similar", [(0.99, "partial", False)]),
        ("nothing is borne out, above 0.85", [(0.9, "none", False)]),
        ("nothing is borne out, and not above 0.85", [(0.5, "none", False)]),
        ("a contradiction decides", [(0.99, "full", False), (0.6, "none", True)]),
        ("the strongest contradiction", [(0.7, "none", True), (0.9, "none", True)]),
        ("the best comes last", [(0.6, "partial", False), (0.92, "full", False)]),
        ("equally similar: in full first", [(0.9, "partial", False), (0.9, "full", False)]),
    )
    verdicts = []
    for why, given in cases:
        matches = [
            EvidenceMatch(
                similarity=similarity,
                support_level=SupportLevel(level),
                contradicts=contradicts,
                snippet=f"Passage {number}",
            )
            for number, (similarity, level, contradicts) in enumerate(given, 1)
        ]
        assigned = assign_verdict(claim, matches)
        fields = {"similarity", "support_level", "contradicts", "snippet"}
        shown = [match.model_dump(mode="json", include=fields) for match in matches]
        verdicts.append({"why": why, "evidence": shown, **assigned.model_dump(mode="json")})
    parts = [
        ConfidenceComponents(
            semantic_similarity=similarity,
            evidence_count=count,
            directness=directness,
            source_quality=quality,
        )
        for similarity, count, directness, quality in (
            (0.95, 1, 0.5, 1.0),
            (0.8, 2, 1.0, 0.5),
            (1.0, 4, 1.0, 1.0),
            (1.0, 9, 1.0, 1.0),
            (0.0, 0, 0.0, 0.0),
            (0.3, 1, 0.5, 0.2),
        )
    ]
    scores = (0, 0.29, 0.3, 0.49, 0.5, 0.69, 0.7, 0.845, 0.85, 1)
    return {
        "verdicts": verdicts,
        "confidence": [
            {**part.model_dump(mode="json"), "confidence": calculate_confidence(part)}
            for part in parts
        ],
        "bands": [{"score": score, "band": confidence_band(score).value} for score in scores],
    }


# The chunks


def chunk_vectors() -> Json:
    """Return texts with their hashes, anchors that share a beginning, citations, chunks."""
    texts = (
        (ANNUAL, "a sentence"),
        ("All  permanent EMPLOYEES ", "capitals, a double space, a space at the end"),
        ("all permanent employees", "the same text: the same hash"),
        ("", "nothing"),
        ("\ufeff\u00a0\u2003\u3000\t\r\n\u2028\u2029", "white space of many kinds is nothing"),
        ("a\u0085b", "U+0085 is no white space here"),
        ("a\u001cb", "nor is U+001C"),
        ("a\u180eb", "nor is U+180E"),
        ("a\u200bb", "nor is U+200B"),
        ("a\ufeffb", "U+FEFF is"),
        ("İstanbul ÇAĞRI", "a capital whose lower case has two code points"),
        ("ΟΔΟΣ ΣΙΣΥΦΟΣ", "a sigma at the end of a word has a form of its own"),
        ("STRASSE Straße", "lower case and not case folding: ss and ß stay apart"),
        ("e\u0301 \u00e9", "nothing is normalised: two spellings of é stay apart"),
        ("𐐀 😀", "letters past U+FFFF have a case too"),
        ("إجازة سنوية", "a script without case"),
    )
    one, other = "Clause 10925 applies.", "Clause 37796 applies."
    hashes = {text: generate_chunk_hash(text, FULL_LENGTH) for text in (one, other)}
    issued: dict[str, str] = {}
    anchors = []
    for text in (one, other, one):
        anchor = issue_anchor(hashes[text], issued)
        issued[anchor] = hashes[text]
        anchors.append({"text": text, "hash": hashes[text], "anchor": anchor})
    return {
        "hashes": [
            {"why": why, "text": text, "hash": generate_chunk_hash(text, FULL_LENGTH)}
            for text, why in texts
        ],
        "documents": [
            {
                "collection": "policies",
                "filename": source.filename,
                "id": source.document_id,
                "sha256": sha256_hex(source.text.encode()),
            }
            for source in SOURCES
        ],
        "chunks": [shown_chunk(chunk) for source in SOURCES for chunk in source.chunks],
        "anchors": anchors,
        "resolved": resolutions(issued, hashes.values()),
        "citations": [
            {
                "text": text,
                "marks": [
                    {
                        "label": mark.label,
                        "style": mark.style,
                        "start": mark.start,
                        "end": mark.end,
                    }
                    for mark in find_citations(text)
                ],
            }
            for text in (
                "Leave is 15 days [cite:a1b2c3d4].",
                "😀 Two anchors [cite: a1b2c3d4, 0f1e2d3c4b].",
                "A number [1], some [2, 3] and a range [4-6].",
                "A footnote[^note] is not a number [^1].",
                "[1]: a definition, [a link](b.md), ![1](c.png) and [1](d.md) are none.",
            )
        ],
    }


def shown_chunk(chunk: DocumentChunk) -> Json:
    """Return a chunk as a JSON object."""
    return chunk.as_json()


def resolutions(issued: Mapping[str, str], hashes: Iterable[str]) -> list[Json]:
    """Resolve anchors among chunks that share the beginning of their hashes."""
    chunks = [
        replace(POLICY.chunks[0], chunk_id=f"chunk_{number}", chunk_hash=chunk_hash)
        for number, chunk_hash in enumerate(hashes)
    ]
    first = chunks[0].chunk_hash
    cases: tuple[tuple[str, Mapping[str, str], str], ...] = (
        (first[:8], issued, "bound when it was issued, though two hashes begin so"),
        (f" {first[:8].upper()} ", issued, "capitals and spaces around it make no difference"),
        (chunks[1].chunk_hash[:9], issued, "one digit longer, for the hash that came second"),
        (first[:20], issued, "not issued: the beginning of exactly one hash"),
        (first[:8], {}, "not issued: the beginning of two hashes"),
        ("0" * 8, issued, "the beginning of none"),
        (first[:7], issued, "too short"),
    )
    found = []
    for anchor, known, why in cases:
        resolution = resolve_citation(anchor, known, chunks)
        chunk_hash = resolution.chunk.chunk_hash if resolution.chunk else None
        found.append({"why": why, "anchor": anchor, "issued": dict(known), "leads_to": chunk_hash})
    return found


# The statements


def ledger_key() -> SigningKey:
    """Return the key of the log that ledgers are recorded in."""
    return SigningKey.from_seed(LEDGER_ORIGIN, seed(f"key of {LEDGER_ORIGIN}"))


def review() -> Statement:
    """Return a small statement."""
    subject = Subject("leave-policy.pdf", seed("leave-policy.pdf").hex())
    said = {"outcome": "approved", "by": "Zoë"}
    return Statement("https://example.org/review/v1", (subject,), said)


def respelled() -> bytes:
    """Return a statement that is not canonical JSON."""
    return pretty(review().as_json())


def ledger_body(made: LedgerSession) -> Json:
    """Return the body of the entry that records a ledger, without its corpus."""
    body: Json = {
        "statement_sha256": sha256_hex(made.to_statement().encode()),
        "predicate_type": made.predicate_type,
        "session_id": made.id,
        "previous_ledger_id": made.ledger.previous_ledger_id,
        "summary": made.ledger.summary.model_dump(mode="json"),
    }
    if made.predicate_type == THIRD_TYPE:
        body["claims_root"] = pages_root(ledger_pages(made)).hex()
    return body


def ledger_log() -> Log:
    """Return a log with two ledgers, and other entries that name a statement or do not."""
    log = Log(LEDGER_ORIGIN, [ledger_key()])
    log.announce(log.keys[0])
    for made in sessions():
        log.append(EntryKind.LEDGER, made.ledger.id, ledger_body(made))
    digest = sha256_hex(review().encode())
    log.append(EntryKind.REVIEW, "leave-policy", {"statement_sha256": digest})
    log.append(EntryKind.REVIEW, "spelling", {"statement_sha256": sha256_hex(respelled())})
    log.append(EntryKind.REVIEW, "capitals", {"statement_sha256": digest.upper()})
    log.append(EntryKind.REVIEW, "nothing", {"outcome": "approved"})
    log.append(EntryKind.REVIEW, "text", digest)
    return log


LEDGER, AGAIN, REVIEW, SPELLING, CAPITALS, NOTHING, TEXT = range(1, 8)
"""The numbers of that log's entries."""


def statement_vectors() -> Json:
    """Return statements with their bytes, what is signed of them, and their envelopes."""
    key = ledger_key()
    named = [Subject(name, seed(name).hex()) for name in ("a.pdf", "b.pdf")]
    two = Statement("https://example.org/note/v1", tuple(named), {"text": '\u2028 / " 1.0'})
    good = review().as_json()
    subject = good["subject"][0]

    def written(**changes: Any) -> str:
        return canonical_json({**good, **changes}).decode()

    refused = [
        ("", "nothing"),
        ("approved", "not JSON"),
        ("[]", "not an object"),
        (written()[:-1] + ',"predicate":1}', "a key stands twice"),
        (written(_type="https://in-toto.io/Statement/v0.1"), "another version of in-toto"),
        (written(note="x"), "a field that statements do not have"),
        (canonical_json({**good, "subject": subject}).decode(), "the subject is no list"),
        (written(predicateType=None), "a type that is no text"),
        (
            canonical_json({name: good[name] for name in good if name != "predicate"}).decode(),
            "no predicate",
        ),
        (written(subject=["leave-policy.pdf"]), "a subject that is no object"),
        (written(subject=[{"name": "x"}]), "a subject without a digest"),
        (written(subject=[{"digest": subject["digest"]}]), "a subject without a name"),
        (
            written(subject=[{**subject, "digest": {**subject["digest"], "sha512": "00"}}]),
            "a digest of another kind beside it",
        ),
        (written(subject=[{**subject, "uri": "x"}]), "a field that subjects do not have"),
    ]
    return {
        "key": "keys/ledger-log.pub",
        "statements": [
            {
                "why": why,
                "statement": statement.as_json(),
                "bytes": statement.encode().decode(),
                "sha256": sha256_hex(statement.encode()),
                "signed": signed_bytes(statement.encode()).decode(),
                "envelope": Envelope.sign(statement.encode(), key).as_json(),
            }
            for why, statement in (
                ("lengths are counted in bytes: ë is two", review()),
                ("two subjects", two),
            )
        ],
        "refused": [{"bytes": text, "why": why} for text, why in refused],
    }


def enveloped(log: Log, seq: int, payload: bytes) -> Json:
    """Return a proof file's object with a signed statement, under the log's present key."""
    key = log.keys[-1]
    envelope = Envelope.sign(payload, key).as_json()
    return {**log.prove(seq, len(log.entries), key), "envelope": envelope}


def signed(payload: bytes, *signatures: tuple[str, bytes]) -> Json:
    """Return an envelope with the given signatures."""
    envelope = Envelope.sign(payload, ledger_key()).as_json()
    listed = [
        {"keyid": key_id, "sig": b64encode(signature).decode()} for key_id, signature in signatures
    ]
    return {**envelope, "signatures": listed}


def holding_statements(log: Log) -> Iterator[ProofVector]:
    """Give proofs with a statement that hold."""
    (key,) = log.keys
    first, again = (made.to_statement().encode() for made in sessions())
    small = review().encode()
    ours, theirs = key.private_key, SigningKey.from_seed("witness", seed("witness")).private_key
    given = signed_bytes(small)
    both = (("0badc0de", theirs.sign(given)), (key.verifier.key_id, ours.sign(given)))
    good = enveloped(log, REVIEW, small)
    bare = log.prove(LEDGER, len(log.entries), key)
    for name, why, proof in (
        ("ledger", "a ledger with its statement", enveloped(log, LEDGER, first)),
        ("ledger-not-judged", "a ledger with not_judged", enveloped(log, AGAIN, again)),
        ("ledger-without-envelope", "a body names a statement that is not here", bare),
        ("statement", "a statement that is no ledger", good),
        (
            "statement-other-spelling",
            "a statement's bytes are taken as they are, canonical or not",
            enveloped(log, SPELLING, respelled()),
        ),
        (
            "statement-unknown-signature",
            "a signature of somebody unknown is ignored",
            {**good, "envelope": signed(small, *both)},
        ),
    ):
        yield ProofVector(name, pretty(proof), why, key="ledger-log.pub")
    why = "without a trusted key the signers are unknown"
    yield ProofVector("statement", pretty(good), why, key=None)


def refused_statements(log: Log) -> Iterator[ProofVector]:
    """Give proofs whose envelope is none, or not the one that the body names."""
    small = review().encode()
    good = enveloped(log, REVIEW, small)
    yield from malformed_envelopes(good)
    yield from unreadable_statements(good)
    yield from mixed_up_statements(log, good, small)


def malformed_envelopes(good: Json) -> Iterator[ProofVector]:
    """Give envelopes that are none."""
    envelope = good["envelope"]
    (signature,) = envelope["signatures"]
    bodiless = {name: good[name] for name in good if name not in {"body", "salt"}}
    yield ProofVector(
        "envelope-without-body",
        pretty(bodiless),
        "an envelope without the body that names what is in it",
        ("format",),
        "ledger-log.pub",
    )
    for name, why, field, value in (
        ("null", "no object", "envelope", None),
        ("as-text", "no object", "envelope", envelope["payload"]),
        ("unknown-field", "a field that envelopes do not have", "envelope.note", "x"),
        ("other-type", "another payload type", "envelope.payloadType", "application/json"),
        ("no-type", "no payload type", "envelope.payloadType", MISSING),
        ("no-payload", "no payload", "envelope.payload", MISSING),
        ("not-base64", "a payload that is not base64", "envelope.payload", "*" * 8),
        ("url-base64", "the alphabet of addresses", "envelope.payload", "e30_" * 4),
        ("unpadded", "a payload without its padding", "envelope.payload", "e30"),
        ("second-spelling", "a second way to write the same bytes", "envelope.payload", "e31="),
        ("unsigned", "no signature", "envelope.signatures", []),
        ("no-signatures", "no list of signatures", "envelope.signatures", MISSING),
        (
            "signature-without-keyid",
            "a signature that names no key",
            "envelope.signatures",
            [{"sig": signature["sig"]}],
        ),
        (
            "signature-unknown-field",
            "a field that signatures do not have",
            "envelope.signatures",
            [{**signature, "cert": "x"}],
        ),
        (
            "signature-not-base64",
            "a signature that is not base64",
            "envelope.signatures",
            [signature, {**signature, "sig": "*"}],
        ),
    ):
        data = pretty(changed(good, field, value))
        yield ProofVector(f"envelope-{name}", data, why, ("format",), "ledger-log.pub")


def unreadable_statements(good: Json) -> Iterator[ProofVector]:
    """Give envelopes, signed as they should be, whose payload is no statement."""
    statement = review().as_json()
    for name, why, payload in (
        ("empty", "no bytes at all", b""),
        ("not-json", "not JSON", b"approved"),
        (
            "other-version",
            "another version of in-toto",
            canonical_json({**statement, "_type": "https://in-toto.io/Statement/v0.1"}),
        ),
        (
            "unknown-field",
            "a field that statements do not have",
            canonical_json({**statement, "note": "x"}),
        ),
        (
            "without-digest",
            "a subject without a digest",
            canonical_json({**statement, "subject": [{"name": "x"}]}),
        ),
        (
            "duplicate-key",
            "a key stands twice",
            review().encode().replace(b'"by":', b'"by":"me","by":'),
        ),
    ):
        envelope = Envelope.sign(payload, ledger_key()).as_json()
        data = pretty({**good, "envelope": envelope})
        yield ProofVector(f"statement-{name}", data, why, ("format",), "ledger-log.pub")


def mixed_up_statements(log: Log, good: Json, small: bytes) -> Iterator[ProofVector]:
    """Give well-formed proofs whose statement, signature or key is not the right one."""
    (key,) = log.keys
    forger = SigningKey.from_seed(LEDGER_ORIGIN, seed("forger"))
    given, key_id = signed_bytes(small), key.verifier.key_id
    rewritten = small.replace(b"approved", b"rejected")
    changed_payload = b64encode(rewritten).decode()
    resigned = Envelope.sign(rewritten, key).as_json()
    forged = forger.private_key.sign(given)
    right = (key_id, key.private_key.sign(given))
    fails = ("statement",)
    vectors: tuple[tuple[str, str, Json, tuple[str, ...]], ...] = (
        (
            "changed",
            "the payload was changed",
            changed(good, "envelope.payload", changed_payload),
            fails,
        ),
        (
            "signed-anew",
            "another statement, signed by the trusted key: the body does not name it",
            {**good, "envelope": resigned},
            fails,
        ),
        (
            "forged",
            "signed by an unknown key",
            {**good, "envelope": signed(small, (forger.verifier.key_id, forged))},
            fails,
        ),
        (
            "forged-key-id",
            "an unknown key under the trusted one's id",
            {**good, "envelope": signed(small, (key_id, forged))},
            fails,
        ),
        (
            "bare-signature",
            "a signature over the payload alone",
            {**good, "envelope": signed(small, (key_id, key.private_key.sign(small)))},
            fails,
        ),
        (
            "short-signature",
            "a signature of 63 bytes",
            {**good, "envelope": signed(small, (key_id, right[1][:-1]))},
            fails,
        ),
        (
            "wrong-then-right",
            "a wrong signature under the trusted key's id, and then a right one",
            {**good, "envelope": signed(small, (key_id, forged), right)},
            fails,
        ),
        (
            "capital-digest",
            "the body names the digest in capitals",
            enveloped(log, CAPITALS, small),
            fails,
        ),
        (
            "not-named",
            "the body names no statement",
            enveloped(log, NOTHING, small),
            fails,
        ),
        ("body-as-text", "the body is no object", enveloped(log, TEXT, small), fails),
        (
            "changed-digest",
            "the digest in the body was changed",
            changed(good, "body.statement_sha256", sha256_hex(small + b"\n")),
            ("content", *fails),
        ),
    )
    for name, why, proof, failing in vectors:
        data = pretty(proof)
        yield ProofVector(f"statement-{name}", data, why, failing, "ledger-log.pub")
    data = pretty(changed(good, "envelope.payload", changed_payload))
    why = "the payload was changed, which shows without a key"
    yield ProofVector("statement-changed", data, why, fails, None)
    why = "the key is another log's"
    wrong = ("signature", "statement")
    yield ProofVector("statement-wrong-key", pretty(good), why, wrong, "other-log.pub")


def misplaced_beginning() -> ProofVector:
    """Give entry 0 of one log under a checkpoint of another."""
    (key,) = small_log(LEDGER_ORIGIN).keys
    elsewhere = small_log(log_origin("00c0ffee00c0ffee", "acme")).entries[0]
    leaf = leaf_hash(elsewhere.entry.encode())
    note = Checkpoint(LEDGER_ORIGIN, 1, leaf).sign(key.private_key)
    proof = Proof(elsewhere.entry, (), note, Disclosure(elsewhere.body, elsewhere.salt))
    why = "entry 0 begins another log than the checkpoint's"
    data = pretty(proof.as_json())
    return ProofVector("first-of-another-log", data, why, ("place",), "ledger-log.pub")


# Bundles

REDACTION_KEY = seed("redaction")
RENDERING_KEY = seed("rendering")
BUILT_AT = "2026-01-05T09:00:30.000000Z"
FAMILY = "👨‍👩‍👧"
HANDOVER = (
    "# Handover\n\nZoë hands the leave desk over to Omar on Monday. The shared mailbox is read "
    "twice a day, at nine and at four. Nothing is granted by telephone, and nothing is booked "
    f"back without a form. The green symbol {FAMILY} marks family days in the calendar.\n"
)
MINUTES = (
    "Minutes of the leave desk. Present: omar@acme.example and zoe@acme.example. Agreed: requests "
    "are answered within two days; the calendar is the only record that counts; whoever is away "
    "names somebody who answers; carried-over days end in March; the desk meets again in April."
)
JOB: Json = {
    "job_input": {
        "extra_params": {
            "evidence": [
                "The question was asked by a new employee.",
                {
                    "text": "Ask zoe@acme.example or EMP-0042; Zoe@Acme.example answers first.",
                    "source_uri": "ticket/77",
                    "asked_by": "EMP-0042",
                },
                MINUTES,
                {
                    "text": "Smalltalk about the weather, and a word to omar@acme.example.",
                    "source_uri": "chat",
                    "priority": -1,
                },
            ]
        }
    },
    "evidence_refs": {
        "lake_text": ["notes/handover.md"],
        "lake_http": ["http/balance.json", "http/broken.json"],
        "sql_results": [{"query_key": "leave_taken", "lake_uri": "results/leave_taken.ndjson"}],
        "sql_queries": [
            {
                "query_key": "leave_taken",
                "sql": "SELECT day, hours FROM leave ORDER BY day",
                "description": "All leave that was taken.",
            }
        ],
        "documents": ["documents/HR_Policy.md"],
        "transcripts": [{"lake_uri": "transcripts/call.vtt", "transcript_id": "call-9"}],
    },
    "policy": {
        "max_items": 11,
        "max_item_bytes": 230,
        "max_sql_rows": 5,
        "chunk_size": 200,
        "chunk_overlap": 20,
        "enable_redaction": True,
        "redaction_patterns": {"EMPLOYEE_ID": "EMP-[0-9]{4}"},
    },
}
RUN_ID = "answer/2026-01-05/7"
TOKENS: Json = {"tokenizer": "cl100k_base", "rendered": 126, "overhead": 117}
"""Of the small bundle; counted once, so that this script needs no tokenizer."""
STRATEGIES: tuple[SamplingStrategy, ...] = ("first_only", "first_last", "stride")


def originals() -> dict[str, bytes]:
    """Return the files that the bundle's references name, by their path in the lake."""
    days = [
        {"day": f"2025-{month:02}-01", "hours": 8 if month % 3 else 4, "note": None}
        for month in range(1, 13)
    ]
    days[-1]["note"] = "zoe@acme.example"
    response = {
        "status": 200,
        "reason": "OK",
        "url": "https://hr.example/leave?token=s3cret",
        "method": "GET",
        "headers": {"Content-Type": "text/plain", "Set-Cookie": "id=1"},
        "body": "Balance: 15 days",
    }
    spoken = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Zoë>Fifteen days a year.\n\n"
        "00:00:04.000 --> 00:00:06.500\n<v Omar>And after that?\n"
    )
    return {
        "notes/handover.md": HANDOVER.encode(),
        "http/balance.json": pretty(response),
        "http/broken.json": b'{"status": 200, "body": "cut o',
        "results/leave_taken.ndjson": b"".join(canonical_json(day) + b"\n" for day in days),
        "documents/HR_Policy.md": POLICY.text.encode(),
        "transcripts/call.vtt": spoken.encode(),
    }


@cache
def built_bundle() -> tuple[EvidenceBundle, bytes, dict[str, bytes]]:
    """Return the bundle of the job, its bytes, and all files of its lake but itself."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path, data in originals().items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(data)
        assembly = Assembly(
            Originals(root), FileLake(root), lambda: REDACTION_KEY, on_error="record"
        )
        policy = EvidencePolicy(**JOB["policy"])
        built = assembly.build(JOB["job_input"], JOB["evidence_refs"], policy, BUILT_AT)
        assembly.lake.put_all(built.artifacts)
        files = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }
    return built.bundle, built.data, files


def small_bundle() -> Json:
    """Return a bundle of two items, one of them redacted; a third one was dropped."""
    texts = ("First.", "Write to zoe@acme.example.", "Third, and never seen.")
    given = [
        Candidate(
            EvidenceType.INLINE_TEXT, f"job_input.extra_params.evidence[{place}]", text, "",
            str(place), {"source_uri": "job_input"},
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip
    policy = EvidencePolicy(max_items=2, enable_redaction=True)
    redactor = Redactor(REDACTION_KEY)
    return build_bundle(given, policy, created_utc=BUILT_AT, redactor=redactor).bundle.as_json()


def cut_bundle() -> Json:
    """Return a bundle of a text that was truncated and a result that was sampled, then redacted."""
    shown = SampledTable(
        ("day", "note"), ("hours",), (("Monday", "zoe@acme.example"), ("Friday", "NULL")), (0, 4),
        5, "first_last",
    )  # fmt: skip
    result = ResultReference(
        origin="evidence_refs.sql_results[0]",
        query_key="week",
        sql="SELECT * FROM week WHERE year = :year",
        connection="hr",
        parameters={"year": 2026},
    )
    kept = seed("a result").hex()
    given = [
        Candidate(
            EvidenceType.INLINE_TEXT, "job_input.extra_params.evidence[0]", HANDOVER, "", "0",
            {"source_uri": "job_input"},
        ),
        result_candidate(result, lake_path(kept), kept, 260, shown),
    ]  # fmt: skip
    policy = EvidencePolicy(
        max_item_bytes=155, max_sql_rows=2, max_sql_cols=2, enable_redaction=True
    )
    redactor = Redactor(REDACTION_KEY)
    return build_bundle(given, policy, created_utc=BUILT_AT, redactor=redactor).bundle.as_json()


def recorded_bundle() -> Json:
    """Return a bundle of a file with several responses; one of them never came."""
    entries = [
        {
            "request": {"method": "GET", "url": f"https://hr.example/leave/{number}"},
            "response": {"status": status, "content": {"text": f"Balance: {number} days"}},
        }
        for number, status in ((15, 200), (12, 200), (0, 0))
    ]
    path = "http/session.har"
    given = response_candidates(
        LakeHttpReference(origin="evidence_refs.lake_http[0]", lake_uri=path),
        path,
        pretty({"log": {"entries": entries}}),
    )
    return build_bundle(given, EvidencePolicy(), created_utc=BUILT_AT).bundle.as_json()


def earlier_bundle() -> Json:
    """Return a bundle as the rules of 2.0 wrote it: with commas in the numbers of notes."""
    given = Candidate(
        EvidenceType.INLINE_TEXT, "job_input.extra_params.evidence[0]", HANDOVER * 9, "", "0",
        {"source_uri": "job_input"},
    )  # fmt: skip
    policy = EvidencePolicy(max_item_bytes=1_200)
    bundle = build_bundle([given], policy, created_utc=BUILT_AT).bundle.as_json()
    note = "Truncated to 1,200 byte limit"
    return sealed({**put(bundle, "items.0.metadata.bounding.note", note), "build_version": "2.0"})


def counted_bundle(bundle: Json) -> Json:
    """Return the small bundle as it is if its tokens are counted."""
    limited = {"tokenizer": TOKENS["tokenizer"], "max_total_tokens": TOKENS["rendered"]}
    return sealed(put({**bundle, "policy": bundle["policy"] | limited}, "summary.tokens", TOKENS))


def sealed(bundle: Json) -> Json:
    """Return the bundle with the digest and the id that follow from what it says now."""
    told = ("bundle_id", "bundle_sha256", "created_utc")
    found = sha256_hex(canonical_json({key: bundle[key] for key in bundle if key not in told}))
    return {**bundle, "bundle_sha256": found, "bundle_id": bundle_id_of(found)}


class BundleVector(NamedTuple):
    """A bundle, and the checks that fail."""

    name: str
    data: bytes
    why: str
    fails: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where the file is, in the folder of bundles."""
        return f"{'refused' if self.fails else 'holds'}/{self.name}.json"


def bundle_vectors() -> Iterator[BundleVector]:
    """Give bundles that hold, and bundles that must be refused."""
    good = small_bundle()
    yield BundleVector("small", canonical_json(good), "two items, and one that was dropped")
    yield BundleVector(
        "every-type", built_bundle()[1], "an item of every type, and every outcome of an input"
    )
    other_time = {**good, "created_utc": "2031-12-31T23:59:59.999999Z"}
    yield BundleVector("other-time", canonical_json(other_time), "the digest leaves the time out")
    empty = build_bundle([], EvidencePolicy(), created_utc=BUILT_AT).data
    yield BundleVector("empty", empty, "no inputs")
    cut, counted = cut_bundle(), counted_bundle(good)
    why = "a text that was truncated; a result that was sampled, then redacted, and is sampled"
    yield BundleVector("cut", canonical_json(cut), why)
    yield BundleVector("counted", canonical_json(counted), "as many tokens as there may be")
    recorded, earlier = recorded_bundle(), earlier_bundle()
    why = "a file of several responses: an item for each, also for one that never came"
    yield BundleVector("several-responses", canonical_json(recorded), why)
    why = "built by the rules of 2.0, whose notes have other words"
    yield BundleVector("version-2.0", canonical_json(earlier), why)
    yield from unsealed_bundles(good)
    yield from contradictory_bundles(good)
    yield from contradictory_records(good, cut, counted)
    yield from malformed_bundles(good)


def unsealed_bundles(good: Json) -> Iterator[BundleVector]:
    """Give bundles whose digest or id is not theirs."""
    other = sealed(put(good, "policy.max_items", 3))
    for name, why, fails, bundle in (
        (
            "content-changed",
            "an item's text was changed",
            ("digest", "items"),
            put(good, "items.0.content", "Fifth."),
        ),
        (
            "limit-changed",
            "a limit was raised afterwards",
            ("digest",),
            put(good, "policy.max_items", 3),
        ),
        (
            "id-wrong",
            "the id of another bundle",
            ("id",),
            {**good, "bundle_id": other["bundle_id"]},
        ),
        (
            "digest-wrong",
            "the digest and the id of another bundle",
            ("digest",),
            {**other, "policy": good["policy"]},
        ),
    ):
        yield BundleVector(name, canonical_json(bundle), why, fails)


def contradictory_bundles(good: Json) -> Iterator[BundleVector]:
    """Give bundles with a right digest that do not add up."""
    decisions, items = good["accounting"]["decisions"], good["items"]
    uncounted = put(good, "accounting.decisions", decisions[:2])
    counted = put(uncounted, "accounting.inputs", 2)
    counted = put(counted, "accounting.dropped", 0)
    counted = put(counted, "accounting.input_bytes", counted["accounting"]["input_bytes"] - 22)
    step = decisions[1]["steps"][0]
    for name, why, fails, bundle in (
        (
            "content-resealed",
            "a text is not what its size and digest say",
            ("items",),
            put(good, "items.0.content", "Fifth."),
        ),
        (
            "size-wrong",
            "a size that is not the content's",
            ("items", "accounting", "summary"),
            put(good, "items.0.byte_count", 7),
        ),
        (
            "over-max-items",
            "more items than the policy allows",
            ("limits",),
            put(good, "policy.max_items", 1),
        ),
        (
            "over-max-item-bytes",
            "an item is larger than the policy allows",
            ("limits",),
            put(good, "policy.max_item_bytes", 6),
        ),
        (
            "over-max-total-bytes",
            "all items together are larger than the policy allows",
            ("limits",),
            put(good, "policy.max_total_bytes", 23),
        ),
        (
            "item-missing",
            "an item that the accounting kept is not there",
            ("accounting", "summary"),
            put(good, "items", items[:1]),
        ),
        (
            "items-swapped",
            "the items are not in the order of the inputs",
            ("accounting",),
            put(good, "items", items[::-1]),
        ),
        (
            "item-twice",
            "two items have the same id",
            ("items", "accounting", "summary"),
            put(good, "items", [items[0], items[0]]),
        ),
        (
            "decision-missing",
            "an input has no decision: the counts do not add up",
            ("accounting",),
            uncounted,
        ),
        (
            "decision-missing-counted",
            "the counts were mended; the summary still knows what was dropped",
            ("summary",),
            counted,
        ),
        (
            "decision-twice",
            "two decisions have the same id",
            ("accounting",),
            put(good, "accounting.decisions.2.evidence_id", "inline:1"),
        ),
        (
            "count-wrong",
            "one kept too many",
            ("accounting",),
            put(good, "accounting.kept", 2),
        ),
        (
            "input-bytes-wrong",
            "the bytes of the inputs are not those of the decisions",
            ("accounting",),
            put(good, "accounting.input_bytes", 0),
        ),
        (
            "outcome-wrong",
            "an outcome that is not that of the steps",
            ("accounting",),
            put(good, "accounting.decisions.1.outcome", "truncated"),
        ),
        (
            "steps-apart",
            "a step does not begin with the size that the one before ended with",
            ("accounting",),
            put(good, "accounting.decisions.1.steps", [step, {**step, "after_bytes": 18}]),
        ),
        (
            "type-wrong",
            "an id that is not of its type",
            ("form",),
            put(good, "accounting.decisions.0.evidence_type", "lake_text"),
        ),
        (
            "total-wrong",
            "a total that is not the sum of the items",
            ("summary",),
            put(good, "summary.total_bytes", 26),
        ),
        (
            "tokens-wrong",
            "approx_tokens is not a quarter of the bytes",
            ("summary",),
            put(good, "summary.approx_tokens", 7),
        ),
        (
            "types-wrong",
            "the types are not counted right",
            ("summary",),
            put(good, "summary.type_counts.inline_text", 3),
        ),
        (
            "redactions-wrong",
            "a redaction is not counted",
            ("summary",),
            put(good, "summary.redactions", {}),
        ),
        (
            "drop-hidden",
            "the summary says that nothing was dropped",
            ("summary",),
            put(good, "summary.bundle_bounding.applied", value=False),
        ),
    ):
        yield BundleVector(name, canonical_json(sealed(bundle)), why, fails)


def contradictory_records(good: Json, cut: Json, counted: Json) -> Iterator[BundleVector]:
    """Give bundles that say of a cut, of tokens or of redactions what the rest of them denies."""
    decision = "accounting.decisions.1"
    wrong = put(put(cut, f"{decision}.outcome", "redacted"), "accounting.sampled", 0)
    other = lake_path(seed("another result").hex())
    for name, why, fails, bundle in (
        (
            "outcome-of-the-last-step",
            "sampled, then redacted: the graver of the two is the outcome",
            ("accounting",),
            put(wrong, "accounting.redacted", 1),
        ),
        (
            "over-max-sql-rows",
            "more rows than the policy allows",
            ("limits",),
            put(cut, "policy.max_sql_rows", 1),
        ),
        (
            "over-max-sql-cols",
            "more columns than the policy allows",
            ("limits",),
            put(cut, "policy.max_sql_cols", 1),
        ),
        (
            "over-max-total-tokens",
            "more tokens than the policy allows",
            ("limits",),
            put(counted, "policy.max_total_tokens", TOKENS["rendered"] - 1),
        ),
        (
            "tokens-not-counted",
            "the policy names a tokenizer, and nothing is counted",
            ("summary",),
            put(counted, "summary.tokens", MISSING),
        ),
        (
            "tokens-of-another-tokenizer",
            "counted by another tokenizer than the policy's",
            ("summary",),
            put(counted, "summary.tokens.tokenizer", "llama3"),
        ),
        (
            "tokens-of-no-tokenizer",
            "counted by a tokenizer, and the policy names none",
            ("summary",),
            put(good, "summary.tokens", TOKENS),
        ),
        (
            "redacted-unasked",
            "something is redacted under a policy that does not redact",
            ("records",),
            put(good, "policy.enable_redaction", value=False),
        ),
        (
            "bounding-missing",
            "an item was truncated, and does not say so itself",
            ("records",),
            put(cut, "items.0.metadata.bounding", MISSING),
        ),
        (
            "bounding-of-nothing",
            "an item says that it was cut, and no step did",
            ("records",),
            put(good, "items.0.metadata.bounding", cut["items"][0]["metadata"]["bounding"]),
        ),
        (
            "whole-missing",
            "nothing leads to the whole of an item that was truncated",
            ("records",),
            put(cut, "items.0.full_ref", MISSING),
        ),
        (
            "whole-of-nothing",
            "something leads to the whole of an item that was not cut",
            ("records",),
            put(good, "items.0.full_ref", cut["items"][0]["full_ref"]),
        ),
        (
            "original-size-wrong",
            "the size before the cut is not that of the accounting",
            ("records",),
            put(cut, "items.0.metadata.bounding.original_size", 271),
        ),
        (
            "bounded-size-wrong",
            "the size after the cut is not the item's",
            ("records",),
            put(cut, "items.0.metadata.bounding.bounded_size", 154),
        ),
        (
            "whole-elsewhere",
            "a place in the lake that is not the digest's",
            ("records",),
            put(cut, "items.1.full_ref.lake_uri", other),
        ),
        (
            "artifact-elsewhere",
            "an input was loaded from a place in the lake that is not the digest's",
            ("records",),
            put(cut, f"{decision}.artifact_uri", other),
        ),
        (
            "dropped-elsewhere",
            "what was dropped is in a place in the lake that is not the digest's",
            ("records",),
            put(good, "summary.bundle_bounding.dropped_ref.lake_uri", other),
        ),
    ):
        yield BundleVector(name, canonical_json(sealed(bundle)), why, fails)
    for name, why, field, value in (
        ("no-digest-of-an-artifact", "an artifact without its digest", "sha256", MISSING),
        ("no-place-of-an-artifact", "the digest of an artifact of nowhere", "uri", MISSING),
        ("no-artifact-as-null", "null in place of nothing", "uri", None),
    ):
        bundle = sealed(put(cut, f"{decision}.artifact_{field}", value))
        yield BundleVector(name, canonical_json(bundle), why, ("form",))


def malformed_bundles(good: Json) -> Iterator[BundleVector]:
    """Give what is no bundle by its form; the digest is right where one can be taken."""
    for name, why, field, value in (
        ("unknown-field", "a field that bundles do not have", "note", "x"),
        ("unknown-field-of-an-item", "a field that items do not have", "items.0.note", "x"),
        ("no-accounting", "no accounting", "accounting", MISSING),
        ("no-default", "a field of the policy is left out", "policy.max_sql_cols", MISSING),
        ("negative-limit", "a negative limit", "policy.chunk_overlap", -1),
        ("overlap", "chunks that overlap by all that they have", "policy.chunk_overlap", 5000),
        ("token-limit", "a limit in tokens of nobody's", "policy.max_total_tokens", 9),
        ("unknown-strategy", "no strategy", "policy.sampling_strategy", "random"),
        ("unknown-type", "no type of evidence", "items.0.evidence_type", "rumour"),
        ("number-as-text", "a number as text", "summary.item_count", "2"),
        ("true-as-number", "true in place of 1", "accounting.kept", True),
        ("true-as-count", "true in place of 1, by kind", "summary.redactions.EMAIL", True),
        ("time", "a time without its fraction", "created_utc", "2026-01-05T09:00:30Z"),
        ("version", "no version", "build_version", "2"),
        ("long-number", "a number with a zero before it", "items.0.evidence_id", "inline:00"),
        ("whole-as-null", "null in place of nothing", "items.0.full_ref", None),
        ("tokens-as-null", "null in place of nothing", "summary.tokens", None),
        (
            "classes-in-another-order",
            "classes to redact that are not in their order",
            "policy.redaction_classes",
            ["PHONE", "EMAIL"],
        ),
    ):
        bundle = sealed(put(good, field, value))
        yield BundleVector(name, canonical_json(bundle), why, ("form",))
    data = canonical_json(good)
    twice = data[:-1] + b',"created_utc":"2026-01-05T09:00:30.000000Z"}'
    yield BundleVector("duplicate-key", twice, "a key stands twice", ("form",))
    yield BundleVector("array", b"[%s]" % data, "not an object", ("form",))


def bundle_files() -> dict[str, bytes]:
    """Return the job, its lake, the bundles, the statement, and the bundle as it is rendered."""
    bundle, data, lake = built_bundle()
    made = {
        "job.json": pretty({**JOB, "redaction_key": REDACTION_KEY.hex(), "created_utc": BUILT_AT}),
        "statement.json": bundle_statement(bundle.bundle_id, data),
        "rendered.txt": str(bundle.render()).encode(),
        **{f"lake/{path}": file for path, file in lake.items()},
    }
    return made | {vector.path: vector.data for vector in bundle_vectors()}


def bundle_tables() -> Json:
    """Return the index of bundles, and tables for the rules that they are built by."""
    return {
        "bundles": [
            {"file": f"bundle/{vector.path}", "fails": list(vector.fails), "why": vector.why}
            for vector in bundle_vectors()
        ],
        "ids": id_vectors(),
        "sampled_rows": sampling_vectors(),
        "kept": kept_vectors(),
        "cuts": cut_vectors(),
        "redactions": redaction_vectors(),
        "nonces": nonce_vectors(),
    }


def id_vectors() -> Json:
    """Return inputs in their order, and the id that each gets."""
    once, near = seed("a source").hex(), seed("another source").hex()
    alike = once[:13] + near[13:]
    given = [
        (EvidenceType.INLINE_TEXT, "", "0"),
        (EvidenceType.LAKE_TEXT, once, "0"),
        (EvidenceType.LAKE_HTTP, near, "0"),
        (EvidenceType.LAKE_TEXT, alike, "0"),
        (EvidenceType.SQL_RESULT, once, "0"),
        (EvidenceType.SQL_RESULT, near, "0:0-100"),
        (EvidenceType.SQL_QUERY_DEF, once, ""),
        (EvidenceType.DOC_CHUNK, once, "0"),
        (EvidenceType.DOC_CHUNK, once, "1"),
        (EvidenceType.DOC_CHUNK, once, "1"),
        (EvidenceType.TRANSCRIPT_CHUNK, near, "12"),
        *[(EvidenceType.SQL_QUERY_DEF, near, "")] * 55,
    ]
    ids = evidence_ids([Candidate(kind, "", "", digest, part) for kind, digest, part in given])
    return {
        "given": [
            {"evidence_type": kind.value, "digest": digest, "part": part, "evidence_id": one}
            for (kind, digest, part), one in zip(given, ids, strict=True)
        ]
    }


def sampling_vectors() -> list[Json]:
    """Return which rows of how many are shown."""
    return [
        {
            "total": total,
            "limit": limit,
            "strategy": strategy,
            "rows": list(sampled_rows(total, limit, strategy)),
        }
        for total, limit in (
            *((0, 5), (5, 0), (1, 1), (5, 5), (4, 9), (10, 1), (10, 2), (10, 3), (12, 5), (7, 4)),
            *((100, 7), (10_000_000_019, 6)),
        )
        for strategy in STRATEGIES
    ]


def kept_vectors() -> list[Json]:
    """Return sizes and priorities, and the places that stay within limits."""
    return [
        {
            "sizes": sizes,
            "priorities": priorities,
            "max_items": items,
            "max_total_bytes": total,
            "kept": kept_places(sizes, priorities, max_items=items, max_total_bytes=total),
        }
        for sizes, priorities, items, total in (
            ([], [], 5, 100),
            ([10, 10, 10], [0, 0, 0], 5, 100),
            ([10, 10, 10], [0, 0, 0], 2, 100),
            ([10, 10, 10], [0, 1, 2], 2, 100),
            ([10, 80, 10, 10], [0, 0, 0, 0], 9, 50),
            ([10, 80, 10, 10], [0, -1, 0, 0], 9, 50),
            ([10, 10, 0], [0, 0, 0], 9, 20),
            ([0, 10], [0, 0], 9, 0),
            ([5], [7], 0, 100),
            ([50], [7], 9, 50),
        )
    ]


def cut_vectors() -> list[Json]:
    """Return texts, limits in bytes, and what is left of the texts."""
    return [
        {"text": text, "limit": limit, "cut": cut_to_bytes(text, limit)}
        for text, limit in (
            ("plain", 5),
            ("plain", 4),
            ("plain", 0),
            ("Zoë", 3),
            ("Zoë", 4),
            ("Zoe\u0308", 4),
            ("a\r\nb", 2),
            (f"a{FAMILY}b", 18),
            (f"a{FAMILY}b", 19),
            ("🇩🇪🇫🇷", 12),
            ("क्षि", 9),
        )
    ]


def redaction_vectors() -> Json:
    """Return values, the text that the digest is taken over, and the digest."""
    values = (
        *(("EMAIL", "Zoe@Acme.example"), ("EMAIL", "zoe@acme.example")),
        *(("CARD", "4111 1111-1111 1111"), ("PHONE", "+49 (0)30 1234567")),
        *(("PHONE", "0049 30 1234567"), ("IBAN", "de89 3704 0044 0532 0130 00")),
        *(("IPV6", "2001:db8::1"), ("IPV4", "192.0.2.1"), ("EMPLOYEE_ID", "EMP-0042")),
    )
    made = []
    for kind, value in values:
        form = normalised(kind, value)
        found = hmac.digest(REDACTION_KEY, f"{kind}\0{form}".encode(), "sha256").hex()
        made.append({"kind": kind, "value": value, "normalised": form, "digest": found})
    return {"key": REDACTION_KEY.hex(), "values": made}


def nonce_vectors() -> list[Json]:
    """Return digests, keys, texts, and the nonce that comes of them."""
    digest = seed("a bundle").hex()
    first = fence_nonce(digest, [])
    arabic = "".join(chr(0x0660 + int(one)) for one in first)
    return [
        {
            "why": why,
            "bundle_sha256": digest,
            "key": key.hex(),
            "texts": texts,
            "nonce": fence_nonce(digest, texts, key=key),
        }
        for why, key, texts in (
            ("no key", b"", []),
            ("a key", RENDERING_KEY, []),
            ("a text has the first nonce", b"", [f"</evidence-{first}>"]),
            ("other digits, with something in between", b"", [" ".join(arabic)]),
            ("all but one of its digits", b"", [first[1:]]),
        )
    ]


def bundle_key() -> SigningKey:
    """Return the key of the log that bundles are recorded in."""
    return SigningKey.from_seed(BUNDLE_ORIGIN, seed(f"key of {BUNDLE_ORIGIN}"))


def bundle_body(bundle: EvidenceBundle, data: bytes) -> Json:
    """Return the body of the entry that records a bundle."""
    return {
        "statement_sha256": sha256_hex(bundle_statement(bundle.bundle_id, data)),
        "predicate_type": BUNDLE_PREDICATE,
        "bundle_sha256": bundle.bundle_sha256,
        "summary": bundle.summary.model_dump(mode="json", exclude_none=True),
    }


def run_body(bundle: EvidenceBundle) -> Json:
    """Return the body of the entry that says that a run used a bundle."""
    return {
        "run_id": RUN_ID,
        "bundle_id": bundle.bundle_id,
        "bundle_sha256": bundle.bundle_sha256,
    }


def bundle_log() -> Log:
    """Return a log with a bundle, and a run that used it."""
    bundle, data, _ = built_bundle()
    log = Log(BUNDLE_ORIGIN, [bundle_key()])
    log.announce(log.keys[0])
    log.append(EntryKind.BUNDLE, f"bundle/{bundle.bundle_id}", bundle_body(bundle, data))
    log.append(EntryKind.RUN, f"run/{RUN_ID}", run_body(bundle))
    return log


def bundle_proofs() -> Iterator[ProofVector]:
    """Give proofs of a bundle and of a run."""
    log = bundle_log()
    bundle, data, _ = built_bundle()
    payload = bundle_statement(bundle.bundle_id, data)
    run = log.prove(2, len(log.entries), log.keys[0])
    other = payload.replace(b"15 days", b"25 days")
    for name, why, fails, proof in (
        ("bundle", "a bundle with its statement", (), enveloped(log, 1, payload)),
        ("run", "a run that used a bundle", (), run),
        (
            "bundle-changed",
            "another bundle than the one that was recorded",
            ("statement",),
            enveloped(log, 1, other),
        ),
        (
            "run-of-another-bundle",
            "the run is said to have used another bundle",
            ("content",),
            changed(run, "body.bundle_id", bundle_id_of(seed("another").hex())),
        ),
    ):
        yield ProofVector(name, pretty(proof), why, fails, "bundle-log.pub")


# Packs

DECISION_ID = "dec_mx4_hold"
INSPECTION = (
    "Inspection of lot L-2617, 4 January 2026.\n\nNine of forty units drift by more than 0.5 % "
    "after six hours at 60 °C. The seal of the reference chamber is porous.\n"
)
EVIDENCE = (
    Evidence(
        source="quality.inspection",
        uri="lake://reports/inspection-L-2617.txt",
        excerpt="Nine of forty units drift by more than 0.5 % after six hours at 60 °C.",
        content=INSPECTION,
        retrieved_at="2026-01-05T08:40:00.000000Z",
        confidence=0.95,
    ),
    Evidence(
        source="crm.returns",
        reference="returns/MX-4/2025-12",
        excerpt="12 of 300 units came back in December; 11 of them are of lot L-2617.",
        retrieved_at="2026-01-02T16:00:00.000000Z",
        confidence=0.8,
    ),
)
MEMO = BilingualMemo(
    title_en="Hold lot L-2617 of the MX-4",
    title_ar="إيقاف الدفعة L-2617 من جهاز MX-4",
    executive_summary_en=(
        "Lot L-2617 is to be held. The inspection found drift in nine of forty units [1], and "
        "nearly all returned units are of this lot [2]."
    ),
    executive_summary_ar=(
        "يُوصى بإيقاف الدفعة L-2617. فقد رصد الفحص انحرافًا في تسع وحدات من أصل أربعين [1]، ومعظم "
        "الوحدات المرتجعة من هذه الدفعة [2]."
    ),
    body_en=(
        "The inspection of 4 January names a porous seal as the cause [1]. The returns of December "
        "point to the same lot [2]. The attempt to block the lot in the warehouse failed, and a "
        "message that was to be drafted was sent."
    ),
    body_ar=(
        "يُرجع فحص الرابع من يناير السبب إلى مسامية الحشية [1]، وتشير مرتجعات ديسمبر إلى الدفعة "
        "ذاتها [2]. وقد أخفقت محاولة حجز الدفعة في المستودع، وأُرسلت رسالة كان المقصود إعداد "
        "مسودتها فقط."
    ),
)
CALLS = (
    ToolCallRecord(
        tool_name="erp.get_lot",
        intended_action="retrieve lot L-2617 read-only",
        actual_action="retrieved lot L-2617 read-only",
        inputs={"lot": "L-2617"},
        outputs={"result": {"lot": "L-2617", "units": 300}},
        verification_status=VerificationStatus.VERIFIED,
        called_at="2026-01-05T08:45:00.000000Z",
        duration_ms=41.5,
    ),
    ToolCallRecord(
        tool_name="erp.block_lot",
        intended_action="block lot L-2617",
        actual_action="failed: TimeoutError: no answer in 30 s",
        inputs={"lot": "L-2617"},
        outcome=ToolOutcome.FAILED,
        error="TimeoutError: no answer in 30 s",
        verification_status=VerificationStatus.FAILED,
        called_at="2026-01-05T08:46:00.000000Z",
        duration_ms=30000,
    ),
    ToolCallRecord(
        tool_name="mail.compose",
        intended_action="draft a message to the warehouse",
        actual_action="sent a message to the warehouse",
        inputs={"to": "[EMAIL_1]"},
        outputs={"result": "queued"},
        side_effects=("sent message id=77 to the warehouse",),
        called_at="2026-01-05T08:47:00.000000Z",
        duration_ms=12,
    ),
)
OFFERED = ("erp.get_lot", "erp.block_lot", "mail.compose", "erp.scrap_lot")
PACKED, REVIEWED, EXPORTED, REMOVED = 8, 9, 12, 16
"""The entries of the pack, of its review, of the export, and of the first version's erasure."""


def decision() -> DecisionOutput:
    """Return the decision that the pack is about."""
    return DecisionOutput(
        decision_id=DECISION_ID,
        entity_id="lot_L-2617",
        tenant_id="acme",
        agent_name="quality_desk",
        model="example-model",
        model_version="2026-01",
        decision="Hold lot L-2617 until the seal is replaced.",
        decision_ar="إيقاف الدفعة L-2617 إلى حين استبدال الحشية.",
        approval_class=ApprovalClass.A2,
        reversibility_class=ReversibilityClass.R1,
        sensitivity_class=SensitivityClass.S2,
        confidence=0.84,
        high_stakes=True,
        conflicted=True,
        evidence=EVIDENCE,
        decided_at="2026-01-05T09:05:30.000000Z",
        data_freshness_window_hours=48,
    )


@cache
def packs() -> tuple[EvidencePack, EvidencePack]:
    """Return the pack of the decision, and the version that a review made of it."""
    tools = ToolVerificationLedger()
    tools.offer(DECISION_ID, *OFFERED)
    for call in CALLS:
        tools.record(DECISION_ID, call)
    bundle, _, _ = built_bundle()
    checked, _ = sessions()
    first = assemble(
        decision(),
        memo=MEMO,
        tool_ledger=tools,
        created_at="2026-01-05T09:07:30.000000Z",
        prompts=[PromptRecord(template_name="hold_or_ship", template_version="1.0")],
        bundles=[BundleReference(bundle_id=bundle.bundle_id, bundle_sha256=bundle.bundle_sha256)],
        ledger=LedgerReference(
            ledger_id=checked.ledger.id,
            statement_sha256=sha256_hex(checked.to_statement().encode()),
            summary=checked.ledger.summary,
        ),
        attachments=[
            Attachment(
                name="inspection.txt",
                media_type="text/plain",
                sha256=sha256_hex(INSPECTION.encode()),
                bytes=len(INSPECTION.encode()),
                source=1,
            )
        ],
        trace_id=seed("trace").hex()[:32],
    )
    again = reviewed(
        first,
        reviewer="layla",
        outcome=ReviewOutcome.APPROVED,
        at="2026-01-05T09:08:30.000000Z",
        note="Agreed. Tell sales.",
    )
    return first, again


def small_pack() -> EvidencePack:
    """Return a pack with as little in it as can be sealed."""
    return EvidencePack(
        decision_id="dec_small",
        entity_id="lot_L-2618",
        tenant_id="acme",
        agent_name="quality_desk",
        model="example-model",
        sources=(
            {
                "source": "quality.inspection",
                "reference": "L-2618",
                "excerpt": "No unit drifts.",
                "retrieved_at": "2026-01-05T08:40:00.000000Z",
                "confidence": 1,
            },
        ),
        memo=BilingualMemo(
            title_en="Ship lot L-2618",
            title_ar="شحن الدفعة L-2618",
            executive_summary_en="No unit drifts [1].",
            executive_summary_ar="لا انحراف في أي وحدة [1].",
            body_en="The lot can be shipped.",
            body_ar="يمكن شحن الدفعة.",
        ),
        created_at="2026-01-05T09:07:30.000000Z",
    )


def second_form(small: EvidencePack) -> EvidencePack:
    """Return a pack with what only the second form knows."""
    calls = [
        CALLS[0].model_copy(update={"verification_status": status})
        for status in ("pending", "contradicted")
    ]
    return small.model_copy(update={"pack_id": "", "tool_calls": calls})


def pack_key() -> SigningKey:
    """Return the key of the log that packs are recorded in."""
    return SigningKey.from_seed(PACK_ORIGIN, seed(f"key of {PACK_ORIGIN}"))


def pack_body(pack: EvidencePack, by: str) -> Json:
    """Return the body of the entry that records a pack."""
    return {
        "statement_sha256": sha256_hex(pack_statement(pack)),
        "predicate_type": PACK_PREDICATES[pack.v],
        "decision_id": pack.decision_id,
        "version": pack.version,
        "replaces": pack.replaces,
        "by": by,
    }


def decision_body() -> Json:
    """Return the body of the entry that records the decision."""
    made = decision()
    return {
        "decision_sha256": made.sha256,
        "summary_sha256": digest(DecisionSummary.of(made).model_dump(mode="json")),
        "entity_id": made.entity_id,
        "agent_name": made.agent_name,
        "approval_class": made.approval_class.value,
        "reversibility_class": made.reversibility_class.value,
        "sensitivity_class": made.sensitivity_class.value,
        "decided_at": made.decided_at,
        **pack_requirement(made).model_dump(mode="json"),
    }


@cache
def pack_log() -> Log:
    """Return a log with all that is recorded of a decision and its pack."""
    log = Log(PACK_ORIGIN, [pack_key()])
    log.announce(log.keys[0])
    grant = {
        "action": "grant",
        "user": "layla",
        "tenant_id": "acme",
        "role": "approver",
        "granted_by": "owner",
        "granted_at": "2026-01-05T09:01:00.000000Z",
        "expires_at": None,
    }
    own = {"action": "own", "user": "omar", "agent_name": "quality_desk", "by": "owner"}
    log.append(EntryKind.ACCESS, "user/layla", grant)
    log.append(EntryKind.ACCESS, "user/omar", own)
    subject = f"decision/{DECISION_ID}"
    log.append(EntryKind.TOOL_CALL, subject, {"offered": list(OFFERED)})
    for call in CALLS:
        log.append(EntryKind.TOOL_CALL, subject, {"call": call.model_dump(mode="json")})
    log.append(EntryKind.DECISION, subject, decision_body())
    first, again = packs()
    log.append(EntryKind.PACK, first.pack_id, pack_body(first, "owner"))
    log.append(EntryKind.REVIEW, again.pack_id, pack_body(again, "layla"))
    hold = {"action": "hold", "reason": "Claim 26-118 of Vester Dairy", "by": "owner"}
    log.append(EntryKind.RETENTION, again.pack_id, hold)
    approval = {"action": "approve", "approval_class": "A1", "by": "layla", "note": "For counsel"}
    log.append(EntryKind.EXPORT, again.pack_id, approval)
    export = {
        "action": "export",
        "approval": EXPORTED - 1,
        "by": "omar",
        "format": "json",
        "sha256": sha256_hex(exported(log, REVIEWED, again, EXPORTED)),
    }
    log.append(EntryKind.EXPORT, again.pack_id, export)
    policy = {"years": 10, "basis": "Saudi financial institutions", "by": "owner"}
    log.append(EntryKind.RETENTION, "retention", policy)
    revoke = {"action": "revoke", "user": "layla", "role": "approver", "by": "owner"}
    log.append(EntryKind.ACCESS, "user/layla", revoke)
    release = {"action": "release", "reason": "Settled", "by": "owner"}
    log.append(EntryKind.RETENTION, again.pack_id, release)
    erasure = {
        "entry": PACKED,
        "leaf": log.leaves[PACKED].hex(),
        "reason": "Order of the court, 2026-01-05",
        "by": "legal@acme.example",
    }
    log.append(EntryKind.ERASURE, f"entry/{PACKED}", erasure)
    removed = {
        "action": "removed",
        "decision_id": first.decision_id,
        "version": first.version,
        "statement_sha256": sha256_hex(pack_statement(first)),
        "by": "owner",
    }
    log.append(EntryKind.RETENTION, first.pack_id, removed)
    return log


def attached(*files: tuple[str, bytes]) -> list[Json]:
    """Return files as a proof file has them."""
    return [{"name": name, "data": b64encode(data).decode()} for name, data in files]


INSPECTED = attached(("inspection.txt", INSPECTION.encode()))


def exported(log: Log, seq: int, pack: EvidencePack, size: int) -> bytes:
    """Return a pack's bytes as it was exported when the log had a size."""
    (key,) = log.keys
    envelope = Envelope.sign(pack_statement(pack), key).as_json()
    proof = log.prove(seq, size, key)
    return written({**proof, "envelope": envelope, "attachments": INSPECTED})


def recorded_pack(
    payload: bytes, subject: str, kind: EntryKind = EntryKind.PACK, told: Json | None = None
) -> bytes:
    """Return an exported pack that was recorded and signed as it is, right or wrong."""
    origin = log_origin("8e27f0a4c5d1936b", "acme")
    log = Log(origin, [SigningKey.from_seed(origin, seed(f"key of {PACK_ORIGIN}"))])
    log.announce(log.keys[0])
    statement = json.loads(payload)
    pack = statement["predicate"]
    body = {
        "statement_sha256": sha256_hex(payload),
        "predicate_type": statement["predicateType"],
        **{name: pack[name] for name in ("decision_id", "version", "replaces")},
        "by": "owner",
    }
    log.append(kind, subject, {**body, **(told or {})})
    return written(enveloped(log, 1, payload))


class PackVector(NamedTuple):
    """An exported pack, and what must come out."""

    name: str
    data: bytes
    why: str
    fails: tuple[str, ...] = ()
    key: str | None = "pack-log.pub"

    @property
    def path(self) -> str:
        """Where the file is, below the folder of packs."""
        return f"{'refused' if self.fails else 'holds'}/{self.name}.json"

    def as_json(self) -> Json:
        """Return the line of the index."""
        line = ProofVector(self.name, self.data, self.why, self.fails, self.key).as_json()
        return {**line, "file": f"pack/{self.path}"}


def pack_vectors() -> Iterator[PackVector]:
    """Give exported packs that hold, and that are refused by one of their checks."""
    first, again = packs()
    log = pack_log()
    small = small_pack()
    second = second_form(small)
    reviewed_file = exported(log, REVIEWED, again, EXPORTED)
    good = parse_json(exported(log, PACKED, first, REMOVED))
    bare = {name: good[name] for name in good if name != "attachments"}
    for name, why, data in (
        ("exported", "a pack with its attachment", written(good)),
        ("reviewed", "the version that a review made of it", reviewed_file),
        (
            "digests-alone",
            "without the attachments: the statement has their digests",
            written(bare),
        ),
        (
            "small",
            "as little as a pack can have",
            recorded_pack(pack_statement(small), small.pack_id),
        ),
        (
            "second-form",
            "a call that is still to be checked, and one that something contradicts",
            recorded_pack(pack_statement(second), second.pack_id),
        ),
    ):
        yield PackVector(name, data, why)
    why = "without a trusted key the signer is unknown"
    yield PackVector("exported", written(good), why, key=None)
    yield from plain_packs(good)
    yield from later_packs()
    yield from respelled_packs(good)
    yield from changed_packs(good)
    yield from recorded_packs(json.loads(small.encode()))


def in_plain(good: Json) -> Json:
    """Return an exported pack of version 2: with the pack in plain beside the envelope."""
    return Proof.parse(written(good)).in_plain().as_json()


def plain_packs(good: Json) -> Iterator[PackVector]:
    """Give exported packs of version 2, whose plain part is what was signed, or is not."""
    plain = in_plain(good)
    pack: Json = plain["predicate"]
    memo, sources = pack["memo"], pack["sources"]
    bare = {name: plain[name] for name in plain if name != "attachments"}
    yield PackVector("plain", written(plain), "a pack in plain, with its attachment")
    yield PackVector("plain-digests-alone", written(bare), "in plain, without the attachments")
    why = "in plain; without a trusted key the signer is unknown"
    yield PackVector("plain", written(plain), why, key=None)
    edited = {**memo, "title_en": "Ship lot L-2617"}
    short = {name: memo[name] for name in memo if name != "title_ar"}
    for name, why, other in (
        ("plain-altered", "a field in plain says something else", {**pack, "memo": edited}),
        ("plain-field-more", "a field in plain that was not signed", {**pack, "score": 1}),
        ("plain-field-less", "a field that was signed is not in plain", {**pack, "memo": short}),
        ("plain-reordered", "a list in another order", {**pack, "sources": sources[::-1]}),
        ("plain-truth", "a number of another type", {**pack, "version": True}),
        ("plain-empty", "nothing in plain", {}),
    ):
        yield PackVector(name, written({**plain, "predicate": other}), why, ("plain",))
    backwards = {**plain, "predicate": {**pack, "memo": dict(reversed(memo.items()))}}
    spelled = json.dumps(backwards, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    why = "the fields of the memo in plain stand in another order"
    yield PackVector("plain-fields-reordered", spelled, why, ("file",))
    for name, why, document in (
        ("plain-missing", "version 2, and nothing stands in plain", {**good, "v": 2}),
        ("plain-in-version-1", "version 1 has nothing in plain", {**plain, "v": 1}),
        ("plain-text", "text in place of what stands in plain", {**plain, "predicate": "pack"}),
    ):
        yield PackVector(name, written(document), why, ("format",))


def respelled_packs(good: Json) -> Iterator[PackVector]:
    """Give exported packs whose value is right, and whose bytes are not."""
    data = written(good)
    for name, why, other in (
        ("indented", "spaces and newlines that an export does not have", pretty(good)),
        ("no-newline", "the newline at the end is missing", data.rstrip(b"\n")),
        ("two-newlines", "a second newline at the end", data + b"\n"),
        ("escaped", "a letter is written as an escape", data.replace(b"evid", b"\\u0065vid", 1)),
        (
            "other-order",
            "the fields stand in another order",
            json.dumps(dict(reversed(good.items())), separators=(",", ":")).encode() + b"\n",
        ),
    ):
        yield PackVector(name, other, why, ("file",))


def changed_packs(good: Json) -> Iterator[PackVector]:
    """Give exported packs in which something was changed afterwards."""
    first, again = packs()
    changed_file = attached(("inspection.txt", INSPECTION.replace("Nine", "None").encode()))
    other_name = attached(("other.txt", INSPECTION.encode()))
    payload = pack_statement(first)
    envelope = good["envelope"]
    edited = payload.replace(b"Hold lot", b"Ship lot", 1)
    for name, why, fails, field, value in (
        (
            "attachment-changed",
            "an attachment is not the file that the statement names",
            ("attachment",),
            "attachments",
            changed_file,
        ),
        (
            "attachment-unknown",
            "an attachment that the statement does not name",
            ("attachment",),
            "attachments",
            [*INSPECTED, *other_name],
        ),
        (
            "attachment-renamed",
            "an attachment under another name",
            ("attachment",),
            "attachments",
            other_name,
        ),
        (
            "attachment-twice",
            "an attachment is there twice",
            ("attachment",),
            "attachments",
            INSPECTED * 2,
        ),
        (
            "edited",
            "the pack was edited in place",
            ("statement", "pack"),
            "envelope",
            {**envelope, "payload": b64encode(edited).decode()},
        ),
        (
            "edited-and-signed",
            "the pack was edited in place and signed anew, and is not the one that was recorded",
            ("statement", "pack"),
            "envelope",
            Envelope.sign(edited, pack_key()).as_json(),
        ),
        (
            "other-version",
            "a version of the pack in the place of another",
            ("statement", "pack"),
            "envelope",
            Envelope.sign(pack_statement(again), pack_key()).as_json(),
        ),
    ):
        yield PackVector(name, written({**good, field: value}), why, fails)


def resealed(pack: Json) -> Json:
    """Return a pack with the id that follows from the rest of it."""
    content = {name: value for name, value in pack.items() if name != "pack_id"}
    return {"pack_id": derived_id("pack", content), **content}


def stated(pack: Json, **others: Any) -> bytes:
    """Return the statement about a pack, right or wrong, or with other fields."""
    digest = {"sha256": sha256_hex(canonical_json(pack))}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": pack,
        "predicateType": PACK_PREDICATES[1],
        "subject": [{"name": f"pack/{pack.get('pack_id')}", "digest": digest}],
    }
    return canonical_json({**statement, **others})


def recorded_packs(small: Json) -> Iterator[PackVector]:
    """Give packs that were recorded and signed as they are, and are none or do not add up."""
    fails = ("pack",)
    for name, why, field, value in (
        ("other-id", "an id that does not follow from the content", "pack_id", "pack_" + "0" * 16),
        ("no-id", "the id is missing", "pack_id", MISSING),
        ("unknown-field", "a field that a pack does not have", "score", 1),
        ("missing-field", "a field is missing", "tools_offered", MISSING),
        ("no-sources", "no source", "sources", []),
        ("version-2", "a field v of another version", "v", 2),
        ("time", "a time without its fraction", "created_at", "2026-01-05T09:07:30Z"),
        ("no-such-day", "a day that there is not", "created_at", "2026-02-30T09:07:30.000000Z"),
        ("blank-name", "a name that is blank", "entity_id", " "),
        ("one-language", "a memo in one language", "memo.body_ar", ""),
        ("excerpt", "a source without an excerpt", "sources.0.excerpt", ""),
        ("nowhere", "a source that leads nowhere", "sources.0.reference", None),
        ("confidence", "a confidence above 1", "sources.0.confidence", 1.5),
        ("half-a-review", "a reviewer and no review", "reviewer_id", "layla"),
        ("note-without-review", "a note and no review", "review_note", "Fine."),
        ("replaces-nothing", "a second version that replaces nothing", "version", 2),
        ("replaces", "a first version that replaces a pack", "replaces", "pack_" + "0" * 16),
        ("trace", "a trace id that is none", "trace_id", "0"),
    ):
        pack = put(small, field, value)
        if field != "pack_id":
            pack = resealed(pack)
        data = recorded_pack(stated(pack), str(pack.get("pack_id")))
        yield PackVector(name, data, why, fails)
    call = json.loads(canonical_json(CALLS[0].model_dump(mode="json")))
    file = {
        "name": "a.txt",
        "media_type": "text/plain",
        "sha256": sha256_hex(b"a"),
        "bytes": 1,
        "source": None,
    }
    names = {"name": "attachment/a.txt", "digest": {"sha256": sha256_hex(b"a")}}
    for name, why, field, value in (
        ("two-names", "two attachments of one name", "attachments", [file, file]),
        (
            "attachment-of-no-source",
            "an attachment of a source that is not there",
            "attachments",
            [{**file, "source": 2}],
        ),
        (
            "failed-without-error",
            "a call that failed, and no error",
            "tool_calls",
            [{**call, "outcome": "failed"}],
        ),
        (
            "error-without-failure",
            "a call with an error that did not fail",
            "tool_calls",
            [{**call, "error": "no answer"}],
        ),
        (
            "status-without-failure",
            "nothing to check of a call that did not fail",
            "tool_calls",
            [{**call, "verification_status": "failed"}],
        ),
        (
            "contradiction-off",
            "a contradiction that is switched off",
            "tool_calls",
            [{**call, "contradiction_basis": "different"}],
        ),
        (
            "status-of-second-form",
            "a call of the second form in a pack of the first",
            "tool_calls",
            [{**call, "verification_status": "pending"}],
        ),
    ):
        pack = resealed(put(small, field, value))
        subject = {
            "name": f"pack/{pack['pack_id']}",
            "digest": {"sha256": sha256_hex(canonical_json(pack))},
        }
        subjects = [subject, *([names] * len(value) if field == "attachments" else [])]
        data = recorded_pack(stated(pack, subject=subjects), pack["pack_id"])
        yield PackVector(name, data, why, fails)
    second = {"predicateType": PACK_PREDICATES[2]}
    review = {"reviewer_id": "layla", "reviewed_at": "2026-01-05T09:30:00.000000Z"}
    for name, why, changes, others, kind in (
        ("second-form-for-nothing", "the second form, without need", {"v": 2}, second, "pack"),
        ("type-of-second-form", "the type of another form", {}, second, "pack"),
        ("review-without-outcome", "a review that came to nothing", review, {}, "review"),
    ):
        pack = resealed({**small, **changes})
        data = recorded_pack(stated(pack, **others), pack["pack_id"], EntryKind(kind))
        yield PackVector(name, data, why, fails)
    yield from misnamed_packs(small)


def misnamed_packs(small: Json) -> Iterator[PackVector]:
    """Give packs that add up, and are not what statement or entry are about."""
    fails, pack_id = ("pack",), small["pack_id"]
    digest = {"sha256": sha256_hex(canonical_json(small))}
    right = {"name": f"pack/{pack_id}", "digest": digest}
    other = {"name": "attachment/a.txt", "digest": digest}
    for name, why, subjects in (
        ("other-subject", "the statement is about another name", [{**right, "name": "pack/1"}]),
        ("other-digest", "the digest is not the pack's", [{**right, "digest": other_digest()}]),
        ("more-subjects", "an attachment that the pack does not have", [right, other]),
    ):
        data = recorded_pack(stated(small, subject=subjects), pack_id)
        yield PackVector(name, data, why, fails)
    why = "the entry is about another pack"
    yield PackVector("other-entry", recorded_pack(stated(small), "pack_1"), why, fails)
    for kind in (EntryKind.REVIEW, EntryKind.LEDGER):
        data = recorded_pack(stated(small), pack_id, kind)
        why = f"an entry of kind {kind.value}, and no review"
        yield PackVector(f"entry-of-a-{kind.value}", data, why, fails)
    for name, value in (("decision_id", "dec_2"), ("version", 2), ("replaces", "pack_" + "0" * 16)):
        data = recorded_pack(stated(small), pack_id, told={name: value})
        why = f"the entry says another {name}"
        yield PackVector(f"entry-other-{name.replace('_', '-')}", data, why, fails)
    elsewhere = resealed({**small, "tenant_id": "globex"})
    data = recorded_pack(stated(elsewhere), elsewhere["pack_id"])
    yield PackVector("other-tenant", data, "the pack is another tenant's", fails)


def other_digest() -> Json:
    """Return a digest of nothing here."""
    return {"sha256": seed("nothing here").hex()}


def pack_files() -> dict[str, bytes]:
    """Return the decision, the statement of its pack, the attachment, and the exported packs."""
    first, _ = packs()
    made = {
        "decision.json": pretty(decision().as_json()),
        "statement.json": pack_statement(first),
        "inspection.txt": INSPECTION.encode(),
    }
    return made | {vector.path: vector.data for vector in pack_vectors()}


def pack_proofs() -> Iterator[ProofVector]:
    """Give proofs of what is recorded of a decision and its pack."""
    log = pack_log()
    first, _ = packs()
    size, key = len(log.entries), log.keys[0]
    good = parse_json(exported(log, PACKED, first, REMOVED))
    for name, why, seq in (
        ("access-grant", "a role that was given", 1),
        ("access-own", "an agent of somebody's own", 2),
        ("tool-offered", "tools that could have been used", 3),
        ("tool-call", "a call that did something else than was meant", 6),
        ("tool-call-failed", "a call that failed", 5),
        ("decision", "a decision", 7),
        ("hold", "a legal hold", 10),
        ("export-approved", "an approval to export a pack", 11),
        ("export", "an export", EXPORTED),
        ("retention", "for how long packs are kept", 13),
        ("access-revoke", "a role that was taken away", 14),
        ("pack-removed", "a pack that was removed", 17),
    ):
        yield ProofVector(name, pretty(log.prove(seq, size, key)), why, key="pack-log.pub")
    yield ProofVector("pack", pretty(good), "a pack with its attachment", key="pack-log.pub")
    plain = in_plain(good)
    why = "a pack with its attachment, and in plain"
    yield ProofVector("pack-plain", pretty(plain), why, key="pack-log.pub")
    without = {name: good[name] for name in good if name != "envelope"}
    changed_file = attached(("inspection.txt", b"Nothing was found.\n"))
    (one,) = INSPECTED
    for name, why, fails, proof in (
        (
            "attachment-changed",
            "another file",
            ("attachment",),
            {**good, "attachments": changed_file},
        ),
        ("attachments-without-envelope", "files that nothing names", ("format",), without),
        (
            "plain-altered",
            "what stands in plain is not what was signed",
            ("plain",),
            {**plain, "predicate": {**plain["predicate"], "model": "another"}},
        ),
        (
            "plain-without-envelope",
            "something in plain, and nothing signed",
            ("format",),
            {name: plain[name] for name in plain if name not in {"envelope", "attachments"}},
        ),
        ("plain-null", "null in plain", ("format",), {**plain, "predicate": None}),
        ("plain-version-3", "version 3, and nothing later", ("format",), {**plain, "v": 3}),
        ("attachments-empty", "no file", ("format",), {**good, "attachments": []}),
        ("attachments-null", "null in place of files", ("format",), {**good, "attachments": None}),
        (
            "attachment-field",
            "an attachment with a field more",
            ("format",),
            {**good, "attachments": [{**one, "bytes": 1}]},
        ),
        (
            "attachment-nameless",
            "an attachment without a name",
            ("format",),
            {**good, "attachments": [{"data": one["data"]}]},
        ),
        (
            "attachment-base64",
            "an attachment that is not Base64",
            ("format",),
            {**good, "attachments": [{**one, "data": "Zg"}]},
        ),
    ):
        yield ProofVector(name, pretty(proof), why, fails, "pack-log.pub")


# The second form of bodies


def second_keys() -> tuple[SigningKey, SigningKey]:
    """Return the keys of the log that goes on in the second form."""
    old, new = (seed(f"key {number} of {SECOND_ORIGIN}") for number in (1, 2))
    return SigningKey.from_seed(SECOND_ORIGIN, old), SigningKey.from_seed(SECOND_ORIGIN, new)


def second_log() -> Log:
    """Return a log that was begun in the first form: from entry 2 on bodies say who acted."""
    old, new = second_keys()
    log = Log(SECOND_ORIGIN, [old, new])
    log.announce(old)
    record = records()[0]
    log.append(EntryKind.EVIDENCE_RECORD, record.obligation_id, record.model_dump())
    change = create_status_change_record(
        "OBL-001", "current", "superseded", "Replaced by the 2026 agreement", "DOC-11"
    )
    checked, (bundle, data, _) = sessions()[0], built_bundle()
    subject = f"decision/{DECISION_ID}"
    for kind, about, by, body in (
        (EntryKind.EVIDENCE_RECORD, "OBL-001", "intake@acme.example", record.model_dump()),
        (EntryKind.STATUS_CHANGE, "OBL-001", "ليلى", change.model_dump()),
        (EntryKind.LEDGER, checked.ledger.id, "Zoë", ledger_body(checked)),
        (EntryKind.BUNDLE, f"bundle/{bundle.bundle_id}", "owner", bundle_body(bundle, data)),
        (EntryKind.RUN, f"run/{RUN_ID}", "assistant", run_body(bundle)),
        (EntryKind.TOOL_CALL, subject, "quality_desk", {"offered": list(OFFERED)}),
        (
            EntryKind.TOOL_CALL,
            subject,
            "quality_desk",
            {"call": CALLS[0].model_dump(mode="json")},
        ),
        (EntryKind.DECISION, subject, "quality_desk", decision_body()),
    ):
        log.append(kind, about, {**body, "by": by})
    log.announce(new, old, by="owner")
    return log


def erased_second() -> Log:
    """Return that log as it went on: the body of entry 2 was erased."""
    log = second_log()
    erasure = {
        "entry": 2,
        "leaf": log.leaves[2].hex(),
        "reason": "Erasure request of 2026-01-05, GDPR Article 17",
        "by": "privacy@acme.example",
        "carried_out_by": "ليلى",
    }
    log.append(EntryKind.ERASURE, "entry/2", erasure)
    return log


def adopted_second() -> Log:
    """Return that log as it went on: the erasure had been left unsigned, and was adopted."""
    log = erased_second()
    size = len(log.entries)
    adopts = {"from": size - 1, "size": size, "root": log.checkpoint(size).root.hex()}
    body = {"adopts": adopts, "reason": "Left unsigned by version 0.1", "by": "owner"}
    log.append(EntryKind.KEY, f"entries/{size - 1}-{size - 1}", body)
    return log


def lost_second() -> Log:
    """Return that log as it went on: its second key was lost, and a third took its place."""
    log = adopted_second()
    third = SigningKey.from_seed(log.origin, seed("key second-form 3"))
    body = {
        "key": str(third.verifier),
        "replaces": log.keys[1].verifier.key_id,
        "by": "owner",
        "lost": "The disk of the signing machine failed, and its backup with it",
    }
    log.append(EntryKind.KEY, third.verifier.key_id, body)
    log.keys.append(third)
    return log


def second_proofs() -> Iterator[ProofVector]:
    """Give proofs of a log that has bodies of both forms."""
    log = second_log()
    old, new = log.keys
    size, record = len(log.entries), log.prove(2, len(log.entries), new)
    bundle, data, _ = built_bundle()
    for name, why, seq in (
        ("record-before-by", "of the first form, in a log that goes on in the second", 1),
        ("record-by", "an evidence record, and who recorded it", 2),
        ("status-change-by", "a status change, and who recorded it", 3),
        ("run-by", "a run that used a bundle, and who recorded it", 6),
        ("tool-offered-by", "tools that could have been used, and who recorded it", 7),
        ("tool-call-by", "a call, and who recorded it", 8),
        ("decision-by", "a decision, and who recorded it", 9),
    ):
        proved = pretty(log.prove(seq, size, new))
        yield ProofVector(name, proved, why, key="second-form-2.pub")
    for name, why, seq, payload in (
        ("ledger-by", "a ledger, and who had it checked", 4, sessions()[0].to_statement().encode()),
        (
            "bundle-by",
            "a bundle, and who built it",
            5,
            bundle_statement(bundle.bundle_id, data),
        ),
    ):
        proved = pretty(enveloped(log, seq, payload))
        yield ProofVector(name, proved, why, key="second-form-2.pub")
    for name, why, seq, signed_at in (
        ("key-before-by", "the first key, announced in the first form", 0, 1),
        ("rotation-by", "the second key, and who announced it", size - 1, size),
    ):
        proved = pretty(log.prove(seq, signed_at, old))
        yield ProofVector(name, proved, why, key="second-form-1.pub")
    before = log.prove(1, size, new)
    erasure = erased_second().prove(size, size + 1, new)
    why = "an erasure, who asked for it and who carried it out"
    yield ProofVector("erasure-carried-out", pretty(erasure), why, key="second-form-2.pub")
    adoption = adopted_second().prove(size + 1, size + 2, new)
    why = "entries that were left unsigned, and who adopted them"
    yield ProofVector("adoption", pretty(adoption), why, key="second-form-2.pub")
    lost = lost_second()
    broken = lost.prove(size + 2, size + 3, lost.keys[2])
    why = "a key that took the place of one that was lost"
    yield ProofVector("key-lost", pretty(broken), why, key="second-form-3.pub")
    for name, why, proof in (
        (
            "carried-out-changed",
            "somebody else is said to have carried an erasure out",
            changed(erasure, "body.carried_out_by", "owner"),
        ),
        (
            "carried-out-removed",
            "who carried an erasure out was left out",
            changed(erasure, "body.carried_out_by", MISSING),
        ),
        ("by-changed", "somebody else is said to have acted", changed(record, "body.by", "owner")),
        ("by-removed", "who acted was left out", changed(record, "body.by", MISSING)),
        ("by-added", "who acted was added to the first form", changed(before, "body.by", "owner")),
    ):
        yield ProofVector(name, pretty(proof), why, ("content",), "second-form-2.pub")


# Entries that permit or forbid


def authority_keys() -> tuple[SigningKey, SigningKey]:
    """Return the keys of the log whose authority is signed."""
    old, new = (seed(f"key {number} of {AUTHORITY_ORIGIN}") for number in (1, 2))
    return SigningKey.from_seed(AUTHORITY_ORIGIN, old), SigningKey.from_seed(AUTHORITY_ORIGIN, new)


class Judged(NamedTuple):
    """Why an entry counts or does not."""

    counts: bool
    why: str


def authority_log() -> tuple[Log, list[Judged]]:
    """Return a log that began before authority was signed, and what counts in it."""
    old, new = authority_keys()
    noor = SigningKey.from_seed(USER_KEY, seed("key of noor"))
    log = Log(AUTHORITY_ORIGIN, [old, new])
    judged: list[Judged] = []

    def add(
        kind: EntryKind, subject: str, body: Json, key: SigningKey | None, said: Judged
    ) -> None:
        seq = len(log.entries)
        place = Place(log.origin, log.tenant, seq, kind.value, subject, moment(seq))
        log.append(kind, subject, body if key is None else signed_body(place, body, key))
        judged.append(said)

    def granted(user: str, by: str = "owner") -> Json:
        given = {"user": user, "tenant_id": "acme", "role": "viewer", "granted_by": by}
        return {"action": "grant", **given, "granted_at": moment(0), "expires_at": None}

    yes = Judged(counts=True, why="signed by the log's key")
    log.announce(old, by="owner")
    judged.append(Judged(counts=True, why="from before authority was signed"))
    before = Judged(counts=True, why="from before authority was signed")
    add(EntryKind.ACCESS, "user/layla", granted("layla"), None, before)
    add(EntryKind.KEY, "authority", {"authority": "signed", "by": "owner"}, old, yes)
    add(EntryKind.ACCESS, "user/noor", granted("noor"), old, yes)
    unsigned = Judged(counts=False, why="it has no signature")
    add(EntryKind.ACCESS, "user/mallory", granted("mallory"), None, unsigned)
    copied = log.entries[3].body
    moved = Judged(counts=False, why="its signature was made for entry 3")
    add(EntryKind.ACCESS, "user/noor", copied, None, moved)
    enrolls = {"enrolls": str(noor.verifier), "user": "noor", "by": "owner"}
    add(EntryKind.KEY, "user/noor", enrolls, old, yes)
    by_user = Judged(counts=True, why="signed by the key that noor has enrolled")
    add(EntryKind.ACCESS, "user/sami", granted("sami", "noor"), noor, by_user)
    not_user = Judged(counts=False, why="noor has a key, and the log's key signed")
    add(EntryKind.ACCESS, "user/mallory", granted("mallory", "noor"), old, not_user)
    revoked = Judged(counts=False, why="its key is revoked from size 10 on")
    hold = {"action": "release", "reason": "The case is closed", "by": "owner"}
    add(EntryKind.RETENTION, "pack-1", hold, old, revoked)
    announced = {"key": str(new.verifier), "replaces": old.verifier.key_id, "by": "owner"}
    add(EntryKind.KEY, new.verifier.key_id, announced, old, yes)
    one = Revocation(11, old.verifier.key_id, 10, "A copy of it was found", "owner")
    add(EntryKind.KEY, one.subject, one.body(), new, yes)
    withdraws = {"withdraws": noor.verifier.key_id, "user": "noor", "by": "owner"}
    add(EntryKind.KEY, "user/noor", withdraws, new, yes)
    add(EntryKind.ACCESS, "user/huda", granted("huda", "noor"), new, yes)
    retired = Judged(counts=False, why="signed by a key that was replaced")
    add(EntryKind.ACCESS, "user/mallory", granted("mallory"), old, retired)
    return log, judged


def authority_vectors() -> Json:
    """Return the entries of that log, which of them count, and the bytes that one signs."""
    log, judged = authority_log()
    one = log.entries[3]
    said = {name: value for name, value in one.body.items() if name != "signature"}
    payload = canonical_json({**Place.of(log.origin, one.entry)._asdict(), "body": said})
    return {
        "origin": log.origin,
        "since": 2,
        "payload": payload.decode(),
        "signed": signed_bytes(payload, AUTHORITY_TYPE).decode(),
        "entries": [
            {
                "entry": logged.entry.as_json(),
                "salt": logged.salt.hex(),
                "body": logged.body,
                "counts": said.counts,
                "why": said.why,
            }
            for logged, said in zip(log.entries, judged, strict=True)
        ],
    }


def authority_proofs() -> Iterator[ProofVector]:
    """Give proofs of entries that carry a signature of their own."""
    log, _ = authority_log()
    old, new = log.keys
    size = len(log.entries)
    for name, why, seq in (
        ("access-signed", "a grant that the log's key signed", 3),
        ("key-revoked", "a key that is not to be believed from a size on", 11),
    ):
        proved = pretty(log.prove(seq, size, new))
        yield ProofVector(name, proved, why, key="authority-log-2.pub")
    proof = log.prove(11, 12, old)
    why = "a revocation under a checkpoint by the key that it revokes, which was replaced before"
    yield ProofVector(
        "revoked-by-itself", pretty(proof), why, ("revocation",), "authority-log-1.pub"
    )


# Ledgers with votes


def voted_key() -> SigningKey:
    """Return the key of the log of a ledger with votes."""
    return SigningKey.from_seed(VOTED_ORIGIN, seed(f"key of {VOTED_ORIGIN}"))


def voted_session() -> LedgerSession:
    """Return the first session as one in which a language model voted after the others."""
    first = in_second_form(sessions()[0])
    rules = ("quote", "numbers", "nli")
    url, digest = "https://models.example/v1", sha256_hex(b"url, api, model and prompt")
    votes: list[Vote] = []
    for entry in first.ledger.entries:
        is_doubted = entry.verdict is Verdict.NOT_FOUND
        by_rules = Vote(
            claim_id=entry.claim_id,
            judges=rules,
            verdict=entry.verdict,
            confidence=entry.confidence_score,
            decides=not is_doubted,
            reason=entry.evidence[0].reason if entry.evidence else "",
        )
        votes.append(by_rules)
        if is_doubted:
            said = "it said supported, but it quotes what is not in the evidence"
            update = {
                "judges": ("llm",),
                "decides": True,
                "reason": f"{said}: the policy says so",
                "quote": "Carryover is limited to 5 days.",
                "runs": ("judge-0123456789abcdef",),
            }
            votes.append(by_rules.model_copy(update=update))
    service = AskedService(
        judge="llm",
        digest=digest,
        url=url,
        api="openai",
        model="judge-large",
        answered_by=("judge-large-2026-01-01",),
        prompt_sha256=sha256_hex(b"the prompt"),
        calls=1,
        attempts=2,
        input_tokens=812,
        output_tokens=64,
        cost="0.000331",
        currency="USD",
    )
    judging = Judging(policy=JudgingPolicy(), votes=tuple(votes), services=(service,))
    entries = tuple(
        entry.model_copy(update={"models": {**entry.models, "llm": digest}})
        if entry.verdict is Verdict.NOT_FOUND
        else entry
        for entry in first.ledger.entries
    )
    ledger = first.ledger.model_copy(update={"id": "led_0b1e7c5d9a2f4863", "entries": entries})
    update = {"judges": (*rules, "llm"), "ledger": ledger, "judging": judging}
    return first.model_copy(update=update)


def voted_proofs() -> Iterator[ProofVector]:
    """Give proofs of what was recorded for a judge that is somewhere else: leave, and its vote."""
    log = Log(VOTED_ORIGIN, [voted_key()])
    log.announce(log.keys[0], by="owner")
    made = voted_session()
    url = "https://models.example/v1"
    for action in ("allow_judge", "disallow_judge"):
        body = {"action": action, "url": url, "by": "owner"}
        log.append(EntryKind.ACCESS, f"judge/{url}", body)
    plain = second_session()
    for ledger in (made, plain):
        log.append(EntryKind.LEDGER, ledger.ledger.id, {**ledger_body(ledger), "by": "Zoë"})
    size = len(log.entries)
    for name, why, seq in (
        ("judge-allowed", "passages may be sent to an endpoint", 1),
        ("judge-disallowed", "they may not any more", 2),
    ):
        yield ProofVector(name, pretty(log.prove(seq, size, log.keys[0])), why, key="voted-log.pub")
    payload = made.to_statement().encode()
    why = "a ledger in which a judge voted after the others"
    yield ProofVector("ledger-voted", pretty(enveloped(log, 3, payload)), why, key="voted-log.pub")
    payload, why = plain.to_statement().encode(), "a ledger that says why weak claims are weak"
    yield ProofVector("ledger-second", pretty(enveloped(log, 4, payload)), why, key="voted-log.pub")


# Documents


def library_key() -> SigningKey:
    """Return the key of the log of a library."""
    return SigningKey.from_seed(LIBRARY_ORIGIN, seed(f"key of {LIBRARY_ORIGIN}"))


def library_proofs() -> Iterator[ProofVector]:
    """Give proofs of a document that was read, and of one whose passages are said to be others."""
    log = Log(LIBRARY_ORIGIN, [library_key()])
    log.announce(log.keys[0], by="owner")
    source = POLICY
    version = {
        "id": source.document_id,
        "version": 1,
        "collection": "policies",
        "filename": source.filename,
        "media_type": "text/markdown",
        "sha256": sha256_hex(source.text.encode()),
        "language": None,
        "direction": "ltr",
        "title": "4 Leave",
        "dated": None,
        "pages": 1,
        "chunks": len(source.chunks),
        "warnings": (),
        "created_at": "2026-01-05T09:01:00.000000Z",
    }
    body = {**document_body(version, chunks_digest(source.chunks)), "by": "Zoë"}
    log.append(EntryKind.DOCUMENT, source.document_id, body)
    proof = log.prove(1, len(log.entries), log.keys[0])
    why, key = "a document, and the passages it was cut into", "library-log.pub"
    yield ProofVector("document", pretty(proof), why, key=key)
    other = changed(proof, "body.chunks_sha256", flip(body["chunks_sha256"]))
    why = "the passages of a document are said to be others"
    yield ProofVector("document-changed", pretty(other), why, ("content",), key)


# Ledgers with contexts


def contexts_key() -> SigningKey:
    """Return the key of the log of ledgers with contexts."""
    return SigningKey.from_seed(CONTEXTS_ORIGIN, seed(f"key of {CONTEXTS_ORIGIN}"))


def given_contexts() -> tuple[CheckedContext, ...]:
    """Return what a model was given: the policy with its metadata, the guide without an id."""
    return read_contexts(
        [
            {
                "id": "kb-17",
                "text": POLICY.text,
                "metadata": {"file_name": POLICY.filename, "page_label": "12", "score": 0.82},
            },
            {"content": GUIDE.text, "title": GUIDE.filename, "cells": [10**20]},
            {"id": "kb-9", "text": ""},
        ]
    )


def of_context(passage: Passage, contexts: Sequence[CheckedContext]) -> Passage:
    """Return a passage of one of the documents as one of the context that has its text."""
    number = next(at for at, one in enumerate(contexts, 1) if passage.snippet in one.text)
    context = contexts[number - 1]
    (chunk,) = context_chunks(context)
    source = SourceDocument(id=context.id, filename=context.name(number), page_number=context.page)
    update = {"chunk_id": chunk.chunk_id, "chunk_hash": chunk.chunk_hash, "page": chunk.page}
    return passage.model_copy(update={**update, "source": source})


def contexts_session() -> LedgerSession:
    """Return the answer checked against what the model was given, and nothing else."""
    made, contexts = second_session(), given_contexts()
    entries = []
    for entry in made.ledger.entries:
        matches = [
            match.model_copy(update={"passage": of_context(match.passage, contexts)})
            for match in entry.evidence
            if match.passage
        ]
        passage = matches[0].passage if entry.source_document else None
        update: Json = {
            "evidence": matches,
            "nearest": entry.nearest and of_context(entry.nearest, contexts),
            "source_document": passage and passage.source,
            "evidence_chunk_ids": [passage.chunk_hash[:8]] if passage else [],
        }
        entries.append(entry.model_copy(update=update))
    unavailable = "Citation references deleted or unavailable chunk"
    anchor, number = made.ledger.citations
    gone = anchor.model_copy(update={"resolved": False, "bears": False, "problem": unavailable})
    of_ledger: Json = {
        "id": "led_91c4e07fa26b3d58",
        "entries": entries,
        "risk_flags": [],
        "follow_up_questions": follow_up_questions(entries),
        "citations": [gone, number],
    }
    ledger = made.ledger.model_copy(update=of_ledger)
    flagged = ledger.model_copy(update={"risk_flags": generate_risk_flags(ledger)})
    return made.model_copy(
        update={"ledger": flagged, "documents": [], "unread": [], "contexts": contexts}
    )


def bundle_session() -> LedgerSession:
    """Return the answer checked against the items of the example bundle, which have none of it."""
    bundle, _, _ = built_bundle()
    judges = ("quote", "numbers", "nli")
    made = in_second_form(session("2026-01-05T09:03:30.000000Z", judges, matches=((), (), (), ())))
    entries = [entry.model_copy(update={"nearest": None}) for entry in made.ledger.entries]
    citations = [one.model_copy(update={"bears": False}) for one in made.ledger.citations]
    update: Json = {"entries": entries, "citations": citations, "risk_flags": []}
    ledger = made.ledger.model_copy(update=update)
    flagged = ledger.model_copy(update={"risk_flags": generate_risk_flags(ledger)})
    return made.model_copy(
        update={
            "ledger": flagged,
            "documents": [],
            "unread": [],
            "contexts": contexts_of_bundle(bundle),
            "bundle": CheckedBundle(id=bundle.bundle_id, sha256=bundle.bundle_sha256),
        }
    )


def refused_contexts() -> list[Json]:
    """Return statements whose contexts do not hold, and whether the schema can tell."""
    good: Json = contexts_session().to_statement().as_json()
    bundle: Json = bundle_session().to_statement().as_json()
    at, passage = "predicate.contexts", "predicate.ledger.entries.1.evidence.0.passage"
    text = good["predicate"]["contexts"][0]["text"]
    documents = second_session().to_statement().as_json()["predicate"]["documents"]
    given: tuple[tuple[str, bool, Json], ...] = (
        ("another text", True, put(good, f"{at}.0.text", text.replace("15", "16"))),
        ("another digest", True, put(good, f"{at}.1.sha256", "0" * 64)),
        ("two contexts of one id", True, put(good, f"{at}.1.id", "kb-17")),
        ("a context that is cited is not there", True, put(good, f"{at}.1.id", "kb-18")),
        ("another page", True, put(good, f"{at}.0.page", 13)),
        ("another title", True, put(good, f"{at}.1.title", "Guide.txt")),
        ("a passage stands elsewhere", True, put(good, f"{passage}.start", 3)),
        ("a passage has a heading", True, put(good, f"{passage}.source.heading_path", ["4"])),
        ("no contexts", False, put(good, at, [])),
        ("contexts that are null", False, put(good, at, None)),
        ("a title that is null", False, put(good, f"{at}.0.title", None)),
        ("a context without an id", False, put(good, f"{at}.2.id", "")),
        ("a field that there is not", False, put(good, f"{at}.0.score", 1)),
        ("documents of no corpus", False, put(good, "predicate.documents", documents)),
        ("the second form", False, good | {"predicateType": SECOND_TYPE}),
        ("a bundle's id of another digest", True, put(bundle, "predicate.bundle.sha256", "0" * 64)),
        ("a bundle without contexts", False, put(bundle, at, MISSING)),
    )
    return [
        {"why": why, "schema_takes_it": takes, "statement": statement}
        for why, takes, statement in given
    ]


def contexts_files() -> dict[str, bytes]:
    """Return the statements of ledgers with contexts, an export, and what is refused."""
    made = contexts_session()
    return {
        "statement-contexts.json": made.to_statement().encode(),
        "statement-bundle.json": bundle_session().to_statement().encode(),
        "export-contexts.json": pretty(to_json(made)),
        "refused-contexts.json": listed(refused_contexts()),
    }


def contexts_proofs() -> Iterator[ProofVector]:
    """Give proofs of ledgers with contexts: as they were given, and as a bundle has them."""
    log = Log(CONTEXTS_ORIGIN, [contexts_key()])
    log.announce(log.keys[0], by="owner")
    given = contexts_session(), bundle_session()
    for made in given:
        log.append(EntryKind.LEDGER, made.ledger.id, {**ledger_body(made), "by": "Zoë"})
    for seq, (name, why, made) in enumerate(
        (
            ("ledger-contexts", "a ledger with the passages that the model was given", given[0]),
            ("ledger-bundle", "a ledger with the items of a bundle that it names", given[1]),
        ),
        start=1,
    ):
        proof = enveloped(log, seq, made.to_statement().encode())
        yield ProofVector(name, pretty(proof), why, key="contexts-log.pub")


# The life of a document


def life_key() -> SigningKey:
    """Return the key of the log of a document that came, changed and was erased."""
    return SigningKey.from_seed(LIFE_ORIGIN, seed(f"key of {LIFE_ORIGIN}"))


def life_proofs() -> Iterator[ProofVector]:
    """Give proofs of a document of the second form, taken out, and taken out with its text."""
    log = Log(LIFE_ORIGIN, [life_key()])
    log.announce(log.keys[0], by="owner")
    source, key = POLICY, "life-log.pub"
    version = {
        "id": source.document_id,
        "version": 1,
        "collection": "policies",
        "filename": source.filename,
        "media_type": "text/markdown",
        "sha256": sha256_hex(source.text.encode()),
        "language": None,
        "direction": "ltr",
        "title": "4 Leave",
        "dated": "2025-12-01",
        "pages": 1,
        "chunks": len(source.chunks),
        "warnings": (),
        "created_at": "2026-01-05T09:01:00.000000Z",
        "collection_id": collection_id("policies"),
        "effective_from": "2026-01-01",
        "effective_until": "2026-12-31",
        "reader": 1,
    }
    bodies: list[Json] = []
    for name, subject, body, why in (
        (
            "document-dated",
            source.document_id,
            recorded_body(version, chunks_digest(source.chunks)),
            "a document that says when it holds",
        ),
        (
            "document-removed",
            f"removed/{source.document_id}",
            removal_body(source.document_id, 1, "replaced by another"),
            "a document is taken out",
        ),
        (
            "document-erased",
            f"removed/{source.document_id}",
            removal_body(source.document_id, 1, "a person asked for it", erased=True),
            "the text of a document is erased",
        ),
    ):
        bodies.append(body)
        leaves = corpus_leaves(bodies)
        corpus = {"root": whole_map(leaves).root.hex(), "documents": len(leaves)}
        log.append(EntryKind.DOCUMENT, subject, {**body, "corpus": corpus, "by": "Zoë"})
        seq = len(log.entries) - 1
        proof = log.prove(seq, len(log.entries), log.keys[0])
        yield ProofVector(name, pretty(proof), why, key=key)


# Requests


def asked_key() -> SigningKey:
    """Return the key of the log of what was asked of a server."""
    return SigningKey.from_seed(ASKED_ORIGIN, seed(f"key of {ASKED_ORIGIN}"))


def asked_proofs() -> Iterator[ProofVector]:
    """Give proofs of a request that was recorded, and of one that is said to be another's."""
    log = Log(ASKED_ORIGIN, [asked_key()])
    log.announce(log.keys[0], by="owner")
    body = {
        "did": "packs.get",
        "outcome": "done",
        "path": "/api/v1/packs/pack_015abd7f5cc57a2d",
        "request_id": "8f14e45fceea167a",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "token_id": "3f9c5a7e1b2d4c6f",
        "by": "Zoë",
    }
    log.append(EntryKind.REQUEST, "user/Zoë", body)
    proof = log.prove(1, len(log.entries), log.keys[0])
    why, key = "a request that was recorded: who read a pack", "asked-log.pub"
    yield ProofVector("request", pretty(proof), why, key=key)
    other = changed(proof, "body.by", "Ann")
    why = "a request is said to be someone else's"
    yield ProofVector("request-changed", pretty(other), why, ("content",), key)


def token_proofs() -> Iterator[ProofVector]:
    """Give proofs of a token that was made and revoked, and of one that is said to be another's."""
    log = Log(TOKEN_ORIGIN, [token_key()])
    log.announce(log.keys[0], by="owner")
    token_id = seed("a token").hex()[:16]
    made = {
        "action": "new_token",
        "token_id": token_id,
        "user": "Zoë",
        "name": "nightly export",
        "scopes": ["list", "view"],
        "secret_sha256": sha256_hex(b"the secret that was shown once"),
        "expires_at": "2026-07-01T00:00:00.000000Z",
        "by": "owner",
    }
    subject = f"token/{token_id}"
    for body in (made, {"action": "revoke_token", "token_id": token_id, "by": "owner"}):
        seq = len(log.entries)
        kind = EntryKind.ACCESS
        place = Place(log.origin, log.tenant, seq, kind.value, subject, moment(seq))
        log.append(kind, subject, signed_body(place, body, log.keys[0]))
    size, key = len(log.entries), "token-log.pub"
    proof = log.prove(1, size, log.keys[0])
    yield ProofVector("token", pretty(proof), "a token that was made for a program", key=key)
    revoked = pretty(log.prove(2, size, log.keys[0]))
    yield ProofVector("token-revoked", revoked, "the same, revoked", key=key)
    other = changed(proof, "body.user", "Ann")
    why = "a token is said to be someone else's"
    yield ProofVector("token-changed", pretty(other), why, ("content",), key)


def token_key() -> SigningKey:
    """Return the key of the log of a token."""
    return SigningKey.from_seed(TOKEN_ORIGIN, seed(f"key of {TOKEN_ORIGIN}"))


# What people say


def people_key() -> SigningKey:
    """Return the key of the log of what people said."""
    return SigningKey.from_seed(PEOPLE_ORIGIN, seed(f"key of {PEOPLE_ORIGIN}"))


def people_proofs() -> Iterator[ProofVector]:
    """Give proofs of a person's verdict and of an assignment, and of ones that were changed."""
    log, key = Log(PEOPLE_ORIGIN, [people_key()]), "people-log.pub"
    log.announce(log.keys[0], by="owner")
    verdict = {
        "claim_id": "clm_1a2b3c4d5e6f7a8b",
        "verdict": "contradicted",
        "judged": "supported",
        "reason": "Section 4 has it for managers alone.",
        "by": "Zoë",
    }
    log.append(EntryKind.VERDICT, "led_3b7c5d9e1f2a4b6c", verdict)
    assignment = {
        "decision_id": "dec_1",
        "assignee": "Zoë",
        "due": "2026-03-08T12:00:00.000000Z",
        "by": "Ann",
    }
    log.append(EntryKind.ASSIGNMENT, "pack_015abd7f5cc57a2d", assignment)
    for seq, name, why, field, other in (
        (1, "verdict", "a person's verdict on a claim", "verdict", "weak"),
        (2, "assignment", "who is to review a pack", "assignee", "Ann"),
    ):
        proof = log.prove(seq, len(log.entries), log.keys[0])
        yield ProofVector(name, pretty(proof), why, key=key)
        altered = changed(proof, f"body.{field}", other)
        yield ProofVector(f"{name}-changed", pretty(altered), f"{why}, changed", ("content",), key)


# Later versions


def later_key() -> SigningKey:
    """Return the key of the log with versions of a pack that replace each other."""
    return SigningKey.from_seed(LATER_ORIGIN, seed(f"key of {LATER_ORIGIN}"))


@cache
def later_packs_made() -> tuple[EvidencePack, EvidencePack, EvidencePack]:
    """Return a pack, the version that a review approved, and the one that a review rejected."""
    first = small_pack()
    made = [first]
    for outcome, at, note in (
        (ReviewOutcome.APPROVED, "2026-01-05T09:02:30.000000Z", ""),
        (ReviewOutcome.REJECTED, "2026-01-05T09:04:30.000000Z", "The lot was mixed up."),
    ):
        made.append(reviewed(made[-1], reviewer="layla", outcome=outcome, at=at, note=note))
    return made[0], made[1], made[2]


def third_body(pack: EvidencePack, by: str) -> Json:
    """Return the body of a pack's entry in the third form."""
    outcome = None if pack.review_outcome is None else pack.review_outcome.value
    return {**pack_body(pack, by), "outcome": outcome}


LATER_FIRST, LATER_APPROVED, LATER_OTHER, LATER_REJECTED, LATER_MISSTATED = 1, 2, 3, 4, 8
"""The entries of the versions; that of another pack; one that says another outcome."""


@cache
def later_log() -> Log:
    """Return a log with three versions of a pack, and with exports of the first two."""
    log = Log(LATER_ORIGIN, [later_key()])
    log.announce(log.keys[0], by="owner")
    first, approved, rejected = later_packs_made()
    other = second_form(small_pack())
    log.append(EntryKind.PACK, first.pack_id, third_body(first, "owner"))
    log.append(EntryKind.REVIEW, approved.pack_id, third_body(approved, "layla"))
    log.append(EntryKind.PACK, other.pack_id, third_body(other, "owner"))
    log.append(EntryKind.REVIEW, rejected.pack_id, third_body(rejected, "layla"))
    approval = {"action": "approve", "approval_class": "A2", "by": "layla", "note": "For counsel"}
    log.append(EntryKind.EXPORT, approved.pack_id, approval)
    for pack, update in (
        (approved, {"approval": 5, "approval_class": "A2", "approved_by": "layla", "by": "omar"}),
        (
            rejected,
            {"approval": None, "approval_class": "A1", "approved_by": "owner", "by": "owner"},
        ),
    ):
        export = {
            "action": "export",
            "format": "json",
            "sensitivity_class": "S2",
            "sha256": sha256_hex(pack_statement(pack)),
            "superseded_by": rejected.pack_id if pack is approved else None,
            **update,
        }
        log.append(EntryKind.EXPORT, pack.pack_id, export)
    misstated = {**third_body(approved, "layla"), "outcome": "rejected"}
    log.append(EntryKind.REVIEW, approved.pack_id, misstated)
    log.append(EntryKind.RETENTION, rejected.pack_id, third_body(rejected, "layla"))
    return log


def later_entry(seq: int) -> Json:
    """Return an entry as a proof file has that of a later version."""
    log = later_log()
    proof = log.prove(seq, len(log.entries), log.keys[0])
    return {name: proof[name] for name in ("entry", "inclusion", "body", "salt")}


def superseded_pack(pack: EvidencePack, seq: int, *later: int) -> Json:
    """Return an exported pack with the entries of its later versions."""
    log = later_log()
    proof = Proof.parse(pretty(enveloped(log, seq, pack_statement(pack)))).in_plain().as_json()
    if not later:
        return proof
    return {**proof, "v": 3, "later": [later_entry(one) for one in later]}


def refused_later(good: Json) -> Iterator[tuple[str, str, tuple[str, ...], Json]]:
    """Give files whose later entries are not later versions, or have another form."""
    approved, rejected = good["later"]
    log = later_log()
    retained = later_entry(len(log.entries) - 1)
    told = {"body": {**approved["body"], "outcome": "rejected"}}
    for name, why, later in (
        ("later-outcome", "a review is said to have come to another outcome", [approved | told]),
        ("later-salt", "a later entry with another salt", [{**approved, "salt": "0" * 64}]),
        ("later-skipped", "a version in between is left out", [rejected]),
        ("later-twice", "one version twice", [approved, approved]),
        ("later-reversed", "the newest first", [rejected, approved]),
        ("later-other", "a pack that replaces nothing", [later_entry(LATER_OTHER)]),
        ("later-kind", "an entry that is no version", [approved, retained]),
        ("later-itself", "the file's own entry", [later_entry(LATER_FIRST)]),
        (
            "later-path",
            "the path of another entry",
            [{**approved, "inclusion": rejected["inclusion"]}],
        ),
        (
            "later-moved",
            "another number than it was recorded under",
            [put(approved, "entry.seq", LATER_OTHER)],
        ),
    ):
        yield name, why, ("later",), {**good, "later": later}
    for name, why, document in (
        ("later-empty", "no later entry", {**good, "later": []}),
        ("later-null", "null in place of later entries", {**good, "later": None}),
        ("later-object", "one that is not in a list", {**good, "later": approved}),
        ("later-field", "a field more", {**good, "later": [{**approved, "note": ""}]}),
        ("later-bare", "without its body", {**good, "later": [changed(approved, "body", MISSING)]}),
        ("later-missing", "version 3, and nothing later", changed(good, "later", MISSING)),
        ("later-in-version-2", "version 2 has nothing later", {**good, "v": 2}),
        ("later-in-version-1", "version 1 has nothing later", {**good, "v": 1}),
        ("later-version-4", "a version to come", {**good, "v": 4}),
        ("later-not-plain", "version 3 is in plain", changed(good, "predicate", MISSING)),
    ):
        yield name, why, ("format",), document


def later_proofs() -> Iterator[ProofVector]:
    """Give proofs of packs that were superseded, and of exports that state their classes."""
    log, (key,) = later_log(), later_log().keys
    first, approved, rejected = later_packs_made()
    both = superseded_pack(first, LATER_FIRST, LATER_APPROVED, LATER_REJECTED)
    for name, why, proof in (
        ("later", "a pack and the two versions that came after it", both),
        (
            "later-one",
            "an approved version that a review rejected later",
            superseded_pack(approved, LATER_APPROVED, LATER_REJECTED),
        ),
        (
            "later-none",
            "the newest version says nothing of later ones",
            superseded_pack(rejected, LATER_REJECTED),
        ),
        ("export-superseded", "an export of a version that was superseded", prove_later(6)),
        ("export-own", "an export by the owner, which is its own approval", prove_later(7)),
    ):
        yield ProofVector(name, pretty(proof), why, key="later-log.pub")
    why = "later versions; without a trusted key the signer is unknown"
    yield ProofVector("later", pretty(both), why, key=None)
    for name, why, fails, document in refused_later(both):
        yield ProofVector(name, pretty(document), why, fails, "later-log.pub")
    superseded, own = prove_later(6), prove_later(7)
    review = log.prove(LATER_APPROVED, len(log.entries), key)
    for name, why, proof in (
        (
            "export-not-superseded",
            "an export is said to be of the newest version",
            changed(superseded, "body.superseded_by", None),
        ),
        (
            "export-class",
            "another class of approval",
            changed(own, "body.approval_class", "A3"),
        ),
        (
            "export-sensitivity",
            "the class of what was handed out was left out",
            changed(own, "body.sensitivity_class", MISSING),
        ),
        (
            "review-outcome",
            "a review is said to have come to another outcome",
            changed(review, "body.outcome", "rejected"),
        ),
        (
            "review-outcome-removed",
            "what a review came to was left out",
            changed(review, "body.outcome", MISSING),
        ),
    ):
        yield ProofVector(name, pretty(proof), why, ("content",), "later-log.pub")


def prove_later(seq: int) -> Json:
    """Return a proof of an entry of that log."""
    log = later_log()
    return log.prove(seq, len(log.entries), log.keys[0])


def later_packs() -> Iterator[PackVector]:
    """Give exported packs of version 3, and one whose entry says another outcome."""
    first, approved, _ = later_packs_made()
    both = superseded_pack(first, LATER_FIRST, LATER_APPROVED, LATER_REJECTED)
    key = "later-log.pub"
    yield PackVector("superseded", written(both), "a pack that two versions replaced", key=key)
    one = written(superseded_pack(approved, LATER_APPROVED, LATER_REJECTED))
    yield PackVector("approved-then-rejected", one, "approved, and later rejected", key=key)
    why = "superseded; without a trusted key the signer is unknown"
    yield PackVector("superseded", written(both), why, key=None)
    for name, why, fails, document in refused_later(both):
        yield PackVector(name, written(document), why, fails, key)
    misstated = written(superseded_pack(approved, LATER_MISSTATED))
    why = "its entry says that the review came to another outcome"
    yield PackVector("outcome-misstated", misstated, why, ("pack",), key)
    yield from own_reviews()


def own_reviews() -> Iterator[PackVector]:
    """Give versions whose entries, of the fourth form, say who reviewed what they made."""
    first = small_pack()
    at = "2026-01-05T09:08:30.000000Z"
    approved = ReviewOutcome.APPROVED
    own = reviewed(first, reviewer="owner", outcome=approved, at=at)
    changed = revised(first, {"prompts": [{"template_name": "t", "template_version": "2"}]}, at=at)
    note = "The prompt was another one."
    modified = reviewed(changed, reviewer="layla", outcome=approved, at=at, note=note)
    for name, why, pack, by, said in (
        ("self-reviewed", "the owner reviewed their own", own, "owner", (True, None)),
        ("modified", "modified and approved", modified, "layla", (False, first.pack_id)),
    ):
        told = {"outcome": "approved", "by": by, "self_review": said[0], "modifies": said[1]}
        data = recorded_pack(pack_statement(pack), pack.pack_id, EntryKind.REVIEW, told)
        yield PackVector(name, data, why)


# PDFs


# The third form of ledgers, and what proves a document in their corpus or out of it


def third_key() -> SigningKey:
    """Return the key of the log of a library and of ledgers of the third form."""
    return SigningKey.from_seed(THIRD_ORIGIN, seed(f"key of {THIRD_ORIGIN}"))


def archived(number: int) -> str:
    """Return the id of a document of the library that no ledger cites."""
    return derived_id("doc", {"collection": "archive", "filename": f"note-{number}.txt"})


def versions_of_library() -> Iterator[Json]:
    """Give what entries say of the versions of a library, in order."""
    for source in SOURCES:
        version = {
            **source.checked().model_dump(exclude={"superseded"}),
            "language": None,
            "direction": "ltr",
            "title": None,
            "pages": 1,
            "chunks": len(source.chunks),
            "warnings": (),
            "created_at": "2026-01-05T09:01:00.000000Z",
            "collection_id": collection_id(source.checked().collection),
            "effective_from": None,
            "effective_until": None,
            "reader": 1,
        }
        yield recorded_body(version, chunks_digest(source.chunks))
    for number, issue in [*((number, 1) for number in range(12)), (0, 2)]:
        version = {
            "id": archived(number),
            "version": issue,
            "collection": "archive",
            "filename": f"note-{number}.txt",
            "media_type": "text/plain",
            "sha256": sha256_hex(f"Note {number}, {issue}.\n".encode()),
            "language": None,
            "direction": "ltr",
            "title": None,
            "dated": None,
            "pages": 1,
            "chunks": 1,
            "warnings": (),
            "created_at": "2026-01-05T09:01:00.000000Z",
            "collection_id": collection_id("archive"),
            "effective_from": None,
            "effective_until": None,
            "reader": 1,
        }
        yield recorded_body(version, seed(f"chunks {number} {issue}").hex())


@cache
def third_library() -> tuple[KeyedMap, tuple[Json, ...]]:
    """Return the map of the library, and the bodies of the entries that record it."""
    bodies: list[Json] = []
    for body in versions_of_library():
        leaves = corpus_leaves([*bodies, body])
        named = {"root": whole_map(leaves).root.hex(), "documents": len(leaves)}
        bodies.append({**body, "corpus": named, "by": "Zoë"})
    whole = whole_map(corpus_leaves(bodies))
    return KeyedMap(whole.root, whole.added.get), tuple(bodies)


LEAF = b"\x02"
"""What a leaf of a map begins with."""
SELECTION = tuple(sorted([*(source.document_id for source in SOURCES), archived(3)]))
ALL = CorpusFilter(all=True)
SOME = CorpusFilter(documents=sorted(source.document_id for source in SOURCES))
SELECTED = CorpusFilter(
    selection_sha256=sha256_hex(canonical_json(SELECTION)), selected=len(SELECTION)
)
SEARCH = SearchedBy(engine="tantivy 0.25.1", terms=1, formula="bm25 k1=1.5 b=0.75")


def third_session(chosen: CorpusFilter = ALL, name: str = "led_9d47c0a2e6b81f35") -> LedgerSession:
    """Return the answer checked against a library, or a part of it, in the third form."""
    made = second_session()
    ledger = made.ledger.model_copy(update={"id": name})
    corpus, bodies = third_library()
    documents = len(corpus_leaves(bodies))
    used = {ALL: documents, SOME: 2, SELECTED: 3}[chosen]
    cited = sorted(cited_documents(ledger))
    commitment = CorpusCommitment(
        root=corpus.root.hex(),
        documents=documents,
        used=used,
        entry=len(bodies),
        filter=chosen,
        nodes=proving_nodes(corpus, [one.encode() for one in cited]),
    )
    return made.model_copy(
        update={
            "ledger": ledger,
            "documents": tuple(one for one in made.documents if one.id in cited),
            "corpus": commitment,
            "search": SEARCH,
        }
    )


def third_sessions() -> tuple[LedgerSession, LedgerSession, LedgerSession]:
    """Return ledgers against all of a library, some documents of it, and a selection."""
    some = third_session(SOME, "led_2b6e80f59c13d7a4")
    return third_session(), some, third_session(SELECTED, "led_f0317b4e5ad9c268")


def committed_body(made: LedgerSession) -> Json:
    """Return the body of the entry that records a ledger of the third form."""
    named = made.corpus and made.corpus.named().model_dump(mode="json")
    return {**ledger_body(made), "corpus": named, "by": "Zoë"}


@cache
def third_log() -> Log:
    """Return a log with a library, and ledgers that were checked against it."""
    log = Log(THIRD_ORIGIN, [third_key()])
    log.announce(log.keys[0], by="owner")
    for body in third_library()[1]:
        log.append(EntryKind.DOCUMENT, body["document_id"], body)
    for made in third_sessions():
        log.append(EntryKind.LEDGER, made.ledger.id, committed_body(made))
    first = third_session()
    other = committed_body(first)
    other["corpus"] = {**other["corpus"], "root": flip(other["corpus"]["root"])}
    log.append(EntryKind.LEDGER, first.ledger.id, other)
    log.append(EntryKind.LEDGER, first.ledger.id, {**ledger_body(first), "by": "Zoë"})
    empty = whole_map({}).root.hex()
    nothing = {**committed_body(first), "corpus": {**other["corpus"], "root": empty}}
    nothing["corpus"] |= {"documents": 0, "used": 0}
    log.append(EntryKind.LEDGER, first.ledger.id, nothing)
    return log


THIRD = len(tuple(versions_of_library())) + 1
"""The entry of the first ledger of that log."""
OF_SOME, OF_SELECTED, MISNAMED, UNNAMED, OF_NOTHING = range(THIRD + 1, THIRD + 6)


def third_proofs() -> Iterator[ProofVector]:
    """Give the proof of a ledger of the third form, and of a document of its library."""
    log, key = third_log(), "third-log.pub"
    payload = third_session().to_statement().encode()
    why = "a ledger that commits to what it was checked against"
    yield ProofVector("ledger-third", pretty(enveloped(log, THIRD, payload)), why, key=key)
    proof = log.prove(1, len(log.entries), log.keys[0])
    why = "a document, in the second form, which commits to the library with it"
    yield ProofVector("document-second", pretty(proof), why, key=key)


def third_files() -> dict[str, bytes]:
    """Return the statement of a ledger of the third form, its export, and what is none."""
    made = third_session()
    return {
        "statement-third.json": made.to_statement().encode(),
        "statement-third-some.json": third_sessions()[1].to_statement().encode(),
        "export-third.json": pretty(to_json(made)),
        "refused-third.json": listed(refused_thirds()),
    }


def refused_thirds() -> list[Json]:
    """Return statements that are no ledgers of the third form, and whether their form is one's."""
    good: Json = third_session().to_statement().as_json()
    some: Json = third_sessions()[1].to_statement().as_json()
    second: Json = second_session().to_statement().as_json()
    at, nodes = "predicate.corpus", good["predicate"]["corpus"]["nodes"]
    one = good["predicate"]["documents"][0]
    other = {"documents": [archived(1)]}
    given: tuple[tuple[str, bool, str, Any], ...] = (
        ("a document that is cited is left out", True, "predicate.documents", [one]),
        ("a document is there twice", True, "predicate.documents", [one] * 3),
        (
            "a document has another digest",
            True,
            "predicate.documents.0.sha256",
            flip(one["sha256"]),
        ),
        ("a document has another date", True, "predicate.documents.0.dated", "2020-01-01"),
        ("a document is called superseded", True, "predicate.documents.0.superseded", True),
        ("a node is left out", True, f"{at}.nodes", nodes[:-1]),
        ("a node is there twice", True, f"{at}.nodes", [*nodes, nodes[-1]]),
        ("the nodes are in another order", True, f"{at}.nodes", nodes[::-1]),
        ("a node is not base64", True, f"{at}.nodes.0", "?"),
        ("another root", True, f"{at}.root", flip(good["predicate"]["corpus"]["root"])),
        ("not all of it was used", True, f"{at}.used", 2),
        ("the filter leaves out what is cited", True, f"{at}.filter", other),
        ("a filter that is two things", False, f"{at}.filter", {"all": True, **other}),
        ("a filter that is nothing", False, f"{at}.filter", {}),
        ("a filter with a null in it", False, f"{at}.filter.documents", None),
        ("a root that is none", False, f"{at}.root", "00"),
        ("a corpus that is null", False, at, None),
        ("no corpus", False, at, MISSING),
        ("searched by nothing", False, "predicate.search", {}),
        ("searched by null", False, "predicate.search", None),
        (
            "why claims are weak is not counted",
            False,
            "predicate.ledger.summary.by_support",
            MISSING,
        ),
    )
    refused = [(why, form, put(good, path, value)) for why, form, path, value in given]
    refused += [
        ("more was used than there is", True, put(some, f"{at}.used", 99)),
        ("the third form, called the second", False, good | {"predicateType": SECOND_TYPE}),
        (
            "the second form with a search",
            False,
            put(second, "predicate.search", SEARCH.model_dump()),
        ),
    ]
    return [
        {"why": why, "well_formed": form, "statement": statement}
        for why, form, statement in refused
    ]


class CorpusVector(NamedTuple):
    """A proof about a corpus, the key it is checked with, and what must come out."""

    name: str
    data: bytes
    why: str
    membership: str | None = None
    fails: tuple[str, ...] = ()
    key: str | None = "third-log.pub"

    @property
    def path(self) -> str:
        """Where the file is."""
        return f"corpora/{'refused' if self.fails else 'holds'}/{self.name}.json"

    def as_json(self) -> Json:
        """Return the line of the index."""
        undecided = "holds" if self.key else "consistent, signer unknown"
        return {
            "file": self.path,
            "key": f"keys/{self.key}" if self.key else None,
            "verdict": "does not hold" if self.fails else undecided,
            "membership": self.membership,
            "fails": list(self.fails),
            "why": self.why,
        }


def corpus_proof(seq: int, document: str, selection: Sequence[str] | None = None) -> Json:
    """Return the object of a file that proves a document in a ledger's corpus, or out of it."""
    log, (corpus, _) = third_log(), third_library()
    if seq == OF_NOTHING:
        corpus = KeyedMap(whole_map({}).root, lambda _: None)
    proof = Proof.parse(canonical_json(log.prove(seq, len(log.entries), log.keys[0])))
    nodes = proving_nodes(corpus, keys_of(corpus, document)[0])
    chosen = None if selection is None else tuple(selection)
    return CorpusProof(document, proof, nodes, chosen).as_json()


def never_recorded(*, beside: bool) -> str:
    """Return an id that the library does not have; where it would be is another's leaf, or none."""
    corpus, _ = third_library()
    names = (
        derived_id("doc", {"collection": "archive", "filename": f"other-{number}.txt"})
        for number in range(10_000)
    )
    return next(name for name in names if (corpus.prove(name.encode())[-1][:1] == LEAF) is beside)


def corpus_vectors() -> Iterator[CorpusVector]:
    """Give proofs about a corpus: that a document was there, was left out, or was not there."""
    own, note = POLICY.document_id, archived(0)
    absent, beside = never_recorded(beside=False), never_recorded(beside=True)
    for name, why, membership, proof in (
        ("used", "a document that was used", "used", corpus_proof(THIRD, own)),
        ("newest", "the newest of two versions", "used", corpus_proof(THIRD, note)),
        ("newest-by-number", "the same by its number", "used", corpus_proof(THIRD, f"{note}@2")),
        ("older", "the older of two versions", "used", corpus_proof(THIRD, f"{note}@1")),
        ("absent", "a document that was not there", "absent", corpus_proof(THIRD, absent)),
        ("absent-beside", "the same, by another's leaf", "absent", corpus_proof(THIRD, beside)),
        ("absent-version", "a later version", "absent", corpus_proof(THIRD, f"{own}@2")),
        ("absent-from-nothing", "an empty library", "absent", corpus_proof(OF_NOTHING, own)),
        ("filtered-in", "a document that was chosen", "used", corpus_proof(OF_SOME, own)),
        ("filtered-out", "one that was not", "left_out", corpus_proof(OF_SOME, note)),
        ("filtered-older", "a version", "left_out", corpus_proof(OF_SOME, f"{note}@1")),
        ("selected", "one of a selection", "used", corpus_proof(OF_SELECTED, own, SELECTION)),
        ("not-selected", "one beside", "left_out", corpus_proof(OF_SELECTED, note, SELECTION)),
        ("absent-selected", "none of it", "absent", corpus_proof(OF_SELECTED, absent)),
    ):
        yield CorpusVector(name, pretty(proof), why, membership)
    good = pretty(corpus_proof(THIRD, own))
    yield CorpusVector("unknown-signer", good, "no key was given", "used", key=None)
    yield from malformed_corpora()
    yield from refused_corpora()


def malformed_corpora() -> Iterator[CorpusVector]:
    """Give files that are no proofs about a corpus."""
    good = corpus_proof(THIRD, POLICY.document_id)
    log = third_log()
    record = log.prove(1, len(log.entries), log.keys[0])
    bare = log.prove(THIRD, len(log.entries), log.keys[0], disclose=False)
    stated = enveloped(log, THIRD, third_session().to_statement().encode())
    for name, why, document in (
        ("no-nodes", "there are no nodes", put(good, "nodes", MISSING)),
        ("no-ledger", "there is no ledger", put(good, "ledger", MISSING)),
        ("unknown-field", "a field that is unknown", {**good, "note": ""}),
        ("future", "a version that is none yet", {**good, "v": 2}),
        ("true-as-version", "true is no number", {**good, "v": True}),
        ("no-document", "a document without a name", {**good, "document": ""}),
        ("no-version", "a version that is none", {**good, "document": f"{good['document']}@0"}),
        ("document-number", "a name that is a number", {**good, "document": 7}),
        ("nodes-text", "nodes that are text", {**good, "nodes": "".join(good["nodes"])}),
        ("nodes-numbers", "nodes that are numbers", {**good, "nodes": [1]}),
        ("selection-null", "a selection that is null", {**good, "selection": None}),
        ("ledger-text", "a ledger that is text", {**good, "ledger": "led_0"}),
        ("ledger-broken", "the ledger's proof is cut", put(good, "ledger.checkpoint", MISSING)),
        ("no-body", "the ledger's body is not there", {**good, "ledger": bare}),
        ("statement", "the statement is there", {**good, "ledger": stated}),
        ("other-kind", "the entry of a document", {**good, "ledger": record}),
    ):
        yield CorpusVector(name, pretty(document), why, None, ("format",))
    whole = pretty(good)
    yield CorpusVector("cut", whole[: len(whole) // 2], "half of a file", None, ("format",))


def refused_corpora() -> Iterator[CorpusVector]:
    """Give files that prove nothing: something in them is not what it was."""
    own, note, absent = POLICY.document_id, archived(0), never_recorded(beside=False)
    good, out = corpus_proof(THIRD, own), corpus_proof(OF_SOME, note)
    older, chosen = corpus_proof(THIRD, f"{note}@1"), corpus_proof(OF_SELECTED, own, SELECTION)
    nodes, root = good["nodes"], good["ledger"]["body"]["corpus"]["root"]
    corpus, _ = third_library()
    by_number = list(proving_nodes(corpus, [f"{note}@2".encode()]))
    leaf = b64encode(parse_base64(nodes[-1]).replace(b"policies", b"policied")).decode()
    body, wrong = "ledger.body.corpus", third_sessions()[0].to_statement().encode()
    nothing = {**good, "nodes": []}
    for name, why, fails, document in (
        ("node-missing", "a node is left out", "corpus", {**good, "nodes": nodes[:-1]}),
        ("nodes-missing", "all nodes are left out", "corpus", nothing),
        ("node-twice", "a node is there twice", "corpus", {**good, "nodes": [*nodes, nodes[0]]}),
        ("nodes-turned", "the other way round", "corpus", {**good, "nodes": nodes[::-1]}),
        ("node-changed", "a leaf was changed", "corpus", {**good, "nodes": [*nodes[:-1], leaf]}),
        ("node-base64", "a node is not base64", "corpus", {**good, "nodes": [*nodes[:-1], "?"]}),
        ("renamed", "nodes of another document", "corpus", {**good, "document": absent}),
        ("newest-hidden", "the newest is passed over", "corpus", {**older, "nodes": by_number}),
        ("asked-newest", "a version too much", "corpus", {**older, "document": note}),
        ("selection-missing", "no selection", "corpus", put(chosen, "selection", MISSING)),
        ("selection-other", "another", "corpus", {**chosen, "selection": [own]}),
        ("selection-idle", "one that decides nothing", "corpus", {**good, "selection": [own]}),
        ("no-corpus", "the entry commits to none", "corpus", {**good, **of_entry(UNNAMED)}),
        ("other-root", "the entry names another", "corpus", {**good, **of_entry(MISNAMED)}),
        ("root-changed", "another root", "content corpus", put(good, f"{body}.root", flip(root))),
        (
            "filter-changed",
            "as if all",
            "content corpus",
            put(out, f"{body}.filter", {"all": True}),
        ),
        ("filter-null", "a null", "content corpus", put(good, f"{body}.filter.documents", None)),
        ("used-changed", "a count", "content corpus", put(good, f"{body}.used", 1)),
        (
            "subject-changed",
            "of another ledger",
            "place",
            put(good, "ledger.entry.subject", "led_0"),
        ),
        ("path-changed", "another place", "place", moved_on(good)),
        (
            "ledger-other-corpus",
            "not its statement's",
            "corpus",
            enveloped(third_log(), MISNAMED, wrong),
        ),
        ("ledger-no-corpus", "none in its entry", "corpus", enveloped(third_log(), UNNAMED, wrong)),
    ):
        yield CorpusVector(name, pretty(document), why, None, tuple(fails.split()))
    key = "ledger-log.pub"
    yield CorpusVector("other-key", pretty(good), "another's key", None, ("signature",), key)


def of_entry(seq: int) -> Json:
    """Return the part of a file that proves the entry of a ledger."""
    log = third_log()
    return {"ledger": log.prove(seq, len(log.entries), log.keys[0])}


def moved_on(proof: Json) -> Json:
    """Return a file in which the place of the ledger's entry is another."""
    return put(proof, "ledger.inclusion.0", flip(proof["ledger"]["inclusion"][0]))


def parse_base64(text: str) -> bytes:
    """Return the bytes of base64."""
    return b64decode(text, validate=True)


def rendering_vectors() -> Json:
    """Return what says how the pages of a PDF were made, and what does not."""
    good: Json = {
        "format": "evidentia/pdf",
        "v": 1,
        "lang": "both",
        "typeface": "plex",
        "typst": "0.15.0",
        "template": sha256_hex(b"templates and fonts"),
    }
    formal = {**good, "lang": "ar", "typeface": "amiri"}
    later = {**good, "lang": "en", "typst": "0.16.1", "template": sha256_hex(b"others")}

    def spelled(**changes: Any) -> str:
        return canonical_json({**good, **changes}).decode()

    right = spelled()
    refused = [
        ("", "nothing"),
        (f"[{right}]", "no object"),
        (json.dumps(good), "not canonical: spaces, and another order"),
        (f"{right}\n\n", "two newlines"),
        (f" {right}", "a space before it"),
        (right.replace('"v":1', '"v":1.0'), "not canonical: a number with a fraction"),
        (right.replace('"v":1', '"v":1,"v":1'), "a key twice"),
        (right.replace("plex", "pl\\u0065x"), "not canonical: an escape that is not needed"),
        *(
            (canonical_json(changed(good, name, MISSING)).decode(), f"{name} is missing")
            for name in good
        ),
        (spelled(at="2026-01-05T09:00:00Z"), "a field that there is not"),
        (spelled(format="evidentia/proof"), "another format"),
        (spelled(v=2), "a later version"),
        (spelled(v=0), "no version"),
        (spelled(v=True), "the version is no number"),
        (spelled(v="1"), "the version is text"),
        (spelled(lang="fr"), "an unknown language"),
        (spelled(lang="AR"), "a language in capitals"),
        (spelled(lang=None), "no language"),
        (spelled(typeface="times"), "an unknown typeface"),
        (spelled(typst=0.15), "the version of Typst is no text"),
        (spelled(template=None), "the template is no text"),
    ]
    return {
        "renderings": [
            {"rendering": good, "bytes": right},
            {"rendering": formal, "bytes": canonical_json(formal).decode()},
            {"rendering": later, "bytes": f"{canonical_json(later).decode()}\n"},
        ],
        "refused": [{"bytes": text, "why": why} for text, why in refused],
    }


def page_vectors() -> Json:
    """Return evidence as pages carry it, and pages that carry none."""
    opens, closes = '<script type="application/json" id="evidence">', "</script>"
    texts = ("{}", '{"a":"<b>"}', '{"a":"</script><!--"}', '{"a":"\\\\u003c"}', '{"a":"\\\\<"}')
    carried = [text.replace("<", "\\u003c") for text in texts]
    return {
        "pages": [
            {"evidence": f"{text}\n", "page": f"<!doctype html>\n{opens}{inside}\n{closes}\n"}
            for text, inside in zip(texts, carried, strict=True)
        ],
        "refused": [
            {"page": "<!doctype html>\n", "why": "nothing is carried"},
            {"page": f"<!doctype html>\n{opens}{{}}\n", "why": "it is cut short"},
            {"page": f"<!doctype html>\n{opens}{{}}{closes}{opens}{{}}{closes}", "why": "twice"},
        ],
    }


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


# Access logs


def access_key(number: int = 1) -> SigningKey:
    """Return a key of the log whose access log is exported: the first one, or its successor."""
    return SigningKey.from_seed(ACCESS_ORIGIN, seed(f"key {number} of {ACCESS_ORIGIN}"))


def asked(number: int, did: str, outcome: str, path: str, by: str) -> Json:
    """Return the body of a request's entry."""
    return {
        "did": did,
        "outcome": outcome,
        "path": path,
        "request_id": seed(f"request {number}").hex()[:16],
        "trace_id": seed(f"trace {number}").hex()[:32],
        "token_id": None if did == "sign_in" else seed(f"token of {by}").hex()[:16],
        "by": by,
    }


@cache
def access_log_of() -> Log:
    """Return a log in which a server recorded what was asked of it, among other things."""
    log = Log(ACCESS_ORIGIN, [access_key()])
    log.announce(log.keys[0], by="owner")
    grant = {
        "action": "grant",
        "user": "layla",
        "tenant_id": "acme",
        "role": "auditor",
        "granted_by": "owner",
        "granted_at": moment(1),
        "expires_at": "2026-07-01T00:00:00.000000Z",
    }
    log.append(EntryKind.ACCESS, "user/layla", grant)
    pack = small_pack()
    address = f"/api/v1/packs/{pack.pack_id}"
    log.append(EntryKind.PACK, pack.pack_id, third_body(pack, "owner"))
    for number, (did, outcome, path, by) in enumerate(
        (
            ("sign_in", "done", "/sign-in", "owner"),
            ("packs.get", "done", address, "layla"),
            ("packs.hold", "refused", f"{address}/hold", "layla"),
        )
    ):
        log.append(EntryKind.REQUEST, f"user/{by}", asked(number, did, outcome, path, by))
    approval = {"action": "approve", "approval_class": "A1", "by": "owner", "note": ""}
    log.append(EntryKind.EXPORT, pack.pack_id, approval)
    log.announce(access_key(2), replaces=log.keys[0], by="owner")
    log.append(EntryKind.REQUEST, "user/layla", asked(9, "access.export", "done", "/x", "layla"))
    return log


def access_line(seq: int, size: int, *, disclose: bool = True) -> AccessLine:
    """Return the line of an entry, under the log's checkpoint of a size."""
    log = access_log_of()
    proof = Proof.parse(canonical_json(log.prove(seq, size, log.keys[0], disclose=disclose)))
    return AccessLine(proof.entry, proof.inclusion, proof.disclosure)


class AccessVector(NamedTuple):
    """An exported access log, and what must come out."""

    name: str
    data: bytes
    why: str
    fails: tuple[str, ...] = ()
    key: str | None = "access-log.pub"

    @property
    def path(self) -> str:
        """Where the file is."""
        return f"access-logs/{'refused' if self.fails else 'holds'}/{self.name}.ndjson"

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


ACCESS_SIZE, ACCESS_LATER = 7, 9
"""How many entries the log had before its key was replaced, and with what came then."""
ACCESSES = (0, 1, 3, 4, 5, 6)
"""The entries up to then that are of the access log: the pack's is not."""


def exported_access(
    lines: Sequence[AccessLine] | None = None, over: Range | None = None, size: int = ACCESS_SIZE
) -> bytes:
    """Return the file of some lines, signed by the first key as it is, right or wrong."""
    log = access_log_of()
    if lines is None:
        lines = [access_line(seq, size) for seq in ACCESSES]
    return write_access_log(
        lines, over or Range(0, size - 1), log.sign(size, log.keys[0]), log.keys[0]
    )


def with_head(data: bytes, **fields: Any) -> bytes:
    """Return a file with other fields in its first line; None takes one away."""
    head, _, rest = data.partition(b"\n")
    value = {name: one for name, one in {**json.loads(head), **fields}.items() if one is not None}
    return canonical_json(value) + b"\n" + rest


def with_statement(data: bytes, predicate_type: str = ACCESS_LOG_TYPE, **said: Any) -> bytes:
    """Return a file whose statement says something else, signed as it is."""
    envelope = Envelope.from_json(json.loads(data.partition(b"\n")[0])["envelope"])
    old = Statement.parse(envelope.payload)
    predicate = {name: one for name, one in {**old.predicate, **said}.items() if one is not None}
    new = Statement(predicate_type, old.subjects, predicate).encode()
    return with_head(data, envelope=Envelope.sign(new, access_key()).as_json())


def access_vectors() -> Iterator[AccessVector]:
    """Give exported access logs that hold, and that are refused by one of their checks."""
    whole = exported_access()
    over = Range(3, 5, since=moment(3), until=moment(5))
    part = [access_line(seq, ACCESS_SIZE) for seq in (3, 4)]
    bare = [
        access_line(1, ACCESS_SIZE),
        access_line(4, ACCESS_SIZE, disclose=False),
    ]
    for name, why, data in (
        ("whole", "all entries of the access log", whole),
        ("part", "a range of numbers and times", exported_access(part, over)),
        ("erased", "an entry whose body was erased", exported_access(bare)),
        ("none", "a range without any", exported_access([], Range(2, 2))),
    ):
        yield AccessVector(name, data, why)
    yield AccessVector("whole", whole, "without a trusted key the signer is unknown", key=None)
    yield from refused_access(whole)
    yield from malformed_access(whole)


def refused_access(whole: bytes) -> Iterator[AccessVector]:
    """Give files that are well-formed and do not hold."""
    lines = [access_line(seq, ACCESS_SIZE) for seq in ACCESSES]
    first, later = lines[0], [access_line(seq, ACCESS_LATER) for seq in (*ACCESSES, 7, 8)]
    other = replace(first, entry=replace(first.entry, tenant="other"))
    moved = replace(lines[1], inclusion=lines[2].inclusion)
    logged = access_log_of().entries[ACCESSES[3]]
    edited = replace(lines[3], disclosure=Disclosure({**logged.body, "by": "omar"}, logged.salt))
    head, _, rest = whole.partition(b"\n")
    cut = head + b"\n" + b"".join(line.encode() for line in lines[:-1])
    spoilt = put(json.loads(head), "envelope.signatures.0.sig", b64encode(bytes(64)).decode())
    stranger = SigningKey.from_seed(ACCESS_ORIGIN, seed("a stranger's"))
    payload = b64decode(json.loads(head)["envelope"]["payload"])
    strange = Envelope.sign(payload, stranger).as_json()
    for name, why, fails, data in (
        ("line-taken-away", "a line was taken away", ("lines",), cut),
        ("another-count", "another count", ("lines",), with_statement(whole, count=7)),
        ("out-of-order", "not in order", ("lines",), exported_access([*lines[1:], first])),
        ("twice", "an entry twice", ("lines",), exported_access([first, *lines])),
        (
            "another-kind",
            "an entry of another kind",
            ("lines",),
            exported_access([access_line(2, ACCESS_SIZE)]),
        ),
        ("out-of-range", "out of its range", ("lines",), exported_access(over=Range(1, 6))),
        ("too-early", "before its time", ("lines",), exported_access(over=Range(0, 6, moment(1)))),
        (
            "too-late",
            "after its time",
            ("lines",),
            exported_access(over=Range(0, 6, None, moment(6))),
        ),
        ("body-changed", "a body was changed", ("content",), exported_access([edited])),
        ("misplaced", "another's path", ("place",), exported_access([moved])),
        ("another-tenant", "an entry of another tenant", ("place",), exported_access([other])),
        (
            "retired-key",
            "signed by a key that it says was replaced",
            ("rotation",),
            exported_access(later, size=ACCESS_LATER),
        ),
        ("signature-changed", "the signature was changed", ("statement",), written_head(spoilt)),
        (
            "another-signer",
            "the statement is another's",
            ("statement",),
            with_head(whole, envelope=strange),
        ),
    ):
        body = data + rest if name == "signature-changed" else data
        yield AccessVector(name, body, why, fails)


def written_head(value: Json) -> bytes:
    """Return a first line."""
    return canonical_json(value) + b"\n"


def malformed_access(whole: bytes) -> Iterator[AccessVector]:
    """Give files that are no access logs, though they say so."""
    head, _, rest = whole.partition(b"\n")
    line, _, others = rest.partition(b"\n")
    value = json.loads(line)

    def with_line(**fields: Any) -> bytes:
        said = {name: one for name, one in {**value, **fields}.items() if one is not None}
        return head + b"\n" + canonical_json(said) + b"\n" + others

    spaced = head + b"\n" + json.dumps(value).encode() + b"\n" + others
    for name, why, data in (
        ("cut-short", "the last line does not end", whole[:-1]),
        ("no-json", "a line is no JSON", head + b"\n{\n"),
        ("head-cut", "the first line is no JSON", head[:-1] + b"\n" + rest),
        ("another-format", "another format", with_head(whole, format="evidentia/access-logs")),
        ("newer", "a version to come", with_head(whole, v=2)),
        ("version-0", "no version", with_head(whole, v=0)),
        ("field-more", "a field more", with_head(whole, more=1)),
        ("no-checkpoint", "no checkpoint", with_head(whole, checkpoint=1)),
        ("another-type", "a statement of another type", with_statement(whole, "urn:x:other")),
        ("another-size", "a statement about another size", with_statement(whole, size=6)),
        ("other-kinds", "other kinds", with_statement(whole, kinds=["request"])),
        ("no-range", "no range", with_statement(whole, range=None)),
        ("line-field-more", "a line with a field more", with_line(more=1)),
        ("line-no-salt", "a body without its salt", with_line(salt=None)),
        ("line-salt", "a salt that is none", with_line(salt="00")),
        ("line-hash", "a hash that is none", with_line(inclusion=["00"])),
        ("line-no-list", "a path that is none", with_line(inclusion="00")),
        ("line-list", "a line that is a list", head + b"\n[]\n"),
        ("line-entry", "an entry that is none", with_line(entry={})),
        ("line-spaced", "a line that is not canonical", spaced),
    ):
        yield AccessVector(name, data, why, ("format",))


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


def put(document: Json, path: str, value: Any) -> Json:
    """Return a copy in which the value at a path (`outer.0.inner`) is another one, or missing."""
    copied = copy.deepcopy(document)
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    place: Any = copied
    for step in steps:
        place = place[step]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
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
