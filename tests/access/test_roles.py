from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.access.actions import MAY, PACK_ACTIONS, Action, Authorizer, Role
from evidentia.access.roles import (
    AgentOwner,
    Grant,
    PackFacts,
    Request,
    RoleTable,
    decide,
    utc_time,
)
from evidentia.errors import InputError

BEFORE = "2026-01-01T00:00:00.000000Z"
NOW = "2026-06-01T00:00:00.000000Z"
AFTER = "2026-12-01T00:00:00.000000Z"

EXPECTED = """
                viewer  approver  admin  auditor
view            yes     yes       yes    yes
revise          no      yes       yes    no
review          no      yes       yes    no
export          no      yes       yes    no
approve_export  no      yes       yes    no
hold            no      no        yes    no
release         no      no        yes    no
list            yes     yes       yes    yes
create          no      yes       yes    no
audit           no      no        yes    yes
sweep           no      no        yes    no
grant           no      no        yes    no
keys            no      no        yes    no
"""


def expected() -> dict[tuple[Role, Action], bool]:
    head, *lines = EXPECTED.strip().splitlines()
    return {
        (Role(role), Action(line.split()[0])): said == "yes"
        for line in lines
        for role, said in zip(head.split(), line.split()[1:], strict=True)
    }


def grant(
    role: Role = Role.ADMIN,
    user: str = "anne",
    tenant_id: str = "acme",
    granted_at: str = BEFORE,
    expires_at: str | datetime | None = AFTER,
) -> Grant:
    return Grant(
        user=user,
        tenant_id=tenant_id,
        role=role,
        granted_by="root",
        granted_at=granted_at,
        expires_at=expires_at,
    )


def pack(agent_name: str = "matcher", *, conflicted: bool = False) -> PackFacts:
    return PackFacts(
        pack_id="pack_1", tenant_id="acme", agent_name=agent_name, conflicted=conflicted
    )


OWN = AgentOwner(user="anne", tenant_id="acme", agent_name="matcher")
OTHERS = AgentOwner(user="omar", tenant_id="acme", agent_name="matcher")
ELSEWHERE = AgentOwner(user="anne", tenant_id="globex", agent_name="matcher")


def table(
    grants: Iterable[Grant], owners: Iterable[AgentOwner] = (), packs: Iterable[PackFacts] = ()
) -> RoleTable:
    facts = {one.pack_id: one for one in packs}
    return RoleTable(grants=grants, owners=owners, facts=facts.get, now=NOW)


def situations(role: Role) -> Mapping[str, tuple[RoleTable, str]]:
    """Return each situation's table, and what a user of the role may do in it."""
    held = (grant(role),)
    conflicted = (pack(conflicted=True),)
    later = grant(role, granted_at=AFTER, expires_at="2027-01-01T00:00:00Z")
    return {
        "own tenant": (table(held, (), (pack(),)), "all"),
        "own agent": (table(held, (OWN,), (pack(),)), "all"),
        "own agent, conflicted": (table(held, (OWN,), conflicted), "all but review"),
        "own agent of several owners, conflicted": (
            table(held, (OTHERS, OWN), conflicted),
            "all but review",
        ),
        "another's agent, conflicted": (table(held, (OTHERS,), conflicted), "all"),
        "own agent of another name, conflicted": (
            table(held, (OWN,), (pack("other", conflicted=True),)),
            "all",
        ),
        "own agent in another tenant, conflicted": (table(held, (ELSEWHERE,), conflicted), "all"),
        "no agent's owner known, conflicted": (table(held, (), conflicted), "all"),
        "other tenant": (table((grant(role, tenant_id="globex"),), (), (pack(),)), "nothing"),
        "other user": (table((grant(role, user="omar"),), (), (pack(),)), "nothing"),
        "other user by case": (table((grant(role, user="Anne"),), (), (pack(),)), "nothing"),
        "expired": (table((grant(role, expires_at=NOW),), (), (pack(),)), "nothing"),
        "not granted yet": (table((later,), (), (pack(),)), "nothing"),
        "just granted": (table((grant(role, granted_at=NOW),), (), (pack(),)), "all"),
        "unknown pack": (table(held), "all in the tenant"),
        "no grants": (table((), (), (pack(),)), "nothing"),
    }


