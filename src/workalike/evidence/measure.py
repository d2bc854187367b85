"""All that an evidence file holds, measured in one folder within a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.evidence.bench import SPARE, Bench, NotMeasured, Placement
from workalike.evidence.document import Asked, Evidence, LayoutTest, LeftOut, System
from workalike.evidence.facts import system_of, today
from workalike.evidence.programs import REPEATED, bytes_of, plan_of
from workalike.evidence.striping import kind_on, layouts_of, self_test
from workalike.evidence.transfers import measure_transfers
from workalike.evidence.variance import measure_variance
from workalike.evidence.words import Part, Program, Reason
from workalike.files import free_bytes, is_log, writing
from workalike.launch.engines import find_engine
from workalike.launch.launchers import choose
from workalike.leftovers import scratch_folder
from workalike.replica.probe import call_times
from workalike.text import plural, seconds_text, size_text

NOT_TESTED = (Reason.NO_TIME, Reason.TOO_LONG, Reason.FAILED, Reason.NO_ROOM)


@dataclass(frozen=True)
class Measurement:
    """What is to be measured.

    Attributes:
        directory: in the file system under test; it is left as it was found.
        output: the file that will be written; records and logs lie beside it meanwhile.
        placement: ranks and launcher.
        repeats: runs of the repeated workload, and pairs of each program.
        limit_min: minutes that all may take.
        programs: those of the transfers.
    """

    directory: Path
    output: Path
    placement: Placement
    repeats: int = 5
    limit_min: float = 60.0
    programs: tuple[Program, ...] = tuple(Program)


def measure(
    asked: Measurement,
    *,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> Evidence:
    """Measure, and return what the file says.

    Args:
        asked: what and where.
        say: is given the estimate, in lines.
        warn: is given what goes wrong and what is left out, in lines.
        progress: is called with the runs that are done, and their number.

    Raises:
        WorkalikeError: NOT_INSTALLED without an engine; USAGE, MISSING or CANNOT_WRITE for the folders; RUN_FAILED
            where not even the first run succeeds.
    """
    began = time.monotonic()
    _refuse_early(asked)
    programs = asked.programs
    repeated, *plans = [plan_of(program, asked.placement.ranks) for program in (REPEATED, *programs)]
    largest = max(map(bytes_of, [repeated, *plans]))
    _refuse_full(asked.directory, largest)
    kind = kind_on(asked.directory)
    total = 1 + len(layouts_of(kind)) + asked.repeats + len(programs) * (1 + 2 * asked.repeats)
    with ExitStack() as stack:
        data, out = (_scratch(stack, folder) for folder in (asked.directory, asked.output.absolute().parent))
        bench = Bench(
            data,
            out,
            asked.placement,
            began + 60 * asked.limit_min,
            report=warn,
            advanced=lambda done: progress(min(done, total), total),
        )
        system = _first_run(bench, asked)
        needed = (asked.repeats + len(layouts_of(kind))) * bench.seconds_of(repeated)
        needed += (1 + 2 * asked.repeats) * sum(map(bench.seconds_of, plans))
        say(
            f"{plural(total, 'run')} of {plural(asked.placement.ranks, 'rank')}, at most {size_text(largest)} at a time: "
            f"about {seconds_text(needed)}; limit {seconds_text(60 * asked.limit_min)}"
        )
        striping = self_test(bench, kind)
        variance, left_out = measure_variance(bench, asked.repeats)
        transfers, further = measure_transfers(bench, programs, asked.repeats)
    left_out = [*_untested(striping.tests), *left_out, *further]
    for missing in left_out:
        warn(f"left out: {words_of(missing)}")
    return Evidence(
        made_on=today(),
        system=system,
        asked=Asked(repeats=asked.repeats, limit_min=asked.limit_min),
        striping=striping,
        variance=variance,
        transfers=transfers,
        left_out=left_out,
        took_min=round((time.monotonic() - began) / 60, 2),
    )


def words_of(missing: LeftOut) -> str:
    """What is left out, in a line."""
    what = missing.part.value if missing.program is None else missing.program.value
    unit = {Part.STRIPING: "layout", Part.VARIANCE: "run", Part.TRANSFER: "pair"}[missing.part]
    return f"{what}: {plural(missing.missing, unit)}, since {missing.reason.value}"


def _refuse_early(asked: Measurement) -> None:
    """Refuse what cannot work, before anything is run.

    Raises:
        WorkalikeError: USAGE, MISSING, NOT_INSTALLED or CANNOT_WRITE.
    """
    if not asked.directory.is_dir():
        raise WorkalikeError(
            ErrorKind.MISSING,
            "is a file" if asked.directory.exists() else "does not exist",
            file=asked.directory,
            hint="name an existing folder of the file system with --dir",
        )
    if asked.output.is_dir() or is_log(asked.output):
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            "is a folder" if asked.output.is_dir() else "is a Darshan log, and would be lost",
            file=asked.output,
            hint="name another file with -o",
        )
    find_engine()
    choose(asked.placement.launcher, asked.placement.ranks)


def _refuse_full(directory: Path, largest: int) -> None:
    """Refuse a file system without room for the largest run.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    free = free_bytes(directory)
    if free is not None and free < SPARE * largest:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            f"has {size_text(free)} free, and runs need {size_text(SPARE * largest)}",
            file=directory,
            hint="free space, or lower --ranks",
        )


def _scratch(stack: ExitStack, parent: Path) -> Path:
    """A folder that is removed at the end.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    with writing(parent, "name a folder that you may write to"):
        return stack.enter_context(scratch_folder(parent))


def _first_run(bench: Bench, asked: Measurement) -> System:
    """A run that does not count: it shows that runs succeed here, on what system, and how long they take.

    Raises:
        WorkalikeError: as `run_plan`.
    """
    bench.calls = call_times(bench.data)
    plan = plan_of(REPEATED, asked.placement.ranks)
    try:
        ran = bench.run(plan, "first", silent=False)
    except NotMeasured as error:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"the first run: {error.reason.value}",
            hint="raise --limit, or lower --ranks",
        ) from error
    bench.start_s = max(0.1, ran.took_s - (ran.record.wall_s or 0.0))
    bench.rate = ran.bandwidth
    return system_of(ran.record, bench.data)


def _untested(tests: Sequence[LayoutTest]) -> list[LeftOut]:
    """Layouts that were not tested. One that the file system refuses was."""
    reasons = [test.not_measured for test in tests if test.not_measured in NOT_TESTED]
    return [
        LeftOut(part=Part.STRIPING, program=None, missing=reasons.count(reason), reason=reason)
        for reason in dict.fromkeys(reasons)
        if reason is not None
    ]
