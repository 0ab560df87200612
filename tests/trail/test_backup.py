"""The form of a backup: a manifest and rows are read as they were written, or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.canonical import canonical_json
from evidentia.errors import ProofError
from evidentia.trail.backup import (
    BackupManifest,
    ColumnKind,
    decode_file,
    decode_row,
    encode_file,
    encode_row,
)

DIGEST = "ab" * 32
PART = {"sha256": DIGEST, "bytes": 7, "rows": 2}
TABLE = {
    "name": "trail_keys",
    "columns": [{"name": "seq", "kind": "integer"}, {"name": "key_id", "kind": "text"}],
    "parts": [PART, PART],
}
TENANT: dict[str, Any] = {
    "tenant": "acme",
    "log": {"origin": "evidentia/1/acme", "size": 3, "root": DIGEST, "checkpoint": None},
    "kept": None,
    "tables": [TABLE],
    "files": {"parts": [PART]},
    "missing": [{"sha256": DIGEST, "why": "erased"}],
    "keys": [{"name": "0a1b2c3d.pem", "sha256": DIGEST}],
}
MANIFEST: dict[str, Any] = {
    "format": "evidentia-backup",
    "v": 1,
    "created_at": "2026-01-05T09:00:00.000000Z",
    "program": "evidentia 0.1.0",
    "revision": "0018",
    "tenants": [TENANT],
}
KINDS = tuple(ColumnKind)
ROW = ["text", 7, 0.5, True, "2026-01-05T09:00:00.000000Z", b"\x00\xff", ["a", "b"]]


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = BackupManifest.decode(canonical_json(MANIFEST))
    assert manifest.encode() == canonical_json(MANIFEST) + b"\n"
    (tenant,) = manifest.tenants
    table = tenant.table("trail_keys")
    assert table is not None
    assert (table.rows, table.kinds) == (4, [ColumnKind.INTEGER, ColumnKind.TEXT])
    assert tenant.table("another") is None
    assert tenant.files.count == 2
    assert list(tenant.digests()) == [DIGEST] * 4


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "it is no manifest of a backup"),
        (canonical_json(MANIFEST | {"format": "other"}), "it is no manifest of a backup"),
        (canonical_json(MANIFEST | {"v": 2}), "version 2, and this program reads 1: upgrade"),
        (canonical_json(MANIFEST | {"v": True}), "it has no version"),
        (canonical_json(MANIFEST | {"v": "2"}), "it has no version"),
        (canonical_json(MANIFEST | {"v": 0}), "v"),
        (canonical_json(MANIFEST | {"more": 1}), "there is no such field"),
        (canonical_json(MANIFEST | {"tenants": [TENANT, TENANT]}), "lists a tenant twice"),
        (
            canonical_json(MANIFEST | {"tenants": [TENANT | {"tables": [TABLE, TABLE]}]}),
            "lists a table twice",
        ),
        (canonical_json(MANIFEST | {"tenants": [TENANT | {"tenant": "../x"}]}), "is not a name"),
        (
            canonical_json(
                MANIFEST
                | {"tenants": [TENANT | {"keys": [{"name": "../x.pem", "sha256": DIGEST}]}]}
            ),
            "keys.0.name",
        ),
        (
            canonical_json(MANIFEST | {"tenants": [TENANT | {"files": {"parts": [{}]}}]}),
            "files.parts.0.sha256",
        ),
    ],
)
def test_what_is_no_manifest_is_refused_and_said_where(data: bytes, said: str) -> None:
    with pytest.raises(ProofError, match="the manifest") as refused:
        BackupManifest.decode(data)
    assert said in str(refused.value)


def test_a_row_of_every_kind_is_read_as_it_was_written() -> None:
    line = encode_row(ROW, KINDS)
    assert line == (b'["text",7,0.5,true,"2026-01-05T09:00:00.000000Z","AP8=",["a","b"]]\n')
    assert decode_row(line, KINDS) == ROW
    nothing = [None] * len(KINDS)
    assert decode_row(encode_row(nothing, KINDS), KINDS) == nothing
    assert encode_row([1], [ColumnKind.TRUTH]) == b"[true]\n", "as SQLite has it"
    assert decode_row(b"[7]", [ColumnKind.REAL]) == [7.0]


@given(
    st.tuples(
        st.text(),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.text(),
        st.binary(),
        st.lists(st.text()),
    )
)
def test_any_row_is_read_as_it_was_written(row: tuple[Any, ...]) -> None:
    assert decode_row(encode_row(row, KINDS), KINDS) == list(row)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "no JSON"),
        (b"{}", "no array of 1 values"),
        (b"[]", "no array of 1 values"),
        (b"[1,2]", "no array of 1 values"),
    ],
)
def test_a_line_that_is_no_row_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(ProofError, match=said):
        decode_row(line, [ColumnKind.TEXT])


def test_a_value_of_another_kind_is_refused() -> None:
    wrong: dict[ColumnKind, list[bytes]] = {
        ColumnKind.TEXT: [b"[1]", b"[[]]"],
        ColumnKind.INTEGER: [b"[1.5]", b"[true]", b'["1"]'],
        ColumnKind.REAL: [b'["0.5"]', b"[true]"],
        ColumnKind.TRUTH: [b"[1]"],
        ColumnKind.TIME: [b"[1]"],
        ColumnKind.BYTES: [b"[1]", b'["="]', b'["a"]', b'["\xc3\xa4"]'],
        ColumnKind.TEXTS: [b'["a"]', b"[[1]]"],
    }
    assert set(wrong) == set(ColumnKind)
    for kind, lines in wrong.items():
        for line in lines:
            with pytest.raises(ProofError, match="a line has"):
                decode_row(line, [kind])


def test_a_file_is_named_by_its_digest_alone() -> None:
    assert decode_file(encode_file(DIGEST)) == DIGEST
    for line in (b"", b'"ab"\n', encode_file(DIGEST)[:-1], b" " + encode_file(DIGEST), b"\xff\n"):
        with pytest.raises(ProofError, match="names no file"):
            decode_file(line)
    with pytest.raises(ProofError, match="names no file"):
        decode_file(encode_file("AB" * 32))
