"""Hostile files, any job at all, and thousands of mutations: each input is accounted for."""

import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.bundles.policy import EvidencePolicy
from evidentia.loading.assembling import build_evidence_bundle
from survival.bundle_checks import (
    KEY,
    KINDS,
    check_bundle,
    check_refused,
    job,
    recorded,
)

DEPTH = 10_000
DEEP = "[" * DEPTH + "]" * DEPTH
COMMAND = "from evidentia.cli.main import run; run()"


# Files


DEEP_FILES = {
    "arrays": DEEP,
    "objects": '{"a":' * DEPTH + "1" + "}" * DEPTH,
    "a row": f'[{{"a":{DEEP}}}]',
    "a body": f'{{"status":200,"body":{DEEP}}}',
    "headers": f'{{"status":200,"headers":{DEEP}}}',
    "HAR": f'{{"log":{{"entries":[{{"response":{{"status":200,"content":{DEEP}}}}}]}}}}',
    "segments": f'{{"segments":[{{"text":"hi","words":{DEEP}}}]}}',
    "never closed": "[" * 100_000,
}


@pytest.mark.parametrize("name", DEEP_FILES)
@pytest.mark.parametrize(
    ("kind", "extension"),
    [
        ("sql_results", "json"),
        ("sql_results", "ndjson"),
        ("lake_http", "json"),
        ("transcripts", "json"),
    ],
)
def test_json_that_goes_too_deep_is_refused_by_name(
    lake: Path, name: str, kind: str, extension: str
) -> None:
    path = lake / f"deep.{extension}"
    path.write_text(DEEP_FILES[name])
    check_refused(lake, None, {kind: [path.name]})
    check_bundle(recorded(lake, None, {"lake_text": [path.name]}), lake)  # as text, it is text


@pytest.mark.parametrize("text", [DEEP, f'{{"job_input":{DEEP}}}', "[" * 100_000])
def test_a_job_that_goes_too_deep_is_refused_by_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_text(text)
    ran = subprocess.run(
        [sys.executable, "-c", COMMAND, "bundle", "build", "--config", "job.json"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 2
    assert "job.json: nested more than 100 levels deep" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "rows",
    [
        '[{"a":"\\ud800"}]',
        '[{"\\udfff":1}]',
        f'[{{"a":{"9" * 6_000}}}]',
        f'[{{"a":0.{"9" * 6_000}}}]',
        '[{"a":NaN}]',
        '[{"a":1,"a":2}]',
        '[{"a":1}',
        "",
        "null",
        "[1, [2], null]",
    ],
    ids=lambda rows: ascii(rows[:20]),
)
@pytest.mark.parametrize("extension", ["json", "ndjson"])
def test_odd_json_is_a_result_or_refused_by_name(lake: Path, rows: str, extension: str) -> None:
    path = lake / f"rows.{extension}"
    path.write_text(rows)
    bundle = recorded(lake, None, {"sql_results": [path.name]})
    if bundle.accounting.failed:
        check_refused(lake, None, {"sql_results": [path.name]})
    assert bundle.accounting.inputs == 1


@pytest.mark.parametrize("number", ["1e999999", "-1e999999", "1e-999999", "-0", "9" * 400, "1E+2"])
def test_every_number_is_shown_as_it_is_or_refused(lake: Path, number: str) -> None:
    for extension, text in (("json", f'[{{"a":{number}}}]'), ("ndjson", f'{{"a":{number}}}\n')):
        path = lake / f"rows.{extension}"
        path.write_text(text)
        bundle = recorded(lake, None, {"sql_results": [path.name]})
        (item,) = bundle.items
        assert bundle.accounting.failed or "inf" not in item.content.lower()


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [
        (kind, encoding)
        for kind in KINDS
        for encoding in ("utf-16-le", "latin-1", "utf-16-be", "utf-32-le", "cp1256")
        if kind != "documents" or encoding in ("utf-16-le", "latin-1")  # a worker takes its time
    ],
)
def test_another_encoding_is_refused_and_never_guessed(
    lake: Path, kind: str, encoding: str
) -> None:
    word = "إجازة" if encoding == "cp1256" else "café"
    text = f"name,days\n{word},25\n"
    (lake / "a.csv").write_bytes(text.encode(encoding))
    check_refused(lake, None, {kind: ["a.csv"]})


