import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evidentia
from evidentia.canonical import parse_json, sha256_hex
from evidentia.packs.model import EvidencePack
from evidentia.packs.statement import statement_bytes
from evidentia.packs.verification import (
    WHAT_A_PACK_CANNOT_SHOW,
    with_pack_checks,
    without_its_pack,
    written,
)
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import Statement
from evidentia.proof.verification import Check, ProofReport, Verdict, verify_proof
from evidentia.trail.entry import Entry
from packs.making import (
    FILE,
    TENANT,
    attachment,
    call,
    exported,
    exported_before,
    full_pack,
    long_memo,
    memo,
    pack,
    proof_of,
    recorded_body,
    source,
    unflagged_call,
)
from proofs import KEY, ORIGIN, OTHER_KEY, make_proof, proof_bytes

TRUSTED = TrustedKey(KEY.verifier.public_key, ORIGIN)
OTHER = TrustedKey(OTHER_KEY.verifier.public_key, ORIGIN)
SMALL = pack(
    decision_id="d",
    entity_id="e",
    agent_name="a",
    model="m",
    sources=(source(source="s", uri="u:1", excerpt="x", content_hash=None, confidence=1),),
    memo=memo(
        title_ar="ع",
        title_en="t",
        body_ar="ع[1]",
        body_en="t[1]",
        executive_summary_ar="ع",
        executive_summary_en="t",
    ),
    attachments=(attachment(name="f", source=None, bytes=2, sha256=sha256_hex(b"f\n")),),
)
SMALL_FILE = exported(SMALL, files=(("f", b"f\n"),))


def verify(data: bytes, key: TrustedKey | None = TRUSTED) -> ProofReport:
    return evidentia.verify(data, key=key)


def failing(report: ProofReport) -> list[str]:
    return [check.name for check in report.checks if check.holds is False]


def says(report: ProofReport, name: str) -> str:
    return next(check.says for check in report.checks if check.name == name)


def edited(data: bytes, **changes: Any) -> bytes:
    """Return an exported pack with other members, written as an export is."""
    return written({**parse_json(data), **changes})


def another(byte: int) -> int:
    """Return another byte that could stand in the same place: a digit for a digit, and so on."""
    if byte in b"0123456789":
        return byte - 1 if byte > ord("0") else ord("1")
    if chr(byte).isalpha():
        return byte - 1 if byte not in b"aA" else byte + 1
    return byte ^ 1


