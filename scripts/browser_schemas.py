"""Write the schemas that verification in a browser needs, as small as they can be.

    python scripts/browser_schemas.py

They are those of `spec/v1/` without their words; a test compares the two.
"""

import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
OUTPUT: Final = ROOT / "src/evidentia/export/html/scripts/schemas.js"
WHOLE: Final = ("pack", "pack.v2", "ledger", "ledger.v2", "ledger.v3")
PARTS: Final = {"entry": ("$defs", "properties"), "chunk": ("$defs",)}
_WORDS: Final = frozenset({"description", "title", "$comment", "$schema", "$id"})
_NAMED: Final = frozenset({"properties", "$defs", "dependentRequired"})


def schemas() -> dict[str, Any]:
    """Return the schemas by their short names."""
    found = {name: _terse(_read(name)) for name in WHOLE}
    for name, parts in PARTS.items():
        found[name] = {part: _terse_members(_read(name)[part]) for part in parts}
    return found | {"corpus": {"$ref": "urn:evidentia:spec:v1:ledger.v3#/$defs/namedCorpus"}}


def script() -> str:
    """Return the module that has them."""
    written = json.dumps(schemas(), separators=(",", ":"), ensure_ascii=False)
    return (
        "// The schemas of spec/v1, without words; scripts/browser_schemas.py writes this.\n\n"
        f"export const SCHEMAS = {written};\n"
    )


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"spec/v1/{name}.schema.json").read_text())
    return found


def _terse(schema: Any) -> Any:
    """Return a schema without what is for people; fields of that name are kept."""
    if isinstance(schema, list):
        return [_terse(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _terse_members(value) if name in _NAMED else _terse(value)
        for name, value in schema.items()
        if name not in _WORDS
    }


def _terse_members(members: dict[str, Any]) -> dict[str, Any]:
    return {name: _terse(value) for name, value in members.items()}


if __name__ == "__main__":
    OUTPUT.write_text(script())
