from collections import Counter

from evidentia.language.verbs import (
    ALSO_NOUNS,
    LEMMAS,
    NEAR,
    SYNONYMS,
    done_forms,
    regular_forms,
)


def test_a_form_belongs_to_one_verb() -> None:
    owners = Counter[str]()
    for verb in set(LEMMAS.values()):
        forms = {verb, regular_forms(verb)[0], *done_forms(verb)}
        owners.update(forms & set(LEMMAS))
        for form in forms & set(LEMMAS):
            assert LEMMAS[form] == verb
    assert set(owners.values()) == {1}


def test_every_word_of_the_tables_is_a_verb_that_is_known() -> None:
    known = set(LEMMAS.values())
    for group in (*NEAR, *(verbs for verbs, _ in SYNONYMS)):
        assert group <= known
    assert known >= ALSO_NOUNS
