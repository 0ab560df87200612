"""Who may do what with packs: every role at every function, within a tenant and across."""

import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evidentia.access.roles import MAY, Action, Role
from evidentia.canonical import canonical_json
from evidentia.errors import AccessError, InputError, IntegrityError, NotFoundError
from evidentia.packs.retention import DEFAULT_RETENTION
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.access import committed
from evidentia.workspace.bundles import BundlesShell
from evidentia.workspace.packs import PacksShell
from packing import NOON, Clock, decision, make_pack, memo, opened, tool_call
from places import Place
from vandal import vandal_at

Act = Callable[[Workspace, Path], object]

USERS: dict[str, Role | None] = {
    "no one": None,
    "viewer": Role.VIEWER,
    "approver": Role.APPROVER,
    "admin": Role.ADMIN,
    "auditor": Role.AUDITOR,
    "expired auditor": None,
    "former admin": None,
    "other tenant's admin": None,
}
"""Users, and the role that counts for each in the tenant that is asked."""


def _export(workspace: Workspace, folder: Path) -> object:
    owner = opened_as_owner(workspace)
    approval = owner.approve_export("dec_1")
    return workspace.export_pack("dec_1", folder / "pack.json", approval=approval)


def opened_as_owner(workspace: Workspace) -> Workspace:
    owner = object.__new__(type(workspace))
    owner.__dict__.update(workspace.__dict__)
    owner.user = None
    return owner


FUNCTIONS: dict[str, tuple[Action, Act]] = {
    "find_pack": (Action.VIEW, lambda ws, _: ws.find_pack("dec_1")),
    "pack": (Action.VIEW, lambda ws, _: ws.pack("dec_1")),
    "pack_versions": (Action.VIEW, lambda ws, _: ws.pack_versions("dec_1")),
    "packs": (Action.LIST, lambda ws, _: ws.packs()),
    "held_packs": (Action.LIST, lambda ws, _: ws.held_packs()),
    "grants": (Action.LIST, lambda ws, _: ws.grants()),
    "retention": (Action.LIST, lambda ws, _: ws.retention()),
    "tool_ledger.calls": (Action.LIST, lambda ws, _: ws.tool_ledger.calls("dec_1")),
    "entry": (Action.LIST, lambda ws, _: ws.entry(0)),
    "entries": (Action.LIST, lambda ws, _: ws.entries()),
    "records": (Action.LIST, lambda ws, _: ws.records()),
    "prove": (Action.LIST, lambda ws, _: ws.prove(0)),
    "prove_under": (
        Action.LIST,
        lambda ws, _: ws.prove_under(opened_as_owner(ws).checkpoint(), 0),
    ),
    "publish": (Action.LIST, lambda ws, folder: ws.publish(folder / "tiles")),
    "record_decision": (Action.CREATE, lambda ws, _: ws.record_decision(decision(9))),
    "tool_ledger": (Action.CREATE, lambda ws, _: ws.tool_ledger.record("dec_9", tool_call())),
    "assemble": (Action.CREATE, lambda ws, _: ws.assemble(decision(9), memo=memo())),
    "seal": (
        Action.CREATE,
        lambda ws, _: ws.seal(
            opened_as_owner(ws)
            .pack("dec_1")
            .model_copy(update={"pack_id": "", "decision_id": "dec_9", "decision": None})
        ),
    ),
    "revise_pack": (Action.REVISE, lambda ws, _: ws.revise_pack("dec_1", {})),
    "review_pack": (Action.REVIEW, lambda ws, _: ws.review_pack("dec_1", "approved")),
    "approve_export": (Action.APPROVE_EXPORT, lambda ws, _: ws.approve_export("dec_1")),
    "export_pack": (Action.EXPORT, _export),
    "hold_pack": (Action.HOLD, lambda ws, _: ws.hold_pack("dec_1", reason="case")),
    "release_pack": (Action.RELEASE, lambda ws, _: ws.release_pack("dec_2", reason="closed")),
    "set_retention": (Action.SWEEP, lambda ws, _: ws.set_retention(DEFAULT_RETENTION)),
    "sweep_packs": (Action.SWEEP, lambda ws, _: ws.sweep_packs()),
    "erase": (Action.SWEEP, lambda ws, _: ws.erase(0, reason="law", by="counsel")),
    "audit_packs": (Action.AUDIT, lambda ws, _: ws.audit_packs()),
    "grant_role": (Action.GRANT, lambda ws, _: ws.grant_role("eve", "viewer")),
    "revoke_role": (Action.GRANT, lambda ws, _: ws.revoke_role("viewer", "viewer")),
    "own_agent": (Action.GRANT, lambda ws, _: ws.own_agent("eve", "agent")),
    "rotate_key": (Action.KEYS, lambda ws, _: ws.rotate_key()),
    "use_command": (Action.KEYS, lambda ws, _: ws.use_command("no key", ["true"])),
}
OWNERS_ALONE: dict[str, Act] = {
    "prove_pack": lambda ws, _: ws.prove_pack("dec_1"),
    **{
        f"record {kind}": lambda ws, _, kind=kind: ws.record(kind, "x", {})  # type: ignore[misc]
        for kind in (
            EntryKind.DECISION,
            EntryKind.TOOL_CALL,
            EntryKind.PACK,
            EntryKind.REVIEW,
            EntryKind.EXPORT,
            EntryKind.ACCESS,
            EntryKind.RETENTION,
        )
    },
}
OF_THE_TRAIL = {"entry", "entries", "records", "prove", "prove_under", "publish"}
"""What the trail itself offers: whoever may list packs may read it."""
NO_PACK_FUNCTION = {"acting_as", "authorizer"}
"""What hands out no more than a question that can be asked."""


