"""Contrast pairs: claims that were written about one passage to differ in one thing each.

Those of the shared set are JSON lines with the file they are about. Our own are plain text, a file
a document: a passage, then eight claims, each behind a sign and a kind. A passage that is only a
number stands in the skeleton of a real document. Documents are split, never rows: what is for
choosing or for the last test is never trained on, and `own_pairs` does not open the test.
"""

import gzip
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from training.data import Pair

TRAINED: Final = ("w1", "w2", "w3", "w4", "w5", "w6")
CHOOSING: Final = ("w7",)
TEST: Final = "w8"
WEAK: Final = "weak"
MARK: Final = "contrast/"
"""How the source of a contrast pair begins; its kind stands behind a colon."""
SIGNS: Final = {"+": "supported", "-": "contradicted", "~": WEAK, "?": "not_found"}
HELD: Final = ("real_calib", "real_test")
SKELETONS: Final = ("real_train", *HELD)
_HEAD = re.compile(r"# (\w+): ([^(\n]*)")
_CLAIM = re.compile(r"([+\-~?]) *([^|]+?) *\| *(.+)")
_NUMBER = re.compile(r"=== *(\d+)")


def own_pairs(folder: Path, parts: Collection[str], language: str = "en") -> list[Pair]:
    """Return our own pairs of some parts, of documents in one language."""
    if TEST in parts:
        raise ValueError(f"{TEST} is the test: it is neither trained on nor chosen by")
    found: list[Pair] = []
    for part in parts:
        for path in sorted((folder / "out" / part).glob("*.txt")):
            text = path.read_text(encoding="utf-8")
            head = dict(_HEAD.findall(text.split("===", 1)[0]))
            if head.get("language", "en").strip() == language:
                is_real = head.get("real", "").strip() == "yes"
                known = _skeleton(folder, path.name) if is_real else {}
                found += _pairs(text, f"{MARK}{part}/{path.stem}", known)
    return found


def shared_pairs(data: Path, claims: Path, *, choosing: bool) -> list[Pair]:
    """Return the shared pairs of documents that are for training, or of those for choosing."""
    held = {name: _stems(claims / name) for name in HELD}
    found: list[Pair] = []
    with gzip.open(data / "contrast" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            stem = row["file"].removesuffix(".md")
            is_held = stem in held["real_calib"] or stem in held["real_test"]
            if stem in held["real_calib"] if choosing else not is_held:
                source = f"{MARK}shared/{stem}:{row['kind']}"
                found.append(Pair(row["evidence"], row["claim"], row["label"], source))
    return found


def trained_pairs(data: Path, claims: Path) -> list[Pair]:
    """Return all pairs of documents that are for training, without passages of those held back.

    Documents of one house share passages word for word.
    """
    held = {
        " ".join(passage.split())
        for kept in HELD
        for path in (claims / kept).glob("*.txt")
        for passage in _skeleton(claims, path.name).values()
    }
    held |= {" ".join(pair.evidence.split()) for pair in shared_pairs(data, claims, choosing=True)}
    pairs = [*own_pairs(claims, TRAINED), *shared_pairs(data, claims, choosing=False)]
    return [pair for pair in pairs if " ".join(pair.evidence.split()) not in held]


def _stems(folder: Path) -> frozenset[str]:
    found = frozenset(path.stem for path in folder.glob("*.txt"))
    if not found:
        raise ValueError(f"{folder} names no documents: nothing would be held back")
    return found


def _skeleton(folder: Path, name: str) -> dict[str, str]:
    """Return the passages of a real document by their numbers."""
    path = next(folder / kept / name for kept in SKELETONS if (folder / kept / name).exists())
    found: dict[str, str] = {}
    for block in re.split(r"(?m)^(?==== \d)", path.read_text(encoding="utf-8")):
        number = _NUMBER.match(block)
        if number:
            found[number[1]] = block.partition("\n")[2].strip()
    return found


def _pairs(text: str, source: str, known: dict[str, str]) -> Iterator[Pair]:
    for block in re.split(r"(?m)^(?====)", text)[1:]:
        first, _, rest = block.partition("\n")
        number = _NUMBER.match(first)
        passage, _, claims = f"\n{rest}".partition("\n---\n")
        evidence = known[number[1]] if number else passage.strip()
        for line in claims.splitlines():
            claim = _CLAIM.match(line)
            if claim:
                sign, kind, said = claim.groups()
                yield Pair(evidence, said.strip(), SIGNS[sign], f"{source}:{kind}")
