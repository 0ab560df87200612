# ruff: noqa: RUF001 - letters that look like others are what some of these tests are about

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.characters import strip_invisible
from evidentia.language.verbs import NEAR
from evidentia.packs import actions
from evidentia.packs.actions import Basis, compare_actions

PAIRS = [
    tuple(part.strip() for part in line.split("|"))
    for line in (Path(__file__).parent / "actions" / "pairs.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
TENSES = [
    ("retrieve", "retrieves", "retrieved", "retrieved", "retrieving"),
    ("send", "sends", "sent", "sent", "sending"),
    ("write", "writes", "wrote", "written", "writing"),
    ("read", "reads", "read", "read", "reading"),
    ("buy", "buys", "bought", "bought", "buying"),
    ("pay", "pays", "paid", "paid", "paying"),
    ("get", "gets", "got", "got", "getting"),
    ("take", "takes", "took", "taken", "taking"),
    ("choose", "chooses", "chose", "chosen", "choosing"),
    ("withdraw", "withdraws", "withdrew", "withdrawn", "withdrawing"),
    ("run", "runs", "ran", "run", "running"),
    ("put", "puts", "put", "put", "putting"),
    ("set", "sets", "set", "set", "setting"),
    ("cancel", "cancels", "cancelled", "canceled", "cancelling"),
    ("submit", "submits", "submitted", "submitted", "submitting"),
    ("copy", "copies", "copied", "copied", "copying"),
    ("deploy", "deploys", "deployed", "deployed", "deploying"),
    ("drop", "drops", "dropped", "dropped", "dropping"),
    ("delete", "deletes", "deleted", "deleted", "deleting"),
    ("create", "creates", "created", "created", "creating"),
    ("update", "updates", "updated", "updated", "updating"),
    ("publish", "publishes", "published", "published", "publishing"),
    ("fetch", "fetches", "fetched", "fetched", "fetching"),
    ("approve", "approves", "approved", "approved", "approving"),
    ("issue", "issues", "issued", "issued", "issuing"),
    ("queue", "queues", "queued", "queued", "queuing"),
    ("freeze", "freezes", "froze", "frozen", "freezing"),
]
OBJECTS = [
    "contact 456 read-only",
    "the invoice INV-2041 for ann@example.com",
    "three files in /srv/data/a.csv on staging",
    "note 7 of deal 12 at 10:30 on 2026-03-04",
    "a fee of $1,200.00 from account 4 without tax",
]
FAR_APART = ["read", "delete", "update", "send", "approve", "reject", "archive", "pay", "restart"]
BLANKS = ["", " ", "\n\t", "\u200b", "\u202e \u2066", "\x00", "\ud800", "\u3164"]
SCRAPS = """
    retrieve retrieved was were not to send sent email and , a the A 456 457 read only dry run in
    mode ms ( ) returned 3 rows $5.00 USD contact contacts failed unable Ann Bob been is has up
    look looked staging production сontact ٤٥٦ دَرَسَ درس . / orders order i will could
"""
WORDS = st.sampled_from(SCRAPS.split())
PHRASES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
TEXTS = st.text(max_size=40) | PHRASES


def basis(intended: str, actual: str) -> Basis:
    return compare_actions(intended, actual).basis


def is_blank(text: str) -> bool:
    return not strip_invisible(text)[0].strip()


@pytest.mark.parametrize("expected", Basis)
def test_every_pair_is_judged_as_a_reviewer_would(expected: Basis) -> None:
    for intended, actual in ((one[1], one[2]) for one in PAIRS if one[0] == expected):
        found = compare_actions(intended, actual)
        assert found.basis == expected, (intended, actual)
        assert found.contradiction is (found.basis is not Basis.SAME), (intended, actual)


def test_the_table_has_enough_of_every_kind_and_nothing_twice() -> None:
    counts = Counter(expected for expected, _, _ in PAIRS)
    assert len(set(PAIRS)) == len(PAIRS) >= 150
    assert set(counts) == set(Basis)
    assert min(counts.values()) >= 50


@tiers.one_test
@pytest.mark.parametrize(
    ("intended", "actual", "reason"),
    [
        ("read contact 456", "deleted contact 456", '"delete" was done where "read" was meant'),
        ("get contact 456", "got contact 457", "contact 456 was meant, contact 457 was done"),
        ("get contact 456", "got contact 456", "what was done is what was meant"),
        (
            "get contact 456 read-only",
            "got contact 456",
            '"read-only" was meant, and is missing from what was done',
        ),
        ("send mail", "sent mail twice", '"twice" was not meant, and is in what was done'),
        ("send mail", "failed to send mail", 'only what was done says "failed"'),
        ("do not send mail", "sent mail", 'only what was meant says "not"'),
        ("send mail", "will send mail", "what was done is told as if it were still to come"),
        (
            "delete contact 4",
            "deleted contact 4 and contact 5",
            "contact 5 was done, and was not meant",
        ),
        (
            "delete contacts 4 and 5",
            "deleted contacts 4",
            "5 was meant, and was not done",
        ),
        (
            "copy a.txt to b.txt",
            "copied b.txt to a.txt",
            '"a.txt … b.txt" was meant, "b.txt … a.txt" was done',
        ),
        (
            "get contact 456",
            "got contact 456 in HubSpot",
            '"in hubspot" is only in what was done; whether it matters could not be decided',
        ),
        ("get contact 456", "", "nothing says what was done"),
        ("", "got contact 456", "nothing says what was meant"),
        (
            "get contact 456",
            "got con\u200btact 456",
            "characters that cannot be seen (U+200B) stand in the way",
        ),
        (
            "rejig queue 5",
            "reindexed queue 5",
            'whether "reindexed" is what "rejig" meant could not be decided',
        ),
    ],
)
def test_a_reviewer_is_told_why_in_one_sentence(intended: str, actual: str, reason: str) -> None:
    assert compare_actions(intended, actual).reason == reason


@given(TEXTS.filter(lambda text: not is_blank(text)))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert basis(text, text) is Basis.SAME
    assert basis(text, f"  {text}\n") is Basis.SAME


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_text_is_the_same_as_nothing(blank: str) -> None:
    for intended, actual in ((blank, "get contact 5"), ("get contact 5", blank), (blank, blank)):
        assert basis(intended, actual) is Basis.UNDECIDED


@given(TEXTS, TEXTS)
def test_a_failed_call_never_did_what_was_meant(intended: str, actual: str) -> None:
    assert compare_actions(intended, actual, failed=True).basis is Basis.DIFFERENT
    assert compare_actions(intended, intended, failed=True).contradiction


@pytest.mark.parametrize("verb", TENSES, ids=lambda verb: verb[0])
@pytest.mark.no_cover
def test_a_change_of_tense_is_no_contradiction(verb: tuple[str, ...]) -> None:
    base, third, past, participle, progressive = verb
    told = [third, past, progressive, f"has {participle}", f"have {participle}", f"I {past}"]
    told += [f"was {participle}", f"were {participle}", f"is {progressive}", past.capitalize()]
    told += [f"had been {participle}", f"successfully {past}"]
    meant = [base, f"will {base}", f"to {base}", f"please {base}", f"I should {base}", third]
    for about in OBJECTS:
        for done, plan in product(told, meant):
            assert basis(f"{plan} {about}", f"{done} {about}") is Basis.SAME, (plan, done)
        subject = about.removeprefix("the ").removeprefix("a ")
        assert basis(f"{base} {about}", f"{subject} has been {participle}") is Basis.SAME


@tiers.one_test
@pytest.mark.parametrize("verb", TENSES, ids=lambda verb: verb[0])
def test_a_denied_tense_always_contradicts(verb: tuple[str, ...]) -> None:
    base, _, past, participle, _ = verb
    told = (f"did not {base}", f"never {past}", f"failed to {base}", f"was not {participle}")
    for about, done in product(OBJECTS, told):
        assert basis(f"{base} {about}", f"{done} {about}") is Basis.DIFFERENT


@given(
    st.sampled_from(["contact {}", "deal D-{}", "https://example.com/{}/x", "{}@example.com"]),
    st.text("0123456789", min_size=1, max_size=12),
    st.data(),
)
def test_changing_one_digit_always_contradicts(
    shape: str, number: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(number) - 1))
    digit = data.draw(st.sampled_from("0123456789").filter(lambda each: each != number[place]))
    other = number[:place] + digit + number[place + 1 :]
    intended, actual = f"get {shape.format(number)}", f"got {shape.format(other)}"
    assert basis(intended, actual) is Basis.DIFFERENT
    assert basis(actual, intended) is Basis.DIFFERENT
    assert basis(intended, f"got {shape.format(number)}") is Basis.SAME


@pytest.mark.parametrize("about", OBJECTS)
def test_another_verb_always_contradicts(about: str) -> None:
    pasts = {base: past for base, _, past, _, _ in TENSES}
    for meant in FAR_APART:
        for done in FAR_APART:
            told = f"{pasts.get(done, done)} {about}"
            expected = Basis.SAME if meant == done else Basis.DIFFERENT
            assert basis(f"{meant} {about}", told) is expected


def test_verbs_that_may_mean_one_thing_are_never_different_by_guess() -> None:
    for group in NEAR:
        for meant in group:
            for done in group:
                assert basis(f"{meant} x", f"{done} x") is not Basis.DIFFERENT


@given(TEXTS, TEXTS)
def test_any_two_texts_are_answered_alike_every_time(intended: str, actual: str) -> None:
    found = compare_actions(intended, actual)
    assert found == compare_actions(intended, actual)
    assert found.contradiction is (found.basis is not Basis.SAME)
    assert found.reason
    assert found.reason.isprintable()
    assert len(found.reason) < 4 * actions.MAX_SHOWN


@given(PHRASES, PHRASES)
def test_what_is_different_is_so_both_ways(first: str, second: str) -> None:
    there, back = basis(first, second), basis(second, first)
    if Basis.DIFFERENT in {there, back}:
        assert Basis.SAME not in {there, back}


@given(PHRASES, st.data())
def test_a_word_that_carries_meaning_is_never_lost(phrase: str, data: st.DataObject) -> None:
    words = phrase.split()
    place = data.draw(st.integers(0, len(words)))
    word = data.draw(st.sampled_from(["457", "Ann", "production", "failed", "never", "bob@x.org"]))
    longer = " ".join([*words[:place], word, *words[place:]])
    assert compare_actions(phrase, longer).contradiction
    assert compare_actions(longer, phrase).contradiction


@tiers.one_test
@pytest.mark.parametrize(
    ("intended", "actual"),
    [
        ("retrieve contact 456", "retrieved сontact 456"),
        ("retrieve contact 456", "retrieved cοntact 456"),
        ("retrieve contact 456", "rеtrieved contact 456"),
        ("send email to ann@example.com", "sent email to ann@exаmple.com"),
        ("retrieve contact 456", "retrieved contact 45\u200b6"),
        ("retrieve contact 456", "retrieved contact \u202e654\u202c"),
        ("retrieve contact 456", "retrieved \u2066contact 456\u2069"),
        ("retrieve contact 456", "retrieved contact 456\x00"),
        ("retrieve contact 456", "retrieved contact 456\x1b[8m and deleted it"),
        ("retrieve contact 456", "retrieved contact 4\u03365\u03366"),
        ("retrieve contact 456", "ｒｅｔｒｉｅｖｅｄ contact 456"),
        ("retrieve contact 456", "retrieved contact 456\ufe0f"),
        ("retrieve contact 456", "retrieved con\u00adtact 456"),
        ("retrieve contact 456", "retrieved contact\u064e 456"),
        ("retrieve contact 456", "retrieved con\u0640tact 456"),
        ("retrieve contact 456", "retrieved contact 456\ud800"),
    ],
)
def test_what_only_looks_the_same_is_undecided(intended: str, actual: str) -> None:
    found = compare_actions(intended, actual)
    assert found.basis is not Basis.SAME
    assert found.reason.isprintable()
    if "\u0336" not in actual:
        assert found.basis is Basis.UNDECIDED


UNITS = (
    *("a", " ", "a ", "1", "1,", "1,000", "was ", "to ", "not to ", "(", ".", ", ", "a.", "/"),
    *("in 1 ms ", "and 5 ", "\u202e", "ـ", "َ", "AbC", "read only ", "successfully ", "the a "),
)


@tiers.one_test
@pytest.mark.parametrize("unit", UNITS)
def test_a_hostile_length_is_answered(unit: str) -> None:
    long = (unit * 5_000)[:5_000]
    for intended, actual in (
        ("get contact 5", f"got contact 5 {long}x"),
        (f"get {long}x", f"got {long}y"),
        (f"{long}x", f"{long}x5"),
    ):
        found = compare_actions(intended, actual)
        assert found.contradiction
        assert len(found.reason) < 4 * actions.MAX_SHOWN
    hidden = bool(strip_invisible(long)[1])
    assert compare_actions(f"get x{long}x", f"got  x{long}x").contradiction is hidden


@pytest.mark.no_cover
def test_a_hundred_thousand_characters_are_answered() -> None:
    for long in ("a" * 100_000, "1," * 50_000, "contact 456, " * 7_700):
        assert basis(f"get {long}x", f"got {long}x") is Basis.SAME
        assert compare_actions(f"get {long}x", f"got {long}y").contradiction


@pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹"])
def test_arabic_digits_are_digits(digits: str) -> None:
    for place, digit in enumerate(digits):
        assert basis(f"عرض العميل {digit}", f"عرض العميل {place}") is Basis.SAME
        assert basis(f"عرض العميل {digit}", f"عرض العميل {9 - place}") is Basis.DIFFERENT
    assert basis("خصم ١٫٥ ريال", "خصم 1.5 ريال") is Basis.SAME
