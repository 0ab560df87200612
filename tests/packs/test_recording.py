import asyncio
import functools
import gc
import sys
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from evidentia import ToolCallRecord, ToolVerificationLedger, deciding, recorded_tool
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.packs.clock import now
from evidentia.packs.recording import MAX_RECORDED, MAX_RECORDED_IN_ALL, current_trace_id
from evidentia.packs.tools import ToolOutcome, VerificationStatus
from evidentia.trail.entry import MAX_BODY_BYTES
from packs.making import pack

EMAIL = "omar.saleh@example.com"
CARD = "4111 1111 1111 1111"
API_KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
SECRETS = (EMAIL, CARD, API_KEY)


@pytest.fixture
def tools() -> Iterator[ToolVerificationLedger]:
    """Give the ledger of a decision that is being made."""
    with deciding("dec_1", ToolVerificationLedger()) as ledger:
        yield ledger


def only(ledger: ToolVerificationLedger) -> ToolCallRecord:
    (record,) = ledger.calls("dec_1")
    pack(tool_calls=(record,))  # whatever was recorded can be in a pack
    return record


def tool(**how: Any) -> recorded_tool:
    return recorded_tool("crm.read", **{"intended": "retrieve contact {number}", **how})


@tool()
def read(number: int, *, tags: tuple[str, ...] = ("a",)) -> dict[str, Any]:
    return {"id": number, "tags": tags}


@tool()
async def read_later(number: int) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"id": number}


class TestFunctions:
    def test_a_call_is_recorded_and_gives_what_it_gave(self, tools: ToolVerificationLedger) -> None:
        before = now()
        assert read(456) == {"id": 456, "tags": ("a",)}
        record = only(tools)
        assert record.tool_name == "crm.read"
        assert record.intended_action == record.actual_action == "retrieve contact 456"
        assert record.inputs == {"number": 456, "tags": ["a"]}
        assert record.outputs == {"result": {"id": 456, "tags": ["a"]}}
        assert record.outcome is ToolOutcome.SUCCEEDED
        assert record.verification_status is VerificationStatus.UNVERIFIED
        assert record.contradiction_flag is False
        assert record.side_effects == []
        assert record.called_at is not None
        assert before <= record.called_at <= now()
        assert record.duration_ms is not None
        assert record.duration_ms >= 0

    def test_an_async_call_is_recorded_when_it_has_ended(
        self, tools: ToolVerificationLedger
    ) -> None:
        coroutine = read_later(456)
        assert tools.calls("dec_1") == []
        assert asyncio.run(coroutine) == {"id": 456}
        assert only(tools).outputs == {"result": {"id": 456}}
        assert asyncio.iscoroutinefunction(read_later) or sys.version_info >= (3, 14)

    def test_the_function_keeps_its_name_and_its_signature(self) -> None:
        assert read.__name__ == "read"
        assert read_later.__name__ == "read_later"

    def test_what_was_done_can_be_said_by_a_template(self, tools: ToolVerificationLedger) -> None:
        def deleted(number: int) -> dict[str, int]:
            return {"id": number}

        tool(actual="deleted contact {result[id]}")(deleted)(456)
        record = only(tools)
        assert record.actual_action == "deleted contact 456"
        assert record.contradiction_flag is True

    def test_what_was_done_can_be_said_by_a_function(self, tools: ToolVerificationLedger) -> None:
        done = tool(
            actual=lambda result: f"retrieved contact {result}",
            side_effects=lambda result: [f"touched contact id={result}", " "],
        )(lambda number: number)
        done(456)
        record = only(tools)
        assert record.actual_action == "retrieved contact 456"
        assert record.contradiction_flag is False
        assert record.side_effects == ["touched contact id=456"]

    @pytest.mark.parametrize(
        "template",
        ["read {nothing}", "read {}", "read {number", "read {number.name}", "read {number[a]}"],
    )
    def test_a_template_that_does_not_fit_stays_as_it_is(
        self, tools: ToolVerificationLedger, template: str
    ) -> None:
        tool(intended=template, actual=template)(lambda number: number)(456)
        assert only(tools).intended_action == template
        assert only(tools).actual_action == template

    def test_a_template_that_comes_out_blank_stays_as_it_is(
        self, tools: ToolVerificationLedger
    ) -> None:
        tool(intended="{number}")(lambda number: number)("")
        assert only(tools).intended_action == "{number}"

    def test_inputs_are_as_they_were_when_the_tool_was_called(
        self, tools: ToolVerificationLedger
    ) -> None:
        def emptied(items: list[int]) -> list[int]:
            items.clear()
            return items

        tool(intended="clear the list")(emptied)([1, 2])
        record = only(tools)
        assert record.inputs == {"items": [1, 2]}
        assert record.outputs == {"result": []}

    def test_methods_are_recorded_without_their_object(self, tools: ToolVerificationLedger) -> None:
        class Crm:
            @tool()
            def method(self, number: int) -> int:
                return number

            @classmethod
            @tool()
            def of_class(cls, number: int) -> int:
                return number

            @staticmethod
            @tool()
            def static(number: int) -> int:
                return number

        assert (Crm().method(1), Crm.of_class(2), Crm.static(3)) == (1, 2, 3)
        assert [one.inputs for one in tools.calls("dec_1")] == [
            {"number": 1},
            {"number": 2},
            {"number": 3},
        ]

    def test_arguments_of_any_number_are_recorded(self, tools: ToolVerificationLedger) -> None:
        def many(*numbers: int, **named: int) -> int:
            return sum(numbers) + sum(named.values())

        assert tool(intended="add numbers")(many)(1, 2, self=3) == 6
        assert only(tools).inputs == {"numbers": [1, 2], "named": {"self": 3}}

    def test_what_is_called_like_an_async_function_is_one(
        self, tools: ToolVerificationLedger
    ) -> None:
        class Reader:
            async def __call__(self, number: int) -> int:
                return number

        async def with_more(number: int, more: int) -> int:
            return number + more

        reader: Callable[[int], Any] = functools.wraps(with_more)(Reader())
        assert asyncio.run(tool()(reader)(1)) == 1
        assert asyncio.run(tool()(functools.partial(with_more, more=1))(1)) == 2
        assert [one.outputs for one in tools.calls("dec_1")] == [{"result": 1}, {"result": 2}]

    def test_a_generator_is_refused_as_nothing_would_be_known_of_it(self) -> None:
        def numbers() -> Iterator[int]:
            yield 1

        async def later() -> AsyncIterator[int]:
            yield 1

        for generator in (numbers, later):
            with pytest.raises(InputError, match=r"^crm\.read is a generator"):
                tool()(generator)


