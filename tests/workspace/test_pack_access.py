"""Who may do what with packs: every role at every function, within a tenant and across."""

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tiers
from evidentia.access.actions import MAY, Action, Authorizer, Role
from evidentia.access.guard import TABLE, On
from evidentia.canonical import canonical_json
from evidentia.documents.model import DocumentChunk
from evidentia.errors import (
    AccessError,
    InputError,
    IntegrityError,
    NotFoundError,
    SealingError,
    UndecidedError,
)
from evidentia.ledger.outcomes import CheckedAnswers
from evidentia.packs.model import EvidencePack
from evidentia.packs.retention import DEFAULT_RETENTION
from evidentia.packs.tools import ToolVerificationLedger
from evidentia.store.auditing import AuditReport
from evidentia.store.sql.library import StoredDocument
from evidentia.store.sql.spans import Closing
from evidentia.workspace import Workspace
from evidentia.workspace.access import Roles, authorizer
from evidentia.workspace.auditing import Whole
from evidentia.workspace.bundles import Bundles
from evidentia.workspace.documents import Documents
from evidentia.workspace.jobs import Jobs
from evidentia.workspace.judges import Judges
from evidentia.workspace.ledgers import Ledgers
from evidentia.workspace.logged import committed
from evidentia.workspace.packs import Packs
from evidentia.workspace.part import Part
from evidentia.workspace.spans import Spans
from evidentia.workspace.tools import Tools
from evidentia.workspace.trail import Trail
from packing import NOON, Clock, decision, make_pack, memo, opened, tool_call
from places import Place, record
from vandal import vandal_at
from witnessing import Witness

Act = Callable[[Workspace, Path], object]

USERS: dict[str, Role | None] = {
    "no one": None,
    "viewer": Role.VIEWER,
    "approver": Role.APPROVER,
    "admin": Role.ADMIN,
    "auditor": Role.AUDITOR,
    "expired auditor": None,
    "former admin": None,
    "other tenant's admin": None,
}
"""Users, and the role that counts for each in the tenant that is asked."""


def _export(workspace: Workspace, folder: Path) -> object:
    approval = owner_of(workspace).packs.approve_export("dec_1")
    return workspace.packs.export("dec_1", folder / "pack.json", approval=approval)


def owner_of(workspace: Workspace) -> Workspace:
    return workspace.opened.for_(workspace.tenant)


def _unsealed(workspace: Workspace) -> EvidencePack:
    other = {"pack_id": "", "decision_id": "dec_9", "decision": None}
    return owner_of(workspace).packs.get("dec_1").model_copy(update=other)


def _report(workspace: Workspace) -> AuditReport:
    return owner_of(workspace).trail.audit()


NO_DOCUMENT = StoredDocument(
    *(
        "doc_x",
        1,
        "c",
        "f",
        "text/plain",
        "0" * 64,
        None,
        "ltr",
        None,
        None,
        1,
        1,
        (),
        "2026-03-01T12:00:00Z",
        "col_x",
    )
)

NO_CHUNK = DocumentChunk("chunk_x", "doc_x", 0, "It is so.", 1, (), 0, 9, "0" * 64)

