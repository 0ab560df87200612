"""The format of PDFs: the rendering's vectors, schema and page agree with the code."""

from typing import Any, get_args

import pytest

import tiers
from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.export.pdf.reading import _rendering
from evidentia.export.pdf.rendering import FORMAT, FORMAT_VERSION, Language, Typeface
from spec.test_spec import load, run_blocks, schema, valid

VECTORS: dict[str, list[dict[str, Any]]] = load("renderings.json")


@pytest.mark.parametrize("vector", VECTORS["renderings"], ids=lambda vector: vector["bytes"][:60])
def test_a_rendering_is_read(vector: dict[str, Any]) -> None:
    said = vector["rendering"]
    assert vector["bytes"].removesuffix("\n").encode() == canonical_json(said)
    assert valid("rendering", said)
    read = _rendering(vector["bytes"].encode())
    told = (read.lang, read.typeface, read.typst, read.template)
    assert told == (said["lang"], said["typeface"], said["typst"], said["template"])


@tiers.one_test
@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["why"])
def test_what_is_no_rendering_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _rendering(vector["bytes"].encode())


def test_the_schema_has_the_values_of_the_code() -> None:
    fields = schema("rendering")["properties"]
    assert fields["format"]["const"] == FORMAT
    assert fields["v"]["const"] == FORMAT_VERSION
    assert fields["lang"]["enum"] == list(get_args(Language))
    assert fields["typeface"]["enum"] == list(get_args(Typeface))


def test_the_page_reads_renderings_as_the_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    is_rendering = run_blocks("pdf.md", monkeypatch)["is_rendering"]
    assert all(is_rendering(vector["bytes"].encode()) for vector in VECTORS["renderings"])
    assert not any(is_rendering(vector["bytes"].encode()) for vector in VECTORS["refused"])
