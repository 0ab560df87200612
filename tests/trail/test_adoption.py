import pytest

from evidentia.trail.adoption import Adoption, covers

ONE = Adoption(3, 5, "0f" * 32, "left unsigned by 0.1", "owner")


def test_an_adoption_reads_as_it_was_written() -> None:
    assert Adoption.read(ONE.body()) == ONE
    assert ONE.subject == "entries/3-4"


def test_an_adoption_says_which_entries_by_whom_and_why() -> None:
    assert str(ONE) == "entries 3 to 4 were adopted unsigned by owner: left unsigned by 0.1"
    alone = Adoption(3, 4, ONE.root, "why not", "noor")
    assert str(alone) == "entry 3 was adopted unsigned by noor: why not"


@pytest.mark.parametrize(
    "body",
    [
        None,
        {"key": "a key", "replaces": None},
        ONE.body() | {"adopts": {"from": 5, "size": 5, "root": ONE.root}},
        ONE.body() | {"adopts": {"from": -1, "size": 5, "root": ONE.root}},
        ONE.body() | {"adopts": {"from": 3, "size": 5, "root": "no root"}},
        ONE.body() | {"adopts": {"from": 3, "size": 5, "root": ONE.root, "more": 1}},
        ONE.body() | {"reason": 1},
    ],
)
def test_what_is_no_adoption_adopts_nothing(body: object) -> None:
    assert Adoption.read(body) is None


def test_a_range_covers_its_entries_alone() -> None:
    assert [seq for seq in range(8) if covers([ONE, Adoption(6, 7, "", "", "")], seq)] == [3, 4, 6]
    assert not covers([], 0)