class TestSoundExports:
    @pytest.mark.parametrize("made", [pack(), full_pack()])
    def test_an_export_holds_with_the_key_alone(self, made: EvidencePack) -> None:
        report = verify(exported(made))
        assert report.verdict is Verdict.HOLDS
        assert [check.name for check in report.checks] == [
            "format",
            "content",
            "place",
            "signature",
            "statement",
            "plain",
            "file",
            "pack",
        ]
        assert says(report, "file") == "unchanged since export"
        assert says(report, "pack") == (
            f"{made.pack_id}, version {made.version}, of decision 'dec_abc123': its parts agree"
        )

    def test_each_attachment_is_said_to_hold(self) -> None:
        made = full_pack()
        files = (("contact.pdf", FILE), ("notes.txt", FILE))
        report = verify(exported(made, files=files))
        assert report.holds
        assert [check.name for check in report.checks].count("attachment") == 2

    def test_what_a_pack_cannot_show_is_said(self) -> None:
        report = verify(exported(full_pack()))
        assert set(WHAT_A_PACK_CANNOT_SHOW) < set(report.cannot_know)
        assert sum("only its digest is here" in limit for limit in report.cannot_know) == 2

    def test_what_was_sealed_by_other_rules_holds_and_is_worth_a_look(self) -> None:
        old = full_pack(tool_calls=(call(), unflagged_call()), memo=long_memo())
        report = verify(exported(old))
        assert report.holds
        flag, words = report.findings
        assert flag.startswith("tool call 2, 'hubspot.get_contact', is not flagged, and by the ")
        assert words == "memo.body_en: has 604 words, and 600 at most are allowed: shorten it"
        assert report.as_json()["findings"] == [flag, words]

    @pytest.mark.parametrize("made", [pack(), full_pack()])
    def test_nothing_else_is(self, made: EvidencePack) -> None:
        assert verify(exported(made)).findings == ()

    def test_without_a_key_the_signer_is_unknown(self) -> None:
        report = verify(SMALL_FILE, None)
        assert report.verdict is Verdict.SIGNER_UNKNOWN
        assert not report.holds

    @pytest.mark.parametrize("key", [TRUSTED, None])
    def test_a_pack_without_its_envelope_is_not_here(self, key: TrustedKey | None) -> None:
        members = {**parse_json(SMALL_FILE), "v": 1}
        for name in ("envelope", "attachments", "predicate"):
            del members[name]
        report = verify(written(members), key)
        assert report.verdict is Verdict.PACK_NOT_HERE
        assert report.verdict.value == "consistent, the pack is not here"
        assert not report.holds
        assert says(report, "pack").startswith("the pack itself is not here: its envelope")

    def test_an_entry_of_another_kind_needs_no_envelope(self) -> None:
        members = parse_json(SMALL_FILE)
        entry = Entry.from_json({**members["entry"], "kind": "access"})
        checks = (Check("format", holds=True, says=""),)
        for report in (ProofReport(checks, entry, {"by": "owner"}), ProofReport(checks)):
            assert without_its_pack(report) == report

    def test_without_its_body_a_pack_is_proved_as_one_that_was_erased(self) -> None:
        members = {**parse_json(SMALL_FILE), "v": 1}
        for name in ("envelope", "attachments", "predicate", "body", "salt"):
            del members[name]
        report = verify(written(members))
        assert report.holds
        assert "its body is not disclosed here" in says(report, "content")
        assert "what the body says: only its commitment is here" in report.cannot_know

    def test_another_key_does_not_hold(self) -> None:
        assert failing(verify(SMALL_FILE, OTHER)) == ["signature", "statement"]

    def test_a_file_and_a_key_as_text_will_do(self, tmp_path: Path) -> None:
        file = tmp_path / "pack.json"
        file.write_bytes(SMALL_FILE)
        assert evidentia.verify(file, key=KEY.verifier).holds
        assert evidentia.verify(str(file), key=KEY.verifier.public_key.hex()).holds
        assert not evidentia.verify(file).holds

    def test_a_proof_of_something_else_is_no_pack(self) -> None:
        data = proof_bytes(make_proof())
        report = verify(data)
        assert report.holds
        assert report == verify_proof(data, [TRUSTED])
        other = Statement("urn:other", Statement.parse(statement_bytes(SMALL)).subjects, {})
        body = {"statement_sha256": sha256_hex(other.encode())}
        proof = replace(proof_of(SMALL, body=body), envelope=Envelope.sign(other.encode(), KEY))
        assert "pack" not in [check.name for check in verify(proof_bytes(proof)).checks]

    def test_what_is_no_proof_is_reported(self) -> None:
        for data in (b"", b"{}", SMALL.encode(), b"\xff"):
            assert failing(verify(data)) == ["format"]

    def test_an_export_ends_with_a_newline(self) -> None:
        assert written({"b": 1, "a": [1.0]}) == b'{"a":[1],"b":1}\n'


