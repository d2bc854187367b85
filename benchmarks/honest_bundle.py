"""A bundle of mphys-e on 16 ranks at 1/64 of its bytes: built from its archive, run twice, and collected.

    python benchmarks/honest_bundle.py

Nothing is changed in it, so that both runs must count: 100 dumps go into one file of HDF5, with sizes that are fitted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from results import ROOT, Results

from workalike.launch.launchers import Mpiexec

REPEATS = 2


def run(*words: object, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = os.environ | Mpiexec().environment() | {"LAUNCH": "mpiexec --oversubscribe -n"}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


def main() -> None:
    workalike = [sys.executable, "-m", "workalike", "bundle"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scale = ["--ranks", 16, "--bytes-scale", 1 / 64, "--time-scale", 0, "--repeats", REPEATS]
        run(*workalike, ROOT / "workloads" / "mphys-e.yaml", *scale, "-o", "t.tar.gz", cwd=folder)
        run("tar", "xzf", "t.tar.gz", cwd=folder)
        run("./build.sh", cwd=folder / "t")
        (folder / "data").mkdir()
        run("./run.sh", folder / "data", cwd=folder / "t")
        collected = run(
            *workalike, "t.tar.gz", "--collect", "t/results.tar.gz", "-o", "out", cwd=folder, check=False
        )
    print(collected.stdout + collected.stderr)
    results = Results()
    results.add(
        "an honest bundle of mphys-e, 16 ranks, 1/64 of the bytes, built and run from its archive",
        f"{REPEATS} of {REPEATS} runs count" if collected.returncode == 0 else "runs are left out",
        target="ok",
        reached=collected.returncode == 0,
        code=float(collected.returncode),
    )
    results.write()


if __name__ == "__main__":
    main()
