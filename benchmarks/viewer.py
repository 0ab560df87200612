"""The viewer: what its pages weigh, and what showing them costs beyond the least there is to do.

Run it with `python -m benchmarks.viewer [--quick] [--only NAME] [--json FILE]`.
"""

import gzip
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from urllib.parse import urljoin

import pypdfium2  # type: ignore[import-untyped]
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    cpu_seconds_of,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)
from benchmarks.workload import evidence_records
from jinja2 import Environment
from starlette.testclient import TestClient

from evidentia.access.actions import Role
from evidentia.documents.reading.pdf_page import COLOURS
from evidentia.server.app import create_app
from evidentia.server.pages.ledger_rows import ROWS
from evidentia.settings import Settings
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened, open_all
from evidentia.workspace.remembered import Remembered

PDF = Path(__file__).parents[1] / "examples" / "policies" / "HR_Policy.pdf"
CITED = "All permanent employees shall receive 15 days"
SCALE = 1.5
PAGES = 40
"""How many pages are remembered."""
KILOBYTES, ZIPPED, REQUESTS = 60.0, 12.0, 6.0
"""What a long ledger's first page is to weigh, as it is and compressed, and to ask for."""
SCRIPTS = 60.0
LEVEL = 5
"""How hard the server compresses."""
BARE = Environment(autoescape=True).from_string(
    "<table>{% for one in rows %}<tr><td>{{ loop.index }}</td><td>{{ one.claim.text }}</td>"
    "<td>{{ one.claim.type }}</td><td>{{ one.entry.verdict.value }}</td>"
    "<td>{{ one.entry.confidence_score }}</td><td>{{ one.entry.evidence|length }}</td></tr>"
    "{% endfor %}</table>"
)
_ASSET = re.compile(r'(?:src|href)="([^"]+\.(?:js|css)[^"]*)"')
_IMPORT = re.compile(r'from "(\.[^"]+)"')


@dataclass(frozen=True, slots=True)
class Size:
    """How often is measured, and how long a long ledger is."""

    rounds: int
    claims: int


SIZES = {"full": Size(25, 20_000), "quick": Size(9, 20_000), "tiny": Size(1, 400)}


class Browsing:
    """A reader of the pages, in the process of the server."""

    def __init__(self, client: TestClient, token: str) -> None:
        self._client = client
        self._headers = {"authorization": f"Bearer {token}", "accept": "text/html"}

    def open(self, path: str) -> str:
        """Return a page."""
        return self.load(path).decode()

    def load(self, path: str) -> bytes:
        """Return what an address has."""
        found = self._client.get(path, headers=self._headers)
        if found.status_code != 200:
            raise SystemExit(f"{path}: {found.status_code}")
        return found.content

    def loaded_by(self, page: str) -> dict[str, bytes]:
        """Return the scripts and styles of a page, with what the scripts import, by address."""
        found: dict[str, bytes] = {}
        waiting = _ASSET.findall(page)
        while waiting:
            address = waiting.pop()
            if address not in found:
                found[address] = self.load(address)
                imported = _IMPORT.findall(found[address].decode())
                waiting += [urljoin(address, one) for one in imported]
        return found


def measure_ledger(size: Size, folder: Path) -> Section:
    """Weigh and time the first page of a long ledger; render its rows barely."""
    with _served(folder) as (opened, reader):
        ledger = _ledger(opened.for_(), size.claims)
        path = f"/ledgers/{ledger}"
        page = reader.open(path)
        shown = opened.for_().ledgers.page(ledger, 0, ROWS).claims
        requests = 2 + len(reader.loaded_by(page))  # the page itself, and the mark
        records = iter(evidence_records(3 * size.rounds + 3))

        def looked() -> object:
            return reader.open(path)

        def after_a_change() -> float:
            opened.for_().append(next(records))
            return cpu_seconds_of(looked)

        def anew() -> float:
            opened.heads, opened.claims = Remembered(1), Remembered(1)
            return after_a_change()

        taken = _taken(
            size,
            {
                "anew": looked,
                "changed": looked,
                "again": looked,
                "bare": lambda: BARE.render(rows=shown),
                "least": lambda: reader.load("/healthz"),
            },
            {"anew": anew, "changed": after_a_change},
        )
    plain = len(page.encode()) / 1_000
    zipped = len(gzip.compress(page.encode(), LEVEL)) / 1_000
    barely = "the same rows rendered barely"
    return Section(
        "viewer ledger",
        "The first page of a long ledger",
        f"A ledger of {size.claims:,} claims, of which the page has {len(shown)}. Anew: who asks "
        "is looked up, the rows are read and proved, and the page is rendered with all around it. "
        "After a change: someone recorded something else in the trail, so that all is looked up "
        "and rendered again, and only rows that the same root proved before are remembered. "
        "Again: nothing was changed in the database since the same reader had it. The yardstick "
        "renders a table of the same rows, which are there already, and nothing else; the least "
        "answer has what any request costs, with the client. Requests are those of a browser that "
        "has nothing yet. Processor time.",
        [
            _weight("the page", plain, "kB", KILOBYTES),
            _weight("the page, compressed", zipped, "kB", ZIPPED),
            _weight("requests of a first visit", float(requests), "requests", REQUESTS),
            _line("the page, anew", barely, taken, ("anew", "bare"), 3.0),
            _line("the page, after a change", barely, taken, ("changed", "bare"), 3.0),
            _line("the page, again", barely, taken, ("again", "bare"), 3.0),
            _line("the least answer, `/healthz`", barely, taken, ("least", "bare")),
        ],
    )


