"""What only the operator names: databases that bundles may ask, and the model that judges."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import InputError, SettingsError
from evidentia.judges.llm.endpoint import LanguageModel
from evidentia.server.configured import connections_of, judge_named
from evidentia.settings import Settings
from judges.llm.serving import Asked, Said, reply, serving, verdict
from server.house import House

PATH = "/api/v1/bundles"


def with_settings(house: House, **settings: Any) -> House:
    running = house.running
    changed = replace(running.settings, **settings)
    house.app.state.running = replace(running, settings=changed)
    return house


def query(sql: str, connection: str = "shop") -> dict[str, Any]:
    asked = {"query_key": "late", "sql": sql, "connection": connection}
    return {"evidence_refs": {"sql_results": [asked]}}


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """Return the address of a database with orders in it."""
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE orders (id INTEGER, state TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", [(1, "late"), (2, "sent")])
    database.close()
    return f"sqlite:///{file}"


def test_a_bundle_has_the_rows_of_a_query_over_a_named_connection(
    sqlite_house: House, shop: str
) -> None:
    house = with_settings(sqlite_house, server_connections={"shop": shop, "other/erp": shop})
    asked = query("SELECT id FROM orders WHERE state = 'late'")
    made = house.post(PATH, json=asked)
    assert made.status_code == 201, made.text
    (item,) = house.get(made.headers["location"]).json()["items"]
    assert "1" in item["content"]
    assert shop not in json.dumps(item)
    for connection in ("erp", "other/erp", shop, "nowhere"):
        unknown = house.post(PATH, json=query("SELECT 1", connection))
        assert unknown.status_code == 422
        assert "(shop)" in unknown.json()["detail"]
    foreign = house.post(PATH, "other tenant's admin", json=query("SELECT 1"))
    assert (foreign.status_code, "(erp)" in foreign.json()["detail"]) == (422, True)


def test_a_query_of_the_servers_own_kind_of_database_is_answered(house: House, shop: str) -> None:
    url = house.place.url or shop
    with_settings(house, server_connections={"shop": url})
    made = house.post(PATH, json=query("SELECT 41 + 1 AS answer"))
    assert made.status_code == 201, made.text
    assert "42" in house.get(made.headers["location"]).json()["items"][0]["content"]
    refused = house.post(PATH, json=query("CREATE TABLE x (y INTEGER)"))
    assert refused.status_code == 422, refused.text


def test_without_any_connection_the_answer_says_so(sqlite_house: House) -> None:
    answer = sqlite_house.post(PATH, json=query("SELECT 1"))
    assert answer.status_code == 422
    assert "there is no connection 'shop'" in answer.json()["detail"]


@pytest.mark.parametrize(
    "text", ["shop", "[]", '{"shop": 1}', '{"a b": "sqlite://"}', '{"shop": "secret-word"}']
)
def test_a_setting_that_names_no_databases_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(SettingsError, match="SERVER_CONNECTIONS is no JSON object") as refused:
        Settings.from_environment({"EVIDENTIA_SERVER_CONNECTIONS": text})
    assert "secret-word" not in str(refused.value)


def test_a_connection_is_of_one_tenant() -> None:
    text = json.dumps({"a": "sqlite://", "acme/b": "sqlite://"})
    found = Settings.from_environment({"EVIDENTIA_SERVER_CONNECTIONS": text})
    assert set(connections_of(found, "default")) == {"a"}
    assert set(connections_of(found, "acme")) == {"b"}
    assert "sqlite" not in repr(found)


MODEL: Mapping[str, Any] = {"llm_url": "http://localhost:1/v1", "llm_model": "m"}


def test_the_llm_judge_is_the_one_of_the_settings(tmp_path: Path) -> None:
    assert judge_named(Settings(), "quote") == "quote"
    found = judge_named(Settings(**MODEL), "llm", {})
    assert isinstance(found, LanguageModel)
    assert (found.url, found.model) == ("http://localhost:1/v1", "m")
    file = tmp_path / "key"
    file.write_text("s3cret\n")
    found = judge_named(Settings(**MODEL, llm_key_file=file), "llm", {})
    assert isinstance(found, LanguageModel)
    assert found.key is not None
    assert "s3cret" not in repr(found)
    with pytest.raises(InputError, match="cannot be used as it is set up"):
        judge_named(Settings(**MODEL, llm_key_variable="NONE"), "llm", {})


def test_without_a_model_llm_is_refused_and_with_one_the_owner_must_allow_it(
    sqlite_house: House,
) -> None:
    body = {"answer": "It is so.", "contexts": ["It is so."], "judges": ["quote", "llm"]}
    refused = sqlite_house.post("/api/v1/sessions", json=body)
    assert refused.status_code == 422
    assert "this server has no language model" in refused.json()["detail"]
    with_settings(sqlite_house, **MODEL)
    unallowed = sqlite_house.post("/api/v1/sessions", json=body)
    assert unallowed.status_code == 403
    assert "the owner has not allowed" in unallowed.json()["detail"]


def test_an_answer_is_judged_by_the_model_that_the_operator_named(sqlite_house: House) -> None:
    said = "Unused leave may be carried over."

    def understands(asked: Asked) -> Said:
        return reply(asked, [verdict(name, "supported", said) for name in asked.claims])

    with serving() as model:
        model.respond = understands
        settings = {"llm_url": model.url, "llm_model": "test-1", "llm_attempts": 1}
        with_settings(sqlite_house, **settings)
        sqlite_house.workspace.judges.allow(model.url)
        body = {
            "answer": "Holiday that was not taken can move to the next year.",
            "contexts": [said],
            "judges": ["quote", "llm"],
        }
        made = sqlite_house.post("/api/v1/sessions", json=body)
        assert made.status_code == 201, made.text
        assert model.asked
    assert made.json()["ledger"]["entries"][0]["verdict"] == "supported"
