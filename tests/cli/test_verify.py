import json
from pathlib import Path

import pytest

from cli_running import Cli, ndjson, record


@pytest.fixture
def proved(filled: Cli) -> Cli:
    assert filled("trail", "prove", "2", "-o", "proof.json").code == 0
    assert filled("keys", "show", "-o", "key.txt").code == 0
    return filled


def _edit(folder: Path, **changes: object) -> Path:
    document = json.loads((folder / "proof.json").read_text())
    (folder / "edited.json").write_text(json.dumps(document | changes))
    return folder / "edited.json"


def test_proof_holds_with_the_key_in_every_form(proved: Cli, folder: Path) -> None:
    line = (folder / "key.txt").read_text().strip()
    public = proved("keys", "--json").json["keys"][0]["public_key"]
    assert line == public
    for key in (line, "key.txt"):
        ran = proved("verify", "proof.json", "--key", key)
        assert ran.code == 0
        assert ran.out.startswith("✓ proof.json: holds\n")
        assert "cannot show" in ran.out


def test_without_a_key_the_signer_is_unknown(proved: Cli) -> None:
    ran = proved("verify", "proof.json")
    assert ran.code == 1
    assert ran.out.startswith("? proof.json: consistent, signer unknown\n")
    assert proved("verify", "proof.json", "--json").json["verdict"] == "consistent, signer unknown"


def test_proof_is_verified_far_from_the_workspace(
    proved: Cli,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("proof.json", "key.txt"):
        (elsewhere / name).write_bytes((folder / name).read_bytes())
    monkeypatch.chdir(elsewhere)
    assert proved("verify", "proof.json", "--key", "key.txt").code == 0
    assert sorted(path.name for path in elsewhere.iterdir()) == ["key.txt", "proof.json"]


def test_proof_without_its_body_discloses_nothing(proved: Cli, folder: Path) -> None:
    proved("trail", "prove", "2", "--no-body", "-o", "closed.json")
    assert "The Vendor" not in (folder / "closed.json").read_text()
    ran = proved("verify", "closed.json", "--key", "key.txt")
    assert ran.code == 0
    assert "its body is not disclosed here" in ran.out


def test_proof_goes_to_standard_output_without_a_file(proved: Cli) -> None:
    assert proved("trail", "prove", "1").json["format"] == "evidentia/proof"
    answer = proved("trail", "prove", "1", "-o", "one.json", "--json").json
    assert answer["entry"] == 1


def test_changed_body_is_refused(proved: Cli, folder: Path) -> None:
    changed = _edit(folder, body={"confidence": 1})
    ran = proved("verify", changed, "--key", "key.txt")
    assert ran.code == 1
    assert "it was changed" in ran.out
    assert "cannot show" not in ran.out


def test_cut_short_proof_is_refused_in_one_line(proved: Cli, folder: Path) -> None:
    data = (folder / "proof.json").read_bytes()
    (folder / "cut.json").write_bytes(data[: len(data) // 2])
    ran = proved("verify", "cut.json", "--key", "key.txt")
    assert ran.code == 1
    assert "not JSON" in ran.out


def test_future_version_asks_for_an_upgrade(proved: Cli, folder: Path) -> None:
    ran = proved("verify", _edit(folder, v=4), "--key", "key.txt")
    assert ran.code == 1
    assert "upgrade evidentia" in ran.out


def test_another_logs_checkpoint_is_refused(proved: Cli, folder: Path) -> None:
    proved("trail", "append", "-", "--home", "other", stdin=ndjson(record(1), record(2), record(3)))
    note = proved("trail", "checkpoint", "--home", "other", "--json").json["checkpoint"]
    ran = proved("verify", _edit(folder, checkpoint=note), "--key", "key.txt")
    assert ran.code == 1
    assert "the key given is for" in ran.out


def test_another_key_does_not_match(proved: Cli) -> None:
    proved("keys", "rotate")
    ran = proved("verify", "proof.json", "--key", proved("keys", "show").out.strip())
    assert ran.code == 1
    assert "not by the key given" in ran.out


def test_old_key_still_verifies_old_proofs(proved: Cli) -> None:
    proved("keys", "rotate")
    assert proved("verify", "proof.json", "--key", "key.txt").code == 0
    assert proved("trail", "verify").code == 0


@pytest.mark.parametrize("key", ["nonsense", "name+00000000+AAAA", "nowhere.txt"])
def test_what_is_no_key_is_a_usage_error(proved: Cli, key: str) -> None:
    ran = proved("verify", "proof.json", "--key", key)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_missing_or_foreign_file_is_named(proved: Cli, folder: Path) -> None:
    assert proved("verify", "nowhere.json").code == 2
    (folder / "foreign.json").write_text('{"format": "something else"}')
    ran = proved("verify", "foreign.json", "--key", "key.txt")
    assert ran.code == 1
    assert "this is no evidence file: it is JSON without a proof in it" in ran.out
