"""Writes logs for processes that could not write their own, from their mappings."""

from __future__ import annotations

import json
import platform
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from workalike.capture.mapped_files import find_mappings, still_used
from workalike.capture.mapping import Mapping, read_mapping
from workalike.capture.timed import heatmap_names, heatmaps, traces
from workalike.darshan.write import JobToWrite, write_log
from workalike.errors import WorkalikeError
from workalike.file_kind import side_file_of
from workalike.leftovers import KEPT
from workalike.version import VERSION

LIBRARY_VERSION = f"workalike-{VERSION}"
_TEXT_BYTES = 2500
_KERNEL_TYPES = {
    "proc", "sysfs", "tmpfs", "devpts", "devtmpfs", "cgroup", "cgroup2", "mqueue", "debugfs", "securityfs",
    "pstore", "bpf", "tracefs", "hugetlbfs", "fusectl", "configfs", "binfmt_misc", "autofs", "nsfs",
}  # fmt: skip


def recover(folders: Sequence[Path], logs: Path) -> tuple[list[Path], list[str]]:
    """Write a log for every job with mappings in the given folders, and remove the mappings that are in a log.

    Args:
        folders: folders with mappings; of an MPI job on several nodes, one per node.
        logs: folder for the logs.

    Returns:
        The logs, and a remark on each mapping that could not be read or is in no log.
    """
    found, remarks = _readable(folders)
    jobs: dict[tuple[int, int, float, Path | None], list[Mapping]] = defaultdict(list)
    for mapping in found:
        # Processes without MPI may have the same number on several nodes, and one after the other (exec).
        alone = (0, mapping.pid, mapping.start, mapping.path.parent)
        jobs[(mapping.job, 0, 0.0, None) if mapping.job else alone].append(mapping)
    written = []
    for parts in jobs.values():
        ranks = _ranks_of_one_job(parts, remarks)
        if ranks:
            written.append(_write(ranks, logs))
    for folder in folders:
        if folder.name.startswith("workalike-capture-") and not find_mappings(folder):
            (folder / KEPT).unlink(missing_ok=True)  # the folder is no longer needed
    return written, remarks


def _readable(folders: Sequence[Path]) -> tuple[list[Mapping], list[str]]:
    """The mappings with counters, and remarks on those that are left out; empty ones are removed."""
    found, remarks = [], []
    for path in dict.fromkeys(path.resolve() for folder in folders for path in find_mappings(folder)):
        if still_used(path):
            remarks.append(f"a process still counts in {path}; recover it after the process has ended")
            continue
        try:
            mapping = read_mapping(path)
        except WorkalikeError as error:
            remarks.append(error.one_line())
            continue
        if mapping is None or not (mapping.records or mapping.side or mapping.job):
            path.unlink(missing_ok=True)
        else:
            found.append(mapping)
    return found, remarks


def _ranks_of_one_job(parts: list[Mapping], remarks: list[str]) -> list[Mapping]:
    """The processes of a job by rank, each once; empty if they cannot belong to one job."""
    by_rank: dict[int, Mapping] = {}
    for part in sorted(parts, key=lambda part: part.rank):
        known = by_rank.setdefault(part.rank, part)
        if part.ranks != parts[0].ranks or not 0 <= part.rank < part.ranks:
            remarks.append(
                f"{part.path} is rank {part.rank} of {part.ranks}, others belong to {parts[0].ranks} ranks: no log"
            )
            return []
        if known is part:
            continue
        if (known.pid, known.start) != (part.pid, part.start):
            remarks.append(
                f"{known.path} and {part.path} are both rank {part.rank} of different jobs: no log"
            )
            return []
        remarks.append(f"{part.path} is a copy of {known.path} and is left out")
    missing = parts[0].ranks - len(by_rank)
    if missing:
        remarks.append(
            f"{missing} of {parts[0].ranks} ranks of a job left no mapping here; "
            "name the folders of its other nodes, too"
        )
    return list(by_rank.values())


