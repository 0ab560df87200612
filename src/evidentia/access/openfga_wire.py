"""What is said to OpenFGA, and what its answers say: the messages of its HTTP API, as values.

An answer is read strictly. What is not just as the API's description has it raises `ValueError`,
and decides nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from evidentia.access.openfga import CONDITION, Relationship
from evidentia.canonical import canonical_json

MOST_CHECKS: Final = 50
"""How many checks one request asks: OpenFGA's own limit, unless its operator set another."""
MOST_TUPLES: Final = 100
"""How many tuples one request writes and deletes: OpenFGA's own limit."""
PAGE: Final = 100
"""How many tuples or stores one page has."""
_CONSISTENCY: Final = {"consistency": "HIGHER_CONSISTENCY"}
"""No answer of a cache: a tuple that was taken away counts no more."""


def check_body(
    user: str,
    relation: str,
    object: str,  # noqa: A002 - OpenFGA's word
    *,
    current_time: str,
    model_id: str,
) -> dict[str, Any]:
    """Return what asks one check. No tuple goes with it: what counts is what is kept there."""
    return {
        "tuple_key": {"user": user, "relation": relation, "object": object},
        "context": {"current_time": current_time},
        "authorization_model_id": model_id,
        **_CONSISTENCY,
    }


def batch_bodies(
    user: str, relation: str, objects: Sequence[str], *, current_time: str, model_id: str
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Give what asks many checks, in as few requests as may be, each with its correlation ids."""
    for start in range(0, len(objects), MOST_CHECKS):
        some = objects[start : start + MOST_CHECKS]
        ids = [str(start + place) for place in range(len(some))]
        checks = [
            {
                "tuple_key": {"user": user, "relation": relation, "object": one},
                "context": {"current_time": current_time},
                "correlation_id": identity,
            }
            for identity, one in zip(ids, some, strict=True)
        ]
        yield ids, {"checks": checks, "authorization_model_id": model_id, **_CONSISTENCY}


def read_check(answer: Any) -> bool:
    """Return what an answer to a check says."""
    return _allowed(_object(answer))


def read_batch(answer: Any, ids: Sequence[str]) -> list[bool]:
    """Return what an answer to many checks says of each, by its id: of all, and of no others."""
    result = _object(_object(answer).get("result"))
    if set(result) != set(ids):
        raise ValueError(f"it answers {len(result)} checks that are not the {len(ids)} asked")
    return [_allowed(_object(result[one])) for one in ids]


def write_bodies(
    writes: Sequence[Relationship], deletes: Sequence[Relationship], model_id: str
) -> Iterator[dict[str, Any]]:
    """Give what writes and deletes tuples, in requests of which each is done whole or not at all.

    Deletions come first. A tuple that is to have another condition is deleted and written by two
    requests: OpenFGA takes no tuple twice in one.
    """
    gone = iter(deletes)
    while some := list(islice(gone, MOST_TUPLES)):
        keys = [{"user": one.user, "relation": one.relation, "object": one.object} for one in some]
        yield {"deletes": {"tuple_keys": keys}, "authorization_model_id": model_id}
    new = iter(writes)
    while some := list(islice(new, MOST_TUPLES)):
        told = [one.as_json() for one in some]
        yield {"writes": {"tuple_keys": told}, "authorization_model_id": model_id}


def read_body(key: Mapping[str, str], token: str) -> dict[str, Any]:
    """Return what asks for a page of tuples: all of the store's if `key` is empty."""
    body: dict[str, Any] = {"page_size": PAGE, **_CONSISTENCY}
    if key:
        body["tuple_key"] = dict(key)
    if token:
        body["continuation_token"] = token
    return body


def read_tuples(answer: Any) -> tuple[list[Relationship], str]:
    """Return a page of tuples, and what asks for the next one; "" if there is none."""
    page = _object(answer)
    rows = page.get("tuples")
    if not isinstance(rows, list):
        raise ValueError("it has no list of tuples")  # noqa: TRY004 - of an answer
    return [_tuple(_object(_object(row).get("key"))) for row in rows], token_of(page)


def read_stores(answer: Any) -> tuple[list[tuple[str, str]], str]:
    """Return a page of stores, by ids and names, and what asks for the next one."""
    page = _object(answer)
    rows = page.get("stores")
    if not isinstance(rows, list):
        raise ValueError("it has no list of stores")  # noqa: TRY004 - of an answer
    found = [_object(row) for row in rows]
    return [(text(one, "id"), text(one, "name")) for one in found], token_of(page)


def read_models(answer: Any) -> tuple[list[tuple[str, Any]], str]:
    """Return a page of models, by ids, and what asks for the next one; the newest comes first."""
    page = _object(answer)
    rows = page.get("authorization_models")
    if not isinstance(rows, list):
        raise ValueError("it has no list of models")  # noqa: TRY004 - of an answer
    found = [(text(_object(one), "id"), plain_model(one)) for one in rows]
    return found, token_of(page)


def plain_model(model: Any) -> Any:
    """Return a model without what says nothing: its id, and fields that are empty.

    OpenFGA gives back more of them than it was given; what says the same is the same.
    """
    if isinstance(model, dict):
        kept = {name: plain_model(one) for name, one in model.items() if name != "id"}
        return {
            name: one
            for name, one in kept.items()
            if one not in ("", None, []) and (one != {} or name == "this" or name in _NAMED)
        }
    if isinstance(model, list):
        return [plain_model(one) for one in model]
    return model


_NAMED: Final = frozenset({"wildcard"})
"""What says something by being there, though it is empty."""


def text(answer: Any, name: str) -> str:
    """Return a field of an answer that is text, and not empty."""
    found = _object(answer).get(name)
    if not isinstance(found, str) or not found:
        raise ValueError(f"it has no {name}")
    return found


def token_of(page: Mapping[str, Any]) -> str:
    """Return what asks for the next page; "" behind the last."""
    token = page.get("continuation_token", "")
    if not isinstance(token, str):
        raise ValueError("its continuation_token is no text")  # noqa: TRY004 - of an answer
    return token


def told_refusal(answer: Any) -> str:
    """Return what a refusal says of itself, on one line: its code and its message."""
    if not isinstance(answer, dict):
        return ""
    parts = [answer.get("code"), answer.get("message")]
    return ": ".join(" ".join(one.split())[:300] for one in parts if isinstance(one, str) and one)


def _allowed(answer: Mapping[str, Any]) -> bool:
    if answer.get("error") is not None:
        said = told_refusal(
            {"code": "error", "message": _object(answer["error"]).get("message", "")}
        )
        raise ValueError(f"it could not check ({said})")
    found = answer.get("allowed")
    if found is not True and found is not False:
        raise ValueError("it says neither allowed nor not")
    return found


def _tuple(key: Mapping[str, Any]) -> Relationship:
    user, relation, on = (text(key, name) for name in ("user", "relation", "object"))
    condition = key.get("condition")
    if condition is None:
        return Relationship(user, relation, on)
    match condition:
        case {"name": str(name), "context": {"expires_at": str(until), **more}, **rest} if (
            name == CONDITION and not more and not rest
        ):
            return Relationship(user, relation, on, until)
    return Relationship(user, relation, on, condition=canonical_json(condition).decode())


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - of an answer, not of an argument
    return answer
