"""Embeddings that are kept: what a model made of a chunk's text, by the digests of both.

They can be made again at any time, so they may be removed, and nothing vouches for them: whoever
reads one checks it. Only texts of chunks belong here, and go with them where they are erased; what
else can be erased, such as a claim, would leave its embedding behind.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from sqlalchemy import Connection

from evidentia.store.database import fetch, hold, run

_ASKED_AT_ONCE: Final = 500
"""How many digests one statement names; SQLite and PostgreSQL take thousands."""
_STORED_AT_ONCE: Final = 100
"""How many embeddings one statement carries; each may have hundreds of kilobytes."""


def stored_embeddings(
    connection: Connection, tenant: str, model_sha256: str, contents: Collection[str]
) -> dict[str, bytes]:
    """Return what is kept of a model's embeddings, by the digest of the content."""
    found: dict[str, bytes] = {}
    for part in _parts(sorted(set(contents)), _ASKED_AT_ONCE):
        sql = f"SELECT content_sha256, data FROM chunk_embeddings {_where(part)}"  # noqa: S608 - names are ours
        rows = fetch(connection, sql, (tenant, model_sha256, *part))
        found |= {content: bytes(data) for content, data in rows}
    return found


def store_embeddings(
    connection: Connection, tenant: str, model_sha256: str, made: Mapping[str, bytes]
) -> None:
    """Keep a model's embeddings, given by the digest of the content; what is there stays.

    Others may store the same at the same time: on PostgreSQL they wait for this transaction.
    """
    if made:
        _lock(connection, tenant)
    for part in _parts(sorted(made), _STORED_AT_ONCE):
        rows = ", ".join("(?, ?, ?, ?)" for _ in part)
        run(
            connection,
            "INSERT INTO chunk_embeddings (tenant, content_sha256, model_sha256, data) "  # noqa: S608 - rows are question marks
            f"VALUES {rows} ON CONFLICT (tenant, content_sha256, model_sha256) DO NOTHING",
            tuple(chain.from_iterable((tenant, key, model_sha256, made[key]) for key in part)),
        )


def remove_embeddings(
    connection: Connection, tenant: str, model_sha256: str, contents: Collection[str]
) -> None:
    """Remove a model's embeddings of these contents, as far as they are there.

    One that turned out to be damaged is removed before a good one can be stored.
    """
    if contents:
        _lock(connection, tenant)
    for part in _parts(sorted(set(contents)), _ASKED_AT_ONCE):
        sql = f"DELETE FROM chunk_embeddings {_where(part)}"  # noqa: S608 - names are ours
        run(connection, sql, (tenant, model_sha256, *part))


def forget_contents(connection: Connection, tenant: str, contents: Collection[str]) -> None:
    """Remove the embeddings of these contents, of all models."""
    if contents:
        _lock(connection, tenant)
    for part in _parts(sorted(set(contents)), _ASKED_AT_ONCE):
        marks = ", ".join("?" for _ in part)
        sql = f"DELETE FROM chunk_embeddings WHERE tenant = ? AND content_sha256 IN ({marks})"  # noqa: S608 - names are ours
        run(connection, sql, (tenant, *part))


def _lock(connection: Connection, tenant: str) -> None:
    """Let no one else write the tenant's embeddings before this transaction ends.

    Two that write the same rows in different orders would wait for each other for ever.
    """
    hold(connection, f"emb/{tenant}")


def _where(contents: Sequence[str]) -> str:
    marks = ", ".join("?" for _ in contents)
    return f"WHERE tenant = ? AND model_sha256 = ? AND content_sha256 IN ({marks})"


def _parts(values: Sequence[str], at_once: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), at_once):
        yield values[start : start + at_once]
