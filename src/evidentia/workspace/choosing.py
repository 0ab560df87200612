"""What of a library a check uses: collections by their names, and what held on a day."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from evidentia.documents.effective import version_on
from evidentia.errors import InputError
from evidentia.store.sql import library
from evidentia.workspace.acting import Acting
from evidentia.workspace.library import versions_in

if TYPE_CHECKING:
    from evidentia.workspace.corpora import Part


def day_of(given: date | str | None) -> date | None:
    """Return a day; raise `InputError` for what is none."""
    if not isinstance(given, str):
        return given
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise InputError(f"{given[:40]!r} is no day: write it such as 2026-01-31") from None


def collection_ids(acting: Acting, names: Sequence[str] | None) -> frozenset[str] | None:
    """Return the ids of collections, named by id, label or name; None if none are asked for."""
    from evidentia.loading.shelving import find_collection  # noqa: PLC0415 - rarely needed

    if names is None:
        return None
    known = acting.read(library.collections)
    return frozenset(find_collection(known, name).id for name in names)


def count_used(acting: Acting, part: "Part", connection: Connection) -> int:
    """Count the versions of documents in a part of the library, in a view of the database."""
    (ids, collections), as_of = part
    versions = [
        one
        for one in versions_in(acting, ids, connection)
        if collections is None or one.collection_id in collections
    ]
    if as_of is None:
        return len(versions)
    of_each = (list(one) for _, one in groupby(versions, key=lambda version: version.id))
    return sum(version_on(as_of, one) is not None for one in of_each)
