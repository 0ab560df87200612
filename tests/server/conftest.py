"""Servers for tests: an application with people of every role, and a real one that listens."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest

from places import Place
from postgres import PostgresServer
from server.house import Furniture, House, furnish, serving


@pytest.fixture(scope="session")
def sqlite_furniture(tmp_path_factory: pytest.TempPathFactory) -> Furniture:
    """Give a furnished home with its database in it, to be copied."""
    place = Place(tmp_path_factory.mktemp("furnished") / "home")
    place.open()
    place.close()
    return furnish(place)


@pytest.fixture(scope="session")
def postgres_furniture(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer
) -> Iterator[Furniture]:
    """Give a furnished database on the server and its home, to be copied."""
    with postgres.fresh_database() as url:
        yield furnish(Place(tmp_path_factory.mktemp("furnished") / "home", url))


@pytest.fixture
def sqlite_house(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> Iterator[House]:
    """Give a server on the embedded database, where the other one would show nothing more."""
    place = Place(tmp_path_factory.mktemp("house") / "home")
    with serving(place, sqlite_furniture) as found:
        yield found


@pytest.fixture(scope="module")
def read_house(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> Iterator[House]:
    """Give a server that tests of a module share: they read, or are refused, and change nothing.

    A minute passes between two requests, so that it never tells anyone to wait.
    """
    place = Place(tmp_path_factory.mktemp("house") / "home")
    with serving(place, sqlite_furniture) as found:
        minutes = count(0.0, 60.0)
        found.app.state.running = replace(found.running, seconds=lambda: next(minutes))
        yield found


@pytest.fixture
def postgres_house(
    tmp_path_factory: pytest.TempPathFactory,
    postgres: PostgresServer,
    postgres_furniture: Furniture,
) -> Iterator[House]:
    """Give a server on PostgreSQL."""
    with postgres.fresh_database(str(postgres_furniture.database)) as url:
        place = Place(tmp_path_factory.mktemp("house") / "home", url)
        with serving(place, postgres_furniture) as found:
            yield found


@pytest.fixture
def working_house(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> Iterator[House]:
    """Give a server on the embedded database that does its jobs, too."""
    place = Place(tmp_path_factory.mktemp("house") / "home")
    with serving(place, sqlite_furniture, server_jobs=2) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def house(request: pytest.FixtureRequest) -> House:
    """Give a server with a ledger and people of every role, on each kind of database in turn."""
    name = "sqlite_house" if request.param == "sqlite" else "postgres_house"
    found: House = request.getfixturevalue(name)
    return found
