"""A decision that a board would see, in both languages, with all that a pack can hold."""

# ruff: noqa: RUF001 - dashes, as titles have them

from typing import Any, Final

from evidentia.packs.decision import DecisionOutput
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import EvidencePack, PromptRecord
from evidentia.packs.tools import ToolCallRecord
from evidentia.workspace import Workspace

DECISION: Final[dict[str, Any]] = {
    "decision_id": "dec_gulf_cables_2026",
    "entity_id": "CR 1010-445-221 Gulf Cables Co.",
    "tenant_id": "default",
    "agent_name": "credit_analyst",
    "model": "analyst-model-4",
    "model_version": "2026-09-01",
    "decision": (
        "Raise the revolving credit limit of Gulf Cables Co. from SAR 12.5 million to SAR 18 "
        "million until 31 March 2027, subject to a renewed bank guarantee."
    ),
    "decision_ar": (
        "رفع الحد الائتماني المتجدد لشركة كابلات الخليج من 12.5 مليون ريال سعودي إلى 18 مليون ريال "
        "سعودي حتى 31 مارس 2027م، بشرط تجديد الضمان البنكي."
    ),
    "approval_class": "A3",
    "reversibility_class": "R2",
    "sensitivity_class": "S2",
    "confidence": 0.84,
    "high_stakes": True,
    "data_freshness_window_hours": 720,
    "decided_at": "2026-11-15T08:30:00Z",
    "evidence": [
        {
            "source": "Gulf Cables audited accounts 2025",
            "uri": "s3://evidence/nakhla/2026/gulf-cables/audited-financial-statements-2025.pdf",
            "excerpt": (
                "Current ratio 1.84 (2024: 1.61). No overdue trade balances. Net debt fell to "
                "SAR 31.2 million."
            ),
            "content_hash": "sha256:" + "cfb6d14ce683d42a" * 4,
            "retrieved_at": "2026-11-14T09:12:00Z",
            "confidence": 0.98,
        },
        {
            "source": "كشف سجل الطلبات – الربع الثالث 2026",
            "uri": "s3://evidence/nakhla/2026/gulf-cables/order-book-q3.xlsx?sheet=Summary&v=3",
            "excerpt": "بلغ إجمالي الطلبات المؤكدة 412 مليون ريال بزيادة 37% عن الفترة المماثلة.",
            "content_hash": "sha256:" + "dbdac870647e2a68" * 4,
            "retrieved_at": "2026-11-14T09:15:00Z",
            "confidence": 0.95,
        },
        {
            "source": "Board credit policy BP-07/2024",
            "uri": "https://intranet.nakhla.example/policies/BP-07-2024?v=3&lang=ar",
            "excerpt": "لا يجوز أن يتجاوز الانكشاف على الاسم الواحد نسبة 5% من حقوق الملكية.",
            "content_hash": "sha256:" + "7a70fe42fb94623e" * 4,
            "retrieved_at": "2026-11-15T07:55:00Z",
            "confidence": 0.93,
        },
        {
            "source": "SIMAH commercial report",
            "reference": "urn:simah:report:2026:99812",
            "excerpt": "Score 742 / 900; zero defaults; two enquiries in 90 days.",
            "retrieved_at": "2026-09-02T06:00:00Z",
            "confidence": 0.8,
        },
    ],
}
MEMO: Final = {
    "title_ar": "رفع الحد الائتماني لشركة كابلات الخليج",
    "title_en": "Credit-limit increase for Gulf Cables Co.",
    "executive_summary_ar": (
        "يوصي الوكيل برفع الحد الائتماني المتجدد لشركة كابلات الخليج (السجل التجاري 1010-445-221) "
        "من 12.5 مليون ريال سعودي إلى 18 مليون ريال سعودي حتى 31 مارس 2027م. وتُظهر القوائم المالية "
        "المدققة سيولة متينة [1]، وارتفعت الطلبات المؤكدة بنسبة 37% [2]، ويبقى الانكشاف دون سقف "
        "سياسة المجلس BP-07/2024 [3]. وقد خالف أحد استدعاءات الأدوات القصد المعلن، وهو مُفصح عنه في "
        "هذه الوثيقة. والمطلوب من المجلس اعتماد القرار أو رفضه."
    ),
    "executive_summary_en": (
        "The agent recommends raising the revolving credit limit of Gulf Cables Co. (CR "
        "1010-445-221) from SAR 12.5 million to SAR 18 million until 31 March 2027. Audited "
        "accounts show sound liquidity [1], confirmed orders rose by 37% [2], and the exposure "
        "stays below the cap of board policy BP-07/2024 [3]. One tool call departed from its "
        "stated intention and is disclosed here. The board is asked to approve or to reject."
    ),
    "body_ar": (
        "القرار\n"
        "رفع الحد الائتماني المتجدد للشركة إلى 18 مليون ريال سعودي، على أن يُجدَّد الضمان البنكي قبل "
        "أي سحب يتجاوز الحد الحالي.\n\n"
        "الأسباب\n"
        "تُظهر القوائم المالية المدققة لعام 2025 نسبة تداول قدرها 1.84، ولا توجد أرصدة متأخرة خلال "
        "24 شهرًا [1].\n"
        "ارتفع سجل الطلبات بنسبة 37% على أساس سنوي [2].\n"
        "يبقى الانكشاف دون سقف 5% للاسم الواحد المحدد في سياسة المجلس BP-07/2024 [3].\n\n"
        "المخاطر والتحفظات\n"
        "تقرير سمة أقدم من المدة المحددة لحداثة البيانات، ويُستأنس به فقط. وتُراسَل الشركة عبر "
        "البوابة portal.gulfcables.example بشأن الفاتورة INV-2026/0042 بتاريخ 2026-11-01."
    ),
    "body_en": (
        "Decision\n"
        "Raise the revolving limit to SAR 18 million, provided that the bank guarantee is renewed "
        "before any drawing beyond the present limit.\n\n"
        "Reasons\n"
        "Audited accounts for 2025 show a current ratio of 1.84, and no balance was overdue in 24 "
        "months [1].\n"
        "The order book rose by 37% year on year [2].\n"
        "The exposure stays below the 5% single-name cap of board policy BP-07/2024 [3].\n\n"
        "Risks and reservations\n"
        "The SIMAH report is older than the window for fresh data and is used as background only. "
        "The company is reached through portal.gulfcables.example about invoice INV-2026/0042 of "
        "2026-11-01."
    ),
}
CALLS: Final[list[dict[str, Any]]] = [
    {
        "tool_name": "ledger.get_balance",
        "intended_action": "retrieve balance of account 4471 read-only",
        "actual_action": "retrieved balance of account 4471 read-only",
        "outputs": {"currency": "SAR"},
        "verification_status": "verified",
        "called_at": "2026-11-15T08:12:04Z",
        "duration_ms": 182,
    },
    {
        "tool_name": "mail.compose",
        "intended_action": "draft a message to the relationship manager",
        "actual_action": "sent a message to the relationship manager",
        "side_effects": ["sent message id=77 to rm@nakhla.example"],
        "verification_status": "verified",
        "called_at": "2026-11-15T08:14:30Z",
        "duration_ms": 941,
    },
    {
        "tool_name": "simah.fetch_report",
        "intended_action": "retrieve report 99812",
        "actual_action": "failed: TimeoutError",
        "outcome": "failed",
        "error": "TimeoutError: no answer within 30 seconds",
        "verification_status": "failed",
        "called_at": "2026-11-15T08:15:02Z",
        "duration_ms": 30000,
    },
]


def board_decision(**changes: Any) -> DecisionOutput:
    """Return the decision; `changes` are to its fields."""
    return DecisionOutput.model_validate(DECISION | changes)


def board_memo(**changes: str) -> BilingualMemo:
    """Return the memo; `changes` are to its fields."""
    return BilingualMemo.model_validate(MEMO | changes)


def assemble_board_pack(workspace: Workspace, **changes: Any) -> EvidencePack:
    """Seal the pack with its tool calls and an attachment; `changes` are to the decision."""
    decision = board_decision(tenant_id=workspace.tenant, **changes)
    for call in CALLS:
        workspace.tools.record(decision.decision_id, ToolCallRecord.model_validate(call))
    return workspace.assemble(
        decision,
        memo=board_memo(),
        prompts=[PromptRecord(template_name="credit_memo", template_version="3.1")],
        attachments={"board-policy-BP-07-2024.txt": "سقف الاسم الواحد 5%\n".encode()},
    )
