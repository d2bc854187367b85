"""DLIO's YAML in both directions, with the numbers of published workloads."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.dlio_in import read_dlio
from workalike.exchange.dlio_out import write_dlio
from workalike.exchange.document import workload_of
from workalike.exchange.fio import write_fio
from workalike.exchange.ior import write_ior
from workalike.exchange.macsio_out import write_macsio
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Dataset, Order, Role, SharingMode, Split, Workload
from workalike.workload.workload_file import workload_text

UNET3D: dict[str, Any] = {
    "model": {"name": "unet3d", "model_size": 499_153_191},
    "framework": "pytorch",
    "workflow": {"generate_data": False, "train": True, "checkpoint": True},
    "dataset": {
        "data_folder": "data",
        "format": "npz",
        "num_files_train": 168,
        "num_samples_per_file": 1,
        "record_length_bytes": 146_600_628,
        "record_length_bytes_stdev": 68_341_808,
    },
    "reader": {
        "data_loader": "pytorch",
        "batch_size": 7,
        "read_threads": 4,
        "file_shuffle": "seed",
        "sample_shuffle": "seed",
    },
    "train": {"epochs": 5, "computation_time": 0.323},
    "checkpoint": {"checkpoint_after_epoch": 1, "epochs_between_checkpoints": 2},
}
RESNET50: dict[str, Any] = {
    "dataset": {
        "format": "tfrecord",
        "num_files_train": 1024,
        "num_samples_per_file": 1251,
        "record_length_bytes": 114_660.07,
    },
    "train": {"epochs": 5, "computation_time": 0.224},
    "reader": {"data_loader": "tensorflow", "read_threads": 8, "batch_size": 400},
}
COSMOFLOW: dict[str, Any] = {
    "dataset": {
        "format": "tfrecord",
        "num_files_train": 524_288,
        "record_length_bytes": 2_828_486,
        "record_length_bytes_stdev": 71_311,
    },
    "train": {"epochs": 5, "computation_time": 0.0035},
    "reader": {"read_threads": 4, "batch_size": 1, "file_shuffle": "seed", "sample_shuffle": "seed"},
}


def imported(document: dict[str, Any], ranks: int | None = 2) -> Workload:
    return workload_of(read_dlio("in.yaml", yaml.safe_dump(document), ranks))


def with_changes(document: dict[str, Any], **sections: dict[str, Any]) -> dict[str, Any]:
    return document | {name: document.get(name, {}) | more for name, more in sections.items()}


def data_set(workload: Workload, family: int = 0) -> Dataset:
    dataset = workload.families[family].content_of(0).dataset
    assert dataset is not None
    return dataset


def lost(found: Any) -> list[str]:
    return [note.text for note in found.notes.all if note.essential]


def test_unet3d() -> None:
    workload = imported(UNET3D)
    assert workload.ranks == 8
    assert data_set(workload) == Dataset(
        files=168,
        sample=146_600_628,
        deviation=68_341_808,
        order=Order.SHUFFLED_EACH_EPOCH,
        split=Split.SAMPLES,
        batch=7,
        workers=4,
        prefetch=2,
        compute_time=0.323,
    )
    train, checkpoint = workload.families
    epoch = 168 / 7 / 2 * 0.323
    assert train.schedule.starts() == pytest.approx([i * epoch for i in range(5)])
    assert checkpoint.role is Role.CHECKPOINT and checkpoint.sharing.mode is SharingMode.ROOT
    assert checkpoint.schedule.starts() == pytest.approx([epoch, 3 * epoch, 5 * epoch])
    plan = resolve(workload, Options())
    counted = core_plan(plan).count()
    epochs = [1, 0, 1, 1, 0, 1, 1, 0]  # the others are checkpoints
    assert counted["BYTES_READ"].tolist() == [168 * 146_600_628 * n for n in epochs]
    assert counted["BYTES_WRITTEN"].sum() == 3 * 499_153_191
    assert counted["READS"].sum() == 5 * 168


def test_resnet50() -> None:
    workload = imported(RESNET50, ranks=None)
    found = data_set(workload)
    assert (workload.ranks, found.files, found.samples, found.sample) == (8, 1024, 1251, 114_660)
    assert (found.split, found.order, found.transfer, found.batch) == (
        Split.FILES,
        Order.SEQUENTIAL,
        262_144,
        400,
    )
    assert workload.families[0].schedule.every == pytest.approx(1024 * 1251 / 400 * 0.224)


def test_cosmoflow_at_a_small_scale() -> None:
    workload = imported(COSMOFLOW)
    found = data_set(workload)
    assert (found.files, found.deviation, found.order) == (524_288, 71_311, Order.SHUFFLED_EACH_EPOCH)
    plan = resolve(workload, Options(bytes_scale=Fraction(1, 2**15)))
    assert plan.contents[0].dataset is not None and plan.contents[0].dataset.files == 16
    assert core_plan(plan).count()["BYTES_READ"].tolist() == [16 * 2_828_486] * 5


@pytest.mark.parametrize("document", [UNET3D, RESNET50, COSMOFLOW])
def test_there_and_back(document: dict[str, Any]) -> None:
    first = imported(document)
    exported = write_dlio(first)
    assert not lost(exported)
    again = workload_of(read_dlio("again.yaml", exported.text, 2))
    assert workload_text(again) == workload_text(first)


def test_an_evaluation_is_a_family_of_its_own() -> None:
    document = with_changes(
        UNET3D,
        workflow={"evaluation": True, "checkpoint": False},
        dataset={"num_files_eval": 42},
        evaluation={"eval_time": 0.1, "epochs_between_evals": 2},
    )
    workload = imported(document)
    assert data_set(workload, 1).files == 42 and data_set(workload, 1).compute_time == 0.1
    train, evaluate = (family.schedule.starts() for family in workload.families)
    assert len(evaluate) == 2
    assert all(a < b for a, b in zip(train[1::2], evaluate, strict=True))  # after its epoch
    assert all(a < b for a, b in zip(evaluate, train[2::2], strict=False))  # before the next
    again = workload_of(read_dlio("again.yaml", write_dlio(workload).text, 2))
    assert data_set(again, 1) == data_set(workload, 1)


@pytest.mark.parametrize(
    ("shuffle", "change", "order"),
    [
        ("off", True, Order.SEQUENTIAL),
        ("seed", True, Order.SHUFFLED_EACH_EPOCH),
        ("seed", False, Order.SHUFFLED),
        ("random", False, Order.SHUFFLED_EACH_EPOCH),
    ],
)
def test_orders(shuffle: str, change: bool, order: Order) -> None:
    document = with_changes(
        RESNET50,
        reader={"file_shuffle": shuffle, "data_loader": "pytorch", "sample_shuffle": "off"},
        train={"seed_change_epoch": change},
    )
    found = data_set(imported(document))
    assert (found.order, found.order_of_files) == (Order.SEQUENTIAL, order)


def test_off_without_quotes_is_a_false_value_of_yaml() -> None:
    text = "dataset: {num_files_train: 4}\nreader: {sample_shuffle: off, file_shuffle: off}\n"
    assert data_set(workload_of(read_dlio("in.yaml", text, 1))).order is Order.SEQUENTIAL


@pytest.mark.parametrize(
    ("time", "mean"),
    [
        ({"mean": 1.5, "stdev": 0.1}, 1.5),
        ({"min": 0.5, "max": 1.5, "type": "uniform"}, 1.0),
        ({"shape": 2.0, "scale": 0.25, "type": "gamma"}, 0.5),
        ({"scale": 0.75, "type": "exponential"}, 0.75),
        ({"lam": 2.0, "type": "poisson"}, 2.0),
    ],
)
def test_of_a_distribution_the_mean_counts(time: dict[str, Any], mean: float) -> None:
    found = read_dlio("in.yaml", yaml.safe_dump(with_changes(RESNET50, train={"computation_time": time})), 1)
    assert data_set(workload_of(found)).compute_time == mean
    assert any("is its mean" in note.text for note in found.notes.all)


def test_dimensions_have_precedence() -> None:
    document = with_changes(RESNET50, dataset={"record_dims": [10, 20], "record_element_type": "float32"})
    assert data_set(imported(document)).sample == 800


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"dataset": {"format": "hdf5"}}, "hdf5 files are read as plain samples"),
        ({"train": {"total_training_steps": 10}}, "whole epochs are read"),
        (
            {"workflow": {"checkpoint": True}, "checkpoint": {"steps_between_checkpoints": 5}},
            "after the epoch",
        ),
        ({"workflow": {"checkpoint": True}, "model": {"num_layers": 3}}, "checkpoints of layers"),
    ],
)
def test_what_an_import_loses(change: dict[str, Any], text: str) -> None:
    found = read_dlio("in.yaml", yaml.safe_dump(with_changes(RESNET50, **change)), 1)
    assert any(text in line for line in lost(found))


@pytest.mark.parametrize(
    ("document", "place", "message"),
    [
        ("[1, 2]", "line 1", "is not a workload of DLIO"),
        ("dataset: {format: synthetic}", "line 1, dataset.format", "is not read from files"),
        ("dataset:\n  num_files_train: 0", "line 2, dataset.num_files_train", "not a number from 1"),
        ("dataset:\n  num_files_train: 1.5", "line 2, dataset.num_files_train", "not a whole number"),
        ("dataset: {}\nworkflow: {train: False}", "line 2, workflow.train", "without training"),
        ("dataset: {}\nreader: {file_shuffle: maybe}", "line 2, reader.file_shuffle", "is unknown"),
        ("dataset: {}\ntrain: 5", "line 2, train", "is not a section"),
        (
            "dataset: {}\ntrain: {computation_time: {a: 1}}",
            "line 2, train.computation_time",
            "not a distribution",
        ),
        ("dataset: {}\nworkflow: {checkpoint: 3}", "line 2, workflow.checkpoint", "neither True nor False"),
        ("dataset: {}\ntrain: {epochs: .nan}", "line 2, train.epochs", "not a number"),
        (
            f"dataset: {{}}\ntrain: {{computation_time: {{mean: 1{'0' * 400}}}}}",
            "line 2, train.computation_time",
            "not a distribution",
        ),
        (
            f"dataset:\n  record_dims: {[2**39] * 500}",
            "line 2, dataset.record_dims",
            "samples are too large",
        ),
    ],
)
def test_what_is_refused(document: str, place: str, message: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        read_dlio("in.yaml", document, 1)
    assert caught.value.kind is ErrorKind.USAGE
    assert message in str(caught.value) and place in (caught.value.place or "")


def shaped(**dataset: Any) -> Workload:
    shape = {"files": 16, "samples": 24, "sample": "16 KiB", "order": "shuffled-each-epoch"} | dataset
    family = {"role": "input", "interface": "posix", "content": {"dataset": shape}}
    schedule = {"count": 3, "first": 0, "every": 30, "compute_time": 12}
    return Workload.model_validate({"ranks": 4, "families": [family | {"schedule": schedule}]})


def test_the_compute_time_of_a_schedule_is_that_of_its_batches() -> None:
    """384 samples in batches of 8 for four readers, each a training process: 12 batches in 12 s."""
    document = yaml.safe_load(write_dlio(shaped(batch=8)).text)
    assert document["train"] == {"epochs": 3, "computation_time": 1.0, "seed_change_epoch": True}


@pytest.mark.parametrize(
    ("dataset", "text"),
    [
        ({"split": "none"}, "none reads everything"),
        ({"header": 80}, "those of DLIO's reader"),
        ({"opens": 2}, "those of DLIO's reader"),
    ],
)
def test_what_an_export_loses(dataset: dict[str, Any], text: str) -> None:
    assert any(text in line for line in lost(write_dlio(shaped(**dataset))))


def test_a_workload_without_a_data_set() -> None:
    family = {
        "role": "checkpoint",
        "schedule": {"count": 1},
        "content": {"streams": [{"direction": "write", "sizes": ["1 x 8 B"]}]},
    }
    exported = write_dlio(Workload.model_validate({"ranks": 1, "families": [family]}))
    assert exported.text == "" and lost(exported)


@pytest.mark.parametrize("write", [write_fio, write_ior])
def test_other_tools_read_one_shared_file_at_random(write: Any) -> None:
    exported = write(shaped())
    assert any("16 files become one shared file" in line for line in lost(exported))
    assert ("rw=randread" if write is write_fio else " -z") in exported.text
    assert "16384" in exported.text
    assert any("cannot read" in line for line in lost(write_macsio(shaped())))


def test_workloads_in_the_tree_of_published_numbers(tmp_path: Path) -> None:
    """From a file, through the command."""
    source, target = tmp_path / "unet3d.yaml", tmp_path / "job.yaml"
    source.write_text(yaml.safe_dump(UNET3D))
    done = CliRunner().invoke(app, ["import", "dlio", str(source), "-n", "2", "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert "168 files read by all ranks" in done.output
    done = CliRunner().invoke(app, ["export", "dlio", str(target)])
    assert done.exit_code == 0 and yaml.safe_load(done.stdout)["reader"]["read_threads"] == 4
