from evidentia.language.opposites import COMPARED, CONVERSES, OPPOSITES, TURNED


def test_no_word_is_its_own_opposite_and_every_pair_holds_both_ways() -> None:
    for table in (OPPOSITES, COMPARED, CONVERSES):
        for name, others in table.items():
            assert name not in others
            assert all(name in table[other] for other in others)


def test_every_converse_is_an_opposite() -> None:
    assert all(others <= OPPOSITES[name] for name, others in CONVERSES.items())


def test_there_are_many_pairs() -> None:
    assert sum(map(len, OPPOSITES.values())) // 2 >= 250


def test_what_turns_a_statement_round_is_an_opposite() -> None:
    for negative, positive in TURNED.items():
        assert positive in OPPOSITES.get(negative, ()) or positive in COMPARED[negative]
        assert positive not in TURNED
