"""Does the replica behave as the application? LAMMPS and its replica alternate, same ranks, same file system.

The application (Debian package `lammps`, input in ../shared/apps, shortened) writes growing restart files from one
rank. The replica's workload is characterized from the log of the long run, with the first checkpoints' sizes as the
application wrote them. Both sides are measured alike: birth to last modification of each checkpoint file. The figure
is the median over pairs of replica / original I/O time, summed over the checkpoints; the appended file is reported.

    python benchmarks/behaviour_lammps.py [--pairs 10] [--dir DIR]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import Results

from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.launch.launchers import Mpiexec
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Family, Role, Workload

SHARED = Path(__file__).parents[1].parent / "shared"
LOW, HIGH = 0.75, 1.33
RANKS = 4
LOOPS = 5
STEPS = 10


def shortened(text: str, loops: int, steps: int) -> str:
    """The input with fewer loops and steps; files keep their sizes but for a few atoms."""
    text = re.sub(r"variable i loop \d+", f"variable i loop {loops}", text)
    text = re.sub(r"(?m)^run \d+", f"run {steps}", text)
    return re.sub(r"(?m)^(dump d all custom) \d+", rf"\1 {steps}", text)


def life(path: Path) -> float:
    """Seconds from birth to last modification of a file (statx)."""
    out = subprocess.run(
        ["stat", "-c", "%W %Y %.W %.Y", str(path)], capture_output=True, text=True, check=True
    )
    birth, modified = map(float, out.stdout.split()[2:])
    return max(modified - birth, 1e-6)


def run_application(folder: Path, text: str) -> list[Path]:
    """Checkpoint files of one run, in order."""
    (folder / "in.lammps").write_text(text, encoding="utf-8")
    launcher = Mpiexec()
    subprocess.run(
        ["mpiexec", "-n", str(RANKS), "lmp", "-in", "in.lammps", "-log", "none", "-screen", "none"],
        cwd=folder,
        env={**os.environ, **launcher.environment()},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return sorted(folder.glob("chk.*.restart"), key=lambda p: int(p.name.split(".")[1]))


def checkpoints_of(workload: Workload, sizes: list[int]) -> Workload:
    """The log's checkpoint family, cut to as many dumps, with these sizes."""
    family = next(f for f in workload.families if f.role is Role.CHECKPOINT)
    n = len(sizes)
    schedule = family.schedule
    cut = Family(
        **{
            **{name: getattr(family, name) for name in Family.model_fields},
            "schedule": {"start": [float(i) for i in range(n)], "compute_time": schedule.compute_times()[:n]},
            "sizes": sizes,
            "content": None,
            "contents": [family.content_of(i) for i in range(n)],
            "use": None,
        }
    )
    return workload.model_copy(update={"families": [cut]})


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument(
        "--dir", type=Path, default=None, help="file system under test [default: a temporary folder]"
    )
    given = options.parse_args()
    results = Results()
    log, source = SHARED / "logs" / "lammps-growth-4.darshan", SHARED / "apps" / "lammps-growth.in"
    if not log.exists() or shutil.which("lmp") is None:
        print("needs ../shared and the Debian package lammps", file=sys.stderr)
        return 2
    workload = characterize([open_log(log)]).workload
    text = shortened(source.read_text(encoding="utf-8"), LOOPS, STEPS)
    ratios, each = [], []
    for pair in range(given.pairs):
        with tempfile.TemporaryDirectory(dir=given.dir) as work:
            app, ours = Path(work) / "app", Path(work) / "replica"
            app.mkdir()
            ours.mkdir()
            os.sync()
            files = run_application(app, text)
            original = [life(f) for f in files]
            sizes = [f.stat().st_size for f in files]
            shutil.rmtree(app)
            os.sync()
            time.sleep(0.5)
            plan = resolve(checkpoints_of(workload, sizes), Options(time_scale=1.0))
            run_plan(plan, RunOptions(data=ours, out=ours, keep=True, quiet=True))
            replica_files = sorted(ours.glob("checkpoint-1.*.dat"))
            replica = [life(f) for f in replica_files]
            assert [f.stat().st_size for f in replica_files] == sizes
        ratios.append(sum(replica) / sum(original))
        each.append([r / o for r, o in zip(replica, original, strict=True)])
        print(
            f"pair {pair + 1:2}: application {sum(original):.3f} s, replica {sum(replica):.3f} s, ratio {ratios[-1]:.2f}"
        )
    median = statistics.median(ratios)
    by_file = [statistics.median(column) for column in zip(*each, strict=True)]
    print("median ratio of each checkpoint:", " ".join(f"{r:.2f}" for r in by_file))
    reached = LOW <= median <= HIGH
    print(
        f"median of {given.pairs} pairs: {median:.3f} ({'reached' if reached else 'MISSED'}: {LOW} to {HIGH})"
    )
    results.add(
        f"behaviour, LAMMPS and its replica alternating, {given.pairs} pairs, median of replica ÷ original time of the checkpoints",
        f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        target=f"{LOW} to {HIGH}",
        reached=reached,
        ratio=median,
    )
    results.write()
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
