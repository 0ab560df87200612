"""`latest`, `latest~1` and so on name what was recorded last, whatever kind it is of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import NotFoundError
from evidentia.workspace import Workspace
from packing import decision, memo
from places import Place
from workspace.made_bundles import job
from workspace.policies import ANSWER, read_here, write_policies


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def check(workspace: Workspace, number: int) -> str:
    return workspace.check(ANSWER, title=f"check {number}").id


def bundle(workspace: Workspace, number: int) -> str:
    return workspace.bundle(job(f"Fifteen of {number}.")).bundle_id


def pack(workspace: Workspace, number: int) -> str:
    return workspace.assemble(decision(number), memo=memo()).pack_id


Make = Callable[[Workspace, int], str]
KINDS: dict[str, tuple[str, Make]] = {
    "ledger": ("ledgers", check),
    "bundle": ("bundles", bundle),
    "pack": ("packs", pack),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_named_by_how_long_ago_it_was_recorded(
    place: Place, tmp_path: Path, kind: str
) -> None:
    part, make = KINDS[kind]
    workspace = place.open()
    named: Any = getattr(workspace, part)
    with pytest.raises(
        NotFoundError, match=f"there is no {kind} latest: .* has no {part} yet; 'ev"
    ):
        named.find("latest")
    workspace.ingest(write_policies(tmp_path / "docs"))
    made = [make(workspace, number) for number in range(3)]
    for name, identity in zip(("latest~2", "latest~1", "latest"), made, strict=True):
        assert named.find(name).id == identity
    assert named.find("latest~0").id == made[-1]
    for missing in ("latest~3", "latest~999999"):
        with pytest.raises(NotFoundError) as refused:
            named.find(missing)
        assert str(refused.value) == (
            f"there is no {kind} {missing}: tenant 'default' has 3 {part}, and latest~2 is the "
            f"first of them; 'evidentia {kind} list' shows them"
        )
    for odd in ("latest~", "latest~-1", "latest~1~1", "Latest", "latest~1234567", "latest~٢"):
        with pytest.raises(NotFoundError, match="there is no"):
            named.find(odd)


@pytest.mark.parametrize("kind", KINDS)
def test_where_there_is_one_the_message_counts_one(place: Place, tmp_path: Path, kind: str) -> None:
    part, make = KINDS[kind]
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    make(workspace, 1)
    with pytest.raises(NotFoundError, match=f"has 1 {kind}, which is latest$"):
        getattr(workspace, part).find("latest~1")
    with pytest.raises(NotFoundError, match=f"tenant 'other' has no {part} yet"):
        getattr(place.open("other"), part).find("latest~1")


def test_the_packs_before_the_latest_are_other_decisions_and_not_its_older_versions(
    place: Place,
) -> None:
    workspace = place.open()
    first, second = pack(workspace, 1), pack(workspace, 2)
    newer = workspace.packs.revise(second, {"memo": memo(title_en="Advice").model_dump()})
    assert workspace.packs.find("latest").id == newer.pack_id
    assert workspace.packs.find("latest~1").id == first
    workspace.access.grant("noor", "viewer")
    assert workspace.acting_as("noor").packs.get("latest~1").pack_id == first
