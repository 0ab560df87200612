"""Files of packs over the API: sent with a pack or to one, and read by their digests."""

from base64 import b64encode
from hashlib import sha256
from typing import Any
from urllib.request import urlopen

import pytest

from evidentia.store.lake import MovedLake
from evidentia.store.objects import ObjectLake
from packing import memo_fields
from seaweed import Bucket
from server.house import House
from server.test_packs import PACKS, pack_path, review, sent_decision

SEAL = b"The seal is whole.\n"
DIGEST = sha256(SEAL).hexdigest()


def given(name: str = "report.txt", data: bytes = SEAL) -> dict[str, str]:
    return {"name": name, "data": b64encode(data).decode()}


def test_a_file_comes_with_the_pack_and_is_read_by_its_digest(house: House) -> None:
    body = {"decision": sent_decision(), "memo": memo_fields(), "attachments": [given()]}
    answer = house.post(PACKS, json=body)
    assert answer.status_code == 201, answer.text
    (named,) = answer.json()["pack"]["attachments"]
    assert (named["name"], named["sha256"], named["bytes"]) == ("report.txt", DIGEST, len(SEAL))
    path = f"{answer.headers['location']}/attachments/{DIGEST}"
    read = house.get(path)
    assert (read.status_code, read.content) == (200, SEAL)
    assert read.headers["content-disposition"] == "attachment; filename*=UTF-8''report.txt"
    assert read.headers["content-type"] == "application/octet-stream"
    assert house.get(path, headers={"if-none-match": read.headers["etag"]}).status_code == 304
    newest = house.workspace.access.requests(limit=1)[0].body
    assert (newest["did"], newest["by"]) == ("packs.attachment", "viewer")
    assert house.get(path, "no one").status_code == 404
    assert house.get(path, "other tenant's admin").status_code == 404


def test_a_file_in_a_bucket_comes_from_there_to_those_who_may_have_it(
    sqlite_house: House, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = sqlite_house
    opened = house.running.opened
    monkeypatch.setattr(opened, "lake", MovedLake(ObjectLake(bucket.url), opened.lake))
    body = {"decision": sent_decision(), "memo": memo_fields(), "attachments": [given()]}
    location = house.post(PACKS, json=body).headers["location"]
    path = f"{location}/attachments/{DIGEST}?redirect=true"
    moved = house.get(path, follow_redirects=False)
    assert (moved.status_code, moved.headers["cache-control"]) == (307, "no-store")
    with urlopen(moved.headers["location"]) as answer:
        assert answer.read() == SEAL
    assert house.get(path, "no one", follow_redirects=False).status_code == 404
    before = f"{pack_path(house)}/attachments/{'0' * 64}?redirect=true"
    assert house.get(before, follow_redirects=False).status_code == 404


def test_files_are_attached_to_a_newer_version(house: House) -> None:
    path = pack_path(house)
    tag = house.get(path).headers["etag"]
    files = [("files", ("تقرير.txt", SEAL)), ("files", ("seal.txt", b"New.\n"))]
    made = house.post(f"{path}/attachments", files=files, headers={"if-match": tag})
    assert made.status_code == 201, made.text
    pack = made.json()["pack"]
    assert [one["name"] for one in pack["attachments"]] == ["تقرير.txt", "seal.txt"]
    assert house.get(f"{made.headers['location']}/attachments/{DIGEST}").content == SEAL
    assert house.get(f"{path}/attachments/{DIGEST}").status_code == 404  # it is not the old one's
    late = house.post(f"{path}/attachments", files=files)
    assert (late.status_code, late.json()["newer"]) == (409, pack["pack_id"])


def test_a_review_that_modifies_may_attach_a_file(sqlite_house: House) -> None:
    answer = review(sqlite_house, pack_path(sqlite_house), "modified", attachments=[given()])
    assert answer.status_code == 201, answer.text
    assert {one["name"] for one in answer.json()["pack"]["attachments"]} == {
        "report.txt",
        "seal.txt",
    }


@pytest.mark.parametrize(
    "files",
    [
        [given("../x")],
        [given("/etc/passwd")],
        [given(), given()],
        [{"name": "a.txt", "data": "?"}],
        [{"name": "a.txt", "path": "/etc/passwd"}],
        [given(f"{number}.txt") for number in range(21)],
    ],
)
def test_what_is_no_file_is_refused(sqlite_house: House, files: list[dict[str, Any]]) -> None:
    body = {"changes": {}, "attachments": files}
    path = pack_path(sqlite_house)
    assert sqlite_house.post(f"{path}/revise", json=body).status_code == 422
    assert len(sqlite_house.workspace.packs.versions("dec_1")) == 1


def test_a_digest_of_another_tenants_file_attaches_nothing(sqlite_house: House) -> None:
    owned = {"name": "x.txt", "media_type": "text/plain", "sha256": DIGEST, "bytes": len(SEAL)}
    sqlite_house.running.opened.lake.put(SEAL)
    changes = {"changes": {"attachments": [{**owned, "source": None}]}}
    answer = sqlite_house.post(f"{pack_path(sqlite_house)}/revise", json=changes)
    assert answer.status_code == 422
    assert "give the file that it names" in answer.json()["detail"]