class TestPlain:
    """The pack stands in plain beside the statement, and both are compared."""

    def test_a_person_can_read_the_pack_in_the_file(self) -> None:
        made = full_pack()
        document = json.loads(exported(made))
        assert document["v"] == 2
        assert document["predicate"] == made.as_json()
        assert document["predicate"]["memo"]["title_en"] == made.memo.title_en

    @pytest.mark.parametrize("made", [pack(), full_pack()])
    def test_a_file_of_the_version_before_holds_too(self, made: EvidencePack) -> None:
        data = exported_before(made)
        assert json.loads(data)["v"] == 1
        report = verify(data)
        assert report.holds
        assert "plain" not in [check.name for check in report.checks]

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (
                lambda it: it.update(decision_id="dec_2"),
                'decision_id is "dec_2" in plain and "d" in the statement',
            ),
            (
                lambda it: it["memo"].update(title_en="T"),
                'memo.title_en is "T" in plain and "t" in the statement',
            ),
            (
                lambda it: it["memo"].pop("body_ar"),
                "memo.body_ar is in the statement and not in plain",
            ),
            (lambda it: it.update(score=1), "score is in plain and not in the statement"),
            (
                lambda it: it["sources"].append(it["sources"][0]),
                "sources has 2 items in plain and 1 in the statement",
            ),
            (
                lambda it: it["sources"][0].update(excerpt="y" * 99),
                f'sources[0].excerpt is "{"y" * 58}… in plain and "x" in the statement',
            ),
            (lambda it: it.update(version=True), "version is true in plain and 1 in the statement"),
        ],
    )
    def test_what_differs_in_plain_is_named(
        self, change: Callable[[dict[str, Any]], object], told: str
    ) -> None:
        document = parse_json(SMALL_FILE)
        change(document["predicate"])
        report = verify(written(document))
        assert failing(report) == ["plain"]
        assert says(report, "plain") == (
            f"what stands in plain is not what the statement says: {told}"
        )

    def test_a_list_in_another_order_is_named(self) -> None:
        document = parse_json(exported(full_pack()))
        document["predicate"]["attachments"].reverse()
        report = verify(written(document))
        assert failing(report) == ["plain"]
        assert says(report, "plain").endswith(
            "attachments is in another order than in the statement"
        )

    def test_fields_in_another_order_are_named(self) -> None:
        document = parse_json(SMALL_FILE)
        memo = document["predicate"]["memo"]
        document["predicate"]["memo"] = dict(reversed(memo.items()))
        data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        report = verify(data)
        assert failing(report) == ["file"]
        assert says(report, "file").endswith("the fields of predicate.memo are in another order")

    def test_many_differences_are_not_all_told(self) -> None:
        report = verify(edited(SMALL_FILE, predicate={}))
        assert says(report, "plain").count("is in the statement and not in plain") == 3
        assert says(report, "plain").endswith("; and more")

    def test_another_pack_in_plain_is_found(self) -> None:
        other = parse_json(exported(full_pack()))["predicate"]
        assert failing(verify(edited(SMALL_FILE, predicate=other))) == ["plain"]

    @pytest.mark.parametrize("value", [None, [], "pack", 1])
    def test_what_stands_in_plain_is_an_object(self, value: Any) -> None:
        report = verify(edited(SMALL_FILE, predicate=value))
        assert says(report, "format") == "the proof's predicate is not a JSON object"

    def test_each_version_has_its_fields(self) -> None:
        assert failing(verify(edited(SMALL_FILE, v=1))) == ["format"]
        assert failing(verify(edited(exported_before(SMALL), v=2))) == ["format"]


