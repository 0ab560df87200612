"""The example that the server comes with."""

from importlib.resources import files
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "policies"


@pytest.mark.parametrize("name", ["Remote_Work.md", "Travel_and_Expenses.html"])
def test_a_policy_of_the_demo_is_the_one_of_the_examples(name: str) -> None:
    """It lies in the package too, since the examples do not come with it."""
    assert (files("evidentia.server.demo") / name).read_bytes() == (EXAMPLES / name).read_bytes()
