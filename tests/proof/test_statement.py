"""Statements: in-toto's form and no other, in canonical bytes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evidentia.canonical import canonical_json
from evidentia.errors import CanonicalError, ProofError
from evidentia.proof.statement import STATEMENT_TYPE, Statement, Subject

DIGEST = "ab" * 32
STATEMENT = Statement(
    "urn:example:1", (Subject("a.md", DIGEST), Subject("é", "cd" * 32)), {"b": 1, "a": [None, "é"]}
)
DOCUMENT: dict[str, Any] = STATEMENT.as_json()


def changed(**fields: Any) -> bytes:
    return json.dumps({**DOCUMENT, **fields}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: DOCUMENT[key] for key in DOCUMENT if key != name}).encode()


def test_a_statement_has_the_form_of_in_toto() -> None:
    assert STATEMENT_TYPE == "https://in-toto.io/Statement/v1"
    assert DOCUMENT == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "a.md", "digest": {"sha256": DIGEST}},
            {"name": "é", "digest": {"sha256": "cd" * 32}},
        ],
        "predicateType": "urn:example:1",
        "predicate": {"b": 1, "a": [None, "é"]},
    }


def test_the_bytes_of_a_statement_are_canonical() -> None:
    assert STATEMENT.encode() == canonical_json(DOCUMENT)
    assert STATEMENT.encode().startswith(b'{"_type":"https://in-toto.io/Statement/v1","predicate":')


@pytest.mark.parametrize(
    "statement",
    [STATEMENT, Statement("", (Subject("", DIGEST),), {}), replace(STATEMENT, predicate={"a": {}})],
)
def test_a_statement_reads_back(statement: Statement) -> None:
    assert Statement.parse(statement.encode()) == statement
    spaced = json.dumps(statement.as_json(), indent=2).encode()
    assert Statement.parse(spaced) == statement


def test_what_has_no_canonical_form_cannot_be_stated() -> None:
    with pytest.raises(CanonicalError):
        replace(STATEMENT, predicate={"a": float("nan")}).encode()


NO_SUBJECT = "a subject of the statement is not a name with a SHA-256 digest"
NO_STATEMENT = "not an in-toto statement of version 1"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the statement cannot be read: not JSON"),
        (b"\xff", "the statement cannot be read: not UTF-8"),
        (STATEMENT.encode()[:-1], "the statement cannot be read: not JSON"),
        (b'{"_type":1,"_type":2}', "the statement cannot be read: .* stands twice"),
        (b"[" * 100_000, "the statement cannot be read: nested"),
        (b"null", NO_STATEMENT),
        (b"[]", NO_STATEMENT),
        (b"{}", NO_STATEMENT),
        (changed(_type="https://in-toto.io/Statement/v0.1"), NO_STATEMENT),
        (changed(_type=None), NO_STATEMENT),
        (without("_type"), NO_STATEMENT),
        (without("subject"), NO_STATEMENT),
        (without("predicateType"), NO_STATEMENT),
        (without("predicate"), NO_STATEMENT),
        (changed(predicateType=1), NO_STATEMENT),
        (changed(predicate=None), NO_STATEMENT),
        (changed(predicate=[]), NO_STATEMENT),
        (changed(subject=[]), NO_STATEMENT),
        (changed(extra=1), NO_STATEMENT),
        (changed(subject={"name": "a", "digest": {"sha256": DIGEST}}), NO_STATEMENT),
        (changed(subject="a.md"), NO_STATEMENT),
        (changed(subject=[None]), NO_SUBJECT),
        (changed(subject=["a.md"]), NO_SUBJECT),
        (changed(subject=[{"name": "a"}]), NO_SUBJECT),
        (changed(subject=[{"digest": {"sha256": DIGEST}}]), NO_SUBJECT),
        (changed(subject=[{"name": 1, "digest": {"sha256": DIGEST}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": DIGEST}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha256": 1}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha256": ""}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha256": DIGEST.upper()}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha512": DIGEST}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha256": DIGEST, "x": "y"}}]), NO_SUBJECT),
        (changed(subject=[{"name": "a", "digest": {"sha256": DIGEST}, "x": 1}]), NO_SUBJECT),
        (changed(subject=[DOCUMENT["subject"][0], {}]), NO_SUBJECT),
    ],
)
def test_what_is_wrong_with_a_statement_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(ProofError, match=problem):
        Statement.parse(data)
