"""Lists by the API: in either order, by the page, and by what they are asked for."""

from server.house import ANSWER, House
from server.test_packs import sent_decision


def listed(house: House, path: str) -> list[int]:
    """Return the entries of all that a list has, page after page."""
    found: list[int] = []
    while path:
        answer = house.get(path, "admin")
        assert answer.status_code == 200, answer.text
        ((_, rows),) = answer.json().items()
        found += [one["entry"] for one in rows]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    return found


def test_what_is_listed_by_its_entries_comes_in_either_order(house: House) -> None:
    house.post("/api/v1/sessions", json={"answer": ANSWER, "judges": ["quote"]})
    for number in (6, 7):
        made = house.post("/api/v1/packs", json={"decision": sent_decision(number)})
        assert made.status_code == 201, made.text
    for _ in range(3):
        house.get("/api/v1/access-log", "viewer")  # refused, and recorded
    for path in (
        "/api/v1/ledgers?limit=1",
        "/api/v1/bundles?limit=1",
        "/api/v1/packs?limit=2",
        "/api/v1/packs?limit=1&outcome=awaiting%20review",
        "/api/v1/access-log?limit=2",
    ):
        newest, oldest = (listed(house, f"{path}&order={one}") for one in ("newest", "oldest"))
        assert len(newest) >= 2, path
        assert newest == sorted(newest, reverse=True)
        assert oldest == newest[::-1]
        assert listed(house, path) == newest
        assert house.get(f"{path}&order=other", "admin").status_code == 422


def test_packs_of_an_outcome_come_in_either_order(house: House) -> None:
    for number in (6, 7):
        decided = sent_decision(number, approval_class="A0", reversibility_class="R0")
        assert house.post("/api/v1/packs", json={"decision": decided}).status_code == 201
    path = "/api/v1/packs?limit=1&outcome=no%20review%20needed"
    newest, oldest = (listed(house, f"{path}&order={one}") for one in ("newest", "oldest"))
    assert len(newest) == 2
    assert oldest == newest[::-1]


def test_the_access_log_is_asked_for_one_user(house: House) -> None:
    for who in ("viewer", "approver", "viewer"):
        house.get("/api/v1/access-log", who)
    for user, many in (("viewer", 2), ("approver", 1), ("no one", 0), ("%00", 0), ("%ED%A0%80", 0)):
        answer = house.get(f"/api/v1/access-log?user={user}", "auditor")
        assert [one["by"] for one in answer.json()["requests"]] == [user] * many
