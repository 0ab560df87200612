"""A workspace with one of everything that can be kept in it."""

from pathlib import Path

from evidentia.workspace import Workspace
from packing import decision, memo, tool_call
from places import record
from workspace.policies import ANSWER, write_policies


def fill(workspace: Workspace, folder: Path) -> Workspace:
    """Have one of everything in a workspace."""
    workspace.append(record(1))
    docs = write_policies(folder)
    workspace.ingest(docs)
    (docs / "gifts.md").write_text("# Gifts\n\nGifts are not taken.\n", encoding="utf-8")
    workspace.ingest(docs)
    workspace.check(ANSWER, judges=["quote"])
    bundle = workspace.bundle({"extra_params": {"evidence": ["What the model saw."]}})
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    workspace.tools.record("dec_1", tool_call())
    workspace.assemble(decision(), memo=memo(), attachments={"a.txt": b"attached"})
    workspace.packs.hold("dec_1", reason="a case")
    workspace.access.grant("ann", "viewer")
    workspace.trail.checkpoint()
    return workspace
