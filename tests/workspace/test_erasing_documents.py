"""Erasing a document's text: gone from rows, index and lake, on record, and only what may go."""

from pathlib import Path

import pytest

from evidentia.canonical import sha256_hex
from evidentia.documents.recording import removal_body
from evidentia.errors import EvidentiaError, NotFoundError, UsageError
from evidentia.judges.nli.meaning import content_digest
from evidentia.store.database import run
from evidentia.store.sql import embeddings
from evidentia.workspace import Workspace, forgetting
from evidentia.workspace.library import audited_documents
from packing import decision, memo, opened
from places import Place, lake_of

SECRET = "zebraquux"
GIFTS = f"# Gifts of {SECRET}\n\nGifts above 50 euros are reported to {SECRET}.\n"
FEES = "The late fee is 10 euros.\n"
CLAIM = f"Gifts above 50 euros are reported to {SECRET}."
JUDGES = ("quote", "numbers")
OF_GIFTS = "document_id IN (SELECT id FROM documents WHERE filename = 'gifts.md')"
GONE = "Citation references deleted or unavailable chunk"

pytestmark = pytest.mark.usefixtures("_read_here")


@pytest.fixture
def workspace(place: Place) -> Workspace:
    return opened(place)


@pytest.fixture
def rules(workspace: Workspace, tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "fees.txt").write_text(FEES)
    (folder / "gifts.md").write_text(GIFTS)
    workspace.ingest(folder)
    return folder


def erase(workspace: Workspace, *names: str) -> list[int]:
    done = workspace.documents.remove(*names, reason="a person asked for it", erase=True)
    assert all(one.erased for one in done)
    return [one.entry for one in done]


def problems(workspace: Workspace) -> list[str]:
    return list(audited_documents(workspace.documents._acting, quick=False))


def texts(workspace: Workspace) -> set[str]:
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        chunks = run(connection, "SELECT content, heading_path FROM document_chunks").all()
        titles = run(connection, "SELECT title FROM documents").scalars().all()
    return {str(text) for row in chunks for text in row} | {str(title) for title in titles}


def files_with(folder: Path, word: str) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in found if word.encode() in path.read_bytes()]


@pytest.mark.usefixtures("rules")
def test_the_words_are_gone_from_rows_from_the_index_on_disk_and_from_the_lake(
    workspace: Workspace,
) -> None:
    home = workspace.opened.home
    assert files_with(home.search(workspace.tenant), SECRET)
    assert files_with(home.lake, SECRET)
    (entry,) = erase(workspace, "rules/gifts.md")
    assert not any(SECRET in text for text in texts(workspace))
    assert files_with(home.search(workspace.tenant), SECRET) == []
    assert files_with(home.lake, SECRET) == []
    if workspace.opened.database.is_sqlite:
        workspace.opened.close()
        assert files_with(home.folder, SECRET) == []
    else:
        body = workspace.documents._acting.entry(entry).body
        assert body["text"] == "erased"


@pytest.mark.usefixtures("rules")
def test_it_is_an_entry_of_the_trail_and_the_audit_holds(workspace: Workspace) -> None:
    (entry,) = erase(workspace, "rules/gifts.md")
    body = workspace.documents._acting.entry(entry).body
    identity = body["document_id"]
    said = removal_body(identity, 1, "a person asked for it", erased=True)
    assert body == {**said, "by": "owner", "corpus": body["corpus"]}
    assert body["corpus"]["documents"] == 1
    assert problems(workspace) == []
    assert workspace.audit().holds
    (gone,) = [one for one in workspace.documents.list(removed=True) if one.id == identity]
    assert (gone.filename, gone.title) == ("gifts.md", None)
    assert workspace.documents.chunks(gone) == []


@pytest.mark.usefixtures("rules")
def test_a_ledger_that_quotes_it_still_opens_and_verifies_and_its_citations_lead_nowhere(
    workspace: Workspace,
) -> None:
    before = workspace.check(CLAIM, judges=JUDGES)
    (anchor,) = before.entries[0].evidence_chunk_ids
    erase(workspace, "rules/gifts.md")
    assert workspace.ledgers.get(before.id) == before
    assert SECRET in before.entries[0].evidence_snippet
    assert workspace.ledgers.prove(before.id).envelope is not None
    found = workspace.documents.resolve(anchor)
    assert (found.resolved, found.error) == (False, GONE)
    after = workspace.check(f"{CLAIM} [cite:{anchor}]", judges=JUDGES)
    assert [one.verdict for one in after.entries] == ["not_found"]
    assert GONE in after.entries[0].notes


