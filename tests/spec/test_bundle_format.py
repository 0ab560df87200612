"""The format of bundles: vectors, schemas and the page agree with each other and with the code."""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import create_engine, text

import evidentia
import tiers
from evidentia.bundles import accounting, model
from evidentia.bundles.accounting import EvidenceType, Outcome
from evidentia.bundles.bounding import cut_to_bytes, kept_places
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.ids import PREFIX_DIGITS, evidence_ids
from evidentia.bundles.model import BUILD_VERSION, EvidenceBundle, bundle_id_of
from evidentia.bundles.policy import TOKENIZERS, EvidencePolicy
from evidentia.bundles.redaction.redactor import BUILT_IN, Redactor
from evidentia.bundles.redaction.validating import normalised
from evidentia.bundles.rendering import NONCE_DIGITS, fence_nonce
from evidentia.bundles.sampling import sampled_rows
from evidentia.bundles.statement import PREDICATE_TYPE, from_statement
from evidentia.bundles.tokens import token_counter
from evidentia.canonical import canonical_json, parse_json, sha256_hex
from evidentia.errors import CanonicalError, EvidentiaError, IntegrityError, ProofError
from evidentia.loading.assembling import build_evidence_bundle
from evidentia.proof.statement import Statement
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.workspace.bundles import MAX_RUN_ID
from spec.stranger import check_artifacts, verify_bundle
from spec.test_spec import SPEC, VECTORS, load, mutations, run_blocks, schema, valid

TABLES = load("bundles.json")
BUNDLES: list[dict[str, Any]] = TABLES["bundles"]
JOB = load("bundle/job.json")
SMALL = load("bundle/holds/small.json")
EVERY = load("bundle/holds/every-type.json")
CUT = load("bundle/holds/cut.json")
PAGE = (SPEC / "bundle.md").read_text(encoding="utf-8")


def data_of(vector: dict[str, Any]) -> bytes:
    return Path(VECTORS, vector["file"]).read_bytes()


# The vectors, by the code


@tiers.one_test
@pytest.mark.parametrize("vector", BUNDLES, ids=lambda vector: vector["file"])
def test_a_bundle_is_read_as_it_is_or_refused(vector: dict[str, Any]) -> None:
    if vector["fails"]:
        with pytest.raises(IntegrityError):
            EvidenceBundle.parse(data_of(vector))
    else:
        assert EvidenceBundle.parse(data_of(vector)).encode() == data_of(vector)


def test_the_bundle_has_every_type_and_every_outcome() -> None:
    assert {item["evidence_type"] for item in EVERY["items"]} == set(EvidenceType)
    assert {each["outcome"] for each in EVERY["accounting"]["decisions"]} == set(Outcome)
    assert {vector["fails"][0] for vector in BUNDLES if vector["fails"]} == {
        *("form", "digest", "id", "items", "limits", "accounting", "summary", "records")
    }


def test_the_job_gives_the_bundle_and_its_artifacts(tmp_path: Path) -> None:
    kept = VECTORS / "bundle/lake"
    copytree(kept, tmp_path, ignore=lambda _, names: {"sha256"} & set(names), dirs_exist_ok=True)
    built = build_evidence_bundle(
        job_input=JOB["job_input"],
        evidence_refs=JOB["evidence_refs"],
        policy=EvidencePolicy(**JOB["policy"]),
        lake_root=tmp_path,
        on_error="record",
        redaction_key=bytes.fromhex(JOB["redaction_key"]),
    )
    assert built.as_json() | {"created_utc": JOB["created_utc"]} == EVERY
    assert (tmp_path / built.lake_uri).read_bytes() == built.encode()
    for path in kept.rglob("*"):
        if path.is_file():
            assert (tmp_path / path.relative_to(kept)).read_bytes() == path.read_bytes()


def test_the_statement_is_the_bundles_and_the_text_what_it_renders() -> None:
    statement = Statement.parse((VECTORS / "bundle/statement.json").read_bytes())
    bundle = from_statement(statement)
    assert bundle.as_json() == EVERY
    assert str(bundle.render()).encode() == (VECTORS / "bundle/rendered.txt").read_bytes()
    other = {**statement.as_json(), "subject": [{"name": "x", "digest": {"sha256": "0" * 64}}]}
    with pytest.raises(ProofError):
        from_statement(Statement.parse(canonical_json(other)))


