"""Settings as found: what can be read back of what a trial asked for, and whether it took effect.

What MPI-IO reports about its hints is no evidence, since it repeats any hint. The evidence for a layout is what the
file system says, for the MPI-IO component what the engine found, and for aggregators the ranks that wrote at POSIX, in
the log of a captured trial.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workalike.errors import WorkalikeError
from workalike.record.run_record import Record
from workalike.study.layouts.base import Layout, LayoutKind
from workalike.study.prepare import Prepared

COMPONENTS = {"ompio": "ompio", "romio": "romio"}
COMPONENT_VARIABLE = "OMPI_MCA_io"


def found_in(record: Record) -> dict[str, Any]:
    """What the engine found around it."""
    names = ("mpi", "mpi_io", "hdf5", "file_system", "host_count", "engine")
    found: dict[str, Any] = {name: record.environment[name] for name in names if name in record.environment}
    return found | {"processes": record.processes, "backend": record.backend}


def layout_found(kind: LayoutKind, asked: Layout, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """(the layout that new files of a folder get, the fields that were asked for and are not so)."""
    layout = kind.read(folder)
    if layout is None:
        reasons = [] if asked == Layout() else [f"layout: {kind.name} does not tell what was set"]
        return {}, reasons
    shown = {name: value for name, value in vars(layout).items() if value is not None}
    return shown, [f"layout: {text}" for text in asked.differs_from(layout)]


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


def unproven(prepared: Prepared) -> list[str]:
    """Settings that nothing can be read back of: MPI-IO hints."""
    hints = {name for family in prepared.plan.families for name in family.hints}
    return sorted(f"hint.{name}" for name in hints)


def aggregators_in(log: Path) -> int | None:
    """The largest number of ranks that wrote to one file at POSIX, by a log with a record for each rank; else None."""
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
    writing = posix.ids[posix["WRITES"] > 0]
    return int(np.unique(writing, return_counts=True)[1].max()) if len(writing) else None


def aggregators_not_taken(prepared: Prepared, writers: int) -> list[str]:
    """Whether collective writes went through as many aggregators as asked for."""
    asked = prepared.wanted.tunables.get("cb_nodes") or prepared.wanted.hints.get("cb_nodes")
    collective = any(stream.collective for content in prepared.plan.contents for stream in content.streams)
    if asked is None or not collective or int(asked) == writers:
        return []
    return [f"cb_nodes {asked} asked for, {writers} ranks found that wrote to one file"]
