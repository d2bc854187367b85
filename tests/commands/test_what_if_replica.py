"""`replicate --what-if`: the replica performs, and is compared with, the changed workload."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from known_logs import own
from needed import needs_engine


@needs_engine
def test_three_checkpoints_instead_of_two(tmp_path: Path) -> None:
    """The program writes two checkpoints of 4 ranks × 12 × 20,000 bytes (tests/data/programs/per_rank.c)."""
    command = [sys.executable, "-m", "workalike", "replicate", str(own("per-rank-4")), "-o", str(tmp_path)]
    options = ["--what-if", "checkpoint.count=3", "--time-scale", "0", "--json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fidelity = json.loads(done.stdout)
    families = {family["role"]: family for family in fidelity["families"]}
    assert (families["checkpoint"]["dumps_original"], families["checkpoint"]["dumps_replica"]) == (3, 3)
    assert families["checkpoint"]["total_bytes_error_pct"] == 0
    record = json.loads((tmp_path / "run.json").read_text())
    written = [dump["bytes_written"] for dump in record["dumps"] if dump["role"] == "checkpoint"]
    assert written == [4 * 12 * 20_000] * 3
