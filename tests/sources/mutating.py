"""Inputs of a packer gone wrong in every way: a valid one, and a few seeded mutations of it."""

import random
from types import SimpleNamespace
from typing import Any

TEXTS = (
    "All permanent employees receive 15 days of annual leave per calendar year.",
    "Unused leave may be carried over.\n\nAsk the department head.",
    "يحصل جميع الموظفين على إجازة سنوية",
    "員工享有十五天年假。",
    "e\u0301 👨‍👩‍👧‍👦 fi\ufb01",
)
KEYS = ("author", "api_key", "page", "source", "email", "embedding", "tags", "", "k" * 99, "\ud800")
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    10**400,
    float("nan"),
    float("inf"),
    -0.0,
    "",
    " ",
    "\ud800",
    "\x00",
    "\u202etxt.exe",
    "x" * 3_000,
    "javascript:alert(1)",
    b"bytes",
    [],
    {},
    [[[[]]]],
    {"item_id": "d1"},
    {"__proto__": 1},
    object(),
    SimpleNamespace(page_content=5, metadata=[]),
    (SimpleNamespace(page_content="t", metadata={"source": "d9"}), "high"),
)


def mutated(seed: int) -> tuple[Any, Any, Any]:
    """Return candidates, chunks and options that follow from the seed."""
    chance = random.Random(seed)
    candidates: Any = [_candidate(chance, number) for number in range(chance.randrange(4))]
    chunks: Any = [_chunk(chance) for _ in range(chance.randrange(4))]
    options: Any = _options(chance)
    for _ in range(chance.randrange(4)):
        place = chance.randrange(10)
        if place == 0:
            candidates = chance.choice(ODD)
        elif place == 1:
            chunks = chance.choice(ODD)
        elif place == 2:
            options = chance.choice(ODD)
        elif isinstance(candidates, list) and place < 7:
            _spoil(chance, candidates)
        elif isinstance(chunks, list):
            _spoil(chance, chunks)
    return candidates, chunks, options


def _candidate(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "item_id": f"d{number}",
        "title": chance.choice(TEXTS),
        "url": f"https://example.com/{number}",
        "content": chance.choice(TEXTS) * chance.randrange(1, 5),
        "score": chance.random(),
        "rank": chance.randrange(5),
        "metadata": {chance.choice(KEYS): chance.choice((*ODD, "x", 1)) for _ in range(3)},
    }


def _chunk(chance: random.Random) -> dict[str, Any]:
    return {
        "item_id": f"d{chance.randrange(4)}",
        "text": chance.choice(TEXTS),
        "score": chance.random(),
        "page": chance.randrange(1, 9),
        "start": chance.randrange(99),
        "heading_path": ["Leave", chance.choice(TEXTS)],
    }


def _options(chance: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"max_snippet_chars": chance.choice((0, 1, 7, 40, 360))}
    if chance.random() < 0.5:
        options["query"] = chance.choice((*TEXTS, "annual leave", "年假", " "))
    if chance.random() < 0.5:
        options |= {"anchors": chance.random() < 0.5, "max_snippets": chance.randrange(1, 4)}
    if chance.random() < 0.3:
        options["include_metadata_keys"] = chance.choices(KEYS, k=2)
    if chance.random() < 0.3:
        options["order_by"] = chance.choice(("score", "rank", "input"))
    return options


def _spoil(chance: random.Random, items: list[Any]) -> None:
    """Spoil one of the items: a field of it, the whole of it, or how often it is there."""
    if not items:
        items.append(chance.choice(ODD))
        return
    place = chance.randrange(len(items))
    way = chance.randrange(4)
    if way == 0:
        items[place] = chance.choice(ODD)
    elif way == 1:
        items.append(items[place])
    elif isinstance(items[place], dict) and items[place]:
        key = chance.choice(sorted(items[place], key=repr))
        if way == 2:
            items[place] = {**items[place], key: chance.choice(ODD)}
        else:
            items[place] = {name: value for name, value in items[place].items() if name != key}
