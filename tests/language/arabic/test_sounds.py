import pytest

from evidentia.language.arabic.sounds import may_be_one
from evidentia.language.arabic.words import folded


@pytest.mark.parametrize(
    ("latin", "arabic"),
    [
        ("Whitford", "ويتفورد"),
        ("Frankfurt", "بفرانكفورت"),
        ("Sheikh", "الشيخ"),
        ("Muñoz", "مونيوز"),
        ("Christopher", "كريستوفر"),
        ("Saskatoon", "ساسكتون"),
        ("Rumaila", "الرميلة"),
        ("Halvorsen", "هالفرسون"),
        ("Wilmington", "ويلمنتون"),
        ("Kirkuk", "كركو"),
    ],
)
def test_spellings_that_may_be_one_name(latin: str, arabic: str) -> None:
    assert may_be_one(latin, folded(arabic))


@pytest.mark.parametrize(
    ("latin", "arabic"),
    [("Sportage", "توسان"), ("Salim", "حمد"), ("Wilson", "ويتفورد"), ("Harthy", "البلوشي")],
)
def test_spellings_of_two_names(latin: str, arabic: str) -> None:
    assert not may_be_one(latin, folded(arabic))
