"""Typesetting: data in, the same bytes out, and nothing read but what is in the package."""

import os
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pytest

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.export.pdf import typesetting
from evidentia.export.pdf.reading import embedded
from evidentia.export.pdf.typesetting import template_digest, typeset, typst_version
from evidentia.kinds import render
from forking import Child
from packs.making import exported, pack

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")

AT = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
PACKAGE = Path(typesetting.__file__).parent
TEMPLATES = sorted((PACKAGE / "templates").glob("*.typ"))


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that sets a template of the test's own."""

    def setting(source: str, attachments: dict[str, bytes] | None = None, **data: Any) -> bytes:
        lines = '#set document(title: "Test")\n#let data = json(bytes(sys.inputs.data))\n'
        (tmp_path / "page.typ").write_text(lines + source, encoding="utf-8")
        return typeset("page", data, attachments or {}, at=AT)

    monkeypatch.setattr(typesetting, "_TEMPLATES", tmp_path)
    typesetting._compiler.cache_clear()
    yield setting
    typesetting._compiler.cache_clear()


def text_of(pdf: bytes) -> str:
    return "\n".join(one.get_textpage().get_text_range() for one in pypdfium2.PdfDocument(pdf))


def test_data_is_set_as_text_and_never_read_as_typst(page: Any) -> None:
    hostile = '#panic("x") #eval("1+1") $x^2$ *bold* <label> @ref // comment'
    assert text_of(page("= Heading\n#data.text", text=hostile)).splitlines()[1] == hostile


def test_the_file_says_that_it_was_made_when_it_is_told(page: Any) -> None:
    made = page("Hello")
    assert (
        pypdfium2.PdfDocument(made)
        .get_metadata_dict()["CreationDate"]
        .startswith("D:20261115093000")
    )
    assert made == page("Hello")


def test_attachments_are_embedded_as_they_are(page: Any) -> None:
    attached = {"a.json": '{"س": "\u202e#"}\r\n'.encode()}
    source = (
        '#pdf.attach("a.json", bytes(sys.inputs.at("a.json")), relationship: "source", '
        'mime-type: "application/json", description: "A")'
    )
    assert embedded(page(source, attached)) == attached


def test_an_attachment_that_is_no_text_is_refused(page: Any) -> None:
    with pytest.raises(InputError, match=r"the attachment a\.bin is not text in UTF-8"):
        page("Hello", {"a.bin": b"\xff"})


@pytest.mark.parametrize(
    "source",
    [
        "#data.missing",
        '#panic("one\\ntwo")',
        '#text(font: "IBM Plex Sans Arabic", fallback: false, "\u4e2d")',
        '#image("../../../../../etc/passwd")',
        "#let f(n) = f(n + 1)\n#f(1)",
    ],
)
def test_what_cannot_be_set_is_one_line_and_the_next_is_set(page: Any, source: str) -> None:
    with pytest.raises(InputError, match=r"^the pages could not be set: .+") as raised:
        page(source)
    assert "\n" not in str(raised.value)
    assert page("Hello").startswith(b"%PDF-")


def test_a_fault_within_typst_is_one_line_too(page: Any) -> None:
    """An Arabic word of 64 KB without a break is beyond what Typst's PDF writer can take."""
    source = '#text(font: "IBM Plex Sans Arabic", data.word)'
    with pytest.raises(InputError, match=r"^the pages could not be set: .+"):
        page(source, word="م" * 50_000)
    assert page("Hello").startswith(b"%PDF-")


