"""Where findings of a log are computed when it is ingested: rows of the `finding` table."""

from __future__ import annotations

from typing import Any

from workalike.facts.columns import Facts


def findings_of(facts: Facts) -> list[dict[str, Any]]:
    """Rows of the `finding` table without `log_id`; rules of the package `diagnose` will fill it.

    Each row has rule, version, severity, cost_s and bound_s (seconds of rank time) and evidence (JSON text).
    """
    return []
