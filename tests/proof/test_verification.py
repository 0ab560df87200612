import builtins
import json
import socket
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidentia.canonical import canonical_json, parse_json, sha256_hex
from evidentia.errors import CanonicalError
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.envelope import Envelope, Signature
from evidentia.proof.keys import SigningKey, TrustedKey
from evidentia.proof.statement import Statement, Subject
from evidentia.proof.verification import (
    RENDERING,
    Check,
    ProofReport,
    Verdict,
    verify_proof,
)
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import genesis_prev
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.note import sign_note
from proofs import BODY, KEY, ORIGIN, OTHER_KEY, SALT, make_entries, make_proof, proof_bytes

TRUSTED = TrustedKey(KEY.verifier.public_key, ORIGIN)
OTHER = TrustedKey(OTHER_KEY.verifier.public_key, ORIGIN)
PROOF = make_proof()
CHECKS = ["format", "content", "place", "signature"]


def verify(proof: Proof, *keys: TrustedKey) -> ProofReport:
    return verify_proof(proof_bytes(proof), keys)


def outcomes(report: ProofReport) -> dict[str, bool | None]:
    return {check.name: check.holds for check in report.checks}


def failing(report: ProofReport) -> list[str]:
    return [check.name for check in report.checks if check.holds is False]


def says(report: ProofReport, name: str) -> str:
    return next(check.says for check in report.checks if check.name == name)


def resigned(checkpoint: Checkpoint, key: SigningKey = KEY, name: str | None = None) -> str:
    return sign_note(checkpoint.text, name or checkpoint.origin, key.private_key)


class TestSoundProofs:
    @pytest.mark.parametrize(("seq", "size"), [(0, 1), (0, 2), (1, 2), (2, 5), (4, 5), (6, 7)])
    def test_a_proof_signed_by_the_trusted_key_holds(self, seq: int, size: int) -> None:
        report = verify(make_proof(seq, size), TRUSTED)
        assert report.holds
        assert report.verdict is Verdict.HOLDS
        assert outcomes(report) == dict.fromkeys(CHECKS, True)
        assert report.entry == make_entries(size, BODY)[seq]
        assert report.body == BODY

    def test_a_report_says_what_was_checked(self) -> None:
        report = verify(PROOF, TRUSTED)
        assert says(report, "content") == (
            "evidence_record about 'ob-2', recorded 2026-01-31T09:30:02.000000Z; "
            "the body is the one recorded"
        )
        assert says(report, "place") == f"entry 2 of the 5 entries of log {ORIGIN}"
        assert KEY.verifier.key_id in says(report, "signature")

    def test_without_a_trusted_key_the_signer_is_unknown(self) -> None:
        report = verify(PROOF)
        assert report.verdict is Verdict.SIGNER_UNKNOWN
        assert report.verdict.value == "consistent, signer unknown"
        assert not report.holds
        assert outcomes(report) == {**dict.fromkeys(CHECKS[:3], True), "signature": None}
        assert "no trusted key was given" in says(report, "signature")

    def test_a_key_without_a_name_is_trusted_for_any_log(self) -> None:
        assert verify(PROOF, TrustedKey(KEY.verifier.public_key)).holds

    def test_any_of_several_trusted_keys_is_enough(self) -> None:
        assert verify(PROOF, OTHER, TRUSTED).holds
        assert verify_proof(proof_bytes(PROOF), iter([OTHER, TRUSTED])).holds

    def test_signatures_of_strangers_beside_the_trusted_one_do_no_harm(self) -> None:
        line = sign_note("another text\n", "witness", KEY.private_key).rpartition("\n\n")[2]
        assert verify(replace(PROOF, checkpoint=PROOF.checkpoint + line), TRUSTED).holds

    def test_an_undisclosed_body_is_not_shown_and_said_to_be_unknown(self) -> None:
        report = verify(make_proof(disclosed=False), TRUSTED)
        assert report.holds
        assert report.body is None
        assert "its body is not disclosed here" in says(report, "content")
        assert "what the body says: only its commitment is here" in report.cannot_know

    def test_what_a_proof_cannot_show_is_said(self) -> None:
        limits = verify(PROOF, TRUSTED).cannot_know
        assert len(limits) == 3
        assert any("true when it was recorded" in limit for limit in limits)
        assert any("recorder's own clock" in limit for limit in limits)
        assert any("newer checkpoint" in limit for limit in limits)

    def test_a_report_is_json(self) -> None:
        report = verify(PROOF, TRUSTED)
        as_json = report.as_json()
        assert json.loads(json.dumps(as_json)) == as_json
        assert as_json["verdict"] == "holds"
        assert as_json["holds"] is True
        assert as_json["entry"] == PROOF.entry.as_json()
        assert as_json["body"] == BODY
        assert as_json["cannot_know"] == list(report.cannot_know)
        assert as_json["checks"][0] == {
            "name": "format",
            "holds": True,
            "says": "a proof of version 1, whole and well-formed",
        }

    def test_nothing_but_the_arguments_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def forbidden(*_: object, **__: object) -> None:
            pytest.fail("verification reached outside of its arguments")

        data = proof_bytes(PROOF)
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "open", forbidden)
            patched.setattr(socket, "socket", forbidden)
            patched.setattr(time, "time", forbidden)
            report = verify_proof(data, [TRUSTED])
        assert report.holds


