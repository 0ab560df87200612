"""Files and answers from web servers, with bounds on time and size.

No redirect is followed, no proxy and no password is taken from the environment, and nothing that
is asked for twice comes from a cache.
"""

import re
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.urls import normal_url

if TYPE_CHECKING:
    import httpx2

SECONDS: Final = 30.0
"""How long one answer may take, where no other time is said."""
_LONGEST_CONNECTING: Final = 10.0
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_INSTALL: Final = "asking a web server needs an HTTP client: pip install 'evidentia[witness]'"
_NOT_THERE: Final = (404, 410)
_GOOD: Final = 200
_REDIRECTS: Final = range(300, 400)


class Answer(NamedTuple):
    """What a server answered: the status, the content type, the body."""

    status: int
    kind: str
    body: bytes


def is_url(text: str) -> bool:
    """Whether a text is meant as a URL, and not as the name of a file."""
    return _SCHEME.match(text) is not None


def web_url(text: str) -> str:
    """Return the one way to write where a server's files are; raise `InputError` for what is none.

    >>> web_url("HTTPS://LOG.example.com:443/acme/")
    'https://log.example.com/acme'
    """
    return normal_url(text, example="https://log.example.com/acme", instead="leave them out")


class Web:
    """A web server's files below a URL; `clock` is the machine's unless given."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = web_url(url)
        try:
            import httpx2  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError(_INSTALL) from None
        self._http = httpx2
        self._seconds = seconds
        self._clock = clock
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(seconds, connect=min(_LONGEST_CONNECTING, seconds)),
            trust_env=False,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, path: str, limit: int) -> bytes | None:
        """Return a file of at most so many bytes; None if it is not there.

        Raise `EnvironmentProblem` if the server can't be reached or answers something else, and
        `InputError` for a file that is larger.
        """
        answer = self._ask("GET", path, limit)
        if answer.status in _NOT_THERE:
            return None
        if answer.status in _REDIRECTS:
            raise EnvironmentProblem(
                f"{self.url}/{path}: the server sends elsewhere (status {answer.status}), and no "
                "redirect is followed: give the URL where the files are"
            )
        if answer.status != _GOOD:
            raise EnvironmentProblem(f"{self.url}/{path}: the server answered {answer.status}")
        return answer.body

    def post(self, path: str, data: bytes, limit: int) -> Answer:
        """Return what a server answers to bytes; raise `EnvironmentProblem` if it doesn't."""
        return self._ask("POST", path, limit, data)

    def _ask(self, method: str, path: str, limit: int, data: bytes | None = None) -> Answer:
        where = f"{self.url}/{path}"
        try:
            return self._once(method, where, limit, data)
        except self._http.TimeoutException:
            raise EnvironmentProblem(
                f"{where}: no answer within {self._seconds:g} seconds"
            ) from None
        except self._http.TransportError as error:
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise EnvironmentProblem(f"{where}: no connection ({said})") from None
        except self._http.InvalidURL:
            raise InputError(f"{where}: no URL that can be asked") from None

    def _once(self, method: str, where: str, limit: int, data: bytes | None) -> Answer:
        until = self._clock() + self._seconds
        headers = {"accept-encoding": "identity", "user-agent": "evidentia"}
        with self._client.stream(method, where, content=data, headers=headers) as response:
            self._refuse_encoded(response)
            body = bytearray()
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > limit:
                    raise InputError(f"{where}: larger than the {limit:,} bytes that are read")
                if self._clock() > until:
                    raise self._http.ReadTimeout("too slow")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return Answer(response.status_code, kind, bytes(body))

    def _refuse_encoded(self, response: "httpx2.Response") -> None:
        """Raise `EnvironmentProblem` for an answer that is packed: it was not asked for."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EnvironmentProblem(
                f"{response.url}: the server packs its files, and was asked not to"
            )
