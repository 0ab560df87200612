"""Reading: a file's bytes become pages of text and headings, or an error that says what to do."""

from typing import Final

READER_VERSION: Final = 3
"""Grows when the same file may be read into another text than before.

2 reads scans by OCR; 3 has tables of PDFs row by row, and leaves their page furniture out.
"""

__all__ = ["READER_VERSION"]
