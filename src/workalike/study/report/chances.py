"""How sure a result is, in words."""

from __future__ import annotations

SURE = 0.95
"""The probability from which on a setting is said to be the best."""
NEARLY_ONE = 0.995
"""From here on a probability would be rounded to 100 %."""


def chance_text(share: float) -> str:
    """A probability in a sentence."""
    return "more than 99 %" if share >= NEARLY_ONE else f"{100 * share:.0f} %"
