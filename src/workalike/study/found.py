"""Settings as found: what can be read back of what a trial asked for, and whether it took effect.

What MPI-IO reports about its hints is no evidence, since it repeats any hint. The evidence for a layout is what the
file system says of a file that the trial wrote, for settings of HDF5 what stands in such a file, for the MPI-IO
component what the engine found, and for aggregators the ranks that wrote at POSIX, in the log of a captured trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workalike.errors import WorkalikeError
from workalike.plan.plan_schema import PlanContent, PlanFamily
from workalike.record.run_record import Record
from workalike.study.layouts.base import Layout, LayoutKind
from workalike.study.prepare import Prepared
from workalike.study.targets import Wanted

COMPONENTS = {"ompio": "ompio", "romio": "romio"}
COMPONENT_VARIABLE = "OMPI_MCA_io"
STRIPING = {"striping_factor": "stripe_count", "striping_unit": "stripe_size"}
"""Hint -> the field of a layout, and of `tunable`, that says the same."""
HDF5 = "hdf5"
SHARE_OF_DATA = 0.1
"""Of the bytes of the busiest rank. One that writes less writes metadata."""


def found_in(record: Record) -> dict[str, Any]:
    """What the engine found around it."""
    names = ["mpi", "mpi_io", "hdf5", "file_system", "host_count", "engine"]
    names += [name for name in record.environment if name.startswith(("file_system.", "mpi_io."))]
    found: dict[str, Any] = {name: record.environment[name] for name in names if name in record.environment}
    return found | {"processes": record.processes, "backend": record.backend}


@dataclass
class FoundInFiles:
    """What the data files of a trial tell, before they are removed.

    Attributes:
        layout: of a file that the trial wrote; None where the file system tells nothing, or no file is left.
        values: settings of HDF5 -> as found.
        not_taken: settings that had no effect, in words.
        not_readable: settings that the files do not tell.
    """

    layout: Layout | None = None
    values: dict[str, Any] = field(default_factory=dict)
    not_taken: list[str] = field(default_factory=list)
    not_readable: list[str] = field(default_factory=list)


def found_in_files(
    prepared: Prepared, files: Sequence[Path], kind: LayoutKind, asked: Layout
) -> FoundInFiles:
    """Read back one data file of each family.

    Args:
        prepared: what was performed.
        files: the data files that are left.
        kind: the file system's kind.
        asked: the layout that was asked for.
    """
    out = FoundInFiles()
    for family in prepared.plan.families:
        path = next((p for p in files if p.name.startswith(f"{family.role.value}-{family.number}.")), None)
        if path is None:
            continue
        layout = kind.read(path)
        if layout is not None:
            out.layout = out.layout or layout
            out.not_taken += [f"layout: {text}" for text in asked.differs_from(layout)]
            out.not_taken += _striping_not_taken(prepared.wanted, family.hints, layout)
        if (prepared.wanted.backend or family.backend) == HDF5 and path.is_file():
            _add_hdf5(out, prepared, family, path)
    out.not_taken = list(dict.fromkeys(out.not_taken))
    return out


def _striping_not_taken(wanted: Wanted, hints: Mapping[str, str], layout: Layout) -> list[str]:
    """Hints of striping that the setting asks for, and that a file's layout shows to have had no effect.

    Those that are the workload's own come from another machine, and are no question of the study.
    """
    reasons = []
    for hint, tunable in STRIPING.items():
        asked_for = hint in wanted.hints or tunable in wanted.tunables
        asked_for = asked_for or any(path.endswith(f"tunable.{tunable}") for path in wanted.paths)
        asked, found = hints.get(hint, ""), getattr(layout, tunable)
        # -1 means all that there are, 0 the default.
        if asked_for and asked.isdigit() and int(asked) > 0 and found not in (None, int(asked)):
            reasons.append(f"hint {hint} {asked} asked for, {found} found")
    return reasons


def _add_hdf5(out: FoundInFiles, prepared: Prepared, family: PlanFamily, path: Path) -> None:
    from workalike.study.found_hdf5 import hdf5_found

    contents = [
        prepared.plan.contents[dump.content] for dump in prepared.plan.dumps if dump.family == family.id
    ]
    found = hdf5_found(path, family.hdf5, is_fitted=any(content.fit is not None for content in contents))
    out.values |= found.values
    out.not_taken += found.not_taken
    out.not_readable += found.not_readable


def layout_found(kind: LayoutKind, asked: Layout, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """(the layout that new files of a folder get, the fields that were asked for and are not so)."""
    layout = kind.read(folder)
    if layout is None:
        reasons = [] if asked == Layout() else [f"layout: {kind.name} does not tell what was set"]
        return {}, reasons
    return layout.known(), [f"layout: {text}" for text in asked.differs_from(layout)]


def settings_not_taken(prepared: Prepared, record: Record) -> list[str]:
    """Settings of which the record shows that they had no effect."""
    reasons = []
    asked, environment = prepared.wanted, record.environment
    if asked.backend is not None and record.backend != asked.backend:
        reasons.append(f"backend {asked.backend} asked for, {record.backend} found")
    hosts = environment.get("host_count")
    if asked.nodes is not None and isinstance(hosts, int) and hosts != asked.nodes:
        reasons.append(f"{asked.nodes} nodes asked for, {hosts} found")
    component = asked.environment.get(COMPONENT_VARIABLE)
    found = environment.get("mpi_io")
    if component is not None and isinstance(found, str):
        wanted = next((name for name in COMPONENTS if name in component.lower()), None)
        if wanted is not None and wanted not in found.lower():
            reasons.append(f"MPI-IO component {component} asked for, {found} found")
    return reasons


def unproven(prepared: Prepared, layout: Layout | None) -> list[str]:
    """Settings that nothing can be read back of: hints of MPI-IO, and variables but the one that chooses its component.

    Hints of striping are read back where the file system tells a file's `layout`.
    """
    hints = {name for family in prepared.plan.families for name in family.hints}
    proven = {hint for hint, name in STRIPING.items() if getattr(layout, name, None) is not None}
    variables = set(prepared.wanted.environment) - {COMPONENT_VARIABLE}
    return sorted({f"hint.{name}" for name in hints - proven} | {f"environment.{name}" for name in variables})


def aggregators_in(log: Path, *, is_hdf5: bool = False) -> int | None:
    """The largest number of ranks that wrote to one file at POSIX, by a log with a record for each rank; else None.

    With HDF5, all ranks may write metadata: only those count that write at least a tenth of what the busiest does.
    Aggregators divide a file's data evenly.
    """
    import numpy as np

    from workalike.darshan import open_log

    if not log.exists():
        return None
    try:
        posix = open_log(log).records("POSIX")
    except WorkalikeError:
        return None
    if posix is None or not len(posix) or (posix.ranks < 0).any():  # ranks are reduced to one record
        return None
    if not is_hdf5:
        writing = posix.ids[posix["WRITES"] > 0]
        return int(np.unique(writing, return_counts=True)[1].max()) if len(writing) else None
    written = posix["BYTES_WRITTEN"]
    each = [written[posix.ids == file] for file in np.unique(posix.ids)]
    counts = [int((own >= SHARE_OF_DATA * own.max()).sum()) for own in each if own.max() > 0]
    return max(counts, default=None)


def writes_collectively(prepared: Prepared) -> bool:
    """Whether any data are written by collective calls of MPI-IO or of a library above it."""
    return any(_is_collective(content) for content in prepared.plan.contents)


def _is_collective(content: PlanContent) -> bool:
    accesses = [access for array in content.arrays for access in array.access]
    whole = (content.fit is not None and content.fit.collective) or (
        content.mesh is not None and content.mesh.collective
    )
    return (
        whole or any(stream.collective for stream in content.streams) or any(a.collective for a in accesses)
    )


def is_hdf5(prepared: Prepared) -> bool:
    """Whether a family is performed with HDF5."""
    return any((prepared.wanted.backend or family.backend) == HDF5 for family in prepared.plan.families)


def aggregators_not_taken(prepared: Prepared, writers: int) -> list[str]:
    """Whether collective writes went through as many aggregators as asked for."""
    asked = prepared.wanted.tunables.get("cb_nodes") or prepared.wanted.hints.get("cb_nodes")
    if asked is None or not writes_collectively(prepared) or str(asked) == str(writers):
        return []
    return [f"cb_nodes {asked} asked for, {writers} ranks found that wrote to one file"]
