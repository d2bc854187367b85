"""Ranks conflict in a shared file: their order does not suffice for every consistency model."""

from __future__ import annotations

from workalike.diagnose.conflicts.models import MODELS, Model
from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Rule, Seen, Sure
from workalike.text import plural

ADVICE = {
    Model.POSIX: "Where the file system promises less than POSIX: after writing, sync or close the file, before the other rank goes on.",
    Model.COMMIT: "For MPI-IO's own promise: sync on both sides, MPI_File_sync, barrier, MPI_File_sync.",
    Model.MPI_IO: "Where only close and open make data visible (session), close after writing, and open again before reading.",
}


def find(job: Job, _: object) -> Found:
    """Overlapping accesses of two ranks that some model does not order."""
    traced = job.conflicts
    if len(job.logs) > 1:
        return CannotTell("a job of several logs: no MPI call orders its programs")
    if traced is None or not traced.ordered:
        return CannotTell("the log has no trace with events (workalike profile --dxt --events)")
    found = traced.found
    if found.weakest is Model.SESSION and found.gaps:
        return CannotTell(f"no conflict in what was recorded, but {found.gaps[0]}")
    if found.weakest is Model.SESSION:
        return []
    first = found.examples[0]
    lacking = [model.value for model in MODELS if found.broken[model]]
    text = (
        f"{plural(max(found.broken.values()), 'pair')} of accesses by two ranks are not ordered under {', '.join(lacking)}; "
        f"first ranks {first.ranks[0]} and {first.ranks[1]}, {first.kind}, bytes {first.offset:,} to {first.end - 1:,}"
    )
    evidence = {f"broken_{model.value.lower()}": float(count) for model, count in found.broken.items()}
    families = sorted({job.family_of_record(traced.ids[example.file]) for example in found.examples})
    return [
        Seen(
            text,
            no_cost(job, "a question of correctness, not time"),
            tuple(families),
            {"pairs": float(found.overlaps), **evidence},
            Sure.POSSIBLE if found.gaps else Sure.CERTAIN,
            advice=ADVICE[found.weakest] if found.weakest else "",
        )
    ]


RULE = Rule(
    id="conflict",
    find=find,
    title="ranks touch the same bytes, and their order is not enough",
    seen_as="Two ranks touch the same bytes, one of them writing, and the MPI calls, syncs, opens and closes between them do not order them as a consistency model asks (docs/diagnose.md has the models).",
    costs="None: it is a question of correctness.",
    advice="No MPI call orders these accesses: the result depends on chance. Put a barrier or a message between them, or let ranks write disjoint ranges.",
    source="Wang, Snir, Mohror: File System Semantics Requirements of HPC Applications (HPDC 2021).",
)
