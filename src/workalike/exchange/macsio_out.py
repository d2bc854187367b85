"""`workalike export macsio`: the command line of MACSio that comes nearest to a workload, and notes on the rest."""

from __future__ import annotations

import itertools
import math
import shlex
from typing import Any

from workalike.exchange.macsio_hdf5 import options_of_tunable
from workalike.exchange.macsio_loop import Loop
from workalike.exchange.notes import Exported, Notes, say_computing, say_names_and_delays, say_table
from workalike.exchange.shape import Shape, shapes_of
from workalike.workload.model import Family, MeshType, SharingMode, Turns, Workload
from workalike.workload.words import Interface, Lifetime, Role

CYCLE = 8
# Bytes per node and per zone of each variable of the cycle (docs/reference/macsio-model.md#sizes).
NODE_BYTES = (0, 0, 0, 8, 8, 8, 8, 0)
ZONE_BYTES = (8, 8, 8, 0, 0, 0, 0, 4)
NODE = 8  # bytes of a value on a node
VARIABLES = 20

MOST_TARGETS = 2**16
"""More targets than MACSio takes."""


def write_macsio(workload: Workload, dialect: str = "fork") -> Exported:
    """A command line in the dialect fork (checkpoints, plots, sleeps) or upstream (dumps, compute time)."""
    notes = Notes()
    say_computing(workload, "MACSio", notes)
    say_names_and_delays(workload, "MACSio", notes)
    say_table(workload, "MACSio", notes)
    checkpoint, plot = _choose(workload, notes)
    main = checkpoint or plot
    assert main is not None
    arguments = ["mpiexec", "-n", str(workload.ranks), "macsio", "--interface", _interface(main, notes)]
    arguments += _mode(main, notes)
    arguments += _mesh(main, dialect, notes)
    if checkpoint is not None and plot is not None:
        _same(checkpoint, plot, notes)
    if dialect == "upstream":
        arguments += _upstream(checkpoint, plot, notes)
    else:
        arguments += _fork(workload, checkpoint, plot, notes)
    arguments += _plugin(main, dialect, notes)
    return Exported(shlex.join(arguments) + "\n", notes)


def _choose(workload: Workload, notes: Notes) -> tuple[Shape | None, Shape | None]:
    """The families that become checkpoints and plots; others are noted as lost."""
    checkpoint = plot = None
    for shape in shapes_of(workload):
        if shape.reads:
            notes.lost(f"{shape.name}: MACSio cannot read with these plugins")
        elif shape.family.role is Role.VISUALIZATION and plot is None:
            plot = shape
        elif checkpoint is None and shape.bytes_of(0):
            checkpoint = shape
        else:
            notes.lost(f"{shape.name}: MACSio has only one kind of dump, and plots")
    if checkpoint is None and plot is None:
        notes.lost("the workload has nothing that MACSio could write")
        checkpoint = shapes_of(workload)[0]
    return checkpoint, plot


def _interface(shape: Shape, notes: Notes) -> str:
    interface = shape.family.interface
    if interface in (Interface.HDF5, Interface.TYPHONIO):
        return interface.value
    notes.lost(f"{shape.name}: interface {interface.value} becomes hdf5")
    return "hdf5"


def _mode(shape: Shape, notes: Notes) -> list[str]:
    sharing = shape.family.sharing
    option = "--parallel_file_mode"
    if sharing.mode is SharingMode.SHARED:
        return [option, "SIF", "1"]
    if sharing.mode is SharingMode.PER_RANK:
        return [option, "MIF", str(shape.ranks)]
    if sharing.mode is SharingMode.GROUPS:
        if sharing.turns is not Turns.BATON:
            notes.lost(f"{shape.name}: the ranks of a file write in turn (MIF), not at the same time")
        return [option, "MIF", str(sharing.files)]
    notes.lost(f"{shape.name}: all ranks write, not {shape.ranks}")
    return [option, "SIF", "1"]


