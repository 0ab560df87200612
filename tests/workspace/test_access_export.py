"""The access log as a signed file: what is in it, and what it says of bodies that were erased."""

import json
from typing import Any

import pytest

import evidentia as ev
from evidentia.errors import InputError
from evidentia.workspace import Workspace
from evidentia.workspace.requests import AskedRequest, record_request
from packing import make_pack, opened
from places import Place


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    """Give a workspace with roles, a token, a request, an approval and a second key."""
    workspace = opened(sqlite_place)
    make_pack(workspace)
    workspace.access.grant("ann", "admin")
    workspace.access.new_token("ann")
    asked = AskedRequest("packs.get", "refused", "/api/v1/packs/x", "0" * 16, "0" * 32)
    record_request(workspace.opened, workspace.tenant, "ann", asked)
    workspace.packs.approve_export("dec_1")
    workspace.trail.rotate_key()
    return workspace


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()[1:]]


def test_it_has_requests_roles_tokens_exports_and_keys_and_verifies(workspace: Workspace) -> None:
    data = workspace.access.export()
    assert [one["entry"]["kind"] for one in lines(data)] == [
        *("key", "access", "access", "request", "export", "key"),
    ]
    report = ev.verify(data, key=workspace.trail.public_key())
    assert report.holds, report.checks
    altered = ev.verify(data.replace(b"refused", b"allowed"), key=workspace.trail.public_key())
    assert not altered.holds
    times = [one["entry"]["at"] for one in lines(data)]
    part = workspace.access.export(since=times[2], until=times[4])
    assert [one["entry"]["at"] for one in lines(part)] == times[2:4]
    assert ev.verify(part, key=workspace.trail.public_key()).holds


def test_what_was_erased_is_there_without_its_body(workspace: Workspace) -> None:
    seq = workspace.access.requests()[0].entry.seq
    workspace.trail.erase(seq, reason="an order", by="court")
    data = workspace.access.export(first=seq, last=seq)
    assert "body" not in lines(data)[0]
    report = ev.verify(data, key=workspace.trail.public_key())
    assert report.holds
    assert any("but for 1 body not disclosed" in check.says for check in report.checks)


def test_a_key_that_the_file_revokes_does_not_vouch_for_it(workspace: Workspace) -> None:
    first = next(iter(workspace.trail.keys())).key
    workspace.trail.revoke_key(first.key_id, from_size=1, reason="stolen")
    report = ev.verify(workspace.access.export(), key=workspace.trail.public_key())
    assert report.holds
    assert "revocation" in [check.name for check in report.checks]


def test_a_range_that_is_too_long_is_asked_for_in_parts(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.workspace.access_export.MAX_LINES", 2)
    said = r"6 entries, 2 at most.*could end with entry \d+"
    with pytest.raises(InputError, match=said) as raised:
        workspace.access.export()
    end = int(str(raised.value).split()[-1])
    assert len(lines(workspace.access.export(last=end))) == 2
    with pytest.raises(InputError, match="since: 'soon' is not a time"):
        workspace.access.export(since="soon")
