"""A choice -> a folder for a tender: anonymous workloads, MIX.yaml, suite.json and the page that explains it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, write_text
from workalike.fleet.originals import anonymous_workload, original, paths_of
from workalike.fleet.store import Store
from workalike.fleet.suite.choice import Choice, Class
from workalike.fleet.suite.features import WEIGHED, Measured
from workalike.study.mix.document import MOST_COPIES, read_mix
from workalike.workload.workload_file import parse_workload

MIX = "MIX.yaml"
MOST_TRIED = 20
"""Logs of a class that are tried, the nearest to its representative first, until one is still to be had."""


@dataclass(frozen=True)
class Member:
    """One class of the written suite. `log_id` is the log that the workload is from; `stood_in` says that it is not the
    representative itself but the nearest log that was still to be had. `families` are words of the workload."""

    name: str
    log_id: int
    stood_in: bool
    weight: int
    ranks: int
    families: list[str]
    stands_for: Class


def write_suite(
    store: Store, measured: Measured, choice: Choice, folder: Path, *, archives: Path | None, copies: int
) -> list[Member]:
    """Write the workloads and MIX.yaml, which `workalike mix` reads.

    Raises:
        WorkalikeError: MISSING where no log of a class is to be had; CANNOT_WRITE.
    """
    make_folder(folder)
    connection = store.connect()
    weights = whole_weights([each.copies for each in choice.classes], copies)
    out = []
    for number, (each, weight) in enumerate(zip(choice.classes, weights, strict=True), 1):
        name = f"class-{number}"
        row, text = _workload(store, connection, measured, each, archives)
        write_text(folder / f"{name}.yaml", text)
        workload = parse_workload(text)
        families = [f"{family.role.value} ({family.interface.value})" for family in workload.families]
        out.append(
            Member(
                name,
                int(measured.log_ids[row]),
                row != each.representative,
                weight,
                workload.ranks,
                families,
                each,
            )
        )
    document = {
        "mix": 1,
        "workloads": [{"name": m.name, "file": f"{m.name}.yaml", "weight": m.weight} for m in out],
    }
    write_text(folder / MIX, yaml.safe_dump(document, sort_keys=False))
    read_mix(folder / MIX)
    write_text(folder / "suite.json", json.dumps(as_json(choice, out), indent=2) + "\n")
    return out


def _workload(
    store: Store, connection: Any, measured: Measured, each: Class, archives: Path | None
) -> tuple[int, str]:
    """(row, text) of the workload of the nearest log of the class that is still to be had."""
    values = measured.values[each.members] - measured.values[each.representative]
    near = each.members[np.argsort((values**2).sum(axis=1), kind="stable")][:MOST_TRIED]
    last: WorkalikeError | None = None
    for row in [each.representative, *(r for r in near.tolist() if r != each.representative)]:
        log_id = int(measured.log_ids[row])
        [(sha256,)] = connection.execute("SELECT sha256 FROM log WHERE log_id = ?", [log_id]).fetchall()
        try:
            with original(paths_of(store, connection, log_id, archives), sha256, archives) as log:
                return row, anonymous_workload([log])
        except WorkalikeError as error:
            last = error
    assert last is not None
    raise WorkalikeError(
        ErrorKind.MISSING,
        f"none of the {min(len(each.members), MOST_TRIED)} logs nearest to a representative can be had: {last.message}",
        hint="name the folder of archives with --archive",
    ) from last


def whole_weights(copies: list[float], most: int) -> list[int]:
    """Whole numbers in about the proportions of `copies`, at least 1 each, and about `most` in all."""
    total = sum(copies)
    return [max(1, min(MOST_COPIES // len(copies), round(most * each / total))) for each in copies]


def as_json(choice: Choice, members: list[Member]) -> dict[str, Any]:
    """What was chosen, with no name of the centre in it."""
    return {
        "classes": [
            {
                "name": m.name,
                "weight": m.weight,
                "copies": m.stands_for.copies,
                "ranks": m.ranks,
                "families": m.families,
                "logs": len(m.stands_for.members),
                "shares": m.stands_for.shares,
                "like_the_representative": m.stands_for.likeness,
                "found_again": m.stands_for.found_again,
                "stood_in": m.stood_in,
            }
            for m in members
        ],
        "coverage": choice.coverage,
        "stability": {
            "adjusted_rand_index": choice.agreement,
            "percentile_5": choice.agreement_low,
            "resamples": choice.resamples,
        },
        "weighed_by": list(WEIGHED),
    }
