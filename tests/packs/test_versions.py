from typing import Any

import pytest

from evidentia.errors import InputError, IntegrityError
from evidentia.packs.model import DecisionSummary, EvidencePack, ReviewOutcome
from evidentia.packs.versions import check_chain, reviewed, revised
from packs.making import (
    LATER,
    NOW,
    call,
    decision,
    failed_call,
    full_pack,
    long_memo,
    memo,
    pack,
    source,
    unflagged_call,
)

FIRST = pack(decision=DecisionSummary.of(decision()), tool_calls=(call(),))
LAST = "2026-12-01T00:00:00.000000Z"


def approved(made: EvidencePack, **changes: Any) -> EvidencePack:
    fields = {"reviewer": "u_fatimah", "outcome": ReviewOutcome.APPROVED, "at": LATER}
    return reviewed(made, **{**fields, **changes})


class TestRevisions:
    def test_an_edit_is_a_new_pack_that_names_the_old_one(self) -> None:
        before = FIRST.encode()
        made = revised(FIRST, {"memo": memo(title_en="Another")}, at=LATER)
        assert made.memo.title_en == "Another"
        assert (made.version, made.replaces, made.created_at) == (2, FIRST.pack_id, LATER)
        assert made.pack_id != FIRST.pack_id
        assert FIRST.encode() == before
        rest = {"pack_id", "memo", "version", "replaces", "created_at"}
        assert made.model_dump(exclude=rest) == FIRST.model_dump(exclude=rest)

    def test_an_edit_may_be_given_as_json(self) -> None:
        changes = {"memo": memo(title_en="Another").model_dump()}
        assert revised(FIRST, changes, at=LATER) == revised(
            FIRST, {"memo": memo(title_en="Another")}, at=LATER
        )

    def test_an_edit_without_changes_is_a_new_version_too(self) -> None:
        assert revised(FIRST, {}, at=LATER).replaces == FIRST.pack_id

    def test_a_review_was_of_the_old_version(self) -> None:
        seen = approved(FIRST, note="Fine.")
        made = revised(seen, {"memo": memo(title_en="Another")}, at=LAST)
        assert made.reviewer_id is made.reviewed_at is made.review_outcome is None
        assert made.review_note == ""
        assert not made.is_resolved

    @pytest.mark.parametrize(
        "name",
        [
            "pack_id",
            "v",
            "decision_id",
            "decision",
            "entity_id",
            "agent_name",
            "tenant_id",
            "version",
            "replaces",
            "created_at",
            "reviewer_id",
            "reviewed_at",
            "review_outcome",
            "review_note",
        ],
    )
    def test_what_follows_cannot_be_revised(self, name: str) -> None:
        with pytest.raises(InputError, match=f"^{name} cannot be revised"):
            revised(FIRST, {name: getattr(FIRST, name)}, at=LATER)

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"sources": ()}, "pack.sources: cite at least one source"),
            ({"memmo": memo()}, "pack.memmo: there is no such field; is it memo\\?"),
            ({"memo": {**memo().model_dump(), "body_ar": ""}}, "pack.memo.body_ar: must not be"),
            ({"sources": (source(), {"source": "x"})}, "pack.sources.1.excerpt: "),
            (
                {"tool_calls": ({**call().model_dump(), "actual_action": "deleted contact 456"},)},
                "pack.tool_calls.0: contradiction_flag cannot be switched off",
            ),
        ],
    )
    def test_an_edit_that_breaks_a_rule_is_refused(
        self, changes: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(InputError, match=f"^{said}"):
            revised(FIRST, changes, at=LATER)

    def test_a_time_that_is_none_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"^pack\.created_at: "):
            revised(FIRST, {}, at="now")

    def test_what_a_person_saw_stays_seen(self) -> None:
        seen = pack(
            tool_calls=(call(contradiction_flag=True, contradiction_reason="another contact"),)
        )
        assert revised(seen, {}, at=LATER).tool_calls == seen.tool_calls

    def test_what_was_worked_out_stays_as_it_was_recorded(self) -> None:
        old = pack(tool_calls=(unflagged_call(), call()), memo=long_memo())
        assert approved(old).tool_calls == old.tool_calls
        assert approved(old).memo == old.memo
        added = [*old.as_json()["tool_calls"], failed_call().model_dump(mode="json")]
        newer = revised(old, {"tool_calls": added}, at=LATER)
        assert newer.tool_calls == [*old.tool_calls, failed_call()]

    def test_a_call_that_is_new_is_worked_out(self) -> None:
        told = unflagged_call(tool_name="another").model_dump(mode="json")
        with pytest.raises(InputError, match="cannot be switched off"):
            revised(pack(tool_calls=(unflagged_call(),)), {"tool_calls": [told]}, at=LATER)

    def test_everything_else_of_a_full_pack_stays(self) -> None:
        full = full_pack()
        made = approved(full)
        rest = {
            "pack_id",
            "version",
            "replaces",
            "created_at",
            "reviewer_id",
            "reviewed_at",
            "review_outcome",
            "review_note",
        }
        assert made.model_dump(exclude=rest) == full.model_dump(exclude=rest)


