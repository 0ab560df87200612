"""Bundles by the API: built from what a request brings, explained, rendered, compared, proved."""

from typing import Any

import pytest

from evidentia.bundles.model import EvidenceBundle
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import verify_proof
from server.house import House

PATH = "/api/v1/bundles"
TEXTS = ["Leave has 20 days. " * 40, "Sick pay is half.", "Travel is by rail."]
POLICY = {"max_items": 2, "max_item_bytes": 200}


def job(*texts: Any) -> dict[str, Any]:
    return {"job_input": {"extra_params": {"evidence": list(texts)}}}


def build(house: House, body: Any = None, who: str = "approver", **more: Any) -> Any:
    return house.post(PATH, who, json=body or {**job(*TEXTS), "policy": POLICY}, **more)


def built(house: House) -> str:
    answer = build(house)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["bundle_id"]
    return found


# Building


def test_a_bundle_is_built_from_a_request_and_recorded(house: House) -> None:
    answer = build(house)
    told = answer.json()
    assert answer.headers["location"] == f"{PATH}/{told['bundle_id']}"
    kept = house.workspace.bundles.get(told["bundle_id"])
    assert (kept.bundle_sha256, kept.summary.item_count) == (told["bundle_sha256"], 2)
    assert told["entry"] == house.workspace.bundles.find(told["bundle_id"]).entry
    assert "lake_root" not in told
    again = build(house)
    assert again.json() == told


def test_a_build_with_a_key_is_repeated_safely(house: House) -> None:
    key = {"idempotency-key": "b"}
    first, again = build(house, headers=key), build(house, headers=key)
    assert (first.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotency-replayed"] == "true"


def test_a_document_of_the_library_is_taken_by_its_id(house: House) -> None:
    document = house.workspace.documents.list()[0]
    body = {"evidence_refs": {"documents": [{"document_id": document.id}]}}
    bundle = house.get(f"{PATH}/{build(house, body).json()['bundle_id']}").json()
    assert "15 days of leave" in bundle["items"][0]["content"]


@pytest.mark.parametrize(
    "refs",
    [
        {"lake_text": ["/etc/passwd"]},
        {"lake_text": [{"folder": "/etc"}]},
        {"lake_http": ["responses/a.json"]},
        {"transcripts": ["calls/a.vtt"]},
        {"documents": [{"lake_uri": "file:///etc/passwd"}]},
        {"sql_results": ["results/a.csv"]},
        {"sql_results": [{"query_key": "q", "sql": "SELECT 1", "files": {"a": "/etc/passwd"}}]},
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "record"])
def test_what_names_a_file_is_refused(
    sqlite_house: House, refs: dict[str, Any], on_error: str
) -> None:
    before = sqlite_house.workspace.trail.size
    answer = build(sqlite_house, {"evidence_refs": refs, "on_error": on_error})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/refused-input")
    assert "it names a file, and the server opens none" in answer.json()["detail"]
    assert sqlite_house.workspace.trail.size == before


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"lake_root": "/", **job("x")}, "/body/lake_root"),
        ({"connections": {"c": "sqlite:////etc/x"}}, "/body/connections"),
        (
            {
                "evidence_refs": {
                    "sql_results": [{"query_key": "q", "sql": "SELECT 1", "connection": "c"}]
                }
            },
            "there is no connection 'c'",
        ),
        ({"evidence_refs": {"documents": [{"document_id": "doc_0"}]}}, "no document 'doc_0'"),
        ({"evidence_refs": {"nothing": []}}, "evidence_refs has no 'nothing'"),
        ({"policy": {"max_items": -1}}, "max_items"),
        ({"policy": {"redaction_patterns": {"x": "("}, "enable_redaction": True}}, "x"),
        (job({"text": 1}), "'text' is missing"),
        (job({"text": "x", "more": 2**70}), "evidence[0]"),
    ],
)
def test_what_cannot_be_built_is_refused(sqlite_house: House, body: Any, says: str) -> None:
    answer = build(sqlite_house, body)
    assert answer.status_code == 422
    assert says in answer.json()["detail"]


def test_a_source_that_looks_like_a_path_is_a_label_alone(sqlite_house: House) -> None:
    given = {"text": "x", "lake_uri": "/etc/passwd", "source_uri": "file:///etc/passwd"}
    bundle_id = build(sqlite_house, job(given)).json()["bundle_id"]
    told = sqlite_house.get(f"{PATH}/{bundle_id}/verification").json()
    assert not any("byte" in line and "passwd" in line for line in told["checked"])
    assert [one["content"] for one in bundle(sqlite_house, bundle_id)["items"]] == ["x"]


def bundle(house: House, bundle_id: str) -> dict[str, Any]:
    found: dict[str, Any] = house.get(f"{PATH}/{bundle_id}").json()
    return found


# Reading


def test_bundles_are_listed_by_the_page_newest_first(house: House) -> None:
    built(house)
    seen, path = [], f"{PATH}?limit=2"
    while path:
        answer = house.get(path)
        seen += [one["bundle_id"] for one in answer.json()["bundles"]]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert seen == house.workspace.bundles.ids()
    assert len(seen) == 3


