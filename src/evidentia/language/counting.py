"""Numbers with what they count, in English sentences."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts: `1 claim`, `2 claims`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