USER_KEY = "64" * 32
WITNESS = Witness().key
CALLS: dict[str, Act] = {
    "access.can_view_evidence_pack": lambda ws, _: ws.access.can_view_evidence_pack("a", "latest"),
    "access.drift": lambda ws, _: ws.access.drift(),
    "access.telling": lambda ws, _: ws.access.telling(),
    "access.sync": lambda ws, _: ws.access.sync(),
    "access.export": lambda ws, _: ws.access.export(),
    "access.grant": lambda ws, _: ws.access.grant("eve", "viewer"),
    "access.grants": lambda ws, _: ws.access.grants(),
    "access.new_token": lambda ws, _: ws.access.new_token("eve"),
    "access.own_agent": lambda ws, _: ws.access.own_agent("eve", "agent"),
    "access.owners": lambda ws, _: ws.access.owners(),
    "access.requests": lambda ws, _: ws.access.requests(),
    "access.revoke": lambda ws, _: ws.access.revoke("viewer", "viewer"),
    "access.revoke_token": lambda ws, _: ws.access.revoke_token("0" * 16),
    "access.tokens": lambda ws, _: ws.access.tokens(),
    "bundles.audit": lambda ws, _: ws.bundles.audit(),
    "bundles.build": lambda ws, _: ws.bundle({"extra_params": {"evidence": ["new"]}}),
    "bundles.export": lambda ws, folder: ws.bundles.export("latest", folder / "bundle.txt"),
    "bundles.find": lambda ws, _: ws.bundles.find("latest"),
    "bundles.get": lambda ws, _: ws.bundles.get("latest"),
    "bundles.ids": lambda ws, _: ws.bundles.ids(),
    "bundles.items": lambda ws, _: ws.bundles.items("latest"),
    "bundles.list": lambda ws, _: ws.bundles.list(),
    "bundles.of_run": lambda ws, _: ws.bundles.of_run("run"),
    "bundles.prove": lambda ws, _: ws.bundles.prove("latest"),
    "bundles.record_run": lambda ws, _: ws.bundles.record_run("run 2", "latest"),
    "bundles.render": lambda ws, _: ws.bundles.render("latest"),
    "bundles.runs": lambda ws, _: ws.bundles.runs("latest"),
    "bundles.runs_of_artifact": lambda ws, _: ws.bundles.runs_of_artifact("x"),
    "bundles.verify": lambda ws, _: ws.bundles.verify("latest"),
    "bundles.why_cut": lambda ws, _: ws.bundles.why_cut("latest", "x"),
    "documents.add": lambda ws, _: ws.documents.add({"new.md": b"It is so."}),
    "documents.anchor": lambda ws, _: ws.documents.anchor("0" * 64),
    "documents.chunks": lambda ws, _: ws.documents.chunks(NO_DOCUMENT),
    "documents.collections": lambda ws, _: ws.documents.collections(),
    "documents.ingest": lambda ws, folder: ws.ingest(folder),
    "documents.list": lambda ws, _: ws.documents.list(),
    "documents.named": lambda ws, _: ws.documents.named("a.md"),
    "documents.removal": lambda ws, _: ws.documents.removal("doc_0"),
    "documents.remove": lambda ws, _: ws.documents.remove(NO_DOCUMENT, reason="why"),
    "documents.search": lambda ws, _: ws.documents.search("so"),
    "documents.sync": lambda ws, folder: ws.documents.sync(folder),
    "documents.page_image": lambda ws, _: ws.documents.page_image(NO_DOCUMENT, 1),
    "documents.page_words": lambda ws, _: ws.documents.page_words(NO_DOCUMENT, 1),
    "documents.rectangles": lambda ws, _: ws.documents.rectangles(NO_DOCUMENT, NO_CHUNK),
    "documents.page_text": lambda ws, _: ws.documents.page_text(NO_DOCUMENT, 1),
    "documents.record_missing": lambda ws, _: ws.documents.record_missing(),
    "documents.resolve": lambda ws, _: ws.documents.resolve("a1b2c3d4"),
    "documents.versions": lambda ws, _: ws.documents.versions("doc_0"),
    "jobs.cancel": lambda ws, _: ws.jobs.cancel("job_0"),
    "jobs.events": lambda ws, _: ws.jobs.events("job_0"),
    "jobs.file": lambda ws, _: ws.jobs.file("job_0", "0" * 64),
    "jobs.get": lambda ws, _: ws.jobs.get("job_0"),
    "jobs.list": lambda ws, _: ws.jobs.list(),
    "jobs.start": lambda ws, _: ws.jobs.start("ledger_export", {}),
    "judges.allow": lambda ws, _: ws.judges.allow("http://localhost:1/v1"),
    "judges.allowed": lambda ws, _: ws.judges.allowed(),
    "judges.disallow": lambda ws, _: ws.judges.disallow("http://localhost:1/v1"),
    "judges.make": lambda ws, _: ws.judges.make(["quote"]),
    "ledgers.audit": lambda ws, _: ws.ledgers.audit(),
    "ledgers.begin": lambda ws, _: ws.ledgers.begin("It is so.", judges=["quote"]),
    "ledgers.check": lambda ws, _: ws.check("It is so.", judges=["quote"]),
    "ledgers.check_many": lambda ws, _: ws.check_many(["It is so."], workers=0, judges=["quote"]),
    "ledgers.corpus": lambda ws, _: ws.ledgers.corpus("latest"),
    "ledgers.export": lambda ws, folder: ws.ledgers.export("latest", folder / "ledger.md"),
    "ledgers.export_many": lambda ws, folder: ws.ledgers.export_many(
        {"latest": folder / "many.md"}, form="markdown"
    ),
    "ledgers.find": lambda ws, _: ws.ledgers.find("latest"),
    "ledgers.finish": lambda ws, _: ws.ledgers.finish(
        ws.ledgers.begin("It is so.", judges=["quote"])
    ),
    "ledgers.get": lambda ws, _: ws.ledgers.get("latest"),
    "ledgers.give_verdict": lambda ws, _: ws.ledgers.give_verdict(
        "latest", "clm_x", "weak", reason="seen"
    ),
    "ledgers.labelled": lambda ws, _: ws.ledgers.labelled(),
    "ledgers.list": lambda ws, _: ws.ledgers.list(),
    "ledgers.prove_corpus": lambda ws, _: ws.ledgers.prove_corpus("latest", "doc_x"),
    "ledgers.page": lambda ws, _: ws.ledgers.page("latest"),
    "ledgers.prove": lambda ws, _: ws.ledgers.prove("latest"),
    "ledgers.render_many": lambda ws, _: ws.ledgers.render_many(CheckedAnswers([]), "csv"),
    "ledgers.statistics": lambda ws, _: ws.ledgers.statistics(),
    "ledgers.verdicts": lambda ws, _: ws.ledgers.verdicts("latest"),
    "packs.approvals": lambda ws, _: ws.packs.approvals("dec_1"),
    "packs.approve_export": lambda ws, _: ws.packs.approve_export("dec_1"),
    "packs.assemble": lambda ws, _: ws.assemble(decision(9), memo=memo()),
    "packs.assign": lambda ws, _: ws.packs.assign("dec_1", "approver"),
    "packs.audit": lambda ws, _: ws.packs.audit(),
    "packs.export": _export,
    "packs.find": lambda ws, _: ws.packs.find("dec_1"),
    "packs.get": lambda ws, _: ws.packs.get("dec_1"),
    "packs.held": lambda ws, _: ws.packs.held(),
    "packs.lock": lambda ws, _: ws.packs.lock(),
    "packs.lock_mode": lambda ws, _: ws.packs.lock_mode(),
    "packs.missing": lambda ws, _: ws.packs.missing(),
    "packs.hold": lambda ws, _: ws.packs.hold("dec_1", reason="case"),
    "packs.later": lambda ws, _: ws.packs.later("dec_1"),
    "packs.list": lambda ws, _: ws.packs.list(),
    "packs.prove": lambda ws, _: ws.packs.prove("dec_1"),
    "packs.queue": lambda ws, _: ws.packs.queue(),
    "packs.record_decision": lambda ws, _: ws.packs.record_decision(decision(9)),
    "packs.release": lambda ws, _: ws.packs.release("dec_2", reason="closed"),
    "packs.retention": lambda ws, _: ws.packs.retention(),
    "packs.attachment": lambda ws, _: ws.packs.attachment("dec_1", "0" * 64),
    "packs.attachment_link": lambda ws, _: ws.packs.attachment_link("dec_1", "0" * 64),
    "packs.modify": lambda ws, _: ws.packs.modify("dec_1", {"prompts": []}, note="so"),
    "packs.review": lambda ws, _: ws.packs.review("dec_1", "approved"),
    "packs.revise": lambda ws, _: ws.packs.revise("dec_1", {}),
    "packs.seal": lambda ws, _: ws.packs.seal(_unsealed(ws)),
    "packs.set_lock_mode": lambda ws, _: ws.packs.set_lock_mode("governance"),
    "packs.set_retention": lambda ws, _: ws.packs.set_retention(DEFAULT_RETENTION),
    "packs.sweep": lambda ws, _: ws.packs.sweep(),
    "packs.versions": lambda ws, _: ws.packs.versions("dec_1"),
    "spans.find": lambda ws, _: ws.spans.find("0" * 32),
    "spans.of_trace": lambda ws, _: ws.spans.of_trace("0" * 32),
    "spans.open": lambda ws, _: ws.spans.open(),
    "spans.put_off": lambda ws, _: ws.spans.put_off("0" * 32, ws.opened.now(), "a reason"),
    "spans.receive": lambda ws, _: ws.spans.receive([], Closing("", "")),
    "spans.settle": lambda ws, _: ws.spans.settle("0" * 32, [], None),
    "tools.calls": lambda ws, _: ws.tools.calls("dec_1"),
    "tools.offer": lambda ws, _: ws.tools.offer("dec_9", "mail"),
    "tools.offered": lambda ws, _: ws.tools.offered("dec_1"),
    "tools.record": lambda ws, _: ws.tools.record("dec_9", tool_call()),
    "tools.take_over": lambda ws, _: ws.tools.take_over("dec_9", ToolVerificationLedger()),
    "trail.add_witness": lambda ws, _: ws.trail.add_witness("http://localhost:1", WITNESS),
    "trail.accept_loss": lambda ws, _: ws.trail.accept_loss(reason="the newest backup there is"),
    "trail.adopt": lambda ws, _: ws.trail.adopt(reason="written by an older version"),
    "trail.append": lambda ws, _: ws.append(record()),
    "trail.append_many": lambda ws, _: ws.trail.append_many([record()]),
    "trail.audit": lambda ws, _: ws.trail.audit(),
    "trail.checkpoint": lambda ws, _: ws.trail.checkpoint(),
    "trail.checkpoints": lambda ws, _: ws.trail.checkpoints(),
    "trail.entries": lambda ws, _: ws.trail.entries(),
    "trail.enroll": lambda ws, _: ws.trail.enroll("sami", USER_KEY),
    "trail.entry": lambda ws, _: ws.trail.entry(0),
    "trail.entry_bundle": lambda ws, _: ws.trail.entry_bundle(0, 1),
    "trail.erase": lambda ws, _: ws.trail.erase(0, reason="law", by="counsel"),
    "trail.keep_checkpoint": lambda ws, _: ws.trail.keep_checkpoint(_report(ws)),
    "trail.keys": lambda ws, _: ws.trail.keys(),
    "trail.new_user_key": lambda ws, _: ws.trail.new_user_key(),
    "trail.prove": lambda ws, _: ws.prove(0),
    "trail.prove_consistency": lambda ws, _: ws.trail.prove_consistency(1),
    "trail.prove_under": lambda ws, _: ws.trail.prove_under(owner_of(ws).trail.checkpoint(), 0),
    "trail.public_key": lambda ws, _: ws.trail.public_key(),
    "trail.publish": lambda ws, folder: ws.trail.publish(folder / "tiles"),
    "trail.receipts": lambda ws, _: ws.trail.receipts("0" * 40),
    "trail.records": lambda ws, _: ws.trail.records(),
    "trail.remove_witness": lambda ws, _: ws.trail.remove_witness("witness.test/w1"),
    "trail.signed_by": lambda ws, _: ws.trail.signed_by("00000000", from_size=1),
    "trail.revocations": lambda ws, _: ws.trail.revocations(),
    "trail.revoke_key": lambda ws, _: ws.trail.revoke_key("00000000", from_size=1, reason="why"),
    "trail.rotate_key": lambda ws, _: ws.trail.rotate_key(),
    "trail.send_to_witnesses": lambda ws, _: ws.trail.send_to_witnesses(),
    "trail.signed_size": lambda ws, _: ws.trail.signed_size,
    "trail.size": lambda ws, _: ws.trail.size,
    "trail.timeline": lambda ws, _: ws.trail.timeline(),
    "trail.tile": lambda ws, _: ws.trail.tile(0, 0, 1),
    "trail.use_command": lambda ws, _: ws.trail.use_command("no key", ["true"]),
    "trail.use_token": lambda ws, _: ws.trail.use_token("no key"),
    "trail.users": lambda ws, _: ws.trail.users(),
    "trail.withdraw": lambda ws, _: ws.trail.withdraw("sami"),
    "trail.witnesses": lambda ws, _: ws.trail.witnesses(),
    "whole.audit": lambda ws, _: ws.audit(quick=True),
}
"""A call of every method that the guard's table knows."""


