"""The command line's start, against a bare start of the same Python.

Run it with `python -m benchmarks.cli [--quick] [--imports] [--json FILE]`.
"""

import re
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.measuring import (
    Line,
    Section,
    interleaved,
    machine,
    number,
    options,
    parser,
    ratios,
    report,
    seconds_of,
    table,
)

ROUNDS = {"full": 60, "quick": 15, "tiny": 1}
COMMAND = str(Path(sys.executable).with_name("evidentia"))
BARE = "python -c pass"
SIDES = {
    BARE: [sys.executable, "-c", "pass"],
    "evidentia --help": [COMMAND, "--help"],
    "evidentia trail --help": [COMMAND, "trail", "--help"],
}
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")


def measure(size: str) -> Section:
    """Compare the help texts with a start that does nothing."""
    for command in SIDES.values():
        _run(command)  # compiled and in the system's cache from here on
    taken = interleaved(
        ROUNDS[size],
        {name: partial(_seconds, command) for name, command in SIDES.items()},
    )
    bare = taken[BARE]
    return Section(
        "cli",
        "The command line's start",
        "The help texts, from the start of the process to its end, against the same Python doing "
        "nothing (`python -c pass`); modules are compiled, as those of an installed package.",
        [
            Line(
                f"`{name}`",
                BARE,
                f"{number(statistics.median(values) * 1e3)} ms",
                f"{number(statistics.median(bare) * 1e3)} ms",
                ratios(values, bare),
                "times",
                target=8.0,
                at_most=True,
            )
            for name, values in taken.items()
            if name != BARE
        ],
    )


def imports(most: int = 25) -> str:
    """Return the modules whose import takes longest, with those that they import counted in."""
    command = [sys.executable, "-X", "importtime", COMMAND, "trail", "--help"]
    _run(command[:1] + command[3:])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = [match.groups() for match in map(_IMPORT.match, done.stderr.splitlines()) if match]
    found.sort(key=lambda row: -int(row[1]))
    rows = [
        [f"`{name}`", f"{int(with_others) / 1e3:.1f} ms", f"{int(own) / 1e3:.1f} ms"]
        for own, with_others, _, name in found[:most]
    ]
    return table(["Module", "With what it imports", "Itself"], rows)


def _seconds(command: list[str]) -> float:
    return seconds_of(lambda: _run(command))


def _run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    made = parser("Measures how fast the command line starts.", ["cli"])
    made.add_argument(
        "--imports", action="store_true", help="only show which imports take the time"
    )
    parsed = made.parse_args()
    asked = options(parsed, ["cli"])
    if parsed.imports:
        with asked.workplace():
            print(imports())
        return
    with asked.workplace() as folder:
        described = machine(folder)
        print(table(["Machine", ""], list(described.items())), end="\n\n", flush=True)
        section = measure(asked.size)
    print(section.markdown())
    report(asked, described, [section])


if __name__ == "__main__":
    main()
