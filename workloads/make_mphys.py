"""Writes mphys-a.yaml to mphys-e.yaml, the five workloads of the workload-replication paper.

    python workloads/make_mphys.py [DIR]

Source: Dickson et al., "Enabling Portable I/O Analysis of Commercially Sensitive HPC Applications Through
Workload Replication" (CUG 2017), section V.B for counts, sizes and run times, and the MACSio decks that its
authors published for A, C and E for ranks, variables, gaps and growth factors. What neither says is assumed,
and said to be so in each file.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from workalike.characterize.grouping.growth import state_sizes
from workalike.files import write_text
from workalike.workload.model import (
    Assumption,
    Content,
    Family,
    Fit,
    Interface,
    Lifetime,
    Role,
    Schedule,
    Workload,
)
from workalike.workload.units import format_size, parse_size
from workalike.workload.workload_file import workload_text

VARIABLES = 43

GAPS_A = [
    *(79, 56, 62, 66, 67, 68, 70, 70, 71, 72, 72, 71, 71, 70, 71, 71, 72, 70, 68, 67, 66, 64, 63, 63, 62),
    *(59, 59, 59, 59, 59, 59, 59, 64, 77, 89, 102, 116, 133, 151, 174, 201, 233, 271, 316, 373, 440, 533),
    *(671, 803),
]
GAPS_C = [
    *(0.1, 28.428095, 29.42478, 30.969425, 42.807, 71.786768, 102.803702, 129.86758, 148.84961, 173.662348),
    *(190.612989, 211.148844, 241.350559, 255.331408, 273.049554, 301.79877, 321.288325, 368.966117),
    *(387.53846, 399.826781, 444.515877, 469.550144, 494.560231, 471.908218, 486.943971, 486.218759),
    487.53118,
]
GAPS_E = [541.6453, 10.8971, 201.0781]
GROWTH_C = [
    *(1.2536943267, 1.0320194285, 1.1047316761, 1.922, 1.573227842, 1.2341908614, 1.1063851433),
    *(1.0637494658, 1.0577419726, 1.000155046, 1.0038509897, 1.0138798357, 1.0010848488, 1.0088415222),
    *(1.0013187544, 1.0282271254, 1.041959085, 1.0043446432, 1.0021011853, 1.0037321479, 1.006385893),
    *(1.0005861344, 1.0026596087, 1.0008367853, 1.0006875144, 1.0028065563),
]
MINUTE = 60.0
BORROWED_B = "ranks, variables, gaps and growth factors are those of C's deck"
BORROWED_D = "ranks, variables and gaps are those of E's deck"


@dataclass(frozen=True)
class Case:
    """One workload as the paper gives it. `runtime` in seconds, None where it follows from the gaps."""

    letter: str
    ranks: int
    runtime: float | None
    checkpoint: str
    gaps: list[float]
    growth: list[float] | None
    states: int
    states_total: str
    notes: list[str]
    assumed: list[Assumption] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.runtime if self.runtime is not None else round(sum(self.gaps), 6)


CASES = [
    Case(
        "a",
        16,
        119 * MINUTE,
        "213 MiB",
        [float(gap) for gap in GAPS_A],
        None,
        50,
        "1.75 GiB",
        ["49 checkpoints of 213 MiB and 50 states of 1.75 GiB in all; 16 ranks on one node."],
    ),
    Case(
        "b",
        80,
        131 * MINUTE,
        "259 MiB",
        GAPS_C,
        GROWTH_C,
        28,
        "285 MiB",
        [
            "27 checkpoints of 259 MiB growing to 1.9 GiB, and 28 states of 285 MiB in all.",
            f"No deck was published: {BORROWED_B}.",
        ],
        [Assumption.DECK],
    ),
    Case(
        "c",
        80,
        131 * MINUTE,
        "259 MiB",
        GAPS_C,
        GROWTH_C,
        28,
        "20.2 GiB",
        ["27 checkpoints of 259 MiB growing to 1.9 GiB, and 28 states of 20.2 GiB in all."],
    ),
    Case(
        "d",
        80,
        None,
        "7.3 GiB",
        GAPS_E,
        None,
        116,
        "1.8 GB",
        [
            "3 checkpoints of 7.3 GiB at irregular times, and 116 states of 1.8 GB in all.",
            f"No deck was published: {BORROWED_D}.",
        ],
        [Assumption.DECK],
    ),
    Case(
        "e",
        80,
        None,
        "7.7 GiB",
        GAPS_E,
        None,
        88,
        "1.4 GB",
        ["3 checkpoints of 7.7 GiB at irregular times, and 88 states of 1.4 GB in all."],
    ),
]


def workload_of(case: Case) -> Workload:
    """The workload of one case: a checkpoint family and one visualisation file."""
    checkpoints = Family(
        role=Role.CHECKPOINT,
        interface=Interface.HDF5,
        schedule=Schedule(gaps=case.gaps),
        sizes=parse_size(case.checkpoint),
        growth=case.growth,
        content=Content(fit=Fit(datasets=VARIABLES)),
        assumed=[*case.assumed, Assumption.DATASET_SHAPE],
    )
    every = round(case.seconds / case.states, 6)
    schedule = Schedule(count=case.states, first=0.0, every=every)
    states = Family(
        role=Role.VISUALIZATION,
        interface=Interface.HDF5,
        lifetime=Lifetime.APPENDED,
        schedule=schedule,
        sizes=_states(case, schedule, checkpoints),
        content=Content(flushes=case.ranks, fit=Fit(datasets=VARIABLES)),
        assumed=[*case.assumed, Assumption.SCHEDULE, Assumption.STATE_SIZES, Assumption.DATASET_SHAPE],
    )
    return Workload(
        ranks=case.ranks,
        nodes=1 if case.letter == "a" else None,
        runtime=case.seconds,
        families=[checkpoints, states],
    )


def _states(case: Case, schedule: Schedule, checkpoints: Family) -> int | list[int]:
    """Equal states, or states that grow as the checkpoints do (Eq. 2 to 4)."""
    total = parse_size(case.states_total)
    if case.growth is None:
        return round(total / case.states)
    sizes = checkpoints.dump_sizes() or []
    return state_sizes(total, schedule.starts(), checkpoints.schedule.starts(), sizes)


def text_of(case: Case) -> str:
    """The file: what it is and where each number comes from, then the workload."""
    borrowed = case.letter in "bd"
    head = [
        f"M-Phys, simulation {case.letter.upper()}, of the workload-replication paper (Dickson et al., CUG 2017).",
        *case.notes,
        "",
        f"Sizes and counts: the paper's text. Ranks, {VARIABLES} variables and gaps: "
        + ("see above." if borrowed else "the deck that its authors published."),
        "Checkpoint sizes are the paper's figures in binary units, which fit the decks.",
        f"The visualisation total is read as {case.states_total}.",
        *_said_about_states(case),
        "Assumed: the states are evenly spread over the run"
        + ("." if case.runtime else ", which is as long as the gaps say."),
        "docs/mphys.md compares a replica with the paper's own.",
    ]
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head)
    text = workload_text(workload_of(case))
    exact = format_size(parse_size(case.checkpoint))
    return comment + text.replace(f"sizes: {exact}\n", f"sizes: {case.checkpoint}\n")


def _said_about_states(case: Case) -> list[str]:
    if case.growth is None:
        return [f"Assumed: its {case.states} states are equal."]
    return ["Assumed: its states grow as the checkpoints do (Eq. 2 to 4 of the paper)."]


def main(folder: Path) -> None:
    """Write the five files."""
    for case in CASES:
        write_text(folder / f"mphys-{case.letter}.yaml", text_of(case))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
