"""On how many threads a model computes: on all cores, unless its process is one of several."""

from typing import Any, ClassVar


class _Threads:
    most: ClassVar[int] = 0
    """0 is ONNX Runtime's word for one on each core."""


def limit_threads(most: int) -> None:
    """Let models that are loaded from now on compute on so many threads each."""
    _Threads.most = most


def session_options(runtime: Any, severity: int) -> Any:
    """Return the options of an ONNX Runtime session, which logs from a severity on."""
    options = runtime.SessionOptions()
    options.log_severity_level = severity
    options.intra_op_num_threads = _Threads.most
    return options
