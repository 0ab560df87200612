"""Pairs are judged as answers are: the same passages, judges and rules, and nothing kept."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.documents.chunking import CHUNK_SIZE
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.judges import JUDGES, make_judges
from evidentia.judges.measuring import Label
from evidentia.ledger.claims import extract_claims, whole_claim
from evidentia.ledger.judging import Judge
from evidentia.ledger.model import ClaimType, EvidenceMatch, Importance, Verdict
from evidentia.workspace import evaluating, open_workspace
from evidentia.workspace.evaluating import (
    Pair,
    check_pair,
    chosen_judges,
    evaluate,
    evidence_corpus,
    known_judges,
    read_pairs,
    together,
)
from ledger.corpora import chunks_in
from ledger.stubs import broken

LEAVE = (
    "All employees receive 15 days of paid annual leave per year. Sick leave is not limited. "
    "Requests must be submitted at least 14 days before the leave begins."
)
CLAIMS = (
    "All employees receive 15 days of paid annual leave per year.",
    "All employees receive 20 days of paid annual leave per year.",
    "Employees receive 15 days of paid leave.",
    "The office has a red door.",
    "You must submit requests at least 14 days before the leave begins.",
    "If they are ill, employees receive 15 days of paid annual leave per year.",
)
OF_WORDS = make_judges(["quote", "numbers"])
PAIRS = [
    Pair(LEAVE, CLAIMS[0], Label.SUPPORTED, 1),
    Pair(LEAVE, CLAIMS[1], Label.CONTRADICTED, 2),
    Pair(LEAVE, CLAIMS[3], Label.NOT_FOUND, 3),
]


def write(path: Path, *lines: object, packed: bool = False) -> Path:
    data = b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    return path


def a_pair(**changes: object) -> dict[str, object]:
    return {"evidence": LEAVE, "claim": CLAIMS[0], "label": "supported", **changes}


@pytest.mark.parametrize(
    ("filling", "names", "claims"), [(60, ["quote", "numbers"], CLAIMS), (0, None, CLAIMS[:2])]
)
def test_a_pair_gets_what_a_check_of_the_same_texts_gives(
    filling: int, names: list[str] | None, claims: Sequence[str], tmp_path: Path
) -> None:
    other = "".join(f"Form {place} is kept in archive {place % 7}.\n\n" for place in range(filling))
    evidence = other + LEAVE
    (tmp_path / "evidence.txt").write_text(evidence)
    with open_workspace(tmp_path / "home") as workspace:
        documents = workspace.ingest(tmp_path / "evidence.txt")
        ledgers = [workspace.check(claim, against=documents, judges=names) for claim in claims]
    for claim, ledger in zip(claims, ledgers, strict=True):
        (checked,) = ledger.entries
        found = check_pair(evidence, claim, chosen_judges(names or ()))
        assert found.verdict is checked.verdict
        assert found.confidence_score == checked.confidence_score
        assert found.component_confidence == checked.component_confidence
        assert [_said(match) for match in found.evidence] == [
            _said(match) for match in checked.evidence
        ]


def _said(match: EvidenceMatch) -> tuple[float, str, str, str]:
    """Return what a match says, and the chunk that it was found in."""
    chunk = match.passage.chunk_hash if match.passage else ""
    return match.similarity, match.snippet, match.reason, chunk


def test_long_evidence_is_cut_and_searched() -> None:
    filling = "The archive keeps a copy of every form that anyone has signed. " * 4_000
    corpus = evidence_corpus(f"{filling}\n\n{LEAVE}\n\n{filling}")
    assert all(len(chunk.text) <= CHUNK_SIZE for chunk in chunks_in(corpus))
    found = check_pair(f"{filling}\n\n{LEAVE}\n\n{filling}", CLAIMS[0], OF_WORDS)
    assert found.verdict is Verdict.SUPPORTED


def test_a_text_stays_one_claim_of_the_type_it_would_have_in_an_answer() -> None:
    whole = whole_claim("Leave is granted. It must be requested.")
    assert whole.text == whole.source_text == "Leave is granted. It must be requested."
    assert (whole.start, whole.end) == (0, len(whole.text))
    assert (whole.type, whole.importance) == (ClaimType.POLICY, Importance.MATERIAL)
    for text in CLAIMS:
        (extracted,) = extract_claims(text).claims
        assert whole_claim(text).type is extracted.type
    with pytest.raises(InputError, match="lone surrogate"):
        whole_claim("\ud800")


def test_figures_are_of_the_pairs_and_the_wrong_ones_are_named() -> None:
    wrong = Pair(LEAVE, CLAIMS[3], Label.SUPPORTED, 4)
    found = evaluate("leave", [*PAIRS, wrong], OF_WORDS)
    assert found.figures.pairs == 4
    assert found.figures.balanced_accuracy == 0.75
    assert [one.pair for one in found.wrong] == [wrong]
    assert found.judged[1].reasons[0].startswith("numbers: contradicts, 0.95: the passage says")
    assert found.pairs_per_second is None or found.pairs_per_second > 0


def test_no_evidence_bears_nothing_out() -> None:
    assert check_pair("", "The office has a red door.", OF_WORDS).verdict is Verdict.NOT_FOUND


@given(st.permutations(PAIRS), st.integers(0, 3))
def test_neither_the_order_of_pairs_nor_how_they_are_parted_makes_a_difference(
    pairs: Sequence[Pair], cut: int
) -> None:
    parts = [evaluate("a", pairs[:cut], OF_WORDS), evaluate("b", pairs[cut:], OF_WORDS)]
    assert together(parts).figures == evaluate("whole", PAIRS, OF_WORDS).figures


def test_what_cannot_be_judged_is_counted_with_its_reasons() -> None:
    found = evaluate("leave", PAIRS[:2], [broken()])
    assert found.figures.not_judged == 2
    assert found.figures.balanced_accuracy == 0.0
    ((reason, times),) = found.failures
    assert times == 2
    assert "no model at hand" in reason


def test_progress_is_told_pair_by_pair() -> None:
    told: list[int] = []
    evaluate("leave", PAIRS, OF_WORDS, told.append)
    assert told == [1, 2, 3]


def test_judges_are_those_of_a_check_or_those_named_in_their_order() -> None:
    assert [judge.name for judge in chosen_judges()] == [one.name for one in make_judges()]
    named = chosen_judges(["numbers", "quote"])
    assert [judge.name for judge in named] == ["numbers", "quote"]
    with pytest.raises(InputError, match="judge 'oracle' is unknown"):
        chosen_judges(["oracle"])


def test_known_judges_say_what_they_do_and_why_they_cannot_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent() -> Judge:
        """Asks a model that is not there."""
        raise EnvironmentProblem("the model\nis not here")

    def weighty() -> Judge:
        judge = broken()
        judge.digest = "sha256:abc"  # type: ignore[attr-defined]
        return judge

    monkeypatch.setitem(JUDGES, "absent", absent)
    monkeypatch.setitem(JUDGES, "weighty", weighty)
    found = {judge.name: judge for judge in known_judges()}
    assert found["quote"].about == "Compares words; knows nothing of their meaning."
    assert (found["quote"].problem, found["quote"].digest) == (None, None)
    assert found["absent"].about == "Asks a model that is not there."
    assert found["absent"].problem == "the model is not here"
    assert (found["weighty"].about, found["weighty"].digest) == ("", "sha256:abc")


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_content_tells_whether_a_file_is_packed(
    name: str,
    packed: bool,  # noqa: FBT001 - a column of the table
    tmp_path: Path,
) -> None:
    path = write(tmp_path / name, a_pair(), b"", a_pair(label="not_supported"), packed=packed)
    assert [(pair.label.value, pair.line) for pair in read_pairs(path)] == [
        ("supported", 1),
        ("not_supported", 3),
    ]


def test_only_the_first_pairs_are_read_if_so_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", a_pair(), a_pair(), b"not JSON")
    assert len(read_pairs(path, 2)) == 2
    with pytest.raises(InputError, match="line 3"):
        read_pairs(path, 3)


def test_a_byte_order_mark_is_no_part_of_the_first_pair(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", b"\xef\xbb\xbf" + json.dumps(a_pair()).encode())
    assert len(read_pairs(path)) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "not JSON: .*"),
        (b"\xff", "not JSON: .*"),
        (b"[" * 100_000, "not JSON: .*"),
        (b'"text"', "not an object: each line is one with evidence, claim, label"),
        ({"claim": "a", "label": "supported"}, "'evidence' is missing: each line has .*"),
        (a_pair(claim=None), "'claim' must be text: each line has evidence, claim, label"),
        (a_pair(claim=" \n"), "'claim' is empty: there is nothing to judge"),
        (
            a_pair(label="true"),
            "label 'true' is unknown: use one of supported, weak, contradicted, .*",
        ),
    ],
)
def test_a_line_that_is_no_pair_is_named_with_what_is_wrong(
    line: object, problem: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "pairs.jsonl", a_pair(), line)
    with pytest.raises(InputError, match=rf"pairs\.jsonl, line 2: {problem}$"):
        read_pairs(path)


def test_what_no_document_can_hold_is_replaced(tmp_path: Path) -> None:
    line = b'{"evidence": "a\\u0000b \\ud800", "claim": "c", "label": "supported"}'
    (pair,) = read_pairs(write(tmp_path / "pairs.jsonl", line))
    assert pair.evidence == "a\ufffdb \ufffd"


def test_a_line_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluating, "MAX_LINE_BYTES", 100)
    path = write(tmp_path / "pairs.jsonl", a_pair())
    with pytest.raises(InputError, match="line 1: longer than 100 bytes"):
        read_pairs(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_a_file_without_a_pair_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="there is no pair in it"):
        read_pairs(path)


def test_a_file_that_is_not_there_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"nowhere\.jsonl: no such file"):
        read_pairs(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_pairs(tmp_path)


@pytest.mark.parametrize("damage", [slice(0, -9), slice(0, 20)])
def test_a_damaged_packed_file_is_refused(damage: slice, tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl.gz", a_pair(), packed=True)
    path.write_bytes(path.read_bytes()[damage])
    with pytest.raises(InputError, match="the gzip file is damaged or cut short"):
        read_pairs(path)
    path.write_bytes(b"\x1f\x8b" + b"\0" * 40)
    with pytest.raises(InputError, match="the gzip file is damaged or cut short"):
        read_pairs(path)
