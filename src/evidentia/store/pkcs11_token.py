"""A PKCS #11 token in this process: one session, one call at a time, each within a time limit.

The client begins each library without locks of its own, so that no two threads may be in it at
once. A call that does not return can't be ended: it goes on in a thread, and whoever comes
meanwhile is told that the token is busy. After a fork the child begins the library anew.
"""

import os
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.logs import get_logger
from evidentia.store.pkcs11_uri import Pkcs11Uri

if TYPE_CHECKING:
    from pkcs11 import Attribute, Session, Token

TOKEN_SECONDS: Final = 30.0
INSTALL: Final = "keys in a token need one more package: pip install 'evidentia[pkcs11]'"
_PROBED_BITS: Final = 64
_STALE: Final = (
    "SessionHandleInvalid",
    "SessionClosed",
    "UserNotLoggedIn",
    "ObjectHandleInvalid",
    "KeyHandleInvalid",
)
"""What a token says of a session that it forgot: the next one is opened."""
_RESTARTED: Final = ("DeviceRemoved", "TokenNotPresent", "DeviceError", "GeneralError")
"""What it says when it was taken out or started again: its library is begun anew."""
_SAID: Final = {
    "PinIncorrect": "refuses the PIN, and locks itself after some more wrong ones: correct it",
    "PinInvalid": "refuses the PIN: it has characters that this token does not take",
    "PinLenRange": "refuses the PIN: it is too long or too short to be this token's",
    "PinLocked": "is locked after too many wrong PINs: its security officer unlocks it",
    "PinExpired": "wants a new PIN before it is used: set one with its own tool",
    "UserPinNotInitialized": "has no user PIN yet: set one with its own tool",
    "TokenWriteProtected": "can't be written, and a new key is made in it: let it be written",
    "DeviceMemory": "has no room for another key: remove old ones with its own tool",
    "SessionCount": "has no session left: end programs that use it, or allow it more",
    "TokenNotPresent": "is not in its slot: put it in",
    "DeviceRemoved": "was taken out: put it in",
}
_Result = TypeVar("_Result")
_log = get_logger("store")


class Library:
    """One PKCS #11 library in one process, which all tokens in it share."""

    _all: "dict[tuple[int, str], Library]" = {}  # noqa: RUF012 - one for each process and file
    _making = threading.Lock()

    def __init__(self, path: str) -> None:
        self.path = path
        self.began = 0
        self.logins: dict[int, tuple[bytes, Session]] = {}
        self.salt = os.urandom(16)
        self._free = threading.Lock()
        self._client: Any = None

    @classmethod
    def of(cls, path: str) -> "Library":
        """Return the library in this process."""
        found = cls._all.get((os.getpid(), path))
        if found is None:
            # a fork may have left the lock as another thread held it
            inherited = any(pid != os.getpid() for pid, _ in cls._all)
            if inherited:
                cls._making = threading.Lock()
            with cls._making:
                for key in [key for key in cls._all if key[0] != os.getpid()]:
                    del cls._all[key]
                found = cls._all.setdefault((os.getpid(), path), cls(path))
        return found

    @property
    def client(self) -> Any:
        """The library, begun in this process; only `within` may ask."""
        if self._client is None:
            try:
                import pkcs11  # noqa: PLC0415 - an extra
            except ImportError as error:
                raise EnvironmentProblem(f"{INSTALL} ({error.name} is missing)") from None
            inherited = self.path in pkcs11._loaded  # noqa: SLF001 - it has no other name
            try:
                self._client = pkcs11.lib(self.path)
                if inherited:
                    self.begin_anew()
            except pkcs11.PKCS11Error as error:
                raise self._unusable(error) from None
        return self._client

    def begin_anew(self) -> None:
        """End all that the library has open in this process, and begin it again."""
        self.logins.clear()
        self.began += 1
        try:
            self._client.finalize()
        except Exception as error:  # noqa: BLE001 - what is gone can't be ended in order
            _log.info("token_library_ended", library=self.path, reason=type(error).__name__)
        self._client.initialize()

    def within(self, seconds: float, where: str, work: Callable[[], _Result]) -> _Result:
        """Do something with the library that no one else does meanwhile, in so many seconds."""
        if not self._free.acquire(timeout=max(seconds, 0)):
            raise EnvironmentProblem(
                f"{where} was not free within {seconds:g} s: an earlier call has not come back; "
                "look whether the token is there and reached, and start this process anew"
            )
        done = threading.Event()
        outcome: list[tuple[_Result | None, BaseException | None]] = []

        def run() -> None:
            try:
                outcome.append((work(), None))
            except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                outcome.append((None, error))
            finally:
                self._free.release()
                done.set()

        threading.Thread(target=run, name="evidentia-token", daemon=True).start()
        if not done.wait(seconds):
            raise EnvironmentProblem(
                f"{where} gave no answer within {seconds:g} s: look whether it is there and reached"
            )
        result, error = outcome[0]
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # it is there where no error is

    def _unusable(self, error: Exception) -> EnvironmentProblem:
        said = str(error).rpartition(f"{self.path}: ")[2]
        if not said:  # it was loaded, and answered so
            return EnvironmentProblem(
                f"{self.path}: the PKCS #11 library can't begin ({type(error).__name__}): look at "
                "its own settings, and whether what serves the token runs and is reached"
            )
        return EnvironmentProblem(
            f"{self.path}: no PKCS #11 library that can be used ({said[:200]}): install it, or "
            "correct module-path in EVIDENTIA_KEYS"
        )


