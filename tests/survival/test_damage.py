"""Damage to the file itself: reported as such, or found; never another exception."""

import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import tiers
from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.workspace import open_workspace
from evidentia.workspace.opened import Opened
from places import Place, record
from vandal import evidence

pytestmark = pytest.mark.as_owner

PAGE = 4096
Spoil = Callable[[bytearray, random.Random], None]


def header(data: bytearray, chance: random.Random) -> None:
    data[:100] = chance.randbytes(100)


def first_page(data: bytearray, chance: random.Random) -> None:
    data[100:PAGE] = chance.randbytes(PAGE - 100)


def random_page(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.randbytes(PAGE)


def empty_page(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(1, len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes(PAGE)


def swapped_pages(data: bytearray, chance: random.Random) -> None:
    one, other = (page * PAGE for page in chance.sample(range(1, len(data) // PAGE), 2))
    kept = data[one : one + PAGE]
    data[one : one + PAGE] = data[other : other + PAGE]
    data[other : other + PAGE] = kept


def cut_short(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def scattered_bytes(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 5, 50])):
        data[chance.randrange(len(data))] = chance.randrange(256)


def one_bit(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) * 8)
    data[at // 8] ^= 1 << at % 8


def page_header(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(1, len(data) // PAGE) * PAGE
    data[start + chance.randrange(12)] ^= 1 << chance.randrange(8)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home whose database has the same bytes in every run."""
    place = Place(tmp_path_factory.mktemp("base"))
    workspace = Opened(
        place.open().opened.database,
        place.home,
        clock=lambda: datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
        randomness=random.Random(0).randbytes,
    ).for_()
    workspace.trail.append_many(
        [record(number) for number in range(300)], idempotency_keys=[str(n) for n in range(300)]
    )
    workspace.trail.checkpoint()
    workspace.trail.erase(3, reason="law", by="counsel")
    workspace.trail.rotate_key()
    place.close()
    return place.home.folder


@pytest.mark.parametrize(
    ("spoil", "cases"),
    [
        (header, 5),
        (first_page, 5),
        (random_page, 40),
        (empty_page, 30),
        (swapped_pages, 30),
        (cut_short, 20),
        (scattered_bytes, 60),
        (one_bit, 80),
        (page_header, 50),
    ],
    ids=lambda value: value.__name__.replace("_", " ") if callable(value) else "",
)
def test_a_damaged_file_is_reported_or_the_damage_found(
    base: Path, tmp_path: Path, spoil: Spoil, cases: int
) -> None:
    whole = (base / "evidentia.db").read_bytes()
    rows = evidence(base / "evidentia.db")
    for case in tiers.sample(range(cases), 8):
        home = tmp_path / f"{case}"
        home.mkdir()
        shutil.copytree(base / "checkpoints", home / "checkpoints")
        data = bytearray(whole)
        spoil(data, random.Random(case))
        (home / "evidentia.db").write_bytes(data)
        try:
            with open_workspace(home, create=False) as workspace:
                report = workspace.trail.audit()
        except (IntegrityError, EnvironmentProblem):
            continue
        if report.holds:  # then the damage was to bytes that carry no value
            assert evidence(home / "evidentia.db") == rows, f"case {case}"