@pytest.mark.usefixtures("rules")
def test_what_was_taken_out_before_can_be_erased_later_and_only_once(workspace: Workspace) -> None:
    workspace.documents.remove("rules/gifts.md", reason="replaced")
    with pytest.raises(NotFoundError):
        workspace.documents.named("rules/gifts.md")
    (named,) = workspace.documents.named("rules/gifts.md", removed=True)
    (entry,) = erase(workspace, named.id)
    assert workspace.documents._acting.entry(entry).body["text"] == "erased"
    assert not any(SECRET in text for text in texts(workspace))
    assert erase(workspace, "rules/gifts.md") == []
    assert [one.filename for one in workspace.documents.named(folder="rules", removed=True)] == [
        "fees.txt"
    ]
    assert problems(workspace) == []


def test_all_versions_are_erased_and_what_is_ingested_again_is_read_anew(
    workspace: Workspace, rules: Path
) -> None:
    (rules / "gifts.md").write_text(GIFTS.replace("50", "60"))
    workspace.ingest(rules)
    erase(workspace, "rules/gifts.md")
    assert not any(SECRET in text for text in texts(workspace))
    (rules / "gifts.md").write_text(GIFTS)
    (back,) = [one for one in workspace.ingest(rules).results if one.outcome != "unchanged"]
    assert (back.outcome, back.document.version) == ("added", 3)
    assert SECRET in workspace.documents.chunks(back.document)[0].text
    assert workspace.check(CLAIM, judges=JUDGES).entries[0].verdict == "supported"
    assert problems(workspace) == []
    erase(workspace, "rules/gifts.md")
    assert not any(SECRET in text for text in texts(workspace))
    assert problems(workspace) == []


def test_an_original_that_another_document_has_stays(
    workspace: Workspace, rules: Path, tmp_path: Path
) -> None:
    other = tmp_path / "copies"
    other.mkdir()
    (other / "copy.md").write_text(GIFTS)
    workspace.ingest(other)
    erase(workspace, "rules/gifts.md")
    digest = sha256_hex(GIFTS.encode())
    assert lake_of(workspace).get(digest) == GIFTS.encode()
    assert workspace.check(CLAIM, judges=JUDGES).entries[0].verdict == "supported"
    assert problems(workspace) == []
    erase(workspace, "copies/copy.md")
    assert not lake_of(workspace).holds(digest)


