"""Whether a document was in what a ledger was checked against, by a file alone."""

from dataclasses import replace
from typing import Any

import pytest

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.documents.recording import collection_id
from evidentia.errors import InputError, ProofError
from evidentia.kinds import verify_evidence
from evidentia.ledger.commitment import (
    CORPUS,
    CorpusFilter,
    NamedCorpus,
    corpus_leaves,
    proving_nodes,
    whole_map,
)
from evidentia.ledger.membership import (
    CorpusProof,
    Membership,
    committed_corpus,
    is_corpus_proof,
    keys_of,
    read_name,
    selected,
    verify_corpus_proof,
    with_corpus_check,
)
from evidentia.proof.document import MAX_PROOF_BYTES, Disclosure, Proof
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import ProofReport, Verdict
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.keyed import KeyedMap
from evidentia.trail.merkle import leaf_hash, root_hash
from ledger.test_commitment import BODIES, LEAVES, MAP, SESSION, recorded
from proofs import KEY, ORIGIN, OTHER_KEY, SALT

ALL = CorpusFilter(all=True)
TRUSTED = TrustedKey(KEY.verifier.public_key, ORIGIN)
CHOSEN = ["doc_1", "doc_3"]
SELECTED = CorpusFilter(selection_sha256=sha256_hex(canonical_json(CHOSEN)), selected=2)


def entry_of(body: Any, kind: str = "ledger") -> Proof:
    """Return the proof of the only entry of a log, which records a ledger."""
    commitment = body_commitment(SALT, canonical_json(body))
    at = "2026-01-31T09:30:00.000000Z"
    entry = Entry("acme", 0, genesis_prev(ORIGIN), kind, "led_1", at, commitment)
    checkpoint = Checkpoint(ORIGIN, 1, root_hash([leaf_hash(entry.encode())]))
    return Proof(entry, (), checkpoint.sign(KEY.private_key), Disclosure(body, SALT))


def body_of(chosen: CorpusFilter = ALL, corpus: KeyedMap = MAP, count: int = len(LEAVES)) -> Any:
    used = count if chosen.all else 2
    named = NamedCorpus(root=corpus.root.hex(), documents=count, used=used, entry=41, filter=chosen)
    return {CORPUS: named.model_dump(mode="json")}


def prove(
    document: str,
    chosen: CorpusFilter = ALL,
    selection: tuple[str, ...] | None = None,
    corpus: KeyedMap = MAP,
) -> CorpusProof:
    nodes = proving_nodes(corpus, keys_of(corpus, document)[0])
    return CorpusProof(document, entry_of(body_of(chosen, corpus)), nodes, selection)


def written(proof: CorpusProof, **changes: Any) -> bytes:
    return canonical_json({**proof.as_json(), **changes})


def problem(data: bytes) -> str:
    """Return what is wrong with a file; it must not hold."""
    report = verify_evidence(data, [TRUSTED])
    assert report.verdict is Verdict.DOES_NOT_HOLD
    assert report.shows is None
    (failed,) = [check.says for check in report.checks if check.holds is False]
    return failed


OTHERS = CorpusFilter(collections=[collection_id("other")])


@pytest.mark.parametrize(
    ("document", "chosen", "membership", "told"),
    [
        (
            "doc_1",
            ALL,
            Membership.USED,
            "the document doc_1 (policies/doc_1.md, version 1, SHA-256",
        ),
        ("doc_3", ALL, Membership.USED, "version 2, SHA-256 abab"),
        ("doc_3@2", ALL, Membership.USED, "version 2 of the document doc_3 (policies/doc_3.md"),
        ("doc_3@1", ALL, Membership.USED, "was checked against, and among what was checked"),
        (
            "doc_3@7",
            ALL,
            Membership.ABSENT,
            "version 7 of the document doc_3 was not in the library",
        ),
        ("doc_x", ALL, Membership.ABSENT, "the document doc_x was not in the library that ledger"),
        ("doc_1", CorpusFilter(documents=CHOSEN), Membership.USED, "among what was checked"),
        ("doc_2", CorpusFilter(documents=CHOSEN), Membership.LEFT_OUT, "the filter of the check"),
        (
            "doc_4",
            OTHERS,
            Membership.USED,
            "other/doc_4.md",
        ),
        (
            "doc_1",
            OTHERS,
            Membership.LEFT_OUT,
            "left it out",
        ),
    ],
)
def test_a_file_shows_where_a_document_was(
    document: str, chosen: CorpusFilter, membership: Membership, told: str
) -> None:
    proof = prove(document, chosen)
    data = written(proof)
    assert CorpusProof.parse(data) == proof
    report = verify_evidence(data, [TRUSTED])
    assert report.holds
    assert report.shows is not None
    assert report.shows["membership"] == membership
    assert (report.shows["recorded"] is None) == (membership is Membership.ABSENT)
    assert told in report.checks[-1].says
    assert report.checks[0].says == "a proof about a corpus of version 1, whole and well-formed"
    assert verify_evidence(data).verdict is Verdict.SIGNER_UNKNOWN


