"""OpenFGA's published API description, and whether messages are as it says.

The description is the protocol buffers of `openfga.v1`, with their HTTP paths and their rules. It
is read from OpenFGA's own program, which carries it: it is of the same version as the engine.
"""

import re
import shutil
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import Message

SERVICE = "openfga.v1.OpenFGAService"
_BEGINS = re.compile(rb"\x0a(.)([a-zA-Z0-9_/.-]+\.proto)\x12", re.DOTALL)
_ENDS = b"b\x06proto3"
_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14})
_FILE = "openfga/v1/openfga_service.proto"


def program() -> str | None:
    """Return where OpenFGA's own program is, which holds the real engine; None if nowhere."""
    return shutil.which("fga", path=sysconfig.get_path("scripts")) or shutil.which("fga")


@dataclass(frozen=True)
class Method:
    """What can be asked of OpenFGA: how, where, and what it is called."""

    name: str
    verb: str
    path: re.Pattern[str]
    request: str
    response: str


class RefusedError(Exception):
    """A message is not as the description says."""


@cache
def pool() -> Any:
    """Return the description, as the program carries it."""
    found = program()
    assert found is not None
    data = Path(found).resolve().read_bytes()
    files = {}
    for begin in _BEGINS.finditer(data):
        if begin[1][0] == len(begin[2]):
            file = descriptor_pb2.FileDescriptorProto()
            file.ParseFromString(data[begin.start() : _end(data, begin.start())])
            files[file.name] = file
    pooled, done = descriptor_pool.DescriptorPool(), set[str]()

    def add(name: str) -> None:
        if name not in done:
            done.add(name)
            for needed in files[name].dependency:
                add(needed)
            pooled.Add(files[name])

    add(_FILE)
    return pooled


def _end(data: bytes, at: int) -> int:
    """Return where the description of a file ends that begins here."""
    while True:
        tag, after = _varint(data, at)
        if tag >> 3 not in _FIELDS or tag & 7 not in (0, 2):
            return at
        size, after = _varint(data, after)
        at = after + (size if tag & 7 == 2 else 0)
        if data[at - len(_ENDS) : at] == _ENDS:
            return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return found, at


def _options(of: Any, kind: str) -> Any:
    made = message_factory.GetMessageClass(pool().FindMessageTypeByName(kind))()
    made.ParseFromString(of.GetOptions().SerializeToString())
    return made


@cache
def methods() -> tuple[Method, ...]:
    """Return all that can be asked, as the description has it."""
    http = pool().FindExtensionByName("google.api.http")
    found = []
    for one in pool().FindServiceByName(SERVICE).methods:
        rule = _options(one, "google.protobuf.MethodOptions").Extensions[http]
        verb = rule.WhichOneof("pattern")
        path = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", getattr(rule, verb))
        request, response = one.input_type.full_name, one.output_type.full_name
        found.append(Method(one.name, verb.upper(), re.compile(path), request, response))
    return tuple(found)


def message(kind: str, fields: Any) -> Any:
    """Return a message; raise `RefusedError` for a field or a value that it may not have."""
    found = _read(kind, fields)
    for problem in _problems(found, ""):
        raise RefusedError(problem)
    return found


def _read(kind: str, fields: Any) -> Any:
    made = message_factory.GetMessageClass(pool().FindMessageTypeByName(kind))()
    try:
        json_format.ParseDict(fields, made, ignore_unknown_fields=False, descriptor_pool=pool())
    except json_format.ParseError as error:
        raise RefusedError(str(error)) from None
    return made


def as_json(kind: str, fields: Any) -> dict[str, Any]:
    """Return what a server says, as one that follows the description writes it."""
    found: dict[str, Any] = json_format.MessageToDict(
        message(kind, fields),
        always_print_fields_with_no_presence=True,
        descriptor_pool=pool(),
    )
    return found


def _problems(of: Message, where: str) -> Iterator[str]:
    """Give what the rules of the description say against a message, and all that is in it."""
    for field in of.DESCRIPTOR.fields:
        name = f"{where}.{field.name}".lstrip(".")
        yield from _of_field(of, field, name)
        if field.message_type is None or field.message_type.full_name.startswith("google."):
            continue
        value: Any = getattr(of, field.name)
        for place, one in _within(of, field, value):
            yield from _problems(one, f"{name}{place}")


def _within(of: Message, field: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Give the messages in a field, with where they are in it."""
    if field.message_type.GetOptions().map_entry:
        if field.message_type.fields_by_name["value"].message_type is not None:
            yield from ((f"[{key}]", value[key]) for key in value)
    elif field.is_repeated:
        yield from ((f"[{place}]", one) for place, one in enumerate(value))
    elif of.HasField(field.name):
        yield "", value


def _of_field(of: Message, field: Any, name: str) -> Iterator[str]:
    options = _options(field, "google.protobuf.FieldOptions")
    rules = options.Extensions[pool().FindExtensionByName("validate.rules")]
    value: Any = getattr(of, field.name)
    if rules.message.required and not of.HasField(field.name):
        yield f"{name}: value is required"
    match rules.WhichOneof("type"):
        case "string" if not field.is_repeated:
            yield from _of_text(rules.string, value, name)
        case "int32" if of.HasField(field.name):
            yield from _of_number(rules.int32, value.value, name)
        case "repeated":
            yield from _of_list(rules.repeated, value, name)


def _of_text(rule: Any, value: str, name: str) -> Iterator[str]:
    if rule.ignore_empty and not value:
        return
    if rule.HasField("pattern") and not re.search(rule.pattern, value):
        yield f"{name}: value does not match regex pattern {rule.pattern!r}"
    if rule.HasField("max_bytes") and len(value.encode()) > rule.max_bytes:
        yield f"{name}: value length must be at most {rule.max_bytes} bytes"
    if getattr(rule, "in") and value not in getattr(rule, "in"):
        yield f"{name}: value must be in list {list(getattr(rule, 'in'))}"


def _of_number(rule: Any, value: int, name: str) -> Iterator[str]:
    if not rule.gte <= value <= rule.lte:
        yield f"{name}: value must be inside range [{rule.gte}, {rule.lte}]"


def _of_list(rule: Any, value: Any, name: str) -> Iterator[str]:
    if rule.HasField("min_items") and len(value) < rule.min_items:
        yield f"{name}: value must contain at least {rule.min_items} item(s)"
    if rule.HasField("max_items") and len(value) > rule.max_items:
        yield f"{name}: value must contain no more than {rule.max_items} item(s)"
