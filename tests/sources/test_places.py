import pytest

import tiers
from evidentia.sources.places import file_name, is_location, is_path, link_of, path_digest

PATHS = {
    "/srv/hr/leave.pdf": "leave.pdf",
    "/srv/hr/": "hr",
    "//server/share/leave.pdf": "leave.pdf",
    "C:\\Users\\me\\leave.pdf": "leave.pdf",
    "c:/Users/me/leave.pdf": "leave.pdf",
    "C:leave.pdf": "leave.pdf",
    "\\\\server\\share\\leave.pdf": "leave.pdf",
    "\\\\?\\C:\\leave.pdf": "leave.pdf",
    "file:///srv/hr/my%20leave.pdf": "my leave.pdf",
    "file:///C:/hr/leave.pdf#page=3": "leave.pdf",
    "file://localhost/srv/leave.pdf": "leave.pdf",
    "file://server/share/leave.pdf": "leave.pdf",
    "file:leave.pdf": "leave.pdf",
    "FILE:/srv%2Fhr%2Fleave.pdf": "leave.pdf",
    "~/leave.pdf": "leave.pdf",
    "~me/hr/leave.pdf": "leave.pdf",
    "~\\leave.pdf": "leave.pdf",
    "$HOME/hr/leave.pdf": "leave.pdf",
    "${DATA}/leave": "leave",
    "%USERPROFILE%\\leave.pdf": "leave.pdf",
    "./leave.pdf": "leave.pdf",
    "../hr/leave": "leave",
    "..\\hr\\leave": "leave",
    "docs/hr/leave.pdf": "leave.pdf",
    "docs\\hr\\leave": "leave",
    "docs%2Fhr%2Fleave.pdf": "leave.pdf",
    "My Docs/my leave.docx": "my leave.docx",
    "data/leave.pdf:6:2": "leave.pdf:6:2",
    "/data/leave.pdf_part_0": "leave.pdf_part_0",
    "s3://bucket/hr/leave.pdf?versionId=7": "leave.pdf",
    "dbfs:/mnt/hr/leave": "leave",
    "sqlite:////srv/hr.db": "hr.db",
    "jar:file:///srv/a.jar!/hr/leave.txt": "leave.txt",
    " /srv/leave.pdf\n": "leave.pdf",
    "loaded from /home/me/leave": "leave",
    "loaded from C:\\hr\\leave": "leave",
}
NAMELESS = ["/", "~", "~/", "C:\\", "..\\", "s3://bucket", "\\\\server", "file:///", "$HOME/"]
RELATIVE = {
    "docs/leave": "leave",
    "docs/my leave": "my leave",
    "docs/leave/": "leave",
    "docs%5cleave": "leave",
    "localhost:8000/leave": "leave",
    "git@example.com:hr/leave": "leave",
}
NO_PATHS = [
    "leave.pdf",
    "leave",
    "HR policy 2025",
    "https://example.com/docs/leave.pdf",
    "http://localhost:8000/leave.pdf",
    "hubspot://contacts/456",
    "urn:isbn:9780",
    "doi:10.1000/182",
    "www.example.com/leave",
    "Reuters / AP",
    "",
]
WORDS = [
    *NO_PATHS,
    "see https://example.com/leave.pdf for more",
    "Node.js/Express.js",
    "full-time/part-time",
    "tickets/4711",
    "text/html",
    "2025/06/01",
    "~5/day",
    "1:2.5",
    "https://" + "a/b.pdf%2f" * 1_000,
    "a/" * 10_000,
]


@tiers.one_test
@pytest.mark.parametrize("path", [*PATHS, *NAMELESS])
def test_a_path_is_told_however_it_is_written(path: str) -> None:
    assert is_path(path)
    assert is_location(path)


@tiers.one_test
@pytest.mark.parametrize(("path", "name"), [*PATHS.items(), *RELATIVE.items()])
def test_the_name_of_a_path_has_no_folder_in_it(path: str, name: str) -> None:
    assert file_name(path) == name


@pytest.mark.parametrize("path", NAMELESS)
def test_a_path_may_have_no_name(path: str) -> None:
    assert file_name(path) is None


@pytest.mark.parametrize("path", RELATIVE)
def test_folders_are_a_path_where_a_file_is_named(path: str) -> None:
    assert not is_path(path)
    assert is_location(path)


@tiers.one_test
@pytest.mark.parametrize("text", WORDS)
def test_words_ids_and_links_are_no_paths(text: str) -> None:
    assert not is_path(text)


@pytest.mark.parametrize("text", NO_PATHS)
def test_names_ids_and_links_have_no_folders(text: str) -> None:
    assert not is_location(text)


def test_a_link_has_no_credentials() -> None:
    assert link_of(" https://me:pw@example.com/a@b ") == "https://example.com/a@b"
    assert link_of("https://example.com/a") == "https://example.com/a"
    for text in ("example.com", "ftp://example.com/a", "https://a b", "see https://example.com"):
        assert link_of(text) is None


def test_the_digest_is_that_of_the_file_however_its_path_is_written() -> None:
    same = ["/srv/hr/leave.pdf", "/srv//hr/./leave.pdf", "/srv/x/../hr/leave.pdf"]
    same += [
        "file:///srv/hr/leave.pdf",
        "file://localhost/srv/hr/leave.pdf",
        "\\srv\\hr\\leave.pdf",
    ]
    assert len({path_digest(path) for path in same}) == 1
    others = [
        "srv/hr/leave.pdf",
        "//srv/hr/leave.pdf",
        "~/srv/hr/leave.pdf",
        "s3://srv/hr/leave.pdf",
    ]
    others += ["C:/srv/hr/leave.pdf", "D:/srv/hr/leave.pdf", "/srv/\ud800/leave.pdf"]
    found = {path_digest(path) for path in [*others, *same]}
    assert len(found) == len(others) + 1
    assert path_digest("C:\\a\\b.pdf") == path_digest("file:///C:/a/b.pdf")
    assert all(len(digest) == 8 for digest in found)
