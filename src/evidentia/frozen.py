"""JSON values that cannot be changed, and the model base that is made of them.

What a caller does later to what it passed in does not reach a frozen value. To its users a frozen
value is the `dict` or `list` it was made from; only what would change it raises.
"""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema, ErrorDetails

MAX_DEPTH = 100


Item = TypeVar("Item")


def _refusal(kind: str) -> Callable[..., NoReturn]:
    def refuse(*_given: Any, **_named: Any) -> NoReturn:
        raise TypeError(
            f"a frozen {kind} cannot be changed: make a copy with {kind}(…), and change that"
        )

    return refuse


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed and that equals the mapping it was made from."""

    __slots__ = ()

    def __new__(cls, items: Mapping[str, Any] | None = None) -> Self:
        """Make it whole: nothing can be added later."""
        made = super().__new__(cls)
        dict.update(made, items or {})
        return made

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        """Leave what was made as it is: `dict` would add to it."""

    __setitem__ = __delitem__ = __ior__ = _refuse = _refusal("dict")
    clear = pop = popitem = setdefault = update = _refuse
    __setattr__ = __delattr__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # what cannot be changed has one
        return hash(frozenset(self.items()))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Item]):
    """A list that cannot be changed and that equals the list or tuple it was made from."""

    __slots__ = ()

    def __new__(cls, items: Iterable[Item] = ()) -> Self:
        """Make it whole: nothing can be added later."""
        made = super().__new__(cls)
        list.extend(made, items)
        return made

    def __init__(self, items: Iterable[Item] = ()) -> None:
        """Leave what was made as it is: `list` would fill it again."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse = _refusal("list")
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __setattr__ = __delattr__ = _refuse

    def __eq__(self, other: object) -> bool:
        return super().__eq__(list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # what cannot be changed has one
        return hash(tuple(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type["FrozenList[Item]"], tuple[list[Item]]]:
        return FrozenList, (list(self),)


def freeze(value: Any) -> Any:
    """Return a frozen copy of a JSON value; raise `ValueError` saying what is none, and where."""
    return _freeze(value, "", 0)


def thaw(value: Any) -> Any:
    """Return a plain copy (dicts and lists) of a frozen value."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value]


def _freeze(value: Any, where: str, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return _freeze_scalar(value, where)
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        frozen = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where or 'value'}: key {key!r} is not text")  # noqa: TRY004 - pydantic turns ValueError alone into its own
            frozen[str.__str__(key)] = _freeze(item, f"{where}.{key}", depth + 1)
        return FrozenDict(frozen)
    if isinstance(value, list | tuple):
        return FrozenList(
            _freeze(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)
        )
    raise ValueError(
        f"{where or 'value'}: {type(value).__name__} is not a JSON value; give it as text"
    )


def _freeze_scalar(value: str | float | None, where: str) -> str | float | None:
    """Return the value as the built-in type it is of: a subclass could carry what changes."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if not isfinite(value):
        raise ValueError(f"{where or 'value'}: {value} is not a number that JSON has")
    return float(value)


FrozenObject = Annotated[dict[str, Any], AfterValidator(freeze), PlainSerializer(thaw)]
"""A field that takes any JSON object and holds it frozen."""

FrozenObjects = Annotated[list[dict[str, Any]], AfterValidator(freeze), PlainSerializer(thaw)]
"""A field that takes a list of JSON objects and holds them frozen."""

FrozenItems = Annotated[list[Item], AfterValidator(FrozenList)]
"""A field that takes a list of what cannot be changed either, and holds it frozen."""


def all_problems(error: ValidationError, model: type[BaseModel], named: str) -> str:
    """Say all that is wrong with what was given for a model, and where, on one line.

    Fields that are missing come first, by their names.
    """
    found = error.errors()
    missing = [".".join(map(str, one["loc"])) for one in found if one["type"] == "missing"]
    others = [_problem(one, model, named) for one in found if one["type"] != "missing"]
    lacking = [f"{named} lacks {', '.join(missing)}"] if missing else []
    return "; ".join((*lacking, *others))


def first_problem(error: ValidationError, model: type[BaseModel], named: str) -> str:
    """Say the first thing that is wrong with what was given for a model, and where, on one line."""
    return _problem(error.errors()[0], model, named)


def _problem(first: "ErrorDetails", model: type[BaseModel], named: str) -> str:
    place = ".".join((named, *map(str, first["loc"])))
    if first["type"] == "extra_forbidden":
        wrong = str(first["loc"][-1])
        alike = get_close_matches(wrong, model.model_fields, 1)
        return f"{place}: there is no such field" + (f"; is it {alike[0]}?" if alike else "")
    if first["type"] in ("model_type", "model_attributes_type"):
        return f"{place}: must be an object"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"


class FrozenModel(BaseModel):
    """A model that cannot be changed; a copy with changes is validated like a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the changes applied and validated."""
        del deep  # frozen to the bottom: there is nothing a shallow copy could share unsafely
        return self.model_validate({**dict(self), **(update or {})})


class LaterFields(FrozenModel):
    """A model some of whose fields came later: where they are None, they are not written."""

    later: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: "CoreSchema", handler: GetJsonSchemaHandler
    ) -> "JsonSchemaValue":
        """Describe what is written as what is read: pydantic sees no fields in a serializer."""
        return handler({**core_schema, "serialization": None})

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        return {
            name: value
            for name, value in written.items()
            if value is not None or name not in self.later
        }