def _write(parts: list[Mapping], logs: Path) -> Path:
    first = parts[0]
    start = min(part.start for part in parts)
    run_time = max(part.start + part.last for part in parts) - start
    regions: dict[str, list[bytes]] = defaultdict(list)
    names: dict[int, str] = {}
    for part in parts:
        for number, name in part.names.items():
            names.setdefault(number, name)
        names |= heatmap_names(part)
        for module, records in part.records.items():
            regions[module] += records
        for module in ("DXT_POSIX", "DXT_MPIIO"):
            regions[module].append(traces(part, module, part.start - start))
        regions["HEATMAP"].append(heatmaps(part, part.start - start, run_time))
    program = Path(first.command.split(" ", 1)[0]).name or "program"
    path = _free_name(logs, f"{program}_id{first.job_id}-{first.pid}")
    write_log(
        path,
        job=JobToWrite(
            nprocs=first.ranks,
            run_time=run_time,
            start_time=start,
            uid=first.uid,
            job_id=first.job_id,
            exe=first.command[:_TEXT_BYTES],
            metadata=_metadata(parts),
            mounts=_mounts(),
        ),
        names=names,
        regions={module: b"".join(records) for module, records in regions.items()},
        partial={module for part in parts for module in part.partial},
    )
    path.chmod(0o400)
    _write_extra(parts, path)
    for part in parts:
        part.path.unlink(missing_ok=True)
    return path


def _write_extra(parts: list[Mapping], log: Path) -> None:
    """Write the side file of a log, unless it would be empty."""
    counted: dict[str, list[dict[str, object]]] = defaultdict(list)
    for part in parts:
        for key, files in part.side.items():
            counted[key] += [
                {"file": part.names.get(number, ""), "rank": part.rank, **counts}
                for number, counts in files.items()
            ]
    start = min(part.start for part in parts)
    events = [
        {
            "file": part.names.get(event.file_id, ""), "rank": part.rank, "module": event.module, "event": event.kind,
            "start": round(event.start + (part.start - start), 9), "end": round(event.end + (part.start - start), 9),
        }
        for part in parts
        for event in part.events
    ]  # fmt: skip
    sizes = [
        {"file": part.names.get(number, ""), "rank": part.rank, "reads": reads, "writes": writes}
        for part in parts
        for number, (reads, writes) in part.sizes.items()
    ]
    lists = {**counted, "stdio_sizes": sizes, "events": events}
    side = {name: rows for name, rows in lists.items() if rows}
    if side:
        side_file_of(log).write_text(json.dumps({"version": 1, **side}, indent=1), encoding="utf-8")
        side_file_of(log).chmod(0o400)


def _metadata(parts: list[Mapping]) -> dict[str, str]:
    first = parts[0]
    words = {"lib_ver": LIBRARY_VERSION}
    if first.fork_parent:
        words["fork_parent"] = str(first.fork_parent)
    if not all(part.whole for part in parts):
        words["incomplete"] = "a process ended without writing the log"
        words["recovered_ranks"] = f"{len(parts)} of {first.ranks}"
    return words


def _free_name(folder: Path, stem: str) -> Path:
    number, path = 1, folder / f"{stem}.darshan"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.darshan"
    return path


def _mounts() -> list[tuple[str, str]]:
    """The file systems of this node, longest paths first, as many as fit into a log."""
    found: list[tuple[str, str]] = []
    table = Path("/proc/self/mounts")
    if platform.system() == "Linux" and table.exists():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            words = line.split(" ")
            if len(words) > 2 and words[2] not in _KERNEL_TYPES:
                found.append((words[2], words[1]))
    kept, room = [], 400
    for kind, path in sorted(found, key=lambda mount: len(mount[1]), reverse=True):
        room -= len(kind) + len(path) + 2
        if room > 0:
            kept.append((kind, path))
    return kept or [("unknown", "/")]
