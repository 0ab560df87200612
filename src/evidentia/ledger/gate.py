"""The gate: whether a ledger is good enough to let an answer pass, by rules that a caller sets."""

from collections import Counter
from collections.abc import Collection

from evidentia.errors import InputError
from evidentia.language.counting import agreed, counted
from evidentia.ledger.confidence import percent
from evidentia.ledger.model import EvidenceLedger, Verdict


def read_verdicts(text: str) -> frozenset[Verdict]:
    """Read `contradicted,not_found`; raise `InputError` for what is no verdict.

    >>> sorted(read_verdicts("not_found, contradicted"))
    [<Verdict.CONTRADICTED: 'contradicted'>, <Verdict.NOT_FOUND: 'not_found'>]
    """
    names = [name.strip().lower().replace("-", "_") for name in text.split(",")]
    known = {verdict.value for verdict in Verdict}
    for name in names:
        if name and name not in known:
            raise InputError(f"verdict {name!r} is unknown: use {', '.join(sorted(known))}")
    return frozenset(Verdict(name) for name in names if name)


def gate_failures(
    ledger: EvidenceLedger, *, fail_on: Collection[Verdict] = (), min_coverage: float | None = None
) -> list[str]:
    """Return why a ledger does not pass, in words; an empty list if it does.

    A ledger without claims has a coverage of 0.
    """
    counts = Counter(entry.verdict for entry in ledger.entries)
    return failures(counts, fail_on=fail_on, min_coverage=min_coverage)


def failures(
    counts: Counter[Verdict], *, fail_on: Collection[Verdict], min_coverage: float | None
) -> list[str]:
    """Return why claims do not pass, given how many there are of each verdict."""
    found = []
    for verdict in Verdict:
        count = counts[verdict]
        if verdict in fail_on and count:
            claims = f"{counted(count, 'claim')} {agreed(count, 'is', 'are')}"
            found.append(f"{claims} {verdict.value.replace('_', ' ')}")
    covered = counts[Verdict.SUPPORTED] + counts[Verdict.WEAK]
    coverage = covered / counts.total() if counts.total() else 0.0
    if min_coverage is not None and coverage < min_coverage:
        found.append(
            f"the evidence coverage of {percent(coverage)} is below {percent(min_coverage)}"
        )
    return found
