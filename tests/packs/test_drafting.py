from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidentia.errors import InputError
from evidentia.packs.arabic import CLASSES_AR
from evidentia.packs.decision import ApprovalClass, ReversibilityClass, SensitivityClass
from evidentia.packs.drafting import (
    MemoClaims,
    MemoEvidence,
    MemoFacts,
    MemoToolCall,
    MemoWriter,
    TemplateWriter,
    draft_memo,
)
from evidentia.packs.english import CLASSES_EN
from evidentia.packs.memo import (
    BilingualMemo,
    inline_references,
    unmet_languages,
    unmet_references,
    word_count,
)

OVERRIDES = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2068"
FACTS = MemoFacts(
    title_en="Fit Recommendation — Riyadh Hospital",
    title_ar="توصية الملاءمة - مستشفى الرياض",
    decision_en="Recommend Riyadh Hospital as a Tier A prospect.",
    decision_ar="يوصى بتصنيف مستشفى الرياض عميلًا محتملًا من الفئة الأولى.",
    entity_id="lead_xyz789",
    agent_name="icp_matcher",
    model="claude-sonnet-4-5",
    decided_at="2026-11-15T09:30:00Z",
    approval_class="A2",
    reversibility_class="R3",
    sensitivity_class="S1",
    confidence=0.84,
    evidence=(
        MemoEvidence("crm.hubspot.contact", "hubspot://contacts/456", "a secret", 0.9),
        MemoEvidence("تقرير الائتمان.pdf", "doc_7", "another secret"),
    ),
    tool_calls=(MemoToolCall("hubspot.get_contact"),),
    claims=MemoClaims(supported=3),
    needs_review=True,
    freshness_hours=24,
)

