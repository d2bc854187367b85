"""The plan's data set: as many files and samples as its scale asks for, with exactly its bytes."""

from __future__ import annotations

from fractions import Fraction

from workalike.plan import plan_schema as plan
from workalike.plan.dump_scale import FamilyScale
from workalike.workload import model as wl


def resolve_dataset(dataset: wl.Dataset, scale: FamilyScale) -> plan.PlanDataset:
    """The plan's data set.

    Fewer bytes are fewer files, then fewer samples of a file, then smaller samples; scaled by size, they are smaller
    samples at once. Weak scaling grows the number of files. What each of the readers reads in turn keeps its size.
    """
    readers = dataset.readers_of(scale.members)
    if dataset.readers is not None:
        readers = min(scale.members, max(1, round(dataset.readers * scale.by_members)))
    factor, weak = scale.factor, scale.weak
    if dataset.split is wl.Split.NONE:
        # The files are the same for more readers, whose number has its own share of the factor.
        factor, weak = factor / Fraction(readers, dataset.readers_of(scale.old_members)), Fraction(1)
    wanted = max(1, round(dataset.total * factor))
    counted = factor if scale.options.scale_by == "count" else weak
    files = max(1, round(dataset.files * counted))
    samples = dataset.samples
    if counted < 1 and dataset.files * counted < 1:
        samples = max(1, round(dataset.files * dataset.samples * counted))
    files, samples = (files, samples) if files * samples <= wanted else (1, min(samples, wanted))
    size = Fraction(wanted, files * samples * dataset.sample)
    smaller = min(size, Fraction(1))
    return plan.PlanDataset(
        files=files,
        samples=samples,
        bytes=wanted,
        deviation=round(dataset.deviation * smaller),
        header=dataset.header,
        transfer=dataset.transfer or 0,
        file_order=dataset.order_of_files,
        sample_order=dataset.order,
        deal=_deal(dataset, samples),
        readers=0 if dataset.readers is None else readers,
        batch=dataset.batch,
        prefetch=dataset.prefetch * dataset.batch,
        opens=dataset.opens,
        stats=dataset.stats,
        seeks=dataset.seeks,
    )


def _deal(dataset: wl.Dataset, samples: int) -> int:
    """Samples that a reader gets at a time; 0: every reader gets all of them."""
    dealt = {wl.Split.FILES: samples, wl.Split.SAMPLES: dataset.batch, wl.Split.NONE: 0}
    return dealt[dataset.split]


def compute_time_of_epoch(dataset: wl.Dataset, resolved: plan.PlanDataset, members: int) -> float:
    """Seconds that a reader computes in an epoch of the plan, whose batches are fewer where its samples are."""
    readers = min(resolved.readers or members, members)
    trainers = 1 if resolved.deal == 0 else max(1, readers // dataset.workers)
    return dataset.compute_time * resolved.files * resolved.samples / (dataset.batch * trainers)
