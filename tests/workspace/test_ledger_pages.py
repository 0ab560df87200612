"""Pages of kept ledgers: what they give, and that nothing in a row is believed."""

from pathlib import Path

import pytest

from evidentia.errors import InputError
from evidentia.ledger.pages import PAGE, head_of, judged_claims
from evidentia.store.database import run
from evidentia.workspace import Workspace
from evidentia.workspace import ledgers as ledgers_part
from places import Place
from workspace.policies import count, read_here, write_policies

LONG = "\n\n".join(f"Room {number} costs {number} euros a night." for number in range(PAGE + 30))


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    read_here(monkeypatch)
    workspace.ingest(write_policies(tmp_path / "docs"))
    return workspace


def test_a_page_has_the_claims_that_it_is_asked_for_and_is_not_read_from_the_whole(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = filled.check(LONG, judges=["quote"])
    session = filled.ledgers.get(ledger.id).session
    monkeypatch.setattr(ledgers_part, "_read", lambda *_: pytest.fail("it was read whole"))
    for start, limit in ((0, 10), (95, 10), (PAGE, PAGE), (120, 1_000), (0, 1), (500, 5)):
        page = filled.ledgers.page(ledger.id, start, limit)
        assert list(page.claims) == judged_claims(session, start, start + limit)
        assert (page.start, page.total, page.entry) == (start, PAGE + 30, ledger.entry)
        assert page.head == head_of(session)


def test_a_short_ledger_is_read_whole_and_keeps_no_pages(filled: Workspace) -> None:
    ledger = filled.check("Employees receive 15 days of paid annual leave.", judges=["quote"])
    page = filled.ledgers.page("latest")
    assert [one.entry for one in page.claims] == list(ledger.entries)
    assert count(filled, "ledger_pages") == 0


@pytest.mark.parametrize(("start", "limit"), [(-1, 5), (0, 0), (0, 1_001)])
def test_a_page_that_cannot_be_is_refused(filled: Workspace, start: int, limit: int) -> None:
    filled.check(LONG, judges=["quote"])
    with pytest.raises(InputError, match="a page begins at 0 or later"):
        filled.ledgers.page("latest", start, limit)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM ledger_pages WHERE page = 2",
        "DELETE FROM ledger_pages",
        "UPDATE ledger_pages SET data = (SELECT data FROM ledger_pages WHERE page = 1)",
        "UPDATE ledger_pages SET path = data",
    ],
)
@pytest.mark.as_owner
def test_pages_that_someone_changed_change_no_answer_and_are_named(
    place: Place, tmp_path: Path, sql: str
) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    ledger = workspace.check(LONG, judges=["quote"])
    before = workspace.ledgers.page(ledger.id, PAGE, 5)
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, sql)
    assert workspace.ledgers.page(ledger.id, PAGE, 5) == before  # as it was proved
    workspace.close()
    workspace = place.open()
    assert workspace.ledgers.page(ledger.id, PAGE, 5) == before  # from the whole
    said = f"ledger {ledger.id}: the pages that are kept of it are not its own"
    assert said in workspace.ledgers.audit()


def test_pages_go_with_their_ledger_and_pages_of_none_are_named(filled: Workspace) -> None:
    ledger = filled.check(LONG, judges=["quote"])
    assert count(filled, "ledger_pages") == 3
    filled.trail.erase(ledger.entry, reason="law", by="counsel")
    assert count(filled, "ledger_pages") == 0
    assert filled.ledgers.audit() == []
    with filled.opened.database.of(filled.tenant).write(sequencing=True) as connection:
        run(
            connection,
            "INSERT INTO ledger_pages (tenant, ledger_id, page, data, path) "
            "VALUES ('default', 'led_x', 0, ?, ?)",
            (b"{}", b""),
        )
    assert filled.ledgers.audit() == ["ledger led_x: there are pages of it, and no ledger"]
