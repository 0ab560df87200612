from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.bundles.redaction.redactor import Redactor
from evidentia.canonical import canonical_json
from evidentia.integrations.redacting import redacted_addendum, redacted_run
from evidentia.integrations.run import Addendum, Citation, Loss, ModelCall, Retrieval, Run, ToolCall
from evidentia.integrations.seen import evidence_of
from evidentia.integrations.values import Plain

RUN_ID = f"run_{'a' * 32}"
CALL = ToolCall(call_id="1", name="t")


class Silent:
    """An object that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_a_value_that_fits_stays_as_it_is() -> None:
    taking = Plain(1_000)
    value = {"a": [1, 2.5, True, None, "نص"], "b": {}}
    assert taking.of(value) == value
    assert (taking.cut, taking.dropped, taking.told) == (0, 0, 0)


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (2**60, str(2**60)),
        (float("nan"), "nan"),
        (Silent(), "<Silent>"),
        ("a\0\ud800", "a\ufffd?"),
        ({1: "x"}, {"1": "x"}),
    ],
)
def test_what_json_has_not_is_told_as_text(value: Any, made: Any) -> None:
    assert Plain(1_000).of(value) == made


def test_what_is_too_long_is_cut_between_characters_and_counted() -> None:
    taking = Plain(20)
    assert taking.of("ن" * 20) == f"{'ن' * 6}…"
    assert taking.cut == 28
    many = Plain(50)
    assert len(many.of(list(range(100)))) + many.dropped == 100
    named = Plain(50)
    assert len(named.of({str(number): number for number in range(100)})) + named.dropped == 100


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_every_value_becomes_canonical_and_the_same_each_time(value: Any) -> None:
    once = Plain(500).of(value)
    assert canonical_json(once) == canonical_json(Plain(500).of(value))


def test_two_events_of_a_kind_have_different_ids() -> None:
    with pytest.raises(ValidationError, match="two events of kind tool have the call_id '1'"):
        Run(name="a", events=[CALL, CALL])
    assert Run(name="a", events=[CALL, Retrieval(call_id="1")]).tool_calls == (CALL,)


def test_an_addendum_has_something_to_add_and_an_id_of_what_it_is() -> None:
    with pytest.raises(ValidationError, match="it has neither"):
        Addendum(run_id=RUN_ID)
    one = Addendum(run_id=RUN_ID, events=[CALL])
    other = Addendum(run_id=RUN_ID, losses=[Loss(what="x", why="not_seen")])
    assert one.addendum_id == one.model_copy().addendum_id != other.addendum_id


def test_the_id_of_a_run_follows_from_all_that_it_is() -> None:
    run = Run(name="a", events=[CALL])
    assert run.run_id == Run.model_validate(run.model_dump(mode="json")).run_id
    assert run.run_id != run.model_copy(update={"query": "q"}).run_id
    assert run.decision_id is None


def test_all_texts_of_an_event_are_redacted_but_the_ids_of_passages() -> None:
    private = "noura@example.com"
    events = [
        ToolCall(call_id="1", name="t", arguments={private: [private]}, effect={"action": private}),
        Retrieval(call_id="2", contexts=[private, {"id": private, "text": private}]),
    ]
    redactor = Redactor(b"0" * 32)
    run = redacted_run(Run(name="a", events=events), redactor)
    assert private not in run.events[0].model_dump_json()
    assert run.retrievals[0].contexts == ["[EMAIL_1]", {"id": private, "text": "[EMAIL_1]"}]
    later = redacted_addendum(Addendum(run_id=RUN_ID, events=events[:1]), redactor)
    assert private not in later.model_dump_json()
    assert later.run_id == RUN_ID


def test_citations_are_of_the_same_words_of_an_answer_that_is_redacted() -> None:
    answer = "Ask noura@example.com. It is so."
    cited = [
        Citation(source="a", start=0, end=22),
        Citation(source="b", start=23, end=len(answer)),
        Citation(source="c", start=23, end=len(answer) + 7),
        Citation(source="d"),
    ]
    redactor = Redactor(b"k" * 16)
    run = redacted_run(Run(name="a", answer=answer, citations=cited), redactor)
    made = run.answer or ""
    first, second, beyond, unplaced = run.citations
    assert made[first.start : first.end] == "Ask [EMAIL_1]."
    assert made[second.start : second.end] == "It is so."
    assert (beyond.end, unplaced.start) == (len(made) + 7, None)
    plain = Run(name="a", answer="It is so.", citations=[Citation(source="a", start=0, end=5)])
    assert redacted_run(plain, redactor).citations == plain.citations


def test_a_message_is_kept_once_however_many_requests_carry_it() -> None:
    asked = [{"role": "user", "content": str(number)} for number in range(4)]
    calls = [
        ModelCall(call_id=str(number), provider="p", model="m", messages=asked[:number])
        for number in range(5)
    ]
    again = ModelCall(call_id="x", provider="p", model="m", messages=[asked[3], asked[0]])
    text = ModelCall(call_id="y", provider="p", model="m", messages="hello")
    items = evidence_of(Run(name="a", events=[*calls, again, text, CALL]), RUN_ID)
    assert [one["kind"] for one in items].count("message") == 5
    assert '"messages":[[3,3],[0,0]]' in items[-2]["text"]
    assert '"messages":[]' in items[6]["text"]
