"""Contrast claims beside what a check would read for them in their whole document.

A claim that was written about a passage is judged, in a check, by what is found for it in all of
the document: under headings, among other passages that sound alike, cut to what the model reads at
once. Here it is found by the product's own path. The claim keeps its label where the passage was
found; where nothing of it was, the evidence is said to say nothing of the claim.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

from evidentia.documents.chunking import chunk_document
from evidentia.documents.reading.document import read_document
from evidentia.judges.nli.judge import NliJudge
from evidentia.judges.nli.meaning import with_meaning
from evidentia.judges.nli.reading import questions
from evidentia.language.markup import plain_text
from evidentia.language.statements import read_statement
from evidentia.language.words import content_stems, coverage, words
from evidentia.ledger.claims import extract_claims, whole_claim
from evidentia.ledger.corpus import make_corpus
from evidentia.ledger.evidence import Corpus, CorpusDocument, find_passages
from training.alignment import aligned
from training.claims_set import FOLDER, MarkedAnswer, read_answers
from training.contrast import GAP, MARK, TRAINED, trained_pairs
from training.data import Pair, sentences
from training.stages import document_of, passages_of

ENOUGH: Final = 0.6
"""What part of a passage must be in the evidence for its claims to keep their labels."""
ALIKE: Final = 0.5
"""How much of a claim other passages may say for it to be called not found in them."""
HEADED: Final = 0.75
"""How many of the passages of documents without headings get one."""
_SHORTEST_SENTENCE: Final = 4
_SHORTEST_WORD: Final = 4


def document_text(passages: Sequence[str], claims: Sequence[Pair], source: random.Random) -> str:
    """Return passages as a document in Markdown, most of them under a heading.

    A heading names what the claims about its passage are about: the words that most of them share
    with it.
    """
    of: defaultdict[str, list[str]] = defaultdict(list)
    for pair in claims:
        of[pair.evidence].append(pair.claim)
    parts: list[str] = []
    for passage in passages:
        if source.random() < HEADED:
            parts.append(f"## {_heading(passage, of[passage], source.randint(1, 4))}")
        parts.append(passage.replace(GAP, "\n\n"))
    return "\n\n".join(parts)


def _heading(passage: str, claims: Sequence[str], size: int) -> str:
    said = Counter(word.lower() for claim in claims for word in set(plain_text(claim).split()))
    here = dict.fromkeys(
        word.strip(".,;:()|*'\"") for word in plain_text(passage.replace(GAP, " ")).split()
    )
    named = [
        word
        for word in here
        if len(word) >= _SHORTEST_WORD and word.isalpha() and content_stems(words(word))
    ]
    chosen = sorted(named, key=lambda word: -said[word.lower()])[:size]
    return " ".join(sorted(chosen, key=list(here).index)).capitalize() or "Notes"


def corpus_of(texts: Mapping[str, str]) -> Corpus:
    """Return documents in Markdown, by their file names, as a check reads them."""
    chunks = [
        chunk
        for name, text in texts.items()
        for chunk in chunk_document(read_document(text.encode(), name), name)
    ]
    known_as = [CorpusDocument(id=name, filename=name, paged=False) for name in texts]
    return with_meaning(make_corpus(known_as, chunks), [NliJudge()])


def gathered(claim: str, corpus: Corpus) -> str | None:
    """Return what the model is given to read for a claim; None if it has several parts or none."""
    passages = find_passages(whole_claim(claim), corpus)
    asked = questions(claim, passages, [corpus.around(passage) for passage in passages])
    return asked[0].gathered if len(asked) == 1 and passages else None


def as_read(pair: Pair, text: str) -> Pair | None:
    """Return a pair with its evidence as read; None where nobody knows what it says of it."""
    read = _stemmed(text)
    wanted = [
        said
        for part in pair.evidence.split(GAP)
        for sentence in sentences(part)
        if len((said := _stemmed(sentence)).split()) >= _SHORTEST_SENTENCE
    ] or [_stemmed(pair.evidence)]
    found = sum(sentence in read for sentence in wanted) / len(wanted)
    if found >= ENOUGH or pair.label == "not_found":
        return replace(pair, evidence=text)
    if not found and coverage(_stems(pair.claim), _stems(text)) < ALIKE:
        return replace(pair, evidence=text, label="not_found")
    best = max(wanted, key=lambda sentence: coverage(_stems(pair.claim), _stems(sentence)))
    return replace(pair, evidence=text) if best in read else None


def _stemmed(text: str) -> str:
    return " ".join(word.stem for word in words(plain_text(text)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(read_statement(text).stems)


def of_document(given: tuple[str, list[Pair]], texts: Path, seed: int) -> list[Pair]:
    """Return the claims of one document beside what is read for them."""
    name, pairs = given
    whole = texts / f"{name}.md"
    if whole.exists():
        text = whole.read_text(encoding="utf-8")
    else:
        source = random.Random(f"{name} {seed}")
        passages = passages_of(pairs)[name]
        source.shuffle(passages)
        text = document_text(passages, pairs, source)
    corpus = corpus_of({f"{name}.md": text})
    found = [(pair, gathered(pair.claim, corpus)) for pair in pairs]
    return [new for pair, read in found if read and (new := as_read(pair, read))]


def of_answer(answer: MarkedAnswer, folder: Path) -> list[Pair]:
    """Return the claims of an answer, as they are taken out of it, beside what is read for them.

    They keep their labels, which hold for the whole documents: what decides is nearly always found.
    """
    corpus = corpus_of(documents_of(answer, folder))
    found: list[Pair] = []
    for one in aligned(answer, extract_claims(answer.answer).claims):
        read = gathered(one.claim.text, corpus)
        if read and one.marked == 1:
            source = f"{MARK}{answer.documents[0]}:{one.kind}"
            found.append(Pair(read, one.claim.text, one.label, source))
    return found


def documents_of(answer: MarkedAnswer, folder: Path) -> dict[str, str]:
    """Return the texts of the documents that an answer is about, by their file names."""
    kept = folder / "documents"
    return {name: (kept / name).read_text(encoding="utf-8") for name in answer.documents}


def all_as_read(data: Path, texts: Path, seed: int) -> Iterator[Pair]:
    """Give all contrast claims that are trained on beside what is read for them, by document."""
    documents: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in trained_pairs(data):
        documents[document_of(pair)].append(pair)
    with ProcessPoolExecutor(2) as pool:
        work = partial(of_document, texts=texts, seed=seed)
        for number, pairs in enumerate(pool.map(work, documents.items())):
            print(f"{number + 1}/{len(documents)} documents", flush=True)
            yield from pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("texts", type=Path, help="folder of the documents that are there whole")
    parser.add_argument("out", type=Path, help="JSON lines to write")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with given.out.open("w", encoding="utf-8") as out:
        for pair in all_as_read(given.data, given.texts, given.seed):
            out.write(json.dumps(asdict(pair)) + "\n")
        for answer in read_answers(TRAINED):
            for pair in of_answer(answer, FOLDER):
                out.write(json.dumps(asdict(pair)) + "\n")


if __name__ == "__main__":
    main()
