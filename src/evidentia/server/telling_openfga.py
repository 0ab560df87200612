"""Keeping OpenFGA in step with the trail, on a server: whoever of its servers has the turn does."""

import threading
from typing import TYPE_CHECKING, Final

from evidentia.access.openfga_client import OpenFgaClient, OpenFgaError
from evidentia.errors import UsageError
from evidentia.logs import get_logger
from evidentia.workspace.acting import Acting
from evidentia.workspace.telling_openfga import tell

if TYPE_CHECKING:
    from evidentia.workspace.opened import Opened

_LOOKS_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_log = get_logger("access")


class Teller:
    """Tells OpenFGA what is new in all logs, in a thread; close it before what is opened."""

    def __init__(self, opened: "Opened", client: OpenFgaClient) -> None:
        self._opened = opened
        self._client = client
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="evidentia-openfga", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking; another server goes on, or this one when it starts again."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _look(self) -> None:
        pause, said = _LOOKS_SECONDS, ""
        while not self._stop.wait(pause):
            try:
                self.look_once()
                pause, said = _LOOKS_SECONDS, ""
            except UsageError:  # it was closed
                return
            except Exception as error:  # noqa: BLE001 - whatever it is: what waits is told later
                pause = min(2 * pause, _LONGEST_PAUSE)
                if (now := f"{type(error).__name__}: {error}") != said:
                    said = now
                    _log.error("openfga_is_behind", reason=said)

    def look_once(self) -> int:
        """Tell OpenFGA what is new; return how much was told.

        A log that cannot be read keeps no other one waiting.
        """
        done, problem = 0, None
        for tenant in self._opened.tenants():
            if self._stop.is_set():
                break
            try:
                done += tell(Acting(self._opened, tenant, None), self._client)
            except (UsageError, OpenFgaError):
                raise
            except Exception as error:  # noqa: BLE001 - the others are told first
                problem = error
        if problem is not None:
            raise problem
        return done