def _mesh(shape: Shape, dialect: str, notes: Notes) -> list[str]:
    """The options for parts, mesh and variables."""
    mesh = shape.mesh
    if mesh is None:
        count = shape.datasets or VARIABLES
        notes.say(
            f"{shape.name}: the mesh is invented: {count} variables on rectilinear parts of the same bytes"
        )
        size = _part_size(shape.bytes_of(0) / shape.ranks, count)
        part = ["--part_size", str(size), "--vars_per_part", str(count)]
        return ["--part_type", "rectilinear", "--part_dim", "2", *part]
    kind = mesh.type
    if kind is MeshType.POINT:
        notes.lost(f"{shape.name}: a point mesh becomes an unstructured one")
        kind = MeshType.UNSTRUCTURED
    arguments = ["--part_type", kind.value, "--part_dim", str(mesh.dimensions)]
    count = _variables(shape, notes)
    dims = mesh.part_dims if dialect == "upstream" else None
    if mesh.part_dims and not dims:
        notes.say(f"{shape.name}: the fork has no part dimensions; the same number of nodes is given")
    part = ["--part_mesh_dims", *map(str, dims)] if dims else ["--part_size", str(_size_of(shape, count))]
    arguments += [*part, "--vars_per_part", str(count)]
    if mesh.parts != 1:
        arguments += ["--avg_num_parts", repr(float(mesh.parts))]
    if mesh.shared_nodes:
        notes.lost(f"{shape.name}: MACSio's parts share no nodes")
    if mesh.materials:
        notes.lost(f"{shape.name}: MACSio has no materials")
    if mesh.globals:
        notes.lost(f"{shape.name}: MACSio has no variables beside the mesh")
    if mesh.geometry is (shape.family.interface is Interface.HDF5):
        which = "no coordinates with HDF5" if mesh.geometry else "coordinates too"
        notes.lost(f"{shape.name}: MACSio writes {which}")
    if mesh.ghost:
        notes.lost(f"{shape.name}: MACSio has no ghosts")
    return arguments


def _variables(shape: Shape, notes: Notes) -> int:
    mesh = shape.mesh
    if mesh is None:
        return shape.datasets or VARIABLES
    if not isinstance(mesh.variables, int):
        notes.lost(f"{shape.name}: MACSio has its own cycle of variables, and no list of them")
    return mesh.variable_count


def _size_of(shape: Shape, variables: int) -> int:
    mesh = shape.mesh
    if mesh is not None and mesh.part_dims is not None:
        return NODE * math.prod(mesh.part_dims)
    size = mesh.part_size if mesh is not None else None
    return size if size else _part_size(shape.bytes_of(0) / shape.ranks, variables)


def _part_size(bytes_per_rank: float, variables: int) -> int:
    """The part size in bytes whose variables have `bytes_per_rank`, if there are as many cells as nodes."""
    node = sum((NODE_BYTES[i % CYCLE] + ZONE_BYTES[i % CYCLE]) for i in range(variables))
    return 8 * max(round(bytes_per_rank / node), 1)


def _same(checkpoint: Shape, plot: Shape, notes: Notes) -> None:
    """Note differences in what MACSio has only once for checkpoints and plots."""
    a, b = checkpoint.family, plot.family
    if (a.interface, a.sharing) != (b.interface, b.sharing):
        notes.lost(
            "checkpoints and plots have the same interface and sharing in MACSio; those of the checkpoints are taken"
        )
    if checkpoint.mesh is None or plot.mesh is None:
        return
    different = [
        name
        for name in ("type", "dimensions", "variables", "parts")
        if _get(checkpoint, name) != _get(plot, name)
    ]
    if different:
        notes.lost(
            f"checkpoints and plots have the same {', '.join(different)} in MACSio; "
            "those of the checkpoints are taken"
        )


def _get(shape: Shape, name: str) -> Any:
    return getattr(shape.mesh, name)


def _fork(workload: Workload, checkpoint: Shape | None, plot: Shape | None, notes: Notes) -> list[str]:
    dumps, plots = (len(shape.starts) if shape else 0 for shape in (checkpoint, plot))
    sleeps = _sleeps(workload, checkpoint, plot)
    loop = Loop(dumps, plots, tuple(sleeps))
    arguments = ["--num_dumps", str(dumps)]
    if plot is not None:
        count = _variables(plot, Notes())
        arguments += ["--num_plots", str(plots), "--plot_part_size", str(_size_of(plot, count))]
    factors = _factors(checkpoint, notes)
    if plot is not None:
        factors = _with_last(factors, loop, plot, notes)
        if not _close(plot.starts, loop.plot_starts(), 1e-5):
            notes.say("plots are evenly spread between checkpoints in MACSio")
        if plot.family.lifetime is not Lifetime.APPENDED and plot.family.sharing.mode is SharingMode.SHARED:
            notes.lost(f"{plot.name}: all plots go into one file in MACSio")
    if any(factor != 1.0 for factor in factors):
        arguments += ["--data_growth_sequence", ",".join(map(repr, factors))]
    if any(sleeps):
        arguments += ["--sleep_time", ",".join(_plain(sleep) for sleep in sleeps)]
        notes.say("MACSio cuts sleeps to whole seconds for each of its steps and uses the first one twice")
    if checkpoint is not None and not _close(checkpoint.starts, loop.checkpoint_starts(), 1e-5):
        notes.say("MACSio counts the time between dumps from the start of the run")
    return arguments


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _sleeps(workload: Workload, checkpoint: Shape | None, plot: Shape | None) -> list[float]:
    """The gap before each checkpoint, and one after the last where the run does not go on at the same rhythm."""
    starts = checkpoint.starts if checkpoint else []
    gaps = [round(b - a, 6) for a, b in itertools.pairwise([0.0, *starts])]
    end = max(workload.runtime, max(plot.starts, default=0.0) if plot else 0.0)
    tail = round(end - (starts[-1] if starts else 0.0), 6)
    if not gaps:
        return [tail] if tail > 0 else []
    if len(set(gaps)) == 1 and (tail <= 0 or abs(tail - gaps[-1]) < 1e-6):
        return gaps[:1]
    return gaps if tail <= 0 or abs(tail - gaps[-1]) < 1e-6 else [*gaps, tail]


