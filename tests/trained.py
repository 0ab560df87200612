"""What is tested only where the trained weights are in the package."""

import pytest

from evidentia.judges.nli.model import has_weights

_REASON = "the weights are not in the package"
needs_model = pytest.mark.skipif(not has_weights(), reason=_REASON)


def skip_without_model() -> None:
    """Skip the whole module that is being imported."""
    if not has_weights():
        pytest.skip(_REASON, allow_module_level=True)
