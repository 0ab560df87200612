"""The languages of the viewer, and the words of each: gettext catalogues, one for each page.

English is what the templates say. Of another language all catalogues are read at the first use;
`scripts/catalogues` makes them.
"""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import Final, Literal

Language = Literal["en", "ar"]
LANGUAGES: Final[dict[Language, str]] = {"en": "English", "ar": "العربية"}
"""The languages, each by its own name."""
DIRECTIONS: Final[dict[Language, str]] = {"en": "ltr", "ar": "rtl"}
COMMAS: Final[dict[Language, str]] = {"en": ", ", "ar": "، "}


def N_(text: str) -> str:  # noqa: N802 - gettext's name for it, which the extraction looks for
    """Mark a text that is translated where it is shown."""
    return text


@cache
def words(language: Language) -> NullTranslations:
    """Return the words of a language; a text that no catalogue has stays as it is."""
    found = NullTranslations()
    folder = files("evidentia.server") / "locale" / language / "LC_MESSAGES"
    if language == "en" or not folder.is_dir():
        return found
    catalogues = sorted(
        (one for one in folder.iterdir() if one.name.endswith(".mo")), key=lambda one: one.name
    )
    for one in reversed(catalogues):
        with one.open("rb") as file:
            read = GNUTranslations(file)
        read.add_fallback(found)
        found = read
    return found


def preferred(accepted: str) -> Language:
    """Return the language that a browser asks for first among ours (`Accept-Language`)."""
    ranked: list[tuple[float, int, Language]] = []
    for place, one in enumerate(accepted.split(",")[:20]):
        tag, _, rest = one.strip().partition(";")
        name = tag.strip().lower().partition("-")[0]
        try:
            weight = float(rest.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        if weight > 0:
            ranked += [(-weight, place, ours) for ours in LANGUAGES if ours == name]
    return min(ranked, default=(0.0, 0, "en"))[2]