def _factors(checkpoint: Shape | None, notes: Notes) -> list[float]:
    """The growth between checkpoints, from the workload's list or from the sizes of dumps."""
    if checkpoint is None:
        return []
    if checkpoint.family.growth is not None:
        return list(checkpoint.family.growth)
    sizes = [checkpoint.bytes_of(i) for i in range(len(checkpoint.starts))]
    if any(size == 0 for size in sizes):
        notes.lost(f"{checkpoint.name}: dumps without bytes are written as well")
        return []
    return [b / a for a, b in itertools.pairwise(sizes)]


def _with_last(factors: list[float], loop: Loop, plot: Shape, notes: Notes) -> list[float]:
    """The factors with that of the last checkpoint, which only plots show; notes plots that grow differently."""
    wanted = plot.family.growth or [1.0] * (len(plot.starts) - 1)
    if loop.checkpoints:
        padded = factors + [1.0] * (loop.checkpoints - len(factors))
        probe = [*padded[:-1], math.pi]  # shows which plots the last factor affects
        for i, (a, b) in enumerate(zip(loop.plot_growth(padded), loop.plot_growth(probe), strict=True)):
            if a != b and not math.isclose(wanted[i], a, rel_tol=1e-12):
                padded[-1] = wanted[i] / a
        factors = padded if padded[-1] != 1.0 else factors
    if not _close(wanted, loop.plot_growth(factors), 1e-9):
        notes.lost(f"{plot.name}: in MACSio, states grow with the checkpoints, one step later")
    return factors


def _close(a: list[float], b: list[float], error: float) -> bool:
    return len(a) == len(b) and all(abs(x - y) <= error for x, y in zip(a, b, strict=True))


def _upstream(checkpoint: Shape | None, plot: Shape | None, notes: Notes) -> list[str]:
    if plot is not None:
        notes.lost(f"{plot.name}: upstream MACSio has no plots")
    starts = checkpoint.starts if checkpoint else []
    arguments = ["--num_dumps", str(len(starts))]
    gaps = [b - a for a, b in itertools.pairwise([0.0, *starts])]
    if any(gaps):
        mean = sum(gaps) / len(gaps)
        arguments += ["--compute_time", _plain(mean)]
        if not _close(gaps, [mean] * len(gaps), 1e-5):
            notes.lost("upstream MACSio dumps evenly: the mean interval is given")
    factors = _factors(checkpoint, notes)
    if any(not math.isclose(factor, 1.0, rel_tol=1e-12) for factor in factors):
        mean = math.prod(factors) ** (1 / len(factors))
        arguments += ["--dataset_growth", repr(mean)]
        if not _close(factors, [mean] * len(factors), 1e-9):
            notes.lost("upstream MACSio has one growth factor: the mean is given")
    return arguments


def _striping_factor(stripe_count: int | None, notes: Notes) -> int | None:
    """The number of targets; None where MPI-IO's hint cannot express it (0: the default, -1: all)."""
    if stripe_count is None or 0 < stripe_count < MOST_TARGETS:
        return stripe_count
    notes.say(f"a stripe count of {stripe_count} cannot be given to MACSio")
    return None


def _plugin(shape: Shape, dialect: str, notes: Notes) -> list[str]:
    family: Family = shape.family
    arguments = []
    shared = family.sharing.mode is SharingMode.SHARED
    if shared and not shape.collective:
        arguments += ["--no_collective"]
    tunable = family.tunable
    hints = {
        "--romio_cb_write": tunable.collective_buffering,
        "--romio_ds_write": tunable.data_sieving,
        "--striping_factor": _striping_factor(tunable.stripe_count, notes),
    }
    if any(value is not None for value in hints.values()):
        if dialect == "upstream" and family.interface is Interface.TYPHONIO:
            words = {True: "enable", False: "disable"}
            for name, value in hints.items():
                if value is not None:
                    arguments += [name, words[value] if isinstance(value, bool) else str(value)]
        else:
            notes.say("MPI-IO hints can be given to upstream's TyphonIO plugin only")
    if family.interface is Interface.HDF5:
        arguments += options_of_tunable(tunable, notes)
    return ["--plugin_args", *arguments] if arguments else []
