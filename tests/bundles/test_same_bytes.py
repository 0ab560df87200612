"""A bundle has the same bytes in every process and under every Python, now and later."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evidentia
from bundles import making
from bundles.making import everything, inline
from evidentia.bundles.diffing import diff_bundles
from evidentia.bundles.model import EvidenceBundle

WHOLE = everything()

PYTHONS = ("python3.12", "python3.13", "python3.14")
SAME_BYTES = """
import sys
sys.path[:0] = sys.argv[1:]
from bundles.making import everything
sys.stdout.buffer.write(everything().encode())
"""


def bytes_from(python: str, *, seed: str = "0") -> bytes:
    """Return the bytes that a fresh interpreter gives the bundle."""
    folders = [Path(making.__file__).parents[1], Path(evidentia.__file__).parents[1]]
    ran = subprocess.run(
        [python, "-c", SAME_BYTES, *map(str, folders)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
        timeout=120,
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr.decode().strip().splitlines()[-1])
    return ran.stdout


@pytest.mark.parametrize("seed", ["1", "12345"])
def test_the_bytes_do_not_depend_on_the_seed_of_hashes(seed: str) -> None:
    assert bytes_from(sys.executable, seed=seed) == WHOLE.encode()


@pytest.mark.parametrize("name", PYTHONS)
def test_the_bytes_do_not_depend_on_the_version_of_python(name: str) -> None:
    python = shutil.which(name)
    if python is None:
        pytest.skip(f"NOT TESTED: there is no {name} here")
    try:
        found = bytes_from(python)
    except RuntimeError as error:
        pytest.skip(f"NOT TESTED: {name} cannot run the bundles: {error}")
    assert found == WHOLE.encode()


def test_the_format_is_the_one_that_is_out_there() -> None:
    """Should this fail, bundles that exist have other ids than those built anew.

    If that is meant, raise `BUILD_VERSION`.
    """
    assert WHOLE.build_version == "2.1"
    assert WHOLE.bundle_sha256 == (
        "3e541c1c355b07f944e90fa9c71090ce34271facc0ddf7c3da849aa5e1b50d6a"
    )
    assert WHOLE.bundle_id == "4c578c81-976a-5615-a610-9f35de882041"


def test_a_bundle_of_the_version_before_holds_and_keeps_its_words() -> None:
    data = (Path(__file__).parent / "built" / "version-2.0.json").read_bytes()
    old = EvidenceBundle.parse(data)
    assert old.encode() == data
    assert old.build_version == "2.0"
    assert old.items[0].metadata["bounding"]["note"] == "Truncated to 1,200 byte limit"
    new = making.bundle(inline("x" * 3_000), inline("kept", 1), max_item_bytes=1_200)
    assert new.items[0].metadata["bounding"]["note"] == "Truncated to 1200 byte limit"
    assert [item.content for item in new.items] == [item.content for item in old.items]
    assert new.bundle_id != old.bundle_id
    found = diff_bundles(old, new)
    assert found.build_version == ("2.0", "2.1")
    assert [one.before.evidence_id for one in found.changed] == ["inline:0"]
    assert not found.is_empty
