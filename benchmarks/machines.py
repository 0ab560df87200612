"""Many machines: what PostgreSQL, object storage, long logs and bulk work cost.

Run it with `python -m benchmarks.machines [--quick] [--only NAME] [--json FILE]`. PostgreSQL and
SeaweedFS are started for it on this machine, and a Ray cluster where Ray is installed.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import Section, run_measures

from benchmarks import bulk, object_lake, reading, writers

MEASURES: dict[str, Callable[[str, Path], Section]] = {
    "writers": writers.measure_writers,
    "sequencing": writers.measure_sequencing,
    "proving": writers.measure_proving,
    "sealing": object_lake.measure_sealing,
    "memory": reading.measure_memory,
    "workers": bulk.measure_workers,
    "kills": bulk.measure_kills,
}


def main() -> None:
    run_measures("Measures many machines against yardsticks of the same run.", MEASURES)


if __name__ == "__main__":
    main()
