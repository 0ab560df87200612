"""What people said of claims, for `evidentia judge eval`: beside the judges, and as pairs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.cli.options import workspace

if TYPE_CHECKING:
    from evidentia.workspace.labelled import PeoplesVerdicts


def said(home: Path | None, tenant: str | None, write: Path | None) -> "PeoplesVerdicts":
    """Return what people said in the workspace, and write it as pairs if a file is named.

    Raise `NotFoundError` if they said nothing.
    """
    from evidentia.errors import NotFoundError
    from evidentia.store.files import write_durably

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.ledgers.labelled()
    if not found.pairs:
        raise NotFoundError(
            "no claim has a verdict of a person that could be a pair: people give theirs in the "
            "server's API or pages, programs with ledgers.give_verdict"
        )
    if write is not None:
        write_durably(write, lines(found).encode())
    return found


def lines(found: "PeoplesVerdicts") -> str:
    """Return the pairs as JSON lines, as 'judge eval' reads them."""
    pairs = (
        {"evidence": one.evidence, "claim": one.claim, "label": one.label.value}
        for one in found.pairs
    )
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in pairs)


def show(found: "PeoplesVerdicts") -> None:
    """Print how far what the ledgers say agrees with what people said."""
    from evidentia.cli.output import print_table, say
    from evidentia.language.counting import counted
    from evidentia.ledger.model import Verdict

    verdicts = [one.value for one in Verdict]
    rows = [
        (person.replace("_", " "), *(found.agreement.get((person, judge), 0) for judge in verdicts))
        for person in verdicts
        if any(said == person for said, _ in found.agreement)
    ]
    names = [one.replace("_", " ") for one in verdicts]
    print_table(("People, by what the ledgers say", *names), rows, right=names)
    total = found.agreement_total
    claims = counted(total, "claim")
    say(f"People and ledgers agree on {found.agreed:,} of {claims} ({found.agreed / total:.0%}).")
    if found.contested:
        say(f"On {counted(found.contested, 'claim')} people differ: the newest counts.", under=True)
    if found.left_out:
        say(
            f"{counted(found.left_out, 'claim')} left out: no evidence, or the ledger is gone.",
            under=True,
        )
