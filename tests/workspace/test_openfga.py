"""A workspace with OpenFGA beside the trail: what a user sees, and what it costs to ask."""

import pytest

from evidentia.access.actions import Role
from evidentia.access.openfga import Relationship, pack_object, tenant_object, user_id
from evidentia.access.openfga_client import OpenFgaClient
from evidentia.errors import AccessError, NotFoundError, UndecidedError
from evidentia.workspace import Workspace
from openfga_stub import Stub
from packing import make_pack, opened
from places import Place

TENANT = tenant_object("default")
ANN = Relationship(user_id("ann"), "viewer", TENANT)


def of(pack_id: str) -> Relationship:
    return Relationship(TENANT, "tenant", pack_object(pack_id))


@pytest.fixture
def owner(sqlite_place: Place, openfga_client: OpenFgaClient) -> Workspace:
    """Give a workspace with seven packs, of which OpenFGA knows none."""
    found = opened(sqlite_place)
    found.opened.authorizer = openfga_client.authorizer()
    for number in range(1, 8):
        make_pack(found, number)
    found.access.grant("ann", Role.VIEWER)
    return found


def test_lists_have_the_packs_that_both_let_a_user_see_and_pages_are_full(
    owner: Workspace, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    ids = [one.id for one in owner.packs.list()]
    shown = [ids[0], ids[3], ids[4], ids[6]]
    openfga_client.write([ANN, *map(of, shown)], [])
    ann = owner.acting_as("ann")
    openfga.asked.clear()
    assert [one.id for one in ann.packs.list()] == shown
    assert openfga.asked == {"Check": 1, "BatchCheck": 1}
    first = ann.packs.list(limit=3)
    assert [one.id for one in first] == shown[:3]
    assert [one.id for one in ann.packs.list(limit=3, before=first[-1].entry)] == shown[3:]
    turned = ann.packs.list(limit=2, oldest_first=True)
    assert [one.id for one in turned] == shown[:1:-1]
    rest = ann.packs.list(limit=9, oldest_first=True, after=turned[-1].entry)
    assert [one.id for one in rest] == shown[1::-1]
    assert {one.pack.id for one in ann.packs.queue()} <= set(shown)
    assert [one.pack.id for one in ann.packs.queue()] == [
        one.pack.id for one in owner.packs.queue() if one.pack.id in shown
    ]
    owner.packs.hold(ids[0], reason="case")
    owner.packs.hold(ids[1], reason="case")
    assert set(ann.packs.held()) == {ids[0]}
    assert set(owner.packs.held()) == {ids[0], ids[1]}


def test_versions_are_those_that_both_let_a_user_see(
    owner: Workspace, openfga_client: OpenFgaClient
) -> None:
    old = owner.packs.get("dec_1")
    new = owner.packs.revise("dec_1", {"trace_id": "0" * 32})
    openfga_client.write([ANN, of(new.pack_id)], [])
    ann = owner.acting_as("ann")
    assert [one.id for one in ann.packs.versions("dec_1")] == [new.pack_id]
    with pytest.raises(NotFoundError, match="that ann may see"):
        ann.packs.get(old.pack_id)


def test_a_revoked_role_counts_no_more_before_openfga_hears_of_it(
    owner: Workspace, openfga_client: OpenFgaClient
) -> None:
    pack_id = owner.packs.get("dec_1").pack_id
    openfga_client.write([ANN, of(pack_id)], [])
    ann = owner.acting_as("ann")
    assert ann.packs.get("dec_1").pack_id == pack_id
    owner.access.revoke("ann", Role.VIEWER)
    with pytest.raises(NotFoundError):
        ann.packs.get("dec_1")
    with pytest.raises(AccessError):
        ann.packs.list()


def test_a_tuple_that_someone_wrote_by_hand_permits_nothing(
    owner: Workspace, openfga_client: OpenFgaClient
) -> None:
    by_hand = Relationship(user_id("eve"), "admin", TENANT)
    openfga_client.write([by_hand, *(of(one.id) for one in owner.packs.list())], [])
    assert openfga_client.authorizer().can_view_evidence_pack("eve", owner.packs.list()[0].id)
    eve, before = owner.acting_as("eve"), owner.trail.size
    for refused in (
        lambda: eve.access.grant("eve", Role.ADMIN),
        lambda: eve.packs.get("dec_1"),
        eve.packs.list,
        eve.trail.rotate_key,
    ):
        with pytest.raises((AccessError, NotFoundError)):
            refused()
    assert owner.trail.size == before


def test_no_one_sees_anything_while_openfga_is_away_but_the_owner(
    owner: Workspace, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    openfga_client.write([ANN], [])
    openfga.failing = lambda _: 503
    ann = owner.acting_as("ann")
    for ask in (ann.packs.list, ann.trail.entries, ann.access.grants):
        with pytest.raises(UndecidedError, match="denied"):
            ask()
    assert owner.packs.list()