TEXTS = st.text(max_size=60) | st.sampled_from(
    [
        "",
        "word " * 300,
        "x" * 5_000,
        "a—b,c;d…" * 200,
        "\u202eevil\u2069 [9] «x» “y”\n[1-99]",
        "e" + "\u0301" * 700,
        "تقرير الائتمان، النسخة ٢",
        "\x00\ud800\u200b",
    ]
)
SHARES = st.none() | st.floats(0, 1)
EVIDENCE = st.builds(MemoEvidence, TEXTS, TEXTS, TEXTS, SHARES, st.booleans())
CALLS = st.builds(
    MemoToolCall,
    TEXTS,
    st.sampled_from(["succeeded", "failed"]),
    st.booleans(),
    st.lists(TEXTS, max_size=8).map(tuple),
)
COUNTS = st.integers(0, 3) | st.integers(0, 1_000_000)
CLAIMS = st.none() | st.builds(MemoClaims, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
ANY_FACTS = st.builds(
    MemoFacts,
    title_en=TEXTS,
    title_ar=TEXTS,
    decision_en=TEXTS,
    decision_ar=TEXTS,
    entity_id=TEXTS,
    agent_name=TEXTS,
    model=TEXTS,
    decided_at=st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
    approval_class=st.sampled_from(list(ApprovalClass)),
    reversibility_class=st.sampled_from(["R0", "R1", "R2", "R3"]),
    sensitivity_class=st.sampled_from(["S0", "S1", "S2", "S3"]),
    confidence=SHARES,
    high_stakes=st.booleans(),
    evidence=st.lists(EVIDENCE, max_size=13).map(tuple),
    tool_calls=st.lists(CALLS, max_size=6).map(tuple),
    claims=CLAIMS,
    needs_review=st.booleans(),
    reviewer=TEXTS,
    review_outcome=st.sampled_from([None, "approved", "rejected"]),
    freshness_hours=st.none() | st.integers(1, 100_000),
)


def draft(**changes: Any) -> BilingualMemo:
    return draft_memo(replace(FACTS, **changes))


def read(text: str) -> str:
    """Return a text as it is read: without the marks of direction."""
    return text.translate(dict.fromkeys(map(ord, "\u2066\u2067\u2069")))


def sources(count: int, **fields: Any) -> tuple[MemoEvidence, ...]:
    return tuple(MemoEvidence(f"doc{number}", **fields) for number in range(1, count + 1))


def calls(count: int, **fields: Any) -> tuple[MemoToolCall, ...]:
    return tuple(MemoToolCall(f"tool{number}", **fields) for number in range(1, count + 1))


WORST = replace(
    FACTS,
    decision_en="word " * 500,
    decision_ar="كلمة " * 500,
    agent_name="a b c d e f g",
    model="a b c d e f g",
    entity_id="a b c d e f g",
    high_stakes=True,
    approval_class="A3",
    reversibility_class="R2",
    sensitivity_class="S2",
    evidence=tuple(MemoEvidence("w " * 50, is_stale=True) for _ in range(101)),
    tool_calls=tuple(
        MemoToolCall(f"{n} b c d e f g", "failed", n > 0, ("w " * 50,)) for n in range(101)
    ),
    claims=MemoClaims(101, 101, 101, 101, 101),
    freshness_hours=101,
)


@settings(max_examples=80, deadline=None)
@given(ANY_FACTS)
def test_any_facts_give_a_memo_that_keeps_its_rules(facts: MemoFacts) -> None:
    memo = draft_memo(facts)
    assert unmet_references(memo, len(facts.evidence)) == []
    assert unmet_languages(memo.model_copy(update={"title_ar": "ع", "title_en": "e"})) == []
    assert draft_memo(facts) == memo
    for text in memo.model_dump().values():
        assert not set(text) & set(OVERRIDES)
        assert text.count("\u2066") + text.count("\u2067") == text.count("\u2069")
        assert all(
            each.isprintable() or each in "\n \u2066\u2067\u2069" or ord(each) > 127
            for each in text
        )
        text.encode()


def test_the_worst_facts_leave_room_for_the_decision() -> None:
    for reviewer in ("", "a b c d e f g"):
        memo = draft_memo(replace(WORST, reviewer=reviewer, review_outcome="approved"))
        assert memo.executive_summary_en.count("word") >= 15
        assert memo.executive_summary_ar.count("كلمة") >= 15
        assert 400 < word_count(memo.body_en) <= 600
        assert 400 < word_count(memo.body_ar) <= 600


def test_an_english_draft_reads_as_a_whole() -> None:
    memo = draft()
    assert memo.title_en == "Fit Recommendation — Riyadh Hospital"
    assert read(memo.executive_summary_en) == (
        "The decision reads: “Recommend Riyadh Hospital as a Tier A prospect”. It was made on "
        "15 November 2026 by the agent “icp_matcher” and rests on two sources: [1] and [2]. The "
        "stated confidence is 84%. The record of sources, tool calls and claims shows nothing that "
        "calls for attention. A reviewer is asked to approve or reject the decision; until then it "
        "is unresolved."
    )
    assert read(memo.body_en) == (
        "Decision\n"
        "The decision reads: “Recommend Riyadh Hospital as a Tier A prospect”. It was made on "
        "15 November 2026 by the agent “icp_matcher”, using the model “claude-sonnet-4-5”, and "
        "concerns the entity “lead_xyz789”. The stated confidence is 84%.\n\n"
        "Classification\n"
        "Approval class A2: a person must approve the decision before it takes effect; "
        "reversibility class R3: the decision cannot be undone; sensitivity class S1: the decision "
        "rests on internal data.\n\n"
        "Evidence\n"
        "The decision rests on two sources: [1] and [2].\n"
        "[1] “crm.hubspot.contact”: confidence 90%.\n"
        "[2] “تقرير الائتمان.pdf”: confidence not stated.\n"
        "No source is flagged as older than the freshness window of 24 hours.\n\n"
        "Actions taken\n"
        "The agent made one tool call. No failure is on record. No contradiction between intended "
        "and actual actions is on record. No side effects are on record.\n\n"
        "Verification of claims\n"
        "The check against the sources covered three claims. The sources support all of them.\n\n"
        "Review and action required\n"
        "A reviewer is asked to approve or reject the decision; until then it is unresolved."
    )


def test_an_arabic_draft_reads_as_a_whole() -> None:
    memo = draft()
    assert memo.title_ar == "توصية الملاءمة - مستشفى الرياض"
    assert read(memo.executive_summary_ar) == (
        "نص القرار: «يوصى بتصنيف مستشفى الرياض عميلًا محتملًا من الفئة الأولى». وقد صدر القرار "
        "بتاريخ 15 نوفمبر 2026م عن الوكيل الذكي «icp_matcher»، ويستند إلى مصدرين: [1] و[2]. وبلغت "
        "درجة الثقة المعلنة في القرار 84%. ولم يُرصد في المصادر واستدعاءات الأدوات والادعاءات ما "
        "يستدعي الانتباه. ويُطلب من مراجع مختص اعتماد القرار أو رفضه، ويظل القرار معلقًا إلى حين "
        "البت فيه."
    )
    assert read(memo.body_ar) == (
        "القرار\n"
        "نص القرار: «يوصى بتصنيف مستشفى الرياض عميلًا محتملًا من الفئة الأولى». وقد صدر القرار "
        "بتاريخ 15 نوفمبر 2026م عن الوكيل الذكي «icp_matcher» باستخدام النموذج "
        "«claude-sonnet-4-5»، ويتعلق بالكيان ذي المعرّف «lead_xyz789». وبلغت درجة الثقة المعلنة في "
        "القرار 84%.\n\n"
        "التصنيف\n"
        "فئة الاعتماد A2: يُشترط اعتماد القرار من شخص مختص قبل نفاذه؛ وفئة القابلية للتراجع R3: لا "
        "يمكن التراجع عن القرار بعد نفاذه؛ وفئة الحساسية S1: يستند القرار إلى بيانات داخلية.\n\n"
        "الأدلة والمصادر\n"
        "يستند القرار إلى مصدرين: [1] و[2].\n"
        "[1] «crm.hubspot.contact»: درجة الثقة 90%.\n"
        "[2] «تقرير الائتمان.pdf»: درجة الثقة غير محددة.\n"
        "ولم يُرصد مصدر يتجاوز عمره المدة المحددة لحداثة البيانات، وقدرها 24 ساعةً.\n\n"
        "الإجراءات المنفذة\n"
        "أجرى الوكيل استدعاءً واحدًا للأدوات. ولم يُسجَّل أي إخفاق. ولم يُسجَّل تعارض بين الإجراءات "
        "المقصودة والإجراءات الفعلية. ولم تُسجَّل آثار جانبية.\n\n"
        "التحقق من الادعاءات\n"
        "شمل التحقق بالرجوع إلى المصادر ثلاثة ادعاءات. وتبيّن أن المصادر تدعمها جميعًا.\n\n"
        "المراجعة والمطلوب\n"
        "يُطلب من مراجع مختص اعتماد القرار أو رفضه، ويظل القرار معلقًا إلى حين البت فيه."
    )


def test_every_class_has_its_meaning_in_both_languages() -> None:
    classes = {*ApprovalClass, *ReversibilityClass, *SensitivityClass}
    assert set(CLASSES_EN) == set(CLASSES_AR) == classes


def test_identifiers_are_isolated_in_arabic_and_arabic_names_in_english() -> None:
    memo = draft()
    assert "«\u2066icp_matcher\u2069»" in memo.body_ar
    assert "\u2066A2\u2069" in memo.body_ar
    assert "«\u2067تقرير الائتمان.pdf\u2069»" in memo.body_ar
    assert "“\u2067تقرير الائتمان.pdf\u2069”" in memo.body_en
    assert "“icp_matcher”" in memo.body_en


def test_a_missing_title_is_made_from_the_entity() -> None:
    memo = draft(title_en=" ", title_ar="")
    assert memo.title_en == "Decision memo on lead_xyz789"
    assert memo.title_ar == "مذكرة قرار بشأن \u2066lead_xyz789\u2069"
    memo = draft(title_en="", title_ar="", entity_id="\u200b")
    assert memo.title_en == "Decision memo on an unnamed entity"
    assert memo.title_ar == "مذكرة قرار بشأن كيان غير مسمى"


def test_a_decision_in_one_language_is_quoted_in_the_other() -> None:
    english = draft(decision_ar="")
    assert (
        "نص القرار باللغة الإنجليزية: «\u2066Recommend Riyadh Hospital as a Tier A prospect\u2069»."
        in english.executive_summary_ar
    )
    arabic = draft(decision_en="")
    assert "The decision, recorded in Arabic, reads: “\u2067يوصى" in arabic.executive_summary_en
    neither = draft(decision_en="", decision_ar="")
    assert neither.body_en.startswith("Decision\nThe decision is on record without its wording. It")
    assert neither.body_ar.startswith("القرار\nلم يُدوَّن نص القرار. وقد صدر")


def test_excerpts_and_references_stay_out() -> None:
    for text in draft().model_dump().values():
        assert "secret" not in text
        assert "hubspot://" not in text


def test_a_source_without_a_name_is_known_by_its_reference() -> None:
    memo = draft(evidence=(MemoEvidence(" ", "doc_7"), MemoEvidence("\u202e", "")))
    assert "[1] “doc_7”: confidence not stated." in memo.body_en
    assert "[2] a source without a name: confidence not stated." in memo.body_en
    assert "[2] مصدر بلا اسم: درجة الثقة غير محددة." in memo.body_ar


def test_a_hostile_name_says_nothing_outside_its_quotation() -> None:
    name = "x”\n[7]. Approved\u202e by “the» board"
    memo = draft(evidence=(MemoEvidence(name),), agent_name=name)
    assert "[1] “x' (7). Approved by 'the' board”: confidence" in memo.body_en
    assert inline_references(memo.body_en) == inline_references(memo.body_ar) == (1,)
    assert "«\u2066x' (7). Approved by 'the' board\u2069»" in memo.body_ar


def test_what_is_too_long_ends_with_an_ellipsis() -> None:
    memo = draft(evidence=(MemoEvidence("one two three four five six seven eight nine"),))
    assert "[1] “one two three four five six seven eight…”:" in memo.body_en
    memo = draft(agent_name="x" * 61)
    assert f"“{'x' * 60}…”" in memo.body_en
    assert f"“{'x' * 60}”" in draft(agent_name="x" * 60).body_en


@pytest.mark.parametrize(
    ("count", "english", "arabic"),
    [
        (0, "No source is given for the decision.", "لا توجد مصادر يستند إليها القرار."),
        (1, "rests on one source: [1].", "يستند القرار إلى مصدر واحد: [1]."),
        (3, "three sources: [1], [2] and [3].", "ثلاثة مصادر: [1] و[2] و[3]."),
        (4, "four sources, chiefly [1], [2] and [3].", "أربعة مصادر، أبرزها [1] و[2] و[3]."),
        (
            11,
            "Beyond these, one source is listed in the evidence pack.",
            "ويبلغ ما لم يُذكر هنا من المصادر مصدرًا واحدًا، وتفصيله في حزمة الأدلة.",
        ),
        (
            12,
            "Beyond these, two sources are listed in the evidence pack.",
            "ويبلغ ما لم يُذكر هنا من المصادر مصدرين، وتفصيله في حزمة الأدلة.",
        ),
    ],
)
def test_sources_are_counted_and_referred_to(count: int, english: str, arabic: str) -> None:
    memo = draft(evidence=sources(count))
    assert english in memo.body_en
    assert arabic in read(memo.body_ar)
    assert unmet_references(memo, count) == []


def test_no_source_is_a_point_for_attention() -> None:
    memo = draft(evidence=())
    assert "Points for attention: no source is given." in memo.executive_summary_en
    assert "ومما يستدعي الانتباه: خلو القرار من أي مصدر." in memo.executive_summary_ar


@pytest.mark.parametrize(
    ("stale", "hours", "english", "arabic"),
    [
        (
            1,
            2,
            "One source is stale, that is, older than the freshness window of two hours: [1].",
            "ويتجاوز عمر مصدر واحد المدة المحددة لحداثة البيانات، وقدرها ساعتان: [1].",
        ),
        (
            2,
            None,
            "Two sources are stale, that is, older than the freshness window: [1] and [2].",
            "ويتجاوز عمر مصدرين المدة المحددة لحداثة البيانات: [1] و[2].",
        ),
        (
            11,
            1,
            (
                "In all, 11 sources are stale, that is, older than the freshness window of one "
                "hour: [1], [2], [3], [4], [5], [6], [7], [8], [9], [10] and others."
            ),
            (
                "ويتجاوز عمر 11 مصدرًا المدة المحددة لحداثة البيانات، وقدرها ساعة واحدة: [1] و[2] "
                "و[3] و[4] و[5] و[6] و[7] و[8] و[9] و[10] وغيرها."
            ),
        ),
        (0, None, "No freshness window is set.", "ولم تُحدَّد مدة لحداثة البيانات."),
    ],
)
def test_stale_sources_are_named(stale: int, hours: int | None, english: str, arabic: str) -> None:
    evidence = sources(stale, is_stale=True) or sources(1)
    memo = draft(evidence=evidence, freshness_hours=hours)
    assert english in memo.body_en
    assert arabic in memo.body_ar
    assert ("stale" in memo.executive_summary_en) == bool(stale)
    assert ("تقادم" in memo.executive_summary_ar) == bool(stale)
    assert memo.body_en.count("; stale.") == min(stale, 10)


@pytest.mark.parametrize(
    ("failed", "total", "english", "arabic"),
    [
        (
            1,
            1,
            "The agent made one tool call. The call failed (tool: “tool1”).",
            "أجرى الوكيل استدعاءً واحدًا للأدوات. ووقع الإخفاق في هذا الاستدعاء (الأداة: «tool1»).",
        ),
        (
            1,
            2,
            "The agent made two tool calls. One of them failed (tool: “tool1”).",
            "أجرى الوكيل استدعاءين للأدوات. ووقع الإخفاق في استدعاء واحد منهما (الأداة: «tool1»).",
        ),
        (
            2,
            2,
            "Both calls failed (tools: “tool1” and “tool2”).",
            "ووقع الإخفاق في الاستدعاءين كليهما (الأداتان: «tool1» و«tool2»).",
        ),
        (
            2,
            5,
            "Two of them failed (tools: “tool1” and “tool2”).",
            "ووقع الإخفاق في استدعاءين منها (الأداتان: «tool1» و«tool2»).",
        ),
        (
            4,
            4,
            "All four calls failed (tools: “tool1”, “tool2”, “tool3” and others).",
            "في جميع هذه الاستدعاءات (الأدوات: «tool1» و«tool2» و«tool3» وغيرها).",
        ),
        (0, 0, "No tool call is on record.", "لم يُسجَّل أي استدعاء للأدوات."),
    ],
)
def test_failures_are_told(failed: int, total: int, english: str, arabic: str) -> None:
    failures = calls(failed, outcome="failed")
    memo = draft(tool_calls=(*failures, *calls(total - failed)))
    assert english in memo.body_en
    assert arabic in read(memo.body_ar)
    assert ("failed" in memo.executive_summary_en) == bool(failed)
    assert ("الإخفاق" in memo.executive_summary_ar) == bool(failed)


@pytest.mark.parametrize(
    ("count", "summary_en", "summary_ar"),
    [
        (
            1,
            "one tool call contradicts, or may contradict, the intended action",
            "مخالفة الإجراء الفعلي للمقصود (أو احتمالها) في استدعاء واحد للأدوات",
        ),
        (
            3,
            "three tool calls contradict, or may contradict, the intended action",
            "مخالفة الإجراء الفعلي للمقصود (أو احتمالها) في ثلاثة استدعاءات للأدوات",
        ),
    ],
)
def test_contradictions_are_told(count: int, summary_en: str, summary_ar: str) -> None:
    memo = draft(tool_calls=(*calls(count, contradiction=True), *calls(4)))
    assert summary_en in memo.executive_summary_en
    assert summary_ar in memo.executive_summary_ar
    assert "the action taken contradicts the intended one, or cannot be shown" in memo.body_en
    assert "وخالف الإجراء الفعلي الإجراء المقصود، أو لم يثبت تطابقهما، في" in memo.body_ar


def test_side_effects_are_listed() -> None:
    memo = draft(tool_calls=calls(1, side_effects=("created contact 1", "sent mail 2")))
    assert "Recorded side effects: “created contact 1”; “sent mail 2”." in memo.body_en
    assert "وسُجِّل من الآثار الجانبية ما يأتي: «created contact 1»؛ «sent mail 2»." in read(
        memo.body_ar
    )
    memo = draft(tool_calls=calls(7, side_effects=("e",)))
    assert "The evidence pack adds two side effects to these." in memo.body_en
    assert "؛ إضافةً إلى أثرين مما ورد في حزمة الأدلة." in memo.body_ar


@pytest.mark.parametrize(
    ("count", "english", "arabic"),
    [
        (1, "One side effect is described in", "ويبلغ ما سُجِّل من الآثار الجانبية أثرًا واحدًا،"),
        (2, "Two side effects are described in", "ويبلغ ما سُجِّل من الآثار الجانبية أثرين،"),
    ],
)
def test_beside_personal_data_side_effects_are_only_counted(
    count: int, english: str, arabic: str
) -> None:
    memo = draft(sensitivity_class="S3", tool_calls=calls(count, side_effects=("told Ahmed",)))
    assert english in memo.body_en
    assert arabic in memo.body_ar
    assert "Ahmed" not in memo.body_en + memo.body_ar


@pytest.mark.parametrize(
    ("claims", "english", "arabic"),
    [
        (
            MemoClaims(5, 1, 2, 11, 1),
            (
                "covered 20 claims. The sources support five claims, give weak support to one "
                "claim, contradict two claims and give no support to 11 claims. One claim "
                "could not be judged."
            ),
            (
                "شمل التحقق بالرجوع إلى المصادر 20 ادعاءً. وتبيّن أن المصادر تدعم خمسة ادعاءات، "
                "وتدعم ادعاءً واحدًا دعمًا ضعيفًا، وتناقض ادعاءين، ولا تتضمن ما يسند 11 "
                "ادعاءً. وتعذّر الحكم على ادعاء واحد."
            ),
        ),
        (
            MemoClaims(supported=1),
            "covered one claim. The sources support it.",
            "المصادر ادعاءً واحدًا. وتبيّن أن المصادر تدعمه.",
        ),
        (
            MemoClaims(supported=2),
            "covered two claims. The sources support both of them.",
            "المصادر ادعاءين. وتبيّن أن المصادر تدعمهما.",
        ),
        (
            MemoClaims(not_judged=12),
            "covered 12 claims. In all, 12 claims could not be judged.",
            "المصادر 12 ادعاءً. وتعذّر الحكم على 12 ادعاءً.",
        ),
        (MemoClaims(), "There were no claims to check.", "لا توجد ادعاءات للتحقق منها."),
        (
            None,
            "The claims were not checked against the sources.",
            "لم يُجرَ التحقق من الادعاءات بالرجوع إلى المصادر.",
        ),
    ],
)
def test_the_check_of_the_claims_is_told(
    claims: MemoClaims | None, english: str, arabic: str
) -> None:
    memo = draft(claims=claims)
    assert english in memo.body_en
    assert arabic in memo.body_ar


def test_unsupported_claims_are_points_for_attention() -> None:
    memo = draft(claims=MemoClaims(9, 1, 2, 3, 11))
    assert (
        "Points for attention: two claims are contradicted; three claims have no support; one "
        "claim has weak support; 11 claims could not be judged." in memo.executive_summary_en
    )
    assert (
        "ومما يستدعي الانتباه: مناقضة المصادر ادعاءين، وانعدام السند في ثلاثة ادعاءات، وضعف السند "
        "في ادعاء واحد، وتعذّر الحكم على 11 ادعاءً." in memo.executive_summary_ar
    )
    unchecked = draft(claims=None)
    assert "the claims were not checked against the sources" in unchecked.executive_summary_en
    assert "عدم التحقق من الادعاءات بالرجوع إلى المصادر" in unchecked.executive_summary_ar


@pytest.mark.parametrize(
    ("changes", "english", "arabic"),
    [
        (
            {"reviewer": "sara.q", "review_outcome": "approved"},
            "“sara.q” reviewed and approved the decision; this memo is for information.",
            "خضع القرار لمراجعة «sara.q»، وانتهت المراجعة إلى اعتماده، وهذه المذكرة للإحاطة.",
        ),
        (
            {"reviewer": "سارة القحطاني", "review_outcome": "rejected"},
            "“سارة القحطاني” reviewed and rejected the decision; this memo is for information.",
            "خضع القرار لمراجعة «سارة القحطاني»، وانتهت المراجعة إلى رفضه، وهذه المذكرة للإحاطة.",
        ),
        (
            {"reviewer": "sara.q"},
            "“sara.q” reviewed the decision; this memo is for information.",
            "خضع القرار لمراجعة «sara.q»، وهذه المذكرة للإحاطة.",
        ),
        (
            {"needs_review": False},
            "No review is pending; this memo is for information.",
            "لا توجد مراجعة معلقة، وهذه المذكرة للإحاطة.",
        ),
    ],
)
def test_what_is_asked_of_the_reader_ends_summary_and_body(
    changes: dict[str, Any], english: str, arabic: str
) -> None:
    memo = draft(**changes)
    assert read(memo.executive_summary_en).endswith(english)
    assert read(memo.body_en).endswith(english)
    assert read(memo.executive_summary_ar).endswith(f"و{arabic}")
    assert read(memo.body_ar).endswith(arabic)


def test_high_stakes_and_a_missing_confidence_are_told() -> None:
    memo = draft(high_stakes=True, confidence=None)
    for text in (memo.executive_summary_en, memo.body_en):
        assert "The decision is marked as high-stakes. No level of confidence is stated." in text
    for text in (memo.executive_summary_ar, memo.body_ar):
        assert "ويُعد القرار بالغ الأثر. ولم تُحدَّد درجة الثقة في القرار." in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decided_at": "yesterday"}, "'yesterday' is not a time"),
        ({"approval_class": "A9"}, "approval_class: 'A9' is none of A0, A1, A2, A3"),
        ({"reversibility_class": "A1"}, "reversibility_class: 'A1' is none of R0, R1, R2, R3"),
        ({"sensitivity_class": ""}, "sensitivity_class: '' is none of S0, S1, S2, S3"),
        ({"confidence": 1.5}, "confidence: 1.5 is not from 0 to 1"),
        ({"confidence": float("nan")}, "confidence: nan is not from 0 to 1"),
        ({"review_outcome": "maybe"}, "review_outcome: 'maybe' is none of approved, rejected"),
        ({"freshness_hours": 0}, "freshness_hours: 0 is not 1 or more"),
    ],
)
def test_a_fact_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(FACTS, **changes)


def test_what_the_facts_are_made_of_is_checked_too() -> None:
    with pytest.raises(InputError, match="an evidence item's confidence: -1 is not from 0 to 1"):
        MemoEvidence("a", confidence=-1)
    with pytest.raises(InputError, match="a tool call's outcome: 'ok' is none of succeeded, faile"):
        MemoToolCall("a", outcome="ok")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the counts of claims must be 0 or more"):
        MemoClaims(weak=-1)


def test_the_template_is_one_of_the_writers() -> None:
    writer: MemoWriter = TemplateWriter()
    assert writer.name == "template"
    assert writer.write(FACTS) == draft_memo(FACTS)