class TestReviews:
    @pytest.mark.parametrize("outcome", list(ReviewOutcome))
    def test_a_review_is_a_new_version_that_resolves_the_decision(
        self, outcome: ReviewOutcome
    ) -> None:
        made = approved(FIRST, outcome=outcome, note="Seen.")
        assert (made.reviewer_id, made.reviewed_at) == ("u_fatimah", LATER)
        assert (made.review_outcome, made.review_note) == (outcome, "Seen.")
        assert (made.version, made.replaces, made.created_at) == (2, FIRST.pack_id, LATER)
        assert made.is_resolved
        assert not FIRST.is_resolved

    def test_what_was_reviewed_can_be_reviewed_again(self) -> None:
        once = approved(FIRST)
        again = approved(once, outcome=ReviewOutcome.REJECTED, at=LAST)
        assert (again.version, again.replaces) == (3, once.pack_id)
        assert again.review_outcome is ReviewOutcome.REJECTED
        assert once.review_outcome is ReviewOutcome.APPROVED

    @pytest.mark.parametrize(
        ("changes", "said"),
        [({"reviewer": " "}, "pack.reviewer_id: "), ({"at": "today"}, "pack.reviewed_at: ")],
    )
    def test_a_review_by_no_one_is_refused(self, changes: dict[str, Any], said: str) -> None:
        with pytest.raises(InputError, match=f"^{said}"):
            approved(FIRST, **changes)


class TestChains:
    SECOND = approved(FIRST)
    THIRD = revised(SECOND, {"memo": memo(title_en="Another")}, at=LAST)

    def test_versions_in_their_order_are_a_chain(self) -> None:
        for chain in (
            [],
            [FIRST],
            [FIRST, self.SECOND, self.THIRD],
            [self.SECOND, self.THIRD],
        ):
            check_chain(chain)
            check_chain(iter(chain))

    def test_what_does_not_follow_is_found(self) -> None:
        fork = approved(FIRST, note="otherwise")
        for chain in (
            [self.SECOND, FIRST],
            [FIRST, self.THIRD],
            [FIRST, FIRST],
            [FIRST, fork, self.THIRD],
            [FIRST, pack(created_at=LATER)],
        ):
            with pytest.raises(IntegrityError, match="it does not follow"):
                check_chain(chain)

    def test_a_version_that_skips_a_number_is_found(self) -> None:
        skipping = pack(version=3, replaces=FIRST.pack_id)
        with pytest.raises(IntegrityError, match=f"{skipping.pack_id} is version 3 and replaces"):
            check_chain([FIRST, skipping])

    @pytest.mark.parametrize("other", [{"decision_id": "dec_2"}, {"tenant_id": "globex"}])
    def test_a_version_of_another_decision_is_found(self, other: dict[str, str]) -> None:
        stranger = pack(version=2, replaces=FIRST.pack_id, created_at=NOW, **other)
        with pytest.raises(IntegrityError, match="replaces a pack of another decision"):
            check_chain([FIRST, stranger])
