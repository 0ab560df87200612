"""Packs: what sealing, verifying and listing them cost, each against a yardstick of the same run.

Run it with `python -m benchmarks.packs [--quick] [--only NAME] [--json FILE]`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.measuring import (
    Line,
    Samples,
    Section,
    Spread,
    Table,
    cpu_seconds_of,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)
from benchmarks.workload import decision_of
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from evidentia.canonical import canonical_json
from evidentia.packs.assembly import assemble
from evidentia.packs.decision import DecisionOutput
from evidentia.packs.drafting import TemplateWriter
from evidentia.packs.model import EvidencePack
from evidentia.packs.rules import check_sealable
from evidentia.packs.statement import statement_bytes
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import SigningKey, TrustedKey
from evidentia.proof.verification import verify_proof
from evidentia.store.sql.packs import insert_pack
from evidentia.trail.checkpoint import log_origin
from evidentia.trail.entry import EntryKind
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace

PACK_BYTES = 16_384
PAGE = 100
RULED = ("ruled", "bare")
AT_ONCE = 500
SEED = bytes(range(32))
WORDS = "The contact was read from the record of the customer, and it is as it was told. "


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    times: int
    packs: int
    page: int


SIZES = {
    "full": Size(15, 200, 10_000, PAGE),
    "quick": Size(7, 50, 1_000, PAGE),
    "tiny": Size(1, 2, 30, 10),
}


def measure_sealing(size: Size, _: Path) -> Section:
    """Make the statement of a pack and sign it; canonicalise, hash and sign the same bytes."""
    pack = _pack()
    value, key = pack.as_json(), Ed25519PrivateKey.from_private_bytes(SEED)
    signing = SigningKey.from_seed(log_origin("0123abcd", "acme"), SEED)

    def bare() -> None:
        data = canonical_json(value)
        sha256(data).hexdigest()
        key.sign(data)

    def sealed() -> None:
        Envelope.sign(statement_bytes(pack), signing)

    def ruled() -> None:
        check_sealable(pack, pack.tool_calls)
        sealed()

    taken = _taken(size, {"bare": bare, "sealed": sealed, "ruled": ruled})
    against = "canonicalised once, SHA-256 and Ed25519 of the same bytes"
    return Section(
        "sealing",
        "Sealing a pack",
        f"A pack of {len(pack.encode()):,} bytes: its canonical JSON, the digest, the statement "
        "about it, and the signed envelope. The first line asks all rules of sealing before "
        "that: how the memo refers to its sources, in which languages, with which words, and "
        "that it holds no personal data. Processor time; what is kept on disk is not in it.",
        [
            _line("the rules of sealing, the statement, the seal", against, taken, RULED, 3.0),
            _line("the statement made and signed alone", against, taken, ("sealed", "bare")),
        ],
        [_shares("Where the time of the rules and the seal goes", ruled, size)],
    )


def measure_verifying(size: Size, folder: Path) -> Section:
    """Verify an exported pack; canonicalise, hash and check the signature of the same bytes."""
    with open_workspace(folder / "verifying") as workspace:
        pack = workspace.packs.seal(_pack(tenant=workspace.tenant))
        data = workspace.packs.export(pack.pack_id, folder / "pack.json").read_bytes()
        trusted = TrustedKey.parse(str(workspace.trail.public_key()))
    value, key = pack.as_json(), Ed25519PrivateKey.from_private_bytes(SEED)
    public = Ed25519PublicKey.from_public_bytes(key.public_key().public_bytes_raw())
    signature = key.sign(pack.encode())

    def bare() -> None:
        written = canonical_json(value)
        sha256(written).hexdigest()
        public.verify(signature, written)

    def proved() -> None:
        verify_proof(data, [trusted])

    def verified() -> None:
        verify(data, key=trusted)

    if not verify(data, key=trusted).holds:
        raise SystemExit("the pack does not hold")
    taken = _taken(size, {"bare": bare, "proved": proved, "verified": verified})
    against = "canonicalised once, SHA-256 and one Ed25519 check of the same bytes"
    return Section(
        "verifying",
        "Verifying a pack",
        f"The same pack as a file of {len(data):,} bytes. Read strictly, its place in the log and "
        "both signatures checked, the form of every field, the id, the subjects, the entry, the "
        "file byte for byte, and each tool call and the memo by the rules as they are now. The "
        "second line is the proof alone, whatever is in it. Processor time.",
        [
            _line("everything that `verify` checks", against, taken, ("verified", "bare"), 3.0),
            _line("the proof alone, with two signatures", against, taken, ("proved", "bare")),
        ],
        [_shares("Where the time of verifying goes", verified, size)],
    )


def measure_listing(size: Size, folder: Path) -> Section:
    """List packs page by page, and compare the last page with the first."""
    with open_workspace(folder / "listing") as workspace:
        _fill(workspace, size.packs)
        cursors = _cursors(workspace, size.page)

        def page(cursor: int | None) -> Callable[[], float]:
            return lambda: seconds_of(lambda: workspace.packs.list(before=cursor, limit=size.page))

        tidy()
        sides = {"first": cursors[0], "middle": cursors[len(cursors) // 2], "last": cursors[-1]}
        for cursor in sides.values():
            page(cursor)()
        taken = interleaved(size.rounds * 5, {name: page(cursor) for name, cursor in sides.items()})
    return Section(
        "listing",
        "Listing packs by a cursor",
        f"{size.packs:,} packs, {size.page} to a page, newest first: {len(cursors):,} pages. "
        "Each page begins where the one before ended, so that the last should take what the first "
        "does. Rows and entries are those that sealing writes, many to a transaction.",
        [
            _line(f"the {name} page", "the first page", taken, (name, "first"), target)
            for name, target in (("middle", None), ("last", 1.5))
        ],
    )


def _line(
    what: str,
    against: str,
    taken: dict[str, list[float]],
    sides: tuple[str, str],
    target: float | None = None,
) -> Line:
    ours, theirs = taken[sides[0]], taken[sides[1]]
    return Line(
        what,
        against,
        f"{number(Spread.of(ours).median * 1e6)} µs",
        f"{number(Spread.of(theirs).median * 1e6)} µs",
        ratios(ours, theirs),
        "times",
        target=target,
        at_most=True,
    )


def _taken(size: Size, sides: dict[str, Callable[[], None]]) -> dict[str, list[float]]:
    """Return what each side takes for one pack, round by round."""

    def many(work: Callable[[], None]) -> Callable[[], float]:
        def repeat() -> None:
            for _ in range(size.times):
                work()

        return lambda: cpu_seconds_of(repeat) / size.times

    for work in sides.values():
        work()
    tidy()
    return interleaved(size.rounds, {name: many(work) for name, work in sides.items()})


def _shares(title: str, work: Callable[[], None], size: Size) -> Table:
    samples = Samples()
    with samples.taken():
        for _ in range(size.times * 5):
            work()
    return Table(title, ["Function", "Share"], samples.shares())


def _fill(workspace: Workspace, count: int) -> None:
    """Record packs as sealing does, but for the files, and many in one transaction."""
    made = _pack(tenant=workspace.tenant, calls=0)
    workspace.packs.seal(made)
    for start in range(0, count - 1, AT_ONCE):
        with workspace._acting.writing() as connection:  # noqa: SLF001 - the same
            for at in range(start, min(start + AT_ONCE, count - 1)):
                named = {"pack_id": "", "decision": None, "decision_id": f"dec_{at}"}
                pack = made.model_copy(update=named)
                body = {"statement_sha256": pack.sha256, "decision_id": pack.decision_id}
                entry = (EntryKind.PACK, pack.pack_id, body)
                receipt = workspace._acting.append_within(connection, *entry)  # noqa: SLF001 - the same
                insert_pack(connection, workspace.tenant, pack, pack.sha256, receipt.seq)


def _cursors(workspace: Workspace, page: int) -> list[int | None]:
    """Return where each page begins: before which entry."""
    cursors: list[int | None] = [None]
    while len(found := workspace.packs.list(before=cursors[-1], limit=page)) == page:
        cursors.append(found[-1].entry)
    return cursors[:-1] if not found and len(cursors) > 1 else cursors


def _pack(tenant: str = "acme", calls: int = 8) -> EvidencePack:
    """Return a pack that can be sealed, of the size that is measured if it has calls."""
    decision = DecisionOutput.model_validate(_decision(tenant))
    ledger = ToolVerificationLedger()
    for at in range(calls):
        ledger.record(decision.decision_id, ToolCallRecord.model_validate(_call(at)))
    made = assemble(
        decision,
        memo=TemplateWriter(),
        tool_ledger=ledger,
        created_at="2026-03-01T12:00:00Z",
    )
    if not calls:
        return made
    lacking = PACK_BYTES - len(made.encode())
    last = made.tool_calls[-1]
    padded = last.model_copy(update={"outputs": {**last.outputs, "text": "x" * lacking}})
    tool_calls = (*made.tool_calls[:-1], padded)
    return made.model_copy(update={"pack_id": "", "tool_calls": tool_calls})


def _decision(tenant: str) -> dict[str, Any]:
    return decision_of(tenant) | {
        "evidence": [
            {
                "source": f"crm.contact.{at}",
                "uri": f"crm://contacts/{at}",
                "excerpt": WORDS * 6,
                "retrieved_at": "2026-03-01T10:00:00Z",
                "confidence": 1 - at / 20,
            }
            for at in range(1, 6)
        ],
    }


def _call(at: int) -> dict[str, Any]:
    return {
        "tool_name": "crm.get_contact",
        "intended_action": f"retrieve contact {at} read-only",
        "actual_action": f"retrieved contact {at} read-only",
        "inputs": {"id": str(at)},
        "outputs": {"id": str(at), "text": ""},
        "called_at": "2026-03-01T10:30:00Z",
        "duration_ms": 12.5,
    }


def main() -> None:
    run_measures(
        "Measures packs against yardsticks of the same run.",
        {
            "sealing": lambda size, folder: measure_sealing(SIZES[size], folder),
            "verifying": lambda size, folder: measure_verifying(SIZES[size], folder),
            "listing": lambda size, folder: measure_listing(SIZES[size], folder),
        },
    )


if __name__ == "__main__":
    main()
