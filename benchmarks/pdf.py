"""PDFs: what it costs to make one, beside bare Typst and WeasyPrint; its size; the same bytes.

Run it with `python -m benchmarks.pdf [--quick] [--only NAME] [--json FILE]`.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pypdfium2  # type: ignore[import-untyped]
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)

from evidentia.export.pdf import rendering
from evidentia.kinds import render
from evidentia.packs.decision import DecisionOutput
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.tools import ToolCallRecord
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace

KB = 1_000
T = TypeVar("T")
FONTS = Path(rendering.__file__).parent / "fonts"
TEMPLATES = FONTS.parent / "templates"
AGAIN = """
import hashlib, sys
from evidentia.kinds import render
print(hashlib.sha256(render(open(sys.argv[1], "rb").read())).hexdigest())
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    slow_rounds: int
    times: int
    processes: int


SIZES = {"full": Size(31, 9, 200, 4), "quick": Size(11, 3, 30, 2), "tiny": Size(1, 1, 2, 1)}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a template is given to make the pages of some evidence."""

    template: str
    data: dict[str, Any]
    inputs: dict[str, str]
    at: int


def measure_making(size: Size, folder: Path) -> Section:
    """Make PDFs of packs from their evidence; let bare Typst make the same from its data."""
    section = Section(
        "making",
        "Making a PDF",
        "An exported pack with its memo in Arabic and English, in IBM Plex: the evidence is "
        "verified in itself, every text made fit to print, its direction worked out, and the pages "
        "set as PDF/A-3a and PDF/UA-1 with the evidence in the file. Bare Typst is given the same "
        "templates, fonts, standards and attachments, and the data as it is printed; its compiler "
        "is as warm. WeasyPrint is given the same texts as HTML, with the same fonts, and makes a "
        "plain PDF. Every PDF is of another pack, so that none is remembered.",
    )
    evidence = Packs(folder / "making")
    bare = _bare_typst()
    for work in (render, lambda data: bare(_inputs(data))):
        work(next(evidence))
    pages = len(pypdfium2.PdfDocument(render(next(evidence))))
    section.about += f" Each has {pages} pages."
    made_before = iter([render(next(evidence)) for _ in range(size.rounds)])
    tidy()
    taken = interleaved(
        size.rounds,
        {
            "ours": _timed(render, evidence),
            "typst": _timed(bare, map(_inputs, evidence)),
            "verified": _timed(verify, made_before),
        },
    )
    section.lines += [
        _line("evidence to PDF", "bare Typst", taken, ("ours", "typst"), 1.5),
        _line("verifying a PDF", "making it", taken, ("verified", "ours")),
    ]
    try:
        weasyprint = _weasyprint()
    except ImportError:
        section.notes.append("WeasyPrint was not measured: `weasyprint` is not installed.")
        return section
    weasyprint(_html(next(evidence)))
    slow = interleaved(
        size.slow_rounds,
        {
            "ours": _timed(render, evidence),
            "weasyprint": _timed(weasyprint, map(_html, evidence)),
        },
    )
    made = len(pypdfium2.PdfDocument(weasyprint(_html(next(evidence)))))
    section.notes.append(f"WeasyPrint sets the same texts on {made} pages.")
    section.lines.append(
        Line(
            "faster than WeasyPrint",
            "WeasyPrint, the same texts as HTML",
            f"{number(Spread.of(slow['ours']).median * 1e3)} ms",
            f"{number(Spread.of(slow['weasyprint']).median * 1e3)} ms",
            ratios(slow["weasyprint"], slow["ours"]),
            "times",
            target=10.0,
        )
    )
    return section


def measure_size(_: Size, folder: Path) -> Section:
    """Weigh the PDFs of a pack in each language and typeface."""
    evidence = next(Packs(folder / "size"))
    section = Section(
        "size",
        "The size of a PDF",
        f"The same pack, whose evidence has {len(evidence) / KB:.0f} KB and no attachments. Fonts "
        "are in the file as far as they are used.",
    )
    ways: list[tuple[Any, Any]] = [
        ("both", "plex"),
        ("both", "amiri"),
        ("ar", "plex"),
        ("en", "plex"),
    ]
    for lang, typeface in ways:
        weight = len(render(evidence, lang=lang, typeface=typeface)) / KB
        target = 200.0 if (lang, typeface) == ("both", "plex") else None
        section.lines.append(
            Line(
                f"{lang}, {typeface}",
                "none",
                f"{number(weight)} KB",
                "",
                Spread.of([weight]),
                "KB",
                target=target,
                at_most=True,
            )
        )
    return section


def measure_bytes(size: Size, folder: Path) -> Section:
    """Make the same PDF again and again, in other processes too; count what comes of it."""
    packs = Packs(folder / "bytes")
    evidence = next(packs)
    file = folder / "evidence.json"
    file.write_bytes(evidence)
    digests = [hashlib.sha256(render(evidence)).hexdigest() for _ in range(size.times)]
    for at in range(size.processes):
        render(next(packs))
        changed = {"PYTHONHASHSEED": str(at), "TZ": ("UTC", "Asia/Riyadh")[at % 2], "LC_ALL": "C"}
        ran = subprocess.run(
            [sys.executable, "-c", AGAIN, str(file)],
            env={**os.environ, **changed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.append(ran.stdout.strip())
    return Section(
        "bytes",
        "The same bytes",
        f"One pack, made into a PDF {size.times} times in one process and once in {size.processes} "
        "others, with other time zones and hash seeds: how many different files that gives.",
        [
            Line(
                "different files",
                f"{len(digests)} PDFs",
                str(len(set(digests))),
                "",
                Spread.of([len(set(digests))]),
                "files",
                target=1.0,
                at_most=True,
            )
        ],
    )


def _line(
    what: str,
    against: str,
    taken: dict[str, list[float]],
    sides: tuple[str, str],
    target: float | None = None,
) -> Line:
    ours, theirs = taken[sides[0]], taken[sides[1]]
    return Line(
        what,
        against,
        f"{number(Spread.of(ours).median * 1e3)} ms",
        f"{number(Spread.of(theirs).median * 1e3)} ms",
        ratios(ours, theirs),
        "times",
        target=target,
        at_most=True,
    )


def _timed(work: Callable[[T], object], values: Iterator[T]) -> Callable[[], float]:
    """Return what measures the work with the next value, which is made before."""

    def once() -> float:
        value = next(values)
        return seconds_of(lambda: work(value))

    return once


class Packs:
    """Gives the evidence of packs, each of another decision; no two have the same texts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._workspace: Workspace = open_workspace(folder / "home")

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        at = next(self._numbers)
        decided = DecisionOutput.model_validate(_decision(at))
        for call in range(3):
            record = ToolCallRecord.model_validate(_call(at, call))
            self._workspace.tools.record(decided.decision_id, record)
        pack = self._workspace.assemble(decided, memo=BilingualMemo.model_validate(_memo(at)))
        file = self._folder / "pack.json"
        return self._workspace.packs.export(pack.pack_id, file, overwrite=True).read_bytes()