def fill(place: Place, clock: Clock) -> Workspace:
    """Give a tenant with packs and users of every role, and another tenant with an admin."""
    workspace, other = opened(place, clock=clock), opened(place, "other", clock=clock)
    make_pack(workspace, 1)
    make_pack(workspace, 2)
    workspace.hold_pack("dec_2", reason="case")
    for role in (Role.VIEWER, Role.APPROVER, Role.ADMIN):
        workspace.grant_role(role.value, role)
    workspace.grant_role("auditor", "auditor", expires_at="2027-01-01T00:00:00Z")
    workspace.grant_role("expired auditor", "auditor", expires_at="2026-03-01T12:00:01Z")
    workspace.grant_role("former admin", Role.ADMIN)
    workspace.revoke_role("former admin", Role.ADMIN)
    make_pack(other, 1)
    other.grant_role("other tenant's admin", Role.ADMIN)
    for tenant in (workspace, other):
        tenant.checkpoint()
    clock.pass_years(0.01)
    return workspace


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home folder that is filled so, to be copied."""
    place = Place(tmp_path_factory.mktemp("filled") / "home")
    place.open()
    fill(place, Clock())
    place.close()
    return place.home.folder


@pytest.fixture
def acme(filled_home: Path, tmp_path: Path) -> Iterator[Workspace]:
    """Give the tenant of it, on the embedded database."""
    place = Place(tmp_path / "home")
    shutil.copytree(filled_home, place.home.folder)
    yield opened(place, clock=Clock(NOON + timedelta(days=5)))
    place.close()


@pytest.fixture
def shared(place: Place) -> Workspace:
    """Give the same, on each kind of database in turn."""
    return fill(place, Clock())


def outcome(act: Act, workspace: Workspace, folder: Path) -> str:
    try:
        act(workspace, folder)
    except NotFoundError as error:
        return f"not found: {error}"
    except AccessError:
        return "refused"
    except InputError:  # it may; what was given is another matter
        return "allowed"
    return "allowed"


def test_every_function_of_packs_is_in_the_matrix() -> None:
    """A new one must say who may use it."""
    own = {
        name
        for shell in PacksShell.__mro__[: PacksShell.__mro__.index(BundlesShell)]
        for name in vars(shell)
        if not name.startswith("_") and name != "user"
    }
    tried = {name.partition(".")[0] for name in FUNCTIONS} | {"prove_pack", "record"}
    assert own == tried - OF_THE_TRAIL | NO_PACK_FUNCTION
    assert {action for action, _ in FUNCTIONS.values()} == set(Action)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_role_may_do_exactly_what_the_table_says(
    acme: Workspace, tmp_path: Path, name: str, user: str
) -> None:
    action, act = FUNCTIONS[name]
    role = USERS[user]
    found = outcome(act, acme.acting_as(user), tmp_path)
    if role is not None and action in MAY[role]:
        assert found == "allowed"
    elif role is None and name in SEES_NOTHING:
        assert found.startswith("not found: there is no pack")
    else:
        assert found == "refused"


SEES_NOTHING = {
    "find_pack",
    "pack",
    "pack_versions",
    "revise_pack",
    "review_pack",
    "approve_export",
    "export_pack",
    "hold_pack",
    "release_pack",
}
"""What names a pack: who may not see it is told that there is none."""


@pytest.mark.parametrize("user", USERS)
def test_what_is_the_owners_alone_is_refused_to_every_user(
    acme: Workspace, tmp_path: Path, user: str
) -> None:
    before = acme.size
    for act in OWNERS_ALONE.values():
        assert outcome(act, acme.acting_as(user), tmp_path) == "refused"
    assert acme.size == before


def test_a_refusal_changes_nothing(shared: Workspace, tmp_path: Path) -> None:
    before = shared.entries()
    for user in ("no one", "viewer", "expired auditor", "former admin", "other tenant's admin"):
        for name, (action, act) in FUNCTIONS.items():
            role = USERS[user]
            if name == "export_pack" or (role is not None and action in MAY[role]):
                continue
            assert outcome(act, shared.acting_as(user), tmp_path) != "allowed"
    assert shared.entries() == before


def test_every_role_in_every_function_of_another_tenant_is_refused(
    place: Place, tmp_path: Path
) -> None:
    fill(place, Clock())
    other = opened(place, "other", clock=Clock())
    for user in USERS:
        if user == "other tenant's admin":
            continue
        for name, (_, act) in FUNCTIONS.items():
            if name not in {"export_pack", "seal"}:
                assert outcome(act, other.acting_as(user), tmp_path) != "allowed", (user, name)
    assert [one.entry.kind for one in other.entries()] == ["decision", "pack", "access", "key"]


@pytest.mark.parametrize("user", ["no one", "expired auditor", "other tenant's admin"])
def test_an_unknown_and_a_forbidden_pack_look_alike(acme: Workspace, user: str) -> None:
    said = set()
    asking = acme.acting_as(user)
    for name in ("dec_1", "dec_8", acme.pack("dec_1").pack_id, "pack_" + "0" * 16, "latest"):
        for ask in (asking.pack, asking.find_pack, asking.pack_versions):
            with pytest.raises(NotFoundError) as refused:
                ask(name)
            said.add((type(refused.value), str(refused.value).replace(name, "…")))
    assert said == {(NotFoundError, f"there is no pack '…' that {user} may see")}


# Reviews


@pytest.fixture
def conflicted(place: Place) -> Workspace:
    """Give a workspace whose agent is ann's own, and where its decision is conflicted."""
    workspace = opened(place)
    for user in ("ann", "bob"):
        workspace.grant_role(user, Role.ADMIN)
    workspace.own_agent("ann", "icp_matcher")
    make_pack(workspace, 1, conflicted=True)
    make_pack(workspace, 2)
    return workspace


