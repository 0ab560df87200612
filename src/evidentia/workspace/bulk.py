"""Bulk work of a workspace: what is judged by workers that may be elsewhere, and recorded here.

A worker reads the library from the database, and writes nothing but what can be made again: its
search index, in a folder of its machine, and embeddings. It has no keys. What it judged comes back
as a statement, which this process keeps, signs and records, several at once.
"""

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    UsageError,
    environment_problem,
)
from evidentia.judges.threads import limit_threads
from evidentia.ledger.session import LedgerSession
from evidentia.loading.workers import Bulk, Done
from evidentia.logs import get_logger
from evidentia.proof.statement import Statement
from evidentia.store.database import Database, ServerOptions
from evidentia.store.files import make_folder
from evidentia.store.ranges import Reading, Share, Spans, audit_span
from evidentia.store.sql import library, log
from evidentia.trail.audit import RangeAudit
from evidentia.workspace.acting import Acting
from evidentia.workspace.checking import Failed
from evidentia.workspace.commitment import selection
from evidentia.workspace.judging import AskedCheck, Judged, judge
from evidentia.workspace.opened import Opened, open_all
from evidentia.workspace.recorded import Progress

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.places import FileChange

_PRIVATE: Final = 0o077
_LONGEST: Final = 500
_log = get_logger("workspace")


class Place(NamedTuple):
    """Where a worker finds a tenant's log and library, and the log that it must find there.

    `address` may hold a password, and `server` says how to connect to it. Without a `folder` the
    worker has one of its own.
    """

    address: str | None
    folder: str | None
    tenant: str
    origin: str | None
    server: ServerOptions | None


class ToldToJudge(NamedTuple):
    """What a worker that judges is told: where, by whom, and by which documents."""

    place: Place
    judges: "tuple[str | Judge | LanguageModel, ...] | None"
    policy: "JudgingPolicy | None"
    documents: tuple[frozenset[str] | None, ...]


class Piece(NamedTuple):
    """An answer to judge: what it is known by here, the place of its documents, and how."""

    known: Any
    against: int
    check: AskedCheck


class Sent(NamedTuple):
    """What came of judging, as it comes from a worker; `rests_on` are ids of documents."""

    statement: bytes
    rests_on: tuple[str, ...]


def bulk_of(acting: Acting) -> Bulk | None:
    """Return who does bulk work of a workspace; None if that is done as ever, by processes here.

    Raise `UsageError` where it could not be done there.
    """
    bulk, opened = acting.opened.bulk, acting.opened
    if bulk is None or not bulk.is_elsewhere:
        return bulk
    if acting.database.is_sqlite:
        raise UsageError(
            "workers on other machines cannot read the database of a workspace in a folder: set "
            "EVIDENTIA_RAY=local, or move it to PostgreSQL"
        )
    if opened.has_own_lake:
        raise UsageError("a lake of your own is in this process alone: check with workers=0, here")
    return bulk


def place_of(acting: Acting, bulk: Bulk) -> Place:
    """Say where a worker finds a tenant's library; a log that has not begun begins."""
    from evidentia.workspace.signing import checkpoint  # noqa: PLC0415 - not all need it

    database = acting.database
    folder = None if bulk.is_elsewhere else str(acting.opened.home.folder.absolute())
    address = None if database.is_sqlite else database.address
    head = acting.read(log.read_head)
    if head is None:  # or who gets ready once it has begun would find another log than it was told
        checkpoint(acting)
        head = acting.read(log.read_head)
    origin = head and head.origin
    return Place(address, folder, acting.tenant, origin, database.worker_options)


# Judging