def fill(place: Place, clock: Clock) -> Workspace:
    """Give a tenant with packs and users of every role, and another tenant with an admin."""
    workspace, other = opened(place, clock=clock), opened(place, "other", clock=clock)
    make_pack(workspace, 1)
    make_pack(workspace, 2)
    workspace.packs.hold("dec_2", reason="case")
    for role in (Role.VIEWER, Role.APPROVER, Role.ADMIN):
        workspace.access.grant(role.value, role)
    workspace.access.grant("auditor", "auditor", expires_at="2027-01-01T00:00:00Z")
    workspace.access.grant("expired auditor", "auditor", expires_at="2026-03-01T12:00:01Z")
    workspace.access.grant("former admin", Role.ADMIN)
    workspace.access.revoke("former admin", Role.ADMIN)
    make_pack(other, 1)
    other.access.grant("other tenant's admin", Role.ADMIN)
    for tenant in (workspace, other):
        tenant.trail.checkpoint()
    clock.pass_years(0.01)
    return workspace


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home folder that is filled so, to be copied."""
    place = Place(tmp_path_factory.mktemp("filled") / "home")
    place.open()
    fill(place, Clock())
    place.close()
    return place.home.folder


@pytest.fixture
def acme(filled_home: Path, tmp_path: Path) -> Iterator[Workspace]:
    """Give the tenant of it, on the embedded database."""
    place = Place(tmp_path / "home")
    shutil.copytree(filled_home, place.home.folder)
    yield opened(place, clock=Clock(NOON + timedelta(days=5)))
    place.close()


@pytest.fixture
def shared(place: Place) -> Workspace:
    """Give the same, on each kind of database in turn."""
    return fill(place, Clock())


def outcome(act: Act, workspace: Workspace, folder: Path) -> str:
    try:
        act(workspace, folder)
    except NotFoundError as error:
        return f"not found: {error}" if "may see" in str(error) else "allowed"
    except AccessError:
        return "refused"
    except (InputError, SealingError):  # it may; what was given is another matter
        return "allowed"
    return "allowed"


PARTS = (Bundles, Documents, Jobs, Judges, Ledgers, Packs, Roles, Spans, Tools, Trail, Whole)


def test_every_public_method_of_every_part_has_a_row_and_a_call() -> None:
    """A new one must say what it takes, or no one may call it."""
    parts = {"access" if part is Roles else part.__name__.lower(): part for part in PARTS}
    public = {
        f"{name}.{attribute}"
        for name, part in parts.items()
        for attribute in vars(part)
        if not attribute.startswith("_")
    }
    assert public == set(TABLE) == set(CALLS)
    assert {need.action for need in TABLE.values()} == set(Action)


def test_the_parts_of_a_workspace_are_these(acme: Workspace) -> None:
    held = {
        type(value) for value in map(partial(getattr, acme), dir(acme)) if isinstance(value, Part)
    }
    assert held == set(PARTS)


def test_a_method_without_a_row_is_for_no_one(acme: Workspace) -> None:
    class Secrets(Part, name="secrets"):
        def tell(self) -> str:
            return "told"

        @property
        def told(self) -> str:
            return "told"

    for user in (None, "admin"):
        secrets = Secrets(acme.opened.for_(acme.tenant, user)._acting)
        with pytest.raises(AccessError, match=r"secrets\.tell is for no one"):
            secrets.tell()
        with pytest.raises(AccessError, match=r"secrets\.told is for no one"):
            _ = secrets.told


@pytest.mark.parametrize("name", CALLS)
def test_a_role_may_do_exactly_what_the_table_says(
    acme: Workspace, tmp_path: Path, name: str
) -> None:
    need = TABLE[name]
    for user, role in USERS.items():
        found = outcome(CALLS[name], acme.acting_as(user), tmp_path)
        if role is not None and need.action in MAY[role] and not need.owner:
            assert found == "allowed", user
        elif role is None and need.on is On.PACK and not need.owner:
            assert found.startswith("not found: there is no pack"), user
        else:
            assert found == "refused", user


@pytest.mark.parametrize("name", CALLS)
def test_the_owner_may_do_all_of_it(acme: Workspace, tmp_path: Path, name: str) -> None:
    assert outcome(CALLS[name], acme, tmp_path) == "allowed"


def test_an_agent_may_do_what_the_table_has_for_agents_also_in_the_owners_name(
    acme: Workspace, tmp_path: Path
) -> None:
    for ws in (acme, acme.acting_as("admin"), acme.acting_as("viewer")):
        agent, before = ws.by_agent("icp_matcher"), acme.trail.size
        for name, act in CALLS.items():
            need = TABLE[name]
            may = need.agent and (ws.user != "viewer" or need.action in MAY[Role.VIEWER])
            found = outcome(act, agent, tmp_path)
            assert found == ("allowed" if may else "refused"), (ws.user, name)
        made = [one for one in acme.trail.entries()[before:] if one.body["by"].startswith("agent")]
        assert {one.entry.kind for one in made} <= {"ledger", "decision"}


def test_an_agent_is_recorded_as_who_acted_and_in_whose_name(acme: Workspace) -> None:
    for ws, by in ((acme, "agent:helper"), (acme.acting_as("admin"), "agent:helper of admin")):
        ws.by_agent("helper").check("It is so.", contexts=["It is so."], judges=["quote"])
        assert acme.trail.entries()[-1].body["by"] == by
        assert not acme.trail.audit().findings
    with pytest.raises(InputError, match="'agent:helper' is how an agent is recorded: no user is"):
        acme.acting_as("agent:helper")
    for wrong in ("", "two words", "line\nbreak", "\u202eright"):
        with pytest.raises(InputError, match="agent"):
            acme.by_agent(wrong)


def test_an_agent_records_its_own_decisions_alone(acme: Workspace) -> None:
    agent = acme.by_agent("icp_matcher")
    assert agent.packs.record_decision(decision(30)).requirement == "mandatory"
    with pytest.raises(AccessError, match="records its own decisions, and this one is of 'icp_"):
        acme.by_agent("helper").packs.record_decision(decision(31))
    with pytest.raises(AccessError, match=r"packs\.review is not for agents"):
        agent.admit("packs.review")


def test_nothing_can_be_recorded_but_by_its_own_method(acme: Workspace) -> None:
    assert not any("record" in vars(part) for part in PARTS if part is not Tools)
    assert not hasattr(acme, "record")


def test_no_user_is_called_as_the_owner_is_recorded(acme: Workspace) -> None:
    with pytest.raises(InputError, match="'owner' is who acts without a name"):
        acme.acting_as("owner")


def test_who_acted_is_in_every_entry(acme: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("It is so.", encoding="utf-8")
    for number, (user, actor) in enumerate(((None, "owner"), ("admin", "admin")), 20):
        before = acme.trail.size
        ws = acme.opened.for_(acme.tenant, user)
        ws.ingest(tmp_path)
        ws.check(f"It is so, says {actor}.", judges=["quote"])
        ws.bundle({"extra_params": {"evidence": [f"{actor} asks"]}})
        ws.bundles.record_run(f"run of {actor}", "latest")
        ws.append(record())
        ws.assemble(decision(number), memo=memo())
        ws.tools.record("dec_1", tool_call())
        ws.packs.review("dec_20", "approved")
        ws.trail.rotate_key()
        made = [one for one in acme.trail.entries() if one.entry.seq >= before]
        assert {one.body["by"] for one in made} == {actor}
        assert {one.entry.kind for one in made} >= {"ledger", "bundle", "run", "review", "key"}


def test_a_refusal_changes_nothing(shared: Workspace, tmp_path: Path) -> None:
    before = shared.trail.entries()
    for user in ("no one", "viewer", "expired auditor", "former admin", "other tenant's admin"):
        for name, act in CALLS.items():
            role = USERS[user]
            if name == "packs.export" or (role is not None and TABLE[name].action in MAY[role]):
                continue
            assert outcome(act, shared.acting_as(user), tmp_path) != "allowed"
    assert shared.trail.entries() == before


def test_every_role_in_every_function_of_another_tenant_is_refused(
    place: Place, tmp_path: Path
) -> None:
    fill(place, Clock())
    other = opened(place, "other", clock=Clock())
    calls = list(CALLS.items())
    step = tiers.count(1, short=3)  # then each function is called by every third user
    for number, user in enumerate(USERS):
        if user == "other tenant's admin":
            continue
        for name, act in calls[number % step :: step]:
            if name not in {"packs.export", "packs.seal"}:
                assert outcome(act, other.acting_as(user), tmp_path) != "allowed", (user, name)
    assert [one.entry.kind for one in other.trail.entries()] == [
        "decision",
        "key",
        "pack",
        "access",
    ]


class Saying(Authorizer):
    """A stand-in for OpenFGA: says yes to some actions, no to the others, or does not answer."""

    def __init__(self, *actions: Action, answers: bool = True) -> None:
        self.actions, self.answers = actions, answers
        self.asked: list[tuple[str, Action, str]] = []

    def may(self, user: str, action: Action, on: str) -> bool:
        self.asked.append((user, action, on))
        if not self.answers:
            raise UndecidedError("OpenFGA did not answer within 2 s: denied")
        return action in self.actions


def admitted(workspace: Workspace, name: str, pack: str) -> str:
    """Say whether a user may call a method, of which nothing is done."""
    try:
        workspace.admit(name, pack if TABLE[name].on is On.PACK else None)
    except UndecidedError:
        return "undecided"
    except NotFoundError:
        return "not found"
    except AccessError:
        return "refused"
    return "allowed"


@pytest.mark.parametrize("user", USERS)
def test_what_is_asked_beside_the_trail_only_narrows_what_the_trail_grants(
    acme: Workspace, user: str
) -> None:
    pack, role = acme.packs.get("dec_1").pack_id, USERS[user]
    asking = acme.acting_as(user)
    for name, need in TABLE.items():
        acme.opened.authorizer = None
        granted = admitted(asking, name, pack)
        assert (granted == "allowed") is (
            role is not None and need.action in MAY[role] and not need.owner
        )
        everything, nothing, away = Saying(*Action), Saying(), Saying(answers=False)
        for outside, otherwise in (
            (everything, "allowed"),
            (nothing, "not found" if need.on is On.PACK else "refused"),
            (Saying(Action.VIEW), "allowed" if need.action is Action.VIEW else "refused"),
            (away, "undecided"),
        ):
            acme.opened.authorizer = outside
            found = admitted(asking, name, pack)
            if granted == "allowed":
                assert found == otherwise, name
            elif granted == "refused" and need.on is On.PACK and not need.owner and role:
                assert found in ("refused", "not found", "undecided"), name
            else:
                assert found == granted, name
                assert outside.asked == [], name  # what is not granted asks no one


def test_what_destroys_or_permits_takes_a_grant_in_the_trail_whatever_else_says_yes(
    acme: Workspace, tmp_path: Path
) -> None:
    acme.opened.authorizer, before = Saying(*Action), acme.trail.size
    for name, act in CALLS.items():
        for user in ("no one", "former admin", "expired auditor", "other tenant's admin"):
            if name != "packs.export":  # its call approves in the owner's name first
                assert outcome(act, acme.acting_as(user), tmp_path) != "allowed", (name, user)
    assert acme.trail.size == before


def test_a_pack_that_is_not_there_and_one_that_no_one_decides_on_look_alike(
    acme: Workspace,
) -> None:
    acme.opened.authorizer = Saying(answers=False)
    said = set()
    for name in ("dec_1", "dec_8", "pack_" + "0" * 16):
        with pytest.raises(UndecidedError) as refused:
            acme.acting_as("viewer").packs.get(name)
        said.add(str(refused.value))
    assert said == {"OpenFGA did not answer within 2 s: denied"}


@pytest.mark.parametrize("user", ["no one", "expired auditor", "other tenant's admin"])
def test_an_unknown_and_a_forbidden_pack_look_alike(acme: Workspace, user: str) -> None:
    said = set()
    asking = acme.acting_as(user)
    for name in ("dec_1", "dec_8", acme.packs.get("dec_1").pack_id, "pack_" + "0" * 16, "latest"):
        for ask in (asking.packs.get, asking.packs.find, asking.packs.versions):
            with pytest.raises(NotFoundError) as refused:
                ask(name)
            said.add((type(refused.value), str(refused.value).replace(name, "…")))
    assert said == {(NotFoundError, f"there is no pack '…' that {user} may see")}


# Reviews


@pytest.fixture
def conflicted(place: Place) -> Workspace:
    """Give a workspace whose agent is ann's own, and where its decision is conflicted."""
    workspace = opened(place)
    for user in ("ann", "bob"):
        workspace.access.grant(user, Role.ADMIN)
    workspace.access.own_agent("ann", "icp_matcher")
    make_pack(workspace, 1, conflicted=True)
    make_pack(workspace, 2)
    return workspace


