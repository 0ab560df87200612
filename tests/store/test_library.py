"""The library: anchors that stay bound, and citations that resolve."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Connection

from evidentia.documents.model import DocumentChunk, ReadFile
from evidentia.errors import IntegrityError, NotFoundError
from evidentia.store.database import run
from evidentia.store.sql import library
from evidentia.store.sql.library import IssuedAnchors, resolve_anchor
from evidentia.workspace import Workspace
from places import Place
from workspace.policies import LEAVE, count, read_here, write_policies

TENANT = "default"
COMMON = "c0ffee00"
"""What the crafted hashes below have in common."""


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def crafted(*beginnings: str) -> list[str]:
    """Return full hashes with these beginnings."""
    return [text + sha256(text.encode()).hexdigest()[: 64 - len(text)] for text in beginnings]


@contextmanager
def writing(workspace: Workspace) -> Iterator[Connection]:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        yield connection


def issue(workspace: Workspace, hashes: Sequence[str]) -> dict[str, str]:
    """Have anchors issued; return those of all hashes by their hashes."""
    with writing(workspace) as connection:
        library._issue_anchors(connection, TENANT, hashes)
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        issued = IssuedAnchors(connection, TENANT)
        return {issued[anchor]: anchor for anchor in issued}


def chunk(chunk_hash: str, *, index: int = 0, document: str = "doc_1") -> DocumentChunk:
    identity = f"chk_{document}_{index}_{chunk_hash[:20]}"
    return DocumentChunk(identity, document, index, "Text.", 1, ("A", "B"), 0, 5, chunk_hash)


def store(workspace: Workspace, *chunks: DocumentChunk, document: str = "doc_1") -> None:
    """Store chunks as those of a document's bytes."""
    read = ReadFile(
        media_type="text/plain",
        sha256="00" * 32,
        language=None,
        direction="ltr",
        title=None,
        dated=None,
        pages=1,
        warnings=(),
        chunks=chunks,
    )
    with writing(workspace) as connection:
        library.insert_chunks(connection, TENANT, [(document, read)])


# Anchors


