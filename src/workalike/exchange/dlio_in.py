"""`workalike import dlio`: converts the YAML of a DLIO workload into a workload (docs/reference/dlio-model.md)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from workalike.exchange.dlio_checkpoints import checkpoints_alone
from workalike.exchange.dlio_document import DlioDocument
from workalike.exchange.notes import Imported

LAYERS = ("num_layers", "layer_parameters", "optimization_groups", "transformer")
FORMATS = ("npz", "npy", "jpeg", "png", "tfrecord", "csv", "hdf5", "indexed_binary", "mmap_indexed_binary")
LOADERS = {"pytorch": "samples", "tensorflow": "files"}
ELEMENTS = {
    "uint8": 1,
    "int8": 1,
    "float16": 2,
    "int16": 2,
    "float32": 4,
    "int32": 4,
    "float64": 8,
    "int64": 8,
}
DEFAULT_MODEL = 10240
DEFAULT_RECORD = 65536
PREFETCH = 2
SHORTEST = 0.001
"""Seconds of an epoch without compute time, so that what follows it has a place in time."""
MOST_EPOCHS = 100_000
MOST_BYTES = 2**48
MOST_SECONDS = 1e6


def read_dlio(path: str | Path, text: str, ranks: int | None) -> Imported:
    """A workload with the training data set, and that of the evaluation and checkpoints where there are any; or with
    the checkpoints alone, where there is no training.

    Args:
        path: the file, for messages.
        text: its content.
        ranks: training processes (DLIO's MPI ranks); each of them has `read_threads` readers.

    Raises:
        WorkalikeError: USAGE naming the line and the key, with a hint.
    """
    document = DlioDocument(Path(path), text)
    trains = document.flag("workflow", "train", True)
    if not trains and document.flag("workflow", "checkpoint", False):
        return checkpoints_alone(document, ranks)
    if not isinstance(document.document.get("dataset"), dict):
        document.refuse(("dataset",), "is not a workload of DLIO", "give the section `dataset`")
    if not trains:
        document.refuse(
            ("workflow", "train"),
            "no data set is read without training",
            "import one with train: True or checkpoint: True, or write the workload",
        )
    return _Import(document, ranks or 1).run(given=ranks is not None)


class _Import(DlioDocument):
    def __init__(self, document: DlioDocument, trainers: int) -> None:
        self.__dict__ |= document.__dict__
        self.trainers = trainers

    def run(self, *, given: bool) -> Imported:
        if not given:
            self.notes.say("one training process; -n gives another number")
        self.format()
        epochs = self.whole("train", "epochs", 1, 1, MOST_EPOCHS)
        self.readers = max(1, self.whole("reader", "read_threads", 1, 0, 4096))
        train = self.data_set("num_files_train", "batch_size", "train", "computation_time")
        ranks = self.trainers * self.readers
        step = max(self.seconds(train), SHORTEST)
        evaluation = self.evaluation(epochs)
        length = step + (evaluation[1] if evaluation else 0.0)
        families: list[dict[str, Any]] = [
            {
                "role": "input",
                "interface": "posix",
                "schedule": _schedule(epochs, 0.0, length, step),
                "content": {"dataset": train},
            }
        ]
        if evaluation:
            between, lasts, dataset = evaluation
            count = epochs // between
            family = {"role": "input", "number": 2, "interface": "posix", "content": {"dataset": dataset}}
            if count:
                first = (between - 1) * length + step
                families.append(family | {"schedule": _schedule(count, first, between * length, lasts)})
        families += self.checkpoints(epochs, length)
        if not self.whole_run():
            self.notes.lost("total_training_steps ends the run within an epoch; whole epochs are read")
        document = {
            "workalike": 2,
            "ranks": ranks,
            "runtime": f"{epochs * length:.6g} s",
            "families": families,
        }
        return Imported(document, self.notes)

    def whole_run(self) -> bool:
        return self.whole("train", "total_training_steps", -1, -1, 2**40) <= 0

    def format(self) -> None:
        name = str(self.value("dataset", "format", "tfrecord"))
        if name not in FORMATS:
            self.refuse(
                ("dataset", "format"), f"{name[:40]!r} is not read from files", f"use {', '.join(FORMATS)}"
            )
        if name in ("hdf5", "csv"):
            self.notes.lost(f"{name} files are read as plain samples, without the calls of their library")
        else:
            self.notes.say(f"files have samples alone: what {name} adds to them is left out")

    def data_set(self, files: str, batch: str, section: str, time: str) -> dict[str, Any]:
        """The data set whose files, batches and compute time have these keys."""
        samples = self.whole("dataset", "num_samples_per_file", 1, 1, 10**9)
        size, deviation = self.sample()
        loader = str(self.value("reader", "data_loader", "tensorflow"))
        if loader not in LOADERS:
            self.notes.say(
                f"the data loader {loader[:40]!r} is taken to share out samples, as pytorch's does"
            )
        split = LOADERS.get(loader, "samples")
        batch_size = self.whole("reader", batch, 1, 1, 2**30)
        dataset: dict[str, Any] = {"files": self.whole("dataset", files, 1, 1, 10**9 - 1), "samples": samples}
        dataset["sample"] = f"{size} B"
        if deviation:
            dataset["deviation"] = f"{deviation} B"
        dataset["order"], dataset["file_order"] = self.order("sample_shuffle"), self.order("file_shuffle")
        if samples == 1:  # the order of the files is that of the samples
            shuffled = [word for word in (dataset["order"], dataset["file_order"]) if word != "sequential"]
            dataset["order"] = dataset["file_order"] = shuffled[0] if shuffled else "sequential"
        if str(self.value("dataset", "format", "tfrecord")) == "tfrecord" and loader == "tensorflow":
            dataset["transfer"] = f"{self.whole('reader', 'transfer_size', 262144, 1, 2**40)} B"
            dataset["order"] = "sequential" if samples > 1 else dataset["order"]  # shuffled in memory
        if samples > 1 and split == "samples":
            self.notes.say("a reader opens each file once in an epoch, and reads its samples of it")
        dataset |= {"split": split, "batch": batch_size, "workers": self.readers}
        dataset["prefetch"] = self.whole("reader", "prefetch_size", 0, 0, 10**6) or PREFETCH
        computes = self.time(section, time)
        if computes:
            dataset["compute_time"] = f"{computes:.9g} s"
        return dataset

    def sample(self) -> tuple[int, int]:
        """Mean and standard deviation of a sample's bytes."""
        dims = self.value("dataset", "record_dims", [])
        if isinstance(dims, list) and dims and all(isinstance(d, int) and 0 < d < 2**40 for d in dims):
            element = ELEMENTS.get(str(self.value("dataset", "record_element_type", "uint8")), 1)
            size = math.prod(dims) * element
            if size > MOST_BYTES:
                self.refuse(("dataset", "record_dims"), "samples are too large", "give fewer elements")
            return size, 0
        mean, deviation = (
            self.number(
                "dataset",
                key + more,
                self.number("dataset", short + more, default, 0, MOST_BYTES),
                0,
                MOST_BYTES,
            )
            for key, short, more, default in (
                ("record_length_bytes", "record_length", "", DEFAULT_RECORD),
                ("record_length_bytes", "record_length", "_stdev", 0),
            )
        )
        if mean != round(mean):
            self.notes.say(f"a sample has {round(mean)} bytes, not {mean}")
        return max(1, round(mean)), round(deviation)

    def order(self, key: str) -> str:
        """How an order is shuffled; `off` is a false value in YAML."""
        word = self.value("reader", key, "off")
        word = "off" if word is False else str(word)
        if word == "off":
            return "sequential"
        if word not in ("seed", "random"):
            self.refuse(("reader", key), f"{word[:40]!r} is unknown", "use seed, random or off")
        each = word == "random" or self.flag("train", "seed_change_epoch", True)
        return "shuffled-each-epoch" if each else "shuffled"

    def seconds(self, dataset: dict[str, Any]) -> float:
        """The compute time of a training process in an epoch."""
        time = float(str(dataset.get("compute_time", "0 s")).removesuffix(" s"))
        samples: int = dataset["files"] * dataset["samples"]
        return time * samples / (int(dataset["batch"]) * self.trainers)

    def evaluation(self, epochs: int) -> tuple[int, float, dict[str, Any]] | None:
        """Epochs between evaluations, the length of one in seconds, and its data set."""
        files = self.whole("dataset", "num_files_eval", 0, 0, 10**9 - 1)
        if not self.flag("workflow", "evaluation", False) or not files:
            return None
        between = self.whole("evaluation", "epochs_between_evals", 1, 1, MOST_EPOCHS)
        dataset = self.data_set("num_files_eval", "batch_size_eval", "evaluation", "eval_time")
        return between, max(self.seconds(dataset), SHORTEST), dataset

    def checkpoints(self, epochs: int, length: float) -> list[dict[str, Any]]:
        if not self.flag("workflow", "checkpoint", False):
            return []
        model = self.section("model")
        if any(model.get(key) for key in LAYERS):
            self.notes.lost("checkpoints of layers become one write of the size of the model")
        if self.whole("checkpoint", "steps_between_checkpoints", -1, -1, 2**40) > 0:
            self.notes.lost("checkpoints within an epoch are written after the epoch")
        first = self.whole("checkpoint", "checkpoint_after_epoch", 1, 1, MOST_EPOCHS)
        between = self.whole("checkpoint", "epochs_between_checkpoints", 1, 1, MOST_EPOCHS)
        count = (epochs - first) // between + 1 if epochs >= first else 0
        if not count:
            self.notes.say("the run ends before its first checkpoint")
            return []
        size = self.whole(
            "model", "model_size_bytes", self.whole("model", "model_size", DEFAULT_MODEL, 1, 2**48), 1, 2**48
        )
        everyone = str(self.value("checkpoint", "type", "rank_zero")) == "all_ranks"
        sharing: Any = "root"
        if everyone:
            sharing = {"mode": "subset", "ranks": f"0-{(self.trainers - 1) * self.readers}:{self.readers}"}
            sharing = sharing if self.trainers > 1 else "root"
        content: dict[str, Any] = {"streams": [{"direction": "write", "sizes": [f"1/rank x {size} B"]}]}
        if everyone and self.trainers > 1:
            self.notes.lost("the checkpoints of all training processes go into one file")
        if self.flag("checkpoint", "fsync", False):
            content["fsyncs"] = self.trainers if everyone else 1
        return [
            {
                "role": "checkpoint",
                "interface": "posix",
                "sharing": sharing,
                "schedule": _schedule(count, first * length, between * length, 0.0),
                "content": content,
            }
        ]

    def time(self, section: str, key: str) -> float:
        """Seconds; of a distribution, its mean."""
        found = self.value(section, key, 0.0)
        if not isinstance(found, dict):
            return self.number(section, key, 0.0, 0, MOST_SECONDS)
        # Anything larger is not a part of such a distribution; a whole number may be too large for a float.
        parts = {k: v for k, v in found.items() if isinstance(v, int | float) and abs(v) <= MOST_SECONDS**2}
        mean = _mean(parts)
        if mean is None or not 0 <= mean <= MOST_SECONDS:
            self.refuse((section, key), "is not a distribution of seconds", "give its mean")
        self.notes.say(f"{key} is its mean, {mean:g} s, for every batch")
        return mean


def _mean(parts: dict[str, float]) -> float | None:
    """The mean of a distribution with these parameters; None where they are of none."""
    if "mean" in parts:
        return parts["mean"]
    if {"min", "max"} <= parts.keys():
        return (parts["min"] + parts["max"]) / 2
    if "scale" in parts:
        return parts["scale"] * parts.get("shape", 1)
    return parts.get("lam")


def _schedule(count: int, first: float, every: float, duration: float) -> dict[str, Any]:
    schedule: dict[str, Any] = {"count": count, "first": f"{first:.9g} s"}
    schedule |= {"every": f"{every:.9g} s"} if count > 1 else {}
    return schedule | ({"duration": f"{duration:.9g} s"} if duration else {})