def test_no_one_approves_a_conflicted_decision_of_their_own_agent(conflicted: Workspace) -> None:
    ann, bob = conflicted.acting_as("ann"), conflicted.acting_as("bob")
    for outcome_ in ("approved", "rejected"):
        with pytest.raises(AccessError, match="ann may not review pack"):
            ann.packs.review("dec_1", outcome_)
        with pytest.raises(AccessError, match="marked as conflicted, and agent icp_matcher is"):
            conflicted.packs.review("dec_1", outcome_, reviewer="ann")
    assert ann.packs.review("dec_2", "approved").reviewer_id == "ann"
    assert bob.packs.review("dec_1", "approved").reviewer_id == "bob"


def test_a_newer_version_is_as_conflicted_as_the_first(conflicted: Workspace) -> None:
    conflicted.packs.revise("dec_1", {"trace_id": "0" * 32})
    with pytest.raises(AccessError):
        conflicted.acting_as("ann").packs.review("dec_1", "approved")
    for changes in ({"decision": None}, {"agent_name": "other"}):
        with pytest.raises(InputError, match="cannot be revised"):
            conflicted.acting_as("ann").packs.revise("dec_1", changes)


def test_a_conflict_that_is_hidden_in_the_database_still_counts(place: Place) -> None:
    workspace = opened(place)
    workspace.access.grant("ann", Role.ADMIN)
    workspace.access.own_agent("ann", "icp_matcher")
    make_pack(workspace, conflicted=True)
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("UPDATE evidence_packs SET conflicted = false, agent_name = 'other'")
    with pytest.raises(AccessError, match="marked as conflicted"):
        workspace.acting_as("ann").packs.review("dec_1", "approved")


