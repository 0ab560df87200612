"""The trail by the API: appended to, read by the page, proved, and fetched as tiles."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from evidentia.proof.document import Proof
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import verify_proof
from evidentia.store.database import run
from evidentia.trail.merkle import verify_consistency
from insider import without_guards
from places import record
from server.house import House
from tiled_log import TiledLog
from witnessing import Witness

PATH = "/api/v1/trail"


def given(number: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = record(number).model_dump(mode="json")
    return found


def append(house: House, body: Any, key: str | None = None) -> Any:
    headers = {} if key is None else {"idempotency-key": key}
    return house.post(f"{PATH}/entries", json=body, headers=headers)


def pages(house: House, query: str, who: str = "viewer") -> list[dict[str, Any]]:
    """Follow the links from page to page; return all entries."""
    found, path = [], f"{PATH}/entries?{query}"
    while path:
        answer = house.get(path, who)
        assert answer.status_code == 200, answer.text
        found += answer.json()["entries"]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    return found


# Appending


def test_one_record_or_a_list_is_appended_all_or_none(house: House) -> None:
    before = house.workspace.trail.size
    one, many = append(house, given(1)), append(house, [given(2), given(3)])
    assert (one.status_code, many.status_code) == (201, 201)
    told = [*one.json()["entries"], *many.json()["entries"]]
    assert [entry["seq"] for entry in told] == [before, before + 1, before + 2]
    kept = [house.workspace.trail.entry(entry["seq"]) for entry in told]
    assert [entry["leaf"] for entry in told] == [logged.leaf for logged in kept]
    assert {logged.body["by"] for logged in kept} == {"approver"}
    refused = append(house, [given(4), given(5) | {"confidence": 2}])
    assert refused.status_code == 422
    assert house.workspace.trail.size == before + 3


def test_what_a_record_lacks_is_told_by_its_place_in_the_request(sqlite_house: House) -> None:
    for body, place in (({"doc_id": "d"}, "/body"), ([{"doc_id": "d"}], "/body/0")):
        said = sqlite_house.post("/api/v1/trail/entries", "admin", json=body).json()
        assert said["detail"] == f"{place}/obligation_id: Field required"
        assert not any("[" in one["pointer"] for one in said["errors"])
    said = sqlite_house.post("/api/v1/trail/entries", "admin", json=3).json()
    assert {one["pointer"] for one in said["errors"]} == {"/body"}


def test_an_append_that_is_sent_again_appends_nothing(house: House) -> None:
    first, again = append(house, [given(1)], "k"), append(house, [given(1)], "k")
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert house.workspace.trail.size == first.json()["entries"][0]["seq"] + 1
    assert append(house, [given(2)], "k").json()["type"] == "/problems/idempotency-key-reused"


@pytest.mark.parametrize("key", [None, "k"])
def test_who_does_not_wait_gets_a_ticket_that_says_where_the_records_are(
    house: House, key: str | None
) -> None:
    headers = {} if key is None else {"idempotency-key": key}
    before = house.workspace.trail.size
    body = [given(1), given(2)]
    promised = house.post(f"{PATH}/entries?wait=false", json=body, headers=headers)
    assert promised.status_code == 202
    where = f"{PATH}/{promised.headers['location']}"
    while (found := house.get(where, "approver").json())["waits"]:
        assert found["entries"] == []
    assert [entry["seq"] for entry in found["entries"]] == [before, before + 1]
    if key is not None:
        again = house.post(f"{PATH}/entries?wait=false", json=body, headers=headers)
        assert again.json() == promised.json()
        assert again.headers["location"] == promised.headers["location"]
    assert house.workspace.trail.size == before + 2
    assert house.get(f"{PATH}/tickets/{'0' * 40}", "approver").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        given() | {"more": 1},
        given() | {"obligation_id": "x" * 3_000},
        given() | {"obligation_id": "a\x00b"},
        given() | {"amendment_history": [{"n": 2**70}]},
    ],
)
def test_what_is_no_record_is_refused(sqlite_house: House, body: Any) -> None:
    before = sqlite_house.workspace.trail.size
    assert append(sqlite_house, body).status_code == 422
    assert sqlite_house.workspace.trail.size == before


# Reading


def test_the_log_comes_in_pages_from_either_end(house: House) -> None:
    append(house, [given(number) for number in range(7)])
    size = house.workspace.trail.size
    newest = pages(house, "limit=3")
    oldest = pages(house, "limit=3&order=oldest")
    assert [one["entry"]["seq"] for one in oldest] == list(range(size))
    assert newest == oldest[::-1]
    assert oldest[-1]["body"]["obligation_id"] == given(6)["obligation_id"]


def test_a_page_that_ends_with_the_log_leads_nowhere(sqlite_house: House) -> None:
    size = sqlite_house.workspace.trail.size
    answer = sqlite_house.get(f"{PATH}/entries?limit={size}")
    assert (len(answer.json()["entries"]), "link" in answer.headers) == (size, False)


def test_the_log_is_filtered_by_kind_and_subject(house: House) -> None:
    append(house, [given(1), given(2), given(1)])
    subject = given(1)["obligation_id"]
    found = pages(house, f"kind=evidence_record&subject={subject}&limit=1")
    assert [one["entry"]["subject"] for one in found] == [subject, subject]
    assert pages(house, "subject=nothing") == []
    assert house.get(f"{PATH}/entries?kind=nothing").status_code == 422
    assert house.get(f"{PATH}/entries?subject=a%00b").status_code == 422


def test_who_has_an_entry_is_told_so_until_its_body_is_erased(house: House) -> None:
    seq = append(house, given()).json()["entries"][0]["seq"]
    path = f"{PATH}/entries/{seq}"
    first = house.get(path)
    tag = {"if-none-match": first.headers["etag"]}
    assert first.json()["body"].items() >= given().items()
    assert house.get(path, headers=tag).status_code == 304
    house.workspace.trail.erase(seq, reason="law", by="counsel")
    again = house.get(path, headers=tag)
    assert (again.status_code, again.json()["body"]) == (200, None)
    assert again.json()["entry"] == first.json()["entry"]


def test_an_entry_that_was_altered_is_given_to_no_one(sqlite_house: House) -> None:
    house = sqlite_house
    seq = append(house, given()).json()["entries"][0]["seq"]
    sql = "UPDATE trail_bodies SET body = x'7b7d' WHERE seq = ?"
    without_guards(house.workspace, lambda connection: run(connection, sql, (seq,)))
    for path in (f"/entries/{seq}", "/entries?kind=evidence_record", f"/entries/{seq}/proof"):
        answer = house.get(f"{PATH}{path}")
        assert (answer.status_code, answer.json()["type"]) == (500, "/problems/does-not-hold")


def test_what_others_asked_is_shown_to_those_who_may_audit(house: House) -> None:
    assert house.post(f"{PATH}/entries", "viewer", json=given()).status_code == 403  # is recorded
    (hidden,), (shown,) = (pages(house, "kind=request", who) for who in ("viewer", "auditor"))
    assert (hidden["body"], hidden["withheld"]) == (None, True)
    assert (shown["body"]["did"], shown["withheld"]) == ("trail.append_many", False)
    path = f"{PATH}/entries/{shown['entry']['seq']}"
    assert house.get(path).json() == hidden
    assert house.get(path, "auditor").json() == shown
    assert "body" not in house.get(f"{path}/proof").json()
    assert house.get(f"{path}/proof", "auditor").json()["body"] == shown["body"]


# Proving


def test_a_proof_holds_for_who_has_the_key_alone(house: House) -> None:
    seq = append(house, given()).json()["entries"][0]["seq"]
    keys = house.get(f"{PATH}/keys").json()["keys"]
    assert keys[-1]["public_key"] == str(house.workspace.trail.public_key())
    assert not any("private" in name for name in keys[-1])
    whole = house.get(f"{PATH}/entries/{seq}/proof")
    bare = house.get(f"{PATH}/entries/{seq}/proof?disclose=false")
    assert Proof.parse(whole.content).disclosure is not None
    assert "body" not in bare.json()
    for proof in (whole, bare):
        report = verify_proof(proof.content, [TrustedKey.parse(keys[-1]["public_key"])])
        assert [check.name for check in report.checks if not check.holds] == []


def test_the_log_is_shown_to_only_grow(house: House) -> None:
    append(house, [given(number) for number in range(5)])
    trail = house.workspace.trail
    folder = house.place.home.folder / "published"
    old = trail.size
    trail.publish(folder)
    _, _, old_root = TiledLog(folder, str(trail.public_key())).checkpoint()
    append(house, [given(number) for number in range(4)])
    trail.publish(folder)
    _, new, new_root = TiledLog(folder, str(trail.public_key())).checkpoint()
    told = house.get(f"{PATH}/consistency?old_size={old}").json()
    assert (told["old_size"], told["new_size"]) == (old, new)
    hashes = [bytes.fromhex(one) for one in told["hashes"]]
    verify_consistency(old, old_root, new, new_root, hashes)
    same = house.get(f"{PATH}/consistency?old_size={old}&new_size={new}").json()
    assert same == told


@pytest.mark.parametrize(
    "query", ["old_size=0", "old_size=9&new_size=8", "new_size=99999", "old_size=99999"]
)
def test_no_proof_leads_to_where_the_log_never_was(sqlite_house: House, query: str) -> None:
    assert sqlite_house.get(f"{PATH}/consistency?{query}").status_code == 422


def test_the_witnesses_are_listed(sqlite_house: House) -> None:
    assert sqlite_house.get(f"{PATH}/witnesses").json() == {"witnesses": []}
    added = sqlite_house.workspace.trail.add_witness("http://localhost:1", Witness().key)
    told = sqlite_house.get(f"{PATH}/witnesses").json()["witnesses"]
    assert told == [{"name": added.name, "key": added.key, "size": 0}]


# Validating


def test_chains_of_evidence_are_validated_as_given_or_as_the_trail_has_them(house: House) -> None:
    first, second = given(1), given(2) | {"amendment_history": [{"doc_id": "d"}]}
    append(house, [first, second])
    ids = [first["obligation_id"], second["obligation_id"]]
    asked = [
        {"records": [first], "obligation_ids": ids[:1]},
        {"records": [first], "obligation_ids": ids},
        {"obligation_ids": ids},
        {"obligation_ids": ["nothing"]},
    ]
    told = [house.post(f"{PATH}/validation", "viewer", json=one).json() for one in asked]
    assert [one["valid"] for one in told] == [True, False, False, False]
    assert told[1]["missing_evidence"] == ids[1:]
    assert "missing keys ['clause', 'status']" in told[2]["gaps"][0]
    assert told[3]["missing_evidence"] == ["nothing"]


@pytest.mark.parametrize(
    "body", [{}, {"obligation_ids": ["a\x00b"]}, {"obligation_ids": ["x"] * 101}]
)
def test_nothing_to_validate_is_refused(sqlite_house: House, body: Any) -> None:
    assert sqlite_house.post(f"{PATH}/validation", "viewer", json=body).status_code == 422


# Tiles


@dataclass(frozen=True)
class Fetched:
    """Stands for a published folder: whatever is read from it is fetched from the server."""

    house: House
    path: str = f"{PATH}/default"

    def __truediv__(self, name: str) -> "Fetched":
        return Fetched(self.house, f"{self.path}/{name}")

    def read_bytes(self) -> bytes:
        answer = self.house.get(self.path)
        assert answer.status_code == 200, (self.path, answer.text)
        content: bytes = answer.content
        return content

    def read_text(self) -> str:
        return self.read_bytes().decode()


@pytest.mark.parametrize("more", [1, 300])
def test_a_client_written_from_the_specification_alone_reads_the_log(
    house: House, more: int
) -> None:
    house.workspace.trail.append_many([record(number) for number in range(more)])
    size = house.workspace.trail.size
    key = str(house.workspace.trail.public_key())
    assert TiledLog(cast("Any", Fetched(house)), key).check() == size


def test_what_is_served_is_what_would_be_published(house: House) -> None:
    trail = house.workspace.trail
    trail.append_many([record(number) for number in range(700)])
    folder = house.place.home.folder / "published"
    trail.publish(folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 8
    for file in files:
        answer = house.get(f"{PATH}/default/{file.relative_to(folder).as_posix()}")
        assert answer.content == file.read_bytes(), file


def test_tiles_are_kept_for_good_and_the_checkpoint_is_not(house: House) -> None:
    house.workspace.trail.append_many([record(number) for number in range(256)])
    checkpoint = house.get(f"{PATH}/default/checkpoint")
    assert checkpoint.headers["content-type"] == "text/plain; charset=utf-8"
    assert checkpoint.headers["cache-control"] == "no-store"
    assert house.get(f"{PATH}/checkpoint").text == checkpoint.text
    for path in ("tile/0/000", "tile/0/000.p/7", "tile/1/000.p/1", "tile/entries/000"):
        answer = house.get(f"{PATH}/default/{path}")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        tag = {"if-none-match": answer.headers["etag"]}
        assert house.get(f"{PATH}/default/{path}", headers=tag).status_code == 304
    whole, part = (house.get(f"{PATH}/default/tile/0/000{end}").content for end in ("", ".p/7"))
    assert (len(whole), part) == (256 * 32, whole[: 7 * 32])


@pytest.mark.parametrize(
    "path",
    [
        "tile/0/000",
        "tile/0/000.p/255",
        "tile/0/000.p/0",
        "tile/0/000.p/01",
        "tile/0/000.p/256",
        "tile/0/x000/000.p/1",
        "tile/0/0",
        "tile/0/-01",
        "tile/0/\u0660\u0660\u0660.p/1",
        "tile/1/000",
        "tile/0/x999/x999/x999/x999/999",
        "tile/entries/001",
        "tile/entries/../0/000",
        "nothing",
    ],
)
def test_a_piece_that_is_not_there_is_not_found(sqlite_house: House, path: str) -> None:
    assert sqlite_house.get(f"{PATH}/default/{path}").status_code == 404
    assert sqlite_house.get(f"{PATH}/other/{path}").status_code == 404
