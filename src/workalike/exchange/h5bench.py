"""`workalike export h5bench`: the JSON configuration of h5bench's write and read benchmarks.

They write eight datasets of 4-byte elements per timestep, all timesteps into one file, with equal sleeps between them.
"""

from __future__ import annotations

import json
from typing import Any

from workalike.exchange.notes import Exported, Notes, say_computing, say_names_and_delays, say_table
from workalike.exchange.shape import LIBRARIES, Event, Shape, events, is_private, say_data_set, shapes_of
from workalike.workload.model import SharingMode, Workload
from workalike.workload.words import Interface, Lifetime, Pattern

PARTICLE = 32  # bytes of a particle: eight variables of four bytes each
VARIABLES = 8


def write_h5bench(workload: Workload) -> Exported:
    """A configuration with one benchmark per run of equal dumps."""
    notes = Notes()
    say_computing(workload, "h5bench", notes)
    say_names_and_delays(workload, "h5bench", notes)
    say_table(workload, "h5bench", notes)
    benchmarks: list[dict[str, Any]] = []
    tunable: dict[str, str] = {}
    shapes = shapes_of(workload)
    for event in events(shapes):
        if event.shape.bytes_of(event.dump):
            benchmarks.append(_benchmark(event, workload.ranks, notes))
    for shape in shapes:
        tunable |= _stripes(shape)
    if not benchmarks:
        notes.lost("the workload has nothing that h5bench could do")
    else:
        notes.say("benchmarks run one after the other; the time between them is not kept")
    document = {
        "mpi": {"command": "mpirun", "ranks": str(workload.ranks)},
        "vol": {},
        "file-system": {"lustre": tunable} if tunable else {},
        "directory": "h5bench-data",
        "benchmarks": benchmarks,
    }
    return Exported(json.dumps(document, indent=4) + "\n", notes)


def _benchmark(event: Event, ranks: int, notes: Notes) -> dict[str, Any]:
    shape = event.shape
    total = shape.bytes_of(event.dump)
    particles = max(round(total / (ranks * PARTICLE)), 1)
    _say(shape, ranks, notes)
    if particles * ranks * PARTICLE != total:
        notes.say(f"{shape.name}: bytes are rounded to multiples of {PARTICLE} per rank")
    if event.count > 1 and shape.family.lifetime is Lifetime.PER_DUMP:
        notes.lost(f"{shape.name}: equal dumps go into one file, as timesteps")
    compute = round(1000 * event.every)
    configuration = {
        "MEM_PATTERN": "CONTIG",
        "FILE_PATTERN": "INTERLEAVED" if _interleaved(shape, event.dump) else "CONTIG",
        "TIMESTEPS": str(event.count),
        "DELAYED_CLOSE_TIMESTEPS": "0",
        "COLLECTIVE_DATA": "YES" if shape.collective else "NO",
        "COLLECTIVE_METADATA": "NO",
        "EMULATED_COMPUTE_TIME_PER_TIMESTEP": f"{compute} ms",
        "NUM_DIMS": "1",
        "DIM_1": str(particles),
        "DIM_2": "1",
        "DIM_3": "1",
        "MODE": "SYNC",
    }
    if shape.reads:
        configuration |= {"READ_OPTION": "FULL", "FILE_PATTERN": "CONTIG"}
    if shape.family.tunable.alignment:
        alignment = str(shape.family.tunable.alignment)
        configuration |= {"ALIGN": "YES", "ALIGN_LEN": alignment, "ALIGN_THRESHOLD": "0"}
    return {
        "benchmark": "read" if shape.reads else "write",
        "file": f"{shape.family.role.value}-{shape.family.number}-{event.dump:06}.h5",
        "configuration": configuration,
    }


def _interleaved(shape: Shape, dump: int) -> bool:
    return any(t.pattern is Pattern.INTERLEAVED for t in shape.transfers(dump))


def _stripes(shape: Shape) -> dict[str, str]:
    tunable, stripes = shape.family.tunable, {}
    if tunable.stripe_count is not None:
        stripes["stripe-count"] = str(tunable.stripe_count)
    if tunable.stripe_size is not None:
        stripes["stripe-size"] = str(tunable.stripe_size)
    return stripes


def _say(shape: Shape, ranks: int, notes: Notes) -> None:
    family = shape.family
    say_data_set(shape, "h5bench", notes)
    if family.interface is not Interface.HDF5:
        notes.lost(f"{shape.name}: interface {family.interface.value} becomes hdf5")
    elif family.interface in LIBRARIES and (shape.datasets or VARIABLES) != VARIABLES:
        notes.lost(f"{shape.name}: {shape.datasets} datasets become {VARIABLES}")
    if family.sharing.mode is SharingMode.GROUPS or is_private(shape):
        notes.lost(f"{shape.name}: h5bench has one shared file for all ranks")
    if shape.ranks != ranks:
        notes.lost(f"{shape.name}: all {ranks} ranks take part, not {shape.ranks}")
    if shape.mesh is not None:
        notes.say(f"{shape.name}: h5bench has particles and no meshes; only bytes are kept")
