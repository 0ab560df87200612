"""An example to look around in: a few policies, answers about them, and some packs."""

from importlib.resources import as_file, files

from evidentia.server.demo import packs
from evidentia.workspace import Workspace

_POLICIES = ("Remote_Work.md", "Travel_and_Expenses.html")
_QUERY = "How often may I work from home?"
_QUICK = ("quote", "numbers")
"""Judges that take no time, so that the example is there within seconds."""
_ANSWERS = (
    ("travel_answer.md", "What is paid for on a business trip?", "Business travel", _QUICK),
    ("second_answer.md", _QUERY, "Remote work, another model", _QUICK),
    ("answer.md", _QUERY, "Remote work", None),
)
"""Answers, what was asked, their titles, and who judges; the last one is the newest."""


def load(workspace: Workspace) -> None:
    """Read the policies, check the answers and seal packs, unless a ledger is there already."""
    if workspace.ledgers.list(limit=1):
        return
    here = files(__name__)
    for name in _POLICIES:
        with as_file(here / name) as file:
            workspace.ingest(file)
    for name, query, title, judges in _ANSWERS:
        answer = (here / name).read_text("utf-8")
        workspace.check(answer, query=query, title=title, answer_name=name, judges=judges)
    _disagree(workspace)
    packs.load(workspace)


def _disagree(workspace: Workspace) -> None:
    """Let the owner say something of a claim, beside the judges."""
    ledger = workspace.ledgers.get("latest")
    workspace.ledgers.give_verdict(
        ledger.id,
        ledger.entries[0].claim_id,
        "supported",
        reason="Section 2 says 3 days per week, section 1 the three months: both parts are there.",
    )