class TestForgeries:
    @pytest.mark.parametrize(
        "data",
        [
            SMALL_FILE[:-1],
            SMALL_FILE + b"\n",
            b" " + SMALL_FILE,
            SMALL_FILE.replace(b'"v":1', b'"v": 1'),
            json.dumps(json.loads(SMALL_FILE), indent=2).encode(),
        ],
    )
    def test_a_file_that_was_written_anew_is_not_the_export(self, data: bytes) -> None:
        report = verify(data)
        assert failing(report) == ["file"]
        assert says(report, "file") == ("changed since export: edited, or saved by another program")

    def test_a_pack_whose_parts_do_not_agree_does_not_hold_whoever_signs_it(self) -> None:
        statement = Statement.parse(statement_bytes(SMALL))
        forged = replace(statement, predicate={**statement.predicate, "entity_id": "z"}).encode()
        body = {**recorded_body(SMALL), "statement_sha256": sha256_hex(forged)}
        proof = replace(proof_of(SMALL, body=body), envelope=Envelope.sign(forged, KEY))
        report = verify(written(proof.as_json()))
        assert failing(report) == ["pack"]
        assert "the pack's id follows from its content" in says(report, "pack")

    @pytest.mark.parametrize("entry", [{"subject": "pack_0123456789abcdef"}, {"tenant": "globex"}])
    def test_an_entry_about_another_pack_does_not_hold(self, entry: dict[str, str]) -> None:
        report = verify(exported(SMALL, **entry))
        assert "pack" in failing(report)
        named = entry.get("subject", SMALL.pack_id), entry.get("tenant", TENANT)
        assert says(report, "pack") == (
            f"the entry is about {named[0]!r} of tenant {named[1]!r}, the pack is "
            f"{SMALL.pack_id} of {TENANT!r}"
        )

    @pytest.mark.parametrize("made", [SMALL, full_pack()])
    @pytest.mark.parametrize("kind", ["ledger", "decision", "pack", "review"])
    def test_an_entry_of_another_kind_records_no_such_pack(
        self, made: EvidencePack, kind: str
    ) -> None:
        right = "review" if made.reviewer_id else "pack"
        report = verify(exported(made, kind=kind))
        if kind == right:
            assert report.holds
            return
        assert failing(report) == ["pack"]
        assert says(report, "pack") == (
            f"the entry is of kind {kind!r}, and such a pack is recorded by one of kind {right!r}"
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("decision_id", "dec_other"),
            ("version", 1),
            ("version", True),
            ("version", "2"),
            ("replaces", None),
            ("replaces", "pack_fedcba9876543210"),
        ],
    )
    def test_an_entry_that_says_something_else_than_the_pack_does_not_hold(
        self, name: str, value: Any
    ) -> None:
        made = full_pack()
        report = verify(exported(made, body={**recorded_body(made), name: value}))
        assert failing(report) == ["pack"]
        assert says(report, "pack") == (
            f"the entry's {name} is {value!r}, the pack's is {getattr(made, name)!r}: it records "
            "another pack"
        )

    def test_an_entry_with_another_outcome_of_the_review_does_not_hold(self) -> None:
        made = full_pack()
        assert verify(exported(made, body={**recorded_body(made), "outcome": "approved"})).holds
        report = verify(exported(made, body={**recorded_body(made), "outcome": "rejected"}))
        assert failing(report) == ["pack"]
        assert says(report, "pack") == (
            "the entry says that the review came to 'rejected', the pack 'approved'"
        )

    @pytest.mark.parametrize("name", ["decision_id", "version", "replaces"])
    def test_an_entry_that_leaves_out_what_it_records_does_not_hold(self, name: str) -> None:
        told = {key: value for key, value in recorded_body(SMALL).items() if key != name}
        report = verify(exported(SMALL, body=told))
        assert failing(report) == ["pack"]

    def test_an_entry_whose_body_is_no_object_does_not_hold(self) -> None:
        assert failing(verify(exported(SMALL, body=["pack"]))) == ["statement", "pack"]

    def test_a_pack_of_another_tenant_does_not_hold(self) -> None:
        stranger = pack(tenant_id="globex")
        assert failing(verify(exported(stranger))) == ["pack"]

    def test_another_pack_in_the_place_of_the_one_recorded_does_not_hold(self) -> None:
        other = parse_json(exported(pack(entity_id="z")))
        assert "statement" in failing(verify(edited(SMALL_FILE, envelope=other["envelope"])))
        assert failing(verify(edited(SMALL_FILE, entry=other["entry"])))

    def test_an_attachment_that_was_swapped_does_not_hold(self) -> None:
        swapped = [{"name": "f", "data": "Zwo="}]
        assert failing(verify(edited(SMALL_FILE, attachments=swapped))) == ["attachment"]

    def test_a_report_that_could_not_be_made_gets_no_more_checks(self) -> None:
        report = verify_proof(b"{}")
        assert with_pack_checks(b"{}", report) is report


@pytest.mark.no_cover
class TestEveryByte:
    """Whatever one byte of an export is changed to, it does not hold any more."""

    def test_a_change_at_any_place_of_a_small_export_is_caught(self) -> None:
        assert verify(SMALL_FILE).holds
        for place, byte in enumerate(SMALL_FILE):
            changed = bytearray(SMALL_FILE)
            changed[place] = another(byte)
            assert not verify(bytes(changed)).holds, (place, SMALL_FILE[place - 20 : place + 20])

    def test_a_byte_that_is_left_out_at_any_place_is_caught(self) -> None:
        for place in range(0, len(SMALL_FILE), 3):
            assert not verify(SMALL_FILE[:place] + SMALL_FILE[place + 1 :]).holds

    def test_a_byte_that_is_put_in_is_caught(self) -> None:
        chosen = random.Random(7)
        for place in range(0, len(SMALL_FILE), 3):
            more = bytes([chosen.choice(b' \n0aA="\\,{}')])
            assert not verify(SMALL_FILE[:place] + more + SMALL_FILE[place:]).holds

    def test_random_changes_of_a_large_export_are_caught(self) -> None:
        calls = tuple(call(outputs={"n": number, "text": "é" * 200}) for number in range(60))
        made = full_pack(tool_calls=calls)
        data = exported(made, files=(("contact.pdf", FILE), ("notes.txt", FILE)))
        assert verify(data).holds
        assert len(data) > 50_000
        chosen = random.Random(7)
        for _ in range(150):
            changed = bytearray(data)
            place = chosen.randrange(len(data))
            changed[place] = chosen.choice([another(data[place]), data[place] ^ 0x20])
            assert not verify(bytes(changed)).holds, place