def test_no_one_approves_a_conflicted_decision_of_their_own_agent(conflicted: Workspace) -> None:
    ann, bob = conflicted.acting_as("ann"), conflicted.acting_as("bob")
    for outcome_ in ("approved", "rejected"):
        with pytest.raises(AccessError, match="ann may not review pack"):
            ann.review_pack("dec_1", outcome_)
        with pytest.raises(AccessError, match="marked as conflicted, and agent icp_matcher is"):
            conflicted.review_pack("dec_1", outcome_, reviewer="ann")
    assert ann.review_pack("dec_2", "approved").reviewer_id == "ann"
    assert bob.review_pack("dec_1", "approved").reviewer_id == "bob"


def test_a_newer_version_is_as_conflicted_as_the_first(conflicted: Workspace) -> None:
    conflicted.revise_pack("dec_1", {"trace_id": "0" * 32})
    with pytest.raises(AccessError):
        conflicted.acting_as("ann").review_pack("dec_1", "approved")
    for changes in ({"decision": None}, {"agent_name": "other"}):
        with pytest.raises(InputError, match="cannot be revised"):
            conflicted.acting_as("ann").revise_pack("dec_1", changes)


def test_a_conflict_that_is_hidden_in_the_database_still_counts(place: Place) -> None:
    workspace = opened(place)
    workspace.grant_role("ann", Role.ADMIN)
    workspace.own_agent("ann", "icp_matcher")
    make_pack(workspace, conflicted=True)
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("UPDATE evidence_packs SET conflicted = 0, agent_name = 'other'")
    with pytest.raises(AccessError, match="marked as conflicted"):
        workspace.acting_as("ann").review_pack("dec_1", "approved")


def test_a_user_reviews_in_their_own_name(conflicted: Workspace) -> None:
    bob = conflicted.acting_as("bob")
    with pytest.raises(AccessError, match="bob reviews in their own name, not in that of ann"):
        bob.review_pack("dec_2", "approved", reviewer="ann")
    assert bob.review_pack("dec_2", "approved", reviewer="bob").reviewer_id == "bob"
    assert conflicted.entries(kind="review")[0].body["by"] == "bob"


