"""Whether a document was in what a ledger was checked against: a small file that proves it.

It has the ledger's entry, whose body commits to the library by its root, with its place in the log
under a signed checkpoint; and the nodes of the library's map that show what stands there for the
document, or that nothing does. It has nothing of the answer; of other documents it has at most the
leaf that stands where this one would.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from evidentia.canonical import canonical_json, parse_json, sha256_hex
from evidentia.errors import CanonicalError, InputError, ProofError
from evidentia.ledger.commitment import (
    CORPUS,
    CorpusFilter,
    NamedCorpus,
    corpus_key,
    nodes_by_hash,
    proving_nodes,
    read_leaf,
)
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.document import MAX_PROOF_BYTES, Proof
from evidentia.proof.verification import Check, ProofReport, Verdict, verify_proof
from evidentia.trail.entry import EntryKind
from evidentia.trail.keyed import KeyedMap

if TYPE_CHECKING:
    from evidentia.proof.keys import TrustedKey

CORPUS_PROOF_FORMAT: Final = "evidentia/corpus-proof"
CORPUS_PROOF_VERSION: Final = 1
_FIELDS: Final = {"document", "format", "ledger", "nodes", "v"}
_SELECTION: Final = "selection"
_NAME: Final = re.compile(r"([^\s@]{1,200})(?:@([1-9][0-9]{0,8}))?")


class Membership(StrEnum):
    """Where a document was when an answer was checked."""

    USED = "used"
    """In the library, and in what was checked."""
    LEFT_OUT = "left_out"
    """In the library, and not in what was checked: the filter left it out."""
    ABSENT = "absent"
    """Not in the library."""


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """What a ledger's corpus had of a document, or of one version of it (`doc_…@1`).

    `leaf` is what the library has of it; None if it has nothing.
    """

    document: str
    ledger: str
    membership: Membership
    leaf: Mapping[str, Any] | None

    @property
    def told(self) -> str:
        """Say in a sentence what was found."""
        identity, version = read_name(self.document)
        one = f"the document {identity}"
        if version is not None:
            one = f"version {version} of {one}"
        library = f"the library that ledger {self.ledger} was checked against"
        if self.leaf is None:
            return f"{one} was not in {library}"
        what = (
            f"{self.leaf['collection']}/{self.leaf['filename']}, version {self.leaf['version']}, "
            f"SHA-256 {self.leaf['sha256']}"
        )
        if self.membership is Membership.LEFT_OUT:
            return (
                f"{one} ({what}) was in {library}, and was not checked against: the filter of "
                "the check left it out"
            )
        return f"{one} ({what}) was in {library}, and among what was checked"

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "document": self.document,
            "ledger": self.ledger,
            "membership": self.membership.value,
            "recorded": None if self.leaf is None else dict(self.leaf),
        }


@dataclass(frozen=True, slots=True)
class CorpusProof:
    """Everything a stranger needs to see whether a document was in a corpus, but the public key.

    `ledger` is the proof of the ledger's entry, with its body. `selection` has the ids that a
    filter names by their digest, where they decide.
    """

    document: str
    ledger: Proof
    nodes: tuple[str, ...]
    selection: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that the file holds."""
        written: dict[str, Any] = {
            "format": CORPUS_PROOF_FORMAT,
            "v": CORPUS_PROOF_VERSION,
            "document": self.document,
            "ledger": self.ledger.as_json(),
            "nodes": list(self.nodes),
        }
        if self.selection is not None:
            written[_SELECTION] = list(self.selection)
        return written

    @classmethod
    def parse(cls, data: bytes) -> "CorpusProof":
        """Read a file's bytes; raise `ProofError` saying what is wrong with it."""
        if len(data) > MAX_PROOF_BYTES:
            raise ProofError(f"the file is larger than {MAX_PROOF_BYTES} bytes")
        try:
            document = parse_json(data)
        except CanonicalError as error:
            raise ProofError(f"the file cannot be read: {error}") from None
        if not isinstance(document, dict) or document.get("format") != CORPUS_PROOF_FORMAT:
            raise ProofError(f"its format is not {CORPUS_PROOF_FORMAT!r}")
        _check_fields(document)
        proof = Proof.parse(canonical_json(document["ledger"]))
        if proof.entry.kind != EntryKind.LEDGER or proof.disclosure is None:
            raise ProofError("it has no entry of a ledger with its body")
        if proof.envelope is not None:
            raise ProofError("it has a statement, which is no part of it")
        selection = document.get(_SELECTION)
        return cls(
            document["document"],
            proof,
            tuple(document["nodes"]),
            None if selection is None else tuple(selection),
        )

    @property
    def corpus(self) -> NamedCorpus:
        """The library as the ledger's entry commits to it; raise `ProofError` if it does not."""
        return committed_corpus(self.ledger.disclosure.body if self.ledger.disclosure else None)

    def finding(self) -> DocumentFinding:
        """Say what the nodes show of the document; raise `ProofError` if they show nothing."""
        corpus = self.corpus
        proved = KeyedMap(bytes.fromhex(corpus.root), nodes_by_hash(self.nodes).get)
        keys, leaf = keys_of(proved, self.document)
        if proving_nodes(proved, keys) != self.nodes:
            raise ProofError("its nodes are not those that show what stands for the document")
        chosen = corpus.filter
        decides = leaf is not None and chosen.selection_sha256 is not None
        if decides != (self.selection is not None):
            raise ProofError("the selection of the check is there only where it decides")
        subject, membership = self.ledger.entry.subject, Membership.ABSENT
        if leaf is not None:
            used = is_used(chosen, leaf, selected(chosen, self.selection))
            membership = Membership.USED if used else Membership.LEFT_OUT
        return DocumentFinding(self.document, subject, membership, leaf)


