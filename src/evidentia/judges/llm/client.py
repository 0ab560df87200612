"""Posting to a language model, with bounds on time, size and the number of attempts.

No redirect is followed, no proxy and no password is taken from the environment. What goes wrong is
told in a value, without the key.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.judges.llm.endpoint import LanguageModel
from evidentia.judges.llm.judge import Posted
from evidentia.judges.llm.wire import headers_of, key_headers, path_of, refusal_of
from evidentia.language.counting import counted

if TYPE_CHECKING:
    import httpx2

MAX_REPLY_BYTES: Final = 2**20
_AGAIN: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
"""The answers after which the same request may be answered otherwise."""
_READ: Final = frozenset((200, 400, 413, 422))
_FIRST_PAUSE: Final = 0.5
_LONGEST_CONNECTING: Final = 10.0
_INSTALL: Final = "the llm judge needs an HTTP client: pip install 'evidentia[llm]'"


class Client:
    """Posts requests to one model; `sleep` and `clock` are the machine's unless given."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            import httpx2  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError(_INSTALL) from None
        self._http = httpx2
        self._model = model
        self._sleep = sleep
        self._clock = clock
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(
                model.timeout_seconds, connect=min(_LONGEST_CONNECTING, model.timeout_seconds)
            ),
            limits=httpx2.Limits(max_keepalive_connections=0),  # nothing stays open
            trust_env=False,
            follow_redirects=False,
        )

    def post(self, body: Mapping[str, Any]) -> Posted:
        """Post a request, again where that may help; give what came of the last attempt."""
        model = self._model
        data = canonical_json(dict(body))
        for attempt in range(1, model.attempts):
            posted, wait = self._attempt(data, attempt)
            if wait is None:
                return posted
            if wait > model.longest_wait_seconds:
                asks = f"asks to wait {wait:,.0f} seconds, {model.longest_wait_seconds:g} at most"
                return replace(posted, problem=f"{posted.problem}; it {asks}")
            self._sleep(wait)
        return self._attempt(data, model.attempts)[0]

    def _attempt(self, data: bytes, attempt: int) -> tuple[Posted, float | None]:
        """Post once; return what came, and how long to wait before it may help to post again."""
        pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), self._model.longest_wait_seconds)
        times = f"after {counted(attempt, 'attempt')}"
        try:
            status, reply, after = self._once(data)
        except self._http.TimeoutException:
            seconds = f"{self._model.timeout_seconds:g} seconds"
            return Posted(problem=f"no answer within {seconds}, {times}", attempts=attempt), pause
        except self._http.TransportError as error:
            said = self._model.hidden(" ".join(str(error).split()))[:200]
            why = f"no connection ({said or type(error).__name__}), {times}"
            return Posted(problem=why, attempts=attempt), pause
        except _TooLargeError:
            why = f"the reply has more than {MAX_REPLY_BYTES:,} bytes"
            return Posted(problem=why, attempts=attempt), None
        if status in _READ:
            return Posted(status, reply, attempts=attempt), None
        said = self._model.hidden(refusal_of(reply))
        why = f"it answered {status}, {times}" + (f": {said}" if said else "")
        posted = Posted(status, problem=why, attempts=attempt)
        if status not in _AGAIN:
            return posted, None
        asked = self._asked_to_wait(after)
        return posted, pause if asked is None else asked

    def _once(self, data: bytes) -> tuple[int, bytes, str]:
        """Return status, body and the header that says when to come back."""
        model = self._model
        until = self._clock() + model.timeout_seconds
        headers = {**headers_of(model), "accept-encoding": "identity"}
        with self._client.stream(
            "POST", path_of(model), content=data, headers=headers, auth=self._signed
        ) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_REPLY_BYTES:
                    raise _TooLargeError
                if self._clock() > until:
                    raise self._http.ReadTimeout("too slow")
            return response.status_code, bytes(body), response.headers.get("retry-after", "")

    def _signed(self, request: "httpx2.Request") -> "httpx2.Request":
        """Put the key on a request, and nowhere else."""
        request.headers.update(key_headers(self._model))
        return request

    def _asked_to_wait(self, header: str) -> float | None:
        """Return the seconds that a Retry-After header asks for; None if it asks for none."""
        if header.isascii() and header.isdigit():
            return float(header[:9])
        try:
            at = parsedate_to_datetime(header)
        except ValueError:
            return None
        if at.tzinfo is None:
            return None
        now = datetime.now(UTC)  # noqa: TID251 - the header names a time
        return max((at - now).total_seconds(), 0.0)


class _TooLargeError(Exception):
    """A reply is too large to be an answer."""
