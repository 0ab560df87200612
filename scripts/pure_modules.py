"""Prints the files of the pure modules, for coverage to include.

They are all modules of the packages that the import contract calls pure, but for those that it
lists as impure: the ones that may import anything (`-> *`).
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

CONTRACT = "The deciding code is pure"


def pure_files(root: Path) -> Iterator[str]:
    """Give the files of the modules that decide, from the root of the repository."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    contract = next(one for one in contracts if one["name"] == CONTRACT)
    lines = (line.split(" -> ") for line in contract["ignore_imports"])
    impure = {f"src/{module.replace('.', '/')}.py" for module, what in lines if what == "*"}
    for package in contract["source_modules"]:
        place = root / "src" / package.replace(".", "/")
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        for file in files:
            name = file.relative_to(root).as_posix()
            if name not in impure:
                yield name


if __name__ == "__main__":
    sys.stdout.write(",".join(pure_files(Path())))
