"""Evaluating judges: labelled pairs of evidence and claim go the way that answers go.

The evidence is a document: cut into chunks, indexed, searched; the claim is one claim; the judges
and the rules of verdicts are those of a check. Nothing is kept and nothing is recorded.
"""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Final

from evidentia.canonical import sha256_hex
from evidentia.documents.chunking import chunk_document
from evidentia.documents.hashing import generate_chunk_hash
from evidentia.documents.model import Page, ReadDocument
from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError, NotFoundError
from evidentia.frozen import FrozenList
from evidentia.judges import JUDGES, can_read_meaning, make_judges
from evidentia.judges.checkpoint.calibration import Calibration, Scale, fit_scale, log_loss
from evidentia.judges.checkpoint.judge import Read
from evidentia.judges.checkpoint.model import checkpoint_judge
from evidentia.judges.measuring import Figures, Label, Outcome, measure, support_probability
from evidentia.judges.nli.meaning import with_meaning
from evidentia.ledger.checking import CheckContext, check_claims
from evidentia.ledger.claims import ExtractedClaims, whole_claim
from evidentia.ledger.corpus import make_corpus
from evidentia.ledger.evidence import Corpus, CorpusDocument, find_passages
from evidentia.ledger.judging import Judge
from evidentia.ledger.model import EvidenceMatch, LedgerEntry, Verdict
from evidentia.loading.pieces import in_order
from evidentia.loading.workers import Bulk

MAX_LINE_BYTES: Final = 64 * 2**20
_PAIRS_AT_ONCE: Final = 20
"""How many pairs are a piece of bulk work: those beside each other often share their evidence."""
_KEYS: Final = ("evidence", "claim", "label")
_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_DOCUMENT: Final = "doc_evidence"
_CONTEXT: Final = CheckContext(
    session_id="ses_evaluation",
    created_at="1970-01-01T00:00:00Z",  # nothing here has a date to compare with
    today=date(1970, 1, 1),
    issued_anchors={},
    anchor_of=generate_chunk_hash,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Evidence, a claim, and what is known of the two; `line` is where it stands in its file."""

    evidence: str
    claim: str
    label: Label
    line: int = 0


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair with what was found, the entry's notes, and what each judge said of each passage."""

    pair: Pair
    outcome: Outcome
    notes: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The pairs of one set, judged, and how long that took."""

    name: str
    judged: tuple[JudgedPair, ...]
    seconds: float

    @property
    def figures(self) -> Figures:
        """How right the judges were."""
        return measure([one.outcome for one in self.judged])

    @property
    def pairs_per_second(self) -> float | None:
        """How fast they were; None if it took no time that could be measured."""
        return len(self.judged) / self.seconds if self.seconds else None

    @property
    def wrong(self) -> tuple[JudgedPair, ...]:
        """The pairs that were taken for what they are not, or could not be judged."""
        return tuple(one for one in self.judged if not one.outcome.is_right)

    @property
    def failures(self) -> list[tuple[str, int]]:
        """Why pairs could not be judged, and how many for each reason, the most frequent first."""
        notes = Counter(
            one.notes for one in self.judged if one.outcome.verdict is Verdict.NOT_JUDGED
        )
        return sorted(notes.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A judge by name: what it does, and why it cannot be asked if it cannot."""

    name: str
    about: str
    digest: str | None
    problem: str | None


def known_judges() -> list[KnownJudge]:
    """Return every judge that can be named, in the order they are asked."""
    found = []
    for name, make in JUDGES.items():
        about = (make.__doc__ or "").strip().partition("\n")[0]
        try:
            (judge,) = make_judges([name])
            known = KnownJudge(name, about, digest_of(judge), None)
        except Exception as error:  # noqa: BLE001 - whatever stands in the way is what is asked for
            problem = " ".join(str(error).split()) or type(error).__name__
            known = KnownJudge(name, about, None, problem)
        found.append(known)
    return found


def digest_of(judge: Judge) -> str | None:
    """Return the digest of a judge's model, if it has one."""
    digest = getattr(judge, "digest", None)
    return None if digest is None else str(digest)


def chosen_judges(names: Sequence[str] = ()) -> list[Judge]:
    """Return the named judges in the given order, or those that a check asks by default."""
    return [make_judges([name])[0] for name in names] if names else make_judges()


def read_pairs(path: Path, limit: int | None = None) -> list[Pair]:
    """Read labelled pairs from JSON lines, plain or gzip; the first `limit` of them if given.

    Raises `NotFoundError` or `InputError`, which name the file and the line.
    """
    try:
        with path.open("rb") as file:
            zipped = file.peek(len(_GZIP)).startswith(_GZIP)
            with gzip.GzipFile(fileobj=file) if zipped else file as lines:
                pairs = list(_pairs(lines, path, limit))
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}: the gzip file is damaged or cut short ({error}): get it again"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not pairs:
        raise InputError(f"{path}: there is no pair in it: give JSON lines with {', '.join(_KEYS)}")
    return pairs


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as they are, packed or not."""
    return sha256_hex(path.read_bytes())


def evaluate(
    name: str,
    pairs: Sequence[Pair],
    judges: Sequence[Judge],
    progress: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Judge pairs one after the other; `progress` is told how many are done."""
    started = perf_counter()
    judged = []
    for done, pair in enumerate(pairs, 1):
        judged.append(_judged(pair, check_pair(pair.evidence, pair.claim, judges)))
        progress(done)
    return Evaluation(name, tuple(judged), perf_counter() - started)


