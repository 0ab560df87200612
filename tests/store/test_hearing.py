"""What is heard at files, also where their numbers are high."""

import os
import resource
from collections.abc import Iterator

import pytest

from evidentia.store.hearing import said_at

HIGH = 1_500


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < HIGH + 1:
        pytest.skip(f"no process may have {HIGH:,} files open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, HIGH + 1), most))
    read, write = os.pipe()
    os.dup2(read, HIGH)
    os.close(read)
    yield HIGH, write
    for file in (HIGH, write):
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))


def test_a_file_of_a_high_number_is_heard(pipe: tuple[int, int]) -> None:
    read, write = pipe
    assert said_at([read], 0) == []
    os.write(write, b".")
    assert said_at([read], None) == [read]


def test_the_end_of_who_speaks_is_heard() -> None:
    read, write = os.pipe()
    os.close(write)
    assert said_at([read], 0) == [read]
    os.close(read)
