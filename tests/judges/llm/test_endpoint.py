"""The settings of a language model: one way to write where it is, and bounds on all else."""

from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.judges.llm.endpoint import LanguageModel, Secret, endpoint_url, is_local


def model(**changes: Any) -> LanguageModel:
    return LanguageModel(**{"url": "http://localhost:1/v1", "model": "m", **changes})


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("HTTPS://API.Example.com:443/v1", "https://api.example.com/v1"),
        ("http://localhost:80", "http://localhost"),
        ("http://gpu_box:8000/v1", "http://gpu_box:8000/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_there_is_one_way_to_write_where_a_model_is(given: str, url: str) -> None:
    assert endpoint_url(given) == endpoint_url(url) == url


@pytest.mark.parametrize(
    "given",
    [
        "",
        "localhost:11434",
        "ftp://a.example/v1",
        "http:///v1",
        "http://a b/v1",
        "http://a.example/v1\n",
        "http://é.example/v1",
        "http://a.example:x/v1",
        "http://[::1/v1",
        f"http://a.example/{'x' * 500}",
    ],
)
def test_what_is_no_url_is_refused(given: str) -> None:
    with pytest.raises(
        InputError, match="is no URL of a web server: give one such as http://localhost"
    ):
        endpoint_url(given)


def test_a_url_has_neither_a_password_nor_a_query() -> None:
    with pytest.raises(InputError, match="give the key as a key") as caught:
        endpoint_url("https://user:hunter2@a.example/v1")
    assert "hunter2" not in str(caught.value)
    for rest in ("?key=1", "#x"):
        with pytest.raises(InputError, match="leave out what stands behind the path"):
            endpoint_url(f"https://a.example/v1{rest}")


def test_a_key_does_not_go_over_an_open_wire() -> None:
    for url in ("http://127.0.0.1/v1", "http://localhost/v1", "http://[::1]/v1", "https://a.b/v1"):
        assert model(url=url, key="k").secret is not None
    with pytest.raises(InputError, match="use https"):
        model(url="http://a.example/v1", key="k")
    assert model(url="http://a.example/v1").secret is None


def test_this_machine_is_known_by_its_names() -> None:
    assert is_local("http://127.8.9.1:1/v1")
    assert not is_local("http://127.0.0.1.example/v1")


def test_a_key_shows_itself_to_nobody() -> None:
    secret = Secret("hunter2")
    assert "hunter2" not in f"{secret!r} {secret}"
    assert secret.reveal() == "hunter2"
    assert model(key=secret).hidden("it is hunter2") == "it is [key]"
    assert model().hidden("it is hunter2") == "it is hunter2"
    for wrong in ("", " x", "x\n", "é"):
        with pytest.raises(InputError, match="the key is not one"):
            Secret(wrong)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": ""}, "a model has a name"),
        ({"model": "a\nb"}, "a model has a name"),
        ({"api": "soap"}, "there is no API 'soap' to ask by: use openai, anthropic"),
        ({"input_price": "cheap"}, "input_price is 'cheap'"),
        ({"output_price": "-1"}, "output_price is '-1'"),
        ({"output_price": "NaN"}, "output_price is 'NaN'"),
        ({"currency": "usd"}, "three capital letters"),
        ({"attempts": 0}, "attempts is 0: it must be from 1 to 10"),
        ({"timeout_seconds": 0}, "timeout_seconds is 0"),
        ({"evidence_bytes": 1}, "evidence_bytes is 1: it must be from 500 to 10,000,000"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        model(**changes)


def test_a_cost_is_given_where_both_prices_are_known() -> None:
    assert model(input_price="0.15", output_price="0.60").cost(1_000_000, 500_000) == "0.450000"
    assert model(input_price="0.15").cost(1, 1) is None
    assert model(output_price="0.15").cost(1, 1) is None
