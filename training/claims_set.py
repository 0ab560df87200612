"""The claims that were written for Evidentia: the set as it is kept, and as text to be edited.

`training/claims` holds the set as gzip JSON lines, one object a pair or an answer. `unpack` writes
it as text, a file a document; `pack` reads such files and writes the set. Nothing is lost on the
way: what was unpacked and packed again has the same lines. No clock and no chance has a part in it.
"""

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "claims"
SPLITS: Final = ("train", "calibrate", "test")
LABELS: Final = {"+": "supported", "-": "contradicted", "~": "weak", "?": "not_found"}
KINDS: Final = {
    "supported": (
        "paraphrase",
        "number",
        "unit",
        "date",
        "name",
        "joined",
        "inference",
        "order",
        "negation",
        "table",
    ),
    "contradicted": (
        "number",
        "unit",
        "date",
        "name",
        "negation",
        "condition",
        "quantifier",
        "modality",
        "relation",
        "subject",
    ),
    "weak": ("missing limit", "stronger", "extra fact", "too general"),
    "not_found": ("not said",),
}
LANGUAGES: Final = ("en", "ar", "en-ar", "ar-en")
"""Of evidence and claim; where two are named, the evidence is in the first."""
OWN: Final = "written for Evidentia"
ELSEWHERE: Final = "[...]"
"""The line between two places of a document that are one piece of evidence."""

