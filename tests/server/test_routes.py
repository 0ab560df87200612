"""Every route: it names its action, says what it answers, and lets in exactly who may."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute, iter_route_contexts

from evidentia.access.actions import MAY, Role
from evidentia.access.guard import TABLE, On
from evidentia.server import api, observing, pages, signing_in
from evidentia.server.actions import GuardedRoute, action_of
from evidentia.server.app import PREFIX
from server.house import NOT_SIGNED_IN, ROLES, House
from server.ids import BODIES, BY_LINK, EXISTING, GOOD, MISSING

GUARDED = [
    route
    for router in (*api.ROUTERS, observing.me)
    for route in router.routes
    if isinstance(route, GuardedRoute)
]
NAMES = [route.name for route in GUARDED]
DONE = {200, 201, 202, 204}
FOREIGN = "other tenant's admin"


def asked(house: House, route: GuardedRoute, who: str, ids: dict[str, str]) -> Any:
    """Send a route's request in someone's name."""
    path = f"{PREFIX}{route.path_format.format(**ids)}"
    body = BODIES[route.name](house) if route.name in BODIES else {}
    method = min(route.methods or ())
    return house.ask(who, method, path, **body)


def told(answer: Any, ids: dict[str, str] | None = None) -> tuple[int, Any]:
    """Return what an answer says, without what is another for each request."""
    said = answer.json() | {"request_id": "", "instance": ""}
    for given in (ids or {}).values():
        said["detail"] = said["detail"].replace(given, "ID")
    return answer.status_code, said


def ids_of(house: House, route: GuardedRoute) -> Iterator[dict[str, str]]:
    """Give the ids of something that is there, and of something that is not."""
    names = route.param_convertors
    yield {name: EXISTING[name](house) for name in names}
    if names:
        yield {name: MISSING[name] for name in names}


def test_every_route_of_the_application_names_its_action(sqlite_house: House) -> None:
    seen = set()
    for context in iter_route_contexts(sqlite_house.app.routes):
        endpoint = context.endpoint
        if context.path == f"{PREFIX}/openapi.json":  # FastAPI's own: the description
            continue
        action = action_of(endpoint)
        assert action is not None, context.path
        assert isinstance(context.original_route, GuardedRoute), context.path
        assert action.row in TABLE or action.open_because, context.path
        assert action.row or action.open_because
        seen.add(context.name)
    assert set(NAMES) < seen


def test_a_route_without_an_action_cannot_be_made() -> None:
    router = APIRouter(route_class=GuardedRoute)

    def forgotten() -> None: ...

    with pytest.raises(TypeError, match="forgotten names no action"):
        router.get("/x")(forgotten)


def test_only_routes_for_those_who_are_not_signed_in_are_open() -> None:
    open_ones = {
        route.name
        for router in (
            observing.router,
            signing_in.router,
            *pages.ROUTERS,
            *api.ROUTERS,
            observing.me,
        )
        for route in router.routes
        if isinstance(route, GuardedRoute) and route.action.row is None
    }
    watching = {"health", "ready", "metrics", "problem"}
    signing = {"sign_in_by_link", "sign_in_with_token", "go_to_provider", "come_back"}
    around_pages = {"static_file", "favicon", "set_preferences"}
    verifying = {"saved_verify_page"}
    assert open_ones == watching | signing | around_pages | verifying


def test_names_of_routes_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


def role_of(route: GuardedRoute, who: str) -> Role | None:
    """Return the role that counts: in their own tenant, someone else's admin is one."""
    if who == FOREIGN and not route.param_convertors:
        return Role.ADMIN
    return ROLES[who]


def may(route: GuardedRoute, role: Role | None) -> bool:
    """Whether a role may do what a route does."""
    need = TABLE.get(route.action.row or "")
    if need is None or route.name in BY_LINK:
        return True
    return role is not None and need.action in MAY[role] and not need.owner


def test_no_one_is_let_in_who_is_not_signed_in(read_house: House) -> None:
    """Neither to what is there nor to what is not: both look the same."""
    for route in GUARDED:
        if route.name in BY_LINK:
            continue
        kinds = list(ids_of(read_house, route))
        for who in NOT_SIGNED_IN:
            found = [told(asked(read_house, route, who, ids)) for ids in kinds]
            assert [status for status, _ in found] == [401] * len(found), (route.name, who)
            assert found[0] == found[-1], (route.name, who)