def test_a_user_reviews_in_their_own_name(conflicted: Workspace) -> None:
    bob = conflicted.acting_as("bob")
    with pytest.raises(AccessError, match="bob reviews in their own name, not in that of ann"):
        bob.packs.review("dec_2", "approved", reviewer="ann")
    assert bob.packs.review("dec_2", "approved", reviewer="bob").reviewer_id == "bob"
    assert conflicted.trail.entries(kind="review")[0].body["by"] == "bob"


# Grants


def test_grants_are_given_listed_and_taken_away(place: Place) -> None:
    workspace = opened(place)
    workspace.access.grant("ann", "viewer")
    end = datetime.fromisoformat("2026-04-01T00:00:00+03:00")
    workspace.access.grant("ann", "approver", expires_at=end)
    assert [(one.role.value, one.expires_at) for one in workspace.access.grants()] == [
        ("viewer", None),
        ("approver", "2026-03-31T21:00:00.000000Z"),
    ]
    ann = workspace.acting_as("ann")
    make_pack(ann)
    workspace.access.revoke("ann", "approver")
    with pytest.raises(AccessError, match="ann may not make or record evidence"):
        make_pack(ann, 2)
    assert ann.packs.get("dec_1")
    with pytest.raises(NotFoundError, match="'ann' does not have the role approver"):
        workspace.access.revoke("ann", "approver")
    assert place.open().access.grants() == workspace.access.grants()


