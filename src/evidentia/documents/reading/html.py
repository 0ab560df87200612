"""HTML: what a reader of the page would see as text, block by block.

Scripts, styles, forms' choices, elements hidden by attribute or inline style, and the furniture of
a page (menus, footers and the like) are left out; style sheets are not followed. Lists get their
marks and tables one line per row.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evidentia.documents.reading.contents import Block, Contents, compose, iso_date, problem
from evidentia.documents.reading.furniture import find_furniture
from evidentia.documents.reading.limits import MAX_ATTRIBUTES, MAX_ELEMENTS, MAX_NESTING
from evidentia.documents.reading.text import decode_text, marked_encoding
from evidentia.language.counting import counted


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE
)
_PRESCAN: Final = 1024
"""How far into a file browsers look for its encoding."""
CODECS: Final = {
    **dict.fromkeys(("iso-8859-1", "latin1", "ascii", "us-ascii", "windows-1252"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), "gb18030"),
    **dict.fromkeys(("iso-8859-9", "windows-1254"), "cp1254"),
    **dict.fromkeys(("shift_jis", "sjis", "shift-jis"), "cp932"),
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1253": "cp1253",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "windows-874": "cp874",
    "iso-8859-2": "iso8859-2",
    "iso-8859-6": "iso8859-6",
    "iso-8859-15": "iso8859-15",
    "koi8-r": "koi8-r",
    "big5": "big5",
    "euc-jp": "euc-jp",
    "iso-2022-jp": "iso2022-jp",
    "euc-kr": "cp949",
}
"""What pages call their encodings, as browsers read it; all else is taken for UTF-8."""

_TAG = re.compile(r"<(?:(/?)([a-zA-Z][^\s/>]*)|!--)")
_TOO_MANY_ATTRIBUTES = re.compile(
    r"(?>[\s/]*+=?[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?)?+)"
    rf"{{{MAX_ATTRIBUTES + 1}}}"
)
_COMMENT_END = re.compile("--!?>")
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
"""What ends the elements whose text has no tags in it, whatever it looks like."""
_NOT_NESTED: Final = _names(
    "area base br col embed hr img input link meta source track wbr html head body p li dt dd "
    "option optgroup colgroup tbody thead tfoot tr td th rb rt rp rtc param"
)
"""Elements without an end, or that the next of their kind ends."""
_SCOPES: Final = frozenset(
    ("applet", "button", "marquee", "math", "object", "select", "svg", "table", "template")
)
"""An end tag inside one of these does not close what is outside of it."""
_LOOK_BACK: Final = 64

_SKIPPED: Final = _names(
    "head script style template noscript iframe object embed applet canvas audio video svg "
    "select datalist textarea button frameset noframes"
)
_BLOCKS: Final = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav "
    "ol p pre search section summary table tbody tfoot thead tr ul"
)
_LISTS: Final = frozenset(("ul", "ol", "menu", "dir"))
_CELLS: Final = frozenset(("td", "th"))
_HEADING = re.compile(r"h[1-6]")
_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE
)
_SPACE = re.compile(r"[ \t\n\r\f]+")
_LAYOUT: Final = "table, h1, h2, h3, h4, h5, h6, ul, ol, dl, pre"
"""What a table of data does not hold: such a table only places things on the page."""

_CREATED: Final = ("article:published_time", "dcterms.created", "dc.date", "date", "pubdate")
_MODIFIED: Final = ("article:modified_time", "dcterms.modified", "last-modified", "revised")


def read_html(data: bytes, filename: str) -> Contents:
    """Read an HTML page in the encoding that its mark or its `meta` names, else in UTF-8."""
    return read_html_text(_decoded(data, filename), filename)


def read_html_text(text: str, filename: str) -> Contents:
    """Read an HTML page that was decoded already; `DocumentError` if it is made to do harm."""
    _check_size(text, filename)
    parser = LexborHTMLParser(text)
    root = cast("LexborNode", parser.root)  # a parsed page has one, even if it is empty
    layout_tables = frozenset(_layout_tables(parser))
    writer = _Writer(layout_tables, find_furniture(root, _SKIPPED))
    writer.walk(root)
    if not writer.blocks:  # a page of links alone is what its reader came for
        writer = _Writer(layout_tables, frozenset())
        writer.walk(root)
    pages, headings = compose(writer.blocks)
    title = parser.css_first("title", default=None)
    metas = _metas(parser)
    return Contents(
        pages=pages,
        headings=headings,
        title=" ".join(title.text().split()) or None if title else None,
        created=next(filter(None, (iso_date(metas.get(name)) for name in _CREATED)), None),
        modified=next(filter(None, (iso_date(metas.get(name)) for name in _MODIFIED)), None),
        language=root.attributes.get("lang"),
        warnings=tuple(writer.warnings()),
    )


def _decoded(data: bytes, filename: str) -> str:
    declared = _CHARSET.search(data, 0, _PRESCAN)
    label = declared[1].decode("ascii").lower() if declared else "utf-8"
    codec = CODECS.get(label)
    if marked_encoding(data) or not codec:
        return decode_text(data, filename)
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        raise problem(
            filename,
            f"says that it is {label} and is not (byte 0x{data[error.start]:02X} at position "
            f"{error.start:,}): correct its meta charset, or save it as UTF-8",
        ) from None


def _check_size(text: str, filename: str) -> None:
    """Refuse what a parser would take minutes for: too many elements or attributes, or too deep."""
    open_elements: list[str] = []
    for count, (closing, name, end) in enumerate(_tags(text), 1):
        if count > MAX_ELEMENTS:
            raise problem(filename, f"more than {MAX_ELEMENTS:,} HTML tags: split the page")
        if _TOO_MANY_ATTRIBUTES.match(text, end):
            raise problem(
                filename,
                f"an HTML tag with more than {MAX_ATTRIBUTES} attributes: simplify the page",
            )
        if name in _NOT_NESTED:
            continue
        if not closing:
            open_elements.append(name)
            if len(open_elements) > MAX_NESTING:
                raise problem(
                    filename,
                    f"HTML elements nested more than {MAX_NESTING} deep: simplify the page",
                )
            continue
        for at in range(len(open_elements) - 1, max(-1, len(open_elements) - _LOOK_BACK), -1):
            if open_elements[at] == name:
                del open_elements[at:]
                break
            if open_elements[at] in _SCOPES:
                break


def _tags(text: str) -> Iterator[tuple[bool, str, int]]:
    """Give the tags of a page, those in comments and scripts left out.

    Each with whether it is an ending one, its name, and where that ends.
    """
    at = 0
    while found := _TAG.search(text, at):
        at = found.end()
        name = (found[2] or "").lower()
        if name:
            yield bool(found[1]), name, at
        end = _COMMENT_END if not name else _RAW_END.get(name) if not found[1] else None
        if end:
            over = end.search(text, at if name else at - 2)  # "<!-->" is a comment too
            if not over:
                return
            at = over.start() if name else over.end()


def _metas(parser: LexborHTMLParser) -> Mapping[str, str]:
    """Return what the page's `meta` elements say, by their name or property."""
    found: dict[str, str] = {}
    for node in parser.css("meta"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        if name:
            found.setdefault(name.lower(), attributes.get("content") or "")
    return found


def _layout_tables(parser: LexborHTMLParser) -> Iterator[int]:
    """Give the tables that hold what a table of data does not."""
    for node in parser.css(_LAYOUT):
        above = node.parent
        while above is not None and above.tag != "table":
            above = above.parent
        if above is not None:
            yield above.mem_id


class _Writer:
    """Walks a page and writes its blocks, without recursion: pages can be deep."""

    def __init__(self, layout_tables: frozenset[int], furniture: frozenset[int]) -> None:
        self.blocks: list[Block] = []
        self.hidden = 0
        self.aside = 0
        self._parts: list[str] = []
        self._prefix = ""
        self._level = 0
        self._verbatim = 0
        self._numbers: list[int | None] = []  # of the open lists; None where they have bullets
        self._close = False
        self._layout_tables = layout_tables
        self._furniture = furniture
        self._layouts: list[bool] = []  # of the open tables
        self._row: list[str] | None = None
        self._in_cell = False

    def warnings(self) -> Iterator[str]:
        """Say what of the page is not in its text."""
        if self.hidden:
            hidden = counted(self.hidden, "hidden element is", "hidden elements are")
            yield f"{hidden} left out"
        if self.aside:
            pieces = counted(self.aside, "piece")
            is_are = "is" if self.aside == 1 else "are"
            yield f"{pieces} of page furniture (menus, footers and the like) {is_are} left out"

    def walk(self, root: LexborNode) -> None:
        """Write all of the tree."""
        above: list[tuple[LexborNode, str]] = []
        node = root
        while True:
            tag = self._enter(node)
            child = node.child if tag else None
            if child is not None:
                above.append((node, tag))
                node = child
                continue
            self._leave(tag)
            following = node.next if above else None
            while following is None and above:
                node, tag = above.pop()
                self._leave(tag)
                following = node.next if above else None
            if following is None:
                break
            node = following
        self._flush()

    def _enter(self, node: LexborNode) -> str:
        """Begin a node; return its tag if there is to be gone into it, else nothing."""
        if node.is_text_node:
            text = node.text_content or ""
            self._parts.append(text if self._verbatim else _SPACE.sub(" ", text))
            return ""
        tag = node.tag or ""
        if not node.is_element_node or tag in _SKIPPED:
            return ""
        if self._is_hidden(node, tag):
            self.hidden += 1
            return ""
        if node.mem_id in self._furniture:
            self.aside += 1
            self._parts.append(" ")
            return ""
        if tag == "br":
            self._parts.append("\n")
        elif tag in _BLOCKS or tag in _CELLS:
            self._flush()
            self._begin(node, tag)
        return tag

    def _is_hidden(self, node: LexborNode, tag: str) -> bool:
        attributes = node.attributes
        if not attributes:
            return tag == "dialog"
        closed = tag == "dialog" and "open" not in attributes
        return (
            closed or "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style") or ""))
        )

    def _begin(self, node: LexborNode, tag: str) -> None:
        if tag in _LISTS:
            if not self._numbers:
                self._close = False
            self._numbers.append(_list_start(node) if tag == "ol" else None)
        elif tag == "li":
            self._prefix = self._item_prefix()
        elif tag == "pre":
            self._verbatim += 1
        elif tag == "table":
            self._layouts.append(node.mem_id in self._layout_tables)
            self._close = False
        elif tag == "dd":
            self._close = True
        elif tag == "tr" and self._in_data_table():
            self._row = []
        elif tag in _CELLS and self._row is not None:
            self._in_cell = True
        elif _HEADING.fullmatch(tag):
            self._level = int(tag[1])

    def _leave(self, tag: str) -> None:
        if tag in _CELLS and self._in_cell and self._row is not None:
            self._row.append(" ".join("".join(self._parts).split()))
            self._parts.clear()
            self._in_cell = False
            return
        if tag not in _BLOCKS and tag not in _CELLS:
            return
        self._flush()
        if tag in _LISTS:
            self._numbers.pop()
            self._close = bool(self._numbers)
        elif tag == "li":
            self._prefix = ""
        elif tag == "pre":
            self._verbatim -= 1
        elif tag == "table":
            self._layouts.pop()
            self._close = False
        elif tag == "tr" and self._row is not None:
            if any(self._row):
                self.blocks.append(Block(" | ".join(self._row), close=self._close))
                self._close = True
            self._row = None
        elif _HEADING.fullmatch(tag):
            self._level = 0

    def _in_data_table(self) -> bool:
        return bool(self._layouts) and not self._layouts[-1]

    def _item_prefix(self) -> str:
        indent = "  " * (len(self._numbers) - 1)
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            return f"{indent}- "
        self._numbers[-1] = number + 1
        return f"{indent}{number}. "

    def _flush(self) -> None:
        """End the block that is being written; within a cell, only a word ends."""
        if self._in_cell:
            self._parts.append(" ")
            return
        text = "".join(self._parts)
        self._parts.clear()
        if self._verbatim:
            text = text.strip("\n").rstrip()
        else:
            text = "\n".join(_SPACE.sub(" ", line).strip() for line in text.split("\n")).strip()
        if text.strip():
            prefix = "" if self._level else self._prefix
            self.blocks.append(Block(prefix + text, self._level, close=self._close))
            self._close = bool(self._numbers)
            self._prefix = ""


def _list_start(node: LexborNode) -> int:
    start = (node.attributes.get("start") or "").strip()
    return int(start) if start.isascii() and start.isdigit() and len(start) < len("1000000") else 1