def test_the_expected_table_names_every_role_and_action() -> None:
    assert set(expected()) == set(product(Role, Action))
    assert {(role, action): action in MAY[role] for role, action in expected()} == expected()


@pytest.mark.parametrize("situation", situations(Role.VIEWER))
@pytest.mark.parametrize("role", Role)
def test_who_may_do_what_in_which_situation(role: Role, situation: str) -> None:
    roles, scope = situations(role)[situation]
    covered: frozenset[Action] = {
        "all": frozenset(Action),
        "all but review": frozenset(Action) - {Action.REVIEW},
        "all in the tenant": frozenset(Action) - PACK_ACTIONS,
        "nothing": frozenset(),
    }[scope]
    assert {action: roles.may("anne", action, on_what(action)) for action in Action} == {
        action: action in covered and expected()[role, action] for action in Action
    }


def on_what(action: Action) -> str:
    return "pack_1" if action in PACK_ACTIONS else "acme"


def test_a_conflict_holds_also_where_the_action_is_plain_text() -> None:
    roles = table((grant(),), (OWN,), (pack(conflicted=True),))
    assert not roles.may("anne", "review", "pack_1")  # type: ignore[arg-type]
    assert roles.may("anne", "revise", "pack_1")  # type: ignore[arg-type]


class OneThing(Authorizer):
    """Lets one user do one thing with one pack or in one tenant."""

    def may(self, user: str, action: Action, on: str) -> bool:
        return (user, action, on) == ("anne", Action.VIEW, "here")


def test_seeing_a_pack_is_asked_for_by_the_name_that_the_seed_gives_it() -> None:
    assert OneThing().can_view_evidence_pack("anne", "here")
    assert not OneThing().can_view_evidence_pack("omar", "here")
    assert not OneThing().can_view_evidence_pack("anne", "there")


@pytest.mark.parametrize("user", ["", " ", "\0", "\ud800", "*", "x" * 5_000, "anne\n"])
def test_whatever_is_unknown_is_refused_and_raises_nothing(user: str) -> None:
    roles = table((grant(),), (OWN,), (pack(conflicted=True),))
    unknown = ("pack_2", "globex", "", "\ud800", "x" * 5_000)
    for action in Action:
        for on in ("pack_1", "acme", *unknown):
            assert roles.may(user, action, on) is False
        for on in unknown:
            assert roles.may("anne", action, on) is False


def test_a_tenants_name_is_no_packs_and_a_packs_no_tenants() -> None:
    roles = table((grant(),), (), (pack(),))
    for action in Action:
        on = "acme" if action in PACK_ACTIONS else "pack_1"
        assert roles.may("anne", action, on) is False


def test_the_facts_of_another_pack_do_not_count() -> None:
    roles = RoleTable(grants=(grant(),), owners=(), facts=lambda _: pack(), now=NOW)
    assert roles.can_view_evidence_pack("anne", "pack_1")
    assert not roles.can_view_evidence_pack("anne", "pack_2")


def test_a_user_of_several_roles_may_do_what_any_of_them_may() -> None:
    both = (grant(Role.AUDITOR), grant(Role.APPROVER))
    roles = table(both, (), (pack(),))
    for action in Action:
        either = expected()[Role.AUDITOR, action] or expected()[Role.APPROVER, action]
        assert roles.may("anne", action, on_what(action)) is either


