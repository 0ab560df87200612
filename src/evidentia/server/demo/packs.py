"""Packs of the example: decisions that await a review, and some that were reviewed."""

from datetime import datetime, timedelta
from typing import Any, Final

from evidentia.packs.decision import DecisionOutput
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import PromptRecord
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
from evidentia.times import utc_text
from evidentia.workspace import Workspace

_REVIEWER: Final = "salma"
_HOSPITAL: Final[dict[str, Any]] = {
    "decision_id": "dec_pilot_hospital",
    "entity_id": "lead_riyadh_hospital",
    "agent_name": "icp_matcher",
    "decision": "Offer the hospital a pilot of three months at the standard price.",
    "decision_ar": "تقديم عرض تجريبي للمستشفى مدته ثلاثة أشهر بالسعر المعتاد.",
    "approval_class": "A2",
    "reversibility_class": "R2",
    "sensitivity_class": "S2",
    "confidence": 0.84,
}
_HOSPITAL_EVIDENCE: Final = (
    (
        "crm.contact",
        "crm://contacts/456",
        "Company size: 120 employees; industry: healthcare.",
        0.93,
    ),
    (
        "crm.notes",
        "crm://notes/9911",
        "They asked for an offer before the end of the quarter.",
        0.81,
    ),
    ("price_list.2026", "files://price-list-2026.pdf", "Pilot, three months: 18,000 SAR.", 0.96),
)
_HOSPITAL_MEMO: Final = BilingualMemo(
    title_en="Pilot offer for a hospital in Riyadh",
    title_ar="عرض تجريبي لمستشفى في الرياض",
    executive_summary_en=(
        "The hospital fits our target profile at 0.84. We recommend a pilot of three months for "
        "18,000 SAR [1], to be offered before the end of the quarter [3]."
    ),
    executive_summary_ar=(
        "يطابق المستشفى ملف العميل المستهدف بدرجة 0.84. نوصي بعرض تجريبي مدته ثلاثة أشهر بقيمة "
        "18,000 ريال [1]، على أن يُقدَّم قبل نهاية الربع الحالي [3]."
    ),
    body_en=(
        "The hospital has 120 employees and works in healthcare, which is our first market [2]. "
        "It asked for an offer itself [3], so no discount is needed: the price of the list "
        "applies [1].\n\nThe risk is small. The pilot can be ended by either side within 30 days."
    ),
    body_ar=(
        "يعمل في المستشفى 120 موظفًا، وهو ينتمي إلى قطاع الرعاية الصحية الذي يمثل سوقنا الأولى "
        "[2]. وقد طلب العرض بنفسه [3]، فلا حاجة إلى خصم، ويُطبَّق السعر المدرج في القائمة [1].\n\n"
        "المخاطر محدودة، إذ يحق لأي من الطرفين إنهاء الفترة التجريبية خلال 30 يومًا."
    ),
)
_HOSPITAL_CALLS: Final = (
    {
        "tool_name": "crm.get_contact",
        "intended_action": "retrieve contact 456 read-only",
        "actual_action": "retrieved contact 456 read-only",
        "inputs": {"id": "456"},
        "outputs": {"id": "456", "industry": "healthcare", "employees": 120},
        "verification_status": "verified",
        "duration_ms": 182,
    },
    {
        "tool_name": "mail.draft",
        "intended_action": "save the offer as a draft",
        "actual_action": "sent the offer to contact 456",
        "inputs": {"to": "contact/456", "template": "pilot-offer"},
        "outputs": {"message_id": "m-2207"},
        "side_effects": ["an e-mail left the company"],
        "duration_ms": 641,
    },
    {
        "tool_name": "calendar.find_slot",
        "intended_action": "find a free hour next week",
        "actual_action": "failed: TimeoutError",
        "outcome": "failed",
        "error": "TimeoutError: no answer within 10 s",
        "verification_status": "failed",
        "duration_ms": 10_004,
    },
)
_ANSWER: Final[dict[str, Any]] = {
    "decision_id": "dec_publish_remote_work",
    "entity_id": "answer_remote_work",
    "agent_name": "assistant",
    "decision": "Publish the answer on remote work to all employees.",
    "decision_ar": "نشر الإجابة المتعلقة بالعمل عن بُعد لجميع الموظفين.",
    "approval_class": "A2",
    "reversibility_class": "R1",
    "sensitivity_class": "S1",
    "confidence": 0.66,
    "high_stakes": True,
}
_ANSWER_EVIDENCE: Final = (
    (
        "Remote_Work.md",
        "policies/Remote_Work.md",
        "Remote days are entered in the team calendar by Thursday of the week before.",
        0.88,
    ),
)
_ANSWER_MEMO: Final = BilingualMemo(
    title_en="Answer on remote work, before it is published",
    title_ar="الإجابة عن العمل عن بُعد قبل نشرها",
    executive_summary_en=(
        "The answer follows the policy in most points. It names another day for entering remote "
        "days than the policy does [1]."
    ),
    executive_summary_ar=(
        "تتفق الإجابة مع السياسة في معظم النقاط، غير أنها تذكر يومًا مختلفًا لتسجيل أيام العمل عن "
        "بُعد [1]."
    ),
    body_en=(
        "Every claim of the answer was checked against the policies; the ledger has the verdicts. "
        "The day in the policy should be taken over before the answer is published [1]."
    ),
    body_ar=(
        "جرت مقارنة كل ادعاء في الإجابة بالسياسات، والأحكام مدوّنة في الدفتر. وينبغي اعتماد اليوم "
        "الوارد في السياسة قبل نشر الإجابة [1]."
    ),
)
_EXPENSES: Final[dict[str, Any]] = {
    "decision_id": "dec_refund_2207",
    "entity_id": "claim_2207",
    "agent_name": "expense_checker",
    "decision": "Refund the hotel of three nights.",
    "decision_ar": "تعويض تكلفة الفندق عن ثلاث ليالٍ.",
    "approval_class": "A2",
    "reversibility_class": "R2",
    "sensitivity_class": "S2",
    "confidence": 0.91,
}
_EXPENSES_EVIDENCE: Final = (
    ("receipts", "receipts://2207", "Hotel, 3 nights: 2,460 SAR.", 0.97),
    ("Travel_and_Expenses.html", "policies/Travel_and_Expenses.html", "Hotels are refunded.", 0.9),
)
_EXPENSES_MEMO: Final = BilingualMemo(
    title_en="Refund of a hotel, claim 2207",
    title_ar="تعويض تكلفة فندق، المطالبة 2207",
    executive_summary_en="The claim of 2,460 SAR [1] is covered by the policy [2].",
    executive_summary_ar="المطالبة بمبلغ 2,460 ريالًا [1] مشمولة بالسياسة [2].",
    body_en="The receipt shows three nights [1]. The policy refunds hotels [2].",
    body_ar="تُظهر الفاتورة ثلاث ليالٍ [1]، وتنص السياسة على تعويض تكلفة الفنادق [2].",
)
_SUPPLIER: Final[dict[str, Any]] = {
    "decision_id": "dec_supplier_limit",
    "entity_id": "supplier_88",
    "agent_name": "credit_desk",
    "decision": "Raise the supplier's limit to 250,000 SAR.",
    "decision_ar": "رفع الحد الائتماني للمورّد إلى 250,000 ريال.",
    "approval_class": "A3",
    "reversibility_class": "R3",
    "sensitivity_class": "S2",
    "confidence": 0.52,
    "high_stakes": True,
}
_SUPPLIER_EVIDENCE: Final = (
    ("ledger.payables", "erp://suppliers/88", "Paid on time: 7 of 12 invoices.", 0.58),
)
_SUPPLIER_MEMO: Final = BilingualMemo(
    title_en="Credit limit of supplier 88",
    title_ar="الحد الائتماني للمورّد 88",
    executive_summary_en="Seven of twelve invoices were paid on time [1]; growth is expected.",
    executive_summary_ar="سُدِّدت سبع فواتير من أصل اثنتي عشرة في موعدها [1]، ويُتوقَّع نمو الطلب.",
    body_en="The limit would be raised from 100,000 to 250,000 SAR [1].",
    body_ar="يُقترح رفع الحد من 100,000 إلى 250,000 ريال [1].",
)


