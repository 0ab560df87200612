"""Answers of services, remembered in files by a digest; outside the trail, and never evidence.

Whatever is lost or damaged here is asked for again. Any number of processes may share a folder.
"""

import re
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem
from evidentia.logs import get_logger
from evidentia.store.files import make_folder, write_durably

MAX_BYTES: Final = 64 * 1024
_NAME: Final = re.compile("[0-9a-f]{64}")
_log = get_logger("store")


class RememberedAnswers:
    """A folder of answers, readable by its owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> bytes | None:
        """Return the answer of this name; None if there is none that can be read."""
        try:
            with self._file(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError:
            return None
        return data if len(data) <= MAX_BYTES else None

    def put(self, name: str, data: bytes) -> None:
        """Remember an answer; where that cannot be, it will be asked for again."""
        if len(data) > MAX_BYTES:
            return
        file = self._file(name)
        try:
            make_folder(file.parent)
            write_durably(file, data, mode=0o600, aside=self._folder.parent)
        except EnvironmentProblem as problem:
            _log.warning("answer_not_remembered", problem=str(problem))

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError("an answer is remembered by a digest")
        return self._folder / name[:2] / f"{name}.json"