def judged_by(
    acting: Acting, bulk: Bulk, told: ToldToJudge, pieces: Iterable[Piece], most: int | None = None
) -> Generator[Done, None, None]:
    """Have answers judged; each with what came of it: `Judged`, `Failed`, or an error."""
    for ids in told.documents:
        selection(acting, ids)  # a worker's own lake is no one else's
    with closing(bulk.run(judging, told, pieces, most=most)) as running:
        for done in running:
            answer = done.answer
            if isinstance(answer, Sent):
                session = LedgerSession.from_statement(Statement.parse(answer.statement))
                changes = file_changes(acting, answer.rests_on)
                yield done._replace(answer=Judged(session, changes))
            else:
                yield done


def untold(asked: AskedCheck) -> AskedCheck:
    """Return an answer to judge without what workers are told for all of them."""
    return replace(asked, judges=None, policy=None, documents=None)


def judging(told: ToldToJudge) -> Callable[[Piece], Sent | Failed]:
    """Get ready to judge, once for all answers: open the library, and load what judges need."""
    from evidentia.judges import make_judges  # noqa: PLC0415 - workers alone need it

    acting = _acting(told.place)
    # what a language model was asked is counted for each answer: its judge is made for each
    judges = tuple(
        make_judges()
        if told.judges is None
        else [make_judges([one])[0] if isinstance(one, str) else one for one in told.judges]
    )

    def do(piece: Piece) -> Sent | Failed:
        asked = replace(piece.check, judges=judges, policy=told.policy)
        if asked.asks_library:
            asked = replace(asked, documents=told.documents[piece.against])
        else:
            asked = replace(asked, documents=frozenset())
        try:
            session = judge(acting, asked, _ignore, _ignore).session
        except EvidentiaError:
            raise
        except OSError as error:
            raise environment_problem(error) from error
        except Exception as error:  # noqa: BLE001 - one answer's trouble is not the others'
            _log.warning("answer_failed", error=repr(error))
            return Failed(f"{type(error).__name__}: {error}"[:_LONGEST])
        used = {
            match.passage.source.id
            for entry in session.ledger.entries
            for match in entry.evidence
            if match.passage
        }
        return Sent(session.to_statement().encode(), tuple(sorted(used)))

    return do


def file_changes(acting: Acting, used: Iterable[str]) -> "tuple[FileChange, ...]":
    """Say which documents are not where, or as, they were read on this machine."""
    from evidentia.loading.places import Places  # noqa: PLC0415 - not where others judge
    from evidentia.workspace.library import versions_in  # noqa: PLC0415 - the same

    wanted, folder = set(used), acting.opened.home.places(acting.tenant)
    if not wanted or not folder.is_dir():
        return ()
    with acting.database.read() as connection:
        found = versions_in(acting, {one.partition("@")[0] for one in wanted}, connection)
    places = Places(folder)
    return places.changes(one for one in found if library.corpus_id(one) in wanted)


def _acting(place: Place) -> Acting:
    """Open a library; see that it is the one that is meant: an address may mean another here."""
    try:
        acting = Acting(_opened(place.address, place.folder, place.server), place.tenant, None)
        with acting.database.read() as connection:
            head = log.read_head(connection, place.tenant)
    except OSError as error:
        raise environment_problem(error) from error
    if (head and head.origin) != place.origin:
        raise EnvironmentProblem(
            "a worker found another log under the database's address than this process has: give "
            "one that means the same on every machine, not localhost"
        )
    return acting


@lru_cache(1)
def _opened(address: str | None, folder: str | None, server: ServerOptions | None) -> Opened:
    limit_threads(1)  # as many workers as cores: more threads would only wait for each other
    home = folder or str(_own_folder(address or ""))
    return open_all(address, home=home, create=False, server=server)


