"""The guard: one table, deny by default, and an authorizer that is asked by `may` alone."""

import pytest

from evidentia.access.actions import PACK_ACTIONS, Action, Authorizer, NarrowedAuthorizer
from evidentia.access.guard import TABLE, Guard, Need, On
from evidentia.errors import AccessError, NotFoundError


class Allowing(Authorizer):
    """Allows what it is told, to ann, and notes what it is asked."""

    def __init__(self, *actions: Action) -> None:
        self.actions = actions
        self.asked: list[tuple[str, Action, str]] = []

    def may(self, user: str, action: Action, on: str) -> bool:
        self.asked.append((user, action, on))
        return user == "ann" and action in self.actions


def guard(user: str | None, authorizer: Authorizer, agent: str | None = None) -> Guard:
    ids = {"latest": "pack_1", "pack_1": "pack_1"}
    return Guard(user, "acme", lambda: authorizer, ids.get, agent)


def test_rows_of_packs_ask_for_actions_on_packs_and_the_others_do_not() -> None:
    for method, need in TABLE.items():
        assert (need.on is On.PACK) == (need.action in PACK_ACTIONS), method
    owners = {method for method, need in TABLE.items() if need.owner}
    assert owners == {"judges.allow", "packs.prove"}
    assert Need(Action.LIST) == (Action.LIST, On.TENANT, False, False, False)


def test_agents_are_let_in_to_read_and_to_record_and_to_nothing_that_decides() -> None:
    agents = {method: need for method, need in TABLE.items() if need.agent}
    assert {need.action for need in agents.values()} == {Action.LIST, Action.VIEW, Action.CREATE}
    assert not any(need.owner for need in agents.values())
    made = {method for method, need in agents.items() if need.action is Action.CREATE}
    assert made == {"ledgers.check", "packs.record_decision"}
    assert {method.partition(".")[0] for method in agents}.isdisjoint({"access", "jobs", "judges"})


def test_an_agent_passes_where_both_the_table_and_whose_name_it_acts_in_let_it() -> None:
    everything = Allowing(*Action)
    for user in (None, "ann"):
        agent = guard(user, everything, "helper")
        agent.admit("ledgers.check")
        agent.admit("packs.get", "latest")
        for method, need in TABLE.items():
            if not need.agent:
                with pytest.raises(
                    AccessError, match=rf"^{method} is not for agents, and helper is"
                ):
                    agent.admit(method, "latest")
    with pytest.raises(AccessError, match="ann may not make or record evidence"):
        guard("ann", Allowing(Action.LIST), "helper").admit("ledgers.check")
    with pytest.raises(NotFoundError):
        guard("bob", everything, "helper").admit("packs.get", "latest")


def test_what_has_no_row_is_for_no_one() -> None:
    for user in (None, "ann"):
        with pytest.raises(AccessError, match=r"^x\.y is for no one: the guard's table has no row"):
            guard(user, Allowing(*Action)).admit("x.y")


def test_the_owner_passes_and_nobody_is_asked() -> None:
    asked = Allowing()
    assert guard(None, asked).admit("packs.hold", "latest") == "latest"
    assert guard(None, asked).admit("trail.append") is None
    assert asked.asked == []


def test_in_the_tenant_one_question_decides() -> None:
    allowing = Allowing(Action.CREATE)
    assert guard("ann", allowing).admit("trail.append") is None
    assert allowing.asked == [("ann", Action.CREATE, "acme")]
    with pytest.raises(AccessError, match=r"^ann may not audit evidence in tenant 'acme': ask an"):
        guard("ann", allowing).admit("trail.audit")


def test_a_pack_is_admitted_to_by_its_id_whatever_it_was_called() -> None:
    allowing = Allowing(Action.VIEW, Action.HOLD)
    assert guard("ann", allowing).admit("packs.hold", "latest") == "pack_1"
    assert guard("ann", allowing).admit("packs.get", "latest") == "pack_1"
    assert {on for _, _, on in allowing.asked} == {"pack_1"}
    with pytest.raises(AccessError, match=r"^ann may not release pack pack_1$"):
        guard("ann", allowing).admit("packs.release", "latest")


@pytest.mark.parametrize(("user", "name"), [("ann", "pack_2"), ("bob", "latest")])
def test_an_unknown_and_a_forbidden_pack_are_answered_alike(user: str, name: str) -> None:
    for method in ("packs.get", "packs.review"):
        with pytest.raises(NotFoundError) as refused:
            guard(user, Allowing(Action.VIEW)).admit(method, name)
        assert str(refused.value) == f"there is no pack '{name}' that {user} may see"


def test_what_is_the_owners_is_refused_to_every_user() -> None:
    with pytest.raises(AccessError, match="is for the owner of the workspace"):
        guard("ann", Allowing(*Action)).admit("packs.prove", "latest")
    with pytest.raises(AccessError, match="asks them to allow it"):
        guard("ann", Allowing(*Action)).admit("judges.allow")


def test_a_narrowed_authorizer_says_no_to_all_but_some_actions_and_yes_to_nothing_more() -> None:
    narrowed = NarrowedAuthorizer(Allowing(Action.LIST, Action.VIEW), frozenset({Action.VIEW}))
    assert narrowed.may("ann", Action.VIEW, "pack_1")
    assert not narrowed.may("ann", Action.LIST, "acme")
    wide = NarrowedAuthorizer(Allowing(Action.VIEW), frozenset(Action))
    assert not wide.may("ann", Action.LIST, "acme")
    assert not wide.may("bob", Action.VIEW, "pack_1")
