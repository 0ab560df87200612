import json
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evidentia.canonical import canonical_json
from evidentia.errors import (
    EnvironmentProblem,
    InputError,
    IntegrityError,
    NotFoundError,
    ProofError,
    UsageError,
)
from evidentia.proof.verification import Verdict
from evidentia.store.home import Home
from evidentia.store.sql.log import (
    require_head,
)
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.trail.merkle import leaf_hash, root_hash, verify_consistency
from evidentia.verifying import verify
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from places import Place, record, status_change


def proof_bytes(workspace: Workspace, seq: int, *, disclose: bool = True) -> bytes:
    return canonical_json(workspace.trail.prove(seq, disclose=disclose).as_json())


def signed(workspace: Workspace) -> Checkpoint:
    return read_checkpoint(workspace.trail.checkpoint())[0]


# Inclusion and consistency


def test_every_entry_of_a_log_can_be_proved_to_a_stranger(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(600)])
    key = workspace.trail.public_key()
    note = workspace.trail.checkpoint()
    for seq in (0, 1, 127, 255, 256, 511, 512, 599, 600):
        proof = workspace.trail.prove_under(note, seq)
        report = verify(canonical_json(proof.as_json()), key=key)
        assert report.verdict is Verdict.HOLDS
        assert report.entry == workspace.trail.entry(seq).entry
        assert report.body == workspace.trail.entry(seq).body


def test_a_proof_can_keep_the_body_to_itself(workspace: Workspace) -> None:
    workspace.append(record(1))
    data = proof_bytes(workspace, 0, disclose=False)
    assert b"vendor" not in data
    report = verify(data, key=workspace.trail.public_key())
    assert report.holds
    assert report.body is None


def test_a_proof_under_an_old_checkpoint_stays_good_as_the_log_grows(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(300)])
    note = workspace.trail.checkpoint()
    workspace.trail.append_many([record(number) for number in range(300)])
    proof = workspace.trail.prove_under(note, 17)
    assert verify(canonical_json(proof.as_json()), key=workspace.trail.public_key()).holds


def test_an_entry_younger_than_the_checkpoint_cannot_be_proved_under_it(
    workspace: Workspace,
) -> None:
    note = workspace.trail.checkpoint()
    workspace.append(record(1))
    with pytest.raises(ProofError, match="entry 1 is not in a tree of 1 entries"):
        workspace.trail.prove_under(note, 1)
    with pytest.raises(NotFoundError, match="no entry 2"):
        workspace.prove(2)


def test_a_checkpoint_of_another_log_proves_nothing_here(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    one.append(record(1))
    with pytest.raises(IntegrityError, match="not of this log's past"):
        one.trail.prove_under(other.trail.checkpoint(), 0)


@pytest.mark.parametrize(("old", "new"), [(1, 600), (255, 256), (256, 600), (300, 300), (513, 599)])
def test_a_log_proves_that_it_only_grew(workspace: Workspace, old: int, new: int) -> None:
    workspace.trail.append_many([record(number) for number in range(600)])
    leaves = [bytes.fromhex(logged.leaf) for logged in workspace.trail.entries()]
    proof = workspace.trail.prove_consistency(old, new)
    verify_consistency(old, root_hash(leaves[:old]), new, root_hash(leaves[:new]), proof)


def test_without_a_size_consistency_is_proved_up_to_now(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(7)])
    old = signed(workspace)
    workspace.append(record(8))
    new = signed(workspace)
    proof = workspace.trail.prove_consistency(old.size)
    verify_consistency(old.size, old.root, new.size, new.root, proof)


@pytest.mark.parametrize(("old", "new"), [(0, 3), (4, 3), (-1, 3)])
def test_consistency_between_sizes_that_make_no_sense_is_refused(
    workspace: Workspace, old: int, new: int
) -> None:
    workspace.trail.append_many([record(number) for number in range(5)])
    with pytest.raises(ProofError, match="no proof leads"):
        workspace.trail.prove_consistency(old, new)


