from evidentia.language.counting import agreed, counted, ranged


def test_nouns_and_verbs_agree_with_their_number() -> None:
    assert [counted(number, "claim") for number in (0, 1, 2)] == ["0 claims", "1 claim", "2 claims"]
    assert counted(1, "claim has", "claims have") == "1 claim has"
    assert counted(2, "claim has", "claims have") == "2 claims have"
    assert counted(1_234, "entry", "entries") == "1,234 entries"
    assert [agreed(number, "does", "do") for number in (0, 1, 2)] == ["do", "does", "do"]


def test_a_range_of_one_is_named_as_one() -> None:
    assert ranged(7, 7, "entry", "entries") == "entry 7"
    assert ranged(7, 12, "entry", "entries") == "entries 7 to 12"
