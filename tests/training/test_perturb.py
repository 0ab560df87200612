import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from training.data import Pair
from training.perturb import Change, Names, changes, names_in, synthetic_pairs
from training.substitutes import ANTONYMS, SET_PHRASES, SYNONYMS

NAMES = Names(
    people=("Ada Brook", "Carl Dent", "Ines Falk", "Jon Hale"),
    places=("Aldermoor", "Brightwell", "Corran", "Dunvale"),
    others=("Harbour Press",),
)
SENTENCES = (
    "The bridge has 14 arches and was opened by Mary Stone in 1931.",
    "In 1987, the company moved its office to Corran.",
    "Mary Stone is an American novelist, poet and painter.",
    "Paul Reed defeated Carl Dent in 1999.",
    "The mill was founded by Paul Reed and stands on the northern bank.",
    "The tower is higher than the church.",
    "Employees must report an accident before the end of the day.",
    "The museum is not open on Monday.",
    "All members pay a yearly fee.",
    "Some members pay a yearly fee.",
    "Most visitors arrive by train.",
    "No visitors arrived by train.",
    "The journey takes 3 weeks.",
    "The company sold 1.5 million bottles in 2004.",
    "Prices increased by 12 percent in 2010.",
    "The song was released only in Dunvale.",
    "The album was released in Dunvale on 5 March 2010 .",
    "The red car stopped in front of the school.",
    "The treaty was signed on March 5, 1920 and rejected by the parliament.",
    "A guest may bring a dog.",
    "The Fall is a 1999 American film directed by Ines Falk and written by Jon Hale .",
    "Ada Brook (born 3 May 1961) was born in Aldermoor .",
    "Jon Hale, a retired teacher, was elected mayor of Brightwell.",
    "The fund has at least 200 members.",
    "He did not win the race.",
    "She has never visited the island.",
    "The family bought the farm without a loan.",
    "The drug is available in large hospitals.",
    "The council accepted the plan and praised the architect.",
    "The largest lake of the region lies east of the city.",
)


def _made(sentence: str, kind: str, tries: int = 20) -> dict[str, Change]:
    found = [
        change for seed in range(tries) for change in changes(sentence, NAMES, random.Random(seed))
    ]
    return {change.text: change for change in found if change.kind == kind}


@pytest.mark.parametrize(
    ("sentence", "kind", "text", "label"),
    [
        ("He did not win the race.", "negation", "He won the race.", "contradicted"),
        ("The mill was not sold .", "negation", "The mill was sold .", "contradicted"),
        ("The mill was sold .", "negation", "The mill was not sold .", "contradicted"),
        ("Ada Brook won the race.", "negation", "Ada Brook did not win the race.", "contradicted"),
        (SENTENCES[3], "role", "Carl Dent defeated Paul Reed in 1999.", "contradicted"),
        ("All members pay a fee.", "quantifier", "Some members pay a fee.", "supported"),
        ("Some members pay a fee.", "quantifier", "All members pay a fee.", "not_found"),
        ("Most members pay a fee.", "quantifier", "All members pay a fee.", "not_found"),
        ("No members paid a fee.", "quantifier", "Some members paid a fee.", "contradicted"),
        (SENTENCES[23], "quantifier", "The fund has at most 200 members.", "contradicted"),
        (SENTENCES[15], "quantifier", "The song was released in Dunvale.", "supported"),
        ("A guest may bring a dog.", "modality", "A guest must bring a dog.", "not_found"),
        ("A guest must sign here.", "modality", "A guest must not sign here.", "contradicted"),
        (SENTENCES[5], "comparative", "The tower is lower than the church.", "contradicted"),
        ("The plan was accepted.", "antonym", "The plan was rejected.", "contradicted"),
        ("The journey takes 3 weeks.", "unit", "The journey takes 3 months.", "contradicted"),
        ("It takes 3 weeks.", "harmless:unit", "It takes 21 days.", "supported"),
        ("It takes 3 weeks.", "harmless:number", "It takes three weeks.", "supported"),
        ("It sold 1.5 million cars.", "harmless:number", "It sold 1,500,000 cars.", "supported"),
        ("It rose by 12 percent .", "harmless:number", "It rose by 12% .", "supported"),
        ("It fell on 5 March 2010.", "harmless:date", "It fell on March 5, 2010.", "supported"),
        ("It fell on 5 March 2010.", "harmless:date", "It fell on 2010-03-05.", "supported"),
        ("It is not open .", "harmless:contraction", "It isn't open .", "supported"),
        ("He purchased a farm.", "harmless:synonym", "He bought a farm.", "supported"),
        (SENTENCES[1], "harmless:adjunct", "The company moved its office to Corran.", "supported"),
        (SENTENCES[22], "harmless:apposition", "Jon Hale was a retired teacher.", "supported"),
        (SENTENCES[2], "harmless:conjunct", "Mary Stone is an American poet.", "supported"),
        (
            "The Fen ( a marsh ) was drained .",
            "harmless:aside",
            "The Fen was drained .",
            "supported",
        ),
    ],
)
def test_a_change_has_the_label_a_reader_would_give(
    sentence: str, kind: str, text: str, label: str
) -> None:
    assert _made(sentence, kind)[text].label == label


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The bridge has 14 arches.", "number"),
        ("The committee has five members.", "number"),
        ("The album was released in 1999 .", "date"),
        ("The treaty was signed on 5 March 1920.", "date"),
        ("The red car stopped here.", "noun"),
        ("Mary Stone is an American novelist.", "noun"),
        ("The play was written by Ada Brook.", "name"),
    ],
)
def test_another_value_contradicts(sentence: str, kind: str) -> None:
    found = _made(sentence, kind)
    assert found
    assert {(change.label, change.reverse) for change in found.values()} <= {
        ("contradicted", "contradicted"),
        ("not_found", "not_found"),
    }
    assert any(change.label == "contradicted" for change in found.values())