def measure_page(size: Size, folder: Path) -> Section:
    """Show a page of a PDF with a mark on it; render and encode the same page barely."""
    data = PDF.read_bytes()
    with _served(folder) as (opened, reader):
        workspace = opened.for_()
        [document] = workspace.documents.add({PDF.name: data}).documents
        chunk = next(one for one in workspace.documents.chunks(document) if CITED in one.text)
        passage = f"/documents/{document.id}/passages/{chunk.chunk_hash[:16]}"
        image = f"/documents/{document.id}/pages/{chunk.page}/image?version=1"
        if 'class="passage" x=' not in reader.open(passage):
            raise SystemExit("the passage is not marked")

        def warm() -> None:
            reader.load(passage)
            reader.load(image)

        def cold() -> None:
            opened.pages = Remembered(PAGES)
            warm()

        sides: dict[str, Callable[[], object]] = {
            "warm": warm,
            "cold": cold,
            "bare": lambda: _drawn(data, chunk.page),
        }
        taken = _taken(size, sides, cpu=False)
        weight = len(reader.load(image)) / 1_000
    against = "the page rendered and encoded"
    return Section(
        "viewer page",
        "A page of a PDF with its highlight",
        f"Page {chunk.page} of {document.pages}, its words to be selected and a passage marked on "
        f"it: the page of the viewer and the picture ({number(weight)} kB), one after the other. "
        "The yardstick opens the file with PDFium, renders the page at the same scale and encodes "
        "it as the same PNG. Cold, nothing of the page is remembered; warm, all is.",
        [
            _line("when warm", against, taken, ("warm", "bare"), 1.5),
            _line("when cold", against, taken, ("cold", "bare"), 3.0),
        ],
    )


def measure_scripts(_: Size, folder: Path) -> Section:
    """Weigh all scripts and styles of pages."""
    with _served(folder) as (opened, reader):
        workspace = opened.for_()
        [document] = workspace.documents.add({PDF.name: PDF.read_bytes()}).documents
        chunk = workspace.documents.chunks(document)[0]
        paths = {
            "start": "/",
            "a ledger": f"/ledgers/{_ledger(workspace, 20)}",
            "a document": f"/documents/{document.id}/passages/{chunk.chunk_hash[:16]}",
            "packs": "/packs",
            "an entry of the trail": "/trail/entries/0",
            "verify": "/verify",
        }
        lines = []
        for name, path in paths.items():
            found = reader.loaded_by(reader.open(path))
            weight = sum(len(gzip.compress(one, LEVEL)) for one in found.values()) / 1_000
            lines.append(_weight(f"{name}: {len(found)} files", weight, "kB", SCRIPTS))
    return Section(
        "viewer scripts",
        "Scripts and styles of pages",
        "All that a page loads of them, with what they import, each compressed by itself.",
        lines,
    )


@contextmanager
def _served(folder: Path) -> Iterator[tuple[Opened, Browsing]]:
    opened = open_all(folder / "home")
    workspace = opened.for_()
    workspace.access.grant("reader", Role.VIEWER)
    token = workspace.access.new_token("reader").text
    app = create_app(opened, replace(Settings(), server_jobs=0))
    app.state.running = replace(app.state.running, seconds=lambda: 0.0, processes=None)
    with TestClient(app, base_url="http://127.0.0.1:8321") as client:
        yield opened, Browsing(client, token)
    opened.close()


def _ledger(workspace: Workspace, claims: int) -> str:
    """Keep a ledger of so many claims; return its id."""
    said = [f"Item {place} weighs {place % 90 + 10} kilograms." for place in range(claims)]
    contexts = [" ".join(said[start : start + 20]) for start in range(0, min(claims, 1_000), 20)]
    return workspace.check(" ".join(said), contexts=contexts, judges=["quote"]).id


def _drawn(data: bytes, page: int) -> bytes:
    document = pypdfium2.PdfDocument(data)
    drawn = document[page - 1].render(scale=SCALE).to_pil().convert("RGB")
    found = BytesIO()
    drawn.quantize(COLOURS, method=2, dither=0).save(found, "PNG")
    document.close()
    return found.getvalue()


def _taken(
    size: Size,
    sides: Mapping[str, Callable[[], object]],
    measured: Mapping[str, Callable[[], float]] = {},
    *,
    cpu: bool = True,
) -> dict[str, list[float]]:
    """Let the sides take turns, each once before; `measured` has those that measure themselves."""
    measure = cpu_seconds_of if cpu else seconds_of
    for work in sides.values():
        work()
    tidy()
    every = {name: partial(measure, work) for name, work in sides.items()}
    return interleaved(size.rounds, {**every, **measured})


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


def _weight(what: str, found: float, unit: str, most: float) -> Line:
    told = f"{number(found)} {unit}"
    return Line(what, "", told, "", Spread.of([found]), unit, target=most, at_most=True)


def main() -> None:
    """Measure what the command line asks for."""
    run_measures(
        "Measures the viewer against yardsticks of the same run.",
        {
            "ledger": lambda size, folder: measure_ledger(SIZES[size], folder),
            "page": lambda size, folder: measure_page(SIZES[size], folder),
            "scripts": lambda size, folder: measure_scripts(SIZES[size], folder),
        },
    )


if __name__ == "__main__":
    main()
