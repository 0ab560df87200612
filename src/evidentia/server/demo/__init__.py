"""An example to look around in: a few policies, an answer that was checked, and some packs."""

from importlib.resources import as_file, files

from evidentia.server.demo import packs
from evidentia.workspace import Workspace

_POLICIES = ("Remote_Work.md", "Travel_and_Expenses.html")
_QUERY = "How often may I work from home?"


def load(workspace: Workspace) -> None:
    """Read the policies and check the answer, unless a ledger is there already."""
    if workspace.ledgers.list(limit=1):
        return
    here = files(__name__)
    for name in _POLICIES:
        with as_file(here / name) as file:
            workspace.ingest(file)
    answer = (here / "answer.md").read_text("utf-8")
    workspace.check(answer, query=_QUERY, title="Remote work", answer_name="answer.md")
    packs.load(workspace)