def test_the_entries_are_those_of_a_bundle_and_a_run() -> None:
    bundle, run = (load(f"proofs/holds/{name}.json") for name in ("bundle", "run"))
    assert bundle["entry"]["subject"] == f"bundle/{EVERY['bundle_id']}"
    statement = (VECTORS / "bundle/statement.json").read_bytes()
    assert bundle["body"] == {
        STATEMENT_DIGEST: sha256_hex(statement),
        "predicate_type": PREDICATE_TYPE,
        "bundle_sha256": EVERY["bundle_sha256"],
        "summary": EVERY["summary"],
    }
    assert run["entry"]["subject"] == f"run/{run['body']['run_id']}"
    assert valid("bundle-body", bundle["body"])
    assert valid("run-body", run["body"])


def test_the_tables_are_what_the_code_does() -> None:
    given = TABLES["ids"]["given"]
    candidates = [
        Candidate(EvidenceType(one["evidence_type"]), "", "", one["digest"], one["part"])
        for one in given
    ]
    assert evidence_ids(candidates) == [one["evidence_id"] for one in given]
    for one in TABLES["sampled_rows"]:
        found = sampled_rows(one["total"], one["limit"], one["strategy"])
        assert list(found) == one["rows"]
    for one in TABLES["kept"]:
        limits = {name: one[name] for name in ("max_items", "max_total_bytes")}
        assert kept_places(one["sizes"], one["priorities"], **limits) == one["kept"]
    for one in TABLES["cuts"]:
        assert cut_to_bytes(one["text"], one["limit"]) == one["cut"]
    for one in TABLES["nonces"]:
        key = bytes.fromhex(one["key"])
        assert fence_nonce(one["bundle_sha256"], one["texts"], key=key) == one["nonce"], one["why"]


def test_redacted_values_have_their_digests() -> None:
    vectors = TABLES["redactions"]
    for one in vectors["values"]:
        redactor = Redactor(bytes.fromhex(vectors["key"]), patterns={"EMPLOYEE_ID": "EMP-[0-9]{4}"})
        assert normalised(one["kind"], one["value"]) == one["normalised"]
        (hit,) = redactor.redact(f"It is {one['value']}.").redactions
        assert (hit.kind, hit.digest) == (one["kind"], one["digest"])


# The schemas

MODELS: dict[str, Any] = {
    "": EvidenceBundle,
    "policy": EvidencePolicy,
    "item": model.EvidenceItem,
    "summary": model.BundleSummary,
    "tokens": model.TokenCounts,
    "bundleBounding": model.BundleBounding,
    "accounting": accounting.Accounting,
    "decision": accounting.InputFate,
    "step": accounting.Step,
}
"""What the parts of the bundle's schema are called in the code."""
OPTIONAL = {"full_ref", "tokens", "dropped_ref", "artifact_uri", "artifact_sha256"}
TOKENS = {"tokenizer": "llama3", "rendered": 9, "overhead": 3}
PARTS = {
    "policy": EVERY["policy"] | {"tokenizer": "llama3", "max_item_tokens": 5},
    "item": EVERY["items"][3],
    "summary": EVERY["summary"] | {"tokens": TOKENS},
    "tokens": TOKENS,
    "bundleBounding": EVERY["summary"]["bundle_bounding"],
    "accounting": EVERY["accounting"] | {"decisions": []},
    "decision": EVERY["accounting"]["decisions"][4],
    "step": EVERY["accounting"]["decisions"][2]["steps"][0],
}


def names_of(kind: Any) -> list[str]:
    return [each.name for each in fields(kind)] if is_dataclass(kind) else [*kind.model_fields]


@pytest.mark.parametrize("name", MODELS)
def test_the_bundle_schema_has_the_fields_of_the_code(name: str) -> None:
    whole = schema("bundle")
    part = whole["$defs"][name] if name else whole
    assert list(part["properties"]) == names_of(MODELS[name])
    assert part["required"] == [each for each in part["properties"] if each not in OPTIONAL]
    assert part["additionalProperties"] is False


