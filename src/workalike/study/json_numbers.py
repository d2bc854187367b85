"""Numbers of JSON documents that results can hold: finite, and not larger than a column of whole numbers takes."""

from __future__ import annotations

import math
from typing import Any

MOST = 2**63 - 1
"""What a column of whole numbers holds."""


def out_of_range(document: Any, place: str = "") -> str | None:
    """The place of the first number of a JSON document that is not finite, or larger than a column holds."""
    if isinstance(document, dict):
        pairs = ((f"{place}.{name}" if place else str(name), value) for name, value in document.items())
    elif isinstance(document, list):
        pairs = ((f"{place}[{number}]", value) for number, value in enumerate(document))
    elif isinstance(document, float):
        return None if math.isfinite(document) else place
    else:
        return place if isinstance(document, int) and abs(document) > MOST else None
    return next((found for name, value in pairs if (found := out_of_range(value, name)) is not None), None)
