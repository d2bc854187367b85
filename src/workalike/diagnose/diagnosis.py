"""Logs -> diagnosis: every rule over one job, causes merged, severities by time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workalike.darshan import Log
from workalike.diagnose.causes import Story, stories, weight
from workalike.diagnose.costs import KINDS, seconds
from workalike.diagnose.finding import (
    ConflictOut,
    Consistency,
    CostOut,
    Diagnosis,
    FamilyOut,
    Finding,
    History,
    Severity,
    SlowestCallOut,
    Unknown,
)
from workalike.diagnose.job import Job, Past, read_job
from workalike.diagnose.registry import all_rules
from workalike.diagnose.rule import Answer, CannotTell, Found, Rule, Seen
from workalike.diagnose.site import Site
from workalike.diagnose.storage import ROOT, Kind
from workalike.facts.records import BoolArray
from workalike.facts.slowest_call import slowest_call
from workalike.text import count_text, plural

MOST_EXAMPLES = 20
OVERLAPPING = 1.1
"""Timers of threads: they add up to more than this factor of what the ranks had."""


def diagnose(logs: Sequence[Log], site: Site | None = None, *, names: bool = False) -> Diagnosis:
    """The findings of the logs of one job; with `names`, patterns of file names are in it.

    Raises:
        WorkalikeError: as `read_job`.
    """
    return diagnosis_of(read_job(logs), site or Site(), names=names)


def diagnosis_of(job: Job, site: Site, *, names: bool = False, history: History | None = None) -> Diagnosis:
    """As `diagnose`, of a job that was read; `history` is how it stands among earlier runs."""
    job.past = past_of(history) if history else None
    findings, unknown = findings_of(job, site)
    spent = _io_seconds(job)
    warnings = [*job.warnings, *(w for log in job.logs for w in log.warnings)]
    if _overlaps(job, spent):
        warnings.append(
            f"timers add up to {spent / job.rank_time:.3g} times ranks x run time: threads overlap, "
            "so costs are upper bounds and no finding is weighed above MEDIUM"
        )
    return Diagnosis(
        ranks=job.nprocs,
        run_time_s=job.run_time,
        io_share=min(1.0, spent / job.rank_time) if job.rank_time > 0 else 0.0,
        slowest_call=_slowest_call(job),
        warnings=warnings,
        partial_modules=list(job.facts.partial_modules),
        unreadable_modules=list(job.facts.unreadable_modules),
        families=_families(job, names),
        consistency=_consistency(job) if len(job) else None,
        findings=findings,
        cannot_tell=unknown,
        history=history,
    )


def past_of(history: History) -> Past | None:
    """What rules need of a history; None where the run or its earlier ones have no bandwidth."""
    standings = {standing.key: standing for standing in history.standings}
    if "bandwidth" not in standings or "io_s" not in standings:
        return None
    bandwidth, io = standings["bandwidth"], standings["io_s"]
    return Past(
        runs=history.runs,
        percentile=bandwidth.percentile,
        bandwidth=bandwidth.value,
        usual_bandwidth=bandwidth.median,
        io_s=io.value,
        usual_io_s=io.median,
        changed=tuple(s.name for s in history.standings if s.changed and s.unit in ("", "B")),
    )


def findings_of(job: Job, site: Site) -> tuple[list[Finding], list[Unknown]]:
    """The findings of a job, the one that explains most time first, and the rules that cannot tell."""
    job.storage, job.ranks_per_node = site.storage, site.job.ranks_per_node
    found: list[tuple[Rule, Seen]] = []
    unknown: list[Unknown] = []
    for rule in all_rules().values():
        answer = _ask(rule, job, site)
        if isinstance(answer, CannotTell):
            unknown.append(Unknown(rule=rule.id, reason=answer.reason))
        else:
            found += [(rule, seen) for seen in answer]
    findings = [_finding(story, job, site) for story in stories(found)]
    if findings and _overlaps(job, _io_seconds(job)):
        for finding in findings:
            finding.severity = Severity.MEDIUM if finding.severity is Severity.HIGH else finding.severity
    findings.sort(key=lambda finding: (finding.rule != "partial-log", finding.answer is Answer.HARMLESS))
    return findings, unknown


def _slowest_call(job: Job) -> SlowestCallOut | None:
    found = slowest_call(job.facts, job.own) if len(job) else None
    if found is None:
        return None
    share = min(1.0, found.seconds / job.run_time) if job.run_time > 0 else 0.0
    return SlowestCallOut(call=found.words, seconds=found.seconds, bytes=found.bytes, share=share)


def _io_seconds(job: Job) -> float:
    """Seconds of all ranks in calls on the application's files."""
    return float(seconds(job, *KINDS)[job.own].sum()) if len(job) else 0.0


def _overlaps(job: Job, spent: float) -> bool:
    """Whether timers of threads overlap."""
    return spent > OVERLAPPING * job.rank_time > 0


def _ask(rule: Rule, job: Job, site: Site) -> Found:
    """What a rule sees, if the job has what it needs."""
    if rule.id != "partial-log":
        if not len(job):
            return CannotTell("the log has no files")
        if job.run_time <= 0:
            return CannotTell("the run time is zero")
        if job.run_time < site.job.minimum_run_time_s:
            return CannotTell(f"the run of {job.run_time:.3g} s is too short to weigh anything")
    missing = [module for module in rule.needs if not _has(job, module)]
    if missing:
        return CannotTell(f"the log has no {' and no '.join(missing)} module")
    if rule.any_of and all(job.module(module) is None for module in rule.any_of):
        return CannotTell(f"the log has none of the modules {', '.join(rule.any_of)}")
    if not rule.shared_storage:
        return rule.find(job, site.parameters(rule.id))
    on_nodes = job.lies_on(Kind.LOCAL, Kind.MEMORY)
    if on_nodes.any() and not job.on_shared.any():
        return CannotTell(f"no file lies on storage that nodes share, but on {_types(job, on_nodes)}")
    found = rule.find(job, site.parameters(rule.id))
    return found if isinstance(found, CannotTell) else [_of_shared(seen, job, on_nodes) for seen in found]


