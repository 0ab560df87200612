"""OpenFGA kept in step with the trail: told, synced and compared, on each database."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from evidentia.access.actions import Role
from evidentia.access.openfga import Relationship, pack_object, tenant_object, user_id
from evidentia.access.openfga_client import OpenFgaClient, OpenFgaError
from evidentia.errors import BusyError, InputError
from evidentia.store.sql import openfga as rows
from evidentia.workspace import Workspace
from evidentia.workspace import telling_openfga as module
from evidentia.workspace.telling_openfga import _Turn, should_know, tell
from openfga_stub import Stub
from packing import Clock, decision, make_pack, memo, opened
from places import Place

TENANT = tenant_object("default")


class Followed:
    """A workspace and the OpenFGA that follows it."""

    def __init__(self, workspace: Workspace, client: OpenFgaClient, stub: Stub) -> None:
        self.workspace, self.client, self.stub = workspace, client, stub
        workspace.opened.authorizer = client.authorizer()
        self.acting = workspace._acting

    def tell(self) -> int:
        return tell(self.acting, self.client)

    @property
    def tuples(self) -> set[str]:
        return self.stub.tuples(self.client)

    @property
    def should(self) -> set[str]:
        return {f"{one.object}#{one.relation}@{one.user}" for one in should_know(self.acting)}

    def write(self, *by_hand: Relationship) -> None:
        self.client.write(by_hand, [])


@pytest.fixture
def followed(place: Place, openfga_client: OpenFgaClient, openfga: Stub) -> Followed:
    return Followed(opened(place), openfga_client, openfga)


@pytest.fixture
def one_database(sqlite_place: Place, openfga_client: OpenFgaClient, openfga: Stub) -> Followed:
    return Followed(opened(sqlite_place), openfga_client, openfga)


def conflicted(workspace: Workspace, number: int) -> str:
    made = decision(number).model_copy(update={"conflicted": True})
    return workspace.assemble(made, memo=memo()).pack_id


def test_whatever_changes_who_may_do_what_reaches_openfga(followed: Followed) -> None:
    ws = followed.workspace
    ws.access.grant("ann", Role.ADMIN)
    pack = make_pack(ws, 1)
    assert followed.tell() > 0  # the first time all is compared
    assert followed.tuples == followed.should
    assert len(followed.tuples) == 2
    assert followed.tell() == 0
    ws.access.grant("eve", "auditor", expires_at="2030-01-01T00:00:00Z")
    ws.access.own_agent("ann", "icp_matcher")
    ws.access.new_token("ann")
    bad = conflicted(ws, 2)
    newer = ws.packs.revise(pack.pack_id, {"trace_id": "0" * 32})
    assert followed.tell() == 4
    assert followed.tuples == followed.should
    assert {
        f"{TENANT}#auditor@user:eve",
        "agent:default/icp_matcher#owner@user:ann",
        f"{pack_object(bad)}#conflicted_agent@agent:default/icp_matcher",
        f"{pack_object(newer.pack_id)}#tenant@{TENANT}",
    } <= followed.tuples
    ws.access.revoke("ann", Role.ADMIN)
    ws.access.grant("eve", "auditor", expires_at="2031-01-01T00:00:00Z")
    assert followed.tell() == 2
    assert followed.tuples == followed.should
    until = [one.expires_at for one in followed.client.read(user="user:eve", object=TENANT)]
    assert until == ["2031-01-01T00:00:00.000000Z"]
    assert ws.access.telling().is_in_step
    assert ws.access.drift().findings == []
    assert not ws.trail.audit().findings


def test_an_erased_pack_is_taken_away(one_database: Followed) -> None:
    ws = one_database.workspace
    pack, kept = make_pack(ws, 1), make_pack(ws, 2)
    one_database.tell()
    assert len(one_database.tuples) == 2
    ws.trail.erase(ws.packs.find(pack.pack_id).entry, reason="asked for", by="ann")
    assert one_database.tell() == 1
    assert one_database.tuples == {f"{pack_object(kept.pack_id)}#tenant@{TENANT}"}


def test_what_was_not_told_while_openfga_was_away_is_told_when_it_is_back(
    followed: Followed,
) -> None:
    ws = followed.workspace
    ws.access.grant("ann", Role.VIEWER)
    followed.tell()
    followed.stub.failing = lambda _: 503
    ws.access.grant("bob", Role.VIEWER)
    ws.access.revoke("ann", Role.VIEWER)
    for _ in range(2):
        with pytest.raises(OpenFgaError, match="503"):
            followed.tell()
    assert not ws.access.telling().is_in_step
    assert [one.subject for one in ws.access.telling().waiting] == ["user/bob", "user/ann"]
    assert followed.tuples == {f"{TENANT}#viewer@user:ann"}
    followed.stub.failing = lambda _: None
    followed.client._patience.answered("it")
    assert followed.tell() == 2
    assert followed.tuples == followed.should == {f"{TENANT}#viewer@user:bob"}
    assert ws.access.telling().is_in_step


@pytest.mark.parametrize("stops", ["before", "after"])
def test_who_dies_while_telling_is_followed_by_another_who_tells_it_again(
    one_database: Followed, monkeypatch: pytest.MonkeyPatch, stops: str
) -> None:
    ws = one_database.workspace
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    ws.access.grant("bob", Role.VIEWER)
    write = OpenFgaClient.write

    def dying(self: OpenFgaClient, writes: object, deletes: object) -> None:
        if stops == "after":
            write(self, writes, deletes)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(OpenFgaClient, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            one_database.tell()
    assert one_database.tell() == 1
    assert one_database.tuples == one_database.should
    assert ws.access.telling().is_in_step


def test_one_at_a_time_tells_it_and_another_takes_over_from_one_who_says_nothing(
    place: Place, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    clock = Clock()
    followed = Followed(opened(place, clock=clock), openfga_client, openfga)
    followed.workspace.access.grant("ann", Role.VIEWER)
    of = ("default", followed.client.server.store_id)
    assert _Turn(followed.acting, of).taken()
    assert followed.tell() == 0
    assert followed.tuples == set()
    with pytest.raises(BusyError, match="another process"):
        module.sync(followed.acting, followed.client, seconds=0.0)
    clock.pass_years(0.01)
    assert followed.tell() == 1
    assert followed.tuples == followed.should


def test_the_turn_is_kept_however_long_reading_and_telling_take(
    place: Place,
    openfga_client: OpenFgaClient,
    openfga: Stub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, taken = Clock(), list[bool]()
    followed = Followed(opened(place, clock=clock), openfga_client, openfga)
    of = ("default", openfga_client.server.store_id)
    names = [f"user{number}" for number in range(4)]
    followed.write(*(Relationship(user_id(one), "admin", TENANT) for one in names))
    for one in names:
        followed.workspace.access.grant(one, Role.VIEWER)
    read = OpenFgaClient.read

    def slowly(client: OpenFgaClient, **key: str) -> Iterator[Relationship]:
        for one in read(client, **key):
            clock.at += timedelta(seconds=25)
            taken.append(_Turn(followed.acting, of).taken())
            yield one

    monkeypatch.setattr(OpenFgaClient, "read", slowly)
    assert followed.tell() > 0  # compares all
    for one in names:
        followed.workspace.access.grant(one, Role.APPROVER)
    assert followed.tell() == len(names)
    assert followed.tuples == followed.should
    assert len(taken) > len(names)
    assert True not in taken, "another process took the turn of one that was at work"


def test_who_lost_the_turn_writes_nothing_more(
    one_database: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped for long, say; what it read by then may be out of date."""
    ws, acting = one_database.workspace, one_database.acting
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    ws.access.grant("bob", Role.VIEWER)
    of = ("default", one_database.client.server.store_id)
    read, clock = OpenFgaClient.read, acting.opened._clock
    others: list[bool] = []

    def stopped(client: OpenFgaClient, **key: str) -> Iterator[Relationship]:
        yield from read(client, **key)
        clock.pass_years(0.01)  # type: ignore[attr-defined]
        others.append(_Turn(acting, of).taken())

    with monkeypatch.context() as patched:
        patched.setattr(OpenFgaClient, "read", stopped)
        assert one_database.tell() == 0
        assert others[0]
        assert one_database.tuples == {f"{TENANT}#viewer@user:ann"}
    clock.pass_years(0.01)  # type: ignore[attr-defined]
    assert one_database.tell() == 1
    assert one_database.tuples == one_database.should