class Pkcs11Token:
    """A token, logged in with its PIN when it is first asked; threads and forks may share one.

    What it answers is given; what it forgot (a session, a login) is made again once. Its PIN is
    tried once: where that is wrong it is not tried again, which would lock the token.
    """

    def __init__(
        self, uri: Pkcs11Uri, pin: Callable[[], str], seconds: float = TOKEN_SECONDS
    ) -> None:
        self.uri = uri
        self.seconds = seconds
        self._pin = pin
        self._refused: bytes | None = None
        self._session: tuple[Library, int, Session] | None = None
        self.found: dict[Any, Any] = {}
        """Objects, by what they were found by; they go with the session."""

    def __repr__(self) -> str:
        return f"<{self.uri}>"

    def ask(self, what: "Callable[[Session], _Result]", seconds: float | None = None) -> _Result:
        """Return what is asked of the token in one session."""
        library = Library.of(self.uri.module)
        limit = self.seconds if seconds is None else seconds
        return library.within(limit, str(self.uri), lambda: self._ask(library, what))

    def search(self, session: "Session", wanted: "Mapping[Attribute, Any]") -> list[Any]:
        """Return the objects that are like what is wanted; only what is asked may search."""
        # a session that is gone says so here and leaves nothing behind, where a search would
        session.generate_random(_PROBED_BITS)
        return list(session.get_objects(dict(wanted)))

    def close(self) -> None:
        """Close the session; the token may be asked again."""
        held, self._session = self._session, None
        self.found.clear()
        if held is None or held[0] is not Library.of(self.uri.module):
            return
        library, began, session = held

        def end() -> None:
            if library.began == began:
                session.close()

        try:
            library.within(1.0, str(self.uri), end)
        except Exception as error:  # noqa: BLE001 - it is left in any case
            _log.info("token_session_left", token=str(self.uri), reason=type(error).__name__)

    def _ask(self, library: Library, what: "Callable[[Session], _Result]") -> _Result:
        _ = library.client  # says where its package is missing
        from pkcs11 import PKCS11Error  # noqa: PLC0415 - as above

        try:
            return what(self._opened(library))
        except PKCS11Error as error:
            name = type(error).__name__
            if name not in _STALE and name not in _RESTARTED and not _is_not_begun(error):
                raise self._problem(error) from None
            _log.info("token_asked_again", token=str(self.uri), reason=name)
            self._forget(library)
            try:
                if name not in _STALE:
                    library.begin_anew()
                return what(self._opened(library))
            except PKCS11Error as again:
                raise self._problem(again) from None

    def _forget(self, library: Library) -> None:
        self._session = None
        self.found.clear()
        library.logins.clear()

    def _opened(self, library: Library) -> "Session":
        held = self._session
        if held is not None and held[0] is library and held[1] == library.began:
            return held[2]
        self.found.clear()
        token = self._token(library)
        slot = token.slot.slot_id
        pin = self._checked_pin()
        proof = sha256(library.salt + pin.encode()).digest()
        login = library.logins.get(slot)
        if login is None:
            login = library.logins[slot] = proof, self._logged_in(token, pin)
        elif login[0] != proof:
            raise EnvironmentProblem(
                f"{self.uri} was opened with another PIN in this process: give the same one"
            )
        session = token.open(rw=True)
        self._session = library, library.began, session
        return session

    def _logged_in(self, token: "Token", pin: str) -> "Session":
        """Log in, for as long as this process lasts: to close that session ends all others'."""
        from pkcs11 import PinIncorrect, UserAlreadyLoggedIn  # noqa: PLC0415 - as above

        try:
            return token.open(user_pin=pin)
        except UserAlreadyLoggedIn:
            return token.open()
        except PinIncorrect:
            self._refused = _digest(pin)
            raise

    def _checked_pin(self) -> str:
        pin = self._pin()
        if self._refused == _digest(pin):
            raise EnvironmentProblem(
                f"{self.uri} refused the PIN before, and it is not tried again, as that would lock "
                "the token: correct it"
            )
        return pin

    def _token(self, library: Library) -> "Token":
        """Find the token; one that was put in since the library began shows when it begins anew."""
        found = self._matching(library)
        if not found:
            library.begin_anew()
            found = self._matching(library)
        if len(found) == 1:
            return found[0]
        others = sorted({token.label for token in self._tokens(library)})
        if found:
            raise EnvironmentProblem(
                f"{library.path} has {len(found)} tokens that EVIDENTIA_KEYS could mean: name one "
                "by its serial"
            )
        has = f"it has {', '.join(map(repr, others))}" if others else "it has none"
        raise EnvironmentProblem(
            f"{self.uri} is not there ({has}): put it in or start what serves it, or correct "
            "EVIDENTIA_KEYS"
        )

    def _tokens(self, library: Library) -> "list[Token]":
        from pkcs11 import PKCS11Error, TokenFlag  # noqa: PLC0415 - as above

        tokens = []
        for slot in library.client.get_slots(token_present=True):
            try:
                token = slot.get_token()
            except PKCS11Error:  # of no use, and it may be another one's
                continue
            if TokenFlag.TOKEN_INITIALIZED in token.flags:
                tokens.append(token)
        return tokens

    def _matching(self, library: Library) -> "list[Token]":
        uri = self.uri
        wanted = (uri.token, uri.serial, uri.manufacturer, uri.model)
        return [
            token
            for token in self._tokens(library)
            if (uri.slot is None or token.slot.slot_id == uri.slot)
            and all(
                one is None or one == said
                for one, said in zip(
                    wanted,
                    (
                        token.label,
                        token.serial.decode(errors="replace").strip(),
                        token.manufacturer_id,
                        token.model,
                    ),
                    strict=True,
                )
            )
        ]

    def _problem(self, error: Exception) -> EvidentiaError:
        name = type(error).__name__
        said = _SAID.get(name) or f"failed ({' '.join((name, *map(str, error.args)))[:200]})"
        if name.startswith("Pin") and self.uri.pin_file is not None:
            said = f"{said} in {self.uri.pin_file}" if said.endswith("correct it") else said
        return EnvironmentProblem(f"{self.uri} {said}")


def _is_not_begun(error: Exception) -> bool:
    return "not initialized" in str(error)


def _digest(pin: str) -> bytes:
    return sha256(pin.encode()).digest()
