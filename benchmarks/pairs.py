"""An original and its replica at full scale with its times, run in turn; the logs of both are compared.

`pair_of` makes one pair. Times of a family are seconds inside calls at its level, of all ranks together, by the same
timers on both sides.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from behaviour_programs import workalike

RATIOS = (0.97, 1.06)
"""Of the wall clock: first to last I/O call, replica ÷ original."""
IO_FAMILY, IO_ALL = (0.67, 1.5), (0.8, 1.25)
"""Of the time inside calls: of each family, and of all together."""
LEAST_S = 0.05
"""A family's time inside calls below this is reported, and not judged."""
DISTANCE = 0.05


@dataclass(frozen=True)
class Pair:
    """Seconds from the first to the last I/O call of both, and what was compared."""

    original_s: float
    replica_s: float
    start_error_s: float
    distance: float | None
    io_s: tuple[float, float] | None
    """Inside calls, original and replica."""
    families: Mapping[str, tuple[float, float]]

    @property
    def ratio(self) -> float:
        return self.replica_s / self.original_s

    @property
    def io_ratio(self) -> float | None:
        return self.io_s[1] / self.io_s[0] if self.io_s and self.io_s[0] else None


DROP_CACHES = Path("/proc/sys/vm/drop_caches")
MIB = 2**20
WARM, WARM_BLOCKS = 2048 * MIB, 512 * MIB
"""Free memory in small and in large blocks; more than any pair's data."""


def settle(*, same_memory: bool) -> None:
    """Both sides begin with a disk at rest: what the run before has deleted is gone from the journal, too.

    With `same_memory`, for much data, they also find the same free memory. A virtual machine gets memory that it has not
    used for a while from its host again, at a tenth of the speed: the side that found pages of the run before would
    win. Programs of small files would rather wait for what the file system then has to read again.
    """
    os.sync()
    if same_memory and os.access(DROP_CACHES, os.W_OK):
        DROP_CACHES.write_text("3\n")
    time.sleep(0.5)


