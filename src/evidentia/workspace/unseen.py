"""Calls of tools that a model asked for in a run, and that nobody recorded.

A run's bundle says so of itself: what was lost of it is among what it tells of the run. A call that
was seen after the run had been recorded is in a later bundle of the same run.
"""

from collections.abc import Iterator
from typing import Any

from evidentia.canonical import parse_json
from evidentia.errors import EvidentiaError
from evidentia.packs.model import EvidencePack
from evidentia.workspace.acting import Acting
from evidentia.workspace.bundles import Bundles


def unseen_calls(acting: Acting, pack: EvidencePack) -> Iterator[str]:
    """Say which calls were asked for in the runs that a pack rests on, and were not recorded.

    A bundle that is erased or damaged says nothing: an audit of bundles tells of it.
    """
    bundles = Bundles(acting)
    for one in pack.bundles:
        asked = dict(_lost_in(bundles, one.bundle_id))
        if asked:
            asked = _without_seen(bundles, one.bundle_id, asked)
        for what in asked.values():
            yield f"{what} was asked for by the model, and nobody recorded it"


def _without_seen(bundles: Bundles, name: str, asked: dict[str, str]) -> dict[str, str]:
    """Return those of the calls that no bundle of the same runs tells of."""
    later = {listed.bundle_id for run in bundles.runs(name) for listed in bundles.of_run(run)}
    seen = {
        event["call_id"]
        for bundle in later
        for event in _told(bundles, bundle, "events")
        if event.get("kind") == "tool" and "call_id" in event
    }
    return {call_id: what for call_id, what in asked.items() if call_id not in seen}


def _lost_in(bundles: Bundles, name: str) -> Iterator[tuple[str, str]]:
    for loss in _told(bundles, name, "losses"):
        match loss:
            case {"why": "not_seen", "call_id": str(call_id), "what": str(what)}:
                yield call_id, what


def _told(bundles: Bundles, name: str, of: str) -> Iterator[dict[str, Any]]:
    """Give what a bundle tells of the run that it is of; one that was cut tells nothing."""
    try:
        items = [one for one in bundles.get(name).items if one.source_ref.get("kind") == "run"]
        about = [parse_json(one.content.encode()) for one in items]
    except EvidentiaError:
        return
    for one in about:
        listed = one.get(of) if isinstance(one, dict) else None
        yield from (said for said in listed or () if isinstance(said, dict))
