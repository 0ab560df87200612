"""An example to look around in: a few policies, answers about them, and a decision to review."""

from datetime import datetime, timedelta
from importlib.resources import as_file, files

from evidentia.packs.decision import DecisionOutput
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.tools import ToolCallRecord
from evidentia.times import utc_text
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
_DECISION = "dec_remote_work_abroad"
_MEMO = BilingualMemo(
    title_en="Twelve working days from Muscat",
    title_ar="العمل من مسقط اثني عشر يومًا",
    executive_summary_en="The request is within the policy: 12 of 20 days, in a place that is "
    "approved as a rule for stays of up to 15.",
    executive_summary_ar="الطلب ضمن السياسة: 12 يومًا من أصل 20، وفي مكان يُوافق عليه عادةً "
    "حتى 15 يومًا.",
    body_en="Employees may work from abroad for up to 20 working days per calendar year [1]. Stays "
    "in Oman are approved as a rule for up to 15 working days at a time [2]. The request came 41 "
    "days before the stay, and 30 are asked for. The People Department must still check tax, "
    "social security and insurance.",
    body_ar="يجوز للموظفين العمل من الخارج حتى 20 يوم عمل في السنة [1]. ويُوافق عادةً على الإقامة في "
    "عُمان حتى 15 يوم عمل في المرة الواحدة [2]. قُدّم الطلب قبل 41 يومًا، والمطلوب 30 يومًا. ويبقى على "
    "إدارة شؤون الموظفين مراجعة الضرائب والتأمين.",
)


def load(workspace: Workspace) -> None:
    """Read the policies, check the answers and seal a pack, unless a ledger is there already."""
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
    _decide(workspace)


def _disagree(workspace: Workspace) -> None:
    """Let the owner say something of a claim, beside the judges."""
    ledger = workspace.ledgers.get("latest")
    workspace.ledgers.give_verdict(
        ledger.id,
        ledger.entries[0].claim_id,
        "supported",
        reason="Section 2 says 3 days per week, section 1 the three months: both parts are there.",
    )


def _decide(workspace: Workspace) -> None:
    """Seal the pack of a decision that awaits its review; one of its tools did something else."""
    now = datetime.fromisoformat(workspace.opened.now())
    evidence = (
        ("Employees may work from abroad for up to 20 working days per calendar year.", 0.96),
        ("Oman and United Arab Emirates | 15 working days", 0.92),
    )
    decision = DecisionOutput.model_validate(
        {
            "decision_id": _DECISION,
            "entity_id": "employee/4711",
            "tenant_id": workspace.tenant,
            "agent_name": "people_assistant",
            "model": "example-model",
            "decision": "Approve 12 working days of remote work from Muscat.",
            "decision_ar": "الموافقة على العمل عن بُعد من مسقط اثني عشر يوم عمل.",
            "approval_class": "A2",
            "reversibility_class": "R1",
            "sensitivity_class": "S1",
            "confidence": 0.84,
            "decided_at": utc_text(now),
            "evidence": [
                {
                    "source": "Remote_Work.md",
                    "reference": "Remote Work Policy, 4. Working from abroad",
                    "excerpt": excerpt,
                    "retrieved_at": utc_text(now - timedelta(minutes=3)),
                    "confidence": confidence,
                }
                for excerpt, confidence in evidence
            ],
        }
    )
    workspace.packs.record_decision(decision)
    calls = (
        ("calendar.read", "read the leave calendar of 4711", "read the leave calendar of 4711"),
        ("hr.create_case", "create a draft case for 4711", "created an approved case for 4711"),
    )
    for tool, intended, actual in calls:
        call = {"tool_name": tool, "intended_action": intended, "actual_action": actual}
        workspace.tools.record(_DECISION, ToolCallRecord.model_validate(call))
    workspace.packs.assemble(decision, memo=_MEMO, ledger="latest")