def test_what_is_added_is_not_found_and_leaves_the_original_supported() -> None:
    found = _made("The council accepted the plan.", "added")
    assert found
    assert {(one.label, one.reverse) for one in found.values()} == {("not_found", "supported")}


def test_another_subject_is_not_found() -> None:
    found = _made("Mary Stone is a novelist.", "name")
    assert {change.label for change in found.values()} == {"not_found"}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The album was not released in 1999.", "date"),
        ("If 14 members agree, the rule is changed.", "number"),
        ("Some members are married.", "negation"),
        ("The shop is not only open on Monday.", "negation"),
        ("Only in 1987, the company moved.", "harmless:adjunct"),
        ("He did not win the race in 1987.", "harmless:adjunct"),
        ("Ada Brook married Carl Dent.", "role"),
        ("More than 14 members came.", "number"),
        ("Did the album appear in 1999?", "date"),
    ],
)
def test_nothing_is_made_where_the_label_is_unclear(sentence: str, kind: str) -> None:
    assert not _made(sentence, kind)


@pytest.mark.parametrize(
    "sentence",
    [
        "In short, the plan was accepted.",
        "At present, the plan is accepted.",
        "The third party paid 40 dollars.",
        "The left side of the road was closed.",
        "By and large the tower is higher than the church.",
        "He was born and raised in Corran.",
        "She quickly built up a large company.",
    ],
)
def test_nothing_is_changed_within_a_set_phrase(sentence: str) -> None:
    phrase = next(one for one in SET_PHRASES if one in sentence.lower())
    found = [one for seed in range(20) for one in changes(sentence, NAMES, random.Random(seed))]
    assert found
    assert all(phrase in one.text.lower() for one in found)


def test_a_set_phrase_in_the_evidence_is_not_changed_with_the_claim() -> None:
    pairs = [Pair("In short, he won.", "He is short.", "supported", "own")]
    made = [pair for seed in range(20) for pair in synthetic_pairs(pairs, 100, seed)]
    assert not [pair for pair in made if "In tall" in pair.evidence]


def test_articles_follow_the_new_word() -> None:
    found = _made("Mary Stone is an American novelist.", "noun")
    assert any(text.startswith("Mary Stone is a ") for text in found)
    assert not any(
        " an " in text and " an I" not in text and " an E" not in text and " an A" not in text
        for text in found
    )


def test_names_are_told_apart_by_what_stands_before_them() -> None:
    names = names_in(["The play was written by Ada Brook.", "The fair was held in Corran."])
    assert names == Names(("Ada Brook",), ("Corran",), ())


@settings(max_examples=50)
@given(st.sampled_from(SENTENCES), st.integers(0, 10_000))
def test_no_change_is_its_original_and_a_seed_fixes_all(sentence: str, seed: int) -> None:
    found = changes(sentence, NAMES, random.Random(seed))
    assert found == changes(sentence, NAMES, random.Random(seed))
    assert sentence not in {change.text for change in found}
    assert max(Counter(change.kind for change in found).values(), default=0) <= 2


@settings(max_examples=50)
@given(st.text(max_size=80), st.integers(0, 100))
def test_any_text_can_be_given(text: str, seed: int) -> None:
    assert all(change.text != text for change in changes(text, NAMES, random.Random(seed)))


def _corpus() -> list[Pair]:
    pairs = [Pair(sentence, "A claim.", "not_supported", "own") for sentence in SENTENCES]
    pairs.append(Pair(SENTENCES[0], "The bridge has 14 arches.", "supported", "own"))
    return pairs


def test_pairs_are_the_same_for_the_same_seed() -> None:
    one, other = (list(synthetic_pairs(_corpus(), 60, 7)) for _ in range(2))
    assert one == other
    assert one != list(synthetic_pairs(_corpus(), 60, 8))


def test_every_kind_has_supported_pairs_and_others() -> None:
    labels: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for seed in range(12):
        for pair in synthetic_pairs(_corpus(), 200, seed):
            labels[pair.source][pair.label == "supported"] += 1
    changed = {kind: count for kind, count in labels.items() if "harmless" not in kind}
    assert {"number", "date", "negation", "role", "antonym", "noun", "comparative", "name"} <= {
        kind.removeprefix("synthetic:") for kind in changed
    }
    for kind, count in changed.items():
        assert 0.25 < count[True] / count.total() < 0.75, kind
    everything = sum(labels.values(), Counter[bool]())
    assert 0.4 < everything[True] / everything.total() < 0.6


def test_no_kind_takes_more_than_its_share() -> None:
    kinds = Counter(pair.source for pair in synthetic_pairs(_corpus(), 100, 3))
    assert max(kinds.values()) <= 15


def test_a_claim_changed_with_its_evidence_stays_supported() -> None:
    pairs = [
        Pair("The old bridge has 14 arches .", "The bridge has 14 arches.", "supported", "own")
    ]
    made = [pair for seed in range(5) for pair in synthetic_pairs(pairs, 100, seed)]
    changed = {pair.claim for pair in made if pair.label == "contradicted"}
    assert {pair.claim for pair in made if pair.label == "supported"} & changed


def test_the_lists_are_long_and_no_word_stands_for_itself() -> None:
    assert len(ANTONYMS) >= 300
    assert len(SYNONYMS) >= 150
    assert all(word != other for word, other in (*ANTONYMS.items(), *SYNONYMS.items()))
