"""Bundles in a workspace: built of real sources, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from evidentia.bundles.model import EvidenceBundle, EvidenceItem
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.documents.reading.document import read_document
from evidentia.errors import InputError, NotFoundError
from evidentia.workspace import Workspace
from places import Place, lake_folder
from postgres import PostgresServer
from workspace.made_bundles import CARD, LONG, bundle_file, job
from workspace.policies import LEAVE, lake_files, write_policies

pytestmark = pytest.mark.usefixtures("_read_here")


def by_type(bundle: EvidenceBundle) -> dict[str, list[EvidenceItem]]:
    found: dict[str, list[EvidenceItem]] = {}
    for item in bundle.items:
        found.setdefault(item.evidence_type.value, []).append(item)
    return found


# Built of real sources


def test_a_bundle_of_every_kind_of_source(
    workspace: Workspace, lake_root: Path, crm: str, postgres: PostgresServer
) -> None:
    forms = ("json", "ndjson", "csv", "parquet")
    live = {"query_key": "cards", "sql": "SELECT id FROM cards ORDER BY id", "connection": "crm"}
    joined = {
        "query_key": "joined",
        "sql": "SELECT count(*) AS n FROM a JOIN b USING (id)",
        "files": {"a": "results/facts.csv", "b": "results/facts.parquet"},
    }
    with postgres.fresh_database() as url:
        server = {"query_key": "one", "sql": "SELECT 1 AS one", "connection": "server"}
        bundle = workspace.bundle(
            job("inline", {"text": "named", "source_uri": "wiki"}),
            {
                "transcripts": ["calls/call.vtt"],
                "documents": ["docs/leave.md", {"folder": "docs", "pattern": "*.[pd]*"}],
                "sql_queries": [{"query_key": "cards", "sql": live["sql"]}],
                "sql_results": [
                    *({"lake_uri": f"results/facts.{form}", "query_key": form} for form in forms),
                    live,
                    server,
                    joined,
                ],
                "lake_http": ["http/luke.json"],
                "lake_text": ["texts/long.md"],
            },
            EvidencePolicy(max_sql_rows=4),
            lake_root=lake_root,
            connections={"crm": crm, "server": url},
        )
    found = by_type(bundle)
    assert list(found) == [
        "inline_text",
        "lake_text",
        "lake_http",
        "sql_result",
        "sql_query_def",
        "doc_chunk",
        "transcript_chunk",
    ]
    ids = [item.evidence_id for item in bundle.items]
    text, key = sha256_hex(LONG.encode()), sha256_hex(b"cards")
    assert ids[:3] == ["inline:0", "inline:1", f"lake:{text[:12]}:0"]
    assert f"sqldef:{key[:12]}" in ids
    assert f"sql:{key[:12]}:0" in ids
    assert f"transcript:{sha256_hex(b'calls/call.vtt')[:12]}:0" in ids
    assert all(item.evidence_id.startswith("doc:") for item in found["doc_chunk"])
    assert {item.content.partition("\n")[2] for item in found["sql_result"][:4]} == {
        found["sql_result"][0].content.partition("\n")[2]
    }
    assert found["sql_result"][5].content == "Result of one\n1 row, all shown.\none\n1"
    assert found["sql_result"][6].content.endswith("\nn\n12")
    chunk = found["transcript_chunk"][0].metadata["chunk"]
    assert (chunk["speakers"], chunk["start"], chunk["end"]) == (
        ("Alice", "Bob"),
        "00:01:02.000",
        "00:01:07.000",
    )
    assert workspace.bundles.get("latest") == bundle
    assert workspace.bundles.verify("latest").holds


def test_rows_in_a_row_are_in_the_id_of_a_result(workspace: Workspace, lake_root: Path) -> None:
    prefix = f"sql:{sha256_hex(b'facts')[:12]}:0"
    ref = {"lake_uri": "results/facts.csv", "query_key": "facts"}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"max_sql_rows": 12}, ""),
        ({"max_sql_rows": 5, "sampling_strategy": "first_only"}, ":0-5"),
        ({"max_sql_rows": 4}, ""),
        ({"max_sql_rows": 4, "sampling_strategy": "stride"}, ""),
    ]
    for limits, part in cases:
        bundle = workspace.bundle(
            {}, {"sql_results": [ref]}, EvidencePolicy(**limits), lake_root=lake_root
        )
        assert [item.evidence_id for item in bundle.items] == [f"{prefix}{part}"]
    bundle = workspace.bundle({}, {"sql_results": [{**ref, "rows": [3, 6]}]}, lake_root=lake_root)
    assert bundle.items[0].evidence_id == f"{prefix}:3-6"
    assert bundle.items[0].metadata["sampling"]["rows"] == ((3, 6),)


def test_a_documents_items_are_exact_places_whose_anchors_resolve(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = workspace.bundle(
        {},
        {"documents": [{"folder": "docs"}]},
        EvidencePolicy(chunk_size=80, chunk_overlap=20),
        lake_root=lake_root,
    )
    pages = {
        path.name: {
            page.number: page.text for page in read_document(path.read_bytes(), path.name).pages
        }
        for path in (lake_root / "docs").iterdir()
    }
    seen = set()
    for item in bundle.items:
        chunk, name = item.metadata["chunk"], item.source_ref["filename"]
        assert pages[name][chunk["page"]][chunk["start"] : chunk["end"]] == item.content
        assert item.byte_count <= 80
        seen.add((name, chunk["page"], chunk["heading_path"]))
    assert {(name, page) for name, page, _ in seen} == {
        (name, page) for name, texts in pages.items() for page in texts
    }
    assert ("leave.md", 1, ("4. Leave", "4.1 Annual leave")) in seen
    assert ("gifts.docx", 1, ("Gifts",)) in seen
    workspace.ingest(lake_root / "docs")
    for item in bundle.items:
        chunk = item.metadata["chunk"]
        assert chunk["chunk_hashes"]
        for chunk_hash in chunk["chunk_hashes"]:
            found = workspace.documents.resolve(chunk_hash)
            assert found.resolved
    rendered = bundle.render()
    assert all(
        item.metadata["chunk"]["chunk_hashes"][0][:8] in str(rendered) for item in bundle.items
    )


def test_a_document_of_the_library_is_named_by_its_id(workspace: Workspace, tmp_path: Path) -> None:
    workspace.ingest(write_policies(tmp_path / "docs", {"leave.md": LEAVE}))
    (known,) = workspace.documents.list()
    bundle = workspace.bundle({}, {"documents": [{"document_id": known.id}]})
    assert {item.source_ref["document_id"] for item in bundle.items} == {known.id}
    assert {item.source_ref["filename"] for item in bundle.items} == {"leave.md"}
    assert workspace.bundles.verify("latest").holds
    with pytest.raises(InputError, match=r"documents\[0\]: the library has no document 'doc_none'"):
        workspace.bundle({}, {"documents": [{"document_id": "doc_none"}]})


def test_the_newest_version_of_a_document_is_shown(workspace: Workspace, tmp_path: Path) -> None:
    workspace.ingest(write_policies(tmp_path / "docs", {"leave.md": LEAVE}))
    workspace.ingest(write_policies(tmp_path / "docs", {"leave.md": "# Leave\n\nNone at all.\n"}))
    (known,) = workspace.documents.list()
    bundle = workspace.bundle({}, {"documents": [{"document_id": known.id}]})
    assert "None at all." in bundle.items[0].content
    assert len(bundle.items) == 1


def test_documents_of_another_tenant_are_not_shown(place: Place, tmp_path: Path) -> None:
    one, other = place.open("one"), place.open("other")
    one.ingest(write_policies(tmp_path / "docs", {"leave.md": LEAVE}))
    (known,) = one.documents.list()
    with pytest.raises(InputError, match="the library has no document"):
        other.bundle({}, {"documents": [{"document_id": known.id}]})


def test_what_was_cut_of_live_sql_is_kept_after_redaction(
    workspace: Workspace, lake_root: Path, crm: str
) -> None:
    live = {"query_key": "cards", "sql": "SELECT * FROM cards", "connection": "crm"}
    bundle = workspace.bundle(
        {},
        {"sql_results": [live]},
        EvidencePolicy(max_sql_rows=2, enable_redaction=True),
        lake_root=lake_root,
        connections={"crm": crm},
    )
    (item,) = bundle.items
    assert item.full_ref is not None
    assert (item.full_ref["row_count"], item.full_ref["col_count"]) == (40, 2)
    whole = (lake_folder(workspace) / item.full_ref["lake_uri"]).read_bytes()
    assert sha256_hex(whole) == item.full_ref["sha256"]
    assert len(whole) == item.full_ref["byte_count"]
    assert len(whole.splitlines()) == 40
    assert CARD not in item.content
    assert not any(CARD.encode() in path.read_bytes() for path in lake_files(workspace))


def test_the_original_of_a_file_is_not_copied(workspace: Workspace, lake_root: Path) -> None:
    bundle = workspace.bundle(
        {},
        {"lake_text": ["texts/long.md"], "documents": [{"folder": "docs"}]},
        EvidencePolicy(max_item_bytes=20),
        lake_root=lake_root,
    )
    assert all(item.full_ref for item in bundle.items)
    assert lake_files(workspace) == [bundle_file(workspace, bundle)]


# Where files are read


def naming(lake_uri: str) -> list[dict[str, Any]]:
    """Give every kind of reference to a file."""
    over = {"sql": "SELECT * FROM f", "query_key": "q", "files": {"f": lake_uri}}
    return [
        *({kind: [lake_uri]} for kind in ("lake_text", "lake_http", "documents", "transcripts")),
        {"sql_results": [{"lake_uri": lake_uri, "query_key": "q"}]},
        {"sql_results": [over]},
        {"documents": [{"folder": lake_uri.rpartition("/")[0] or "."}]},
    ]


@pytest.mark.parametrize("on_error", ["raise", "record"])
def test_without_a_root_no_file_is_read_and_the_message_says_what_to_give(
    workspace: Workspace, on_error: Any
) -> None:
    (workspace.opened.home.lake / "notes").mkdir(parents=True)
    (workspace.opened.home.lake / "notes" / "a.md").write_text("A note.")
    for refs in naming("notes/a.md"):
        with pytest.raises(InputError, match="names a file: say with lake_root below which folder"):
            workspace.bundle({}, refs, on_error=on_error)
    assert (workspace.trail.size, workspace.bundles.list()) == (0, [])


def test_what_names_no_file_needs_no_root(workspace: Workspace, crm: str, tmp_path: Path) -> None:
    workspace.ingest(write_policies(tmp_path / "docs", {"leave.md": LEAVE}))
    (known,) = workspace.documents.list()
    live = {"query_key": "n", "sql": "SELECT count(*) AS n FROM cards", "connection": "crm"}
    refs = {
        "documents": [{"document_id": known.id}],
        "sql_queries": [{"query_key": "n", "sql": live["sql"]}],
        "sql_results": [live],
    }
    for root in (None, tmp_path / "none"):
        bundle = workspace.bundle(job("a"), refs, lake_root=root, connections={"crm": crm})
        assert len(bundle.items) == 4
    assert workspace.bundles.find("latest").lake_root is None


def test_a_root_that_is_not_there_is_named(workspace: Workspace, tmp_path: Path) -> None:
    for refs in naming("notes/a.md"):
        with pytest.raises(NotFoundError, match=r"lake_root .*none: no such folder"):
            workspace.bundle({}, refs, lake_root=tmp_path / "none", on_error="record")
    assert workspace.trail.size == 0


@pytest.mark.parametrize(
    ("root", "prefix"),
    [
        ("home", ""),
        (".", "home/"),
        ("other/..", "home/"),
        ("to_home", ""),
        ("to_all", "home/"),
        (".", "to_home/"),
        ("home/lake", None),
        ("to_lake", None),
        ("home/keys/..", ""),
    ],
)
def test_a_workspaces_home_is_never_read(
    workspace: Workspace, tmp_path: Path, root: str, prefix: str | None
) -> None:
    home = workspace.opened.home.folder
    assert home == tmp_path / "home"
    workspace.bundle(
        job(f"a secret, {CARD}"), policy=EvidencePolicy(enable_redaction=True, max_item_bytes=9)
    )
    workspace.trail.checkpoint()
    size = workspace.trail.size
    (tmp_path / "other").mkdir()
    for name, target in (("to_home", home), ("to_lake", home / "lake"), ("to_all", tmp_path)):
        (tmp_path / name).symlink_to(target)
    below = home / "lake" if prefix is None else home
    files = [path for path in home.rglob("*") if path.is_file() and "evidentia.db" not in path.name]
    if workspace.opened.database.is_sqlite:
        files.append(workspace.opened.home.database)
    private = [path for path in files if path.is_relative_to(below)]
    assert len(private) >= 2
    for path in private:
        for refs in naming(f"{prefix or ''}{path.relative_to(below).as_posix()}"):
            for given in (tmp_path / root, str(tmp_path / root)):
                with pytest.raises(InputError, match="is private to the workspace"):
                    workspace.bundle({}, refs, lake_root=given)
    assert (workspace.trail.size, len(workspace.bundles.list())) == (size, 1)


def test_a_folder_around_a_workspaces_home_is_read_without_it(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.bundle(job("a secret"))
    workspace.trail.rotate_key()
    write_policies(tmp_path / "docs", {"leave.md": LEAVE})
    monkeypatch.chdir(tmp_path)
    for root in (tmp_path, ".", "docs/.."):
        bundle = workspace.bundle(
            {}, {"lake_text": [{"folder": "."}]}, lake_root=root, on_error="record"
        )
        assert [item.source_ref["lake_uri"] for item in bundle.items] == ["docs/leave.md"]
    with pytest.raises(InputError, match="is private to the workspace"):
        workspace.bundle({}, {"lake_text": ["home/lake"]}, lake_root=".")


def test_a_link_to_a_workspaces_home_is_not_followed(workspace: Workspace, lake_root: Path) -> None:
    bundle = workspace.bundle(job("a secret"))
    (lake_root / "link").symlink_to(bundle_file(workspace, bundle))
    (lake_root / "texts" / "link.md").symlink_to(bundle_file(workspace, bundle))
    with pytest.raises(InputError, match="link is a link that leaves the lake"):
        workspace.bundle({}, {"lake_text": ["link"]}, lake_root=lake_root)
    found = workspace.bundle(
        {}, {"lake_text": [{"folder": "texts"}]}, lake_root=lake_root, on_error="record"
    )
    assert [item.metadata.get("error") is not None for item in found.items] == [True, False]
    assert "a secret" not in str(found.as_json())


def test_files_that_another_tenant_keeps_are_not_shown(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    bundle = one.bundle(job("a secret of the one"))
    refs: list[Any] = [bundle.lake_uri, {"folder": "sha256"}, {"folder": "."}]
    for root in (None, one.opened.home.lake, other.opened.home.folder / "lake"):
        for ref in refs:
            with pytest.raises(InputError):
                other.bundle({}, {"lake_text": [ref]}, lake_root=root)


# What goes wrong


def test_what_cannot_be_loaded_is_named_and_nothing_is_recorded(
    workspace: Workspace, lake_root: Path
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"lake_text": ["texts/long.md", "no.md"]}, r"^evidence_refs.lake_text\[1\]: no.md is not"),
        ({"documents": ["../x.md"]}, r"^evidence_refs.documents\[0\]: ../x.md leaves the lake"),
        ({"lake_texts": []}, "evidence_refs has no 'lake_texts': use lake_text, lake_http"),
        (
            {"sql_results": [{"sql": "SELECT 1", "query_key": "q", "connection": "crm"}]},
            r"^evidence_refs.sql_results\[0\]: there is no connection 'crm' \(none were given\)",
        ),
    ]
    for refs, says in cases:
        with pytest.raises(InputError, match=says):
            workspace.bundle({}, refs, lake_root=lake_root)
    with pytest.raises(InputError, match="on_error must be 'raise' or 'record'"):
        workspace.bundle(on_error="skip")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="detectors were given"):
        workspace.bundle(detectors={"names": lambda _: []})
    assert (workspace.trail.size, workspace.bundles.list(), lake_files(workspace)) == (0, [], [])


def test_what_cannot_be_loaded_can_be_part_of_the_record(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = workspace.bundle(
        {}, {"lake_text": ["no.md", "texts/long.md"]}, lake_root=lake_root, on_error="record"
    )
    failed, fine = bundle.items
    assert failed.content == "[lake_text no.md could not be loaded]"
    assert "no.md is not in the lake" in failed.metadata["error"]
    assert fine.content == LONG
    assert (bundle.accounting.failed, bundle.accounting.kept) == (1, 1)
    assert workspace.bundles.why_cut("latest", failed.evidence_id).outcome == "failed"
    assert workspace.bundles.verify("latest").holds


def test_what_could_not_be_loaded_is_the_same_wherever_the_lake_is(
    workspace: Workspace, tmp_path: Path
) -> None:
    ids = set()
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        bundle = workspace.bundle(
            {}, {"lake_text": ["no.md"]}, lake_root=tmp_path / name, on_error="record"
        )
        ids.add(bundle.bundle_id)
    assert len(ids) == 1
