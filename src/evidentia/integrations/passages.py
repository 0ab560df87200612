"""What a retriever gave: copied at once, and read as passages in the background.

A retriever's objects are only looked at in the host's thread; what of their metadata can be kept,
and under which title, takes longer and is worked out where time is no matter.
"""

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from evidentia.errors import EvidentiaError
from evidentia.integrations.copying import copied
from evidentia.integrations.values import told
from evidentia.ledger.retrieved import bounded_metadata, find_retrieved, read_found
from evidentia.sources.adapters import Found

Lost = Callable[[str, str, str], None]
"""Is told what could not be taken, why, and what was wrong with it."""


def copied_passages(result: Iterable[Any] | None, lost: Lost) -> bytes:
    """Return what was retrieved as a list in JSON; one that is no passage is left out, and told."""
    passages: list[bytes] = []
    for number, one in enumerate(result or (), 1):
        try:
            passages.append(_copied(find_retrieved(number, one)))
        except Exception as error:  # noqa: BLE001 - one bad passage is dropped, not the list
            lost(f"passage {number}", "failed", told(error))
    return b"[%s]" % b",".join(passages)


def read_passages(data: bytes, lost: Lost) -> bytes:
    """Return the passages of a copy: id, text, title, page, and what is kept of their metadata."""
    passages = []
    for number, one in enumerate(orjson.loads(data), 1):
        try:
            read = read_found(number, Found(**one))
        except EvidentiaError as error:
            lost(f"passage {number}", "failed", str(error))
            continue
        about = {"id": read.id, "text": read.text, "title": read.title, "page": read.page}
        known: dict[str, Any] = {key: value for key, value in about.items() if value is not None}
        passages.append({**known, "metadata": dict(read.metadata)} if read.metadata else known)
    return copied(passages)


def _copied(found: Found) -> bytes:
    plain = {"identity": found.identity, "text": found.text, "score": found.score}
    data = copied({**plain, "metadata": dict(found.metadata)})
    if data.startswith(b"{"):
        return data
    kept, _ = bounded_metadata(found.metadata)  # something in it has no JSON: without that
    return copied({**plain, "metadata": kept})
