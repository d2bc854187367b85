"""Many tiny files."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import MERGED
from workalike.diagnose.costs import META, READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import count_text, size_text


class Limits(Parameters):
    per_rank: float = Field(10.0, gt=0, description="Files for each rank.")
    files: int = Field(100, ge=0, description="Files of the job.")
    mean: int = Field(1048576, ge=0, description="Mean bytes of such a file, less than.")


def find(job: Job, limits: Limits) -> Found:
    """Many files whose mean size is small."""
    size = np.maximum(counts.bytes_of(job, "READ"), counts.bytes_of(job, "WRITE"))
    here = job.on_shared & (size < limits.mean) & (counts.opens(job) > 0)
    files = int(here.sum())
    if files < limits.files or files < limits.per_rank * job.nprocs:
        return []
    mean = float(size[here].mean())
    cost = explained(job, here, (META, READ, WRITE), "all I/O time of these files", files=files)
    return [
        Seen(
            f"{count_text(files)} files of {size_text(mean)} in the mean",
            cost,
            job.families_of(here),
            {"files": files, "mean_bytes": mean},
        )
    ]


RULE = Rule(
    id="tiny-files",
    find=find,
    parameters=Limits,
    title="many tiny files",
    seen_as="The job opens many files for each rank, and they are small.",
    costs="All I/O time of these files.",
    advice="Put them into one file: HDF5, a tar archive, or one shared file with an index.",
    snippet="""with h5py.File("all.h5", "w") as file:
    for name, values in results.items():
        file[name] = values""",
    language="python",
    shared_storage=True,
    any_of=("POSIX", "STDIO"),
    changes=(MERGED,),
)
