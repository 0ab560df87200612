"""Versions of packs by what the trail says: which one came after which."""

from evidentia.errors import NotFoundError
from evidentia.proof.succession import Succession, later_versions, succession_of
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.sealing import PACKS


def later(acting: Acting, name: str) -> tuple[Succession, ...]:
    """Return the versions that came after a pack, the oldest first.

    They are read from the trail's entries, each with the body that it commits to: a row that is
    missing hides none. What a pack that was removed said of versions is gone with it.
    """
    try:
        row = PACKS.named(acting, name)
        pack_id, after = row.id, row.entry
    except NotFoundError:
        pack_id, after = name, -1
    found = [
        later
        for kind in (EntryKind.PACK, EntryKind.REVIEW)
        for logged in acting.entries(kind, after=after)
        if (later := succession_of(logged.entry, logged.body)) is not None
    ]
    return later_versions(pack_id, found)
