"""Candidates, policies and bundles for tests."""

from typing import Any

from hypothesis import strategies as st

from evidentia.bundles.building import build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.model import EvidenceBundle, EvidenceType
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.sampling import sampled_rows
from evidentia.bundles.tables import SampledTable
from evidentia.canonical import sha256_hex

NOW = "2026-11-16T09:00:00.000000Z"
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
