"""What `./demo` does with the example decision: sealed, shown, verified, and forged in vain."""

import subprocess
import sys
from pathlib import Path

from cli_running import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_decision_is_sealed_shown_and_verified_and_a_forged_copy_is_refused(
    cli: Cli, folder: Path
) -> None:
    calls = EXAMPLES / "calls.json"
    made = cli("pack", "new", EXAMPLES / "decision.json", "--calls", calls)
    assert made.code == 0
    assert '? mail.compose: "send" was done where "draft" was meant' in made.out
    assert "unresolved: it awaits a review" in cli("pack", "show", "latest").out
    assert cli("pack", "export", "latest", "-o", "pack.json").code == 0
    key = cli("keys", "show", "--json").json["public_key"]
    assert cli("verify", "pack.json", "--key", key).code == 0
    forging = [sys.executable, str(EXAMPLES / "forge_pack.py"), "pack.json", "forged.json"]
    subprocess.run(forging, cwd=folder, check=True)
    refused = cli("verify", "forged.json", "--key", key)
    assert refused.code == 1
    assert "✗ statement: " in refused.out
    assert "✗ pack: " in refused.out