def test_a_role_ends_when_it_expires(sqlite_place: Place) -> None:
    clock = Clock()
    workspace = opened(sqlite_place, clock=clock)
    workspace.access.grant("ann", "auditor", expires_at="2026-06-01T00:00:00Z")
    ann = workspace.acting_as("ann")
    assert ann.packs.audit().holds
    clock.pass_years(0.3)
    with pytest.raises(AccessError, match="ann may not audit evidence in tenant 'default': ask an"):
        ann.packs.audit()


@pytest.mark.parametrize(
    ("user", "role", "expires", "says"),
    [
        ("ann", "auditor", None, "an auditor's grant must expire"),
        ("ann", "king", None, "grant.role: Input should be 'viewer'"),
        ("ann", "viewer", "soon", "'soon' is not a time as ISO 8601 writes it"),
        ("ann", "viewer", "2026-01-01T00:00:00", "does not say its zone"),
        ("ann", "viewer", "2020-01-01T00:00:00Z", "is not after granted_at"),
        (" ", "viewer", None, "a user has a name"),
        ("x" * 1001, "viewer", None, "a user has a name"),
    ],
)
def test_a_grant_that_cannot_be_is_said(
    sqlite_place: Place, user: str, role: str, expires: str | None, says: str
) -> None:
    workspace = opened(sqlite_place)
    with pytest.raises(InputError, match=says):
        workspace.access.grant(user, role, expires_at=expires)
    assert workspace.trail.size == 0


