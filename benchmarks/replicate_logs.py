"""Replicas of known logs, log against log: what `fidelity.json` says of each family's bytes.

    python benchmarks/replicate_logs.py [--mesh | --pnetcdf]

Without options: small replicas of the logs in ../shared, without waiting. --mesh: the log of a multi-physics code,
replicated as meshes at full scale. --pnetcdf: the climate model's log through PnetCDF, a 1200th of the bytes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Results

SHARED = Path(__file__).parents[2] / "shared" / "logs"
BYTES_PCT = 0.1
MESH = ("mphys-c-small-typhonio-4", "--model", "mesh", "--full", "--time-scale", "0")
PNETCDF = ("e3sm-pnetcdf-512", "--backend", "pnetcdf", "--bytes-scale", "1/1200", "--time-scale", "0")


def replicate(log: Path, *options: str) -> dict[str, Any] | None:
    """fidelity.json of the replica; None where there is nothing to replicate (exit code 2)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "workalike", "replicate", str(log), "-o", folder, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        found = Path(folder) / "fidelity.json"
        if done.returncode not in (0, 3) or not found.exists():
            print(f"{log.stem}: exit code {done.returncode}: {done.stderr.strip()[-200:]}")
            return None
        return dict(json.loads(found.read_text(encoding="utf-8")))


def keep(results: Results, log: Path, fidelity: dict[str, Any]) -> float:
    """One line for each family; returns the largest error of a family's bytes, per cent."""
    errors = []
    for family in fidelity["families"]:
        total, largest = abs(family["total_bytes_error_pct"] or 0.0), family["bytes_error_max_pct"] or 0.0
        print(
            f"{log.stem[:40]:40} {family['name']:20} total {total:.4f} %  largest dump {largest:.4f} %",
            flush=True,
        )
        results.add(
            f"`{log.stem}`, {family['name']}: total bytes; largest error of a dump",
            f"{total:.4f} %; {largest:.4f} %",
            total_pct=total,
            max_pct=largest,
        )
        errors.append(total)
    return max(errors, default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--mesh", action="store_true")
    which.add_argument("--pnetcdf", action="store_true")
    given = parser.parse_args()
    if not SHARED.is_dir():
        print(f"needs the logs in {SHARED}", file=sys.stderr)
        return 2
    results = Results()
    if given.mesh or given.pnetcdf:
        name, *options = MESH if given.mesh else PNETCDF
        log = SHARED / f"{name}.darshan"
        fidelity = replicate(log, *options)
        if fidelity is None:
            return 1
        keep(results, log, fidelity)
        results.write()
        return 0
    worst: dict[str, float] = {}
    for log in sorted(SHARED.glob("*.darshan")):
        if (fidelity := replicate(log, "--time-scale", "0")) is not None:
            worst[log.stem] = keep(Results(), log, fidelity)
    name = max(worst, key=lambda stem: worst[stem])
    results.add(
        f"`replicate`, small, {len(worst)} of the shared logs: bytes of a family, log against log",
        f"at most {worst[name]:.4f} % (`{name}`)",
        target=f"≤ {BYTES_PCT} %",
        reached=worst[name] <= BYTES_PCT,
        per_cent=worst[name],
    )
    results.write()
    return 0 if worst[name] <= BYTES_PCT else 1


if __name__ == "__main__":
    sys.exit(main())
