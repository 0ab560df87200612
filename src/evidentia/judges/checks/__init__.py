"""Typed checks: where a claim and a passage agree or disagree in a value or an operator.

They stand beside a judge that knows what words mean: each is one comparison with the two spans
compared, to be weighed with others and to be shown to a reader. A check is made only where the two
are plainly about the same thing.
"""

from evidentia.judges.checks.comparatives import comparative_checks
from evidentia.judges.checks.model import Check, CheckKind
from evidentia.judges.checks.names import name_checks
from evidentia.judges.checks.polarity import polarity_checks
from evidentia.judges.checks.quantities import quantity_checks, retold
from evidentia.judges.checks.roles import role_checks
from evidentia.judges.checks.strength import strength_checks
from evidentia.language.readings import read

__all__ = ["Check", "CheckKind", "retold", "typed_checks"]

_RULES = (
    quantity_checks,
    polarity_checks,
    name_checks,
    strength_checks,
    comparative_checks,
    role_checks,
)


def typed_checks(claim: str, evidence: str) -> tuple[Check, ...]:
    """Compare a claim with a passage of a few sentences, by kind and in the claim's order.

    English is understood. Any text is answered; of each the first 4,000 code points are read.
    """
    claimed, said = read(claim), read(evidence)
    return tuple(check for rule in _RULES for check in rule(claimed, said))
