"""The assertion that promptfooconfig.yaml names."""

from evidentia.integrations.promptfoo import get_assert

__all__ = ["get_assert"]
