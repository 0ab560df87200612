from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.canonical import derived_id, sha256_hex
from evidentia.errors import ProofError
from evidentia.packs.model import EvidencePack
from evidentia.packs.statement import PREDICATE_TYPES, from_statement, statement_bytes
from evidentia.proof.statement import Statement, Subject, encode_statement
from packs.making import LATER, call, full_pack, memo, pack

FULL = full_pack()


def stated(made: EvidencePack = FULL) -> Statement:
    return Statement.parse(statement_bytes(made))


def refusal(**changes: Any) -> str:
    with pytest.raises(ProofError) as caught:
        from_statement(replace(stated(), **changes))
    return str(caught.value)


SECOND = pack(tool_calls=[call(verification_status="pending")])


def test_each_form_of_a_pack_has_its_type_of_statement() -> None:
    assert stated(SECOND).predicate_type == "urn:evidentia:spec:v1:pack.v2"
    assert stated(FULL).predicate_type == "urn:evidentia:spec:v1:pack"
    with pytest.raises(ProofError, match="its v is 2, and its type that of another form"):
        from_statement(replace(stated(SECOND), predicate_type=PREDICATE_TYPES[1]))


def test_a_review_in_a_statement_has_its_outcome() -> None:
    made = pack(reviewer_id="u_1", reviewed_at=LATER)
    with pytest.raises(ProofError, match="a review that is sealed has a review_outcome"):
        from_statement(stated(made))


@pytest.mark.parametrize("made", [pack(), FULL, SECOND])
def test_a_pack_comes_back_from_its_statement(made: EvidencePack) -> None:
    assert from_statement(stated(made)) == made


def test_the_statement_is_about_the_pack_and_its_attachments() -> None:
    subjects = (
        Subject(f"pack/{FULL.pack_id}", FULL.sha256),
        *(Subject(f"attachment/{one.name}", one.sha256) for one in FULL.attachments),
    )
    written = statement_bytes(FULL)
    assert written == Statement(PREDICATE_TYPES[FULL.v], subjects, FULL.as_json()).encode()
    assert FULL.encode() in written
    assert stated(pack()).subjects == (Subject(f"pack/{pack().pack_id}", pack().sha256),)


@given(st.sampled_from(['"predicate":{}', '{"predicate":{}}', "}"]), st.text(max_size=20))
def test_a_text_that_looks_like_the_statement_stays_a_text(like: str, rest: str) -> None:
    text = f"x{like}{rest}{like}"
    made = pack(
        entity_id=text, memo=memo(title_en=text), tool_calls=(call(outputs={like: {text: {}}}),)
    )
    assert from_statement(stated(made)) == made
    assert statement_bytes(made) == stated(made).encode()


def test_a_predicate_stands_in_a_statement_as_it_is() -> None:
    subjects = (Subject('a"predicate":{}', "0" * 64),)
    data = b'{"a":{"predicate":{}}}'
    written = encode_statement('urn:"predicate":{}', subjects, data)
    assert Statement.parse(written) == Statement(
        'urn:"predicate":{}', subjects, {"a": {"predicate": {}}}
    )
    assert Statement.parse(written).encode() == written


def test_a_statement_of_another_kind_is_refused() -> None:
    assert refusal(predicate_type="urn:other") == "not a pack: its type is 'urn:other'"
    assert len(refusal(predicate_type="x" * 10_000)) < 200


def test_a_pack_that_does_not_hold_is_refused() -> None:
    changed = {**FULL.as_json(), "entity_id": "another"}
    assert refusal(predicate=changed).startswith("not a pack: the pack's id follows")
    assert refusal(predicate={}).startswith("not a pack: ")


def test_a_statement_about_something_else_is_refused() -> None:
    said = "the statement's subjects are not the pack that it holds"
    own, *files = stated().subjects
    assert refusal(subjects=(own,)) == said
    assert refusal(subjects=(own, *reversed(files))) == said
    assert refusal(subjects=(own, *files, files[0])) == said
    assert refusal(subjects=(replace(own, sha256="0" * 64), *files)) == said
    assert refusal(subjects=(replace(own, name="pack/another"), *files)) == said
    assert refusal(subjects=(own, replace(files[0], sha256="0" * 64), files[1])) == said


def test_a_forged_pack_with_an_id_made_anew_is_not_what_the_statement_is_about() -> None:
    forged = {**FULL.as_json(), "entity_id": "another"}
    del forged["pack_id"]
    forged["pack_id"] = derived_id("pack", forged)
    assert refusal(predicate=forged) == "the statement's subjects are not the pack that it holds"


def test_the_subjects_digest_is_that_of_the_packs_bytes() -> None:
    assert stated().subjects[0].sha256 == sha256_hex(FULL.encode())
