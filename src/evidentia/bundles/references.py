"""What a job asks for: its inline evidence and its references, read strictly.

Inputs come in one order, whatever the order of a mapping's keys: inline evidence first, then the
references by their key in the order of `REFERENCES`, each list as it was given.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, Self, TypeVar

from pydantic import Field, StrictInt, StrictStr, ValidationError, model_validator

from evidentia.canonical import MAX_SAFE_INTEGER, canonical_json
from evidentia.errors import InputError
from evidentia.frozen import FrozenDict, FrozenModel, FrozenObject, first_problem, freeze, thaw

Text = Annotated[StrictStr, Field(min_length=1)]
Row = Annotated[StrictInt, Field(ge=0, le=MAX_SAFE_INTEGER)]
Priority = Annotated[StrictInt, Field(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]


Kind = TypeVar("Kind", bound="Reference")


class Reference(FrozenModel):
    """One input that a job names. What has a lower priority is dropped first."""

    origin: str = ""
    priority: Priority = 0


class InlineReference(NamedTuple):
    """Text in the job itself; what else its mapping says belongs to `source_ref`.

    A tuple: a job may have tens of thousands of them.
    """

    origin: str
    text: str
    source_ref: Mapping[str, Any]
    priority: int = 0


class FileReference(Reference):
    """A file of the lake, or the files of a folder that fit a pattern."""

    lake_uri: Text | None = None
    folder: Text | None = None
    pattern: Text = "*"

    @model_validator(mode="after")
    def _is_file_or_folder(self) -> Self:
        if (self.lake_uri is None) == (self.folder is None):
            raise ValueError("give either lake_uri, a file, or folder")
        return self


class LakeTextReference(FileReference):
    """Text files."""


class LakeHttpReference(FileReference):
    """Recorded HTTP responses."""


class TranscriptReference(FileReference):
    """Transcripts; `transcript_id` names one in its ids, its path otherwise."""

    transcript_id: Text | None = None


class DocumentReference(FileReference):
    """Documents: files of the lake, or one of the workspace's library by `document_id`."""

    document_id: Text | None = None

    @model_validator(mode="after")
    def _is_file_or_folder(self) -> Self:
        if [self.lake_uri, self.folder, self.document_id].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError(
                "give one of lake_uri, a file, folder, or document_id, of the workspace's library"
            )
        return self


class ResultReference(Reference):
    """A query's result: a file of the lake, or SQL to run now.

    `connection` names a database that the caller gave; `files` are files of the lake by the name
    that the SQL knows them by. `rows` is a range to look at alone, from 0 and without its end.
    """

    query_key: Text
    lake_uri: Text | None = None
    form: Text | None = None
    rows: tuple[Row, Row] | None = None
    sql: Text | None = None
    parameters: FrozenObject = Field(default_factory=FrozenDict)
    connection: Text | None = None
    files: FrozenObject = Field(default_factory=FrozenDict)

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Self:
        if self.form is not None and self.lake_uri is None:
            raise ValueError("form is that of a file: leave it out with sql")
        if self.lake_uri is not None:
            if self.sql is not None or self.connection is not None or self.files:
                raise ValueError("lake_uri is a result that is there: leave sql and its source out")
        elif self.sql is None:
            raise ValueError("give lake_uri, or sql with a connection or files")
        elif (self.connection is None) == (not self.files):
            raise ValueError("sql needs either a connection or files")
        if self.parameters and self.connection is None:
            raise ValueError("parameters are for sql with a connection")
        if self.rows is not None and self.rows[0] > self.rows[1]:
            raise ValueError("rows must be [start, end] with start at most end")
        if not all(isinstance(path, str) for path in self.files.values()):
            raise ValueError("files must be paths in the lake, by name")
        return self


class QueryReference(Reference):
    """The definition of a query, to be shown."""

    query_key: Text
    sql: Text
    description: StrictStr | None = None