def test_the_bundle_schema_has_the_values_of_the_code() -> None:
    whole = schema("bundle")
    parts = whole["$defs"]
    assert parts["evidenceType"]["enum"] == list(EvidenceType)
    assert parts["decision"]["properties"]["outcome"]["enum"] == list(Outcome)
    assert parts["step"]["properties"]["done"]["enum"] == list(Outcome)[1:]
    assert parts["policy"]["properties"]["redaction_classes"]["items"]["enum"] == list(BUILT_IN)
    assert parts["policy"]["properties"]["tokenizer"]["enum"] == [*TOKENIZERS, None]
    assert parts["tokens"]["properties"]["tokenizer"]["enum"] == list(TOKENIZERS)
    assert whole["$id"] == PREDICATE_TYPE
    assert schema("bundle-body")["properties"]["predicate_type"]["const"] == PREDICATE_TYPE
    assert schema("run-body")["properties"]["run_id"]["maxLength"] == MAX_RUN_ID
    assert re.fullmatch(whole["properties"]["build_version"]["pattern"], BUILD_VERSION)


SCHEMA_CANNOT_SAY = {
    f"bundle/refused/{name}.json"
    for name in ("overlap", "duplicate-key", "classes-in-another-order")
}
"""Refused by their form, for a reason that compares fields or is about bytes."""


@tiers.one_test
@pytest.mark.parametrize("vector", BUNDLES, ids=lambda vector: vector["file"])
def test_the_bundle_schema_refuses_what_is_malformed_alone(vector: dict[str, Any]) -> None:
    well_formed = vector["fails"] != ["form"] or vector["file"] in SCHEMA_CANNOT_SAY
    assert valid("bundle", json.loads(data_of(vector))) == well_formed


PATTERNS: list[Any] = [
    *({}, {"A": "x"}, {"A_1": "a|b"}, {"a": "x"}, {"": "x"}, {"1": "x"}, {"A\n": "x"}),
    *({"EMAIL": "x"}, {"A": ""}, {"A": 1}, {"A": None}),
]
CLASSES: list[Any] = [None, [], ["EMAIL"], ["EMAIL", "JWT"], ["email"], ["EMAIL", 1], "EMAIL"]


def policies() -> Iterator[dict[str, Any]]:
    good = PARTS["policy"]
    yield from mutations(good)
    for value in PATTERNS:
        yield {**good, "redaction_patterns": value}
    for value in CLASSES:
        yield {**good, "redaction_classes": value}
    for value in ("first_only", "stride", "random", "cl100k_base", None):
        yield {**good, "sampling_strategy": value}
        yield {**good, "tokenizer": value}
        yield {**good, "tokenizer": value, "max_item_tokens": None}
        yield {**good, "tokenizer": value, "max_item_tokens": None, "max_total_tokens": 0}


def reads(kind: Any, document: Any) -> bool:
    try:
        TypeAdapter(kind).validate_json(json.dumps(document), strict=True)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", PARTS)
def test_what_the_bundle_schema_takes_the_code_reads(name: str) -> None:
    good = PARTS[name]
    assert valid(f"bundle#/$defs/{name}", good)
    changed = [*policies()] if name == "policy" else [*mutations(good)]
    for document in tiers.sample(changed, 60):
        if valid(f"bundle#/$defs/{name}", document):
            cannot_say = name == "policy" and document["chunk_overlap"] >= document["chunk_size"]
            assert reads(MODELS[name], document) != cannot_say, document


def test_the_policy_schema_takes_what_the_code_reads() -> None:
    for document in policies():
        if set(document) == set(PARTS["policy"]) and reads(EvidencePolicy, document):
            assert valid("bundle#/$defs/policy", document), document


