"""Numbers with what they count, in English sentences."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts: `1 claim`, `2 claims`."""
    return f"{number:,} {agreeing(number, one, many or f'{one}s')}"


def agreeing(number: int, one: str, many: str) -> str:
    """Return the word that goes with a number: `has` with 1, `have` with all others."""
    return one if number == 1 else many
