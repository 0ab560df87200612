"""Another server of a workspace, with a home of its own: `python another_server.py HOME URL LAKE`.

It is asked by lines of JSON, and answers by such. Answers are judged in processes of its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

from evidentia.errors import EvidentiaError
from evidentia.jobs.processes import TaskWorkers
from evidentia.jobs.tasks import Limits
from evidentia.workspace import Workspace
from evidentia.workspace.opened import open_all


def answered(workspace: Workspace, asked: dict[str, Any]) -> Any:
    """Check an answer, search, or read a page of a document."""
    if "check" in asked:
        ledger = workspace.check(asked["check"], judges=["quote", "numbers"])
        return [entry.verdict.value for entry in ledger.entries]
    if "search" in asked:
        return [one.chunk.text for one in workspace.documents.search(asked["search"])]
    if "image" in asked:
        (document,) = workspace.documents.named(asked["image"])
        return workspace.documents.page_image(document, 1)[:4].hex()
    (document,) = workspace.documents.named(asked["page"])
    return workspace.documents.page_text(document, 1).text


if __name__ == "__main__":
    home, url, lake = sys.argv[1:]
    with (
        open_all(url, home=Path(home), lake=lake) as opened,
        TaskWorkers(1, Limits(2**32)) as workers,
    ):
        opened.judging = workers
        for line in sys.stdin:
            try:
                found = answered(opened.for_(), json.loads(line))
            except EvidentiaError as error:
                found = f"{type(error).__name__}: {error}"
            sys.stdout.write(f"{json.dumps(found)}\n")
            sys.stdout.flush()
