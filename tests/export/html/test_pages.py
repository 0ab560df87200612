"""Pages that verify themselves: what is in them, and that every change to one is seen."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

import evidentia as ev
from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import InputError
from evidentia.export.forms import export_ledger
from evidentia.export.html import verification
from evidentia.export.html.pages import (
    evidence_in,
    exported_page,
    is_html,
    saved_page,
    template_digest,
)
from evidentia.kinds import render_html, verify_html
from evidentia.ledger.session import LedgerSession
from evidentia.packs.verification import written
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.proof.verification import ProofReport, Verdict

VECTORS: Final = Path(__file__).resolve().parents[3] / "spec/v1/vectors"
PACK: Final = (VECTORS / "pack/holds/plain.json").read_bytes()
PACK_KEY: Final = (VECTORS / "keys/pack-log.pub").read_text()
MOST_AROUND: Final = 300_000
"""How many bytes a page may have over its evidence."""


LEDGER: Final = written(parse_json((VECTORS / "proofs/holds/ledger.json").read_bytes()))
LEDGER_KEY: Final = (VECTORS / "keys/ledger-log.pub").read_text()


def checked(page: bytes, key: str) -> ProofReport:
    """Return the report of a page."""
    return ev.verify(page, key=key)


def failing(report: ProofReport) -> list[str]:
    """Return the names of the checks that failed."""
    return [check.name for check in report.checks if check.holds is False]


@pytest.mark.parametrize(("evidence", "key"), [(PACK, PACK_KEY), (LEDGER, LEDGER_KEY)])
class TestPage:
    """A page of a pack or a ledger."""

    def test_a_page_holds(self, evidence: bytes, key: str) -> None:
        report = checked(render_html(evidence), key)
        assert report.holds
        assert [check.name for check in report.checks][-1] == "rendering"
        assert any("printout" in limit for limit in report.cannot_know)

    def test_without_a_key_its_signer_is_unknown(self, evidence: bytes, key: str) -> None:
        del key
        assert ev.verify(render_html(evidence)).verdict is Verdict.SIGNER_UNKNOWN

    def test_the_same_evidence_gives_the_same_page(self, evidence: bytes, key: str) -> None:
        del key
        assert render_html(evidence) == render_html(evidence)

    def test_the_evidence_comes_out_as_it_went_in(self, evidence: bytes, key: str) -> None:
        del key
        assert evidence_in(render_html(evidence)) == evidence

    def test_a_page_is_little_more_than_its_evidence(self, evidence: bytes, key: str) -> None:
        del key
        assert len(render_html(evidence)) - len(evidence) < MOST_AROUND

    def test_text_that_was_put_into_a_page_is_seen(self, evidence: bytes, key: str) -> None:
        page = render_html(evidence).replace(b"<body>", b"<body><h1>Approved by all</h1>")
        report = checked(page, key)
        assert report.verdict is Verdict.DOES_NOT_HOLD
        assert failing(report) == ["rendering"]

    def test_a_changed_script_is_seen(self, evidence: bytes, key: str) -> None:
        page = render_html(evidence)
        lying = page.replace(b'"does not hold"', b'"holds"')
        assert lying != page
        assert failing(checked(lying, key)) == ["rendering"]

    def test_a_changed_policy_is_seen(self, evidence: bytes, key: str) -> None:
        page = render_html(evidence).replace(b"default-src 'none'", b"default-src *")
        assert failing(checked(page, key)) == ["rendering"]

    def test_a_changed_proof_is_seen(self, evidence: bytes, key: str) -> None:
        page = render_html(evidence).replace(b'"seq":', b'"seq":1', 1)
        report = checked(page, key)
        assert report.verdict is Verdict.DOES_NOT_HOLD
        assert "place" in failing(report)

    def test_what_stands_behind_the_end_is_seen(self, evidence: bytes, key: str) -> None:
        assert failing(checked(render_html(evidence) + b"<p>more</p>", key)) == ["rendering"]

    def test_a_page_of_another_version_is_not_compared(self, evidence: bytes, key: str) -> None:
        page = render_html(evidence)
        older = re.sub(rb"evidentia/html v1 [0-9a-f]{64}", b"evidentia/html v1 " + b"0" * 64, page)
        report = checked(older, key)
        assert report.verdict is Verdict.PAGES_NOT_COMPARED
        assert failing(report) == []

    def test_a_page_that_does_not_say_what_made_it_is_refused(
        self, evidence: bytes, key: str
    ) -> None:
        page = re.sub(rb'<meta name="generator"[^>]*>\n', b"", render_html(evidence))
        assert failing(checked(page, key)) == ["rendering"]

    def test_evidence_that_was_written_anew_is_seen(self, evidence: bytes, key: str) -> None:
        indented = json.dumps(json.loads(evidence)).encode()
        assert "file" in failing(checked(exported_page(indented), key))

    def test_a_page_has_nothing_that_is_loaded(self, evidence: bytes, key: str) -> None:
        del key
        around = render_html(evidence).replace(evidence.replace(b"<", b"\\u003c"), b"").decode()
        assert not re.findall(r"<(?:img|link|iframe|script[^>]*src)", around)
        assert "default-src 'none'" in around

    def test_the_policy_names_the_script_and_the_style(self, evidence: bytes, key: str) -> None:
        del key
        page = render_html(evidence).decode()
        for tag in ("script", "style"):
            [inside] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = b64encode(sha256(inside.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in page


class TestRefusals:
    """What is no page, and what no page is made of."""

    def test_a_page_with_evidence_twice_is_refused(self) -> None:
        page = render_html(PACK)
        report = checked(page.replace(b"</body>", page[page.index(b"<script") :]), PACK_KEY)
        assert failing(report) == ["format"]

    def test_a_page_that_is_cut_short_is_refused(self) -> None:
        page = render_html(PACK)
        cut = page[: page.index(b'id="evidence">') + 500]
        assert failing(checked(cut, PACK_KEY)) == ["format"]

    def test_another_page_is_no_evidence(self) -> None:
        report = checked(b"<!DOCTYPE html><title>News</title>", PACK_KEY)
        assert "this is no evidence file" in report.checks[0].says

    def test_a_page_with_anything_in_it_is_reported_on(self) -> None:
        assert failing(checked(exported_page(b"{}\n"), PACK_KEY)) == ["format"]

    def test_no_page_is_made_of_a_bare_proof(self) -> None:
        bare = (VECTORS / "proofs/holds/record.json").read_bytes()
        with pytest.raises(InputError, match="no signed pack or ledger in it"):
            render_html(bare)
        key = (VECTORS / "keys/key-2.pub").read_text()
        assert failing(verify_html(exported_page(written(parse_json(bare))), ())) == ["rendering"]
        assert failing(checked(exported_page(bare), key)) == ["file"]

    def test_no_page_is_made_of_what_contradicts_itself(self) -> None:
        with pytest.raises(InputError, match="no page can be made of this evidence: "):
            render_html((VECTORS / "pack/refused/edited.json").read_bytes())

    def test_a_page_is_told_by_its_beginning(self) -> None:
        assert is_html(b"\n<!DOCTYPE HTML>")
        assert not is_html(b"{}")


class TestOthers:
    """The page to verify on, and the forms of a ledger."""

    def test_the_saved_page_has_no_evidence_in_it(self) -> None:
        with pytest.raises(InputError, match="without evidence"):
            evidence_in(saved_page())

    def test_less_than_signs_and_escapes_survive(self) -> None:
        hostile = canonical_json({"a": '</script><script>alert("\\u003c")//\\<', "b": "\\"})
        page = exported_page(hostile)
        assert evidence_in(page) == hostile
        assert page.count(b"</script>") == len(("evidence", "script"))

    def test_a_ledger_is_exported_from_its_proof_alone(self) -> None:
        proof = Proof.parse(LEDGER)
        assert export_ledger(proof, "html") == render_html(LEDGER)
        assert proof.envelope is not None
        session = LedgerSession.from_statement(Statement.parse(proof.envelope.payload))
        with pytest.raises(InputError, match="an HTML page has the ledger's proof in it"):
            export_ledger(session, "html")


def test_the_digest_of_what_is_around_the_evidence_is_that_of_an_empty_page() -> None:
    assert template_digest.__wrapped__() == template_digest()
    assert (
        verification.WHAT_A_PAGE_CANNOT_SHOW in checked(exported_page(PACK), PACK_KEY).cannot_know
    )