_SIGNS: Final = {label: sign for sign, label in LABELS.items()}
_HEAD: Final = re.compile(r"# (document|genre|language|origin): (.+)")
_CLAIM: Final = re.compile(r"([-+~?]) ([a-z ]+) \| (\S.*)")
_ANSWER_HEAD: Final = re.compile(r"# (documents|question|language): (.+)")
_MARK: Final = re.compile(r"⟦([-+~?]) ([a-z ]+): ([^⟦⟧]+)⟧")
_BODY: Final = "\n=====\n"


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim beside its evidence; `passage` counts the passages of a document from 1."""

    document: str
    passage: int
    evidence: str
    claim: str
    label: str
    kind: str
    language: str
    genre: str
    origin: str


@dataclass(frozen=True, slots=True)
class MarkedClaim:
    """A claim of an answer: `start` and `end` count code points of the answer's text."""

    start: int
    end: int
    text: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """A whole answer to a question about documents, with its claims in their order."""

    split: str
    name: str
    question: str
    answer: str
    language: str
    documents: tuple[str, ...]
    claims: tuple[MarkedClaim, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim's label, and what a second reader said who did not know it.

    `other` is the label that the second reader named as possible too, if any.
    """

    sample: str
    document: str
    claim: str
    kind: str
    first: str
    second: str
    other: str | None


def read_pairs(split: str, folder: Path = FOLDER) -> list[ClaimPair]:
    """Read the pairs of a split."""
    return [ClaimPair(**row) for row in _rows(folder / f"{split}.jsonl.gz")]


def read_answers(split: str, folder: Path = FOLDER) -> list[MarkedAnswer]:
    """Read the answers of a split with their claims."""
    return [
        MarkedAnswer(
            **row
            | {
                "documents": tuple(row["documents"]),
                "claims": tuple(MarkedClaim(**claim) for claim in row["claims"]),
            }
        )
        for row in _rows(folder / "answers.jsonl.gz")
        if row["split"] == split
    ]


def read_readings(folder: Path = FOLDER) -> list[Reading]:
    """Read what the second readers said of the claims as they were before any was mended."""
    return [Reading(**row) for row in _rows(folder / "readings.jsonl.gz")]


def parse_document(text: str) -> list[ClaimPair]:
    """Return the pairs of a document that is written as text; `ValueError` says what is wrong."""
    head: dict[str, str] = {}
    lines = text.split("\n")
    while lines and (found := _HEAD.fullmatch(lines[0])):
        head[found[1]] = found[2]
        lines.pop(0)
    for key in ("document", "genre", "language", "origin"):
        if key not in head:
            raise ValueError(f"there is no line '# {key}: ...' at the head")
    pairs: list[ClaimPair] = []
    for number, (evidence, claims) in enumerate(_passages(lines), 1):
        for line in claims:
            sign, kind, claim = _claim(line)
            pairs.append(
                ClaimPair(
                    document=head["document"],
                    passage=number,
                    evidence=evidence,
                    claim=claim,
                    label=LABELS[sign],
                    kind=kind,
                    language=head["language"],
                    genre=head["genre"],
                    origin=head["origin"],
                )
            )
    return pairs


def render_document(pairs: Sequence[ClaimPair]) -> str:
    """Return the pairs of one document as text."""
    first = pairs[0]
    lines = [
        f"# document: {first.document}",
        f"# genre: {first.genre}",
        f"# language: {first.language}",
        f"# origin: {first.origin}",
    ]
    passage = 0
    for pair in pairs:
        if pair.passage != passage:
            passage = pair.passage
            lines += ["===", pair.evidence, "---"]
        lines.append(f"{_SIGNS[pair.label]} {pair.kind} | {pair.claim}")
    return "\n".join(lines) + "\n"


def parse_answer(split: str, name: str, text: str) -> MarkedAnswer:
    """Return an answer whose claims are marked, without the marks, and where its claims stand."""
    head_text, _, body = text.partition(_BODY)
    head = {}
    for line in head_text.split("\n"):
        if not (found := _ANSWER_HEAD.fullmatch(line)):
            raise ValueError(f"not a line of the head: {line}")
        head[found[1]] = found[2]
    answer, claims, done = "", [], 0
    for mark in _MARK.finditer(body):
        answer += body[done : mark.start()]
        sign, kind, claim = mark.groups()
        _check_kind(sign, kind)
        start = len(answer)
        answer += claim
        claims.append(MarkedClaim(start, len(answer), claim, LABELS[sign], kind))
        done = mark.end()
    answer += body[done:]
    if "⟦" in answer or "⟧" in answer:
        raise ValueError("a mark is not '⟦sign kind: claim⟧'")
    return MarkedAnswer(
        split=split,
        name=name,
        question=head["question"],
        answer=answer,
        language=head["language"],
        documents=tuple(head["documents"].split(", ")),
        claims=tuple(claims),
    )


def render_answer(answer: MarkedAnswer) -> str:
    """Return an answer as text with its claims marked."""
    body, done = "", 0
    for claim in answer.claims:
        body += answer.answer[done : claim.start]
        body += f"⟦{_SIGNS[claim.label]} {claim.kind}: {claim.text}⟧"
        done = claim.end
    head = (
        f"# documents: {', '.join(answer.documents)}\n"
        f"# question: {answer.question}\n"
        f"# language: {answer.language}"
    )
    return head + _BODY + body + answer.answer[done:]


def unpack(folder: Path, texts: Path) -> None:
    """Write the set as text: a folder a split, a file a document or an answer."""
    for split in SPLITS:
        documents: defaultdict[str, list[ClaimPair]] = defaultdict(list)
        for pair in read_pairs(split, folder):
            documents[pair.document].append(pair)
        for name, pairs in documents.items():
            _write_text(texts / split / f"{name}.txt", render_document(pairs))
        for answer in read_answers(split, folder):
            _write_text(texts / "answers" / split / f"{answer.name}.md", render_answer(answer))


def pack(texts: Path, folder: Path) -> None:
    """Write the set from its text, in the order of the files' names."""
    for split in SPLITS:
        pairs: list[ClaimPair] = []
        for path in sorted((texts / split).glob("*.txt")):
            try:
                pairs += parse_document(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
        write_rows(folder / f"{split}.jsonl.gz", map(asdict, pairs))
    answers = [
        parse_answer(split, path.stem, path.read_text(encoding="utf-8"))
        for split in SPLITS
        for path in sorted((texts / "answers" / split).glob("*.md"))
    ]
    write_rows(folder / "answers.jsonl.gz", map(asdict, answers))


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write objects as gzip JSON lines that say nothing of when and where they were written."""
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as lines,
    ):
        for row in rows:
            lines.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())


def labelled(pairs: Iterable[ClaimPair], *, weak: str | None) -> Iterator[dict[str, str]]:
    """Give pairs as `evidentia judge eval` reads them: `weak` ones under another label, or not."""
    for pair in pairs:
        label = weak if pair.label == "weak" else pair.label
        if label is not None:
            yield {"evidence": pair.evidence, "claim": pair.claim, "label": label}


def kappa(readings: Sequence[Reading]) -> float:
    """Return Cohen's kappa: how much more two readers agree than they would by chance."""
    first = Counter(one.first for one in readings)
    second = Counter(one.second for one in readings)
    chance = sum(first[label] * second[label] for label in first) / len(readings) ** 2
    agreed = sum(one.first == one.second for one in readings) / len(readings)
    return (agreed - chance) / (1 - chance)


def _passages(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    parts = "\n".join(["", *lines]).split("\n===\n")
    if parts[0].strip():
        raise ValueError(f"neither head nor passage: {parts[0].strip()[:60]}")
    for part in parts[1:]:
        evidence, mark, claims = part.partition("\n---\n")
        if not mark or not evidence.strip():
            raise ValueError(f"a passage without '---' or without text: {part[:60]}")
        yield evidence, [line for line in claims.split("\n") if line]


def _claim(line: str) -> tuple[str, str, str]:
    found = _CLAIM.fullmatch(line)
    if not found:
        raise ValueError(f"not 'sign kind | claim': {line}")
    sign, kind, claim = found.groups()
    _check_kind(sign, kind)
    return sign, kind, claim


def _check_kind(sign: str, kind: str) -> None:
    if kind not in KINDS[LABELS[sign]]:
        raise ValueError(f"{kind!r} is not a kind of {LABELS[sign]} claims")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("unpack", "write the set as text"), ("pack", "make the set of text")):
        command = commands.add_parser(name, help=about)
        command.add_argument("texts", type=Path, help="folder of the text")
    pairs = commands.add_parser("pairs", help="write a split for 'evidentia judge eval'")
    pairs.add_argument("split", choices=SPLITS)
    pairs.add_argument("out", type=Path, help="gzip JSON lines to write")
    pairs.add_argument("--weak", choices=["not_supported", "left_out"], default="not_supported")
    given = parser.parse_args()
    if given.command == "unpack":
        unpack(FOLDER, given.texts)
    elif given.command == "pack":
        pack(given.texts, FOLDER)
    else:
        weak = None if given.weak == "left_out" else given.weak
        write_rows(given.out, labelled(read_pairs(given.split), weak=weak))


if __name__ == "__main__":
    main()
