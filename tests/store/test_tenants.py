"""Transactions of a tenant: each says whose it is, and no connection takes that along."""

import pytest

from evidentia.errors import EnvironmentProblem, InputError, UsageError
from evidentia.store.database import TENANT_SETTING, Database, run
from places import Place

ASKED = f"SELECT current_setting('{TENANT_SETTING}', true)"


def whose(database: Database) -> str:
    with database.read() as connection:
        return str(run(connection, ASKED).scalar())


@pytest.fixture
def database(postgres_place: Place) -> Database:
    return postgres_place.open().opened.database


def test_each_transaction_says_of_which_tenant_it_is(database: Database) -> None:
    acme = database.of("acme")
    assert (whose(acme), whose(database), whose(database.of("bolt"))) == ("acme", "", "bolt")
    with acme.write() as connection:
        assert run(connection, ASKED).scalar() == "acme"
    assert whose(acme.unbound) == ""
    assert acme.of("acme") is acme


def test_a_connection_takes_no_tenant_along(database: Database) -> None:
    database.engine.dispose()
    acme = database.of("acme")

    def backend(one: Database) -> tuple[int, str]:
        with one.write() as connection:
            return tuple(run(connection, f"SELECT pg_backend_pid(), ({ASKED})").one())

    (process, said) = backend(acme)
    assert said == "acme"
    assert backend(database) == (process, "")
    with pytest.raises(EnvironmentProblem, match="division by zero"), acme.write() as connection:
        run(connection, "SELECT 1/0")
    assert backend(database) == (process, "")
    with database.apart() as own:
        assert own.execute(ASKED).fetchone()[0] in (None, "")


def test_what_is_bound_is_closed_with_what_it_is_of(database: Database) -> None:
    acme = database.of("acme")
    database.close()
    with pytest.raises(UsageError, match="is closed"):
        whose(acme)


def test_only_a_tenants_name_gets_into_what_begins_a_transaction(database: Database) -> None:
    with pytest.raises(InputError, match="is not a name"):
        database.of("acme'; RESET ALL; SELECT '")


def test_the_embedded_database_is_all_of_its_users(sqlite_place: Place) -> None:
    database = sqlite_place.open().opened.database
    assert database.of("acme") is database
    assert database.unbound is database
