"""Running a checkpoint: by ONNX Runtime, or by transformers where the weights are safetensors.

One pair at a time, so that what is said of it does not depend on what else is asked.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evidentia.errors import InputError
from evidentia.judges.checkpoint.folder import Checkpoint, read_checkpoint
from evidentia.judges.checkpoint.judge import CheckpointJudge
from evidentia.judges.threads import session_options

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_INSTALL: Final = "a judge out of a folder needs ONNX Runtime: pip install 'evidentia[judge]'"
_INSTALL_TRANSFORMERS: Final = (
    "its weights are safetensors, which transformers runs: pip install 'evidentia[transformers]', "
    "or export the model as ONNX"
)
_INPUTS: Final = frozenset(("input_ids", "attention_mask", "token_type_ids"))
_WHOLE: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def checkpoint_judge(
    folder: str | Path, *, calibrated: bool = True, reads_meaning: bool = False
) -> CheckpointJudge:
    """Return the judge of a folder; without its calibration if that is about to be made."""
    checkpoint = read_checkpoint(Path(folder))
    run: _Tokenized = _Onnx(checkpoint) if checkpoint.weights is not None else _Torch(checkpoint)
    return CheckpointJudge(
        checkpoint.name,
        checkpoint.digest,
        checkpoint.reading,
        run,
        calibration=checkpoint.calibration if calibrated else None,
        reads_meaning=reads_meaning,
    )


class _Tokenized:
    """What both ways of running a model have in common: the tokens of a pair."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._reading = checkpoint.reading
        self._tokenizer = _tokenizer(checkpoint)
        added = self._tokenizer.get_added_tokens_decoder().values()
        special = [re.escape(token.content) for token in added if token.special]
        self._special = re.compile("|".join(special) or r"(?!)")

    def fits(self, evidence: str, claim: str) -> bool:
        return len(self._encoded(evidence, claim).ids) <= self._reading.max_tokens

    def logits(self, evidence: str, claim: str) -> Sequence[float]:
        encoded = self._encoded(evidence, claim)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": [1] * len(encoded.ids),
            "token_type_ids": encoded.type_ids,
        }
        return self._run(given)

    def _run(self, given: dict[str, list[int]]) -> Sequence[float]:
        raise NotImplementedError

    def _encoded(self, evidence: str, claim: str) -> "Encoding":
        # a text that spells a separator would end itself
        evidence, claim = (self._special.sub(" ", text) for text in (evidence, claim))
        if self._reading.join is not None:
            return self._tokenizer.encode(f"{evidence}{self._reading.join}{claim}")
        return self._tokenizer.encode(evidence, claim)


class _Onnx(_Tokenized):
    """Runs a graph that is whole in itself: no file beside it is read."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        try:
            import onnxruntime as runtime  # noqa: PLC0415 - an extra, and slow to import
        except ImportError:
            raise InputError(_INSTALL) from None
        options = session_options(runtime, 4)
        try:
            self._session = runtime.InferenceSession(
                checkpoint.weights, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 - it raises what its C++ code throws
            why = " ".join(str(error).split())[:200]
            raise InputError(
                f"{checkpoint.folder}: ONNX Runtime cannot load model.onnx ({why}); its weights "
                "must be in the file itself"
            ) from None
        self._types = {one.name: _WHOLE.get(one.type) for one in self._session.get_inputs()}
        strange = sorted(
            name for name, kind in self._types.items() if name not in _INPUTS or kind is None
        )
        if strange or "input_ids" not in self._types:
            raise InputError(
                f"{checkpoint.folder}: model.onnx is no classifier of texts: it takes "
                f"{', '.join(sorted(self._types))[:200]}"
            )
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]

    def _run(self, given: dict[str, list[int]]) -> Sequence[float]:
        inputs = {name: np.array([given[name]], dtype=kind) for name, kind in self._types.items()}
        found = np.asarray(self._session.run([self._output], inputs)[0], dtype=np.float64)
        return found.reshape(-1).tolist()


class _Torch(_Tokenized):
    """Runs safetensors by transformers, from the folder alone and without code of its own."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        try:
            import torch  # noqa: PLC0415 - an extra, and slow to import
            from transformers import AutoModelForSequenceClassification  # noqa: PLC0415 - the same
            from transformers.utils import logging  # noqa: PLC0415 - the same
        except ImportError:
            raise InputError(f"{checkpoint.folder}: {_INSTALL_TRANSFORMERS}") from None
        logging.disable_progress_bar()
        self._torch: Any = torch
        try:
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(
                checkpoint.folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
            ).eval()
        except Exception as error:  # noqa: BLE001 - it raises whatever its many parts raise
            why = " ".join(str(error).split())[:200]
            raise InputError(f"{checkpoint.folder}: transformers cannot load it ({why})") from None

    def _run(self, given: dict[str, list[int]]) -> Sequence[float]:
        torch = self._torch
        if getattr(self._model.config, "type_vocab_size", 0) < 2:  # noqa: PLR2004 - one kind of text
            given = {name: ids for name, ids in given.items() if name != "token_type_ids"}
        tensors = {name: torch.tensor([ids]) for name, ids in given.items()}
        with torch.no_grad():
            found: list[float] = self._model(**tensors).logits.reshape(-1).tolist()
        return found


def _tokenizer(checkpoint: Checkpoint) -> "Tokenizer":
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(_INSTALL) from None
    try:
        tokenizer = Tokenizer.from_buffer(checkpoint.tokenizer)
    except Exception as error:  # noqa: BLE001 - it raises what its Rust code throws
        why = " ".join(str(error).split())[:200]
        raise InputError(f"{checkpoint.folder}: tokenizer.json cannot be read ({why})") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
