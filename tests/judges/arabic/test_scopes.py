import pytest

import tiers
from evidentia.judges.arabic.facts import read_facts
from evidentia.judges.arabic.scopes import denied_scope
from evidentia.ledger.model import Verdict
from judges.asking import verdict

SECRET = "تجمع الشركة بيانات الاستهلاك، ولا تطلع على محتوى الاتصالات."


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("تطلع شركة سحاب على مضمون اتصالات مشتركيها.", SECRET),
        ("يلتزم العميل بالمحافظة على رصيد دائم.", "الحد 3,000 درهم، ولا يُشترط رصيد أدنى بعد ذلك."),
        (
            "يدفع المؤجر تعويضاً عن التحسينات الثابتة.",
            "تؤول التحسينات الثابتة إلى المؤجر دون تعويض.",
        ),
        ("يُفصل الموظف المدخن بلا مكافأة.", "الموظف المدخن يُفصل مع المكافأة."),
        ("تُقبل التقارير الأجنبية من دون تصديق.", "لا تُقبل التقارير الأجنبية إلا بعد تصديقها."),
    ],
)
def test_what_is_denied_with_all_that_belongs_to_it_contradicts(claim: str, said: str) -> None:
    assert verdict(claim, said) is Verdict.CONTRADICTED


@tiers.one_test
@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("تطلع شركة سحاب على العناوين.", SECRET),
        ("تطلع شركة سحاب على الاتصالات فقط.", SECRET),
        ("تطلع شركة سحاب على الاتصالات.", "إذا انتهى العقد لا تطلع الشركة على الاتصالات."),
        ("يتحمل العميل المبلغ المسحوب كله.", "لا يتحمل العميل المبلغ بعد الإبلاغ."),
        ("التصريح صالح للعمل في المكتب.", "لا يبدأ العمل في المكتب بلا تصريح."),
        ("يستطيع الراكب إبراز الرمز حتى بلا شبكة.", "يستطيع الراكب إبراز الرمز من الشبكة."),
        ("يُفصل الموظف المدخن بلا مكافأة.", "الموظف المدخن يُفصل دون مكافأة."),
        ("يُفصل الموظف بلا مكافأة ولا يعود.", "الموظف يُفصل مع المكافأة."),
        ("يُفصل الموظف بلا.", "الموظف يُفصل مع المكافأة."),
        ("يعمل السائق الجديد ليلاً بلا مكافأة.", "تُصرف المكافأة."),
        ("يدفع المؤجر تعويضاً عن الضرر.", "تؤول التحسينات الثابتة دون تعويض."),
        ("يدفع المؤجر تعويضاً.", "تؤول التحسينات إلى المستأجر دون رسوم."),
        ("يدفع المؤجر تعويضاً في 5 أيام.", "تؤول التحسينات إلى المؤجر دون تعويض."),
    ],
)
def test_a_denial_of_something_else_contradicts_nothing(claim: str, said: str) -> None:
    assert verdict(claim, said) is not Verdict.CONTRADICTED


def test_a_sentence_without_something_else_says_nothing_of_a_claim() -> None:
    said = read_facts("تؤول التحسينات إلى المؤجر دون رسوم.")
    assert denied_scope(read_facts("يدفع المؤجر تعويضاً عن التحسينات."), (said,)) is None
    assert denied_scope(read_facts("يدفع المؤجر رسوم التحسينات."), (said,)) is not None
