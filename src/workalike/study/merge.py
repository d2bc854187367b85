"""Joins the results of studies, of one machine or of several."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, read_text, write_text
from workalike.leftovers import scratch_folder
from workalike.study.journal import (
    FORMAT,
    LINES,
    MANIFEST,
    VERSION,
    Finished,
    now,
    read_finished,
    read_manifest,
)
from workalike.study.machine_file import MAX_BYTES, PATTERN, read_machine
from workalike.study.tables import write_tables


def merge(folders: Sequence[Path], out: Path, finish: Callable[[Path], object] = lambda _: None) -> int:
    """Write the trials of all folders into `out`, which must be empty; returns their number.

    `finish` adds to the results, in a folder whose content then goes to `out`: what fails leaves `out` empty.

    `source` names a trial's study by its folder. Blocks are numbered on from study to study: no two trials of different
    studies share one.

    Raises:
        WorkalikeError: USAGE if there are fewer than two studies, one occurs twice or `out` is not empty; MISSING or
            BAD_STUDY for what is no study.
    """
    manifests = [read_manifest(folder) for folder in folders]
    if len(folders) < 2:
        raise WorkalikeError(ErrorKind.USAGE, "one study cannot be joined", hint="name at least two folders")
    if len({manifest["id"] for manifest in manifests}) < len(folders):
        raise WorkalikeError(ErrorKind.USAGE, "a study is named twice", hint="name each folder once")
    make_folder(out)
    if any(out.iterdir()):
        raise WorkalikeError(ErrorKind.USAGE, "is not empty", file=out, hint="choose another -o")
    joined: list[Finished] = []
    first_block = 0
    names = _names(folders)
    for folder, name in zip(folders, names, strict=True):
        own = read_finished(folder)
        joined += [_moved(row, name, first_block, len(joined)) for row in own]
        first_block += 1 + max((int(row.trial["block"]) for row in own), default=-1)
    with scratch_folder(out) as scratch:
        _write(folders, names, manifests, joined, scratch)
        finish(scratch)
        for path in sorted(
            scratch.iterdir(), key=lambda path: path.name == MANIFEST
        ):  # which makes it a study
            path.rename(out / path.name)
    return len(joined)


def _write(
    folders: Sequence[Path],
    names: Sequence[str],
    manifests: Sequence[dict[str, Any]],
    joined: Sequence[Finished],
    out: Path,
) -> None:
    lines = (json.dumps({"trial": row.trial, "dumps": row.dumps}) + "\n" for row in joined)
    write_text(out / LINES, "".join(lines))
    write_tables(joined, out)
    machines = [_copied_machines(folder, out, number) for number, folder in enumerate(folders, 1)]
    write_text(
        out / MANIFEST, json.dumps(_manifest(manifests, names, machines, len(joined)), indent=1) + "\n"
    )


def _moved(row: Finished, source: str, first_block: int, before: int) -> Finished:
    number = {"block": row.trial["block"] + first_block, "trial": row.trial.get("trial", 0) + before}
    return Finished(
        row.trial | number | {"source": source}, [dump | number | {"source": source} for dump in row.dumps]
    )


def _names(folders: Sequence[Path]) -> list[str]:
    """The folders' names, with a number where two are equal."""
    names: list[str] = []
    for folder in folders:
        name, number = folder.resolve().name, 2
        while name in names:
            name, number = f"{folder.resolve().name}-{number}", number + 1
        names.append(name)
    return names


def _copied_machines(folder: Path, out: Path, number: int) -> list[str]:
    """Copy the machine files of a study; returns their names in `out`.

    Raises:
        WorkalikeError: BAD_STUDY for a file that is none.
    """
    names = []
    for place, path in enumerate(sorted(folder.glob(PATTERN)), 1):
        read_machine(path)
        names.append(f"MACHINE-{number}-{place}.json")
        write_text(out / names[-1], read_text(path, ErrorKind.BAD_STUDY, MAX_BYTES))
    return names


def _manifest(
    manifests: Sequence[dict[str, Any]], names: Sequence[str], machines: Sequence[list[str]], trials: int
) -> dict[str, Any]:
    factors = dict.fromkeys(name for manifest in manifests for name in manifest.get("factors", []))
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": "-".join(manifest["id"] for manifest in manifests)[:200],
        "identity": "merged",
        "created": now(),
        "state": "merged",
        "factors": list(factors),
        "trials": trials,
        "sources": [
            {
                "name": name,
                "machines": files,
                **{
                    key: manifest.get(key)
                    for key in ("id", "title", "created", "system", "settings", "study")
                },
            }
            for name, files, manifest in zip(names, machines, manifests, strict=True)
        ],
    }
