"""A server on this machine that speaks as language models do: well, slowly, wrongly, or lying."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evidentia.judges.llm.endpoint import LanguageModel

KEY = "sk-test-0123456789abcdef"
_ITEM = re.compile(
    r'<evidence-(\d+) id="([^"]+)" type="([^"]+)"[^>]*>\n(.*?)\n</evidence-\1>', re.DOTALL
)


@dataclass(frozen=True)
class Asked:
    """A request as the server got it: the claims by their ids, and the passages."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    @property
    def system(self) -> str:
        return str(
            self.body["system"] if self.is_anthropic else self.body["messages"][0]["content"]
        )

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def claims(self) -> dict[str, str]:
        return {found[2]: found[4] for found in self._items() if found[3] == "inline_text"}

    @property
    def passages(self) -> list[str]:
        return [found[4] for found in self._items() if found[3] == "doc_chunk"]

    def _items(self) -> Iterator[re.Match[str]]:
        return _ITEM.finditer(self.user)


@dataclass(frozen=True)
class Said:
    """What the server answers: a status, a body (text as it is, else JSON), headers, a delay."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    drip: float = 0.0


def verdict(
    claim: str,
    verdict: str = "supported",
    quote: str = "",
    *,
    confidence: float = 0.95,
    reason: str = "it stands there",
) -> dict[str, Any]:
    """Return one verdict as a model gives it."""
    return {
        "claim": claim,
        "verdict": verdict,
        "confidence": confidence,
        "quote": quote,
        "reason": reason,
    }


def reply(asked: Asked, verdicts: Any, *, text: str | None = None, **changes: Any) -> Said:
    """Return an answer in the format that was asked by; `text` is what a model says instead."""
    content = json.dumps({"verdicts": verdicts}) if text is None else text
    if asked.is_anthropic:
        block = (
            {
                "type": "tool_use",
                "id": "t",
                "name": "give_verdicts",
                "input": {"verdicts": verdicts},
            }
            if text is None
            else {"type": "text", "text": text}
        )
        return Said(
            {
                "model": "claude-of-test-1",
                "content": [block],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 1000, "output_tokens": 50},
                **changes,
            }
        )
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return Said(
        {
            "model": "test-1-of-today",
            "choices": [choice],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 50},
            **changes,
        }
    )


def honest(asked: Asked) -> Said:
    """Answer as a simple model would: a passage with all of a claim's words supports it."""
    given = []
    for name, claim in asked.claims.items():
        words = set(re.findall(r"\w+", claim.lower()))
        found = [one for one in asked.passages if words <= set(re.findall(r"\w+", one.lower()))]
        given.append(
            verdict(name, "supported", found[0])
            if found
            else verdict(name, "not_found", confidence=0.9, reason="nothing says so")
        )
    return reply(asked, given)


Respond = Callable[[Asked], Said]


class Server:
    """What was asked, and where."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.asked: list[Asked] = []
        self.respond: Respond = honest

    def model(self, **changes: Any) -> LanguageModel:
        """Return the settings of a model on this server, quick to give up."""
        given = {"timeout_seconds": 5.0, "attempts": 3, "longest_wait_seconds": 0.02, "key": KEY}
        return LanguageModel(**{"url": self.url, "model": "test-1", **given, **changes})


def in_turn(*responses: Respond | Said) -> Respond:
    """Answer with one after the other; the last one again and again."""
    left = list(responses)

    def respond(asked: Asked) -> Said:
        now = left.pop(0) if len(left) > 1 else left[0]
        return now if isinstance(now, Said) else now(asked)

    return respond


@contextmanager
def serving() -> Iterator[Server]:
    """Serve on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            asked = Asked(
                self.path,
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(data),
            )
            server.asked.append(asked)
            said = server.respond(asked)
            time.sleep(said.seconds)
            body = said.body if isinstance(said.body, str | bytes) else json.dumps(said.body)
            sent = body.encode() if isinstance(body, str) else body
            try:
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                if said.drip:
                    for byte in sent:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(said.drip)
                else:
                    self.wfile.write(sent)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its parent's name
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Quiet(("127.0.0.1", 0), Handler) as http:
        server = Server(http.server_address[1])
        thread = threading.Thread(
            target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
