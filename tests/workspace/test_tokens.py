"""Tokens: recorded as grants are, proved before they are believed."""

import pytest

from evidentia.access.actions import Action
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import AccessError, IntegrityError, NotFoundError
from evidentia.workspace.acting import Asked
from evidentia.workspace.tokens import holder
from packing import Clock, make_pack, opened
from places import Place
from vandal import vandal_at


def test_a_token_is_an_entry_that_is_signed_and_has_no_secret(place: Place) -> None:
    workspace = opened(place)
    made = workspace.access.new_token("ann", name="report", scopes=["view", "list"])
    entry = workspace.trail.entry(made.token.entry)
    assert (entry.entry.kind, entry.entry.subject) == ("access", f"token/{made.token.token_id}")
    secret = made.text.split("~")[3]
    assert entry.body["secret_sha256"] == sha256_hex(secret.encode())
    assert entry.body["scopes"] == ["list", "view"]
    assert "signature" in entry.body
    assert secret not in repr(made)
    assert workspace.access.tokens() == [made.token] == place.open().access.tokens()
    assert workspace.audit().holds


def test_a_token_ends_when_it_expires_or_is_revoked(place: Place) -> None:
    clock = Clock()
    workspace = opened(place, clock=clock)
    short = workspace.access.new_token("ann", expires_at="2026-06-01T00:00:00Z").text
    long = workspace.access.new_token("ann")
    assert holder(workspace.opened, short)
    clock.pass_years(0.5)
    assert holder(workspace.opened, short) is None
    assert holder(workspace.opened, long.text)
    workspace.access.revoke_token(long.token.token_id)
    assert holder(workspace.opened, long.text) is None
    with pytest.raises(NotFoundError, match="there is no token"):
        workspace.access.revoke_token(long.token.token_id)


@pytest.mark.parametrize("change", ["", "x", "~", "evt~default~00~x", "evt~nowhere~{id}~{secret}"])
def test_what_is_no_token_opens_nothing(sqlite_place: Place, change: str) -> None:
    workspace = opened(sqlite_place)
    made = workspace.access.new_token("ann").text
    _, _, token_id, secret = made.split("~")
    wrong = change.format(id=token_id, secret=secret) or f"{made[:-1]}{'AE'[made[-1] == 'A']}"
    assert holder(workspace.opened, wrong) is None
    assert holder(workspace.opened, made)


def test_a_token_that_was_changed_in_the_database_opens_nothing(place: Place) -> None:
    workspace = opened(place)
    made = workspace.access.new_token("ann")
    body = workspace.trail.entry(made.token.entry).body | {"user": "eve"}
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        sql = "UPDATE trail_bodies SET body = ? WHERE seq = ?"
        vandal.change(sql, canonical_json(body), made.token.entry)
    with pytest.raises(IntegrityError, match="its body is not what it commits to"):
        holder(place.open().opened, made.text)


def test_scopes_narrow_what_grants_allow_and_never_widen_it(place: Place) -> None:
    workspace = opened(place)
    make_pack(workspace)
    workspace.access.grant("ann", "viewer")
    wide = workspace.opened.for_(
        "default", "ann", Asked(scopes=frozenset({Action.VIEW, Action.HOLD}))
    )
    assert wide.packs.get("dec_1")
    with pytest.raises(AccessError, match="ann may not hold"):
        wide.packs.hold("dec_1", reason="case")
    with pytest.raises(AccessError, match="ann may not read evidence"):
        wide.packs.list()
    with pytest.raises(AccessError):
        wide.acting_as("ann").packs.list()


def test_one_may_ask_beforehand_whether_a_method_may_be_called(sqlite_place: Place) -> None:
    workspace = opened(sqlite_place)
    workspace.access.grant("ann", "viewer")
    ann = workspace.acting_as("ann")
    ann.admit("ledgers.get")
    ann.admit("packs.hold")  # which pack it is decides
    for method in ("ledgers.check", "judges.allow", "packs.fly"):
        with pytest.raises(AccessError):
            ann.admit(method)
    workspace.admit("ledgers.check")
    with pytest.raises(AccessError, match=r"packs\.fly is for no one"):
        workspace.admit("packs.fly")
