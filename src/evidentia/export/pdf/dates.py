"""Dates as each language writes them: Gregorian, and Hijri by the calendar of Umm al-Qura.

Days and times are those of UTC, and a time says so; what names no zone is taken as UTC. A Hijri
date is that of the civil day: after sunset the religious day is the next one already. What is no
time is returned as it is written, and has no Hijri date.
"""

# ruff: noqa: RUF002 - Arabic dates are what is written here

from datetime import UTC, date, datetime
from typing import Final

from evidentia.errors import InputError
from evidentia.language.lexicon import ARABIC_HIJRI_MONTH_NAMES, HIJRI_MONTH_NAMES
from evidentia.language.wording import Lang, date_ar, date_en, digits

_HIJRI_MONTHS: Final = {"en": HIJRI_MONTH_NAMES, "ar": ARABIC_HIJRI_MONTH_NAMES}


def gregorian(at: str, lang: Lang) -> str:
    """Return the Gregorian day of an ISO 8601 time: 15 November 2026, ١٥ نوفمبر ٢٠٢٦م."""
    moment = _moment(at)
    if moment is None:
        return at
    told = date_ar if lang == "ar" else date_en
    return digits(told(moment.isoformat()), lang)


def gregorian_time(at: str, lang: Lang) -> str:
    """Return the Gregorian day with the time of day: 15 November 2026, 09:30 UTC."""
    moment = _moment(at)
    if moment is None:
        return at
    clock = digits(f"{moment:%H:%M}", lang)
    if lang == "ar":
        return f"{gregorian(at, lang)}، الساعة {clock} بالتوقيت العالمي المنسق (UTC)"
    return f"{gregorian(at, lang)}, {clock} UTC"


def hijri(at: str, lang: Lang) -> str:
    """Return the Hijri day of a time: 5 Jumada al-Akhirah 1448 AH, ٥ جمادى الآخرة ١٤٤٨هـ.

    It is empty for a day before 1 August 1924 or after 16 November 2077, which Umm al-Qura does
    not have.
    """
    moment = _moment(at)
    found = None if moment is None else _umm_al_qura(moment.date())
    if found is None:
        return ""
    year, month, day = found
    name = _HIJRI_MONTHS[lang][month - 1]
    told = f"{digits(str(day), lang)} {name} {digits(str(year), lang)}"
    return f"{told}هـ" if lang == "ar" else f"{told} AH"


def _moment(at: str) -> datetime | None:
    try:
        given = datetime.fromisoformat(at)
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _umm_al_qura(day: date) -> tuple[int, int, int] | None:
    try:
        from hijridate import Gregorian  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(
            "Hijri dates need the package hijridate: install it with pip install 'evidentia[pdf]'"
        ) from None
    try:
        return Gregorian.fromdate(day).to_hijri().datetuple()
    except OverflowError:
        return None
