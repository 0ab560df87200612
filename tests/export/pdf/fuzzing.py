"""Makes PDFs of hostile packs and ledgers, checks them, and validates them with veraPDF.

Run by `scripts/fuzz pdfs [--count N] [--seed N]`. Prints each problem with its number, which is
all that it takes to make that PDF again, and ends with exit code 1 if there is any.
"""

import argparse
import multiprocessing
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from evidentia.kinds import render
from export.pdf import hostile
from export.pdf.verapdf import validate

AT_ONCE = 50


def made(number: int, folder: str) -> tuple[int, list[str]]:
    """Make the PDF of a number, in a file of a folder; return what is wrong with it."""
    given = hostile.evidence(number)
    try:
        pdf = render(given, **hostile.how(number))
    except BaseException as error:  # noqa: BLE001 - a panic of Typst is no Exception
        return number, [f"no PDF is made: {type(error).__name__}: {str(error)[:200]}"]
    (Path(folder) / f"{number}.pdf").write_bytes(pdf)
    return number, list(hostile.problems(pdf, given))


def checked(numbers: range, folder: Path, pool: ProcessPoolExecutor) -> Iterator[str]:
    """Make and validate the PDFs of some numbers; give what is wrong with them."""
    for number, found in pool.map(made, numbers, [str(folder)] * len(numbers)):
        for problem in found:
            yield f"{number}: {problem}"
    files = sorted(folder.glob("*.pdf"))
    for file, wrong in validate(files).items():
        for problem in wrong:
            yield f"{file.stem}: {problem}"
    for file in files:
        file.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/fuzz pdfs", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000, help="how many [1000]")
    parser.add_argument("--seed", type=int, help="the first number [a random one]")
    asked = parser.parse_args()
    first = secrets.randbelow(2**32) * 10 if asked.seed is None else asked.seed
    say(f"{asked.count:,} PDFs, from number {first} on")
    began = time.monotonic()
    problems = 0
    spawning = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(max_workers=os.cpu_count(), mp_context=spawning) as pool,
    ):
        for start in range(first, first + asked.count, AT_ONCE):
            end = min(start + AT_ONCE, first + asked.count)
            for problem in checked(range(start, end), Path(folder), pool):
                problems += 1
                say(problem)
            say(f"{end - first:,} done, {problems} problems, {time.monotonic() - began:.0f} s")
    sys.exit(1 if problems else 0)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
