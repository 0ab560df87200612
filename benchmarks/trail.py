"""The trail: what appending, verifying and proving cost, against doing the bare minimum.

Run it with `python -m benchmarks.trail [--quick] [--only NAME] [--dir DIR] [--json FILE]`.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import Section, machine, options, parser, report, table
from benchmarks.workload import build_log

from benchmarks import appending, reading

APPENDING: dict[str, Callable[[str, Path], Section]] = {
    "batches": appending.measure_batches,
    "single": appending.measure_single,
    "stalls": appending.measure_stalls,
    "singles": reading.measure_singles,
    "lookups": reading.measure_lookups,
}
"""What makes its own logs."""
READING: dict[str, Callable[[str, Path], Section]] = {
    "verify": reading.measure_verify,
    "proofs": reading.measure_proofs,
}


def main() -> None:
    names = [*APPENDING, *READING]
    arguments = parser("Measures the trail against bare yardsticks of the same run.", names)
    arguments.add_argument(
        "--dir", type=Path, help="where the large log is kept, or made if it is not there yet"
    )
    asked = options(arguments.parse_args(), names)
    sections = []
    with asked.workplace() as folder:
        described = machine(folder)
        print(table(["Machine", ""], list(described.items())), end="\n\n", flush=True)
        for name, measure in APPENDING.items():
            if name in asked.only:
                place = folder / name
                place.mkdir()
                sections.append(measure(asked.size, place))
                print(sections[-1].markdown(), flush=True)
        chosen = [name for name in READING if name in asked.only]
        if chosen:
            entries = reading.SIZES[asked.size].entries
            place = (asked.folder or folder) / f"log-{entries}"
            build_log(place, entries)
            for name in chosen:
                sections.append(READING[name](asked.size, place))
                print(sections[-1].markdown(), flush=True)
    report(asked, described, sections)


if __name__ == "__main__":
    main()