def test_an_anchor_is_the_first_eight_characters_of_a_hash(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.ingest(write_policies(tmp_path / "docs"))
    for document in workspace.documents.list():
        for item in workspace.documents.chunks(document):
            anchor = workspace.documents.anchor(item.chunk_hash)
            assert anchor == item.chunk_hash[:8]
            assert workspace.documents.resolve(anchor).chunk == item


def test_an_anchor_grows_where_another_hash_has_it(workspace: Workspace) -> None:
    one, two, three = crafted(f"{COMMON}1", f"{COMMON}2", f"{COMMON}21")
    anchors = issue(workspace, [one])
    assert anchors == {one: COMMON}
    anchors = issue(workspace, [two])
    assert anchors == {one: COMMON, two: f"{COMMON}2"}
    anchors = issue(workspace, [three, two, one])
    assert anchors == {one: COMMON, two: f"{COMMON}2", three: f"{COMMON}21"}


def test_hashes_that_are_alike_in_one_batch_get_anchors_of_their_own(workspace: Workspace) -> None:
    hashes = crafted(*(f"{COMMON}{number:03d}" for number in range(40)))
    anchors = issue(workspace, hashes)
    assert sorted(anchors) == sorted(hashes)
    assert len(set(anchors.values())) == 40
    assert all(full.startswith(anchor) for full, anchor in anchors.items())


def test_anchors_that_were_issued_stay_bound(workspace: Workspace) -> None:
    hashes = crafted(*(f"{COMMON}{number:02d}" for number in range(20)))
    before = issue(workspace, hashes[:10])
    after = issue(workspace, hashes)
    assert {full: after[full] for full in before} == before
    assert issue(workspace, hashes) == after
    assert count(workspace, "citation_anchors") == 20


def test_many_hashes_are_issued_in_parts(workspace: Workspace) -> None:
    hashes = [sha256(bytes([number % 256, number // 256])).hexdigest() for number in range(1_200)]
    assert len(issue(workspace, hashes)) == 1_200
    assert len(issue(workspace, hashes)) == 1_200


def test_issued_anchors_are_a_mapping(workspace: Workspace) -> None:
    one, two = crafted("aaaaaaaa", "bbbbbbbb")
    issue(workspace, [one])
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        issued = IssuedAnchors(connection, TENANT, not_yet_stored={two[:8]: two})
        assert dict(issued) == {one[:8]: one, two[:8]: two}
        assert len(issued) == 2
        assert one[:8] in issued
        assert "cccccccc" not in issued
        assert issued.get("cccccccc") is None
        with pytest.raises(KeyError):
            issued["cccccccc"]
        assert issued.of(one) == one[:8]
        with pytest.raises(NotFoundError, match=f"no anchor is bound to the chunk hash {two}"):
            issued.of(two)
        assert dict(IssuedAnchors(connection, "other")) == {}
    with pytest.raises(NotFoundError, match="no anchor is bound"):
        workspace.documents.anchor(two)


# Citations


def test_a_citation_resolves_as_it_was_issued_and_by_any_longer_beginning(
    workspace: Workspace,
) -> None:
    one, two = crafted(f"{COMMON}1", f"{COMMON}2")
    store(workspace, chunk(one), chunk(two, index=1))
    for name, full in [
        (COMMON, one),
        (f"{COMMON}2", two),
        (two[:30], two),
        (one[:9], one),
        (one, one),
        (f"  {two.upper()}\n", two),
    ]:
        found = workspace.documents.resolve(name)
        assert found.resolved
        assert found.chunk is not None
        assert found.chunk.chunk_hash == full
        assert found.chunk.heading_path == ("A", "B")
        assert found.chunk_hash == name


def test_the_same_text_in_two_documents_is_one_anchor_with_two_places(
    workspace: Workspace,
) -> None:
    (full,) = crafted(COMMON)
    store(workspace, chunk(full, document="doc_2"), document="doc_2")
    store(workspace, chunk(full), chunk(full, index=1))
    found = workspace.documents.resolve(full[:8])
    assert [place.document_id for place in found.places] == ["doc_1", "doc_1", "doc_2"]
    assert found.chunk == found.places[0]


def test_a_beginning_that_several_hashes_have_is_ambiguous(workspace: Workspace) -> None:
    hashes = crafted("c0ffee0012a", "c0ffee0012b")
    store(workspace, *(chunk(full, index=place) for place, full in enumerate(hashes)))
    found = workspace.documents.resolve("c0ffee0012")
    assert not found.resolved
    assert found.candidates == sorted(hashes)
    assert found.error == "Citation is ambiguous: 2 passages begin with it"
    assert workspace.documents.resolve("c0ffee0012a").resolved


LEADS_NOWHERE = (
    "",
    "%",
    "'",
    "c0ffee0",
    "%%%%%%%%",
    "________",
    "c0ffee0%",
    "' OR ''='",
    "'; DROP TABLE document_chunks; --",
    "c0ffee00\0",
    "\0" * 8,
    "\ud800" * 8,
    "\ufffdxxxxxxx",
    "gggggggg",
    "deadbeef",
    "a" * 64,
    "c" * 10_000,
    "漢字" * 5_000,
    "%s%s%s%s%s",
    "????????",
)


def test_what_leads_nowhere_says_so_and_does_no_harm(workspace: Workspace) -> None:
    (full,) = crafted(COMMON)
    store(workspace, chunk(full))
    for anchor in LEADS_NOWHERE:
        found = workspace.documents.resolve(anchor)
        assert not found.resolved, anchor
        assert found.chunk is None
        assert found.chunk_hash == anchor
        short = "Citation is shorter than 8 characters"
        gone = "Citation references deleted or unavailable chunk"
        assert found.error == (short if len(anchor.strip()) < 8 else gone), anchor
    assert workspace.documents.resolve(COMMON).resolved


def test_citations_of_another_tenant_lead_nowhere(place: Place) -> None:
    (full,) = crafted(COMMON)
    store(place.open(), chunk(full))
    assert not place.open("other").documents.resolve(COMMON).resolved


def test_a_citation_of_an_older_version_still_resolves(
    workspace: Workspace, tmp_path: Path
) -> None:
    docs = write_policies(tmp_path / "docs", {"leave.md": LEAVE})
    (old,) = workspace.ingest(docs).documents
    anchor = workspace.documents.anchor(workspace.documents.chunks(old)[0].chunk_hash)
    write_policies(docs, {"leave.md": "# Gone\n\nThis policy was withdrawn.\n"})
    workspace.ingest(docs)
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        found = resolve_anchor(connection, TENANT, anchor)
    assert found.chunk == workspace.documents.chunks(old)[0]


@pytest.mark.parametrize("damaged", ['["Leave"', "[1]", '{"a": "b"}', "\x00", "[" * 9_000])
def test_a_damaged_row_is_said_to_be_damaged(sqlite_place: Place, damaged: str) -> None:
    workspace = sqlite_place.open()
    store(workspace, chunk(crafted(COMMON)[0]))
    with writing(workspace) as connection:
        run(connection, "DROP TRIGGER IF EXISTS document_chunks_update")
        run(connection, "UPDATE document_chunks SET heading_path = ?", (damaged,))
    with (
        writing(workspace) as connection,
        pytest.raises(
            IntegrityError, match="chunk 0 of document doc_1: its row in the database is damaged"
        ),
    ):
        resolve_anchor(connection, TENANT, COMMON)
