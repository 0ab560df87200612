"""Many processes append to one log on PostgreSQL: who has not the turn posts, and is told.

Two workspaces that are opened apart stand for two servers: each has a sequencer of its own.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import pytest

from evidentia.errors import (
    ConflictError,
    EnvironmentProblem,
    InputError,
    IntegrityError,
    NotFoundError,
)
from evidentia.store import sequencer
from evidentia.store.answered import kept, outcome_of
from evidentia.store.database import fetch, has_turn, keep_turn, run
from evidentia.store.sequencer import Sequencer
from evidentia.store.sql import inbox, log
from evidentia.store.sql.log import Receipt
from evidentia.trail.posting import maker_of, posting_secret, told
from evidentia.trail.waiting import waiting
from evidentia.workspace import Workspace, acting
from places import Place, record
from postgres import PostgresServer

TURN = "SELECT pg_advisory_lock(hashtextextended('evidentia log default', 0))"
FREE = "SELECT pg_advisory_unlock_all()"
FOREVER = threading.TIMEOUT_MAX
MANY_RECEIPTS = (
    "INSERT INTO trail_receipts (tenant, ticket, until, said) SELECT 'default', to_hex(number), "
    "'2026', '' FROM generate_series(1, 20000) AS number"
)
SCANS = (
    "SELECT relname, seq_scan FROM pg_stat_xact_user_tables "
    "WHERE relname IN ('trail_inbox', 'trail_receipts')"
)


@pytest.fixture
def here(postgres_place: Place) -> Workspace:
    workspace = postgres_place.open()
    workspace.append(record(0))
    return workspace


@pytest.fixture
def there(postgres_place: Place, here: Workspace) -> Workspace:
    workspace = postgres_place.open()
    assert workspace.trail.size == here.trail.size
    return workspace


class Asked:
    """A call in a thread, and what came of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            self.result = call()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.result = error

    def end(self) -> Any:
        self._thread.join(30)
        assert not self._thread.is_alive(), "it still waits"
        return self.result


@contextmanager
def turn_elsewhere(workspace: Workspace) -> Iterator[Callable[[], None]]:
    """Have another process hold the log's turn, which does nothing; give what ends it."""
    with workspace.opened.database.apart() as connection:
        connection.execute(TURN)
        yield lambda: connection.execute(FREE)


def posted_rows(workspace: Workspace) -> int:
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        return int(fetch(connection, "SELECT count(*) FROM trail_inbox")[0][0])


def wait_for_posted(workspace: Workspace, count: int) -> None:
    while posted_rows(workspace) < count:
        threading.Event().wait(0.005)


def receipts_of(workspace: Workspace, ticket: str) -> list[Receipt]:
    """Return the receipts of a ticket once they are there."""
    while (receipts := workspace.trail.receipts(ticket)) is None:
        threading.Event().wait(0.005)
    return receipts


def subjects(workspace: Workspace) -> list[str]:
    return [entry.entry.subject for entry in workspace.trail.entries(kind="evidence_record")]


def test_whoever_has_not_the_turn_posts_and_whoever_takes_it_appends_for_all(
    here: Workspace, there: Workspace
) -> None:
    with turn_elsewhere(here) as free:
        waits = [Asked(partial(there.append, record(n))) for n in (1, 2)]
        wait_for_posted(here, 2)
        assert here.trail.size == 2
        free()
        mine = here.append(record(3))
        others = [one.end() for one in waits]
    assert sorted(receipt.seq for receipt in (mine, *others)) == [2, 3, 4]
    for receipt in (mine, *others):
        assert here.trail.entry(receipt.seq).leaf == receipt.leaf
    assert posted_rows(here) == 0
    assert here.trail.audit().holds


def test_the_receipts_of_one_caller_are_its_own(here: Workspace, there: Workspace) -> None:
    with turn_elsewhere(here) as free:
        one = Asked(lambda: there.trail.append_many([record(n) for n in range(10, 15)]))
        wait_for_posted(here, 1)
        other = Asked(lambda: here.trail.append_many([record(n) for n in range(20, 23)]))
        wait_for_posted(here, 2)
        free()
        found = one.end(), other.end()
    for receipts, first in zip(found, (10, 20), strict=True):
        said = [here.trail.entry(receipt.seq).entry.subject for receipt in receipts]
        assert said == [f"ob-{first + n:04d}" for n in range(len(receipts))]


