"""A plugin of pytest: an answer that its documents don't support fails its test, and says why.

`assert_supported` and `assert_same_verdicts` are called in tests. Ledgers are kept in a home of
the run's own, or in the one that `--evidentia-home` names, and their ids are in the JUnit file.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from evidentia.workspace import Workspace
    from evidentia.workspace.ledgers import RecordedLedger

FOLDER: Final = "__verdicts__"
PROPERTY: Final = "evidentia_ledger"
_COUNTED: Final = "evidentia_counted"
_UNSAFE: Final = re.compile(r"[^\w.-]+")
_LONGEST_NAME: Final = 120
_DIGEST: Final = 8


class _Run:
    """What one run of the tests has: its options, its workspace, and the test that is at it."""

    def __init__(self, config: pytest.Config) -> None:
        self.updates: bool = config.getoption("evidentia_update")
        kept: str = config.getoption("evidentia_home") or config.getini("evidentia_home")
        self.home: str | None = kept or None
        self.judges: list[str] | None = config.getini("evidentia_judges") or None
        self.tests: list[pytest.Item] = []
        self.compared = 0
        self.checked = 0
        self.failed = 0
        self._workspace: Workspace | None = None
        self._folder: Any = None

    @property
    def item(self) -> pytest.Item:
        """The test that is at it."""
        return self.tests[-1]

    @property
    def workspace(self) -> "Workspace":
        """The run's workspace, opened when it is first asked for."""
        if self._workspace is None:
            from tempfile import TemporaryDirectory  # noqa: PLC0415 - only with a first check

            from evidentia.workspace import open_workspace  # noqa: PLC0415 - the same

            if self.home is None:
                self._folder = TemporaryDirectory(prefix="evidentia-pytest-")
            self._workspace = open_workspace(self.home or Path(self._folder.name) / "home")
        return self._workspace

    def close(self) -> None:
        """Close the workspace, and take its folder away if it was the run's own."""
        if self._workspace is not None:
            self._workspace.close()
        if self._folder is not None:
            self._folder.cleanup()


_RUN: Final[pytest.StashKey[_Run]] = pytest.StashKey()
_running: list[_Run] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the plugin's options."""
    group = parser.getgroup("evidentia", "answers and what supports them")
    group.addoption(
        "--evidentia-update",
        dest="evidentia_update",
        action="store_true",
        help="write the verdicts that assert_same_verdicts compares with anew",
    )
    group.addoption(
        "--evidentia-home",
        dest="evidentia_home",
        metavar="DIR",
        help="keep ledgers in this home of Evidentia (a folder that goes with the run, if none)",
    )
    parser.addini("evidentia_home", "the home in which ledgers are kept")
    parser.addini("evidentia_judges", "who judges claims (all that are installed)", type="args")


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run."""
    run = _Run(config)
    config.stash[_RUN] = run
    _running.append(run)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it."""
    run = config.stash.get(_RUN, None)
    if run is not None:
        _running.remove(run)
        run.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Know which test is at it: its properties take the ledgers' ids."""
    run = item.config.stash[_RUN]
    run.tests.append(item)
    run.compared = 0
    try:
        return (yield)
    finally:
        run.tests.pop()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker of pytest-xdist has counted to the process that tells it."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        run = session.config.stash[_RUN]
        told[_COUNTED] = (run.checked, run.failed)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Count what a worker of pytest-xdist has checked; one that crashed has told nothing."""
    run = node.config.stash[_RUN]
    checked, failed = getattr(node, "workeroutput", {}).get(_COUNTED, (0, 0))
    run.checked += checked
    run.failed += failed


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many answers were checked, if any was."""
    run = config.stash[_RUN]
    if run.checked:
        from evidentia.language.counting import counted  # noqa: PLC0415 - only after a check

        kept = f"; their ledgers are in {run.home}" if run.home else ""
        terminalreporter.write_line(
            f"evidentia: {counted(run.checked, 'answer')} checked, {run.failed} failed{kept}"
        )


@pytest.fixture
def evidentia_workspace(pytestconfig: pytest.Config) -> "Workspace":
    """Give the run's workspace: for what tests ingest themselves, or look up afterwards."""
    return pytestconfig.stash[_RUN].workspace


Against = str | Path | Sequence[str | Path] | None
Contexts = Iterable[Any] | Callable[[str], Any] | None


