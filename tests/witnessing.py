"""A witness of a few lines, written from C2SP's tlog-witness and tlog-cosignature alone.

It shares no code with the package but the keys of `cryptography`.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from web_server import Answer, serving

Known = dict[str, tuple[int, bytes]]


@dataclass
class Witness:
    """Cosigns checkpoints of the logs whose keys it was given, each only if it continues."""

    name: str = "witness.test/w1"
    seed: int = 9
    logs: dict[str, str] = field(default_factory=dict)
    known: Known = field(default_factory=dict)
    now: int = 1_790_000_000
    posts: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([self.seed]) * 32)
        self.typed = b"\x04" + self.private.public_key().public_bytes_raw()
        self.key_hash = sha256(self.name.encode() + b"\n" + self.typed).digest()[:4]

    @property
    def key(self) -> str:
        return f"{self.name}+{self.key_hash.hex()}+{base64.b64encode(self.typed).decode()}"

    def trust(self, log_key: str) -> None:
        """Take a log's public key, `name+id+base64`."""
        self.logs[log_key.partition("+")[0]] = log_key.split("+", 2)[2]

    def cosign(self, text: str) -> str:
        """Return a cosignature line over a checkpoint's text."""
        message = f"cosignature/v1\ntime {self.now}\n{text}".encode()
        blob = self.key_hash + self.now.to_bytes(8, "big") + self.private.sign(message)
        return f"— {self.name} {base64.b64encode(blob).decode()}\n"

    def add_checkpoint(self, body: bytes) -> tuple[int, str, bytes]:  # noqa: PLR0911 - as C2SP lists them
        """Answer a request: status, content type, body."""
        self.posts.append(body)
        head, _, note = body.decode().partition("\n\n")
        old_line, *encoded = head.split("\n")
        old, proof = int(old_line.removeprefix("old ")), [base64.b64decode(one) for one in encoded]
        text, _, signatures = note.rpartition("\n\n")
        text += "\n"
        origin, size_line, root_line = text.split("\n")[:3]
        size, root = int(size_line), base64.b64decode(root_line)
        if origin not in self.logs:
            return 404, "text/plain", b"unknown log"
        if not _is_signed(text, signatures, origin, base64.b64decode(self.logs[origin])):
            return 403, "text/plain", b"not signed by a key of the log"
        if old > size:
            return 400, "text/plain", b"old size is larger"
        known_size, known_root = self.known.get(origin, (0, b""))
        if old != known_size:
            return 409, "text/x.tlog.size", f"{known_size}\n".encode()
        if old == size and known_root and root != known_root:
            return 409, "text/x.tlog.size", f"{known_size}\n".encode()
        if 0 < old < size and not _continues(old, known_root, size, root, proof):
            return 422, "text/plain", b"the proof does not hold"
        self.known[origin] = (size, root)
        return 200, "text/plain", self.cosign(text).encode()

    def answer(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        return self.add_checkpoint(body) if path == "/add-checkpoint" else (404, "text/plain", b"")


@contextmanager
def served(witness: Any) -> Iterator[str]:
    """Serve a witness on this machine; give its URL."""

    def answer(path: str, body: bytes) -> Answer:
        status, kind, reply = witness.answer(path, body)
        elsewhere = {"location": "/elsewhere"} if 300 <= status < 400 else {}
        return status, {"content-type": kind, **elsewhere}, reply

    with serving(answer) as url:
        yield url


def _is_signed(text: str, signatures: str, origin: str, key: bytes) -> bool:
    for line in signatures.splitlines():
        _, name, blob = line.split(" ")
        key_hash = sha256(origin.encode() + b"\n" + key).digest()[:4]
        signature = base64.b64decode(blob)
        if name == origin and signature[:4] == key_hash:
            try:
                Ed25519PublicKey.from_public_bytes(key[1:]).verify(signature[4:], text.encode())
            except InvalidSignature:
                return False
            return True
    return False


def _continues(old: int, old_root: bytes, size: int, root: bytes, path: list[bytes]) -> bool:
    """Check a consistency proof as RFC 9162, section 2.1.4.2, has it."""
    if not path:
        return False
    if old & (old - 1) == 0:
        path = [old_root, *path]
    fn, sn = old - 1, size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for one in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = sha256(b"\x01" + one + fr).digest(), sha256(b"\x01" + one + sr).digest()
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = sha256(b"\x01" + sr + one).digest()
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == old_root and sr == root
