"""People by the API: their own verdicts, who reviews what, and answers over time."""

import json
from typing import Any

import pytest

from evidentia.errors import IntegrityError
from packing import make_pack
from server.house import House
from vandal import vandal_at


def path_of(house: House) -> str:
    return f"/api/v1/ledgers/{house.made['ledger_id']}/verdicts"


def disagree(house: House, who: str = "approver", **changes: Any) -> Any:
    entry = house.workspace.ledgers.get(house.made["ledger_id"]).entries[0]
    given = {"claim_id": entry.claim_id, "verdict": "contradicted", "reason": "For managers alone."}
    return house.post(path_of(house), who, json=given | changes)


def test_a_persons_verdict_stands_beside_the_judges(house: House) -> None:
    before = house.workspace.ledgers.get(house.made["ledger_id"])
    answer = disagree(house)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    assert (said["verdict"], said["judged"], said["by"]) == (
        "contradicted",
        before.entries[0].verdict.value,
        "approver",
    )
    assert said["claim_text"] == before.entries[0].claim_text
    again = disagree(house, "admin", verdict="supported", reason="I read it again.").json()
    assert house.get(path_of(house)).json()["verdicts"] == [said, again]
    assert house.workspace.ledgers.get(house.made["ledger_id"]) == before
    proof = house.workspace.prove(said["entry"])
    assert house.workspace.verify(json.dumps(proof.as_json()).encode()).holds
    assert house.workspace.audit().holds


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"verdict": "not_judged"}, 422),
        ({"reason": " "}, 422),
        ({"reason": "x" * 2_001}, 422),
        ({"claim_id": "clm_0000000000000000"}, 404),
        ({"by": "someone else"}, 422),
    ],
)
def test_a_verdict_without_its_claim_or_its_reason_is_refused(
    sqlite_house: House, changes: dict[str, Any], status: int
) -> None:
    assert disagree(sqlite_house, **changes).status_code == status
    assert sqlite_house.get(path_of(sqlite_house)).json() == {"verdicts": []}


def test_only_the_id_of_a_ledger_has_verdicts(sqlite_house: House) -> None:
    for name in ("latest", sqlite_house.made["session_id"]):
        assert sqlite_house.get(f"/api/v1/ledgers/{name}/verdicts").status_code == 404


def test_a_verdict_that_was_erased_says_nothing(sqlite_house: House) -> None:
    entry = disagree(sqlite_house).json()["entry"]
    sqlite_house.workspace.trail.erase(entry, reason="law", by="counsel")
    assert sqlite_house.get(path_of(sqlite_house)).json() == {"verdicts": []}


def assign(house: House, pack_id: str, **given: Any) -> Any:
    path = f"/api/v1/packs/{pack_id}/assignments"
    return house.post(path, "admin", json={"assignee": "approver", **given})


def queue(house: House, of: str, who: str = "approver") -> list[tuple[str, str | None, bool]]:
    found: list[tuple[str, str | None, bool]] = []
    path = f"/api/v1/reviews?of={of}&limit=1"
    while path:
        answer = house.get(path, who)
        assert answer.status_code == 200
        found += [
            (one["pack"]["decision_id"], one["assignee"], one["overdue"])
            for one in answer.json()["reviews"]
        ]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    return found


def test_what_awaits_a_review_is_listed_with_who_makes_it_and_by_when(house: House) -> None:
    first, owner = house.made["pack_id"], house.workspace.packs
    second = make_pack(house.workspace, 2).pack_id
    make_pack(house.workspace, 3, approval_class="A1")
    assert queue(house, "all") == [("dec_2", None, False), ("dec_1", None, False)]
    assert assign(house, first, due="2026-03-06T12:00:00Z").status_code == 201
    assert assign(house, second, assignee="admin", due="2030-01-01T00:00:00Z").status_code == 201
    assert queue(house, "mine") == [("dec_1", "approver", False)]
    assert queue(house, "overdue") == []
    house.clock.pass_years(0.1)
    assert queue(house, "overdue") == [("dec_1", "approver", True)]
    newer = owner.revise(first, {"data_freshness_window_hours": 48}).pack_id
    assert queue(house, "mine") == [("dec_1", "approver", True)]  # of all versions
    assert assign(house, newer, assignee=None).status_code == 201
    assert queue(house, "mine") == []
    owner.review(second, "approved")
    assert queue(house, "all") == [("dec_1", None, False)]
    assert queue(house, "mine", "admin") == []


@pytest.mark.parametrize(
    "given",
    [
        {"due": "tomorrow"},
        {"assignee": ""},
        {"assignee": None, "due": "2030-01-01T00:00:00Z"},
        {"assignee": " "},
    ],
)
def test_an_assignment_that_cannot_be_is_refused(
    sqlite_house: House, given: dict[str, Any]
) -> None:
    assert assign(sqlite_house, sqlite_house.made["pack_id"], **given).status_code == 422


def test_a_pack_that_awaits_no_review_is_assigned_to_no_one(sqlite_house: House) -> None:
    reviewed = sqlite_house.workspace.packs.review("dec_1", "approved").pack_id
    answer = assign(sqlite_house, reviewed)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/refused-input")


def test_statistics_count_answers_and_their_claims_by_day(house: House) -> None:
    first = house.workspace.ledgers.get(house.made["ledger_id"])
    counts = dict(first.summary.by_verdict)
    house.clock.pass_years(0.01)
    house.workspace.check(first.session.answer, query="Again?", judges=["quote"])
    house.workspace.check(first.session.answer, query="And again?", judges=["quote"])
    answer = house.get("/api/v1/statistics")
    assert answer.status_code == 200, answer.text
    days = answer.json()["days"]
    assert [one["answers"] for one in days] == [1, 2]
    assert [one["claims"] for one in days] == [2, 4]
    assert days[0]["day"] == first.created_at[:10] < days[1]["day"]
    assert days[0]["by_verdict"] == counts
    assert days[1]["by_verdict"] == {name: 2 * count for name, count in counts.items()}
    for one in days:
        assert one["evidence_coverage"] == first.summary.evidence_coverage
        assert one["unsupported_rate"] == first.summary.unsupported_rate
    day = days[1]["day"]
    only = house.get(f"/api/v1/statistics?since={day}&until={day}").json()["days"]
    assert only == days[1:]
    house.clock.pass_years(1)
    assert house.get("/api/v1/statistics", "viewer").json() == {"days": []}


@pytest.mark.parametrize(
    "query", ["since=x", "since=2026-03-02&until=2026-03-01", "until=9999-12-31"]
)
def test_days_that_cannot_be_are_refused(sqlite_house: House, query: str) -> None:
    assert sqlite_house.get(f"/api/v1/statistics?{query}").status_code == 422


def test_the_first_day_of_the_calendar_has_no_answers(house: House) -> None:
    assert house.get("/api/v1/statistics?until=0001-01-01").json() == {"days": []}


def test_a_damaged_row_is_not_counted_as_something_else(sqlite_house: House) -> None:
    with vandal_at(sqlite_house.place.home.database, "seed") as vandal:
        vandal.change("UPDATE ledgers SET summary = '[]' WHERE tenant = 'default'")
    with pytest.raises(IntegrityError, match="damaged; run 'evidentia ledger verify'"):
        sqlite_house.workspace.ledgers.statistics()
