"""Accesses that are not aligned with stripes."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.darshan.bins import SIZE_BINS
from workalike.diagnose import counts
from workalike.diagnose.change import ALIGNED
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Picture, Rule, Seen, Sure
from workalike.text import percent_text

TINY_BINS = SIZE_BINS[:3]
"""Bins of accesses up to 10 KiB: a hundredth of the usual stripe."""


class Limits(Parameters):
    share: float = Field(0.1, gt=0, description="Share of the operations above 10 KiB that are not aligned.")


def find(job: Job, limits: Limits) -> Found:
    """Shared files on Lustre whose accesses begin within stripes."""
    stripe = job.facts.stripe_size.astype(np.float64)
    if not (stripe > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    unit = job.largest("POSIX", "FILE_ALIGNMENT")
    # An access that is far smaller than a stripe hardly ever touches two: headers and attributes are not counted.
    tiny = job.total("POSIX", *(f"SIZE_{kind}_{name}" for kind in ("READ", "WRITE") for name in TINY_BINS))
    made = (job.total("POSIX", "READS", "WRITES") - tiny).clip(0)
    off = job.total("POSIX", "FILE_NOT_ALIGNED")
    share = counts.ratio((off - tiny).clip(0), made)
    usual = job.own & job.shared & (stripe > 0) & (unit == stripe)
    here = usual & (share > limits.share)
    if not here.any():
        # Tiny ones are taken to be off. Where as many are off as are tiny, it may be the larger ones instead.
        hidden = (
            usual & (off > 0) & (tiny >= off) & (counts.ratio(np.minimum(off, made), made) > limits.share)
        )
        if hidden.any():
            return CannotTell(
                "as many operations are up to 10 KiB as are not aligned: whether larger ones are takes a trace (DXT)"
            )
        return []
    mean = counts.ratio(job.total("POSIX", "BYTES_READ", "BYTES_WRITTEN"), made)
    larger = counts.ratio(made, made + tiny)
    part = np.where(here, share * larger * counts.ratio(stripe, stripe + mean), 0)
    formula = "read and write time x share not aligned x operations above 10 KiB / operations x stripe / (stripe + mean size)"
    cost = explained(job, part, (READ, WRITE), formula)
    return [
        Seen(
            f"{percent_text(100 * float(np.average(share[here], weights=made[here])))} of the operations above 10 KiB on shared files begin within a stripe",
            cost,
            job.families_of(here),
            {"share": float(share[here].max())},
            Sure.POSSIBLE,
        )
    ]


RULE = Rule(
    id="unaligned",
    find=find,
    parameters=Limits,
    title="accesses are not aligned with stripes",
    seen_as="Operations above 10 KiB on shared files begin within a stripe of the file's real layout. Smaller ones (headers, attributes) are all taken to be off a stripe, and not counted.",
    costs="Read and write time x share not aligned x operations above 10 KiB / operations x stripe / (stripe + mean size): one stripe more is touched.",
    advice="Align objects with the stripe.",
    snippet="H5Pset_alignment(fapl, 1 << 20, stripe_size);",
    language="c",
    other_snippets={
        "fortran": "call h5pset_alignment_f(fapl, threshold, stripe_size, hdferr)",
        "python": 'h5py.File(\n    name, "w", alignment_threshold=1 << 20, alignment_interval=stripe_size\n)',
    },
    needs=("POSIX", "LUSTRE"),
    explained_by=(
        "too-few-stripes",
        "one-writer",
        "sync-each-write",
        "library-metadata",
        "independent-access",
        "lock-contention",
        "write-amplification",
        "small-writes",
        "small-reads",
        "collective-hurts",
    ),
    changes=(ALIGNED,),
    picture=Picture.SIZES,
)
