"""MINIO's study (its poster, "Evaluation") at a smaller scale: TyphonIO's calls, the same file in fewer, plain HDF5.

    python benchmarks/minio_study.py [--ranks 1,4,16,64] [--real 10000] [--mesh unstructured] [--steps 5]
                                     [--dir DIR] [--to docs/pictures] [--json FILE] [--drawn FILE]

Weak scaling: every rank has a part of `real` elements with four quantities and writes it `steps` times. MINIO's input
is imported and run once under capture. Counts and sizes are those of the log (POSIX, all ranks) per step; they are the
same on any machine with this HDF5 and MPI-IO (`OMPI_MCA_io=romio321` chooses Open MPI's other one). I/O time is from the
first open to the last close of each step, summed; it depends on the machine. Prints a table in Markdown and draws
docs/pictures/minio-study.svg. `--json` keeps the figures, `--drawn` draws those of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from results import Results
from show_pieces import DOCS, picture

from workalike.darshan import open_log
from workalike.darshan.records import RecordTable
from workalike.exchange.document import workload_of
from workalike.exchange.minio import read_minio
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.report.canvas import drawing
from workalike.report.palette import INK, REPLICA
from workalike.text import seconds_text, size_text
from workalike.workload.model import Tunable, TyphonioPattern

QUANTITIES = 4
STYLES = {
    "TyphonIO": {"color": REPLICA, "marker": "o"},
    "TyphonIO, optimised": {"color": "#d9902b", "marker": "s"},
    "HDF5": {"color": "#1f6f8b", "marker": "^"},
}


@dataclass(frozen=True)
class Point:
    """One run. Counts are of all ranks and a step; of the slowest writes there are the seconds and the bytes."""

    library: str
    ranks: int
    writes: float
    small: float  # up to 100 bytes
    mean_size: float
    bytes: float
    mpiio_collective: float
    mpiio_independent: float
    io_s: float
    slowest_s: float
    slowest_size: int
    slowest_mpiio_s: float
    slowest_mpiio_size: int


def minio_input(library: str, ranks: int, given: argparse.Namespace) -> str:
    return f"""\
