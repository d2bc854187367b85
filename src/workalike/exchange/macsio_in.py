"""`workalike import macsio`: converts a command line of MACSio into a workload (docs/reference/macsio-model.md)."""

from __future__ import annotations

from typing import Any

from workalike.exchange.macsio_hdf5 import tunable_of_plugin
from workalike.exchange.macsio_loop import Loop
from workalike.exchange.macsio_options import CommandLine, bad, parse
from workalike.exchange.notes import Imported, Notes

PART_TYPES = ("uniform", "rectilinear", "curvilinear", "unstructured", "arbitrary")
PART_SIZE = 80_000
VARIABLES = 20
DUMPS = 10
GROUPS = 4
MAX_COUNT = 100_000
SWITCHES = {"enable": True, "disable": False}


def read_macsio(text: str, ranks: int | None) -> Imported:
    """A workload with a family of role checkpoint, and one of role visualization if there are plots.

    Args:
        text: the command line.
        ranks: number of ranks of the job; None: the launcher's, with which the command line begins.

    Raises:
        WorkalikeError: USAGE naming the option, with a hint.
    """
    notes = Notes()
    line = parse(text, notes)
    ranks = ranks or line.ranks
    if ranks is None:
        raise bad("has no number of ranks", "give -n RANKS, or begin with `mpiexec -n RANKS macsio`")
    loop = _loop(line, notes)
    families = []
    if loop.checkpoints:
        families.append(_checkpoints(line, loop, ranks, notes))
    if loop.plots:
        families.append(_plots(line, loop, ranks, notes))
    if not families:
        raise bad("writes nothing, because of --num_dumps 0", "give a number of dumps above 0")
    document = {"workalike": 2, "ranks": ranks, "runtime": _seconds(loop.runtime), "families": families}
    if not loop.runtime:
        del document["runtime"]
    return Imported(document, notes)


def _seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") + " s"


def _loop(line: CommandLine, notes: Notes) -> Loop:
    checkpoints, plots = line.integer("num_dumps", DUMPS), line.integer("num_plots", 0)
    if max(checkpoints, plots) > MAX_COUNT:
        raise bad(f"more than {MAX_COUNT} dumps", "give fewer")
    if plots and "plot_part_size" not in line.given:
        raise bad("--num_plots without --plot_part_size crashes MACSio", "give --plot_part_size")
    if "compute_time" in line.given:
        return _upstream(line, checkpoints, notes)
    sleeps = tuple(line.reals("sleep_time")) if "sleep_time" in line.given else ()
    sleeps = () if not any(sleeps) else sleeps
    if sleeps:
        notes.say(
            "each sleep is taken as a whole interval, the first one before the first checkpoint; MACSio itself cuts "
            "them to whole seconds and uses the first one twice"
        )
    if len(sleeps) > checkpoints + 1:
        notes.say(f"{len(sleeps) - checkpoints - 1} sleeps after the last checkpoint are never used")
    return Loop(checkpoints, plots, sleeps)


def _upstream(line: CommandLine, checkpoints: int, notes: Notes) -> Loop:
    """Upstream MACSio dumps at equal intervals, and ends with the last dump."""
    if line.integer("compute_work_intensity", 1) > 1:
        notes.lost("the work of --compute_work_intensity 2 and 3 becomes waiting of the same length")
    every = line.real("compute_time", 0.0)
    return Loop(checkpoints, 0, (*[every] * checkpoints, 0.0) if every else ())


def _checkpoints(line: CommandLine, loop: Loop, ranks: int, notes: Notes) -> dict[str, Any]:
    family = _family(line, "checkpoint", ranks, notes)
    family["lifetime"] = "per-dump"
    family["schedule"] = _schedule([loop.block(i) for i in range(loop.checkpoints)])
    growth = _factors(line, loop, notes)[: loop.checkpoints - 1]
    if any(factor != 1.0 for factor in growth):
        family["growth"] = growth
    family["content"] = {"mesh": _mesh(line, _part(line), notes)}
    return _in_order(family)


def _plots(line: CommandLine, loop: Loop, ranks: int, notes: Notes) -> dict[str, Any]:
    family = _family(line, "visualization", ranks, notes)
    family["lifetime"] = "per-dump" if _mode(line)[0] == "MIF" else "appended"
    family["schedule"] = _starts(loop.plot_starts())
    growth = loop.plot_growth(_factors(line, loop, notes))
    if any(factor != 1.0 for factor in growth):
        family["growth"] = growth
        notes.say("states grow one step later than the checkpoints, as in MACSio")
    content: dict[str, Any] = {}
    plot_part = {"part_size": f"{line.integer('plot_part_size', PART_SIZE)} B"}
    if family["lifetime"] == "appended":
        content["flushes"] = ranks
    family["content"] = content | {"mesh": _mesh(line, plot_part, notes)}
    return _in_order(family)


def _in_order(family: dict[str, Any]) -> dict[str, Any]:
    order = ("role", "interface", "sharing", "lifetime", "schedule", "growth", "content", "tunable")
    return {key: family[key] for key in order if key in family}


def _schedule(gaps: list[float]) -> dict[str, Any]:
    """The shortest schedule for the gaps before each dump."""
    if len(set(gaps)) == 1:
        return {"count": len(gaps), "first": _seconds(gaps[0]), "every": _seconds(gaps[0])}
    return {"gaps": [_seconds(gap) for gap in gaps]}


def _starts(starts: list[float]) -> dict[str, Any]:
    every = starts[1] - starts[0] if len(starts) > 1 else 0.0
    if all(abs(start - i * every) < 1e-9 for i, start in enumerate(starts)):
        return {"count": len(starts), "first": "0 s", "every": _seconds(every)}
    return {"start": [_seconds(start) for start in starts]}


