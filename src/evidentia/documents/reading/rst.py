"""reStructuredText: parsed by docutils, and read as the page that it becomes.

The file's bytes alone decide what is read: including files, raw output for other programs and the
date of today are switched off. What Sphinx adds to the language (`:ref:`, `.. versionadded::`) is
read as the text that it has, and what cannot be parsed as it is written. A list of fields at its
head (author, date, version) is front matter: data about the file, which is of no passage.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, directives, roles

from evidentia.documents.model import Page
from evidentia.documents.reading.contents import Contents, problem
from evidentia.documents.reading.front_matter import read_fields
from evidentia.documents.reading.html import read_html_text
from evidentia.documents.reading.limits import MAX_RST_BYTES
from evidentia.documents.reading.text import decode_text
from evidentia.language.counting import counted

_LONGEST_LINE: Final = 10_000
"""What docutils reads at most of a line."""
_NEVER: Final = 5
"""A level that no message of the parser reaches."""
_SETTINGS: Final = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "smart_quotes": False,
    "embed_stylesheet": False,
    "stylesheet": "",
    "stylesheet_path": "",
    "line_length_limit": _LONGEST_LINE,
    "halt_level": _NEVER,
    "report_level": _NEVER,
    "exit_status_level": _NEVER,
    "warning_stream": False,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "initial_header_level": 2,
    "toc_backlinks": False,
    "footnote_backlinks": False,
}
_LEFT_OUT: Final = frozenset({"include", "literalinclude", "raw"})
"""What would read another file, or write what only another program shows."""
_SILENT: Final = _LEFT_OUT | {
    *("contents", "toctree", "date", "header", "footer", "meta", "index", "highlight", "todolist"),
    *(
        "default-domain",
        "module",
        "currentmodule",
        "py:module",
        "py:currentmodule",
        "sectionauthor",
    ),
}
"""What says nothing of its own: lists of contents, page furniture, settings."""
_VERBATIM: Final = frozenset(
    ("testcode", "testoutput", "testsetup", "doctest", "graphviz", "mermaid", "plot", "ipython")
)
_SPOKEN: Final = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "seealso": "See also",
}
_TITLED = re.compile(r"(.+?)\s*<[^<>]*>", re.DOTALL)
_ESCAPES = re.compile(r"\x00")


def read_rst(data: bytes, filename: str) -> Contents:
    """Read a file; `DocumentError` if it is too large, or nested deeper than can be read."""
    if len(data) > MAX_RST_BYTES:
        raise problem(
            filename,
            f"{len(data):,} bytes of reStructuredText, {MAX_RST_BYTES:,} at most: split the file, "
            "or name it .txt to have it read as plain text",
        )
    text = decode_text(data, filename)
    if any(len(line) > _LONGEST_LINE for line in text.splitlines()):
        raise problem(
            filename, f"a line of more than {_LONGEST_LINE:,} characters: break it into lines"
        )
    with _closed_language() as left_out:
        try:
            tree = publish_doctree(text, settings_overrides=dict(_SETTINGS))
            _keep_what_failed(tree)
            fields = _taken_fields(tree)
            html = publish_from_doctree(tree, writer="html5", settings_overrides=dict(_SETTINGS))
        except RecursionError:
            raise problem(filename, "nested deeper than can be read: simplify it") from None
    found = read_html_text(html, filename)
    warnings: tuple[str, ...] = ()
    if left_out:
        parts = counted(
            len(left_out), "included file or raw part is", "included files or raw parts are"
        )
        warnings = (f"{parts} left out",)
    about = read_fields(fields)
    front = f"{fields}\n\n" if fields else ""
    (page,) = found.pages
    return Contents(
        pages=(Page(1, front + page.text, len(front)),),
        headings=tuple(
            replace(heading, start=heading.start + len(front)) for heading in found.headings
        ),
        title=about.title or tree.get("title"),  # the page has one even where the file has none
        created=about.created,
        modified=about.modified,
        language=about.language,
        warnings=warnings,
    )


def _taken_fields(tree: nodes.document) -> str:
    """Take the fields at the head of a file out of it; return them as lines."""
    lines = []
    for docinfo in list(tree.findall(nodes.docinfo)):
        for node in docinfo.children:
            name = node[0].astext() if isinstance(node, nodes.field) else node.tagname
            said = node[1].astext() if isinstance(node, nodes.field) else node.astext()
            lines.append(f"{name}: {' '.join(said.split())}".strip())
        docinfo.parent.remove(docinfo)
    return "\n".join(lines)


def _keep_what_failed(tree: nodes.document) -> None:
    """Put the source in the place of each message that it could not be parsed."""
    for message in list(tree.findall(nodes.system_message)):
        sources = [child for child in message.children if isinstance(child, nodes.literal_block)]
        place = message.parent.index(message)
        message.parent[place : place + 1] = sources


@contextmanager
def _closed_language() -> Iterator[list[str]]:
    """Let no file define what the next one means; give the parts that are left out."""
    left_out: list[str] = []
    find_directive, find_role = directives.directive, roles.role
    known = dict(directives._directives), dict(roles._roles)  # noqa: SLF001 - has no other form

    class Silent(_Foreign):
        def run(self) -> list[nodes.Node]:
            left_out.extend([self.name] if self.name in _LEFT_OUT else [])
            return []

    def directive(name: str, language: Any, document: nodes.document) -> tuple[Any, list[Any]]:
        if name.lower() in _SILENT:
            return Silent, []
        found, _ = find_directive(name, language, document)
        return found or _Foreign, []

    def role(name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        found, _ = find_role(name, language, line, reporter)
        return found or _foreign_role, []

    directives.directive, roles.role = directive, role
    try:
        yield left_out
    finally:
        directives.directive, roles.role = find_directive, find_role
        for module, kept in ((directives._directives, known[0]), (roles._roles, known[1])):  # noqa: SLF001
            module.clear()
            module.update(kept)


class _AnyOption(dict[str, Any]):
    """Takes every option of a directive, as text."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _Foreign(Directive):  # type: ignore[misc]  # docutils has no types
    """A directive that docutils does not know: its argument and its content are text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(any=directives.unchanged)

    def run(self) -> list[nodes.Node]:
        spoken = _SPOKEN.get(self.name, "")
        said = " ".join([spoken, *self.arguments]).strip()
        found: list[nodes.Node] = []
        if said:
            inline, _ = self.state.inline_text(said, self.lineno)
            found.append(nodes.paragraph("", "", *inline))
        if self.name in _VERBATIM:
            content = "\n".join(self.content)
            return [*found, nodes.literal_block(content, content)]
        inner = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inner)
        return [*found, *inner.children]


def _foreign_role(
    _name: str, _raw: str, text: str, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Read a role that docutils does not know as its text, without the target in it."""
    shown = _ESCAPES.sub("", text)
    titled = _TITLED.fullmatch(shown)
    shown = titled[1] if titled else shown.lstrip("~!")
    return [nodes.inline(shown, shown)], []
