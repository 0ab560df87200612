"""The tree and the import line of the pages are those of the code."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
PAGES = [ARCHITECTURE, ROOT / "CONTRIBUTING.md"]
BESIDE = {"settings", "__init__", "py"}
"""What stands beside the layers: the composition root's, and no module of its own."""


def contract(name: str) -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    found: dict[str, list[str]] = next(one for one in contracts if one["name"] == name)
    return found


def in_code() -> set[str]:
    found = (ROOT / "src" / "evidentia").iterdir()
    return {path.stem for path in found if path.suffix == ".py" or (path / "__init__.py").exists()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_import_line_is_the_contracts(page: Path) -> None:
    line = next(line for line in page.read_text("utf-8").splitlines() if line.startswith("cli →"))
    shown = [set(layer.split(", ")) for layer in line.split(" → ")]
    layers = contract("Imports go one way")["layers"]
    assert shown == [set(re.split(r" [|:] ", layer)) for layer in layers]


def test_the_contract_has_every_package_and_module() -> None:
    layers = contract("Imports go one way")["layers"]
    named = {name for layer in layers for name in re.split(r" [|:] ", layer)}
    assert named == in_code() - BESIDE


def test_the_tree_has_every_package_and_module_and_no_other() -> None:
    page = ARCHITECTURE.read_text("utf-8")
    tree = page[page.index("src/evidentia/\n") : page.index("spec/v1/  ")]
    named = {name.removesuffix(".py").rstrip("/") for name in re.findall(r"[├└]── (\S+)", tree)}
    assert named == in_code()


def test_modules_that_the_page_names_are_there() -> None:
    page = ARCHITECTURE.read_text("utf-8")
    packages = "|".join(sorted(in_code()))
    for named in set(re.findall(rf"`((?:{packages})(?:\.\w+)+)`", page)):
        parts = named.split(".")
        places = [ROOT.joinpath("src", "evidentia", *parts[:end]) for end in (len(parts), -1)]
        there = any(place.is_dir() or place.with_suffix(".py").exists() for place in places)
        assert there, named


def test_the_dialect_is_asked_for_in_one_module() -> None:
    """Live queries run on other people's databases, which are of any kind."""
    asking = {
        path.relative_to(ROOT / "src" / "evidentia").as_posix()
        for path in (ROOT / "src" / "evidentia").rglob("*.py")
        if re.search(r"\.dialect\b", path.read_text("utf-8")) and "migrations" not in path.parts
    }
    assert asking == {
        "store/database.py",
        "loading/queries/readonly.py",
    }
