"""Files that are sent to be verified: by keys that are given, or by the workspace's own."""

import json
from pathlib import Path
from typing import Any

import pytest

import tiers
from evidentia.proof.keys import SigningKey
from server.house import House

VERIFY = "/api/v1/verify"


def verified(house: House, data: bytes, who: str = "viewer", **more: Any) -> Any:
    return house.post(VERIFY, who, files={"file": ("evidence", data)}, data=more)


def evidence(house: House, kind: str, folder: Path) -> bytes:
    ledger = house.made["ledger_id"]
    workspace = house.workspace
    if kind == "proof":
        return house.get(f"/api/v1/ledgers/{ledger}/proof").content  # type: ignore[no-any-return]
    if kind == "corpus proof":
        path = f"/api/v1/ledgers/{ledger}/corpus/{workspace.documents.list()[0].id}/proof"
        return house.get(path).content  # type: ignore[no-any-return]
    if kind == "pdf":
        return workspace.ledgers.export(ledger, folder / "ledger.pdf").read_bytes()
    return workspace.packs.export(house.made["pack_id"], folder / "pack.json").read_bytes()


@pytest.mark.sqlite_suffices
@pytest.mark.parametrize("kind", ["proof", "corpus proof", "pdf", "pack"])
def test_what_this_workspace_signed_holds(house: House, tmp_path: Path, kind: str) -> None:
    answer = verified(house, evidence(house, kind, tmp_path))
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["holds"], said["verdict"]) == (True, "holds"), said["checks"]
    assert said["trusted_keys"] == [str(house.workspace.trail.public_key())]
    assert (said["shows"] is not None) == (kind == "corpus proof")


def test_what_was_signed_before_the_key_was_replaced_holds(house: House, tmp_path: Path) -> None:
    proof = evidence(house, "proof", tmp_path)
    house.workspace.trail.rotate_key()
    said = verified(house, proof).json()
    assert said["holds"]
    assert len(said["trusted_keys"]) == 2


@pytest.mark.sqlite_suffices
def test_a_changed_file_does_not_hold_and_says_why(house: House, tmp_path: Path) -> None:
    proof = json.loads(evidence(house, "proof", tmp_path))
    proof["body"]["summary"]["total_claims"] = 7
    answer = verified(house, json.dumps(proof).encode())
    assert answer.status_code == 200
    assert not answer.json()["holds"]
    assert any(one["holds"] is False for one in answer.json()["checks"])


def test_a_key_that_is_given_is_the_one_that_is_trusted(
    sqlite_house: House, tmp_path: Path
) -> None:
    house, key = sqlite_house, sqlite_house.workspace.trail.public_key()
    proof = evidence(house, "proof", tmp_path)
    other = SigningKey.from_seed(key.name, bytes(32)).verifier
    assert verified(house, proof, key=str(key)).json()["holds"]
    assert verified(house, proof, key=key.public_key.hex()).json()["holds"]
    assert verified(house, proof, key=[str(other), str(key)]).json()["holds"]
    assert not verified(house, proof, key=str(other)).json()["holds"]


@pytest.mark.parametrize("key", ["/etc/hostname", "../keys/public.pem", "x", "-----BEGIN x"])
def test_a_key_is_text_and_never_the_name_of_a_file(
    sqlite_house: House, tmp_path: Path, key: str
) -> None:
    answer = verified(sqlite_house, evidence(sqlite_house, "proof", tmp_path), key=key)
    assert answer.status_code == 422, answer.text
    assert "no file of that name" not in answer.text


@pytest.mark.parametrize(
    "data",
    tiers.sample([b"", b"%PDF-1.7 no", b"{}", b"[", b"\xff\xfe", b"null", b'"\\ud800"'], 3),
)
def test_what_is_no_evidence_is_said_to_be_none(sqlite_house: House, data: bytes) -> None:
    answer = verified(sqlite_house, data)
    assert answer.status_code in {200, 422}, answer.text
    assert answer.status_code == 422 or not answer.json()["holds"]


def test_nothing_is_recorded_of_a_file(sqlite_house: House, tmp_path: Path) -> None:
    proof = evidence(sqlite_house, "proof", tmp_path)
    before = sqlite_house.workspace.trail.size
    verified(sqlite_house, proof)
    assert sqlite_house.workspace.trail.size == before


def test_a_file_that_ends_the_process_that_verifies_it_is_refused(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.jobs.verifier.WORKER", "evidentia.no_such_module")
    answer = verified(sqlite_house, b"{}")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("the file cannot be verified: it needs too much")