def evaluate_in_bulk(
    bulk: Bulk,
    name: str,
    pairs: Sequence[Pair],
    judges: Sequence[str],
    progress: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Judge pairs as `evaluate` does, by workers and by judges that are named."""
    started = perf_counter()
    judged: list[JudgedPair] = []
    pieces = [
        (number, tuple(pairs[start : start + _PAIRS_AT_ONCE]))
        for number, start in enumerate(range(0, len(pairs), _PAIRS_AT_ONCE))
    ]
    with closing(bulk.run(judging_pairs, tuple(judges), pieces)) as running:
        for done in in_order(running, lambda piece: int(piece[0])):
            if isinstance(done.answer, EvidentiaError):
                raise done.answer
            if not isinstance(done.answer, tuple):
                raise EnvironmentProblem(
                    f"{name}: the worker that judged pairs from {done.question[1][0].line} on "
                    f"ended, {done.tries} times ({done.answer})"
                )
            judged += done.answer
            progress(len(judged))
    return Evaluation(name, tuple(judged), perf_counter() - started)


def judging_pairs(
    names: tuple[str, ...],
) -> Callable[[tuple[int, tuple[Pair, ...]]], tuple[JudgedPair, ...]]:
    """Get ready to judge pairs: load what the named judges need."""
    judges = chosen_judges(names)

    def do(piece: tuple[int, tuple[Pair, ...]]) -> tuple[JudgedPair, ...]:
        return tuple(
            _judged(pair, check_pair(pair.evidence, pair.claim, judges)) for pair in piece[1]
        )

    return do


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A checkpoint's calibration, and the mean surprise at the pairs without and with it."""

    calibration: Calibration
    loss_before: float
    loss_after: float


def calibrate(
    folder: Path,
    pairs: Sequence[Pair],
    data_sha256: str,
    progress: Callable[[int], None] = lambda _: None,
) -> Calibrated:
    """Fit the scales of a checkpoint on labelled pairs, read as a check reads them.

    Contradictions have a scale of their own where the model has a label for them, and enough pairs
    say which they are. Nothing is written.
    """
    judge = checkpoint_judge(folder, calibrated=False, reads_meaning=can_read_meaning())
    found: list[tuple[Label, Read]] = []
    for done, pair in enumerate(pairs, 1):
        claim = whole_claim(pair.claim)
        passages = find_passages(claim, _corpus_for(pair.evidence, (judge,)))
        if passages:
            found.append((pair.label, judge.read(pair.claim, passages)))
        progress(done)
    support = [read.support for _, read in found]
    supported = [label is Label.SUPPORTED for label, _ in found]
    scale = fit_scale(support, supported)
    calibration = Calibration(
        support=scale,
        contradiction=_contradiction_scale(found),
        pairs=len(found),
        data_sha256=data_sha256,
    )
    after = [scale.apply(one) for one in support]
    return Calibrated(calibration, log_loss(support, supported), log_loss(after, supported))


def _contradiction_scale(found: Sequence[tuple[Label, Read]]) -> Scale | None:
    told = [(label, read) for label, read in found if label is not Label.NOT_SUPPORTED]
    against = [label is Label.CONTRADICTED for label, _ in told]
    try:
        return fit_scale([read.contradiction for _, read in told], against)
    except InputError:
        return None


def together(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return several sets as one."""
    judged = tuple(one for evaluation in evaluations for one in evaluation.judged)
    return Evaluation("all together", judged, sum(one.seconds for one in evaluations))


def check_pair(evidence: str, claim: str, judges: Sequence[Judge]) -> LedgerEntry:
    """Check a text as one claim against another text as the only document."""
    extracted = ExtractedClaims(FrozenList([whole_claim(claim)]), FrozenList())
    corpus = _corpus_for(evidence, tuple(judges))
    ledger = check_claims(claim, extracted, corpus, judges, _CONTEXT)
    return ledger.entries[0]


@lru_cache(maxsize=64)
def _corpus_for(evidence: str, judges: tuple[Judge, ...]) -> Corpus:
    """Return a text as the corpus that judges are given; pairs often share their evidence."""
    return with_meaning(evidence_corpus(evidence), judges)


def evidence_corpus(evidence: str) -> Corpus:
    """Return a text as a corpus of one document: plain, without pages and headings."""
    document = ReadDocument(
        filename="evidence.txt",
        media_type="text/plain",
        sha256=sha256_hex(evidence.encode()),
        pages=(Page(1, evidence),),
        headings=(),
        language=None,
        direction="ltr",
        title=None,
        created=None,
        modified=None,
    )
    known_as = CorpusDocument(id=_DOCUMENT, filename=document.filename, paged=False)
    return make_corpus([known_as], chunk_document(document, _DOCUMENT))


def _judged(pair: Pair, entry: LedgerEntry) -> JudgedPair:
    outcome = Outcome(pair.label, entry.verdict, support_probability(entry), entry.support)
    return JudgedPair(pair, outcome, entry.notes, tuple(map(_reason, entry.evidence)))


def _reason(match: EvidenceMatch) -> str:
    says = "contradicts" if match.contradicts else f"{match.support_level.value} support"
    return f"{match.judge}: {says}, {match.similarity:.2f}: {match.reason}"


def _pairs(lines: IO[bytes] | gzip.GzipFile, path: Path, limit: int | None) -> Iterator[Pair]:
    found = 0
    for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE_BYTES + 1), b""), 1):
        if found == limit:
            return
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{path}, line {number}: longer than {MAX_LINE_BYTES:,} bytes: each pair is a line"
            )
        text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
        if text:
            found += 1
            try:
                yield _pair(json.loads(text), number)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
            except (ValueError, RecursionError):
                raise InputError(f"{path}, line {number}: not JSON: each pair is a line") from None


def _pair(value: Any, line: int) -> Pair:
    if not isinstance(value, dict):
        raise InputError(f"not an object: each line is one with {', '.join(_KEYS)}")
    for key in _KEYS:
        if not isinstance(value.get(key), str):
            lacks = "must be text" if key in value else "is missing"
            raise InputError(f"{key!r} {lacks}: each line has {', '.join(_KEYS)}")
    evidence, claim = readable(value["evidence"]), readable(value["claim"])
    if not claim.strip():
        raise InputError("'claim' is empty: there is nothing to judge")
    if value["label"] not in list(Label):
        raise InputError(f"label {value['label']!r} is unknown: use one of {', '.join(Label)}")
    return Pair(evidence, claim, Label(value["label"]), line)


def readable(text: str) -> str:
    """Return a text with what no document can hold, NULs and lone surrogates, replaced."""
    return _UNREADABLE.sub("\ufffd", text)
