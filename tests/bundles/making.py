"""Candidates, policies and bundles for tests."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.building import build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.model import EvidenceBundle, bundle_id_of
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.bundles.sampling import sampled_rows
from evidentia.bundles.tables import SampledTable
from evidentia.bundles.tokens import token_counter
from evidentia.canonical import digest, sha256_hex

NOW = "2026-11-16T09:00:00.000000Z"
LATER = "2031-01-01T00:00:00.000000Z"
KEY = b"a key of the tests, 32 bytes lon"

TEXT = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "word ",
                "e\u0301",
                "👨\u200d👩\u200d👧",
                "🇸🇦",
                "إجازة ",
                "\u202e",
                "\0",
                "x" * 40,
                "\n",
                "क्षि",
            ]
        ),
        max_size=40,
    ).map("".join),
).filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))


def inline(text: str, index: int = 0, **fields: Any) -> Candidate:
    return Candidate(
        EvidenceType.INLINE_TEXT,
        f"job_input.extra_params.evidence[{index}]",
        text,
        digest="",
        part=str(index),
        source_ref={"source_uri": "job_input"},
        **fields,
    )


def lake(text: str, name: str = "a.md", **fields: Any) -> Candidate:
    data = text.encode()
    digest = sha256_hex(data)
    original = {"lake_uri": name, "sha256": digest, "byte_count": len(data)}
    return Candidate(
        EvidenceType.LAKE_TEXT,
        "evidence_refs.lake_text[0]",
        text,
        digest=digest,
        part="0",
        source_ref={"lake_uri": name, "sha256": digest},
        original=original,
        **fields,
    )


def table(
    rows: int, limit: int = 100, columns: int = 3, strategy: Any = "first_last"
) -> SampledTable:
    numbers = sampled_rows(rows, limit, strategy)
    return SampledTable(
        columns=tuple(f"c{number}" for number in range(columns)),
        left_out_columns=(),
        rows=tuple(tuple(f"{row}.{column}" for column in range(columns)) for row in numbers),
        row_numbers=numbers,
        row_count=rows,
        strategy=strategy,
    )


def result(sampled: SampledTable, key: str = "facts", **fields: Any) -> Candidate:
    return Candidate(
        EvidenceType.SQL_RESULT,
        "evidence_refs.sql_results[0]",
        "",
        digest=sha256_hex(key.encode()),
        part="0",
        source_ref={"lake_uri": "results/facts.json", "query_key": key},
        original={"lake_uri": "results/facts.json", "sha256": "0" * 64, "byte_count": 90_000},
        table=sampled,
        title=f"Result of {key}",
        input_bytes=90_000,
        **fields,
    )


def bundle(*candidates: Candidate, **policy: Any) -> EvidenceBundle:
    return build_bundle(candidates, EvidencePolicy(**policy), created_utc=NOW).bundle


def everything() -> EvidenceBundle:
    """Return a bundle in which all occurs that can become of an input."""
    policy = EvidencePolicy(
        max_items=6,
        max_item_bytes=400,
        max_sql_rows=40,
        enable_redaction=True,
        redaction_patterns={"CASE": "case-[0-9]+"},
        tokenizer="o200k_base",
        max_total_tokens=4_000,
    )
    wide = replace(table(500, 40), left_out_columns=("notes",))
    candidates = [
        inline(f"Write to anna@example.com about case-7. {'é' * 300}", 0, priority=2),
        inline("Annual leave is 25 days.", 1, priority=1),
        lake("y" * 900, priority=1, metadata={"status": 200}),
        result(wide, priority=1),
        lake("[lake_text b.md could not be loaded]", "b.md", priority=1, error="b.md is gone"),
        inline("Call omar@example.com.", 5, priority=1),
        inline("dropped", 6),
        inline("also dropped", 7, priority=-1),
    ]
    return build_bundle(
        candidates,
        policy,
        created_utc=NOW,
        redactor=Redactor(KEY),
        count_tokens=token_counter("o200k_base"),
    ).bundle


Place = tuple[str | int, ...]
"""Where in a JSON value something is: the keys and indices that lead there."""


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """Return a bundle's JSON with its digest and its id made anew, as a forger would."""
    told = ("bundle_id", "bundle_sha256", "created_utc")
    covered = digest({name: part for name, part in value.items() if name not in told})
    return {**value, "bundle_sha256": covered, "bundle_id": bundle_id_of(covered)}


def places(value: Any, within: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Give all leaves and all lists of a JSON value, with where they are."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from places(part, (*within, name))
        return
    yield within, value
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from places(part, (*within, index))


def changed(value: dict[str, Any], place: Place, new: Any) -> dict[str, Any]:
    """Return a JSON object with another value at one place."""
    copy = deepcopy(value)
    inside: Any = copy
    for part in place[:-1]:
        inside = inside[part]
    inside[place[-1]] = new
    return copy


def others(value: Any) -> list[Any]:
    """Return other values of a leaf's own kind; other lengths of a list."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1]
        case str():
            return [f"{value}x", value[1:]] if value else ["x"]
        case list():
            return [value[:-1], [*value, value[-1]]] if value else [["x"]]
        case _:
            return [0, "x"]


LIMITS = st.one_of(st.integers(0, 12), st.integers(0, 400))
POLICIES = st.builds(
    EvidencePolicy,
    max_items=st.integers(0, 8),
    max_total_bytes=LIMITS,
    max_item_bytes=LIMITS,
    max_sql_rows=st.integers(0, 6),
    sampling_strategy=st.sampled_from(["first_only", "first_last", "stride"]),
)
PRIORITIES = st.integers(-2, 2)
CANDIDATES = st.lists(
    st.one_of(
        st.tuples(st.just("inline"), TEXT, PRIORITIES),
        st.tuples(st.just("lake"), TEXT, PRIORITIES),
        st.tuples(st.just("result"), st.integers(0, 12), PRIORITIES),
        st.tuples(st.just("failed"), st.just("gone"), PRIORITIES),
    ),
    max_size=12,
)


def made(drawn: list[tuple[str, Any, int]], policy: EvidencePolicy) -> list[Candidate]:
    """Return candidates as they were drawn, sampled as loading would under the policy."""
    candidates = []
    for index, (kind, value, priority) in enumerate(drawn):
        if kind == "inline":
            candidates.append(inline(value, index, priority=priority))
        elif kind == "lake":
            candidates.append(lake(value, priority=priority))
        elif kind == "result":
            sampled = table(value, policy.max_sql_rows, strategy=policy.sampling_strategy)
            candidates.append(result(sampled, priority=priority))
        else:
            candidates.append(lake("[gone]", priority=priority, error="it is gone"))
    return candidates
