"""HDF5 writes fill values before the data."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import NO_FILL
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.facts.records import BoolArray, FloatArray
from workalike.text import size_text


class Limits(Parameters):
    least: float = Field(1.9, gt=0, description="MPI-IO or POSIX bytes / bytes of datasets.")
    most: float = Field(2.1, gt=0, description="The same, at most.")
    bytes: int = Field(1048576, ge=0, description="Bytes of the datasets.")


def find(job: Job, limits: Limits) -> Found:
    """Files that get twice the bytes of their datasets, or that hold a full dataset and are written twice."""
    data = job.total("H5D", "BYTES_WRITTEN")
    below = np.maximum(
        job.total("MPI-IO", "BYTES_WRITTEN"),
        np.where(job.saw("MPI-IO"), 0, job.total("POSIX", "BYTES_WRITTEN")),
    )
    once = np.where(_within(counts.ratio(below, data), limits), data, 0)
    # A partial H5D module lost datasets: then the extent tells what is written once.
    extent = np.where(_has_full_dataset(job), job.largest("POSIX", "MAX_BYTE_WRITTEN") + 1, 0)
    written = job.total("POSIX", "BYTES_WRITTEN")
    over = (once == 0) & _within(counts.ratio(written, extent), limits)
    once, below = np.where(over, extent, once), np.where(over, written, below)
    here = job.own & (data > 0) & (once >= limits.bytes)
    if not here.any():
        return []
    held, moved = float(once[here].sum()), float(below[here].sum())
    share = np.where(here, 1 - counts.ratio(once, below), 0)
    formula = "write time x (1 - dataset bytes / bytes below)"
    cost = explained(job, share, (WRITE,), formula, dataset_bytes=held, bytes_below=moved)
    text = f"datasets of {size_text(held)} cost {size_text(moved)} below HDF5"
    return [Seen(text, cost, job.families_of(here), {"dataset_bytes": held, "bytes_below": moved})]


def _within(times: FloatArray, limits: Limits) -> BoolArray:
    return np.asarray((times >= limits.least) & (times <= limits.most))


def _has_full_dataset(job: Job) -> BoolArray:
    """bool[N]: files with a dataset whose record has as many bytes written as its dataspace holds."""
    out = np.zeros(len(job), dtype=bool)
    table = job.module("H5D")
    if table is not None:
        whole = table.column("DATASPACE_NPOINTS").astype(np.float64) * table.column("DATATYPE_SIZE")
        out[table.file[(whole > 0) & (table.column("BYTES_WRITTEN") >= whole)]] = True
    return out


RULE = Rule(
    id="fill-values",
    find=find,
    parameters=Limits,
    title="HDF5 writes fill values first",
    seen_as="MPI-IO or POSIX gets about twice the bytes of the datasets of a file; or a dataset is written in full, and the file twice.",
    costs="Write time x (1 - bytes of the datasets / bytes below).",
    advice="Set the fill time to never where datasets are written in full.",
    snippet="H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);",
    language="c",
    other_snippets={
        "fortran": "call h5pset_fill_time_f(dcpl, H5D_FILL_TIME_NEVER_F, hdferr)",
        "python": 'file.create_dataset("x", shape, dtype, fill_time="never")',
    },
    needs=("H5D",),
    uses=("MPI-IO", "POSIX"),
    changes=(NO_FILL,),
)