class TestVerdicts:
    @pytest.mark.parametrize(
        ("checks", "verdict"),
        [
            ([True, True], Verdict.HOLDS),
            ([True, None], Verdict.SIGNER_UNKNOWN),
            ([None, False], Verdict.DOES_NOT_HOLD),
            ([True, False], Verdict.DOES_NOT_HOLD),
            ([None], Verdict.DOES_NOT_HOLD),
            ([], Verdict.DOES_NOT_HOLD),
        ],
    )
    def test_a_verdict_needs_every_check(
        self, checks: Iterable[bool | None], verdict: Verdict
    ) -> None:
        report = ProofReport(tuple(Check("x", holds=outcome, says="") for outcome in checks))
        assert report.verdict is verdict
        assert report.holds == (verdict is Verdict.HOLDS)

    @pytest.mark.parametrize(
        ("outcomes", "verdict"),
        [
            ((True, None), Verdict.PAGES_NOT_COMPARED),
            ((None, None), Verdict.PAGES_NOT_COMPARED),
            ((None, True), Verdict.SIGNER_UNKNOWN),
            ((False, None), Verdict.DOES_NOT_HOLD),
        ],
    )
    def test_pages_that_were_not_compared_are_told_first(
        self, outcomes: tuple[bool | None, bool | None], verdict: Verdict
    ) -> None:
        signature, pages = outcomes
        checks = [
            Check("format", holds=True, says=""),
            Check("signature", holds=signature, says=""),
            Check(RENDERING, holds=pages, says=""),
        ]
        assert ProofReport(tuple(checks)).verdict is verdict


