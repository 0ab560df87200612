"""Draws docs/pictures/demo.svg: runs ./demo as in a terminal and keeps its telling parts.

Run it when what `./demo` prints has changed: `.venv/bin/python scripts/picture.py`.
"""

import os
import pty
import re
import subprocess
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
WIDTH = 124
SHOWN = tuple(f"\x1b[1m{number}." for number in (1, 4, 5, 6))
PROGRESS = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h(?:\r\x1b\[1A\x1b\[2K)?", re.DOTALL)
"""A progress bar, from the cursor's vanishing to its return."""
BLANK_LINES = re.compile(r"^[ \x1b\[\dm]*\n", re.MULTILINE)
# As rich draws it, but with the reader's own fonts: nothing is fetched to show the picture.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def run_demo() -> str:
    """Run ./demo with a terminal of its own, as wide as the picture; return what it prints."""
    ours, its = pty.openpty()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
        "TERM": "xterm-256color",
        "COLUMNS": str(WIDTH),
    }
    with subprocess.Popen([ROOT / "demo"], stdout=its, stderr=its, env=environment) as demo:  # noqa: S603 - our own script
        os.close(its)
        printed = bytearray()
        try:
            while block := os.read(ours, 65_536):
                printed += block
        except OSError:  # how Linux says that the other end of a terminal is closed
            pass
        os.close(ours)
    if demo.returncode:
        raise SystemExit(printed.decode())
    return PROGRESS.sub("", printed.decode().replace("\r\n", "\n"))


def telling_parts(story: str) -> str:
    """Keep the steps that the picture shows; three dots stand for those that were left out."""
    steps = re.split(r"\n(?=\x1b\[1m)", story)[1:-1]
    kept = (step if step.startswith(SHOWN) else "⋮" for step in steps)
    shown = [step for step, alike in groupby(kept) for step in ([step] if step == "⋮" else alike)]
    return "\n\n".join(BLANK_LINES.sub("", step).rstrip() for step in shown)


def main() -> None:
    """Write the picture."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(telling_parts(run_demo())))
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(console.export_svg(title="./demo", code_format=SVG, unique_id="demo"))


if __name__ == "__main__":
    main()