# The sides


def _inputs(evidence: bytes) -> Inputs:
    """Return what the template is given for some evidence, without making the pages."""
    found: list[Inputs] = []

    def take(
        template: str, data: dict[str, Any], attachments: dict[str, bytes], *, at: Any
    ) -> bytes:
        texts = {name: content.decode() for name, content in attachments.items()}
        inputs = {"data": json.dumps(data, ensure_ascii=False), **texts}
        found.append(Inputs(template, data, inputs, int(at.timestamp())))
        return b""

    with patch.object(rendering, "typeset", take):
        render(evidence)
    return found[0]


def _bare_typst() -> Callable[[Inputs], bytes]:
    typst = import_module("typst")
    fonts = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(FONTS)]
    )
    compiler = typst.Compiler(root=str(TEMPLATES), font_paths=fonts)

    def make(given: Inputs) -> bytes:
        made: bytes = compiler.compile(
            input=str(TEMPLATES / f"{given.template}.typ"),
            format="pdf",
            sys_inputs=given.inputs,
            pdf_standards=["a-3a", "ua-1"],
            timestamp=given.at,
        )
        return made

    return make


def _weasyprint() -> Callable[[str], bytes]:
    package = import_module("weasyprint")
    fonts = import_module("weasyprint.text.fonts").FontConfiguration()
    style = package.CSS(string=_style(), font_config=fonts)

    def make(page: str) -> bytes:
        document = package.HTML(string=page)
        made: bytes = document.write_pdf(stylesheets=[style], font_config=fonts)
        return made

    return make


def _style() -> str:
    faces = "".join(
        f"@font-face {{ font-family: {family}; font-weight: {weight}; "
        f"src: url({next(FONTS.glob(pattern)).as_uri()}); }}\n"
        for family, weight, pattern in (
            ("Plex", 400, "IBMPlexSansArabic-Regular.*"),
            ("Plex", 700, "IBMPlexSansArabic-SemiBold.*"),
            ("Mono", 400, "IBMPlexMono-Regular.*"),
        )
    )
    return (
        faces + "@page { size: A4; margin: 25mm 22mm; @bottom-center { content: counter(page); } }"
        "body { font: 9pt/1.5 Plex; } h1 { font-size: 20pt; margin-top: 10mm; }"
        "h2 { break-before: page; color: #12324f; } .duo { display: flex; gap: 8mm; }"
        ".duo > * { flex: 1; } table { border-collapse: collapse; width: 100%; }"
        "td { border: 0.4pt solid #c3ccd4; padding: 4pt; vertical-align: top; }"
        "p { margin: 0 0 6pt; overflow-wrap: anywhere; }"
    )


