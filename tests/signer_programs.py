"""A program that signs with a key of its own, as a token or a key service would."""

import sys
from pathlib import Path

SEED = bytes([9]) * 32
_PROGRAM = """
import sys
from pathlib import Path
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

seed = Path(sys.argv[1]).read_bytes()
sys.stdout.buffer.write(Ed25519PrivateKey.from_private_bytes(seed).sign(sys.stdin.buffer.read()))
"""


def signer_program(folder: Path) -> tuple[str, ...]:
    """Write the program and its key into a folder; return the command that runs it."""
    (folder / "signer.py").write_text(_PROGRAM)
    (folder / "signer.key").write_bytes(SEED)
    return (sys.executable, str(folder / "signer.py"), str(folder / "signer.key"))
