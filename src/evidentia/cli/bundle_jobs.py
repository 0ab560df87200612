"""Jobs for bundles as they are given: a file, and databases by name."""

from pathlib import Path
from typing import Any

from evidentia.errors import InputError


def read_job(path: Path) -> dict[str, Any]:
    """Read a job's file: an object with known keys."""
    from evidentia.canonical import parse_json
    from evidentia.errors import CanonicalError

    try:
        job = parse_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except CanonicalError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(job, dict):
        raise InputError(f"{path}: must be a JSON object")
    defaults: dict[str, Any] = {
        "job_input": {},
        "evidence_refs": {},
        "policy": {},
        "lake_root": ".",
        "on_error": "raise",
        "connections": {},
    }
    for key in job:
        if key not in defaults:
            raise InputError(f"{path}: there is no {key!r} in a job: use {', '.join(defaults)}")
    found = {**defaults, **job}
    if not isinstance(found["lake_root"], str) or not found["lake_root"].isprintable():
        raise InputError(f"{path}: lake_root must be a path")
    if found["on_error"] not in ("raise", "record"):
        raise InputError(f"{path}: on_error must be 'raise' or 'record'")
    if not isinstance(found["connections"], dict):
        raise InputError(f"{path}: connections must be an object of names and URLs")
    return found


def read_connections(given: list[str]) -> dict[str, str]:
    """Read databases that were given as NAME=URL."""
    found = {}
    for one in given:
        name, sign, url = one.partition("=")
        if not sign or not name or not url:
            raise InputError("a --connection is NAME=URL, such as crm=sqlite:///crm.db")
        found[name] = url
    return found