def names_files(reference: "Reference | InlineReference") -> bool:
    """Whether a reference leads to files below a lake's root."""
    if isinstance(reference, ResultReference):
        return reference.lake_uri is not None or bool(reference.files)
    return isinstance(reference, FileReference) and (
        reference.lake_uri is not None or reference.folder is not None
    )


REFERENCES: Final[Mapping[str, type[Reference]]] = {
    "lake_text": LakeTextReference,
    "lake_http": LakeHttpReference,
    "sql_results": ResultReference,
    "sql_queries": QueryReference,
    "documents": DocumentReference,
    "transcripts": TranscriptReference,
}
"""The keys of `evidence_refs`, in the order in which their evidence comes."""

_IN_JOB: Final = {"source_uri": "job_input"}
_AROUND: Final = 8
"""How many levels stand around a source's fields in a bundle and its proof, and some to spare."""
_KEYED: Final = (ResultReference, QueryReference)


def read_references(
    job_input: Mapping[str, Any] | None, evidence_refs: Mapping[str, Any] | None
) -> tuple[Reference | InlineReference, ...]:
    """Return all inputs of a job in their order; raise `InputError` naming what is wrong where."""
    job = {} if job_input is None else job_input
    refs = {} if evidence_refs is None else evidence_refs
    return (*_inline(job), *_referred(refs))


def _inline(job_input: Mapping[str, Any]) -> Iterator[InlineReference]:
    job = _mapping(job_input, "job_input")
    if "evidence" in job:
        raise InputError("job_input.evidence: inline evidence is job_input.extra_params.evidence")
    extra = _mapping(job.get("extra_params") or {}, "job_input.extra_params")
    for index, given in enumerate(_list(extra.get("evidence"), "job_input.extra_params.evidence")):
        origin = f"job_input.extra_params.evidence[{index}]"
        if isinstance(given, str):
            yield InlineReference(origin, str(given), _IN_JOB)
            continue
        said = dict(_mapping(given, origin))
        text, priority = said.pop("text", None), said.pop("priority", 0)
        if not isinstance(text, str):
            raise InputError(f"{origin}: 'text' is missing or is not text")
        if type(priority) is not int or abs(priority) > MAX_SAFE_INTEGER:
            raise InputError(f"{origin}: 'priority' must be a whole number")
        source_ref = _IN_JOB
        if said:
            _check_json(said, origin)
            source_ref = freeze(_IN_JOB | dict(sorted(said.items())))
        yield InlineReference(origin, str(text), source_ref, priority)


def _referred(evidence_refs: Mapping[str, Any]) -> Iterator[Reference]:
    refs = _mapping(evidence_refs, "evidence_refs")
    for key in refs:
        if key not in REFERENCES:
            raise InputError(f"evidence_refs has no {key!r}: use {', '.join(REFERENCES)}")
    for key, kind in REFERENCES.items():
        for index, given in enumerate(_list(refs.get(key), f"evidence_refs.{key}")):
            origin = f"evidence_refs.{key}[{index}]"
            main = "sql" if kind is QueryReference else "lake_uri"
            said = {main: given} if isinstance(given, str) else dict(_mapping(given, origin))
            if "origin" in said:
                raise InputError(f"{origin}: 'origin' is not a field")
            if kind in _KEYED and isinstance(said.get(main), str):
                said.setdefault("query_key", said[main])
            yield _read(kind, origin, said)


def _read(kind: type[Kind], origin: str, said: Mapping[str, Any]) -> Kind:
    _check_json(said, origin)
    try:
        return kind.model_validate({**said, "origin": origin})
    except ValidationError as error:
        raise InputError(first_problem(error, kind, origin)) from None


def _check_json(said: Mapping[str, Any], origin: str) -> None:
    """Refuse what no bundle could hold, and name where it stands."""
    try:
        canonical_json(thaw(freeze(said)), within=_AROUND)
    except ValueError as error:  # a CanonicalError too
        raise InputError(f"{origin}: {error}") from None


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: must be an object, not {type(value).__name__}")
    return value


def _list(value: object, where: str) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InputError(f"{where}: must be a list, not {type(value).__name__}")
    return value