@pytest.mark.parametrize(
    ("user", "action", "on", "reason"),
    [
        ("anne", Action.VIEW, "pack_2", "there is no pack 'pack_2'"),
        ("mona", Action.VIEW, "pack_1", "'mona' has no grant in tenant 'acme'"),
        (
            "late",
            Action.LIST,
            "acme",
            "'late' has no grant that is in force at 2026-06-01T00:00:00.000000Z in tenant 'acme'",
        ),
        (
            "eve",
            Action.HOLD,
            "pack_1",
            "'eve' is auditor and viewer in tenant 'acme': hold takes admin",
        ),
        (
            "eve",
            Action.REVISE,
            "pack_1",
            "'eve' is auditor and viewer in tenant 'acme': revise takes admin or approver",
        ),
        (
            "anne",
            Action.REVIEW,
            "pack_1",
            "'anne' owns agent 'matcher', whose decision is conflicted",
        ),
        ("anne", Action.HOLD, "pack_1", "'anne' is admin in tenant 'acme'"),
        ("eve", Action.AUDIT, "acme", "'eve' is auditor in tenant 'acme'"),
    ],
)
def test_a_decision_says_why(user: str, action: Action, on: str, reason: str) -> None:
    grants = (
        grant(),
        grant(Role.VIEWER, "eve"),
        grant(Role.AUDITOR, "eve"),
        grant(user="late", expires_at=NOW),
    )
    roles = table(grants, (OWN,), (pack(conflicted=True),))
    decision = roles.decide(user, action, on)
    assert decision.reason == reason
    assert decision.allowed is roles.may(user, action, on)


def test_the_clock_is_asked_for_every_request() -> None:
    times = iter([NOW, AFTER])
    roles = RoleTable(
        grants=(grant(),), owners=(), facts={"pack_1": pack()}.get, now=lambda: next(times)
    )
    assert roles.can_view_evidence_pack("anne", "pack_1")
    assert not roles.can_view_evidence_pack("anne", "pack_1")


def test_times_are_compared_as_times_whatever_their_zone() -> None:
    lasting = grant(expires_at="2026-06-01T12:00:00+03:00")
    assert lasting.expires_at == "2026-06-01T09:00:00.000000Z"
    asked = Request("anne", Action.LIST, "acme")
    for now, allowed in (
        ("2026-06-01T08:59:59.999999Z", True),
        ("2026-06-01T11:59:59+03:00", True),
        ("2026-06-01T09:00:00Z", False),
        ("2026-06-01T10:00:00+01:00", False),
    ):
        decision = decide(asked, grants=(lasting,), owners=(), pack=None, now=now)
        assert decision.allowed is allowed


@pytest.mark.parametrize("now", ["yesterday", "2026-06-01T00:00:00", ""])
def test_a_time_that_is_none_is_refused(now: str) -> None:
    with pytest.raises(InputError, match=r"^the time of a request for access: "):
        utc_time(now)
    with pytest.raises(InputError):
        RoleTable(grants=(), owners=(), facts=lambda _: None, now=now).may("a", Action.LIST, "b")


def test_a_datetime_is_a_time_too_if_it_has_its_zone() -> None:
    end = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
    lasting = grant(expires_at=end)
    assert lasting.expires_at == "2026-06-01T09:00:00.000000Z"
    assert not lasting.in_force(end)
    assert lasting.in_force(end - timedelta(microseconds=1))
    riyadh = timezone(timedelta(hours=3))
    assert utc_time(end.astimezone(riyadh)) == utc_time(lambda: end) == lasting.expires_at
    naive = end.replace(tzinfo=None)
    with pytest.raises(ValidationError, match="does not say its time zone: give it one"):
        grant(expires_at=naive)
    with pytest.raises(InputError, match="does not say its time zone: give it one"):
        lasting.in_force(naive)


def test_an_auditors_grant_must_expire_and_others_may() -> None:
    with pytest.raises(ValidationError, match="an auditor's grant must expire: give expires_at"):
        grant(Role.AUDITOR, expires_at=None)
    for role in set(Role) - {Role.AUDITOR}:
        lasting = grant(role, expires_at=None)
        assert lasting.in_force("9999-12-31T23:59:59.999999Z")


@pytest.mark.parametrize("expires_at", [BEFORE, "2025-12-31T00:00:00Z"])
def test_a_grant_ends_after_it_begins(expires_at: str) -> None:
    with pytest.raises(ValidationError, match="is not after granted_at"):
        grant(expires_at=expires_at)