class TestFalseProofs:
    """Each way to make a false proof fails the check that it concerns."""

    def test_another_body(self) -> None:
        proof = replace(PROOF, disclosure=Disclosure({**BODY, "confidence": 0.9}, SALT))
        report = verify(proof, TRUSTED)
        assert failing(report) == ["content"]
        assert says(report, "content") == (
            "the body is not the one that entry 2 committed to: it was changed"
        )

    def test_another_salt(self) -> None:
        proof = replace(PROOF, disclosure=Disclosure(BODY, bytes(32)))
        assert failing(verify(proof, TRUSTED)) == ["content"]

    def test_another_commitment_to_go_with_another_body(self) -> None:
        forged = make_proof(body={"forged": True})
        proof = replace(PROOF, entry=forged.entry, disclosure=forged.disclosure)
        assert failing(verify(proof, TRUSTED)) == ["place"]

    @pytest.mark.parametrize(
        "fields",
        [{"subject": "ob-9"}, {"at": "2026-01-31T09:30:03.000000Z"}, {"kind": "pack"}, {"seq": 1}],
    )
    def test_another_entry(self, fields: dict[str, Any]) -> None:
        proof = replace(PROOF, entry=replace(PROOF.entry, **fields))
        report = verify(proof, TRUSTED)
        assert failing(report) == ["place"]
        assert "leads to another root" in says(report, "place")

    def test_an_entry_beyond_the_checkpoint(self) -> None:
        proof = replace(PROOF, entry=replace(PROOF.entry, seq=5))
        assert says(verify(proof, TRUSTED), "place") == "entry 5 is not in a tree of 5 entries"

    def test_an_entry_of_another_tenant(self) -> None:
        proof = replace(PROOF, entry=replace(PROOF.entry, tenant="other"))
        report = verify(proof, TRUSTED)
        assert failing(report) == ["place"]
        assert "the entry is of tenant 'other', the checkpoint of another log" in says(
            report, "place"
        )

    def test_a_proof_cut_short_or_stretched(self) -> None:
        for inclusion, problem in [
            (PROOF.inclusion[:-1], "cut short"),
            ((*PROOF.inclusion, bytes(32)), "too many hashes"),
            ((), "cut short"),
        ]:
            report = verify(replace(PROOF, inclusion=inclusion), TRUSTED)
            assert failing(report) == ["place"]
            assert problem in says(report, "place")

    def test_a_root_that_fits_but_is_not_signed(self) -> None:
        entry = replace(PROOF.entry, seq=0, prev=genesis_prev(ORIGIN))
        forged = Checkpoint(ORIGIN, 1, leaf_hash(entry.encode()))
        checkpoint = forged.text + "\n" + PROOF.checkpoint.rpartition("\n\n")[2]
        report = verify(Proof(entry, (), checkpoint, PROOF.disclosure), TRUSTED)
        assert failing(report) == ["signature"]
        assert "does not match the text" in says(report, "signature")

    def test_a_first_entry_that_does_not_begin_this_log(self) -> None:
        entry = replace(PROOF.entry, seq=0)
        checkpoint = Checkpoint(ORIGIN, 1, leaf_hash(entry.encode())).sign(KEY.private_key)
        report = verify(Proof(entry, (), checkpoint, PROOF.disclosure), TRUSTED)
        assert failing(report) == ["place"]
        assert "does not begin log" in says(report, "place")

    def test_a_signature_by_another_key(self) -> None:
        report = verify(make_proof(key=OTHER_KEY), TRUSTED)
        assert failing(report) == ["signature"]
        assert says(report, "signature") == (
            f"the checkpoint is signed by key {OTHER_KEY.verifier.key_id}, "
            f"not by the key given ({KEY.verifier.key_id})"
        )

    def test_a_checkpoint_of_another_log(self) -> None:
        other = "evidentia/ffff/acme"
        report = verify(make_proof(origin=other), TRUSTED)
        assert failing(report) == ["signature"]
        assert says(report, "signature") == (
            f"the checkpoint is of log {other}, the key given is for {ORIGIN}"
        )

    def test_a_key_that_was_given_for_another_log_vouches_for_nothing_here(self) -> None:
        for_another_log = TrustedKey(KEY.verifier.public_key, "evidentia/ffff/acme")
        report = verify(PROOF, for_another_log, TrustedKey(OTHER.public_key))
        assert failing(report) == ["signature"]

    def test_a_signature_under_another_name(self) -> None:
        checkpoint = Checkpoint(ORIGIN, 5, bytes(32))
        proof = replace(PROOF, checkpoint=resigned(checkpoint, name="evidentia/ffff/acme"))
        assert "signature" in failing(verify(proof, TRUSTED))

    def test_a_checkpoint_that_is_none(self) -> None:
        for checkpoint in ("", "text\n", sign_note("no checkpoint\n", ORIGIN, KEY.private_key)):
            report = verify(replace(PROOF, checkpoint=checkpoint), TRUSTED)
            assert outcomes(report) == {"format": False}
            assert report.entry is None
            assert report.as_json()["entry"] is None

    def test_a_trusted_key_of_a_wrong_length_trusts_nothing(self) -> None:
        assert failing(verify(PROOF, TrustedKey(b"short", ORIGIN))) == ["signature"]


STATEMENT = Statement("urn:example:1", (Subject("a.md", "ab" * 32),), {"verdict": "weak"})
NAMED = {"statement_sha256": sha256_hex(STATEMENT.encode())}
STATED = replace(make_proof(body=NAMED), envelope=Envelope.sign(STATEMENT.encode(), KEY))


