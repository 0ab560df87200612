"""Which packs of a list a user may see, where more than the trail decides that.

The trail grants reading in a tenant as a whole. Only who else is asked may know packs one by one.
"""

from collections.abc import Callable, Sequence
from typing import Final

from evidentia.access.actions import Action
from evidentia.store.sql.packs import ListedPack
from evidentia.workspace.acting import Acting

_MOST_AT_ONCE: Final = 500
"""How many packs are looked at before the next are read."""


def seen(acting: Acting, pack_ids: Sequence[str]) -> frozenset[str]:
    """Return the packs of these that the user may see; whoever decides is asked of many at once."""
    outside = acting.opened.authorizer
    if outside is None or acting.user is None:
        return frozenset(pack_ids)
    allowed = outside.may_each(acting.user, Action.VIEW, pack_ids) if pack_ids else []
    return frozenset(one for one, may in zip(pack_ids, allowed, strict=True) if may)


def seen_page(
    acting: Acting,
    read: Callable[[int | None, int | None], list[ListedPack]],
    *,
    after: int | None,
    limit: int | None,
) -> list[ListedPack]:
    """Return a page of packs that the user may see: a full one, as long as there are so many.

    `read` gives packs behind the one of an entry, some many of them; `after` is where the page
    begins. No connection is held while someone else is asked.
    """
    if acting.opened.authorizer is None or acting.user is None:
        return read(after, limit)
    found: list[ListedPack] = []
    wanted = limit
    while True:
        page = read(after, wanted)
        allowed = seen(acting, [one.id for one in page])
        found += [one for one in page if one.id in allowed]
        if limit is None or wanted is None or len(page) < wanted or len(found) >= limit:
            return found[:limit]
        after, wanted = page[-1].entry, min(_MOST_AT_ONCE, 2 * wanted + 50)