def test_an_interrupt_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def compile(self, **_: Any) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(typesetting, "_compiler", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        typeset("pack", {}, {}, at=AT)


def test_threads_set_pages_one_after_the_other() -> None:
    evidence = exported(pack())
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(render(evidence))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [render(evidence)] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_forked_from_one_that_set_pages_says_so_and_does_not_hang() -> None:
    evidence = exported(pack())
    render(evidence)

    def refused() -> None:
        with pytest.raises(EnvironmentProblem, match="forked from one which made PDFs"):
            render(evidence)

    with Child(refused) as child:
        child.end()


def test_what_was_begun_in_another_process_is_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(typesetting, "_began_in", [0])
    with pytest.raises(EnvironmentProblem, match="start it anew"):
        typeset("pack", {}, {}, at=AT)


def test_no_font_comes_from_elsewhere() -> None:
    names = set(re.findall(rb"/FontName/[A-Z]{6}\+([A-Za-z]+)", render(exported(pack()))))
    assert names <= {b"IBMPlexSansArabic", b"IBMPlexMono", b"Amiri", b"NotoNaskhArabic"}
    assert b"IBMPlexSansArabic" in names


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_reads_a_package_a_file_or_a_string_as_markup(template: Path) -> None:
    source = template.read_text(encoding="utf-8")
    assert not re.search(r"@preview|@local|\beval\(|\bread\(|\bimage\(|\bplugin\(", source)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_direction_is_set_around_paragraphs_alone(template: Path) -> None:
    """Within a line it would reorder what is beside it: isolates are for that."""
    found = re.findall(r"^.*\bdir: .*$", template.read_text(encoding="utf-8"), re.MULTILINE)
    assert [line for line in found if "set text(" not in line and "region:" not in line] == []


def test_the_digest_is_over_all_that_pages_are_made_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = template_digest.__wrapped__()
    assert re.fullmatch(r"[0-9a-f]{64}", whole)
    for folder, name in (("_TEMPLATES", "templates"), ("_FONTS", "fonts")):
        (tmp_path / name).symlink_to(PACKAGE / name)
        monkeypatch.setattr(typesetting, folder, tmp_path / name)
    monkeypatch.setattr(typesetting, "_HERE", tmp_path)
    for module in PACKAGE.glob("*.py"):
        (tmp_path / module.name).write_bytes(module.read_bytes())
    assert template_digest.__wrapped__() == whole
    (tmp_path / "reading.py").write_text("other")
    assert template_digest.__wrapped__() == whole
    (tmp_path / "pack_pages.py").write_text("other")
    assert template_digest.__wrapped__() != whole


def test_the_digest_is_over_all_of_the_language_that_pages_are_written_by() -> None:
    root = PACKAGE.parents[1]
    found: set[str] = set()
    waiting = [path for path in PACKAGE.glob("*.py") if path.name != "reading.py"]
    while waiting:
        imported = re.findall(
            r"evidentia\.(language\.\w+) import", waiting.pop().read_text("utf-8")
        )
        new = {f"{name.replace('.', '/')}.py" for name in imported} - found
        found |= new
        waiting += [root / name for name in new]
    assert found == set(typesetting._BORROWED)


def test_another_calendar_is_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = template_digest.__wrapped__()
    monkeypatch.setattr(typesetting, "version", lambda _: "0.1")
    assert template_digest.__wrapped__() != whole


def test_without_the_calendar_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetting, "_CALENDAR", "no-such-calendar")
    with pytest.raises(InputError, match=r"no-such-calendar: pip install 'evidentia\[pdf\]'"):
        template_digest.__wrapped__()


def test_without_typst_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[pdf\]'"):
        typst_version()


def test_every_font_comes_with_its_licence() -> None:
    fonts = PACKAGE / "fonts"
    told = (fonts / "README.md").read_text(encoding="utf-8")
    families = {path.name.partition("-")[0] for path in fonts.glob("*.ttf")}
    assert families == {"IBMPlexSansArabic", "IBMPlexMono", "Amiri", "NotoNaskhArabic"}
    assert all(family in told for family in families)
    licences = [path.read_text(encoding="utf-8") for path in fonts.glob("LICENSE-*.txt")]
    assert len(licences) == 3
    assert all("SIL Open Font License, Version 1.1" in text for text in licences)
