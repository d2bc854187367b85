"""Do replicas behave as their applications? Each application is captured, replayed, and both logs are compared.

Each pair, on the same ranks and file system: the application under `workalike profile`, then the replica of that log, at
full scale and in the original's time, captured by the same library. The figure of a family is the median over the
pairs of replica / original I/O time: seconds inside calls at the family's level, of all ranks together.

    python benchmarks/behaviour_captured.py [--pairs 10] [--dir DIR] [--ranks 4]
                                            [--only ior lammps nwchem meep] [--logs DIR]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from behaviour_lammps import HIGH, LOW, SHARED, shortened
from results import Results

from workalike.characterize import CharacterizeOptions, characterize
from workalike.compare.fidelity import compare
from workalike.darshan import open_log
from workalike.launch.launchers import Mpiexec
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.plan.resolve import Options, resolve

MIB = 2**20
LEAST_S = 0.005
"""I/O times below this are reported, and not judged: the clock of a log and the scheduler dominate them."""


@dataclass(frozen=True)
class Application:
    """A command for `mpiexec`, and the input that it needs in its folder."""

    name: str
    command: list[str]
    files: dict[str, str]


def applications(work: Path) -> list[Application]:
    """Those that are installed here."""
    ior = work / "ior_like"
    subprocess.run(["mpicc", "-O2", str(Path(__file__).with_name("ior_like.c")), "-o", str(ior)], check=True)
    found = [Application("ior", [str(ior), "ior.dat", "4", str(32 * MIB), str(MIB)], {})]
    apps = SHARED / "apps"
    if shutil.which("lmp") and apps.exists():
        text = shortened((apps / "lammps-growth.in").read_text(encoding="utf-8"), 5, 10)
        found.append(
            Application("lammps", ["lmp", "-in", "in", "-log", "none", "-screen", "none"], {"in": text})
        )
    if shutil.which("nwchem.openmpi") and apps.exists():
        text = (apps / "nwchem-water.nw").read_text(encoding="utf-8")
        found.append(Application("nwchem", ["nwchem.openmpi", "in.nw"], {"in.nw": text}))
    meep = subprocess.run(["/usr/bin/python3", "-c", "import meep"], capture_output=True, check=False)
    if meep.returncode == 0 and apps.exists():
        text = (apps / "meep-fields.py").read_text(encoding="utf-8").replace("until=20", "until=5")
        found.append(Application("meep", ["/usr/bin/python3", "in.py"], {"in.py": text}))
    return found


def settle() -> None:
    """Both sides begin with a disk at rest: what the run before has deleted is gone from the journal, too."""
    os.sync()
    time.sleep(0.5)


def ratios_of_pair(application: Application, ranks: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Family -> I/O seconds of the original and of its replica."""
    app, ours, out = folder / "app", folder / "replica", folder / "out"
    for place in (app, ours, out):
        place.mkdir()
    for name, text in application.files.items():
        (app / name).write_text(text, encoding="utf-8")
    log = folder / "app.darshan"
    settle()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "workalike",
            "profile",
            "--stdio-sizes",
            "-o",
            str(log),
            "--",
            "mpiexec",
            "-n",
            str(ranks),
            *application.command,
        ],
        cwd=app,
        env={**os.environ, **Mpiexec().environment()},
        check=True,
        capture_output=True,
    )
    shutil.rmtree(app)
    settle()
    found = characterize([open_log(log)])
    plan = resolve(found.workload, Options(time_scale=1.0, clock="deadline", gap_fill="busy"))
    record = run_plan(plan, RunOptions(data=ours, out=out, quiet=True, capture=True))
    witness = characterize([open_log(out / REPLICA_LOG)], CharacterizeOptions(include_noise=True))
    fidelity = compare(found, record, plan=plan, witness=witness)
    return {
        family.name: (family.io_time_original_s, family.io_time_replica_s)
        for family in fidelity.families
        if family.io_time_original_s and family.io_time_replica_s
    }


def keep(folder: Path, target: Path) -> None:
    """Both logs of a pair, and the replica's record."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("app.darshan", "out/replica.darshan", "out/run.json"):
        shutil.copy(folder / name, target)


def measure(
    application: Application, ranks: int, pairs: int, place: Path | None, logs: Path | None, results: Results
) -> bool:
    """Print the medians of one application; whether all of them are within the bounds."""
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for pair in range(pairs):
        with tempfile.TemporaryDirectory(dir=place) as folder:
            for family, both in ratios_of_pair(application, ranks, Path(folder)).items():
                times[family].append(both)
            if logs is not None:
                keep(Path(folder), logs / f"{application.name}-{pair + 1}")
    reached = True
    for family, some in times.items():
        ratios = [replica / original for original, replica in some]
        median = statistics.median(ratios)
        original = statistics.median(one for one, _ in some)
        judged = original >= LEAST_S
        good = LOW <= median <= HIGH
        reached &= good or not judged
        results.add(
            f"behaviour, {application.name}, {family}: I/O time of replica ÷ original, {ranks} ranks, {len(some)} pairs",
            f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f}) of {original:.3f} s",
            target=f"{LOW} to {HIGH}" if judged else f"{LOW} to {HIGH}, not judged below {LEAST_S:g} s",
            reached=good if judged else None,
            ratio=median,
            seconds=original,
        )
        verdict = ("reached" if good else "MISSED") if judged else "too short to judge"
        print(
            f"{application.name:8} {family:18} {original:8.3f} s  ratio {median:5.2f}  "
            f"({min(ratios):.2f} to {max(ratios):.2f}, {len(some)} pairs)  {verdict}",
            flush=True,
        )
    return reached


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument(
        "--ranks", type=int, default=4, help="more than cores: the scheduler is measured, too"
    )
    options.add_argument("--dir", type=Path, default=None, help="file system under test [a temporary folder]")
    options.add_argument("--only", nargs="*", default=None, metavar="NAME")
    options.add_argument(
        "--logs", type=Path, default=None, help="keep both logs and the record of every pair there"
    )
    given = options.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as work:
        chosen = [a for a in applications(Path(work)) if given.only is None or a.name in given.only]
        reached = [
            measure(application, given.ranks, given.pairs, given.dir, given.logs, results)
            for application in chosen
        ]
    print(f"target: {LOW} to {HIGH} for every family")
    results.write()
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
