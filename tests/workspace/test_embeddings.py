"""Passages are embedded once in a workspace; what is kept of that decides nothing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evidentia.judges.nli import meaning
from evidentia.judges.nli.meaning import content_digest, from_bytes
from evidentia.judges.nli.model import Embedded, Encoder, encoder_digest
from evidentia.ledger.evidence import sentences_of
from evidentia.ledger.model import EvidenceLedger, LedgerEntry
from evidentia.store.sql.embeddings import remove_embeddings, store_embeddings, stored_embeddings
from evidentia.workspace import Workspace
from places import Place
from trained import needs_model
from workspace.policies import (
    ANSWER,
    count,
    read_here,
    rows,
    write_policies,
)

pytestmark = [needs_model, pytest.mark.sqlite_suffices]

RULES = ["quote", "numbers"]


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the passages that the encoder was asked for, in a list that grows."""
    found: list[str] = []
    embed = Encoder.embed

    def counted(
        self: Encoder,
        texts: Sequence[str],
        spans: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> list[Embedded]:
        if spans is not None:
            found.extend(texts)
        return embed(self, texts, spans)

    monkeypatch.setattr(Encoder, "embed", counted)
    return found


@pytest.fixture
def filled(place: Place, tmp_path: Path) -> Place:
    """Give a place with three documents."""
    place.open().ingest(write_policies(tmp_path / "docs"))
    return place


def judged(ledger: EvidenceLedger) -> list[LedgerEntry]:
    """Return the entries without what a later check has of its own."""
    return [entry.model_copy(update={"id": ""}) for entry in ledger.entries]


def texts(workspace: Workspace) -> set[str]:
    return {
        chunk.text
        for document in workspace.documents.list()
        for chunk in workspace.documents.chunks(document)
    }


def stored(workspace: Workspace) -> dict[str, bytes]:
    contents = list(map(content_digest, texts(workspace)))
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        return stored_embeddings(connection, workspace.tenant, encoder_digest(), contents)


def spoil(workspace: Workspace, data: bytes) -> None:
    """Put something else in the place of every embedding."""
    names = list(stored(workspace))
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        remove_embeddings(connection, workspace.tenant, encoder_digest(), names)
        made = dict.fromkeys(names, data)
        store_embeddings(connection, workspace.tenant, encoder_digest(), made)


def test_passages_are_embedded_once_and_read_by_those_who_come_later(
    filled: Place, embedded: list[str]
) -> None:
    first = filled.open().check(ANSWER)
    assert set(embedded) == texts(filled.open())
    assert len(embedded) == len(set(embedded))
    embedded.clear()
    later = filled.open()
    assert judged(later.check(ANSWER)) == judged(first)
    assert judged(later.check(ANSWER)) == judged(first)
    assert embedded == []


def test_the_embeddings_of_chunks_are_kept_and_no_others(filled: Place) -> None:
    workspace = filled.open()
    workspace.check(ANSWER)
    kept = {row["content_sha256"] for row in rows(workspace, "SELECT * FROM chunk_embeddings")}
    assert kept == set(map(content_digest, texts(workspace)))
    for text in texts(workspace):
        assert from_bytes(stored(workspace)[content_digest(text)], len(sentences_of(text)))


def test_nothing_is_embedded_for_judges_of_words(filled: Place, embedded: list[str]) -> None:
    workspace = filled.open()
    workspace.check(ANSWER, judges=RULES)
    assert embedded == []
    assert count(workspace, "chunk_embeddings") == 0


def test_only_what_is_new_is_embedded(filled: Place, embedded: list[str], tmp_path: Path) -> None:
    workspace = filled.open()
    workspace.check(ANSWER)
    embedded.clear()
    workspace.ingest(write_policies(tmp_path / "more", {"dogs.md": "Dogs stay outside."}))
    workspace.check(ANSWER)
    assert [text.strip() for text in embedded] == ["Dogs stay outside."]


@pytest.mark.parametrize("data", [b"", b"not what it was", b"\xff" * 768, b"\0\x7c" * 384 * 4])
def test_verdicts_are_the_same_though_embeddings_are_damaged(
    filled: Place, embedded: list[str], data: bytes
) -> None:
    first = filled.open().check(ANSWER)
    embedded.clear()
    later = filled.open()
    spoil(later, data)
    assert judged(later.check(ANSWER)) == judged(first)
    assert set(embedded) == texts(later)


def test_what_was_damaged_is_kept_anew(filled: Place, embedded: list[str]) -> None:
    workspace = filled.open()
    workspace.check(ANSWER)
    good = stored(workspace)
    spoil(workspace, b"not what it was")
    filled.open().check(ANSWER)
    assert stored(workspace).keys() == good.keys()
    embedded.clear()
    filled.open().check(ANSWER)
    assert embedded == []


def test_progress_is_told_of_passages_that_are_embedded(filled: Place) -> None:
    told: list[tuple[int, int]] = []
    total = len(texts(filled.open()))
    for _ in range(2):
        filled.open().check(ANSWER, embedding=lambda done, of: told.append((done, of)))
    assert told == [(total, total)]


def test_judges_of_words_find_the_same_after_a_check_by_meaning(sqlite_filled: Place) -> None:
    alone = sqlite_filled.open().check(ANSWER, judges=RULES)
    workspace = sqlite_filled.open()
    workspace.check(ANSWER)
    after = workspace.check(ANSWER, judges=RULES)
    assert judged(after) == judged(alone)
    assert judged(workspace.check(ANSWER)) == judged(sqlite_filled.open().check(ANSWER))


# A corpus that is too large to be embedded whole


@pytest.fixture
def sqlite_filled(sqlite_place: Place, tmp_path: Path) -> Place:
    sqlite_place.open().ingest(write_policies(tmp_path / "docs"))
    return sqlite_place


def test_what_each_check_of_a_large_corpus_embeds_is_kept(
    sqlite_filled: Place, embedded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "WHOLE", 0)
    claims = ("Gifts are reported to the compliance office.", "Unused leave may be carried over.")
    workspace = sqlite_filled.open()
    for claim in claims:
        workspace.check(claim)
    assert any("Gifts" in text for text in embedded)
    assert any("Unused" in text for text in embedded)
    embedded.clear()
    later = sqlite_filled.open()
    for claim in claims:
        later.check(claim)
    assert embedded == []
