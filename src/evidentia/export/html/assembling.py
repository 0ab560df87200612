"""Putting scripts and styles into one page, which loads nothing from anywhere.

The scripts are ES modules, as a server gives them. A page that is opened as a file can't load
modules, so they are put into one script here, each in a function of its own.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

MODULES: Final = (
    "reading",
    "noble-ed25519",
    "hashing",
    "trail",
    "checks",
    "schemas",
    "form",
    "packs",
    "ledgers",
    "verifying",
    "words",
    "tree",
    "showing",
    "files",
    "verify-page",
    "exported-page",
)
"""The modules of saved pages, each behind those that it needs."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z0-9-]+)\.js";\n', re.MULTILINE)
_LOADED = re.compile(r'import\("\./([a-z0-9-]+)\.js"\)')
_EXPORTED = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)


def asset(kind: str, name: str) -> str:
    """Return a script (`scripts`) or a style sheet (`styles`) of this package."""
    return files(__package__).joinpath(kind, name).read_text("utf-8")


@cache
def bundled(*entries: str) -> str:
    """Return one script with the modules, and what its last lines start: `entries`."""
    return "\n".join(['"use strict";', *map(_module, MODULES), *entries, ""])


@cache
def styles() -> str:
    """Return the style of a page of its own."""
    return asset("styles", "page.css") + asset("styles", "report.css")


def policy(script: str, style: str) -> str:
    """Return the content security policy of a page: its own script and style, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _variable(name: str) -> str:
    return f"m_{name.replace('-', '_')}"


def _module(name: str) -> str:
    """Return a module as a function that gives what the module exports."""
    source = _COMMENT.sub("", asset("scripts", f"{name}.js"))
    listed = _EXPORT_LIST.search(source)
    exported = _EXPORTED.findall(source) + (re.findall(r"\w+", listed[1]) if listed else [])
    source = _EXPORT_LIST.sub("", _EXPORTED.sub("", source))
    source = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_variable(found[2])};\n", source)
    source = _LOADED.sub(lambda found: f"Promise.resolve({_variable(found[1])})", source)
    return (
        f"const {_variable(name)} = (() => {{\n{source}return {{ {', '.join(exported)} }};\n}})();"
    )