def test_a_conflict_is_told_to_whoever_posted_it_and_to_no_one_else(
    here: Workspace, there: Workspace
) -> None:
    here.append(record(1), idempotency_key="k")
    with turn_elsewhere(here) as free:
        wrong = Asked(lambda: there.append(record(2), idempotency_key="k"))
        again = Asked(lambda: there.append(record(1), idempotency_key="k"))
        wait_for_posted(here, 1)
        good = Asked(lambda: here.append(record(3)))
        wait_for_posted(here, 2)
        free()
        assert isinstance(wrong.end(), ConflictError)
        assert again.end().repeated
        assert good.end().seq == 3
    assert here.trail.audit().holds


def test_what_was_posted_by_a_process_that_died_is_appended_by_the_next_to_append(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sequencer, "see_to", lambda *_: None)  # it dies right after
    ticket = there.trail.append(record(1), wait=False)
    assert here.trail.size == 2
    assert here.append(record(2)).seq == 3
    assert [receipt.seq for receipt in here.trail.receipts(ticket) or ()] == [2]


def test_a_turn_is_taken_over_once_the_connection_of_whoever_had_it_is_gone(
    here: Workspace, there: Workspace
) -> None:
    with turn_elsewhere(here):
        waits = Asked(lambda: there.append(record(1)))
        wait_for_posted(here, 1)
    assert waits.end().seq == 2  # no one else appends: it took the turn itself


def test_whoever_has_the_turn_and_stops_loses_it(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "TURN_SECONDS", 0.2)
    entered, release = threading.Event(), threading.Event()
    take = inbox.take

    def stopped(*arguments: Any) -> Any:
        if not entered.is_set():
            entered.set()
            release.wait(20)
        return take(*arguments)

    monkeypatch.setattr(inbox, "take", stopped)
    stuck = Asked(lambda: here.append(record(1)))
    assert entered.wait(20)
    assert there.append(record(2)).seq == 2
    release.set()
    assert isinstance(stuck.end(), EnvironmentProblem)
    assert subjects(there) == ["ob-0000", "ob-0002"]


def test_whoever_keeps_the_turn_and_stops_in_the_midst_of_a_commit_loses_it_and_the_log(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "_STOPPED_SECONDS", 0.3)
    entered, release = threading.Event(), threading.Event()
    went_on: list[bool] = []
    lock_head = log.lock_head

    def stopped(*arguments: Any) -> Any:
        head = lock_head(*arguments)
        if threading.current_thread().name == "evidentia-sequencer" and not entered.is_set():
            entered.set()
            went_on.append(release.wait(20))
        return head

    monkeypatch.setattr(log, "lock_head", stopped)
    number = 0
    while not entered.is_set():  # both append, until one of them keeps the turn and stops
        number += 2
        asked = [
            Asked(partial(one.append, record(number + n))) for n, one in enumerate((here, there))
        ]
        entered.wait(0.2)
    other = there if here.opened.sequencer._keepers else here
    assert other.append(record(9_999)).seq > 0
    release.set()
    for each in asked:
        each.end()
    while not went_on:
        threading.Event().wait(0.005)
    assert went_on == [True]
    assert len(set(subjects(other))) == len(subjects(other))
    assert other.trail.audit().holds


def test_whoever_holds_the_log_itself_and_stops_loses_it(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting, "HELD_SECONDS", 0.3)
    entered, release = threading.Event(), threading.Event()

    def stop() -> bool:
        with here.trail._acting.writing():
            entered.set()
            return release.wait(20)

    stuck = Asked(stop)
    assert entered.wait(20)
    there.append(record(1))
    assert not release.is_set()
    release.set()
    assert isinstance(stuck.end(), EnvironmentProblem)
    assert subjects(there) == ["ob-0000", "ob-0001"]


def test_only_whoever_posted_is_told_that_there_is_a_receipt(
    here: Workspace, there: Workspace
) -> None:
    def heard_by(one: Workspace, connection: Any) -> list[str]:
        channel = inbox.channel(one.opened.sequencer._tickets.maker)
        told = connection.notifies(timeout=1, stop_after=1)
        return [notice.payload for notice in told if notice.channel == channel]

    opened = there.opened
    ticket = opened.sequencer.ticket()
    item = waiting("evidence_record", "o", {}, opened.now(), opened.randomness(16))
    with opened.database.apart() as ours, opened.database.apart() as theirs:
        for one, connection in ((here, ours), (there, theirs)):
            connection.execute(f"LISTEN {inbox.channel(one.opened.sequencer._tickets.maker)}")
        with opened.database.of("default").write(sequencing=True) as connection:
            opened.sequencer.post_within(connection, "default", [item], "owner", ticket)
        here.append(record(1))
        (heard,) = heard_by(there, theirs)
        assert heard.startswith(ticket)
        assert heard_by(here, ours) == []


