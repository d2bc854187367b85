"""How far the prediction of a family of datasets is from the log, counter by counter."""

from __future__ import annotations

from pydantic import ValidationError

from workalike.characterize.result import FamilyFacts
from workalike.errors import WorkalikeError
from workalike.facts.jobs import JobFacts
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.counted import OF_DATASETS, counted
from workalike.predict.determined import determined_of_log
from workalike.workload.model import Workload


def misfit_of_datasets(facts: FamilyFacts, job: JobFacts) -> list[DeterminedRow] | None:
    """The determined counters in which a family of datasets is off; None for other families, and those too large."""
    module = MODULE_OF_LEVEL[facts.family.counted_at]
    if module not in OF_DATASETS:
        return None
    try:
        workload = Workload(ranks=job.nprocs, runtime=max(0.0, job.run_time), families=[facts.family])
        model = counted(resolve(workload, Options()), THRESHOLDS.synthesis_calls)
    except (WorkalikeError, ValidationError):
        return None
    key = (facts.family.role, facts.family.number)
    if key not in model:
        return None
    log = determined_of_log(facts.files(), module)
    return [row for row in rows_of((key,), module, log, model[key]) if not row.agrees]
