"""The Arabic side of a memo's draft, in the formal register of the Gulf.

Sentences are built so that no verb has a counted noun for its subject: the counted noun stands
after a preposition or as an object, in its case, and agreement holds for every number. Outside
texts are quoted and isolated.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from evidentia.language.direction import isolated
from evidentia.language.wording import HOUR, counted_ar, date_ar, list_ar, western_percent
from evidentia.packs.facts import (
    MOST_SOURCES,
    NAME,
    TITLE,
    MemoClaims,
    MemoEvidence,
    MemoFacts,
    MemoToolCall,
    Room,
    brief,
)
from evidentia.packs.layout import Language, cited, effects, judged, tool_names, top_numbers
from evidentia.packs.memo import TOP_ITEMS
from evidentia.packs.nouns import CALL, CLAIM, EFFECT, SOURCE, TOOL_CALL

CLASSES_AR: Final = {
    "A0": "لا يلزم اعتماد القرار",
    "A1": "يجوز لمدير مختص مراجعة القرار بعد نفاذه",
    "A2": "يُشترط اعتماد القرار من شخص مختص قبل نفاذه",
    "A3": "يُشترط اعتماد القرار من الإدارة التنفيذية أو مجلس الإدارة قبل نفاذه",
    "R0": "يمكن التراجع عن القرار فورًا ودون أثر",
    "R1": "يمكن التراجع عن القرار بيسر داخل النظام",
    "R2": "لا يمكن التراجع عن القرار إلا بجهد أو بتكلفة",
    "R3": "لا يمكن التراجع عن القرار بعد نفاذه",
    "S0": "يستند القرار إلى بيانات عامة",
    "S1": "يستند القرار إلى بيانات داخلية",
    "S2": "يستند القرار إلى بيانات تجارية تخص أحد العملاء",
    "S3": "يستند القرار إلى بيانات شخصية",
}
"""What the classes mean, in plain Arabic."""
_DUAL: Final = 2


def title_ar(facts: MemoFacts) -> str:
    """Return the memo's title."""
    if title := brief(facts.title_ar, TITLE):
        return title
    entity = brief(facts.entity_id, NAME)
    return f"مذكرة قرار بشأن {isolated(entity) if entity else 'كيان غير مسمى'}"


def _after_decision(facts: MemoFacts) -> Iterator[str]:
    basis = f"، ويستند إلى {_basis(facts)}" if facts.evidence else ""
    yield (
        f"وقد صدر القرار بتاريخ {date_ar(facts.decided_at)} عن الوكيل الذكي "
        f"{_name(facts.agent_name)}{basis}."
    )
    yield _weight(facts)
    concerns = list(_concerns(facts))
    if concerns:
        yield f"ومما يستدعي الانتباه: {'، و'.join(concerns)}."
    else:
        yield "ولم يُرصد في المصادر واستدعاءات الأدوات والادعاءات ما يستدعي الانتباه."
    yield f"و{_asked(facts)}"


def _concerns(facts: MemoFacts) -> Iterator[str]:
    if not facts.evidence:
        yield "خلو القرار من أي مصدر"
    if count := len(facts.failed):
        yield f"الإخفاق في {counted_ar(count, TOOL_CALL, 'genitive')}"
    if count := len(facts.contradicting):
        calls = counted_ar(count, TOOL_CALL, "genitive")
        yield f"مخالفة الإجراء الفعلي للمقصود (أو احتمالها) في {calls}"
    if count := len(facts.stale):
        yield f"تقادم {counted_ar(count, SOURCE, 'genitive')}"
    if facts.claims is None:
        yield "عدم التحقق من الادعاءات بالرجوع إلى المصادر"
        return
    if count := facts.claims.contradicted:
        yield f"مناقضة المصادر {counted_ar(count, CLAIM, 'accusative')}"
    if count := facts.claims.not_found:
        yield f"انعدام السند في {counted_ar(count, CLAIM, 'genitive')}"
    if count := facts.claims.weak:
        yield f"ضعف السند في {counted_ar(count, CLAIM, 'genitive')}"
    if count := facts.claims.not_judged:
        yield f"تعذّر الحكم على {counted_ar(count, CLAIM, 'genitive')}"


