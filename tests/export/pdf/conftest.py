"""Evidence that PDFs are made of: packs and a ledger out of a real workspace."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from evidentia.packs.verification import written
from evidentia.proof.keys import TrustedKey
from evidentia.trail.note import VerifierKey
from evidentia.workspace import Workspace, open_workspace
from export.pdf.board import assemble_board_pack

EXAMPLES = Path(__file__).parents[3] / "examples"


@dataclass(frozen=True)
class Evidence:
    """What a tenant hands out, and its public key."""

    home: Path
    draft: bytes
    """The board's pack before its review."""
    pack: bytes
    """The board's pack as it was approved."""
    key: VerifierKey | TrustedKey

    @cached_property
    def ledger(self) -> bytes:
        """The proof of the ledger of an answer in examples/; made when it is first asked for."""
        answer = (EXAMPLES / "copied.md").read_text(encoding="utf-8")
        with open_workspace(self.home) as workspace:
            found = workspace.check(
                answer,
                against=EXAMPLES / "policies",
                title="Annual leave",
                answer_name="answer.md",
                query="How much annual leave do I get, and how do I apply for it?",
            )
            return written(workspace.ledgers.prove(found.id).as_json())


def exported(workspace: Workspace, name: str, file: Path) -> bytes:
    """Return the file that a pack is exported as."""
    return workspace.packs.export(name, file, overwrite=True).read_bytes()


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Give a pack that was sealed, then reviewed, and a ledger."""
    folder = tmp_path_factory.mktemp("board")
    home = folder / "home"
    with open_workspace(home) as workspace:
        pack = assemble_board_pack(workspace)
        draft = exported(workspace, pack.pack_id, folder / "draft.json")
        workspace.packs.review(
            pack.pack_id,
            "approved",
            reviewer="Noura Al-Harbi",
            note="Approved, provided that the guarantee is renewed first.",
        )
        reviewed = exported(workspace, pack.decision_id, folder / "pack.json")
        return Evidence(home, draft, reviewed, workspace.trail.public_key())


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Give an empty workspace."""
    with open_workspace(tmp_path / "home") as found:
        yield found
