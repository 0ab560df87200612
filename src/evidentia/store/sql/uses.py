"""What still refers to bytes of the lake: nothing that anyone needs is removed with an erasure."""

from typing import Final

from sqlalchemy import Connection

from evidentia.bundles.model import artifact_uri
from evidentia.store.database import fetch, hold

_REFERENCES: Final = (
    "llm.evidence_item WHERE artifact_sha256 = ?",
    "llm.evidence_bundle WHERE dropped_sha256 = ?",
    (  # one whose text was erased has no chunks any more
        "documents d WHERE d.sha256 = ? AND EXISTS (SELECT 1 FROM document_chunks c "
        "WHERE c.tenant = d.tenant AND c.document_id = d.id AND c.sha256 = d.sha256)"
    ),
    "ledgers WHERE statement_sha256 = ?",
    "evidence_packs WHERE statement_sha256 = ?",
)


_REMOVALS: Final = 0x6C616B65
"""The advisory lock under which PostgreSQL removes from the lake, or relies on what is there."""


def hold_lake(connection: Connection) -> None:
    """Let no one else remove files of the lake, or begin to refer to them, in this transaction."""
    hold(connection, _REMOVALS)


def is_used(connection: Connection, digest: str) -> bool:
    """Whether anything, of any tenant, refers to the bytes of a digest."""
    key = artifact_uri(digest)
    asked = [
        *((source, digest) for source in _REFERENCES),
        ("llm.evidence_bundle WHERE lake_uri = ?", key),
        ("evidence_packs WHERE attachments LIKE ?", f'%"{key}"%'),
    ]
    return any(
        fetch(connection, f"SELECT 1 FROM {source} LIMIT 1", (value,))  # noqa: S608 - names are ours
        for source, value in asked
    )
