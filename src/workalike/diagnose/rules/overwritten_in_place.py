"""A checkpoint is overwritten in place."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.facts.records import BoolArray, FloatArray
from workalike.facts.thresholds import THRESHOLDS


class Limits(Parameters):
    times: float = Field(2.0, gt=0, description="Opens per rank that each write the whole file.")


def find(job: Job, limits: Limits) -> Found:
    """Files opened again for writing with the same extent, and no rename: checkpoints by name, or by what they hold."""
    written, passes = counts.bytes_of(job, "WRITE"), counts.opens_per_rank(job)
    here = job.own & (passes >= limits.times) & (job.extent > 0)
    here &= job.total("POSIX", "RENAME_SOURCES", "RENAME_TARGETS") == 0
    here &= written >= 0.9 * passes * job.extent
    here &= _checkpoints(job, written)[job.family]
    if not here.any():
        return []
    times = float(np.median(passes[here]))
    text = f"a checkpoint file is written anew {times:.3g} times in place: a crash during a write leaves none"
    return [
        Seen(text, no_cost(job, "a risk, not time"), job.families_of(here), {"times": times}, Sure.POSSIBLE)
    ]


def _checkpoints(job: Job, written: FloatArray) -> BoolArray:
    """bool[F], families that are checkpoints by their role; or outputs with most of what the job writes."""
    from workalike.workload.words import Role

    of_family = np.bincount(job.family[job.own], written[job.own], minlength=len(job.families))
    most = of_family >= THRESHOLDS.role_checkpoint * max(float(written[job.own].sum()), 1.0)
    roles = [family.role for family in job.families]
    named = np.array([role in (Role.CHECKPOINT, Role.RESTART) for role in roles], dtype=bool)
    outputs = np.array([role is Role.OUTPUT for role in roles], dtype=bool)
    return np.asarray(named | (most & outputs), dtype=bool)


RULE = Rule(
    id="overwritten-in-place",
    find=find,
    parameters=Limits,
    title="a checkpoint is overwritten in place",
    seen_as="A checkpoint file, or one with most of what the job writes, is opened for writing several times, each time written in full, and never renamed.",
    costs="None: it is a risk. A crash during a write leaves no checkpoint.",
    advice="Write to another name and rename, or alternate between two files.",
    snippet='rename("chk.new", "chk");',
    language="c",
    other_snippets={
        "python": 'os.replace("chk.new", "chk")',
    },
    any_of=("POSIX", "STDIO"),
)
