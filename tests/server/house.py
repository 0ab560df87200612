"""A server with something in it, and people of every role who ask it."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import make_url
from starlette.testclient import TestClient

from evidentia.access.actions import Authorizer, Role
from evidentia.jobs.processes import Processes, TaskWorkers
from evidentia.jobs.runner import Runner
from evidentia.server.app import create_app
from evidentia.server.running import Running
from evidentia.settings import Settings
from evidentia.store.database import Database
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from packing import Clock, decision, memo
from places import Place

POLICY = "# Leave\n\nPermanent employees receive 15 days of leave. Leave is requested in writing.\n"
ANSWER = "Permanent employees receive 15 days of leave. Leave is requested by telephone."
HOST = "http://127.0.0.1:8321"

ROLES: dict[str, Role | None] = {
    "no one": None,
    "viewer": Role.VIEWER,
    "approver": Role.APPROVER,
    "admin": Role.ADMIN,
    "auditor": Role.AUDITOR,
    "expired auditor": None,
    "other tenant's admin": None,
}
"""People with a token, and the role that counts for each in the tenant that is asked."""
NOT_SIGNED_IN = ("nobody", "expired token", "revoked token", "unknown token")


@dataclass
class House:
    """A server's application, its data, and the tokens of people by their names."""

    place: Place
    app: FastAPI
    client: TestClient
    clock: Clock
    tokens: dict[str, str]
    made: dict[str, str] = field(default_factory=dict)
    """Ids of what is there, by the name of the path's parameter."""

    @property
    def running(self) -> Running:
        found: Running = self.app.state.running
        return found

    @property
    def workspace(self) -> Workspace:
        """The owner's workspace of the tenant."""
        return self.running.opened.for_()

    def ask(self, who: str, method: str, path: str, **more: Any) -> Any:
        """Send a request in someone's name, with their token."""
        headers = {**more.pop("headers", {})}
        if who in self.tokens:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        return self.client.request(method, path, headers=headers, **more)

    def get(self, path: str, who: str = "viewer", **more: Any) -> Any:
        return self.ask(who, "GET", path, **more)

    def post(self, path: str, who: str = "approver", **more: Any) -> Any:
        return self.ask(who, "POST", path, **more)


@dataclass(frozen=True)
class Furniture:
    """A place that was furnished once, to be copied: its folder, its database, who is there."""

    folder: Path
    database: str | None
    tokens: dict[str, str]
    made: dict[str, str]
    at: datetime


def furnish(place: Place) -> Furniture:
    """Fill a place with two tenants, people of every role, a ledger and a pack; close it."""
    clock = Clock()
    opened = _opened(place, clock)
    tokens, made = _people(opened, clock), _evidence(place, opened)
    opened.close()
    name = place.url and str(make_url(place.url).database)
    return Furniture(place.home.folder, name, tokens, made, clock.at)


PROCESSES = Processes.of(1)
"""They start when the first test needs them, and end with the tests."""


@contextmanager
def serving(
    place: Place, furniture: Furniture, authorizer: Authorizer | None = None, **settings: Any
) -> Iterator[House]:
    """Give the server of a place that is a copy of the furnished one."""
    shutil.copytree(furniture.folder, place.home.folder, dirs_exist_ok=True)
    clock = Clock(furniture.at)
    opened = _opened(place, clock)
    opened.authorizer = authorizer
    found = replace(Settings(), **{"server_jobs": 0, **settings})  # few tests have jobs done
    app = create_app(opened, found, owner_link=True)
    # no rate is refilled, and the processes beside it are those of all tests
    app.state.running = replace(app.state.running, seconds=lambda: 0.0, processes=None)
    opened.judging, opened.reading = PROCESSES.judging, PROCESSES.reading
    with TestClient(app, base_url=HOST, follow_redirects=False) as client:
        yield House(place, app, client, clock, furniture.tokens, furniture.made)
    opened.close()


def _opened(place: Place, clock: Clock) -> Opened:
    if place.url is not None:
        return Opened(Database.server(place.url), place.home, clock=clock)
    return Opened(Database.sqlite(place.home.database), place.home, clock=clock)


def _people(opened: Opened, clock: Clock) -> dict[str, str]:
    owner, other = opened.for_(), opened.for_("other")
    for role in (Role.VIEWER, Role.APPROVER, Role.ADMIN):
        owner.access.grant(role.value, role)
    owner.access.grant("auditor", "auditor", expires_at="2027-01-01T00:00:00Z")
    owner.access.grant("expired auditor", "auditor", expires_at="2026-03-01T12:00:01Z")
    other.access.grant("other tenant's admin", Role.ADMIN)
    tokens = {name: owner.access.new_token(name).text for name in ROLES}
    tokens["other tenant's admin"] = other.access.new_token("other tenant's admin").text
    ended = owner.access.new_token("admin", expires_at="2026-03-01T12:00:01Z")
    revoked = owner.access.new_token("admin")
    owner.access.revoke_token(revoked.token.token_id)
    tokens |= {"expired token": ended.text, "revoked token": revoked.text}
    tokens["unknown token"] = tokens["admin"][:-1] + ("A" if tokens["admin"][-1] != "A" else "E")
    clock.pass_years(0.01)
    return tokens


def _evidence(place: Place, opened: Opened) -> dict[str, str]:
    folder = place.home.folder.parent / "policies"
    folder.mkdir()
    (folder / "leave.md").write_text(POLICY, encoding="utf-8")
    elsewhere = place.home.folder.parent / "rules"  # ids follow from names: theirs are others
    elsewhere.mkdir()
    (elsewhere / "other.md").write_text("Holidays are announced.\n", encoding="utf-8")
    other, here = opened.for_("other"), opened.for_()
    other.check("Holidays are announced.", against=elsewhere, judges=["quote"])
    ledger = here.check(ANSWER, against=folder, query="How much?", judges=["quote"])
    pack = here.assemble(decision(), memo=memo(), attachments={"seal.txt": b"Whole.\n"})
    made = {"session_id": ledger.session_id, "ledger_id": ledger.id, "pack_id": pack.pack_id}
    return made | _bundles(here)


def _bundles(here: Workspace) -> dict[str, str]:
    """Build two bundles of the same texts, the second with room for one; a run used the first."""
    job = {"extra_params": {"evidence": ["Leave has 15 days.", "It is asked for in writing."]}}
    first = here.bundles.build(job)
    second = here.bundles.build(job, policy={"max_items": 1})
    here.bundles.record_run("run/1", first.bundle_id)
    return {"bundle_id": first.bundle_id, "other_bundle_id": second.bundle_id}


@contextmanager
def busy(workers: TaskWorkers, folder: Path) -> Iterator[None]:
    """Keep the only worker busy while the block lasts: it opens a pipe that no one writes."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    opening = workers.submit(os.open, str(pipe), os.O_RDONLY)
    try:
        yield
    finally:
        os.close(os.open(pipe, os.O_WRONLY))
        opening.result()


@contextmanager
def doing_jobs(house: House) -> Iterator[None]:
    """Have the jobs of a house done, too."""
    runner = Runner(house.running.opened)
    runner.start()
    try:
        yield
    finally:
        runner.close()


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port of this machine; give its address."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, args=([taken],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        taken.close()
