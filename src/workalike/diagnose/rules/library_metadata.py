"""The library writes its metadata in small independent pieces."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import METADATA_TOGETHER
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.facts.records import FloatArray
from workalike.text import count_text, plural

LEAST_BYTES = 16
"""Bytes of a piece of metadata, at least."""


class Limits(Parameters):
    writes: int = Field(1000, ge=0, description="Small independent writes that are in no dataset.")
    calls: int = Field(
        500,
        ge=0,
        description="Or, with fewer such writes, flushes and calls on attributes of these files by each rank.",
    )
    size: int = Field(10240, ge=0, description="Bytes, at most: 100, 1024 or 10240.")


def find(job: Job, limits: Limits) -> Found:
    """HDF5 files with more small independent MPI-IO writes than their datasets explain, or with flush upon flush."""
    bins = [
        name for name, most in (("0_100", 100), ("100_1K", 1024), ("1K_10K", 10240)) if most <= limits.size
    ]
    little = job.total("MPI-IO", *(f"SIZE_WRITE_AGG_{name}" for name in bins))
    of_data = job.total("H5D", *(f"SIZE_WRITE_AGG_{name}" for name in bins))
    made = job.total("MPI-IO", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES")
    extra = np.minimum((little - of_data).clip(0), job.total("MPI-IO", "INDEP_WRITES"))
    beside = (job.total("MPI-IO", "BYTES_WRITTEN") - job.total("H5D", "BYTES_WRITTEN")).clip(0)
    # Small writes without bytes of their own are the pieces of a dataset.
    apart = (beside >= LEAST_BYTES * extra) & (beside <= 0.5 * job.total("H5D", "BYTES_WRITTEN") + 2**20)
    own = job.own & (job.saw("H5F") | job.saw("H5D"))
    small = own & (extra > 0) & apart
    # A collective flush counts once on each rank. One that follows an open or a write is not a metadata of its own.
    flushed = job.total("H5F", "FLUSHES")
    often = own & (flushed > np.maximum(job.total("H5F", "OPENS"), made))
    members = np.maximum(job.ranks_in("H5F"), 1)
    calls = np.where(often, flushed, 0.0) + (
        np.where(small, job.attribute_calls, 0.0) if small.any() else 0.0
    )
    by_rank = float((calls / members).sum())
    if float(extra[small].sum()) < limits.writes and by_rank < limits.calls:
        return []
    storm = often & (by_rank >= limits.calls)
    here = small | storm
    total = float(extra[small].sum())
    flushes = float(flushed[here].sum())
    attributes = float(job.attribute_calls[here].sum())
    pieces = np.where(small, extra, 0.0) + np.where(storm, flushed, 0.0)
    cost = explained(
        job,
        counts.ratio(pieces, made + np.where(storm, flushed, 0.0)),
        (WRITE,),
        "write time x (writes of metadata + flushes) / (writes + flushes)"
        if storm.any()
        else "write time x writes of metadata / writes",
        metadata_writes=total,
        **({"flushes": float(flushed[storm].sum())} if storm.any() else {}),
    )
    dumps = float(_dumps(job)[here].sum())
    each = total / dumps
    text = _text(job, total, float(made[here].sum()), dumps)
    flushed_by_rank = float((flushed / members)[storm].sum())
    text += f"{count_text(flushes)} flushes"
    text += f", {flushed_by_rank:.3g} by each rank" if storm.any() else ""
    evidence = {
        "metadata_writes": total,
        "writes": float(made[here].sum()),
        "dumps": dumps,
        "metadata_writes_per_dump": each,
        "per_dump_and_rank": each / job.nprocs,
        "flushes": flushes,
    }
    if attributes:
        text += f", {count_text(attributes)} calls on attributes"
        evidence["attribute_calls"] = attributes
    return [Seen(text, cost, job.families_of(here), evidence)]


def _text(job: Job, small: float, made: float, dumps: float) -> str:
    """What is said before the flushes."""
    if not small:
        return f"beside {count_text(made)} MPI-IO writes, "
    each = small / dumps
    text = (
        f"{count_text(small)} of {count_text(made)} MPI-IO writes are small, independent and in no dataset, "
        f"{each:.3g} in each of {plural(round(dumps), 'dump')}"
    )
    # One for each rank and dump, or more: one log cannot show that it grows, but it is likely.
    if each >= job.nprocs > 1:
        text += f" ({each / job.nprocs:.3g} for each rank: they may grow with the ranks)"
    return text + "; "


def _dumps(job: Job) -> FloatArray:
    """float64[N], the times that each file was written as a whole: by the opens of a rank, or the flushes of one."""
    ranks = np.maximum(job.ranks_in("H5F"), 1)
    times = np.maximum(job.total("H5F", "OPENS"), job.total("H5F", "FLUSHES")) / ranks
    return np.maximum(np.round(times), 1.0)


RULE = Rule(
    id="library-metadata",
    find=find,
    parameters=Limits,
    title="library metadata at each step",
    seen_as="An HDF5 file gets many small independent MPI-IO writes that no dataset explains: attributes, headers, chunk indices. It is counted by dump: a dump is a file, and a further one each time that a rank opens or flushes it again. Or each rank flushes it far more often than it writes. Our capture counts the calls on attributes.",
    costs="Write time x writes of metadata / writes; flushes that outnumber opens and writes count as both.",
    advice="Write attributes once, collectively and at the end; make metadata collective; align and aggregate its blocks.",
    snippet="H5Pset_coll_metadata_write(fapl, 1);\nH5Pset_all_coll_metadata_ops(fapl, 1);\nH5Pset_meta_block_size(fapl, 1 << 20);",
    language="c",
    other_snippets={
        "fortran": "call h5pset_coll_metadata_write_f(fapl, .true., hdferr)\ncall h5pset_all_coll_metadata_ops_f(fapl, .true., hdferr)\ncall h5pset_meta_block_size_f(fapl, block_size, hdferr)",
    },
    needs=("MPI-IO", "H5D"),
    changes=(METADATA_TOGETHER,),
)
