"""Rendering: what a reader sees of a pack and of a ledger, and that it is always the same."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pypdfium2  # type: ignore[import-untyped]
import pytest

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import InputError
from evidentia.export.pdf.provenance import EVIDENCE, RENDERING
from evidentia.export.pdf.reading import embedded
from evidentia.export.pdf.rendering import Language, rendering_bytes
from evidentia.export.pdf.typesetting import template_digest, typst_version
from evidentia.kinds import render
from evidentia.packs.model import DecisionSummary
from evidentia.packs.verification import written
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import Statement, Subject
from export.pdf.board import CALLS, DECISION, MEMO
from export.pdf.conftest import Evidence
from packs.making import decision, exported, full_pack, memo, pack
from proofs import KEY, make_proof

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")

MOST_BYTES = 200_000
OTHER_TIME = "2026-11-16T09:00:00Z"


def read(pdf: bytes) -> str:
    """Return the text of a PDF on one line, without zero-width spaces and isolates."""
    pages = (one.get_textpage().get_text_range() for one in pypdfium2.PdfDocument(pdf))
    return " ".join(re.sub("[\u200b\u2066-\u2069\ufffe]", "", " ".join(pages)).split())


def unspaced(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("lang", get_args(Language))
def test_addresses_and_digests_are_copied_from_the_pages_as_they_are(
    lang: Language, evidence: Evidence
) -> None:
    pages = pypdfium2.PdfDocument(render(evidence.pack, lang=lang))
    copied = "".join(page.get_textpage().get_text_range() for page in pages).replace("\r\n", "")
    for source in DECISION["evidence"]:
        assert source.get("content_hash", "")[-64:] in copied
        assert (source.get("uri") or source["reference"]) in copied.replace("-\u200b", "-")


def test_a_memo_from_before_the_review_is_called_so(evidence: Evidence) -> None:
    told = "The memo was written before the review"
    assert told in read(render(evidence.pack, lang="en"))
    assert told not in read(render(evidence.draft, lang="en"))


def test_attachments_are_only_promised_where_there_are_any(evidence: Evidence) -> None:
    assert "and its attachments." in read(render(evidence.pack, lang="en"))
    assert "and its attachments." not in read(render(evidence.ledger, lang="en"))


def test_the_same_evidence_gives_the_same_bytes_in_another_process_too(
    evidence: Evidence, tmp_path: Path
) -> None:
    file = tmp_path / "pack.json"
    file.write_bytes(evidence.pack)
    code = (
        "import hashlib, pathlib, sys; from evidentia.kinds import render; "
        "data = pathlib.Path(sys.argv[1]).read_bytes(); "
        "print(hashlib.sha256(render(data)).hexdigest())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    made = render(evidence.pack)
    assert ran.stdout.strip() == sha256_hex(made)
    assert render(evidence.pack) == made
    assert render(evidence.pack, lang="ar") != made
    assert render(evidence.pack, typeface="amiri") != made


def test_the_evidence_and_how_it_was_rendered_are_embedded(evidence: Evidence) -> None:
    found = embedded(render(evidence.pack, lang="en", typeface="amiri"))
    assert found == {EVIDENCE: evidence.pack, RENDERING: rendering_bytes("en", "amiri")}
    assert json.loads(found[RENDERING]) == {
        "format": "evidentia/pdf",
        "v": 1,
        "lang": "en",
        "typeface": "amiri",
        "typst": typst_version(),
        "template": template_digest(),
    }


def test_an_english_reader_finds_all_of_the_pack(evidence: Evidence) -> None:
    text = read(render(evidence.pack, lang="en"))
    for expected in (
        MEMO["title_en"],
        DECISION["decision"],
        MEMO["executive_summary_en"],
        "1. Executive summary",
        "Confidential · commercial data",
        "15 November 2026 – 5 Jumada al-Akhirah 1448 AH",  # noqa: RUF001 - a dash
        "Noura Al-Harbi",
        "Approved, provided that the guarantee is renewed first.",
        "Older than the window",
        "In this file",
        "Contradiction",
        "evidentia verify FILE.pdf",
        "What this file cannot show",
    ):
        assert expected in text
    for source in DECISION["evidence"]:
        if re.search("[A-Za-z]", source["excerpt"]):
            assert source["excerpt"] in text
        assert unspaced(source.get("uri") or source["reference"]) in unspaced(text)
        assert source.get("content_hash", "").removeprefix("sha256:") in unspaced(text)
    for call in CALLS:
        assert all(call[name] in text for name in ("tool_name", "intended_action"))
    assert text.count("Contradiction") == 2
    assert text.count("As intended") == 1


def test_an_arabic_reader_finds_arabic_digits_and_identifiers_as_they_are(
    evidence: Evidence,
) -> None:
    text = read(render(evidence.pack, lang="ar"))
    for expected in ("1010-445-221", "2026-11-01", "٣٧", "١٤٤٨"):
        assert expected in text
    assert "Executive summary" not in text


def test_the_document_says_its_title_and_its_language(evidence: Evidence) -> None:
    for lang, code in (("ar", b"ar-SA"), ("both", b"ar-SA"), ("en", b"en-GB")):
        made = render(evidence.pack, lang=lang)  # type: ignore[arg-type]
        told = pypdfium2.PdfDocument(made).get_metadata_dict()
        assert told["Title"] == f"{MEMO['title_ar']} / {MEMO['title_en']}"
        assert b"/Lang(%b)" % code in made


def test_a_pack_is_small(evidence: Evidence) -> None:
    for given in (evidence.draft, evidence.pack, evidence.ledger):
        assert len(render(given)) <= MOST_BYTES


def test_what_is_not_reviewed_yet_says_so(evidence: Evidence) -> None:
    text = read(render(evidence.draft, lang="en"))
    assert "Awaiting review" in text
    assert "The decision stays open until a reviewer approves or rejects it." in text
    assert "Noura" not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decision": ""}, "No English text of the decision was recorded."),
        ({"decision": "", "decision_ar": ""}, "No text of the decision was recorded."),
        ({"approval_class": "A0"}, "No review needed"),
        ({"conflicted": True}, "Conflict of interest"),
        ({"sensitivity_class": "S3"}, "Restricted · personal data"),
    ],
)
def test_what_a_decision_lacks_or_is_marked_with_is_said(
    changes: dict[str, Any], said: str
) -> None:
    made = decision(**{"decision_ar": "التواصل مع المستشفى.", **changes})
    text = read(render(exported(pack(decision=DecisionSummary.of(made))), lang="en"))
    assert said in text
    assert "No tool call was recorded." in text


def test_a_pack_of_an_undescribed_decision_is_not_classified() -> None:
    text = read(render(exported(pack()), lang="en"))
    assert "Not classified" in text
    assert "Weight of the decision" not in text


def test_a_full_pack_prints_every_part_of_it() -> None:
    made = full_pack()
    text = read(render(exported(made), lang="en"))
    assert made.replaces is not None
    assert made.trace_id is not None
    assert made.ledger is not None
    for expected in (made.replaces, made.trace_id, made.ledger.ledger_id, "Digest only"):
        assert expected in text
    assert "Whether attachments that are not in the file are unchanged" in text
    assert all(one.bundle_id in text for one in made.bundles)
    assert all(name in text for name in made.tools_offered)


def test_a_ledger_is_printed_with_verdicts_quotations_places_and_actions(
    evidence: Evidence,
) -> None:
    text = read(render(evidence.ledger, lang="en"))
    for expected in (
        "Annual leave",
        "How much annual leave do I get, and how do I apply for it?",
        "10 claims checked: 7 supported, 1 weak, 1 contradicted, 1 not found.",
        "Evidence coverage 80%",
        "HR_Policy.pdf Page 12",
        "Missing evidence",
        "Correct or remove what the documents contradict. Claims concerned: 8",
        "Follow-up questions",
        "Documents checked against",
        "Leave_Guidelines.docx",
    ):
        assert expected in text


def test_the_chart_of_a_ledger_has_words_for_who_cannot_see_it(evidence: Evidence) -> None:
    made = render(evidence.ledger, lang="en")
    assert b"/Alt(Chart of the claims by verdict. 10 claims checked: 7 supported" in made


@pytest.mark.parametrize("typeface", ["plex", "amiri"])
def test_the_riyal_sign_is_printed(typeface: Any) -> None:
    made = exported(pack(memo=memo(executive_summary_en="It costs \u20c1 500.")))
    assert "\u20c1 500" in read(render(made, lang="en", typeface=typeface))


def test_a_word_of_100_kilobytes_is_broken_over_pages() -> None:
    for letter in ("W", "م"):
        title = memo(title_en=f"Title {letter * 300}", body_en=f"We [1] {letter * 100_000}")
        made = render(exported(pack(memo=title)), lang="en")
        assert len(pypdfium2.PdfDocument(made)) > 10


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (b"", "the proof cannot be read"),
        (b"{}", "not a proof"),
        (written(make_proof().as_json()), "it has no signed pack or ledger in it"),
    ],
)
def test_what_is_no_evidence_is_refused_in_one_line(evidence: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=f"^no PDF can be made of this evidence: .*{problem}"):
        render(evidence)


def test_evidence_that_was_changed_is_refused() -> None:
    document = json.loads(exported(pack()))
    document["body"]["version"] = 2
    with pytest.raises(InputError, match="no PDF can be made of this evidence: the body is not"):
        render(canonical_json(document) + b"\n")


def test_a_statement_that_is_neither_a_pack_nor_a_ledger_is_refused() -> None:
    statement = Statement("urn:example:other", (Subject("x", "0" * 64),), {}).encode()
    proof = make_proof(body={"statement_sha256": sha256_hex(statement)})
    data = written(replace(proof, envelope=Envelope.sign(statement, KEY)).as_json())
    with pytest.raises(InputError, match="'urn:example:other' is neither a pack nor a ledger"):
        render(data)


@pytest.mark.parametrize("at", ["2026-02-31T00:00:00.000000Z", "0000-01-01T00:00:00.000000Z"])
def test_a_time_that_no_calendar_has_is_printed_as_it_is(
    monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.setattr("packs.making.NOW", at)
    assert at in read(render(exported(pack(created_at=OTHER_TIME)), lang="en"))


@pytest.mark.parametrize("how", [{"lang": "fr"}, {"typeface": "comic"}])
def test_an_unknown_language_or_typeface_is_refused(how: Any) -> None:
    with pytest.raises(InputError, match=r"^a PDF is "):
        render(b"", **how)
