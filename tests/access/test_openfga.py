import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.access import openfga
from evidentia.access.actions import PACK_ACTIONS, Action, Role
from evidentia.access.openfga import (
    OpenFgaAuthorizer,
    Relationship,
    pack_object,
    relation,
    relationships,
    tenant_object,
    user_id,
)
from evidentia.access.roles import (
    AgentOwner,
    Grant,
    PackFacts,
    RoleTable,
)

MODEL = Path(str(openfga.__file__)).with_name("model.fga")
DAYS = tuple(f"2026-06-{day:02d}T00:00:00.000000Z" for day in range(1, 10))
TODAY = DAYS[4]
ODD_NAMES = (
    "*",
    "a b",
    "a%20b",
    "user:anne",
    "tenant:acme#admin",
    "منى",
    "mona@example.com",
    "~",
    "x" * 101,
    "x" * 102,
    "a/b",
    "line\nbreak",
    '"quoted"',
)


@dataclass(frozen=True)
class World:
    """Tenants, users and packs at random; grants and owners between them."""

    users: tuple[str, ...]
    tenants: tuple[str, ...]
    agents: tuple[str, ...]
    packs: tuple[PackFacts, ...]
    grants: tuple[Grant, ...]
    owners: tuple[AgentOwner, ...]

    def roles(self, now: str) -> RoleTable:
        """Return the role table at a time, as today's grants make it."""
        known = [one for one in self.grants if now == TODAY or one.granted_at <= TODAY]
        facts = {one.pack_id: one for one in self.packs}
        return RoleTable(grants=known, owners=self.owners, facts=facts.get, now=now)

    def tuples(self) -> list[dict[str, Any]]:
        found = relationships(self.grants, self.owners, self.packs, TODAY)
        return [one.as_json() for one in found]


