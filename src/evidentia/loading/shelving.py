"""Shelving: which collection a folder's documents belong to; two folders of one name are two.

Which folders a collection was read from is a fact about this machine, noted beside the places of
documents. A folder goes on with the collection that was read from it. Another goes on with the one
that is called like it, unless that was read here from a folder that is still there.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from evidentia.documents.recording import collection_id
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.places import Places
from evidentia.store.files import make_folder, unfinished
from evidentia.store.sql.library import Collection, StoredDocument, collection_key

MAX_NAME: Final = 200
_ID: Final = re.compile(r"col_[0-9a-f]{16}")
_LOOKED_AT: Final = 50
"""How many documents' places are looked at where no folder of their collection was noted."""


class Shelf(NamedTuple):
    """The collection that documents come into: its id, and what it is called."""

    id: str
    name: str

    @property
    def key(self) -> str:
        """What the ids of its documents follow from."""
        return collection_key(self.name, self.id)


class Folders:
    """The folders that collections were read from on this machine, in one small file.

    One that is beside the workspace's home is noted as such, so that it stays the same where both
    are copied or moved together. A note may be lost, which loses no evidence: the places of
    documents tell, too.
    """

    def __init__(self, folder: Path, beside: Path) -> None:
        self._file = folder / "collections.json"
        self._beside = beside

    def noted(self) -> dict[Path, str]:
        """Return the ids of collections by the folders that they were read from."""
        return {self._beside / path: identity for path, identity in self._written().items()}

    def _written(self) -> dict[str, str]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {path: one for path, one in found.items() if isinstance(one, str)}

    def note(self, folder: Path, identity: str) -> None:
        """Note that a collection was read from a folder."""
        known = self._written()
        is_beside = folder.is_relative_to(self._beside)
        name = str(folder.relative_to(self._beside)) if is_beside else str(folder)
        if known.get(name) == identity:
            return
        make_folder(self._file.parent)
        try:
            with unfinished(self._file.parent.parent) as (file, temporary):
                file.write(json.dumps({**known, name: identity}).encode())
                file.flush()
                temporary.replace(self._file)
        except OSError as error:
            raise EnvironmentProblem(
                f"{self._file}: cannot be written ({error.strerror})"
            ) from error


class Shelving:
    """Finds the collection of a folder; `known` are all there are.

    `documents` gives some of a collection, at most so many.
    """

    def __init__(
        self,
        known: Sequence[Collection],
        documents: Callable[[Collection, int], Iterable[StoredDocument]],
        places: Places,
        folders: Folders,
    ) -> None:
        self._known = known
        self._documents = documents
        self._places = places
        self._folders = folders

    def of_folder(self, folder: Path, name: str) -> Shelf:
        """Return the collection that a folder's documents belong to; it may be a new one.

        Raise `InputError` where several are called so, and it can't be told which it is.
        """
        ids = {one.id for one in self._known}
        noted = self._folders.noted().get(folder)
        if noted in ids:
            return next(Shelf(one.id, one.name) for one in self._known if one.id == noted)
        gone = []
        for one in self._known:
            if one.name == name:
                roots = self._roots(one)
                if folder in roots:
                    return Shelf(one.id, name)
                if not any(root.is_dir() for root in roots):
                    gone.append(one)
        if len(gone) > 1:
            raise InputError(
                f"{folder}: it can't be told which collection it is: {_which(gone)}; say which "
                "with --collection ID, or begin another with --collection NAME"
            )
        if gone:
            return Shelf(gone[0].id, name)
        own = collection_id(name)
        return Shelf(own if own not in ids else collection_id(name, str(folder)), name)

    def named(self, name: str) -> Shelf:
        """Return the collection of an id, a label or a name; a name that none has is a new one's.

        Raise `InputError` for a name that several have, or that no collection can have.
        """
        try:
            found = find_collection(self._known, name)
        except NotFoundError:
            if _ID.fullmatch(name):
                raise
            check_name(name)
            return Shelf(collection_id(name), name)
        return Shelf(found.id, found.name)

    def note(self, folder: Path, shelf: Shelf) -> None:
        """Note that a collection was read from a folder."""
        self._folders.note(folder, shelf.id)

    def _roots(self, collection: Collection) -> set[Path]:
        """Return the folders that a collection is known to be read from on this machine."""
        noted = self._folders.noted().items()
        found = {path for path, identity in noted if identity == collection.id}
        if not found:
            found = {
                root
                for document in self._documents(collection, _LOOKED_AT)
                if (root := self._places.root(document)) is not None
            }
        return found


def find_collection(known: Sequence[Collection], name: str) -> Collection:
    """Return the collection of an id, a label (`policies (2)`) or a name that only one has.

    Raise `NotFoundError` if there is none, and `InputError` if several are called so.
    """
    for one in known:
        if name in (one.id, one.label):
            return one
    called = [one for one in known if one.name == name]
    if called:
        raise InputError(
            f"{len(called)} collections are called {name[:80]!r}: {_which(called)}; name the one "
            "you mean by these"
        )
    raise NotFoundError(
        f"the library has no collection {name[:80]!r}: 'evidentia documents' lists documents with "
        "their collections"
    )


def _which(collections: Iterable[Collection]) -> str:
    return ", ".join(f"'{one.label}' is {one.id}" for one in collections)


def check_name(name: str) -> None:
    """Raise `InputError` for what no collection can be called."""
    if not name.strip() or name != name.strip() or "/" in name or not name.isprintable():
        raise InputError(f"{name[:80]!r} is no name of a collection: a word or a few, without '/'")
    if len(name) > MAX_NAME:
        raise InputError(f"a collection's name has {MAX_NAME} characters at most")
