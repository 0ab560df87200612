"""Numbers with what they count, in English sentences: nouns and verbs that agree with them."""


def agreed(number: float, one: str, many: str) -> str:
    """Return the word that agrees with a number: `does` for 1, `do` for all others."""
    return one if number == 1 else many


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts, and with what that does, where it is said.

    >>> counted(1, "claim"), counted(2, "claim"), counted(2, "claim has", "claims have")
    ('1 claim', '2 claims', '2 claims have')
    """
    return f"{number:,} {agreed(number, one, many or f'{one}s')}"


def ranged(first: int, last: int, one: str, many: str) -> str:
    """Return what a range of numbers names, which may be one alone.

    >>> ranged(7, 7, "entry", "entries"), ranged(7, 12, "entry", "entries")
    ('entry 7', 'entries 7 to 12')
    """
    return f"{one} {first}" if first == last else f"{many} {first} to {last}"
