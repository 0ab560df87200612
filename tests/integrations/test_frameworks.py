from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.sqlite_suffices


def test_langchain_has_an_environment_in_which_evidentia_works(
    framework: Callable[[str], Any],
) -> None:
    done = framework("langchain")("environment_langchain.py")
    assert done.returncode == 0, done.stderr
    version, works = done.stdout.split()
    assert version.startswith("1.")
    assert works == "True"
