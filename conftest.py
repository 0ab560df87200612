"""Lets pytest collect the documentation's examples; how they run is in tests/documentation.py."""

from documentation import collect as pytest_collect_file

__all__ = ["pytest_collect_file"]
