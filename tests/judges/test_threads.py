"""How many threads a model computes on."""

from collections.abc import Iterator

import pytest

from evidentia.judges.threads import limit_threads, session_options


class Options:
    """Stands for ONNX Runtime's."""

    log_severity_level = -1
    intra_op_num_threads = -1


class Runtime:
    """Stands for ONNX Runtime."""

    SessionOptions = Options


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    limit_threads(0)


def test_a_model_computes_on_all_cores_unless_it_is_told_otherwise() -> None:
    options = session_options(Runtime, 3)
    assert (options.log_severity_level, options.intra_op_num_threads) == (3, 0)
    limit_threads(1)
    assert session_options(Runtime, 3).intra_op_num_threads == 1