io_method: {"hdf5" if library == "HDF5" else "typhonio"}
mesh: {given.mesh}
processors: {ranks}
real: {given.real}
quantities: {QUANTITIES}
io_mode: write
steps: {given.steps}
"""


def measure(library: str, ranks: int, given: argparse.Namespace) -> Point:
    """Run one workload under capture."""
    workload = workload_of(read_minio("input.yaml", minio_input(library, ranks, given), None))
    if library == "TyphonIO, optimised":
        workload.families[0].tunable = Tunable(typhonio=TyphonioPattern.OPTIMISED)
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        out = Path(folder)
        options = RunOptions(data=out / "data", out=out, quiet=True, capture=True)
        record = run_plan(resolve(workload, Options()), options)
        log = open_log(out / "replica.darshan")
        posix, mpiio = log.records("POSIX"), log.records("MPI-IO")
    assert posix is not None and mpiio is not None
    writes, moved = total(posix, "WRITES"), total(posix, "BYTES_WRITTEN")
    return Point(
        library,
        ranks,
        writes / given.steps,
        total(posix, "SIZE_WRITE_0_100") / given.steps,
        moved / writes,
        moved / given.steps,
        total(mpiio, "COLL_WRITES") / given.steps,
        total(mpiio, "INDEP_WRITES") / given.steps,
        sum(dump.io_s for dump in record.dumps),
        *slowest(posix),
        *slowest(mpiio),
    )


def total(table: RecordTable, counter: str) -> int:
    return int(table[counter].sum())


def slowest(table: RecordTable) -> tuple[float, int]:
    """Seconds and bytes of the write that took longest."""
    at = int(table["F_MAX_WRITE_TIME"].argmax())
    return float(table["F_MAX_WRITE_TIME"][at]), int(table["MAX_WRITE_TIME_SIZE"][at])


def print_table(points: list[Point]) -> None:
    print(
        "| library | ranks | bytes per step | POSIX writes per step | up to 100 B | mean size | MPI-IO writes per step "
        "| I/O time | slowest POSIX write | slowest MPI-IO write |"
    )
    print("|---|" + "---:|" * 9)
    for p in points:
        print(
            f"| {p.library} | {p.ranks} | {p.bytes:,.0f} | {p.writes:,.0f} | {p.small:,.0f} | {size_text(p.mean_size)} "
            f"| {p.mpiio_collective:,.0f} + {p.mpiio_independent:,.0f} | {seconds_text(p.io_s)} "
            f"| {seconds_text(p.slowest_s)} ({size_text(p.slowest_size)}) "
            f"| {seconds_text(p.slowest_mpiio_s)} ({size_text(p.slowest_mpiio_size)}) |",
            flush=True,
        )


PANELS = (
    ("writes", "POSIX writes per step", (10, 20, 50, 100, 200, 500, 1000), lambda v: f"{v:,.0f}"),
    ("mean_size", "mean size of a write", tuple(2**k for k in range(10, 24, 2)), size_text),
    ("io_s", "I/O time, all steps (busy machine)", (0.01, 0.1, 1, 10, 100), seconds_text),
)


def draw(points: list[Point], where: Path) -> Path:
    """Writes, their mean size and I/O time over the ranks, both axes logarithmic."""
    ranks = sorted({p.ranks for p in points})
    with drawing("minio-study", 2.7, columns=len(PANELS)) as page:
        for axes, (name, title, ticks, words) in zip(page.axes, PANELS, strict=True):
            for library, style in STYLES.items():
                curve = [(p.ranks, getattr(p, name)) for p in points if p.library == library]
                x, y = zip(*curve, strict=True)
                axes.plot(x, y, linewidth=1.8, markersize=4.5, label=library, **style)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.minorticks_off()
            low, high = (side * margin for side, margin in zip(axes.get_ylim(), (0.9, 1.1), strict=True))
            axes.set_ylim(low, high)
            shown = [tick for tick in ticks if low <= tick <= high]
            axes.set_yticks(shown, [words(tick) for tick in shown])
            axes.set_xticks(ranks, [str(r) for r in ranks])
            axes.set_title(title, fontsize=9.5, color=INK, loc="left")
            axes.set_xlabel("ranks")
        page.figure.legend(*page.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    target = where / "minio-study.svg"
    text = picture(str(page.svg), "minio-study")
    target.write_text(text, encoding="utf-8")
    return target


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="1,4,16,64")
    parser.add_argument("--real", type=int, default=10_000, help="elements per rank")
    parser.add_argument("--mesh", default="unstructured", choices=("quad", "unstructured", "point"))
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--dir", type=Path, default=None, help="file system under test [a temporary folder]")
    parser.add_argument("--to", type=Path, default=DOCS)
    parser.add_argument("--json", type=Path, default=None, help="keep the figures there")
    parser.add_argument("--drawn", type=Path, default=None, help="the figures that an earlier run kept")
    given = parser.parse_args()
    results = Results()
    if given.drawn:
        points = [Point(**item) for item in json.loads(given.drawn.read_text(encoding="utf-8"))]
    else:
        points = []
        for ranks in map(int, given.ranks.split(",")):
            for library in STYLES:
                points.append(measure(library, ranks, given))
                print(f"{library}, {ranks} ranks: done", file=sys.stderr)
    if given.json:
        given.json.write_text(json.dumps([asdict(p) for p in points], indent=1), encoding="utf-8")
    for p in points:
        results.add(
            f"MINIO's study, {p.library}, {p.ranks} rank{'s' if p.ranks > 1 else ''}: writes per step of all ranks",
            f"{p.bytes:,.0f} bytes in {p.writes:,.0f} POSIX writes ({p.small:,.0f} up to 100 B) of "
            f"{size_text(p.mean_size)} on average; MPI-IO writes {p.mpiio_collective:,.0f} collective + "
            f"{p.mpiio_independent:,.0f} independent; I/O time of the run {seconds_text(p.io_s)}; slowest POSIX write "
            f"{seconds_text(p.slowest_s)} ({size_text(p.slowest_size)}), slowest MPI-IO write "
            f"{seconds_text(p.slowest_mpiio_s)} ({size_text(p.slowest_mpiio_size)})",
            writes=p.writes,
            bytes=p.bytes,
            mean_size_bytes=p.mean_size,
            small=p.small,
            collective=p.mpiio_collective,
            independent=p.mpiio_independent,
            io_s=p.io_s,
        )
    if not given.drawn:
        results.write()
    print_table(points)
    print(draw(points, given.to), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