def test_a_bundle_is_given_whole_and_once(house: House) -> None:
    bundle_id = built(house)
    first = house.get(f"{PATH}/{bundle_id}")
    assert EvidenceBundle.parse(first.content) == house.workspace.bundles.get(bundle_id)
    tag = {"if-none-match": first.headers["etag"]}
    assert house.get(f"{PATH}/{bundle_id}", headers=tag).status_code == 304
    assert house.get(f"{PATH}/{bundle_id}").content == first.content


@pytest.mark.parametrize("name", ["latest", "latest~1", "0", "%00"])
def test_only_the_id_of_a_bundle_is_an_address(sqlite_house: House, name: str) -> None:
    assert sqlite_house.get(f"{PATH}/{name}").status_code == 404


def test_every_item_is_listed_and_every_loss_is_explained(house: House) -> None:
    bundle_id = built(house)
    items, path = [], f"{PATH}/{bundle_id}/items?limit=1"
    while path:
        answer = house.get(path)
        items += answer.json()["items"]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert items == [one.as_json() for one in house.workspace.bundles.items(bundle_id)]
    told = house.get(f"{PATH}/{bundle_id}/explain").json()
    assert (told["inputs"], len(items)) == (3, 2)
    assert told["outcomes"]["kept"] + len(told["losses"]) == 3
    cut, dropped = told["losses"]
    assert (cut["outcome"], cut["input_bytes"]) == ("truncated", len(TEXTS[0]))
    assert "max_item_bytes" in cut["steps"][0]["reason"]
    assert dropped["outcome"] == "dropped"
    assert "max_items" in dropped["steps"][-1]["reason"]


@pytest.mark.parametrize("form", ["text", "anthropic", "openai"])
def test_a_bundle_is_rendered_as_the_library_renders_it(house: House, form: Any) -> None:
    bundle_id = house.made["bundle_id"]
    told = house.get(f"{PATH}/{bundle_id}/render?format={form}").json()
    expected = house.workspace.bundles.render(bundle_id, form)
    assert (told["format"], told["content"]) == (form, expected.content)
    assert (told["nonce"], told["overhead_bytes"]) == (expected.nonce, expected.overhead_bytes)


def test_a_form_that_is_none_is_refused(sqlite_house: House) -> None:
    path = f"{PATH}/{sqlite_house.made['bundle_id']}/render?format=plain"
    assert sqlite_house.get(path).json()["errors"][0]["pointer"] == "/query/format"


def test_two_bundles_are_compared(house: House) -> None:
    first, second = house.made["bundle_id"], house.made["other_bundle_id"]
    told = house.get(f"{PATH}/{first}/diff/{second}").json()
    assert told["policy"] == {"max_items": [50, 1]}
    assert (told["same"], len(told["only_before"])) == (False, 1)
    assert house.get(f"{PATH}/{first}/diff/{first}").json()["same"] is True


# Runs and proofs


def test_runs_lead_to_bundles_and_back(house: House) -> None:
    first, second = house.made["bundle_id"], house.made["other_bundle_id"]
    answer = house.post(f"{PATH}/{second}/runs", json={"run_id": "run/1"})
    assert (answer.status_code, answer.json()["repeated"]) == (201, False)
    again = house.post(f"{PATH}/{second}/runs", json={"run_id": "run/1"})
    assert again.json() == answer.json() | {"repeated": True}
    assert house.get(f"{PATH}/{second}/runs").json() == {"runs": ["run/1"]}
    told = house.get("/api/v1/runs/run/1/bundles").json()["bundles"]
    assert [one["bundle_id"] for one in told] == [first, second]
    assert house.get("/api/v1/runs/run%2F1/bundles").json()["bundles"] == told


@pytest.mark.parametrize("run_id", ["", " ", "x" * 201, "a\x00b"])
def test_what_is_no_id_of_a_run_is_refused(sqlite_house: House, run_id: str) -> None:
    path = f"{PATH}/{sqlite_house.made['bundle_id']}/runs"
    assert sqlite_house.post(path, json={"run_id": run_id}).status_code == 422


def test_a_bundle_is_proved_and_verified(house: House) -> None:
    bundle_id = built(house)
    key = TrustedKey.parse(str(house.workspace.trail.public_key()))
    proof = house.get(f"{PATH}/{bundle_id}/proof")
    report = verify_proof(proof.content, [key])
    assert report.holds, report.checks
    told = house.get(f"{PATH}/{bundle_id}/verification").json()
    assert (told["holds"], told["problems"]) == (True, [])
    assert "2 items within the limits of the policy" in told["checked"]


def test_a_bundle_whose_file_was_changed_is_given_to_no_one(house: House) -> None:
    bundle_id = built(house)
    row = house.workspace.bundles.find(bundle_id)
    file = next(house.place.home.folder.rglob(row.file_sha256))
    file.chmod(0o600)
    file.write_bytes(file.read_bytes().replace(b"Sick", b"Good"))
    for path in ("", "/explain", "/render", "/proof"):
        answer = house.get(f"{PATH}/{bundle_id}{path}")
        assert (answer.status_code, answer.json()["type"]) == (500, "/problems/does-not-hold")
    told = house.get(f"{PATH}/{bundle_id}/verification").json()
    assert (told["holds"], len(told["problems"])) == (False, 1)
