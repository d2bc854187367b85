"""Which changes the findings of a job ask for."""

from __future__ import annotations

from workalike.characterize import characterize
from workalike.diagnose.change import Change
from workalike.diagnose.finding import Diagnosis, Severity, Tried
from workalike.diagnose.job import Job
from workalike.diagnose.registry import all_rules
from workalike.diagnose.rule import Answer
from workalike.diagnose.trying.measure import TryOptions, try_changes


def changes_of(found: Diagnosis) -> list[tuple[str, Change]]:
    """(rule, change) of all changes that findings ask for, the most costly first; each change once."""
    rules = all_rules()
    out: dict[str, tuple[str, Change]] = {}
    for finding in found.findings:
        for name in (finding.rule, *finding.also):
            for change in rules[name].changes:
                out.setdefault(change.name, (name, change))
    return list(out.values())


def try_findings(found: Diagnosis, job: Job, options: TryOptions) -> list[Tried]:
    """Measure the changes that the findings ask for, on this system.

    Raises:
        WorkalikeError: as `characterize` and `run_study`; nothing is run for findings without a change.
    """
    changes = changes_of(found)
    tried = try_changes(characterize(job.logs).workload, changes, options) if changes else []
    return tried + not_tried(found)


def not_tried(found: Diagnosis) -> list[Tried]:
    """The problems that no change of a workload removes."""
    rules = all_rules()
    reason = "no setting of the workload changes this: it takes a change of the application"
    return [
        Tried(rule=finding.rule, change="", says="", reason=reason)
        for finding in found.findings
        if finding.severity in (Severity.HIGH, Severity.MEDIUM)
        and finding.answer is Answer.PROBLEM
        and not any(rules[name].changes for name in (finding.rule, *finding.also))
    ]


def with_gains(found: Diagnosis, tried: list[Tried]) -> Diagnosis:
    """The diagnosis with what was tried; a measured gain takes the place of the bound of its finding."""
    findings = []
    for finding in found.findings:
        of_finding = [
            trial
            for trial in tried
            if trial.rule in (finding.rule, *finding.also) and trial.ratio is not None
        ]
        change = {"measured": of_finding, "gain_at_most_s": None} if of_finding else {}
        findings.append(finding.model_copy(update=change))
    return found.model_copy(update={"findings": findings, "tried": tried})