def sealed(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return a bundle with the digest and id that follow from it; None if it has no bytes."""
    told = {"bundle_id", "bundle_sha256", "created_utc"}
    try:
        found = sha256_hex(
            canonical_json({name: document[name] for name in document.keys() - told})
        )
        canonical_json(document)
    except CanonicalError:
        return None
    return {**document, "bundle_sha256": found, "bundle_id": bundle_id_of(found)}


TAKEN_AS_IT_IS = "metadata"
"""What our reader looks into here and there; the page and the schema name all of it."""
LOOKED_AT_IN_PART = {TAKEN_AS_IT_IS, "full_ref", "dropped_ref"}
"""Of references, our reader wants the digest, and that their place is the digest's."""


def is_read_loosely(document: dict[str, Any]) -> bool:
    """Whether our reader takes what the page refuses: a time that no clock shows."""
    try:
        datetime.fromisoformat(document["created_utc"])
    except ValueError:
        return True
    return False


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the paths of the objects that our reader looks into; the first of a list is no other."""
    if isinstance(value, dict):
        yield path
    parts = value.items() if isinstance(value, dict) else [*enumerate(value)][-2:]
    for name, part in parts:
        if isinstance(part, dict | list) and name not in LOOKED_AT_IN_PART:
            yield from objects(part, (*path, name))


def bundles_with(bundle: dict[str, Any], path: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Give a bundle with the object at a path changed, under a digest that is right."""
    place = bundle
    for step in path:
        place = place[step]
    kept = {name: place[name] for name in place.keys() & {TAKEN_AS_IT_IS}}
    for changed in mutations({name: place[name] for name in place.keys() - kept.keys()}):
        document = copy.deepcopy(bundle)
        outer: Any = document
        for step in path[:-1]:
            outer = outer[step]
        if path:
            outer[path[-1]] = kept | changed
        else:
            document = kept | changed
        if made := sealed(document):
            yield made


def code_reads(document: dict[str, Any]) -> bool:
    try:
        return EvidenceBundle.parse(canonical_json(document)).as_json() == document
    except EvidentiaError:
        return False


CHANGED = [(SMALL, path) for path in objects(SMALL)]
CHANGED += [(CUT, ("items", 0)), (CUT, ("accounting", "decisions", 1))]


@tiers.one_test
@pytest.mark.parametrize(
    ("bundle", "path"), CHANGED, ids=[".".join(map(str, path)) for _, path in CHANGED]
)
def test_code_schema_and_stranger_agree_on_every_change(
    bundle: dict[str, Any], path: tuple[Any, ...]
) -> None:
    seen = 0
    for document in tiers.sample([*bundles_with(bundle, path)], 12):
        seen += 1
        read, holds = code_reads(document), not verify_bundle(canonical_json(document))
        assert read or not holds, document
        assert holds or read == (read and is_read_loosely(document)), document
        assert not holds or valid("bundle", document), document
    assert seen


ID = "items.3.evidence_id"
SQL = EVERY["items"][6]["evidence_id"]
REFUSED_BY_ALL: list[tuple[str, Any]] = [
    ("created_utc", "yesterday"),
    ("created_utc", "2026-01-05T09:00:30Z"),
    ("created_utc", "2026-01-05T09:00:30.000000Z\n"),
    ("build_version", "two"),
    ("items.0.evidence_id", "inline:00"),
    *((ID, f"{name}:0") for name in ("lake:b060c33a1a7", "lake:B060C33A1A7A", "doc:b060c33a1a7a")),
    (ID, "lake:b060c33a1a7a:0\n"),
    (ID, "lake:b060c33a1a7a:00"),
    ("items.6.evidence_id", "sql:28acb82b5857:1"),
    ("items.6.evidence_id", f"{SQL}:5"),
    ("items.7.evidence_id", "sqldef:28acb82b5857:0"),
    ("items.3.full_ref.sha256", "x"),
    ("items.3.full_ref", None),
    ("items.3.metadata.bounding", None),
    ("items.6.metadata.sampling.rows.0", [0]),
    ("items.6.metadata.sampling.rows.0", [0, 1, 2]),
    ("items.6.metadata.sampling.columns", "day"),
    ("items.1.metadata.redactions", []),
    ("items.1.metadata.redactions", 5),
    ("items.1.metadata.redactions.0.kind", "email"),
    ("summary.bundle_bounding.dropped_ref", None),
    ("summary.bundle_bounding.dropped_ref", {}),
    ("summary.type_counts.rumour", 1),
    ("summary.type_counts.lake_text", 0),
    ("summary.type_counts.lake_text", True),
    ("summary.tokens", None),
    ("accounting.decisions.0.steps", EVERY["accounting"]["decisions"][1]["steps"]),
    ("accounting.decisions.0.artifact_uri", None),
    ("accounting.decisions.0.artifact_uri", "notes/handover.md"),
    ("accounting.decisions.0.artifact_sha256", "0" * 64),
    ("accounting.decisions.1.steps", []),
    ("accounting.decisions.3.bundle_bytes", 1),
    ("accounting.decisions.4.artifact_sha256", "x"),
]
READ_BY_THE_CODE: list[tuple[str, Any]] = [
    ("created_utc", "2026-13-05T09:00:30.000000Z"),
    ("items.3.source_ref.note", "x"),
    ("items.6.source_ref.files", {}),
    ("items.6.source_ref.files", {"leave": 1}),
    ("items.6.source_ref.parameters", [2026]),
    ("items.3.full_ref.note", "x"),
    ("items.3.metadata.note", "x"),
    ("items.3.metadata.bounding.applied", False),
    ("items.3.metadata.bounding.truncation_point", -1),
    ("items.3.metadata.bounding.truncation_point", 1.5),
    ("items.4.metadata.status", 99),
    ("items.4.metadata.redacted_headers", "Cookie"),
    ("items.6.metadata.sampling.strategy", "random"),
    ("items.8.metadata.chunk.page", 0),
    ("items.8.metadata.chunk.chunk_hashes.0", "c0ffee"),
    ("items.10.metadata.chunk.speakers", None),
    ("items.1.metadata.redactions.0.placeholder", "[EMAIL_0]"),
    ("items.1.metadata.redactions.0.placeholder", "[EMAIL_1]\n"),
    ("items.1.metadata.redactions.0.digest", "x"),
    ("items.1.metadata.redactions.0.field", "contents"),
    ("items.1.metadata.redactions.0.start", "4"),
    ("summary.bundle_bounding.dropped_ref.row_count", 1),
]
"""Our reader does not look into what only tells of an item; the schema and the page do."""


def every_with(path: str, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(EVERY)
    place: Any = document
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in steps:
        place = place[step]
    place[last] = value
    made = sealed(document)
    assert made
    return made


@tiers.one_test
@pytest.mark.parametrize(("path", "value"), REFUSED_BY_ALL)
def test_what_is_malformed_is_refused_by_all(path: str, value: Any) -> None:
    made = every_with(path, value)
    assert not valid("bundle", made)
    assert verify_bundle(canonical_json(made))
    assert not code_reads(made)


@tiers.one_test
@pytest.mark.parametrize(("path", "value"), READ_BY_THE_CODE)
def test_schema_and_stranger_are_strict_about_the_parts(path: str, value: Any) -> None:
    made = every_with(path, value)
    assert not valid("bundle", made)
    assert verify_bundle(canonical_json(made))
    assert code_reads(made)


@pytest.mark.parametrize(
    ("name", "proof"), [("bundle-body", "bundle"), ("run-body", "run")], ids=["bundle", "run"]
)
def test_the_schemas_of_the_bodies_refuse_other_fields_and_values(name: str, proof: str) -> None:
    good = load(f"proofs/holds/{proof}.json")["body"]
    assert valid(name, good)
    hashes = {"statement_sha256", "bundle_sha256"}
    for document in mutations(good):
        changed = {key for key in good if document.get(key) != good[key]}
        (field,) = changed or {""}
        value = document.get(field)
        fits = set(document) == set(good) and (
            not field
            or (
                field in hashes
                and isinstance(value, str)
                and bool(re.fullmatch("[0-9a-f]{64}", value))
            )
            or (field == "run_id" and is_run_id(value))
        )
        assert valid(name, document) == fits, document


def is_run_id(value: Any) -> bool:
    return (
        isinstance(value, str)
        and bool(value.strip())
        and len(value) <= MAX_RUN_ID
        and "\0" not in value
    )


REFERENCES: dict[str, Any] = JOB["evidence_refs"] | {
    "lake_text": ["notes/handover.md", "notes/handover.md", {"folder": "notes"}, "empty.txt", "no"],
    "lake_http": [*JOB["evidence_refs"]["lake_http"], "http/picture.json", {"folder": "none"}],
    "sql_results": [
        {"query_key": "wide", "lake_uri": "wide.csv"},
        {"query_key": "wide", "lake_uri": "wide.csv", "rows": [2, 5]},
        {"query_key": "live", "sql": "SELECT * FROM t", "connection": "db"},
        {
            "query_key": "of zoe@acme.example",
            "sql": "SELECT * FROM t WHERE b = :who",
            "connection": "db",
            "parameters": {"who": "zoe@acme.example"},
        },
        {"query_key": "file", "sql": "SELECT * FROM wide", "files": {"wide": "wide.csv"}},
        {"query_key": "gone", "lake_uri": "gone.csv"},
        {"query_key": "wrong", "sql": "SELECT zoe@acme.example", "connection": "db"},
    ],
    "documents": [
        "documents/HR_Policy.md",
        {"folder": "documents", "pattern": "*.md"},
        {"document_id": "doc_0"},
        "gone.pdf",
    ],
    "transcripts": [
        "transcripts/call.vtt",
        {"lake_uri": "transcripts/call.vtt", "transcript_id": "call-9"},
        "spoken.txt",
        "gone.vtt",
    ],
}
TEXTS: list[Any] = [
    *JOB["job_input"]["extra_params"]["evidence"],
    {"text": "x", "by": {"names": ["zoe@acme.example"], "lake_uri": "zoe@acme.example"}, "n": 1.5},
    {"text": "", "source_uri": None},
    "zoe@acme.example " * 40,
    "half a character: \ud83d",
]
POLICIES = [
    EvidencePolicy(),
    EvidencePolicy(**JOB["policy"]),
    EvidencePolicy(enable_redaction=True),
    EvidencePolicy(max_sql_cols=2, sampling_strategy="first_only", max_sql_rows=3),
    EvidencePolicy(max_sql_rows=1, sampling_strategy="stride", enable_redaction=True),
    EvidencePolicy(max_item_bytes=60, enable_redaction=True, redaction_classes=("EMAIL",)),
    EvidencePolicy(max_item_bytes=20, enable_redaction=True, redaction_patterns={"THE": "the"}),
    EvidencePolicy(max_items=0),
    EvidencePolicy(max_sql_rows=0),
    EvidencePolicy(max_total_bytes=300, chunk_size=90, chunk_overlap=9, enable_redaction=True),
]


def lay_out(lake: Path) -> None:
    """Write the files that the references name, but for those that are not there."""
    copytree(VECTORS / "bundle/lake", lake, ignore=lambda *_: {"sha256"})
    (lake / "wide.csv").write_text("a,b,c\n" + "1,2,3\n" * 9, encoding="utf-8")
    (lake / "empty.txt").write_text("", encoding="utf-8")
    (lake / "spoken.txt").write_text("Nobody is named here.\n" * 9, encoding="utf-8")
    picture = {
        "status": 200,
        "url": "https://zoe:pw@acme.example/p.png",
        "fetched_at": "2026-01-05T09:00:00Z",
        "headers": {"Content-Type": "image/png"},
        "body_base64": "iVBORw0KGgo=",
    }
    (lake / "http/picture.json").write_text(json.dumps(picture), encoding="utf-8")


def assert_redactions_are_shown(item: dict[str, Any]) -> None:
    """Look each placeholder up where its redaction says that it stands."""
    for hit in item["metadata"].get("redactions", []):
        text: Any = item
        for step in re.findall(r"[^.\[\]]+", hit["field"]):
            text = text[int(step) if isinstance(text, list) else step]
        assert text[hit["start"] : hit["end"]] == hit["placeholder"], hit


def test_the_schemas_fit_the_bundles_that_the_code_makes(tmp_path: Path) -> None:
    lay_out(tmp_path / "files")
    engine = create_engine(f"sqlite:///{tmp_path / 'd.db'}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a, b)"))
        connection.execute(text("INSERT INTO t VALUES (1, 'zoe@acme.example'), (2, NULL)"))
    with evidentia.open(tmp_path / "home") as workspace:
        workspace.ingest(tmp_path / "files/documents")
        (library,) = (each.id for each in workspace.documents.list())
        documents = [*REFERENCES["documents"], {"document_id": library}]
        made = [
            workspace.bundle(
                {"extra_params": {"evidence": TEXTS}},
                REFERENCES | {"documents": documents},
                policy,
                lake_root=tmp_path / "files",
                on_error="record",
                connections={"db": engine},
            )
            for policy in POLICIES
        ]
        for number, bundle in enumerate(made):
            workspace.bundles.record_run(f"run {number}", bundle.bundle_id)
        proofs = [workspace.bundles.prove(bundle.bundle_id) for bundle in made]
        runs = [each for each in workspace.trail.entries() if each.entry.kind == "run"]
        lake = workspace.opened.home.lake
    engine.dispose()
    for bundle, proof in zip(made, proofs, strict=True):
        assert valid("bundle", bundle.as_json())
        assert verify_bundle(bundle.encode()) == []
        assert check_artifacts(bundle.as_json(), lake, tmp_path / "files")
        for item in bundle.as_json()["items"]:
            assert_redactions_are_shown(item)
        assert valid("proof", proof.as_json())
        assert proof.disclosure
        assert valid("bundle-body.v2", proof.disclosure.body)
        assert proof.envelope
        assert valid("statement", parse_json(proof.envelope.payload))
    assert len(runs) == len(made)
    assert all(valid("run-body.v2", logged.body) for logged in runs)
    items = [item for bundle in made for item in bundle.as_json()["items"]]
    parts = schema("bundle")["$defs"]
    for part in ("source_ref", "metadata", "full_ref"):
        name = {"source_ref": "sourceRef", "full_ref": "fullRef"}.get(part, part)
        seen = {key for item in items for key in item.get(part, ())}
        assert seen >= set(parts[name]["properties"])
    assert {item["evidence_id"].count(":") for item in items} == {1, 2, 3}
    failed = {each["evidence_type"] for each in items if "error" in each["metadata"]}
    assert failed == set(EvidenceType) - {"sql_query_def"}


def test_the_schema_fits_a_bundle_with_counted_tokens(tmp_path: Path) -> None:
    pytest.importorskip("splintr")
    policy = EvidencePolicy(tokenizer="cl100k_base", max_item_tokens=4, max_total_tokens=200)
    bundle = build_evidence_bundle(job_input=JOB["job_input"], policy=policy, lake_root=tmp_path)
    assert bundle.summary.tokens
    assert valid("bundle", bundle.as_json())
    assert verify_bundle(bundle.encode()) == []
    small = load("bundle/holds/counted.json")
    count = token_counter(small["policy"]["tokenizer"])
    told = small["summary"]["tokens"]
    assert count(str(EvidenceBundle.from_json(small).render())) == told["rendered"]
    assert told["rendered"] - told["overhead"] == sum(
        count(item["content"]) for item in small["items"]
    )


# The page


def test_the_page_has_the_policy_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)
    defaults = EvidencePolicy().model_dump(mode="json")
    written = {name: shown.strip("`").replace(",", "") for name, shown in rows}
    assert written == {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in defaults.items()
    }


