"""Questions about numbers that a study has no answer to, since its trials differ in other factors as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.study.report.knees import LEAST_LEVELS, Knee, numbers_of
from workalike.study.report.slopes import Growth, number_factors
from workalike.study.report.table import StudyTable, shown


def not_compared_text(table: StudyTable, knees: Sequence[Knee], growths: Sequence[Growth]) -> str:
    """Which numbers go with other factors, so that they cannot be compared, and why; empty for one block, and where all can."""
    if len(np.unique(table.block)) < 2:
        return ""
    has_knee, has_line = {knee.factor for knee in knees}, {growth.factor for growth in growths}
    stop = [
        shown(name)
        for name, column in table.factors.items()
        if name not in table.counts and name not in has_knee and len(numbers_of(column)) >= LEAST_LEVELS
    ]
    grow = [shown(name) for name in number_factors(table) if name not in has_line]
    parts = []
    if stop:
        parts.append(
            f"From where on more stops paying is not known of {', '.join(stop)}: fewer than two blocks have two levels "
            "of it that worked, with all other factors alike."
        )
    if grow:
        parts.append(
            f"How times grow is not known of {', '.join(grow)}: fewer than two blocks have all levels of it, with all "
            "other factors alike."
        )
    return " ".join(parts)
