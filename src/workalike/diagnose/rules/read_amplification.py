"""The library below reads more than it was asked to."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import CHUNKED, NO_SIEVING
from workalike.diagnose.costs import READ, explained, with_time_in_hdf5
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Picture, Rule, Seen, Sure
from workalike.text import size_text


class Limits(Parameters):
    ratio: float = Field(1.5, gt=0, description="POSIX bytes read / bytes read above.")
    bytes: int = Field(1048576, ge=0, description="Bytes read above.")


def find(job: Job, limits: Limits) -> Found:
    """Files of which POSIX read more than MPI-IO or HDF5 asked."""
    of_datasets, of_mpiio = job.total("H5D", "BYTES_READ"), job.total("MPI-IO", "BYTES_READ")
    # HDF5 reads whole chunks through MPI-IO: the highest library says what was asked for.
    asked = np.where(of_datasets > 0, of_datasets, of_mpiio)
    done = job.total("POSIX", "BYTES_READ")
    here = job.own & (asked >= limits.bytes) & (done >= limits.ratio * asked)
    if not here.any():
        return []
    share = np.where(here, 1 - counts.ratio(asked, done), 0)
    cost = explained(
        job,
        share,
        (READ,),
        "read time x (1 - bytes asked / POSIX bytes)",
        asked=float(asked[here].sum()),
    )
    cost = with_time_in_hdf5(job, cost, share, READ)
    text = f"{size_text(float(asked[here].sum()))} were asked for, POSIX read {size_text(float(done[here].sum()))}"
    return [
        Seen(
            text,
            cost,
            job.families_of(here),
            {"asked": float(asked[here].sum()), "read": float(done[here].sum())},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="read-amplification",
    find=find,
    parameters=Limits,
    title="reads are amplified below the library",
    seen_as="POSIX reads more of a file than MPI-IO or HDF5 was asked for.",
    costs="Read time x (1 - bytes asked / POSIX bytes).",
    advice="Read whole chunks and contiguous blocks; switch data sieving off, or read collectively; make chunks match what is read.",
    snippet='MPI_Info_set(info, "romio_ds_read", "disable");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "romio_ds_read", "disable", ierror)',
        "python": 'info.Set("romio_ds_read", "disable")',
    },
    needs=("POSIX",),
    any_of=("MPI-IO", "H5D"),
    changes=(CHUNKED, NO_SIEVING),
    picture=Picture.SIZES,
)