def test_the_page_names_every_field_type_kind_and_number() -> None:
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| `[^|]+\|", PAGE, re.MULTILINE))))
    for kind in MODELS.values():
        assert named >= set(names_of(kind))
    parts = schema("bundle")["$defs"]
    for name in ("metadata", "itemBounding", "redaction", "sampling", "sourceRef"):
        assert named >= set(parts[name]["properties"])
    for name in ("documentChunk", "transcriptChunk", "fullRef"):
        assert named >= set(parts[name]["properties"])
    for name in ("bundle-body.v2", "run-body.v2"):
        assert named >= set(schema(name)["properties"])
    assert named >= {*EvidenceType, *BUILT_IN}
    assert all(f"`{name}`" in PAGE for name in (*Outcome, *TOKENIZERS))
    assert f"at least {PREFIX_DIGITS} and at most 64" in PAGE
    assert f"The *nonce* is {NONCE_DIGITS} digits" in PAGE
    assert f"This page describes `{BUILD_VERSION}`" in PAGE


def test_the_functions_of_the_page_agree_with_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    page = run_blocks("bundle.md", monkeypatch)
    for bundle in (SMALL, EVERY):
        assert page["bundle_digest"](bundle) == bundle["bundle_sha256"]
        assert page["bundle_id"](bundle["bundle_sha256"]) == bundle["bundle_id"]
    given = TABLES["ids"]["given"]
    assert page["evidence_ids"](given) == [one["evidence_id"] for one in given]
    for one in TABLES["sampled_rows"]:
        assert page["sampled_rows"](one["total"], one["limit"], one["strategy"]) == one["rows"]
    for one in TABLES["kept"]:
        limits = (one["max_items"], one["max_total_bytes"])
        assert page["kept"](one["sizes"], one["priorities"], *limits) == one["kept"]
    vectors = TABLES["redactions"]
    for one in vectors["values"]:
        key = bytes.fromhex(vectors["key"])
        found = page["redaction_digest"](key, one["kind"], one["normalised"])
        assert found == one["digest"]
    for one in TABLES["nonces"]:
        key = bytes.fromhex(one["key"])
        assert page["fence_nonce"](one["bundle_sha256"], one["texts"], key) == one["nonce"]
