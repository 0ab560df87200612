"""The artifacts that a bundle points to: whether each is there, byte for byte as it was."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evidentia.bundles.model import EvidenceBundle, artifact_uri
from evidentia.errors import EvidentiaError
from evidentia.store.lake import Lake
from evidentia.store.originals import Originals


def check_artifacts(
    bundle: EvidenceBundle, lake: Lake, root: Path | None
) -> tuple[list[str], list[str]]:
    """Return what was found as it was, and what was not.

    `root` is where the originals are that are not in the lake.
    """
    found: list[str] = []
    problems: list[str] = []
    originals = None if root is None else Originals(root)
    for lake_uri, digest, size, whose in _references(bundle):
        try:
            if lake_uri == artifact_uri(digest):
                path = lake.path(digest)
            elif originals is not None:
                path = originals.path(lake_uri, whose)
            else:
                problems.append(f"{whose}: {lake_uri} is outside of the lake: say where it is")
                continue
            with path.open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == digest
        except FileNotFoundError:
            problems.append(f"{whose}: {lake_uri} is gone; bring it back from a copy")
        except OSError as error:
            problems.append(f"{whose}: {lake_uri} cannot be read ({error.strerror})")
        except EvidentiaError as error:
            problems.append(str(error))
        else:
            if same:
                found.append(f"{lake_uri}: {size:,} bytes, as they were")
            else:
                problems.append(f"{whose}: {lake_uri} was changed since the bundle was built")
    return found, problems


def _references(bundle: EvidenceBundle) -> Iterator[tuple[str, str, int, str]]:
    """Give each artifact once, with its digest, its size, and what refers to it."""
    seen = set()
    refs: list[tuple[str, Mapping[str, Any] | None]] = [
        (item.evidence_id, item.full_ref) for item in bundle.items
    ]
    refs.append(("dropped items", bundle.summary.bundle_bounding.dropped_ref))
    for whose, ref in refs:
        if ref is not None and ref.get("lake_uri") not in seen:
            seen.add(ref.get("lake_uri"))
            yield str(ref.get("lake_uri")), str(ref.get("sha256")), ref.get("byte_count", 0), whose
