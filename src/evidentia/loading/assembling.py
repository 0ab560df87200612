"""Assembling a bundle: what a job names is loaded, built into a bundle, and kept in a lake.

The whole of what was cut is in the lake before the bundle that points to it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evidentia.bundles.building import BuiltBundle, build_bundle
from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.model import Detector
from evidentia.bundles.references import names_files, read_references
from evidentia.bundles.tokens import token_counter
from evidentia.errors import InputError
from evidentia.frozen import first_problem
from evidentia.loading.evidence import Connections, EvidenceLoader, FindDocument, OnError
from evidentia.loading.originals import PRIVATE, Originals
from evidentia.store.keys import secret_key
from evidentia.store.lake import FileLake, Lake

if TYPE_CHECKING:
    from evidentia.bundles.redaction.redactor import Redactor

Progress = Callable[[int, int], None]
Policy = EvidencePolicy | Mapping[str, Any] | None
"""A policy, its fields as a mapping, or None for the defaults."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """How bundles are assembled: where files are read and kept, and what else loading needs.

    `key` gives the secret that digests of redacted values are made with; it is asked for only
    where the policy redacts.
    """

    originals: Originals
    lake: Lake
    key: Callable[[], bytes]
    on_error: OnError = "raise"
    connections: Connections = field(default_factory=dict)
    detectors: Mapping[str, Detector] = field(default_factory=dict)
    find_document: FindDocument | None = None
    progress: Progress | None = None

    def build(
        self,
        job_input: Mapping[str, Any] | None,
        evidence_refs: Mapping[str, Any] | None,
        policy: Policy,
        created_utc: str,
    ) -> BuiltBundle:
        """Return the bundle; neither it nor the artifacts that it comes with are kept yet."""
        if self.on_error not in ("raise", "record"):
            raise InputError(f"on_error must be 'raise' or 'record', not {self.on_error!r}")
        policy = as_policy(policy)
        if self.detectors and not policy.enable_redaction:
            raise InputError("detectors were given, but the policy does not set enable_redaction")
        references = read_references(job_input, evidence_refs)
        if any(map(names_files, references)):
            self.originals.require()
        redactor = self._redactor(policy)
        loader = EvidenceLoader(
            self.originals,
            self.lake,
            policy,
            on_error=self.on_error,
            connections=self.connections,
            find_document=self.find_document,
            redactor=redactor,
        )
        built = build_bundle(
            loader.load(references, self.progress),
            policy,
            created_utc=created_utc,
            redactor=redactor,
            count_tokens=token_counter(policy.tokenizer) if policy.tokenizer else None,
        )
        return replace(built, there=tuple(loader.there))

    def _redactor(self, policy: EvidencePolicy) -> "Redactor | None":
        if not policy.enable_redaction:
            return None
        from evidentia.bundles.redaction.redactor import Redactor  # noqa: PLC0415 - loading it takes a while

        return Redactor(
            self.key(),
            classes=policy.redaction_classes,
            patterns=policy.redaction_patterns,
            detectors=self.detectors,
        )


def build_evidence_bundle(
    *,
    job_input: Mapping[str, Any] | None = None,
    evidence_refs: Mapping[str, Any] | None = None,
    policy: Policy = None,
    lake_root: str | Path,
    on_error: OnError = "raise",
    connections: Connections | None = None,
    detectors: Mapping[str, Detector] | None = None,
    redaction_key: bytes | None = None,
) -> EvidenceBundle:
    """Build a bundle of what a job names, and persist it in the lake; return it.

    References are paths below `lake_root`. What was cut is kept there in whole, and the bundle
    too, at its `lake_uri`. A workspace's `build_bundle` moreover records it in the trail.
    `redaction_key` makes the digests of redacted values; by default the lake has one of its own.
    """
    root = Path(lake_root)
    lake = FileLake(root)
    assembly = Assembly(
        Originals(root),
        lake,
        lambda: (
            secret_key(root / PRIVATE / "redaction.key", os.urandom)
            if redaction_key is None
            else redaction_key
        ),
        on_error=on_error,
        connections=connections or {},
        detectors=detectors or {},
    )
    now = datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"  # noqa: TID251 - a shell
    built = assembly.build(job_input, evidence_refs, policy, now)
    lake.put_all(built.artifacts)
    lake.put(built.data)  # behind what it points to, should this be cut short
    return built.bundle


def as_policy(given: Policy) -> EvidencePolicy:
    """Return a policy; raise `InputError` saying what is wrong with the mapping that was given."""
    if isinstance(given, EvidencePolicy):
        return given
    try:
        return EvidencePolicy.model_validate({} if given is None else given)
    except ValidationError as error:
        raise InputError(first_problem(error, EvidencePolicy, "policy")) from None
