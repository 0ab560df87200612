"""Answers that are given to be checked, many at once: as values, or as lines of JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_TEXTS: Final = ("query", "title")
_SHOWN: Final = 80
_KEYS: Final = 5


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer to check: its number among all (of a file, its line), and what was said of it.

    `against` are files and folders to check it by, `contexts` the passages that its model was
    given; None where there are none of its own. `citations` are what is said beside it that it
    cites.
    """

    number: int
    answer: str
    id: str | None = None
    query: str | None = None
    title: str | None = None
    against: tuple[str, ...] | None = None
    contexts: Any = None
    citations: Any = None


@dataclass(frozen=True, slots=True)
class UnreadAnswer:
    """What was given, and is no answer: its number, and what is wrong with it."""

    number: int
    problem: str
    id: str | None = None


Given = GivenAnswer | UnreadAnswer


def given_answers(values: Iterable[object]) -> Iterator[Given]:
    """Read answers given as texts or mappings, or read already; an id may be given once."""
    yield from _once(
        value if isinstance(value, Given) else _read(number, value)
        for number, value in enumerate(values, 1)
    )


def answers_in_lines(data: bytes) -> Iterator[Given]:
    """Read answers given as lines, each a JSON object; empty lines are left out."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    yield from _once(
        _read_line(number, line) for number, line in enumerate(lines, 1) if line.strip()
    )


def _once(found: Iterable[Given]) -> Iterator[Given]:
    first: dict[str, int] = {}
    for one in found:
        if isinstance(one, GivenAnswer) and one.id is not None:
            before = first.setdefault(one.id, one.number)
            if before != one.number:
                problem = f"its id {one.id[:_SHOWN]!r} is that of answer {before}: give it another"
                yield UnreadAnswer(one.number, problem, one.id)
                continue
        yield one


def _read_line(number: int, line: bytes) -> Given:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return UnreadAnswer(number, "not UTF-8 text")
    except json.JSONDecodeError as error:
        return UnreadAnswer(number, f"not JSON: {error.msg} at character {error.colno}")
    except (ValueError, RecursionError):
        return UnreadAnswer(number, "not JSON that can be read: too deep, or a number too long")
    if not isinstance(value, dict):
        return UnreadAnswer(number, 'not a JSON object: each line is {"answer": …}')
    return _read(number, value)


def _read(number: int, value: object) -> Given:
    if isinstance(value, str):
        return GivenAnswer(number, value)
    if not isinstance(value, Mapping):
        return UnreadAnswer(number, f"neither text nor an object, but {type(value).__name__}")
    named, against = value.get("id"), value.get("against")
    if isinstance(named, bool) or not isinstance(named, str | int | None):
        return UnreadAnswer(number, "its id is neither text nor a number")
    if isinstance(named, str) and not _is_text(named):
        return UnreadAnswer(number, "its id is not text")
    identity = None if named is None else str(named)
    if problem := _problem(value):
        return UnreadAnswer(number, problem, identity)
    return GivenAnswer(
        number,
        value["answer"],
        identity,
        value.get("query"),
        value.get("title"),
        (against,) if isinstance(against, str) else against and tuple(against),
        value.get("contexts"),
        value.get("citations"),
    )


def _problem(value: Mapping[Any, Any]) -> str | None:
    """Say what is wrong with an answer's fields; None if nothing is."""
    answer, against = value.get("answer"), value.get("against")
    if answer is None:
        keys = ", ".join(repr(str(key)[:_SHOWN]) for key in list(value)[:_KEYS])
        return f"it has no 'answer', but {keys}" if value else "it has no 'answer'"
    if not isinstance(answer, str):
        return "its answer is not text"
    for name in _TEXTS:
        given = value.get(name)
        if given is not None and not (isinstance(given, str) and _is_text(given)):
            return f"its {name} is not text"
    if against is None or isinstance(against, str):
        return None
    is_list = isinstance(against, list | tuple) and against
    if not is_list or not all(isinstance(one, str) for one in against):
        return "against is neither a path nor a list of paths"
    return None


def _is_text(value: str) -> bool:
    """Whether a text can be kept: no half of a surrogate pair, and no NUL."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value)
