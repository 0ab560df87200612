import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tiers
from evidentia.bundles.references import (
    REFERENCES,
    DocumentReference,
    InlineReference,
    LakeHttpReference,
    LakeTextReference,
    QueryReference,
    ResultReference,
    TranscriptReference,
    names_files,
    read_references,
)
from evidentia.errors import InputError

DOCUMENT = (
    "evidence_refs.documents[0]: give one of lake_uri, a file, folder, or document_id, "
    "of the workspace's library"
)
RESULT = {"query_key": "facts", "lake_uri": "results/facts.json"}
LIVE = {"query_key": "facts", "sql": "SELECT 1", "connection": "crm"}


def job(*evidence: Any) -> dict[str, Any]:
    return {"entity_id": "luke", "extra_params": {"evidence": list(evidence)}}


def refusal(job_input: Any = None, evidence_refs: Any = None) -> str:
    with pytest.raises(InputError) as caught:
        read_references(job_input, evidence_refs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def result(**fields: Any) -> str:
    return refusal(None, {"sql_results": [fields]})


def test_a_job_without_evidence_has_no_inputs() -> None:
    for job_input in (None, {}, {"extra_params": None}, {"extra_params": {"evidence": None}}):
        assert read_references(job_input, None) == ()
    assert read_references(None, {"lake_text": None, "documents": []}) == ()


def test_inline_evidence_is_text_or_says_where_it_is_from() -> None:
    found = read_references(
        job("plain", {"text": "Luke is a Jedi", "source_uri": "wookieepedia", "priority": 2}), None
    )
    assert found == (
        InlineReference("job_input.extra_params.evidence[0]", "plain", {"source_uri": "job_input"}),
        InlineReference(
            "job_input.extra_params.evidence[1]",
            "Luke is a Jedi",
            {"source_uri": "wookieepedia"},
            2,
        ),
    )
    (only_text,) = read_references(job({"text": ""}), {})
    assert isinstance(only_text, InlineReference)
    assert only_text.source_ref == {"source_uri": "job_input"}


def test_what_a_caller_does_later_does_not_reach_a_reference() -> None:
    tags = ["a"]
    (found,) = read_references(job({"text": "x", "tags": tags}), None)
    tags.append("b")
    assert isinstance(found, InlineReference)
    assert found.source_ref == {"source_uri": "job_input", "tags": ["a"]}


class Shouting(str):
    """Text that is not what it seems."""

    __slots__ = ()

    def encode(self, *_: Any) -> bytes:  # pragma: no cover - must not be called
        return b"other bytes"


def test_text_is_taken_as_plain_text() -> None:
    for given_text in (Shouting("calm"), {"text": Shouting("calm")}):
        (found,) = read_references(job(given_text), None)
        assert isinstance(found, InlineReference)
        assert type(found.text) is str


def test_references_come_in_one_order_whatever_the_order_of_keys() -> None:
    refs = {key: [{"lake_uri": "a"}] for key in REFERENCES}
    refs["sql_results"] = [RESULT]
    refs["sql_queries"] = [{"query_key": "facts", "sql": "SELECT 1"}]
    found = read_references(job("text"), refs)
    assert [type(one) for one in found] == [
        InlineReference,
        LakeTextReference,
        LakeHttpReference,
        ResultReference,
        QueryReference,
        DocumentReference,
        TranscriptReference,
    ]
    assert read_references(job("text"), dict(reversed(refs.items()))) == found
    assert read_references(job("text"), MappingProxyType(refs)) == found


def test_a_text_alone_is_a_path_or_a_query() -> None:
    (text,) = read_references(None, {"lake_text": ["docs/bio.md"]})
    assert text == LakeTextReference(origin="evidence_refs.lake_text[0]", lake_uri="docs/bio.md")
    (found,) = read_references(None, {"sql_results": ("facts.csv",)})
    assert isinstance(found, ResultReference)
    assert (found.lake_uri, found.query_key) == ("facts.csv", "facts.csv")
    (query,) = read_references(None, {"sql_queries": ["SELECT 1"]})
    assert isinstance(query, QueryReference)
    assert (query.sql, query.query_key) == ("SELECT 1", "SELECT 1")


def test_results_may_be_run_and_rows_be_chosen() -> None:
    found = read_references(
        None,
        {
            "sql_results": [
                {**LIVE, "parameters": {"id": 3}, "rows": [0, 10], "priority": -1},
                {"query_key": "local", "sql": "SELECT * FROM a", "files": {"a": "a.csv"}},
                {**RESULT, "form": "ndjson", "rows": [5, 5]},
            ]
        },
    )
    first, second, third = (one for one in found if isinstance(one, ResultReference))
    assert (first.connection, first.parameters, first.rows, first.priority) == (
        "crm",
        {"id": 3},
        (0, 10),
        -1,
    )
    assert second.files == {"a": "a.csv"}
    assert third.rows == (5, 5)


def test_a_query_that_is_run_is_named_by_its_own_text_only_where_it_is_shown() -> None:
    assert result(sql="SELECT 1", connection="crm") == (
        "evidence_refs.sql_results[0].query_key: Field required"
    )


def test_an_unknown_key_is_named_with_those_there_are() -> None:
    assert refusal(None, {"lake_texts": ["a"]}) == (
        "evidence_refs has no 'lake_texts': use lake_text, lake_http, sql_results, sql_queries, "
        "documents, transcripts"
    )
    assert refusal(None, {3: []}).startswith("evidence_refs has no 3: use ")


@tiers.one_test
@pytest.mark.parametrize(
    ("job_input", "said"),
    [
        ([], "job_input: must be an object, not list"),
        (["evidence"], "job_input: must be an object, not list"),
        ("text", "job_input: must be an object, not str"),
        ("", "job_input: must be an object, not str"),
        ({"extra_params": ["x"]}, "job_input.extra_params: must be an object, not list"),
        (
            {"extra_params": {"evidence": "text"}},
            "job_input.extra_params.evidence: must be a list, not str",
        ),
        (
            {"extra_params": {"evidence": {"text": "x"}}},
            "job_input.extra_params.evidence: must be a list, not dict",
        ),
        (
            {"evidence": ["text"]},
            "job_input.evidence: inline evidence is job_input.extra_params.evidence",
        ),
        (job("ok", 3), "job_input.extra_params.evidence[1]: must be an object, not int"),
        (job(None), "job_input.extra_params.evidence[0]: must be an object, not NoneType"),
        (job({}), "job_input.extra_params.evidence[0]: 'text' is missing or is not text"),
        (
            job({"text": b"bytes"}),
            "job_input.extra_params.evidence[0]: 'text' is missing or is not text",
        ),
        (
            job({"text": "x", "priority": True}),
            "job_input.extra_params.evidence[0]: 'priority' must be a whole number",
        ),
        (
            job({"text": "x", "priority": "high"}),
            "job_input.extra_params.evidence[0]: 'priority' must be a whole number",
        ),
        (
            job({"text": "x", "priority": 2**53}),
            "job_input.extra_params.evidence[0]: 'priority' must be a whole number",
        ),
        (
            job({"text": "x", "when": {1}}),
            "job_input.extra_params.evidence[0]: .when: set is not a JSON value; give it as text",
        ),
        (
            job({"text": "x", "score": float("nan")}),
            "job_input.extra_params.evidence[0]: .score: nan is not a number that JSON has",
        ),
        (
            job({"text": "x", "more": {3: 4}}),
            "job_input.extra_params.evidence[0]: .more: key 3 is not text",
        ),
    ],
)
def test_what_is_wrong_in_a_job_is_named(job_input: Any, said: str) -> None:
    assert refusal(job_input) == said


DEEP: Any = json.loads("[" * 93 + "]" * 93)


@pytest.mark.parametrize("value", ["half \ud83d", {"half \ud83d": 1}, 2**53 + 1, 10**400, DEEP])
def test_what_no_bundle_could_hold_is_refused_by_its_origin(value: Any) -> None:
    message = refusal(job("ok", {"text": "x", "said": value}))
    assert message.startswith("job_input.extra_params.evidence[1]: ")
    message = result(**LIVE, parameters={"said": value})
    assert message.startswith("evidence_refs.sql_results[0]: ")
    for name in ("lake_uri", "priority"):
        message = refusal(None, {"lake_text": ["a", {"lake_uri": "b", name: value}]})
        assert message.startswith("evidence_refs.lake_text[1]")


def test_what_goes_as_deep_as_a_bundle_can_hold_is_taken() -> None:
    (found,) = read_references(job({"text": "x", "said": DEEP[0][0][0]}), None)
    assert isinstance(found, InlineReference)
    assert found.source_ref["said"] == DEEP[0][0][0]


@pytest.mark.parametrize(
    ("refs", "files"),
    [
        ({"lake_text": ["a.md"]}, True),
        ({"lake_http": [{"folder": "."}]}, True),
        ({"transcripts": ["a.vtt"]}, True),
        ({"documents": ["a.pdf"]}, True),
        ({"documents": [{"document_id": "doc-1"}]}, False),
        ({"sql_results": [RESULT]}, True),
        ({"sql_results": [{"query_key": "k", "sql": "SELECT 1", "files": {"a": "a.csv"}}]}, True),
        ({"sql_results": [LIVE]}, False),
        ({"sql_queries": ["SELECT 1"]}, False),
    ],
)
def test_what_leads_to_files_is_known_before_any_is_read(refs: Any, *, files: bool) -> None:
    inline, reference = read_references(job("text"), refs)
    assert names_files(reference) is files
    assert names_files(inline) is False


def test_keys_of_several_kinds_are_refused() -> None:
    message = refusal(job({"text": "x", "a": 1, 3: 4}))
    assert message.startswith("job_input.extra_params.evidence[0]: ")


def test_a_nested_source_is_read_to_a_depth() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    assert "nested more than 100 levels deep" in refusal(job({"text": "x", "deep": deep}))


@tiers.one_test
@pytest.mark.parametrize(
    ("refs", "said"),
    [
        (["lake_text"], "evidence_refs: must be an object, not list"),
        ([], "evidence_refs: must be an object, not list"),
        ({"lake_text": "a.md"}, "evidence_refs.lake_text: must be a list, not str"),
        ({"lake_text": {"lake_uri": "a"}}, "evidence_refs.lake_text: must be a list, not dict"),
        ({"lake_text": ["a", 3]}, "evidence_refs.lake_text[1]: must be an object, not int"),
        (
            {"lake_text": [{"lake_uri": "a", "origin": "b"}]},
            "evidence_refs.lake_text[0]: 'origin' is not a field",
        ),
        (
            {"lake_text": [{"uri": "a"}]},
            "evidence_refs.lake_text[0].uri: there is no such field",
        ),
        (
            {"lake_text": [{"lake_url": "a"}]},
            "evidence_refs.lake_text[0].lake_url: there is no such field; is it lake_uri?",
        ),
        (
            {"lake_text": [""]},
            "evidence_refs.lake_text[0].lake_uri: String should have at least 1 character",
        ),
        (
            {"lake_text": [{"lake_uri": 3}]},
            "evidence_refs.lake_text[0].lake_uri: Input should be a valid string",
        ),
        (
            {"lake_text": [{"lake_uri": "a", "priority": True}]},
            "evidence_refs.lake_text[0].priority: Input should be a valid integer",
        ),
        (
            {"lake_http": [{}]},
            "evidence_refs.lake_http[0]: give either lake_uri, a file, or folder",
        ),
        (
            {"transcripts": [{"lake_uri": "a", "folder": "b"}]},
            "evidence_refs.transcripts[0]: give either lake_uri, a file, or folder",
        ),
        (
            {"documents": [{}]},
            DOCUMENT,
        ),
        (
            {"documents": [{"lake_uri": "a", "document_id": "b"}]},
            DOCUMENT,
        ),
        (
            {"sql_queries": [{"query_key": "facts"}]},
            "evidence_refs.sql_queries[0].sql: Field required",
        ),
    ],
)
def test_what_is_wrong_in_a_reference_is_named(refs: Any, said: str) -> None:
    assert refusal(None, refs) == said


@tiers.one_test
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"query_key": "facts"}, ": give lake_uri, or sql with a connection or files"),
        (
            {**RESULT, "sql": "SELECT 1"},
            ": lake_uri is a result that is there: leave sql and its source out",
        ),
        (
            {**RESULT, "connection": "crm"},
            ": lake_uri is a result that is there: leave sql and its source out",
        ),
        (
            {**RESULT, "files": {"a": "b"}},
            ": lake_uri is a result that is there: leave sql and its source out",
        ),
        ({"query_key": "facts", "sql": "SELECT 1"}, ": sql needs either a connection or files"),
        (
            {**LIVE, "files": {"a": "a.csv"}},
            ": sql needs either a connection or files",
        ),
        (
            {"query_key": "facts", "sql": "SELECT 1", "files": {"a": 3}},
            ": files must be paths in the lake, by name",
        ),
        (
            {**RESULT, "parameters": {"id": 3}},
            ": parameters are for sql with a connection",
        ),
        (
            {"query_key": "k", "sql": "SELECT 1", "files": {"a": "a.csv"}, "parameters": {"b": 1}},
            ": parameters are for sql with a connection",
        ),
        ({**LIVE, "form": "csv"}, ": form is that of a file: leave it out with sql"),
        ({**RESULT, "rows": [3, 1]}, ": rows must be [start, end] with start at most end"),
        ({**RESULT, "rows": [1]}, ".rows.1: Field required"),
        (
            {**RESULT, "rows": [-1, 1]},
            ".rows.0: Input should be greater than or equal to 0",
        ),
        ({**RESULT, "rows": [True, 1]}, ".rows.0: Input should be a valid integer"),
        ({**RESULT, "rows": ["0", "1"]}, ".rows.0: Input should be a valid integer"),
        ({**RESULT, "query_key": ""}, ".query_key: String should have at least 1 character"),
        ({**LIVE, "parameters": [1]}, ".parameters: Input should be a valid dictionary"),
        ({**LIVE, "parameters": {"a": {1}}}, ": .parameters.a: set is not a JSON value; "),
    ],
)
def test_what_is_wrong_with_a_result_is_named(fields: dict[str, Any], said: str) -> None:
    assert result(**fields).startswith(f"evidence_refs.sql_results[0]{said}")


def test_a_reference_cannot_be_changed() -> None:
    (found,) = read_references(None, {"lake_text": ["a"]})
    with pytest.raises(ValidationError, match="frozen"):
        found.lake_uri = "b"  # type: ignore[union-attr]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside),
    max_leaves=8,
)


@given(ODD, st.dictionaries(st.sampled_from([*REFERENCES, "other"]), ODD, max_size=3))
def test_whatever_is_given_is_read_or_refused_in_one_line(job_input: Any, refs: Any) -> None:
    for given_job, given_refs in ((job_input, refs), (job(job_input), {"lake_text": [job_input]})):
        try:
            found = read_references(given_job, given_refs)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
        else:
            assert isinstance(found, tuple)


@given(st.permutations(["text", "source_uri", "b", "a", "priority"]))
def test_the_order_of_an_inline_mappings_keys_means_nothing(order: list[str]) -> None:
    said: dict[str, Any] = {
        "text": "x", "source_uri": "s", "b": {"z": 1, "y": 2}, "a": 3, "priority": 1,
    }  # fmt: skip
    (found,) = read_references(job({name: said[name] for name in order}), None)
    (expected,) = read_references(job(said), None)
    assert found == expected
