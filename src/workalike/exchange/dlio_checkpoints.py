"""DLIO workloads that save and load checkpoints without training (docs/reference/dlio-model.md, "Checkpoints")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workalike.exchange.dlio_document import DlioDocument
from workalike.exchange.notes import Imported
from workalike.workload.quantities import MAX_RANKS

BYTES_OF = {"fp32": 4, "fp16": 2, "bf16": 2, "int8": 1, "uint8": 1}
SHARDED = 3
"""The stage of ZeRO from which on ranks share the parameters, too."""
MOST_LAYERS = 100_000
Tensors = Counter[int]
"""Tensors by their elements."""


@dataclass(frozen=True)
class _Transformer:
    """A model, and how ranks share it. `data` is the number of groups of ranks that each have the whole model."""

    layers: int
    hidden: int
    ffn: int
    vocabulary: int
    kv: int
    tensor: int
    pipeline: int
    data: int
    stage: int

    def parameters(self) -> int:
        """Of the whole model."""
        h = self.hidden
        layer = 2 * h + h * (h + 2 * self.kv) + h * h + 3 * self.ffn * h
        return 2 * self.vocabulary * h + layer * self.layers + h

    def tensors_of_stage(self, place: int) -> Tensors:
        """What a rank of a stage of the pipeline saves of the parameters: of each layer one share."""
        h, share = self.hidden, self.data if self.stage >= SHARDED else 1
        each, more = divmod(self.layers, self.pipeline)
        layers = each + (place < more)
        out: Tensors = Counter()
        out[h // share] += 2 * layers
        for elements in (h * (h + 2 * self.kv), h * h, 2 * h * self.ffn, h * self.ffn):
            out[elements // self.tensor // share] += layers
        if place == 0:  # the embedding
            out[h * self.vocabulary // self.tensor // share] += 1
        if place == self.pipeline - 1:  # the head, and its norm
            out[h * self.vocabulary // self.tensor // share] += 1
            out[h // share] += 1
        return out

    def tensors_of_optimizer(self) -> Tensors:
        """What each rank saves of the state of the optimizer."""
        own = self.parameters() // (self.data * self.tensor * self.pipeline)
        out: Tensors = Counter()
        if own:
            out[own] += 3
            out[5 * self.hidden] += 3  # may be as large as the others
        return out


def checkpoints_alone(document: DlioDocument, ranks: int | None) -> Imported:
    """The workload of a run without training: checkpoints that are saved, and then loaded.

    Args:
        document: the file.
        ranks: DLIO's MPI ranks; None: as many as share one copy of the model.

    Raises:
        WorkalikeError: USAGE naming the line and the key, with a hint.
    """
    return _Checkpoints(document, ranks).run()


class _Checkpoints:
    def __init__(self, document: DlioDocument, ranks: int | None) -> None:
        self.document = document
        self.notes = document.notes
        self.given = ranks
        self.model = document.section("model")

    def run(self) -> Imported:
        document = self.document
        pause = document.number("checkpoint", "time_between_checkpoints", -1.0, -1, 1e6)
        saves, loads = (
            max(0, document.whole("checkpoint", f"num_checkpoints_{word}", 0, -1, 100_000))
            for word in ("write", "read")
        )
        if not saves and not loads:
            document.refuse(("checkpoint",), "no checkpoint is saved or loaded", "give num_checkpoints_write")
        ranks, parts = self.parts()
        families = []
        begin = pause = max(pause, 0.0)
        for role, direction, count in (("checkpoint", "write", saves), ("restart", "read", loads)):
            for number, (members, streams) in enumerate(parts, 1):
                if count:
                    made = self.family(role, direction, members, streams)
                    schedule = {"count": count, "first": f"{begin:.9g} s"}
                    schedule |= {"every": f"{pause:.9g} s"} if count > 1 else {}
                    families.append(made | {"number": number, "schedule": schedule})
            begin += count * pause
        if loads:
            self.notes.say("checkpoints are loaded from files that are there before the run")
        return Imported(
            {"workalike": 2, "ranks": ranks, "runtime": f"{begin:.6g} s", "families": families}, self.notes
        )

    def family(
        self, role: str, direction: str, members: int | None, streams: list[dict[str, Any]]
    ) -> dict[str, Any]:
        sharing: dict[str, Any] = {"mode": "per-rank"}
        if members is not None:
            sharing["ranks"] = f"0-{members - 1}" if members > 1 else 0
        content: dict[str, Any] = {"streams": [{"direction": direction} | stream for stream in streams]}
        if direction == "write" and self.document.flag("checkpoint", "fsync", False):
            content["fsyncs"] = self.ranks if members is None else members
        return {"role": role, "interface": "posix", "sharing": sharing, "content": content}

    def parts(self) -> tuple[int, list[tuple[int | None, list[dict[str, Any]]]]]:
        """The ranks, and the files that each of them saves: by how many ranks (None: all), and their streams."""
        if any(self.model.get(key) for key in ("layer_parameters", "optimization_groups")):
            key = next(k for k in ("layer_parameters", "optimization_groups") if self.model.get(k))
            self.document.refuse(
                ("model", key), "sizes of single layers are not read", "give num_layers and transformer"
            )
        if not self.model.get("num_layers"):
            return self.of_one_rank()
        model = self.transformer()
        self.notes.say("each tensor is one operation: what the framework adds to them in a file is left out")
        group = model.tensor * model.pipeline
        savers = None if model.stage >= SHARDED or model.data == 1 else group
        if model.stage < SHARDED and model.pipeline > 1:
            self.notes.lost("the layers of a rank go into one file of its own, not into one each")
        datatype = self.bytes_of("model_datatype", "fp16")
        own: list[dict[str, Any]] = []
        for ranks, tensors in self.by_stage(model):
            own.append({"sizes": self.sizes(tensors, datatype)} | ({"ranks": ranks} if ranks else {}))
        wide = self.bytes_of("optimizer_datatype", "fp32")
        optimizer = self.sizes(model.tensors_of_optimizer(), wide)
        return self.ranks, [(savers, own), (None, [{"sizes": optimizer}])]

    def sizes(self, tensors: Tensors, datatype: int) -> list[str]:
        """What each rank saves, by entries of a stream. Tensors that have fewer elements than ranks are not saved."""
        found = [f"{n}/rank x {elements * datatype} B" for elements, n in tensors.items() if elements]
        if not found:
            self.document.refuse(
                ("model", "parallelism"),
                "more ranks share the model than its tensors have elements",
                "lower `tensor` or the number of ranks",
            )
        return found

    def of_one_rank(self) -> tuple[int, list[tuple[int | None, list[dict[str, Any]]]]]:
        size = self.document.whole(
            "model", "model_size_bytes", self.document.whole("model", "model_size", 10240, 1, 2**48), 1, 2**48
        )
        self.ranks = self.given or 1
        return self.ranks, [(1, [{"sizes": [f"1/rank x {size} B"]}])]

    def transformer(self) -> _Transformer:
        document, shape, parallel = self.document, self.inner("transformer"), self.inner("parallelism")
        tensor = self.whole(parallel, "parallelism", "tensor", 1, 1, MAX_RANKS)
        pipeline = self.whole(parallel, "parallelism", "pipeline", 1, 1, MOST_LAYERS)
        stage = self.whole(parallel, "parallelism", "zero_stage", 0, -1, 3)
        if stage < 1:
            document.refuse(
                ("model", "parallelism"),
                "checkpoints without ZeRO are not read",
                "give a zero_stage of 1 to 3",
            )
        group = tensor * pipeline
        self.ranks = self.given or group
        if self.ranks % group or self.ranks > MAX_RANKS:
            document.refuse(
                ("model", "parallelism"),
                f"{self.ranks} ranks are not a multiple of the {group} that share the model",
                f"give -n {group}, or a multiple",
            )
        if self.given is None:
            self.notes.say(f"{group} ranks, which share one copy of the model; -n gives another number")
        hidden = self.whole(shape, "transformer", "hidden_size", None, 1, 2**24)
        heads = self.whole(shape, "transformer", "num_attention_heads", 1, 1, hidden)
        layers = document.whole("model", "num_layers", 1, 1, MOST_LAYERS)
        if pipeline > layers:
            document.refuse(("model", "parallelism"), "there are more stages than layers", "lower `pipeline`")
        return _Transformer(
            layers=layers,
            hidden=hidden,
            ffn=self.whole(shape, "transformer", "ffn_hidden_size", None, 1, 2**26),
            vocabulary=self.whole(shape, "transformer", "vocab_size", None, 1, 2**26),
            kv=hidden // heads * self.whole(shape, "transformer", "num_kv_heads", heads, 1, heads),
            tensor=tensor,
            pipeline=pipeline,
            data=self.ranks // group,
            stage=stage,
        )

    def by_stage(self, model: _Transformer) -> Iterator[tuple[str, Tensors]]:
        """The ranks of the stages of the pipeline that save the same, and what they save; "" for all ranks."""
        if model.pipeline == 1:
            yield "", model.tensors_of_stage(0)
            return
        groups = model.data if model.stage >= SHARDED else 1
        if groups > 1:
            self.document.refuse(
                ("model", "parallelism"), "stages of a pipeline do not share parameters", "lower zero_stage"
            )
        found: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for place in range(model.pipeline):
            found.setdefault(tuple(model.tensors_of_stage(place).items()), []).append(place)
        for tensors, places in found.items():
            yield ",".join(self.ranks_of(places, model.tensor)), Counter(dict(tensors))

    @staticmethod
    def ranks_of(places: list[int], width: int) -> Iterator[str]:
        """The ranks of stages, stages that follow each other as one range."""
        first = previous = places[0]
        for place in [*places[1:], -1]:
            if place != previous + 1:
                last = (previous + 1) * width - 1
                yield f"{first * width}-{last}" if last > first * width else f"{last}"
                first = place
            previous = place

    def bytes_of(self, key: str, default: str) -> int:
        name = str(self.document.value("model", key, default))
        if name not in BYTES_OF:
            self.document.refuse(("model", key), f"{name[:40]!r} is unknown", f"use {', '.join(BYTES_OF)}")
        return BYTES_OF[name]

    def inner(self, name: str) -> dict[str, Any]:
        found = self.model.get(name, {})
        if not isinstance(found, dict):
            self.document.refuse(("model", name), "is not a section", "give `key: value` lines")
        return found

    def whole(
        self, section: dict[str, Any], name: str, key: str, default: int | None, low: int, high: int
    ) -> int:
        found = section.get(key, default)
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
            what = (
                "is missing"
                if found is None
                else f"{str(found)[:40]} is not a whole number from {low} to {high}"
            )
            self.document.refuse(("model", name, key), what, "give one")
        return found
