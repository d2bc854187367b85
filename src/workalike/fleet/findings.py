"""The findings of a log when it is ingested: rows of the `finding` table."""

from __future__ import annotations

import json
from typing import Any

from workalike.diagnose.diagnosis import findings_of as diagnosed
from workalike.diagnose.finding import Finding
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer
from workalike.diagnose.site import Site
from workalike.errors import WorkalikeError

FAILED = "cannot-diagnose"
"""In place of a rule: the diagnosis itself failed. The other tables of the log are not affected."""
RULES_VERSION = 3
"""Of the rules and of what a row holds; a finding of another version is another finding."""


def findings_of(job: Job, rules: Site) -> list[dict[str, Any]]:
    """Rows of the `finding` table without `log_id`, the one that explains most time first.

    Costs are seconds of rank time, bounds seconds of wall-clock time. No row holds a name of the log.
    """
    try:
        return [_row(finding) for finding in diagnosed(job, rules)[0]]
    except Exception as error:  # a log that no rule has foreseen is still counted in the other tables
        said = error.message if isinstance(error, WorkalikeError) else type(error).__name__
        return [
            {
                "rule": FAILED,
                "version": RULES_VERSION,
                "severity": "NOTE",
                "answer": Answer.CANNOT_TELL.value,
                "cost_s": 0.0,
                "bound_s": 0.0,
                "summary": f"the rules failed on this log: {said}",
                "evidence": "{}",
                "advice": "",
            }
        ]


def _row(finding: Finding) -> dict[str, Any]:
    evidence = {
        "families": finding.families,
        "formula": finding.cost.formula,
        "terms": finding.cost.terms,
        "numbers": finding.evidence,
        "also": finding.also,
        "sure": finding.sure.value,
        "assumes": finding.assumes,
    }
    return {
        "rule": finding.rule,
        "version": RULES_VERSION,
        "severity": finding.severity.value,
        "answer": finding.answer.value,
        "cost_s": finding.cost.rank_seconds,
        "bound_s": finding.gain_at_most_s,
        "summary": finding.summary,
        "evidence": json.dumps(evidence),
        "advice": finding.advice,
    }