def test_names_that_are_none_are_refused(sqlite_place: Place) -> None:
    workspace = opened(sqlite_place)
    with pytest.raises(InputError, match="a user has a name"):
        workspace.acting_as("")
    with pytest.raises(InputError, match="an agent has a name"):
        workspace.access.own_agent("ann", " ")
    with pytest.raises(InputError, match="there is no role 'king'"):
        workspace.access.revoke("ann", "king")


def test_grants_are_read_once_and_then_only_what_is_new(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme.access.grants()
    read: list[Any] = []

    def count(row: Any) -> Any:
        read.append(row)
        return committed(row)

    monkeypatch.setattr("evidentia.workspace.acting.committed", count)
    viewer = acme.acting_as("viewer")
    for _ in range(3):
        viewer.packs.versions("dec_1")
        viewer.packs.list()
    assert read == []
    acme.access.grant("eve", "viewer")
    assert acme.acting_as("eve").packs.list()
    assert len(read) == 1


def test_a_grant_that_was_changed_in_the_database_counts_for_nothing(place: Place) -> None:
    workspace = opened(place)
    make_pack(workspace)
    workspace.access.grant("ann", "viewer")
    body = workspace.trail.entry(3).body | {"role": "admin"}
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("UPDATE trail_bodies SET body = ? WHERE seq = 3", canonical_json(body))
    with pytest.raises(IntegrityError, match="its body is not what it commits to"):
        place.open().acting_as("ann").packs.list()


# The authorizer


def test_the_authorizer_answers_by_the_grants_of_the_trail(shared: Workspace) -> None:
    roles = authorizer(shared._acting)
    pack_id = shared.packs.get("dec_1").pack_id
    assert roles.can_view_evidence_pack("viewer", pack_id)
    assert not roles.may("viewer", Action.REVISE, pack_id)
    assert roles.may("approver", Action.REVIEW, pack_id)
    assert not roles.can_view_evidence_pack("other tenant's admin", pack_id)
    assert not roles.can_view_evidence_pack("admin", "pack_" + "0" * 16)
    assert roles.may("auditor", Action.AUDIT, shared.tenant)
    assert not roles.may("expired auditor", Action.AUDIT, shared.tenant)
