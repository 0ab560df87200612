"""The public test vectors, read from the folder beside the checkout where it exists."""

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "vectors"


def vector_files(pattern: str) -> list[ParameterSet]:
    """Give each vector file as a parameter; without any, one that is skipped with a notice."""
    files = sorted(FOLDER.glob(pattern))
    if not files:
        reason = f"the public vectors are not beside this checkout: ../shared/vectors/{pattern}"
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=str(path.relative_to(FOLDER))) for path in files]
