from collections.abc import Iterator

import pytest

from judges.llm.serving import Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve a language model of sorts."""
    with serving() as found:
        yield found
