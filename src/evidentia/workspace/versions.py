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
    return later_versions(pack_id, _successions(acting, after=after))


def forks(acting: Acting, name: str | None = None) -> list[str]:
    """Say which versions of packs replace the same one, of all packs or of one.

    Sealing refuses a second one, so that whoever made it wrote past this program.
    """
    found: dict[str, list[Succession]] = {}
    for one in _successions(acting):
        found.setdefault(one.replaces, []).append(one)
    return [
        f"pack {replaced}: {' and '.join(one.told for one in several)} both replace it"
        for replaced, several in sorted(found.items())
        if len(several) > 1
        and (name is None or name in {replaced, *(one.subject for one in several)})
    ]


def _successions(acting: Acting, *, after: int = -1) -> list[Succession]:
    """Return which versions replace which, by proved entries behind a number."""
    return [
        found
        for kind in (EntryKind.PACK, EntryKind.REVIEW)
        for logged in acting.entries(kind, after=after)
        if (found := succession_of(logged.entry, logged.body)) is not None
    ]
