"""The log does not hold all that the job did."""

from __future__ import annotations

from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer, Found, Rule, Seen, Sure


def find(job: Job, _: object) -> Found:
    """Partial modules, mapped files, and times without timers."""
    reasons: list[str] = []
    evidence: dict[str, float] = {}
    if job.facts.partial_modules:
        reasons.append(
            f"modules {', '.join(job.facts.partial_modules)} lost records: their sums are lower bounds"
        )
        evidence["partial_modules"] = len(job.facts.partial_modules)
    if len(job):
        maps = float(job.total("POSIX", "MMAPS")[job.own].sum())
        if maps:
            reasons.append(
                f"{maps:,.0f} files or parts were mapped: what moved through memory is not counted"
            )
            evidence["mmaps"] = maps
        untimed = _untimed(job)
        if untimed:
            reasons.append(
                f"{', '.join(untimed)} moved bytes in no time: the timers are missing, costs are too low"
            )
            evidence["modules_without_timers"] = len(untimed)
    if not reasons:
        return []
    return [Seen("; ".join(reasons), no_cost(job), (), evidence, Sure.CERTAIN)]


def _untimed(job: Job) -> list[str]:
    out = []
    for name in ("POSIX", "MPI-IO", "STDIO"):
        table = job.module(name)
        if table is None:
            continue
        moved = table.column("BYTES_READ").clip(0) + table.column("BYTES_WRITTEN").clip(0)
        times = [
            table.fcounters[:, table.fcounter_names.index(f"F_{kind}_TIME")] for kind in ("READ", "WRITE")
        ]
        if moved.any() and not any((column > 0).any() for column in times):
            out.append(name)
    return out


RULE = Rule(
    id="partial-log",
    title="the log is partial or blind",
    seen_as="A module is marked partial, files were mapped into memory, or bytes moved without a timer.",
    costs="None of its own. All other costs are lower bounds.",
    advice="Profile again with more memory for the log: DARSHAN_MODMEM=64, or workalike profile --max-memory.",
    find=find,
    answer=Answer.CANNOT_TELL,
)
