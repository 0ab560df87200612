"""How much a document may be: inputs are hostile, and a file must not take the machine with it."""

from typing import Final

MAX_BYTES: Final = 256 * 2**20
"""A file is held in memory whole, with its text beside it."""
MAX_PAGES: Final = 20_000
"""Twice the largest collection in one file that is planned for; a page tree can claim billions."""
MAX_PAGE_CHARACTERS: Final = 2_000_000
"""A printed page has 3,000 characters, the densest table 50,000; a small file can claim more."""
MAX_TABLE_PAGES: Final = 5_000
"""Up to that many pages, tables and columns are looked for on each, which takes as long again."""
MAX_OCR_PAGES: Final = 30
"""Pages of one file that are read by OCR, which takes some seconds for each."""
MAX_OCR_PIXELS: Final = 12_000_000
"""How large a page is drawn to be read by OCR; an A4 page at 200 dots to the inch has a third."""
MAX_PICTURE_PIXELS: Final = 100_000_000
"""How large a picture on such a page may be; an A3 page at 600 dots to the inch has 70 million."""
MAX_MARKDOWN_BYTES: Final = 8 * 2**20
"""The parser takes a second for a megabyte, ten for a hostile one; a long novel has three."""
MAX_HEADING_CHARACTERS: Final = 400
"""What is longer was given a heading's style by mistake, and is read as body text."""
MAX_EXPANDED_BYTES: Final = 128 * 2**20
"""All that is unpacked of one archive: the text of some 20,000 pages in Word's XML."""
MAX_EXPANSION: Final = 250
"""How many times its packed size a part may unpack to; Word's own parts reach 60."""
EXPANSION_FREE_BYTES: Final = 2**20
"""Up to this size a part may unpack at any ratio: an empty template is almost only zeros."""
MAX_ARCHIVE_MEMBERS: Final = 20_000
"""Members of one archive; a document with a picture on each page has a few thousand."""
MAX_NESTING: Final = 512
"""Elements within elements; browsers stop there too, and a parser's time grows with the square."""
MAX_ELEMENTS: Final = 1_000_000
"""Elements of one page; the longest laws and logs on the web have a tenth of that."""
MAX_ATTRIBUTES: Final = 256
"""Attributes of one HTML tag; a parser compares each with all before it, and pages have a dozen."""
MAX_LINE_CHARACTERS: Final = 2_000_000
"""One line of a text, some 700 printed pages; what has no lines was not written to be read."""
MAX_ROWS: Final = 200_000
"""Rows of the tables in one file, each of which is a passage."""
MAX_CELLS: Final = 2_000_000
"""Cells of the tables in one file that are not empty."""
MAX_TABLE_CHARACTERS: Final = 64 * 2**20
"""The rows of one file with the names of their columns, which a small file can repeat often."""
MAX_MESSAGE_DEPTH: Final = 20
"""Messages that are attached to each other; a long chain of forwarded ones has a handful."""
MAX_MESSAGE_PARTS: Final = 10_000
"""Parts of one message with all that are attached to it."""
MAX_HEADER_CHARACTERS: Final = 20_000
"""How much is read of one header of a message; a list of 500 addresses has that much."""
MAX_RST_BYTES: Final = 4 * 2**20
"""The parser takes some seconds for a megabyte; the longest manuals have half of one in a file."""
