"""How packs are shown on a terminal."""

from typing import TYPE_CHECKING

from evidentia.cli.output import say, show, visible
from evidentia.export.told import pack_state, pack_warnings, whole_pack
from evidentia.language.counting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidentia.packs.model import EvidencePack
    from evidentia.packs.retention import LegalHold
    from evidentia.store.sql.packs import ListedPack


def say_pack(pack: "EvidencePack") -> None:
    """Say in a few lines what a pack that was just made is."""
    newer = f", version {pack.version}" if pack.version > 1 else ""
    say(f"{pack.pack_id}: the pack of {visible(pack.decision_id)}{newer}", "good")
    sources = counted(len(pack.sources), "source")
    calls = counted(len(pack.tool_calls), "tool call")
    say(f"{sources}, {calls}; {visible(pack_state(pack))}", under=True)
    show(pack_warnings(pack))


def show_pack(pack: "EvidencePack", hold: "LegalHold | None") -> None:
    """Show all of a pack that a person reads on a terminal."""
    show(whole_pack(pack, hold))


def say_versions(versions: "Sequence[ListedPack]", shown: str) -> None:
    """Say which versions of a pack there are, the oldest first."""
    if len(versions) == 1:
        return
    say("Versions:")
    for one in versions:
        here = " (shown here)" if one.id == shown else ""
        say(f"{one.version}: {one.id}, {one.created_at}{here}", under=True)