def _decision(facts: MemoFacts, room: Room) -> str:
    if told := brief(facts.decision_ar, room):
        return f"نص القرار: {_quoted(told.removesuffix('.'))}."
    if told := brief(facts.decision_en, room):
        return f"نص القرار باللغة الإنجليزية: {_quoted(told.removesuffix('.'))}."
    return "لم يُدوَّن نص القرار."


def _origin(facts: MemoFacts) -> str:
    return (
        f"وقد صدر القرار بتاريخ {date_ar(facts.decided_at)} عن الوكيل الذكي "
        f"{_name(facts.agent_name)} باستخدام النموذج {_name(facts.model)}، ويتعلق بالكيان ذي "
        f"المعرّف {_name(facts.entity_id)}."
    )


def _weight(facts: MemoFacts) -> str:
    stakes = "ويُعد القرار بالغ الأثر. " if facts.high_stakes else ""
    if facts.confidence is None:
        return f"{stakes}ولم تُحدَّد درجة الثقة في القرار."
    return f"{stakes}وبلغت درجة الثقة المعلنة في القرار {western_percent(facts.confidence)}."


def _classes(facts: MemoFacts) -> str:
    told = "؛ و".join(
        f"{kind} {isolated(given)}: {CLASSES_AR[given]}"
        for kind, given in (
            ("فئة الاعتماد", facts.approval_class),
            ("فئة القابلية للتراجع", facts.reversibility_class),
            ("فئة الحساسية", facts.sensitivity_class),
        )
    )
    return f"{told}."


def _basis(facts: MemoFacts) -> str:
    count = len(facts.evidence)
    chiefly = "، أبرزها" if count > TOP_ITEMS else ":"
    top = _numbers(top_numbers(facts))
    return f"{counted_ar(count, SOURCE, 'genitive')}{chiefly} {top}"


def _evidence(facts: MemoFacts) -> Iterator[str]:
    if not facts.evidence:
        yield f"{counted_ar(0, SOURCE)} يستند إليها القرار."
        return
    yield f"يستند القرار إلى {_basis(facts)}."
    for number, item in enumerate(facts.evidence[:MOST_SOURCES], start=1):
        yield f"[{number}] {_source(item)}"
    if (more := len(facts.evidence) - MOST_SOURCES) > 0:
        told = counted_ar(more, SOURCE, "accusative")
        yield f"ويبلغ ما لم يُذكر هنا من المصادر {told}، وتفصيله في حزمة الأدلة."
    yield _freshness(facts)


def _source(item: MemoEvidence) -> str:
    name = _quoted(item.known_as) if item.known_as else "مصدر بلا اسم"
    trust = "غير محددة" if item.confidence is None else western_percent(item.confidence)
    return f"{name}: درجة الثقة {trust}{'، وهو مصدر متقادم' if item.is_stale else ''}."


def _freshness(facts: MemoFacts) -> str:
    hours = facts.freshness_hours
    length = f"، وقدرها {counted_ar(hours, HOUR)}" if hours else ""
    window = f"المدة المحددة لحداثة البيانات{length}"
    if facts.stale:
        told = counted_ar(len(facts.stale), SOURCE, "genitive")
        return f"ويتجاوز عمر {told} {window}: {_numbers(facts.stale)}."
    if hours:
        return f"ولم يُرصد مصدر يتجاوز عمره {window}."
    return "ولم تُحدَّد مدة لحداثة البيانات."


def _actions(facts: MemoFacts) -> Iterator[str]:
    total = len(facts.tool_calls)
    if not total:
        yield "لم يُسجَّل أي استدعاء للأدوات."
        return
    yield f"أجرى الوكيل {counted_ar(total, TOOL_CALL, 'accusative')}."
    if facts.failed:
        yield f"ووقع الإخفاق في {_of_them(len(facts.failed), total)} {_tools(facts.failed)}."
    else:
        yield "ولم يُسجَّل أي إخفاق."
    if facts.contradicting:
        yield (
            "وخالف الإجراء الفعلي الإجراء المقصود، أو لم يثبت تطابقهما، في "
            f"{_of_them(len(facts.contradicting), total)} {_tools(facts.contradicting)}."
        )
    else:
        yield "ولم يُسجَّل تعارض بين الإجراءات المقصودة والإجراءات الفعلية."
    yield _effects(facts)


