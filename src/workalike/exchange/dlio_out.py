"""`workalike export dlio`: the YAML of a DLIO workload that reads the workload's data sets."""

from __future__ import annotations

from typing import Any

import yaml

from workalike.exchange.notes import Exported, Notes, say_computing, say_names_and_delays
from workalike.exchange.shape import Shape, shapes_of
from workalike.text import plural
from workalike.workload.dataset import Dataset
from workalike.workload.model import Workload
from workalike.workload.units import format_size
from workalike.workload.words import Direction, Interface, Order, Role, Split

SHUFFLES = {Order.SEQUENTIAL: "off", Order.SHUFFLED: "seed", Order.SHUFFLED_EACH_EPOCH: "seed"}
UNLIKE_DLIO = ("header", "stats", "seeks")


def write_dlio(workload: Workload) -> Exported:
    """A training data set, that of an evaluation where there are two, and checkpoints."""
    notes = Notes()
    say_computing(workload, "DLIO", notes)
    say_names_and_delays(workload, "DLIO", notes)
    shapes = shapes_of(workload)
    sets = [shape for shape in shapes if _dataset(shape) is not None]
    if not sets:
        notes.lost("the workload has no data set: DLIO can do nothing of it")
        return Exported("", notes)
    train, *others = sets
    dataset = _known(train)
    document: dict[str, Any] = {
        "model": {"name": "workalike"},
        "framework": _loader(dataset),
        "workflow": {"generate_data": False, "train": True, "evaluation": bool(others), "checkpoint": False},
        "dataset": _files(dataset),
        "reader": _reader(dataset),
        "train": {
            "epochs": train.family.schedule.dumps,
            "computation_time": _time(train, dataset),
            "seed_change_epoch": Order.SHUFFLED not in (dataset.order, dataset.order_of_files),
        },
    }
    _say(train, dataset, notes)
    if others:
        _evaluate(document, train, others[0], notes)
    for shape in others[1:]:
        notes.lost(f"{shape.name}: DLIO reads a data set to train and one to evaluate, and no other")
    rest = [shape for shape in shapes if _dataset(shape) is None]
    saved = next((shape for shape in rest if _saves(shape)), None)
    if saved is not None:
        _checkpoint(document, train, saved, notes)
    for shape in rest:
        if shape is not saved:
            notes.lost(f"{shape.name}: DLIO has nothing like it")
    trainers = max(1, dataset.readers_of(train.ranks) // dataset.workers)
    notes.say(f"run it with {plural(trainers, 'MPI rank')}, after generating the data")
    return Exported(yaml.safe_dump(document, sort_keys=False), notes)


def _dataset(shape: Shape) -> Dataset | None:
    return shape.family.content_of(0).dataset


def _known(shape: Shape) -> Dataset:
    dataset = _dataset(shape)
    assert dataset is not None
    return dataset


def _loader(dataset: Dataset) -> str:
    return "pytorch" if dataset.split is Split.SAMPLES else "tensorflow"


def _files(dataset: Dataset) -> dict[str, Any]:
    out: dict[str, Any] = {
        "data_folder": "data",
        "format": "npz" if _loader(dataset) == "pytorch" else "tfrecord",
        "num_files_train": dataset.files,
        "num_samples_per_file": dataset.samples,
        "record_length_bytes": dataset.sample,
    }
    return out | ({"record_length_bytes_stdev": dataset.deviation} if dataset.deviation else {})


def _reader(dataset: Dataset) -> dict[str, Any]:
    out: dict[str, Any] = {
        "data_loader": _loader(dataset),
        "batch_size": dataset.batch,
        "read_threads": dataset.workers,
        "prefetch_size": dataset.prefetch,
        "file_shuffle": SHUFFLES[dataset.order_of_files],
        "sample_shuffle": SHUFFLES[dataset.order],
    }
    return out | ({"transfer_size": dataset.transfer} if dataset.transfer is not None else {})


def _time(shape: Shape, dataset: Dataset) -> float:
    """Compute time of a batch in seconds; that of a schedule is divided among the batches."""
    if dataset.compute_time:
        return dataset.compute_time
    times = shape.family.schedule.compute_times()
    trainers = max(1, dataset.readers_of(shape.ranks) // dataset.workers)
    batches = max(1.0, dataset.files * dataset.samples / (dataset.batch * trainers))
    return float(f"{sum(times) / len(times) / batches:.6g}")


def _say(shape: Shape, dataset: Dataset, notes: Notes) -> None:
    """Note what DLIO cannot express."""
    if dataset.split is Split.NONE:
        notes.lost(f"{shape.name}: in DLIO the readers share out the samples; none reads everything")
    if dataset.readers is not None and dataset.readers < shape.ranks:
        notes.say(f"{shape.name}: the same processes read in all epochs")
    if shape.family.interface is not Interface.POSIX:
        notes.say(f"{shape.name}: {shape.family.interface.value} becomes the calls of DLIO's reader")
    if dataset.opens > 1 or any(getattr(dataset, name) for name in UNLIKE_DLIO):
        notes.lost(f"{shape.name}: header, opens, stats and seeks are those of DLIO's reader")
    if dataset.split is Split.FILES and dataset.transfer is None:
        notes.say(f"{shape.name}: samples are read in blocks of DLIO's transfer_size")
    if len({dataset.order, dataset.order_of_files} - {Order.SEQUENTIAL}) > 1:
        notes.say(f"{shape.name}: files and samples are shuffled alike, anew in no epoch")


def _evaluate(document: dict[str, Any], train: Shape, shape: Shape, notes: Notes) -> None:
    dataset, first = _known(shape), _known(train)
    document["dataset"]["num_files_eval"] = dataset.files
    document["reader"]["batch_size_eval"] = dataset.batch
    _, between, _ = _after_epochs(train, shape)
    document["evaluation"] = {"eval_time": _time(shape, dataset), "epochs_between_evals": between}
    alike = ("samples", "sample", "deviation", "transfer", "order", "order_of_files", "split", "workers")
    if any(getattr(dataset, name) != getattr(first, name) for name in alike):
        notes.lost(f"{shape.name}: DLIO evaluates with samples and readers like those of the training")


def _saves(shape: Shape) -> bool:
    family = shape.family
    transfers = shape.transfers(0)
    return family.role is Role.CHECKPOINT and any(t.direction is Direction.WRITE for t in transfers)


def _checkpoint(document: dict[str, Any], train: Shape, shape: Shape, notes: Notes) -> None:
    sizes = [shape.bytes_of(i) for i in range(len(shape.starts))]
    document["workflow"]["checkpoint"] = True
    document["model"]["model_size_bytes"] = sizes[0]
    first, between, even = _after_epochs(train, shape)
    document["checkpoint"] = {"checkpoint_after_epoch": first, "epochs_between_checkpoints": between}
    if shape.family.content_of(0).fsyncs:
        document["checkpoint"]["fsync"] = True
    if len(set(sizes)) > 1:
        notes.lost(f"{shape.name}: all checkpoints have {format_size(sizes[0])}")
    if not even:
        notes.lost(
            f"{shape.name}: {plural(len(sizes), 'checkpoint')} are not one after every {between} epochs"
        )


def _after_epochs(train: Shape, shape: Shape) -> tuple[int, int, bool]:
    """After which epoch a family's first dump is, how many lie between two dumps, and whether that says it all."""
    after = [max(1, sum(epoch < start - 1e-6 for epoch in train.starts)) for start in shape.starts]
    first = after[0]
    between = max(1, after[1] - first) if len(after) > 1 else max(1, len(train.starts) + 1 - first)
    return first, between, after == list(range(first, len(train.starts) + 1, between))
