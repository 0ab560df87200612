"""What any bundle must keep, whatever it was built of."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidentia.bundles.accounting import Outcome
from evidentia.bundles.model import EvidenceBundle
from evidentia.errors import EvidentiaError
from evidentia.loading.artifacts import check_artifacts
from evidentia.loading.assembling import build_evidence_bundle
from evidentia.store.lake import FileLake

KEY = b"a key of the tests, 32 bytes lon"
SECRET = "what lies outside of the lake"
KINDS = ("lake_text", "lake_http", "sql_results", "documents", "transcripts")


def job(*evidence: Any) -> dict[str, Any]:
    return {"extra_params": {"evidence": list(evidence)}}


def check_bundle(bundle: EvidenceBundle, lake: Path) -> None:
    """Check that a bundle keeps its limits, its accounts and its fence, and can be found again."""
    policy, accounting = bundle.policy, bundle.accounting
    sizes = [len(item.content.encode()) for item in bundle.items]
    assert len(sizes) <= policy.max_items
    assert sum(sizes) <= policy.max_total_bytes
    assert max(sizes, default=0) <= policy.max_item_bytes
    assert sum(getattr(accounting, one.value) for one in Outcome) == accounting.inputs
    assert len(accounting.decisions) == accounting.inputs
    assert EvidenceBundle.parse((lake / bundle.lake_uri).read_bytes()) == bundle
    assert check_artifacts(bundle, FileLake(lake), lake)[1] == []
    check_fence(bundle)


def check_fence(bundle: EvidenceBundle) -> None:
    """Check that no text can end its own fence, or begin another."""
    for key in (b"", KEY):
        rendered = bundle.render(key=key)
        text, nonce = str(rendered.content), rendered.nonce
        assert text.count(f"<evidence-{nonce} ") == len(bundle.items)
        assert text.count(f"</evidence-{nonce}>") == len(bundle.items)
        assert text.count(nonce) == (2 * len(bundle.items) + 1 if bundle.items else 0)
        assert not any(nonce in item.content for item in bundle.items)
    for rendered in (bundle.render("anthropic"), bundle.render("openai")):
        json.loads(str(rendered))


def refusal(lake: Path, job_input: Any, refs: Any) -> str:
    """Return why evidence was refused: in one line that says which, and without a traceback."""
    with pytest.raises(EvidentiaError) as caught:
        build_evidence_bundle(job_input=job_input, evidence_refs=refs, lake_root=lake)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    assert "job_input.extra_params.evidence[0]" in message or "evidence_refs" in message, message
    assert len(message) < 8_000
    return message


def recorded(lake: Path, job_input: Any, refs: Any, **options: Any) -> EvidenceBundle:
    """Build what the refused is recorded in, check it, and return it."""
    bundle = build_evidence_bundle(
        job_input=job_input, evidence_refs=refs, lake_root=lake, on_error="record", **options
    )
    check_bundle(bundle, lake)
    return bundle


def check_refused(lake: Path, job_input: Any, refs: Any) -> str:
    """Check that evidence is refused by name, and otherwise recorded as failed, and the model told.

    Return why.
    """
    message = refusal(lake, job_input, refs)
    bundle = recorded(lake, job_input, refs)
    failed = [one for one in bundle.accounting.decisions if one.outcome is Outcome.FAILED]
    assert len(failed) == bundle.accounting.failed == 1
    assert failed[0].steps[0].reason == message
    item = bundle.item(failed[0].evidence_id)
    assert item is not None
    assert item.metadata["error"] == message
    assert "could not be loaded]" in str(bundle.render().content)
    return message
