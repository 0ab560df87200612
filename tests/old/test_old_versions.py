"""What older versions stored, exported and signed still opens, verifies and goes on.

`v0.1.0` has a workspace of that version (ingested, bundled, checked, decided, reviewed, held,
erased, with a rotated key), and what it exported: a pack, PDFs, proofs, a published log. A bundle
that was redacted in that workspace later, still by the first rules, has a proof of its own.
"""

import json
import re
from base64 import b64decode
from collections import Counter
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.bundles.model import EvidenceBundle
from evidentia.canonical import canonical_json
from evidentia.cli.bundle_view import explained, seen_redactions
from evidentia.errors import IntegrityError
from places import record
from unpacking import unpack

OLD = Path(__file__).parent / "v0.1.0"
KEYS = [key["public_key"] for key in json.loads((OLD / "keys.json").read_text())["keys"]]
FIRST, NOW = KEYS
POLICIES = Path(__file__).parents[2] / "examples" / "policies"
"""The documents that were bundled, which lay elsewhere when that was done."""


@pytest.fixture
def untouched(tmp_path: Path) -> Path:
    unpack(OLD / "workspace.tar.gz", tmp_path)
    return tmp_path / ".evidentia"


@pytest.fixture
def home(untouched: Path) -> Path:
    with ev.open(untouched):  # which brings its database up to date
        pass
    return untouched


def test_an_old_workspace_that_is_only_read_holds_and_stays_as_it_is(untouched: Path) -> None:
    before = (untouched / "evidentia.db").read_bytes()
    with ev.open(untouched, create=False, read_only=True) as ws:
        assert ws.trail.audit().holds
        assert ws.packs.audit().holds
        assert ws.packs.get("latest").reviewer_id == "noor"
    assert (untouched / "evidentia.db").read_bytes() == before


@pytest.mark.parametrize(
    "name", ["pack.json", "ledger_proof.json", "bundle_proof.json", "record_proof.json"]
)
def test_an_old_export_still_verifies_and_a_forged_one_does_not(name: str) -> None:
    data = (OLD / name).read_bytes()
    report = ev.verify(data, key=FIRST)
    assert report.holds, report.checks
    assert not ev.verify(data, key=NOW).holds
    assert not ev.verify(data.replace(b'"seq":', b'"seq":1', 1), key=FIRST).holds


@pytest.mark.parametrize("name", ["pack.pdf", "ledger.pdf"])
def test_an_old_pdf_verifies_but_for_pages_that_another_version_made(name: str) -> None:
    report = ev.verify(OLD / name, key=FIRST)
    outcomes = {check.name: check.holds for check in report.checks}
    assert outcomes.pop("rendering") is not False
    assert set(outcomes.values()) == {True}
    altered = (OLD / name).read_bytes().replace(b"Evidence", b"Evidence!", 1)
    assert not ev.verify(altered, key=FIRST).holds


def test_an_old_workspace_opens_and_all_of_it_holds(home: Path) -> None:
    with ev.open(home, create=False) as ws:
        assert ws.trail.size == 26
        assert ws.trail.audit().holds
        assert ws.ledgers.audit() == []
        assert ws.bundles.audit(lake_root=POLICIES) == []
        assert ws.packs.audit().holds
        assert [str(one.key) for one in ws.trail.keys()] == KEYS  # noqa: SIM118 - not a mapping's
        assert len(ws.trail.records()) == 5  # one of six was erased
        assert ws.trail.entry(6).erased


def test_what_is_in_an_old_workspace_reads_as_it_was(home: Path) -> None:
    exported = json.loads((OLD / "pack.json").read_text())
    with ev.open(home, create=False) as ws:
        assert len(ws.documents.list()) == 5
        assert ws.ledgers.get("latest").previous_ledger_id == ws.ledgers.list()[1].id
        assert ws.bundles.runs("latest") == ["assistant 1"]
        pack = ws.packs.get("latest")
        assert pack.pack_id == exported["entry"]["subject"]
        assert (pack.version, pack.reviewer_id) == (2, "noor")
        assert pack.pack_id in ws.packs.held()
        assert ws.packs.retention().years == 10
        assert [(one.user, one.role) for one in ws.access.grants()] == [("noor", "approver")]
        assert ws.acting_as("noor").packs.get("latest") == pack


def test_a_bundle_by_older_rules_of_redaction_holds_and_is_explained(home: Path) -> None:
    data = (OLD / "redacted_bundle_proof.json").read_bytes()
    assert ev.verify(data, key=NOW).holds
    assert not ev.verify(data.replace(b'"seq":', b'"seq":1', 1), key=NOW).holds
    statement = json.loads(b64decode(json.loads(data)["envelope"]["payload"]))
    bundle = EvidenceBundle(**statement["predicate"])
    assert bundle.build_version == "2.0"
    assert bundle.items[0].content == "Call +44 [PHONE_1] or [PHONE_2]."
    whys = [row[-1] for row in explained(bundle)]
    assert whys == ["1 EMAIL, 2 PHONE", "6 EMAIL; max_item_bytes: 60"]
    with ev.open(home, create=False) as ws:
        old = ws.bundles.get("latest")
        assert (old.build_version, old.policy.enable_redaction) == ("2.0", True)
        assert ws.bundles.verify(old.bundle_id, lake_root=POLICIES).problems == ()
        shown = str(ws.bundles.render(old.bundle_id))
    assert seen_redactions(old) == Counter(re.findall(r"\[([A-Z]+)_[0-9]+\]", shown))


def test_an_old_workspace_goes_on_and_proves_old_and_new(home: Path, tmp_path: Path) -> None:
    with ev.open(home) as ws:
        ws.append(record())
        ws.check("Leave requests must be submitted 2 weeks in advance.", judges=["quote"])
        added = ws.trail.entries(after=25)
        assert [one.body.get("by") for one in added] == ["owner", "owner", "owner"]
        assert [one.entry.kind for one in added] == ["evidence_record", "key", "ledger"]
        key = ws.trail.public_key()
        assert str(key) == NOW
        for of in (5, 26, ws.ledgers.list()[-1].id, "latest", ws.packs.find("latest").id):
            name = ws.bundles.find("latest").id if of == "latest" else of
            file = tmp_path / "proof.json"
            file.write_bytes(canonical_json(ws.prove(name).as_json()) + b"\n")
            assert ev.verify(file, key=key).holds, of
        assert ws.trail.audit().holds
        assert (ws.ledgers.audit(), ws.bundles.audit(lake_root=POLICIES)) == ([], [])


def test_old_documents_are_named_by_the_audit_until_they_are_recorded(home: Path) -> None:
    with ev.open(home) as ws:
        found = ws.audit().part("documents").findings
        assert len(found) == len(ws.documents.list(all_versions=True)) == 5
        assert all("no entry of the trail records it" in one for one in found)
        done = ws.documents.record_missing()
        assert (len(done.recorded), done.problems) == (5, ())
        report = ws.audit()
        assert report.findings == ()
        assert any("not on this machine" in left for left in report.not_looked_at)


def test_an_old_log_that_is_rolled_back_is_still_seen(home: Path) -> None:
    with ev.open(home) as ws:
        ws.append(record())
        ws.trail.checkpoint()
    checkpoint = home / "checkpoints" / "default.txt"
    kept = checkpoint.read_bytes()
    unpack(OLD / "workspace.tar.gz", home.parent)
    checkpoint.write_bytes(kept)
    with ev.open(home) as ws, pytest.raises(IntegrityError, match="do not continue"):
        ws.append(record())
