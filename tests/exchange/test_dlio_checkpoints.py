"""DLIO workloads of checkpoints alone, with the models of the published ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.dlio_in import read_dlio
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Direction, Role, SharingMode, Workload

LLAMA3_8B: dict[str, Any] = {
    "model": {
        "name": "llama_8b",
        "type": "transformer",
        "num_layers": 32,
        "model_datatype": "fp16",
        "optimizer_datatype": "fp32",
        "parallelism": {"pipeline": 1, "tensor": 1, "zero_stage": 3},
        "transformer": {
            "vocab_size": 128256,
            "hidden_size": 4096,
            "ffn_hidden_size": 14336,
            "num_attention_heads": 32,
            "num_kv_heads": 8,
        },
    },
    "framework": "pytorch",
    "workflow": {"generate_data": False, "train": False, "checkpoint": True},
    "checkpoint": {
        "time_between_checkpoints": 5,
        "num_checkpoints_write": 10,
        "num_checkpoints_read": 10,
        "fsync": True,
    },
}
LLAMA3_70B = copy.deepcopy(LLAMA3_8B)
LLAMA3_70B["model"] |= {
    "num_layers": 80,
    "parallelism": {"pipeline": 1, "tensor": 8, "zero_stage": 3},
    "transformer": {
        "vocab_size": 128256,
        "hidden_size": 8192,
        "ffn_hidden_size": 28672,
        "num_attention_heads": 128,
        "num_kv_heads": 8,
    },
}


def changed(base: dict[str, Any], **sections: dict[str, Any]) -> dict[str, Any]:
    out = copy.deepcopy(base)
    for name, keys in sections.items():
        out[name] |= keys
    return out


def imported(document: dict[str, Any], ranks: int | None = None) -> tuple[Workload, list[str]]:
    found = read_dlio("in.yaml", yaml.safe_dump(document), ranks)
    return Workload.model_validate(found.document), [str(note["text"]) for note in found.notes.as_list()]


def gib_of(workload: Workload) -> list[float]:
    """GiB of one checkpoint that is saved, and of one that is loaded."""
    counts = core_plan(resolve(workload, Options())).count()
    return [sum(counts[name].tolist()) / 10 / 2**30 for name in ("BYTES_WRITTEN", "BYTES_READ")]


@pytest.mark.parametrize(
    ("document", "ranks", "gib"), [(LLAMA3_8B, 8, 105), (LLAMA3_70B, 64, 912)], ids=["8b", "70b"]
)
def test_checkpoints_have_the_published_sizes(document: dict[str, Any], ranks: int, gib: float) -> None:
    """MLPerf Storage states 105 and 912 GB for a checkpoint of these models, which are GiB."""
    workload, _ = imported(document, ranks)
    assert workload.ranks == ranks
    assert gib_of(workload) == pytest.approx([gib, gib], rel=0.005)


def test_each_rank_saves_its_parameters_and_its_optimizer_then_all_are_loaded() -> None:
    workload, notes = imported(LLAMA3_8B, 8)
    kinds = [(f.role, f.number, f.sharing.mode) for f in workload.families]
    assert kinds == [
        (role, number, SharingMode.PER_RANK) for role in (Role.CHECKPOINT, Role.RESTART) for number in (1, 2)
    ]
    assert workload.families[0].schedule.starts() == [5.0 * k for k in range(1, 11)]
    assert workload.families[2].schedule.starts() == [55.0 + 5 * k for k in range(10)]
    model, optimizer = (f.content_of(0) for f in workload.families[:2])
    assert (model.fsyncs, workload.families[2].content_of(0).fsyncs) == (8, 0)
    # Of each layer, two norms of 4,096, and projections; embedding and head; an eighth of each, 2 bytes.
    sizes = {e.size: e.total(8) // 8 for e in model.streams[0].sizes}
    assert sizes[4096 // 8 * 2] == 2 * 32 + 1
    assert sizes[4096 * (4096 + 2 * 1024) // 8 * 2] == 32
    assert sizes[4096 * 128256 // 8 * 2] == 2
    parameters = 8_030_261_248
    assert [(e.size, e.total(8) // 8) for e in optimizer.streams[0].sizes] == [
        (parameters // 8 * 4, 3),
        (5 * 4096 * 4, 3),
    ]
    assert any("each tensor is one operation" in line for line in notes)


def test_only_the_first_copy_of_a_model_whose_parameters_are_not_sharded_is_saved() -> None:
    shared = {"pipeline": 4, "tensor": 2, "zero_stage": 1}
    workload, notes = imported(changed(LLAMA3_8B, model={"parallelism": shared, "num_layers": 30}), 16)
    model, optimizer, *_ = workload.families
    assert model.members(16) == 8 and optimizer.members(16) == 16
    streams = model.content_of(0).streams
    # 8, 8, 7 and 7 layers; the first stage has the embedding, the last one the head.
    assert [s.ranks for s in streams] == [[(0, 1, 1)], [(2, 3, 1)], [(4, 5, 1)], [(6, 7, 1)]]
    layers = [next(e for e in s.sizes if e.size == 4096 * 14336 // 2 * 2).total(2) // 2 for s in streams]
    assert layers == [8, 8, 7, 7]
    assert any("layers of a rank go into one file" in line for line in notes)


def test_without_ranks_one_copy_of_the_model_is_saved() -> None:
    workload, notes = imported(LLAMA3_70B)
    assert workload.ranks == 8
    assert any("8 ranks, which share one copy" in line for line in notes)


def test_a_model_without_layers_is_saved_by_one_rank() -> None:
    document = {
        "workflow": {"train": False, "checkpoint": True},
        "model": {"model_size_bytes": 1_000_000},
        "checkpoint": {"num_checkpoints_write": 2, "time_between_checkpoints": 3},
    }
    workload, _ = imported(document, 4)
    (family,) = workload.families
    assert (family.members(4), family.schedule.dumps) == (1, 2)
    assert family.content_of(0).moved(1, Direction.WRITE) == 1_000_000


def tiny(*, tensor: int = 1, stage: int = 3) -> dict[str, Any]:
    """12 parameters: 2 for a vocabulary of one word, 9 of the layer, and the norm at its end."""
    shape = {"vocab_size": 1, "hidden_size": 1, "ffn_hidden_size": 1, "num_attention_heads": 1}
    parallelism = {"tensor": tensor, "pipeline": 1, "zero_stage": stage}
    return changed(LLAMA3_8B, model={"num_layers": 1, "transformer": shape, "parallelism": parallelism})


def test_tensors_of_the_optimizer_that_are_of_one_size_are_all_saved() -> None:
    """Of 15 parameters, 3 ranks have 5 each; 5 is also five times the hidden size."""
    document = tiny()
    document["model"]["transformer"]["ffn_hidden_size"] = 2
    workload, _ = imported(document, 3)
    assert [(e.size, e.total(3) // 3) for e in workload.families[1].content_of(0).streams[0].sizes] == [
        (20, 6)
    ]


@pytest.mark.parametrize("stage", [1, 3])
def test_tensors_that_leave_nothing_for_each_rank_are_refused(stage: int) -> None:
    with pytest.raises(WorkalikeError) as caught:
        imported(tiny(tensor=64, stage=stage))
    assert "than its tensors have elements" in str(caught.value)
    assert "model.parallelism" in (caught.value.place or "")


@pytest.mark.parametrize(
    ("sections", "ranks", "place", "message"),
    [
        ({"checkpoint": {"num_checkpoints_write": 0, "num_checkpoints_read": -1}}, 8, "checkpoint", "no checkpoint"),
        ({"checkpoint": {"num_checkpoints_write": 1.5}}, 8, "num_checkpoints_write", "not a whole number"),
        ({"model": {"parallelism": {"tensor": 3, "zero_stage": 3}}}, 8, "parallelism", "not a multiple of the 3"),
        ({"model": {"parallelism": {"zero_stage": 0}}}, 8, "parallelism", "without ZeRO"),
        ({"model": {"parallelism": {"zero_stage": 3, "pipeline": 2}}}, 8, "parallelism", "do not share"),
        ({"model": {"parallelism": {"zero_stage": 1, "pipeline": 64}}}, 64, "parallelism", "more stages"),
        ({"model": {"parallelism": 3}}, 8, "model.parallelism", "not a section"),
        ({"model": {"transformer": {"hidden_size": "x"}}}, 8, "hidden_size", "not a whole number"),
        ({"model": {"transformer": {"hidden_size": 64}}}, 8, "ffn_hidden_size", "is missing"),
        ({"model": {"model_datatype": "fp9"}}, 8, "model_datatype", "is unknown"),
        ({"model": {"layer_parameters": [1, 2]}}, 8, "layer_parameters", "single layers"),
        ({"model": {"num_layers": 10**9}}, 8, "num_layers", "not a number from"),
    ],
)  # fmt: skip
def test_what_is_refused(sections: dict[str, Any], ranks: int, place: str, message: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        imported(changed(LLAMA3_8B, **sections), ranks)
    assert caught.value.kind is ErrorKind.USAGE
    assert message in str(caught.value) and place in (caught.value.place or "")
