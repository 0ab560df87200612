"""The verbs of the flow, on the workspace itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.errors import InputError
from packing import decision, memo
from places import record


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[ev.Workspace]:
    (tmp_path / "leave.md").write_text("# Leave\n\nEmployees get 15 days of leave.\n")
    with ev.open(tmp_path / "home") as workspace:
        yield workspace


def made(ws: ev.Workspace, tmp_path: Path) -> list[str]:
    ledger = ws.check(
        "Employees get 15 days of leave.", against=tmp_path / "leave.md", judges=["quote"]
    )
    bundle = ws.bundle({"extra_params": {"evidence": ["one"]}})
    pack = ws.assemble(decision(), memo=memo(), ledger=ledger)
    return [ledger.id, bundle.bundle_id, pack.pack_id]


def test_everything_is_exported_by_the_ending_of_the_file(ws: ev.Workspace, tmp_path: Path) -> None:
    ledger, bundle, pack = made(ws, tmp_path)
    for identity, name in (
        (ledger, "ledger.pdf"),
        (bundle, "bundle.json"),
        (pack, "pack.json"),
        (pack, "pack.pdf"),
    ):
        file = ws.export(identity, tmp_path / name)
        assert ws.verify(file).holds, name
    assert ws.export(ledger, tmp_path / "a.md").read_text().startswith("## Evidence Ledger")
    assert "one" in ws.export(bundle, tmp_path / "a.txt").read_text()
    for identity in (ledger, bundle):
        with pytest.raises(InputError, match="its ending tells no form of a"):
            ws.export(identity, tmp_path / "a.docx")


def test_everything_is_proved_by_its_number_its_id_or_itself(
    ws: ev.Workspace, tmp_path: Path
) -> None:
    ledger, bundle, pack = made(ws, tmp_path)
    entry = ws.append(record()).seq
    for of in (entry, ledger, bundle, bundle[:8], pack, ws.ledgers.get(ledger), ws.packs.get(pack)):
        assert ws.prove(of).checkpoint
    for name in ("latest", "dec_1", "x", object()):
        with pytest.raises(InputError, match="is no"):
            ws.prove(name)  # type: ignore[arg-type]


def test_sources_are_packed_with_the_options_that_are_given(ws: ev.Workspace) -> None:
    found = [ev.CandidateItem(item_id=f"doc-{n}", score=n / 9) for n in range(5)]
    packed = ws.pack_sources(found, options=ev.EvidencePackOptions(max_sources=2))
    assert len(packed) == 2
    assert len(ws.pack_sources(found)) == 5


def test_what_is_made_is_what_is_read(ws: ev.Workspace, tmp_path: Path) -> None:
    ledger = ws.check("Employees get 15 days.", against=tmp_path / "leave.md", judges=["quote"])
    again = ws.ledgers.get(ledger.id)
    assert (again, again.session, again.entry) == (ledger, ledger.session, ledger.entry)
    assert ledger == ledger.session.ledger
    assert ws.ledgers.find(ledger.id).entry == ledger.entry


def test_workspaces_of_a_process_share_what_is_opened(tmp_path: Path) -> None:
    with ev.open_all(tmp_path / "home") as opened:
        one, other = opened.for_("one"), opened.for_("other", "ann")
        one.append(record())
        assert one.opened is other.opened
        assert opened.tenants() == ["one"]
        assert (one.tenant, one.user, other.tenant, other.user) == ("one", None, "other", "ann")