class TestStatements:
    """A proof may bring the statement that its body names, signed by the log's key."""

    def test_a_statement_that_was_recorded_and_signed_holds(self) -> None:
        report = verify(STATED, TRUSTED)
        assert report.holds
        assert outcomes(report) == dict.fromkeys([*CHECKS, "statement"], True)
        assert report.statement == STATEMENT
        assert says(report, "statement") == (
            f"the statement is the one recorded, signed by the trusted key {KEY.verifier.key_id}"
        )
        assert report.as_json()["statement"] == STATEMENT.as_json()

    def test_the_fingerprint_is_that_of_the_statement(self) -> None:
        report = verify(STATED, TRUSTED)
        assert report.fingerprint == sha256_hex(STATEMENT.encode())
        assert report.as_json()["fingerprint"] == report.fingerprint
        assert verify(replace(STATED, envelope=None), TRUSTED).fingerprint is None
        unnamed = replace(make_proof(body={}), envelope=STATED.envelope)
        assert verify(unnamed, TRUSTED).fingerprint is None
        assert verify(PROOF, TRUSTED).fingerprint is None
        assert verify(replace(PROOF, disclosure=None), TRUSTED).fingerprint is None

    def test_a_proof_without_a_statement_says_nothing_of_one(self) -> None:
        report = verify(replace(STATED, envelope=None), TRUSTED)
        assert report.holds
        assert report.statement is None
        assert report.as_json()["statement"] is None

    def test_without_a_trusted_key_its_signer_is_unknown(self) -> None:
        report = verify(STATED)
        assert report.verdict is Verdict.SIGNER_UNKNOWN
        assert outcomes(report)["statement"] is None
        assert KEY.verifier.key_id in says(report, "statement")
        assert "was not compared" in says(report, "statement")

    def test_without_a_trusted_key_a_changed_statement_does_not_hold(self) -> None:
        forged = Envelope.sign(replace(STATEMENT, predicate={"verdict": "full"}).encode(), KEY)
        report = verify(replace(STATED, envelope=forged))
        assert failing(report) == ["statement"]

    def test_another_statement_signed_by_the_same_key_does_not_hold(self) -> None:
        forged = Envelope.sign(replace(STATEMENT, predicate={"verdict": "full"}).encode(), KEY)
        report = verify(replace(STATED, envelope=forged), TRUSTED)
        assert failing(report) == ["statement"]
        assert says(report, "statement") == (
            "the statement is not the one that was recorded: it was changed, or is another's"
        )

    def test_the_same_statement_in_other_bytes_does_not_hold(self) -> None:
        spaced = json.dumps(STATEMENT.as_json()).encode()
        report = verify(replace(STATED, envelope=Envelope.sign(spaced, KEY)), TRUSTED)
        assert failing(report) == ["statement"]

    @pytest.mark.parametrize(
        "body",
        [
            {},
            None,
            [NAMED],
            NAMED["statement_sha256"],
            {"statement_sha256": None},
            {"statement_sha256": NAMED["statement_sha256"].upper()},
        ],
    )
    def test_a_body_that_does_not_name_the_statement_does_not_vouch_for_it(self, body: Any) -> None:
        proof = replace(make_proof(body=body), envelope=STATED.envelope)
        for keys in ([], [TRUSTED]):
            assert failing(verify(proof, *keys)) == ["statement"]

    def test_a_statement_signed_by_another_key_does_not_hold(self) -> None:
        envelope = Envelope.sign(STATEMENT.encode(), OTHER_KEY)
        report = verify(replace(STATED, envelope=envelope), TRUSTED)
        assert failing(report) == ["statement"]
        assert says(report, "statement") == (
            f"the statement is signed by key {OTHER_KEY.verifier.key_id}, not by the key given"
        )

    def test_a_statement_with_a_wrong_signature_does_not_hold(self) -> None:
        wrong = Envelope(STATEMENT.encode(), (Signature(KEY.verifier.key_id, bytes(64)),))
        report = verify(replace(STATED, envelope=wrong), TRUSTED)
        assert failing(report) == ["statement"]
        assert "signature is not by key" in says(report, "statement")

    def test_a_key_for_another_log_vouches_for_neither(self) -> None:
        for_another_log = TrustedKey(KEY.verifier.public_key, "evidentia/ffff/acme")
        assert failing(verify(STATED, for_another_log)) == ["signature", "statement"]

    def test_an_envelope_without_a_statement_is_no_proof(self) -> None:
        for payload in (b"", b"{}", b"not json", b"\xff"):
            report = verify(replace(STATED, envelope=Envelope.sign(payload, KEY)), TRUSTED)
            assert outcomes(report) == {"format": False}
            assert "statement" in says(report, "format")

    def test_no_flipped_bit_of_the_envelope_gives_another_that_holds(self) -> None:
        data = proof_bytes(STATED)
        original = parse_json(data)
        start = data.index(b'"envelope"')
        end = data.index(b'"format"')
        for bit in range(start * 8, end * 8, 3):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            if verify_proof(bytes(changed), [TRUSTED]).holds:
                assert parse_json(bytes(changed)) == original


