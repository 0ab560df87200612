"""Units, currencies and scales: the tables that quantities are read by."""

from typing import Final

from evidentia.language.lexicon import LARGE_NUMBERS, word_set

_DAY: Final = 86_400.0

UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (dimension, factor)
    for dimension, factor, names in (
        ("time", 1.0, "second seconds sec secs"),
        ("time", 60.0, "minute minutes min mins"),
        ("time", 3_600.0, "hour hours hr hrs"),
        ("time", _DAY, "day days"),
        ("time", 7 * _DAY, "week weeks"),
        ("time", 14 * _DAY, "fortnight fortnights"),
        ("months", 1.0, "month months"),
        ("months", 3.0, "quarter quarters"),
        ("months", 12.0, "year years yr yrs"),
        ("months", 120.0, "decade decades"),
        ("length", 0.001, "mm millimetre millimetres millimeter millimeters"),
        ("length", 0.01, "cm centimetre centimetres centimeter centimeters"),
        ("length", 1.0, "metre metres meter meters"),
        ("length", 1_000.0, "km kilometre kilometres kilometer kilometers"),
        ("length", 1_609.344, "mile miles"),
        ("length", 0.3048, "foot feet ft"),
        ("length", 0.0254, "inch inches"),
        ("mass", 0.001, "mg milligram milligrams"),
        ("mass", 1.0, "gram grams"),
        ("mass", 1_000.0, "kg kilogram kilograms kilo kilos"),
        ("mass", 1_000_000.0, "tonne tonnes"),
        ("mass", 453.59237, "lb lbs"),
        ("volume", 0.001, "ml millilitre millilitres milliliter milliliters"),
        ("volume", 1.0, "litre litres liter liters"),
        ("bytes", 1e3, "kb kilobyte kilobytes"),
        ("bytes", 1e6, "mb megabyte megabytes"),
        ("bytes", 1e9, "gb gigabyte gigabytes"),
        ("bytes", 1e12, "tb terabyte terabytes"),
        ("percent", 1.0, "percent % ٪ pct"),
        ("percent", 0.01, "bps"),
        ("celsius", 1.0, "°c"),
        ("fahrenheit", 1.0, "°f"),
        ("times", 1.0, "times"),
    )
    for name in names.split()
} | {
    "per cent": ("percent", 1.0),
    "percentage point": ("points", 1.0),
    "percentage points": ("points", 1.0),
    "basis point": ("percent", 0.01),
    "basis points": ("percent", 0.01),
    "degrees celsius": ("celsius", 1.0),
    "degrees fahrenheit": ("fahrenheit", 1.0),
}
"""Each unit's dimension and its factor to the dimension's base.

Months and years stay apart from days: there is no exact conversion between them. Pounds, tons and
"m" are left out: each is two units.
"""

WORKING: Final = word_set("working business trading school")
"""What makes days a dimension of their own: how many calendar days they are, a calendar knows."""
CURRENCIES: Final = {
    name: currency
    for currency, names in (
        ("usd", "$ usd us$ dollar dollars"),
        ("eur", "€ eur euro euros"),
        ("gbp", "£ gbp sterling"),
        ("sar", "sar sr riyal riyals \u20c1"),
        ("aed", "aed dirham dirhams"),
        ("jpy", "¥ jpy yen"),
        ("chf", "chf franc francs"),
    )
    for name in names.split()
}
SCALES: Final = LARGE_NUMBERS | {"mn": 1e6, "bn": 1e9, "k": 1e3, "m": 1e6, "b": 1e9}
"""What a number is multiplied by; single letters only behind a currency sign."""
