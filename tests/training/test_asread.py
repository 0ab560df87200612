"""Claims beside what a check reads for them: which label they keep, and which evidence they get."""

import random
from pathlib import Path

from training.asread import as_read, corpus_of, document_text, gathered, of_document
from training.contrast import MARK
from training.data import Pair

RENT = "The rent is 900 euros a month. It is due on the first working day of each month."
DOGS = "Dogs may be kept if the landlord agrees in writing. Cats need no consent at all."
KEYS = "Two sets of keys are handed over. A lost key is replaced at the tenant's expense."


def pair(evidence: str, claim: str, label: str = "supported") -> Pair:
    return Pair(evidence, claim, label, f"{MARK}lease:paraphrase")


PAIRS = [
    pair(RENT, "Tenants pay 900 euros every month."),
    pair(DOGS, "A dog needs no consent by the landlord.", "contradicted"),
    pair(KEYS, "Whoever loses a key pays for the new one."),
]


def test_a_claim_keeps_its_label_where_its_passage_was_read() -> None:
    read = as_read(PAIRS[0], f"Rent . {RENT} {KEYS}")
    assert read is not None
    assert (read.label, read.evidence) == ("supported", f"Rent . {RENT} {KEYS}")


def test_a_claim_is_not_found_in_what_has_nothing_of_its_passage() -> None:
    read = as_read(PAIRS[0], f"Keys . {KEYS}")
    assert read is not None
    assert read.label == "not_found"


def test_a_claim_that_other_passages_may_say_too_is_left_out() -> None:
    assert as_read(PAIRS[0], "Tenants pay 900 euros monthly, every month.") is None


def test_what_is_read_comes_from_the_whole_document_under_its_headings() -> None:
    text = f"# Lease\n\n## Rent\n\n{RENT}\n\n## Pets\n\n{DOGS}\n"
    read = gathered("A dog needs the landlord's consent.", corpus_of({"lease.md": text}))
    assert read is not None
    assert "Pets ." in read
    assert "Dogs may be kept" in read


def test_passages_become_a_document_with_headings_of_what_their_claims_are_about() -> None:
    text = document_text([RENT, DOGS, KEYS], PAIRS, random.Random(3))
    for passage in (RENT, DOGS, KEYS):
        assert passage in text
    assert "## " in text


def test_the_claims_of_a_document_are_read_in_it(tmp_path: Path) -> None:
    found = of_document(("lease", PAIRS), tmp_path, 1)
    assert [one.claim for one in found] == [one.claim for one in PAIRS]
    assert all(one.evidence not in {RENT, DOGS, KEYS} for one in found)
