import json
import re
from collections import defaultdict
from dataclasses import fields
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from training.claims_counts import tables
from training.claims_set import (
    FOLDER,
    KINDS,
    LANGUAGES,
    OWN,
    SPLITS,
    ClaimPair,
    MarkedAnswer,
    labelled,
    pack,
    parse_answer,
    parse_document,
    read_answers,
    read_pairs,
    read_readings,
    unpack,
    write_rows,
)

from evidentia.judges.measuring import Label
from evidentia.workspace.evaluating import read_pairs as read_labelled_pairs

TWO_SPLITS = list(combinations(SPLITS, 2))
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "documents"
ORIGIN = re.compile(
    r"https://github\.com/[\w-]+/[\w-]+/blob/[0-9a-f]{40}/\S+\.md, "
    r"(CC0 1\.0|MIT \(Crown copyright\))"
)
GENRES = {
    "contract",
    "finance",
    "hr",
    "leaflet",
    "manual",
    "medical",
    "operations",
    "other",
    "policy",
    "public",
    "sql",
    "table",
    "technical",
    "terms",
}


@cache
def pairs_of(split: str) -> list[ClaimPair]:
    return read_pairs(split)


@cache
def answers_of(split: str) -> list[MarkedAnswer]:
    return read_answers(split)


def answers() -> list[MarkedAnswer]:
    return [answer for split in SPLITS for answer in answers_of(split)]


def folded(text: str) -> str:
    return " ".join(text.split())


def runs(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words[start : start + 8]) for start in range(len(words) - 7)}


@pytest.mark.parametrize("split", SPLITS)
def test_every_field_of_a_pair_says_what_it_may(split: str) -> None:
    for pair in pairs_of(split):
        for field in fields(pair):
            value = getattr(pair, field.name)
            assert value
            assert not isinstance(value, str) or value == value.strip()
        assert pair.kind in KINDS[pair.label]
        assert pair.language in LANGUAGES
        assert pair.genre in GENRES
        assert pair.origin == OWN or ORIGIN.fullmatch(pair.origin)
        assert "\n" not in pair.claim


@pytest.mark.parametrize("split", SPLITS)
def test_a_passage_has_eight_claims_and_one_evidence(split: str) -> None:
    passages: defaultdict[tuple[str, int], list[ClaimPair]] = defaultdict(list)
    for pair in pairs_of(split):
        passages[pair.document, pair.passage].append(pair)
    for pairs in passages.values():
        labels = [pair.label for pair in pairs]
        assert [labels.count(label) for label in KINDS] == [3, 3, 1, 1]
        assert len({pair.evidence for pair in pairs}) == 1
        assert len({folded(pair.claim).casefold() for pair in pairs}) == 8


@pytest.mark.parametrize("split", SPLITS)
def test_a_document_is_of_one_kind_and_its_passages_are_counted(split: str) -> None:
    documents: defaultdict[str, list[ClaimPair]] = defaultdict(list)
    for pair in pairs_of(split):
        documents[pair.document].append(pair)
    for pairs in documents.values():
        assert len({(pair.language, pair.genre, pair.origin) for pair in pairs}) == 1
        numbers = sorted({pair.passage for pair in pairs})
        assert numbers == list(range(1, len(numbers) + 1))
        assert len({folded(pair.evidence) for pair in pairs}) == len(numbers)


@pytest.mark.parametrize(("one", "other"), TWO_SPLITS)
def test_two_splits_share_no_document_no_evidence_and_no_claim(one: str, other: str) -> None:
    here, there = pairs_of(one), pairs_of(other)
    assert not {pair.document for pair in here} & {pair.document for pair in there}
    assert not {folded(pair.evidence) for pair in here} & {folded(pair.evidence) for pair in there}
    assert not {pair.claim.casefold() for pair in here} & {pair.claim.casefold() for pair in there}


@pytest.mark.parametrize(("one", "other"), TWO_SPLITS)
def test_passages_of_two_splits_are_not_nearly_the_same(one: str, other: str) -> None:
    holders: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for evidence in {pair.evidence for pair in pairs_of(one)}:
        for run in runs(evidence):
            holders[run].add(evidence)
    for evidence in {pair.evidence for pair in pairs_of(other)}:
        mine = runs(evidence)
        near: defaultdict[str, int] = defaultdict(int)
        for run in mine:
            for holder in holders.get(run, ()):
                near[holder] += 1
        for holder, shared in near.items():
            assert shared <= min(len(mine), len(runs(holder))) / 4, (evidence, holder)


def test_a_claim_of_an_answer_stands_where_it_says() -> None:
    assert len({answer.name for answer in answers()}) == len(answers())
    assert len(answers_of("test")) >= 30
    for answer in answers():
        end = 0
        assert answer.question.strip()
        assert answer.language in {"en", "ar"}
        for claim in answer.claims:
            assert end <= claim.start < claim.end <= len(answer.answer)
            assert answer.answer[claim.start : claim.end] == claim.text == claim.text.strip()
            assert claim.kind in KINDS[claim.label]
            end = claim.end
        assert not re.search("[⟦⟧]", answer.answer)