class TestFailures:
    @pytest.mark.parametrize(
        ("problem", "said"),
        [
            (TimeoutError("no answer"), "TimeoutError: no answer"),
            (ValueError(), "ValueError"),
            (KeyError("456"), "KeyError: '456'"),
            (KeyboardInterrupt(), "KeyboardInterrupt"),
            (SystemExit(3), "SystemExit: 3"),
            (StopIteration(1), "StopIteration: 1"),
            (asyncio.CancelledError(), "CancelledError"),
        ],
    )
    def test_a_failure_is_recorded_and_goes_on(
        self, tools: ToolVerificationLedger, problem: BaseException, said: str
    ) -> None:
        @tool()
        def fails(number: int) -> None:
            raise problem

        with pytest.raises(type(problem)) as caught:
            fails(456)
        assert caught.value is problem
        record = only(tools)
        assert record.outcome is ToolOutcome.FAILED
        assert record.verification_status is VerificationStatus.FAILED
        assert record.error == said
        assert record.actual_action == f"failed: {said}"
        assert record.contradiction_flag is True
        assert record.inputs == {"number": 456}
        assert record.outputs == {}
        assert record.duration_ms is not None

    def test_a_failure_of_an_async_tool_is_recorded_and_goes_on(
        self, tools: ToolVerificationLedger
    ) -> None:
        @tool()
        async def fails(number: int) -> None:
            await asyncio.sleep(0)
            raise TimeoutError("no answer")

        with pytest.raises(TimeoutError, match="no answer"):
            asyncio.run(fails(456))
        assert only(tools).error == "TimeoutError: no answer"

    def test_a_task_that_is_cancelled_is_recorded(self, tools: ToolVerificationLedger) -> None:
        @tool()
        async def waits(number: int) -> None:
            await asyncio.Event().wait()

        async def cancelling() -> None:
            task = asyncio.create_task(waits(456))
            await asyncio.sleep(0)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelling())
        assert only(tools).error == "CancelledError"

    def test_a_call_with_arguments_that_do_not_fit_is_a_failure_too(
        self, tools: ToolVerificationLedger
    ) -> None:
        with pytest.raises(TypeError, match="unexpected keyword argument 'nummer'"):
            read(1, nummer=2)  # type: ignore[call-arg]
        record = only(tools)
        assert record.outcome is ToolOutcome.FAILED
        assert record.inputs == {"1": 1, "nummer": 2}
        assert record.intended_action == "retrieve contact {number}"

    @pytest.mark.parametrize(
        "how",
        [
            {"actual": lambda result: result["missing"]},
            {"side_effects": lambda result: result["missing"]},
        ],
    )
    def test_a_call_that_cannot_be_described_is_recorded_as_one_that_failed(
        self, tools: ToolVerificationLedger, how: dict[str, Any]
    ) -> None:
        with pytest.raises(KeyError):
            tool(**how)(lambda number: {"id": number})(456)
        record = only(tools)
        assert record.error == "KeyError: 'missing'"
        assert record.outputs == {"result": {"id": 456}}

    def test_an_error_that_cannot_be_shown_is_recorded_by_its_name(
        self, tools: ToolVerificationLedger
    ) -> None:
        class OddError(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no text")

        @tool()
        def fails(number: int) -> None:
            raise OddError

        with pytest.raises(OddError):
            fails(456)
        assert only(tools).error == "OddError"

    @pytest.mark.parametrize("said", ["\ud800", "x" * 100_000, "a\0b", "\n" * 9])
    def test_whatever_an_error_says_it_is_recorded(
        self, tools: ToolVerificationLedger, said: str
    ) -> None:
        @tool()
        def fails(number: int) -> None:
            raise RuntimeError(said)

        with pytest.raises(RuntimeError) as caught:
            fails(456)
        assert caught.value.args == (said,)
        error = only(tools).error
        assert error is not None
        assert error.startswith("RuntimeError")
        assert len(error) <= MAX_RECORDED


class TestBlocks:
    def test_a_block_says_what_was_done_in_it(self, tools: ToolVerificationLedger) -> None:
        with recorded_tool("crm.create", intended="create contact 123") as call:
            call.given(name="Riyadh Hospital")
            call.did("created contact 123")
            call.returned(id=123)
            call.returned(status="new")
            call.caused("created contact id=123 in HubSpot", "sent a notice")
            call.verified()
        record = only(tools)
        assert record.tool_name == "crm.create"
        assert record.intended_action == "create contact 123"
        assert record.actual_action == "created contact 123"
        assert record.inputs == {"name": "Riyadh Hospital"}
        assert record.outputs == {"id": 123, "status": "new"}
        assert record.side_effects == ["created contact id=123 in HubSpot", "sent a notice"]
        assert record.verification_status is VerificationStatus.VERIFIED
        assert record.contradiction_flag is False

    def test_a_block_that_says_nothing_did_what_was_meant(
        self, tools: ToolVerificationLedger
    ) -> None:
        with recorded_tool("crm.create", intended="create contact {id}"):
            pass
        record = only(tools)
        assert record.actual_action == "create contact {id}"
        assert record.verification_status is VerificationStatus.UNVERIFIED

    def test_what_was_checked_and_is_not_so_is_refuted(self, tools: ToolVerificationLedger) -> None:
        with recorded_tool("crm.create", intended="create contact 123") as call:
            call.verified(holds=False)
        assert only(tools).verification_status is VerificationStatus.REFUTED

    def test_a_block_that_fails_is_recorded_with_what_was_known(
        self, tools: ToolVerificationLedger
    ) -> None:
        def creates() -> None:
            with recorded_tool("crm.create", intended="create contact 123") as call:
                call.did("created contact 124")
                call.caused("created contact id=124")
                call.verified()
                raise TimeoutError

        with pytest.raises(TimeoutError):
            creates()
        record = only(tools)
        assert record.outcome is ToolOutcome.FAILED
        assert record.verification_status is VerificationStatus.FAILED
        assert record.actual_action == "created contact 124"
        assert record.side_effects == ["created contact id=124"]

    def test_an_async_block_is_recorded(self, tools: ToolVerificationLedger) -> None:
        async def creates() -> None:
            async with recorded_tool("crm.create", intended="create contact 123") as call:
                await asyncio.sleep(0)
                call.returned(id=123)
            async with recorded_tool("crm.delete", intended="delete contact 123"):
                raise PermissionError("not allowed")

        with pytest.raises(PermissionError):
            asyncio.run(creates())
        made, failed = tools.calls("dec_1")
        assert made.outputs == {"id": 123}
        assert failed.error == "PermissionError: not allowed"

    def test_blocks_within_blocks_are_recorded_from_the_inside(
        self, tools: ToolVerificationLedger
    ) -> None:
        shared = recorded_tool("crm", intended="retrieve contacts")
        with shared as outer:
            outer.returned(place="outer")
            with shared as inner, recorded_tool("mail", intended="send mail 1") as mail:
                inner.returned(place="inner")
                mail.returned(place="mail")
                read(1)
        places = [one.outputs.get("place") for one in tools.calls("dec_1")]
        assert places == [None, "mail", "inner", "outer"]

    def test_blocks_that_end_in_another_order_are_not_mixed_up(
        self, tools: ToolVerificationLedger
    ) -> None:
        def listing() -> Iterator[None]:
            with recorded_tool("crm.list", intended="list contacts") as call:
                call.returned(place="list")
                yield

        going = listing()
        next(going)
        with recorded_tool("mail", intended="send mail 1") as mail:
            mail.returned(place="mail")
            assert next(going, None) is None
        assert [(one.tool_name, one.outputs["place"]) for one in tools.calls("dec_1")] == [
            ("crm.list", "list"),
            ("mail", "mail"),
        ]

    @pytest.mark.usefixtures("tools")
    def test_a_block_ends_in_the_context_in_which_it_began(self) -> None:
        block = recorded_tool("crm", intended="retrieve contacts")
        copy_context().run(block.__enter__)
        with pytest.raises(InputError, match="a block ends in the context in which it began"):
            block.__exit__(None, None, None)

    @pytest.mark.usefixtures("tools")
    def test_a_block_leaves_nothing_behind(self) -> None:
        block = recorded_tool("crm", intended="retrieve contacts")
        with block:
            pass
        left = weakref.ref(block)
        del block
        gc.collect()
        assert left() is None


class TestDecisions:
    def test_outside_of_a_decision_the_tool_is_not_run(self) -> None:
        ran: list[int] = []

        @tool()
        def acts(number: int) -> None:
            ran.append(number)

        @tool()
        async def acts_later(number: int) -> None:
            ran.append(number)

        said = "crm.read was called outside of a decision: use `with deciding"
        with pytest.raises(InputError, match=said):
            acts(1)
        with pytest.raises(InputError, match=said):
            asyncio.run(acts_later(1))
        with pytest.raises(InputError, match=said), tool():
            ran.append(2)
        assert ran == []

    def test_a_decision_ends_with_its_block(self) -> None:
        ledger = ToolVerificationLedger()
        with pytest.raises(ZeroDivisionError), deciding("dec_1", ledger):
            raise ZeroDivisionError
        with pytest.raises(InputError, match="outside of a decision"):
            read(1)

    def test_a_decision_within_another_has_its_own_calls(
        self, tools: ToolVerificationLedger
    ) -> None:
        with deciding("dec_2", tools):
            read(2)
        read(1)
        assert [one.inputs["number"] for one in tools.calls("dec_1")] == [1]
        assert [one.inputs["number"] for one in tools.calls("dec_2")] == [2]

    def test_a_tool_may_have_a_decision_of_its_own(self, tools: ToolVerificationLedger) -> None:
        own = ToolVerificationLedger()
        tool(decision_id="dec_9", tool_ledger=own)(lambda number: number)(1)
        assert len(own.calls("dec_9")) == 1
        assert tools.calls("dec_1") == []

    @pytest.mark.parametrize(
        "given", [{"decision_id": "dec_9"}, {"tool_ledger": ToolVerificationLedger()}]
    )
    def test_half_a_decision_is_refused(self, given: dict[str, Any]) -> None:
        with pytest.raises(InputError, match="give both decision_id and tool_ledger, or neither"):
            tool(**given)

    @pytest.mark.parametrize(("name", "intended"), [(" ", "read"), ("crm", ""), ("", "")])
    def test_a_tool_has_a_name_and_something_it_is_meant_to_do(
        self, name: str, intended: str
    ) -> None:
        with pytest.raises(InputError, match="a recorded tool has a name"):
            recorded_tool(name, intended=intended)

    def test_a_call_belongs_to_the_decision_in_which_it_began(self) -> None:
        ledger = ToolVerificationLedger()

        def going() -> Iterator[None]:
            with tool(intended="retrieve contacts"):
                yield

        with deciding("dec_1", ledger):
            block = going()
            next(block)
        assert next(block, None) is None
        assert len(ledger.calls("dec_1")) == 1


class TestAtOnce:
    def test_tasks_begun_in_a_decision_are_recorded_for_it(
        self, tools: ToolVerificationLedger
    ) -> None:
        async def many() -> None:
            await asyncio.gather(*(read_later(number) for number in range(50)))

        asyncio.run(many())
        calls = tools.calls("dec_1")
        assert sorted(one.inputs["number"] for one in calls) == list(range(50))
        assert all(one.outputs["result"]["id"] == one.inputs["number"] for one in calls)

    def test_decisions_at_the_same_time_are_kept_apart(self) -> None:
        ledger = ToolVerificationLedger()
        shared = tool(intended="retrieve contacts")

        async def decide(number: int) -> None:
            with deciding(f"dec_{number}", ledger):
                async with shared as call:
                    await asyncio.sleep(0.001 * (number % 3))
                    call.returned(number=number)
                await read_later(number)

        async def many() -> None:
            await asyncio.gather(*(decide(number) for number in range(20)))

        asyncio.run(many())
        for number in range(20):
            block, function = ledger.calls(f"dec_{number}")
            assert block.outputs == {"number": number}
            assert function.inputs == {"number": number}

    def test_threads_with_the_context_of_a_decision_are_recorded_for_it(
        self, tools: ToolVerificationLedger
    ) -> None:
        async def threads() -> None:
            await asyncio.gather(*(asyncio.to_thread(read, number) for number in range(20)))

        asyncio.run(threads())
        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(copy_context().run, read, number) for number in range(20, 40)]
            assert [job.result()["id"] for job in jobs] == list(range(20, 40))
            stray = pool.submit(read, 40)
            with pytest.raises(InputError, match="outside of a decision"):
                stray.result()
        calls = tools.calls("dec_1")
        assert sorted(one.inputs["number"] for one in calls) == list(range(40))


