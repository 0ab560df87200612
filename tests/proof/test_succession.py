"""Later versions: which entry replaces what, and what a proof that brings them along shows."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import ProofError
from evidentia.proof.document import MAX_LATER, Disclosure, Later, Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import Subject, encode_statement
from evidentia.proof.succession import Succession, later_versions, succession_of, superseded
from evidentia.proof.verification import verify_proof
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import inclusion_proof, leaf_hash, root_hash
from proofs import KEY, ORIGIN, SALT

AT = "2026-01-31T09:30:00.000000Z"
STATEMENT = encode_statement("urn:test", (Subject("x", "0" * 64),), b'{"a":1}')
TRUSTED = [TrustedKey(KEY.verifier.public_key, ORIGIN)]


def entry_of(seq: int, kind: str, subject: str, body: Any, prev: str) -> Entry:
    return Entry("acme", seq, prev, kind, subject, AT, body_commitment(SALT, canonical_json(body)))


def version(number: int, outcome: str | None = None) -> dict[str, Any]:
    before = f"pack_{number - 1}" if number > 1 else None
    return {
        "statement_sha256": sha256_hex(STATEMENT),
        "decision_id": "dec",
        "version": number,
        "replaces": before,
        "outcome": outcome,
        "by": "owner",
    }


BODIES = [version(1), version(2, "approved"), version(3, "rejected")]


def make(kinds: tuple[str, ...] = ("pack", "review", "review")) -> Proof:
    """Return a proof of the first version, with the entries of the later ones."""
    entries: list[Entry] = []
    for seq, (kind, body) in enumerate(zip(kinds, BODIES, strict=True)):
        prev = leaf_hash(entries[-1].encode()).hex() if entries else genesis_prev(ORIGIN)
        entries.append(entry_of(seq, kind, f"pack_{seq + 1}", body, prev))
    leaves = [leaf_hash(entry.encode()) for entry in entries]

    def place(seq: int) -> tuple[bytes, ...]:
        def node(height: int, index: int) -> bytes:
            return root_hash(leaves[index << height : (index + 1) << height])

        return tuple(inclusion_proof(node, seq, len(leaves)))

    return Proof(
        entries[0],
        place(0),
        Checkpoint(ORIGIN, 3, root_hash(leaves)).sign(KEY.private_key),
        Disclosure(BODIES[0], SALT),
        Envelope.sign(STATEMENT, KEY),
        later=tuple(
            Later(entries[seq], place(seq), Disclosure(BODIES[seq], SALT)) for seq in (1, 2)
        ),
    ).in_plain()


def test_a_proof_with_later_versions_is_of_version_3_and_is_read_again() -> None:
    proof = make()
    assert proof.version == 3
    assert Proof.parse(canonical_json(proof.as_json())) == proof
    assert replace(proof, predicate=None).version == 1


def test_what_later_entries_tell_is_reported() -> None:
    report = verify_proof(canonical_json(make().as_json()), TRUSTED)
    assert report.holds
    assert report.superseded == (
        f"superseded by version 3 (pack_3, a review: rejected, entry 2 of {AT}), after 1 in between"
    )
    assert [one["outcome"] for one in report.as_json()["superseded_by"]] == ["approved", "rejected"]
    assert report.checks[-1].says == (
        f"the same log has 2 later versions of it, the last version 3 (pack_3, a review: rejected, "
        f"entry 2 of {AT})"
    )


def changed(proof: Proof, **changes: Any) -> Proof:
    return replace(proof, later=(replace(proof.later[0], **changes), *proof.later[1:]))


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        (
            changed(make(), disclosure=Disclosure(version(2, "rejected"), SALT)),
            "the body is not the one that entry 1 committed to",
        ),
        (changed(make(), inclusion=()), "the inclusion proof is cut short"),
        (
            replace(make(), later=make().later[::-1]),
            "entry 2 does not say that it replaces 'pack_1'",
        ),
        (replace(make(), later=make().later[1:]), "does not say that it replaces 'pack_1'"),
        (
            changed(make(), entry=replace(make().later[0].entry, tenant="beta")),
            "entry 1 is not a later one of the same log",
        ),
        (
            changed(make(), entry=make().entry),
            "entry 0 is not a later one of the same log",
        ),
        (make(("pack", "export", "review")), "entry 1 does not say that it replaces 'pack_1'"),
    ],
)
def test_later_entries_that_are_not_what_they_say_do_not_hold(proof: Proof, says: str) -> None:
    report = verify_proof(canonical_json(proof.as_json()), TRUSTED)
    assert not report.holds
    assert says in report.checks[-1].says
    assert report.later == ()


@pytest.mark.parametrize(
    ("later", "says"),
    [
        ([], "not a list of 1 to 1000"),
        ({}, "not a list of 1 to 1000"),
        ([{}] * (MAX_LATER + 1), "not a list of 1 to 1000"),
        ([{}], "a later entry must have exactly the fields body, entry, inclusion, salt"),
        (["x"], "a later entry must have exactly the fields"),
    ],
)
def test_what_is_no_list_of_later_entries_is_refused(later: Any, says: str) -> None:
    document = json.loads(canonical_json(make().as_json())) | {"later": later}
    with pytest.raises(ProofError, match=says):
        Proof.parse(canonical_json(document))


def one(number: int, seq: int, kind: str = "pack") -> Succession:
    return Succession(f"pack_{number - 1}", f"pack_{number}", number, seq, AT, kind)


def test_versions_are_followed_from_one_to_the_next() -> None:
    found = [one(4, 9), one(2, 5), one(3, 7, "review"), one(12, 6)]
    assert [each.version for each in later_versions("pack_1", found)] == [2, 3, 4]
    assert [each.version for each in later_versions("pack_3", found)] == [4]
    assert later_versions("pack_4", found) == ()
    assert superseded([]) is None
    assert (
        superseded([one(2, 5)]) == f"superseded by version 2 (pack_2, a revision, entry 5 of {AT})"
    )
    assert "a review, entry" in one(3, 7, "review").told


def test_entries_of_packs_alone_replace_something() -> None:
    entry = entry_of(1, "pack", "pack_2", BODIES[1], "0" * 64)
    assert succession_of(entry, BODIES[1]) == Succession(
        "pack_1", "pack_2", 2, 1, AT, "pack", "approved"
    )
    assert succession_of(entry, BODIES[0]) is None
    assert succession_of(entry, None) is None
    assert succession_of(entry, {**BODIES[1], "outcome": 3}) == one(2, 1)