def test_what_is_told_of_a_receipt_is_believed_of_who_signs_alone(
    here: Workspace, there: Workspace
) -> None:
    secret = b"of someone else's"
    wrong = kept([Receipt(99, "ab")])
    with turn_elsewhere(here) as free, here.opened.database.apart() as insider:
        waits = Asked(lambda: there.append(record(1)))
        wait_for_posted(here, 1)
        with here.opened.database.of("default").read() as connection:
            ticket = fetch(connection, "SELECT ticket FROM trail_inbox")[0][0]
        for lie in (told(ticket, wrong, secret), f"{ticket}{wrong}", f"{ticket}{'0' * 64}{wrong}"):
            insider.execute("SELECT pg_notify(%s, %s)", (inbox.channel(maker_of(ticket)), lie))
        threading.Event().wait(0.3)
        assert waits.result is None
        free()
        assert waits.end().seq != 99


def test_what_is_told_goes_in_messages_that_postgresql_takes_and_none_is_empty() -> None:
    ours, theirs = (f"{0:016x}{maker * 8}{0:016x}" for maker in "ab")
    items = [theirs, f"{ours}{'ö' * 3_930}", ours, f"{ours}{'x' * 7_000}", f"{ours}{'x' * 8_000}"]
    messages = list(inbox._messages(items))
    assert messages[0] == (inbox.channel("b" * 8), theirs)
    texts = [text for channel, text in messages[1:] if channel == inbox.channel("a" * 8)]
    assert "\n".join(texts).split("\n") == [*items[1:4], ours], "what is too long is its ticket"
    assert all(0 < len(text.encode()) < 8_000 for _, text in messages)


