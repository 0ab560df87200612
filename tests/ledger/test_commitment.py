"""The commitment to a corpus: its map, its filter, and what a statement proves by its nodes."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.canonical import canonical_json
from evidentia.documents.recording import collection_id
from evidentia.errors import ProofError
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.commitment import (
    MAX_NAMED,
    CorpusCommitment,
    CorpusFilter,
    corpus_key,
    corpus_leaves,
    nodes_by_hash,
    proving_nodes,
    read_leaf,
    whole_map,
    with_version,
    wrong_documents,
)
from evidentia.ledger.session import (
    SECOND_TYPE,
    THIRD_TYPE,
    CheckedDocument,
    LedgerSession,
    SearchedBy,
    cited_documents,
)
from evidentia.proof.statement import Statement
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap
from ledger.corpora import check, leave_corpus

ALL = CorpusFilter(all=True)
HASH = "ab" * 32


def recorded(identity: str, version: int = 1, **other: Any) -> dict[str, Any]:
    """Return what an entry says of a version."""
    return {
        "document_id": identity,
        "version": version,
        "collection": "policies",
        "filename": f"{identity}.md",
        "media_type": "text/markdown",
        "sha256": HASH,
        "by": "owner",
        "corpus": {"root": HASH, "documents": 7},
        **other,
    }


def listed(identity: str, version: int = 1, **other: Any) -> dict[str, Any]:
    """Return a document as a statement lists it."""
    body = recorded(identity.partition("@")[0], version)
    names = ("version", "collection", "filename", "media_type", "sha256")
    document = {name: body[name] for name in names}
    return {"id": identity, **document, "dated": None, "superseded": "@" in identity, **other}


BODIES = [
    *(recorded(f"doc_{number}") for number in range(40)),
    recorded("doc_3", 2, dated="2026-01-05"),
    recorded("doc_4", 2, collection="other"),
]
LEAVES = corpus_leaves(BODIES)
WHOLE = whole_map(LEAVES)
MAP = KeyedMap(WHOLE.root, WHOLE.added.get)


def commit(keys: Sequence[str], chosen: CorpusFilter = ALL) -> CorpusCommitment:
    """Return a commitment to the library, which proves keys."""
    return CorpusCommitment(
        root=WHOLE.root.hex(),
        documents=len(LEAVES),
        used=len(LEAVES),
        entry=41,
        filter=chosen,
        nodes=proving_nodes(MAP, [key.encode() for key in keys]),
    )


def problems(commitment: CorpusCommitment, *documents: Mapping[str, Any]) -> list[str]:
    return list(wrong_documents(commitment, documents))


# The map


def test_a_library_has_each_version_by_its_name() -> None:
    assert len(LEAVES) == 42
    assert read_leaf(LEAVES[b"doc_3"])["version"] == 2
    assert read_leaf(LEAVES[b"doc_3@1"])["version"] == 1
    assert corpus_key("doc_3") == b"doc_3"
    assert corpus_key("doc_3", 1) == b"doc_3@1"


def test_a_leaf_is_what_the_entry_says_of_the_document_alone() -> None:
    leaf = read_leaf(LEAVES[b"doc_0"])
    assert leaf == {name: BODIES[0][name] for name in BODIES[0] if name not in ("by", "corpus")}


def test_a_document_that_is_taken_out_is_in_no_later_library() -> None:
    said = [recorded("doc_a", 1), recorded("doc_b", 1), recorded("doc_a", 2)]
    gone = {"document_id": "doc_a", "removed": True, "through": 2}
    assert sorted(corpus_leaves([*said, gone])) == [b"doc_b"]
    assert sorted(corpus_leaves([*said, gone, recorded("doc_a", 3)])) == [b"doc_a", b"doc_b"]
    part = {**gone, "through": 1}
    assert sorted(corpus_leaves([*said, part])) == [b"doc_a", b"doc_b"]
    assert sorted(corpus_leaves([part, *said])) == [b"doc_a", b"doc_a@1", b"doc_b"]


def test_versions_may_be_recorded_in_any_order() -> None:
    forward = corpus_leaves(recorded("doc_a", version) for version in (1, 2, 3))
    backward = corpus_leaves(recorded("doc_a", version) for version in (3, 1, 2))
    assert forward == backward
    assert sorted(forward) == [b"doc_a", b"doc_a@1", b"doc_a@2"]


def test_what_is_said_first_of_a_version_is_believed() -> None:
    said = corpus_leaves([recorded("doc_a"), recorded("doc_a", 2)])
    assert with_version(said.get, recorded("doc_a", 2, sha256="0" * 64)) == {}
    assert with_version(said.get, recorded("doc_a", 1, sha256="0" * 64)) == {}


def test_an_entry_that_names_no_version_is_in_no_library() -> None:
    assert corpus_leaves([{}, {"document_id": "doc_a"}, {"document_id": 1, "version": 1}]) == {}
    assert whole_map({}).root == EMPTY_MAP


# The filter


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({}, "a filter is one of"),
        ({"all": True, "documents": ["doc_1"]}, "a filter is one of"),
        ({"all": False}, "Input should be True"),
        ({"selection_sha256": HASH}, "selected goes with"),
        ({"all": True, "selected": 3}, "selected goes with"),
        ({"selection_sha256": "AB" * 32, "selected": 3}, "should match pattern"),
        ({"selection_sha256": HASH, "selected": 0}, "greater than or equal to 1"),
        ({"documents": [f"doc_{number}" for number in range(MAX_NAMED + 1)]}, "at most 100"),
    ],
)
def test_a_filter_is_one_thing(written: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        CorpusFilter.model_validate(written)


def test_a_filter_says_which_documents_it_lets_in() -> None:
    leaf = read_leaf(LEAVES[b"doc_1"])
    filters = {
        CorpusFilter(all=True): True,
        CorpusFilter(collections=[collection_id("policies"), "x"]): True,
        CorpusFilter(collections=["policies"]): False,
        CorpusFilter(documents=["doc_1"]): True,
        CorpusFilter(documents=["doc_10"]): False,
        CorpusFilter(selection_sha256=HASH, selected=101): True,
    }
    for chosen, admitted in filters.items():
        assert chosen.admits(leaf) is admitted, chosen
    second = {**leaf, "collection_id": collection_id("policies", "/b/policies")}
    assert not CorpusFilter(collections=[collection_id("policies")]).admits(second)
    assert CorpusFilter(collections=[second["collection_id"]]).admits(second)


@pytest.mark.parametrize("day", ["2025-12-31", "2026-01-01", "2026-06-30", "2026-07-01"])
def test_a_filter_as_of_a_day_lets_in_what_holds_on_it(day: str) -> None:
    body = recorded("doc_a", effective_from="2026-01-01", effective_until="2026-06-30")
    admitted = day in ("2026-01-01", "2026-06-30")
    assert CorpusFilter(all=True, as_of=day).admits(body) is admitted
    assert CorpusFilter(documents=["doc_a"], as_of=day).admits(body) is admitted
    assert not CorpusFilter(documents=["doc_b"], as_of=day).admits(body)
    assert CorpusFilter(all=True).admits(body)
    assert CorpusFilter(all=True, as_of=day).admits(recorded("doc_a"))


def test_as_of_a_day_not_all_of_a_library_was_used() -> None:
    as_of = CorpusFilter(all=True, as_of="2026-01-31")
    assert CorpusCommitment(root=HASH, documents=42, used=3, filter=as_of).used == 3
    with pytest.raises(ValidationError, match="should match pattern"):
        CorpusFilter(all=True, as_of="tomorrow")


def test_a_filter_writes_only_what_it_is() -> None:
    assert CorpusFilter(all=True).model_dump() == {"all": True}
    assert CorpusFilter(documents=["doc_1"]).model_dump() == {"documents": ["doc_1"]}


@pytest.mark.parametrize(("used", "chosen"), [(43, {"documents": ["doc_1"]}), (41, {"all": True})])
def test_what_was_used_is_what_the_filter_lets_in(used: int, chosen: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="used counts what the filter lets in"):
        CorpusCommitment(
            root=HASH, documents=42, used=used, filter=CorpusFilter.model_validate(chosen)
        )


# What the nodes prove


def test_the_nodes_prove_the_documents_that_are_cited() -> None:
    cited = ["doc_3", "doc_3@1", "doc_7"]
    commitment = commit(cited)
    documents = [listed("doc_3", 2, dated="2026-01-05"), listed("doc_3@1"), listed("doc_7")]
    assert problems(commitment, *documents) == []
    assert len(set(commitment.nodes)) == len(commitment.nodes) < len(WHOLE.added)
    assert problems(commit([])) == []


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (listed("doc_1", 2), "document doc_1 has another version in its corpus"),
        (listed("doc_1", collection="x"), "document doc_1 has another collection in its corpus"),
        (listed("doc_1", filename="x"), "document doc_1 has another filename in its corpus"),
        (listed("doc_1", media_type="x"), "document doc_1 has another media_type in its corpus"),
        (listed("doc_1", sha256="0" * 64), "document doc_1 has another sha256 in its corpus"),
        (listed("doc_1", superseded=True), "document doc_1 is not as superseded as it is called"),
        (listed("doc_3", 2), "document doc_3 has another dated in its corpus"),
        (listed("doc_3@1", superseded=False), "document doc_3@1 is not as superseded as it is"),
        (
            listed("doc_1", effective_from="2026-01-01"),
            "document doc_1 has another effective_from in its corpus",
        ),
    ],
)
def test_a_document_that_its_leaf_contradicts_is_refused(
    document: dict[str, Any], problem: str
) -> None:
    (found,) = problems(commit([document["id"]]), document)
    assert found.startswith(problem)


def test_a_leaf_that_stands_under_the_name_of_another_is_refused() -> None:
    for key, body in (("doc_a", recorded("doc_b")), ("doc_a@2", recorded("doc_a", 1))):
        whole = whole_map({key.encode(): canonical_json(body)})
        commitment = CorpusCommitment(
            root=whole.root.hex(),
            documents=1,
            used=1,
            filter=ALL,
            nodes=[base64.b64encode(node).decode() for node in whole.added.values()],
        )
        document = listed(key, filename=body["filename"])
        assert problems(commitment, document) == [f"document {key} is another in its corpus"]


def test_a_document_that_is_not_in_the_corpus_is_refused() -> None:
    assert problems(commit(["doc_99"]), listed("doc_99")) == [
        "document doc_99 is not in its corpus"
    ]


def test_a_document_that_the_filter_leaves_out_is_refused() -> None:
    refused = ["document doc_1 is none that its filter lets in"]
    for chosen in (CorpusFilter(documents=["doc_2"]), CorpusFilter(collections=["other"])):
        assert problems(commit(["doc_1"], chosen), listed("doc_1")) == refused
    chosen = CorpusFilter(documents=["doc_3"])
    assert problems(commit(["doc_3@1"], chosen), listed("doc_3@1")) == []


NODES = commit(["doc_1"]).nodes


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        (NODES[1:], "of the map is missing"),
        (NODES[:-1], "of the map is missing"),
        ((), "of the map is missing"),
        (NODES[::-1], "the nodes of its corpus are not those that prove its documents"),
        ((*NODES, NODES[0]), "the nodes of its corpus are not those that prove its documents"),
        ((*NODES, "AAAA"), "the nodes of its corpus are not those that prove its documents"),
        ((*NODES, "?"), "a node of the corpus is not Base64"),
        (commit(["doc_1", "doc_2"]).nodes, "are not those that prove its documents"),
    ],
)
def test_other_nodes_than_those_that_prove_are_refused(nodes: Sequence[str], problem: str) -> None:
    altered = commit(["doc_1"]).model_copy(update={"nodes": nodes})
    (found,) = problems(altered, listed("doc_1"))
    assert problem in found


def test_nodes_of_another_root_prove_nothing() -> None:
    altered = commit(["doc_1"]).model_copy(update={"root": HASH})
    assert problems(altered, listed("doc_1")) == [f"node {HASH} of the map is missing"]


def test_nodes_are_known_by_their_hashes() -> None:
    assert set(nodes_by_hash(NODES)) <= set(WHOLE.added)
    with pytest.raises(ProofError, match="not Base64"):
        nodes_by_hash(["AA"])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{", "a leaf of the corpus cannot be read"),
        (b"[]", "says nothing of a document"),
        (b'{"document_id":"doc_1"}', "says nothing of a document"),
    ],
)
def test_a_leaf_must_be_of_a_document(data: bytes, problem: str) -> None:
    with pytest.raises(ProofError, match=problem):
        read_leaf(data)


# The statement of the third form

ANSWER = "Employees are entitled to 15 days of annual leave.\n\nContractors may bring pets.\n"
LEDGER = check(ANSWER, leave_corpus())


def third() -> LedgerSession:
    """Return a session that commits to a library, of which it cites documents."""
    cited = sorted(cited_documents(LEDGER))
    leaves = corpus_leaves(recorded(name) for name in (*cited, "doc_x", "doc_y"))
    whole = whole_map(leaves)
    keys = [name.encode() for name in cited]
    return LedgerSession(
        id="ses_1",
        title="Leave",
        answer=ANSWER,
        claims=extract_claims(ANSWER).claims,
        ledger=LEDGER,
        documents=[CheckedDocument(**listed(name)) for name in cited],
        corpus=CorpusCommitment(
            root=whole.root.hex(),
            documents=len(leaves),
            used=len(leaves),
            entry=3,
            filter=ALL,
            nodes=proving_nodes(KeyedMap(whole.root, whole.added.get), keys),
        ),
    )


SESSION = third()


def tampered(tamper: Callable[[dict[str, Any]], object]) -> Statement:
    """Return the statement with its predicate changed."""
    statement = SESSION.to_statement()
    predicate = SESSION.model_dump(mode="json")
    tamper(predicate)
    return Statement(statement.predicate_type, statement.subjects, predicate)


def test_a_session_with_a_corpus_has_the_third_form_and_reads_back() -> None:
    assert SESSION.documents
    statement = SESSION.to_statement()
    assert statement.predicate_type == THIRD_TYPE == "urn:evidentia:spec:v1:ledger.v3"
    assert LedgerSession.from_statement(Statement.parse(statement.encode())) == SESSION
    assert SESSION.document_count == len(SESSION.documents) + 2
    assert SESSION.model_copy(update={"corpus": None}).document_count == len(SESSION.documents)


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (lambda it: it["documents"].pop(), "its documents are not those that it cites, each once"),
        (
            lambda it: it["documents"].append(it["documents"][0]),
            "its documents are not those that it cites, each once",
        ),
        (
            lambda it: it["documents"].append(listed("doc_x")),
            "its documents are not those that it cites, each once",
        ),
        (lambda it: it["documents"][0].update(sha256="0" * 64), "has another sha256 in its corpus"),
        (lambda it: it["corpus"]["nodes"].pop(), "of the map is missing"),
        (lambda it: it["corpus"].update(root=HASH), "of the map is missing"),
        (
            lambda it: it["corpus"].update(filter={"documents": ["doc_x"]}, used=1),
            "is none that its filter lets in",
        ),
        (lambda it: it["corpus"].update(used=1), "used counts what the filter lets in"),
        (lambda it: it["corpus"]["filter"].update(documents=None), "documents is null"),
        (lambda it: it.pop("corpus"), "only the third a corpus"),
        (lambda it: it["documents"][0].update(effective_from=None), "effective_from is null"),
        (
            lambda it: it["documents"][0].update(effective_until="2026-01-01"),
            "has another effective_until in its corpus",
        ),
        (lambda it: it.update(corpus=None), "corpus is null"),
    ],
)
def test_a_statement_that_contradicts_its_corpus_is_refused(
    tamper: Callable[[dict[str, Any]], object], problem: str
) -> None:
    with pytest.raises(ProofError, match=problem):
        LedgerSession.from_statement(tampered(tamper))


def test_what_was_searched_by_goes_with_a_corpus() -> None:
    by = SearchedBy(engine="tantivy 1", terms=1, formula="bm25")
    searched = SESSION.model_copy(update={"search": by})
    assert LedgerSession.from_statement(searched.to_statement()) == searched
    assert "search" not in SESSION.to_statement().predicate
    alone = searched.model_copy(update={"corpus": None})
    with pytest.raises(ProofError, match="by what it was searched, and commits to no corpus"):
        LedgerSession.from_statement(alone.to_statement())


def test_only_the_third_form_has_a_corpus() -> None:
    statement = SESSION.to_statement()
    earlier = Statement(SECOND_TYPE, statement.subjects, statement.predicate)
    with pytest.raises(ProofError, match="only the third a corpus"):
        LedgerSession.from_statement(earlier)


def test_only_the_third_form_has_documents_that_say_when_they_hold() -> None:
    dated = {"effective_from": "2026-01-01"}
    documents = [one.model_copy(update=dated) for one in SESSION.documents]
    earlier = SESSION.model_copy(update={"corpus": None, "documents": documents})
    with pytest.raises(ProofError, match="documents that say when they hold"):
        LedgerSession.from_statement(earlier.to_statement())


def test_a_session_tells_on_which_day_its_documents_held() -> None:
    assert SESSION.corpus is not None
    number = SESSION.document_count
    assert SESSION.documents_told == f"{number} documents"
    as_of = SESSION.corpus.filter.model_copy(update={"as_of": "2026-01-31"})
    corpus = SESSION.corpus.model_copy(update={"filter": as_of})
    told = SESSION.model_copy(update={"corpus": corpus}).documents_told
    assert told == f"{number} documents that held on 2026-01-31"


def test_the_third_form_counts_why_claims_are_weak() -> None:
    def first(predicate: dict[str, Any]) -> None:
        del predicate["ledger"]["summary"]["by_support"]
        for entry in predicate["ledger"]["entries"]:
            entry.pop("support", None)
            entry.pop("nearest", None)

    with pytest.raises(ProofError, match="commits to a corpus, and does not count why"):
        LedgerSession.from_statement(tampered(first))