def test_a_zip_bomb_is_not_unpacked(lake: Path) -> None:
    with (
        zipfile.ZipFile(lake / "bomb.docx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("word/document.xml", "w") as member,
    ):
        for _ in range(160):
            member.write(b" " * 2**20)
    assert (lake / "bomb.docx").stat().st_size < 2**20
    assert "zip bomb" in check_refused(lake, None, {"documents": ["bomb.docx"]})
    check_refused(lake, None, {"lake_text": ["bomb.docx"]})


# Any job


WORDS = st.lists(
    st.sampled_from(
        ["leave ", "25 days. ", "👨‍👩‍👧 ", "e\u0301", "إجازة ", "\u202e", "\n", "|", "x" * 60]
    ),
    max_size=12,
).map("".join)
PLANTED = st.sampled_from(
    ["anna.k@example.com", "omar+hr@mail.example.org", "4111 1111 1111 1111", "5500-0000-0000-0004"]
)
TEXT = st.tuples(WORDS, st.none() | PLANTED, WORDS).map(
    lambda drawn: f"{drawn[0]} {drawn[1]} {drawn[2]}" if drawn[1] else f"{drawn[0]}{drawn[2]}"
)
LIMIT = st.one_of(st.integers(0, 60), st.integers(0, 3_000))
DRAWN_POLICIES = st.fixed_dictionaries(
    {
        "max_items": st.integers(0, 9),
        "max_total_bytes": LIMIT,
        "max_item_bytes": LIMIT,
        "max_sql_rows": st.integers(0, 6),
        "max_sql_cols": st.integers(0, 4),
        "sampling_strategy": st.sampled_from(["first_only", "first_last", "stride"]),
        "chunk_size": st.integers(5, 90),
        "chunk_overlap": st.integers(0, 4),
    },
    optional={
        "enable_redaction": st.booleans(),
        "tokenizer": st.just("cl100k_base"),
        "redaction_patterns": st.just({"DAYS": "[0-9]+ days"}),
    },
)
ROWS = st.lists(st.fixed_dictionaries({"id": st.integers(0, 99), "note": TEXT}), max_size=8)
JOBS = st.fixed_dictionaries(
    {
        "inline": st.lists(st.tuples(TEXT, st.integers(-2, 2)), max_size=5),
        "texts": st.lists(TEXT, max_size=4),
        "talks": st.lists(WORDS, max_size=2),
        "responses": st.lists(TEXT, max_size=2),
        "rows": st.lists(ROWS, max_size=2),
        "queries": st.lists(TEXT.filter(str.strip), max_size=2),
        "gone": st.booleans(),
    }
)


def turned(value: Any) -> Any:
    """Return an equal value whose mappings have their keys in the other order."""
    if isinstance(value, Mapping):
        return {key: turned(one) for key, one in reversed(list(value.items()))}
    return [turned(one) for one in value] if isinstance(value, list) else value


def write_job(drawn: dict[str, Any], lake: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the files of a job; return what it says."""
    lake.mkdir()
    refs: dict[str, list[Any]] = {key: [] for key in (*KINDS, "sql_queries")}
    for number, text in enumerate(drawn["texts"]):
        (lake / f"{number}.md").write_text(text, encoding="utf-8", newline="")
        refs["lake_text"].append({"lake_uri": f"{number}.md", "priority": number % 2})
    for number, text in enumerate(drawn["talks"]):
        said = {"segments": [{"speaker": "Anna", "text": text}, {"text": "Yes.", "start": 1.5}]}
        (lake / f"{number}.json").write_text(json.dumps(said))
        refs["transcripts"].append(f"{number}.json")
    for number, text in enumerate(drawn["responses"]):
        response = {"status": 200, "headers": {"X-Note": "a"}, "body": text}
        (lake / f"{number}.http.json").write_text(json.dumps(response))
        refs["lake_http"].append(f"{number}.http.json")
    for number, rows in enumerate(drawn["rows"]):
        lines = "".join(f"{json.dumps(row, ensure_ascii=number == 0)}\n" for row in rows)
        (lake / f"{number}.ndjson").write_text(lines, encoding="utf-8")
        refs["sql_results"].append({"lake_uri": f"{number}.ndjson", "query_key": f"q{number}"})
    refs["sql_queries"] = [
        {"query_key": f"q{number}", "sql": text} for number, text in enumerate(drawn["queries"])
    ]
    if drawn["gone"]:
        refs["lake_text"].append("../gone.md")
    evidence = [
        {
            "text": text,
            "source_uri": f"note: {text}",
            "priority": priority,
            "tags": {"b": 1, "a": 2},
        }
        for text, priority in drawn["inline"]
    ]
    return job(*evidence), refs


@settings(max_examples=tiers.count(70, short=15))
@given(JOBS, DRAWN_POLICIES)
def test_any_job_gives_the_same_bundle_within_its_limits(
    drawn: dict[str, Any], policy: dict[str, Any]
) -> None:
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        lakes = [Path(folder, "one"), Path(folder, "another")]
        found = []
        for lake in lakes:
            job_input, refs = write_job(drawn, lake)
            if lake is lakes[1]:
                job_input, refs, policy = turned(job_input), turned(refs), turned(policy)
            bundle = build_evidence_bundle(
                job_input=job_input,
                evidence_refs=refs,
                policy=EvidencePolicy(**policy),
                lake_root=lake,
                on_error="record",
                redaction_key=KEY,
            )
            check_bundle(bundle, lake)
            found.append(bundle)
        one, another = found
        if not drawn["gone"]:
            assert one.bundle_sha256 == another.bundle_sha256
            same_time = another.model_copy(update={"created_utc": one.created_utc})
            assert same_time.encode() == one.encode()
        assert one.accounting.failed <= drawn["gone"]
        if one.policy.enable_redaction:
            kept = [one.encode(), *(path.read_bytes() for path in lakes[0].glob("sha256/*/*/*"))]
            everywhere = b"\n".join(kept)
            for planted in (b"example.com", b"example.org", b"1111 1111", b"0000-0000"):
                assert planted not in everywhere


# Mutations


SEEDS: dict[str, tuple[str, bytes]] = {
    "har.json": (
        "lake_http",
        (
            b'{"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/"},"response":'
            b'{"status":200,"headers":[{"name":"Content-Type","value":"text/plain"}],'
            b'"content":{"text":"25 days","mimeType":"text/plain"}}}]}}'
        ),
    ),
    "curl.http": (
        "lake_http",
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n7\r\n25 days\r\n0\r\n\r\n"
        ),
    ),
    "record.json": (
        "lake_http",
        (
            b'{"status":200,"headers":{"content-encoding":"gzip","content-type":"text/plain"},'
            b'"body_base64":"H4sIAAAAAAACAzMyVUhJrCwGAGXxRv0HAAAA","url":"https://a.example/?token=x"}'
        ),
    ),
    "talk.vtt": (
        "transcripts",
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Anna>Leave is 25 days.\n\n"
        "00:00:02.000 --> 00:00:03.000\n<v Omar>إجازة\n".encode(),
    ),
    "talk.srt": (
        "transcripts",
        (
            b"1\n00:00:01,000 --> 00:00:02,000\nAnna: Leave is 25 days.\n\n"
            b"2\n00:00:02,000 --> 00:00:03,000\nOmar: Yes.\n"
        ),
    ),
    "talk.json": (
        "transcripts",
        (
            b'{"segments":[{"start":0.5,"end":1.25,"speaker":"Anna","text":"25 days"},'
            b'{"start":"00:00:02","text":"Yes"}]}'
        ),
    ),
    "rows.ndjson": ("sql_results", b'{"a":1,"b":"x"}\n{"a":2.50,"b":null}\n{"b":[1,{"c":2}]}\n'),
    "rows.json": ("sql_results", b'[{"a":1,"b":"x"},{"a":2,"b":"\\u00e9"}]'),
    "table.json": ("sql_results", b'{"columns":["a","b"],"rows":[[1,"x"],[2,"y"]]}'),
    "rows.csv": ("sql_results", b'a,b\n1,"x, y"\n2,"say ""hi"""\n3,\n'),
    "rows.tsv": ("sql_results", b"a\tb\n1\tx\n2\ty\n"),
}
PIECES = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b'"', b"\\", b"\\ud800", b"\\u0000", b"{", b"}", b"[", b"]", b",", b":", b"\r", b"\n",
    b"\r\n\r\n", b"-1", b"1e999", b"9" * 40, b"NaN", b"null", b"true", b"-->", b"99:99:99.999",
    b"<v ", b"gzip", b"chunked", b"base64", b"status", b"\xe2\x80\xae",
    b"\xf0\x9f\x91\xa8\xe2\x80\x8d", b"\x1f\x8b", b"%PDF-", b"PK\x03\x04", b"[" * 300,
    b"A" * 5_000, b"",
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to six of them changed, cut, repeated or replaced."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        at = chance.randrange(len(changed) + 1)
        to = min(len(changed), at + chance.choice([0, 1, 1, 2, 8, 40]))
        match chance.randrange(5):
            case 0:
                changed[at:to] = chance.choice(PIECES)
            case 1:
                changed[at:to] = chance.randbytes(to - at)
            case 2:
                del changed[at:to]
            case 3:
                changed[at:at] = changed[at:to] * chance.choice([1, 2, 50])
            case _ if changed:
                place = chance.randrange(len(changed))
                changed[place] ^= 1 << chance.randrange(8)
    return bytes(changed)


ROUNDS = 12
EACH = 25


@pytest.mark.parametrize("number", tiers.sample(range(ROUNDS), 2))
def test_whatever_is_done_to_a_file_a_bundle_says_what_became_of_it(
    lake: Path, number: int
) -> None:
    chance = random.Random(f"bundles {number}")
    refs: dict[str, list[str]] = {}
    for name, (kind, data) in SEEDS.items():
        for case in range(EACH):
            path = lake / f"{case}.{name}"
            path.write_bytes(mutated(data, chance))
            refs.setdefault(kind, []).append(path.name)
    policy = EvidencePolicy(
        max_items=chance.choice([50, 10_000]),
        max_item_bytes=chance.choice([80, 10_000]),
        max_total_bytes=10_000_000,
        max_sql_rows=chance.choice([1, 100]),
        chunk_size=chance.choice([20, 5_000]),
        chunk_overlap=10,
        enable_redaction=chance.random() < 0.5,
    )
    bundle = recorded(lake, None, refs, policy=policy, redaction_key=KEY)
    origins = {one.origin for one in bundle.accounting.decisions}
    assert len(origins) == len(SEEDS) * EACH  # each of them is accounted for


def test_there_are_thousands_of_mutations_and_without_one_all_is_read(lake: Path) -> None:
    assert ROUNDS * EACH * len(SEEDS) >= 3_000
    refs: dict[str, list[str]] = {}
    for name, (kind, data) in SEEDS.items():
        (lake / name).write_bytes(data)
        refs.setdefault(kind, []).append(name)
    assert recorded(lake, None, refs).accounting.failed == 0
