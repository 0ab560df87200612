import pytest

from evidentia.judges.arabic.cases import is_case
from evidentia.judges.arabic.facts import read_facts


@pytest.mark.parametrize(
    "claim",
    [
        "إجازة الأضحى أطول من إجازة الفطر بيوم واحد.",
        "الضيف الذي يمكث أربع ساعات يدفع رسماً.",
        "المستأجر يدفع أكثر من",
        "Each of the drivers pays 5 pounds.",
    ],
)
def test_a_claim_that_compares_or_applies_is_a_case(claim: str) -> None:
    assert is_case(read_facts(claim))


@pytest.mark.parametrize(
    "claim",
    [
        "الإجازة السنوية أكثر من عشرة أيام.",
        "أكثر الموظفين يحصلون على خمسة أيام.",
        "Bills are issued on the 3rd of each month.",
    ],
)
def test_a_bound_is_no_case(claim: str) -> None:
    assert not is_case(read_facts(claim))
