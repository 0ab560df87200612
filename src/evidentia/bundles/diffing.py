"""How two bundles differ: in their policy, in what the model saw, and in what became of inputs."""

from dataclasses import dataclass
from typing import Any

from evidentia.bundles.model import EvidenceBundle, EvidenceItem


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item that both bundles have, with other content or another record of it."""

    before: EvidenceItem
    after: EvidenceItem


@dataclass(frozen=True, slots=True)
class BundleDiff:
    """What one bundle has and the other has not; equal bundles have an empty one.

    `build_version` are the versions of the rules that both were built by, which word notes anew.
    `policy` gives each field that differs with both values; `outcomes` the inputs of both that
    came out otherwise; `only_before` and `only_after` are items that the model saw in one alone.
    """

    build_version: tuple[str, str]
    policy: dict[str, tuple[Any, Any]]
    only_before: tuple[EvidenceItem, ...]
    only_after: tuple[EvidenceItem, ...]
    changed: tuple[ChangedItem, ...]
    outcomes: dict[str, tuple[str, str]]
    is_empty: bool
    """Whether the bundles are the same but for their clocks."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference as a JSON object."""
        return {
            "build_version": list(self.build_version),
            "policy": {name: list(values) for name, values in self.policy.items()},
            "only_before": [item.evidence_id for item in self.only_before],
            "only_after": [item.evidence_id for item in self.only_after],
            "changed": [
                {
                    "evidence_id": one.before.evidence_id,
                    "before": {
                        "content_sha256": one.before.content_sha256,
                        "byte_count": one.before.byte_count,
                    },
                    "after": {
                        "content_sha256": one.after.content_sha256,
                        "byte_count": one.after.byte_count,
                    },
                }
                for one in self.changed
            ],
            "outcomes": {name: list(values) for name, values in self.outcomes.items()},
            "same": self.is_empty,
        }


def diff_bundles(before: EvidenceBundle, after: EvidenceBundle) -> BundleDiff:
    """Compare two bundles; items are the same where their ids are."""
    old_policy, new_policy = (one.policy.model_dump(mode="json") for one in (before, after))
    old, new = ({item.evidence_id: item for item in one.items} for one in (before, after))
    old_outcomes, new_outcomes = (
        {decision.evidence_id: decision.outcome.value for decision in one.accounting.decisions}
        for one in (before, after)
    )
    return BundleDiff(
        build_version=(before.build_version, after.build_version),
        policy={
            name: (value, new_policy[name])
            for name, value in old_policy.items()
            if value != new_policy[name]
        },
        only_before=tuple(item for name, item in old.items() if name not in new),
        only_after=tuple(item for name, item in new.items() if name not in old),
        changed=tuple(
            ChangedItem(item, new[name])
            for name, item in old.items()
            if name in new and new[name] != item
        ),
        outcomes={
            name: (outcome, new_outcomes.get(name, "absent"))
            for name, outcome in old_outcomes.items()
            if new_outcomes.get(name, "absent") != outcome
        }
        | {
            name: ("absent", outcome)
            for name, outcome in new_outcomes.items()
            if name not in old_outcomes
        },
        is_empty=before.bundle_sha256 == after.bundle_sha256,
    )
