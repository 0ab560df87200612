"""Answers that are submitted over the API, and their ledgers, by id and by the page."""

import json
from typing import Any

import pytest

import evidentia as ev
from server.house import ANSWER, House

SESSIONS = "/api/v1/sessions"
LEDGERS = "/api/v1/ledgers"


def submitted(house: House, who: str = "approver", **asked: Any) -> Any:
    return house.post(SESSIONS, who, json={"judges": ["quote"], **asked})


def document_id(house: House) -> str:
    return house.workspace.documents.list()[0].id


def verdicts(answer: Any) -> list[str]:
    assert answer.status_code == 201, answer.text
    return [entry["verdict"] for entry in answer.json()["ledger"]["entries"]]


def test_a_submitted_answer_is_checked_kept_and_answered_with_its_ledger(house: House) -> None:
    answer = submitted(house, answer=ANSWER, query="How much?", title="Leave")
    assert verdicts(answer) == ["supported", "not_found"]
    ledger = answer.json()["ledger"]
    assert answer.headers["location"] == f"{LEDGERS}/{ledger['id']}"
    assert answer.json()["session"]["query"] == "How much?"
    kept = house.workspace.ledgers.get(ledger["id"])
    assert json.loads(kept.model_dump_json()) == ledger
    assert kept.session.title == "Leave"
    assert house.workspace.trail.entry(kept.entry).body["by"] == "approver"
    again = house.get(answer.headers["location"])
    assert again.json() == answer.json()


@pytest.mark.parametrize("kind", ["documents", "collections", "contexts", "bundle"])
def test_an_answer_is_checked_against_what_the_request_names(house: House, kind: str) -> None:
    workspace = house.workspace
    text = "Permanent employees receive 15 days of leave."
    given: dict[str, Any] = {
        "documents": lambda: [document_id(house)],
        "collections": lambda: ["policies"],
        "contexts": lambda: [{"id": "c1", "text": text}],
        "bundle": lambda: workspace.bundle({"extra_params": {"evidence": [text]}}).bundle_id,
    }
    answer = submitted(house, answer=text, **{kind: given[kind]()})
    assert verdicts(answer) == ["supported"]
    session = workspace.ledgers.get(answer.json()["ledger"]["id"]).session
    assert (session.contexts is not None) == (kind in {"contexts", "bundle"})
    assert (session.corpus is not None) == (kind in {"documents", "collections"})


def test_an_answer_submitted_again_with_its_key_is_checked_once(house: House) -> None:
    asked = {"judges": ["quote"], "answer": "Leave is requested in writing."}
    headers = {"idempotency-key": "check-1"}
    before = len(house.workspace.ledgers.list())
    first, second = (house.post(SESSIONS, json=asked, headers=headers) for _ in range(2))
    assert first.json() == second.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len(house.workspace.ledgers.list()) == before + 1


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({}, "/body/answer"),
        ({"answer": "x", "judges": ["model:/etc"]}, "/body/judges/0"),
        ({"answer": "x", "against": "/etc"}, "/body/against"),
        ({"answer": "x", "documents": ["/etc/passwd"]}, "/body/documents/0"),
        ({"answer": "x", "contexts": []}, "/body/contexts"),
    ],
)
def test_no_field_names_a_place_that_the_server_would_open(
    sqlite_house: House, asked: dict[str, Any], pointer: str
) -> None:
    answer = submitted(sqlite_house, **asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({"answer": " "}, 422, "the answer is empty"),
        ({"answer": "x", "as_of": "soon"}, 422, "is no day"),
        ({"answer": "x", "contexts": [{"x": 1}]}, 422, "context 1"),
        ({"answer": "x", "contexts": ["y"], "bundle": "0" * 36}, 422, "not both"),
        ({"answer": "x", "documents": ["doc_0000000000000000"]}, 404, "has no document"),
        ({"answer": "x", "collections": ["none"]}, 404, "has no collection"),
        ({"answer": "x", "bundle": "0" * 36}, 404, "there is no bundle"),
    ],
)
def test_what_cannot_be_checked_is_told(
    sqlite_house: House, asked: dict[str, Any], status: int, says: str
) -> None:
    before = sqlite_house.workspace.trail.size
    answer = submitted(sqlite_house, **asked)
    assert (answer.status_code, says in answer.json()["detail"]) == (status, True), answer.text
    kinds = {one.entry.kind for one in sqlite_house.workspace.trail.entries()[before:]}
    assert "ledger" not in kinds


