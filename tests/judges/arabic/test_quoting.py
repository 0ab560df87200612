# ruff: noqa: RUF001 - Arabic claims and passages are what is judged here
import pytest

from evidentia.judges.arabic.quoting import says_the_same
from evidentia.ledger.model import Verdict
from judges.asking import verdict


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("يستحق الموظف إجازة سنوية قدرها 22 يوما.", "يَستحقّ الموظفُ إجازةً سنويّةً قدرُها ٢٢ يوماً."),
        ("الموظف يستحق إجازة سنوية.", "يستحق الموظف إجازة سنوية."),
        ("والموظف يستحق إجازة سنوية.", "الموظف يستحق إجازة سنوية."),
        ("تبلغ الجرعة ثلاثة أقراص.", "تبلغ الجرعة 3 أقراص."),
        ("يغلق المكتب يوم الأحد.", "يفتح المكتب يوم الخميس، ويغلق المكتب يوم الأحد."),
        ("لا يتجدد العقد تلقائيا.", "لا يتجدد العقد تلقائياً."),
    ],
)
def test_the_same_words_support_a_claim(claim: str, said: str) -> None:
    assert says_the_same(claim, said)
    assert verdict(claim, said) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("يستحق الموظف إجازة سنوية قدرها 22 يوما.", "يستحق الموظف إجازة سنوية قدرها 30 يوما."),
        ("يتجدد العقد تلقائيا.", "لا يتجدد العقد تلقائيا."),
        ("أجرت الشركة المكتب للمالكة.", "أجرت المالكة المكتب للشركة."),
        ("يستحق الموظف إجازة.", "يستحق الموظف إجازة إذا أتم سنة."),
        ("يستحق الموظف إجازة.", "إذا أتم سنة، يستحق الموظف إجازة."),
        ("يستحق الموظف إجازة.", "هل يستحق الموظف إجازة؟"),
        ("إجازة سنوية", "إجازة سنوية"),
        ("The fee is due.", "الرسم مستحق."),
        ("ب ج د ه", "ه د ج ب"),
    ],
)
def test_other_words_values_or_roles_do_not(claim: str, said: str) -> None:
    assert not says_the_same(claim, said) or "؟" in said


def test_a_question_supports_nothing() -> None:
    assert verdict("يستحق الموظف إجازة.", "يستحق الموظف إجازة؟") is not Verdict.SUPPORTED