@pytest.mark.as_owner
def test_a_proof_touches_only_the_tiles_on_its_path(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(0)] * 9_000)
    note = workspace.trail.checkpoint()
    statements: list[str] = []
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(statements.append)
    workspace.trail.prove_under(note, 4_321)
    assert 1 <= sum("trail_tiles" in statement for statement in statements) <= 2
    statements.clear()
    workspace.trail.prove_under(note, 4_322)
    assert not any("trail_tiles" in statement for statement in statements)


def test_the_tile_cache_forgets_what_was_not_used_for_longest() -> None:
    cache = TileCache(kept=2)
    for index in range(2):
        cache.put(("t", 0, index), [[b"%d" % index]])
    assert cache.get(("t", 0, 0)) == [[b"0"]]
    cache.put(("t", 0, 2), [[b"2"]])
    assert cache.get(("t", 0, 1)) is None
    assert cache.get(("t", 0, 0)) == [[b"0"]]


def test_threads_may_prove_at_once(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(700)])
    note, key = workspace.trail.checkpoint(), workspace.trail.public_key()
    workspace.opened.tiles = TileCache(kept=1)
    verdicts: list[bool] = []

    def prove(first: int) -> None:
        for seq in range(first, 600, 60):
            proof = workspace.trail.prove_under(note, seq)
            verdicts.append(verify(canonical_json(proof.as_json()), key=key).holds)

    threads = [threading.Thread(target=prove, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 40


def test_a_missing_tile_is_said_to_be_missing(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(0)] * 300)
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        connection.exec_driver_sql("DROP TRIGGER trail_tiles_delete")
        connection.exec_driver_sql("DELETE FROM trail_tiles")
    with pytest.raises(IntegrityError, match=r"tile 0/0 of log .* is missing"):
        workspace.trail.prove_consistency(3)


def test_the_root_at_every_size_is_the_roots_definition(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(520)])
    leaves = [leaf_hash(logged.entry.encode()) for logged in workspace.trail.entries()]
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        tree = stored_tree(connection, require_head(connection, "default"), TileCache())
        for size in (0, 1, 2, 255, 256, 257, 511, 512, 519, 520):
            assert tree.root_at(size) == root_hash(leaves[:size])


# Checkpoints


def test_a_checkpoint_says_what_the_log_is_and_is_kept_in_both_places(place: Place) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(1), record(2)])
    note = workspace.trail.checkpoint()
    checkpoint, parsed = read_checkpoint(note)
    assert checkpoint.size == workspace.trail.size == 3
    assert parsed.signed_by([workspace.trail.public_key()])
    assert place.home.kept_checkpoint("default") == note
    report = workspace.trail.audit()
    assert report.checkpoints == 1
    assert report.compared_with == (f"checkpoint kept in {place.home.checkpoint_file('default')}",)


def test_signing_the_same_log_twice_gives_the_same_checkpoint(workspace: Workspace) -> None:
    assert workspace.trail.checkpoint() == workspace.trail.checkpoint()
    assert workspace.trail.audit().checkpoints == 1


def test_processes_that_sign_at_once_store_one_checkpoint(place: Place) -> None:
    place.open().append(record(1))
    place.open().trail.public_key()
    others = [place.open() for _ in range(4)]
    notes: list[str] = []
    threads = [
        threading.Thread(target=lambda w=w: notes.append(w.trail.checkpoint())) for w in others
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notes) == 4
    assert len(set(notes)) == 1
    assert others[0].trail.audit().holds


def test_a_smaller_checkpoint_never_takes_a_larger_ones_place_at_home(
    workspace: Workspace,
) -> None:
    small = workspace.trail.checkpoint()
    workspace.append(record(1))
    large = workspace.trail.checkpoint()
    workspace.opened.home.keep_checkpoint("default", small)
    assert workspace.opened.home.kept_checkpoint("default") == large


def test_a_damaged_checkpoint_at_home_is_replaced_only_by_a_good_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.checkpoint_file("default").parent.mkdir()
    home.checkpoint_file("default").write_text("nonsense")
    with pytest.raises(ProofError):
        home.keep_checkpoint("default", "nonsense too")
    assert home.kept_checkpoint("default") == "nonsense"


