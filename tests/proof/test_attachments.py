import json
from dataclasses import replace
from typing import Any

import pytest

from evidentia.canonical import parse_json, sha256_hex
from evidentia.errors import ProofError
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import Statement, Subject
from evidentia.proof.verification import ProofReport, Verdict, verify_proof
from proofs import KEY, ORIGIN, make_proof, proof_bytes

TRUSTED = TrustedKey(KEY.verifier.public_key, ORIGIN)
FILES = (("a.pdf", b"%PDF"), ("ب.txt", b""))
SUBJECTS = (
    Subject("thing/1", "0" * 64),
    *(Subject(f"attachment/{name}", sha256_hex(data)) for name, data in FILES),
)
STATEMENT = Statement("urn:test", SUBJECTS, {"a": 1}).encode()
BARE = replace(
    make_proof(body={"statement_sha256": sha256_hex(STATEMENT)}),
    envelope=Envelope.sign(STATEMENT, KEY),
)
WHOLE = replace(BARE, attachments=FILES)
DOCUMENT: dict[str, Any] = WHOLE.as_json()


def verify(*files: tuple[str, bytes]) -> ProofReport:
    return verify_proof(proof_bytes(replace(BARE, attachments=files)), [TRUSTED])


def told(report: ProofReport) -> list[tuple[bool | None, str]]:
    return [(check.holds, check.says) for check in report.checks if check.name == "attachment"]


def unknown(report: ProofReport) -> list[str]:
    return [limit for limit in report.cannot_know if "only its digest is here" in limit]


class TestFiles:
    def test_a_proof_with_files_reads_back(self) -> None:
        assert Proof.parse(proof_bytes(WHOLE)) == WHOLE
        assert DOCUMENT["attachments"] == [
            {"name": "a.pdf", "data": "JVBERg=="},
            {"name": "ب.txt", "data": ""},
        ]

    def test_a_proof_without_files_says_nothing_of_them(self) -> None:
        assert "attachments" not in parse_json(proof_bytes(BARE))
        assert Proof.parse(proof_bytes(BARE)).attachments == ()

    @pytest.mark.parametrize("given", [None, {}, "a.pdf", [], 1])
    def test_attachments_are_a_list_of_files(self, given: Any) -> None:
        with pytest.raises(ProofError, match=r"^the proof's attachments are not a list of files$"):
            Proof.parse(json.dumps({**DOCUMENT, "attachments": given}).encode())

    @pytest.mark.parametrize(
        "given",
        [
            None,
            [],
            {},
            {"name": "a.pdf"},
            {"data": "JVBERg=="},
            {"name": 1, "data": "JVBERg=="},
            {"name": "a.pdf", "data": None},
            {"name": "a.pdf", "data": "JVBERg"},
            {"name": "a.pdf", "data": "JVBERh=="},
            {"name": "a.pdf", "data": "JVBE Rg=="},
            {"name": "a.pdf", "data": "JVBERg==", "size": 4},
        ],
    )
    def test_a_file_is_a_name_and_bytes_in_base64(self, given: Any) -> None:
        with pytest.raises(ProofError, match="not a name with its bytes in Base64"):
            Proof.parse(json.dumps({**DOCUMENT, "attachments": [given]}).encode())

    def test_files_come_with_the_envelope_that_names_them(self) -> None:
        document = {name: part for name, part in DOCUMENT.items() if name != "envelope"}
        with pytest.raises(ProofError, match="attachments must come with the envelope"):
            Proof.parse(json.dumps(document).encode())


class TestChecks:
    def test_files_that_the_statement_names_hold(self) -> None:
        report = verify(*FILES)
        assert report.holds
        assert told(report) == [
            (True, "'a.pdf', 4 bytes, is the file that the statement names"),
            (True, "'ب.txt', 0 bytes, is the file that the statement names"),
        ]
        assert unknown(report) == []

    def test_a_file_that_is_not_here_is_said_to_be_unknown(self) -> None:
        report = verify(FILES[0])
        assert report.holds
        assert unknown(report) == ["whether 'ب.txt' is unchanged: only its digest is here"]
        assert len(unknown(verify())) == 2
        assert told(verify()) == []

    @pytest.mark.parametrize("data", [b"", b"%PDG", b"%PDF\n"])
    def test_a_file_that_was_changed_does_not_hold(self, data: bytes) -> None:
        report = verify(("a.pdf", data), FILES[1])
        assert report.verdict is Verdict.DOES_NOT_HOLD
        said = "'a.pdf' is not the file that the statement names: it was changed"
        assert told(report)[0] == (False, said)
        assert told(report)[1][0] is True

    @pytest.mark.parametrize("name", ["b.pdf", "attachment/a.pdf", "", "thing/1", "A.PDF"])
    def test_a_file_that_nobody_named_does_not_hold(self, name: str) -> None:
        report = verify(*FILES, (name, b"%PDF"))
        assert not report.holds
        said = f"{name!r} is not among the attachments that the statement names, or is twice"
        assert told(report)[-1] == (False, said)

    def test_a_file_that_is_there_twice_does_not_hold(self) -> None:
        for again in (FILES[0], ("a.pdf", b"another")):
            report = verify(FILES[0], again)
            assert not report.holds
            assert [holds for holds, _ in told(report)] == [True, False]

    def test_a_subject_that_is_no_attachment_is_not_asked_for(self) -> None:
        assert not any("thing/1" in limit for limit in verify().cannot_know)

    def test_a_proof_without_a_statement_has_no_attachments(self) -> None:
        assert told(verify_proof(proof_bytes(make_proof()), [TRUSTED])) == []

    def test_without_a_key_the_files_are_compared_all_the_same(self) -> None:
        assert verify_proof(proof_bytes(WHOLE)).verdict is Verdict.SIGNER_UNKNOWN
        changed = replace(WHOLE, attachments=(("a.pdf", b"x"),))
        assert verify_proof(proof_bytes(changed)).verdict is Verdict.DOES_NOT_HOLD