def test_receipts_are_told_of_with_what_they_say(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    said = inbox.said

    def looking(connection: Any, tenant: str, tickets: Any) -> dict[str, str]:
        looked.extend(tickets)
        return said(connection, tenant, tickets)

    def appended_by_here(*records: Any) -> list[Receipt]:
        there.opened.sequencer._line("default").led_elsewhere = FOREVER
        waits = Asked(lambda: there.trail.append_many(list(records)))
        wait_for_posted(here, 1)
        here.append(record(9))
        found: list[Receipt] = waits.end()
        return found

    with turn_elsewhere(here) as free:
        waits = Asked(lambda: there.append(record(8)))  # which begins to listen
        wait_for_posted(here, 1)
        free()
        assert waits.end()
    monkeypatch.setattr(inbox, "said", looking)
    (receipt,) = appended_by_here(record(1))
    assert here.trail.entry(receipt.seq).entry.subject == "ob-0001"
    assert looked == []
    many = appended_by_here(*(record(100 + number) for number in range(150)))
    assert [one.seq for one in many] == list(range(many[0].seq, many[0].seq + 150))
    assert len(looked) == 1, "what is too long to be told is looked for"


def test_a_receipt_that_no_one_told_of_is_found_all_the_same(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = inbox.answer
    monkeypatch.setattr(inbox, "answer", lambda connection, rows, _: answer(connection, rows))
    with turn_elsewhere(here) as free:
        waits = Asked(lambda: there.append(record(1)))
        wait_for_posted(here, 1)
        free()
        here.append(record(2))
        assert waits.end().seq in {2, 3}


def test_a_pack_of_records_too_large_to_post_waits_for_the_log_itself(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "MOST_POSTED", 2)
    with turn_elsewhere(here):
        assert len(here.trail.append_many([record(n) for n in range(1, 4)])) == 3
    assert here.trail.audit().holds


def test_what_takes_the_log_itself_gets_it_though_others_post_all_the_time(
    here: Workspace, there: Workspace
) -> None:
    ended = threading.Event()

    def post() -> int:
        number = 0
        while not ended.is_set():
            number += 1
            there.append(record(number))
        return number

    posting = [Asked(post) for _ in range(3)]
    for _ in range(5):  # each in a transaction of its own, which takes the head
        here.access.grant("noor", "viewer")
        here.access.revoke("noor", "viewer")
    ended.set()
    posted = sum(one.end() for one in posting)
    assert here.trail.size == 2 + posted + 10
    assert here.trail.audit().holds


def test_the_key_may_be_replaced_while_something_is_posted(
    here: Workspace, there: Workspace
) -> None:
    there.append(record(1))
    with turn_elsewhere(here) as free:
        waits = Asked(lambda: there.append(record(2)))
        wait_for_posted(here, 1)
        here.trail.rotate_key()
        free()
        here.append(record(3))
        receipt = waits.end()
    assert here.trail.entry(receipt.seq).entry.subject == "ob-0002"
    assert sorted(subjects(here)) == [f"ob-{n:04d}" for n in range(4)]
    assert here.trail.audit().holds


def test_a_log_that_refuses_tells_whoever_posted_and_takes_back_what_they_did(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise IntegrityError("the log is not signed")

    with turn_elsewhere(here) as free:
        waits = Asked(lambda: there.append(record(1)))
        wait_for_posted(here, 1)
        monkeypatch.setattr(there.opened.appending, "hold", refuse)
        free()
        assert isinstance(waits.end(), IntegrityError)
    assert posted_rows(here) == 0
    assert subjects(here) == ["ob-0000"]


def test_whoever_waits_too_long_is_told_that_nothing_was_appended(
    here: Workspace, there: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "WAIT_SECONDS", 0.3)
    with turn_elsewhere(here):
        refused = Asked(lambda: there.append(record(1))).end()
    assert isinstance(refused, EnvironmentProblem)
    assert "nothing was" in str(refused)
    assert posted_rows(here) == 0


# Whoever can write to the database


def forge(workspace: Workspace, posted: str, **changes: Any) -> None:
    """Post again what waits under a ticket, with changes."""
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        names = "tenant, ticket, until, entries, content, code"
        marks = ", ".join("?" if name in changes else name for name in names.split(", "))
        run(
            connection,
            f"INSERT INTO trail_inbox ({names}) SELECT {marks} FROM trail_inbox WHERE ticket = ?",
            (*(changes[name] for name in names.split(", ") if name in changes), posted),
        )


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no thread see to what is posted."""
    monkeypatch.setattr(Sequencer, "see_to", lambda *_: None)


@pytest.mark.usefixtures("unseen")
def test_what_an_insider_writes_into_the_inbox_is_never_signed(here: Workspace) -> None:
    ticket = here.trail.append(record(1), wait=False)
    wrong: dict[str, dict[str, Any]] = {
        "1" * 40: {},  # the same under another ticket
        "2" * 40: {"content": b'{"by":"owner","items":[]}'},
        "3" * 40: {"code": b""},
        "4" * 40: {"until": "2999-01-01T00:00:00.000000Z"},
    }
    for another, changes in wrong.items():
        forge(here, ticket, ticket=another, **changes)
    here.append(record(2))
    assert subjects(here) == ["ob-0000", "ob-0001", "ob-0002"]
    for another in wrong:
        with pytest.raises(IntegrityError, match="not by a program that signs this log"):
            here.trail.receipts(another)
    assert posted_rows(here) == 0


@pytest.mark.usefixtures("unseen")
def test_what_was_appended_is_not_appended_again(here: Workspace) -> None:
    ticket = here.trail.append(record(1), wait=False)
    with here.opened.database.of(here.tenant).read() as connection:
        (row,) = fetch(connection, "SELECT * FROM trail_inbox")
    here.append(record(2))
    with here.opened.database.of(here.tenant).write(sequencing=True) as connection:
        run(connection, "INSERT INTO trail_inbox VALUES (?, ?, ?, ?, ?, ?)", row)
    here.append(record(3))
    assert subjects(here) == ["ob-0000", "ob-0001", "ob-0002", "ob-0003"]
    assert [receipt.seq for receipt in here.trail.receipts(ticket) or ()] == [2]


@pytest.mark.usefixtures("unseen")
def test_what_waited_longer_than_its_receipt_is_kept_is_not_appended(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = here.trail.append(record(1), wait=False)
    monkeypatch.setattr(here.opened.sequencer, "_now", lambda: "2999-01-01T00:00:00.000000Z")
    here.append(record(2))
    assert subjects(here) == ["ob-0000", "ob-0002"]
    with pytest.raises(EnvironmentProblem, match="longer than its receipt is kept"):
        here.trail.receipts(ticket)


@pytest.mark.usefixtures("unseen")
def test_a_signer_that_signs_otherwise_each_time_is_not_posted_for(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "evidentia.store.appending.posting_secret",
        lambda _, origin: posting_secret(lambda _: object().__repr__().encode(), origin) and None,
    )
    with turn_elsewhere(here):
        assert here.append(record(1)).seq == 2
        ticket = here.trail.append(record(2), wait=False)
    assert [receipt.seq for receipt in here.trail.receipts(ticket) or ()] == [3]


# Tickets


def test_a_ticket_gives_the_receipts_once_they_are_there(place: Place) -> None:
    workspace = place.open()
    first = workspace.trail.append(record(0), wait=False)
    ticket = workspace.trail.append_many([record(1), record(2)], wait=False)
    receipts = receipts_of(workspace, ticket)
    assert [workspace.trail.entry(one.seq).entry.subject for one in receipts] == [
        "ob-0001",
        "ob-0002",
    ]
    assert place.open().trail.receipts(ticket) == receipts
    assert len(workspace.trail.receipts(first) or ()) == 1
    assert workspace.trail.audit().holds


def test_a_ticket_waits_while_another_has_the_turn(here: Workspace, there: Workspace) -> None:
    with turn_elsewhere(here) as free:
        ticket = there.trail.append(record(1), wait=False)
        assert there.trail.receipts(ticket) is None
        assert here.trail.receipts(ticket) is None
        free()
        receipts_of(there, ticket)
    assert subjects(here) == ["ob-0000", "ob-0001"]


def test_closing_appends_what_was_posted(postgres_place: Place, here: Workspace) -> None:
    workspace = postgres_place.open()
    tickets = [workspace.trail.append(record(n), wait=False) for n in range(1, 6)]
    workspace.close()
    assert all(here.trail.receipts(ticket) for ticket in tickets)
    assert here.trail.size == 7


def test_a_refusal_is_told_by_the_ticket(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(0), idempotency_key="k")
    ticket = ""
    try:
        ticket = workspace.trail.append(record(1), idempotency_key="k", wait=False)
    except ConflictError:
        assert place.is_sqlite  # which appends at once
        return
    with pytest.raises(ConflictError):
        receipts_of(workspace, ticket)


def test_a_ticket_that_is_not_known_is_told(place: Place) -> None:
    workspace = place.open()
    ticket = workspace.trail.append(record(0), wait=False)
    for unknown in ("0" * 40, "no ticket"):
        with pytest.raises(NotFoundError, match="is not known"):
            workspace.trail.receipts(unknown)
    with pytest.raises(NotFoundError, match="of another tenant"):
        place.open("another").trail.receipts(ticket)
    with pytest.raises(InputError, match="no record"):
        workspace.trail.append_many([], wait=False)


def test_old_receipts_are_forgotten(postgres_place: Place) -> None:
    workspace = postgres_place.open()
    ticket = workspace.trail.append(record(0), wait=False)
    assert workspace.trail.receipts(ticket)
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        inbox.forget(connection, "default", "2999-01-01T00:00:00.000000Z")
    with pytest.raises(NotFoundError):
        workspace.trail.receipts(ticket)


@pytest.mark.parametrize("is_kept", [False, True])
def test_postings_are_taken_by_index_whatever_was_known_of_the_tables_sizes(
    postgres: PostgresServer, here: Workspace, *, is_kept: bool
) -> None:
    opened, database = here.opened, here.opened.database.of("default")
    tickets = [opened.sequencer.ticket() for _ in range(200)]
    with database.write(sequencing=True) as connection:
        run(connection, MANY_RECEIPTS)
        for ticket in tickets:
            item = waiting("evidence_record", "o", {}, opened.now(), opened.randomness(16))
            opened.sequencer.post_within(connection, "default", [item], "owner", ticket)
    postgres.execute("ANALYZE", str(opened.database.engine.url.database))
    kept_or_not = (
        database.keeping() if is_kept else nullcontext(partial(database.write, sequencing=True))
    )
    with kept_or_not as begin, begin() as connection:
        assert keep_turn(connection, "t", 5, 5) if is_kept else has_turn(connection, "t", 5)
        found, _ = inbox.take(connection, "default", 100)
        inbox.forget(connection, "default", "2000")
        assert [row.ticket for row in found] == tickets[:100]
        scans = dict(fetch(connection, SCANS))
    assert scans == {"trail_inbox": 0, "trail_receipts": 0}


def test_an_outcome_is_kept_as_it_is() -> None:
    receipts = [Receipt(1, "aa"), Receipt(2, "bb", repeated=True)]
    assert outcome_of(kept(receipts)) == receipts
    refused = outcome_of(kept(ConflictError("it was used before")))
    assert isinstance(refused, ConflictError)
    assert str(refused) == "it was used before"
    assert isinstance(outcome_of('{"problem":"Newer","message":"?"}'), EnvironmentProblem)
