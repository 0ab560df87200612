"""The artifacts that a bundle points to: whether each is there, and unchanged."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from evidentia.bundles.accounting import Outcome
from evidentia.bundles.model import EvidenceBundle, artifact_uri
from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    InputError,
    IntegrityError,
)
from evidentia.language.counting import counted
from evidentia.loading.originals import Originals
from evidentia.store.lake import Lake

NOT_HERE = "is not in the lake any more; bring it back, or say where the lake is now"
"""How a problem ends that is about an original which is not where it was."""


def check_artifacts(
    bundle: EvidenceBundle, lake: Lake, root: Path | None
) -> tuple[list[str], list[str]]:
    """Return what was found as it was, and what was not.

    What an item shows in whole is in the bundle itself, and not looked for elsewhere. `root` is
    where the originals are that are not in the lake.
    """
    found: list[str] = []
    problems: list[str] = []
    originals = None if root is None else Originals(root)
    for lake_uri, digest, whose in _references(bundle):
        try:
            size = _size(lake_uri, digest, lake, originals, whose)
        except GoneError:
            problems.append(f"{whose}: {lake_uri} is gone; bring it back from a copy")
        except IntegrityError:
            problems.append(f"{whose}: {lake_uri} was changed since the bundle was built")
        except OSError as error:
            problems.append(f"{whose}: {lake_uri} cannot be read ({error.strerror})")
        except EnvironmentProblem as error:
            problems.append(f"{whose}: {lake_uri} cannot be read: {error}")
        except EvidentiaError as error:
            problems.append(str(error))
        else:
            found.append(f"{lake_uri}: {counted(size, 'byte')}, unchanged")
    return found, problems


def _size(lake_uri: str, digest: str, lake: Lake, originals: Originals | None, whose: str) -> int:
    """Return the size of an artifact that is as it was, in the lake or among the originals."""
    if lake_uri == artifact_uri(digest) and not _is_elsewhere(digest, lake, originals, lake_uri):
        return lake.check(digest)
    if originals is None:
        raise InputError(f"{whose}: {lake_uri} is outside of the lake: say where it is")
    if not (originals.root / lake_uri).exists():
        raise InputError(f"{whose}: {lake_uri} {NOT_HERE}")
    return _check(originals.path(lake_uri, whose), digest)


def _check(path: Path, digest: str) -> int:
    """Return the size of a file; raise `IntegrityError` unless it has the digest."""
    try:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise IntegrityError(f"{path}: was changed")
            return file.tell()
    except FileNotFoundError:
        raise GoneError(f"{path}: is gone") from None


def _is_elsewhere(digest: str, lake: Lake, originals: Originals | None, lake_uri: str) -> bool:
    """Whether a file that the lake lacks is among the originals, which may be a lake too."""
    return (
        originals is not None and (originals.root / lake_uri).is_file() and not lake.holds(digest)
    )


def _references(bundle: EvidenceBundle) -> Iterator[tuple[str, str, str]]:
    """Give each artifact that has more than the bundle shows, its digest, and what refers to it."""
    refs = [
        (one.artifact_uri, one.artifact_sha256, one.evidence_id)
        for one in bundle.accounting.decisions
        if one.artifact_uri is not None and one.outcome is not Outcome.KEPT
    ]
    refs += [
        (item.full_ref["lake_uri"], item.full_ref["sha256"], item.evidence_id)
        for item in bundle.items
        if item.full_ref is not None
    ]
    if dropped := bundle.summary.bundle_bounding.dropped_ref:
        refs.append((dropped["lake_uri"], dropped["sha256"], "dropped items"))
    seen = set()
    for lake_uri, digest, whose in refs:
        if lake_uri not in seen:
            seen.add(lake_uri)
            yield str(lake_uri), str(digest), whose
