"""Write which characters each vendored font family can print, as `fonts/coverage.json`.

Run it after a change of the fonts. A family has a character if every one of its files has it: then
it is there in every weight. Left out is what has no place on a page: controls and format
characters, private use (PDF/A wants a meaning for every glyph), and what Typst keeps for itself.

    .venv/bin/python scripts/font_coverage.py
"""

import json
import unicodedata
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

from fontTools.ttLib import TTFont

FONTS: Final = Path(__file__).parents[1] / "src/evidentia/export/pdf/fonts"
_LEFT_OUT: Final = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
_VISIBLE_FORMATS: Final = {*range(0x600, 0x606), 0x6DD, 0x8E2}
"""Signs that stand around an Arabic number: format characters by category, and drawn."""
_OBJECT: Final = 0xFFFC
_FAMILY, _TYPOGRAPHIC_FAMILY = 1, 16


def coverage(folder: Path) -> str:
    """Return the table of the fonts in a folder, as the text of its file."""
    families: dict[str, set[int]] = {}
    for path in sorted(folder.glob("*.ttf")):
        with TTFont(path, lazy=True) as font:
            name = font["name"]
            family = name.getDebugName(_TYPOGRAPHIC_FAMILY) or name.getDebugName(_FAMILY)
            found = {code for code in font.getBestCmap() if _is_printed(code)}
        families[family] = families.get(family, found) & found
    rows = ",\n".join(
        f"  {json.dumps(family)}: {json.dumps(_ranges(families[family]), separators=(',', ':'))}"
        for family in sorted(families)
    )
    return f"{{\n{rows}\n}}\n"


def _is_printed(code: int) -> bool:
    if code in _VISIBLE_FORMATS:
        return True
    return code != _OBJECT and unicodedata.category(chr(code)) not in _LEFT_OUT


def _ranges(codes: Iterable[int]) -> list[list[int]]:
    """Return code points as ranges: first and last, both within."""
    runs = groupby(enumerate(sorted(codes)), key=lambda pair: pair[1] - pair[0])
    members = ([code for _, code in run] for _, run in runs)
    return [[run[0], run[-1]] for run in members]


if __name__ == "__main__":
    (FONTS / "coverage.json").write_text(coverage(FONTS), encoding="utf-8")
