"""A stub of an OpenFGA server: its HTTP API on loopback, whose answers are the real engine's.

It keeps stores, models and tuples in memory. Every check is answered by OpenFGA's own program
(`fga model test`), every message that comes and goes is held against OpenFGA's description of its
API. It is a stand-in for tests and no server: it keeps nothing, and knows a part of the API.
"""

import json
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import openfga_api
from evidentia.access.openfga_client import OpenFgaClient, OpenFgaServer, shipped_model
from openfga_api import Method, RefusedError

AT = "2026-03-01T12:00:00Z"
MOST_CHECKS, MOST_TUPLES = 50, 100
Tuple = dict[str, Any]
Key = tuple[str, str, str]
_PART_OF_API = {
    "Check",
    "BatchCheck",
    "Write",
    "Read",
    "ListStores",
    "CreateStore",
    "GetStore",
    "WriteAuthorizationModel",
    "ReadAuthorizationModels",
    "ReadAuthorizationModel",
}


class Refused(Exception):  # noqa: N818 - an answer
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class Store:
    name: str
    models: dict[str, Any] = field(default_factory=dict)
    tuples: dict[Key, Tuple] = field(default_factory=dict)


class Engine:
    """OpenFGA's own program. What it said of a question is remembered."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._known: dict[str, bool | str] = {}
        self._numbers = count()
        self.runs = 0

    def answers(self, model: Any, tuples: list[Tuple], asked: list[Tuple]) -> list[bool | str]:
        """Return for each check whether it is allowed, or what is wrong with it."""
        said = json.dumps([model, tuples], sort_keys=True)
        names = [said + json.dumps(one, sort_keys=True) for one in asked]
        new = {n: one for n, one in zip(names, asked, strict=True) if n not in self._known}
        if new:
            checks = [
                {
                    "user": one["tuple_key"]["user"],
                    "object": one["tuple_key"]["object"],
                    "context": one.get("context", {}),
                    "assertions": {one["tuple_key"]["relation"]: True},
                }
                for one in new.values()
            ]
            results = self._run(model, tuples, checks)
            for name, result in zip(new, results, strict=True):
                self._known[name] = result
        return [self._known[name] for name in names]

    def problem(self, model: Any, tuples: list[Tuple]) -> str | None:
        """Say why the engine takes no such tuples, or no such model; None if it does."""
        asked = [{"user": "user:nobody", "object": "tenant:nothing", "assertions": {}}]
        try:
            self._run(model, tuples, asked)
        except Refused as refused:
            return str(refused)
        return None

    def _run(self, model: Any, tuples: list[Tuple], checks: list[Any]) -> list[bool | str]:
        self.runs += 1
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")
        dsl = self._call(folder, "transform", "--file", "model.json", "--input-format", "json")
        if dsl.returncode:
            raise Refused(400, "invalid_authorization_model", dsl.stderr.strip()[:500])
        store = {"model": dsl.stdout, "tuples": tuples, "tests": [{"name": "t", "check": checks}]}
        (folder / "s.fga.yaml").write_text(json.dumps(store), encoding="utf-8")
        done = self._call(folder, "test", "--tests", "s.fga.yaml", "--verbose")
        if not done.stdout.startswith("["):
            said = (done.stderr or done.stdout).strip()[:500]
            raise Refused(400, "validation_error", said)
        return [
            str(one["error"]) if one["error"] else bool(one["got"])
            for one in json.loads(done.stdout)[0]["check_results"] or []
        ]

    def _call(self, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self._program, "model", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": str(folder)},
        )


class Stub:
    """What the stub keeps, and what it was asked."""

    def __init__(self, program: str, folder: Path) -> None:
        self.engine = Engine(program, folder)
        self.stores: dict[str, Store] = {}
        self.asked: Counter[str] = Counter()
        self.wrong: list[str] = []
        """What a client said, or this stub, that is not as the description says."""
        self.token: str | None = None
        self.failing: Callable[[str], int | None] = lambda _: None
        """Gives the status by which a method is refused, if it is."""
        self.page = MOST_TUPLES
        self.url = ""
        self._lock = threading.Lock()
        self._ids = count(1)

    def client(self, **more: Any) -> OpenFgaClient:
        """Return a client, with a store that has our model, and no tuples."""
        store_id, model_id = self._new_id(), self._new_id()
        self.stores[store_id] = Store("evidentia", {model_id: shipped_model()})
        return OpenFgaClient(
            OpenFgaServer(url=self.url, store_id=store_id, model_id=model_id, **more)
        )

    def tuples(self, client: OpenFgaClient) -> set[str]:
        """Return the tuples of a client's store, as text."""
        rows = self.stores[client.server.store_id].tuples.values()
        return {f"{one['object']}#{one['relation']}@{one['user']}" for one in rows}

    def answer(self, verb: str, target: str, token: str, body: bytes) -> tuple[int, Any]:
        with self._lock:
            try:
                return self._answer(verb, target, token, body)
            except Refused as refused:
                return refused.status, {"code": refused.code, "message": str(refused)}

    def _answer(self, verb: str, target: str, token: str, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(target)
        if self.token is not None and token != f"Bearer {self.token}":
            raise Refused(401, "bearer_token_missing", "missing bearer token")
        for method in openfga_api.methods():
            found = method.path.fullmatch(parts.path)
            if found and method.verb == verb and method.name in _PART_OF_API:
                query: dict[str, Any] = dict(parse_qsl(parts.query))
                said = json.loads(body) if body else {}
                return self._do(method, {**query, **said, **found.groupdict()})
        raise Refused(404, "undefined_endpoint", f"{verb} {parts.path}: no such endpoint")

    def _do(self, method: Method, fields: dict[str, Any]) -> tuple[int, Any]:
        self.asked[method.name] += 1
        status = self.failing(method.name)
        if status is not None:
            raise Refused(status, "internal_error", "as the test wants it")
        try:
            openfga_api.message(method.request, fields)
        except RefusedError as error:
            self.wrong.append(f"{method.name}: {error}")
            raise Refused(
                400, "validation_error", f"invalid {method.name}Request.{error}"
            ) from None
        told = getattr(self, f"_{method.name}")(fields)
        try:
            said = openfga_api.as_json(method.response, told)
        except RefusedError as error:
            self.wrong.append(f"{method.response}: {error}")
            raise Refused(500, "internal_error", str(error)) from None
        return 201 if method.name in ("CreateStore", "WriteAuthorizationModel") else 200, said

    def _new_id(self) -> str:
        return f"01STBB{next(self._ids):020d}"

    def _store(self, fields: dict[str, Any]) -> Store:
        if fields["store_id"] not in self.stores:
            raise Refused(404, "store_id_not_found", "Store ID not found")
        return self.stores[fields["store_id"]]

    def _model(self, fields: dict[str, Any]) -> Any:
        models = self._store(fields).models
        name = fields.get("authorization_model_id") or next(reversed(models), "")
        if name not in models:
            raise Refused(400, "authorization_model_not_found", f"Model '{name}' not found")
        return models[name]

    def _ListStores(self, fields: dict[str, Any]) -> Any:  # noqa: N802 - as the API calls it
        rows = [self._shown(one) for one in self.stores]
        page, token = self._paged(rows, fields)
        return {"stores": page, "continuation_token": token}

    def _shown(self, store_id: str) -> Any:
        name = self.stores[store_id].name
        return {"id": store_id, "name": name, "created_at": AT, "updated_at": AT}

    def _CreateStore(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        store_id = self._new_id()
        self.stores[store_id] = Store(fields["name"])
        return self._shown(store_id)

    def _GetStore(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        self._store(fields)
        return self._shown(fields["store_id"])

    def _WriteAuthorizationModel(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        store, model_id = self._store(fields), self._new_id()
        model = {name: one for name, one in fields.items() if name != "store_id"}
        if (problem := self.engine.problem(model, [])) is not None:
            raise Refused(400, "invalid_authorization_model", problem)
        store.models[model_id] = model
        return {"authorization_model_id": model_id}

    def _ReadAuthorizationModels(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        rows = [{"id": one, **model} for one, model in self._store(fields).models.items()][::-1]
        page, token = self._paged(rows, fields)
        return {"authorization_models": page, "continuation_token": token}

    def _ReadAuthorizationModel(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        model = self._model({**fields, "authorization_model_id": fields["id"]})
        return {"authorization_model": {"id": fields["id"], **model}}

    def _paged(self, rows: list[Any], fields: dict[str, Any]) -> tuple[list[Any], str]:
        begin = int(fields.get("continuation_token") or 0)
        end = begin + min(self.page, int(fields.get("page_size", 50)))
        return rows[begin:end], str(end) if end < len(rows) else ""

    def _Read(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        key = fields.get("tuple_key") or {}
        user, relation, on = (key.get(name, "") for name in ("user", "relation", "object"))
        if key and (not on or (on.endswith(":") and not user)):
            raise Refused(
                400, "validation_error", "the 'tuple_key' needs an object, or a type and a user"
            )
        rows = [
            {"key": one, "timestamp": AT}
            for (is_user, is_relation, is_on), one in self._store(fields).tuples.items()
            if user in ("", is_user)
            and relation in ("", is_relation)
            and (on in ("", is_on) or (on.endswith(":") and is_on.startswith(on)))
        ]
        page, token = self._paged(rows, fields)
        return {"tuples": page, "continuation_token": token}

    def _Write(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        store, model = self._store(fields), self._model(fields)
        writes = (fields.get("writes") or {}).get("tuple_keys", [])
        deletes = (fields.get("deletes") or {}).get("tuple_keys", [])
        keys = [_key(one) for one in (*writes, *deletes)]
        if not keys or len(keys) > MOST_TUPLES:
            raise Refused(400, "exceeded_entity_limit", f"{len(keys)} tuples in one request")
        if len(keys) > len(set(keys)):
            raise Refused(
                400, "cannot_allow_duplicate_tuples_in_one_request", "a tuple is in it twice"
            )
        changed = dict(store.tuples)
        for one in deletes:
            if changed.pop(_key(one), None) is None:
                raise Refused(
                    400, "write_failed_due_to_invalid_input", f"{_key(one)} does not exist"
                )
        for one in writes:
            if _key(one) in changed:
                raise Refused(
                    400, "write_failed_due_to_invalid_input", f"{_key(one)} already exists"
                )
            changed[_key(one)] = one
        if writes and (problem := self.engine.problem(model, writes)) is not None:
            raise Refused(400, "validation_error", problem)
        store.tuples = changed
        return {}

    def _Check(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        (found,) = self._found(fields, [fields])
        if isinstance(found, str):
            raise Refused(400, "validation_error", found)
        return {"allowed": found}

    def _BatchCheck(self, fields: dict[str, Any]) -> Any:  # noqa: N802
        checks = fields["checks"]
        ids = [one["correlation_id"] for one in checks]
        if len(checks) > MOST_CHECKS or len(ids) > len(set(ids)):
            raise Refused(400, "validation_error", "too many checks, or one correlation_id twice")
        found = self._found(fields, checks)
        return {
            "result": {
                identity: {"error": {"input_error": "validation_error", "message": one}}
                if isinstance(one, str)
                else {"allowed": one}
                for identity, one in zip(ids, found, strict=True)
            }
        }

    def _found(self, fields: dict[str, Any], checks: list[Any]) -> list[bool | str]:
        model, store = self._model(fields), self._store(fields)
        asked = [
            {"tuple_key": one["tuple_key"], "context": one.get("context", {})} for one in checks
        ]
        return self.engine.answers(model, list(store.tuples.values()), asked)


def _key(one: Tuple) -> Key:
    return one["user"], one["relation"], one["object"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Stub

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        token = self.headers.get("authorization", "")
        status, said = self.stub.answer(self.command, self.path, token, body)
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's
        pass


@contextmanager
def openfga_stub(program: str) -> Iterator[Stub]:
    """Run a stub for as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        stub = Stub(program, Path(folder))
        handler = type("Handler", (_Handler,), {"stub": stub})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        stub.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
