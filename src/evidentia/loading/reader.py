"""The worker that reads documents: bytes in, chunks out. Run as a command."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evidentia.documents.chunking import chunk_document, join_chunks
from evidentia.documents.model import DocumentChunk, ReadDocument, ReadFile
from evidentia.documents.reading import READER_VERSION
from evidentia.documents.reading.document import read_document
from evidentia.errors import DocumentError
from evidentia.loading.reading import COMPUTING_SECONDS, Asked
from evidentia.loading.workers import serve

MAX_MEMORY = 2**30
"""What a reader may hold; the largest file that is read and its text are half of it."""
MAX_ADDRESSES = 4 * 2**30


def read(asked: Asked) -> ReadFile:
    """Read a document; whatever goes wrong is a `DocumentError` that names the file."""
    try:
        document = read_document(asked.data, asked.filename)
        if asked.cut:
            document = _whole(document)
        chunks = chunk_document(document, asked.document_id)
        pieces = _pieces(document, asked)
    except DocumentError:
        raise
    except MemoryError:
        raise DocumentError(f"{asked.filename}: needs too much memory to be read") from None
    except Exception as error:
        raise DocumentError(
            f"{asked.filename}: cannot be read ({type(error).__name__}: {error})"
        ) from error
    return ReadFile(
        media_type=document.media_type,
        sha256=document.sha256,
        language=document.language,
        direction=document.direction,
        title=(document.title or "").replace("\0", " ") or None,  # PostgreSQL's text has no NUL
        dated=document.modified or document.created,
        pages=len(document.pages),
        warnings=document.warnings,
        chunks=chunks,
        effective=document.effective,
        reader=READER_VERSION,
        pieces=pieces,
        around=_around(document, pieces, asked.context),
    )


def _whole(document: ReadDocument) -> ReadDocument:
    """Return a document with its front matter as text: a bundle accounts for all of a file."""
    return replace(document, pages=tuple(replace(page, start=0) for page in document.pages))


def _around(
    document: ReadDocument, pieces: tuple[DocumentChunk, ...], size: int
) -> tuple[tuple[str, str], ...]:
    """Return what stands before and after each piece on its page."""
    if not size:
        return ()
    texts = {page.number: page.text for page in document.pages}
    return tuple(
        (
            texts[piece.page][max(0, piece.start - size) : piece.start],
            texts[piece.page][piece.end : piece.end + size],
        )
        for piece in pieces
    )


def _pieces(document: ReadDocument, asked: Asked) -> tuple[DocumentChunk, ...]:
    if asked.cut is None:
        return ()
    size, overlap = asked.cut
    pieces = chunk_document(
        document, asked.document_id, chunk_size=size, chunk_overlap=overlap, unit="bytes"
    )
    return join_chunks(document, pieces, chunk_size=size)


def limit_memory() -> None:
    """Let a hostile file fail here, before it takes the machine's memory."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        for limit, most in (
            (resource.RLIMIT_DATA, MAX_MEMORY),
            (resource.RLIMIT_AS, MAX_ADDRESSES),
        ):
            _, hard = resource.getrlimit(limit)
            resource.setrlimit(limit, (most, hard))


def limit_time() -> None:
    """Let the system end this process once it has computed for as long again as a file may take."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        used = resource.getrusage(resource.RUSAGE_SELF)
        so_far = int(used.ru_utime + used.ru_stime) + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (so_far + COMPUTING_SECONDS, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it ends with a core dump otherwise


def within_limits(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function for as long as reading a file may take."""
    limit_time()
    return function(*arguments)


def read_within_limits(asked: Asked) -> ReadFile:
    """Read a document, for as long as one may take."""
    limit_time()
    return read(asked)


if __name__ == "__main__":
    limit_memory()
    serve(read_within_limits)