def load(workspace: Workspace) -> None:
    """Make the packs: two await a review, one was modified and approved, one was rejected."""
    now = datetime.fromisoformat(workspace.opened.now())
    workspace.access.grant(_REVIEWER, "approver")
    salma = workspace.acting_as(_REVIEWER)

    def decided(fields: dict[str, Any], evidence: tuple[Any, ...], hours: float) -> DecisionOutput:
        return _decision(workspace.tenant, fields, evidence, now - timedelta(hours=hours))

    limit = workspace.packs.assemble(
        decided(_SUPPLIER, _SUPPLIER_EVIDENCE, 50), memo=_SUPPLIER_MEMO
    )
    salma.packs.review(limit.pack_id, "rejected", note="Five late payments: ask for a guarantee.")
    refund = workspace.packs.assemble(
        decided(_EXPENSES, _EXPENSES_EVIDENCE, 30), memo=_EXPENSES_MEMO
    )
    better = _EXPENSES_MEMO.model_dump() | {
        "body_en": "The receipt shows three nights [1]. The policy refunds hotels up to 900 SAR a "
        "night [2], which is kept.",
        "body_ar": "تُظهر الفاتورة ثلاث ليالٍ [1]، وتنص السياسة على تعويض تكلفة الفنادق بما لا "
        "يتجاوز 900 ريال لليلة الواحدة [2]، والمبلغ ضمن هذا الحد.",
    }
    salma.packs.modify(refund.pack_id, {"memo": better}, note="The limit for a night was missing.")
    workspace.packs.hold(refund.pack_id, reason="Audit of expenses in 2026")
    publish = workspace.packs.assemble(
        decided(_ANSWER, _ANSWER_EVIDENCE, 20), memo=_ANSWER_MEMO, ledger="latest"
    )
    workspace.packs.assign(publish.pack_id, _REVIEWER, due=now - timedelta(hours=2))
    calls = ToolVerificationLedger()
    for call in _HOSPITAL_CALLS:
        made = {**call, "called_at": utc_text(now - timedelta(hours=4))}
        calls.record("dec_pilot_hospital", ToolCallRecord.model_validate(made))
    calls.offer("dec_pilot_hospital", "crm.get_contact", "mail.draft", "calendar.find_slot")
    offer = workspace.packs.assemble(
        decided(_HOSPITAL, _HOSPITAL_EVIDENCE, 3),
        memo=_HOSPITAL_MEMO,
        tool_ledger=calls,
        prompts=[
            PromptRecord(
                template_name="icp_reasoning",
                template_version="1.0",
                content_hash="sha256:" + "5f2c" * 16,
            )
        ],
    )
    workspace.packs.assign(offer.pack_id, "owner", due=now + timedelta(days=3))


def _decision(
    tenant: str, fields: dict[str, Any], evidence: tuple[Any, ...], at: datetime
) -> DecisionOutput:
    return DecisionOutput.model_validate(
        {
            **fields,
            "tenant_id": tenant,
            "model": "assistant-model-1",
            "decided_at": utc_text(at),
            "evidence": [
                {
                    "source": source,
                    "uri": uri,
                    "excerpt": excerpt,
                    "retrieved_at": utc_text(at - timedelta(hours=1)),
                    "confidence": confidence,
                }
                for source, uri, excerpt, confidence in evidence
            ],
        }
    )
