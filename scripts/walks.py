"""Writes the walks of architecture.md: which modules a command goes through, in the order of calls.

Each command runs in a process of its own, on the examples, with a profiler that sees every call
within the package. A call from one package into another is a switch; calls into `language`,
`canonical`, `frozen`, `errors`, `logs` and `times` are not counted. Run it when the house has
changed: `.venv/bin/python scripts/walks.py`; `--print` only prints.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "explanation" / "architecture.md"
NOT_COUNTED: Final = frozenset({"language", "canonical", "frozen", "errors", "logs", "times"})
WALKS: Final = {
    "An answer checked": ["check", "answer.md", "--against", "policies"],
    "A record appended": ["trail", "append", "trail/records.ndjson"],
    "An entry proved": ["trail", "prove", "1", "-o", "proof.json"],
    "A bundle built": ["bundle", "build", "-c", "bundles/job.json"],
    "A pack sealed": [
        *("pack", "new", "decision.json", "--calls", "calls.json", "--ledger", "latest"),
    ],
    "A pack printed": ["pack", "export", "latest", "--format", "pdf", "-o", "board.pdf"],
    "A pack verified": ["verify", "board.pdf", "--key", "key.txt"],
}
BEFORE: Final = (10_023, 161, 77, 293, 423, 384, 280)
"""The switches of the same walks before the house had parts."""
_BEGINS: Final = "<!-- walks: made by scripts/walks.py -->\n"
_ENDS: Final = "<!-- walks end -->\n"


class Walk:
    """A profiler that notes which modules are called, and counts the switches between packages."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.switches: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note one event of the interpreter."""
        here = _module(frame)
        if event != "call" or here is None or frame.f_code.co_name == "<module>":
            return
        if here not in self.modules:
            self.modules.append(here)
        caller = frame.f_back
        while caller is not None and _module(caller) is None:
            caller = caller.f_back
        there = None if caller is None else _module(caller)
        if there is None or {_package(here), _package(there)} & NOT_COUNTED:
            return
        if _package(here) != _package(there):
            self.switches[f"{_package(there)} -> {_package(here)}"] += 1


def _module(frame: FrameType) -> str | None:
    name: str = frame.f_globals.get("__name__", "")
    return name if name.startswith("evidentia.") else None


def _package(module: str) -> str:
    return module.split(".")[1]


def walk(arguments: list[str]) -> None:
    """Run a command in this process under the profiler, and print what it saw as JSON."""
    seen = Walk()
    sys.argv = ["evidentia", *arguments]
    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        from evidentia.cli.main import run  # noqa: PLC0415 - the profiler sees it being loaded

        run()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
    loaded = sum(name.startswith("evidentia.") for name in sys.modules)
    found = {"modules": seen.modules, "switches": seen.switches, "loaded": loaded}
    Path(os.environ["WALK"]).write_text(json.dumps(found), encoding="utf-8")


def walked(folder: Path) -> dict[str, dict[str, Any]]:
    """Walk all commands one after the other, in a folder with the examples."""
    for name in ("policies", "trail", "bundles"):
        shutil.copytree(ROOT / "examples" / name, folder / name)
    for name in ("decision.json", "calls.json"):
        shutil.copy(ROOT / "examples" / name, folder)
    # The answer that `BEFORE` was counted with: a longer one takes more switches.
    shutil.copy(ROOT / "examples" / "copied.md", folder / "answer.md")
    found = {}
    for name, arguments in WALKS.items():
        if name == "A pack verified":
            keys = [sys.executable, "-m", "evidentia.cli.main", "keys", "show", "-o", "key.txt"]
            subprocess.run(keys, cwd=folder, check=True, capture_output=True)  # noqa: S603 - ours
        told = folder / "walk.json"
        subprocess.run(  # noqa: S603 - this very script
            [sys.executable, __file__, "--walk", *arguments],
            cwd=folder,
            check=True,
            capture_output=True,
            env={**os.environ, "WALK": str(told)},
        )
        found[name] = json.loads(told.read_text(encoding="utf-8"))
    return found


def written(found: dict[str, dict[str, Any]]) -> str:
    """Return the walks as Markdown."""
    lines = [
        "| Walk | Command | Switches | Before | Modules loaded |",
        "|---|---|---|---|---|",
    ]
    for (name, one), before in zip(found.items(), BEFORE, strict=True):
        command = " ".join(WALKS[name][:2]) if WALKS[name][0] != "verify" else "verify"
        count = sum(one["switches"].values())
        lines.append(f"| {name} | `{command}` | {count:,} | {before:,} | {one['loaded']} |")
    for name, one in found.items():
        modules = [module.removeprefix("evidentia.") for module in one["modules"]]
        shown = [module for module in modules if _package(f"evidentia.{module}") not in NOT_COUNTED]
        most = ", ".join(f"{pair} {n:,}" for pair, n in Counter(one["switches"]).most_common(4))
        lines += ["", f"**{name}**: {', '.join(f'`{module}`' for module in shown)}."]
        lines += ["", f"Most switches: {most}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the walks into the page, or print them."""
    if sys.argv[1:2] == ["--walk"]:
        walk(sys.argv[2:])
        return
    with tempfile.TemporaryDirectory() as folder:
        text = written(walked(Path(folder)))
    if "--print" in sys.argv:
        sys.stdout.write(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(_BEGINS)}.*?{re.escape(_ENDS)}", re.DOTALL)
    PAGE.write_text(between.sub(lambda _: f"{_BEGINS}\n{text}\n{_ENDS}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