# Grants


def test_grants_are_given_listed_and_taken_away(place: Place) -> None:
    workspace = opened(place)
    workspace.grant_role("ann", "viewer")
    workspace.grant_role("ann", "approver", expires_at="2026-04-01T00:00:00+03:00")
    assert [(one.role.value, one.expires_at) for one in workspace.grants()] == [
        ("viewer", None),
        ("approver", "2026-03-31T21:00:00.000000Z"),
    ]
    ann = workspace.acting_as("ann")
    make_pack(ann)
    workspace.revoke_role("ann", "approver")
    with pytest.raises(AccessError, match="ann may not make packs"):
        make_pack(ann, 2)
    assert ann.pack("dec_1")
    with pytest.raises(NotFoundError, match="'ann' does not have the role approver"):
        workspace.revoke_role("ann", "approver")
    assert place.open().grants() == workspace.grants()


def test_a_role_ends_when_it_expires(sqlite_place: Place) -> None:
    clock = Clock()
    workspace = opened(sqlite_place, clock=clock)
    workspace.grant_role("ann", "auditor", expires_at="2026-06-01T00:00:00Z")
    ann = workspace.acting_as("ann")
    assert ann.audit_packs().holds
    clock.pass_years(0.3)
    with pytest.raises(AccessError, match="ann may not audit packs in tenant 'default': ask an"):
        ann.audit_packs()


@pytest.mark.parametrize(
    ("user", "role", "expires", "says"),
    [
        ("ann", "auditor", None, "an auditor's grant must expire"),
        ("ann", "king", None, "grant.role: Input should be 'viewer'"),
        ("ann", "viewer", "soon", "'soon' is not a time as ISO 8601 writes it"),
        ("ann", "viewer", "2026-01-01T00:00:00", "does not say its zone"),
        ("ann", "viewer", "2020-01-01T00:00:00Z", "is not after granted_at"),
        (" ", "viewer", None, "a user has a name"),
        ("x" * 1001, "viewer", None, "a user has a name"),
    ],
)
def test_a_grant_that_cannot_be_is_said(
    sqlite_place: Place, user: str, role: str, expires: str | None, says: str
) -> None:
    workspace = opened(sqlite_place)
    with pytest.raises(InputError, match=says):
        workspace.grant_role(user, role, expires_at=expires)
    assert workspace.size == 0


def test_names_that_are_none_are_refused(sqlite_place: Place) -> None:
    workspace = opened(sqlite_place)
    with pytest.raises(InputError, match="a user has a name"):
        workspace.acting_as("")
    with pytest.raises(InputError, match="an agent has a name"):
        workspace.own_agent("ann", " ")
    with pytest.raises(InputError, match="there is no role 'king'"):
        workspace.revoke_role("ann", "king")


def test_grants_are_read_once_and_then_only_what_is_new(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme.grants()
    read: list[Any] = []

    def count(row: Any) -> Any:
        read.append(row)
        return committed(row)

    monkeypatch.setattr("evidentia.workspace.access.committed", count)
    viewer = acme.acting_as("viewer")
    for _ in range(3):
        viewer.pack("dec_1")
        viewer.packs()
    assert read == []
    acme.grant_role("eve", "viewer")
    assert acme.acting_as("eve").packs()
    assert len(read) == 1


def test_a_grant_that_was_changed_in_the_database_counts_for_nothing(place: Place) -> None:
    workspace = opened(place)
    make_pack(workspace)
    workspace.grant_role("ann", "viewer")
    body = workspace.entry(2).body | {"role": "admin"}
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("UPDATE trail_bodies SET body = ? WHERE seq = 2", canonical_json(body))
    with pytest.raises(IntegrityError, match="its body is not what it commits to"):
        place.open().acting_as("ann")


# The authorizer


def test_the_authorizer_answers_by_the_grants_of_the_trail(shared: Workspace) -> None:
    roles = shared.authorizer()
    pack_id = shared.pack("dec_1").pack_id
    assert roles.can_view_evidence_pack("viewer", pack_id)
    assert not roles.can_revise_evidence_pack("viewer", pack_id)
    assert roles.can_review_evidence_pack("approver", pack_id)
    assert not roles.can_view_evidence_pack("other tenant's admin", pack_id)
    assert not roles.can_view_evidence_pack("admin", "pack_" + "0" * 16)
    assert roles.can_audit_evidence_packs("auditor", shared.tenant)
    assert not roles.can_audit_evidence_packs("expired auditor", shared.tenant)
