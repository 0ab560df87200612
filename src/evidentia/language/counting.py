"""Numbers with what they count, in English sentences: nouns and verbs that agree with them."""


def agreed(number: int, one: str, many: str) -> str:
    """Return the word that agrees with a number: `does` for 1, `do` for all others."""
    return one if number == 1 else many


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts, and with what that does, where it is said.

    >>> counted(1, "claim"), counted(2, "claim"), counted(2, "claim has", "claims have")
    ('1 claim', '2 claims', '2 claims have')
    """
    return f"{number:,} {agreed(number, one, many or f'{one}s')}"
