"""Lets pytest collect the documentation's examples (tests/documentation.py), and take `--all`."""

import os

import pytest

from documentation import collect as pytest_collect_file

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read as it is imported: tests ask no network
__all__ = ["pytest_addoption", "pytest_collect_file"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the option that asks for the whole form of the tests; tests/tiers.py says what it is."""
    parser.addoption(
        "--all", dest="whole", action="store_true", help="run the whole form of what is slow"
    )
