"""A workspace that was closed says so, whatever is asked of it, and stays closed."""

import threading
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.errors import UsageError
from evidentia.store import schema
from evidentia.workspace import Workspace
from places import Place, record
from workspace.test_pack_access import CALLS

CLOSED = r"the workspace .+ is closed: open it again"


@pytest.fixture
def closed(place: Place) -> Workspace:
    """Give a workspace with something in it, after its block."""
    with place.open() as workspace:
        workspace.append(record())
    return workspace


@pytest.mark.parametrize("user", [None, "noor"])
def test_every_method_of_every_part_says_that_it_is_closed(
    place: Place, tmp_path: Path, user: str | None
) -> None:
    with place.open() as workspace:
        workspace.append(record())
        used = workspace if user is None else workspace.acting_as(user)
    for call in CALLS.values():
        with pytest.raises(UsageError, match=CLOSED):
            call(used, tmp_path)


def test_the_workspace_itself_says_so_too(closed: Workspace, tmp_path: Path) -> None:
    for call in (
        lambda: closed.append(record()),
        lambda: closed.check("An answer."),
        lambda: closed.prove(0),
        lambda: closed.prove("led_1"),
        lambda: closed.export("pack_1", tmp_path / "pack.json"),
        lambda: closed.verify(b"{}"),
        lambda: closed.verify(b"{}", key="evidentia+00000000+AA"),
        lambda: closed.pack_sources([]),
        lambda: closed.acting_as("noor"),
        lambda: closed.opened.for_("other"),
        closed.opened.tenants,
        lambda: schema.require_current(closed.opened.database),
        lambda: schema.upgrade(closed.opened.database),
        closed.opened.database.settle,
        closed.__enter__,
        closed.opened.__enter__,
    ):
        with pytest.raises(UsageError, match=CLOSED):
            call()
    assert (closed.tenant, closed.user) == ("default", None)


def test_closing_again_is_fine(closed: Workspace) -> None:
    closed.close()
    closed.opened.close()
    threads = [threading.Thread(target=closed.close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(UsageError, match=CLOSED):
        closed.trail.size  # noqa: B018 - reading it is the test


def test_no_connection_is_opened_after_closing(closed: Workspace) -> None:
    for _ in range(3):
        with pytest.raises(UsageError, match=CLOSED):
            closed.trail.entries()
    pool: object = closed.opened.database.engine.pool
    assert pool.checkedin() == pool.checkedout() == 0  # type: ignore[attr-defined]


def test_what_was_read_before_and_a_workspace_opened_anew_can_be_used(place: Place) -> None:
    with place.open() as workspace:
        workspace.append(record())
        entries = workspace.trail.entries()
    assert len(entries) == 2
    again = place.open()
    assert again.trail.entries() == entries
    other = place.open()
    again.close()
    assert other.trail.size == 2


def test_a_message_names_what_was_closed_without_a_password(tmp_path: Path) -> None:
    with ev.open(tmp_path / "home") as ws:
        pass
    with pytest.raises(UsageError) as refused:
        ws.trail.audit()
    assert str(refused.value) == (
        f"the workspace {tmp_path / 'home' / 'evidentia.db'} is closed: open it again, or call "
        "this before the block of 'with' ends"
    )


def test_who_appends_while_another_thread_closes_is_told_so_or_has_appended(place: Place) -> None:
    workspace = place.open()
    outcomes: list[str] = []

    def append() -> None:
        while True:
            try:
                workspace.append(record())
            except UsageError as error:
                outcomes.append(str(error))
                return

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    while workspace.trail.size < 20:
        pass
    workspace.close()
    for thread in threads:
        thread.join(20)
    assert len(outcomes) == 4
    assert all("is closed" in outcome for outcome in outcomes)
    assert place.open().trail.audit().holds
