"""What of a program's runs is recorded, how much of it, and which answers are checked."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.frozen import FrozenDict, FrozenItems, FrozenModel
from evidentia.integrations.run import Run
from evidentia.integrations.wording import PLAINLY, ToolWording

_MEGABYTE: Final = 2**20
Check = Literal["all", "share", "on_request"]
Size = Annotated[int, Field(gt=0)]


class RecordingPolicy(FrozenModel):
    """What is recorded of runs.

    `check` says which answers are checked: all, a `share` of them, which the run's id picks, or
    those that the program asks for. `judges` are asked, by name; the usual ones if none are named.
    `redact` replaces personal data in everything before it is stored; `redaction_classes` and
    `redaction_patterns` are as in a bundle's policy. `tools` has the wording of tools by name.
    What is larger than a limit is cut or left out, and counted in the run's losses.
    """

    check: Check = "all"
    share: Annotated[float, Field(ge=0, le=1)] = 0.1
    judges: FrozenItems[str] | None = None
    redact: bool = True
    redaction_classes: FrozenItems[str] | None = None
    redaction_patterns: Annotated[dict[str, str], AfterValidator(FrozenDict)] = FrozenDict()
    tools: Annotated[dict[str, ToolWording], AfterValidator(FrozenDict)] = FrozenDict()
    max_events: Size = 10_000
    max_value_bytes: Size = 256 * 2**10
    max_run_bytes: Size = 16 * _MEGABYTE
    max_waiting: Size = 1_000

    def is_checked(self, run: Run) -> bool:
        """Whether a run's answer is checked; the same run is always decided alike."""
        if run.check is not None:
            return run.check
        if self.check == "share":
            picked = int(sha256_hex(run.run_id.encode())[:8], 16)
            return picked < self.share * 2**32
        return self.check == "all"

    def wording(self, tool: str) -> ToolWording:
        """Return how a tool words itself."""
        return self.tools.get(tool, PLAINLY)

    def bundle_policy(self, items: int) -> EvidencePolicy:
        """Return the policy of a run's bundle: room for all that the run's own limits let in."""
        return EvidencePolicy(
            max_items=items,
            max_total_bytes=4 * self.max_run_bytes,
            max_item_bytes=2 * self.max_run_bytes,
            enable_redaction=self.redact,
            redaction_classes=self.redaction_classes,
            redaction_patterns=self.redaction_patterns,
        )