def test_a_grant_by_a_clock_that_is_ahead_ends_no_other(
    sqlite_place: Place, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    clock = Clock()
    followed = Followed(opened(sqlite_place, clock=clock), openfga_client, openfga)
    ws, now = followed.workspace, clock.at
    ws.access.grant("eve", "auditor", expires_at="2026-04-01T00:00:00Z")
    clock.pass_years(1)
    ws.access.grant("ann", Role.VIEWER)
    clock.at = now
    followed.tell()
    assert followed.tuples == {f"{TENANT}#auditor@user:eve", f"{TENANT}#viewer@user:ann"}
    assert ws.access.drift().findings == []


def test_what_openfga_refuses_is_seen_and_keeps_nothing_else_waiting(
    one_database: Followed,
) -> None:
    ws, stub = one_database.workspace, one_database.stub
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    stub.failing = lambda name: 400 if name == "Write" else None
    ws.access.grant("bob", Role.VIEWER)
    assert one_database.tell() == 0
    (waiting,) = ws.access.telling().refused
    assert (waiting.subject, waiting.tries) == ("user/bob", 1)
    assert "answered 400" in str(waiting.problem)
    stub.failing = lambda _: None
    ws.access.grant("eve", Role.VIEWER)
    one_database.tell()
    assert f"{TENANT}#viewer@user:eve" in one_database.tuples
    ws.access.grant("bob", Role.APPROVER)  # what is new of it is tried at once
    one_database.tell()
    assert one_database.tuples == one_database.should
    assert ws.access.telling().refused == []


def test_drift_is_found_tuple_by_tuple_and_mended_by_a_sync(followed: Followed) -> None:
    ws = followed.workspace
    ws.access.grant("ann", Role.VIEWER)
    ws.access.grant("eve", "auditor", expires_at="2030-01-01T00:00:00Z")
    pack = make_pack(ws, 1).pack_id
    followed.tell()
    assert ws.access.drift().findings == []
    ann = Relationship(user_id("ann"), "viewer", TENANT)
    eve = Relationship(user_id("eve"), "auditor", TENANT, "2030-01-01T00:00:00.000000Z")
    longer = replace(eve, expires_at="2099-01-01T00:00:00.000000Z")
    by_hand = [
        Relationship(user_id("mallory"), "admin", TENANT),
        Relationship("tenant:globex", "tenant", pack_object(pack)),
        Relationship(TENANT, "tenant", pack_object("pack_of_others")),
    ]
    elsewhere = Relationship(user_id("zoe"), "admin", "tenant:globex")
    followed.client.write([*by_hand, elsewhere, longer], [ann, eve])
    found = ws.access.drift()
    assert set(found.missing) == {ann, eve}
    assert set(found.extra) == {*by_hand, longer}
    assert len(found.findings) == 6
    told = [part for part in ws.audit().parts if part.name == "openfga"]
    assert list(told[0].findings) == found.findings
    done = ws.access.sync()
    assert set(done.written) == {ann, eve}
    assert set(done.deleted) == {*by_hand, longer}
    assert ws.access.drift().findings == []
    assert followed.tuples == followed.should | {"tenant:globex#admin@user:zoe"}
    assert not any(part.findings for part in ws.audit().parts)


def test_a_model_that_is_not_there_is_said_before_anything_is_compared(
    one_database: Followed, openfga: Stub
) -> None:
    ws = one_database.workspace
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    openfga.stores[one_database.client.server.store_id].models.clear()
    for asked in (ws.access.drift, ws.access.sync):
        with pytest.raises(OpenFgaError, match="look at EVIDENTIA_OPENFGA_MODEL_ID"):
            asked()
    left = ws.audit().part("openfga").not_looked_at
    assert any("look at EVIDENTIA_OPENFGA_MODEL_ID" in one for one in left)


def test_what_is_on_its_way_or_over_is_no_drift_and_other_relations_are_the_operators(
    sqlite_place: Place, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    clock = Clock()
    followed = Followed(opened(sqlite_place, clock=clock), openfga_client, openfga)
    ws = followed.workspace
    ws.access.grant("ann", Role.VIEWER)
    followed.tell()
    ws.access.grant("eve", "auditor", expires_at="2026-04-01T00:00:00Z")
    found = ws.access.drift()
    assert (found.findings, found.on_the_way) == ([], 1)
    followed.tell()
    clock.pass_years(1)
    found = ws.access.drift()
    assert (found.findings, found.ended) == ([], 1)
    assert [one.relation for one in ws.access.sync().deleted] == ["auditor"]
    assert ws.access.drift().ended == 0


def test_an_audit_says_what_it_could_not_compare(one_database: Followed) -> None:
    one_database.workspace.access.grant("ann", Role.VIEWER)
    one_database.stub.failing = lambda _: 503
    (part,) = [one for one in one_database.workspace.audit().parts if one.name == "openfga"]
    assert part.findings == ()
    assert "answered 503" in part.not_looked_at[0]


def test_a_row_that_was_made_up_permits_nothing(one_database: Followed) -> None:
    ws = one_database.workspace
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    of = ("default", one_database.client.server.store_id)
    forged = [rows.Pending(one, 0) for one in ("user/eve", "user/ann", "pack_1", "user/*", "x:y#z")]
    with ws.opened.database.of(ws.tenant).write(sequencing=True) as connection:
        rows.put(connection, of, forged, ws.opened.now())
    assert one_database.tell() == len(forged)
    assert one_database.tuples == one_database.should == {f"{TENANT}#viewer@user:ann"}


def test_a_row_that_was_made_up_hides_no_drift(one_database: Followed) -> None:
    """One that is never due would leave what it names on its way for ever."""
    ws = one_database.workspace
    ws.access.grant("ann", Role.VIEWER)
    one_database.tell()
    of = ("default", one_database.client.server.store_id)
    with ws.opened.database.of(ws.tenant).write(sequencing=True) as connection:
        rows.put(connection, of, [rows.Pending("user/eve", 0)], "9999-01-01T00:00:00.000000Z")
    by_hand = Relationship(user_id("eve"), "admin", TENANT)
    one_database.write(by_hand)
    assert one_database.tell() == 0
    assert ws.access.drift().extra == (by_hand,)


def test_without_openfga_nothing_is_followed(sqlite_place: Place) -> None:
    ws = opened(sqlite_place)
    ws.access.grant("ann", Role.VIEWER)
    make_pack(ws, 1)
    for ask in (ws.access.sync, ws.access.drift, ws.access.telling):
        with pytest.raises(InputError, match="no OpenFGA is set up: set EVIDENTIA_OPENFGA_URL"):
            ask()
    assert ws.access.can_view_evidence_pack("ann", "dec_1") is True
    assert ws.access.can_view_evidence_pack("eve", "dec_1") is False
    assert "openfga" not in [part.name for part in ws.audit().parts]


def test_whether_a_user_may_see_a_pack_is_what_both_say(one_database: Followed) -> None:
    ws = one_database.workspace
    ws.access.grant("ann", Role.VIEWER)
    pack = make_pack(ws, 1).pack_id
    may = ws.access.can_view_evidence_pack
    assert may("ann", pack) is False  # OpenFGA was not told yet
    one_database.tell()
    assert may("ann", pack) is True
    assert may("ann", "pack_" + "0" * 16) is False
    one_database.write(Relationship(user_id("eve"), "admin", TENANT))
    assert may("eve", pack) is False
    ws.access.revoke("ann", Role.VIEWER)
    assert may("ann", pack) is False


TELLER = """
import sys
from evidentia.access.openfga_client import OpenFgaClient, OpenFgaServer
from evidentia.workspace import open_workspace
from evidentia.workspace.telling_openfga import tell
target, home, url, store, model = sys.argv[1:]
client = OpenFgaClient(OpenFgaServer(url=url, store_id=store, model_id=model))
with open_workspace(target or None, home=home) as ws:
    print(tell(ws._acting, client))
"""


@pytest.mark.parametrize("dies_at", ["Read", "Write"])
def test_a_process_that_is_killed_while_it_tells_is_followed_by_another(
    place: Place, openfga_client: OpenFgaClient, openfga: Stub, dies_at: str
) -> None:
    clock = Clock()
    followed = Followed(opened(place, clock=clock), openfga_client, openfga)
    followed.workspace.access.grant("ann", Role.VIEWER)
    server, children = openfga_client.server, list[subprocess.Popen[bytes]]()

    def kill(name: str) -> None:
        if name == dies_at:
            children[0].kill()

    openfga.failing = kill
    where = [place.url or "", str(place.home.folder)]
    words = [sys.executable, "-c", TELLER, *where, server.url, server.store_id, server.model_id]
    children.append(subprocess.Popen(words))
    assert children[0].wait(60) == -signal.SIGKILL
    openfga.failing = lambda _: None
    clock.pass_years(2)  # whoever had the turn says nothing more
    assert followed.tell() >= 0
    assert followed.tuples == followed.should == {f"{TENANT}#viewer@user:ann"}
    assert followed.workspace.access.telling().is_in_step
