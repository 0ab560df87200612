import copy
import json
import math
import pickle
from collections import UserDict
from collections.abc import Callable, Mapping
from enum import IntEnum, StrEnum
from importlib import import_module
from typing import Any, ClassVar, Self

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError, model_validator

from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.references import ResultReference
from evidentia.canonical import canonical_json
from evidentia.frozen import (
    MAX_DEPTH,
    FrozenDict,
    FrozenList,
    FrozenModel,
    FrozenObject,
    FrozenObjects,
    LaterFields,
    all_problems,
    first_problem,
    freeze,
    thaw,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


class Note(FrozenModel):
    title: str
    details: FrozenObject
    steps: FrozenObjects | None = None


class Word(StrEnum):
    YES = "yes"


class Count(IntEnum):
    THREE = 3


CHANGES_OF_DICTS: list[Callable[[Any], object]] = [
    lambda frozen: frozen.__setitem__("a", 2),
    lambda frozen: frozen.__delitem__("a"),
    lambda frozen: frozen.__ior__({"a": 2}),
    lambda frozen: frozen.clear(),
    lambda frozen: frozen.pop("a"),
    lambda frozen: frozen.pop("b", None),
    lambda frozen: frozen.popitem(),
    lambda frozen: frozen.setdefault("b", 2),
    lambda frozen: frozen.update(a=2),
    lambda frozen: frozen.update({"a": 2}),
    lambda frozen: setattr(frozen, "a", 2),
    lambda frozen: delattr(frozen, "a"),
]
CHANGES_OF_LISTS: list[Callable[[Any], object]] = [
    lambda frozen: frozen.__setitem__(0, 3),
    lambda frozen: frozen.__setitem__(slice(None), []),
    lambda frozen: frozen.__delitem__(0),
    lambda frozen: frozen.__iadd__([3]),
    lambda frozen: frozen.__imul__(2),
    lambda frozen: frozen.append(3),
    lambda frozen: frozen.clear(),
    lambda frozen: frozen.extend([3]),
    lambda frozen: frozen.insert(0, 3),
    lambda frozen: frozen.pop(),
    lambda frozen: frozen.remove(1),
    lambda frozen: frozen.reverse(),
    lambda frozen: frozen.sort(key=None),
    lambda frozen: setattr(frozen, "a", 2),
    lambda frozen: delattr(frozen, "a"),
]


@pytest.mark.parametrize("change", CHANGES_OF_DICTS)
def test_a_frozen_dict_refuses_every_change(change: Callable[[Any], object]) -> None:
    frozen = freeze({"a": 1})
    with pytest.raises(TypeError, match=r"a frozen dict cannot be changed: make a copy with dict"):
        change(frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize("change", CHANGES_OF_LISTS)
def test_a_frozen_list_refuses_every_change(change: Callable[[Any], object]) -> None:
    frozen = freeze([1, 2])
    with pytest.raises(TypeError, match=r"a frozen list cannot be changed: make a copy with list"):
        change(frozen)
    assert frozen == [1, 2]


def test_making_a_frozen_value_again_changes_nothing() -> None:
    mapping, sequence = freeze({"a": 1}), freeze([])
    mapping.__init__({"b": 2})
    sequence.__init__([1])
    assert (mapping, sequence) == ({"a": 1}, [])


@pytest.mark.parametrize("kind", [FrozenDict, FrozenList])
def test_no_method_that_changes_is_forgotten(kind: type) -> None:
    changing = set(vars(kind.__base__)) - set(dir(tuple if kind is FrozenList else Mapping))
    keeping = {"__or__", "__ror__", "__reversed__", "copy", "fromkeys"}
    assert changing - keeping <= set(vars(kind))


def test_frozen_values_are_lists_and_dicts_to_their_users() -> None:
    frozen = freeze({"steps": [{"status": "ACTIVE"}]})
    assert isinstance(frozen, dict)
    assert isinstance(frozen["steps"], list)
    assert isinstance(frozen["steps"][0], dict)
    assert json.dumps(frozen) == '{"steps": [{"status": "ACTIVE"}]}'
    assert json.dumps(frozen, indent=1) == json.dumps(thaw(frozen), indent=1)
    assert orjson.dumps(frozen) == b'{"steps":[{"status":"ACTIVE"}]}'
    assert canonical_json(frozen) == canonical_json(thaw(frozen))


def test_what_is_made_of_frozen_values_can_be_changed() -> None:
    frozen = freeze({"steps": [1]})
    longer = frozen["steps"] + [2]
    assert (longer, type(longer)) == ([1, 2], list)
    assert [0] + frozen["steps"] == [0, 1]
    wider = frozen | {"more": 2}
    assert (wider, type(wider)) == ({"steps": [1], "more": 2}, dict)
    for copied in (frozen.copy(), frozen["steps"].copy(), frozen["steps"][:], sorted([1])):
        assert type(copied) in (list, dict)
        copied.clear()
    assert frozen == {"steps": [1]}


def test_freezing_reaches_the_bottom() -> None:
    frozen: Any = freeze({"a": [{"b": [1]}]})
    with pytest.raises(TypeError):
        frozen["a"][0]["b"] = 2
    with pytest.raises(TypeError):
        frozen["a"][0]["b"][0] = 2
    assert frozen == {"a": [{"b": [1]}]}


def test_what_the_caller_does_later_does_not_reach_a_frozen_value() -> None:
    inner = {"status": "ACTIVE"}
    given_value = {"list": [inner], "tuple": (inner,)}
    frozen = freeze(given_value)
    inner["status"] = "HACKED"
    given_value["list"].append({})  # type: ignore[attr-defined]
    assert frozen == {"list": [{"status": "ACTIVE"}], "tuple": ({"status": "ACTIVE"},)}


def test_a_mapping_frozen_by_itself_is_a_copy_too() -> None:
    given_value = {"a": 1}
    frozen = FrozenDict(given_value)
    given_value["a"] = 2
    assert frozen == {"a": 1}


def test_a_frozen_mapping_is_read_like_the_dict_it_was() -> None:
    frozen = freeze({"b": 1, "a": [2]})
    assert list(frozen) == ["b", "a"]
    assert len(frozen) == 2
    assert frozen["a"] == [2]
    assert frozen.get("c") is None
    assert "b" in frozen
    assert repr(frozen) == "{'b': 1, 'a': [2]}"
    assert FrozenDict() == {}
    with pytest.raises(KeyError):
        frozen["c"]


def test_a_frozen_list_equals_lists_and_tuples_of_the_same_items_and_nothing_else() -> None:
    frozen = freeze([1, {"a": 2}])
    assert frozen == [1, {"a": 2}]
    assert [1, {"a": 2}] == frozen  # noqa: SIM300 - both directions are promised
    assert frozen == (1, {"a": 2})
    assert not frozen != [1, {"a": 2}]  # noqa: SIM202 - the operator itself is looked at
    assert frozen != [1]
    assert frozen != [1, {"a": 3}]
    assert frozen != "1"


@settings(max_examples=50)
@given(JSON)
def test_any_frozen_value_equals_what_it_was_made_from_and_thaws_to_it(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert value == frozen
    assert thaw(frozen) == value
    assert type(thaw(frozen)) is type(value)
    assert hash(frozen) == hash(freeze(copy.deepcopy(value)))
    assert pickle.loads(pickle.dumps(frozen)) == frozen


def test_thawing_gives_plain_values_that_are_nobody_elses() -> None:
    frozen = freeze({"a": [{"b": 1}]})
    plain = thaw(frozen)
    plain["a"][0]["b"] = 2
    assert type(plain["a"]) is list
    assert type(plain["a"][0]) is dict
    assert frozen == {"a": [{"b": 1}]}


def test_equal_values_have_equal_hashes_whatever_their_order() -> None:
    first, second = freeze({"a": 1, "b": [2]}), freeze({"b": [2], "a": 1})
    assert first == second
    assert len({first, second}) == 1


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_of_frozen_values_are_equal_and_frozen(duplicate: Any) -> None:
    for value in ({"a": {"b": [1]}}, [{"a": 1}]):
        copied = duplicate(freeze(value))
        assert copied == value
        assert isinstance(copied, FrozenDict | FrozenList)


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}]])
def test_copying_a_frozen_value_copies_nothing(value: Any) -> None:
    frozen = freeze(value)
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen


