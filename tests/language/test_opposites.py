from evidentia.language.lexicon import NATIONS
from evidentia.language.opposites import COMPARED, CONVERSES, OPPOSITES


def test_no_word_is_its_own_opposite_and_every_pair_holds_both_ways() -> None:
    for table in (OPPOSITES, COMPARED, CONVERSES):
        for name, others in table.items():
            assert name not in others
            assert all(name in table[other] for other in others)


def test_every_converse_is_an_opposite() -> None:
    assert all(others <= OPPOSITES[name] for name, others in CONVERSES.items())


def test_there_are_many_pairs() -> None:
    assert sum(map(len, OPPOSITES.values())) // 2 >= 250


def test_a_country_and_its_people_are_one() -> None:
    assert NATIONS["france"] == NATIONS["french"] != NATIONS["german"]