class TestWhatIsKept:
    @pytest.mark.parametrize("secret", SECRETS)
    def test_what_is_personal_or_secret_is_redacted_wherever_it_is(
        self, tools: ToolVerificationLedger, secret: str
    ) -> None:
        def leaks(number: str) -> dict[str, Any]:
            return {"to": [{"address": f"to {secret} now"}], secret: 1}

        leaking = tool(
            actual="retrieved contact {number}", side_effects=lambda _: [f"wrote to {secret}"]
        )
        leaking(leaks)(secret)
        record = only(tools)
        assert secret not in record.model_dump_json()
        assert record.outputs["result"]["to"][0]["address"].startswith("to ")
        assert record.side_effects[0].startswith("wrote to ")

    @pytest.mark.parametrize("secret", SECRETS)
    def test_errors_are_redacted(self, tools: ToolVerificationLedger, secret: str) -> None:
        @tool()
        def fails(number: int) -> None:
            raise ValueError(f"cannot reach {secret} there")

        with pytest.raises(ValueError, match="cannot reach"):
            fails(1)
        assert secret not in only(tools).model_dump_json()

    def test_the_same_redactor_gives_the_same_names(self, tools: ToolVerificationLedger) -> None:
        same = Redactor(b"a key of the tests, 32 bytes lon")
        for _ in range(2):
            tool(redactor=same)(lambda number: number)(EMAIL)
        first, second = tools.calls("dec_1")
        assert first.inputs == second.inputs

    def test_a_long_text_is_cut_and_the_rest_is_counted(
        self, tools: ToolVerificationLedger
    ) -> None:
        tool()(lambda number: "word " * number)(100_000)
        result = only(tools).outputs["result"]
        assert len(result) <= MAX_RECORDED
        kept, _, rest = result.rpartition("… (")
        assert len(kept) + int(rest.removesuffix(" more characters)")) == 500_000

    def test_a_text_that_just_fits_is_whole(self, tools: ToolVerificationLedger) -> None:
        text = "ab " * (MAX_RECORDED // 3)
        tool()(lambda number: number)(text)
        assert only(tools).outputs["result"] == text

    @pytest.mark.parametrize(
        "value",
        [
            list(range(10_000)),
            {str(number): number for number in range(10_000)},
            ["\x01" * 5_000] * 30,
            {str(number): "\x01" * 5_000 for number in range(30)},
            [[["deep"] * 20] * 20] * 20,
        ],
        ids=["numbers", "mapping", "texts", "mapping of texts", "nested"],
    )
    def test_however_much_a_tool_gives_the_trail_has_room_for_it(
        self, tools: ToolVerificationLedger, value: Any
    ) -> None:
        tool(actual="{result}")(lambda number: number)(value)
        record = only(tools)
        assert "more values)" in record.model_dump_json()
        assert len(canonical_json(record.model_dump(mode="json"))) < MAX_BODY_BYTES
        assert MAX_RECORDED_IN_ALL * 6 * 2 < MAX_BODY_BYTES

    def test_a_value_that_holds_itself_is_recorded(self, tools: ToolVerificationLedger) -> None:
        itself: list[Any] = []
        itself += [itself, itself]
        named: dict[str, Any] = {}
        named["again"] = named
        tool()(lambda number: number)([itself, named])
        assert only(tools)

    @pytest.mark.parametrize(
        ("value", "kept"),
        [
            (None, None),
            (True, True),
            (2**53 - 1, 2**53 - 1),
            (2**53, "9007199254740992"),
            (-(10**30), "-1000000000000000000000000000000"),
            (0.5, 0.5),
            (float("nan"), "nan"),
            (float("-inf"), "-inf"),
            (Decimal("1.5"), "Decimal('1.5')"),
            (b"bytes", "b'bytes'"),
            ("\ud800", "?"),
            ({1: {None: 2}}, {"1": {"None": 2}}),
            (frozenset({1}), [1]),
            (ToolOutcome.FAILED, "failed"),
            (range(2), "range(0, 2)"),
        ],
    )
    def test_what_json_does_not_have_is_recorded_as_text(
        self, tools: ToolVerificationLedger, value: Any, kept: Any
    ) -> None:
        assert tool()(lambda number: number)(value) is value
        record = only(tools)
        assert record.inputs == {"number": kept}
        assert record.outputs == {"result": kept}

    def test_what_cannot_be_shown_is_recorded_by_its_type(
        self, tools: ToolVerificationLedger
    ) -> None:
        @dataclass
        class Odd:
            def __repr__(self) -> str:
                raise RuntimeError("no text")

        odd = Odd()
        assert tool()(lambda number: number)(odd) is odd
        record = only(tools)
        assert record.inputs == {"number": "<Odd>"}
        assert record.intended_action == "retrieve contact {number}"

    @pytest.mark.parametrize("effect", ["x" * 9_000, "\ud800", "deleted a note"])
    def test_side_effects_and_actions_of_any_length_are_recorded(
        self, tools: ToolVerificationLedger, effect: str
    ) -> None:
        with recorded_tool("crm", intended=f"retrieve {effect}") as call:
            call.did(effect)
            call.caused(effect)
        record = only(tools)
        assert len(record.side_effects[0]) <= 4_000
        assert record.intended_action.startswith("retrieve ")


class TestTraces:
    def test_without_a_span_there_is_no_trace(self) -> None:
        assert current_trace_id() is None

    def test_the_trace_is_that_of_the_current_span(self) -> None:
        trace = pytest.importorskip("opentelemetry.trace")
        span = trace.NonRecordingSpan(
            trace.SpanContext(trace_id=0xAF7651916CD43DD8448EB211C80319C, span_id=1, is_remote=True)
        )
        with trace.use_span(span):
            assert current_trace_id() == "0af7651916cd43dd8448eb211c80319c"
            assert pack(trace_id=current_trace_id()).trace_id == current_trace_id()
        assert current_trace_id() is None

    def test_without_opentelemetry_there_is_no_trace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "opentelemetry", None)
        assert current_trace_id() is None
