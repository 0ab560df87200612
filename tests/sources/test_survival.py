"""Whatever a retriever gives: no exception, and sources that their schema accepts."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.sources.packing import DefaultEvidencePacker
from evidentia.sources.wire import WIRE_FORMATS
from sources.mutating import mutated

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "spec" / "v1" / "sources.schema.json").read_text())
)
SEEDED, PARTS = 98_000, 14
PACKER = DefaultEvidencePacker()


def survives(seed: int) -> str:
    packed = PACKER.pack(*mutated(seed))
    event = WIRE_FORMATS["rag.sources"](packed)
    assert SCHEMA.is_valid(event), (seed, next(SCHEMA.iter_errors(event)))
    return json.dumps(event, sort_keys=True, allow_nan=False)


@pytest.mark.no_cover  # being traced would take three times as long
@pytest.mark.parametrize("part", tiers.sample(range(PARTS), 1))
def test_seeded_mutations_give_valid_sources(part: int) -> None:
    shown = sum('"source_id"' in survives(seed) for seed in range(part, SEEDED, PARTS))
    assert shown > SEEDED / PARTS / 3, "most inputs must give a source, or nothing was tried"


@given(st.integers(min_value=SEEDED))
def test_any_mutation_gives_valid_sources(seed: int) -> None:
    survives(seed)


def test_the_seed_of_hashes_makes_no_difference() -> None:
    script = (
        "import hashlib\n"
        "from sources.test_survival import survives\n"
        "print(hashlib.sha256(''.join(map(survives, range(300))).encode()).hexdigest())\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'src'}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


def test_packing_loads_nothing_heavier_than_pydantic() -> None:
    script = (
        "import sys\n"
        "from evidentia import DefaultEvidencePacker\n"
        "heavy = {'sqlalchemy', 'numpy', 'typer', 'rich', 'cryptography', 'alembic', 'structlog',\n"
        "         'pypdfium2', 'onnxruntime', 'langchain_core', 'llama_index', 'haystack',\n"
        "         'openai', 'anthropic', 'mcp'} & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(heavy)}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