def _own_folder(address: str) -> Path:
    """Return the folder of this machine that search indexes of a database are kept in."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    above = Path(tempfile.gettempdir()) / f"evidentia-{user}"
    make_folder(above)
    found = above.lstat()
    if not above.is_dir() or above.is_symlink() or found.st_uid != user or found.st_mode & _PRIVATE:
        raise EnvironmentProblem(f"{above} is not a folder of this user alone: remove it")
    folder = above / sha256_hex(address.encode())[:32]
    make_folder(folder)
    return folder


# Auditing


def share_by(bulk: Bulk, acting: Acting) -> Share:
    """Return what has ranges of a log checked by workers."""
    from evidentia.loading.pieces import in_order  # noqa: PLC0415 - rarely needed

    def share(reading: Reading, spans: Spans, workers: int) -> Generator[RangeAudit, None, None]:
        told = place_of(acting, bulk), reading.database.address, reading.any_text
        pieces = list(enumerate(spans))
        with closing(bulk.run(auditing, told, pieces, most=workers)) as running:
            for done in in_order(running, lambda piece: int(piece[0])):
                if isinstance(done.answer, EvidentiaError):
                    raise done.answer
                if not isinstance(done.answer, RangeAudit):
                    start = done.question[1][0]
                    raise EnvironmentProblem(
                        f"an audit worker ended at entries from {start}, {done.tries} times "
                        f"({done.answer})"
                    )
                yield done.answer

    return share


def auditing(told: tuple[Place, str, bool]) -> Callable[[tuple[int, tuple[int, int]]], RangeAudit]:
    """Get ready to check ranges of a log."""
    place, address, any_text = told
    database = Database.at(address, place.server).of(place.tenant)
    reading = Reading(database, place.tenant, any_text=any_text)
    with reading.connection() as connection:
        head = log.read_head(connection, place.tenant)
    if (head and head.origin) != place.origin:
        raise EnvironmentProblem("a worker found another log under the database's address")

    def do(piece: tuple[int, tuple[int, int]]) -> RangeAudit:
        with reading.connection() as connection:
            return audit_span(connection, place.tenant, *piece[1])

    return do


# Exporting


class Rendering(NamedTuple):
    """How ledgers are written: the form, and a PDF's language and typeface."""

    form: str
    lang: "Language"
    typeface: "Typeface"


def export_in_bulk(
    acting: Acting,
    bulk: Bulk,
    targets: Mapping[str, Path],
    how: Rendering,
    *,
    overwrite: bool,
    progress: Progress,
) -> list[Path]:
    """Write proved ledgers to files, in a form, a language and a typeface."""
    from evidentia.store.files import check_writable, write_durably  # noqa: PLC0415 - rarely needed
    from evidentia.workspace.ledgers import LEDGERS  # noqa: PLC0415 - it knows this module

    for target in targets.values():
        check_writable(target, overwrite=overwrite)
    names = list(targets)

    def pieces() -> Iterator[tuple[int, bytes]]:
        for number, name in enumerate(names):
            proof = LEDGERS.prove(acting, LEDGERS.named(acting, name))
            yield number, canonical_json(proof.as_json())

    count = 0
    with closing(bulk.run(rendering, how, pieces())) as running:
        for done in running:
            name = names[done.question[0]]
            if isinstance(done.answer, EvidentiaError):
                raise done.answer
            if not isinstance(done.answer, bytes):
                raise EnvironmentProblem(
                    f"{targets[name]}: the worker that wrote it ended, {done.tries} times "
                    f"({done.answer})"
                )
            write_durably(targets[name], done.answer, mode=0o600)
            count += 1
            progress(count, len(targets))
    return list(targets.values())


def rendering(how: Rendering) -> Callable[[tuple[int, bytes]], bytes]:
    """Get ready to write proved ledgers as PDFs or pages."""
    from evidentia.export.forms import export_ledger  # noqa: PLC0415 - workers alone need it
    from evidentia.proof.document import Proof  # noqa: PLC0415 - the same

    def do(piece: tuple[int, bytes]) -> bytes:
        made = export_ledger(Proof.parse(piece[1]), how.form, lang=how.lang, typeface=how.typeface)
        return made.encode() if isinstance(made, str) else made

    return do


def _ignore(_done: int, _total: int) -> None:
    pass