def _html(evidence: bytes) -> str:
    """Return the texts that are printed of some evidence as a page of HTML."""
    data = _inputs(evidence).data
    titles, parts = data["titles"], ("sources", "calls", "provenance")
    first = {name: value for name, value in data.items() if name not in {*parts, "attachments"}}
    chapters = "".join(f"<h2>{name}</h2>{_block(data[name])}" for name in parts if name in data)
    return (
        f'<!doctype html><html lang="ar"><meta charset="utf-8"><title>x</title><body>'
        f"<h1>{_block(titles)}</h1>{_block(first)}{chapters}</body></html>"
    )


def _block(value: Any) -> str:
    match value:
        case {"t": str(text), "d": str(runs)}:
            return f'<p dir="{runs}">{escape(text)}</p>'
        case {"ar": arabic, "en": english}:
            return (
                f'<div class="duo"><div lang="ar" dir="rtl">{_block(arabic)}</div>'
                f'<div lang="en" dir="ltr">{_block(english)}</div></div>'
            )
        case [{"number": _}, *_]:
            rows = "".join(
                f"<tr>{''.join(f'<td>{_block(cell)}</td>' for cell in row.values())}</tr>"
                for row in value
            )
            return f"<table>{rows}</table>"
        case dict() | list():
            inner = value.values() if isinstance(value, dict) else value
            return "".join(map(_block, inner))
        case str() if value:
            return f"<p>{escape(value)}</p>"
        case _:
            return ""


# A pack as a board gets it
# ruff: noqa: RUF001 - Arabic is what it is written in


def _decision(at: int) -> dict[str, Any]:
    return {
        "decision_id": f"dec_{at:05}",
        "entity_id": f"CR 1010-{at % 1_000:03}-221 Gulf Cables Co.",
        "tenant_id": "default",
        "agent_name": "credit_analyst",
        "model": "analyst-model-4",
        "decision": f"Raise the revolving credit limit of customer {at} to SAR 18 million.",
        "decision_ar": f"رفع الحد الائتماني المتجدد للعميل {at} إلى 18 مليون ريال سعودي.",
        "approval_class": "A3",
        "reversibility_class": "R2",
        "sensitivity_class": "S2",
        "confidence": 0.84,
        "decided_at": "2026-11-15T08:30:00Z",
        "evidence": [
            {
                "source": f"Audited accounts {at}/{item}",
                "uri": f"s3://evidence/2026/gulf-cables-{at}/statement-{item}.pdf",
                "excerpt": f"Current ratio 1.{at % 100:02}; no overdue balances in {item} years.",
                "content_hash": "sha256:" + hashlib.sha256(f"{at}/{item}".encode()).hexdigest(),
                "retrieved_at": "2026-11-14T09:12:00Z",
                "confidence": 0.96 - item / 10,
            }
            for item in (1, 2, 3)
        ],
    }


def _call(at: int, number: int) -> dict[str, Any]:
    return {
        "tool_name": ("ledger.get_balance", "simah.fetch_report", "mail.compose")[number],
        "intended_action": f"retrieve balance of account {at} read-only",
        "actual_action": f"retrieved balance of account {at} read-only",
        "verification_status": "verified",
        "called_at": f"2026-11-15T08:1{number}:04Z",
        "duration_ms": 182,
    }


def _memo(at: int) -> dict[str, str]:
    return {
        "title_ar": f"رفع الحد الائتماني للعميل {at}",
        "title_en": f"Credit-limit increase for customer {at}",
        "executive_summary_ar": (
            f"يوصي الوكيل برفع الحد الائتماني المتجدد للعميل {at} من 12.5 مليون ريال سعودي إلى 18 "
            "مليون ريال سعودي حتى 31 مارس 2027م. وتُظهر القوائم المالية المدققة سيولة متينة [1]، "
            "وارتفعت الطلبات المؤكدة [2]، ويبقى الانكشاف دون سقف سياسة المجلس [3]."
        ),
        "executive_summary_en": (
            f"The agent recommends raising the revolving credit limit of customer {at} from SAR "
            "12.5 million to SAR 18 million until 31 March 2027. Audited accounts show sound "
            "liquidity [1], confirmed orders rose [2], and the exposure stays below the cap [3]."
        ),
        "body_ar": (
            f"القرار\nرفع الحد الائتماني للعميل {at}، على أن يُجدَّد الضمان البنكي قبل أي سحب.\n\n"
            "الأسباب\nتُظهر القوائم المالية المدققة نسبة تداول جيدة [1].\nارتفع سجل الطلبات [2].\n"
            "يبقى الانكشاف دون سقف 5% للاسم الواحد [3]."
        ),
        "body_en": (
            f"Decision\nRaise the limit of customer {at}, if the guarantee is renewed.\n\n"
            "Reasons\nAudited accounts show a good current ratio [1].\nThe order book rose [2].\n"
            "The exposure stays below the 5% single-name cap [3]."
        ),
    }


def main() -> None:
    run_measures(
        "Measures PDFs against yardsticks of the same run.",
        {
            "making": lambda size, folder: measure_making(SIZES[size], folder),
            "size": lambda size, folder: measure_size(SIZES[size], folder),
            "bytes": lambda size, folder: measure_bytes(SIZES[size], folder),
        },
    )


if __name__ == "__main__":
    main()
