"""Synthetic logs, and their comparison by the files that are written."""

from __future__ import annotations

from pathlib import Path

from workalike.compare.logs.comparison import compare_logs
from workalike.compare.logs.schema import Change, LogComparison
from workalike.compare.logs.side import LogSide, side_of
from workalike.darshan import LogBuilder, open_logs


def builder(nprocs: int = 4, exe: str = "/home/me/app in.dat", **more: object) -> LogBuilder:
    return LogBuilder(nprocs, 10.0, exe=exe, **more)  # type: ignore[arg-type]


def side(log: LogBuilder | Path, folder: Path, title: str = "log") -> LogSide:
    """The facts of a log, which is written first."""
    if isinstance(log, LogBuilder):
        log = log.write(folder / f"{len(list(folder.iterdir()))}.darshan")
    return side_of(open_logs([log]), title)


def compared(
    folder: Path, first: LogBuilder | Path, second: LogBuilder | Path, *, start: bool = False
) -> LogComparison:
    return compare_logs(
        [side(first, folder, "first")], side(second, folder, "second"), include_program_start=start
    )


def beside(folder: Path, baseline: list[LogBuilder], new: LogBuilder) -> LogComparison:
    return compare_logs([side(log, folder) for log in baseline], side(new, folder))


def rows(changes: list[Change]) -> set[tuple[str, str, int, int]]:
    """(file without folder, counter, before, now) of each change."""
    return {(c.file.rpartition("/")[2], c.counter, c.before, c.now) for c in changes}


def with_writes(log: LogBuilder, name: str, writes: int, size: int = 100, rank: int = 0) -> LogBuilder:
    """A file written by one rank, with the counters that belong together."""
    return log.posix(
        name,
        rank,
        OPENS=1,
        WRITES=writes,
        BYTES_WRITTEN=writes * size,
        MAX_BYTE_WRITTEN=writes * size - 1,
        SEQ_WRITES=writes - 1,
        CONSEC_WRITES=writes - 1,
        SIZE_WRITE_0_100=writes,
        ACCESS1_ACCESS=size,
        ACCESS1_COUNT=writes,
        F_OPEN_START_TIMESTAMP=0.5,
    )
