"""Embeddings that are kept: found again by content and model, by one tenant alone."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidentia.store.database import Database
from evidentia.store.sql.embeddings import remove_embeddings, store_embeddings, stored_embeddings
from forking import Child
from places import Place
from workspace.policies import count

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

TENANT = "default"


def digest(value: object) -> str:
    return sha256(str(value).encode()).hexdigest()


MODEL, OTHER_MODEL = digest("a model"), digest("another")
A, B, C = map(digest, "abc")


@pytest.fixture
def database(place: Place) -> Database:
    return place.open().opened.database


def store(
    database: Database, made: dict[str, bytes], *, tenant: str = TENANT, model: str = MODEL
) -> None:
    with database.of(tenant).write() as connection:
        store_embeddings(connection, tenant, model, made)


def remove(database: Database, contents: Collection[str]) -> None:
    with database.of(TENANT).write() as connection:
        remove_embeddings(connection, TENANT, MODEL, contents)


def stored(
    database: Database,
    contents: Collection[str],
    *,
    tenant: str = TENANT,
    model: str = MODEL,
) -> dict[str, bytes]:
    with database.of(tenant).read() as connection:
        return stored_embeddings(connection, tenant, model, contents)


def test_what_was_stored_is_found_and_nothing_else(database: Database) -> None:
    assert stored(database, [A, B]) == {}
    store(database, {A: b"one", B: b""})
    assert stored(database, [A, B, C, A]) == {A: b"one", B: b""}
    assert stored(database, {B}) == {B: b""}
    assert stored(database, []) == {}


def test_nothing_may_be_stored_and_removed(place: Place) -> None:
    workspace = place.open()
    store(workspace.opened.database, {})
    remove(workspace.opened.database, [])
    assert count(workspace, "chunk_embeddings") == 0


def test_each_model_has_embeddings_of_its_own(database: Database) -> None:
    store(database, {A: b"one"})
    store(database, {A: b"other"}, model=OTHER_MODEL)
    assert stored(database, [A]) == {A: b"one"}
    assert stored(database, [A], model=OTHER_MODEL) == {A: b"other"}
    remove(database, [A])
    assert stored(database, [A]) == {}
    assert stored(database, [A], model=OTHER_MODEL) == {A: b"other"}


def test_a_tenant_does_not_see_or_remove_what_another_stored(database: Database) -> None:
    store(database, {A: b"theirs", B: b"theirs"}, tenant="other")
    assert stored(database, [A, B]) == {}
    store(database, {A: b"ours"})
    remove(database, [A, B])
    assert stored(database, [A]) == {}
    assert stored(database, [A, B], tenant="other") == {A: b"theirs", B: b"theirs"}


def test_what_is_there_stays(database: Database) -> None:
    store(database, {B: b"first"})
    store(database, {A: b"second", B: b"second", C: b"second"})
    assert stored(database, [A, B, C]) == {A: b"second", B: b"first", C: b"second"}


def test_what_was_removed_is_stored_anew_in_the_same_transaction(database: Database) -> None:
    store(database, {A: b"damaged", B: b"good"})
    with database.of(TENANT).write() as connection:
        remove_embeddings(connection, TENANT, MODEL, [A, C])
        store_embeddings(connection, TENANT, MODEL, {A: b"mended"})
    assert stored(database, [A, B]) == {A: b"mended", B: b"good"}


def test_what_was_not_committed_is_not_there(database: Database) -> None:
    with database.of(TENANT).write() as connection:
        store_embeddings(connection, TENANT, MODEL, {A: b"one"})
        connection.rollback()
    assert stored(database, [A]) == {}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=100))
def test_any_bytes_come_back_as_they_were(database: Database, data: bytes) -> None:
    store(database, {A: data})
    assert stored(database, [A]) == {A: data}
    remove(database, [A])


def test_large_ones_come_back_as_they_were(database: Database) -> None:
    made = {digest(number): bytes([number]) * 400_000 for number in range(5)}
    store(database, made)
    assert stored(database, made) == made


def test_ten_thousand_are_stored_found_and_removed(database: Database) -> None:
    made = {digest(number): number.to_bytes(2) * 50 for number in range(10_000)}
    store(database, made)
    store(database, dict.fromkeys(made, b"other"))
    assert stored(database, made) == made
    gone = [digest(number) for number in range(0, 10_000, 3)]
    remove(database, gone)
    assert set(stored(database, made)) == set(made) - set(gone)


def test_a_hundred_thousand_contents_can_be_asked_for(database: Database) -> None:
    wanted = [digest(number) for number in range(100_000)]
    store(database, {wanted[0]: b"first", wanted[-1]: b"last"})
    assert stored(database, wanted) == {wanted[0]: b"first", wanted[-1]: b"last"}


def test_processes_that_store_the_same_are_no_error_to_each_other(place: Place) -> None:
    names = [digest(number) for number in range(1_000)]

    def work(mine: bytes) -> None:
        database = place.open().opened.database
        for start in range(0, 1_000, 100):
            store(database, dict.fromkeys(names[start : start + 150], mine))

    children = [Child(partial(work, mine)) for mine in (b"one", b"two")]
    for child in children:
        child.end()
    workspace = place.open()
    found = stored(workspace.opened.database, names)
    assert set(found) == set(names)
    assert set(found.values()) <= {b"one", b"two"}
    assert count(workspace, "chunk_embeddings") == 1_000


def test_writers_with_the_same_contents_in_another_order_wait_and_go_on(place: Place) -> None:
    one, other = place.open().opened.database, place.open().opened.database
    begun, overtaken = Event(), Event()

    def first() -> None:
        with one.of(TENANT).write() as connection:
            store_embeddings(connection, TENANT, MODEL, {A: b"first"})
            begun.set()
            overtaken.wait(0.3)  # to the end, unless the other need not wait
            store_embeddings(connection, TENANT, MODEL, {B: b"first"})

    def second() -> None:
        begun.wait()
        with other.of(TENANT).write() as connection:
            store_embeddings(connection, TENANT, MODEL, {B: b"second"})
            overtaken.set()
            store_embeddings(connection, TENANT, MODEL, {A: b"second", C: b"second"})

    with ThreadPoolExecutor() as threads:
        for working in [threads.submit(first), threads.submit(second)]:
            working.result()
    assert stored(one, [A, B, C]) == {A: b"first", B: b"first", C: b"second"}


def test_writers_of_other_tenants_need_not_wait_on_the_server(postgres_place: Place) -> None:
    one, other = postgres_place.open().opened.database, postgres_place.open().opened.database
    with one.of(TENANT).write() as connection:
        store_embeddings(connection, TENANT, MODEL, {A: b"one"})
        store(other, {A: b"other"}, tenant="other")
    assert stored(one, [A]) == {A: b"one"}
    assert stored(one, [A], tenant="other") == {A: b"other"}
