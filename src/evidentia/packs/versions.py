"""Versions: an edit or a review is a new pack that names the one it replaces."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from evidentia.errors import InputError, IntegrityError
from evidentia.frozen import first_problem
from evidentia.packs.model import EvidencePack, ReviewOutcome

_FIXED: Final = (
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
)
"""What an edit cannot set: it follows, or is the decision's, or a review's."""


def revised(pack: EvidencePack, changes: Mapping[str, Any], *, at: str) -> EvidencePack:
    """Return a newer version with changes; a review is no longer there: it was of the old one."""
    for name in changes:
        if name in _FIXED:
            raise InputError(
                f"{name} cannot be revised: it follows from the decision, the version or a review"
            )
    unreviewed = {
        "reviewer_id": None,
        "reviewed_at": None,
        "review_outcome": None,
        "review_note": "",
    }
    changed = dict(changes)
    if isinstance(calls := changed.get("tool_calls"), list | tuple):
        changed["tool_calls"] = [_as_recorded(pack, call) for call in calls]
    return _replaced(pack, {**unreviewed, **changed}, at)


def reviewed(
    pack: EvidencePack, *, reviewer: str, outcome: ReviewOutcome, at: str, note: str = ""
) -> EvidencePack:
    """Return a newer version with a review; one that was reviewed can be reviewed again."""
    review = {
        "reviewer_id": reviewer,
        "reviewed_at": at,
        "review_outcome": outcome,
        "review_note": note,
    }
    return _replaced(pack, review, at)


def _as_recorded(pack: EvidencePack, given: Any) -> Any:
    """Return the pack's own call where that is what was given: it is not worked out again."""
    same = (call for call in pack.tool_calls if call.model_dump(mode="json") == given)
    return next(same, given)


def _replaced(pack: EvidencePack, changes: Mapping[str, Any], at: str) -> EvidencePack:
    update = {
        **changes,
        "pack_id": "",
        "created_at": at,
        "version": pack.version + 1,
        "replaces": pack.pack_id,
    }
    try:
        return pack.model_copy(update=update)
    except ValidationError as error:
        raise InputError(first_problem(error, EvidencePack, "pack")) from None


def check_chain(packs: Iterable[EvidencePack]) -> None:
    """Raise `IntegrityError` unless these are versions of one decision's pack, oldest first."""
    before: EvidencePack | None = None
    for pack in packs:
        if before is None:
            before = pack
            continue
        if (pack.replaces, pack.version) != (before.pack_id, before.version + 1):
            raise IntegrityError(
                f"{pack.pack_id} is version {pack.version} and replaces {pack.replaces}: "
                f"it does not follow {before.pack_id}, version {before.version}"
            )
        same = (pack.decision_id, pack.tenant_id) == (before.decision_id, before.tenant_id)
        if not same:
            raise IntegrityError(f"{pack.pack_id} replaces a pack of another decision")
        before = pack