@cache
def a_world(seed: int, size: int) -> World:
    random = Random(seed)
    users = (*ODD_NAMES, *(f"user{index}" for index in range(size)))
    tenants = ("acme", "acme/matcher", "ACME", *(f"tenant{index}" for index in range(size // 2)))
    agents = ("matcher", "pricer", "matcher/pricer")
    packs = tuple(
        PackFacts(
            pack_id=f"pack_{index:016x}",
            tenant_id=random.choice(tenants),
            agent_name=random.choice(agents),
            conflicted=random.random() < 0.7,
        )
        for index in range(6 * size)
    )
    owners = tuple(
        AgentOwner(user=user, tenant_id=tenant_id, agent_name=random.choice(agents))
        for user in users
        for tenant_id in random.sample(tenants, 2)
    )
    grants = tuple(a_grant(random, user, tenants) for user in users for _ in range(4))
    # Most conflicts are of people who could review but for them.
    grants += tuple(
        a_grant(random, owner.user, (owner.tenant_id,), Role.APPROVER, Role.ADMIN)
        for owner in owners
    )
    return World(users, tenants, agents, packs, grants, owners)


def a_grant(random: Random, user: str, tenants: tuple[str, ...], *roles: Role) -> Grant:
    role = random.choice(roles or tuple(Role))
    begins = random.randrange(len(DAYS) - 2)
    lasting = role is not Role.AUDITOR and random.random() < 0.3
    return Grant(
        user=user,
        tenant_id=random.choice(tenants),
        role=role,
        granted_by="root",
        granted_at=DAYS[begins],
        expires_at=None if lasting else random.choice(DAYS[begins + 1 :]),
    )


class Questions:
    """Takes the place of the engine to write down what it is to be asked, and the answer due."""

    def __init__(self) -> None:
        self.answer = False
        self.checks: dict[tuple[str, str, str], dict[str, bool]] = {}

    def __call__(self, user: str, relation: str, object: str, *, current_time: str) -> bool:  # noqa: A002 - OpenFGA's word
        self.checks.setdefault((user, object, current_time), {})[relation] = self.answer
        return self.answer

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {
                "user": user,
                "object": named,
                "context": {"current_time": current_time},
                "assertions": assertions,
            }
            for (user, named, current_time), assertions in self.checks.items()
        ]


def questions(world: World, seed: int, requests: int) -> tuple[Questions, Counter[str]]:
    """Ask everything of random users about random packs and tenants; count the answers."""
    asked, counts, random = Questions(), Counter[str](), Random(seed)
    at = {now: world.roles(now) for now in DAYS[4:]}
    for user, on, now, actions in requests_at_random(world, random, requests):
        authorizer = OpenFgaAuthorizer(asked, now=now)
        for action in actions:
            decision = at[now].decide(user, action, on)
            asked.answer = decision.allowed
            assert authorizer.may(user, action, on) is decision.allowed
            counts[f"{action} {'allowed' if decision.allowed else 'refused'}"] += 1
            counts["conflicted"] += "conflicted" in decision.reason
    return asked, counts


def requests_at_random(
    world: World, random: Random, requests: int
) -> Iterator[tuple[str, str, str, Iterable[Action]]]:
    tenant_actions = sorted(set(Action) - PACK_ACTIONS)
    known: tuple[Grant | AgentOwner, ...] = (*world.grants, *world.owners)
    for _ in range(requests):
        now = random.choice((TODAY, *DAYS[4:]))
        one = random.choice(known)
        packs = [
            pack.pack_id
            for pack in world.packs
            if pack.tenant_id == one.tenant_id
            and (isinstance(one, Grant) or pack.agent_name == one.agent_name)
        ]
        any_pack = random.choice(world.packs).pack_id
        yield one.user, random.choice(packs or [any_pack]), now, sorted(PACK_ACTIONS)
        yield one.user, one.tenant_id, now, tenant_actions
        if random.random() < 0.2:
            yield random.choice((*world.users, "stranger", "")), any_pack, now, sorted(PACK_ACTIONS)
            yield random.choice(world.users), random.choice(world.tenants), now, tenant_actions
            yield one.user, "pack_ffffffffffffffff", now, sorted(PACK_ACTIONS)
            yield one.user, "nowhere", now, tenant_actions


@dataclass(frozen=True)
class Outcome:
    """What the engine made of a store file."""

    code: int
    text: str

    @property
    def agreed(self) -> tuple[int, int]:
        """How many of how many checks the engine answered as expected."""
        found = re.search(r"Checks (\d+)/(\d+) passing", self.text)
        assert found, self.text
        return int(found[1]), int(found[2])


def run(
    fga: str,
    folder: Path,
    tuples: list[dict[str, Any]],
    checks: list[dict[str, Any]],
    model: str = MODEL.read_text(encoding="utf-8"),
) -> Outcome:
    """Let the engine check everything, in its own memory: no settings, no server."""
    store = {"model": model, "tuples": tuples, "tests": [{"name": "parity", "check": checks}]}
    file = folder / "store.fga.yaml"
    file.write_text(json.dumps(store), encoding="utf-8")
    done = subprocess.run(
        [fga, "model", "test", "--tests", str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(folder)},
    )
    return Outcome(done.returncode, done.stdout + done.stderr)


ENDS = {"lasting": DAYS[8], "ending": DAYS[6], "ended": TODAY}
"""When the roles of a user end, of those who have any."""
OWNED = {
    "nothing": (),
    "the agent": (("acme", "matcher"),),
    "another agent": (("acme", "pricer"),),
    "another tenant's agent": (("globex", "matcher"),),
}


def every_world() -> World:
    """Return every set of roles in a tenant with every way to own agents, and every kind of pack.

    The users have no role in the other tenant, whose packs they ask for too.
    """
    packs = tuple(
        PackFacts(
            pack_id=f"pack_{index:016x}",
            tenant_id=tenant_id,
            agent_name=agent_name,
            conflicted=conflicted,
        )
        for index, (tenant_id, agent_name, conflicted) in enumerate(
            product(("acme", "globex"), ("matcher", "pricer"), (True, False))
        )
    )
    grants: list[Grant] = []
    owners: list[AgentOwner] = []
    users: list[str] = []
    sets = [some for size in range(len(Role) + 1) for some in combinations(Role, size)]
    for roles, (ending, end), (owning, owned) in product(sets, ENDS.items(), OWNED.items()):
        user = f"{'+'.join(roles)}, {ending}, owns {owning}"
        users.append(user)
        grants += [grant(role, end, user=user) for role in roles]
        owners += [
            AgentOwner(user=user, tenant_id=tenant_id, agent_name=agent_name)
            for tenant_id, agent_name in owned
        ]
    return World(
        tuple(users),
        ("acme", "globex"),
        ("matcher", "pricer"),
        packs,
        tuple(grants),
        tuple(owners),
    )


def every_question(world: World) -> Questions:
    """Ask everything of every user, about every pack and tenant, before and when roles end."""
    asked = Questions()
    for now in (TODAY, DAYS[6]):
        roles, authorizer = world.roles(now), OpenFgaAuthorizer(asked, now=now)
        for user, action in product(world.users, Action):
            in_pack = action in PACK_ACTIONS
            for on in (pack.pack_id for pack in world.packs) if in_pack else world.tenants:
                asked.answer = roles.may(user, action, on)
                assert authorizer.may(user, action, on) is asked.answer
    return asked


@pytest.mark.whole
def test_the_engine_answers_as_the_role_table_does_whoever_asks_for_whatever(
    fga: str, tmp_path: Path
) -> None:
    world = every_world()
    asked = every_question(world)
    total = sum(map(len, asked.checks.values()))
    assert total == 2 * 16 * len(ENDS) * len(OWNED) * (8 * len(PACK_ACTIONS) + 2 * 6)
    outcome = run(fga, tmp_path, world.tuples(), asked.as_json())
    assert outcome.agreed == (total, total), outcome.text[:2_000]
    assert outcome.code == 0


@pytest.mark.parametrize("fixed", tiers.sample([True, False], 1))
def test_the_engine_answers_as_the_role_table_does_in_a_world_at_random(
    fga: str, tmp_path: Path, *, fixed: bool
) -> None:
    seed = 1 if fixed else Random().getrandbits(32)
    world = a_world(seed, 20)
    asked, counts = questions(world, seed, 150)
    total = sum(map(len, asked.checks.values()))
    assert total > 1_000
    if fixed:
        assert all(counts[f"{action} allowed"] > 20 for action in Action)
        assert all(counts[f"{action} refused"] > 20 for action in Action)
        assert counts["conflicted"] > 10
    outcome = run(fga, tmp_path, world.tuples(), asked.as_json())
    assert outcome.agreed == (total, total), f"seed {seed}: {outcome.text[:2_000]}"
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("writer from tenant but not conflicted_owner", "writer from tenant"),
        ("current_time < expires_at", "current_time <= expires_at"),
        ("define can_audit: auditor or admin", "define can_audit: admin"),
        ("define can_hold: admin from tenant", "define can_hold: writer from tenant"),
        (
            "define reader: viewer or auditor or approver or admin",
            "define reader: viewer or approver or admin",
        ),
    ],
)
def test_a_model_with_another_rule_is_found_out(
    rule: str, broken: str, fga: str, tmp_path: Path
) -> None:
    world = a_world(3, 8)
    asked, _ = questions(world, 3, 30)
    model = MODEL.read_text(encoding="utf-8")
    assert model.count(rule) == 1
    outcome = run(fga, tmp_path, world.tuples(), asked.as_json(), model.replace(rule, broken))
    right, total = outcome.agreed
    assert 0 < right < total
    assert outcome.code != 0