def _of_them(count: int, total: int) -> str:
    if count < total:
        return f"{counted_ar(count, CALL, 'genitive')} {'منهما' if total == _DUAL else 'منها'}"
    return {1: "هذا الاستدعاء", _DUAL: "الاستدعاءين كليهما"}.get(count, "جميع هذه الاستدعاءات")


def _tools(calls: Sequence[MemoToolCall]) -> str:
    names = tool_names(calls, _name, "غيرها")
    label = {1: "الأداة", 2: "الأداتان"}.get(len(names), "الأدوات")
    return f"({label}: {list_ar(names)})"


def _effects(facts: MemoFacts) -> str:
    count = len(facts.side_effects)
    if not count:
        return "ولم تُسجَّل آثار جانبية."
    if not facts.names_effects:
        return (
            f"ويبلغ ما سُجِّل من الآثار الجانبية {counted_ar(count, EFFECT, 'accusative')}، وتفصيله "
            "في حزمة الأدلة وحدها حفاظًا على البيانات الشخصية."
        )
    told, more = effects(facts, _quoted)
    rest = (
        f"؛ إضافةً إلى {counted_ar(more, EFFECT, 'genitive')} مما ورد في حزمة الأدلة" if more else ""
    )
    return f"وسُجِّل من الآثار الجانبية ما يأتي: {'؛ '.join(told)}{rest}."


def _verification(claims: MemoClaims | None) -> Iterator[str]:
    if claims is None:
        yield "لم يُجرَ التحقق من الادعاءات بالرجوع إلى المصادر."
        return
    if not claims.total:
        yield "لا توجد ادعاءات للتحقق منها."
        return
    yield f"شمل التحقق بالرجوع إلى المصادر {counted_ar(claims.total, CLAIM, 'accusative')}."
    told = ("تدعم {}", "تدعم {} دعمًا ضعيفًا", "تناقض {}", "لا تتضمن ما يسند {}")
    found = list(judged(claims, lambda count: counted_ar(count, CLAIM, "accusative"), told))
    if claims.supported == claims.total:
        yield f"وتبيّن أن المصادر {({1: 'تدعمه', 2: 'تدعمهما'}).get(claims.total, 'تدعمها جميعًا')}."
    elif found:
        yield f"وتبيّن أن المصادر {'، و'.join(found)}."
    if claims.not_judged:
        yield f"وتعذّر الحكم على {counted_ar(claims.not_judged, CLAIM, 'genitive')}."


def _asked(facts: MemoFacts) -> str:
    if reviewer := brief(facts.reviewer, NAME):
        outcome = {
            "approved": "، وانتهت المراجعة إلى اعتماده",
            "rejected": "، وانتهت المراجعة إلى رفضه",
            None: "",
        }
        done = outcome[facts.review_outcome]
        return f"خضع القرار لمراجعة {_quoted(reviewer)}{done}، وهذه المذكرة للإحاطة."
    if facts.needs_review:
        return "يُطلب من مراجع مختص اعتماد القرار أو رفضه، ويظل القرار معلقًا إلى حين البت فيه."
    return "لا توجد مراجعة معلقة، وهذه المذكرة للإحاطة."


def _numbers(numbers: Sequence[int]) -> str:
    return list_ar(cited(numbers, lambda number: f"[{number}]", "غيرها"))


def _name(text: str) -> str:
    return _quoted(brief(text, NAME) or "غير مسمى")


def _quoted(text: str) -> str:
    return f"«{isolated(text)}»"


ARABIC: Final = Language(
    headings=(
        "القرار",
        "التصنيف",
        "الأدلة والمصادر",
        "الإجراءات المنفذة",
        "التحقق من الادعاءات",
        "المراجعة والمطلوب",
    ),
    decision=_decision,
    after_decision=_after_decision,
    origin=_origin,
    weight=_weight,
    classes=_classes,
    evidence=_evidence,
    actions=_actions,
    verification=_verification,
    asked=_asked,
)
"""The words of a draft in Arabic."""
