"""`evidentia trail access-log`: listed, exported, and verified by another."""

from pathlib import Path

import evidentia as ev
from cli_running import Cli
from evidentia.workspace.requests import AskedRequest, record_request


def test_the_access_log_is_listed_exported_and_verified(cli: Cli, folder: Path) -> None:
    assert cli("token", "new", "ann", "--role", "viewer").code == 0
    assert "Nothing is recorded yet" in cli("trail", "access-log").out
    asked = AskedRequest("packs.get", "refused", "/api/v1/packs/x", "0" * 16, "0" * 32)
    with ev.open(folder / ".evidentia") as workspace:
        record_request(workspace.opened, workspace.tenant, "ann", asked)
        key = str(workspace.trail.public_key())
    assert "packs.get" in cli("trail", "access-log").out
    (listed,) = cli("trail", "access-log", "--json").json["requests"]
    assert (listed["by"], listed["outcome"]) == ("ann", "refused")
    written = cli("trail", "access-log", "--export", "access.ndjson")
    assert "4 entries of the access log, signed" in written.out
    verified = cli("verify", "access.ndjson", "--key", key)
    assert verified.code == 0, verified.out
    assert "lines: 4 entries of the access log" in verified.out
    made = cli("trail", "access-log", "--export", "late.ndjson", "--first", "3", "--json").json
    assert made == {"file": "late.ndjson", "entries": 1}
    refused = cli("trail", "access-log", "--since", "2026-01-01T00:00:00Z")
    assert (refused.code, "give --export FILE" in refused.err) == (2, True)
