"""The evidence layer for AI systems."""

__version__ = "0.1.0"