def test_of_some_answers_each_has_its_outcome(house: House) -> None:
    answers = [
        {"answer": "Leave is requested in writing.", "judges": ["quote"]},
        {"answer": " ", "judges": ["quote"]},
        {"answer": "It is so.", "judges": ["quote"], "collections": ["none"]},
        {"answer": "It is so.", "judges": ["quote"], "contexts": ["It is so."]},
    ]
    answer = house.post(f"{SESSIONS}/batch", json={"answers": answers})
    assert answer.status_code == 201
    found = answer.json()["results"]
    assert [one["number"] for one in found] == [1, 2, 3, 4]
    assert [one["ledger_id"] is not None for one in found] == [True, False, False, True]
    assert found[1]["problem"] == "the answer is empty: there is nothing to check"
    assert found[2]["problem"] == "the library has no collection 'none'"
    kept = house.workspace.ledgers.get(found[3]["ledger_id"])
    assert (kept.entry, kept.session_id) == (found[3]["entry"], found[3]["session_id"])


def test_answers_that_are_waited_for_count_each_and_no_more_than_a_thousand_are_taken(
    sqlite_house: House,
) -> None:
    one = {"answer": "It is so.", "contexts": ["It is so."], "judges": ["quote"]}
    many = sqlite_house.post(f"{SESSIONS}/batch", json={"answers": [one] * 1001})
    assert many.json()["errors"][0]["pointer"] == "/body/answers"
    statuses = [
        sqlite_house.post(f"{SESSIONS}/batch", json={"answers": [{"answer": " "}] * 20}).status_code
        for _ in range(7)
    ]
    assert statuses == [201] * 5 + [429] * 2


def test_ledgers_are_listed_the_newest_first_and_by_session_and_title(house: House) -> None:
    made = [submitted(house, answer=f"Leave {n}.", title=f"Part {n}_").json() for n in range(3)]
    ids = [one["ledger"]["id"] for one in reversed(made)] + [house.made["ledger_id"]]
    seen, path = [], f"{LEDGERS}?limit=2"
    while path:
        answer = house.get(path)
        seen += [one["id"] for one in answer.json()["ledgers"]]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert seen == ids
    of_title = house.get(f"{LEDGERS}?title=part 1_").json()["ledgers"]
    assert [one["id"] for one in of_title] == [ids[1]]
    assert house.get(f"{LEDGERS}?title=part 1!").json()["ledgers"] == []
    session = made[0]["session"]["id"]
    assert [one["id"] for one in house.get(f"{LEDGERS}?session={session}").json()["ledgers"]] == [
        ids[2]
    ]
    assert house.get(f"{SESSIONS}/{session}/ledgers").json()["ledgers"][0]["id"] == ids[2]


def test_claims_come_by_the_page_with_the_ledgers_head(house: House) -> None:
    kept = house.workspace.ledgers.get(house.made["ledger_id"])
    path = f"{LEDGERS}/{kept.id}/claims"
    first = house.get(f"{path}?limit=1")
    said = first.json()
    assert (said["start"], said["total"], said["entry"]) == (0, 2, kept.entry)
    assert said["ledger"]["id"] == kept.id
    second = house.get(first.headers["link"].removeprefix("<").partition(">")[0])
    assert "link" not in second.headers
    pages = said["claims"] + second.json()["claims"]
    assert [one["entry"]["id"] for one in pages] == [entry.id for entry in kept.entries]
    tag = {"if-none-match": first.headers["etag"]}
    assert house.get(f"{path}?limit=1", headers=tag).status_code == 304
    assert house.get(f"{path}?limit=2", headers=tag).status_code == 200


def test_a_ledger_by_its_id_is_known_by_its_tag(house: House) -> None:
    path = f"{LEDGERS}/{house.made['ledger_id']}"
    tag = house.get(path).headers["etag"]
    assert house.get(path, headers={"if-none-match": tag}).status_code == 304
    assert house.get(f"{LEDGERS}/latest").status_code == 404
    assert house.get(f"{LEDGERS}/{house.made['session_id']}").status_code == 404


def test_what_a_ledger_was_checked_against_is_listed_and_proved(house: House) -> None:
    path = f"{LEDGERS}/{house.made['ledger_id']}"
    corpus = house.get(f"{path}/corpus").json()
    assert corpus["documents"] == corpus["used"] == len(corpus["versions"]) == 1
    one = corpus["versions"][0]
    assert (one["filename"], one["used"]) == ("leave.md", True)
    key = house.workspace.trail.public_key()
    for name, membership in ((one["id"], "used"), ("doc_0000000000000000", "absent")):
        proof = house.get(f"{path}/corpus/{name}/proof")
        report = ev.verify(proof.content, key=key)
        assert report.holds
        assert report.shows is not None
        assert membership in str(report.shows["membership"])
    assert house.get(f"{path}/corpus/doc_1@x/proof").status_code == 422


def test_a_ledgers_proof_verifies(house: House) -> None:
    proof = house.get(f"{LEDGERS}/{house.made['ledger_id']}/proof")
    assert ev.verify(proof.content, key=house.workspace.trail.public_key()).holds
