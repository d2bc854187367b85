"""What commands report at their end, and the exit codes for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from workalike.commands.options import warn
from workalike.errors import ExitCode
from workalike.text import seconds_text, size_text

if TYPE_CHECKING:
    from workalike.characterize import Characterization


def report_gaps(found: Characterization) -> None:
    """Report what of the log could not be used or is doubtful, and logs that may not belong together."""
    jobs = {log.job.job_id for log in found.logs}
    if len(jobs) > 1:  # without a batch system, each process of a workflow has a job id of its own
        starts = [log.job.start_time for log in found.logs]
        apart = seconds_text(max(starts) - min(starts))
        warn(
            f"{len(found.logs)} logs of {len(jobs)} jobs, begun within {apart}, are taken as one workflow: "
            "if they are not, name the logs of one job only"
        )
    together = found.counted_together
    if together.modules:
        warn(
            f"{size_text(together.bytes)} of further files are counted together, since {', '.join(together.modules)} "
            "had no room for their records: they are in uncovered, not in the workload (profile with more --max-memory)"
        )
    for module in sorted({*found.partial_modules} - {*together.modules}):
        warn(f"module {module} of the log is partial: what it lost is not in the workload")
    report_unreadable(found)
    for module in sorted({*found.skipped_modules} - found.unreadable.keys()):
        warn(f"module {module} is not read: nothing of it is in the workload")
    reported = {
        warning for log in found.logs for warning in log.warnings
    }  # by `inspect`, and partial modules above
    for warning in found.warnings:
        if warning not in reported:
            warn(warning)


def report_unreadable(found: Characterization) -> None:
    """Name the modules that are left out since they cannot be read."""
    for module, reason in found.unreadable.items():
        warn(f"module {module} cannot be read and is left out: {reason}")


def report_missing_sizes(found: Characterization) -> None:
    """Say how the sizes of STDIO calls can be had, where the workload has families of STDIO and its logs lack them."""
    from workalike.capture.side_file import read_side_file
    from workalike.workload.model import Level

    if not any(family.family.counted_at is Level.STDIO for family in found.families):
        return
    if not any(read_side_file(log.path, []).stdio_sizes for log in found.logs):
        warn(
            "a log has no sizes of STDIO calls, so few counters tell: workalike profile --stdio-sizes records them"
        )


def end_if_partly(found: Characterization) -> None:
    """End with exit code 3 if a module was partial or data could not be expressed."""
    if not found.complete:
        raise typer.Exit(ExitCode.PARTLY)


def fail_if_short(shortfalls: list[str]) -> None:
    """Report each shortfall on a line of stderr, and end with exit code 1."""
    for shortfall in shortfalls:
        warn(f"fell short: {shortfall}")
    if shortfalls:
        raise typer.Exit(ExitCode.FAILED)
