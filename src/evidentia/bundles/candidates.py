"""What was loaded for a bundle, before it is redacted and bounded."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.redaction.model import Redaction
from evidentia.bundles.tables import SampledTable
from evidentia.frozen import FrozenDict


class Candidate(NamedTuple):
    """A piece of evidence as it was loaded.

    `digest` and `part` are what its id is made of: the id's hash in full, and what follows it.
    `input_bytes` is the size of what it was loaded from, where that is more than its content.
    `original` is its `full_ref`, where the whole of it is in the lake already. `error` says why it
    could not be loaded; the content then says so to the model. `redacted` is what was redacted
    already, by its placeholder. `before` and `after` are what stands around a piece of something
    longer: a value may be cut in two.
    """

    evidence_type: EvidenceType
    origin: str
    content: str
    digest: str
    part: str = ""
    source_ref: Mapping[str, Any] = FrozenDict()
    metadata: Mapping[str, Any] = FrozenDict()
    original: Mapping[str, Any] | None = None
    priority: int = 0
    table: SampledTable | None = None
    title: str = ""
    input_bytes: int | None = None
    error: str | None = None
    redacted: Mapping[str, Redaction] = FrozenDict()
    before: str = ""
    after: str = ""
