"""What the numbers of phones, cards and accounts may begin with, and how long they are."""

import re
from typing import Final

IBAN_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
"""How many characters an IBAN has, by its country."""

_CARDS: Final = {
    "4": (13, 16, 19),
    "34 37": (15,),
    "51 52 53 54 55": (16,),
    "36 38 39 300 301 302 303 304 305 3095": (14, 16, 17, 18, 19),
    "6011 644 645 646 647 648 649 65 60 62 81 82": (16, 17, 18, 19),
    "5018 5020 5038 5893 6304 6759 6761 6762 6763": (12, 13, 14, 15, 16, 17, 18, 19),
    "2200 2201 2202 2203 2204 5888 6361 9682 9792 5060 5061": (16, 18, 19),
    " ".join(str(prefix) for prefix in range(2221, 2721)): (16,),
    " ".join(str(prefix) for prefix in range(3528, 3590)): (16, 17, 18, 19),
}
_CARD_LENGTHS: Final = {
    prefix: lengths for prefixes, lengths in _CARDS.items() for prefix in prefixes.split()
}
_CALLING_CODES: Final = frozenset(
    re.findall(
        r"\S+",
        "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 "
        "61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 "
        "224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 "
        "245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 "
        "267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 "
        "373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 "
        "504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 "
        "676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 "
        "855 856 870 880 881 882 883 886 888 960 961 962 963 964 965 966 967 968 970 971 972 "
        "973 974 975 976 977 979 992 993 994 995 996 998 ",
    )
)
_NATIONAL_LENGTHS: Final = {
    "1": (10, 10),
    "7": (10, 10),
    "20": (8, 10),
    "33": (9, 9),
    "34": (9, 9),
    "44": (9, 10),
    "61": (9, 9),
    "90": (10, 10),
    "91": (10, 10),
    "961": (7, 8),
    "962": (8, 9),
    "965": (8, 8),
    "966": (8, 9),
    "968": (8, 8),
    "971": (8, 9),
    "973": (8, 8),
    "974": (8, 8),
}
_ANY_LENGTH: Final = (6, 12)
_KEEPS_ZERO: Final = frozenset(
    re.findall(r"\S+", "1 7 39 225 226 227 229 241 242 247 378 881 888 992")
)


def card_lengths(digits: str) -> tuple[int, ...]:
    """Return how long a card's number can be that begins so; nothing if no issuer has such."""
    for size in (4, 3, 2, 1):
        lengths = _CARD_LENGTHS.get(digits[:size])
        if lengths is not None:
            return lengths
    return ()


def calling_code(digits: str) -> str | None:
    """Return the country's code that an international number begins with, if there is such."""
    for size in (1, 2, 3):
        if digits[:size] in _CALLING_CODES:
            return digits[:size]
    return None


def national_lengths(code: str) -> tuple[int, int]:
    """Return the least and most digits of a number after a calling code."""
    return _NATIONAL_LENGTHS.get(code, _ANY_LENGTH)


def has_own_lengths(code: str) -> bool:
    """Whether a country's lengths are known, so that no other number passes for one of its."""
    return code in _NATIONAL_LENGTHS


def keeps_zero(code: str) -> bool:
    """Whether numbers of a country begin with a 0 that is dialled from abroad too, or with none."""
    return code in _KEEPS_ZERO
