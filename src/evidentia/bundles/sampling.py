"""Which rows of a result are shown when they are too many: the same ones every time."""

from collections.abc import Sequence
from typing import Literal, get_args

from evidentia.errors import InputError

SamplingStrategy = Literal["first_only", "first_last", "stride"]


def sampled_rows(total: int, limit: int, strategy: SamplingStrategy) -> tuple[int, ...]:
    """Return the places of the rows to show, ascending: as many as there are or as `limit` allows.

    `first_only` takes the first rows; `first_last` the first half, which is the larger one, and
    the last half; `stride` one row of every K, where K = total / limit is an exact fraction.
    """
    if total < 0 or limit < 0:
        raise InputError(f"cannot sample {limit} of {total} rows: both must be 0 or more")
    if strategy not in get_args(SamplingStrategy):
        raise InputError(
            f"{strategy!r} is no sampling strategy: use {', '.join(get_args(SamplingStrategy))}"
        )
    if total <= limit:
        return tuple(range(total))
    if strategy == "first_only":
        return tuple(range(limit))
    if strategy == "first_last":
        last = limit // 2
        return (*range(limit - last), *range(total - last, total))
    return tuple(place * total // limit for place in range(limit))


def runs(rows: Sequence[int]) -> tuple[range, ...]:
    """Return ascending rows as the longest runs without a gap, in their order."""
    found: list[range] = []
    for row in rows:
        if found and found[-1].stop == row:
            found[-1] = range(found[-1].start, row + 1)
        else:
            found.append(range(row, row + 1))
    return tuple(found)
