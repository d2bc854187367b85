"""Eq. 1 of the workload-replication paper for TyphonIO files: how well it fits, and files of given sizes by its inverse.

python benchmarks/size_equation.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

from results import Results

SIZES = ("10 MiB", "64 MiB")
TARGET_PCT = 0.1


def calibrated(size: str) -> dict[str, Any]:
    """What `workalike calibrate` says of its default study (TyphonIO, unstructured 2-D, 64 KiB to 4 MiB)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "workalike", "calibrate", "--backend", "typhonio", "--invert", size]
        done = subprocess.run([*command, "--json", "-o", folder], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> int:
    results = Results()
    reached = True
    for size in SIZES:
        found = calibrated(size)
        if size == SIZES[0]:
            for name, words in (("boundary", "with the boundary's term"), ("paper", "as in the paper")):
                fit = found["fits"][name]
                residual, least = 100 * fit["largest_held_out_residual"], fit["holds_from_part_size"]
                rounded = ", ".join(f"{key} {value:.4g}" for key, value in fit["coefficients"].items())
                print(
                    f"{words}: held-out files within {residual:.3f} %, 0.1 % from parts of {least} bytes; {rounded}"
                )
                results.add(
                    f"Eq. 1, TyphonIO, unstructured 2-D, parts of 64 KiB to 4 MiB, {words}: largest residual of held-out files",
                    f"{residual:.3f} %; within 0.1 % from parts of {least} bytes ({rounded})",
                    target=f"≤ {TARGET_PCT} %, or the part size from which it holds",
                    residual_pct=residual,
                )
        error = 100 * (found["inverted"]["written_bytes"] / found["inverted"]["size"] - 1)
        reached &= abs(error) <= TARGET_PCT
        print(f"file of {size}: {error:+.4f} %")
        results.add(
            f"part size from Eq. 1 for files of {size}, 4 ranks, 43 variables, and the file that was written with it",
            f"{error:+.4f} %",
            target=f"within {TARGET_PCT} %",
            reached=abs(error) <= TARGET_PCT,
            per_cent=error,
        )
    results.write()
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
