"""Whether what a bundle points to is there, and unchanged."""

import os
from pathlib import Path

import pytest

from bundles.making import NOW
from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.loading.artifacts import check_artifacts
from evidentia.loading.assembling import Assembly
from evidentia.loading.originals import Originals
from evidentia.store.lake import FileLake

WHOLE = "An inline text that is cut. " * 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("A text of the lake. " * 20)
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    return FileLake(tmp_path / "lake")


@pytest.fixture
def bundle(root: Path, lake: FileLake) -> EvidenceBundle:
    """Build a bundle with a cut text, a cut file, and a dropped text."""
    assembly = Assembly(Originals(root), lake, lambda: b"k" * 32)
    job = {"extra_params": {"evidence": [WHOLE, {"text": "dropped", "priority": -1}]}}
    refs = {"lake_text": ["docs/a.md", "docs/a.md"]}
    built = assembly.build(job, refs, EvidencePolicy(max_item_bytes=50, max_items=3), NOW)
    lake.put_all(built.artifacts)
    return built.bundle


def paths(bundle: EvidenceBundle, root: Path, lake: FileLake) -> dict[str, Path]:
    inline, file, _again = bundle.items
    assert inline.full_ref is not None
    assert file.full_ref is not None
    assert bundle.summary.bundle_bounding.dropped_ref is not None
    dropped = bundle.summary.bundle_bounding.dropped_ref
    return {
        inline.evidence_id: lake._path(inline.full_ref["sha256"]),
        file.evidence_id: root / file.full_ref["lake_uri"],
        "dropped items": lake._path(dropped["sha256"]),
    }


def test_everything_is_as_it_was(bundle: EvidenceBundle, root: Path, lake: FileLake) -> None:
    found, problems = check_artifacts(bundle, lake, root)
    assert problems == []
    assert len(found) == 3  # the file is asked for twice and looked at once
    assert "docs/a.md: 400 bytes, unchanged" in found


@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_was_changed_is_named(
    bundle: EvidenceBundle, root: Path, lake: FileLake, which: int
) -> None:
    whose, path = list(paths(bundle, root, lake).items())[which]
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    found, (problem,) = check_artifacts(bundle, lake, root)
    assert len(found) == 2
    assert problem.startswith(f"{whose}: ")
    assert problem.endswith("was changed since the bundle was built")


@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_is_gone_is_named(
    bundle: EvidenceBundle, root: Path, lake: FileLake, which: int
) -> None:
    whose, path = list(paths(bundle, root, lake).items())[which]
    path.unlink()
    found, (problem,) = check_artifacts(bundle, lake, root)
    assert len(found) == 2
    assert problem.startswith(f"{whose}: ")
    assert "is gone; bring it back" in problem or "is not in the lake" in problem


@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_is_no_file_any_more_is_named(
    bundle: EvidenceBundle, root: Path, lake: FileLake, which: int
) -> None:
    whose, path = list(paths(bundle, root, lake).items())[which]
    path.unlink()
    path.mkdir()
    _, (problem,) = check_artifacts(bundle, lake, root)
    assert problem.startswith(f"{whose}: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_named(bundle: EvidenceBundle, root: Path, lake: FileLake) -> None:
    (whose, path), *_ = paths(bundle, root, lake).items()
    path.chmod(0)
    _, (problem,) = check_artifacts(bundle, lake, root)
    assert problem.startswith(f"{whose}: ")
    assert "cannot be read" in problem


def test_originals_are_looked_for_where_they_are_said_to_be(
    bundle: EvidenceBundle, root: Path, lake: FileLake, tmp_path: Path
) -> None:
    root.rename(tmp_path / "moved")
    assert check_artifacts(bundle, lake, tmp_path / "moved")[1] == []
    (problem,) = check_artifacts(bundle, lake, root)[1]
    assert "docs/a.md is not in the lake" in problem
    (problem,) = check_artifacts(bundle, lake, None)[1]
    assert problem.endswith("docs/a.md is outside of the lake: say where it is")


def test_a_link_out_of_the_originals_is_not_followed(
    bundle: EvidenceBundle, root: Path, lake: FileLake, tmp_path: Path
) -> None:
    path = root / "docs" / "a.md"
    path.rename(tmp_path / "elsewhere.md")
    path.symlink_to(tmp_path / "elsewhere.md")
    (problem,) = check_artifacts(bundle, lake, root)[1]
    assert "is a link that leaves the lake" in problem
