"""`evidentia access`: OpenFGA set up, kept in step and compared, as someone does who begins."""

import json
from pathlib import Path

import pytest

import evidentia as ev
from cli_running import Cli
from evidentia.access.openfga import Relationship
from openfga_stub import Stub
from packing import make_pack


@pytest.fixture
def set_up(cli: Cli, folder: Path, openfga: Stub, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Set up OpenFGA as the how-to says, with a key, beside a workspace with a pack."""
    openfga.token = "s3cret"
    (folder / "key").write_text("s3cret\n")
    monkeypatch.setenv("EVIDENTIA_OPENFGA_URL", openfga.url)
    monkeypatch.setenv("EVIDENTIA_OPENFGA_TOKEN_FILE", str(folder / "key"))
    made = cli("access", "model", "--upload")
    assert made.code == 0, made.err
    for line in made.out.splitlines():
        monkeypatch.setenv(*line.split("="))
    with ev.open(folder / ".evidentia") as workspace:
        make_pack(workspace, 1)
    return cli


def test_from_nothing_to_in_step_and_to_drift_and_back(set_up: Cli, openfga: Stub) -> None:
    cli = set_up
    assert cli("pack", "grant", "ann", "viewer").code == 0
    assert "was told nothing yet" in cli("access", "status").out
    done = cli("access", "sync")
    assert "OpenFGA says what the trail says: 2 tuples written, 0 deleted." in done.out
    assert "OpenFGA was told all of" in cli("access", "status").out
    assert cli("access", "audit").code == 0
    assert cli("access", "can-view", "ann", "dec_1").code == 0
    eve = cli("access", "can-view", "eve", "dec_1")
    assert (eve.code, eve.out) == (1, "✗ eve may not see pack dec_1, or there is none.\n")
    (client_store,) = openfga.stores.values()
    key = ("user:eve", "admin", "tenant:default")
    client_store.tuples[key] = Relationship(*key).as_json()
    drifted = cli("access", "audit")
    assert drifted.code == 1
    assert "tenant:default#admin@user:eve: OpenFGA has it, and nothing in the" in drifted.out
    whole = cli("verify", "--json")
    (part,) = [one for one in whole.json["parts"] if one["name"] == "openfga"]
    assert len(part["findings"]) == 1
    assert cli("access", "sync", "--json").json["deleted"] == ["tenant:default#admin@user:eve"]
    assert cli("access", "audit", "--json").json["extra"] == []
    assert cli("access", "status", "--json").json["in_step"] is True


def test_a_user_is_narrowed_on_the_command_line_too(set_up: Cli, openfga: Stub) -> None:
    cli = set_up
    cli("pack", "grant", "ann", "viewer")
    hidden = cli("pack", "list", "--as", "ann")
    assert hidden.code == 2
    assert "ann may not read evidence" in hidden.err
    cli("access", "sync")
    assert "dec_1" in cli("pack", "list", "--as", "ann").out
    openfga.failing = lambda _: 503
    away = cli("pack", "list", "--as", "ann")
    assert (away.code, away.out) == (2, "")
    assert "OpenFGA answered 503: denied" in away.err
    assert "dec_1" in cli("pack", "list").out  # the owner is not asked about


def test_a_model_is_written_once_and_a_store_is_found_by_its_name(
    cli: Cli, openfga: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_OPENFGA_URL", openfga.url)
    first = cli("access", "model", "--upload", "--json").json
    assert cli("access", "model", "--upload", "--json").json == first
    other = cli("access", "model", "--upload", "--store", "another one", "--json").json
    assert other["store_id"] != first["store_id"]
    monkeypatch.setenv("EVIDENTIA_OPENFGA_STORE_ID", first["store_id"])
    assert cli("access", "model", "--upload", "--store", "what ever", "--json").json == first
    assert openfga.asked["WriteAuthorizationModel"] == 2
    without = cli("access", "sync")
    assert without.code == 2
    assert "EVIDENTIA_OPENFGA_MODEL_ID is not set" in without.err


def test_the_model_is_printed_in_both_of_its_forms(cli: Cli) -> None:
    assert cli("access", "model").out.startswith("# Who may do what with a tenant's evidence")
    assert json.loads(cli("access", "model", "--json").out)["schema_version"] == "1.1"
    refused = cli("access", "model", "--upload")
    assert refused.code == 2
    assert "EVIDENTIA_OPENFGA_URL is not set" in refused.err


def test_without_openfga_it_says_what_to_set(cli: Cli, folder: Path) -> None:
    ev.open(folder / ".evidentia").close()
    for command in ("sync", "audit", "status"):
        refused = cli("access", command)
        assert refused.code == 2, command
        assert "set EVIDENTIA_OPENFGA_URL" in refused.err
