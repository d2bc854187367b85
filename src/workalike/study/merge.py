"""Joins the results of studies, of one machine or of several."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from workalike.study.machine_file import MAX_BYTES, PATTERN, machine_names, read_machine
from workalike.study.tables import write_tables

MERGED = "merged"
SOURCE = "source"


@dataclass(frozen=True)
class Part:
    """One study of those that are joined; of joined results each of theirs is one. `about` is its manifest."""

    name: str
    about: Mapping[str, Any]
    rows: Sequence[Finished]
    machines: Sequence[Path]


def merge(
    folders: Sequence[Path],
    out: Path,
    finish: Callable[[Path], object] = lambda _: None,
    report: Callable[[str], None] = lambda _: None,
) -> int:
    """Write the trials of all folders into `out`, which must be empty; returns their number.

    `finish` adds to the results, in a folder whose content then goes to `out`: what fails leaves `out` empty.

    `source` names a trial's study by its folder, and studies that were joined before keep their names. Blocks are
    numbered on from study to study: no two trials of different studies share one. A trial that a study took from
    another (`--reuse`) is there once.

    Raises:
        WorkalikeError: USAGE if there are fewer than two studies, one occurs twice or `out` is not empty; MISSING or
            BAD_STUDY for what is not a study.
    """
    parts = _named([part for folder in folders for part in _parts(folder)])
    if len(folders) < 2:
        raise WorkalikeError(ErrorKind.USAGE, "one study cannot be joined", hint="name at least two folders")
    _refuse_twice(parts)
    make_folder(out)
    if any(out.iterdir()):
        raise WorkalikeError(ErrorKind.USAGE, "is not empty", file=out, hint="choose another -o")
    parts = _measured_once(parts, report)
    joined: list[Finished] = []
    first_block = 0
    for part in parts:
        blocks = [int(row.trial["block"]) for row in part.rows] or [0]
        joined += [_moved(row, part.name, first_block - min(blocks), len(joined)) for row in part.rows]
        first_block += 1 + max(blocks) - min(blocks)
    with scratch_folder(out) as scratch:
        _write(parts, joined, scratch)
        finish(scratch)
        for path in sorted(
            scratch.iterdir(), key=lambda path: path.name == MANIFEST
        ):  # which makes it a study
            path.rename(out / path.name)
    return len(joined)


def _parts(folder: Path) -> list[Part]:
    """The studies of a folder: one, or those that were joined in it.

    Raises:
        WorkalikeError: MISSING or BAD_STUDY.
    """
    manifest, rows = read_manifest(folder), read_finished(folder)
    if manifest["identity"] != MERGED:
        return [Part(folder.resolve().name, manifest, rows, sorted(folder.glob(PATTERN)))]
    sources = manifest.get("sources")
    known = [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    names = [str(source.get("name")) for source in known]
    strange = {str(row.trial.get(SOURCE)) for row in rows} - set(names)
    if strange or len(set(names)) < len(names) or not all(isinstance(s.get("id"), str) for s in known):
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            "its trials and its sources do not belong together",
            file=folder / MANIFEST,
            hint="join the studies anew",
        )
    return [
        Part(
            name,
            source | {"factors": manifest.get("factors", [])},
            [row for row in rows if row.trial.get(SOURCE) == name],
            [folder / file for file in machine_names(source)],
        )
        for name, source in zip(names, known, strict=True)
    ]


def _named(parts: Sequence[Part]) -> list[Part]:
    """The parts, with a number where two names are equal."""
    named: dict[str, Part] = {}
    for part in parts:
        name, number = part.name, 2
        while name in named:
            name, number = f"{part.name}-{number}", number + 1
        named[name] = replace(part, name=name)
    return list(named.values())


def _refuse_twice(parts: Sequence[Part]) -> None:
    """Refuse a study that is there twice, also inside of joined results: its trials would count twice.

    Raises:
        WorkalikeError: USAGE.
    """
    names: dict[str, str] = {}
    for part in parts:
        known = names.setdefault(part.about["id"], part.name)
        if known != part.name:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"a study is named twice: {known[:80]!r} and {part.name[:80]!r}",
                hint="name each folder once, and none that was joined from others of them",
            )


def _measured_once(parts: Sequence[Part], report: Callable[[str], None]) -> list[Part]:
    """The parts without trials that one took from another: a second copy of a measurement proves nothing."""
    seen = {_measurement(row) for part in parts for row in part.rows if row.trial.get("reused_from") is None}
    kept = []
    for part in parts:
        rows = []
        for row in part.rows:
            mark = _measurement(row)
            if row.trial.get("reused_from") is None or mark is None or mark not in seen:
                rows.append(row)
                seen.add(mark)
        if left_out := len(part.rows) - len(rows):
            report(
                f"{part.name}: {left_out} of its trials were taken from another of these studies, and are there once"
            )
        kept.append(replace(part, rows=rows))
    return kept


def _measurement(row: Finished) -> tuple[object, ...] | None:
    """What a trial keeps wherever it is taken: its plan, and when and how long it ran; None where that is not known."""
    values = tuple(row.trial.get(name) for name in ("plan", "started", "took_s"))
    return None if None in values else (*values, repr(row.trial.get("asked")))


def _write(parts: Sequence[Part], joined: Sequence[Finished], out: Path) -> None:
    lines = (json.dumps({"trial": row.trial, "dumps": row.dumps}) + "\n" for row in joined)
    write_text(out / LINES, "".join(lines))
    write_tables(joined, out)
    machines = [_copied_machines(part.machines, out, number) for number, part in enumerate(parts, 1)]
    write_text(out / MANIFEST, json.dumps(_manifest(parts, machines, len(joined)), indent=1) + "\n")


def _moved(row: Finished, source: str, blocks: int, before: int) -> Finished:
    number = {"block": row.trial["block"] + blocks, "trial": row.trial.get("trial", 0) + before}
    return Finished(
        row.trial | number | {SOURCE: source}, [dump | number | {SOURCE: source} for dump in row.dumps]
    )


def _copied_machines(machines: Sequence[Path], out: Path, number: int) -> list[str]:
    """Copy the machine files of a study; returns their names in `out`.

    Raises:
        WorkalikeError: MISSING; BAD_STUDY for a file that is none.
    """
    names = []
    for place, path in enumerate(machines, 1):
        read_machine(path)
        names.append(f"MACHINE-{number}-{place}.json")
        write_text(out / names[-1], read_text(path, ErrorKind.BAD_STUDY, MAX_BYTES))
    return names


def _manifest(parts: Sequence[Part], machines: Sequence[list[str]], trials: int) -> dict[str, Any]:
    factors = dict.fromkeys(name for part in parts for name in part.about.get("factors", []))
    digest = hashlib.sha256("".join(part.about["id"] for part in parts).encode())
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": digest.hexdigest()[:12],
        "identity": MERGED,
        "created": now(),
        "state": MERGED,
        "factors": list(factors),
        "trials": trials,
        "sources": [
            {
                "name": part.name,
                "machines": files,
                **{
                    key: part.about.get(key)
                    for key in ("id", "title", "created", "system", "settings", "study")
                },
            }
            for part, files in zip(parts, machines, strict=True)
        ],
    }
