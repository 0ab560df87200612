"""Takes pictures of the viewer's pages: for the documentation, and to look at all of them.

    .venv/bin/python scripts/pictures.py                     docs/pictures/viewer-*.png
    .venv/bin/python scripts/pictures.py --all FOLDER        every page in every look
    .venv/bin/python scripts/pictures.py --all FOLDER ledger  pages whose names begin so

It serves the example of `evidentia serve --demo` from a folder that is removed again.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from evidentia.server import demo
from evidentia.server.app import create_app
from evidentia.server.running import Running
from evidentia.settings import Settings
from evidentia.workspace import Workspace
from evidentia.workspace.opened import open_all

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser.browsing import ARGUMENTS, CHROMIUM, reading  # noqa: E402 - of the tests
from server.house import listening  # noqa: E402 - the same


def _bundle(workspace: Workspace) -> str:
    """Return a bundle of the example's documents: the same each time, with something cut."""
    documents = [{"document_id": one.id} for one in workspace.documents.list()]
    limits = {"max_item_bytes": 1_500, "max_total_bytes": 6_000, "enable_redaction": True}
    built = workspace.bundles.build(evidence_refs={"documents": documents}, policy=limits)
    workspace.bundles.record_run("example", built.bundle_id)
    return built.bundle_id


def _latest(workspace: Workspace, number: int = 0) -> str:
    return workspace.ledgers.list(limit=number + 1)[number].id


def _pack(workspace: Workspace, decision: str) -> str:
    return workspace.packs.find(decision).id


def _compared(workspace: Workspace, decision: str) -> str:
    versions = workspace.packs.versions(_pack(workspace, decision))
    return f"/packs/{versions[0].id}/compare/{versions[-1].id}"


def _passage(workspace: Workspace) -> str:
    """Return where the passage is that the newest answer's first claim cites."""
    ledger = workspace.ledgers.get("latest")
    passage = next(one.passage for entry in ledger.entries for one in entry.evidence if one.passage)
    anchor = workspace.documents.anchor(passage.chunk_hash)
    document = passage.source.id.partition("@")[0]
    return f"/documents/{document}/passages/{anchor}?ledger={ledger.id}&claim=1"


PICTURES: Final = ROOT / "docs" / "pictures"
Address = Callable[[Workspace], str]
PAGES: Final[dict[str, Address]] = {
    "start": lambda _: "/",
    "access": lambda _: "/access",
    "access-log": lambda _: "/access/log",
    "access-tokens": lambda _: "/access/tokens",
    "answers": lambda _: "/answers",
    "answers-new": lambda _: "/answers/new",
    "compare": lambda here: f"/ledgers/{_latest(here)}/compare/{_latest(here, 1)}",
    "compare-choice": lambda here: f"/ledgers/{_latest(here)}/compare",
    "document": lambda here: f"/documents/{here.documents.list()[0].id}",
    "document-passage": _passage,
    "ledger": lambda here: f"/ledgers/{_latest(here)}",
    "ledger-open": lambda here: f"/ledgers/{_latest(here)}?claim=1",
    "ledger-filtered": lambda here: f"/ledgers/{_latest(here)}?verdict=weak&sort=confidence",
    "packs": lambda _: "/packs",
    "packs-every": lambda _: "/packs?of=every",
    "packs-none": lambda _: "/packs?of=every&outcome=no+review+needed",
    "packs-keeping": lambda _: "/packs/keeping",
    "packs-pack": lambda here: f"/packs/{_pack(here, 'dec_pilot_hospital')}",
    "packs-reviewed": lambda here: f"/packs/{_pack(here, 'dec_refund_2207')}?memo=ar",
    "packs-compare": lambda here: _compared(here, "dec_refund_2207"),
    "packs-modify": lambda here: f"/packs/{_pack(here, 'dec_pilot_hospital')}/modify",
    "verify": lambda _: "/verify",
    "sign-in": lambda _: "/sign-in",
    "bundle": lambda here: f"/bundles/{_bundle(here)}",
    "bundle-prompt": lambda here: f"/bundles/{_bundle(here)}/prompt",
    "documents": lambda _: "/documents",
    "documents-found": lambda _: "/documents?q=remote+days",
    "trail": lambda _: "/trail",
    "trail-checkpoints": lambda _: "/trail/checkpoints",
    "trail-entry": lambda workspace: f"/trail/entries/{workspace.trail.size - 1}",
    "trail-keys": lambda _: "/trail/keys",
    "not-found": lambda _: "/nowhere",
}
"""Every page, by a name: where it is in the example."""
DOCUMENTED: Final = ("start", "ledger-open", "compare", "packs-pack")
"""What the documentation shows, in English and light."""
_COLOURS: Final = 128
Look = tuple[str, str, int]
LOOKS: Final[tuple[Look, ...]] = (
    ("en", "light", 1280),
    ("en", "dark", 1280),
    ("ar", "light", 1280),
    ("ar", "dark", 1280),
    ("en", "light", 320),
    ("ar", "light", 320),
    ("en", "light", 1920),
)


def main(arguments: list[str]) -> int:
    """Take the pictures that are asked for."""
    every = arguments[:1] == ["--all"]
    folder = Path(arguments[1]) if every else PICTURES
    wanted = tuple(arguments[2:]) or ("",)
    names = [name for name in PAGES if name.startswith(wanted)] if every else DOCUMENTED
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        settings = replace(Settings(), home=Path(home) / "evidentia", server_port=0)
        opened = open_all(None, home=settings.home)
        app = create_app(opened, settings, owner_link=True)
        workspace = opened.for_(settings.tenant)
        demo.load(workspace)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        with listening(app) as url:
            for name in names:
                path = PAGES[name](workspace)
                for look in LOOKS if every else LOOKS[:1]:
                    file = f"{name}-{'-'.join(map(str, look))}" if every else f"viewer-{name}"
                    take(
                        browser,
                        url,
                        app.state.running,
                        path,
                        folder / f"{file}.png",
                        look=look,
                        whole=every,
                    )
        browser.close()
        opened.close()
    return 0


def take(
    browser: Browser, url: str, running: Running, path: str, file: Path, *, look: Look, whole: bool
) -> None:
    """Take a picture of a page, as a look has it; `whole`, or what a window shows of it."""
    lang, theme, width = look
    with reading(browser, url, running, lang=lang, theme=theme, width=width) as reader:
        taken = reader.open(path).screenshot(full_page=whole)
        Image.open(BytesIO(taken)).convert("RGB").quantize(_COLOURS).save(file, optimize=True)
        reader.wrong.clear()  # a page that tells of a problem is one of them


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
