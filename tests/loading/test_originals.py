"""The files that bundles are made of: what is below the lake's root, and nothing else."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import InputError, NotFoundError
from evidentia.loading import originals as originals_module
from evidentia.loading.originals import Originals

ORIGIN = "evidence_refs.lake_text[3]"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "docs" / "b.md").write_bytes(b"second\r\n")
    (folder / "docs" / "a.md").write_bytes(b"first")
    (folder / "docs" / "a.txt").write_bytes(b"text")
    (folder / "docs" / "deep" / "c.md").write_bytes(b"third")
    (folder / "docs" / ".hidden.md").write_bytes(b"hidden")
    (folder / "docs" / ".git").mkdir()
    (folder / "docs" / ".git" / "d.md").write_bytes(b"hidden too")
    (tmp_path / "outside.md").write_bytes(b"secret")
    return folder


def refusal(root: Path, lake_uri: str) -> str:
    with pytest.raises(InputError) as refused:
        Originals(root).read(lake_uri, ORIGIN)
    message = str(refused.value)
    assert message.startswith(f"{ORIGIN}: ")
    assert "\n" not in message
    assert "secret" not in message
    return message.removeprefix(f"{ORIGIN}: ")


def test_a_file_is_read_byte_for_byte(root: Path) -> None:
    assert Originals(root).read("docs/b.md", ORIGIN) == b"second\r\n"
    assert Originals(root).read("./docs//b.md", ORIGIN) == b"second\r\n"
    assert Originals(root).path("docs/a.md", ORIGIN).is_absolute()


def test_a_root_may_be_a_link_or_relative(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    monkeypatch.chdir(root.parent)
    for place in (link, Path("lake"), Path("link")):
        assert Originals(place).read("docs/a.md", ORIGIN) == b"first"
        found = Originals(place).within("docs", "*.md", ORIGIN)
        assert found == ["docs/a.md", "docs/b.md", "docs/deep/c.md"]


def test_a_link_within_the_lake_is_followed(root: Path) -> None:
    (root / "newest.md").symlink_to(root / "docs" / "a.md")
    assert Originals(root).read("newest.md", ORIGIN) == b"first"


@pytest.mark.parametrize(
    "lake_uri",
    ["../outside.md", "docs/../../outside.md", "docs/..", "/etc/hostname", "//etc/hostname"],
)
def test_a_path_that_leaves_the_lake_is_refused(root: Path, lake_uri: str) -> None:
    assert "leaves the lake: give a path" in refusal(root, lake_uri)


@pytest.mark.parametrize(
    "lake_uri", ["a\0b", "docs\\a.md", "c:/a.md", "file:docs/a.md", "s3://bucket/a.md"]
)
def test_what_is_no_path_is_refused(root: Path, lake_uri: str) -> None:
    assert refusal(root, lake_uri).endswith("is not a path within the lake")


def test_a_path_that_is_no_text_is_refused(root: Path) -> None:
    assert refusal(root, "docs/\udcff.md") == "'docs/\\udcff.md' is not a path"


def test_a_link_that_leaves_the_lake_is_refused(root: Path) -> None:
    (root / "file.md").symlink_to(root.parent / "outside.md")
    (root / "folder").symlink_to(root.parent)
    assert refusal(root, "file.md") == "file.md is a link that leaves the lake"
    assert refusal(root, "folder/outside.md") == "folder/outside.md is a link that leaves the lake"


def test_links_that_lead_to_each_other_lead_nowhere(root: Path) -> None:
    (root / "one").symlink_to(root / "other")
    (root / "other").symlink_to(root / "one")
    assert "one" in refusal(root, "one")


def test_a_name_that_is_too_long_is_refused(root: Path) -> None:
    refusal(root, "x" * 5_000)


def test_the_folder_with_the_lakes_key_is_private(root: Path) -> None:
    (root / ".evidentia").mkdir()
    (root / ".evidentia" / "redaction.key").write_text("secret")
    (root / "link").symlink_to(root / ".evidentia")
    assert refusal(root, ".evidentia/redaction.key").endswith("is private to the lake")
    assert refusal(root, "./.evidentia/redaction.key").endswith("is private to the lake")
    refusal(root, "link/redaction.key")
    with pytest.raises(InputError, match="is private to the lake"):
        Originals(root).within(".evidentia", "*", ORIGIN)
    with pytest.raises(InputError, match=r"private|link"):
        Originals(root).within("link", "*", ORIGIN)
    assert all("redaction" not in name for name in Originals(root).within(".", "*", ORIGIN))


def test_a_missing_file_is_named_and_the_lakes_own_place_is_not(root: Path) -> None:
    said = refusal(root, "docs/z.md")  # which may become part of a bundle, the same everywhere
    assert said.startswith("docs/z.md is not in the lake")
    assert str(root) not in said
    assert "docs/a.md/b" in refusal(root, "docs/a.md/b")


def test_a_folder_is_no_file_and_the_message_says_how_to_name_all_of_it(root: Path) -> None:
    assert refusal(root, "docs").endswith('or give {"folder": "docs"} for all files in it')


def test_what_is_neither_file_nor_folder_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert refusal(root, "pipe") == "pipe is not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_refused(root: Path) -> None:
    (root / "docs" / "a.md").chmod(0)
    assert refusal(root, "docs/a.md") == "docs/a.md cannot be read (Permission denied)"


def test_a_file_that_is_too_large_to_read_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals_module, "MAX_BYTES", 5)
    assert Originals(root).read("docs/a.md", ORIGIN) == b"first"
    assert refusal(root, "docs/b.md").endswith(
        "more than the 5 bytes that are read: split the file"
    )


def test_the_files_of_a_folder_come_sorted_and_without_hidden_ones(root: Path) -> None:
    files = Originals(root).within("docs", "*", ORIGIN)
    assert files == ["docs/a.md", "docs/a.txt", "docs/b.md", "docs/deep/c.md"]
    assert Originals(root).within("docs/", "?.txt", ORIGIN) == ["docs/a.txt"]
    assert Originals(root).within(".", "[ab].md", ORIGIN) == ["docs/a.md", "docs/b.md"]
    assert Originals(root).within("docs", "c.md", ORIGIN) == ["docs/deep/c.md"]
    with pytest.raises(InputError, match=r"no file in docs fits 'C\.MD'"):
        Originals(root).within("docs", "C.MD", ORIGIN)


def test_what_is_kept_by_its_digest_is_not_among_the_files_of_the_root(root: Path) -> None:
    kept = root / "sha256" / "ab" / "cd" / "abcd.md"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    (root / "docs" / "sha256").mkdir()
    (root / "docs" / "sha256" / "e.md").write_text("a folder of the same name")
    files = Originals(root).within(".", "*.md", ORIGIN)
    assert files == ["docs/a.md", "docs/b.md", "docs/deep/c.md", "docs/sha256/e.md"]


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("nowhere", "there is no folder nowhere in the lake"),
        ("docs/a.md", "there is no folder docs/a.md in the lake"),
        ("../", "leaves the lake"),
    ],
)
def test_a_folder_that_is_none_is_refused(root: Path, folder: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        Originals(root).within(folder, "*", ORIGIN)
    assert str(refused.value).startswith(f"{ORIGIN}: ")


@given(
    st.text(max_size=30) | st.lists(st.sampled_from(["..", ".", "/", "docs", "a.md"])).map("".join)
)
def test_no_path_reads_anything_beyond_the_root(
    tmp_path_factory: pytest.TempPathFactory, lake_uri: str
) -> None:
    root = _shared_root(tmp_path_factory)
    try:
        data = Originals(root).read(lake_uri, ORIGIN)
    except InputError as error:
        assert str(error).startswith(f"{ORIGIN}: ")  # noqa: PT017 - either is right
    else:
        assert data == b"inside"


def _shared_root(factory: pytest.TempPathFactory) -> Path:
    root = factory.getbasetemp() / "originals" / "lake"
    if not root.exists():
        (root / "docs").mkdir(parents=True)
        (root / "docs" / "a.md").write_bytes(b"inside")
        (root.parent / "a.md").write_bytes(b"outside")
    return root


def test_reading_a_missing_lake_says_so(tmp_path: Path) -> None:
    missing = Originals(tmp_path / "none")
    with pytest.raises(InputError, match=r"a\.md is not in the lake"):
        missing.read("a.md", ORIGIN)
    with pytest.raises(InputError, match="there is no folder docs in the lake"):
        missing.within("docs", "*", ORIGIN)


def test_a_lake_that_is_required_must_be_there(root: Path) -> None:
    Originals(root).require()
    for missing in (root / "none", root / "docs" / "a.md"):
        with pytest.raises(NotFoundError, match=r"^lake_root .*: no such folder$"):
            Originals(missing).require()


def test_without_a_root_everything_is_refused(root: Path) -> None:
    for private in (None, root):
        nowhere = Originals(None, private=private)
        for ask in (
            nowhere.require,
            lambda nowhere=nowhere: nowhere.read("docs/a.md", ORIGIN),
            lambda nowhere=nowhere: nowhere.path("docs/a.md", ORIGIN),
            lambda nowhere=nowhere: nowhere.within("docs", "*", ORIGIN),
        ):
            with pytest.raises(InputError, match="say with lake_root below which folder"):
                ask()


@pytest.mark.parametrize(
    ("place", "lake_uri"),
    [
        ("lake", "docs/deep/c.md"),
        ("lake", "docs/./deep//c.md"),
        ("lake", "link/c.md"),
        ("lake", "docs/deep"),
        ("lake/docs", "deep/c.md"),
        ("lake/docs/deep", "c.md"),
        ("lake/docs/deep", "."),
        ("lake/link", "c.md"),
        ("lake/docs/../docs/deep", "c.md"),
        ("lake", "docs/deep/none.md"),
    ],
)
def test_what_is_private_is_refused_wherever_the_root_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, place: str, lake_uri: str
) -> None:
    (root / "link").symlink_to(root / "docs" / "deep")
    monkeypatch.chdir(root.parent)
    for start in (Path(place), root.parent / place):
        for private in (root / "docs" / "deep", Path("lake/docs/deep"), root / "link"):
            originals = Originals(start, private=private)
            for ask in (originals.path, originals.read):
                with pytest.raises(InputError, match=r": .* is private to the workspace$"):
                    ask(lake_uri, ORIGIN)
            with pytest.raises(InputError, match=r"is private to the workspace$"):
                originals.within(lake_uri, "*", ORIGIN)


def test_a_folder_around_what_is_private_is_given_without_it(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "e.md").write_text("another of the same name")
    (root / "docs" / "link.md").symlink_to(root / "docs" / "deep" / "c.md")
    originals = Originals(root, private=root / "docs" / "deep")
    files = originals.within(".", "*.md", ORIGIN)
    assert [name for name in files if name != "docs/link.md"] == [
        "deep/e.md",
        "docs/a.md",
        "docs/b.md",
    ]
    with pytest.raises(InputError, match="private to the workspace"):
        originals.read("docs/link.md", ORIGIN)
