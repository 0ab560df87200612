"""Many clients at once, and what is left when the server or its database is killed under them."""

from pathlib import Path

import pytest

import tiers
from postgres import NoPostgresError
from server import crowd
from server.crowd import Asked, Came, Fault, disturbed, place

pytestmark = pytest.mark.timeout(300)


def crowded(folder: Path, kind: str, fault: Fault, clients: int, seconds: float) -> Came:
    try:
        with place(folder / "place", postgresql=kind == "postgresql") as (serving, own):
            return crowd.crowd(
                serving, Asked(clients, seconds, fault), disturbed(serving, own, fault)
            )
    except NoPostgresError as error:
        pytest.skip(f"no PostgreSQL: {error}")


@pytest.mark.parametrize("kind", tiers.sample(["sqlite", "postgresql"], 1))
def test_a_crowd_loses_nothing_and_doubles_nothing(kind: str, tmp_path: Path) -> None:
    clients, seconds = (200, 60.0) if tiers.is_whole() else (20, 2.0)
    came = crowded(tmp_path, kind, "none", clients, seconds)
    assert came.wrong == []
    assert came.appended
    assert came.checked
    assert set(came.statuses) <= {"200", "201", "409", "425", "429"}


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_server_that_is_killed_lost_nothing_it_acknowledged(kind: str, tmp_path: Path) -> None:
    came = crowded(tmp_path, kind, "kill", 40, 10.0)
    assert came.wrong == []
    assert came.appended


@pytest.mark.whole
def test_a_database_that_goes_and_comes_back_is_waited_for(tmp_path: Path) -> None:
    came = crowded(tmp_path, "postgresql", "database", 40, 15.0)
    assert came.wrong == []
    assert came.statuses["503"]
    assert came.appended


def test_what_a_killed_server_acknowledged_is_answered_alike_by_the_next(tmp_path: Path) -> None:
    with place(tmp_path / "place", postgresql=False) as (serving, _):
        firsts = crowd.killed_between(serving, appends=8)
    assert firsts
    assert all(first == again for first, again in firsts)
