"""All changes of a sentence, of every kind."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from training.perturb.additions import add_detail
from training.perturb.change import Change
from training.perturb.harmless import (
    contract,
    convert_unit,
    drop_detail,
    rewrite_date,
    rewrite_number,
    use_synonym,
)
from training.perturb.names import Names, change_name, swap_roles
from training.perturb.operators import change_modality, change_quantifier, turn_negation
from training.perturb.patterns import SPEECH, keeps_phrases
from training.perturb.values import change_date, change_number, change_unit
from training.perturb.words import change_noun, turn_comparative, turn_word

Way = Callable[[str, Names, random.Random], Iterator[Change]]
"""A way to change a sentence, with names of the corpus and a source of chance."""
BY_VALUE: Final[tuple[Way, ...]] = (
    *(change_number, change_date, change_name, turn_word, turn_comparative, change_noun),
)
"""Those that put one value or word in another's place."""
RESTATING: Final[tuple[Way, ...]] = (
    *(rewrite_number, rewrite_date, convert_unit, contract, use_synonym),
)
"""Those that leave all that is said as it is."""
HARMLESS: Final[tuple[Way, ...]] = (*RESTATING, drop_detail)
"""Those that leave the sentence true, and maybe say less."""
_WAYS: Final[tuple[Way, ...]] = (
    *(change_number, change_date, change_unit, change_name, swap_roles, turn_negation),
    *(change_quantifier, change_modality, turn_comparative, turn_word, change_noun, add_detail),
    *HARMLESS,
)


def changes(sentence: str, names: Names, source: random.Random) -> list[Change]:
    """Return changes of a sentence, at most two of a kind, of all kinds that apply to it."""
    if "?" in sentence or SPEECH.search(sentence) or "\n" in sentence:
        return []
    found: list[Change] = []
    seen = {sentence}
    counts: Counter[str] = Counter()
    for way in _WAYS:
        for change in made(way, sentence, names, source):
            if change.text not in seen and counts[change.kind] < 2:
                seen.add(change.text)
                counts[change.kind] += 1
                found.append(change)
    return found


def made(way: Way, sentence: str, names: Names, source: random.Random) -> Iterator[Change]:
    """Yield what one way makes of a sentence; a set phrase stays whole, or goes as a whole."""
    for change in way(sentence, names, source):
        if way is drop_detail or keeps_phrases(sentence, change.text):
            yield change
