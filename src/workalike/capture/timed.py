"""Heatmaps and traces of recovered processes, as a log stores them."""

from __future__ import annotations

import platform

import numpy as np

from workalike.capture.mapping import HEATMAP_BINS, Mapping
from workalike.darshan.dxt import SEGMENT
from workalike.darshan.hash import record_id
from workalike.darshan.write import encode_dxt, encode_heatmap

FIRST_WIDTH_S = 0.1
APIS = ("heatmap:POSIX", "heatmap:MPIIO", "heatmap:STDIO")


def heatmap_names(mapping: Mapping) -> dict[int, str]:
    """The names of a process's heatmaps, by record id."""
    return {record_id(APIS[heatmap.api]): APIS[heatmap.api] for heatmap in mapping.heatmaps}


def heatmaps(mapping: Mapping, late: float, run_time: float) -> bytes:
    """The heatmap records of one process that began `late` seconds after a job of `run_time` seconds did."""
    width = FIRST_WIDTH_S
    while run_time > HEATMAP_BINS * width:
        width *= 2
    count = min(HEATMAP_BINS, int(run_time / width) + 1)
    out = b""
    for api, name in enumerate(APIS):
        used = [heatmap for heatmap in mapping.heatmaps if heatmap.api == api]
        if not used:
            continue
        sums = np.zeros((2, count), np.int64)
        for heatmap in used:
            middles = (np.arange(HEATMAP_BINS) + 0.5) * FIRST_WIDTH_S * 2**heatmap.level + late
            bins = np.clip(middles / width, 0, count - 1).astype(int)
            np.add.at(sums[0], bins, heatmap.written)
            np.add.at(sums[1], bins, heatmap.read)
        out += encode_heatmap(record_id(name), mapping.rank, width, sums[0].tolist(), sums[1].tolist())
    return out


def traces(mapping: Mapping, module: str, late: float) -> bytes:
    """The trace records of one process that began `late` seconds after its job."""
    out = b""
    for (its_module, number), trace in mapping.traces.items():
        if its_module != module:
            continue
        kinds = [
            np.frombuffer(bytes(raw), SEGMENT.newbyteorder("<")).copy() for raw in (trace.writes, trace.reads)
        ]
        for segments in kinds:
            segments["start"] += late
            segments["end"] += late
        out += encode_dxt(number, mapping.rank, platform.node(), kinds[0], kinds[1])
    return out