class TestHostileBytes:
    """Whatever the bytes are, the answer is a report, and it holds only for an unchanged proof."""

    DATA = json.dumps(PROOF.as_json(), separators=(",\r\n", ": ")).encode()

    def test_the_bytes_themselves_hold(self) -> None:
        assert verify_proof(self.DATA, [TRUSTED]).holds

    @pytest.mark.parametrize("part", range(4))
    def test_no_flipped_bit_gives_another_document_that_holds(self, part: int) -> None:
        original = parse_json(self.DATA)
        unchanged = 0
        for bit in range(part, len(self.DATA) * 8, 4):
            data = bytearray(self.DATA)
            data[bit // 8] ^= 1 << bit % 8
            report = verify_proof(bytes(data), [TRUSTED])
            if report.holds:
                assert parse_json(bytes(data)) == original, f"bit {bit} was flipped unnoticed"
                unchanged += 1
        assert unchanged or part != 2  # a carriage return is one bit from a tab

    def test_no_truncation_holds_or_raises(self) -> None:
        for end in range(len(self.DATA)):
            report = verify_proof(self.DATA[:end], [TRUSTED])
            assert report.verdict is Verdict.DOES_NOT_HOLD
            assert report.as_json()["holds"] is False

    def test_no_removed_byte_holds_unless_the_document_is_unchanged(self) -> None:
        original = parse_json(self.DATA)
        for at in range(len(self.DATA)):
            data = self.DATA[:at] + self.DATA[at + 1 :]
            if verify_proof(data, [TRUSTED]).holds:
                assert parse_json(data) == original

    @pytest.mark.parametrize(
        "hostile",
        [
            None,
            True,
            -1,
            1.5,
            2**60,
            "",
            "\x00",
            "\n\n",
            "\u2028",
            "x" * 100_000,
            [],
            {},
            [[]] * 1_000,
            {"v": 1},
        ],
    )
    def test_no_value_in_any_place_holds_or_raises(self, hostile: Any) -> None:
        document = PROOF.as_json()
        entry_places = [("entry", name) for name in document["entry"]]
        hash_places = [("inclusion", at) for at in range(len(document["inclusion"]))]
        for outer, inner in [*entry_places, *hash_places]:
            changed = json.loads(json.dumps(document))
            changed[outer][inner] = hostile
            assert not verify_proof(json.dumps(changed).encode(), [TRUSTED]).holds
        for name in document:
            changed = {**document, name: hostile}
            assert not verify_proof(json.dumps(changed).encode(), [TRUSTED]).holds

    @pytest.mark.parametrize(
        "origin", ["\ud800", "evidentia/x/\udfff", "\udcff+", "evidentia/\ud83d/acme"]
    )
    def test_a_lone_surrogate_in_the_checkpoint_is_reported(self, origin: str) -> None:
        checkpoint = PROOF.checkpoint.replace(ORIGIN, origin)
        data = json.dumps({**PROOF.as_json(), "checkpoint": checkpoint}).encode()
        for keys in ([], [TRUSTED], [TrustedKey(TRUSTED.public_key)]):
            report = verify_proof(data, keys)
            assert outcomes(report) == {"format": False}
            assert says(report, "format").isascii()

    def test_a_signature_written_another_way_in_base64_is_refused(self) -> None:
        last = PROOF.checkpoint[-3]
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        other = letters[letters.index(last) ^ 1]  # a bit that base64 does not use here
        checkpoint = PROOF.checkpoint[:-3] + other + PROOF.checkpoint[-2:]
        report = verify(replace(PROOF, checkpoint=checkpoint), TRUSTED)
        assert outcomes(report) == {"format": False}

    @settings(max_examples=100)
    @given(st.binary(max_size=60))
    def test_random_bytes_are_reported(self, data: bytes) -> None:
        assert verify_proof(data, [TRUSTED]).verdict is Verdict.DOES_NOT_HOLD

    @settings(max_examples=40)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
            max_leaves=6,
        )
    )
    def test_only_the_recorded_body_holds(self, body: Any) -> None:
        data = json.dumps({**PROOF.as_json(), "body": body}).encode()
        try:
            same = canonical_json(body) == canonical_json(BODY)
        except CanonicalError:
            same = False
        assert verify_proof(data, [TRUSTED]).holds == same