def test_the_engine_takes_no_auditor_without_an_end(fga: str, tmp_path: Path) -> None:
    endless = [Relationship("user:anne", role, "tenant:acme").as_json() for role in Role]
    check = {
        "user": "user:anne",
        "object": "tenant:acme",
        "context": {"current_time": TODAY},
        "assertions": {"can_list": True},
    }
    refused = run(fga, tmp_path, endless, [check])
    assert refused.code != 0
    assert "auditor" in refused.text
    others = [one for one in endless if one["relation"] != "auditor"]
    assert run(fga, tmp_path, others, [check]).agreed == (1, 1)


def grant(
    role: Role, expires_at: str | None = None, granted_at: str = DAYS[0], user: str = "anne"
) -> Grant:
    return Grant(
        user=user,
        tenant_id="acme",
        role=role,
        granted_by="root",
        granted_at=granted_at,
        expires_at=expires_at,
    )


def test_grants_owners_and_packs_become_tuples() -> None:
    packs = [
        PackFacts(pack_id="pack_1", tenant_id="acme", agent_name="a b"),
        PackFacts(pack_id="pack_2", tenant_id="acme", agent_name="a b", conflicted=True),
    ]
    found = relationships(
        [grant(Role.ADMIN), grant(Role.AUDITOR, DAYS[6], user="eve")],
        [AgentOwner(user="anne", tenant_id="acme", agent_name="a b")],
        packs,
        TODAY,
    )
    assert [one.as_json() for one in found] == [
        {
            "user": "agent:acme/a%20b",
            "relation": "conflicted_agent",
            "object": "evidence_pack:pack_2",
        },
        {"user": "tenant:acme", "relation": "tenant", "object": "evidence_pack:pack_1"},
        {"user": "tenant:acme", "relation": "tenant", "object": "evidence_pack:pack_2"},
        {"user": "user:anne", "relation": "admin", "object": "tenant:acme"},
        {"user": "user:anne", "relation": "owner", "object": "agent:acme/a%20b"},
        {
            "user": "user:eve",
            "relation": "auditor",
            "object": "tenant:acme",
            "condition": {"name": "unexpired", "context": {"expires_at": DAYS[6]}},
        },
    ]


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ([DAYS[5]], [DAYS[5]]),
        ([DAYS[5], DAYS[7], DAYS[6]], [DAYS[7]]),
        ([DAYS[5], None, DAYS[6]], [None]),
        ([DAYS[3], DAYS[4]], []),
    ],
)
def test_of_several_grants_of_a_role_the_one_that_lasts_longest_is_told(
    ends: list[str | None], told: list[str | None]
) -> None:
    found = relationships([grant(Role.VIEWER, end) for end in ends], (), (), TODAY)
    assert [one.expires_at for one in found] == told


