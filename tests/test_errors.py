import errno
import inspect
import pickle
import re

import pytest

from evidentia import errors
from evidentia.errors import (
    CanonicalError,
    ConflictError,
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
    NotFoundError,
    ProofError,
    SettingsError,
    UsageError,
    environment_problem,
)

CLASSES = [
    item
    for _, item in inspect.getmembers(errors, inspect.isclass)
    if issubclass(item, BaseException)
]


def test_everything_has_one_root() -> None:
    assert len(CLASSES) > 1
    assert all(issubclass(item, EvidentiaError) for item in CLASSES)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn: dict[str, str] = {}
    parents: dict[int, str] = {}
    for line in (errors.__doc__ or "").split("```")[1].strip("\n").splitlines():
        match = re.match(r"([ │├└─]*)(\w+)", line)
        assert match
        depth = len(match[1]) // 4
        parents[depth] = match[2]
        drawn[match[2]] = parents.get(depth - 1, "Exception")
    assert drawn == {item.__name__: item.__bases__[0].__name__ for item in CLASSES}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (EvidentiaError, 1),
        (CanonicalError, 1),
        (IntegrityError, 1),
        (ProofError, 1),
        (UsageError, 2),
        (InputError, 2),
        (NotFoundError, 2),
        (ConflictError, 2),
        (SettingsError, 2),
        (EnvironmentProblem, 3),
    ],
)
def test_each_error_has_the_exit_code_its_kind_promises(
    kind: type[EvidentiaError], code: int
) -> None:
    assert kind.exit_code == code


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [(CanonicalError, ValueError), (InputError, ValueError), (NotFoundError, LookupError)],
)
def test_errors_that_python_has_a_word_for_are_that_too(
    kind: type[EvidentiaError], builtin: type[Exception]
) -> None:
    with pytest.raises(builtin, match="what was wrong"):
        raise kind("what was wrong")


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_travel_between_processes(kind: type[EvidentiaError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what", "where")))
    assert type(back) is kind
    assert back.args == ("what", "where")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError(errno.EMFILE, "Too many open files", "/a/b.pem"),
            (
                "/a/b.pem: Too many open files: let this process open more ('ulimit -n'), or close "
                "workspaces"
            ),
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "No space left on device: make room on the disk",
        ),
        (OSError(errno.EIO, "Input/output error", "x"), "x: Input/output error"),
        (OSError("something else"), "something else"),
    ],
)
def test_what_the_system_refuses_says_where_and_what_to_do(error: OSError, message: str) -> None:
    problem = environment_problem(error)
    assert isinstance(problem, EnvironmentProblem)
    assert str(problem) == message
