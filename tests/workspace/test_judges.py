"""Judges that send documents somewhere: only where the owner allows it, and with a record of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import AccessError, InputError, NotFoundError
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import THIRD_TYPE
from evidentia.ledger.votes import JudgingPolicy
from evidentia.workspace import Workspace
from judges.asking import claim_of, passage_of
from judges.llm.serving import KEY, Asked, Said, Server, reply, serving, verdict
from workspace.policies import read_here

LEAVE = "All permanent employees shall receive 15 days of paid annual leave per calendar year."
CARRY = "Unused annual leave may be carried over with the consent of the department head."
POLICY = f"# Leave\n\n{LEAVE}\n\n{CARRY}\n"
EXACT = "All permanent employees shall receive 15 days of paid annual leave per calendar year."
OTHER = "Holiday that was not taken can move to the next year if the boss of the unit agrees."
ANSWER = f"{EXACT}\n\n{OTHER}\n"


def understands(asked: Asked) -> Said:
    """Answer as a model does that knows what the rules of leave mean."""
    return reply(asked, [verdict(name, "supported", CARRY) for name in asked.claims])


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        found.respond = understands
        yield found


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    read_here(monkeypatch)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text(POLICY)
    workspace.ingest(tmp_path / "docs")
    return workspace


def judges_of(server: Server, **changes: Any) -> list[Any]:
    return ["quote", "numbers", server.model(**changes)]


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_nothing_is_sent_before_the_owner_allows_it(filled: Workspace, server: Server) -> None:
    size = filled.trail.size
    with pytest.raises(AccessError) as caught:
        filled.check(ANSWER, judges=judges_of(server))
    assert str(caught.value) == (
        f"passages of documents would be sent to {server.url}, which the owner has not allowed: "
        f"evidentia judge allow {server.url}"
    )
    assert server.asked == []
    assert filled.trail.size == size


def test_what_the_owner_allows_stands_in_the_trail_and_can_be_taken_back(
    filled: Workspace, server: Server
) -> None:
    receipt = filled.judges.allow(f"{server.url}/")
    logged = filled.trail.entry(receipt.seq)
    assert (logged.entry.kind, logged.entry.subject) == ("access", f"judge/{server.url}")
    said = {name: value for name, value in logged.body.items() if name != "signature"}
    assert said == {"action": "allow_judge", "url": server.url, "by": "owner"}
    assert logged.body["signature"]["keyid"] == filled.trail.public_key().key_id
    (found,) = filled.judges.allowed()
    assert (found.url, found.by, found.entry) == (server.url, "owner", receipt.seq)
    assert found.since == logged.entry.at
    filled.judges.disallow(server.url)
    assert filled.judges.allowed() == []
    with pytest.raises(AccessError, match="has not allowed"):
        filled.check(ANSWER, judges=judges_of(server))
    with pytest.raises(NotFoundError, match="is not allowed: nothing is changed"):
        filled.judges.disallow(server.url)


def test_another_endpoint_or_tenant_is_not_allowed_with_it(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow("http://127.0.0.1:1/v1")
    filled.opened.for_("other").judges.allow(server.url)
    with pytest.raises(AccessError, match="has not allowed"):
        filled.check(ANSWER, judges=judges_of(server))


def test_what_is_taken_back_meanwhile_is_not_sent(filled: Workspace, server: Server) -> None:
    filled.judges.allow(server.url)
    (judge,) = filled.judges.make([server.model()])
    filled.judges.disallow(server.url)
    with pytest.raises(AccessError, match="has not allowed"):
        judge.judge(claim_of(OTHER), [passage_of(CARRY)])
    assert server.asked == []


def test_the_model_is_asked_only_about_what_the_others_are_in_doubt_of(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow(server.url)
    ledger = filled.check(ANSWER, judges=judges_of(server))
    assert [entry.verdict for entry in ledger.entries] == [Verdict.SUPPORTED] * 2
    assert [entry.judge for entry in ledger.entries] == ["quote", "llm"]
    (asked,) = server.asked
    assert list(asked.claims.values()) == [OTHER.rstrip(".")]
    judging = ledger.session.judging
    assert judging is not None
    assert judging.policy == JudgingPolicy()
    assert [(vote.judges, vote.decides) for vote in judging.votes] == [
        (["quote", "numbers"], True),
        (["quote", "numbers"], False),
        (["llm"], True),
    ]


def test_the_policy_is_recorded_with_the_votes(filled: Workspace, server: Server) -> None:
    filled.judges.allow(server.url)
    policy = JudgingPolicy(asked="always", decides="cautious")
    ledger = filled.check(ANSWER, judges=judges_of(server), policy=policy)
    assert len(server.asked[0].claims) == 2
    again = filled.ledgers.get(ledger.id)
    assert again.session == ledger.session
    assert again.session.judging is not None
    assert again.session.judging.policy == policy


def test_tokens_and_cost_stand_in_the_ledger(filled: Workspace, server: Server) -> None:
    filled.judges.allow(server.url)
    judges = judges_of(server, input_price="0.25", output_price="1.25")
    judging = filled.check(ANSWER, judges=judges).session.judging
    assert judging is not None
    (service,) = judging.services
    assert (service.input_tokens, service.output_tokens) == (1_000, 50)
    assert (service.cost, service.currency) == ("0.000313", "USD")


def test_a_stranger_sees_what_the_judge_saw_and_said(filled: Workspace, server: Server) -> None:
    filled.judges.allow(server.url)
    ledger = filled.check(ANSWER, judges=judges_of(server))
    assert ledger.session.judging is not None
    (run,) = ledger.session.judging.votes[-1].runs
    shown, answered = (filled.bundles.get(one.bundle_id) for one in filled.bundles.of_run(run))
    (asked,) = server.asked
    assert [item.content for item in shown.items if item.evidence_type == "doc_chunk"] == (
        asked.passages
    )
    rendered = filled.bundles.render(shown.bundle_id, "openai").content
    assert isinstance(rendered, list)
    assert rendered[1]["content"] == asked.user
    request, heard = answered.items
    assert json.loads(request.content) == asked.body
    assert json.loads(heard.content)["model"] == "test-1-of-today"
    assert filled.bundles.audit() == []
    assert filled.bundles.verify(shown.bundle_id).holds


def test_a_ledger_with_votes_is_proved_with_its_corpus(filled: Workspace, server: Server) -> None:
    filled.judges.allow(server.url)
    ledger = filled.check(ANSWER, judges=judges_of(server))
    assert filled.trail.entry(ledger.entry).body["predicate_type"] == THIRD_TYPE
    proof = json.dumps(filled.prove(ledger).as_json()).encode()
    report = filled.verify(proof)
    assert report.holds
    assert filled.ledgers.audit() == []


def test_a_ledger_with_votes_is_exported_in_every_form(
    filled: Workspace, server: Server, tmp_path: Path
) -> None:
    filled.judges.allow(server.url)
    ledger = filled.check(ANSWER, judges=judges_of(server))
    for ending in ("md", "json", "sarif", "xml", "pdf"):
        assert filled.export(ledger, tmp_path / f"ledger.{ending}").stat().st_size > 0
    assert filled.verify(tmp_path / "ledger.pdf").holds


def test_a_second_check_asks_nothing_again_and_points_to_the_same_run(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow(server.url)
    first = filled.check(ANSWER, judges=judges_of(server)).session.judging
    second = filled.check(ANSWER, judges=judges_of(server)).session.judging
    assert first is not None
    assert second is not None
    assert len(server.asked) == 1
    assert second.votes[-1].remembered
    assert second.votes[-1].runs == first.votes[-1].runs
    assert (second.services[0].calls, second.services[0].remembered) == (0, 1)
    assert second.services[0].input_tokens == 0


def test_the_key_is_nowhere_in_the_workspace(
    filled: Workspace, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    filled.judges.allow(server.url)
    server.respond = lambda got: reply(
        got, [verdict(name, "weak", CARRY, reason=f"key {KEY}") for name in got.claims]
    )
    ledger = filled.check(ANSWER, judges=judges_of(server))
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(ledger) + repr(ledger.session) + "".join(capfd.readouterr())
    assert KEY.encode() not in everything_in(filled.opened.home.folder)
    assert b"[key]" in everything_in(filled.opened.home.folder)


def test_a_service_that_fails_leaves_the_claim_not_judged(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow(server.url)
    server.respond = lambda _: Said("overloaded", 529)
    ledger = filled.check(ANSWER, judges=judges_of(server))
    assert [entry.verdict for entry in ledger.entries] == [Verdict.SUPPORTED, Verdict.NOT_JUDGED]
    assert "it answered 529, after 3 attempts: overloaded" in ledger.entries[1].notes


def test_two_models_may_be_asked_and_have_names_of_their_own(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow(server.url)

    def respond(asked: Asked) -> Said:
        said = "weak" if asked.body["model"] == "small" else "supported"
        return reply(asked, [verdict(name, said, CARRY) for name in asked.claims])

    server.respond = respond
    models = [server.model(model="small"), server.model(model="large")]
    ledger = filled.check(OTHER, judges=models)
    assert ledger.session.judges == ["llm:small", "llm:large"]
    assert ledger.entries[0].judge == "llm:large"
    assert ledger.session.judging is not None
    assert [one.model for one in ledger.session.judging.services] == ["small", "large"]


def test_a_name_alone_does_not_say_which_model(filled: Workspace) -> None:
    with pytest.raises(InputError, match=r"give an ev\.LanguageModel in place of the name"):
        filled.check(ANSWER, judges=["quote", "llm"])


def test_what_was_measured_is_not_taken_for_what_was_recorded(
    filled: Workspace, server: Server
) -> None:
    filled.judges.allow(server.url)
    size = filled.trail.size
    for _ in range(2):
        (judge,) = filled.judges.make([server.model()], record=False)
        assert judge.judge(claim_of(OTHER), [passage_of(CARRY)])
    assert len(server.asked) == 1
    assert filled.trail.size == size
    (judge,) = filled.judges.make([server.model()])
    assert judge.judge(claim_of(OTHER), [passage_of(CARRY)])
    assert len(server.asked) == 2
    assert filled.trail.size == size + 4  # two bundles, and that a run used each


def test_the_model_reads_arabic_where_the_offline_one_fails(
    filled: Workspace, server: Server, tmp_path: Path
) -> None:
    filled.judges.allow(server.url)
    said = "يحصل كل موظف على خمسة عشر يوما من الإجازة السنوية."
    (tmp_path / "arabic.md").write_text(said)
    filled.ingest(tmp_path / "arabic.md")
    server.respond = lambda got: reply(got, [verdict(name, quote=said) for name in got.claims])
    claim = "للموظف خمسة عشر يوما من الإجازة السنوية كل عام."
    ledger = filled.check(claim, judges=judges_of(server))
    assert [entry.judge for entry in ledger.entries] == ["llm"]