def lets_in_exactly_who_may(house: House, route: GuardedRoute, who: str) -> None:
    """Check what someone is answered, of what is there and of what is not."""
    there, *missing = ids_of(house, route)
    role = role_of(route, who)
    found = asked(house, route, who, there)
    if may(route, role):
        assert found.status_code in GOOD.get(route.name, DONE), (route.name, found.text)
    else:
        refused = 404 if role is None else 403
        assert found.status_code == refused, (route.name, found.text)
    for ids in missing:
        gone = asked(house, route, who, ids)
        if may(route, role) or TABLE[str(route.action.row)].on is On.PACK:
            assert gone.status_code == 404, (route.name, gone.text)
        else:  # what one may not see, or may not do, is told alike of what is not there
            assert told(gone, ids) == told(found, there), route.name


def changes(route: GuardedRoute, who: str) -> bool:
    """Whether a route does more for someone than show what there is."""
    return route.methods != {"GET"} and may(route, role_of(route, who))


@pytest.mark.parametrize("who", ROLES)
def test_a_route_lets_in_exactly_who_may(read_house: House, who: str) -> None:
    """Every role, none and ended ones; own and other tenant; what is there and what is not."""
    for route in GUARDED:
        if not changes(route, who):
            lets_in_exactly_who_may(read_house, route, who)


@pytest.mark.parametrize(
    ("route", "who"),
    [
        pytest.param(route, who, id=f"{route.name}-{who}")
        for route in GUARDED
        for who in ROLES
        if changes(route, who)
    ],
)
def test_a_route_that_changes_something_does_so_for_who_may(
    sqlite_house: House, route: GuardedRoute, who: str
) -> None:
    lets_in_exactly_who_may(sqlite_house, route, who)


def test_the_matrix_knows_every_parameter_and_every_body() -> None:
    for route in GUARDED:
        for name in route.param_convertors:
            assert name in EXISTING, f"{route.name}: tests/server/ids.py has no id for {name}"
            assert name in MISSING, f"{route.name}: tests/server/ids.py has no missing {name}"
        if route.body_field is not None:
            assert route.name in BODIES, f"{route.name}: tests/server/ids.py has no body for it"


# The description


def operations(house: House) -> Iterator[tuple[str, dict[str, Any]]]:
    description = house.client.get(f"{PREFIX}/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def has_example(description: dict[str, Any], media: dict[str, Any]) -> bool:
    """Whether a type of body has an example, of its own or of its schema."""
    if "example" in media or media.get("examples"):
        return True
    schema = media.get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = description["components"]["schemas"].get(name, schema)
    return bool(schema.get("examples"))


def test_the_description_is_openapi_3_1_with_an_example_for_every_operation(
    sqlite_house: House,
) -> None:
    description = sqlite_house.client.get(f"{PREFIX}/openapi.json").json()
    assert description["openapi"].startswith("3.1")
    for name, operation in operations(sqlite_house):
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["x-action"], name
        bodies = [operation.get("requestBody", {})]
        bodies += [one for code, one in operation["responses"].items() if code.startswith("2")]
        for body in bodies:
            for kind, media in body.get("content", {}).items():
                assert has_example(description, media), f"{name}: no example as {kind}"


def references(part: Any) -> Iterator[str]:
    """Give all that a description refers to."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_whatever_the_description_refers_to_is_in_it(sqlite_house: House) -> None:
    description = sqlite_house.client.get(f"{PREFIX}/openapi.json").json()
    known = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert set(references(description)) <= known


def test_every_guarded_operation_says_which_problems_it_may_answer_with(
    sqlite_house: House,
) -> None:
    guarded = {name: one for name, one in operations(sqlite_house) if one["x-action"] in TABLE}
    assert guarded
    for name, operation in guarded.items():
        assert {"401", "403", "404", "422", "429", "500", "503"} <= set(operation["responses"]), (
            name
        )
        if not name.startswith("get"):
            assert {"409", "413", "415"} <= set(operation["responses"]), name
            headers = [one["name"] for one in operation["parameters"] if one["in"] == "header"]
            assert "Idempotency-Key" in headers, name


def test_every_route_is_of_the_kind_that_asks_the_guard() -> None:
    for router in api.ROUTERS:
        assert all(
            isinstance(one, GuardedRoute) for one in router.routes if isinstance(one, APIRoute)
        )