def test_a_pickled_value_comes_back_frozen() -> None:
    back = pickle.loads(pickle.dumps(freeze({"a": [{"b": 1}]})))
    assert isinstance(back, FrozenDict)
    assert isinstance(back["a"], FrozenList)
    assert isinstance(back["a"][0], FrozenDict)


def test_subclasses_of_json_types_become_the_types_themselves() -> None:
    frozen = freeze({Word.YES: [Word.YES, Count.THREE, True, None, UserDict({"a": 0.5})]})
    assert frozen == {"yes": ["yes", 3, True, None, {"a": 0.5}]}
    assert [type(item) for item in frozen["yes"]] == [str, int, bool, type(None), FrozenDict]
    assert type(next(iter(frozen))) is str


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": [1, {2}]}, r"\.a\[1\]: set is not a JSON value; give it as text"),
        (b"x", "value: bytes is not a JSON value"),
        ({1: 2}, "value: key 1 is not text"),
        ({"a": {None: 2}}, r"\.a: key None is not text"),
        ([math.nan], r"\[0\]: nan is not a number that JSON has"),
        ({"a": -math.inf}, r"\.a: -inf is not a number that JSON has"),
        (math.inf, "value: inf is not a number"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(value: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        freeze(value)


def test_nesting_is_limited() -> None:
    value: Any = {}
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert freeze(value) == value
    with pytest.raises(ValueError, match="nested more than 100 levels deep"):
        freeze([value])


def test_a_model_cannot_be_changed_and_holds_its_values_frozen() -> None:
    steps = [{"a": [1]}]
    note: Any = Note(title="x", details={"k": {"n": 1}}, steps=steps)
    steps[0]["a"].append(2)
    with pytest.raises(ValidationError, match="frozen"):
        note.title = "y"
    with pytest.raises(ValidationError, match="frozen"):
        del note.title
    with pytest.raises(TypeError):
        note.details["k"]["n"] = 2
    assert note.steps == [{"a": [1]}]
    assert note.details == {"k": {"n": 1}}


def test_a_model_is_dumped_as_plain_values_and_read_back_from_them() -> None:
    note = Note(title="x", details={"k": [1]}, steps=[{"a": None}])
    dumped = note.model_dump()
    assert dumped == {"title": "x", "details": {"k": [1]}, "steps": [{"a": None}]}
    assert type(dumped["details"]) is dict
    assert type(dumped["steps"]) is list
    assert Note.model_validate(dumped) == note
    assert Note.model_validate_json(note.model_dump_json()) == note
    assert Note(title="x", details=note.details, steps=note.steps) == note


def test_a_model_takes_no_unknown_field() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Note.model_validate({"title": "x", "details": {}, "unknown": 1})


def test_a_value_that_is_not_json_is_a_validation_error() -> None:
    with pytest.raises(ValidationError, match="set is not a JSON value"):
        Note(title="x", details={"a": {1}})


@pytest.mark.parametrize("steps", ["text", {"a": 1}, [1], 5])
def test_a_list_of_objects_is_nothing_else(steps: Any) -> None:
    with pytest.raises(ValidationError):
        Note(title="x", details={}, steps=steps)


def test_a_copy_with_changes_is_validated_and_leaves_the_original() -> None:
    note = Note(title="x", details={"a": 1})
    changed = note.model_copy(update={"title": "y"})
    assert (note.title, changed.title) == ("x", "y")
    assert changed.details == {"a": 1}
    assert note.model_copy(deep=True) == note
    for update in ({"title": 5}, {"unknown": 1}, {"details": None}):
        with pytest.raises(ValidationError):
            note.model_copy(update=update)


class Pinned(FrozenModel):
    note: Note
    place: str = "wall"


def test_a_copy_takes_what_it_does_not_change_as_it_is() -> None:
    old: Any = {"title": 5, "details": {}}  # as rules once let it pass
    kept = Pinned.model_construct(note=Note.model_construct(**old))
    assert kept.model_copy(update={"place": "door"}).note is kept.note
    with pytest.raises(ValidationError):
        kept.model_copy(update={"note": old})


@pytest.mark.parametrize("module", ["bundles", "documents", "ledger", "packs", "sources"])
def test_no_model_has_a_default_that_can_be_changed(module: str) -> None:
    found = [*vars(import_module(f"evidentia.{module}.model")).values()]
    if module == "bundles":
        found += [EvidencePolicy, ResultReference]
    for model in found:
        if isinstance(model, type) and issubclass(model, FrozenModel):
            for name, field in model.model_fields.items():
                default = field.get_default(call_default_factory=True, validated_data={})
                changeable = isinstance(default, dict | list | set)
                frozen = isinstance(default, FrozenDict | FrozenList)
                assert frozen or not changeable, f"{model.__name__}.{name}"


class Limits(FrozenModel):
    max_items: int = Field(default=1, ge=0)
    max_bytes: int = 1
    notes: tuple[Note, ...] = ()
    inside: Note | None = None

    @model_validator(mode="after")
    def _is_some(self) -> Self:
        if self.max_items == self.max_bytes == 0:
            raise ValueError("nothing at all is no limit")
        return self


@pytest.mark.parametrize(
    ("given_value", "said"),
    [
        ({"max_itms": 1}, "policy.max_itms: there is no such field; is it max_items?"),
        ({"colour": 1}, "policy.colour: there is no such field"),
        ({"max_items": "x", "colour": 1}, "policy.max_items: Input should be a valid integer, "),
        ({"max_items": -1}, "policy.max_items: Input should be greater than or equal to 0"),
        ({"max_items": 0, "max_bytes": 0}, "policy: nothing at all is no limit"),
        ({"notes": [{"title": "a"}]}, "policy.notes.0.details: Field required"),
        ({"notes": [{"title": "a", "details": 3}]}, "policy.notes.0.details: Input should be a "),
        ({"notes": [3]}, "policy.notes.0: must be an object"),
        ({"inside": []}, "policy.inside: must be an object"),
        ([], "policy: must be an object"),
        (None, "policy: must be an object"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named_with_its_place(given_value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate(given_value)
    message = first_problem(caught.value, Limits, "policy")
    assert message.startswith(said)
    assert "\n" not in message


def test_all_that_is_wrong_is_named_what_is_missing_first() -> None:
    given_value = {"max_items": -1, "notes": [{}], "colour": 1}
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate(given_value)
    assert all_problems(caught.value, Limits, "policy") == (
        "policy lacks notes.0.title, notes.0.details; "
        "policy.max_items: Input should be greater than or equal to 0; "
        "policy.colour: there is no such field"
    )
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate({"colour": 1})
    assert all_problems(caught.value, Limits, "policy") == "policy.colour: there is no such field"


def test_an_object_of_attributes_is_no_mapping_either() -> None:
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate(3, from_attributes=True)
    assert first_problem(caught.value, Limits, "policy") == "policy: must be an object"


class Grown(LaterFields):
    later: ClassVar[tuple[str, ...]] = ("note",)

    title: str | None
    note: str | None = None


def test_a_field_that_came_later_is_written_only_where_it_says_something() -> None:
    assert Grown(title=None).model_dump() == {"title": None}
    assert Grown(title="a").model_dump_json() == '{"title":"a"}'
    assert Grown(title="a", note="b").model_dump() == {"title": "a", "note": "b"}
    assert Grown(title="a", note="").model_dump() == {"title": "a", "note": ""}
    for value in (Grown(title=None), Grown(title="a", note="b")):
        assert Grown.model_validate_json(value.model_dump_json()) == value


def test_a_model_without_later_fields_is_written_whole() -> None:
    class Whole(LaterFields):
        title: str | None = None

    assert Whole().model_dump() == {"title": None}


def test_a_model_with_later_fields_is_described_by_its_fields() -> None:
    for mode in ("validation", "serialization"):
        found = Grown.model_json_schema(mode=mode)
        assert (set(found["properties"]), found["required"]) == ({"title", "note"}, ["title"])
