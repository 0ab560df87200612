from dataclasses import replace
from typing import Any

import pytest

from bundles.making import LATER, bundle, changed, everything, inline, sealed
from evidentia.bundles.statement import PREDICATE_TYPE, from_statement, statement_bytes
from evidentia.canonical import sha256_hex
from evidentia.errors import ProofError
from evidentia.proof.statement import Statement, Subject

WHOLE = everything()


def stated() -> Statement:
    return Statement.parse(statement_bytes(WHOLE.bundle_id, WHOLE.encode()))


def refusal(**changes: Any) -> str:
    with pytest.raises(ProofError) as caught:
        from_statement(replace(stated(), **changes))
    return str(caught.value)


def test_the_statement_is_about_the_persisted_bytes_and_holds_the_bundle() -> None:
    data = WHOLE.encode()
    written = statement_bytes(WHOLE.bundle_id, data)
    subject = Subject(f"bundle/{WHOLE.bundle_id}", sha256_hex(data))
    assert written == Statement(PREDICATE_TYPE, (subject,), WHOLE.as_json()).encode()
    assert data in written


def test_a_bundle_comes_back_from_its_statement() -> None:
    assert from_statement(stated()) == WHOLE


def test_a_text_that_looks_like_the_statement_stays_a_text() -> None:
    found = bundle(inline('"predicate":{} and "predicate":{}'))
    statement = Statement.parse(statement_bytes(found.bundle_id, found.encode()))
    assert from_statement(statement) == found


def test_a_statement_of_another_kind_is_refused() -> None:
    assert refusal(predicate_type="urn:other" * 50).startswith(
        "not a bundle: its type is 'urn:otherurn:other"
    )
    assert len(refusal(predicate_type="x" * 10_000)) < 200


def test_a_bundle_that_does_not_hold_is_refused() -> None:
    value = changed(WHOLE.as_json(), ("items", 0, "content"), "other")
    assert refusal(predicate=value) == (
        "the bundle's parts do not agree: its content is not what bundle_sha256 says"
    )
    assert refusal(predicate={}).startswith("not a bundle that holds: ")


def test_a_statement_about_something_else_is_refused() -> None:
    said = "the statement's subject is not the bundle that it holds"
    subject = stated().subjects[0]
    assert refusal(subjects=(replace(subject, sha256="0" * 64),)) == said
    assert refusal(subjects=(replace(subject, name="bundle/other"),)) == said
    assert refusal(subjects=(subject, subject)) == said
    later = {**WHOLE.as_json(), "created_utc": LATER}
    assert refusal(predicate=later) == said
    forged = sealed(changed(WHOLE.as_json(), ("policy", "chunk_size"), 4_000))
    assert refusal(predicate=forged) == said
