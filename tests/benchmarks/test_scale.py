"""The page on scale is what its script prints, and the script reckons and simulates soundly."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.scale import Assumed, Load, Measured, Prices

from benchmarks import scale
from trained import needs_model

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / "explanation" / "scale.md",
    ROOT / "docs" / "how-to" / "from-a-laptop-to-many-machines.md",
]
SMALL = Load("small", 864, 86_400, 10, 1_000, 10, 100, 1)


def made() -> dict[str, str]:
    return scale.blocks(Measured(), Assumed(), Prices())


def test_the_tables_of_the_pages_are_what_the_script_prints() -> None:
    found = made()
    for page in PAGES:
        text = page.read_text("utf-8")
        assert scale.put_into(text, found) == text, (
            f"write it anew: python -m benchmarks.scale --into {page.relative_to(ROOT)}"
        )


def test_every_table_is_on_a_page() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    assert sorted(re.findall(r"<!-- scale: (\w+) -->", text)) == sorted(made())


def test_a_page_whose_numbers_were_changed_is_seen() -> None:
    text = PAGES[0].read_text("utf-8")
    assert scale.put_into(text.replace("1,000,000,000", "1,000,000,001"), made()) == text


def test_shares_of_tenants_are_all_of_it_and_fall() -> None:
    found = scale.shares(1_000, 1.0)
    assert sum(found) == pytest.approx(1)
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(10 * found[9])
    assert scale.shares(1, 1.0) == [1.0]


def test_what_lies_there_is_a_multiplication() -> None:
    one = Measured()
    found = {each.what: each for each in scale.stored(SMALL, one, Assumed(embedded=0.25))}
    entries, versions = found["entries"], found["versions of documents"]
    assert entries.count == 86_400 * 100
    assert entries.rows == entries.count * one("single_entry_bytes")
    assert versions.count == 1_000 + 10 * 100, "those before a change are kept"
    assert scale.index_bytes(SMALL, one) == versions.count * one("document_index_bytes")
    met = found["embeddings of passages"]
    assert met.count == pytest.approx(versions.count * one("document_passages") / 4, abs=1)
    assert met.rows == met.count * one("embedding_bytes")


def test_all_that_is_measured_of_the_database_is_reckoned_with() -> None:
    """What takes bytes and is in no table makes the page cheaper than it is."""
    source = Path(str(scale.__file__)).read_text("utf-8")
    named = json.loads(scale.MEASURED.read_text("utf-8"))["figures"]
    left = {name for name in named if name.endswith("_bytes") and f'one("{name}")' not in source}
    assert left == {"entry_bytes", "entry_wal_bytes"}, "the load appends one by one"


def test_twice_the_load_takes_twice_of_everything() -> None:
    one, assumed = Measured(), Assumed()
    double = Load("double", 1_728, 172_800, 20, 2_000, 10, 100, 2)
    kept = scale.stored(SMALL, one, assumed), scale.stored(double, one, assumed)
    for few, many in zip(kept[0][:5], kept[1][:5], strict=True):
        assert many.rows == pytest.approx(2 * few.rows)
    assert scale.wal_bytes(double, one, assumed) == pytest.approx(
        2 * scale.wal_bytes(SMALL, one, assumed)
    )
    for little, much in zip(scale.work(SMALL, one), scale.work(double, one), strict=True):
        assert much.cores == pytest.approx(2 * little.cores)
    before = {part.what: part.share for part in scale.parts(SMALL, one, assumed)}
    for part in scale.parts(double, one, assumed):
        assert part.share == pytest.approx(2 * before[part.what], rel=0.01)


def test_the_part_that_breaks_first_comes_first() -> None:
    found = [part.share for part in scale.parts(scale.BILLION, Measured(), Assumed())]
    assert found == sorted(found, reverse=True)


def test_the_cost_is_the_sum_of_its_lines() -> None:
    table = scale.cost_table(scale.BILLION, Measured(), Assumed(), Prices())
    cells = re.findall(r"\| (\**[\d,.]+\**) \|$", table, re.MULTILINE)
    *lines, whole, _ = [float(cell.strip("*").replace(",", "")) for cell in cells]
    assert whole == pytest.approx(sum(lines), abs=len(lines))


def test_a_price_changes_what_is_bought_by_it_alone() -> None:
    one, assumed = Measured(), Assumed()
    plain = scale.cost_table(scale.BILLION, one, assumed, Prices()).splitlines()
    dear = scale.cost_table(scale.BILLION, one, assumed, Prices(core=50)).splitlines()
    differs = [
        line.partition(" | ")[0] for line, other in zip(plain, dear, strict=True) if line != other
    ]
    assert [name.strip("| *") for name in differs] == [
        "servers' cores, one each at least",
        "PostgreSQL's cores",
        "auditing every night",
        "all",
        "for each 1,000 answers",
    ]


def test_simulated_appends_are_all_done_and_none_is_quicker_than_its_batch() -> None:
    found = scale.simulate_appends(50, [1.0], 60, fixed=0.002, each=0.0001)
    assert found.done == pytest.approx(50, rel=0.1)
    assert found.median >= 2.1 - 1e-6
    assert found.busy == pytest.approx(50 * 0.0021 / 2, rel=0.15)
    assert found.batch == pytest.approx(1, abs=0.1)


def test_batches_grow_when_more_comes_than_single_ones_could_bear() -> None:
    """One log is sequenced by one at a time: 1/0.01 s is 100 batches a second, and 500 come."""
    found = scale.simulate_appends(500, [1.0], 20, fixed=0.01, each=0.0001)
    assert found.done == pytest.approx(500, rel=0.1)
    assert found.batch > 4
    assert found.late < 60


def test_one_core_of_checks_waits_as_theory_says() -> None:
    """M/M/1 at 50 %: of those who come half wait at all, and 95 of 100 less than 4.6 services."""
    found = scale.simulate_checks(0.5, 1.0, 1, 40_000)
    assert found.busy == pytest.approx(0.5, abs=0.03)
    assert found.median == pytest.approx(0, abs=100)
    assert found.late == pytest.approx(4_600, rel=0.15)


def test_more_cores_wait_less() -> None:
    waits = [scale.simulate_checks(2, 1.0, cores, 4_000).late for cores in (3, 4, 6)]
    assert waits == sorted(waits, reverse=True)


def test_few_tenants_stay_in_mind_and_many_do_not() -> None:
    assert scale.remembered(scale.shares(scale.SHELVES, 1.0), 1, sticky=False) > 0.99
    many = scale.shares(1_000, 1.0)
    spread = scale.remembered(many, 10, sticky=False)
    assert spread < 0.4
    assert scale.remembered(many, 10, sticky=True) > spread


def test_shelves_are_as_many_as_the_program_keeps() -> None:
    from evidentia.workspace import opened  # noqa: PLC0415 - only its number is wanted

    assert opened._MOST_SHELVES == scale.SHELVES


def test_an_assumption_that_is_none_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks.scale", "--set", "prise=1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "prise is no assumption" in done.stderr


def test_prices_of_one_s_own_are_taken() -> None:
    command = [sys.executable, "-m", "benchmarks.scale", "--set", "core=12.5", "--set", "peak=2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "| `core` | 12.5 |" in done.stdout
    assert "| `peak` | 2 |" in done.stdout


@needs_model
@pytest.mark.whole
def test_what_is_measured_is_what_the_pages_were_made_from(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.footprint", "--tiny", "--json", str(figures)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = [set(json.loads(path.read_text())["figures"]) for path in (figures, scale.MEASURED)]
    assert names[0] == names[1]
