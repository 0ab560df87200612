"""A program that appends without end, and says what was acknowledged: one server of several."""

import sys
import threading

from evidentia.workspace import open_workspace
from places import record

THREADS = 3


def main(url: str, home: str, name: str) -> None:
    """Append by several threads; say each subject with its number once it is acknowledged."""
    saying = threading.Lock()
    with open_workspace(url, home=home) as workspace:

        def write(writer: int) -> None:
            number = 0
            while True:
                number += 1
                subject = f"{name}-{writer}-{number}"
                receipt = workspace.append(record(obligation_id=subject))
                with saying:
                    sys.stdout.write(f"{receipt.seq} {subject}\n")
                    sys.stdout.flush()

        threads = [threading.Thread(target=write, args=(n,), daemon=True) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
