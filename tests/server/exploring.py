"""Explores the API by its own description: requests of every form, with ids of every kind.

Whatever is asked, no answer is a server's error, one that the description does not have, or one of
another form than it says. `python -m server.exploring --cases N` is the long form.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import (
    FlakyStrategyDefinition,
    HypothesisDeprecationWarning,
    Unsatisfiable,
)
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation.stateful import run_state_machine_as_test

from evidentia.server.app import PREFIX
from places import Place
from postgres import TEMPLATE, PostgresServer, new_folder
from server.house import House, furnish, listening, serving
from server.ids import EXISTING, MISSING

KINDS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
WHO = "admin"
LIMITS = {
    "server_jobs": 1,  # so that jobs end, and with them the streams of their events
    "server_checks_per_minute": 10**9,
    "server_exports_per_minute": 10**9,
    "server_sign_ins_per_minute": 10**9,
}
_SETTINGS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_AT_ONCE = 2_000
"""How many requests come between two lines that say how far it is."""
_STEPS = 6
"""How many operations a path has at most."""
_NOT_HTTP = b"Invalid HTTP request received."
_IDS = st.sampled_from(["there", "there", "there", "missing", "made up"])


@dataclass
class Explored:
    """What came of it: how often each operation answered with which status; what was wrong."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def add(self, more: "Explored") -> None:
        """Count what came of another round, too."""
        for name, counts in more.statuses.items():
            self.statuses.setdefault(name, Counter()).update(counts)
        self.wrong |= more.wrong

    @property
    def cases(self) -> int:
        return sum(counts.total() for counts in self.statuses.values())

    @property
    def never_done(self) -> list[str]:
        """The operations of the API that never did what they are for."""
        return [
            name
            for name, counts in self.statuses.items()
            if name.split()[1].startswith(PREFIX) and not any(status < 300 for status in counts)
        ]


@dataclass(frozen=True)
class Asking:
    """Where requests go, in whose name, with ids of what is there; what answers are held to."""

    url: str
    headers: dict[str, str]
    ids: dict[str, str]
    checks: Any

    def ask(self, case: Any, which: str) -> int:
        """Send a request, with other ids than were made up; return the status."""
        if which != "made up":
            known = self.ids if which == "there" else MISSING
            made_up = case.path_parameters or {}
            case.path_parameters = {name: known.get(name, made_up[name]) for name in made_up}
        answer = case.call(base_url=self.url, headers=self.headers)
        if answer.content == _NOT_HTTP:  # too long an address: the application was not asked
            return int(answer.status_code)
        case.validate_response(answer, checks=self.checks)
        status: int = answer.status_code
        return status


def _asking(house: House, url: str) -> Asking:
    load_all_checks()
    return Asking(
        url,
        {"authorization": f"Bearer {house.tokens[WHO]}"},
        {name: make(house) for name, make in EXISTING.items()},
        CHECKS.get_by_names(list(KINDS)),
    )


def follow(house: House, url: str, *, paths: int, start: int | None = None) -> Explored:
    """Walk so many paths from operation to operation, by the ids that answers have.

    Which operation takes what another one answers is found in the description.
    """
    asking, found = _asking(house, url), Explored()
    schema = schemathesis.openapi.from_dict(house.app.openapi())
    schema.config.update(base_url=url)

    class Following(schema.as_state_machine()):  # type: ignore[misc] # made anew for each description
        rule_order_seed = start

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            del case
            return {"headers": asking.headers}

        def after_call(self, response: Any, case: Any) -> None:
            counts = found.statuses.setdefault(case.operation.label, Counter())
            counts[response.status_code] += 1

        def validate_response(self, response: Any, case: Any, *_: Any, **__: Any) -> None:
            case.validate_response(response, checks=asking.checks)

    walked = settings(
        _SETTINGS, max_examples=paths, stateful_step_count=_STEPS, derandomize=start is not None
    )
    try:
        with _beside_a_server():
            run_state_machine_as_test(Following, settings=walked)
    except FlakyStrategyDefinition:
        pass  # what is there to follow depends on what was answered: this walk ends here
    except (Exception, FailureGroup) as error:  # noqa: BLE001 - told with all others
        found.wrong[f"a path ({start})"] = _said(error)
    return found


