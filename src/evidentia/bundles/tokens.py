"""Exact token counts, offline: the vocabularies come with the `tokens` extra.

Special tokens that are spelled in a text are counted as the text they are.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from evidentia.bundles.policy import TOKENIZERS
from evidentia.errors import EnvironmentProblem, InputError
from evidentia.language.graphemes import boundary_after, boundary_before

Count = Callable[[str], int]
_CHARACTERS_PER_TOKEN: Final = 4
_ESTIMATES: Final = 12


@cache
def token_counter(name: str) -> Count:
    """Return what counts a text's tokens by a vocabulary of `TOKENIZERS`; it is loaded once."""
    if name not in TOKENIZERS:
        raise InputError(f"there is no tokenizer {name!r}: use {', '.join(TOKENIZERS)}")
    try:
        from splintr import Tokenizer  # noqa: PLC0415 - an extra, asked for only where needed
    except ImportError:
        raise EnvironmentProblem(
            "tokens cannot be counted without splintr-rs: pip install 'evidentia[tokens]'"
        ) from None
    encode = Tokenizer.from_pretrained(name).encode_ordinary
    return lambda text: len(encode(text))


def cut_to_tokens(text: str, limit: int, count: Count) -> str:
    """Return a beginning of whole characters that has at most `limit` tokens.

    It is the text itself, or one character more would be over the limit. Counts need not grow
    with the text: a longer beginning that fits again may be missed, the limit never is.
    """
    if limit <= 0:
        return ""
    low, below = 0, 0
    high = boundary_after(text, min(len(text), _CHARACTERS_PER_TOKEN * limit))
    while (above := count(text[:high])) <= limit:
        if high == len(text):
            return text
        low, below = high, above
        high = boundary_after(text, min(len(text), 2 * high), low)
    return text[: _last_fit(text, limit, count, (low, below), (high, above))]


def _last_fit(
    text: str, limit: int, count: Count, fits: tuple[int, int], over: tuple[int, int]
) -> int:
    """Return a boundary that fits where the next does not; `fits` and `over` are around it.

    Where to look next is estimated by how far from the limit the two are. The one that stayed
    counts for half as much, so that both come near; halving ends what estimates do not.
    """
    (low, below), (high, above) = fits, over
    room, excess = limit - below + 0.5, above - limit - 0.5
    moved_low = None
    estimates = _ESTIMATES
    while True:
        share = room / (room + excess) if estimates > 0 else 0.5
        estimates -= 1
        guess = min(max(low + int((high - low) * share), low + 1), high - 1)
        place = boundary_before(text, guess, low)
        if place == low:
            place = boundary_after(text, guess, low)
        if not low < place < high:
            return low
        tokens = count(text[:place])
        if tokens <= limit:
            low, room = place, limit - tokens + 0.5
            excess = excess / 2 if moved_low is True else excess
            moved_low = True
        else:
            high, excess = place, tokens - limit - 0.5
            room = room / 2 if moved_low is False else room
            moved_low = False
