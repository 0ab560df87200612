"""Bundles that tests build in a workspace, and what is done to them."""

from pathlib import Path
from typing import Any

from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import canonical_json
from evidentia.proof.document import Proof
from evidentia.workspace import Workspace
from places import Place, lake_folder
from vandal import vandal_at

TABLES = ("llm.evidence_bundle", "llm.evidence_item", "llm.run_evidence")
FACTS = [{"id": number, "fact": f"Fact {number}"} for number in range(12)]
LONG = "Luke is a Jedi, like his father before him. " * 10
CARD = "4111 1111 1111 1111"


def job(*texts: Any) -> dict[str, Any]:
    return {"extra_params": {"evidence": list(texts)}}


def build_cut(workspace: Workspace, lake_root: Path, *texts: Any) -> EvidenceBundle:
    """Build a bundle with a cut text, a cut file, and dropped texts."""
    return workspace.bundle(
        job(LONG, *texts),
        {"lake_text": [{"lake_uri": "texts/long.md", "priority": 1}]},
        EvidencePolicy(max_items=2, max_item_bytes=40),
        lake_root=lake_root,
    )


def two_bundles(place: Place) -> tuple[Workspace, EvidenceBundle, EvidenceBundle]:
    workspace = place.open()
    return workspace, workspace.bundle(job("one")), workspace.bundle(job("other"))


def bundle_file(workspace: Workspace, bundle: EvidenceBundle) -> Path:
    return lake_folder(workspace) / workspace.bundles.find(bundle.bundle_id).lake_uri


def proof_bytes(proof: Proof) -> bytes:
    return canonical_json(proof.as_json())


def erase(workspace: Workspace, bundle: EvidenceBundle) -> None:
    workspace.trail.erase(
        workspace.bundles.find(bundle.bundle_id).entry, reason="law", by="counsel"
    )


def vandalise(place: Place, sql: str, *values: Any) -> None:
    """Change one row without any guard in the way."""
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change(sql.replace("llm.", "") if vandal.is_sqlite else sql, *values)
