"""The operations of all ranks, counted at full scale without performing them, and compared with the log."""

from __future__ import annotations

from pathlib import Path

from workalike.characterize.result import Characterization
from workalike.compare.fidelity import Fidelity, compare, write_fidelity
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload


def count_at_full_scale(original: Characterization | Workload, folder: Path) -> Fidelity:
    """The fidelity of the plan at full scale, which is only counted. Its record and `fidelity.json` go to `folder`.

    Raises:
        WorkalikeError: as `resolve`, `run_plan` and `write_fidelity`.
    """
    workload = original if isinstance(original, Workload) else original.workload
    plan = resolve(workload, Options())
    record = run_plan(plan, RunOptions(data=folder, out=folder, backend="null", quiet=True))
    fidelity = compare(original, record, plan=plan)
    write_fidelity(fidelity, folder / "fidelity.json")
    return fidelity
