"""A checkpoint's folder: which files of it are read, their digest, and which are never opened.

No code of the folder is run, and no pickle is opened: weights are ONNX or safetensors.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from evidentia.errors import InputError, NotFoundError
from evidentia.judges.checkpoint.calibration import Calibration
from evidentia.judges.checkpoint.labels import JudgeFile, Reading, reading_of

CALIBRATION: Final = "calibration.json"
SETTINGS: Final = "judge.json"
_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_TENSORS: Final = "model.safetensors"
_PICKLED: Final = frozenset((".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"))
_SMALL: Final = 2**20
_TOKENIZER_BYTES: Final = 64 * 2**20
_WEIGHTS_BYTES: Final = 2**31 - 1
"""What one protocol buffer holds at most, and with it a graph."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was read of a folder; `weights` are the graph's bytes, or None for safetensors."""

    folder: Path
    reading: Reading
    tokenizer: bytes = field(repr=False)
    weights: bytes | None = field(repr=False)
    calibration: Calibration | None
    digest: str

    @property
    def name(self) -> str:
        """What ledgers call the judge that asks it."""
        return f"model:{self.folder.resolve().name}"


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a folder; raise `NotFoundError` or `InputError`, which say what it lacks."""
    if not folder.is_dir():
        raise NotFoundError(f"{folder}: there is no such folder")
    files = {"config.json": _read(folder, "config.json", _SMALL)}
    config = _config(files["config.json"], folder)
    files["tokenizer.json"] = _read(folder, "tokenizer.json", _TOKENIZER_BYTES)
    for name in (SETTINGS, CALIBRATION):
        if (folder / name).is_file():
            files[name] = _read(folder, name, _SMALL)
    graph = next((name for name in _GRAPHS if (folder / name).is_file()), None)
    if graph is None:
        _refuse_unsafe(folder, config)
    weights = graph or _TENSORS
    said = JudgeFile.read(files.get(SETTINGS, b"{}"), str(folder))
    files[weights] = _read(folder, weights, _WEIGHTS_BYTES)
    calibration = files.get(CALIBRATION)
    return Checkpoint(
        folder,
        reading_of(config, said, str(folder)),
        files["tokenizer.json"],
        files[weights] if graph else None,
        Calibration.read(calibration, str(folder)) if calibration else None,
        _digest(files),
    )


def _refuse_unsafe(folder: Path, config: dict[str, Any]) -> None:
    """Refuse a folder that has no weights which can be opened without running anything of it."""
    if not (folder / _TENSORS).is_file():
        names = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLED)
        if names:
            raise InputError(
                f"{folder}: its weights are in {names[0]}, a format that can run programs when it "
                "is opened, and is not: save the model as safetensors or as ONNX"
            )
        raise InputError(f"{folder}: it has no weights: put model.onnx or {_TENSORS} there")
    if "auto_map" in config:
        raise InputError(
            f"{folder}: it needs code of its own to run ('auto_map' in config.json), which is "
            "never run: export the model as ONNX"
        )


def _config(data: bytes, folder: Path) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{folder}: config.json is not a JSON object")
    return found


def _read(folder: Path, name: str, most: int) -> bytes:
    try:
        with (folder / name).open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise InputError(
            f"{folder}: {name} is missing: a checkpoint has config.json, tokenizer.json and weights"
        ) from None
    except OSError as error:
        raise InputError(f"{folder}: {name} cannot be read ({error.strerror})") from None
    if len(data) > most:
        raise InputError(f"{folder}: {name} has more than {most:,} bytes")
    return data


def _digest(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of a listing of the files that were read, in the order of their names."""
    lines = [f"{sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    return sha256("".join(lines).encode()).hexdigest()