def committed_corpus(body: Any) -> NamedCorpus:
    """Return the corpus that a ledger's body commits to; raise `ProofError` if it names none."""
    named = body.get(CORPUS) if isinstance(body, dict) else None
    if named is None:
        raise ProofError("the ledger's entry commits to no corpus")
    try:
        corpus = NamedCorpus.model_validate_json(canonical_json(named), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (CORPUS, *first["loc"])))
        raise ProofError(f"the ledger's entry is none: {where}: {first['msg']}") from None
    if corpus.model_dump(mode="json") != named:
        raise ProofError("the ledger's entry names its corpus in another form")
    return corpus


def read_name(document: str) -> tuple[str, int | None]:
    """Return the id and the version that a document is named by; raise `InputError` if it isn't."""
    found = _NAME.fullmatch(document)
    if found is None:
        raise InputError(
            f"{document[:80]!r} names no document: give its id, or one of its versions (doc_…@1)"
        )
    return found[1], None if found[2] is None else int(found[2])


def keys_of(corpus: KeyedMap, document: str) -> tuple[list[bytes], Mapping[str, Any] | None]:
    """Return the keys that decide whether a map has a document, and its leaf if it does.

    The newest version stands under the id alone: whoever asks for a version by its number must
    look there first.
    """
    identity, version = read_name(document)
    keys = [corpus_key(identity)]
    leaf = _leaf(corpus, keys[0], identity, None)
    if leaf is not None and version is not None and leaf["version"] != version:
        keys.append(corpus_key(identity, version))
        leaf = _leaf(corpus, keys[1], identity, version)
    return keys, leaf


def selected(chosen: CorpusFilter, selection: Sequence[str] | None) -> frozenset[str] | None:
    """Return the ids that a filter names by a digest; None where it names none so.

    Raise `ProofError` for a selection that is not the one of the filter.
    """
    if chosen.selection_sha256 is None:
        return None
    named = list(selection or ())
    found = sha256_hex(canonical_json(named)), len(named)
    if found != (chosen.selection_sha256, chosen.selected):
        raise ProofError("the selection is not the one that the check used")
    return frozenset(named)


def is_used(chosen: CorpusFilter, leaf: Mapping[str, Any], among: frozenset[str] | None) -> bool:
    """Whether a filter lets a document in; `among` are the ids that it names by a digest."""
    return chosen.admits(leaf) and (among is None or leaf["document_id"] in among)


def is_corpus_proof(data: bytes) -> bool:
    """Whether bytes are meant to be a proof about a corpus."""
    if CORPUS_PROOF_FORMAT.encode() not in data:
        return False
    try:
        document = parse_json(data)
    except CanonicalError:  # which is told when it is read
        return True
    return isinstance(document, dict) and document.get("format") == CORPUS_PROOF_FORMAT


