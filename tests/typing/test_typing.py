"""A user's program type-checks, strictly, against the package as it is installed."""

import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

PROGRAM = Path(__file__).parent / "users_program.py"
WRONG = """
import evidentia as ev

with ev.open() as ws:
    ws.check(42)
    ws.packs.hold("pack_1")
    ledger: ev.EvidencePack = ws.check("It is so.")
    ws.nothing()
"""


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("evidentia") / "py.typed").is_file()


def test_a_users_program_has_no_type_errors_and_mistakes_are_found(tmp_path: Path) -> None:
    """As a user would check them: in a folder of their own, with no configuration of ours."""
    shutil.copy(PROGRAM, tmp_path / "program.py")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    known = Path(sys.prefix, "typing-cache")  # what was checked of the package before
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={known}", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.split(":")[:2] for line in done.stdout.splitlines() if ": error:" in line]
    assert found == [["wrong.py", number] for number in "5678"], done.stdout + done.stderr
