"""Limits, and how they are kept: text is cut between characters, items are dropped from the end."""

from collections.abc import Callable, Sequence

from evidentia.language.graphemes import boundary_before


def cut_to_bytes(text: str, limit: int) -> str:
    """Return the longest beginning that has at most `limit` bytes of UTF-8 and whole characters."""
    if len(text) * 4 <= limit:
        return text
    data = text[: limit + 1].encode()
    if len(data) <= limit:
        return text
    fitting = len(data[:limit].decode(errors="ignore"))
    return text[: boundary_before(text, fitting)]


def kept_places(
    sizes: Sequence[int],
    priorities: Sequence[int],
    *,
    max_items: int,
    max_total_bytes: int,
    fits: Callable[[Sequence[int]], bool] | None = None,
) -> list[int]:
    """Return the places of what stays within the limits, in their order.

    What has the lowest priority goes first, and of equal priority the last; what stays is all
    that comes before the first that had to go. `fits` is asked about places that keep the other
    limits, and must not turn true again once more is kept.
    """
    if max_items == 0 or max_total_bytes == 0:
        return []
    order = sorted(range(len(sizes)), key=lambda place: (-priorities[place], place))
    total, count = 0, 0
    for place in order[:max_items]:
        total += sizes[place]
        if total > max_total_bytes:
            break
        count += 1
    if fits is not None and not fits(sorted(order[:count])):
        low, high = 0, count  # `low` of them fit, `high` do not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(sorted(order[:middle])) else (low, middle)
        count = low
    return sorted(order[:count])