def warm(folder: Path) -> None:
    """Read all files of a folder, so that they are in memory as those that a replica reads: it has just made them."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                while file.read(MIB):
                    pass


@contextlib.contextmanager
def warm_memory() -> Iterator[None]:
    """Free memory that a virtual machine keeps, so that both sides find equally fast pages.

    It gives free blocks of 2 MiB back to its host after seconds, and gets them again at a tenth of the speed. A program
    that allocates and frees while it runs has fast pages then, and its replica has none. Small and large blocks are
    warmed apart, since a write of many MiB in one call takes blocks of 2 MiB, and one of 64 KiB small ones:

    * Where one page of each MiB is in use, hardly a block is that large, and the kernel takes pages from small blocks
      first. Each side has this anew, since the kernel moves the pages in use together after a minute or so.
    * Blocks that were freed last are taken first.
    """
    with mmap.mmap(-1, WARM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        touch(memory)
        for start in range(0, WARM, MIB):
            memory.madvise(mmap.MADV_DONTNEED, start + mmap.PAGESIZE, MIB - mmap.PAGESIZE)
        with mmap.mmap(-1, WARM_BLOCKS, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as blocks:
            blocks.madvise(mmap.MADV_HUGEPAGE)
            touch(blocks)
        yield


def touch(memory: mmap.mmap) -> None:
    """Write to each page, so that the kernel provides it."""
    memory[:: mmap.PAGESIZE] = bytes(len(memory) // mmap.PAGESIZE)


def pair_of(
    name: str,
    command: Sequence[str],
    folder: Path,
    work: Path,
    *,
    options: Sequence[str] = (),
    data: Path | None = None,
    seconds: float = 120,
    same_memory: bool = False,
) -> Pair:
    """Run a command under capture in `folder`, then its replica; logs and replica go to `work`.

    Files that the original has made are removed before the replica begins, so that it finds their memory free.

    Args:
        name: of the original, for errors.
        options: of `replicate`.
        data: where the replica's data goes; by default below `work`.
        seconds: that each of both may take.
        same_memory: as of `settle`.

    Raises:
        RuntimeError: either of both failed.
    """
    out, logs = work / "out", work / "logs"
    logs.mkdir(parents=True)
    settle(same_memory=same_memory)
    warm(folder)
    before = set(folder.rglob("*"))
    with warm_memory():
        done = workalike(
            *("profile", "--stdio-sizes", "-o", f"{logs}/", "--", *command), cwd=folder, seconds=seconds
        )
    found = sorted(map(str, logs.glob("*.darshan")))
    if done.returncode or not found:
        raise RuntimeError(f"{name} was not captured: {done.stderr.strip()[-300:]}")
    for path in set(folder.rglob("*")) - before:
        if path.is_file():
            path.unlink()
    settle(same_memory=same_memory)
    place = ("--dir", str(data)) if data is not None else ()
    with warm_memory():
        done = workalike("replicate", *found, "-o", str(out), "--full", *place, *options, seconds=seconds)
    if not (out / "fidelity.json").exists():
        raise RuntimeError(f"{name} was not replicated: {done.stderr.strip()[-300:]}")
    fidelity = json.loads((out / "fidelity.json").read_text(encoding="utf-8"))
    times = fidelity["times"]
    overlap = times["overlap"]
    inside = (times["io_time_original_s"], times["io_time_replica_s"])
    return Pair(
        times["calls_original_s"],
        times["calls_replica_s"],
        times["start_time_error_max_s"],
        overlap["distance"] if overlap else None,
        None if None in inside else inside,
        {
            family["name"]: (family["io_time_original_s"], family["io_time_replica_s"])
            for family in fidelity["families"]
            if family["io_time_original_s"] is not None and family["io_time_replica_s"] is not None
        },
    )


@dataclass(frozen=True)
class Compared:
    """A quantity over all pairs: original and replica."""

    originals: Sequence[float]
    replicas: Sequence[float]

    @property
    def original(self) -> float:
        return statistics.median(self.originals)

    @property
    def ratio(self) -> float:
        """Median over the pairs."""
        return statistics.median(b / a for a, b in zip(self.originals, self.replicas, strict=True) if a)

    def is_within(self, bounds: tuple[float, float]) -> bool:
        """Whether the ratio is within bounds, or the replica's median within the spread of the original's repeats."""
        replica = statistics.median(self.replicas)
        return bounds[0] <= self.ratio <= bounds[1] or min(self.originals) <= replica <= max(self.originals)

    def text(self) -> str:
        return f"{self.ratio:.2f} × of {self.original:.3g} s (repeats {min(self.originals):.3g} to {max(self.originals):.3g})"


def wall(pairs: Sequence[Pair]) -> Compared:
    return Compared([pair.original_s for pair in pairs], [pair.replica_s for pair in pairs])


def inside_calls(pairs: Sequence[Pair]) -> Compared | None:
    both = [pair.io_s for pair in pairs if pair.io_s is not None and pair.io_s[0] > 0]
    return Compared([a for a, _ in both], [b for _, b in both]) if both else None


def by_family(pairs: Sequence[Pair]) -> dict[str, Compared]:
    """Families that every pair has, with time inside calls."""
    names = [name for name in pairs[0].families if all(name in pair.families for pair in pairs)]
    compared = {
        name: Compared(*zip(*(pair.families[name] for pair in pairs), strict=True))  # type: ignore[arg-type]
        for name in names
    }
    return {name: times for name, times in compared.items() if all(times.originals)}


def left_out(pairs: Sequence[Pair]) -> list[str]:
    """Families that some pairs have and others have not: they are not judged, but named."""
    names = {name for pair in pairs for name in pair.families}
    return sorted(name for name in names if any(name not in pair.families for pair in pairs))


def overlap(pairs: Sequence[Pair]) -> float:
    """Median total variation of the share of time with k dumps in progress; what is not known is not an agreement."""
    return statistics.median(1.0 if pair.distance is None else pair.distance for pair in pairs)