def test_the_documents_of_answers_are_here_and_each_in_one_split() -> None:
    origins = json.loads((FOLDER / "documents" / "ORIGIN.json").read_text(encoding="utf-8"))
    named = {
        split: {name for answer in answers_of(split) for name in answer.documents}
        for split in SPLITS
    }
    together = [name for names in named.values() for name in names]
    assert len(together) == len(set(together))
    assert set(together) == set(origins)
    assert set(origins) == {path.name for path in (FOLDER / "documents").glob("*.md")}
    for split, names in named.items():
        paired = {one: {pair.document for pair in pairs_of(one)} for one in SPLITS}
        elsewhere = set[str]().union(*(paired[one] for one in SPLITS if one != split))
        assert not {name.removesuffix(".md") for name in names} & elsewhere
    tested = {f"{pair.document}.md": pair.origin for pair in pairs_of("test")}
    for name, origin in origins.items():
        assert origin == tested.get(name, OWN)


@pytest.mark.parametrize("split", SPLITS)
def test_passages_of_real_documents_stand_in_them(split: str) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the public documents are not beside this checkout: ../shared/data/documents")
    origins = {
        entry["file"]: entry
        for entry in json.loads((PUBLISHED / "ORIGIN.json").read_text(encoding="utf-8"))
    }
    texts = {name: folded((PUBLISHED / name).read_text(encoding="utf-8")) for name in origins}
    real = [pair for pair in pairs_of(split) if pair.origin != OWN]
    assert real
    for pair in real:
        name = f"{pair.document}.md"
        assert folded(pair.evidence) in texts[name]
        for part in ("repository", "commit", "path", "licence"):
            assert origins[name][part] in pair.origin


def test_real_documents_of_answers_hold_the_passages_of_the_test_split() -> None:
    texts = {
        path.stem: folded(path.read_text(encoding="utf-8"))
        for path in (FOLDER / "documents").glob("*.md")
    }
    real = {(pair.document, pair.evidence) for pair in pairs_of("test") if pair.origin != OWN}
    assert real
    for document, evidence in real:
        assert folded(evidence) in texts[document]


def test_the_page_has_the_counts_of_the_set() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for table in tables():
        assert table in page


def test_second_readings_are_of_known_labels() -> None:
    documents = {pair.document for split in SPLITS for pair in pairs_of(split)}
    documents |= {answer.name for answer in answers()}
    for reading in read_readings():
        assert reading.document in documents
        assert reading.kind in KINDS[reading.first]
        assert reading.second in KINDS
        assert reading.other in {*KINDS, None} - {reading.second}


def test_what_is_unpacked_and_packed_again_is_the_same(tmp_path: Path) -> None:
    unpack(FOLDER, tmp_path / "texts")
    pack(tmp_path / "texts", tmp_path)
    for split in SPLITS:
        assert read_pairs(split, tmp_path) == pairs_of(split)
        assert read_answers(split, tmp_path) == answers_of(split)


def test_files_say_nothing_of_when_they_were_written() -> None:
    for path in FOLDER.glob("*.gz"):
        begin = path.read_bytes()[:8]
        assert begin[3:] == bytes(5), f"{path}: flags and time of the gzip header are not zero"


@pytest.mark.parametrize(("weak", "pairs"), [("not_supported", 250), (None, 0)])
def test_a_split_can_be_written_for_the_evaluation(
    tmp_path: Path, weak: str | None, pairs: int
) -> None:
    write_rows(tmp_path / "pairs.jsonl.gz", labelled(pairs_of("test"), weak=weak))
    found = read_labelled_pairs(tmp_path / "pairs.jsonl.gz")
    assert len(found) == 1750 + pairs
    assert sum(pair.label is Label.NOT_SUPPORTED for pair in found) == pairs


HEAD = "# document: d\n# genre: hr\n# language: en\n# origin: written for Evidentia\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD.replace("# genre: hr\n", ""), "no line '# genre: ...'"),
        (f"{HEAD}Some text.\n", "neither head nor passage"),
        (f"{HEAD}===\nSome text.\n+ number | It is so.\n", "a passage without '---'"),
        (f"{HEAD}===\nSome text.\n---\nIt is so.\n", "not 'sign kind | claim'"),
        (f"{HEAD}===\nSome text.\n---\n+ stronger | It is so.\n", "not a kind of supported"),
    ],
)
def test_what_is_wrong_in_a_text_is_said(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse_document(text)


def test_marks_are_taken_out_of_an_answer() -> None:
    head = "# documents: a.md, b.md\n# question: When?\n# language: en\n=====\n"
    answer = parse_answer("test", "x", f"{head}Yes: ⟦+ date: on Monday⟧.\n")
    assert answer.answer == "Yes: on Monday.\n"
    assert answer.documents == ("a.md", "b.md")
    assert [(claim.start, claim.end) for claim in answer.claims] == [(5, 14)]
    with pytest.raises(ValueError, match="a mark is not"):
        parse_answer("test", "x", f"{head}Yes: ⟦on Monday⟧.\n")
