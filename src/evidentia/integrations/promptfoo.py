"""An assertion of promptfoo in Python: `from evidentia.integrations.promptfoo import get_assert`.

The assertion's `config` has `metric`, `threshold`, `contexts` (the variable that has the passages),
`against`, `judges` and `home`. It asks no model, unless a judge of your choosing does.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from evidentia.errors import InputError
from evidentia.integrations.scoring import Scoring

THRESHOLD: Final = 0.5
_KNOWN: Final = ("against", "contexts", "home", "judges", "metric", "threshold")


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Check an output against the passages among its variables; return promptfoo's grading.

    An output in which there is nothing to count scores 0 and does not pass.
    """
    config: Mapping[str, Any] = context.get("config") or {}
    unknown = sorted(set(config) - set(_KNOWN))
    if unknown:
        raise InputError(f"config has no {', '.join(unknown)}: use {', '.join(_KNOWN)}")
    threshold = float(config.get("threshold", THRESHOLD))
    scoring = Scoring(
        config.get("metric", "faithfulness"),
        config.get("against"),
        config.get("judges"),
        config.get("home"),
    )
    variables: Mapping[str, Any] = context.get("vars") or {}
    given = None
    if scoring.against is None:
        given = _passages(variables.get(config.get("contexts", "contexts")))
    scored = scoring.score(output, contexts=given)
    return {
        "pass": scoring.passes(scored.value, threshold),
        "score": 0.0 if scored.value is None else scored.value,
        "reason": scored.reason,
        "namedScores": scored.others,
    }


def _passages(value: Any) -> Any:
    """Return the passages of a variable: a list, one text, or the JSON of a list."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return [value]
    return found if isinstance(found, list) else [value]
