"""Finding files and reading them: what is left out says why, and one bad file is one problem.

This module is also a worker: run as a command, it crashes over the files that ask for it.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docx_writing import docx_bytes, paragraph, zip_bytes
from evidentia.documents.model import ReadFile
from evidentia.errors import DocumentError, EnvironmentProblem, InputError, NotFoundError
from evidentia.loading import reader, reading
from evidentia.loading.reader import MAX_MEMORY, limit_memory, read, read_within_limits
from evidentia.loading.reading import Asked, FoundFile, find_files, read_bytes, read_files
from evidentia.loading.workers import serve
from forking import Child
from pdf_writing import MAPPED, PICTURE, Line, pdf_bytes

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

TEXT = "All permanent employees shall receive 15 days of paid annual leave.\n"
GOOD = TEXT.encode()


def asked(filename: str, data: bytes = GOOD) -> Asked:
    return Asked(f"doc_{filename}", filename, data)


def write(folder: Path, *filenames: str) -> None:
    for filename in filenames:
        path = folder / filename
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT)


# Finding


def test_a_folder_gives_its_documents_and_those_of_the_folders_in_it(tmp_path: Path) -> None:
    root = tmp_path / "Policies"
    write(root, "b.md", "a.txt", "sub/deep/c.html", "sub/a.TXT", "é/ü.markdown")
    found = find_files(root)
    assert [file.filename for file in found.files] == [
        "a.txt",
        "b.md",
        "sub/a.TXT",
        "sub/deep/c.html",
        "é/ü.markdown",
    ]
    assert {file.collection for file in found.files} == {"Policies"}
    assert found.files[3].path == root / "sub" / "deep" / "c.html"
    assert found.left_out == ()


def test_a_folder_is_called_by_its_own_name_however_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "Policies"
    write(root, "a.txt", "sub/b.txt")
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root / "sub")
    for given in (root, Path(".."), tmp_path / "link", root / "sub" / ".."):
        assert [(file.collection, file.filename) for file in find_files(given).files] == [
            ("Policies", "a.txt"),
            ("Policies", "sub/b.txt"),
        ]


def test_a_single_file_belongs_to_the_collection_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "Policies", "a.xyz")
    path = tmp_path / "Policies" / "a.xyz"
    found = find_files(path)
    assert found.files == (FoundFile(path, "Policies", "a.xyz", path.parent.resolve()),)
    assert found.left_out == ()  # who names a file wants it read


def test_hidden_files_and_those_of_an_open_office_program_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", ".b.txt", ".git/c.txt", "~$d.docx", "e/.f/g.txt", "~h.txt")
    found = find_files(tmp_path)
    assert [file.filename for file in found.files] == ["a.txt", "~h.txt"]
    assert found.left_out == ()


def test_other_kinds_of_files_are_left_out_and_it_is_said_why(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "b.png", "c", "sub/d.ods", "e.txt.bak")
    os.mkfifo(tmp_path / "pipe.txt")
    found = find_files(tmp_path)
    assert [file.filename for file in found.files] == ["a.txt"]
    kind = "not a kind of document that is read"
    assert sorted(found.left_out) == [
        ("b.png", kind),
        ("c", kind),
        ("e.txt.bak", kind),
        ("pipe.txt", "not a file"),
        ("sub/d.ods", kind),
    ]


def test_a_link_is_followed_within_the_folder_and_never_out_of_it(tmp_path: Path) -> None:
    root, outside = tmp_path / "docs", tmp_path / "outside"
    write(root, "a.txt", "sub/b.txt")
    write(outside, "secret.txt", "folder/secret.txt")
    (root / "within.txt").symlink_to("sub/b.txt")
    (root / "out.txt").symlink_to(outside / "secret.txt")
    (root / "sub" / "up.txt").symlink_to("../../outside/secret.txt")
    (root / "twice.txt").symlink_to("out.txt")
    (root / "nowhere.txt").symlink_to("gone.txt")
    (root / "itself.txt").symlink_to("itself.txt")
    (root / "folder out").symlink_to(outside / "folder")
    (root / "folder within").symlink_to("sub")
    (root / "round").symlink_to(".")
    found = find_files(root)
    assert [file.filename for file in found.files] == ["a.txt", "within.txt", "sub/b.txt"]
    leads_out = "a link that leads out of the folder"
    assert dict(found.left_out) == {
        "out.txt": leads_out,
        "sub/up.txt": leads_out,
        "twice.txt": leads_out,
        "folder out": leads_out,
        "folder within": "a link to a folder",
        "round": "a link to a folder",
        "nowhere.txt": "not a file",
        "itself.txt": "not a file",
    }


@pytest.mark.parametrize("target", ["gone", "gone/a.txt", "a.txt/b", "nul\0"])
def test_what_is_not_there_is_not_found(tmp_path: Path, target: str) -> None:
    write(tmp_path, "a.txt")
    with pytest.raises(NotFoundError, match="no such file or folder"):
        find_files(tmp_path / target)


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    assert find_files(tmp_path).files == ()


def test_names_that_are_not_utf8_become_text_and_stay_apart(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path / "docs")
    os.mkdir(root)  # noqa: PTH102 - a path is text, and these names are none
    try:
        for name in (b"\xff.txt", b"\xfe.txt", "ÿ.txt".encode()):
            with open(root + b"/" + name, "wb") as opened:  # noqa: PTH123 - the same
                opened.write(GOOD)
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    found = find_files(tmp_path / "docs")
    assert sorted(file.filename for file in found.files) == ["\\xfe.txt", "\\xff.txt", "ÿ.txt"]
    for file in found.files:
        assert file.filename.encode()
        assert read_bytes(file) == GOOD
    lone = find_files(Path(os.fsdecode(root + b"/\xff.txt")))
    assert [(file.collection, file.filename) for file in lone.files] == [("docs", "\\xff.txt")]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user may look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(work: Callable[[], None]) -> None:
    """Do something as a user that file permissions hold for."""

    def nobody() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65_534)
            os.setuid(65_534)
        work()

    with Child(nobody) as child:
        child.end()


def test_a_folder_that_may_not_be_read_is_named(open_folder: Path) -> None:
    write(open_folder, "a.txt", "closed/b.txt")
    (open_folder / "closed").chmod(0)

    def work() -> None:
        with pytest.raises(InputError, match=r"closed: cannot be read .Permission denied"):
            find_files(open_folder)

    as_nobody(work)
    (open_folder / "closed").chmod(0o700)


def test_a_file_that_may_not_be_read_is_a_problem_of_its_own(open_folder: Path) -> None:
    write(open_folder, "a.txt", "closed.txt")
    (open_folder / "closed.txt").chmod(0)

    def work() -> None:
        good, closed = find_files(open_folder).files
        assert read_bytes(good) == GOOD
        with pytest.raises(DocumentError, match=r"^closed.txt: cannot be opened .Permission"):
            read_bytes(closed)

    as_nobody(work)


# Bytes


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.txt")
    (file,) = find_files(tmp_path).files
    monkeypatch.setattr(reading, "MAX_BYTES", len(GOOD))
    assert read_bytes(file) == GOOD
    monkeypatch.setattr(reading, "MAX_BYTES", len(GOOD) - 1)
    with pytest.raises(DocumentError, match=r"^a.txt: larger than the 67 bytes that are read: spl"):
        read_bytes(file)


def test_a_file_that_is_gone_meanwhile_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "a.txt")
    (file,) = find_files(tmp_path).files
    file.path.unlink()
    with pytest.raises(DocumentError, match=r"a.txt: cannot be opened .No such file"):
        read_bytes(file)


# Reading

ENCRYPTED = pdf_bytes(
    [[Line("Secret.")]],
    trailer=f"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'00' * 32}>/U<{'11' * 32}>>>",
)
BAD = {
    "broken.pdf": (b"%PDF-1.7\nnothing else", "a broken PDF"),
    "encrypted.pdf": (ENCRYPTED, "encrypted with a password"),
    "empty.pdf": (pdf_bytes([[], []]), "an empty PDF"),
    "scanned.pdf": (pdf_bytes([PICTURE]), "a scanned PDF"),
    "nothing.txt": (b"", "an empty file"),
    "blank.txt": (b" \n\t\n ", "an empty file"),
    "bomb.docx": (zip_bytes({"word/document.xml": b"<d>" + b" " * 2**26}), "a zip bomb"),
    "cut.docx": (docx_bytes(paragraph("Text."))[:150], ""),
    "latin.txt": ("Größe ß ÄÖÜ naïve café".encode("cp1252"), "UTF-8"),
    "utf16.txt": ("Grüße".encode("utf-16-be"), "UTF-8"),
    "picture.txt": (b"\x89PNG\r\n\x1a\n" + bytes(50), "a picture"),
    "binary.md": (bytes(range(256)), ""),
}


def test_each_file_that_cannot_be_read_is_a_problem_that_names_it_and_the_others_go_on() -> None:
    questions = [asked("first.txt")]
    for filename, (data, _) in BAD.items():
        questions += [asked(filename, data), asked(f"after {filename}.txt")]
    results = list(read_files(questions, count=len(questions)))
    assert len(results) == len(questions)
    for question, result in zip(questions, results, strict=True):
        if question.filename in BAD:
            assert isinstance(result, DocumentError), question.filename
            assert str(result).startswith(f"{question.filename}: ")
            assert BAD[question.filename][1] in str(result)
        else:
            assert isinstance(result, ReadFile), f"{question.filename}: {result}"
            assert [chunk.document_id for chunk in result.chunks] == [question.document_id]


def test_a_file_that_was_read_comes_with_all_that_is_kept_of_it() -> None:
    data = pdf_bytes(
        [[Line("Leave", size=18), Line("Employees receive 15 days.")], PICTURE],
        info="/Title (HR Policy)/CreationDate (D:20240102000000Z)/ModDate (D:20250601000000Z)",
    )
    (result,) = read_files([asked("HR.pdf", data)], count=1)
    assert isinstance(result, ReadFile)
    assert result.media_type == "application/pdf"
    assert (result.title, result.dated, result.pages) == ("HR Policy", "2025-06-01", 2)
    assert result.direction == "ltr"
    assert result.warnings[0] == "page 2 is a picture without text: it needs OCR"
    assert "Employees receive 15 days." in result.chunks[0].text
    assert result == read(asked("HR.pdf", data))


def test_front_matter_is_in_no_passage_and_in_the_pieces_of_a_bundle() -> None:
    data = b"---\ntitle: Leave\n---\n\nEmployees receive 15 days.\n"
    passages = read(asked("a.md", data)).chunks
    assert [chunk.text for chunk in passages] == ["Employees receive 15 days."]
    pieces = read(asked("a.md", data)._replace(cut=(500, 0))).pieces
    assert [piece.text for piece in pieces] == [data.decode().strip()]


def test_a_title_has_no_characters_that_a_database_cannot_store() -> None:
    data = pdf_bytes([[Line("Employees receive 15 days.")]], info="/Title (HR\\000Policy)")
    assert read(asked("a.pdf", data)).title == "HR Policy"
    nothing = pdf_bytes([[Line("Employees receive 15 days.")]])
    assert read(asked("a.pdf", nothing)).title is None
    mapped = pdf_bytes([[Line(("a", "\0", "b"), font=MAPPED)]])
    assert "\0" not in read(asked("a.pdf", mapped)).chunks[0].text


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files read by this module, which crashes where a file says so."""
    places = [*map(str, Path(__file__).parents[:2]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    monkeypatch.setattr(reading, "WORKER", Path(__file__).stem)


def test_a_file_that_crashes_its_reader_is_one_problem(crashing: None) -> None:
    results = list(
        read_files([asked("a.txt"), asked("evil.pdf", b"CRASH"), asked("b.txt")], count=3)
    )
    assert [type(result) for result in results] == [ReadFile, DocumentError, ReadFile]
    assert str(results[1]) == (
        "evil.pdf: its reader crashed, or needed too much memory (exit status 7): "
        "open and save it again, split it, or leave it out"
    )


def test_a_file_that_takes_too_long_is_one_problem(
    crashing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SECONDS", 5.0)
    hangs, good = read_files([asked("evil.pdf", b"HANG"), asked("b.txt")], count=1)
    assert isinstance(hangs, DocumentError)
    assert "evil.pdf: takes longer than the 60 seconds that a file may be read for" in str(hangs)
    assert isinstance(good, ReadFile)


def test_a_file_that_computes_for_too_long_is_one_problem(crashing: None) -> None:
    spins, good = read_files([asked("evil.pdf", b"SPIN"), asked("b.txt")], count=1)
    assert isinstance(spins, DocumentError)
    assert "evil.pdf: takes longer than the 60 seconds that a file may be read for" in str(spins)
    assert isinstance(good, ReadFile)


def test_a_reader_that_answers_nonsense_stops_everything(crashing: None) -> None:
    with pytest.raises(EnvironmentProblem, match=r"odd.txt: the reader answered 'nonsense'"):
        list(read_files([asked("odd.txt", b"NONSENSE")], count=1))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError(), "a.txt: needs too much memory to be read"),
        (RecursionError("deep"), r"a.txt: cannot be read .RecursionError: deep"),
        (KeyError("x"), r"a.txt: cannot be read .KeyError: 'x'"),
        (DocumentError("a.txt: broken"), "^a.txt: broken$"),
    ],
)
def test_whatever_a_reader_raises_names_the_file(
    monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    def fail(_data: bytes, _filename: str) -> None:
        raise error

    monkeypatch.setattr("evidentia.loading.reader.read_document", fail)
    with pytest.raises(DocumentError, match=says):
        read(asked("a.txt"))


def test_no_files_are_no_work() -> None:
    assert list(read_files([], count=0)) == []


def test_a_readers_memory_is_limited() -> None:
    def work() -> None:
        limit_memory()
        with pytest.raises(MemoryError):
            bytearray(MAX_MEMORY)

    with Child(work) as child:
        child.end()


def _read_or_crash(question: Asked) -> object:
    match question.data:
        case b"CRASH":
            os._exit(7)
        case b"HANG":
            while True:
                pass
        case b"SPIN":
            vars(reader)["COMPUTING_SECONDS"] = 0  # a second is as good as a minute
            read_within_limits(Asked("doc_1", "a.txt", GOOD))
            while True:
                pass
        case b"NONSENSE":
            return "nonsense"
    return read(question)


if __name__ == "__main__":
    serve(_read_or_crash)
