"""Reading: a file's bytes become pages of text and headings, or an error that says what to do."""

from typing import Final

READER_VERSION: Final = 2
"""Grows when the same file may be read into another text than before; 2 reads scans by OCR."""

__all__ = ["READER_VERSION"]
