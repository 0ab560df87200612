"""Furniture: what is on a page to find one's way about the site, and says nothing of its subject.

Menus, breadcrumbs, footers, sidebars, cookie notices, share buttons, links to skip to the text,
lists of nothing but short links. They are known by their element, their role, or the usual names of
classes; what may also be text (a note in an `aside`, a `menu` of dishes) only if it is made of
links. What holds the page's own text is never furniture, whatever it is called.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborNode

_ROLES: Final = frozenset(
    ("navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "directory")
)
_CONTENT: Final = frozenset(("main", "article"))
_SECTIONS: Final = _CONTENT | {"section", "blockquote", "figure", "dialog"}
_NEVER: Final = frozenset(("html", "body", *_CONTENT, "h1", "h2", "h3", "table", "tbody", "tr"))
_BEFORE: Final = (
    r"(?:(?:site|page|main|global|top|bottom|left|right|primary|secondary|mobile|bs|md|docs?|wy|rst|"
    r"sphinx|app|user|local|header|footer|mw|vector|book|chapter)[-_]*)*"
)
_AFTER: Final = (
    r"(?:[-_]*(?:bars?|lists?|menu|container|wrapper|wrap|links?|items?|inner|area|block|box|panel|"
    r"content|section|row|group|buttons?|title|tree|toggle|scrollbox|main|primary))*"
)
_SURE = re.compile(
    rf"{_BEFORE}(?:nav|navbar|navigation|subnav|sidenav|sidebar|side[-_]?nav|breadcrumbs?|masthead|"
    r"site[-_]header|site[-_]footer|page[-_]footer|global[-_]footer|colophon|skip[-_]?(?:links?|nav|"
    r"to[-_](?:main|content))|back[-_]to[-_]top|pagination|prev[-_]next|headerlink|share[-_]buttons|"
    r"social[-_](?:share|links|media|icons)|"
    rf"cookies?[-_]?(?:banner|consent|notice|bar|popup|message|law|alert)|gdpr|rst[-_]footer)"
    rf"{_AFTER}",
    re.IGNORECASE,
)
"""Names of what is furniture wherever it stands."""
_LIKELY = re.compile(
    rf"{_BEFORE}(?:menu|toc|contents|table[-_]of[-_]contents|share|sharing|social|related|footer|"
    rf"header|pager|tags|links|newsletter|subscribe|sidebar|toolbar|languages?|search)"
    rf"{_AFTER}",
    re.IGNORECASE,
)
"""Names of what is furniture if it is made of links."""
_WAY = re.compile(
    r"(?:skip|jump) to \w[\w ]{0,40}|(?:back|return) to (?:the )?top|[¶#§]|"
    r"edit(?: this page| on \w+)?",
    re.IGNORECASE,
)
"""What a link says that leads about the page."""
_SPACE = re.compile(r"\s+")
_MADE_OF_LINKS: Final = 0.6
_ONLY_LINKS: Final = 0.9
_FEWEST_LINKS: Final = 4
_LONGEST_LINK: Final = 40
_FEW: Final = 2


@dataclass(slots=True)
class _Element:
    """An open element: how much text it holds, and how much of that is links."""

    node: LexborNode
    tag: str
    in_content: bool
    in_link: bool
    text: int = 0
    linked: int = 0
    links: int = 0
    holds_content: bool = False
    holds_heading: bool = False

    @property
    def share(self) -> float:
        """Which part of the text is in links."""
        return self.linked / self.text if self.text else 0.0

    def take(self, inner: "_Element") -> None:
        """Count what was in an element within this one."""
        self.text += inner.text
        self.linked += inner.linked
        self.links += inner.links + (inner.tag == "a")
        self.holds_content |= inner.holds_content or inner.tag in _CONTENT or inner.tag == "h1"
        self.holds_heading |= inner.holds_heading or inner.tag in {"h1", "h2", "h3"}


def find_furniture(root: LexborNode, skipped: Collection[str]) -> frozenset[int]:
    """Return the ids in memory of the elements that are furniture; `skipped` ones are not read."""
    found: set[int] = set()
    above: list[_Element] = []
    node: LexborNode | None = root
    while node is not None:
        if node.is_text_node and above:
            length = len(_SPACE.sub("", node.text_content or ""))
            above[-1].text += length
            above[-1].linked += length if above[-1].in_link else 0
        elif node.is_element_node and node.tag not in skipped:
            above.append(_opened(node, above[-1] if above else None))
            if node.child is not None:
                node = node.child
                continue
            _close(above, found)
        following = node.next if above else None
        while following is None and above:
            closed = _close(above, found)
            following = closed.node.next if above else None
        node = following
    return frozenset(found)


def _opened(node: LexborNode, parent: _Element | None) -> _Element:
    tag = node.tag or ""
    return _Element(
        node,
        tag,
        in_content=parent is not None and (parent.in_content or parent.tag in _SECTIONS),
        in_link=tag == "a" or (parent is not None and parent.in_link),
    )


def _close(above: list[_Element], found: set[int]) -> _Element:
    element = above.pop()
    if element.text and _is_furniture(element):
        found.add(element.node.mem_id)
    if above:
        above[-1].take(element)
    return element


def _is_furniture(element: _Element) -> bool:
    tag = element.tag
    if tag in _NEVER or element.holds_content:
        return False
    attributes = element.node.attributes
    role = (attributes.get("role") or "").strip().lower()
    if tag in {"nav", "search"} or role in _ROLES:
        return True
    if tag == "a":
        said = " ".join(element.node.text().split())
        return _WAY.fullmatch(said) is not None
    named = _is_named(attributes.get("class"), attributes.get("id"), element)
    return named or _frames(tag, role, element)


def _frames(tag: str, role: str, element: _Element) -> bool:
    """Whether an element stands around the page's text, and not in it."""
    if tag in {"footer", "aside"} or role == "complementary":
        return not element.in_content or element.share >= _MADE_OF_LINKS
    if element.in_content:
        return False
    if tag == "header" or role == "banner":
        return not element.holds_heading
    return tag in {"ul", "ol"} and _only_links(element)


def _only_links(element: _Element) -> bool:
    """Whether a list that no line leads in has several links, short ones, and hardly more."""
    return (
        element.links >= _FEWEST_LINKS
        and element.share >= _ONLY_LINKS
        and element.linked <= element.links * _LONGEST_LINK
        and not _said_before(element.node).endswith(":")
    )


def _said_before(node: LexborNode) -> str:
    """Return the text right before an element, without the space at its end."""
    before = node.prev
    while before is not None:
        said = before.text() if before.is_element_node else before.text_content or ""
        if said.strip():
            return said.rstrip()
        before = before.prev
    return ""


def _is_named(classes: str | None, name: str | None, element: _Element) -> bool:
    names = f"{classes or ''} {name or ''}".split()
    if any(map(_SURE.fullmatch, names)):
        return True
    made_of_links = element.links >= _FEW and element.share >= _MADE_OF_LINKS
    return made_of_links and any(map(_LIKELY.fullmatch, names))
