"""The scaling study of a calibration: files of meshes with different ranks, part sizes and variables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workalike.calibrate.equation import Fit, Point, fit, power_of
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.choices import TRAITS
from workalike.plan.resolve import Options, resolve
from workalike.workload.mesh import Mesh, MeshType
from workalike.workload.model import Family, Workload

# Variables come in whole cycles of MACSio's beside the remainder, because within a cycle the mix of types changes
# (docs/reference/macsio-model.md#size-equation).
CYCLES, HELD_CYCLES = (8, 16, 24, 40), (32, 48)
TARGET = 0.001  # largest relative residual
LEAST_RANK_COUNTS = 2
LEAST_PART_SIZES = 3  # one for each power of the part size: 0, that of the boundary, 1
WIDER = "set --least and --most further apart, or raise --points"


@dataclass(frozen=True)
class Study:
    """What is calibrated: `backend` writes meshes with HDF5, `pattern` is typhonio's; sizes are bytes of a part."""

    backend: str
    type: MeshType = MeshType.UNSTRUCTURED
    dimensions: int = 2
    pattern: str = "faithful"
    remainder: int = 0  # variables beyond whole cycles of eight
    ranks: tuple[int, ...] = (1, 2, 4)
    part_sizes: tuple[int, ...] = ()
    held_sizes: tuple[int, ...] = ()

    @property
    def call_pattern(self) -> str | None:
        """The pattern of a backend that writes nothing but meshes; others have none."""
        return self.pattern if TRAITS[self.backend]["only_meshes"] else None

    @property
    def name(self) -> str:
        how = f"-{self.call_pattern}" if self.call_pattern else ""
        return f"{self.backend}{how}-{self.type.value}-{self.dimensions}d"

    def counts(self, cycles: Sequence[int]) -> list[int]:
        """Numbers of variables."""
        return [count + self.remainder for count in cycles]


@dataclass(frozen=True)
class Calibration:
    """The fitted equation, as in the paper and with the boundary term, and the part size from which each holds."""

    study: Study
    library: str
    fitted: list[Point]
    held: list[Point]
    paper: Fit
    boundary: Fit | None
    holds_from: dict[str, int | None] = field(default_factory=dict)

    @property
    def best(self) -> Fit:
        return self.boundary or self.paper


def sizes_between(least: int, most: int, count: int) -> tuple[int, ...]:
    """Part sizes evenly spread on a logarithmic scale, bytes, rounded to multiples of eight."""
    step = (most / least) ** (1 / (count - 1))
    return tuple(round(least * step**i / 8) * 8 for i in range(count))


def calibrate(study: Study, folder: Path, report: Callable[[str], None] = lambda _: None) -> Calibration:
    """Write the study's files in `folder`, fit their sizes, and delete them; `report` gets lines about the progress.

    Raises:
        WorkalikeError: USAGE for a study whose files do not determine the coefficients; RUN_FAILED and the like
            when the engine could not write them.
    """
    _refuse_undetermined(study)
    fitted: list[Point] = []
    held: list[Point] = []
    library = ""
    for ranks in study.ranks:
        report(f"{study.name}: files of {ranks} rank{'s' if ranks > 1 else ''}")
        runs = [
            *itertools.product(study.counts(CYCLES), study.part_sizes, [fitted]),
            *itertools.product(study.counts(HELD_CYCLES), study.held_sizes, [held]),
        ]
        sizes, library = _write(study, ranks, [(v, size) for v, size, _ in runs], folder / str(ranks))
        for (variables, part_size, into), size in zip(runs, sizes, strict=True):
            into.append(Point(ranks, part_size, variables, size))
    power = power_of(study.dimensions)
    try:
        paper = fit(fitted, None)
        boundary = None if power is None else fit(fitted, power)
    except ValueError as error:  # part sizes so close together that rounding hides their difference
        raise WorkalikeError(ErrorKind.USAGE, str(error), hint=WIDER) from error
    calibration = Calibration(study, library, fitted, held, paper, boundary)
    for name, equation in (("paper", paper), ("boundary", boundary)):
        if equation is not None:
            calibration.holds_from[name] = smallest_that_holds(equation, held)
    return calibration


def _refuse_undetermined(study: Study) -> None:
    """Refuse a study before its files are written if no fit can come of them."""
    if len(set(study.ranks)) < LEAST_RANK_COUNTS:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "files of one rank count do not separate the bytes of a part from those of a file",
            hint="give --ranks at least two numbers, such as 1,2",
        )
    if len(set(study.part_sizes)) < LEAST_PART_SIZES:
        raise WorkalikeError(
            ErrorKind.USAGE, f"the study has fewer than {LEAST_PART_SIZES} different part sizes", hint=WIDER
        )


def smallest_that_holds(equation: Fit, held: list[Point]) -> int | None:
    """The smallest part size from which on every held-out file is within the target; None if the largest is not."""
    worst = {p.part_size: 0.0 for p in held}
    for point, residual in zip(held, equation.residuals(held), strict=True):
        worst[point.part_size] = max(worst[point.part_size], abs(residual))
    smallest = None
    for size in sorted(worst, reverse=True):
        if worst[size] > TARGET:
            break
        smallest = size
    return smallest


def write_one(study: Study, ranks: int, variables: int, part_size: int, folder: Path) -> int:
    """Write one file; returns its size in bytes."""
    return _write(study, ranks, [(variables, part_size)], folder)[0][0]


def _write(study: Study, ranks: int, files: list[tuple[int, int]], folder: Path) -> tuple[list[int], str]:
    """Write files of the given (variables, part size) pairs; returns their sizes in bytes and the library's version."""
    contents = [
        {"mesh": Mesh(type=study.type, dimensions=study.dimensions, part_size=size, variables=variables)}
        for variables, size in files
    ]
    family = Family.model_validate(
        {
            "role": "checkpoint",
            "interface": study.backend,
            "schedule": {"count": len(files)},
            "contents": contents,
            "tunable": {"typhonio": study.call_pattern} if study.call_pattern else {},
        }
    )
    plan = resolve(Workload(ranks=ranks, families=[family]), Options())
    folder.mkdir(parents=True, exist_ok=True)
    record = run_plan(plan, RunOptions(data=folder / "data", out=folder, quiet=True))
    sizes = {f.index: f.size for f in record.files}
    environment = record.environment
    return [sizes[i] for i in range(len(files))], str(environment.get("hdf5", "unknown"))


def spread_of(least: int, most: int, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The part sizes to fit, and those between them to hold out, bytes."""
    sizes = sizes_between(least, most, count)
    held = tuple(round(math.sqrt(a * b) / 8) * 8 for a, b in itertools.pairwise(sizes))
    return sizes, held