USERS = ("anne", "omar", "eve")
TENANTS = ("acme", "globex")
AGENTS = ("matcher", "pricer")
PACKS = ("pack_1", "pack_2", "pack_3")
DAYS = tuple(f"2026-06-{day:02d}T00:00:00.000000Z" for day in range(1, 7))


@st.composite
def a_grant(draw: st.DrawFn) -> Grant:
    role = draw(st.sampled_from(Role))
    begins = draw(st.integers(0, len(DAYS) - 2))
    ends = draw(st.integers(begins + 1, len(DAYS) - 1))
    lasting = role is not Role.AUDITOR and draw(st.booleans())
    return grant(
        role,
        draw(st.sampled_from(USERS)),
        draw(st.sampled_from(TENANTS)),
        DAYS[begins],
        None if lasting else DAYS[ends],
    )


GRANTS = st.lists(a_grant(), max_size=8)
OWNERS = st.lists(
    st.builds(
        AgentOwner,
        user=st.sampled_from(USERS),
        tenant_id=st.sampled_from(TENANTS),
        agent_name=st.sampled_from(AGENTS),
    ),
    max_size=6,
)
FACTS = st.lists(
    st.builds(
        PackFacts,
        pack_id=st.sampled_from(PACKS),
        tenant_id=st.sampled_from(TENANTS),
        agent_name=st.sampled_from(AGENTS),
        conflicted=st.booleans(),
    ),
    max_size=3,
).map(lambda packs: {one.pack_id: one for one in packs})
TIMES = st.sampled_from(DAYS)

Allowed = frozenset[tuple[str, Action, str]]


def allowed(
    grants: Iterable[Grant], owners: Iterable[AgentOwner], facts: dict[str, PackFacts], now: str
) -> Allowed:
    """Return everything that anyone may do."""
    roles = RoleTable(grants=grants, owners=owners, facts=facts.get, now=now)
    return frozenset(
        (user, action, on)
        for user, action in product(USERS, Action)
        for on in (PACKS if action in PACK_ACTIONS else TENANTS)
        if roles.may(user, action, on)
    )


@given(GRANTS, OWNERS, FACTS, TIMES)
def test_nothing_is_allowed_in_a_tenant_without_a_grant_in_it(
    grants: list[Grant], owners: list[AgentOwner], facts: dict[str, PackFacts], now: str
) -> None:
    member = {(one.user, one.tenant_id) for one in grants}
    for user, action, on in allowed(grants, owners, facts, now):
        tenant_id = facts[on].tenant_id if action in PACK_ACTIONS else on
        assert (user, tenant_id) in member


@given(GRANTS, OWNERS, FACTS, TIMES, st.data())
def test_taking_a_grant_away_never_allows_more(
    grants: list[Grant],
    owners: list[AgentOwner],
    facts: dict[str, PackFacts],
    now: str,
    data: st.DataObject,
) -> None:
    fewer = [one for one in grants if data.draw(st.booleans())]
    assert allowed(fewer, owners, facts, now) <= allowed(grants, owners, facts, now)


@given(GRANTS, OWNERS, FACTS, TIMES)
def test_a_grant_that_is_not_in_force_is_as_none(
    grants: list[Grant], owners: list[AgentOwner], facts: dict[str, PackFacts], now: str
) -> None:
    counting = [
        one
        for one in grants
        if one.granted_at <= now and (one.expires_at is None or one.expires_at > now)
    ]
    assert allowed(grants, owners, facts, now) == allowed(counting, owners, facts, now)


@given(GRANTS, OWNERS, FACTS, TIMES)
def test_no_one_reviews_a_conflicted_decision_of_their_own_agent(
    grants: list[Grant], owners: list[AgentOwner], facts: dict[str, PackFacts], now: str
) -> None:
    owned = {(one.user, one.tenant_id, one.agent_name) for one in owners}
    free = allowed(grants, (), facts, now)
    forbidden = {
        (user, action, on)
        for user, action, on in free
        if action is Action.REVIEW
        and facts[on].conflicted
        and (user, facts[on].tenant_id, facts[on].agent_name) in owned
    }
    assert allowed(grants, owners, facts, now) == free - forbidden