def verify_corpus_proof(data: bytes, keys: "Iterable[TrustedKey]" = ()) -> ProofReport:
    """Check a proof about a corpus against the public keys that the caller trusts."""
    try:
        proof = CorpusProof.parse(data)
    except ProofError as error:
        return ProofReport((Check("format", holds=False, says=str(error)),))
    report = verify_proof(canonical_json(proof.ledger.as_json()), keys)
    says = f"a proof about a corpus of version {CORPUS_PROOF_VERSION}, whole and well-formed"
    checks = tuple(
        replace(check, says=says) if check.name == "format" and check.holds else check
        for check in report.checks
    )
    try:
        finding = proof.finding()
    except ProofError as error:
        check = Check(CORPUS, holds=False, says=str(error))
        return replace(report, checks=(*checks, check))
    check = Check(CORPUS, holds=True, says=finding.told)
    found = replace(
        report,
        checks=(*checks, check),
        cannot_know=(*report.cannot_know, *_limits(finding)),
    )
    shows = None if found.verdict is Verdict.DOES_NOT_HOLD else finding.as_json()
    return replace(found, shows=shows)


def with_corpus_check(_data: bytes, report: ProofReport) -> ProofReport:
    """Return the report of a ledger's proof with whether its corpus is what its entry commits to.

    Only a ledger of the third form has one.
    """
    statement = report.statement
    if statement is None or statement.predicate_type != THIRD_TYPE:
        return report
    other = any(check.name == "statement" and check.holds is False for check in report.checks)
    if other or CORPUS not in statement.predicate:  # one that was not recorded says nothing
        return report
    try:
        corpus = LedgerSession.from_statement(statement).corpus
        check = _corpus_check(committed_corpus(report.body), corpus)
    except ProofError as error:
        check = Check(CORPUS, holds=False, says=str(error))
    return replace(report, checks=(*report.checks, check))


def _corpus_check(named: NamedCorpus, corpus: NamedCorpus | None) -> Check:
    if corpus is None or named != corpus.named():
        says = "the ledger's entry commits to another corpus than its statement"
        return Check(CORPUS, holds=False, says=says)
    says = (
        f"checked against {corpus.used:,} of the {corpus.documents:,} documents of a library, "
        "versions counted each; those that it cites are proved to be among them"
    )
    return Check(CORPUS, holds=True, says=says)


def _leaf(
    corpus: KeyedMap, key: bytes, identity: str, version: int | None
) -> Mapping[str, Any] | None:
    data = corpus.get(key)
    if data is None:
        return None
    leaf = read_leaf(data)
    if leaf["document_id"] != identity or version not in (None, leaf["version"]):
        raise ProofError(f"what stands for document {key.decode()} is another")
    return leaf


def _check_fields(document: dict[str, Any]) -> None:
    version = document.get("v")
    if type(version) is int and version > CORPUS_PROOF_VERSION:
        raise ProofError(
            f"the file has format version {version}, this program reads {CORPUS_PROOF_VERSION}: "
            "upgrade evidentia"
        )
    missing, unknown = _FIELDS - set(document), set(document) - {*_FIELDS, _SELECTION}
    if missing:
        raise ProofError(f"the file is cut short: it has no {', '.join(sorted(missing))}")
    if unknown:
        raise ProofError(f"the file has fields that are unknown: {', '.join(sorted(unknown))}")
    if type(version) is not int or version != CORPUS_PROOF_VERSION:
        raise ProofError(f"its v must be {CORPUS_PROOF_VERSION}, not {version!r}")
    if not isinstance(document["document"], str) or not _NAME.fullmatch(document["document"]):
        raise ProofError("it names no document")
    for name in ("nodes", _SELECTION):
        given = document.get(name, [])
        if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
            raise ProofError(f"its {name} are not a list of text")
    if not isinstance(document["ledger"], dict):
        raise ProofError("its ledger is not a proof")


def _limits(finding: DocumentFinding) -> tuple[str, ...]:
    if finding.leaf is not None:
        return ("whether the verdicts of the ledger are right: its answer is not here",)
    return ("whether the same text was there as another document: a document is known by its id",)