def test_a_selection_comes_along_where_it_decides() -> None:
    for document, membership in (("doc_3@1", "used"), ("doc_2", "left_out")):
        proof = prove(document, SELECTED, tuple(CHOSEN))
        report = verify_corpus_proof(written(proof), [TRUSTED])
        assert report.shows is not None
        assert report.shows["membership"] == membership
    assert verify_corpus_proof(written(prove("doc_x", SELECTED)), [TRUSTED]).holds
    only = "the selection of the check is there only where it decides"
    assert problem(written(prove("doc_1", SELECTED))) == only
    assert problem(written(prove("doc_x", SELECTED, tuple(CHOSEN)))) == only
    assert problem(written(prove("doc_1", ALL, tuple(CHOSEN)))) == only
    other = "the selection is not the one that the check used"
    assert problem(written(prove("doc_1", SELECTED, ("doc_1",)))) == other
    with pytest.raises(ProofError, match=other):
        selected(SELECTED, None)
    assert selected(ALL, None) is None


def test_an_absence_is_shown_by_the_nodes_that_lead_there() -> None:
    """A file that leaves nodes out, or takes those of another, shows nothing."""
    absent, present = prove("doc_x"), prove("doc_1")
    assert "is missing" in problem(written(absent, nodes=[]))
    assert "is missing" in problem(written(absent, document="doc_1"))
    not_those = "its nodes are not those that show what stands for the document"
    assert problem(written(absent, nodes=[*absent.nodes, present.nodes[-1]])) == not_those
    assert problem(written(present, nodes=list(present.nodes[::-1]))) == not_those
    assert problem(written(present, nodes=["?"])) == "a node of the corpus is not Base64"
    passed_over = list(proving_nodes(MAP, [b"doc_3@2"]))
    assert "is missing" in problem(written(prove("doc_3@1"), document="doc_3@2", nodes=passed_over))


def test_a_leaf_that_stands_for_another_is_refused() -> None:
    whole = whole_map({b"doc_a": canonical_json(recorded("doc_b"))})
    corpus = KeyedMap(whole.root, whole.added.get)
    with pytest.raises(ProofError, match="what stands for document doc_a is another"):
        keys_of(corpus, "doc_a")
    swapped = {**LEAVES, b"doc_3@1": LEAVES[b"doc_3"]}
    whole = whole_map(swapped)
    with pytest.raises(ProofError, match="what stands for document doc_3@1 is another"):
        keys_of(KeyedMap(whole.root, whole.added.get), "doc_3@1")


def test_an_empty_library_has_nothing() -> None:
    corpus = KeyedMap(whole_map({}).root, lambda _: None)
    body = body_of(ALL, corpus, 0)
    proof = CorpusProof("doc_1", entry_of(body), ())
    report = verify_corpus_proof(written(proof), [TRUSTED])
    assert report.shows is not None
    assert report.shows["membership"] == "absent"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "the ledger's entry commits to no corpus"),
        ([1], "the ledger's entry commits to no corpus"),
        ({CORPUS: {}}, "the ledger's entry is none: corpus.root"),
        ({CORPUS: {**body_of()[CORPUS], "used": 1}}, "used counts what the filter lets in"),
        (
            {CORPUS: {**body_of()[CORPUS], "filter": {"all": True, "documents": None}}},
            "names its corpus in another form",
        ),
    ],
)
def test_an_entry_that_commits_to_no_corpus_shows_nothing(body: Any, says: str) -> None:
    proof = replace(prove("doc_1"), ledger=entry_of(body))
    assert says in problem(written(proof))
    with pytest.raises(ProofError):
        committed_corpus(None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"v": 2}, "the file has format version 2, this program reads 1: upgrade evidentia"),
        ({"v": 0}, "its v must be 1, not 0"),
        ({"v": True}, "its v must be 1, not True"),
        ({"note": ""}, "the file has fields that are unknown: note"),
        ({"document": 1}, "it names no document"),
        ({"document": "doc_1@01"}, "it names no document"),
        ({"nodes": "x"}, "its nodes are not a list of text"),
        ({"selection": [1]}, "its selection are not a list of text"),
        ({"ledger": []}, "its ledger is not a proof"),
        ({"ledger": {}}, "not a proof: its format is not 'evidentia/proof'"),
        (
            {"ledger": entry_of(body_of(), "record_x").as_json()},
            "it has no entry of a ledger with its body",
        ),
        (
            {"ledger": replace(entry_of(body_of()), disclosure=None).as_json()},
            "it has no entry of a ledger with its body",
        ),
    ],
)
def test_what_is_malformed_is_refused(changes: dict[str, Any], says: str) -> None:
    found = problem(written(prove("doc_1"), **changes))
    assert found.startswith(says) or "kind" in found


