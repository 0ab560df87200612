"""Checks as of a day: what held on it is used, and the ledger says so."""

from datetime import date
from pathlib import Path

import pytest

from evidentia.errors import InputError, ProofError
from evidentia.ledger.session import LedgerSession
from evidentia.store.database import run
from evidentia.workspace import Workspace
from packing import opened
from places import Place

JUDGES = ("quote", "numbers")
OLD, NEW = "Leave is 15 days a year.", "Leave is 20 days a year."


@pytest.fixture
def workspace(place: Place, _read_here: None) -> Workspace:
    return opened(place)


def dated(first: str, last: str, text: str) -> str:
    return f"---\neffective_from: {first}\neffective_until: {last}\n---\n{text}\n"


@pytest.fixture
def policies(workspace: Workspace, tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "leave.md").write_text(dated("2025-01-01", "2025-12-31", OLD))
    (folder / "gifts.txt").write_text("Gifts are reported.\n")
    workspace.ingest(folder)
    (folder / "leave.md").write_text(dated("2026-01-01", "2026-12-31", NEW))
    workspace.ingest(folder)
    return folder


def verdict(workspace: Workspace, text: str, day: str | date | None) -> str:
    return workspace.check(text, as_of=day, judges=JUDGES).entries[0].verdict.value


@pytest.mark.usefixtures("policies")
def test_the_version_is_used_that_held_on_the_day(workspace: Workspace) -> None:
    found = {
        day: (verdict(workspace, OLD, day), verdict(workspace, NEW, day))
        for day in ("2024-12-31", "2025-01-01", "2025-12-31", "2026-01-01", "2027-01-01")
    }
    assert found == {
        "2024-12-31": ("not_found", "not_found"),
        "2025-01-01": ("supported", "contradicted"),
        "2025-12-31": ("supported", "contradicted"),
        "2026-01-01": ("contradicted", "supported"),
        "2027-01-01": ("not_found", "not_found"),
    }
    assert verdict(workspace, OLD, date(2025, 6, 1)) == "supported"


@pytest.mark.usefixtures("policies")
def test_the_ledger_says_as_of_which_day_and_what_it_cites_held_on_it(
    workspace: Workspace,
) -> None:
    ledger = workspace.check(OLD, as_of="2025-06-01", judges=JUDGES)
    session = ledger.session
    assert session.corpus is not None
    assert session.corpus.filter.model_dump() == {"all": True, "as_of": "2025-06-01"}
    assert (session.corpus.used, session.corpus.documents) == (2, 3)
    (cited,) = session.documents
    assert cited.id.endswith("@1")
    assert (cited.effective_from, cited.effective_until) == ("2025-01-01", "2025-12-31")
    assert ledger.risk_flags == []
    assert workspace.ledgers.get(ledger.id).session == session
    later = session.corpus.filter.model_copy(update={"as_of": "2026-06-01"})
    corpus = session.corpus.model_copy(update={"filter": later})
    altered = session.model_copy(update={"corpus": corpus})
    with pytest.raises(ProofError, match="is none that its filter lets in"):
        LedgerSession.from_statement(altered.to_statement())


@pytest.mark.usefixtures("policies")
def test_without_a_day_what_has_ended_is_used_and_flagged(
    workspace: Workspace, policies: Path
) -> None:
    (policies / "fees.md").write_text(dated("2025-01-01", "2025-12-31", "The fee is 9 euros."))
    workspace.ingest(policies)
    ledger = workspace.check("The fee is 9 euros.", judges=JUDGES)
    assert ledger.entries[0].verdict == "supported"
    (flag,) = [one for one in ledger.risk_flags if one.type == "outdated_source"]
    assert flag.description == "fees.md holds until 2025-12-31, which has passed"


def test_days_can_be_given_and_other_days_are_a_version(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "leave.md"
    file.write_text(dated("2025-01-01", "2025-12-31", OLD))
    (first,) = workspace.ingest(file, effective="2024-01-01..").documents
    assert (first.effective_from, first.effective_until) == ("2024-01-01", None)
    assert [one.outcome for one in workspace.ingest(file).results] == ["unchanged"]
    (result,) = workspace.ingest(file, effective="..2024-06-30").results
    assert (result.outcome, result.document.version) == ("changed", 2)
    assert result.document.effective_until == "2024-06-30"
    again = workspace.ingest(file, effective="..2024-06-30").results[0]
    assert again.outcome == "unchanged"
    with pytest.raises(InputError, match="has what is no day"):
        workspace.ingest(file, effective="then..")
    assert workspace.audit().holds


@pytest.mark.usefixtures("policies")
def test_what_is_no_day_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="'soon' is no day"):
        workspace.check(OLD, as_of="soon")


@pytest.mark.usefixtures("policies")
@pytest.mark.as_owner
def test_days_that_an_insider_changed_are_found(workspace: Workspace) -> None:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        on = "" if workspace.opened.database.is_sqlite else " ON documents"
        run(connection, f"DROP TRIGGER documents_update{on}")
        run(connection, "UPDATE documents SET effective_until = '2030-01-01' WHERE version = 1")
    report = workspace.audit()
    found = [problem for part in report.parts for problem in part.findings]
    assert any("its effective_until is not what entry" in one for one in found)


def test_what_no_day_holds_on_is_nothing_to_check_against(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "leave.md"
    file.write_text(dated("2025-01-01", "2025-12-31", OLD))
    workspace.ingest(file)
    with pytest.raises(InputError, match="no documents to check against that held on 2030-01-01"):
        workspace.check(OLD, as_of="2030-01-01", judges=JUDGES)
