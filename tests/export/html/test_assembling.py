"""The scripts and styles of pages: what they weigh, and that they are what they were made of."""

import gzip
from pathlib import Path
from typing import Final

from scripts.browser_schemas import script

from evidentia.export.html.assembling import MODULES, asset, bundled

ROOT: Final = Path(__file__).resolve().parents[3]
SCRIPTS: Final = ROOT / "src/evidentia/export/html/scripts"
AROUND: Final = {"served", "verify-here"}
"""What a saved page does not need: a server loads these."""
VERIFYING: Final = ("checks", "hashing", "reading", "trail", "verifying")
"""What verifying a proof loads; of a pack or a ledger, a little more."""


def _small(name: str) -> int:
    return len(gzip.compress(asset("scripts", f"{name}.js").encode(), 9))


def test_every_script_is_in_saved_pages_but_what_a_server_needs() -> None:
    assert {file.stem for file in SCRIPTS.glob("*.js")} == {*MODULES, *AROUND}


def test_the_schemas_are_those_of_the_specification() -> None:
    assert asset("scripts", "schemas.js") == script()


def test_verification_is_small_to_load() -> None:
    assert sum(map(_small, VERIFYING)) < 16_000
    assert sum(map(_small, (*VERIFYING, "ledgers", "form", "schemas"))) < 26_000


def test_a_bundle_has_no_module_left_to_load() -> None:
    made = bundled("start();")
    assert "import(" not in made
    assert "\nexport " not in made
    assert made.endswith("start();\n")
    assert "</script" not in made
    assert "<!--" not in made
