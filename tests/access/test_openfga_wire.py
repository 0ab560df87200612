"""OpenFGA's messages as values; what they mean to the engine is tested with the client."""

from typing import Any

import pytest

from evidentia.access import openfga_wire as wire
from evidentia.access.actions import Action, BothAuthorizer, NarrowedAuthorizer
from evidentia.access.openfga import OpenFgaAuthorizer, Relationship, is_of_tenant, pack_object

NOON = "2026-03-01T12:00:00.000000Z"
ROW = {"user": "user:anne", "relation": "viewer", "object": "tenant:acme"}


def read(**key: Any) -> Relationship:
    ((found,), _) = wire.read_tuples({"tuples": [{"key": {**ROW, **key}}]})
    return found


def test_tuples_are_read_with_their_conditions() -> None:
    assert read() == Relationship("user:anne", "viewer", "tenant:acme")
    ends = {"name": "unexpired", "context": {"expires_at": NOON}}
    assert read(condition=ends) == Relationship("user:anne", "viewer", "tenant:acme", NOON)
    assert read(condition=ends).as_json()["condition"] == ends


@pytest.mark.parametrize(
    "condition",
    [
        {"name": "another", "context": {"expires_at": NOON}},
        {"name": "unexpired"},
        {"name": "unexpired", "context": {"expires_at": 5}},
        {"name": "unexpired", "context": {"expires_at": NOON, "current_time": NOON}},
        {"name": "unexpired", "context": {"expires_at": NOON}, "more": 1},
    ],
)
def test_a_condition_that_is_not_ours_is_told_from_ours(condition: dict[str, Any]) -> None:
    found = read(condition=condition)
    assert found != Relationship(*found.key)
    assert found != Relationship(*found.key, NOON)
    assert str(found).startswith("tenant:acme#viewer@user:anne with {")


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"tuples": {}},
        {"tuples": [1]},
        {"tuples": [{}]},
        {"tuples": [{"key": {**ROW, "user": ""}}]},
        {"tuples": [{"key": {**ROW, "object": 5}}]},
        {"tuples": [], "continuation_token": 5},
    ],
)
def test_what_is_no_page_of_tuples_is_refused(answer: Any) -> None:
    with pytest.raises(ValueError, match="it"):
        wire.read_tuples(answer)


@pytest.mark.parametrize("read_page", [wire.read_stores, wire.read_models])
def test_what_is_no_page_is_refused(read_page: Any) -> None:
    for answer in ({}, {"stores": 1, "authorization_models": 1}, None):
        with pytest.raises(ValueError, match="it"):
            read_page(answer)


def test_pages_of_stores_and_models_are_read() -> None:
    stores = {"stores": [{"id": "1", "name": "a"}], "continuation_token": "2"}
    assert wire.read_stores(stores) == ([("1", "a")], "2")
    model = {"id": "1", "type_definitions": [{"type": "user", "relations": {}, "metadata": None}]}
    found = wire.read_models({"authorization_models": [model]})
    assert found == ([("1", {"type_definitions": [{"type": "user"}]})], "")


def test_a_refusal_is_told_on_one_line() -> None:
    assert wire.told_refusal({"code": "a", "message": "b\n c"}) == "a: b c"
    assert wire.told_refusal({"code": 5}) == ""
    assert wire.told_refusal(None) == ""


def test_a_page_is_asked_for_by_what_the_one_before_gave() -> None:
    assert "continuation_token" not in wire.read_body({}, "")
    body = wire.read_body({"user": "user:anne"}, "next")
    assert (body["continuation_token"], body["tuple_key"]) == ("next", {"user": "user:anne"})


def test_a_tuple_is_of_a_tenant_whichever_side_names_it() -> None:
    packs = frozenset({pack_object("pack_1")})
    for user, relation, on in (
        ("user:eve", "admin", "tenant:acme"),
        ("tenant:acme#admin", "tenant", "evidence_pack:pack_9"),
        ("tenant:acme", "tenant", "evidence_pack:pack_9"),
        ("tenant:globex", "tenant", "evidence_pack:pack_1"),
        ("user:eve", "owner", "agent:acme/a"),
        ("agent:acme/a", "conflicted_agent", "evidence_pack:pack_9"),
    ):
        one = Relationship(user, relation, on)
        assert is_of_tenant(one, "acme", packs)
        assert not is_of_tenant(one, "ac", frozenset())
        assert one.is_ours
    assert not is_of_tenant(Relationship("user:eve", "admin", "tenant:acme2"), "acme", packs)
    assert not Relationship("user:eve", "blocked", "tenant:acme").is_ours
    assert not Relationship("user:eve", "viewer", "folder:acme").is_ours


# What decides with others


class Told:
    """Answers by a table, and notes how it is asked."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed
        self.asked: list[str] = []

    def __call__(self, user: str, relation: str, object: str, *, current_time: str) -> bool:  # noqa: A002 - OpenFGA's word
        assert (user, relation, current_time) == ("user:anne", "can_view", NOON)
        self.asked.append(object)
        return object in self.allowed


def openfga(*packs: str) -> tuple[OpenFgaAuthorizer, Told]:
    told = Told(*map(pack_object, packs))
    return OpenFgaAuthorizer(told, now=NOON), told


def test_both_have_to_say_yes_and_the_second_is_asked_about_what_is_left() -> None:
    first, _ = openfga("a", "b")
    second, asked = openfga("b", "c")
    both = BothAuthorizer(first, second)
    assert [both.may("anne", Action.VIEW, one) for one in "abcd"] == [False, True, False, False]
    assert asked.asked == ["evidence_pack:a", "evidence_pack:b"]
    asked.asked.clear()
    assert both.may_each("anne", Action.VIEW, [*"dcba"]) == [False, False, True, False]
    assert asked.asked == ["evidence_pack:b", "evidence_pack:a"]
    asked.asked.clear()
    assert both.may_each("anne", Action.VIEW, [*"dc"]) == [False, False]
    assert asked.asked == []


def test_what_is_narrowed_to_other_actions_asks_no_one() -> None:
    asking, asked = openfga("a")
    narrowed = NarrowedAuthorizer(asking, frozenset({Action.VIEW}))
    assert narrowed.may_each("anne", Action.VIEW, ["a", "b"]) == [True, False]
    asked.asked.clear()
    assert narrowed.may_each("anne", Action.EXPORT, ["a", "b"]) == [False, False]
    assert asked.asked == []


@pytest.mark.parametrize("answer", ["true", 1, None, [True]])
def test_what_is_no_boolean_is_a_no(answer: Any) -> None:
    asking = OpenFgaAuthorizer(lambda *_, **__: answer, now=NOON)
    assert asking.may("anne", Action.VIEW, "a") is False