def assert_supported(
    answer: str,
    *,
    against: Against = None,
    contexts: Contexts = None,
    query: str | None = None,
    judges: Sequence[Any] | None = None,
    weak: bool = True,
) -> "RecordedLedger":
    """Fail the test unless the documents support each claim of an answer; return its ledger.

    `against` are files and folders, `contexts` the passages that a model was given; the documents
    of the run's workspace, if neither is named. A weak claim passes unless `weak` is false.
    """
    __tracebackhide__ = True
    run = _current()
    ledger = _check(run, answer, against, {"contexts": contexts, "query": query, "judges": judges})
    from evidentia.integrations.telling import HOLDS, not_among, told  # noqa: PLC0415 - the same
    from evidentia.ledger.model import Verdict  # noqa: PLC0415 - the same

    wrong = not_among(ledger, HOLDS if weak else {Verdict.SUPPORTED})
    if wrong:
        run.failed += 1
        pytest.fail(told(ledger, wrong), pytrace=False)
    return ledger


def assert_same_verdicts(
    answer: str,
    *,
    against: Against = None,
    contexts: Contexts = None,
    query: str | None = None,
    judges: Sequence[Any] | None = None,
) -> "RecordedLedger":
    """Fail the test if a claim's verdict is another than was written down; return the ledger.

    Verdicts are written down beside the test, in `__verdicts__`, by `--evidentia-update`.
    """
    __tracebackhide__ = True
    run = _current()
    file = _verdicts_file(run)
    ledger = _check(run, answer, against, {"contexts": contexts, "query": query, "judges": judges})
    found = [{"claim": one.claim_text, "verdict": one.verdict.value} for one in ledger.entries]
    if run.updates:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", "utf-8")
        return ledger
    problem = _difference(file, found)
    if problem:
        run.failed += 1
        pytest.fail(f"{problem}\nIt is in ledger {ledger.id}.", pytrace=False)
    return ledger


def _current() -> _Run:
    if not _running or not _running[-1].tests:
        raise RuntimeError("it can be called in a test that pytest runs, and nowhere else")
    return _running[-1]


def _check(run: _Run, answer: str, against: Against, how: dict[str, Any]) -> "RecordedLedger":
    """Check an answer, and note its ledger in the properties of the test."""
    chosen: Any = None
    if against is not None:
        places = [against] if isinstance(against, str | os.PathLike) else list(against)
        ingested = [run.workspace.ingest(place) for place in places]
        chosen = [document for one in ingested for document in one.documents]
    judges = how.pop("judges")
    chosen_judges = judges if judges is not None else run.judges
    ledger = run.workspace.check(answer, against=chosen, judges=chosen_judges, **how)
    run.checked += 1
    run.item.user_properties.append((PROPERTY, ledger.id))
    return ledger


def _verdicts_file(run: _Run) -> Path:
    """Return the file of a test's verdicts; a test that asks more than once has several.

    Tests whose names differ have files whose names do, also where a name is no file's.
    """
    run.compared += 1
    within = run.item.nodeid.partition("::")[2].replace("::", ".")
    named = f"{run.item.path.name}.{within}"
    name = _UNSAFE.sub("-", named)
    if name != named or len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(named.encode()).hexdigest()[:_DIGEST]
        name = f"{name[:_LONGEST_NAME].strip('-')}.{digest}"
    more = f".{run.compared}" if run.compared > 1 else ""
    return run.item.path.parent / FOLDER / f"{name}{more}.json"


def _difference(file: Path, found: list[dict[str, str]]) -> str | None:
    """Say how verdicts differ from those that were written down; None if they don't."""
    again = "Run pytest with --evidentia-update to write down what was found."
    try:
        kept: list[dict[str, str]] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return f"No verdicts are written down for this test yet ({file.name}). {again}"
    except ValueError:
        return f"{file} is not JSON. {again}"
    before = {one["claim"]: one["verdict"] for one in kept}
    now = {one["claim"]: one["verdict"] for one in found}
    lines = [
        *(
            f"  {claim}\n    was {before[claim]}, is {now[claim]}"
            for claim in now
            if claim in before and before[claim] != now[claim]
        ),
        *(f"  {claim}\n    is new, {now[claim]}" for claim in now if claim not in before),
        *(f"  {claim}\n    is gone, was {before[claim]}" for claim in before if claim not in now),
    ]
    if not lines:
        return None
    return "\n".join(["The verdicts are other than those that were written down:", *lines, again])
