"""The API keeps to its own description, whatever is asked of it. `scripts/fuzz api` asks more."""

import pytest

import tiers
from places import Place
from server.house import Furniture, House, listening, serving

pytest.importorskip("schemathesis", reason="schemathesis is not installed: the API is NOT explored")

from server.exploring import LIMITS, explore, follow


def test_no_answer_is_an_error_of_the_server_or_another_than_the_description_says(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> None:
    place, each = Place(tmp_path_factory.mktemp("house") / "home"), tiers.count(4, short=2)
    with serving(place, sqlite_furniture, **LIMITS) as house, listening(house.app) as url:
        found = explore(house, url, each=each)
        still_in = house.get("/api/v1/me", "admin").status_code
    assert found.wrong == {}
    assert found.cases >= (each - 1) * len(found.statuses)
    assert len(found.never_done) < len(found.statuses) / 4
    assert still_in == 200  # else most of it was asked in no one's name


def test_nor_is_any_that_follows_from_another(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> None:
    place, paths = Place(tmp_path_factory.mktemp("house") / "home"), tiers.count(8, short=4)
    with serving(place, sqlite_furniture, **LIMITS) as house, listening(house.app) as url:
        found = follow(house, url, paths=paths, start=1)
    assert found.wrong == {}
    assert found.cases > paths


def test_a_secret_with_other_letters_opens_nothing(sqlite_house: House) -> None:
    assert sqlite_house.get("/sign-in?token=ü", "nobody").status_code == 401
    asked = "/sign-in/oidc/callback?code=x&state=ü"
    assert sqlite_house.get(asked, "nobody").status_code in {401, 404}
