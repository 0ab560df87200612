"""Answers that are kept: within so many bytes, and never for who may not have them."""

from typing import Any

from starlette.requests import Request

from evidentia.server.caching import KeptAnswer, KeptAnswers
from server.house import House


def asked(**headers: str) -> Request:
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "headers": given})


def test_a_long_answer_is_compressed_once_for_who_takes_it_so() -> None:
    answer = KeptAnswer.of(b"x" * 5_000, {"etag": '"1"'})
    small = answer.given_to(asked(accept_encoding="br, gzip"))
    assert (small.headers["content-encoding"], small.body) == ("gzip", answer.small)
    assert len(answer.small) < 100
    plain = answer.given_to(asked())
    assert plain.body == answer.plain
    assert "content-encoding" not in plain.headers
    for one in (small, plain):
        assert (one.headers["etag"], one.headers["vary"]) == ('"1"', "accept-encoding")
    assert KeptAnswer.of(b"short", {}).given_to(asked(accept_encoding="gzip")).body == b"short"


def test_the_least_recently_used_answers_go_first() -> None:
    kept = KeptAnswers(most_bytes=2_500)
    for name in "abc":
        kept.put((name,), KeptAnswer(name.encode() * 600, b"", {}))
    assert kept.get(("a",))
    kept.put(("d",), KeptAnswer(b"d" * 600, b"", {}))
    kept.put(("e",), KeptAnswer(b"e" * 600, b"", {}))
    assert [bool(kept.get((name,))) for name in "abcde"] == [True, False, True, True, True]
    kept.put(("large",), KeptAnswer(b"x" * 700, b"", {}))
    assert kept.get(("large",)) is None


def test_a_kept_answer_is_given_to_no_one_who_may_not_have_it(house: House) -> None:
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"

    def statuses() -> list[Any]:
        people = ("viewer", "no one", "other tenant's admin", "nobody")
        return [house.get(path, who).status_code for who in people]

    assert statuses() == [200, 404, 404, 401]
    assert statuses() == [200, 404, 404, 401]
    house.workspace.access.revoke("viewer", "viewer")
    assert statuses() == [404, 404, 404, 401]
