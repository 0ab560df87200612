import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ran:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ran]


def record(number: int = 1, **changes: object) -> dict[str, object]:
    """Return an evidence record's fields."""
    return {
        "obligation_id": f"ob-{number:03d}",
        "doc_id": "doc-aaa",
        "doc_filename": "services_agreement_v2.pdf",
        "page_number": 4,
        "section_reference": "Article 1.1",
        "source_clause": "The Vendor shall deliver within 30 days.",
        "extraction_model": "extractor-a",
        "verification_model": "verifier-b",
        "verification_result": "CONFIRMED",
        "confidence": 0.95,
        **changes,
    }


def ndjson(*records: dict[str, object]) -> bytes:
    """Return records as NDJSON."""
    return b"".join(json.dumps(item).encode() + b"\n" for item in records)
