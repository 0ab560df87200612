"""Judges: by name, each with one job; they keep the protocol in `ledger.judging`."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Final

from evidentia.errors import InputError
from evidentia.judges.nli.judge import NliJudge
from evidentia.judges.nli.model import has_weights
from evidentia.judges.numbers import NumbersJudge
from evidentia.judges.quote import QuoteJudge
from evidentia.ledger.judging import Judge

JUDGES: dict[str, Callable[[], Judge]] = {
    "quote": QuoteJudge,
    "numbers": NumbersJudge,
    "nli": NliJudge,
}
"""Every judge by its name, in the order they are asked: the cheap and certain ones first."""
FOLDER: Final = "model:"
"""What the name of a judge begins with that is in a folder: the rest is where."""


def available_judges() -> list[str]:
    """Return the names of the judges that can be asked: their packages and weights are there."""
    return [name for name in JUDGES if not (name == NliJudge.name and _why_no_model())]


def can_read_meaning() -> bool:
    """Whether passages can be looked for by what they mean."""
    return not _why_no_model()


def _why_no_model() -> str:
    """Say why the trained judge cannot be asked; nothing if it can."""
    if not has_weights():
        return "this version of the package has no weights for it"
    if not all(find_spec(package) for package in ("onnxruntime", "tokenizers")):
        return "pip install 'evidentia[judge]'"
    return ""


def make_judges(names: Sequence[str] | None = None) -> list[Judge]:
    """Return the named judges, or all that are installed, in their order; folders come last.

    Raise `InputError` for an unknown name, or for one whose packages are not installed.
    """
    installed = available_judges()
    wanted = installed if names is None else names
    folders = [name.removeprefix(FOLDER) for name in wanted if name.startswith(FOLDER)]
    for name in wanted:
        if name not in JUDGES and not name.startswith(FOLDER):
            raise InputError(
                f"judge {name!r} is unknown: use one of {', '.join(JUDGES)}, or {FOLDER}FOLDER"
            )
        if name in JUDGES and name not in installed:
            raise InputError(f"the {name} judge is not installed: {_why_no_model()}")
    named = [make() for name, make in JUDGES.items() if name in wanted]
    return named + [_in_folder(folder) for folder in folders]


def _in_folder(folder: str) -> Judge:
    from evidentia.judges.checkpoint.model import checkpoint_judge  # noqa: PLC0415 - few ask for it

    return checkpoint_judge(folder, reads_meaning=can_read_meaning())