def test_a_grant_that_begins_later_is_told_then() -> None:
    later = grant(Role.VIEWER, None, DAYS[6])
    assert relationships([later], (), (), TODAY) == ()
    assert len(relationships([later], (), (), DAYS[6])) == 1


def test_the_engine_is_asked_in_its_own_words_and_its_answer_is_the_answer() -> None:
    for answer in (True, False):
        asked = Questions()
        asked.answer = answer
        authorizer = OpenFgaAuthorizer(asked, now=lambda: "2026-06-05T03:00:00+03:00")
        assert authorizer.may("a b", Action.REVIEW, "pack_1") is answer
        assert authorizer.may("a b", Action.KEYS, "acme") is answer
        assert asked.checks == {
            ("user:a%20b", "evidence_pack:pack_1", TODAY): {"can_review": answer},
            ("user:a%20b", "tenant:acme", TODAY): {"can_manage_keys": answer},
        }


def test_every_action_has_a_relation_of_its_own() -> None:
    defined = re.findall(r"define (can_\w+):", MODEL.read_text(encoding="utf-8"))
    assert sorted(map(relation, Action)) == sorted(defined)


@given(st.text(), st.text())
def test_different_names_have_different_ids_that_openfga_takes(one: str, other: str) -> None:
    for named in (user_id, tenant_object, pack_object):
        assert (named(one) == named(other)) is (one == other)
        assert re.fullmatch(r"[a-z_]+:[A-Za-z0-9._@+%~-]{1,100}", named(one))


@pytest.mark.parametrize("name", ["", "\ud800", "x" * 1_000, "م" * 50])
def test_a_name_that_cannot_be_an_id_stands_as_its_digest_or_its_bytes(name: str) -> None:
    assert re.fullmatch(r"user:(~[0-9a-f]{64}|(%[0-9A-F]{2})+)", user_id(name))
