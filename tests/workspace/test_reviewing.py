"""Who may review what, by who made it, and modifying: a revision and its review in one go."""

import json
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.access.actions import Role
from evidentia.errors import AccessError, ConflictError, InputError, SealingError
from evidentia.workspace import Workspace
from packing import decision, make_pack, memo, opened
from places import Place
from vandal import vandal_at

CHANGES = {"data_freshness_window_hours": 48}


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    """Give a workspace where ann made a pack, and bob may review."""
    workspace = opened(sqlite_place)
    for user in ("ann", "bob"):
        workspace.access.grant(user, Role.ADMIN)
    workspace.acting_as("ann").assemble(decision(), memo=memo())
    return workspace


def test_who_made_a_version_does_not_review_it(workspace: Workspace) -> None:
    ann, bob = workspace.acting_as("ann"), workspace.acting_as("bob")
    with pytest.raises(AccessError, match=r"ann may not review pack pack_.*: ann made it"):
        ann.packs.review("dec_1", "approved")
    with pytest.raises(AccessError, match="ann made it"):
        ann.packs.modify("dec_1", CHANGES, note="why")
    bob.packs.review("dec_1", "rejected", note="no")
    with pytest.raises(AccessError, match="ann made it"):  # a review changes nothing in it
        ann.packs.review("dec_1", "approved")
    bob.packs.review("dec_1", "approved")
    bob.packs.revise("dec_1", CHANGES)
    with pytest.raises(AccessError, match="bob made it"):
        bob.packs.review("dec_1", "approved")
    assert ann.packs.review("dec_1", "approved").version == 5
    said = [one.body["self_review"] for one in workspace.trail.entries(kind="review")]
    assert said == [False] * 3


def test_who_made_it_is_what_the_trail_says_not_a_row(
    workspace: Workspace, sqlite_place: Place
) -> None:
    with vandal_at(sqlite_place.home.database, "seed") as vandal:
        vandal.change("UPDATE evidence_packs SET agent_name = 'other'")
    with pytest.raises(AccessError, match="ann made it"):
        workspace.acting_as("ann").packs.review("dec_1", "approved")


def test_a_maker_that_the_trail_no_longer_names_lets_no_user_review(workspace: Workspace) -> None:
    reviewed = workspace.acting_as("bob").packs.review("dec_1", "approved")
    made = workspace.trail.entries(kind="pack")[0].entry.seq
    workspace.trail.erase(made, reason="an order", by="court")
    with pytest.raises(AccessError, match="the trail no longer says who made it"):
        workspace.acting_as("bob").packs.review(reviewed.pack_id, "rejected", note="no")


def test_the_owners_review_of_their_own_pack_is_a_self_review_for_who_verifies_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    make_pack(workspace, 2)
    workspace.packs.review("dec_2", "approved")
    workspace.packs.review("dec_2", "approved", reviewer="carl")  # who says so is the owner
    workspace.packs.review("dec_1", "approved")
    said = [one.body["self_review"] for one in workspace.trail.entries(kind="review")]
    assert said == [True, True, False]
    for name, own in (("dec_2", True), ("dec_1", False)):
        file = workspace.packs.export(name, tmp_path / f"{name}.json")
        report = ev.verify(file, key=workspace.trail.public_key())
        assert report.holds
        (check,) = [one.says for one in report.checks if one.name == "pack"]
        assert ("a self-review: who made it recorded the review" in check) == own
        assert json.loads(file.read_bytes())["body"]["self_review"] is own


def test_modifying_is_a_revision_and_its_approval_in_one_go(place: Place) -> None:
    workspace = opened(place)
    workspace.access.grant("bob", Role.APPROVER)
    first = make_pack(workspace)
    bob = workspace.acting_as("bob")
    size = workspace.trail.size
    made = bob.packs.modify("dec_1", CHANGES, note="Too old.", attachments={"a.txt": b"seen"})
    assert (made.version, made.reviewer_id, made.review_note) == (3, "bob", "Too old.")
    assert made.data_freshness_window_hours == 48
    assert [one.name for one in made.attachments] == ["a.txt"]
    revision, review = (workspace.trail.entry(seq) for seq in (size, size + 1))
    assert (revision.entry.kind, revision.body["replaces"]) == ("pack", first.pack_id)
    assert (review.body["modifies"], review.body["self_review"]) == (first.pack_id, False)
    assert workspace.trail.size == size + 2
    with pytest.raises(ConflictError, match="has a newer version already"):
        bob.packs.modify(first.pack_id, CHANGES, note="Once more.")
    assert workspace.packs.audit().holds
    assert workspace.audit().holds


def test_a_modification_that_cannot_be_sealed_leaves_no_revision(workspace: Workspace) -> None:
    bob = workspace.acting_as("bob")
    size = workspace.trail.size
    poor = memo().model_dump() | {"body_en": "It fits."}
    for changes, note, said in (
        ({"memo": poor}, "why", "memo"),
        (CHANGES, " ", "says why"),
        ({}, "why", "changes something"),
        ({"entity_id": "other"}, "why", "cannot be revised"),
    ):
        with pytest.raises((InputError, SealingError), match=said):
            bob.packs.modify("dec_1", changes, note=note)
    assert (len(workspace.packs.versions("dec_1")), workspace.trail.size) == (1, size)
