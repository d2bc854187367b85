"""From a log to counts at full scale in Python, without a command.

These are the modules that the commands call.
"""

from pathlib import Path

from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.plan.resolve import Options, resolve
from workalike.workload.files import workload_text

LOG = Path(__file__).parents[1] / "tests" / "data" / "checkpoints-4.darshan"

# A log: its regions are read when they are asked for; records are NumPy tables, one row a file and rank.
log = open_log(LOG)
posix = log.records("MPI-IO")
print(log.job.nprocs, "ranks;", int(posix["BYTES_WRITTEN"].sum()), "bytes written by MPI-IO")

# The workload: a typed model, and the facts of each family beside it (names included, so they stay here).
found = characterize([log])
for family in found.families:
    sizes = [dump.bytes_written for dump in family.dumps]
    print(family.family.role, family.family.interface, family.family.sharing.mode, sizes)
assert "checkpoint_0000" not in workload_text(found.workload)

# A plan: pure data. Weak scaling to 4,096 ranks keeps the bytes of a rank.
plan = resolve(found.workload, Options(ranks=4096, scaling="weak"))
print("plan for", plan.ranks, "ranks with", len(plan.dumps), "dumps")
