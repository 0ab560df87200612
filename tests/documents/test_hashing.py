# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import json
import random
import shutil
import subprocess
import unicodedata

import pytest

from evidentia.documents.hashing import generate_chunk_hash
from evidentia.errors import InputError

SEED_CHUNK = "All permanent employees shall receive 15 days of paid annual leave."

JAVASCRIPT = r"""
const { createHash } = require("crypto");
function generateChunkHash(content) {
  const normalized = content.toLowerCase().replace(/\s+/g, " ").trim();
  return createHash("sha256").update(normalized).digest("hex");
}
const lines = require("fs").readFileSync(0, "utf8").split("\n");
console.log(JSON.stringify(lines.map((line) => generateChunkHash(JSON.parse(line)))));
"""

TRICKY = [
    "",
    " ",
    "İstanbul IĞDIR ı",
    "STRASSE straße ẞ",
    "ΟΔΥΣΣΕΥΣ Σ ΑΣ. ΑΣΑ aΣ\u0301 Σ\u200d",
    "\ufeffA\ufeff\ufeffB\ufeff",
    "a\u0085b\u001cc\u001dd\u001ee\u001ff",
    "a\u00a0\u1680\u2000\u2001\u2009\u200a\u2028\u2029\u202f\u205f\u3000b",
    "a\u180e\u200b\u2060b",
    "\t\n\x0b\x0c\r x \r\n",
    "ǅ Ǆ ᾈ ᾳ ŉ ﬁ Ⓐ Ａ 𐐀 Ა Ꭰ",
    "\U0001f600 \ud800 lone \udc00",
    "\ud83d\ude00",
    "إجازة سنوية ١٥ يوماً",
]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (SEED_CHUNK, "b8b859ac"),
        ("", "e3b0c442"),
        ("\ufeff\u00a0", "e3b0c442"),
        ("İ", "fbbdb347"),
        ("ΟΔΥΣΣΕΥΣ", "3c70e8e7"),
        ("a\u0085b c", "b78f36a7"),
        ("a\u00a0\ufeffB", "c8687a08"),
    ],
)
def test_hashes_are_those_of_the_javascript_code(content: str, expected: str) -> None:
    assert generate_chunk_hash(content) == expected


def test_case_and_white_space_do_not_count() -> None:
    changed = "\u00a0 " + SEED_CHUNK.upper().replace(" ", "\n\t\u3000") + "\ufeff"
    assert generate_chunk_hash(changed) == generate_chunk_hash(SEED_CHUNK)


def test_what_javascript_takes_for_no_white_space_counts() -> None:
    assert generate_chunk_hash("a\u0085b") != generate_chunk_hash("a b")


def test_the_length_can_grow_to_the_whole_hash() -> None:
    whole = generate_chunk_hash(SEED_CHUNK, length=64)
    assert len(whole) == 64
    assert all(generate_chunk_hash(SEED_CHUNK, n) == whole[:n] for n in range(8, 65))


@pytest.mark.parametrize("length", [0, 7, 65, -8])
def test_a_length_that_is_none_is_refused(length: int) -> None:
    with pytest.raises(InputError, match=f"8 to 64 digits, not {length}"):
        generate_chunk_hash(SEED_CHUNK, length)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_node_computes_the_same_hashes() -> None:
    texts = TRICKY + random_texts(4_000)
    lines = "\n".join(json.dumps(text) for text in texts)
    done = subprocess.run(
        ["node", "-e", JAVASCRIPT], input=lines, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    differ = [
        text
        for text, hash_ in zip(texts, found, strict=True)
        if generate_chunk_hash(text, 64) != hash_
    ]
    assert differ == []


def is_known(character: str) -> bool:
    """Whether this Python's Unicode has the character; Node's may be newer."""
    return unicodedata.category(character) != "Cn"


def random_texts(count: int) -> list[str]:
    """Return texts of letters with awkward cases, every kind of space, and anything else."""
    chance = random.Random(5)
    spaces = [chr(n) for n in range(0x3001) if chr(n).isspace()] + ["\ufeff", "\u180e", "\u200b"]
    letters = "aAzZİıIßẞΣσςΑάΐΰŉǰﬃＡⅣⓏ\u0301\u0345\u0307.'-"
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(chance.randrange(1, 30)):
            kind = chance.random()
            if kind < 0.35:
                parts.append(chance.choice(spaces))
            elif kind < 0.8:
                parts.append(chance.choice(letters))
            elif kind < 0.95:
                parts.append(chr(chance.randrange(0x21, 0xD800)))
            else:
                parts.append(chr(chance.randrange(0xE000, 0x1F000)))
        texts.append("".join(filter(is_known, parts)))
    return texts
