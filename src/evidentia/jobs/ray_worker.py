"""What a Ray worker of ours runs: it does pieces, and has none of the settings of its machine."""

import os
import pickle
import sys
import traceback

from evidentia import __version__
from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.loading.pieces import PieceWorker
from evidentia.loading.workers import ONE_THREAD, SETTINGS, Refusal


class RayWorker:
    """Does pieces, one after the other; what it is sent and answers are pickles.

    It ends its process where anything but an error of ours is raised, as other workers do.
    """

    def __init__(self) -> None:
        for name in [one for one in os.environ if one.startswith(SETTINGS)]:
            del os.environ[name]  # among them are a server's secrets, where one runs there too
        os.environ.update(ONE_THREAD)
        self._worker = PieceWorker()

    def get_ready(self, version: str, told: bytes) -> bytes:
        """Get ready, once; answer None, or why that cannot be."""
        if version != __version__:
            return _sent(
                Refusal(
                    EnvironmentProblem(
                        f"the Ray workers have evidentia {__version__}, and this is {version}: "
                        "install the same version everywhere"
                    )
                )
            )
        found = self._done(told)
        return _sent(Refusal(found) if isinstance(found, EvidentiaError) else found)

    def do(self, piece: bytes) -> bytes:
        """Do a piece; an error of ours is an answer."""
        return _sent(self._done(piece))

    def _done(self, asked: bytes) -> object:
        try:
            return self._worker(pickle.loads(asked))  # noqa: S301 - from our own caller
        except EvidentiaError as error:
            return error
        except BaseException:  # noqa: BLE001 - it ends here, and says why
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)


def _sent(answer: object) -> bytes:
    return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
