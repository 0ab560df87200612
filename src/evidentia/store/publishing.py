"""Publishing a log as static files in the C2SP tlog-tiles layout.

Tiles and entry bundles are written first and the checkpoint last, so a reader never sees a
checkpoint whose tiles are not there. What was published once is compared, never overwritten.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.language.counting import counted
from evidentia.proof.authority import user_subject
from evidentia.proof.publication import PUBLISHED_KINDS
from evidentia.store.files import make_folder, remove_unfinished, sync_within, write_durably
from evidentia.store.pieces import read_bundle
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import EntryKind, StoredEntry
from evidentia.trail.publication import CHECKPOINT
from evidentia.trail.tiles import (
    TILE_HEIGHT,
    TILE_WIDTH,
    Tile,
    TiledTree,
    body_path,
    tile_path,
)
from evidentia.trail.witness import merged

_KEPT_TILES: Final = 16
"""A log is walked through, so few tiles are asked for twice."""
_BODIES_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Publication:
    """What publishing did: the size published before and now, and the files it wrote."""

    folder: Path
    before: int
    size: int
    files: int


def publish(
    connection: Connection,
    head: log.Head,
    note: str,
    folder: Path,
    progress: Callable[[int], None],
    *,
    versions: bool = False,
) -> Publication:
    """Write what a folder lacks of the log as it was at a signed checkpoint.

    `versions` writes the bodies of entries about packs and keys, too.
    """
    checkpoint, _ = read_checkpoint(note)
    tree = stored_tree(connection, head, TileCache(_KEPT_TILES))
    before = _published_size(folder, checkpoint, tree)
    files = 0
    remove_unfinished(folder)
    places: set[Path] = set()
    if versions:
        make_folder(folder, mode=0o777)
        for path, data in _bodies(connection, head.tenant, checkpoint.size):
            files += _write_once(folder / path, data, folder)
            places.add((folder / path).parent)
        _sync(places, folder)
    if before < checkpoint.size:
        make_folder(folder, mode=0o777)
        places = set()
        for path, data in _new_files(connection, head.tenant, tree, before, checkpoint.size):
            files += _write_once(folder / path, data, folder)
            places.add((folder / path).parent)
            progress(files)
        _sync(places, folder)
        write_durably(folder / CHECKPOINT, note.encode(), aside=folder)
        files += 1
        _drop_stale_partials(folder, before, checkpoint.size)
    else:
        files += _add_signatures(folder / CHECKPOINT, note)
    return Publication(folder, before, checkpoint.size, files)


def _bodies(connection: Connection, tenant: str, size: int) -> Iterator[tuple[str, bytes]]:
    """Give the bodies that tell of versions and keys with their salts, by path; none was erased.

    Those about keys of users stay here.
    """
    for kind in PUBLISHED_KINDS:
        for row in _of_kind(connection, tenant, kind, size):
            salt, body = row[4], row[5]
            is_users = kind == EntryKind.KEY and row[2].startswith(user_subject(""))
            if salt is not None and body is not None and not is_users:
                disclosed = {"body": parse_json(body), "salt": salt.hex()}
                yield body_path(row[0]), canonical_json(disclosed) + b"\n"


def _of_kind(connection: Connection, tenant: str, kind: str, size: int) -> Iterator[StoredEntry]:
    """Give the entries of a kind below a size, some at a time: there may be very many."""
    after = -1
    while rows := log.find_entries(
        connection, tenant, kind=kind, before=size, after=after, limit=_BODIES_AT_ONCE
    ):
        yield from rows
        after = rows[-1][0]


def _add_signatures(path: Path, note: str) -> int:
    """Add to a published checkpoint the signatures that came since; return the files written."""
    published = path.read_text(encoding="utf-8")
    whole = merged(published, note)
    if whole == published:
        return 0
    write_durably(path, whole.encode())
    return 1


def _published_size(folder: Path, checkpoint: Checkpoint, tree: TiledTree) -> int:
    """Return what size the folder holds; raise `IntegrityError` if it is not this log's past."""
    path = folder / CHECKPOINT
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentProblem(f"{path}: cannot be read ({error})") from error
    published, _ = read_checkpoint(text)
    if published.origin != checkpoint.origin:
        raise IntegrityError(
            f"{folder}: holds another log ({published.origin}): publish into a folder of its own"
        )
    if published.size > checkpoint.size or tree.root_at(published.size) != published.root:
        raise IntegrityError(
            f"{folder}: holds {counted(published.size, 'entry', 'entries')} that this log does not "
            "begin with: "
            "the log was cut back or rewritten; nothing was published"
        )
    return published.size


def _new_files(
    connection: Connection, tenant: str, tree: TiledTree, before: int, size: int
) -> Iterator[tuple[str, bytes]]:
    """Give the entry bundles and tiles that a larger size adds, by path."""
    for index in range(before // TILE_WIDTH, -(-size // TILE_WIDTH)):
        start, end = index * TILE_WIDTH, min((index + 1) * TILE_WIDTH, size)
        data = read_bundle(connection, tenant, tree, start, end)
        yield tile_path("entries", index, end - start), data
    for tile in _new_tiles(tree, before, size):
        yield tile_path(tile.level, tile.index, tile.width), tile.data


def _new_tiles(tree: TiledTree, before: int, size: int) -> Iterator[Tile]:
    level = 0
    while size:
        for index in range(before // TILE_WIDTH, -(-size // TILE_WIDTH)):
            width = min(TILE_WIDTH, size - index * TILE_WIDTH)
            first = index * TILE_WIDTH
            height = level * TILE_HEIGHT
            yield Tile(
                level, index, b"".join(tree(height, first + place) for place in range(width))
            )
        level, before, size = level + 1, before >> TILE_HEIGHT, size >> TILE_HEIGHT


def _sync(places: Iterable[Path], folder: Path) -> None:
    """Make what is published durable before a checkpoint names it.

    Also what was published before: whoever wrote it may have been killed before it was durable.
    """
    try:
        for place in sorted(places):
            sync_within(place, folder)
    except OSError as error:
        raise EnvironmentProblem(f"{folder}: cannot be written ({error.strerror})") from error


def _write_once(path: Path, data: bytes, folder: Path) -> int:
    """Write a file that does not exist; compare it if it does. Return how many were written."""
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        write_durably(path, data, aside=folder)
        return 1
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
    if there != data:
        raise IntegrityError(
            f"{path}: was published before with other content; nothing was changed"
        )
    return 0


def _drop_stale_partials(folder: Path, before: int, size: int) -> None:
    """Remove the partial files of the size before, where the full ones are there now."""
    level = 0
    kinds: tuple[str | int, ...] = ("entries", 0)
    while before:
        width = before % TILE_WIDTH
        if width and size // TILE_WIDTH > before // TILE_WIDTH:
            for kind in kinds:
                stale = folder / tile_path(kind, before // TILE_WIDTH, width)
                _remove(stale.parent)
        level += 1
        before, size, kinds = before >> TILE_HEIGHT, size >> TILE_HEIGHT, (level,)


def _remove(folder: Path) -> None:
    """Remove a folder of partial files, if it is there; no reader needs it any more."""
    try:
        for partial in folder.glob("*"):
            partial.unlink(missing_ok=True)
        if folder.exists():
            folder.rmdir()
    except OSError as error:
        raise EnvironmentProblem(f"{folder}: cannot be removed ({error.strerror})") from error
