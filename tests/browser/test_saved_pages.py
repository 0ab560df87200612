"""Pages that are opened as files: they verify without a network, and nothing of theirs runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from browser.browsing import axe, overflow
from browser.loading import PLAIN, serve
from evidentia.export.html.pages import exported_page, saved_page
from evidentia.kinds import render, render_html
from evidentia.ledger.session import LedgerSession
from evidentia.packs.model import EvidencePack
from evidentia.packs.statement import statement_bytes
from evidentia.proof.statement import Statement
from proofs import KEY, make_proof, proof_bytes
from signed_statements import recorded

VECTORS: Final = Path(__file__).resolve().parents[2] / "spec/v1/vectors"
PACK: Final = (VECTORS / "pack/holds/plain.json").read_bytes()
PACK_KEY: Final = (VECTORS / "keys/pack-log.pub").read_text()
HOSTILE: Final = (
    '</script><script>window.ran=1</script><img src=x onerror="window.ran=1">'
    '<svg onload=window.ran=1>"\'><a href="javascript:window.ran=1">x</a>'
)


@contextmanager
def opened(browser: Any, file: Path, **looks: Any) -> Iterator[Any]:
    """Open a file; whatever it says on the console, or loads from elsewhere, fails the test."""
    context = browser.new_context(**looks)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: wrong.extend(_foreign(one.url)))
    page.goto(file.as_uri())
    page.wait_for_selector(".ev-head")
    yield page
    assert wrong == []
    context.close()


def _foreign(url: str) -> list[str]:
    return [] if url.startswith("file:") else [url]


def wait_for_verdict(page: Any, begins: str) -> None:
    """Wait until the page says a verdict."""
    page.locator(".ev-verdict", has_text=begins).first.wait_for(timeout=5_000)


class TestVerifyPage:
    """The page to drop a file on."""

    @pytest.fixture
    def page(self, browser: Any, tmp_path: Path) -> Iterator[Any]:
        """Give the page, as a file."""
        file = tmp_path / "verify.html"
        file.write_bytes(saved_page())
        with opened(browser, file) as page:
            yield page

    @staticmethod
    def _drop(page: Any, name: str, data: bytes) -> None:
        page.set_input_files("#ev-file", {"name": name, "mimeType": "", "buffer": data})

    def test_a_proof_is_verified_by_a_key_of_ones_own(self, page: Any) -> None:
        self._drop(page, "proof.json", proof_bytes(make_proof()))
        wait_for_verdict(page, "Consistent, signer unknown")
        page.fill("#ev-key", str(KEY.verifier))
        page.keyboard.press("Tab")
        wait_for_verdict(page, "Holds")
        self._drop(page, "changed.json", proof_bytes(make_proof()).replace(b"0.5", b"0.6"))
        wait_for_verdict(page, "Does not hold")
        assert "it was changed" in page.inner_text(".ev-check.ev-false")

    def test_a_key_is_dropped_as_a_file(self, page: Any) -> None:
        self._drop(page, "log.pub", PACK_KEY.encode())
        self._drop(page, "pack.json", PACK)
        wait_for_verdict(page, "Holds")

    def test_a_page_of_a_pack_says_what_is_not_checked_here(self, page: Any) -> None:
        page.fill("#ev-key", PACK_KEY)
        self._drop(page, "pack.html", render_html(PACK))
        wait_for_verdict(page, "Consistent, pages not compared")
        assert "not checked here" in page.inner_text(".ev-check.ev-unchecked")

    def test_the_evidence_in_a_pdf_is_verified(self, page: Any) -> None:
        pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")
        page.fill("#ev-key", PACK_KEY)
        self._drop(page, "board.pdf", render(PACK))
        wait_for_verdict(page, "Consistent, pages not compared")
        names = page.locator(".ev-check strong").all_inner_texts()
        assert names[-2:] == ["Files in the PDF", "Pages"]
        assert page.locator(".ev-check.ev-true").count() == len(names) - 2
        self._drop(page, "other.pdf", b"%PDF-1.7\n%%EOF\n")
        wait_for_verdict(page, "Does not hold")

    def test_it_speaks_arabic_from_right_to_left(self, page: Any) -> None:
        self._drop(page, "proof.json", proof_bytes(make_proof()))
        page.click(".ev-head button")
        wait_for_verdict(page, "متسق، والموقّع مجهول")
        assert page.get_attribute("html", "dir") == "rtl"

    @pytest.mark.parametrize("what", ["", "nonsense", "[]", '{"ledger_id":"a","entries":[]}'])
    def test_what_is_no_evidence_is_told(self, page: Any, what: str) -> None:
        self._drop(page, "what.json", what.encode())
        wait_for_verdict(page, "Does not hold")

    def test_a_key_that_is_none_is_told(self, page: Any) -> None:
        self._drop(page, "proof.json", proof_bytes(make_proof()))
        page.fill("#ev-key", "not a key")
        page.click(".ev-field .ev-button")
        wait_for_verdict(page, "This is no public key")

    def test_it_works_without_webcrypto(self, browser: Any, tmp_path: Path) -> None:
        (tmp_path / "verify.html").write_bytes(saved_page())
        page = browser.new_page()
        serve(page, tmp_path, PLAIN)
        page.goto(f"{PLAIN}/verify.html")
        page.fill("#ev-key", str(KEY.verifier))
        self._drop(page, "proof.json", proof_bytes(make_proof()))
        wait_for_verdict(page, "Holds")
        assert "no WebCrypto" in page.inner_text(".ev-report")
        page.close()


class TestExportedPage:
    """A pack or a ledger that verifies itself."""

    def test_a_pack_is_read_in_both_languages(self, browser: Any, tmp_path: Path) -> None:
        file = tmp_path / "pack.html"
        file.write_bytes(render_html(PACK))
        memo = json.loads(PACK)["predicate"]["memo"]
        with opened(browser, file) as page:
            wait_for_verdict(page, "Consistent, signer unknown")
            assert memo["title_en"] in page.inner_text("article[lang=en]")
            assert memo["title_ar"] in page.inner_text("article[lang=ar][dir=rtl]")
            page.select_option("select", "ar")
            assert page.locator("article").count() == 1
            page.fill("#ev-key", PACK_KEY)
            page.click("#verification .ev-button")
            wait_for_verdict(page, "The evidence in this page holds")

    def test_a_changed_page_says_so_itself(self, browser: Any, tmp_path: Path) -> None:
        file = tmp_path / "pack.html"
        file.write_bytes(render_html(PACK).replace(b'"seq":', b'"seq":1', 1))
        with opened(browser, file) as page:
            wait_for_verdict(page, "Does not hold")

    def test_claims_are_filtered_and_searched(self, browser: Any, tmp_path: Path) -> None:
        file = tmp_path / "ledger.html"
        file.write_bytes(exported_page((VECTORS / "proofs/holds/ledger.json").read_bytes()))
        with opened(browser, file) as page:
            rows = page.locator("tbody tr")
            total = rows.count()
            page.select_option("select", "supported")
            shown = page.locator("tbody tr:not([hidden])").count()
            assert 0 < shown < total
            page.select_option("select", "")
            page.fill("input[type=search]", "no claim says this")
            assert page.locator("tbody tr:not([hidden])").count() == 0

    @pytest.mark.parametrize("kind", ["pack", "ledger"])
    def test_script_in_every_text_does_not_run(
        self, kind: str, browser: Any, tmp_path: Path
    ) -> None:
        file = tmp_path / "hostile.html"
        file.write_bytes(exported_page(_hostile_pack() if kind == "pack" else _hostile_ledger()))
        with opened(browser, file) as page:
            for details in page.locator("details").all():
                details.evaluate("one => { one.open = true; }")
            assert "window.ran" in page.inner_text("main")
            page.click(".ev-head button")
            assert page.evaluate("() => window.ran === undefined")
            assert page.locator("main img, main script").count() == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_pages_are_accessible(self, scheme: str, browser: Any, tmp_path: Path) -> None:
        evidence = (VECTORS / "proofs/holds/ledger.json").read_bytes()
        for name, data in (
            ("pack", render_html(PACK)),
            ("ledger", exported_page(evidence)),
            ("verify", saved_page()),
        ):
            file = tmp_path / f"{name}.html"
            file.write_bytes(data)
            looks = {"color_scheme": scheme, "viewport": {"width": 320, "height": 800}}
            with opened(browser, file, **looks) as page:
                for _ in ("en", "ar"):
                    assert (name, axe(page)) == (name, [])
                    assert overflow(page) <= 0
                    page.click(".ev-head button")


def _spoiled(value: Any, *, kept: frozenset[str], field: str = "") -> Any:
    """Return a JSON value with hostile text in place of all text that is free."""
    if isinstance(value, dict):
        return {name: _spoiled(one, kept=kept, field=name) for name, one in value.items()}
    if isinstance(value, list):
        return [_spoiled(one, kept=kept, field=field) for one in value]
    return HOSTILE if isinstance(value, str) and value and field not in kept else value


def _hostile_pack() -> bytes:
    pack = json.loads(PACK)["predicate"]
    kept = frozenset(
        [
            "decided_at",
            "decision_sha256",
            "approval_class",
            "reversibility_class",
            "sensitivity_class",
            "requirement",
            "retrieved_at",
            "outcome",
            "verification_status",
            "contradiction_basis",
            "called_at",
            "bundle_sha256",
            "statement_sha256",
            "sha256",
            "reviewed_at",
            "review_outcome",
            "trace_id",
            "created_at",
            "replaces",
            "error",
            "intended_action",
            "actual_action",
            "contradiction_reason",
        ]
    )
    spoiled = _spoiled(pack, kept=kept) | {"pack_id": "", "tenant_id": "acme"}
    made = EvidencePack.model_validate(spoiled)
    told = {"decision_id": made.decision_id, "version": made.version, "replaces": made.replaces}
    return recorded(statement_bytes(made), "pack", made.pack_id, **told)


def _hostile_ledger() -> bytes:
    statement = Statement.parse((VECTORS / "ledger/statement-second.json").read_bytes())
    session = LedgerSession.from_statement(statement)
    spoiled = _spoiled(
        json.loads(session.model_dump_json()),
        kept=frozenset(
            [
                "id",
                "session_id",
                "created_at",
                "updated_at",
                "claim_id",
                "claim_type",
                "type",
                "importance",
                "claim_importance",
                "verdict",
                "support",
                "support_level",
                "severity",
                "affected_claim_ids",
                "judge",
                "chunk_id",
                "chunk_hash",
                "evidence_chunk_ids",
                "sha256",
                "dated",
                "previous_ledger_id",
            ]
        ),
    )
    made = Statement(statement.predicate_type, statement.subjects, spoiled)
    return recorded(made.encode(), "ledger", session.ledger.id)
