"""A part of a workspace: its public methods, each behind the guard."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from types import FunctionType
from typing import Any

from evidentia.access.actions import Action
from evidentia.access.guard import TABLE
from evidentia.errors import environment_problem
from evidentia.store.database import unhurried
from evidentia.store.replica import ReplicaLostError, may_be_old
from evidentia.workspace.acting import Acting


class Part:
    """What a workspace does about one noun. Whatever is public here passes the guard first.

    A class of it names itself (`class Packs(Part, name="packs")`). Its methods and properties are
    found in the guard's table by that name and theirs: `packs.hold`. One that has no row there is
    refused to everyone. Where the row is about a pack, the first argument names it, and a user's
    call goes on with the id of the pack that they were admitted to.
    """

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    def __init_subclass__(cls, *, name: str) -> None:
        for attribute, value in list(vars(cls).items()):
            if attribute.startswith("_"):
                continue
            row = f"{name}.{attribute}"
            if isinstance(value, FunctionType):
                setattr(cls, attribute, _guarded(row, value))
            elif isinstance(value, property) and value.fget is not None:
                setattr(cls, attribute, property(_guarded(row, value.fget)))


def _guarded(row: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def passing(self: Part, *arguments: Any, **named: Any) -> Any:
        self._acting.database.require_open()
        try:
            if not self._acting.is_owner or row not in TABLE:  # the owner passes all rows
                with may_be_old(old=False):
                    arguments = _admitted(self._acting, row, arguments)
            observer = self._acting.opened.observer
            if observer is None or row not in observer.rows:
                return _called(row, lambda: method(self, *arguments, **named))
            return observer(
                row,
                self._acting.tenant,
                lambda: _called(row, lambda: method(self, *arguments, **named)),
            )
        except OSError as error:  # no file descriptor left, a disk that is gone: not the caller's
            raise environment_problem(error) from error

    return passing


def _called(row: str, call: Callable[[], Any]) -> Any:
    """Return what a call gives: from a replica where its row says that it may be old.

    Audits take as long as they take.
    """
    need = TABLE[row]
    with ExitStack() as stack:
        if need.action is Action.AUDIT:
            stack.enter_context(unhurried())
        stack.enter_context(may_be_old(old=need.old))
        try:
            return call()
        except ReplicaLostError:
            if not need.old:
                raise
    with may_be_old(old=False):
        return call()


def _admitted(acting: Acting, row: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments that a call goes on with; raise `AccessError` if it may not."""
    first = arguments[0] if arguments and isinstance(arguments[0], str) else None
    admitted = acting.guard.admit(row, first)
    if admitted is not None and admitted != first:
        return (admitted, *arguments[1:])
    return arguments