def _of_shared(seen: Seen, job: Job, on_nodes: BoolArray) -> Seen:
    """A finding about shared storage, with what it leaves out and what it takes for shared without knowing."""
    evidence = seen.evidence
    if on_nodes.any():
        evidence = {**evidence, "files_on_nodes_left_out": float(on_nodes.sum())}
    doubtful = job.lies_on(Kind.UNKNOWN)
    if seen.families:  # without any, it is about all files
        doubtful &= np.isin(job.family, seen.families)
    if not doubtful.any():
        return replace(seen, evidence=evidence)
    at_root = doubtful & np.array([path == ROOT for path, _ in job.mounts], dtype=bool)
    assumes = f"{plural(int(doubtful.sum()), 'file')} on shared storage: their file system is {_types(job, doubtful)}"
    if at_root.any():
        assumes += f"; of {count_text(int(at_root.sum()))}, the mount table shows no more than the root"
    return replace(seen, evidence=evidence, assumes=assumes)


def _types(job: Job, which: BoolArray) -> str:
    """The types of the file systems of some files, as a text. A log may name any type."""
    doubtful = job.lies_on(Kind.UNKNOWN)
    found = {
        "unknown"
        if doubtful[row] and job.storage.kind_of(job.mounts[row][1]) is not Kind.UNKNOWN
        else job.mounts[row][1]
        for row in np.flatnonzero(which).tolist()
    }
    return ", ".join(
        sorted({kind if re.fullmatch(r"[\w.+-]{1,32}", kind) else "an odd type" for kind in found})
    )


def _has(job: Job, module: str) -> bool:
    if module == "LUSTRE":  # not a module of files, and so not among the facts
        return any(len(log.lustre()) for log in job.logs)
    if module == "HEATMAP":
        return any(log.heatmaps() for log in job.logs)
    return job.module(module) is not None


def _finding(story: Story, job: Job, site: Site) -> Finding:
    rule, seen, cost = story.rule, story.seen, story.cost
    by_time = weight(cost)
    severity = Severity.NOTE
    answer = seen.answer or rule.answer
    if answer in (Answer.PROBLEM, Answer.NOT_YOUR_FAULT):
        if by_time >= site.job.high:
            severity = Severity.HIGH
        elif by_time >= site.job.medium:
            severity = Severity.MEDIUM
    evidence = dict(seen.evidence)
    for other, its in story.also:
        evidence |= {f"{other.id}: {key}": value for key, value in its.evidence.items()}
    return Finding(
        rule=rule.id,
        title=rule.title,
        severity=severity,
        answer=answer,
        summary=seen.summary,
        families=[job.families[number].label for number in seen.families],
        cost=CostOut(
            rank_seconds=cost.rank_seconds,
            share=cost.rank_seconds / job.rank_time if job.rank_time > 0 else 0.0,
            slowest_rank_s=cost.slowest_s,
            slowest_rank_share=cost.slowest_s / job.run_time if job.run_time > 0 else 0.0,
            formula=cost.formula,
            terms={key: float(value) for key, value in cost.terms.items()},
        ),
        gain_at_most_s=cost.bound_s if answer is Answer.PROBLEM else 0.0,
        evidence={key: float(value) for key, value in evidence.items() if np.isfinite(value)},
        also=list(dict.fromkeys(other.id for other, _ in story.also if other.id != rule.id)),
        advice=seen.advice or rule.advice,
        snippet="" if seen.advice else rule.snippet,  # it belongs to the rule's own advice
        other_snippets={} if seen.advice else dict(rule.other_snippets),
        sure=seen.sure,
        partial=sorted(_modules(story) & set(job.facts.partial_modules)),
        assumes=seen.assumes,
    )


def _modules(story: Story) -> set[str]:
    """The modules that a finding's numbers come from, also those of what else was seen."""
    modules = set(story.cost.modules)
    for rule, seen in [(story.rule, story.seen), *story.also]:
        modules |= {*rule.needs, *rule.any_of, *rule.uses, *seen.uses, *seen.cost.modules}
    return modules


def _families(job: Job, names: bool) -> list[FamilyOut]:
    return [
        FamilyOut(label=family.label, files=family.files, pattern=family.pattern if names else None)
        for family in (job.families if len(job) else [])
    ]


def _consistency(job: Job) -> Consistency | None:
    """The conflicts of the job where their order is known."""
    conflicts = job.conflicts
    if conflicts is None or not conflicts.ordered:
        return None
    found = conflicts.found
    return Consistency(
        weakest=found.weakest.value if found.weakest else None,
        pairs=found.overlaps,
        broken={model.value: count for model, count in found.broken.items()},
        gaps=found.gaps,
        examples=[
            ConflictOut(
                family=job.families[job.family_of_record(conflicts.ids[example.file])].label,
                ranks=example.ranks,
                offset=example.offset,
                end=example.end,
                kind=example.kind,
                ordered_under=[model.value for model in found.broken if model in example.holds],
            )
            for example in found.examples[:MOST_EXAMPLES]
        ],
    )
