"""From a log to counts at full scale, and a small replica, in Python (docs/python-api.md)."""

from pathlib import Path
from tempfile import TemporaryDirectory

import workalike

LOG = Path(__file__).parents[1] / "tests" / "data" / "checkpoints-4.darshan"

# A log: its regions are read on demand; records are NumPy tables with one row per file and rank.
log = workalike.open_log(LOG)
written = log.records("MPI-IO")["BYTES_WRITTEN"]
print(log.job.nprocs, "ranks;", int(written.sum()), "bytes written by MPI-IO")

# The workload: a typed model, and the facts of each family beside it (names included, so they stay here).
found = workalike.characterize(log)
for family in found.families:
    sizes = [dump.bytes_written for dump in family.dumps]
    print(family.family.role, family.family.interface, family.family.sharing.mode, sizes)

# Weak scaling to 4,096 ranks keeps the bytes of a rank. What the plan comes to is counted in this process.
plan = workalike.plan(found, ranks=4096, scaling="weak")
counts = workalike.count(plan)
print("at", plan.ranks, "ranks:", counts["BYTES_WRITTEN"].tolist(), "bytes;", counts.total("OPENS"), "opens")

# A replica of two ranks on this machine, and how close it came.
with TemporaryDirectory() as out:
    replica = workalike.replicate(found, out, ranks=2, time_scale=0)
for family in replica.fidelity.families:
    print("replica:", family.name, f"bytes {family.total_bytes_error_pct:+.1f} %")