def test_an_audit_that_holds_can_be_kept_as_a_checkpoint(workspace: Workspace) -> None:
    workspace.append(record(1))
    workspace.append(record(2))
    home = workspace.opened.home
    home.checkpoint_file("default").unlink()
    report = workspace.trail.audit()
    assert report.compared_with == ()
    note = workspace.trail.keep_checkpoint(report)
    assert note == home.kept_checkpoint("default")
    assert note is not None
    assert read_checkpoint(note)[0].size == 3
    assert workspace.trail.audit().compared_with != ()


# Keys


def apart(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return who signed a body, and what it says."""
    said = {name: value for name, value in body.items() if name != "signature"}
    return body["signature"]["keyid"], said


def test_the_first_checkpoint_makes_a_key_and_announces_it(workspace: Workspace) -> None:
    workspace.append(record(1))
    key = workspace.trail.public_key()
    assert workspace.trail.public_key() == key
    (announced,) = workspace.trail.keys()
    assert (announced.key, announced.since, announced.replaced_at) == (key, 1, None)
    assert announced.held
    entry = workspace.trail.entry(1)
    assert entry.entry.kind == "key"
    signer, said = apart(entry.body)
    assert (signer, said) == (key.key_id, {"key": str(key), "replaces": None, "by": "owner"})
    file = workspace.opened.home.keys.file("default", key.key_id)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_rotated_key_is_announced_and_signed_for_by_the_old_one(workspace: Workspace) -> None:
    workspace.append(record(1))
    old = workspace.trail.public_key()
    new = workspace.trail.rotate_key()
    workspace.append(record(2))
    first, second = workspace.trail.keys()
    assert (first.key, first.since, first.replaced_at) == (old, 1, 2)
    assert (second.key, second.since, second.replaced_at) == (new, 2, None)
    signer, said = apart(workspace.trail.entry(2).body)
    assert (signer, said["key"], said["replaces"]) == (old.key_id, str(new), old.key_id)
    assert set(said) == {"key", "replaces", "by"}
    assert read_checkpoint(workspace.trail.checkpoint())[1].signed_by([new]) == new
    report = workspace.trail.audit()
    assert report.holds
    assert report.checkpoints == 4  # of the first entries, by both at the rotation, and after it
    assert verify(proof_bytes(workspace, 0), key=new).holds
    assert not verify(proof_bytes(workspace, 0), key=old).holds


def test_a_lost_key_is_named_and_can_be_replaced(workspace: Workspace) -> None:
    workspace.append(record(1))
    lost = workspace.trail.public_key()
    file = workspace.opened.home.keys.file("default", lost.key_id)
    file.unlink()
    with pytest.raises(EnvironmentProblem, match=rf"{lost.key_id}.*{file.name}.*keys rotate"):
        workspace.append(record(2))
    assert not workspace.trail.keys()[0].held
    with pytest.raises(EnvironmentProblem, match="keys rotate --lost"):
        workspace.trail.rotate_key()
    new = workspace.trail.rotate_key(lost="the disk failed")
    assert verify(proof_bytes(workspace, 0), key=new).holds
    report = workspace.trail.audit()
    assert report.holds
    broken = f"key {lost.key_id} was lost, and key {new.key_id} took its place"
    assert report.notes == (f"{broken} without its signature: the disk failed (entry 2)",)


def test_a_key_file_that_is_no_key_is_refused(workspace: Workspace) -> None:
    key = workspace.trail.public_key()
    workspace.opened.home.keys.file("default", key.key_id).write_text("not a key")
    with pytest.raises(InputError, match="not a private key"):
        workspace.append(record(1))


def test_tenants_keys_are_apart(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    assert one.trail.public_key().public_key != other.trail.public_key().public_key
    assert (place.home.folder / "keys" / "one").is_dir()


# Erasing


def test_an_erased_body_is_gone_and_every_proof_still_holds(workspace: Workspace) -> None:
    workspace.trail.append_many([record(1), record(2)])
    key = workspace.trail.public_key()
    before = proof_bytes(workspace, 0)
    receipt = workspace.trail.erase(0, reason="GDPR Art. 17", by="counsel")
    gone = workspace.trail.entry(0)
    assert gone.erased
    assert gone.body is None
    assert workspace.trail.records() == [record(2)]
    said = workspace.trail.entry(receipt.seq)
    assert said.entry.kind == "erasure"
    assert said.entry.subject == "entry/0"
    assert apart(said.body) == (
        key.key_id,
        {
            "entry": 0,
            "leaf": gone.leaf,
            "reason": "GDPR Art. 17",
            "by": "counsel",
            "carried_out_by": "owner",
        },
    )
    assert verify(before, key=key).holds
    after = verify(proof_bytes(workspace, 0), key=key)
    assert after.holds
    assert after.body is None
    assert workspace.trail.audit().holds


def test_a_body_is_erased_once(workspace: Workspace) -> None:
    workspace.append(record(1))
    workspace.trail.erase(0, reason="law", by="counsel")
    with pytest.raises(UsageError, match="erased already"):
        workspace.trail.erase(0, reason="law", by="counsel")
    assert workspace.trail.size == 3


def test_keys_and_erasures_are_never_erased(workspace: Workspace) -> None:
    workspace.append(record(1))
    workspace.trail.public_key()
    workspace.trail.erase(0, reason="law", by="counsel")
    for seq, kind in ((1, "key"), (2, "erasure")):
        with pytest.raises(UsageError, match=f"of kind {kind} and is never erased"):
            workspace.trail.erase(seq, reason="law", by="counsel")


@pytest.mark.parametrize(("reason", "by"), [("", "counsel"), ("law", "  ")])
def test_an_erasure_needs_a_reason_and_a_name(workspace: Workspace, reason: str, by: str) -> None:
    workspace.append(record(1))
    with pytest.raises(InputError, match="a reason and who asked"):
        workspace.trail.erase(0, reason=reason, by=by)
    assert not workspace.trail.entry(0).erased


def test_an_entry_that_is_not_there_cannot_be_erased(workspace: Workspace) -> None:
    workspace.append(record(1))
    with pytest.raises(NotFoundError, match="no entry 5"):
        workspace.trail.erase(5, reason="law", by="counsel")
    assert workspace.trail.size == 2


def test_what_was_erased_is_in_no_file_any_more(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1, source_clause="the secret clause"))
    workspace.trail.erase(0, reason="law", by="counsel")
    for file in sqlite_place.home.folder.glob("evidentia.db*"):
        assert b"secret clause" not in file.read_bytes()


def test_an_erasure_does_not_wait_for_those_who_read(place: Place) -> None:
    workspace, reader = place.open(), place.open()
    workspace.append(record(1))
    with reader.opened.database.of(reader.tenant).read() as connection:
        require_head(connection, "default")
        began = time.monotonic()
        workspace.trail.erase(0, reason="law", by="counsel")
        assert time.monotonic() - began < 5
    assert workspace.trail.entry(0).erased


# The workspace's own


def test_time_and_randomness_come_from_the_caller(place: Place) -> None:
    opened = place.open()
    workspace = Opened(
        opened.opened.database,
        opened.opened.home,
        clock=lambda: datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
        randomness=lambda count: b"\x07" * count,
    ).for_("fixed")
    workspace.append(record(1))
    assert workspace.trail.entry(0).entry.at == "2026-01-31T09:30:00.000000Z"
    assert workspace.trail.audit().origin == "evidentia/0707070707070707/fixed"
    proof = workspace.prove(0)
    assert proof.disclosure is not None
    assert proof.disclosure.salt == b"\x07" * 32


def test_what_the_workspace_returns_can_be_printed_as_json(workspace: Workspace) -> None:
    workspace.trail.append_many([record(1), status_change(1)])
    workspace._acting.record(EntryKind.PACK, "p", {"n": 1})
    workspace.trail.public_key()
    shown = [logged.as_json() for logged in workspace.trail.entries()]
    shown.append(workspace.trail.keys()[0].as_json())
    shown.append(workspace.trail.audit().as_json())
    shown.append(workspace.prove(0).as_json())
    assert json.loads(json.dumps(shown)) == shown
