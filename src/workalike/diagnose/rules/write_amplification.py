"""The library below writes more than MPI-IO was asked to."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import COLLECTIVE, NO_SIEVING
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Picture, Rule, Seen, Sure
from workalike.text import size_text


class Limits(Parameters):
    ratio: float = Field(1.5, gt=0, description="POSIX traffic / MPI-IO bytes written.")
    bytes: int = Field(1048576, ge=0, description="Bytes written at MPI-IO.")


def find(job: Job, limits: Limits) -> Found:
    """Files of which POSIX moved more than MPI-IO asked: sieving, read-modify-write."""
    asked = job.total("MPI-IO", "BYTES_WRITTEN")
    unasked = np.where(job.total("MPI-IO", "BYTES_READ") == 0, job.total("POSIX", "BYTES_READ"), 0)
    done = job.total("POSIX", "BYTES_WRITTEN") + unasked
    here = job.own & (asked >= limits.bytes) & (done >= limits.ratio * asked)
    if not here.any():
        return []
    cost = explained(
        job,
        np.where(here, 1 - counts.ratio(asked, done), 0),
        (WRITE,),
        "write time x (1 - MPI-IO bytes / POSIX traffic)",
        asked=float(asked[here].sum()),
    )
    text = f"MPI-IO was asked for {size_text(float(asked[here].sum()))}, POSIX wrote {size_text(float((done - unasked)[here].sum()))} and read {size_text(float(unasked[here].sum()))}"
    return [
        Seen(
            text,
            cost,
            job.families_of(here),
            {"asked": float(asked[here].sum()), "moved": float(done[here].sum())},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="write-amplification",
    find=find,
    parameters=Limits,
    title="writes are amplified below MPI-IO",
    seen_as="POSIX writes more of a file than MPI-IO was asked to, or reads a file that MPI-IO only writes.",
    costs="Write time x (1 - MPI-IO bytes / POSIX traffic).",
    advice="Switch data sieving for writes off, or use collective writes so that aggregators write whole blocks.",
    snippet='MPI_Info_set(info, "romio_ds_write", "disable");\nMPI_Info_set(info, "romio_cb_write", "enable");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "romio_ds_write", "disable", ierror)\ncall MPI_Info_set(info, "romio_cb_write", "enable", ierror)',
        "python": 'info.Set("romio_ds_write", "disable")\ninfo.Set("romio_cb_write", "enable")',
    },
    needs=("POSIX", "MPI-IO"),
    explained_by=(
        "fill-values",
        "library-metadata",
        "independent-access",
    ),
    changes=(NO_SIEVING, COLLECTIVE),
    picture=Picture.SIZES,
)