def explore(house: House, url: str, *, each: int, start: int = 0) -> Explored:
    """Ask so many requests of every operation in an admin's name, half of them with bad data."""
    asking, found = _asking(house, url), Explored()
    for result in schemathesis.openapi.from_dict(house.app.openapi()).get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        counts = found.statuses.setdefault(operation.label, Counter())
        for mode in GenerationMode:
            cases = operation.as_strategy(generation_mode=mode)
            test = given(cases, _IDS)(_counting(asking, counts))
            try:
                with _beside_a_server():
                    seed(start)(settings(_SETTINGS, max_examples=each // 2 + 1)(test))()
            except Unsatisfiable:
                continue  # it takes nothing that could be wrong
            except (Exception, FailureGroup) as error:  # noqa: BLE001 - told with all others
                found.wrong[f"{operation.label} ({mode.value})"] = _said(error)
    return found


@contextmanager
def _beside_a_server() -> Iterator[None]:
    """Let others use the `random` module: jobs do, in threads, while requests are made up."""
    with catch_warnings():
        simplefilter("ignore", HypothesisDeprecationWarning)
        yield


def _said(error: BaseException) -> str:
    """Return what an error says, with those that are inside it."""
    inside: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return "\n".join([f"{type(error).__name__}: {error}", *map(_said, inside)])


def _counting(asking: Asking, counts: Counter[int]) -> Callable[[Any, str], None]:
    def ask(case: Any, which: str) -> None:
        counts[asking.ask(case, which)] += 1

    return ask


@contextmanager
def _house(postgres: PostgresServer | None) -> Iterator[House]:
    """Give a new house, on a database of this server or on the embedded one."""
    with tempfile.TemporaryDirectory(prefix="evidentia-") as folder, ExitStack() as databases:

        def database(copied: str | None = None) -> str | None:
            if postgres is None:
                return None
            return databases.enter_context(postgres.fresh_database(copied or TEMPLATE))

        first = Place(Path(folder) / "furnished" / "home", database())
        first.home.folder.parent.mkdir()
        if first.is_sqlite:
            first.open()
            first.close()
        furniture = furnish(first)
        place = Place(Path(folder) / "home", database(furniture.database))
        with serving(place, furniture, **LIMITS) as house:
            yield house


@contextmanager
def _postgres(on: str) -> Iterator[PostgresServer | None]:
    if on == "sqlite":
        yield None
        return
    server = PostgresServer(new_folder())
    server.ensure_started()
    try:
        yield server
    finally:
        server.stop()


def main() -> int:
    """Explore, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many requests in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on", choices=["sqlite", "postgresql"], default="sqlite")
    asked = parser.parse_args()
    with _postgres(asked.on) as postgres:
        return _explored(asked, postgres)


def _explored(asked: argparse.Namespace, postgres: PostgresServer | None) -> int:
    found, start, followed = Explored(), asked.seed, 0
    told: set[str] = set()
    while found.cases < asked.cases:  # some operations take few forms: go on with others
        left = min(_AT_ONCE, asked.cases - found.cases)
        with _house(postgres) as house, listening(house.app) as url:
            operations = sum(len(methods) for methods in house.app.openapi()["paths"].values())
            found.add(explore(house, url, each=-(-left // (2 * operations)), start=start))
        with (
            _house(postgres) as house,
            listening(house.app) as url,
        ):  # with all that the first took away
            walked = follow(house, url, paths=max(1, left // (2 * _STEPS)))
        found.add(walked)
        followed += walked.cases
        start += 1
        for name, says in found.wrong.items():
            if name not in told:
                sys.stderr.write(f"WRONG: {name}\n{says}\n")
        told |= set(found.wrong)
        sys.stderr.write(f"{found.cases:,} cases, {len(found.wrong)} wrong so far\n")
    lines = [
        f"{name}: {', '.join(f'{n} answered {status}' for status, n in sorted(counts.items()))}"
        for name, counts in found.statuses.items()
    ]
    lines += [f"\nWRONG: {name}\n{says}" for name, says in found.wrong.items()]
    lines += [f"never done: {name}" for name in found.never_done]
    links = f"{followed:,} of them by what was answered before"
    lines += [f"{found.cases:,} cases, {links}, {len(found.wrong)} wrong", ""]
    sys.stdout.write("\n".join(lines))
    return 1 if found.wrong or found.never_done else 0


if __name__ == "__main__":
    sys.exit(main())