def _factors(line: CommandLine, loop: Loop, notes: Notes) -> list[float]:
    """The growth after each checkpoint, with at most one factor per checkpoint."""
    if "dataset_growth" in line.given:
        notes.say(
            "--dataset_growth is a factor from dump to dump; in MACSio itself it depends on the ranks of a file"
        )
        return [line.real("dataset_growth", 1.0)] * loop.checkpoints
    if "data_growth_sequence" not in line.given:
        return []
    factors = line.reals("data_growth_sequence")
    if not all(factors):
        raise bad("--data_growth_sequence has a 0", "give factors above 0")
    if len(factors) > loop.checkpoints:
        notes.say(
            f"{len(factors) - loop.checkpoints} growth factors after the last checkpoint are never used"
        )
    padded = factors[: loop.checkpoints]
    return padded + [1.0] * (loop.checkpoints - len(padded))


def _part(line: CommandLine) -> dict[str, Any]:
    """The size of a checkpoint's parts, in bytes of a nodal variable or in nodes."""
    if "part_mesh_dims" not in line.given:
        return {"part_size": f"{line.integer('part_size', PART_SIZE)} B"}
    ndims = line.integer("part_dim", 2)
    dims = line.integers("part_mesh_dims")[:ndims]
    if len(dims) < ndims or min(dims) < 2:
        raise bad(f"--part_mesh_dims {' '.join(map(str, dims))}", f"give {ndims} numbers from 2 on")
    return {"part_dims": dims}


def _mesh(line: CommandLine, part: dict[str, Any], notes: Notes) -> dict[str, Any]:
    kind, ndims = line.word("part_type", "rectilinear"), line.integer("part_dim", 2)
    if kind not in PART_TYPES:
        raise bad(f"--part_type {kind[:20]!r} is unknown", f"use one of {', '.join(PART_TYPES)}")
    if not 1 <= ndims <= 3:
        raise bad(f"--part_dim {ndims}", "use 1, 2 or 3")
    if "mesh_decomp" in line.given:
        notes.say("--mesh_decomp is left out, because the arrangement of parts changes no size")
    mesh: dict[str, Any] = {"type": kind, "dimensions": ndims}
    parts = line.real("avg_num_parts", 1.0)
    if parts <= 0:
        raise bad("--avg_num_parts 0 leaves no part", "give a number above 0")
    if parts != 1.0:
        mesh["parts"] = parts
        if line.word("interface", "") == "typhonio":
            notes.say("MACSio's TyphonIO plugin writes wrong files unless --avg_num_parts is 1")
    variables = line.integer("vars_per_part", VARIABLES)
    if variables < 1:
        raise bad("--vars_per_part 0 leaves no variable", "give a number above 0")
    mesh |= part | {"variables": variables}
    if line.word("interface", "") == "hdf5":
        mesh["geometry"] = False
        notes.say("MACSio's HDF5 plugin writes variables without coordinates (geometry: false)")
    mesh["collective"] = _collective(line)
    return mesh


def _mode(line: CommandLine) -> tuple[str, int]:
    """The mode, SIF or MIF, and its number of files."""
    words = line.given.get("parallel_file_mode", ["MIF", str(GROUPS)])
    if words[0] not in ("SIF", "MIF"):
        raise bad(f"--parallel_file_mode {words[0][:20]!r} is not implemented in MACSio", "use SIF, or MIF n")
    if words[0] == "MIF" and len(words) < 2:
        raise bad("--parallel_file_mode MIF needs its number of files", "write MIF n")
    files = int(words[1]) if len(words) > 1 and words[1].isdecimal() else 1
    if files < 1:
        raise bad(f"--parallel_file_mode {words[0]} 0", "give the number of files")
    return words[0], files


def _family(line: CommandLine, role: str, ranks: int, notes: Notes) -> dict[str, Any]:
    mode, files = _mode(line)
    sharing: Any = "shared"
    if mode == "MIF":
        if files > ranks:
            notes.say(f"MIF {files} on {ranks} ranks becomes one file per rank")
        sharing = {"mode": "groups", "files": min(files, ranks), "turns": "baton"}
    elif files > 1:
        notes.say(
            f"SIF {files} becomes groups of ranks that share a file each; in MACSio itself it is broken"
        )
        sharing = {"mode": "groups", "files": min(files, ranks)}
    family = {"role": role, "interface": line.word("interface", ""), "sharing": sharing}
    tunable = _tunable(line, notes)
    return family | ({"tunable": tunable} if tunable else {})


def _tunable(line: CommandLine, notes: Notes) -> dict[str, Any]:
    tunable: dict[str, Any] = {}
    for name, field in (("romio_cb_write", "collective_buffering"), ("romio_ds_write", "data_sieving")):
        word = line.plugin.get(name, ["automatic"])[0]
        if word in SWITCHES:
            tunable[field] = SWITCHES[word]
        elif word != "automatic":
            raise bad(f"--{name} {word[:20]!r} is unknown", "use enable, disable or automatic")
    if "striping_factor" in line.plugin:
        text = line.plugin["striping_factor"][0]
        if not text.isdecimal() or not 0 < int(text) < 2**16:
            raise bad(f"--striping_factor {text[:20]!r} is not a number of targets", "give one")
        tunable["stripe_count"] = int(text)
    if line.word("interface", "") == "hdf5":
        tunable |= tunable_of_plugin(line, _collective(line), notes)
    return tunable


def _collective(line: CommandLine) -> bool:
    return _mode(line)[0] == "SIF" and "no_collective" not in line.plugin
