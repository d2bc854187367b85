"""HDF5 writes fill values before the data."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import NO_FILL
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import size_text


class Limits(Parameters):
    least: float = Field(1.9, gt=0, description="MPI-IO or POSIX bytes / bytes of datasets.")
    most: float = Field(2.1, gt=0, description="The same, at most.")
    bytes: int = Field(1048576, ge=0, description="Bytes of the datasets.")


def find(job: Job, limits: Limits) -> Found:
    """Files that get twice the bytes of their datasets."""
    data = job.total("H5D", "BYTES_WRITTEN")
    below = np.maximum(
        job.total("MPI-IO", "BYTES_WRITTEN"),
        np.where(job.saw("MPI-IO"), 0, job.total("POSIX", "BYTES_WRITTEN")),
    )
    times = counts.ratio(below, data)
    here = job.own & (data >= limits.bytes) & (times >= limits.least) & (times <= limits.most)
    if not here.any():
        return []
    cost = explained(
        job,
        np.where(here, 1 - counts.ratio(data, below), 0),
        (WRITE,),
        "write time x (1 - dataset bytes / bytes below)",
        dataset_bytes=float(data[here].sum()),
    )
    text = f"datasets of {size_text(float(data[here].sum()))} cost {size_text(float(below[here].sum()))} below HDF5"
    return [
        Seen(
            text,
            cost,
            job.families_of(here),
            {"dataset_bytes": float(data[here].sum()), "bytes_below": float(below[here].sum())},
        )
    ]


RULE = Rule(
    id="fill-values",
    find=find,
    parameters=Limits,
    title="HDF5 writes fill values first",
    seen_as="MPI-IO or POSIX gets about twice the bytes of the datasets of a file.",
    costs="Write time x (1 - bytes of the datasets / bytes below).",
    advice="Set the fill time to never where datasets are written in full.",
    snippet="H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);",
    language="c",
    needs=("H5D",),
    uses=("MPI-IO", "POSIX"),
    changes=(NO_FILL,),
)
