"""What is acknowledged by one of many machines is there, whichever of them dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import tiers
from machines.fleet import SERVERS, SHARES, Fleet, compare, under_load
from postgres import NoPostgresError, PostgresServer, new_folder
from seaweed import Bucket

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """Give a PostgreSQL that is stopped and started again."""
    server = PostgresServer(new_folder(), fills_template=False)
    try:
        server.ensure_started()
    except NoPostgresError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    yield server
    server.stop()


def test_servers_that_are_killed_in_turn_lose_nothing_and_double_nothing(
    own_postgres: PostgresServer, bucket: Bucket, tmp_path: Path
) -> None:
    kills = [f"kill {number}" for number in range(SERVERS)]
    rounds, clients, gap = (3, 24, 4.0) if tiers.is_whole() else (1, 6, 1.0)
    stops = [f"stop {number}" for number in range(SERVERS)] if tiers.is_whole() else []
    faults = ["database", *kills, *stops, "database"] * rounds if stops else [*kills, "database"]
    with own_postgres.fresh_database("template1") as url:
        fleet = Fleet(tmp_path, url, own_postgres, bucket)
        told = under_load(fleet, clients, faults, gap)
        compare(fleet, told)
    assert told.wrong == []
    assert told.faults == faults
    assert all(told.count()[kind] for kind in SHARES), told.count()