def test_embeddings_go_unless_another_passage_has_the_text(
    workspace: Workspace, rules: Path, tmp_path: Path
) -> None:
    shared = "Hotels cost 140 euros at most.\n"
    for folder, name in ((rules, "a.txt"), (tmp_path / "copies", "b.txt")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(shared)
        workspace.ingest(folder)
    found = {
        chunk.text: content_digest(chunk.text)
        for document in workspace.documents.list()
        for chunk in workspace.documents.chunks(document)
    }
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        made = dict.fromkeys(found.values(), b"vector")
        embeddings.store_embeddings(connection, workspace.tenant, "0" * 64, made)
    erase(workspace, "rules/gifts.md", "rules/a.txt")
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        kept = set(run(connection, "SELECT content_sha256 FROM chunk_embeddings").scalars())
    assert kept == {digest for text, digest in found.items() if SECRET not in text}


# Legal holds


@pytest.fixture
def held(workspace: Workspace, rules: Path) -> str:
    """Give a pack on hold whose ledger cites the gifts."""
    ledger = workspace.check(CLAIM, judges=JUDGES)
    pack = workspace.assemble(decision(), memo=memo(), ledger=ledger.id)
    workspace.packs.hold(pack.pack_id, reason="a lawsuit")
    return pack.pack_id


def test_a_legal_hold_wins_and_is_named(workspace: Workspace, held: str) -> None:
    with pytest.raises(UsageError, match=f"pack {held} rests on it, and is on legal hold"):
        erase(workspace, "rules/gifts.md")
    assert any(SECRET in text for text in texts(workspace))
    assert "gifts.md" in [one.filename for one in workspace.documents.list()]
    workspace.documents.remove("rules/gifts.md", reason="replaced")
    with pytest.raises(UsageError, match="on legal hold"):
        erase(workspace, "rules/gifts.md")
    erase(workspace, "rules/fees.txt")
    workspace.packs.release(held, reason="settled")
    erase(workspace, "rules/gifts.md")
    assert not any(SECRET in text for text in texts(workspace))


# Where it ends half-way, and what an insider does


@pytest.mark.parametrize("by", ["check", "removal"])
@pytest.mark.usefixtures("rules")
def test_what_a_killed_erasure_left_is_found_and_done_by_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    home = workspace.opened.home
    with monkeypatch.context() as patched:
        patched.setattr("evidentia.workspace.removing.finish_erasing", lambda _: None)
        erase(workspace, "rules/gifts.md")
    assert files_with(home.search(workspace.tenant), SECRET)
    assert files_with(home.lake, SECRET)
    (found,) = problems(workspace)
    assert "its original is still in the lake: the next check removes it" in found
    if by == "check":
        workspace.check(FEES, judges=JUDGES)
    else:
        assert erase(workspace, "rules/gifts.md") == []
    assert files_with(home.search(workspace.tenant), SECRET) == []
    assert files_with(home.lake, SECRET) == []
    assert problems(workspace) == []


def vandalise(workspace: Workspace, sql: str) -> None:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        for table in ("documents", "document_chunks"):
            for action in ("update", "delete"):
                on = "" if workspace.opened.database.is_sqlite else f" ON {table}"
                run(connection, f"DROP TRIGGER {table}_{action}{on}")
        run(connection, sql)


@pytest.mark.usefixtures("rules")
@pytest.mark.as_owner
def test_passages_that_are_gone_without_such_an_entry_are_found(workspace: Workspace) -> None:
    workspace.documents.remove("rules/gifts.md", reason="replaced")
    vandalise(workspace, f"DELETE FROM document_chunks WHERE {OF_GIFTS}")
    found = problems(workspace)
    assert any("its passages are not the ones that entry" in one for one in found)


@pytest.mark.parametrize(
    "kept",
    [
        "INSERT INTO document_chunks SELECT * FROM kept",
        "UPDATE documents SET title = 'Gifts' WHERE filename = 'gifts.md'",
    ],
)
@pytest.mark.usefixtures("rules")
@pytest.mark.as_owner
def test_a_text_that_is_there_in_spite_of_its_erasure_is_found(
    workspace: Workspace, kept: str
) -> None:
    copied = f"CREATE TABLE kept AS SELECT * FROM document_chunks WHERE {OF_GIFTS}"
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, copied)
    erase(workspace, "rules/gifts.md")
    vandalise(workspace, kept)
    found = problems(workspace)
    assert any("says that its text was erased, and it is still there" in one for one in found)


@pytest.mark.usefixtures("rules")
@pytest.mark.as_owner
def test_the_database_refuses_to_delete_what_no_entry_erased(workspace: Workspace) -> None:
    workspace.documents.remove("rules/gifts.md", reason='"text":"erased"')
    for sql in (
        f"DELETE FROM document_chunks WHERE {OF_GIFTS}",
        "UPDATE documents SET title = NULL WHERE filename = 'gifts.md'",
    ):
        with (
            pytest.raises(EvidentiaError, match="append-only"),
            workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
        ):
            run(connection, sql)
    erase(workspace, "rules/gifts.md")
    with (
        pytest.raises(EvidentiaError, match="append-only"),
        workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
    ):
        run(connection, "UPDATE documents SET title = NULL, language = 'xx'")


@pytest.mark.usefixtures("rules")
def test_only_entries_that_erase_count(workspace: Workspace) -> None:
    workspace.documents.remove("rules/fees.txt", reason="replaced")
    (entry,) = erase(workspace, "rules/gifts.md")
    acting = workspace.documents._acting
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        found = forgetting.erased_through(acting, connection)
    assert found == {acting.entry(entry).body["document_id"]: 1}