def test_what_is_no_file_of_this_kind_is_refused() -> None:
    good = prove("doc_1").as_json()
    short = {name: value for name, value in good.items() if name != "nodes"}
    assert problem(canonical_json(short)) == "the file is cut short: it has no nodes"
    assert problem(canonical_json(good)[:-9]).startswith("the file cannot be read")
    with pytest.raises(ProofError, match="larger than"):
        CorpusProof.parse(b" " * (MAX_PROOF_BYTES + 1))
    with pytest.raises(ProofError, match="its format is not"):
        CorpusProof.parse(b"[]")
    assert not is_corpus_proof(b'{"format":"evidentia/proof"}')
    assert not is_corpus_proof(b'["evidentia/corpus-proof"]')
    with pytest.raises(InputError, match="names no document"):
        read_name("a document")


def test_a_statement_is_no_part_of_it() -> None:
    from evidentia.proof.envelope import Envelope  # noqa: PLC0415 - this test's alone

    payload = SESSION.to_statement().encode()
    body = {**body_of(), "statement_sha256": sha256_hex(payload)}
    stated = replace(entry_of(body), envelope=Envelope.sign(payload, KEY))
    found = problem(written(prove("doc_1"), ledger=stated.as_json()))
    assert found == "it has a statement, which is no part of it"


def test_what_another_key_signed_does_not_hold() -> None:
    report = verify_corpus_proof(
        written(prove("doc_1")), [TrustedKey(OTHER_KEY.verifier.public_key, ORIGIN)]
    )
    assert report.verdict is Verdict.DOES_NOT_HOLD
    assert report.shows is None
    proof = prove("doc_1")
    assert proof.corpus.documents == len(corpus_leaves(BODIES))


# A ledger's own proof


def reported(body: Any, statement: Any) -> ProofReport:
    return with_corpus_check(b"", ProofReport((), body=body, statement=statement))


def test_a_ledgers_entry_commits_to_the_corpus_of_its_statement() -> None:
    assert SESSION.corpus is not None
    named = SESSION.corpus.named().model_dump(mode="json")
    statement = SESSION.to_statement()
    (check,) = reported({CORPUS: named}, statement).checks
    assert check.holds
    assert "documents of a library, versions counted each" in check.says
    (check,) = reported({CORPUS: {**named, "root": "ab" * 32}}, statement).checks
    assert check.says == "the ledger's entry commits to another corpus than its statement"
    (check,) = reported({}, statement).checks
    assert check.says == "the ledger's entry commits to no corpus"
    assert reported({}, None).checks == ()
    bare = {name: value for name, value in statement.predicate.items() if name != CORPUS}
    assert reported({}, replace(statement, predicate=bare)).checks == ()
    second = SESSION.model_copy(update={"corpus": None}).to_statement()
    assert reported({}, second).checks == ()


def test_a_ledger_that_contradicts_itself_is_told_with_its_corpus() -> None:
    assert SESSION.corpus is not None
    corpus = SESSION.corpus.model_copy(update={"nodes": ()})
    altered = SESSION.model_copy(update={"corpus": corpus}).to_statement()
    (check,) = reported({CORPUS: corpus.named().model_dump(mode="json")}, altered).checks
    assert check.holds is False
    assert "contradicts itself" in check.says
