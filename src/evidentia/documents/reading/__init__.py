"""Reading: a file's bytes become pages of text and headings, or an error that says what to do."""

from typing import Final

READER_VERSION: Final = 3
"""Grows where any reader, or the cutting into chunks, makes other passages of the same bytes: what
an older one read is then read anew when it is ingested again.

2 reads scans by OCR; 3 has tables of PDFs row by row, and leaves their page furniture out.
"""

__all__ = ["READER_VERSION"]
